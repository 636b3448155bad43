//! Which command enters the device next: the admit decision put to use.

use flashlane_core::decide::{Head, Heads};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, FlowId, Op, Time};

use super::Device;
use super::slots::Slots;
use crate::front::Front;
use crate::ftl::Ftl;

/// The heads of the submission queues, as the admit decision may ask about them.
struct Waiting<'a> {
    front: &'a Front,
    slots: &'a Slots,
    ftl: &'a Ftl,
    board: &'a Board,
    capacity: [u32; 2],
    /// Writes get their plane at dispatch.
    draws: bool,
}

impl Heads for Waiting<'_> {
    #[inline]
    fn full(&self, line: FlowId) -> bool {
        self.capacity != [u32::MAX; 2]
            && self.front.head(line).is_some_and(|id| {
                let slot = self.slots.get(id);
                (0..slot.answer.pages).any(|i| {
                    let unit = self.board.home_of(self.ftl.plane_of(self.slots.page(id, i))).0;
                    let op = if slot.answer.op == Op::Read { FlashOp::Read } else { FlashOp::Program };
                    if self.draws && op == FlashOp::Program {
                        // One line for the device has the space of all units' lines.
                        let waiting = u64::from(self.board.queues[self.board.unplaced().index()].len);
                        return waiting >= u64::from(self.capacity[1]) * self.board.units.len() as u64;
                    }
                    self.board.waiting(unit, op) >= self.capacity[slot.answer.op.index()]
                })
            })
    }

    fn head(&self, line: FlowId) -> Option<Head> {
        let request = &self.slots.get(self.front.head(line)?).answer;
        Some(Head { op: request.op, pages: request.pages })
    }
}

impl Device {
    /// Fetches commands as long as the admit decision finds one and the device has space.
    pub(super) fn admit(&mut self) {
        let mut again = Time::NEVER;
        while self.front.could_admit() {
            let Device { front, slots, ftl, board, queue_capacity, draws, .. } = self;
            let waiting = Waiting { front, slots, ftl, board, capacity: *queue_capacity, draws: *draws };
            let Some(line) = self.scheduler.admit.next(board, &waiting) else {
                again = self.scheduler.admit.ask_again();
                debug_assert!(again > self.board.now, "asked again at once, the answer would be the same");
                break;
            };
            let slot = self.front.fetch(line, &mut self.board);
            self.log.push(self.board.now, || Event::Admitted { request: self.slots.get(slot).answer.id });
            self.take_in_waiting(slot);
        }
        if again != self.ask_again {
            self.ask_again = again;
            self.refresh_other();
        }
    }
}
