//! The catalogue: every scheduler as a row of seven answers, and every answer by name.
//!
//! The command line, the documentation, the contract tests and the benchmark read this table; a new row is in all of
//! them at once.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use flashlane_core::decide::Scheduler;

pub use crate::estimate::cost::{self, Kind, State};
use crate::estimate::{self, Estimator};
pub use crate::flin::dram_bytes as flin_dram_bytes;
use crate::order::{Responses, Shadow};
use crate::params::{Param, Values};
use crate::rows::{ADMIT, ALIASES, CANCEL, COLLECT, ORDER, PICK, PLACE, PREEMPT, ROWS};

/// A named answer to one question.
pub struct Choice<T: ?Sized> {
    /// Its name in a scenario.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Builds it.
    pub build: fn(&Values<'_>) -> Box<T>,
}

/// The seven answers of a scheduler, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answers {
    /// Which command enters the device next.
    pub admit: &'static str,
    /// Which chip a write goes to.
    pub place: &'static str,
    /// Where in its queue a transaction stands.
    pub order: &'static str,
    /// What an idle chip does next.
    pub pick: &'static str,
    /// Whether the running program or erase may be paused.
    pub preempt: &'static str,
    /// When garbage collection may run.
    pub collect: &'static str,
    /// Whether a waiting write is superseded.
    pub cancel: &'static str,
}

/// The seven questions, in the order of [`Answers`].
pub const QUESTIONS: [&str; 7] = ["admit", "place", "order", "pick", "preempt", "collect", "cancel"];

impl Answers {
    /// The answer to each of [`QUESTIONS`].
    pub const fn by_question(&self) -> [&'static str; 7] {
        [self.admit, self.place, self.order, self.pick, self.preempt, self.collect, self.cancel]
    }
}

/// A scheduler of the catalogue.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The section.
    pub section: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its answers.
    pub answers: Answers,
    /// Parameters it sets differently from the answers' defaults.
    pub set: &'static [(&'static str, u64)],
}

/// An answer as the documentation shows it.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Its name in a scenario.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
}

/// What the user asks for: a row, a row with changes, or a free mix.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recipe {
    /// The row to start from; `read-first` if none is named.
    pub base: Option<String>,
    /// Answers that replace the row's: question, name.
    pub answers: Vec<(String, String)>,
    /// Parameters.
    pub params: Vec<(String, u64)>,
    /// Response times of an earlier run of the same requests, for an order that wants them ([`wants_responses`]).
    pub known: Option<Arc<Responses>>,
}

/// A recipe that cannot be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecipeError {
    /// What is wrong: `scheduler`, a question, or a parameter.
    pub key: String,
    /// The value given.
    pub value: String,
    /// The legal names or the legal range.
    pub legal: String,
}

impl core::fmt::Display for RecipeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.legal)
    }
}

impl core::error::Error for RecipeError {}

/// Every scheduler.
pub fn rows() -> &'static [Row] {
    ROWS
}

/// Other names of rows.
pub fn aliases() -> &'static [(&'static str, &'static str)] {
    ALIASES
}

/// The scheduler named `name`, or whose other name that is.
pub fn row(name: &str) -> Option<&'static Row> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |&(_, of)| of);
    ROWS.iter().find(|row| row.name == name)
}

/// A parameter every scheduler has: Slacker's estimator runs beside it, notes and is logged, and changes nothing. With
/// it come the estimator's own parameters.
pub const SHADOW: Param = Param {
    name: "shadow",
    unit: "0 or 1",
    default: 0,
    min: 0,
    max: 1,
    help: "Slacker's estimator runs beside the scheduler and changes nothing (Slacker §5.2, SPEC 1.2.1)",
};

/// Whether the scheduler of `recipe` is meant to know the response times of an earlier run, of the baseline.
pub fn wants_responses(recipe: &Recipe) -> Result<bool, RecipeError> {
    Ok(resolve(recipe)?.order == "slack-oracle")
}

/// Every answer to a question of [`QUESTIONS`].
pub fn answers(question: &str) -> Vec<Listed> {
    fn list<T: ?Sized>(choices: &[Choice<T>]) -> Vec<Listed> {
        let listed = |c: &Choice<T>| Listed { name: c.name, summary: c.summary, source: c.source, params: c.params };
        choices.iter().map(listed).collect()
    }
    match question {
        "admit" => list(ADMIT),
        "place" => list(PLACE),
        "order" => list(ORDER),
        "pick" => list(PICK),
        "preempt" => list(PREEMPT),
        "collect" => list(COLLECT),
        "cancel" => list(CANCEL),
        _ => Vec::new(),
    }
}

/// The names a recipe resolves to, checked.
pub fn resolve(recipe: &Recipe) -> Result<Answers, RecipeError> {
    let base = recipe.base.as_deref().unwrap_or("read-first");
    let row = row(base).ok_or_else(|| {
        let names: Vec<&str> = ROWS.iter().map(|r| r.name).collect();
        fail("scheduler", base, &names.join(", "))
    })?;
    let mut resolved = row.answers;
    for (question, answer) in &recipe.answers {
        let slot = match question.as_str() {
            "admit" => &mut resolved.admit,
            "place" => &mut resolved.place,
            "order" => &mut resolved.order,
            "pick" => &mut resolved.pick,
            "preempt" => &mut resolved.preempt,
            "collect" => &mut resolved.collect,
            "cancel" => &mut resolved.cancel,
            _ => return Err(fail("question", question, &QUESTIONS.join(", "))),
        };
        let known = answers(question);
        *slot = known.iter().find(|listed| listed.name == answer).map(|listed| listed.name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|listed| listed.name).collect();
            fail(question, answer, &names.join(", "))
        })?;
    }
    check_params(recipe, &resolved)?;
    Ok(resolved)
}

/// The parameters of a set of answers. Answers that must agree on something share the parameter.
pub fn params(of: &Answers) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for (question, name) in QUESTIONS.iter().zip(of.by_question()) {
        for listed in answers(question).iter().filter(|listed| listed.name == name) {
            add(&mut params, listed.params);
        }
    }
    params
}

/// Adds what is not there yet.
fn add(params: &mut Vec<Param>, more: &[Param]) {
    for param in more {
        if params.iter().all(|known| known.name != param.name) {
            params.push(*param);
        }
    }
}

fn check_params(recipe: &Recipe, resolved: &Answers) -> Result<(), RecipeError> {
    let mut known = params(resolved);
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
            let legal = alloc::format!("{} to {} {}", param.min, param.max, param.unit);
            return Err(fail(name, &value.to_string(), &legal));
        }
    }
    Ok(())
}

fn fail(key: &str, value: &str, legal: &str) -> RecipeError {
    RecipeError { key: key.to_string(), value: value.to_string(), legal: legal.to_string() }
}

/// Builds the scheduler of a recipe.
///
/// # Errors
/// An unknown row, question, answer or parameter, or a parameter out of range, with what is legal.
pub fn build(recipe: &Recipe) -> Result<Scheduler, RecipeError> {
    let names = resolve(recipe)?;
    let base = row(recipe.base.as_deref().unwrap_or("read-first")).expect("resolved");
    let mut set: Vec<(&str, u64)> = base.set.to_vec();
    set.extend(recipe.params.iter().map(|(name, value)| (name.as_str(), *value)));
    let known = recipe.known.as_ref();
    type Set<'a> = (&'a [(&'a str, u64)], Option<&'a Arc<Responses>>);
    fn make<T: ?Sized>(choices: &[Choice<T>], name: &str, (set, known): Set<'_>) -> Box<T> {
        let choice = choices.iter().find(|c| c.name == name).expect("resolved");
        (choice.build)(&Values { params: choice.params, set, known })
    }
    let set = (&set[..], known);
    let mut order = make(ORDER, names.order, set);
    let shadows = Values { params: &[SHADOW], set: set.0, known: None }.get(SHADOW.name) == 1;
    if shadows && !order.wants().estimates {
        let estimator = Estimator::of(&Values { params: estimate::params::ALL, set: set.0, known: None });
        order = Box::new(Shadow::new(order, estimator));
    }
    Ok(Scheduler {
        admit: make(ADMIT, names.admit, set),
        place: make(PLACE, names.place, set),
        order,
        pick: make(PICK, names.pick, set),
        preempt: make(PREEMPT, names.preempt, set),
        collect: make(COLLECT, names.collect, set),
        cancel: make(CANCEL, names.cancel, set),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::UnitId;
    use flashlane_core::decide::Turn;

    #[test]
    fn every_row_names_answers_that_exist_and_builds() {
        for row in rows() {
            let recipe = Recipe { base: Some(row.name.to_string()), ..Recipe::default() };
            assert_eq!(resolve(&recipe).unwrap(), row.answers);
            for (question, name) in QUESTIONS.iter().zip(row.answers.by_question()) {
                assert!(answers(question).iter().any(|a| a.name == name), "{}: {question} = {name}", row.name);
            }
            for (name, _) in row.set {
                assert!(params(&row.answers).iter().any(|p| p.name == *name), "{}: {name}", row.name);
            }
            assert!(build(&recipe).is_ok());
        }
    }

    #[test]
    fn collection_that_goes_first_says_so_whenever_asked() {
        let mut board = crate::pick::testing::board(1, 2);
        board.units[0].gc.reads = 1;
        let mut first = 0;
        for row in rows() {
            let recipe = Recipe { base: Some(row.name.to_string()), ..Recipe::default() };
            let mut collect = build(&recipe).expect("a row").collect;
            if collect.goes_first() {
                assert_eq!(collect.turn(&board, UnitId(0)), Turn::Gc, "{}", row.name);
                first += 1;
            }
        }
        assert!(first > 0 && first < rows().len(), "some do and some do not");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = rows().iter().map(|r| r.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// A user sets a parameter by name, for all answers that have it.
    #[test]
    fn parameters_of_one_name_are_one_parameter() {
        let all: Vec<Param> = QUESTIONS.iter().flat_map(|q| answers(q)).flat_map(|a| a.params.to_vec()).collect();
        for a in &all {
            assert!(all.iter().all(|b| a.name != b.name || a == b), "{}", a.name);
        }
    }

    #[test]
    fn a_wrong_recipe_says_what_is_legal() {
        let wrong = |recipe: Recipe| resolve(&recipe).unwrap_err();
        let e = wrong(Recipe { base: Some("fifo".to_string()), ..Recipe::default() });
        assert!(e.key == "scheduler" && e.value == "fifo" && e.legal.contains("fr-fcfs"));
        let pair = |a: &str, b: &str| alloc::vec![(a.to_string(), b.to_string())];
        let e = wrong(Recipe { answers: pair("pick", "best"), ..Recipe::default() });
        assert!(e.key == "pick" && e.legal.contains("largest-group"));
        let e = wrong(Recipe { answers: pair("pik", "fcfs"), ..Recipe::default() });
        assert!(e.key == "question" && e.legal.contains("pick"));
        let mut fr = Recipe { base: Some("fr-fcfs".to_string()), ..Recipe::default() };
        fr.params = alloc::vec![("alpha".to_string(), 101)];
        let e = wrong(fr.clone());
        assert!(e.key == "alpha" && e.legal == "0 to 100 %");
        fr.params = alloc::vec![("beta".to_string(), 1)];
        assert!(wrong(fr).legal.contains("alpha"));
    }
}
