//! Recommendations: which scheduler to take for a workload, by successive halving over schedulers, mixes and parameters.
//!
//! Owns which schedulers are tried, on what, what they have to keep, and the decision. Promises the same answer for the same scenario
//! however its runs are made, and that what is said to be gained was not seen when it was chosen. Must never know how an answer is shown.
//!
//! ```text
//! candidates  the schedulers and mixes that are tried
//! parts       what chooses, and what is held out to judge
//! limits      what has to be kept
//! runs        making runs, with a store or without
//! halving     choosing
//! judgement   judging
//! ```

mod candidates;
mod halving;
mod judgement;
mod limits;
mod parts;
mod runs;

use flashlane_outputs::Store;
use flashlane_report::results::format::time;
use flashlane_report::results::{Failed, Recommendation, Summary};
use flashlane_scenario::{Document, Scenario, SchedulerChoice};
use flashlane_sim::{Memory, RunError, memory, prepare};

use super::make::MakeOptions;
use candidates::{Candidate, Candidates, written};
use judgement::Verdict;
pub use limits::{Limit, Limits, nanoseconds};
use parts::{Division, Parts};
use runs::Runs;

/// A recommendation that is to be made: a scenario, and what may be taken for it.
#[derive(Debug)]
pub struct Recommend {
    scenario: Scenario,
    limits: Limits,
    candidates: Candidates,
}

impl Recommend {
    /// For `scenario`, with what a scheduler has to keep.
    ///
    /// # Errors
    /// A scenario that is wrong, or limits that it cannot be held to.
    pub fn new(scenario: &Scenario, limits: Limits) -> Result<Recommend, RunError> {
        let mut scenario = scenario.with_volumes_apart()?.into_owned();
        scenario.keep_first_block()?;
        let alone = scenario.document().run.alone.unwrap_or(true) && scenario.document().flow.len() > 1;
        if limits.need_alone() && !alone {
            let message = "--fairness: needs several flows, and each alone too (run.alone); legal here is none";
            return Err(RunError::Input(message.into()));
        }
        let candidates = Candidates::of(&scenario)?;
        Ok(Recommend { scenario, limits, candidates })
    }

    /// The most memory that a run takes, and how many there are about.
    ///
    /// # Errors
    /// Bad input found on the way.
    pub fn memory(&self) -> Result<Memory, RunError> {
        let mut all = self.scenario.clone();
        let choices: Vec<SchedulerChoice> = self.candidates.all.iter().map(|one| one.choice.clone()).collect();
        all.set("schedulers", "recommend", |document: &mut Document| {
            document.scheduler = None;
            document.schedulers = Some(choices);
            document.run.baseline = None;
            document.run.alone = Some(false);
        });
        memory(&prepare(&all)?)
    }

    /// Makes the runs, in `store` if there is one, and the recommendation.
    ///
    /// # Errors
    /// A run that fails for another reason than what it asks for, or that of the first scheduler.
    pub fn make(&self, store: Option<&Store>, options: &MakeOptions<'_>) -> Result<Recommendation, RunError> {
        let mut runs = Runs::new(store, options);
        let parts = match parts::divide(&self.scenario, || self.whole_run(&mut runs))? {
            Division::Parts(parts) => parts,
            Division::TooFew(requests, why) => return Ok(self.refusal(requests, &why, runs.count())),
        };
        let chosen = halving::choose(&self.scenario, &self.candidates, &parts, &self.limits, &mut runs)?;
        let verdict =
            judgement::judge(&self.scenario, &self.candidates, &chosen, &parts.held, &self.limits, &mut runs)?;
        let failed: Vec<Failed> = self.candidates.refused.iter().cloned().chain(chosen.failed).collect();
        let Some(verdict) = verdict else {
            let why = "no request counts in the part that was held out to judge";
            return Ok(self.refusal(parts.requests, why, runs.count()));
        };
        let answer = self.answer(&parts, verdict, runs.count());
        Ok(Recommendation { tried: chosen.tried, failed, ..answer })
    }

    fn candidate(&self, number: usize) -> &Candidate {
        &self.candidates.all[number]
    }

    /// The run of the whole workload under the default.
    fn whole_run(&self, runs: &mut Runs<'_>) -> Result<Summary, RunError> {
        let mut whole = candidates::with(&self.scenario, &self.candidate(self.candidates.default).choice);
        whole.set("run.alone", "recommend", |document: &mut Document| document.run.alone = Some(false));
        let made = runs.make(&[whole])?.pop().expect("one run");
        made.map_err(RunError::Input)
    }

    /// The answer where nothing can be chosen: the default.
    fn refusal(&self, requests: u64, why: &str, runs: u64) -> Recommendation {
        Recommendation {
            scenario: self.scenario.name().to_owned(),
            device: self.scenario.device_described(),
            requests,
            runs,
            tried: Vec::new(),
            chosen_on: String::new(),
            judged_on: String::new(),
            limits: Vec::new(),
            refusal: Some(why.to_owned()),
            judged: Vec::new(),
            take: None,
            default: self.candidate(self.candidates.default).name(),
            line: format!("scheduler = {}", written(&self.candidate(self.candidates.default).choice)),
            failed: Vec::new(),
            ceiling_on: String::new(),
            ceiling_none: None,
        }
    }

    fn answer(&self, parts: &Parts, verdict: Verdict, runs: u64) -> Recommendation {
        let line = verdict.take.map(|take| self.line(verdict.candidates[take]));
        let is_drawn = parts.held.len() > 1;
        Recommendation {
            chosen_on: parts.chosen_on.clone(),
            judged_on: parts.judged_on.clone(),
            limits: self.limits_in_words(verdict.judged.iter().any(|judged| judged.has_flushes())),
            refusal: None,
            judged: verdict.judged,
            take: verdict.take,
            line: line.unwrap_or_default(),
            ceiling_on: match is_drawn {
                true => format!("seed {}", self.scenario.seed().wrapping_add(1)),
                false => "the second half".into(),
            },
            ceiling_none: verdict.ceiling_none,
            ..self.refusal(parts.requests, "", runs)
        }
    }

    /// A line for a scenario: the first scheduler, and the one to take.
    fn line(&self, take: usize) -> String {
        let own = written(&self.candidate(take).choice);
        match take {
            0 => format!("scheduler = {own}"),
            _ => format!("schedulers = [{}, {own}]", written(&self.candidate(0).choice)),
        }
    }

    /// The limits; that of flushes only where there are some.
    fn limits_in_words(&self, has_flushes: bool) -> Vec<String> {
        let first = self.candidate(0).name();
        let change = |percent: f64, than: &str| format!("{than} {percent:+} % against {first}");
        let word = |limit: Limit, than: &str, show: fn(f64) -> String| match limit {
            Limit::None => None,
            Limit::Change(percent) => Some(change(percent, than)),
            Limit::Value(value) => Some(format!("{than} {}", show(value))),
        };
        let plain = |value: f64| value.to_string();
        let limits = [
            ("p99 of every flow", word(self.limits.p99_ns, "at most", time)),
            ("p99 of its flushes", word(self.limits.flush_p99_ns, "at most", time).filter(|_| has_flushes)),
            ("write amplification", word(self.limits.write_amplification, "at most", plain)),
            ("fairness", word(self.limits.fairness, "at least", plain)),
        ];
        limits.into_iter().filter_map(|(what, limit)| Some(format!("{what} {}", limit?))).collect()
    }
}
