//! A stretch of a queue among whose places a newcomer may choose, and the place that is fairest (FLIN §4.1, algorithm 1, and §5.3).
//!
//! A region keeps its transactions in blocks, of which most are looked at as a whole ([`Block`]).

use alloc::vec::Vec;

use flashlane_core::{FlowId, Time, TxnId};

use super::block::Block;
pub(crate) use super::block::Entry;
use super::envelope::{BLOCK, Line};
use super::slowdown::Extremes;

/// The instant a queue is looked at, and how long its first transaction would wait from then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) now: Time,
    /// Until the chip is free and everything before the region has been served (eq. 5), ns.
    pub(crate) ahead: u64,
}

impl View {
    /// When the first transaction's service would begin.
    fn begins(self) -> u64 {
        self.now.ns() + self.ahead
    }
}

/// Space for a search, kept between searches.
#[derive(Default, Debug)]
pub(crate) struct Space {
    /// By transaction of a block: the extremes before it.
    prefix: Vec<Extremes>,
    /// By block: the extremes before it.
    blocks: Vec<Extremes>,
    promising: Vec<Promising>,
    lines: Vec<Line>,
}

/// A block in which a place may be fairer than the tail.
#[derive(Clone, Copy, Debug)]
struct Promising {
    /// As fair as any of its places at most.
    bound: Extremes,
    /// Its position among the blocks.
    at: usize,
    /// Place of its first transaction, and when its service begins.
    first: usize,
    begins: u64,
    /// The extremes of those behind it, passed by the newcomer.
    passed: Extremes,
}

/// A stretch of a queue.
#[derive(Clone, Default, Debug)]
pub(crate) struct Region {
    /// None is empty unless it is the only one.
    blocks: Vec<Block>,
    /// Empty blocks, kept for their space.
    spare: Vec<Block>,
    len: usize,
    service: u64,
}

impl Region {
    /// An empty region with reserved space.
    pub(crate) fn new() -> Region {
        Region { blocks: Vec::from([Block::with_space()]), ..Region::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The service of all of them, ns.
    pub(crate) fn service(&self) -> u64 {
        self.service
    }

    /// The waiting transactions, head first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.blocks.iter().flat_map(Block::waiting)
    }

    pub(crate) fn first(&self) -> Option<&Entry> {
        self.blocks.first()?.waiting().first()
    }

    pub(crate) fn last(&self) -> Option<&Entry> {
        self.blocks.last()?.waiting().last()
    }

    /// The first place behind the last transaction of `flow`; 0 if none waits.
    pub(crate) fn behind(&self, flow: FlowId) -> usize {
        let from_tail = self.iter().rev().position(|entry| entry.flow == flow);
        from_tail.map_or(0, |from_tail| self.len - from_tail)
    }

    /// The block and the place in it; the end of a block rather than the head of the next.
    fn find(&self, place: usize) -> (usize, usize) {
        if place == self.len {
            let last = self.blocks.len() - 1;
            return (last, self.blocks[last].len());
        }
        let mut rest = place;
        for (at, block) in self.blocks.iter().enumerate() {
            if rest <= block.len() {
                return (at, rest);
            }
            rest -= block.len();
        }
        unreachable!("place {place} of {}", self.len)
    }

    /// Inserts `entry` at `place`. Returns the transaction it then stands in front of.
    pub(crate) fn insert(&mut self, place: usize, entry: Entry) -> Option<TxnId> {
        if self.blocks.is_empty() {
            self.blocks.push(Block::with_space());
        }
        let (mut at, mut within) = self.find(place);
        if self.blocks[at].len() == BLOCK {
            if within == BLOCK {
                // Behind a full block: it keeps its envelope.
                at += 1;
                within = 0;
                if at == self.blocks.len() || self.blocks[at].len() == BLOCK {
                    let block = self.spare.pop().unwrap_or_else(Block::with_space);
                    self.blocks.insert(at, block);
                }
            } else {
                let mut half = self.spare.pop().unwrap_or_else(Block::with_space);
                self.blocks[at].split(&mut half);
                self.blocks.insert(at + 1, half);
                if within > self.blocks[at].len() {
                    within -= self.blocks[at].len();
                    at += 1;
                }
            }
        }
        self.blocks[at].insert(within, entry);
        self.len += 1;
        self.service += entry.service;
        let behind = self.blocks[at].waiting().get(within + 1);
        behind.or_else(|| self.blocks.get(at + 1)?.waiting().first()).map(|behind| behind.txn)
    }

    /// Removes `txn`. Returns whether it waited here.
    pub(crate) fn remove(&mut self, txn: TxnId) -> bool {
        let place = |block: &Block| block.waiting().iter().position(|entry| entry.txn == txn);
        let found = self.blocks.iter().enumerate().find_map(|(at, block)| Some((at, place(block)?)));
        if let Some((at, within)) = found {
            self.take(at, within);
        }
        found.is_some()
    }

    /// Removes the first or the last one.
    pub(crate) fn pop_first(&mut self) -> Entry {
        self.take(0, 0)
    }

    pub(crate) fn pop_last(&mut self) -> Entry {
        let last = self.blocks.len() - 1;
        self.take(last, self.blocks[last].len() - 1)
    }

    fn take(&mut self, at: usize, within: usize) -> Entry {
        let entry = self.blocks[at].remove(within);
        self.len -= 1;
        self.service -= entry.service;
        let left = self.blocks[at].len();
        if self.len == 0 {
            self.blocks[at].clear();
        } else if left == 0 {
            self.set_aside(at);
        } else if left < BLOCK / 8 && at > 0 && self.blocks[at - 1].len() <= BLOCK / 2 {
            // Few that were left behind in the middle.
            let (before, few) = self.blocks.split_at_mut(at);
            few[0].waiting().iter().for_each(|&entry| before[at - 1].insert(before[at - 1].len(), entry));
            self.set_aside(at);
        }
        entry
    }

    /// Takes a block out and keeps its space.
    fn set_aside(&mut self, at: usize) {
        let mut block = self.blocks.remove(at);
        block.clear();
        self.spare.push(block);
    }

    /// The place for `new`, which stands behind all of them, that makes the slowdowns of all fairest; the last of equals (FLIN
    /// §5.3, D-FLN-07).
    ///
    /// Two passes. The first, from the head, computes all slowdowns with `new` at the tail. The second moves `new` forward: each
    /// transaction it passes waits longer by its service, those before it wait as before. The slowdowns of the passed ones alone
    /// bound the fairness of every place nearer to the head, so the pass ends when that bound is no better than the tail. Those
    /// before a block and those passed behind it bound the places in it: of the blocks, that with the best bound is
    /// searched first, until no bound is better than the place found.
    pub(crate) fn fairest_place(&mut self, view: View, new: &Entry, space: &mut Space) -> usize {
        if let [block] = &self.blocks[..] {
            return fairest_place(view, block.waiting(), new, &mut space.prefix);
        }
        let Space { prefix, blocks: befores, promising, lines } = space;
        let mut begins = view.begins();
        let mut before = Extremes::NONE;
        befores.clear();
        for block in &mut self.blocks {
            befores.push(before);
            before = before.and(block.extremes(begins, lines));
            begins += block.service;
        }
        let best = before.with(new.slowdown(begins));
        let mut passed = Extremes::NONE;
        let mut first = self.len;
        promising.clear();
        for (at, block) in self.blocks.iter_mut().enumerate().rev() {
            let ends = begins;
            begins -= block.service;
            first -= block.len();
            let bound = befores[at].and(passed).nearest(new.slowdown(begins), new.slowdown(ends));
            if bound.is_fairer_than(best) {
                promising.push(Promising { bound, at, first, begins, passed });
            }
            passed = passed.and(block.extremes(begins + new.service, lines));
            if !passed.is_fairer_than(best) {
                break;
            }
        }
        let mut search = Search { new: *new, best, place: self.len, passed };
        while let Some(next) = fairest_bound(promising) {
            let Promising { bound, at, first, begins, passed } = promising.remove(next);
            let block = self.blocks[at].waiting();
            if !search.is_better(bound, first + block.len() - 1) {
                break;
            }
            search.passed = passed;
            let ends = prefixes(block, begins, befores[at], prefix).0;
            search.try_places(block, first, ends, prefix);
        }
        search.place
    }
}

/// The position of the fairest bound, nearest to the tail of equals.
fn fairest_bound(promising: &[Promising]) -> Option<usize> {
    let fairer = |a: usize, b: usize| if promising[b].bound.is_fairer_than(promising[a].bound) { b } else { a };
    (0..promising.len()).reduce(fairer)
}

/// The second pass: `new` moves forward.
struct Search {
    new: Entry,
    best: Extremes,
    place: usize,
    /// Of those that `new` has passed.
    passed: Extremes,
}

impl Search {
    /// Whether `place` with these extremes is the better one: fairer, or as fair and nearer to the tail.
    #[inline(always)]
    fn is_better(&self, extremes: Extremes, place: usize) -> bool {
        extremes.is_fairer_than(self.best) || (place > self.place && !self.best.is_fairer_than(extremes))
    }

    /// Tries the places in front of `entries`, the last first, until none can be better; the first entry is at `first`, the service
    /// of the last ends at `ends`, and `prefix` has the extremes before each.
    #[inline(always)]
    fn try_places(&mut self, entries: &[Entry], first: usize, ends: u64, prefix: &[Extremes]) {
        let mut begins = ends;
        for (p, entry) in entries.iter().enumerate().rev() {
            begins -= entry.service;
            self.passed = self.passed.with(entry.slowdown(begins + self.new.service));
            if !self.is_better(self.passed, first + p) {
                return;
            }
            let here = prefix[p].and(self.passed).with(self.new.slowdown(begins));
            if self.is_better(here, first + p) {
                (self.best, self.place) = (here, first + p);
            }
        }
    }
}

/// Works out the extremes before each of `entries`, `before` being those of what stands in front, and returns when their service
/// ends and the extremes behind them.
#[inline(always)]
fn prefixes(entries: &[Entry], begins: u64, before: Extremes, prefix: &mut Vec<Extremes>) -> (u64, Extremes) {
    prefix.clear();
    entries.iter().fold((begins, before), |(begins, before), entry| {
        prefix.push(before);
        (begins + entry.service, before.with(entry.slowdown(begins)))
    })
}

/// [`Region::fairest_place`] with a visit to every one of `entries`.
pub(crate) fn fairest_place(view: View, entries: &[Entry], new: &Entry, prefix: &mut Vec<Extremes>) -> usize {
    let (ends, all) = prefixes(entries, view.begins(), Extremes::NONE, prefix);
    let best = all.with(new.slowdown(ends));
    let mut search = Search { new: *new, best, place: entries.len(), passed: Extremes::NONE };
    search.try_places(entries, 0, ends, prefix);
    search.place
}

#[cfg(test)]
#[path = "region_tests.rs"]
mod tests;
