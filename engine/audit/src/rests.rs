//! Pages of a write-back buffer that were written in part: the rest of each is read once, before it is programmed (model 0.10).
//!
//! A page is in the buffer from its first write until a program of it ends, unless it was written again after that program joined its queue. Not judged with
//! `read_allocate`, where the stream does not tell which clean pages the buffer holds, nor with a mapping cache, where a program joins its queue
//! later than its page leaves; nor where the start is not known.

use flashlane_core::Lpn;
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_ssd::config::Config;
use rustc_hash::FxHashMap;

use super::rule::{Log, Rule};
use super::transactions::Txn;

/// Where the rest of a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    /// With its page.
    Here,
    /// In the flash, and no read of it has joined a queue yet.
    Missing,
    /// This read fetches it.
    Read(u64),
}

/// A page in the buffer.
#[derive(Debug)]
struct Held {
    rest: Rest,
    /// It was written since a program of it joined a queue last.
    is_dirty: bool,
    programs: Vec<u64>,
}

/// The pages in the buffer.
#[derive(Debug, Default)]
pub(super) struct Rests(FxHashMap<Lpn, Held>);

impl Rests {
    /// For a device of `config`, if its buffer reads rests and it is known what that holds.
    pub(super) fn new(config: &Config, knows_start: bool) -> Option<Rests> {
        let buffer = config.buffer.as_ref().filter(|_| config.buffer_reads_rests())?;
        (knows_start && config.mapping.is_none() && !buffer.read_allocate).then(Rests::default)
    }

    /// A page of a write was stored, or the buffer holds it before the first event: all of it if `is_whole`; if not, but `needs_none`, there is
    /// nothing of it in the flash.
    pub(super) fn stored(&mut self, lpn: Lpn, is_whole: bool, needs_none: bool) {
        let rest = if is_whole || needs_none { Rest::Here } else { Rest::Missing };
        let page = self.0.entry(lpn).or_insert(Held { rest, is_dirty: true, programs: Vec::new() });
        page.is_dirty = true;
        if is_whole {
            page.rest = Rest::Here;
        }
    }

    /// A page was trimmed.
    pub(super) fn trimmed(&mut self, lpn: Lpn) {
        self.0.remove(&lpn);
    }

    /// A transaction joined a queue.
    pub(super) fn queued(&mut self, serial: u64, txn: &Txn, log: &mut Log) {
        let page = self.0.get_mut(&txn.lpn);
        match (txn.owner, txn.op) {
            (Owner::User, FlashOp::Read) if txn.request.is_none() => {
                let missing = page.filter(|page| page.rest == Rest::Missing);
                log.check(missing.is_some(), Rule::RestFirst, || {
                    format!("read {serial} of page {} was queued, whose rest is not missing.", txn.lpn.0)
                });
                missing.into_iter().for_each(|page| page.rest = Rest::Read(serial));
            }
            (Owner::Buffer, FlashOp::Program) => {
                let Some(page) = page else { return };
                page.is_dirty = false;
                page.programs.push(serial);
                log.check(page.rest == Rest::Here, Rule::RestFirst, || {
                    format!("program {serial} of page {} was queued, whose rest is {:?}.", txn.lpn.0, page.rest)
                });
            }
            _ => {}
        }
    }

    /// A transaction ended.
    pub(super) fn ended(&mut self, serial: u64, txn: &Txn) {
        let Some(page) = self.0.get_mut(&txn.lpn) else { return };
        if page.rest == Rest::Read(serial) {
            page.rest = Rest::Here;
        }
        let programs = page.programs.len();
        page.programs.retain(|&program| program != serial);
        if page.programs.len() < programs && page.programs.is_empty() && !page.is_dirty {
            self.0.remove(&txn.lpn);
        }
    }
}
