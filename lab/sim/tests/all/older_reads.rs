//! Reads that are older than a write of their page which goes to another plane (model 4.1.2): each keeps the copy that its page had, and
//! the block of that copy is erased after it, audited, with exact times.
//!
//! The drive is that of unit cycles with two chips of six blocks of two pages. Page n lies on chip n modulo 2; pages 0, 2, 4, 6 fill
//! blocks 0 and 1 of chip 0. With one free block left a chip collects, the block that has been full for longest.

use crate::common::play::{TestRequest, Touch, conserved, hand_over};
use crate::common::{CYCLE, recipe, unit_cycle};
use flashlane_audit::{Auditor, Policy, Preconditioned, Start};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::decide::{PageWrite, Place, Question};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Lpn, Owner, PlaneId, Time};
use flashlane_sched::catalogue::{Recipe, build};
use flashlane_ssd::config::{Buffer, Config, Precondition, Victim};
use flashlane_ssd::{Device, Totals};

fn drive() -> Config {
    let mut config = unit_cycle(2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (6, 2);
    (config.gc.start_blocks, config.gc.victim) = (2, Victim::Fifo);
    config.ftl.logical_pages = 8;
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config
}

/// The planes of writes, in the order in which they come; those that are not listed go home.
struct Given(std::vec::IntoIter<u16>);

impl Place for Given {
    fn plane(&mut self, _: &Board, PageWrite { home, .. }: PageWrite) -> PlaneId {
        self.0.next().map_or(home, PlaneId)
    }
}

/// First come, first served; collection goes first, or takes no time.
fn fcfs(collect: &str) -> Recipe {
    Recipe { answers: vec![(Question::Collect, collect.to_owned())], ..recipe("fcfs", &[]) }
}

/// A request: half cycles, operation, page.
type Line = (u64, Op, u32);

/// What came of a scene.
struct Outcome {
    /// When each request was done, in half cycles.
    done: Vec<u64>,
    /// The physical page that each flash read of a request read, and its plane, in the order in which they began.
    read: Vec<(u16, u32)>,
    /// When each block was erased: half cycle, plane, block.
    erased: Vec<(u64, u16, u32)>,
    totals: Totals,
}

/// Runs a scene under `recipe`, with the auditor, where the writes go to `planes`.
fn outcome(config: &Config, recipe: &Recipe, planes: Vec<u16>, lines: &[Line]) -> Outcome {
    let mut scheduler = build(recipe).expect("a scheduler");
    scheduler.place = Box::new(Given(planes.into_iter()));
    let policy = Policy::of(&scheduler);
    let mut device = Device::new(config, scheduler).expect("a legal device");
    device.report_events();
    let initial = Preconditioned::of(config).expect("a formula");
    let mut auditor = Auditor::new(config, policy, Start::Formula(Box::new(initial)), 8);
    let ask =
        |&(at, op, page): &Line| TestRequest { at: at * CYCLE / 2, flow: 0, op, touch: Touch::Pages(vec![Lpn(page)]) };
    let asks: Vec<TestRequest> = lines.iter().map(ask).collect();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        hand_over(&mut device, id as u64, ask);
    }
    crate::common::drain(&mut device);
    device.check();
    let mut completions = std::mem::take(device.completions());
    conserved(&asks, &completions).unwrap_or_else(|why| panic!("{why}"));
    completions.sort_by_key(|completion| completion.id);
    let done = completions.iter().map(|completion| completion.done.ns() * 2 / CYCLE).collect();
    let mut of = Outcome { done, read: Vec::new(), erased: Vec::new(), totals: device.totals() };
    let mut planes = std::collections::BTreeMap::new();
    for stamped in device.events().drain(..) {
        auditor.observe(&stamped);
        match stamped.event {
            Event::Queued { txn, op: FlashOp::Read, owner: Owner::User, plane, .. } => {
                planes.insert(txn, plane.0);
            }
            Event::Dispatched { txn, ppa, .. } => of.read.extend(planes.get(&txn).map(|&plane| (plane, ppa))),
            Event::Erased { plane, block } => of.erased.push((stamped.at.ns() * 2 / CYCLE, plane.0, block)),
            _ => {}
        }
    }
    let verdict = auditor.finish();
    assert!(verdict.is_clean(), "{verdict}");
    of
}

/// Five writes of page 2 keep chip 0 until 40 half cycles. With the fifth, which begins at 32, it has one free block left: block 0 is
/// its victim, in which page 0 alone is valid.
fn five_writes() -> Vec<Line> {
    vec![(0, Write, 2); 5]
}

/// `lines` between the five writes and these reads and writes.
fn scene(lines: &[Line]) -> Vec<Line> {
    [five_writes(), lines.to_vec()].concat()
}

/// Reads of a page keep the copies that it had, while writes take it from chip to chip.
#[test]
fn each_read_keeps_the_copy_it_had() {
    let lines = [
        // Chip 0 is busy until 16, chip 1 begins the write of page 0 at 2.
        (0, Write, 2),
        (0, Write, 2),
        (1, Read, 0),
        (1, Read, 0),
        (2, Write, 0),
        // Chip 1 is busy until 30, chip 0 begins the write of page 0 at 24 and another one at 32.
        (22, Write, 1),
        (23, Read, 0),
        (24, Write, 0),
        (24, Write, 0),
        // The page is written on chip 1 once more, from 44 on; chip 0 is busy until 52, and then erases block 0 until 60.
        (44, Write, 2),
        (44, Read, 0),
        (44, Write, 0),
    ];
    let of = outcome(&drive(), &fcfs("non-preemptive"), vec![0, 0, 1, 1, 0, 0, 0, 1], &lines);
    // Page 0 lay at page 0 of chip 0, then at 4 of chip 1 (the first write there), then at 7 of chip 0 (the fourth write there).
    assert_eq!(of.read, [(0, 0), (0, 0), (1, 4), (0, 7)]);
    assert_eq!([2, 3, 6, 10].map(|read: usize| of.done[read]), [18, 20, 32, 62]);
    assert_eq!(of.totals.kept_reads, 4);
}

/// A younger write on the chip of the page's copy may go before the read, which then reads what that writes. It keeps this copy when
/// the next write takes the page to another chip.
#[test]
fn a_read_follows_its_page_on_the_chip() {
    let recipe = Recipe {
        params: vec![("alpha".to_owned(), 0)],
        ..Recipe { base: Some("fr-fcfs".to_owned()), ..fcfs("non-preemptive") }
    };
    let lines = [(0, Write, 2), (1, Read, 0), (2, Write, 0), (3, Write, 2), (12, Write, 0)];
    let of = outcome(&drive(), &recipe, vec![0, 0, 0, 1], &lines[..4]);
    assert_eq!((of.read, of.totals.kept_reads), (vec![(0, 5)], 0), "the second write of chip 0");
    let of = outcome(&drive(), &recipe, vec![0, 0, 0, 1], &lines);
    assert_eq!((of.read, of.totals.kept_reads), (vec![(0, 5)], 1));
    assert_eq!(of.done, [8, 26, 16, 24, 20], "writes go first");
}

/// A read keeps a page of the victim: the move of the page is dropped, and the erase waits for the read.
#[test]
fn the_erase_waits_for_the_read() {
    let lines = scene(&[(34, Read, 0), (38, Write, 0)]);
    let of = outcome(&drive(), &fcfs("non-preemptive"), vec![0, 0, 0, 0, 0, 1], &lines);
    assert_eq!(of.read, [(0, 0)]);
    assert_eq!(of.done[5..], [42, 46], "the read begins at 40, when collection has nothing to do but to wait for it");
    assert_eq!(of.erased[0], (50, 0, 0), "from 42 on");
    assert_eq!((of.totals.kept_reads, of.totals.late_erases, of.totals.stale_moves), (1, 1, 1));
    // Without the write the page is moved first, and the read comes after that erase and the next, of a block without valid pages.
    let of = outcome(&drive(), &fcfs("non-preemptive"), vec![], &lines[..6]);
    assert_eq!(of.erased[0], (58, 0, 0), "page 0 is read until 42 and written until 50");
    assert_eq!((of.read, of.done[5]), (vec![(0, 10)], 68));
    assert_eq!((of.totals.kept_reads, of.totals.late_erases), (0, 0));
}

/// The drive with a block more and collection from two free blocks on, which comes after waiting reads: it begins at 32 with the fifth
/// of five writes, too.
fn patient() -> Config {
    let mut config = drive();
    (config.geometry.blocks_per_plane, config.gc.start_blocks) = (7, 3);
    config
}

/// The read has ended when the move of its page is dropped: the erase waits for nothing, and is made once.
#[test]
fn a_read_that_ends_before_the_victim_is_empty_delays_no_erase() {
    let lines = scene(&[(33, Read, 0), (34, Write, 0)]);
    let of = outcome(&patient(), &fcfs("semi-preemptive"), vec![0, 0, 0, 0, 0, 1], &lines);
    assert_eq!((of.read, &of.done[4..]), (vec![(0, 0)], &[40, 42, 42][..]));
    assert_eq!(of.erased, [(50, 0, 0)]);
    assert_eq!((of.totals.kept_reads, of.totals.late_erases, of.totals.stale_moves), (1, 0, 1));
}

/// The read keeps a page of block 1 while block 0, which has no valid page, waits to be erased: block 1 is not erased with the end of
/// the read.
#[test]
fn a_read_of_another_block_than_the_victim_erases_nothing() {
    let mut lines = scene(&[(33, Read, 4), (34, Write, 4)]);
    lines[1] = (0, Write, 0);
    let of = outcome(&patient(), &fcfs("semi-preemptive"), vec![0, 0, 0, 0, 0, 1], &lines);
    assert_eq!((of.read, &of.done[4..]), (vec![(0, 2)], &[40, 42, 42][..]));
    assert_eq!(of.erased, [(50, 0, 0)]);
    assert_eq!((of.totals.kept_reads, of.totals.late_erases), (1, 0));
}

/// Collection has moved the page when it is written elsewhere: the read keeps the moved copy, and the victim is erased before it.
#[test]
fn a_read_follows_its_page_until_that_is_written_elsewhere() {
    let lines = scene(&[(34, Read, 0), (44, Write, 0)]);
    let of = outcome(&drive(), &fcfs("non-preemptive"), vec![0, 0, 0, 0, 0, 1], &lines);
    assert_eq!(of.erased[0], (58, 0, 0));
    assert_eq!((of.read, of.done[5]), (vec![(0, 10)], 68));
    assert_eq!((of.totals.kept_reads, of.totals.late_erases), (1, 0));
}

/// The plane has no page left for the write in front of the read, and the erase waits for the read: the read goes first.
#[test]
fn a_write_without_a_page_lets_the_read_pass() {
    let lines = scene(&[(33, Write, 2), (33, Write, 2), (34, Read, 0), (38, Write, 0)]);
    let of = outcome(&drive(), &fcfs("non-preemptive"), vec![0, 0, 0, 0, 0, 0, 0, 1], &lines);
    // The first of the two writes takes the open block's last page at 40; then one free block is left, which is kept for moves.
    assert_eq!((of.done[5], of.done[7]), (48, 50));
    assert_eq!(of.erased[0], (58, 0, 0));
    assert!(of.done[6] >= 66, "after the erase: {}", of.done[6]);
    assert_eq!(of.read, [(0, 0)]);
    assert!(of.totals.free_page_stalls > 0 && of.totals.late_erases == 1);
}

/// The same where victims are emptied at once: at 16 half a cycle, but not erased before the read.
#[test]
fn free_collection_waits_for_the_read_too() {
    let lines = scene(&[(1, Read, 0), (2, Write, 0), (33, Write, 2)]);
    let of = outcome(&drive(), &fcfs("free"), vec![0, 0, 0, 0, 0, 1], &lines);
    // The write on chip 1 begins at 2. The read comes behind the five writes.
    assert_eq!(of.done[5..7], [42, 10]);
    assert_eq!(of.erased[0], (42, 0, 0), "chosen at 32, emptied then, and erased when the read has ended");
    assert_eq!(of.read, [(0, 0)]);
    assert_eq!((of.totals.kept_reads, of.totals.late_erases), (1, 1));
}

/// An older copy does not enter the buffer of pages that were read: the next read finds the page on the flash, where it is now.
#[test]
fn an_older_copy_is_not_buffered() {
    let mut config = drive();
    config.buffer = Some(Buffer {
        pages: 4,
        per_flow: false,
        write_back: false,
        read_allocate: true,
        flush_above: 0,
        merge_writes: true,
        protected: false,
        pace: Duration::ZERO,
    });
    let lines = [(0, Write, 2), (0, Write, 2), (1, Read, 0), (2, Write, 0), (20, Read, 0), (30, Read, 0)];
    let of = outcome(&config, &fcfs("non-preemptive"), vec![0, 0, 1], &lines);
    assert_eq!(of.done[2..4], [18, 10]);
    assert_eq!(of.read, [(0, 0), (1, 4)], "the third read is served from the buffer");
    assert_eq!(of.totals.pages_from_memory, 1);
}

/// A page that was never written has no copy to keep: its read stays on its chip, and nothing waits for it.
#[test]
fn nothing_is_kept_of_a_page_never_written() {
    let mut config = drive();
    config.precondition = Precondition::Fresh;
    let lines = [(0, Write, 2), (0, Write, 2), (1, Read, 0), (2, Write, 0)];
    let of = outcome(&config, &fcfs("non-preemptive"), vec![0, 0, 1], &lines);
    assert_eq!(of.done[2..], [18, 10]);
    assert_eq!(of.totals.kept_reads, 1);
}

/// Nor is a block kept where such a page would lie on a full drive: block 0, which nine writes of page 2 have filled and left behind, is
/// the victim from 64 on and erased from 72 to 80, before the read.
#[test]
fn a_page_never_written_keeps_no_block() {
    let mut config = drive();
    config.precondition = Precondition::Fresh;
    let lines = [vec![(0, Write, 2); 9], vec![(57, Read, 0), (58, Write, 0)]].concat();
    let planes = [vec![0; 9], vec![1]].concat();
    let of = outcome(&config, &fcfs("non-preemptive"), planes, &lines);
    assert_eq!(of.done[8..], [72, 82, 66]);
    assert_eq!(of.erased, [(80, 0, 0)]);
    assert_eq!((of.totals.kept_reads, of.totals.late_erases), (1, 0));
}
