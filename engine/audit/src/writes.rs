//! The writes of each logical page: dispatched in order of age, and each cancelled one followed by the one that
//! replaces it. Age is the serial number, since a partial write that reads first joins its queue after it was created.
//!
//! Covers programs of hosts and of the buffer; moves of garbage collection are in [`super::victims`].

use flashlane_core::{Lpn, RequestId, Time};
use rustc_hash::FxHashMap;

use super::requests::Requests;
use super::rule::{Log, Rule};
use super::transactions::{Transactions, Txn};

/// The writes of one page that are in flight.
#[derive(Default, Debug)]
struct PageWrites {
    /// Oldest, and the rest by age. Most pages have one write in flight at most, so the rest seldom allocates.
    first: u64,
    rest: Vec<u64>,
    /// The youngest dispatched, and the youngest that the flash ended.
    dispatched: Option<u64>,
    ended: Option<u64>,
}

impl PageWrites {
    fn add(&mut self, serial: u64) {
        let younger = self.rest.partition_point(|&other| other < serial);
        self.rest.insert(younger, serial);
        if serial < self.first {
            std::mem::swap(&mut self.first, &mut self.rest[0]);
        }
    }
}

/// A cancelled write whose successor must join a queue within the same instant.
#[derive(Debug)]
struct SupersededWrite {
    lpn: Lpn,
    serial: u64,
    request: Option<RequestId>,
}

/// The writes in flight by page.
#[derive(Debug)]
pub(super) struct Writes {
    pages: FxHashMap<Lpn, PageWrites>,
    superseded: Vec<SupersededWrite>,
    /// Requests that complete with a write of another request.
    carried: FxHashMap<u64, Vec<RequestId>>,
    /// Whether a cancelled write's request need not wait for its successor.
    end_at_once: bool,
}

impl Writes {
    pub(super) fn new(end_at_once: bool) -> Writes {
        Writes { pages: FxHashMap::default(), superseded: Vec::new(), carried: FxHashMap::default(), end_at_once }
    }

    /// Another scheduler decides whether a cancelled write ends at once.
    pub(super) fn scheduler_changes(&mut self, end_at_once: bool) {
        self.end_at_once = end_at_once;
    }

    /// A write joined its queue.
    pub(super) fn queued(&mut self, lpn: Lpn, serial: u64) {
        self.pages
            .entry(lpn)
            .and_modify(|writes| writes.add(serial))
            .or_insert_with(|| PageWrites { first: serial, ..PageWrites::default() });
        if !self.superseded.is_empty() {
            let Writes { superseded, carried, .. } = self;
            superseded.retain(|write| {
                if write.lpn == lpn {
                    carried.entry(serial).or_default().extend(write.request);
                }
                write.lpn != lpn
            });
        }
    }

    /// The write of `lpn` that is queued and not dispatched, if any.
    pub(super) fn waits(&self, lpn: Lpn, txns: &Transactions) -> Option<u64> {
        let writes = self.pages.get(&lpn)?;
        std::iter::once(writes.first)
            .chain(writes.rest.iter().copied())
            .find(|&serial| txns.get(serial).is_some_and(|txn| txn.dispatched.is_none()))
    }

    /// A write was dispatched.
    pub(super) fn dispatched(&mut self, lpn: Lpn, serial: u64, log: &mut Log) {
        let Some(writes) = self.pages.get_mut(&lpn) else { return };
        log.check(Some(serial) > writes.dispatched, Rule::WriteOrder, || {
            format!("write {serial} of page {} was dispatched after a younger one.", lpn.0)
        });
        writes.dispatched = writes.dispatched.max(Some(serial));
    }

    /// The flash ended a write: requests whose cancelled writes it replaced may complete.
    pub(super) fn ended(&mut self, txn: &Txn, serial: u64, now: Time, requests: &mut Requests) {
        if let Some(writes) = self.pages.get_mut(&txn.lpn) {
            writes.ended = writes.ended.max(Some(serial));
        }
        self.leave(txn.lpn, serial);
        if !self.carried.is_empty() {
            for request in self.carried.remove(&serial).unwrap_or_default() {
                requests.released(request, Some(now));
            }
        }
    }

    /// A write was cancelled: its request, and the requests that completed with it, now wait for the next write of the page.
    pub(super) fn cancelled(&mut self, txn: &Txn, serial: u64, now: Time, requests: &mut Requests) {
        let replaced = self.pages.get(&txn.lpn).is_some_and(|writes| writes.ended > Some(serial));
        let next = self.leave(txn.lpn, serial);
        let inherited = self.carried.remove(&serial).unwrap_or_default();
        if replaced {
            inherited.into_iter().for_each(|request| requests.released(request, Some(now)));
            return;
        }
        // Inherited requests are counted as waiting already; only the cancelled write's own request is added.
        let own = txn.request.filter(|_| !self.end_at_once);
        if let Some(request) = own {
            requests.awaits(request);
        }
        let waiting = inherited.into_iter().chain(own);
        match next {
            Some(successor) => self.carried.entry(successor).or_default().extend(waiting),
            None => {
                let (lpn, before) = (txn.lpn, self.superseded.len());
                self.superseded.extend(waiting.map(|request| SupersededWrite { lpn, serial, request: Some(request) }));
                if self.superseded.len() == before {
                    self.superseded.push(SupersededWrite { lpn, serial, request: None });
                }
            }
        }
    }

    /// The instant is over: a cancelled write that has no successor by now gets none.
    pub(super) fn settle(&mut self, requests: &mut Requests, log: &mut Log) {
        for write in self.superseded.drain(..) {
            log.report(Rule::HasSuccessor, || {
                format!("write {} of page {} was cancelled for no other write.", write.serial, write.lpn.0)
            });
            if let Some(request) = write.request {
                requests.released(request, None);
            }
        }
    }

    /// Whether [`Writes::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.superseded.is_empty()
    }

    /// Removes a write from those of its page. Returns the write right after it, if any.
    fn leave(&mut self, lpn: Lpn, serial: u64) -> Option<u64> {
        let writes = self.pages.get_mut(&lpn)?;
        if writes.first == serial {
            if writes.rest.is_empty() {
                self.pages.remove(&lpn);
                return None;
            }
            writes.first = writes.rest.remove(0);
            return Some(writes.first);
        }
        let index = writes.rest.iter().position(|&other| other == serial)?;
        writes.rest.remove(index);
        writes.rest.get(index).copied()
    }
}
