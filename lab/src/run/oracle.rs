//! The input of an oracle scheduler: the response times of the baseline on the same arrivals (model 1.1.7,
//! `oracle-slack`).

use std::sync::Arc;

use flashlane_sched::catalogue::{Catalogue, Recipe};

use super::RunError;
use super::drive::Run;
use super::feed::Feed;
use super::observe::Onlookers;
use super::ready::Ready;

/// The scheduler whose response times an oracle gets, and the parameters it takes from the oracle's recipe.
const BASELINE: &str = "fr-fcfs";
const SHARED: [&str; 2] = ["alpha", "write_capacity"];

/// Whether the scheduler needs known response times.
pub(super) fn is_one(catalogue: &Catalogue, recipe: &Recipe) -> bool {
    catalogue.wants_responses(recipe).unwrap_or(false)
}

/// The recipe with the response times that a run of the baseline on `feeds` gave.
pub(super) fn told(ready: &Ready, recipe: &Recipe, feeds: Vec<Option<Feed>>) -> Result<Recipe, RunError> {
    let params = recipe.params.iter().filter(|(name, _)| SHARED.contains(&name.as_str())).cloned().collect();
    let baseline = Recipe { base: Some(BASELINE.to_owned()), params, ..Recipe::default() };
    let scheduler = ready.catalogue.build(&baseline).map_err(|error| RunError::Input(error.to_string()))?;
    let onlookers = Onlookers { known: true, ..Onlookers::default() };
    let outcome = Run::new(&ready.config, scheduler, feeds, ready.limits, onlookers, None)?.finish()?;
    Ok(Recipe { known: outcome.known.map(Arc::new), ..recipe.clone() })
}
