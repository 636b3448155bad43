//! Which transactions wait at which unit, and whether a unit is idle although it could begin one.
//!
//! If the device does not let a unit decide, the unit stalls, or continues late when another event wakes it. Both show here,
//! at the instant it happens, under every scheduler: none of the catalogue leaves a unit idle that may begin something.
//!
//! Not checked: units that may begin nothing before their bus is free (`dispatch = "bus-idle"`); writes not yet bound to a
//! unit; where parts of pages are read first or entries of the map are fetched, any write, as it may wait for an older one that has not
//! appeared in the stream yet; and where moves of writes take time, any write, as the stream does not say when a move begins.

use std::collections::VecDeque;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Lpn, PlaneId, UnitId};
use flashlane_ssd::config::{Config, Dispatch};
use rustc_hash::FxHashMap;

use super::Policy;
use super::requests::writes_wait_for_reads;
use super::rule::{Log, Rule};
use super::transactions::Txn;
use super::units::Units;

/// A waiting write, and the unit it is bound to, if any.
#[derive(Clone, Copy, Debug)]
struct Write {
    serial: u64,
    unit: Option<UnitId>,
}

/// What waits at every unit.
#[derive(Debug)]
pub(super) struct Waiting {
    eager: bool,
    judges_writes: bool,
    /// Programs may wait for reads: of the rest of their pages, or of entries of the map.
    reads_first: bool,
    /// Writes are bound to a unit only when they are moved to it.
    binds_late: bool,
    planes_per_unit: u32,
    /// Transactions that each unit could begin.
    ready: Vec<u32>,
    /// Units that have changed at this instant.
    changed: Vec<UnitId>,
    /// The waiting writes of each page, oldest first. Only the first could begin.
    pages: FxHashMap<Lpn, VecDeque<Write>>,
}

impl Waiting {
    pub(super) fn new(config: &Config, policy: Policy) -> Waiting {
        let reads_first = writes_wait_for_reads(config);
        Waiting {
            eager: config.bus.dispatch == Dispatch::Eager,
            judges_writes: !reads_first && !policy.moves_take_time,
            reads_first,
            binds_late: policy.binds_late,
            planes_per_unit: config.geometry.planes_per_unit(),
            ready: vec![0; config.geometry.units() as usize],
            changed: Vec::new(),
            pages: FxHashMap::default(),
        }
    }

    /// Another scheduler decides where writes wait. Nothing may wait.
    pub(super) fn scheduler_changes(&mut self, policy: Policy) {
        self.judges_writes = !self.reads_first && !policy.moves_take_time;
        self.binds_late = policy.binds_late;
    }

    fn unit_of(&self, plane: PlaneId) -> UnitId {
        UnitId((u32::from(plane.0) / self.planes_per_unit) as u16)
    }

    fn add(&mut self, unit: Option<UnitId>) {
        let Some(unit) = unit else { return };
        self.ready[unit.index()] += 1;
        self.changed.push(unit);
    }

    fn take(&mut self, unit: Option<UnitId>) {
        let Some(unit) = unit else { return };
        let ready = &mut self.ready[unit.index()];
        *ready = ready.saturating_sub(1);
    }

    /// A transaction joined a queue.
    pub(super) fn queued(&mut self, serial: u64, txn: &Txn) {
        let unit = self.unit_of(txn.plane);
        if !is_write(txn) {
            self.add(Some(unit));
        } else if self.judges_writes {
            let unit = (!self.binds_late).then_some(unit);
            let page = self.pages.entry(txn.lpn).or_default();
            page.push_back(Write { serial, unit });
            if page.len() == 1 {
                self.add(unit);
            }
        }
    }

    /// A waiting write, given as it was before, moves to `plane`.
    pub(super) fn moved(&mut self, serial: u64, txn: &Txn, plane: PlaneId) {
        let to = self.unit_of(plane);
        if let Some(page) = self.pages.get_mut(&txn.lpn)
            && let Some(place) = page.iter().position(|write| write.serial == serial)
        {
            let before = page[place].unit.replace(to);
            if place == 0 {
                self.take(before);
                self.add(Some(to));
            }
        }
    }

    /// A transaction no longer waits: its unit begins it, or it was dropped.
    pub(super) fn leaves(&mut self, serial: u64, txn: &Txn) {
        if !is_write(txn) {
            self.take(Some(self.unit_of(txn.plane)));
            return;
        }
        let Some(page) = self.pages.get_mut(&txn.lpn) else { return };
        let Some(place) = page.iter().position(|write| write.serial == serial) else { return };
        let gone = page.remove(place).and_then(|write| write.unit);
        let next = page.front().and_then(|write| write.unit);
        if page.is_empty() {
            self.pages.remove(&txn.lpn);
        }
        if place == 0 {
            self.take(gone);
            self.add(next);
        }
    }

    /// A unit may have become free.
    pub(super) fn became_free(&mut self, unit: UnitId) {
        self.changed.push(unit);
    }

    /// Whether [`Waiting::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The instant is over: an idle unit must have nothing to begin.
    pub(super) fn settle(&mut self, units: &Units, log: &mut Log) {
        let mut changed = std::mem::take(&mut self.changed);
        if self.eager {
            changed.sort_unstable();
            changed.dedup();
            for &unit in &changed {
                let ready = self.ready.get(unit.index()).copied().unwrap_or_default();
                log.check(ready == 0 || !units.is_idle(unit), Rule::NotIdle, || {
                    format!("unit {} is idle and could begin any of {ready} transactions.", unit.0)
                });
            }
        }
        changed.clear();
        self.changed = changed;
    }
}

/// Whether it is a write of a host or of the buffer.
fn is_write(txn: &Txn) -> bool {
    txn.op == FlashOp::Program && !txn.owner.collects()
}
