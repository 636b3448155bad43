//! First come, first served: a unit begins the older of the first read and the first write that wait for it (model 2.1.9).
//!
//! A transaction of a request is as old as the admission of that; any other, and a read where reads may wait behind writes without space, as the
//! instant at which it joined a queue. Of these it is not known where they may have waited for an entry of the map, which makes them join later. In a
//! queue transactions stand in the order in which they joined it.
//!
//! Judged only where the pick decision declares this and queues are joined at the tail; not of writes that may wait for what has not appeared in
//! the stream: an older write of their page that waits for the rest of its page or for an entry, a move to another unit that takes time; and no
//! longer once a trim has taken a page out of a wordline.

use std::collections::VecDeque;

use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Lpn, PlaneId, RequestId, Sequence, UnitId};
use flashlane_ssd::config::Config;

use super::Policy;
use super::requests::{may_hold_reads, writes_wait_for_reads};
use super::rule::{Log, Rule};
use super::transactions::Txn;

/// A waiting transaction.
#[derive(Clone, Copy, Debug)]
struct Waits {
    serial: u64,
    lpn: Lpn,
    plane: PlaneId,
    /// Its place among all that came, if that is known.
    age: Option<u64>,
}

/// What waits for a unit, in the order in which it joined: reads, and writes.
type Queues = [VecDeque<Waits>; 2];

/// The order in which transactions came and begin.
#[derive(Debug)]
pub(super) struct Ages {
    judges: bool,
    /// Of waiting writes it is known which could begin.
    knows_writes: bool,
    reads_first: bool,
    gathers: bool,
    fetches_entries: bool,
    /// Reads may wait behind writes without space.
    holds_reads: bool,
    binds_late: bool,
    planes_per_unit: u32,
    units: Vec<Queues>,
    /// Writes that have no plane yet.
    unplaced: VecDeque<Waits>,
    /// When each request in the device was admitted, counted in what came.
    admitted: Sequence<u64>,
    count: u64,
    /// The command that began last.
    newest: Option<u64>,
}

impl Ages {
    pub(super) fn new(config: &Config, policy: Policy) -> Ages {
        let mut ages = Ages {
            judges: false,
            knows_writes: false,
            reads_first: writes_wait_for_reads(config),
            gathers: config.nand.one_shot_pages * config.geometry.slots > 1,
            holds_reads: may_hold_reads(config),
            fetches_entries: config.mapping.is_some(),
            binds_late: false,
            planes_per_unit: config.geometry.planes_per_unit(),
            units: (0..config.geometry.units()).map(|_| Queues::default()).collect(),
            unplaced: VecDeque::new(),
            admitted: Sequence::default(),
            count: 0,
            newest: None,
        };
        ages.scheduler_changes(policy);
        ages
    }

    /// Another scheduler decides. Nothing may wait: what does by the record was left out after a trim.
    pub(super) fn scheduler_changes(&mut self, policy: Policy) {
        self.units.iter_mut().flatten().for_each(VecDeque::clear);
        self.unplaced.clear();
        self.admitted = Sequence::default();
        self.judges = policy.oldest_first && !policy.moves_take_time;
        self.binds_late = policy.binds_late;
        self.knows_writes = !self.reads_first;
    }

    fn unit_of(&self, plane: PlaneId) -> usize {
        (u32::from(plane.0) / self.planes_per_unit) as usize
    }

    /// A request was admitted.
    pub(super) fn admitted(&mut self, request: RequestId) {
        if self.judges {
            self.count += 1;
            self.admitted.insert(request.0, self.count);
        }
    }

    /// A request completed.
    pub(super) fn completed(&mut self, request: RequestId) {
        if self.judges {
            self.admitted.remove(request.0);
        }
    }

    /// The queue of a transaction: 0 for reads, 1 for programs; nothing else waits here.
    fn index(&self, txn: &Txn) -> Option<usize> {
        let op = match txn.op {
            FlashOp::Read => 0,
            FlashOp::Program => 1,
            FlashOp::Erase => return None,
        };
        (self.judges && !txn.owner.collects()).then_some(op)
    }

    /// A transaction joined a queue.
    pub(super) fn queued(&mut self, serial: u64, txn: &Txn) {
        let Some(op) = self.index(txn) else { return };
        self.count += 1;
        // A translation page may share its program with pages whose map entries are not in memory yet.
        let is_gathered = txn.owner == Owner::Buffer || self.gathers && txn.op == FlashOp::Program;
        let may_join_late = self.fetches_entries && (txn.request.is_some() || is_gathered);
        let age = match txn.request {
            Some(request) if !self.holds_reads => self.admitted.get(request.0).copied(),
            _ if may_join_late => None,
            _ => Some(self.count),
        };
        let waits = Waits { serial, lpn: txn.lpn, plane: txn.plane, age };
        if self.binds_late && op == 1 {
            self.unplaced.push_back(waits);
        } else {
            let unit = self.unit_of(txn.plane);
            self.units[unit][op].push_back(waits);
        }
    }

    /// Takes a transaction out of its queue.
    fn take(&mut self, serial: u64, txn: &Txn) -> Option<Waits> {
        let (op, unit) = (self.index(txn)?, self.unit_of(txn.plane));
        let take = |queue: &mut VecDeque<Waits>| {
            let place = queue.iter().position(|waits| waits.serial == serial)?;
            queue.remove(place)
        };
        take(&mut self.units[unit][op]).or_else(|| take(&mut self.unplaced))
    }

    /// A waiting write, given as it was before, moves to `plane`: to the tail of the queue there.
    pub(super) fn moved(&mut self, serial: u64, txn: &Txn, plane: PlaneId) {
        if let Some(waits) = self.take(serial, txn) {
            let unit = self.unit_of(plane);
            self.units[unit][1].push_back(Waits { plane, ..waits });
        }
    }

    /// A waiting transaction was dropped; `trimmed` if for a trim.
    pub(super) fn dropped(&mut self, serial: u64, txn: &Txn, trimmed: bool) {
        self.take(serial, txn);
        self.judges &= !(trimmed && self.gathers);
    }

    /// A transaction begins. If it is the first of its command, nothing older was the first of a queue of the unit. `waits_first` gives the oldest
    /// waiting write of a page, `goes` whether a plane can take a write now, and `paused` whether the unit may serve reads only.
    pub(super) fn dispatched(
        &mut self,
        (serial, txn): (u64, &Txn),
        (unit, command): (UnitId, u64),
        waits_first: impl Fn(Lpn) -> Option<u64>,
        (mut goes, paused): (impl FnMut(PlaneId) -> bool, bool),
        log: &mut Log,
    ) {
        let Some(op) = self.index(txn) else { return };
        if self.newest.replace(command) == Some(command) {
            self.take(serial, txn);
            return;
        }
        let could_begin = |waits: &&Waits| waits.serial == serial || waits_first(waits.lpn) == Some(waits.serial);
        let queues = &self.units[unit.index()];
        if op == 0 || self.knows_writes {
            let first = queues[op].iter().find(|waits| op == 0 || could_begin(waits)).map(|waits| waits.serial);
            log.check(first == Some(serial), Rule::OldestFirst, || {
                format!("{} {serial} begins, and {first:?} is the first of its queue.", txn.op.name())
            });
        }
        let first = match op {
            1 => queues[0].front(),
            _ if paused || !self.knows_writes => None,
            _ => queues[1].iter().find(could_begin).filter(|waits| goes(waits.plane)),
        };
        let first = first.copied();
        if let (Some(own), Some(first)) = (self.take(serial, txn), first)
            && let (Some(own), Some(other)) = (own.age, first.age)
        {
            log.check(own <= other, Rule::OldestFirst, || {
                format!("{} {serial} begins, and {} is older and waits.", txn.op.name(), first.serial)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::Duration;
    use flashlane_core::decide::{GcMode, SuspendPoints};

    /// After a trim nothing is judged, nor noted, until the scheduler changes, and what waited is forgotten then.
    #[test]
    fn what_waited_before_a_trim_is_forgotten_when_the_scheduler_changes() {
        let mut config = crate::tests::case::config();
        config.geometry.slots = 2;
        let policy = Policy {
            suspend_points: SuspendPoints::Never,
            gc_mode: GcMode::Transactions { pausable: true },
            binds_late: false,
            moves_take_time: false,
            cancelled_end_at_once: false,
            oldest_first: true,
        };
        let program = |lpn| Txn {
            request: None,
            op: FlashOp::Program,
            owner: Owner::Buffer,
            lpn: Lpn(lpn),
            plane: PlaneId(0),
            bytes: 4096,
            dispatched: None,
            slack: Duration::ZERO,
            source: None,
        };
        let (mut ages, mut log) = (Ages::new(&config, policy), Log::new(1));
        (1..=3).for_each(|serial| ages.queued(serial, &program(serial as u32)));
        ages.dropped(3, &program(3), true);
        ages.scheduler_changes(policy);
        (4..=5).for_each(|serial| ages.queued(serial, &program(serial as u32)));
        let mut begins = |serial: u64, command| {
            let txn = program(serial as u32);
            let waits_first = |lpn: Lpn| Some(u64::from(lpn.0));
            ages.dispatched((serial, &txn), (UnitId(0), command), waits_first, (|_| true, false), &mut log);
            log.total()
        };
        assert_eq!(begins(4, 1), 0);
        // It is judged again: the fourth has begun twice.
        assert_eq!(begins(4, 2), 1);
    }
}
