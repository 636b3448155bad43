//! The table of the figures, and what they show of the paper's two statements.
//!
//! Owns the limits of what is believed: other processes that took the CPU of the foreground and the background show in the figures,
//! and beside such a background nothing is shown. The kept run of a quiet machine (docs/results/papers/oslab-2cpu.csv) is far within them.

use std::fmt::Write as _;

use crate::background::{Background, THREADS};
use crate::figures::{Paired, Quartiles, Row};
use crate::foreground::WRITE_PERCENT;
use crate::plan::DEVICE;

/// The most that a background may do beside the foreground, of what it does alone, in the upper quartile. More than 1 cannot be; some
/// of it is the pace of disks.
const MAX_OVER_ALONE: f64 = 1.25;
/// The most that the quartiles of a background's throughput alone may lie apart, as a factor: it is the same work each time.
const MAX_SPREAD: f64 = 1.5;
/// The most that a thread may be exposed that spins with nothing beside it, us, median of the rounds' means: it sees its I/O at once.
const MAX_EXPOSED_US: f64 = 100.0;

/// The table, what could not be had, and what it shows.
pub fn render(rows: &[Row], missing: &[String]) -> String {
    let of = |figure: Option<Quartiles>, digits: usize| figure.map_or("-".into(), |f| format!("{:.digits$}", f.median));
    let paired = Paired::all(rows);
    let head = [
        "background",
        "waiting",
        "above device",
        "exposed",
        "p50",
        "of irq's",
        "left to bg",
        "wake p50",
        "wake p99",
        "spinning",
    ];
    let mut lines = vec![head.map(String::from)];
    for one in &paired {
        lines.push([
            one.background.clone(),
            one.method.clone(),
            of(one.added_us, 1),
            of(one.exposed_us, 1),
            of(one.exposed_p50_us, 1),
            of(one.exposed_over_irq.filter(|_| one.method != "irq"), 2),
            of(one.background_over_alone, 3) + if is_impossible(one) { "!" } else { "" },
            of(one.wake_p50_us, 1),
            of(one.wake_p99_us, 1),
            of(one.spin_share, 3),
        ]);
    }
    let mut text = format!(
        "On this machine: {DEVICE} under the wall clock, {THREADS} background threads, {WRITE_PERCENT} % writes; us, medians over \
         rounds\n"
    );
    let widths: Vec<usize> =
        (0..head.len()).map(|i| lines.iter().map(|line| line[i].len()).max().unwrap_or(0)).collect();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells: Vec<String> =
            cells.map(|(i, (cell, &w))| if i < 2 { format!("{cell:<w$}") } else { format!("{cell:>w$}") }).collect();
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
    for missing in missing {
        let _ = writeln!(text, "Could not be had: {missing}");
    }
    for verdict in verdicts(rows, &paired) {
        let _ = writeln!(text, "{verdict}");
    }
    text
}

/// Whether precompletion's exposed delay is below the interrupt's, and its cost to the background below polling's.
fn verdicts(rows: &[Row], paired: &[Paired]) -> Vec<String> {
    let mut verdicts = Vec::new();
    for background in Background::ALL.map(Background::name) {
        let own = |method: &str| paired.iter().find(|p| p.background == background && p.method == method);
        let disturbance = disturbance(background, rows, paired);
        if !disturbance.is_empty() {
            let shows = disturbance.join("; ");
            verdicts.push(format!("{background}: nothing is shown: other processes took its CPU; {shows}"));
            continue;
        }
        if background == "idle" {
            continue;
        }
        let (Some(pre), Some(poll)) = (own("pre-adaptive"), own("poll-prio").or_else(|| own("poll"))) else { continue };
        verdicts.push(match pre.exposed_over_irq {
            Some(ratio) if ratio.q3 < 1.0 => format!(
                "{background}: pre-adaptive exposes {:.2} of the interrupt's delay (quartiles {:.2} to {:.2} of {} rounds)",
                ratio.median, ratio.q1, ratio.q3, ratio.rounds
            ),
            Some(ratio) => format!(
                "{background}: not shown that pre-adaptive exposes less than the interrupt: {:.2} of it, quartiles {:.2} to {:.2} of {} \
                 rounds",
                ratio.median, ratio.q1, ratio.q3, ratio.rounds
            ),
            None => format!("{background}: not shown: no round was complete"),
        });
        verdicts.push(match pre.background_over_alone.zip(poll.background_over_alone) {
            Some((pre, spin)) if pre.q1 > spin.q3 => format!(
                "{background}: pre-adaptive leaves the background {:.2} of its throughput alone, {} {:.2}",
                pre.median, poll.method, spin.median
            ),
            Some((pre, spin)) => format!(
                "{background}: not shown that pre-adaptive costs the background less than {}: it leaves {:.2} ({:.2} to {:.2}) and {:.2} \
                 ({:.2} to {:.2}) of the throughput alone",
                poll.method, pre.median, pre.q1, pre.q3, spin.median, spin.q1, spin.q3
            ),
            None => format!("{background}: not shown: the background's throughput is missing"),
        });
    }
    verdicts
}

/// What shows that other processes took the CPU beside this background.
fn disturbance(background: &str, rows: &[Row], paired: &[Paired]) -> Vec<String> {
    let own = || paired.iter().filter(|p| p.background == background);
    let mut shows = Vec::new();
    let spun = own().find(|p| background == "idle" && p.method == "poll").and_then(|p| p.exposed_us);
    if let Some(spun) = spun.filter(|exposed| exposed.median > MAX_EXPOSED_US) {
        shows.push(format!("a spinning thread sees its I/O {:.0} us late in the mean", spun.median));
    }
    let alone = alone(background, rows);
    if let Some(alone) = alone.filter(|alone| alone.q3 > MAX_SPREAD * alone.q1) {
        shows.push(format!(
            "alone the background did {:.0} to {:.0} operations per second (quartiles of {} slots)",
            alone.q1, alone.q3, alone.rounds
        ));
    }
    let impossible: Vec<&str> = own().filter(|p| is_impossible(p)).map(|p| p.method.as_str()).collect();
    if !impossible.is_empty() {
        shows.push(format!("beside {} it did more than alone, which cannot be (!)", impossible.join(", ")));
    }
    shows
}

/// Operations a second of a background alone.
pub fn alone(background: &str, rows: &[Row]) -> Option<Quartiles> {
    let alone = rows.iter().filter(|row| row.background == background && row.method.is_none());
    Quartiles::of(alone.map(|row| row.background_per_s))
}

/// Whether a background did more beside the foreground than alone.
fn is_impossible(paired: &Paired) -> bool {
    paired.background_over_alone.is_some_and(|ratio| ratio.q3 > MAX_OVER_ALONE)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::foreground::{Method, Slot};

    /// Rounds of the pair of `method`: what the background did per second alone, beside the interrupt and beside the method, and
    /// how late the thread saw its I/O by the last two, ns.
    fn rows(background: Background, method: Method, rounds: &[([u64; 3], [u64; 2])]) -> Vec<Row> {
        let of = |round, waiting, per_s, exposed| {
            let made = Slot { count: 1, exposed_ns: vec![exposed], added_ns: vec![exposed], ..Slot::default() };
            Row::new((background, per_s), round, method, waiting, Duration::from_secs(1), &made)
        };
        let of = |(&([alone, irq, own], [slept, seen]), round): (&([u64; 3], [u64; 2]), u32)| {
            [of(round, None, alone, 0), of(round, Some(Method::Sleep), irq, slept), of(round, Some(method), own, seen)]
        };
        rounds.iter().zip(0..).flat_map(of).collect()
    }

    fn shown(rows: &[Row]) -> Vec<String> {
        verdicts(rows, &Paired::all(rows))
    }

    #[test]
    fn slots_are_related_within_their_round() {
        let rounds = [1, 10, 100].map(|slow| ([1_000, 900, 800].map(|one| one * slow), [8_000 * slow, 2_000 * slow]));
        let rows = rows(Background::Cpu, Method::Precompletion(None), &rounds);
        let paired = Paired::all(&rows);
        let own = paired.iter().find(|p| p.method == "pre-adaptive").expect("measured");
        let all = |value| Some(Quartiles { q1: value, median: value, q3: value, rounds: 3 });
        assert_eq!(own.exposed_over_irq, all(0.25), "the machine's changes of pace cancel");
        assert_eq!(own.background_over_alone, all(0.8));
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        let pair = |pre, poll| {
            let pre = rows(Background::Cpu, Method::Precompletion(None), &[([1_000, 900, 900], [8_000, pre])]);
            [pre, rows(Background::Cpu, Method::SpinRaised, &[([1_000, 900, poll], [8_000, 0])])].concat()
        };
        let good = shown(&pair(2_000, 100));
        assert!(good.len() == 2 && good.iter().all(|verdict| !verdict.contains("not shown")), "{good:?}");
        let bad = shown(&pair(9_000, 950));
        assert!(bad.len() == 2 && bad.iter().all(|verdict| verdict.contains("not shown")), "{bad:?}");
    }

    /// A background at sixteen times its own throughput is marked, and no verdict is given on what was measured beside it.
    #[test]
    fn figures_that_cannot_be_are_marked() {
        let rounds = [16_000, 16_100, 900].map(|beside| ([1_000, beside, beside], [5, 5]));
        let rows = rows(Background::Cpu, Method::Spin, &rounds);
        let message = "cpu: nothing is shown: other processes took its CPU; beside irq, poll it did more than alone, which cannot be (!)";
        assert_eq!(shown(&rows), [message]);
        assert!(render(&rows, &[]).contains(" 16.000! "), "{}", render(&rows, &[]));
    }

    /// The background alone does the same in every slot, unless others have its CPU.
    #[test]
    fn a_background_that_varies_alone_was_disturbed() {
        let of = |rounds: [u64; 3], exposed| {
            let rounds = rounds.map(|alone| ([alone, 900, 900], [exposed, exposed]));
            shown(&rows(Background::Io, Method::Spin, &rounds))
        };
        let message = "io: nothing is shown: other processes took its CPU; alone the background did 1000 to 1650 operations per second \
                    (quartiles of 3 slots)";
        assert_eq!(of([1_000, 1_000, 1_650], 5), [message]);
        assert_eq!(
            of([1_000, 1_100, 1_400], 5_000_000).len(),
            0,
            "slots differ by a little, and waiting may take long"
        );
    }

    /// With nothing beside it a spinning thread sees its I/O at once.
    #[test]
    fn an_idle_cpu_is_idle() {
        let of = |exposed| shown(&rows(Background::Idle, Method::Spin, &[([0; 3], [exposed; 2]); 3]));
        assert_eq!(of(100_000).len(), 0);
        let message = "idle: nothing is shown: other processes took its CPU; a spinning thread sees its I/O 10000 us late in the mean";
        assert_eq!(of(10_000_000), [message]);
    }
}
