//! What the tracker knows of a channel: when its bus becomes free, and which commands want it next.

use alloc::vec::Vec;

use flashlane_core::{Time, UnitId};

/// A command that waits for the bus, or has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub unit: UnitId,
    /// The command's number.
    pub serial: u64,
    /// From when on it needs the bus, as far as is known.
    pub ready: Time,
    /// Whether one of its pages is on the bus now.
    pub on_bus: bool,
}

/// A channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    /// When the transfer on the bus ends, if there is one.
    pub busy_until: Time,
    /// In the order in which they will get the bus: the one that has it, then first come first served (model 0.4).
    pub entries: Vec<Entry>,
}

impl Channel {
    /// A command will want the bus from `ready` on.
    pub fn requests_bus(&mut self, unit: UnitId, serial: u64, ready: Time) {
        if self.entries.iter().any(|e| (e.unit, e.serial) == (unit, serial)) {
            return;
        }
        let behind = |e: &Entry| e.on_bus || (e.ready, e.serial) < (ready, serial);
        let at = self.entries.iter().rposition(behind).map_or(0, |i| i + 1);
        self.entries.insert(at, Entry { unit, serial, ready, on_bus: false });
    }

    /// A command took the bus until `until`. One whose pages go in leaves the list, one whose pages come out stays.
    pub fn taken(&mut self, unit: UnitId, serial: u64, until: Time, comes_out: bool) {
        self.busy_until = until;
        let Some(at) = self.entries.iter().position(|e| (e.unit, e.serial) == (unit, serial)) else { return };
        if !comes_out {
            self.entries.remove(at);
            return;
        }
        self.entries[at].on_bus = true;
        self.entries[..=at].rotate_right(1);
    }

    /// A command stops waiting for the bus.
    pub fn leaves(&mut self, unit: UnitId, serial: u64) {
        self.entries.retain(|e| (e.unit, e.serial) != (unit, serial));
    }

    /// A page of a command has come out; `is_last` if it was its last.
    pub fn page_out(&mut self, unit: UnitId, serial: u64, is_last: bool) {
        let Some(at) = self.entries.iter().position(|e| (e.unit, e.serial) == (unit, serial)) else { return };
        if is_last {
            self.entries.remove(at);
        } else {
            self.entries[at].on_bus = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(channel: &Channel) -> Vec<u16> {
        channel.entries.iter().map(|e| e.unit.0).collect()
    }

    #[test]
    fn commands_stand_in_the_order_of_the_bus() {
        let at = Time::from_ns;
        let mut channel = Channel::default();
        channel.requests_bus(UnitId(0), 1, at(100));
        channel.requests_bus(UnitId(1), 2, at(50));
        channel.requests_bus(UnitId(2), 3, at(100));
        assert_eq!(order(&channel), [1, 0, 2], "of equals the older command first");
        channel.taken(UnitId(0), 1, at(130), true);
        channel.requests_bus(UnitId(3), 4, at(10));
        assert_eq!(order(&channel), [0, 3, 1, 2], "the bus is not taken away");
        channel.taken(UnitId(3), 4, at(160), false);
        assert_eq!((order(&channel), channel.busy_until), ([0, 1, 2].to_vec(), at(160)));
        channel.page_out(UnitId(0), 1, true);
        assert_eq!(order(&channel), [1, 2]);
    }
}
