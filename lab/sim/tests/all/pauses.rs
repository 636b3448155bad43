//! The time for which a program is paused, in every place that counts it: in the reported end, in its row, in the busy
//! time of its chip, and in its waiting time for FLIN. Times are exact, with and without overheads.

use crate::common::{CYCLE, device, one_plane, recipe, scene, unit_cycle};
use flashlane_core::Op::{Read, Write};
use flashlane_core::decide::{Preempt, PreemptDeclares, SuspendPoints};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Owner, TxnId, UnitId};
use flashlane_report::results::TransactionLog;
use flashlane_sched::catalogue::build;
use flashlane_ssd::Device;
use flashlane_ssd::config::Config;

const READ: u64 = 99_601;
const WRITE: u64 = 1_324_601;

fn ends(config: &Config, scheduler: &str, lines: &[crate::common::Line<'_>]) -> Vec<u64> {
    crate::common::ends(config, &recipe(scheduler, &[]), lines)
}

/// A program that is paused for two reads together and once more for a third.
#[test]
fn what_is_reported_of_pauses() {
    for (suspend, resume) in [(0, 0), (5_001, 7_003)] {
        let mut config = one_plane();
        (config.nand.suspend, config.nand.resume) = (Duration::from_ns(suspend), Duration::from_ns(resume));
        let mut device = device(&config, &recipe("read-first-suspend", &[]));
        device.report_events();
        let lines = [(0, Write, &[0u32][..]), (300_000, Read, &[1]), (310_000, Read, &[2]), (900_000, Read, &[3])];
        let done = scene(&mut device, &lines);
        let first = suspend + 2 * READ + resume;
        let all = first + suspend + READ + resume;
        let ended: Vec<u64> = done.iter().map(|c| c.done.ns()).collect();
        let served = 300_000 + suspend + READ;
        assert_eq!(ended, [WRITE + all, served, served + READ, 900_000 + suspend + READ]);
        let mut log = TransactionLog::new(config.geometry);
        let mut pauses = Vec::new();
        let mut rows = Vec::new();
        for stamped in device.events().drain(..) {
            if let Event::Paused { remaining, .. } = stamped.event {
                pauses.push((stamped.at.ns(), remaining.ns()));
            }
            rows.extend(log.observe(&stamped));
        }
        assert_eq!(pauses, [(300_000, WRITE - 300_000), (900_000, WRITE + first - 900_000)]);
        for row in rows {
            let paused = if row.op == FlashOp::Program { all } else { 0 };
            assert_eq!((row.owner, row.paused_ns), (Owner::User, paused), "{row:?}");
            if row.op == FlashOp::Program {
                assert_eq!((row.dispatch_ns, row.response_ns()), (Some(0), WRITE + all));
            }
        }
        let totals = device.totals();
        assert_eq!((totals.pauses, totals.unit_busy), (2, vec![Duration::from_ns(WRITE + all)]));
        let unit = &device.board().units[0];
        assert_eq!((unit.command.started.ns(), unit.command.paused.ns()), (all, all), "later by its pauses");
    }
}

/// A pause counts as waiting time: FLIN pauses the program again only for a read that waits longer in proportion (model
/// 2.1.7). The program began at once, so its pause is all it has waited.
#[test]
fn a_pause_counts_as_wait() {
    for (suspend, resume) in [(0, 0), (2_000, 3_000)] {
        let mut config = one_plane();
        (config.nand.suspend, config.nand.resume) = (Duration::from_ns(suspend), Duration::from_ns(resume));
        let overhead = suspend + resume;
        let stood = suspend + READ + resume;
        // left / READ against (stood + READ + overhead) / WRITE.
        let even = READ * (stood + READ + overhead) / WRITE;
        let end = WRITE + stood;
        let lines = |left: u64| [(0, Write, &[0u32][..]), (300_000, Read, &[1]), (end - left, Read, &[2])];
        let waits = ends(&config, "flin", &lines(even));
        assert_eq!(waits[0], end, "the program is not paused again");
        assert_eq!(waits[2], end + READ);
        let served = ends(&config, "flin", &lines(even + 1));
        assert_eq!(served[2], end - even - 1 + suspend + READ);
        assert_eq!(served[0], end + stood);
    }
}

/// The current pause counts as well: the second of two reads is served in the same pause only if it has waited longer
/// in proportion than the program, with that pause added.
#[test]
fn the_running_pause_counts_as_wait() {
    let config = one_plane();
    // The program has 8 us left when it is paused; the second read's waiting time is taken at the end of the first
    // read.
    let left = 8_000;
    let enough = READ * (READ + READ) / WRITE - left;
    let paused = WRITE - left;
    let lines = |waited: u64| [(0, Write, &[0u32][..]), (paused, Read, &[1]), (paused + READ - waited, Read, &[2])];
    assert_eq!(ends(&config, "flin", &lines(enough)), [WRITE + READ, paused + READ, WRITE + 2 * READ]);
    assert_eq!(ends(&config, "flin", &lines(enough + 1)), [WRITE + 2 * READ, paused + READ, paused + 2 * READ]);
    // With overheads, resuming counts against the second read: if it is refused, it ends later by that time, and then,
    // having waited longer, has the program paused once more.
    let (suspend, resume) = (2_000, 3_000);
    let mut config = one_plane();
    (config.nand.suspend, config.nand.resume) = (Duration::from_ns(suspend), Duration::from_ns(resume));
    let free = paused + suspend + READ;
    let enough = READ * (suspend + READ + READ + resume) / WRITE - left;
    let lines = |waited: u64| [(0, Write, &[0u32][..]), (paused, Read, &[1]), (free - waited, Read, &[2])];
    assert_eq!(ends(&config, "flin", &lines(enough))[1..], [free, free + resume + suspend + READ]);
    assert_eq!(ends(&config, "flin", &lines(enough + 1))[1..], [free, free + READ]);
}

/// Pauses at every boundary at which a read waits, and serves one read in a pause.
struct OneAPause {
    served: bool,
}

impl Preempt for OneAPause {
    fn declares(&self) -> PreemptDeclares {
        PreemptDeclares { suspend_points: SuspendPoints::Boundary, ..PreemptDeclares::ASK }
    }

    fn pause(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        self.served = false;
        Some(Duration::ZERO)
    }

    fn serve(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        (!std::mem::replace(&mut self.served, true)).then_some(Duration::ZERO)
    }
}

/// A program that is resumed while a read still waits may be paused for it at its next boundary: after its first and its second
/// iteration of four, each of a cycle.
#[test]
fn a_resumed_program_is_paused_at_its_next_boundary() {
    let mut scheduler = build(&recipe("read-first", &[])).expect("a scheduler");
    scheduler.preempt = Box::new(OneAPause { served: false });
    let mut device = Device::new(&unit_cycle(1), scheduler).expect("a device");
    let done = scene(&mut device, &[(0, Write, &[0u32][..]), (500, Read, &[1]), (500, Read, &[2])]);
    let cycles: Vec<u64> = done.iter().map(|c| c.done.ns() / CYCLE).collect();
    assert_eq!(cycles, [6, 2, 4]);
}
