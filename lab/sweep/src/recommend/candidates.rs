//! The schedulers that are tried: all of the catalogue that can run on the drive, the default with other answers and parameters, and
//! random mixes of answers.
//!
//! Promises the same list for the same catalogue and scenario, without two that act alike.

use std::collections::BTreeMap;

use flashlane_report::results::{Decisions, Failed};
use flashlane_scenario::{Document, Mix, Scenario, SchedulerChoice};
use flashlane_sim::{RunError, is_control, prepare};

/// The default: what is recommended where nothing can be measured.
pub(super) const DEFAULT: &str = "late";
/// The baseline where a scenario names only controls.
const FIRST: &str = "fcfs";
/// How many schedulers are tried, if so many can be made.
pub(super) const TRIED: usize = 64;
/// Mixes drawn at most: many act like a candidate that is there already.
const DRAWS: u64 = 400;

/// A scheduler that is tried.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// How a scenario names it.
    pub choice: SchedulerChoice,
    decisions: Decisions,
}

impl Candidate {
    /// Its name.
    pub(super) fn name(&self) -> String {
        self.choice.name()
    }
}

/// The schedulers that are tried: the scenario's first, the default if it can run, and the rest.
#[derive(Debug)]
pub(super) struct Candidates {
    /// All of them, none acting like another; the scenario's first scheduler is number 0.
    pub all: Vec<Candidate>,
    /// The number of the default; that of the first where it cannot run.
    pub default: usize,
    /// Those that the device or the scenario refuses.
    pub refused: Vec<Failed>,
}

/// An answer, and parameters that are set with it.
type Option_ = (&'static str, &'static [(&'static str, u64)]);

/// The answers that mixes are made of; one that is listed twice is drawn twice as often.
const PLACE: &[Option_] = &[
    ("late", &[]),
    ("late", &[("late_choices", 1)]),
    ("late", &[("late_choices", 16)]),
    ("late", &[("late_patience", 10)]),
    ("rebalance", &[("rebalance_after_rotation", 1)]),
    ("rebalance", &[]),
    ("rotate", &[]),
    ("dynamic", &[]),
    ("static", &[]),
];
const ORDER: &[Option_] = &[("tail", &[]), ("tail", &[]), ("fair", &[]), ("slack-bypass", &[]), ("need-bypass", &[])];
const PICK: &[Option_] = &[
    ("read-first-bounded", &[("reads_in_row", 4)]),
    ("read-first-bounded", &[("reads_in_row", 1)]),
    ("read-first-bounded", &[("reads_in_row", 16)]),
    ("read-first-bounded", &[("reads_in_row", 100)]),
    ("read-first", &[]),
    ("fr-fcfs", &[("write_capacity", 64)]),
    ("wait-balanced", &[]),
    ("largest-group", &[]),
];
const PREEMPT: &[Option_] = &[
    ("worth", &[]),
    ("worth", &[("worth_percent", 100)]),
    ("worth", &[("worth_percent", 400)]),
    ("worth", &[("worth_cap", 300)]),
    ("suspend", &[]),
    ("proportional", &[]),
    ("never", &[]),
];
const CANCEL: &[Option_] = &[("overwrite", &[]), ("keep", &[])];

/// A mix that has been the best in experiments: a published scheduler with the place and cancel answers of another.
const KNOWN: &[(&str, Option_, Option_)] =
    &[("flin-stage1", ("rebalance", &[("rebalance_after_rotation", 1)]), ("overwrite", &[]))];

impl Candidates {
    /// The schedulers to try on `scenario`.
    ///
    /// # Errors
    /// A scenario that is wrong, or whose first scheduler cannot run.
    pub(super) fn of(scenario: &Scenario) -> Result<Candidates, RunError> {
        // All that is wrong with the scenario itself shows here.
        prepare(scenario)?;
        let own = scenario.schedulers()?;
        let first = first(scenario, &own)?;
        let decisions = tried(scenario, &first)?;
        let mut found =
            Candidates { all: vec![Candidate { choice: first, decisions }], default: 0, refused: Vec::new() };
        let default = SchedulerChoice::Named(DEFAULT.into());
        let decisions = match tried(scenario, &default) {
            Ok(decisions) => decisions,
            Err(error) => {
                found.refused.push(Failed { scheduler: DEFAULT.into(), reason: error.to_string() });
                found.all[0].decisions.clone()
            }
        };
        found.default = found.all.iter().position(|other| other.decisions == decisions).unwrap_or(1);
        if found.default == 1 {
            found.all.push(Candidate { choice: default, decisions });
        }
        own.into_iter().for_each(|choice| found.add(scenario, choice));
        let rows: Vec<&str> = scenario.catalogue().schedulers().iter().map(|entry| entry.name).collect();
        rows.into_iter().for_each(|name| found.add(scenario, SchedulerChoice::Named(name.into())));
        KNOWN.iter().for_each(|(base, place, cancel)| found.add(scenario, known(base, place, cancel)));
        neighbours(scenario).into_iter().for_each(|choice| found.add(scenario, choice));
        for number in 0..DRAWS {
            if found.all.len() >= TRIED {
                break;
            }
            found.add(scenario, drawn(number));
        }
        Ok(found)
    }

    /// Adds a scheduler, unless one that acts like it is there, or it is a control.
    fn add(&mut self, scenario: &Scenario, choice: SchedulerChoice) {
        if is_control(scenario, &choice) {
            return;
        }
        match tried(scenario, &choice) {
            Ok(decisions) => {
                if self.all.iter().all(|other| other.decisions != decisions) {
                    self.all.push(Candidate { choice, decisions });
                }
            }
            // A mix that cannot run is refused for an answer of some scheduler, which is refused for the same reason.
            Err(error) if matches!(choice, SchedulerChoice::Named(_)) && choice.name() != DEFAULT => {
                self.refused.push(Failed { scheduler: choice.name(), reason: reason(&error, &choice.name()) });
            }
            Err(_) => {}
        }
    }
}

/// The scheduler that others are compared with: the one that the scenario says, or its first. If that is a control, another takes its
/// place.
fn first(scenario: &Scenario, own: &[SchedulerChoice]) -> Result<SchedulerChoice, RunError> {
    let baseline = scenario.document().run.baseline.as_deref();
    let named = own.iter().filter(|choice| baseline == Some(choice.name().as_str()));
    for choice in named.chain(own) {
        if !is_control(scenario, choice) {
            return Ok(choice.clone());
        }
    }
    Ok(SchedulerChoice::Named(FIRST.into()))
}

/// The reason, without the name of a list entry that the user did not write.
fn reason(error: &RunError, name: &str) -> String {
    let text = error.to_string();
    let written = format!("schedulers[0] = {name:?}: ");
    text.split_once(&written).map_or(text.clone(), |(_, rest)| rest.to_owned())
}

/// What a scheduler decides in `scenario`.
fn tried(scenario: &Scenario, choice: &SchedulerChoice) -> Result<Decisions, RunError> {
    Ok(prepare(&with(scenario, choice))?.decisions().next().expect("one"))
}

/// `scenario` with this scheduler alone, and nothing that is shown of several schedulers or changes no result.
pub(super) fn with(scenario: &Scenario, choice: &SchedulerChoice) -> Scenario {
    let mut scenario = scenario.clone();
    let choice = choice.clone();
    scenario.set("schedulers", "recommend", |document: &mut Document| {
        document.scheduler = None;
        document.schedulers = Some(vec![choice]);
        document.run.baseline = None;
        document.run.slack = None;
        document.run.shadow_estimator = None;
    });
    scenario
}

/// A scheduler of the catalogue with another placement and cancelling.
fn known(base: &str, place: &Option_, cancel: &Option_) -> SchedulerChoice {
    mix(
        Mix { base: Some(base.into()), place: Some(place.0.into()), cancel: Some(cancel.0.into()), ..Mix::default() },
        &[place, cancel],
    )
}

/// The default with one answer or parameter changed.
fn neighbours(scenario: &Scenario) -> Vec<SchedulerChoice> {
    let Some(own) = scenario.catalogue().scheduler(DEFAULT).map(|entry| entry.answers) else { return Vec::new() };
    let base = || Mix { base: Some(DEFAULT.into()), ..Mix::default() };
    // Answers that the default gives itself are left out.
    let other = |option: &Option_, of_base: &str| (option.0 != of_base).then(|| option.0.to_owned());
    let mut all = Vec::new();
    all.extend(PLACE.iter().map(|place| mix(Mix { place: other(place, own.place), ..base() }, &[place])));
    all.extend(PICK.iter().map(|pick| mix(Mix { pick: other(pick, own.pick), ..base() }, &[pick])));
    all.extend(PREEMPT.iter().map(|preempt| mix(Mix { preempt: other(preempt, own.preempt), ..base() }, &[preempt])));
    all.extend(CANCEL.iter().map(|cancel| mix(Mix { cancel: other(cancel, own.cancel), ..base() }, &[cancel])));
    all
}

/// The mix with this number: an answer to each question drawn by it.
fn drawn(number: u64) -> SchedulerChoice {
    let draw = |question: u64, options: &'static [Option_]| {
        &options[(scrambled(8 * number + question) % options.len() as u64) as usize]
    };
    let (place, order, pick) = (draw(0, PLACE), draw(1, ORDER), draw(2, PICK));
    let (preempt, cancel) = (draw(3, PREEMPT), draw(4, CANCEL));
    // Answers that the base gives itself are left out.
    let other = |option: &Option_, of_base: &str| (option.0 != of_base).then(|| option.0.to_owned());
    let answers = Mix {
        base: Some("read-first".into()),
        place: other(place, "static"),
        order: other(order, "tail"),
        pick: other(pick, "read-first"),
        preempt: other(preempt, "never"),
        cancel: other(cancel, "keep"),
        ..Mix::default()
    };
    mix(answers, &[place, order, pick, preempt, cancel])
}

/// Spreads the bits of a number (the finaliser of SplitMix64).
fn scrambled(number: u64) -> u64 {
    let mut x = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn mix(mix: Mix, options: &[&Option_]) -> SchedulerChoice {
    let parameters = options.iter().flat_map(|option| option.1).map(|&(name, value)| (name.to_owned(), value));
    let parameters: BTreeMap<String, u64> = parameters.collect();
    SchedulerChoice::Mix(Box::new(Mix { parameters, ..mix }))
}

/// A scheduler as it is written in a scenario.
pub(super) fn written(choice: &SchedulerChoice) -> String {
    let text = |value: &str| toml::Value::String(value.to_owned()).to_string();
    match choice {
        SchedulerChoice::Named(name) => text(name),
        SchedulerChoice::Mix(mix) => {
            let names = [("name", &mix.name), ("base", &mix.base)].into_iter();
            let names = names.filter_map(|(key, value)| Some(format!("{key} = {}", text(value.as_deref()?))));
            let answers = mix.answers().into_iter().map(|(question, answer)| format!("{question} = {}", text(answer)));
            let parameters = mix.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
            format!("{{ {} }}", names.chain(answers).chain(parameters).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(head: &str) -> Scenario {
        let flow = "[[flow]]\nsynthetic = { read_ratio = 0.5, rate_iops = 1000, requests = 50 }\n";
        Scenario::parse("s.toml", format!("{head}\n{flow}")).expect("a scenario")
    }

    fn names(found: &Candidates) -> Vec<String> {
        found.all.iter().map(Candidate::name).collect()
    }

    /// Every option must be legal where it is used: one that is not would never be tried, without a message.
    #[test]
    fn every_option_can_be_made() {
        let scenario = scenario("device = \"flin-isca18\"");
        let lists = [PLACE, ORDER, PICK, PREEMPT, CANCEL];
        let all = neighbours(&scenario).into_iter().chain((0..DRAWS).map(drawn));
        let all: Vec<SchedulerChoice> =
            all.chain(KNOWN.iter().map(|(base, place, cancel)| known(base, place, cancel))).collect();
        let made = |choice: &SchedulerChoice| {
            tried(&scenario, choice).unwrap_or_else(|error| panic!("{}: {error}", choice.name()))
        };
        let made: Vec<Decisions> = all.iter().map(made).collect();
        let written: String = all.iter().map(written).collect();
        for (answer, parameters) in lists.into_iter().flatten() {
            assert!(made.iter().any(|one| one.answers().iter().any(|(_, own)| own == answer)), "{answer}");
            parameters.iter().for_each(|(name, value)| assert!(written.contains(&format!("{name} = {value}"))));
        }
    }

    #[test]
    fn the_asked_number_is_tried_and_none_twice() {
        let found =
            Candidates::of(&scenario("device = \"flin-isca18\"\nschedulers = [\"fr-fcfs\", \"fcfs\"]")).expect("some");
        assert_eq!(found.all.len(), TRIED);
        assert_eq!((found.default, names(&found)[..3].join(" ")), (1, "fr-fcfs late fcfs".into()));
        for (i, one) in found.all.iter().enumerate() {
            assert!(found.all[..i].iter().all(|other| other.decisions != one.decisions), "{}", one.name());
            assert_ne!(one.name(), "baseline");
        }
        let again =
            Candidates::of(&scenario("device = \"flin-isca18\"\nschedulers = [\"fr-fcfs\", \"fcfs\"]")).expect("some");
        assert_eq!(names(&again), names(&found));
    }

    #[test]
    fn controls_are_not_tried_and_refusals_are_reported() {
        let found = Candidates::of(&scenario(
            "device = \"flin-isca18\"\nschedulers = [\"fcfs\", { base = \"fcfs\", collect = \"free\" }]",
        ));
        let found = found.expect("some");
        let tried = names(&found);
        assert!(tried.iter().all(|name| !name.contains("free") && name != "oracle-slack" && name != "wp-blind"));
        // The NCQ paper's schedulers ask what the buffer holds, and this device has none.
        let refused: Vec<&str> = found.refused.iter().map(|failed| failed.scheduler.as_str()).collect();
        assert!(!refused.is_empty() && refused.iter().all(|name| name.starts_with("ncq-")), "{refused:?}");
        assert!(found.refused[0].reason.contains("device.buffer.pages"), "{:?}", found.refused);
    }

    #[test]
    fn the_first_is_the_baseline_or_the_first_that_is_no_control() {
        let first = |head: &str| {
            let found = Candidates::of(&scenario(&format!("device = \"flin-isca18\"\n{head}"))).expect("some");
            (found.all[0].name(), found.default)
        };
        assert_eq!(first("schedulers = [\"wp-blind\", \"need\", \"fcfs\"]"), ("need".into(), 1));
        assert_eq!(first("schedulers = [\"wp-blind\", \"oracle-slack\"]"), ("fcfs".into(), 1));
        assert_eq!(first("schedulers = [\"need\", \"flin\"]\n[run]\nbaseline = \"flin\""), ("flin".into(), 1));
        assert_eq!(first("schedulers = [\"late\", \"flin\"]"), ("late".into(), 0));
    }

    #[test]
    fn decisions_that_the_scenario_fixes_are_not_varied() {
        let found =
            Candidates::of(&scenario("device = \"flin-isca18\"\n[run.hold]\npreempt = \"never\"")).expect("some");
        let tried = names(&found);
        assert!(tried.iter().any(|name| name == "read-first") && tried.iter().all(|name| name != "read-first-suspend"));
        assert!(found.all.iter().all(|one| one.decisions.preempt == "never"));
    }

    /// What is printed makes the scheduler it stands for.
    #[test]
    fn a_scheduler_can_be_pasted() {
        let named = SchedulerChoice::Named("fr-fcfs".into());
        let of = scenario("device = \"flin-isca18\"");
        let lines: Vec<SchedulerChoice> =
            neighbours(&of).into_iter().chain((0..20).map(drawn)).chain([named]).collect();
        for choice in lines {
            let read = scenario(&format!("device = \"flin-isca18\"\nscheduler = {}", written(&choice)));
            assert_eq!(read.schedulers().expect("one"), [choice]);
        }
    }
}
