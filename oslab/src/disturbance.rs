//! Other processes: how it shows in the figures that they took the CPU of the foreground and the background.
//!
//! Owns the limits of what is believed of slots. The kept run of a quiet machine (docs/papers/oslab-2cpu.csv) is far within them.

use crate::figures::{Paired, Quartiles, RawSlot};

/// The most that the quartiles of a background's throughput alone may lie apart, as a factor: it is the same work each time.
const MAX_SPREAD: f64 = 1.5;
/// The most that a thread may be exposed that spins with nothing beside it, us, median of the rounds' means: it sees its I/O at once.
const MAX_EXPOSED_US: f64 = 100.0;

/// A background whose figures are not to be believed.
#[derive(Clone, Debug)]
pub(crate) struct Disturbance {
    pub background: &'static str,
    /// What shows it.
    pub says: String,
}

/// The backgrounds that were disturbed.
pub(crate) fn all(slots: &[RawSlot], paired: &[Paired]) -> Vec<Disturbance> {
    ["idle", "cpu", "io"].into_iter().filter_map(|background| of(background, slots, paired)).collect()
}

fn of(background: &'static str, slots: &[RawSlot], paired: &[Paired]) -> Option<Disturbance> {
    let own = || paired.iter().filter(|p| p.background == background);
    let mut shows = Vec::new();
    if background == "idle" {
        let spun = own().find(|p| p.method == "poll").and_then(|p| p.exposed_us);
        if let Some(spun) = spun.filter(|exposed| exposed.median > MAX_EXPOSED_US) {
            shows.push(format!("a spinning thread sees its I/O {:.0} us late in the mean", spun.median));
        }
    } else {
        let alone = slots.iter().filter(|s| s.background == background && s.method.is_none());
        let alone = Quartiles::of(alone.map(|s| s.background_per_s).collect());
        if let Some(alone) = alone.filter(|alone| alone.q3 > MAX_SPREAD * alone.q1) {
            shows.push(format!(
                "alone the background did {:.0} to {:.0} operations per second (quartiles of {} slots)",
                alone.q1, alone.q3, alone.rounds
            ));
        }
        let impossible: Vec<&str> = own().filter(|p| p.impossible).map(|p| p.method.as_str()).collect();
        if !impossible.is_empty() {
            shows.push(format!("beside {} it did more than alone, which cannot be (!)", impossible.join(", ")));
        }
    }
    let says = format!("other processes took its CPU; {}", shows.join("; "));
    (!shows.is_empty()).then_some(Disturbance { background, says })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::findings::Findings;
    use crate::foreground::Slot;
    use crate::methods::{Background, Method, Settings};

    /// Three rounds of the pair of `poll`: what a background does per second alone and beside it, and how late the thread sees its I/O.
    fn findings(background: Background, rounds: [(u64, u64); 3], exposed_us: u64) -> Findings {
        let made = Slot { count: 1, exposed_ns: vec![exposed_us * 1_000], added_ns: vec![0], ..Slot::default() };
        let slot = |round, method, per_s| {
            RawSlot::new(background, round, method, per_s, Duration::from_secs(1), &made).of_pair(Method::Spin)
        };
        let slots = rounds.into_iter().zip(0..).flat_map(|((alone, beside), round)| {
            [
                slot(round, None, alone),
                slot(round, Some(Method::Sleep), beside),
                slot(round, Some(Method::Spin), beside),
            ]
        });
        Findings::new(Settings::default(), 2, Vec::new(), slots.collect())
    }

    /// A background at sixteen times its own throughput is marked, and no verdict is given on what was measured beside it.
    #[test]
    fn figures_that_cannot_be_are_marked() {
        let found = findings(Background::Cpu, [(1_000, 16_000), (1_000, 16_100), (1_000, 900)], 5);
        assert!(found.paired.iter().all(|p| p.impossible), "{:?}", found.paired);
        assert_eq!(found.disturbed, ["cpu"]);
        assert_eq!(
            found.verdicts,
            [
                "cpu: nothing is shown: other processes took its CPU; beside irq, poll it did more than alone, which cannot be (!)"
            ]
        );
        assert!(crate::render(&found).contains(" 16.000! "), "{}", crate::render(&found));
        assert!(!crate::html(&found).contains("<circle"), "no point in the chart");
    }

    /// The background alone does the same in every slot, unless others have its CPU.
    #[test]
    fn a_background_that_varies_alone_was_disturbed() {
        let found = findings(Background::Io, [(1_000, 900), (1_000, 900), (1_650, 1_500)], 5);
        assert_eq!(found.disturbed, ["io"]);
        assert!(found.paired.iter().all(|p| !p.impossible));
        let message = "io: nothing is shown: other processes took its CPU; alone the background did 1000 to 1650 operations per second \
                    (quartiles of 3 slots)";
        assert_eq!(found.verdicts, [message]);
        let quiet = findings(Background::Io, [(1_000, 900), (1_100, 1_200), (1_400, 1_500)], 5_000);
        assert_eq!(
            (quiet.disturbed.len(), quiet.verdicts.len()),
            (0, 0),
            "slots differ by a little, and waiting may take long"
        );
    }

    /// With nothing beside it a spinning thread sees its I/O at once.
    #[test]
    fn an_idle_cpu_is_idle() {
        assert_eq!(findings(Background::Idle, [(0, 0); 3], 100).disturbed.len(), 0);
        let found = findings(Background::Idle, [(0, 0); 3], 10_000);
        let message = "idle: nothing is shown: other processes took its CPU; a spinning thread sees its I/O 10000 us late in the mean";
        assert_eq!(found.verdicts, [message]);
    }
}
