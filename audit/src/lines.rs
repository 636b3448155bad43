//! The writes of each logical page: dispatched in order of age, and each cancelled one followed by the one that
//! replaces it. Age is the serial: a partial write that reads first joins its queue later than it was made.
//!
//! Knows programs of hosts and of the buffer; moves of garbage collection are [`super::victims`]' business.

use flashlane_core::{Lpn, RequestId, Time};
use rustc_hash::FxHashMap;

use super::requests::Requests;
use super::rule::{Log, Rule};
use super::transactions::{Transactions, Txn};

/// The writes of one page that are in flight.
#[derive(Default, Debug)]
struct Line {
    /// Oldest, and the rest by age. Most pages have one write in flight at most, so the rest seldom allocates.
    first: u64,
    rest: Vec<u64>,
    /// The youngest dispatched, and the youngest the flash ended.
    dispatched: Option<u64>,
    ended: Option<u64>,
}

impl Line {
    fn add(&mut self, serial: u64) {
        let younger = self.rest.partition_point(|&other| other < serial);
        self.rest.insert(younger, serial);
        if serial < self.first {
            std::mem::swap(&mut self.first, &mut self.rest[0]);
        }
    }
}

/// A cancelled write whose successor has yet to join a queue, at this very instant.
#[derive(Debug)]
struct Orphan {
    lpn: Lpn,
    serial: u64,
    request: Option<RequestId>,
}

/// The writes in flight by page.
#[derive(Default, Debug)]
pub(super) struct Lines {
    lines: FxHashMap<Lpn, Line>,
    orphans: Vec<Orphan>,
    /// Requests that complete with a write that is not theirs.
    carried: FxHashMap<u64, Vec<RequestId>>,
}

impl Lines {
    /// A write joined its queue.
    pub(super) fn queued(&mut self, lpn: Lpn, serial: u64) {
        self.lines
            .entry(lpn)
            .and_modify(|line| line.add(serial))
            .or_insert_with(|| Line { first: serial, ..Line::default() });
        if !self.orphans.is_empty() {
            let Lines { orphans, carried, .. } = self;
            orphans.retain(|orphan| {
                if orphan.lpn == lpn {
                    carried.entry(serial).or_default().extend(orphan.request);
                }
                orphan.lpn != lpn
            });
        }
    }

    /// Whether a write of `lpn` is queued and not dispatched.
    pub(super) fn waits(&self, lpn: Lpn, txns: &Transactions) -> Option<u64> {
        let line = self.lines.get(&lpn)?;
        std::iter::once(line.first)
            .chain(line.rest.iter().copied())
            .find(|&serial| txns.get(serial).is_some_and(|txn| txn.dispatched.is_none()))
    }

    /// A write was dispatched.
    pub(super) fn dispatched(&mut self, lpn: Lpn, serial: u64, log: &mut Log) {
        let Some(line) = self.lines.get_mut(&lpn) else { return };
        log.check(Some(serial) > line.dispatched, Rule::WriteOrder, || {
            format!("write {serial} of page {} was dispatched after a younger one.", lpn.0)
        });
        line.dispatched = line.dispatched.max(Some(serial));
    }

    /// The flash ended a write: requests whose cancelled writes it replaced may complete.
    pub(super) fn ended(&mut self, txn: &Txn, serial: u64, now: Time, requests: &mut Requests) {
        if let Some(line) = self.lines.get_mut(&txn.lpn) {
            line.ended = line.ended.max(Some(serial));
        }
        self.leave(txn.lpn, serial);
        if !self.carried.is_empty() {
            for request in self.carried.remove(&serial).unwrap_or_default() {
                requests.released(request, Some(now));
            }
        }
    }

    /// A write was cancelled: its request, and those it already stood for, now wait for the next write of the page.
    pub(super) fn cancelled(&mut self, txn: &Txn, serial: u64, now: Time, requests: &mut Requests) {
        let replaced = self.lines.get(&txn.lpn).is_some_and(|line| line.ended > Some(serial));
        let next = self.leave(txn.lpn, serial);
        let inherited = self.carried.remove(&serial).unwrap_or_default();
        if replaced {
            inherited.into_iter().for_each(|request| requests.released(request, Some(now)));
            return;
        }
        // Those inherited are counted as waiting already; the cancelled write's own request joins them.
        if let Some(request) = txn.request {
            requests.awaits(request);
        }
        let waiting = inherited.into_iter().chain(txn.request);
        match next {
            Some(successor) => self.carried.entry(successor).or_default().extend(waiting),
            None => {
                let (lpn, before) = (txn.lpn, self.orphans.len());
                self.orphans.extend(waiting.map(|request| Orphan { lpn, serial, request: Some(request) }));
                if self.orphans.len() == before {
                    self.orphans.push(Orphan { lpn, serial, request: None });
                }
            }
        }
    }

    /// The instant is over: a cancelled write without a successor will never have one.
    pub(super) fn settle(&mut self, requests: &mut Requests, log: &mut Log) {
        for orphan in self.orphans.drain(..) {
            log.report(Rule::HasSuccessor, || {
                format!("write {} of page {} was cancelled for no other write.", orphan.serial, orphan.lpn.0)
            });
            if let Some(request) = orphan.request {
                requests.released(request, None);
            }
        }
    }

    /// Whether [`Lines::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.orphans.is_empty()
    }

    /// Takes a write out of its line; the write right after it, if there is one.
    fn leave(&mut self, lpn: Lpn, serial: u64) -> Option<u64> {
        let line = self.lines.get_mut(&lpn)?;
        if line.first == serial {
            if line.rest.is_empty() {
                self.lines.remove(&lpn);
                return None;
            }
            line.first = line.rest.remove(0);
            return Some(line.first);
        }
        let index = line.rest.iter().position(|&other| other == serial)?;
        line.rest.remove(index);
        line.rest.get(index).copied()
    }
}
