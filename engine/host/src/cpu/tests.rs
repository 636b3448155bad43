//! Who runs next, on one CPU by itself (model 3.1.6).

use super::*;
use crate::config::{Background, Work};
use crate::thread::{background, foreground};
use flashlane_core::FlowId;

const FREE: Costs = Costs { irq: Duration::ZERO, wake: Duration::ZERO, switch: Duration::ZERO, submit: Duration::ZERO };

fn ms(ms: u64) -> Duration {
    Duration::from_us(ms * 1_000)
}

fn at(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

/// Periods of 24 ms, slices of 3 ms at least, a granularity of 4 ms.
fn fairness() -> Fairness {
    Fairness { period: ms(24), min_slice: ms(3), wakeup_granularity: ms(4) }
}

/// A burner of this nice value that has run this many weighted milliseconds.
fn burner(nice: i8, vruntime_ms: u64) -> Thread {
    let thread = background(0, 0, Background { work: Work::Burn, threads: 1, nice });
    Thread { vruntime: vruntime_ms * 1_000_000, ..thread }
}

/// A CPU on which `threads[0]` runs from time 0 on and the others, woken then, wait.
fn running(threads: &mut [Thread]) -> Cpu {
    let mut cpu = Cpu::new();
    cpu.wake(0, Time::ZERO, &fairness(), threads);
    assert_eq!(cpu.step(Time::ZERO, &FREE, &fairness(), threads), Some(CpuEvent::Running(0)));
    for id in 1..threads.len() as ThreadId {
        cpu.wake(id, Time::ZERO, &fairness(), threads);
    }
    cpu
}

/// Whether a thread of this nice value takes the CPU from one that is `ahead` when it is woken.
fn preempts(nice: i8, ahead: Duration) -> bool {
    let mut threads = [burner(0, 0), burner(nice, 0)];
    threads[0].vruntime = ahead.ns();
    let cpu = running(&mut threads);
    cpu.next() == Time::ZERO
}

/// The granularity is CPU time of the woken thread.
#[test]
fn the_granularity_is_scaled_by_the_weight_of_the_woken() {
    let ns = Duration::from_ns;
    assert_eq!([ms(4), ms(4) + ns(1)].map(|ahead| preempts(0, ahead)), [false, true]);
    // Weights 1,280 and 819: 3.2 ms, and 5.001221 ms rounded down.
    assert_eq!([3_200_000, 3_200_001].map(|ahead| preempts(-1, ns(ahead))), [false, true]);
    assert_eq!([5_001_221, 5_001_222].map(|ahead| preempts(1, ns(ahead))), [false, true]);
}

/// After a preemption the least vruntime runs, which need not be that of the thread that preempted.
#[test]
fn the_least_runs_after_a_preemption() {
    // The second has less than the first, but is too light to take the CPU from it.
    let mut threads = [burner(0, 9), burner(5, 2), burner(0, 4)];
    let mut cpu = running(&mut threads[..2]);
    assert!(cpu.next() > Time::ZERO);
    cpu.wake(2, Time::ZERO, &fairness(), &mut threads);
    assert_eq!(cpu.next(), Time::ZERO, "the third is 5 ms behind the first");
    assert_eq!(cpu.step(Time::ZERO, &FREE, &fairness(), &mut threads), Some(CpuEvent::Running(1)));
}

/// A thread whose slice is over while it still has had the least goes on, with another slice and without a switch.
#[test]
fn the_one_that_ran_may_go_on() {
    let costs = Costs { switch: ms(1), ..FREE };
    let mut threads = [burner(0, 0), burner(0, 20)];
    let mut cpu = running(&mut threads);
    assert_eq!(cpu.next(), at(12));
    assert_eq!(cpu.step(at(12), &costs, &fairness(), &mut threads), Some(CpuEvent::Running(0)));
    assert_eq!(cpu.next(), at(24));
    assert_eq!(cpu.step(at(24), &costs, &fairness(), &mut threads), None);
    assert_eq!((cpu.current, cpu.next()), (1, at(25)));
}

/// Of equals a foreground thread goes first, then the one that was created first.
#[test]
fn ties_go_to_the_foreground_and_to_the_first_created() {
    let next = |mut threads: [Thread; 3]| {
        let mut cpu = running(&mut threads);
        cpu.give_up(at(1), &fairness(), &mut threads)
    };
    let reader = || Thread { activity: Activity::Spin(Time::NEVER), ..foreground(0, FlowId(0), 0) };
    assert_eq!(next([burner(0, 0), burner(0, 0), reader()]), Some(CpuEvent::Running(2)));
    assert_eq!(next([burner(0, 0), burner(0, 0), burner(0, 0)]), Some(CpuEvent::Running(1)));
    assert_eq!(next([reader(), reader(), reader()]), Some(CpuEvent::Running(1)));
}

/// A slice counts from when its thread was chosen, also while no other wanted the CPU.
#[test]
fn a_thread_that_ran_by_itself_has_used_its_slice() {
    let mut threads = [burner(0, 0), burner(0, 99)];
    let mut cpu = running(&mut threads[..1]);
    cpu.wake(1, at(100), &fairness(), &mut threads);
    assert_eq!(cpu.next(), at(100), "1 ms ahead, less than the granularity; the slice of 12 ms is over");
    assert_eq!(cpu.step(at(100), &FREE, &fairness(), &mut threads), Some(CpuEvent::Running(1)));
}

/// The floor of virtual time rises with what runs, whether others wait or not, and stays when no thread is left.
#[test]
fn the_floor_follows_what_runs() {
    let mut threads = [burner(0, 0), burner(0, 0), burner(0, 0)];
    let mut cpu = running(&mut threads[..1]);
    cpu.wake(1, at(100), &fairness(), &mut threads);
    assert_eq!((threads[1].vruntime, cpu.min_vruntime), (88_000_000, 100_000_000), "half a period behind");
    cpu.step(at(100), &FREE, &fairness(), &mut threads);
    cpu.charge(at(106), &mut threads);
    cpu.wake(2, at(106), &fairness(), &mut threads);
    assert_eq!((threads[2].vruntime, cpu.min_vruntime), (88_000_000, 100_000_000), "it never falls");
    let mut threads = [burner(0, 0), burner(0, 0)];
    let mut cpu = running(&mut threads[..1]);
    assert_eq!(cpu.give_up(at(50), &fairness(), &mut threads), None);
    cpu.wake(1, at(70), &fairness(), &mut threads);
    assert_eq!(threads[1].vruntime, 38_000_000);
}
