//! From the name of a scheduler, or a mix, to the catalogue's recipe, and whether it runs on the device.

use flashlane_sched::catalogue::{Question, Recipe, RecipeError};
use flashlane_ssd::Config;

use crate::error::RunError;
use flashlane_scenario::{Mix, Scenario, ScenarioError, SchedulerChoice};

/// The catalogue's recipe for a scheduler of a scenario.
pub(crate) fn recipe(choice: &SchedulerChoice) -> Recipe {
    match choice {
        SchedulerChoice::Named(name) => Recipe { base: Some(name.clone()), ..Recipe::default() },
        SchedulerChoice::Mix(mix) => {
            let Mix { base, parameters, .. } = &**mix;
            Recipe {
                base: base.clone(),
                answers: mix.answers().into_iter().map(|(q, a)| (q, a.to_owned())).collect(),
                params: parameters.iter().map(|(name, value)| (name.clone(), *value)).collect(),
                known: None,
            }
        }
    }
}

/// Checks that the scheduler `name`, which stands at `key`, can be built and runs on the device.
pub(crate) fn check(
    scenario: &Scenario,
    config: &Config,
    name: &str,
    (key, recipe): (&str, &Recipe),
) -> Result<(), RunError> {
    if recipe.base.as_deref().unwrap_or("read-first") != name && scenario.catalogue().scheduler(name).is_some() {
        let message = "is the name of a scheduler that this mix does not start from (base); give it another";
        return Err(scenario.key_error(&format!("{key}.name"), format!("{name:?}"), message).into());
    }
    let scheduler =
        scenario.catalogue().build(recipe).map_err(|error| recipe_error(scenario, (key, recipe), &error))?;
    if scheduler.admit.declares().needs_buffer && config.buffer.is_none() {
        let message = format!("must be at least 1: {name} estimates by what the buffer holds");
        return Err(scenario.key_error("device.buffer.pages", "0", message).into());
    }
    Ok(())
}

/// Checks that a mix, which stands at `key`, starts from a scheduler that there is.
pub(crate) fn check_base(scenario: &Scenario, choice: &SchedulerChoice, key: &str) -> Result<(), ScenarioError> {
    let SchedulerChoice::Mix(mix) = choice else { return Ok(()) };
    let located =
        |error: RecipeError| scenario.key_error(&format!("{key}.base"), format!("{:?}", error.value), legal(&error));
    let base = Recipe { base: mix.base.clone(), ..Recipe::default() };
    scenario.catalogue().resolve(&base).map(drop).map_err(located)
}

/// An error of the recipe at `key`, at the key of the mix that it is about.
fn recipe_error(scenario: &Scenario, (key, recipe): (&str, &Recipe), error: &RecipeError) -> ScenarioError {
    let RecipeError { key: own, value, .. } = error;
    let quoted = format!("{value:?}");
    if own == "scheduler" {
        return scenario.key_error(key, quoted, legal(error));
    }
    if own == "parameter" {
        let given = recipe.params.iter().find(|(name, _)| name == value).map_or(quoted, |(_, given)| given.to_string());
        return scenario.key_error(&format!("{key}.{value}"), given, legal(error));
    }
    let key = format!("{key}.{own}");
    match Question::named(own) {
        Some(_) => scenario.key_error(&key, quoted, legal(error)),
        None => scenario.key_error(&key, value, format!("must be {}", error.legal)),
    }
}

/// The legal alternatives of a recipe error, with the nearest name. What is read as a parameter may be a question that is written wrongly.
fn legal(error: &RecipeError) -> String {
    let mut names: Vec<&str> = error.legal.split(", ").collect();
    if error.key == "parameter" {
        Question::ALL.iter().for_each(|question| names.push(question.name()));
    }
    let near = flashlane_scenario::nearest(&error.value, names.into_iter());
    let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    format!("no such {}; there are {}{near}", error.key, error.legal)
}
