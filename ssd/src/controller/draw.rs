//! Writes that get their plane when a unit takes them: the line they wait in, and the draw (Slacker §7.6, D-SLK-22).

use flashlane_core::TxnId;

use super::Device;

impl Device {
    /// Puts a write into the line of those that no unit has yet.
    pub(super) fn enqueue_unplaced(&mut self, id: TxnId) {
        let line = self.board.unplaced();
        self.board.txn_mut(id).queue = line;
        self.board.link(id, line, TxnId::NONE);
        self.agenda.open = true;
    }

    /// Gives the line's writes, oldest first, to the units that the place decision says take them now. A write whose page
    /// has an older one waiting lets others go first.
    pub(super) fn draw(&mut self) {
        let line = self.board.unplaced();
        loop {
            let next = self.board.walk(line).find(|&id| self.board.txn(id).unobstructed());
            let Some(id) = next else { return };
            let Some(plane) = self.scheduler.place.draw(&self.board, id) else { return };
            self.board.unlink(id);
            self.join_at(id, plane);
        }
    }
}
