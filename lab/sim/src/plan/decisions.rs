//! The decisions that schedulers leave to the scenario, and those that it holds equal for all of them.

use std::collections::BTreeMap;

use flashlane_sched::Param;
use flashlane_sched::catalogue::{Answers, Catalogue, Question, Recipe};

use crate::error::RunError;
use flashlane_report::results::Decisions;
use flashlane_scenario::{DEFAULT_COLLECT, Scenario};

/// What a scenario says about decisions, for all schedulers alike: pairs of a question and the answer's name.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// For schedulers that leave the question open.
    open: Vec<(Question, String)>,
    /// For every scheduler.
    held: Vec<(Question, String)>,
}

impl Common {
    /// What `scenario` says.
    ///
    /// # Errors
    /// An answer that the catalogue does not have.
    pub(crate) fn of(scenario: &Scenario) -> Result<Common, RunError> {
        let run = &scenario.document().run;
        let collect = run.collect.as_deref().unwrap_or(DEFAULT_COLLECT);
        let pair = |(question, answer): (Question, &str)| (question, answer.to_owned());
        let common = Common {
            open: vec![pair((Question::Collect, collect))],
            held: run.hold.answers().into_iter().map(pair).collect(),
        };
        let keys = [("run", &common.open), ("run.hold", &common.held)];
        for (table, (question, answer)) in
            keys.iter().flat_map(|(table, pairs)| pairs.iter().map(move |pair| (table, pair)))
        {
            if scenario.catalogue().answer(*question, answer).is_none() {
                let names: Vec<&str> = scenario.catalogue().answers(*question).map(|listed| listed.name).collect();
                let near = flashlane_scenario::nearest(answer, names.iter().copied());
                let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
                let message = format!("no such {question}; there are {}{near}", names.join(", "));
                return Err(scenario.key_error(&format!("{table}.{question}"), format!("{answer:?}"), message).into());
            }
        }
        Ok(common)
    }

    /// The recipe with what the scenario says about decisions.
    pub(crate) fn decide(&self, catalogue: &Catalogue, mut recipe: Recipe) -> Recipe {
        let base = recipe.base.as_deref().unwrap_or("read-first");
        let open = catalogue.scheduler(base).map_or(&[][..], |entry| entry.open);
        for (question, answer) in &self.open {
            let says = recipe.answers.iter().any(|(answered, _)| answered == question);
            if open.contains(question) && !says {
                recipe.answers.push((*question, answer.clone()));
            }
        }
        for (question, answer) in &self.held {
            recipe.answers.retain(|(answered, _)| answered != question);
            recipe.answers.push((*question, answer.clone()));
        }
        recipe
    }
}

/// Every parameter of `answers` with the value that `recipe` gives it.
pub(crate) fn parameters(catalogue: &Catalogue, recipe: &Recipe, answers: &Answers) -> BTreeMap<String, u64> {
    let entry = recipe.base.as_deref().and_then(|name| catalogue.scheduler(name));
    let set = entry.map_or(&[][..], |entry| entry.set).iter().map(|&(name, value)| (name.to_owned(), value));
    let set: BTreeMap<String, u64> = set.chain(recipe.params.iter().cloned()).collect();
    let value = |param: Param| (param.name.to_owned(), set.get(param.name).copied().unwrap_or(param.default));
    catalogue.params(answers).into_iter().map(value).collect()
}

/// The decisions of a scheduler that can be built, as results show them.
pub(crate) fn shown(catalogue: &Catalogue, recipe: &Recipe) -> Decisions {
    let answers = catalogue.resolve(recipe).expect("resolved before");
    let mut parameters = parameters(catalogue, recipe, &answers);
    for param in catalogue.params(&answers) {
        if parameters.get(param.name) == Some(&param.default) {
            parameters.remove(param.name);
        }
    }
    Decisions::of(&answers, parameters)
}
