//! The catalogue: every scheduler as an entry of seven answers, and every answer by name.
//!
//! The command line, the documentation, the contract tests and the benchmark read this table, so a new entry appears in all
//! of them.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use flashlane_core::decide::Scheduler;

use crate::cancel;
use crate::entries;
pub use crate::entries::{AnswerEntry, Answers, Build, Recipe, RecipeError, SchedulerEntry};
pub use crate::estimate::cost::{self, Kind, State};
use crate::estimate::{self, Estimator};
pub use crate::flin::dram_bytes as flin_dram_bytes;
use crate::order::Shadow;
use crate::params::{Param, Values};
use crate::shipped::{ALIASES, ANSWERS, CONTROL_ANSWERS, CONTROL_SCHEDULERS, SCHEDULERS};
pub use flashlane_core::decide::{ByQuestion, Question};

/// Schedulers and answers by name: the shipped ones, and those a caller adds.
#[derive(Clone)]
pub struct Catalogue {
    schedulers: Cow<'static, [SchedulerEntry]>,
    answers: Cow<'static, [AnswerEntry]>,
}

/// What ships with Flashlane.
pub static SHIPPED: Catalogue = Catalogue { schedulers: Cow::Borrowed(SCHEDULERS), answers: Cow::Borrowed(ANSWERS) };

impl core::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.schedulers.iter().map(|entry| entry.name)).finish()
    }
}

impl Catalogue {
    /// Adds an answer.
    ///
    /// # Errors
    /// Its name is taken, or one of its parameters has the same name as another answer's and differs from it.
    pub fn add_answer(&mut self, entry: AnswerEntry) -> Result<(), RecipeError> {
        if self.answer(entry.question(), entry.name).is_some() {
            return Err(fail(entry.question().name(), entry.name, "this name is taken; give the answer another"));
        }
        let mut all = self.answers.iter().flat_map(|listed| listed.params);
        let clash = |known: &&Param| entry.params.iter().any(|param| param.name == known.name && param != *known);
        if let Some(known) = all.find(clash) {
            return Err(fail("parameter", known.name, "another answer has a parameter of this name that differs"));
        }
        self.answers.to_mut().push(entry);
        Ok(())
    }

    /// Adds a scheduler composed of answers the catalogue has.
    ///
    /// # Errors
    /// Its name is taken, an answer is unknown, or it sets a parameter that its answers do not have or out of its range.
    pub fn add_scheduler(&mut self, entry: SchedulerEntry) -> Result<(), RecipeError> {
        if self.scheduler(entry.name).is_some() {
            return Err(fail("scheduler", entry.name, "this name is taken; give the scheduler another"));
        }
        let recipe = Recipe {
            base: None,
            answers: entry.answers.iter().map(|(question, answer)| (question, answer.to_string())).collect(),
            params: entry.set.iter().map(|&(name, value)| (name.to_string(), value)).collect(),
            known: None,
        };
        self.resolve(&recipe)?;
        self.schedulers.to_mut().push(entry);
        Ok(())
    }

    /// Every scheduler.
    pub fn schedulers(&self) -> &[SchedulerEntry] {
        &self.schedulers
    }

    /// The scheduler with this name or alias.
    pub fn scheduler(&self, name: &str) -> Option<&SchedulerEntry> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |&(_, of)| of);
        self.schedulers.iter().find(|entry| entry.name == name)
    }

    /// Other names of schedulers.
    pub fn aliases(&self) -> &[(&'static str, &'static str)] {
        ALIASES
    }

    /// Every answer to a question.
    pub fn answers(&self, question: Question) -> impl Iterator<Item = &AnswerEntry> {
        self.answers.iter().filter(move |listed| listed.question() == question)
    }

    /// The answer of this name to a question.
    pub fn answer(&self, question: Question, name: &str) -> Option<&AnswerEntry> {
        self.answers(question).find(|listed| listed.name == name)
    }

    /// Whether the scheduler of `recipe` needs the response times of an earlier run of the baseline.
    ///
    /// # Errors
    /// As [`Catalogue::resolve`].
    pub fn needs_responses(&self, recipe: &Recipe) -> Result<bool, RecipeError> {
        Ok(self.resolve(recipe)?.order == "slack-oracle")
    }

    /// Whether the scheduler of `recipe` is a control: it has an answer that is one, starts from a scheduler that is one, or has the same
    /// answers to all that this does not leave open.
    ///
    /// # Errors
    /// As [`Catalogue::resolve`].
    pub fn is_control(&self, recipe: &Recipe) -> Result<bool, RecipeError> {
        let answers = self.resolve(recipe)?;
        let has_control = answers.iter().any(|(question, answer)| CONTROL_ANSWERS.contains(&(question, *answer)));
        let mut controls = self.schedulers.iter().filter(|entry| CONTROL_SCHEDULERS.contains(&entry.name));
        let acts_alike = |entry: &SchedulerEntry| {
            answers.iter().all(|(asked, own)| *own == entry.answers[asked] || entry.open.contains(&asked))
        };
        Ok(has_control || controls.any(|entry| recipe.base.as_deref() == Some(entry.name) || acts_alike(entry)))
    }

    /// The names a recipe resolves to, checked.
    ///
    /// # Errors
    /// An unknown entry, question, answer or parameter, or a parameter out of range, with what is legal.
    pub fn resolve(&self, recipe: &Recipe) -> Result<Answers, RecipeError> {
        let mut resolved = self.base(recipe)?.answers;
        for &(question, ref answer) in &recipe.answers {
            let listed = self.answer(question, answer).ok_or_else(|| {
                let names: Vec<&str> = self.answers(question).map(|listed| listed.name).collect();
                fail(question.name(), answer, &names.join(", "))
            })?;
            resolved[question] = listed.name;
        }
        self.check_params(recipe, &resolved)?;
        Ok(resolved)
    }

    /// The entry a recipe starts from.
    fn base(&self, recipe: &Recipe) -> Result<&SchedulerEntry, RecipeError> {
        let base = recipe.base.as_deref().unwrap_or("read-first");
        self.scheduler(base).ok_or_else(|| {
            let names: Vec<&str> = self.schedulers.iter().map(|r| r.name).collect();
            fail("scheduler", base, &names.join(", "))
        })
    }

    /// The parameters of a set of answers. Answers that must agree on something share the parameter.
    pub fn params(&self, of: &Answers) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::new();
        for (question, name) in of.iter() {
            add(&mut params, self.answer(question, name).map_or(&[], |listed| listed.params));
        }
        params
    }

    fn check_params(&self, recipe: &Recipe, resolved: &Answers) -> Result<(), RecipeError> {
        let mut known = self.params(resolved);
        let shadows = recipe.params.iter().any(|(name, value)| name == SHADOW.name && *value == 1);
        if shadows {
            add(&mut known, estimate::params::ALL);
        }
        add(&mut known, &[SHADOW]);
        for (name, value) in &recipe.params {
            let Some(param) = known.iter().find(|p| p.name == name) else {
                let names: Vec<&str> = known.iter().map(|p| p.name).collect();
                return Err(fail("parameter", name, &names.join(", ")));
            };
            if !(param.min..=param.max).contains(value) {
                let legal = match (param.min, param.max) {
                    (0, 1) => "0 or 1".into(),
                    (min, max) => alloc::format!("{min} to {max} {}", param.unit),
                };
                return Err(fail(name, &value.to_string(), &legal));
            }
        }
        let inherits = cancel::overwrite::INHERIT.name;
        let set = self.base(recipe)?.set.iter().copied();
        let mut values = set.chain(recipe.params.iter().map(|(name, value)| (name.as_str(), *value)));
        if values.rfind(|(name, _)| *name == inherits) == Some((inherits, 1)) && resolved.order != "tail" {
            let legal = alloc::format!(
                "0 with order = \"{}\", which places every write itself; 1 with order = \"tail\"",
                resolved.order
            );
            return Err(fail(inherits, "1", &legal));
        }
        Ok(())
    }

    /// Builds the scheduler of a recipe.
    ///
    /// # Errors
    /// As [`Catalogue::resolve`].
    pub fn build(&self, recipe: &Recipe) -> Result<Scheduler, RecipeError> {
        let names = self.resolve(recipe)?;
        let answers = names.map(|question, name| self.answer(question, name).expect("resolved"));
        let mut set: Vec<(&str, u64)> = self.base(recipe)?.set.to_vec();
        set.extend(recipe.params.iter().map(|(name, value)| (name.as_str(), *value)));
        let values = |params| Values { params, set: &set, known: recipe.known.as_ref() };
        let mut scheduler = entries::scheduler(&answers, &values(&[]));
        if values(&[SHADOW]).get(SHADOW.name) == 1 && !scheduler.order.declares().needs.estimates {
            let estimator = Estimator::of(&values(estimate::params::ALL));
            scheduler.order = Box::new(Shadow::new(scheduler.order, estimator));
        }
        Ok(scheduler)
    }
}

/// Every shipped scheduler.
pub fn schedulers() -> &'static [SchedulerEntry] {
    SCHEDULERS
}

/// A parameter of every scheduler: Slacker's estimator runs beside it, notes its estimates, is logged, and changes no
/// decision. The estimator's own parameters come with it.
pub const SHADOW: Param = Param::switch(
    "shadow",
    0,
    "Slacker's estimator runs beside the scheduler and changes nothing (Slacker §5.2, model 1.2.1)",
);

/// [`Catalogue::build`] from the shipped catalogue.
///
/// # Errors
/// As there.
pub fn build(recipe: &Recipe) -> Result<Scheduler, RecipeError> {
    SHIPPED.build(recipe)
}

/// Adds the parameters that are not there yet.
fn add(params: &mut Vec<Param>, more: &[Param]) {
    for param in more {
        if params.iter().all(|known| known.name != param.name) {
            params.push(*param);
        }
    }
}

fn fail(key: &str, value: &str, legal: &str) -> RecipeError {
    RecipeError { key: key.to_string(), value: value.to_string(), legal: legal.to_string() }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use flashlane_core::UnitId;
    use flashlane_core::decide::GcPrecedence;

    #[test]
    fn every_row_names_answers_that_exist_and_builds() {
        for entry in schedulers() {
            let recipe = Recipe { base: Some(entry.name.to_string()), ..Recipe::default() };
            assert_eq!(SHIPPED.resolve(&recipe).unwrap(), entry.answers);
            for (question, name) in entry.answers.iter() {
                assert!(SHIPPED.answer(question, name).is_some(), "{}: {question} = {name}", entry.name);
            }
            for (name, _) in entry.set {
                assert!(SHIPPED.params(&entry.answers).iter().any(|p| p.name == *name), "{}: {name}", entry.name);
            }
            assert!(build(&recipe).is_ok());
        }
    }

    #[test]
    fn collection_that_goes_first_says_so_whenever_asked() {
        let mut board = crate::pick::testing::board(1, 2);
        board.units[0].gc.reads = 1;
        let mut first = 0;
        for entry in schedulers() {
            let recipe = Recipe { base: Some(entry.name.to_string()), ..Recipe::default() };
            let mut collect = build(&recipe).expect("an entry").collect;
            if collect.declares().goes_first {
                assert_eq!(collect.precedence(&board, UnitId(0)), GcPrecedence::Gc, "{}", entry.name);
                first += 1;
            }
        }
        assert!(first > 0 && first < schedulers().len(), "some do and some do not");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = schedulers().iter().map(|r| r.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// A parameter set by name is set for all answers that have it.
    #[test]
    fn parameters_of_one_name_are_one_parameter() {
        let all: Vec<Param> = ANSWERS.iter().flat_map(|a| a.params.to_vec()).collect();
        for a in &all {
            assert!(all.iter().all(|b| a.name != b.name || a == b), "{}", a.name);
        }
    }

    #[test]
    fn a_wrong_recipe_says_what_is_legal() {
        let wrong = |recipe: Recipe| SHIPPED.resolve(&recipe).unwrap_err();
        let e = wrong(Recipe { base: Some("fifo".to_string()), ..Recipe::default() });
        assert!(e.key == "scheduler" && e.value == "fifo" && e.legal.contains("fr-fcfs"));
        let answers = alloc::vec![(Question::Pick, "best".to_string())];
        let e = wrong(Recipe { answers, ..Recipe::default() });
        assert!(e.key == "pick" && e.legal.contains("largest-group"));
        let mut fr = Recipe { base: Some("fr-fcfs".to_string()), ..Recipe::default() };
        fr.params = alloc::vec![("alpha".to_string(), 101)];
        let e = wrong(fr.clone());
        assert!(e.key == "alpha" && e.legal == "0 to 100 %");
        fr.params = alloc::vec![("beta".to_string(), 1)];
        assert!(wrong(fr).legal.contains("alpha"));
    }

    /// What calls itself a control is marked as one, and nothing else is.
    #[test]
    fn controls_are_marked() {
        let is_control = |recipe: &Recipe| SHIPPED.is_control(recipe).expect("a legal recipe");
        for entry in schedulers() {
            let recipe = Recipe { base: Some(entry.name.to_string()), ..Recipe::default() };
            assert_eq!(is_control(&recipe), entry.summary.contains("a control"), "{}", entry.name);
        }
        for answer in ANSWERS {
            let answers = vec![(answer.question(), answer.name.to_string())];
            let recipe = Recipe { base: Some("fcfs".to_string()), answers, ..Recipe::default() };
            assert_eq!(is_control(&recipe), answer.summary.contains("a control"), "{}", answer.name);
        }
        let held = vec![(Question::Collect, "semi-preemptive".to_string())];
        assert!(is_control(&Recipe { base: Some("wp-blind".to_string()), answers: held, ..Recipe::default() }));
        // However garbage is collected, which the control leaves open.
        for collect in ["semi-preemptive", "atomic"] {
            let answers = [(Question::Preempt, "pause-at-boundary"), (Question::Collect, collect)];
            let answers = answers.map(|(question, answer)| (question, answer.to_string())).to_vec();
            assert!(is_control(&Recipe { base: Some("fr-fcfs".to_string()), answers, ..Recipe::default() }));
        }
    }

    /// Who fixes how garbage is collected: FLIN and its stage 3, which are about it; Sprinkler and FLIN's first stage, which FLIN's §6 and
    /// §7.2 compare with semi-preemptive collection or without; and `late`, which places writes as paced collection counts.
    #[test]
    fn collection_is_left_open_by_all_that_are_not_about_it() {
        let fixed = |entry: &&SchedulerEntry| !entry.open.contains(&Question::Collect);
        let names: Vec<&str> = SCHEDULERS.iter().filter(fixed).map(|entry| entry.name).collect();
        let sprinkler = ["sprinkler", "sprinkler-np", "sprinkler+fairness", "sprinkler+fairness-np"];
        assert_eq!(names, [&sprinkler[..], &["flin", "flin-stage1", "flin-stage3", "late"]].concat());
        let others = SCHEDULERS.iter().filter(|entry| !names.contains(&entry.name));
        assert!(others.clone().count() >= 20);
        for entry in others {
            assert_eq!(
                entry.answers.collect, "semi-preemptive",
                "{}: that of a scenario that does not say",
                entry.name
            );
        }
    }
}
