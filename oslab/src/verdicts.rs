//! What the figures show of the paper's two statements, and what they do not.

use crate::disturbance::Disturbance;
use crate::figures::Paired;

/// Whether precompletion's exposed delay is below the interrupt's, and its cost to the background below polling's. Beside what
/// was disturbed nothing is shown.
pub(crate) fn verdicts(cpus: usize, paired: &[Paired], disturbances: &[Disturbance]) -> Vec<String> {
    let mut verdicts = Vec::new();
    if cpus < 2 {
        return vec!["with one CPU nothing is shown: the device's thread takes the foreground's CPU".into()];
    }
    verdicts.extend(disturbances.iter().map(|one| format!("{}: nothing is shown: {}", one.background, one.says)));
    for background in ["cpu", "io"] {
        if disturbances.iter().any(|one| one.background == background) {
            continue;
        }
        let of = |method: &str| paired.iter().find(|p| p.background == background && p.method == method);
        let (Some(pre), Some(poll)) = (of("pre-adaptive"), of("poll-prio").or_else(|| of("poll"))) else { continue };
        let exposed = pre.exposed_over_irq;
        verdicts.push(match exposed {
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
        let costs = pre.background_over_alone.zip(poll.background_over_alone);
        verdicts.push(match costs {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::figures::RawSlot;
    use crate::findings::Findings;
    use crate::foreground::Slot;
    use crate::methods::{Background, Method, Settings};

    fn slot(method: Option<Method>, round: u32, exposed_ns: u64, per_s: u64) -> RawSlot {
        let made = Slot { count: 1, exposed_ns: vec![exposed_ns], added_ns: vec![exposed_ns], ..Slot::default() };
        RawSlot::new(Background::Cpu, round, method, per_s, Duration::from_secs(1), &made)
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        let pair = |pre, poll| {
            let of = |method: Method, exposed: u64, per_s| {
                let mut one = slot(Some(method), 0, exposed, per_s);
                one.pair = method.name();
                let mut irq = slot(Some(Method::Sleep), 0, 8_000, 900);
                irq.pair = method.name();
                let mut alone = slot(None, 0, 0, 1_000);
                alone.pair = method.name();
                [alone, irq, one]
            };
            let slots = [of(Method::Precompletion(None), pre, 900), of(Method::SpinRaised, 0, poll)].concat();
            Findings::new(Settings::default(), 2, Vec::new(), slots).verdicts
        };
        let good = pair(2_000, 100);
        assert!(good.iter().all(|verdict| !verdict.contains("not shown")), "{good:?}");
        let bad = pair(9_000, 950);
        assert!(bad.iter().all(|verdict| verdict.contains("not shown")), "{bad:?}");
        assert_eq!(verdicts(1, &[], &[]).len(), 1);
    }
}
