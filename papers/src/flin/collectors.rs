//! Who makes FLIN's gain: the systems of section 7 with the garbage collector of the others (figures 10 to 14 with collectors held
//! equal), and FLIN whose writes never pay by equation 10.
//!
//! The paper compares each system with its own collector: FLIN's keeps to idle time until writes pay, the baselines' must collect
//! at a threshold. What a system gains over another with the same collector is its scheduling.

use super::setting;
use super::setup::{mix, with};
use crate::{Runner, Setting};
use flashlane_scenario::{Mix, SchedulerChoice};

/// The systems of figures 10 to 14 that have another collector of their own, with FLIN's.
pub const FLIN_COLLECTS: [&str; 3] =
    ["sprinkler write-triggered", "sprinkler+fairness write-triggered", "flin-stage1 write-triggered"];
/// FLIN with Sprinkler's.
pub const SPRINKLER_COLLECTS: &str = "flin semi-preemptive";
/// FLIN with its own, which writes never pay for by equation 10.
pub const NEVER_PAID: &str = "flin gc-never-paid";

/// A parameter of FLIN's collector in [`Setting::Chosen`].
const YIELDS: &str = "gc_preemptible";

/// `system` with another collector, called `name`.
fn collected(setting: Setting, name: &str, system: &str, collect: &str) -> Mix {
    let mut changed = setting::system(setting, system);
    (changed.name, changed.collect) = (Some(name.into()), Some(collect.into()));
    changed.parameters.remove(YIELDS);
    if let Some(&value) =
        setting::system(setting, "flin").parameters.get(YIELDS).filter(|_| collect == "write-triggered")
    {
        changed.parameters.insert(YIELDS.into(), value);
    }
    changed
}

/// The rows beside the systems of the paper.
pub fn rows(runner: &Runner<'_>) -> Vec<SchedulerChoice> {
    let setting = runner.settings.setting;
    let with_flins = |name: &str| {
        let (system, collect) = name.split_once(' ').expect("a system and an answer");
        mix(collected(setting, name, system, collect))
    };
    let mut rows: Vec<_> = FLIN_COLLECTS.map(with_flins).into();
    rows.push(mix(collected(setting, SPRINKLER_COLLECTS, "flin", "semi-preemptive")));
    rows.push(with(runner, NEVER_PAID, "flin", &[("gc_pages", 0)]));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flin::measures::SYSTEMS;
    use crate::flin::setup::{document, pages_at, synthetic};
    use crate::{Place, Settings};
    use flashlane_scenario::Scenario;

    /// A row has all of its system but the collector, which with its parameters is that of the other: the systems of figures 10 to 14
    /// are all there with FLIN's collector, those that have it already by their own.
    #[test]
    fn rows_differ_from_their_systems_in_the_collector_alone() {
        for setting in [Setting::Plain, Setting::Chosen] {
            let settings = Settings::quick(setting);
            let runner = Runner::new(&settings, Place::default());
            let flins = setting::system(setting, "flin").parameters.get(YIELDS).copied();
            for row in rows(&runner) {
                let SchedulerChoice::Mix(row) = row else { panic!("a mix") };
                let name = row.name.clone().expect("a name");
                let (system, collect) = name.split_once(' ').expect("a system and an answer");
                let own = setting::system(setting, system);
                let without = |mix: &Mix| {
                    let mut rest = Mix { name: None, collect: None, ..mix.clone() };
                    rest.parameters.retain(|name, _| name != YIELDS && name != "gc_pages");
                    rest
                };
                assert_eq!(without(&row), without(&own), "{name}");
                let paid = collect != "semi-preemptive";
                assert_eq!(row.parameters.get(YIELDS).copied(), flins.filter(|_| paid), "{name}, {setting:?}");
                assert_eq!(row.collect.as_deref(), Some(collect).filter(|_| name != NEVER_PAID), "{name}");
            }
            let with_flins: Vec<_> = FLIN_COLLECTS.iter().filter_map(|name| name.split(' ').next()).collect();
            let all: Vec<_> = SYSTEMS.into_iter().filter(|name| !["flin", "flin-stage3"].contains(name)).collect();
            assert_eq!(with_flins.iter().filter(|name| all.contains(name)).count(), all.len());
            let flow = synthetic("one", 1, pages_at(8.0, 1.0));
            let document = document(&runner, "rows".into(), (1, 1), rows(&runner), vec![flow]);
            let legal = Scenario::from_document("rows", document).check();
            assert!(legal.is_ok(), "{setting:?}: {}", legal.unwrap_err());
        }
    }
}
