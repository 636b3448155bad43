//! Papers: their experiments, reproduced, and their claims, evaluated.
//!
//! Owns the list of papers. An experiment is code that runs scenarios and yields [`Measurements`]; what the paper claims and
//! when a claim holds is in its `claims.toml` ([`claims`]), so that no experiment knows its expected result.
//! Promises the same figures for the same settings. Must never know how anything is printed.

pub mod claims;
pub mod cross;
pub mod flin;
mod kept;
mod measurements;
pub mod ncq;
pub mod nulls;
pub mod page;
mod paper;
pub mod precompletion;
pub mod real;
mod report;
mod runner;
mod setting;
pub mod slacker;
pub mod sos;
pub mod stored;

pub use flashlane_report::metrics::mean_and_ci95;
pub use kept::{Counter, RunStats, falls_behind};
pub use measurements::Measurements;
pub use report::{PaperResult, medians, render, schema, tables};
pub use runner::{Place, Runner, Settings};
pub use setting::{ChosenSetting, Setting, Variant};

use claims::Claims;
pub use paper::{Group, Paper};

use flashlane_scenario::nearest;
use flashlane_sim::RunError;

/// All papers.
pub const PAPERS: &[Paper] = &[slacker::PAPER, flin::PAPER, ncq::PAPER, sos::PAPER, precompletion::PAPER];

impl Paper {
    /// The paper called `name`.
    ///
    /// # Errors
    /// The papers there are, with the nearest name.
    pub fn named(name: &str) -> Result<&'static Paper, String> {
        let all = || PAPERS.iter().chain([&cross::CROSS, &real::REAL]);
        let names = || all().map(|paper| paper.name);
        all().find(|paper| paper.name == name).ok_or_else(|| {
            let near = nearest(name, names()).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
            format!("paper {name:?}: no such paper; there are {}{near}", names().collect::<Vec<_>>().join(", "))
        })
    }

    /// Its claims.
    pub fn claims(&self) -> Claims {
        Claims::read(self.claims)
    }

    /// The variant of its chosen setting called `name`.
    ///
    /// # Errors
    /// The variants there are, with the nearest name.
    pub fn variant(&self, name: &str) -> Result<&'static Variant, String> {
        let names = || self.variants.iter().map(|variant| variant.name);
        self.variants.iter().find(|variant| variant.name == name).ok_or_else(|| match nearest(name, names()) {
            _ if self.variants.is_empty() => format!("--variant {name:?}: {} has none", self.name),
            near => {
                let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
                format!("--variant {name:?}: {} has {}{near}", self.name, names().collect::<Vec<_>>().join(", "))
            }
        })
    }

    /// Its experiments that are run, in order, each once: some have several groups of runs.
    pub fn experiments(&self) -> Vec<&'static str> {
        distinct(self.groups.iter().flat_map(|group| group.experiments).copied())
    }

    /// Runs `experiments` (all, if none is named), as far as `place` does not have their runs, and evaluates their claims. `report` is
    /// called with each group when it begins.
    ///
    /// # Errors
    /// An unknown experiment, bad input, or a run that failed.
    pub fn run(
        &self,
        experiments: &[String],
        settings: &Settings,
        place: Place<'_>,
        report: &dyn Fn(&str),
    ) -> Result<PaperResult, RunError> {
        self.check(experiments, settings)?;
        let claims = self.claims();
        let known = self.known(&claims);
        let chosen = |name: &str| experiments.is_empty() || experiments.iter().any(|e| e == name);
        let runner = Runner::new(settings, place);
        let mut figures = Measurements::default();
        for group in self.groups.iter().filter(|group| group.experiments.iter().any(|name| chosen(name))) {
            if let Some(progress) = place.progress {
                progress.begin();
            }
            report(&format!("{}: {}", group.experiments.join(", "), group.about));
            figures.merge((group.run)(&runner)?);
        }
        let names: Vec<&str> = known.into_iter().filter(|name| chosen(name)).collect();
        if let Some(store) = place.store {
            store.sync()?;
        }
        // As they are stored: to the last digit the same claims.
        let judged = claims.judge(&names, &figures.rounded(), settings.setting, &runner.seeds());
        let judged = judged.map_err(RunError::Fault)?;
        Ok(PaperResult::new(self.name, &claims.paper, &runner, judged, figures))
    }

    /// Whether these experiments can be run with these settings, before anything is.
    ///
    /// # Errors
    /// An experiment that the paper has not, a setting or a variant that it has not, or a folder of traces that cannot be read.
    pub fn check(&self, experiments: &[String], settings: &Settings) -> Result<(), RunError> {
        let claims = self.claims();
        let known = self.known(&claims);
        if let Some(unknown) = experiments.iter().find(|name| !known.contains(&name.as_str())) {
            let message = format!("experiment {unknown:?}: {} has {}", self.name, known.join(", "));
            return Err(RunError::Input(message));
        }
        if settings.setting == Setting::Chosen && claims.chosen.is_none() {
            let has_one = |paper: &&Paper| paper.claims().chosen.is_some();
            let names: Vec<&str> = PAPERS.iter().filter(has_one).map(|paper| paper.name).collect();
            let message =
                format!("--setting chosen: {} has the plain reading alone; {} have both", self.name, names.join(", "));
            return Err(RunError::Input(message));
        }
        if let Some(variant) = settings.variant.filter(|_| settings.setting != Setting::Chosen) {
            let message = format!("--variant {}: it varies the chosen setting; add --setting chosen", variant.name);
            return Err(RunError::Input(message));
        }
        // That the folder can be read is seen whatever trace is asked for.
        Runner::new(settings, Place::default()).trace("").map(drop)
    }

    /// The experiments that it runs or has claims of.
    fn known<'a>(&'a self, claims: &'a Claims) -> Vec<&'a str> {
        let claimed = claims.claim.iter().map(|claim| claim.experiment.as_str());
        distinct(self.experiments().into_iter().chain(claimed))
    }
}

/// Each of `names` once, in their order.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    names.for_each(|name| {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    });
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_claims_and_every_claim_an_experiment_or_a_reason() {
        for paper in PAPERS {
            let claims = paper.claims();
            let mut names = paper.experiments();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}: {names:?}", paper.name);
            for name in paper.experiments() {
                assert!(claims.claim.iter().any(|claim| claim.experiment == name), "{}: {name}", paper.name);
            }
            for claim in &claims.claim {
                let run = paper.experiments().contains(&claim.experiment.as_str());
                assert!(run || claim.untestable.is_some(), "{}: {} {}", paper.name, claim.experiment, claim.says);
            }
        }
    }

    #[test]
    fn a_chosen_setting_is_for_papers_that_have_one() {
        let settings = Settings::quick(Setting::Chosen);
        let output = ncq::PAPER.run(&[], &settings, Place::default(), &|_| ()).expect_err("none").to_string();
        assert!(output.starts_with("--setting chosen: ncq has the plain reading alone; "), "{output}");
    }

    #[test]
    fn names_are_looked_up_with_help() {
        assert_eq!(Paper::named("slacker").map(|paper| paper.name), Ok("slacker"));
        let output = Paper::named("slaker").expect_err("none");
        assert!(output.ends_with("did you mean \"slacker\"?"), "{output}");
        let settings = Settings::quick(Setting::Plain);
        let output =
            slacker::PAPER.run(&["E99".into()], &settings, Place::default(), &|_| ()).expect_err("none").to_string();
        assert!(output.starts_with("experiment \"E99\": slacker has E1, "), "{output}");
    }
}
