//! Why wordlines of the page buffer are padded (model 0.15).
//!
//! A page that leaves the buffer waits for others of its plane. Its wordline is padded where something waits for its program: a flush that has been
//! admitted, a write with FUA of a page in it; where its first page has waited long enough; with a translation page in it, if these are not gathered;
//! where pages were trimmed; and where it is a row that found no place in the SLC cache. When a page began to wait is not in the stream, but it was stored
//! before: so this is a bound, and for translation pages, of which not even that is known, a wide one.

use std::ops::Range;

use flashlane_core::transaction::Owner;
use flashlane_core::{Duration, Lpn, PlaneId, RequestId, Time};
use flashlane_ssd::config::{Buffer, Config};
use rustc_hash::FxHashMap;

use super::rule::{Log, Rule};
use super::transactions::Txn;

/// A program of the buffer that waits.
#[derive(Clone, Copy, Debug)]
struct Made {
    /// The earliest instant at which its page could have left the buffer.
    stored: Time,
    /// Whether it was reason enough to pad its wordline when it joined its queue.
    is_awaited: bool,
}

/// A program that begins at this instant: its plane and page there, and what is known of it.
#[derive(Clone, Copy, Debug)]
struct Begins {
    plane: PlaneId,
    ppa: u32,
    serial: u64,
    made: Made,
}

/// What is known of the pages of wordlines.
#[derive(Debug)]
pub(super) struct Padding {
    /// Pages of a wordline, and of a row.
    wordline: u32,
    slots: u32,
    /// Translation pages wait for others too.
    gathers_map: bool,
    wait: Option<Duration>,
    loses: bool,
    has_cache: bool,
    /// Programs join their queues after they are made, where entries of their pages are awaited.
    fetches_entries: bool,
    /// By page, when it was first and last stored since a program of it joined a queue; where that comes late, from the last time before on.
    stored: FxHashMap<Lpn, (Time, Time)>,
    made: FxHashMap<u64, Made>,
    /// Flushes in the device, and when one was there last.
    flushes: u32,
    flush_at: Option<Time>,
    /// Pages of writes with FUA in the device, by request; and when one of a page was there last.
    fua: FxHashMap<u64, Vec<Lpn>>,
    fua_at: FxHashMap<Lpn, Time>,
    /// When a page joined a queue that had waited long enough, where rows of its list may go to the SLC cache: the last one is then padded, however
    /// young its pages are.
    waited_at: Option<Time>,
    /// When a page that waited for its program was last trimmed.
    trimmed_at: Option<Time>,
    /// Programs that begin at this instant, and wordlines that are padded.
    begins: Vec<Begins>,
    padded: Vec<(PlaneId, Range<u32>)>,
}

impl Padding {
    /// For a device of `config`, if it gathers pages of the buffer.
    pub(super) fn new(config: &Config) -> Option<Padding> {
        config.gathers_wordlines().then(|| Padding {
            wordline: config.pages_of_a_program(),
            slots: config.geometry.slots,
            gathers_map: config.gathers_map(),
            wait: config.nand.one_shot_wait,
            loses: config.buffer.as_ref().is_some_and(Buffer::is_volatile),
            has_cache: config.slc.is_some(),
            fetches_entries: config.mapping.is_some(),
            stored: FxHashMap::default(),
            made: FxHashMap::default(),
            flushes: 0,
            flush_at: None,
            fua: FxHashMap::default(),
            fua_at: FxHashMap::default(),
            waited_at: None,
            trimmed_at: None,
            begins: Vec::new(),
            padded: Vec::new(),
        })
    }

    /// A page of a write was stored in the buffer; `fua` if the write waits for its program.
    pub(super) fn stored(&mut self, request: RequestId, lpn: Lpn, fua: bool, now: Time) {
        self.stored.entry(lpn).or_insert((now, now)).1 = now;
        if fua && self.loses {
            self.fua.entry(request.0).or_default().push(lpn);
        }
    }

    /// A flush was admitted.
    pub(super) fn flush_admitted(&mut self, now: Time) {
        if self.loses {
            self.flushes += 1;
            self.flush_at = Some(now);
        }
    }

    /// A request completed; `flush` if it was one.
    pub(super) fn completed(&mut self, request: RequestId, flush: bool, now: Time) {
        if flush && self.loses {
            self.flushes = self.flushes.saturating_sub(1);
            self.flush_at = Some(now);
        }
        for lpn in self.fua.remove(&request.0).unwrap_or_default() {
            self.fua_at.insert(lpn, now);
        }
    }

    /// Before the first event the buffer holds this page, which is dirty.
    pub(super) fn holds(&mut self, lpn: Lpn) {
        self.stored.insert(lpn, (Time::ZERO, Time::ZERO));
    }

    /// A page was trimmed.
    pub(super) fn trimmed(&mut self, lpn: Lpn) {
        self.stored.remove(&lpn);
    }

    /// A program joined a queue.
    pub(super) fn queued(&mut self, serial: u64, txn: &Txn, now: Time) {
        if txn.owner == Owner::Mapping {
            let could_wait = self.wait.is_some() || self.flushes > 0 || self.flush_at.is_some();
            let stored = if self.gathers_map { Time::ZERO } else { now };
            self.made.insert(serial, Made { stored, is_awaited: could_wait || !self.gathers_map });
            return;
        }
        if txn.owner != Owner::Buffer {
            return;
        }
        let Some((stored, last)) = self.stored.remove(&txn.lpn) else {
            self.made.insert(serial, Made { stored: Time::ZERO, is_awaited: true });
            return;
        };
        if self.fetches_entries {
            self.stored.insert(txn.lpn, (last, last));
        }
        let since = |at: Option<Time>| at.is_some_and(|at| at >= stored);
        let of_fua = self.fua.values().any(|pages| pages.contains(&txn.lpn)) || since(self.fua_at.remove(&txn.lpn));
        let has_waited = self.wait.is_some_and(|wait| stored + wait <= now);
        if has_waited && self.has_cache {
            self.waited_at = Some(now);
        }
        let is_awaited = of_fua || has_waited || since(self.waited_at) || self.flushes > 0 || since(self.flush_at);
        self.made.insert(serial, Made { stored, is_awaited });
    }

    /// A waiting program was dropped; `trimmed` if for a trim.
    pub(super) fn dropped(&mut self, serial: u64, trimmed: bool, now: Time) {
        if self.made.remove(&serial).is_some() && trimmed {
            self.trimmed_at = Some(now);
        }
    }

    /// A program begins.
    pub(super) fn begins(&mut self, serial: u64, plane: PlaneId, ppa: u32) {
        if let Some(made) = self.made.remove(&serial) {
            self.begins.push(Begins { plane, ppa, serial, made });
        }
    }

    /// A page of a wordline was padded, or in SLC mode of a row.
    pub(super) fn padded(&mut self, plane: PlaneId, ppa: u32, is_slc: bool) {
        let together = if is_slc { self.slots } else { self.wordline };
        let first = ppa - ppa % together;
        let place = (plane, first..first + together);
        if !self.padded.contains(&place) {
            self.padded.push(place);
        }
    }

    /// Whether [`Padding::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !(self.begins.is_empty() && self.padded.is_empty())
    }

    /// The instant is over: what was padded had a reason. Moved pages are not judged.
    pub(super) fn settle(&mut self, log: &mut Log) {
        for (plane, places) in &self.padded {
            let in_wordline = |begins: &&Begins| begins.plane == *plane && places.contains(&begins.ppa);
            let pages: Vec<&Begins> = self.begins.iter().filter(in_wordline).collect();
            let trimmed = pages.iter().any(|page| self.trimmed_at.is_some_and(|at| at >= page.made.stored));
            let was_for_cache = self.has_cache && pages.len() == self.slots as usize;
            let has_reason = trimmed || was_for_cache || pages.iter().any(|page| page.made.is_awaited);
            log.check(pages.is_empty() || has_reason, Rule::Padding, || {
                let serials: Vec<u64> = pages.iter().map(|page| page.serial).collect();
                let first = places.start;
                format!("pages behind {first} of plane {} were padded for programs {serials:?}.", plane.0)
            });
        }
        self.begins.clear();
        self.padded.clear();
    }
}
