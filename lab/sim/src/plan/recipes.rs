//! From the name of a scheduler, or a mix, to the catalogue's recipe, and whether it runs on the device.

use flashlane_sched::catalogue::{Question, Recipe, RecipeError};
use flashlane_ssd::Config;

use crate::error::RunError;
use flashlane_scenario::{Mix, Scenario, SchedulerChoice};

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
    let scheduler = scenario.catalogue().build(recipe).map_err(|error| match is_out_of_range(&error) {
        true => scenario.key_error(&format!("{key}.{}", error.key), error.value, format!("must be {}", error.legal)),
        false => scenario.key_error(key, format!("{:?}", error.value), legal(&error)),
    })?;
    if scheduler.admit.declares().needs_buffer && config.buffer.is_none() {
        let message = format!("must be at least 1: {name} estimates by what the buffer holds");
        return Err(scenario.key_error("device.buffer.pages", "0", message).into());
    }
    Ok(())
}

/// Whether a recipe error is a parameter's value, not a name.
fn is_out_of_range(error: &RecipeError) -> bool {
    !matches!(error.key.as_str(), "scheduler" | "parameter") && Question::named(&error.key).is_none()
}

/// The legal alternatives of a recipe error, with the nearest name.
fn legal(error: &RecipeError) -> String {
    let near = flashlane_scenario::nearest(&error.value, error.legal.split(", "));
    let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    format!("no such {}; there are {}{near}", error.key, error.legal)
}
