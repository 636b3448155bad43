//! Long generated streams of a tiny device: the auditor reports nothing about them, and notices any single event that is
//! lost, repeated or early.

use std::collections::VecDeque;

use flashlane_core::event::Event;
use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{PlaneId, Time};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::case::*;

/// Free blocks below which a plane is collected.
const START: usize = 4;

/// A plane of unit 0 to 3 that writes its blocks in the order in which they were erased; one plane per unit is used.
struct Plane {
    /// Logical pages by page, and the next page to write.
    lpn_of: Vec<Option<u32>>,
    next: u32,
    free: VecDeque<u32>,
    victim: Option<u32>,
    free_at: u64,
}

/// A device of four units with one request after another on each: random reads and overwrites of 12 pages a plane,
/// and the emptiest full block emptied whenever a plane runs short of free ones.
struct Maker {
    case: Case,
    planes: Vec<Plane>,
    bus: [u64; 2],
    txn: u64,
    now: u64,
}

impl Maker {
    fn make(requests: u64, seed: u64) -> Case {
        let plane = || Plane { lpn_of: vec![None; 32], next: 0, free: (0..8).collect(), victim: None, free_at: 0 };
        let planes = (0..4).map(|_| plane()).collect();
        let mut maker = Maker { case: Case::new(), planes, bus: [0; 2], txn: 0, now: 0 };
        maker.case.config.gc.start_blocks = START as u32;
        let mut rng = Pcg64Mcg::new(seed as u128);
        for request in 0..requests {
            let (unit, local) = (rng.next_u32() as usize % 4, rng.next_u32() % 12);
            maker.now = maker.now.max(maker.planes[unit].free_at).max(maker.bus[0]).max(maker.bus[1]);
            let op = if rng.next_u32().is_multiple_of(3) { Op::Read } else { Op::Write };
            maker.request(request, unit, unit as u32 * 12 + local, op);
        }
        maker.case
    }

    fn request(&mut self, request: u64, unit: usize, lpn: u32, op: Op) {
        let at = self.now;
        self.case.submit(at, request, op, 1);
        let requester = Requester::Request(request);
        let done = match op {
            Op::Read => {
                let page = self.planes[unit].lpn_of.iter().position(|&lpn_of| lpn_of == Some(lpn)).unwrap_or(0);
                self.read(at, requester, unit, lpn, page as u32)
            }
            Op::Write => self.program(at, requester, unit, lpn),
            Op::Trim | Op::WriteZeroes | Op::Flush => unreachable!("not asked for here"),
        };
        self.case.complete(done, request);
        let free = self.collect(done, unit);
        self.planes[unit].free_at = free;
        self.bus[unit / 2] = free;
        self.now = if request.is_multiple_of(2) { at } else { done };
    }

    fn read(&mut self, at: u64, requester: Requester, unit: usize, lpn: u32, page: u32) -> u64 {
        self.txn += 1;
        self.case.queue(at, self.txn, requester, FlashOp::Read, lpn, unit as u16 * 4);
        self.case.read(at, self.txn, self.txn, unit as u16, page, 0)
    }

    fn program(&mut self, at: u64, requester: Requester, unit: usize, lpn: u32) -> u64 {
        self.txn += 1;
        let plane = &mut self.planes[unit];
        if plane.next.is_multiple_of(4) {
            plane.next = 4 * plane.free.pop_front().expect("collected in time");
        }
        let page = plane.next;
        plane.next += 1;
        if let Some(old) = plane.lpn_of.iter_mut().find(|lpn_of| **lpn_of == Some(lpn)) {
            *old = None;
        }
        plane.lpn_of[page as usize] = Some(lpn);
        self.case.queue(at, self.txn, requester, FlashOp::Program, lpn, unit as u16 * 4);
        let done = self.case.program(at, self.txn, self.txn, lpn, (unit as u16 * 4, page));
        self.choose(at, unit);
        done
    }

    /// The valid pages of a block, each with its logical page.
    fn held(&self, unit: usize, block: u32) -> Vec<(u32, u32)> {
        let lpn_of = &self.planes[unit].lpn_of;
        (block * 4..block * 4 + 4).filter_map(|page| lpn_of[page as usize].map(|lpn| (page, lpn))).collect()
    }

    /// Chooses a victim if the plane needs one and has none.
    fn choose(&mut self, at: u64, unit: usize) {
        let plane = &self.planes[unit];
        if plane.victim.is_some() || plane.free.len() >= START {
            return;
        }
        let open = (!plane.next.is_multiple_of(4)).then_some(plane.next / 4);
        let full = (0..8).filter(|block| !plane.free.contains(block) && Some(*block) != open);
        let counted = full.map(|block| (self.held(unit, block).len() as u32, block));
        if let Some((valid, block)) = counted.filter(|&(valid, _)| valid < 4).min() {
            self.case.push(at, Event::VictimChosen { plane: PlaneId(unit as u16 * 4), block, valid });
            self.planes[unit].victim = Some(block);
        }
    }

    /// Empties and erases victims until there is none.
    fn collect(&mut self, mut at: u64, unit: usize) -> u64 {
        while let Some(victim) = self.planes[unit].victim {
            for (page, lpn) in self.held(unit, victim) {
                at = self.read(at, Requester::Gc, unit, lpn, page);
                at = self.program(at, Requester::Gc, unit, lpn);
            }
            self.txn += 1;
            at = self.case.erase(at, self.txn, self.txn, unit as u16 * 4, victim);
            self.planes[unit].victim = None;
            self.planes[unit].free.push_back(victim);
            self.choose(at, unit);
        }
        at
    }
}

#[test]
fn a_long_legal_stream_breaks_no_rule() {
    for (seed, requests) in (1..=20).map(|seed| (seed, 300)).chain([(21, 20_000)]) {
        let case = Maker::make(requests, seed);
        let verdict = case.audit();
        assert!(verdict.is_clean(), "seed {seed}: {verdict}");
        assert!(case.events.iter().any(|s| matches!(s.event, Event::Erased { .. })), "seed {seed}");
    }
}

/// Whether the auditor may miss the event without reporting a violation: the end of a read's array phase is optional.
fn may_be_lost(case: &Case, index: usize) -> bool {
    let Event::ArrayEnded { command, .. } = case.events[index].event else { return false };
    let started = |s: &&flashlane_core::event::Stamped| matches!(s.event, Event::ArrayStarted { command: other, .. } if other == command);
    let Some(start) = case.events.iter().find(started) else { return false };
    matches!(start.event, Event::ArrayStarted { until, .. } if until.since(start.at).ns() == READ)
}

#[test]
fn any_event_lost_repeated_or_early_is_noticed() {
    let mut case = Maker::make(130, 5);
    case.events.sort_by_key(|s| s.at);
    case.as_given = true;
    assert!(case.events.iter().any(|s| matches!(s.event, Event::Erased { .. })));
    for index in 0..case.events.len() {
        let mut lost = case.clone();
        lost.events.remove(index);
        if !may_be_lost(&case, index) {
            assert!(!lost.audit().is_clean(), "lost: {:?}", case.events[index]);
        }
        let mut twice = case.clone();
        twice.events.insert(index, case.events[index]);
        assert!(!twice.audit().is_clean(), "twice: {:?}", case.events[index]);
        let mut early = case.clone();
        if early.events[index].at > Time::ZERO {
            early.events[index].at = Time::from_ns(early.events[index].at.ns() - 1);
            early.events.sort_by_key(|s| s.at);
            // Only the events that follow these say when they are due.
            let harmless = matches!(
                case.events[index].event,
                Event::Submitted { .. } | Event::VictimChosen { .. } | Event::Queued { .. }
            );
            assert!(harmless || !early.audit().is_clean(), "early: {:?}", case.events[index]);
        }
    }
}
