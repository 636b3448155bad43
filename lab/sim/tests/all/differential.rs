//! Optimised structures compared with plain ones: groups with the exhaustive best, one channel with an event list, the
//! auditor's formula of a drive's initial state with the drive's tables.
//!
//! The plain versions share nothing with the engine but its types. (The table of pending writes has
//! such a test beside its code.)

use std::collections::VecDeque;

use crate::common::play::{self, Mix, asks};
use crate::common::{device, recipe, table1};
use flashlane_audit::{Formula, Preconditioned};
use flashlane_core::board::Board;
use flashlane_core::decide::{Group, Scope};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Extent, FlowId, Lpn, Op, PlaneId, Ppa, Request, RequestId, Time, Transaction, TxnId, UnitId};
use flashlane_sched::catalogue::build;
use flashlane_ssd::config::{Config, Precondition};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A waiting transaction in the plain search.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    slot: u32,
    /// Its page offset: its own (reads), or its plane's next (programs).
    offset: u32,
}

/// One chip's queue of reads or of programs, and which commands are legal.
#[derive(Debug)]
struct Case {
    op: FlashOp,
    dies: u32,
    planes: u32,
    multi_plane: bool,
    multi_die: bool,
    same_page: bool,
    queue: Vec<Waiting>,
}

impl Case {
    fn random(rng: &mut Pcg64Mcg) -> Case {
        let mut of = |n: u32| rng.next_u32() % n;
        let (dies, planes) = (1 + of(3), [1, 2, 2, 4][of(4) as usize]);
        let op = [FlashOp::Read, FlashOp::Program][of(2) as usize];
        let next: Vec<u32> = (0..dies * planes).map(|_| of(2)).collect();
        let queue = (0..1 + of(8)).map(|_| {
            let slot = of(dies * planes);
            Waiting { slot, offset: if op == FlashOp::Read { of(3) } else { next[slot as usize] } }
        });
        let queue = queue.collect();
        Case { op, dies, planes, multi_plane: of(4) > 0, multi_die: of(4) > 0, same_page: of(2) > 0, queue }
    }

    /// Whether these may share a command, by the rules of model 0.4.
    fn legal(&self, members: &[usize]) -> bool {
        members.iter().enumerate().all(|(i, &a)| {
            members[..i].iter().all(|&b| {
                let (a, b) = (self.queue[a], self.queue[b]);
                let one_die = a.slot / self.planes == b.slot / self.planes;
                a.slot != b.slot
                    && if one_die {
                        self.multi_plane && (!self.same_page || a.offset == b.offset)
                    } else {
                        self.multi_die
                    }
            })
        })
    }

    /// Size of the largest legal command, which includes `lead` if one is named: every subset is tried.
    fn best(&self, lead: Option<usize>) -> usize {
        let subsets = (1u32..1 << self.queue.len()).filter(|set| lead.is_none_or(|lead| set >> lead & 1 == 1));
        let members = |set: u32| (0..self.queue.len()).filter(|i| set >> i & 1 == 1).collect::<Vec<_>>();
        subsets.map(members).filter(|m| self.legal(m)).map(|m| m.len()).max().expect("one alone is legal")
    }

    fn board(&self) -> Board {
        let mut config = table1(1, 1);
        (config.geometry.dies_per_chip, config.geometry.planes_per_die) = (self.dies, self.planes);
        (config.nand.multi_plane, config.nand.multi_die) = (self.multi_plane, self.multi_die);
        (config.nand.same_page_read, config.nand.same_page_program) = (self.same_page, self.same_page);
        let pages = config.geometry.pages_per_block;
        let mut board = Board::new(config.facts(), 1);
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
        for (i, waiting) in self.queue.iter().enumerate() {
            if self.op == FlashOp::Program {
                board.planes[waiting.slot as usize].next_page = waiting.offset;
            }
            let queue = board.queue_for(UnitId(0), self.op, 0);
            board.txns.push(Transaction {
                serial: i as u64,
                request: i as u32,
                ppa: waiting.offset + pages * (i as u32 % 3),
                plane: PlaneId(waiting.slot as u16),
                slot: waiting.slot as u8,
                op: self.op,
                queue,
                stage: Stage::Waiting,
                ..Transaction::EMPTY
            });
            board.link(TxnId(i as u32), queue, TxnId::NONE);
        }
        board
    }

    /// The members that a scheduler's pick decision chooses.
    fn picked(&self, name: &str) -> Vec<usize> {
        let mut scheduler = build(&recipe(name, &[])).expect("a scheduler");
        let mut group = Group::new();
        scheduler.pick.pick(&self.board(), UnitId(0), Scope::Any, &mut group);
        group.members().iter().map(|txn| txn.index()).collect()
    }
}

#[test]
fn groups_against_the_exhaustive_best() {
    let mut rng = Pcg64Mcg::new(71);
    let (mut ruled, mut ruled_best) = (0, 0);
    for _ in 0..20_000 {
        let case = Case::random(&mut rng);
        // Without the page rule, and for programs of two planes (whose offsets are fixed), taking the first that fits
        // on each plane is best.
        let exact = !case.same_page || (case.op == FlashOp::Program && case.planes <= 2);
        for name in ["fcfs", "read-first", "fr-fcfs", "sprinkler"] {
            let picked = case.picked(name);
            assert!(case.legal(&picked), "{name}: {picked:?} of {case:?}");
            let lead = (name != "sprinkler").then_some(0);
            assert!(lead.is_none_or(|lead| picked[0] == lead), "{name} leads with the oldest: {picked:?} of {case:?}");
            let best = case.best(lead);
            assert!(picked.len() <= best, "{name}: {picked:?} of {case:?}");
            if exact {
                assert_eq!(picked.len(), best, "{name}: {picked:?} of {case:?}");
            } else if name == "sprinkler" {
                ruled += 1;
                ruled_best += u32::from(picked.len() == best);
            }
        }
    }
    // Under the page rule a group is built greedily; how often that is best is printed for comparison.
    println!("largest-group under the page rule: {ruled_best} of {ruled} groups are the largest possible");
    assert!(ruled > 1000 && f64::from(ruled_best) > 0.95 * f64::from(ruled), "{ruled_best} of {ruled}");
}

/// The state of a chip in the plain channel.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Chip {
    Idle,
    /// Reads its array: until when, for which request, and the number of its command in order of beginning.
    Array(u64, usize, u64),
    /// Waits for the bus: since when, for which request, and the number of its command.
    Wants(u64, usize, u64),
    Sends(usize),
}

const READ: u64 = 75_000;

/// One channel of `chips`, reads only, all in order of arrival: from `(arrival, chip, bytes)` to completion times. Time
/// goes from instant to instant; within one the order is: ends, arrivals, the bus, the idle chips by number.
fn plain_channel(chips: usize, reads: &[(u64, usize, u64)]) -> Vec<u64> {
    let mut done = vec![0; reads.len()];
    let mut state = vec![Chip::Idle; chips];
    let mut queues: Vec<VecDeque<usize>> = vec![VecDeque::new(); chips];
    let (mut arrived, mut commands, mut bus_end) = (0, 0, None::<u64>);
    loop {
        let ends = state.iter().filter_map(|chip| if let Chip::Array(end, ..) = chip { Some(*end) } else { None });
        let Some(now) = ends.chain(bus_end).chain(reads.get(arrived).map(|read| read.0)).min() else { return done };
        for chip in &mut state {
            match *chip {
                Chip::Sends(read) if bus_end == Some(now) => {
                    done[read] = now;
                    *chip = Chip::Idle;
                }
                Chip::Array(end, read, order) if end == now => *chip = Chip::Wants(now, read, order),
                _ => {}
            }
        }
        bus_end = bus_end.filter(|&end| end != now);
        while let Some(&(_, chip, _)) = reads.get(arrived).filter(|read| read.0 == now) {
            queues[chip].push_back(arrived);
            arrived += 1;
        }
        if bus_end.is_none() {
            let wants =
                |chip: &Chip| if let Chip::Wants(since, _, order) = *chip { Some((since, order)) } else { None };
            let first = (0..chips).filter_map(|i| Some((wants(&state[i])?, i))).min();
            if let Some((_, i)) = first
                && let Chip::Wants(_, read, _) = state[i]
            {
                // 333 million bytes per second, rounded half up.
                bus_end = Some(now + (reads[read].2 * 2000 + 333) / 666);
                state[i] = Chip::Sends(read);
            }
        }
        for i in 0..chips {
            if state[i] == Chip::Idle
                && let Some(read) = queues[i].pop_front()
            {
                state[i] = Chip::Array(now + READ, read, commands);
                commands += 1;
            }
        }
    }
}

#[test]
fn one_channel_against_a_plain_event_list() {
    let mut rng = Pcg64Mcg::new(81);
    for (chips, gap) in [(1u32, 120_000), (2, 40_000), (4, 26_000), (4, 18_000), (8, 30_000), (16, 20_000)] {
        let config = {
            let mut config = table1(1, chips);
            config.geometry.planes_per_die = 1;
            config.ftl.logical_pages /= 2;
            config
        };
        let mut at = 0;
        let reads: Vec<(u64, usize, u64, u64)> = (0..20_000)
            .map(|_| {
                // Rounded, so that instants coincide: half of the cases are ties.
                at += (rng.next_u64() % (2 * gap)) / 1000 * 1000 * u64::from(!rng.next_u32().is_multiple_of(4));
                let page = rng.next_u32() % config.ftl.logical_pages;
                let bytes = 512 * u64::from(1 + rng.next_u32() % 16);
                (at, (page % chips) as usize, bytes, u64::from(page) * 8192)
            })
            .collect();
        let plain: Vec<_> = reads.iter().map(|&(at, chip, bytes, _)| (at, chip, bytes)).collect();
        let expected = plain_channel(chips as usize, &plain);
        let mut device = device(&config, &recipe("fcfs", &[]));
        let mut done = vec![0; reads.len()];
        for (id, &(at, _, length, offset)) in reads.iter().enumerate() {
            let now = Time::from_ns(at);
            device.advance(now);
            let extent = Extent::Bytes { offset, length };
            let request =
                Request { id: RequestId(id as u64), flow: FlowId(0), op: Op::Read, fua: false, arrival: now, extent };
            device.submit(now, &request).expect("within the drive");
        }
        crate::common::drain(&mut device);
        device.completions().iter().for_each(|c| done[c.id.0 as usize] = c.done.ns());
        let differs = (0..done.len()).find(|&i| done[i] != expected[i]);
        assert_eq!(differs, None, "{chips} chips: {:?}", differs.map(|i| (reads[i], done[i], expected[i])));
    }
}

/// A drive whose planes hold different numbers of logical pages, and not whole blocks of them.
fn uneven(precondition: Precondition) -> Config {
    let mut config = table1(2, 1);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (40, 24);
    config.ftl.logical_pages = config.geometry.planes() * 24 * 31 + 2 * 24 + 1;
    config.precondition = precondition;
    config
}

/// The auditor's own evaluation of where preconditioning puts pages, against the device's tables.
#[test]
fn the_formula_of_the_start_against_the_tables() {
    let filled = [0, 1, 333, 1000].map(|per_mille| Precondition::Filled { per_mille });
    for precondition in [Precondition::Fresh, Precondition::Steady].into_iter().chain(filled) {
        let config = uneven(precondition);
        let device = device(&config, &recipe("fcfs", &[]));
        let formula = Preconditioned::of(&config).expect("nothing is replayed");
        let (blocks, pages) = (config.geometry.blocks_per_plane, config.geometry.pages_per_plane());
        let mut found = 0;
        for plane in (0..config.geometry.planes() as u16).map(PlaneId) {
            for ppa in (0..pages).map(Ppa) {
                let lpn = formula.lpn_at(plane, ppa);
                assert_eq!(lpn, device.lpn_at(plane, ppa), "{precondition:?}: {ppa:?} of {plane:?}");
                if let Some(lpn) = lpn {
                    assert_eq!(formula.place(lpn), Some((plane, ppa)), "{precondition:?}: {lpn:?}");
                    found += 1;
                }
            }
            for block in 0..blocks {
                let (by_formula, is) = (formula.written(plane, block), device.written_in(plane, block));
                assert_eq!(by_formula, is, "{precondition:?}: block {block} of {plane:?}");
            }
        }
        let placed = (0..config.ftl.logical_pages).filter(|&lpn| formula.place(Lpn(lpn)).is_some()).count();
        assert_eq!(placed, found, "{precondition:?}: every page placed is found");
    }
}

/// Where no formula gives the content of a drive, the auditor visits its pages, and knows the same initial state.
#[test]
fn a_replayed_start_is_audited_too() {
    let config = uneven(Precondition::Replayed { percent: 200 });
    assert!(Preconditioned::of(&config).is_none());
    let mix = Mix { requests: 2000, gap: 500_000, reads: 40, pages: 3, hot: 0, partial: 0, scattered: 30 };
    let asks = asks(&config, &mix, &mut Pcg64Mcg::new(5));
    let (played, _) = play::audit(&config, &recipe("fr-fcfs", &[]), &asks).expect("a legal run");
    assert!(played.totals.erases > 20, "{} erases: too little happened", played.totals.erases);
}
