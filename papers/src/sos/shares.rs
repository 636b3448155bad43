//! The two shares of the slides under HOS (SOS-E1, SOS-E2), from the events of a run.

use flashlane_core::Owner;
use flashlane_core::event::{Event, Stamped};
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Lpn, Time};
use flashlane_scenario::Scenario;
use flashlane_sim::{Outcome, RunError};
use rustc_hash::FxHashMap;

use crate::Counter;

/// Counts writes of pages that a scheduler could have moved or saved.
///
/// A write counts as re-allocatable once, if at any instant while it waited some chip had nothing to do: moving it would have
/// gained what was left of its own chip's command at least. It counts as overwritten if the next write of its page came while it
/// waited. Both are shares of all writes of pages.
#[derive(Debug)]
pub struct Shares {
    geometry: Geometry,
    now: Time,
    /// Transactions of each chip that have not ended, and the chips that have none.
    work: Vec<u32>,
    idle: usize,
    /// Every transaction that has not ended: its chip, and its page if it is a write of a host.
    live: FxHashMap<u64, (usize, Option<Lpn>)>,
    /// The youngest waiting write of each page.
    waiting: FxHashMap<Lpn, u64>,
    /// Waiting writes that have not been counted as re-allocatable.
    stuck: FxHashMap<u64, ()>,
    writes: u64,
    reallocatable: u64,
    overwritten: u64,
}

impl Shares {
    /// Nothing counted yet on a drive of this geometry.
    pub fn new(geometry: Geometry) -> Shares {
        let units = geometry.units() as usize;
        Shares {
            geometry,
            now: Time::ZERO,
            work: vec![0; units],
            idle: units,
            live: FxHashMap::default(),
            waiting: FxHashMap::default(),
            stuck: FxHashMap::default(),
            writes: 0,
            reallocatable: 0,
            overwritten: 0,
        }
    }

    /// The instant is over, and its decisions are made: what still waits while a chip has nothing to do could move.
    fn settle(&mut self) {
        if self.idle > 0 {
            self.reallocatable += self.stuck.len() as u64;
            self.stuck.clear();
        }
    }

    /// Re-allocatable and overwritten writes, percent of all writes of pages.
    pub fn percent(&self) -> (f64, f64) {
        let share = |count: u64| if self.writes == 0 { 0.0 } else { 100.0 * count as f64 / self.writes as f64 };
        (share(self.reallocatable), share(self.overwritten))
    }
}

impl Counter for Shares {
    const NAME: &'static str = "re-allocatable and overwritten writes 1";
    /// Of both kinds, percent of all writes of pages.
    type Counts = (f64, f64);

    fn of(scenario: &Scenario) -> Result<Shares, RunError> {
        Ok(Shares::new(scenario.device_config()?.geometry))
    }

    fn observe(&mut self, stamped: &Stamped) {
        if stamped.at != self.now {
            self.settle();
            self.now = stamped.at;
        }
        match stamped.event {
            Event::Queued { txn, owner, op, lpn, plane, .. } => {
                let unit = self.geometry.unit_of(plane).index();
                self.idle -= usize::from(self.work[unit] == 0);
                self.work[unit] += 1;
                let page = (owner == Owner::User && op == FlashOp::Program).then_some(lpn);
                self.live.insert(txn, (unit, page));
                if page.is_some() {
                    self.writes += 1;
                    self.stuck.insert(txn, ());
                    self.overwritten += u64::from(self.waiting.insert(lpn, txn).is_some());
                }
            }
            Event::Dispatched { txn, .. } => {
                self.stuck.remove(&txn);
                if let Some(&(_, Some(lpn))) = self.live.get(&txn)
                    && self.waiting.get(&lpn) == Some(&txn)
                {
                    self.waiting.remove(&lpn);
                }
            }
            Event::Ended { txn, .. } => {
                if let Some((unit, _)) = self.live.remove(&txn) {
                    self.work[unit] -= 1;
                    self.idle += usize::from(self.work[unit] == 0);
                }
            }
            _ => {}
        }
    }

    fn figures(self, _: &Outcome) -> (f64, f64) {
        self.percent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::{Duration, FlowId, PlaneId, RequestId, UnitId};

    /// Two chips; writes a and b of page 0 and c of page 1 on the first: a runs, b waits while the second chip is idle, c comes and
    /// goes while both are busy.
    #[test]
    fn writes_are_counted_once_each() {
        let geometry = Geometry { channels: 2, ..Geometry::plain() };
        let mut shares = Shares::new(geometry);
        let mut event = |at: u64, event: Event| shares.observe(&Stamped { at: Time::from_ns(at), event });
        let queued = |txn: u64, op, lpn: u32, plane: u16| Event::Queued {
            txn,
            request: Some(RequestId(txn)),
            flow: FlowId(0),
            op,
            owner: Owner::User,
            lpn: Lpn(lpn),
            plane: PlaneId(plane),
            bytes: 4_096,
        };
        let begins =
            |txn, unit| Event::Dispatched { txn, command: txn, unit: UnitId(unit), ppa: 0, slack: Duration::ZERO };
        let ends = |txn| Event::Ended { txn, end: flashlane_core::event::End::Flash, paused: Duration::ZERO };
        event(0, queued(1, FlashOp::Program, 0, 0));
        event(0, begins(1, 0));
        event(5, queued(2, FlashOp::Program, 0, 0));
        event(6, queued(3, FlashOp::Read, 9, 1));
        event(6, begins(3, 1));
        event(7, queued(4, FlashOp::Program, 1, 0));
        event(8, queued(5, FlashOp::Program, 0, 0));
        event(10, ends(1));
        event(10, begins(2, 0));
        event(20, ends(2));
        event(20, begins(4, 0));
        event(30, ends(4));
        event(30, begins(5, 0));
        event(40, ends(5));
        event(50, ends(3));
        event(60, queued(6, FlashOp::Read, 9, 1));
        // Of four writes, the second waited from 5 to 6 while the second chip was idle, and the fourth overwrote it at 8.
        assert_eq!(shares.percent(), (25.0, 25.0));
    }
}
