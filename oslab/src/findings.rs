//! Everything that was found: slots, what they come to, and what that shows.

use serde::Serialize;

use crate::figures::{Paired, RawSlot, related};
use crate::methods::Settings;
use crate::{disturbance, verdicts};

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// CPUs this process could use.
    pub cpus: usize,
    /// What could not be had.
    pub missing: Vec<String>,
    /// Name of the device's preset.
    pub device: String,
    /// Background threads.
    pub threads: u32,
    /// Percent of the I/Os that were writes.
    pub write_percent: u32,
    /// Ways of waiting by background.
    pub paired: Vec<Paired>,
    /// Names of the backgrounds beside which other processes took the CPU: their figures are not to be believed.
    pub disturbed: Vec<&'static str>,
    /// What it shows and what it does not.
    pub verdicts: Vec<String>,
    /// Every slot.
    pub slots: Vec<RawSlot>,
}

impl Findings {
    /// Relates the slots to one another.
    pub(crate) fn new(settings: Settings, cpus: usize, missing: Vec<String>, slots: Vec<RawSlot>) -> Findings {
        let mut paired: Vec<Paired> = Vec::new();
        for slot in &slots {
            let Some(method) = &slot.method else { continue };
            if !paired.iter().any(|p| p.background == slot.background && p.method == *method) {
                paired.push(related(&slots, slot.background, method));
            }
        }
        let disturbances = disturbance::all(&slots, &paired);
        let verdicts = verdicts::verdicts(cpus, &paired, &disturbances);
        let disturbed = disturbances.iter().map(|one| one.background).collect();
        let Settings { threads, write_percent, device, .. } = settings;
        Findings { cpus, missing, device, threads, write_percent, paired, disturbed, verdicts, slots }
    }

    /// As JSON, with every slot.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain figures with text keys have a JSON form");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::figures::Quartiles;
    use crate::foreground::Slot;
    use crate::methods::{Background, Method};

    fn slot(method: Option<Method>, round: u32, exposed_ns: u64, per_s: u64) -> RawSlot {
        let made = Slot { count: 1, exposed_ns: vec![exposed_ns], added_ns: vec![exposed_ns], ..Slot::default() };
        let of = RawSlot::new(Background::Cpu, round, method, per_s, Duration::from_secs(1), &made);
        of.of_pair(Method::Precompletion(None))
    }

    #[test]
    fn slots_are_related_within_their_round() {
        let pre = Some(Method::Precompletion(None));
        let mut slots = Vec::new();
        for (round, slow) in [(0, 1u64), (1, 10), (2, 100)] {
            slots.push(slot(None, round, 0, 1_000 * slow));
            slots.push(slot(Some(Method::Sleep), round, 8_000 * slow, 900 * slow));
            slots.push(slot(pre, round, 2_000 * slow, 800 * slow));
        }
        let findings = Findings::new(Settings::default(), 2, Vec::new(), slots);
        let own = findings.paired.iter().find(|p| p.method == "pre-adaptive").expect("measured");
        let all = |value| Some(Quartiles { q1: value, median: value, q3: value, rounds: 3 });
        assert_eq!(own.exposed_over_irq, all(0.25), "the machine's changes of pace cancel");
        assert_eq!(own.background_over_alone, all(0.8));
        assert!(serde_json::from_str::<serde_json::Value>(&findings.to_json()).is_ok());
    }
}
