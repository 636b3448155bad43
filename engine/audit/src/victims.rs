//! Garbage collection: victims, the moves that empty them, and their erases.

use flashlane_core::Lpn;
use flashlane_core::event::End;
use flashlane_core::transaction::FlashOp;
use rustc_hash::FxHashMap;

use super::pages::{Pages, Place};
use super::rule::{Log, Rule};
use super::transactions::Txn;

/// A block being emptied.
#[derive(Default, Debug)]
struct Victim {
    /// Moves queued and not ended.
    live: u32,
    /// Pages whose moves have begun.
    lpns: Vec<Lpn>,
    /// Whether its erase was dispatched.
    erasing: bool,
}

/// All victims, by block number in the whole device.
#[derive(Default, Debug)]
pub(super) struct Victims {
    victims: FxHashMap<u32, Victim>,
    /// The victim a page is being moved out of.
    moves: FxHashMap<Lpn, u32>,
    /// Blocks whose erase ended at this instant.
    ended: Vec<u32>,
}

impl Victims {
    pub(super) fn chosen(&mut self, block: u32, reported: u32, pages: &mut Pages, log: &mut Log) {
        let fresh = !self.victims.contains_key(&block);
        let full = pages.full(block, log);
        log.check(fresh && full, Rule::VictimState, || {
            let fault = if fresh { "is not fully written" } else { "is a victim already" };
            format!("{} was chosen and {fault}.", pages.describe(block))
        });
        let (valid, exact) = pages.valid(block, log);
        log.check(reported == valid || !exact && reported > valid, Rule::VictimCount, || {
            let least = if exact { "" } else { "at least " };
            format!("{} was reported with {reported} valid pages and has {least}{valid}.", pages.describe(block))
        });
        if fresh {
            self.victims.insert(block, Victim::default());
        }
    }

    /// The victim that a garbage-collection transaction empties, when it joins a queue.
    pub(super) fn queued(&mut self, op: FlashOp, lpn: Lpn, place: Place, pages: &Pages) -> Option<u32> {
        let source = match op {
            FlashOp::Read if place.is_known() => pages.block_at(place),
            FlashOp::Program => *self.moves.get(&lpn)?,
            _ => return None,
        };
        self.begin(op, lpn, source)
    }

    fn begin(&mut self, op: FlashOp, lpn: Lpn, source: u32) -> Option<u32> {
        let victim = self.victims.get_mut(&source)?;
        victim.live += 1;
        if op == FlashOp::Read {
            victim.lpns.push(lpn);
            self.moves.insert(lpn, source);
        }
        Some(source)
    }

    /// A garbage-collection read was dispatched.
    pub(super) fn read(&mut self, txn: &mut Txn, ppa: u32, pages: &Pages, log: &mut Log) {
        let block = pages.block_of(txn.plane, ppa);
        if txn.source.is_none() {
            txn.source = self.begin(FlashOp::Read, txn.lpn, block);
        }
        log.check(self.victims.contains_key(&block), Rule::MoveFromVictim, || {
            format!(
                "garbage collection reads logical page {} out of {}, not a victim.",
                txn.lpn.0,
                pages.describe(block)
            )
        });
    }

    /// The blocks being emptied, in no order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u32> {
        self.victims.keys().copied()
    }

    /// Whether a block is being emptied.
    pub(super) fn contains(&self, block: u32) -> bool {
        self.victims.contains_key(&block)
    }

    /// The program of a move was dispatched; `old` is where its page was until then.
    pub(super) fn moved(&self, lpn: Lpn, old: Place, pages: &Pages, log: &mut Log) {
        if !old.is_known() {
            return;
        }
        let from = pages.block_at(old);
        let holds = match self.moves.get(&lpn) {
            Some(&source) => from == source,
            None => self.victims.contains_key(&from),
        };
        log.check(holds, Rule::StaleMove, || {
            format!("a move of logical page {} was programmed over its copy in {}.", lpn.0, pages.describe(from))
        });
    }

    /// A garbage-collection transaction ended.
    pub(super) fn ended(&mut self, txn: &Txn, end: End) {
        let Some(source) = txn.source else { return };
        if txn.op == FlashOp::Erase {
            self.ended.push(source);
            return;
        }
        if let Some(victim) = self.victims.get_mut(&source) {
            victim.live = victim.live.saturating_sub(1);
        }
        let over = txn.op == FlashOp::Program || end == End::Stale;
        if over && self.moves.get(&txn.lpn) == Some(&source) {
            self.moves.remove(&txn.lpn);
        }
    }

    /// The erase of a block was dispatched.
    pub(super) fn erase_begins(&mut self, txn: &mut Txn, ppa: u32, pages: &mut Pages, log: &mut Log) {
        let block = pages.block_of(txn.plane, ppa);
        txn.source = Some(block);
        let chosen = self.victims.contains_key(&block);
        log.check(chosen, Rule::EraseVictim, || format!("{} is erased, not a victim.", pages.describe(block)));
        let victim = self.victims.entry(block).or_default();
        victim.erasing = true;
        log.check(victim.live == 0, Rule::EraseMoves, || {
            format!("{} is erased with {} moves under way.", pages.describe(block), victim.live)
        });
        check_empty(block, pages, log);
    }

    /// Whether [`Victims::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The instant is over: an erase that ended in it must have been reported as `Erased`.
    pub(super) fn settle(&mut self, pages: &Pages, log: &mut Log) {
        for block in std::mem::take(&mut self.ended) {
            let reported = self.victims.remove(&block).is_none();
            log.check(reported, Rule::EraseDone, || {
                format!("the erase of {} ended and it was not reported erased.", pages.describe(block))
            });
        }
    }

    /// A block was reported erased. `free`: garbage collection works without transactions.
    pub(super) fn erased(&mut self, block: u32, free: bool, pages: &mut Pages, log: &mut Log) {
        let victim = self.victims.remove(&block);
        // The block's only page may be written and overwritten, and the block chosen again, within the same instant.
        self.ended.retain(|&ended| ended != block);
        let erasing = victim.as_ref().is_some_and(|victim| victim.erasing);
        if free && !erasing {
            log.check(victim.is_some(), Rule::EraseVictim, || {
                format!("{} was erased, not a victim.", pages.describe(block))
            });
            check_empty(block, pages, log);
        } else {
            log.check(erasing, Rule::EraseDone, || {
                format!("{} was reported erased and no erase of it ran.", pages.describe(block))
            });
        }
        for lpn in victim.map(|victim| victim.lpns).unwrap_or_default() {
            if self.moves.get(&lpn) == Some(&block) {
                self.moves.remove(&lpn);
            }
        }
        pages.erase(block);
    }
}

fn check_empty(block: u32, pages: &mut Pages, log: &mut Log) {
    let (valid, _) = pages.valid(block, log);
    log.check(valid == 0, Rule::EraseValid, || {
        format!("{} is erased with {valid} valid pages.", pages.describe(block))
    });
}
