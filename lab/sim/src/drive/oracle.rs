//! The input of an oracle scheduler: the response times of the baseline on the same arrivals (model 1.1.7,
//! `oracle-slack`).

use std::sync::Arc;

use flashlane_sched::catalogue::{Question, Recipe};

use super::prepare::Prepared;
use crate::error::RunError;
use crate::run::feed::Feed;
use crate::run::observers::ObserverOptions;

/// The scheduler whose response times an oracle gets, and the parameters it takes from the oracle's recipe.
const BASELINE: &str = "fr-fcfs";
const SHARED: [&str; 2] = ["alpha", "write_capacity"];

/// The recipe with the response times that a run of the baseline on `feeds` gave, which collects garbage as the oracle's recipe does.
pub(crate) fn with_responses(
    prepared: &Prepared,
    recipe: &Recipe,
    feeds: Vec<Option<Feed>>,
) -> Result<Recipe, RunError> {
    let params = recipe.params.iter().filter(|(name, _)| SHARED.contains(&name.as_str())).cloned().collect();
    let collects = |(question, _): &&(Question, String)| *question == Question::Collect;
    let answers = recipe.answers.iter().filter(collects).cloned().collect();
    let baseline = Recipe { base: Some(BASELINE.to_owned()), answers, params, ..Recipe::default() };
    let baseline = prepared.common.decide(&prepared.catalogue, baseline);
    let scheduler = prepared.catalogue.build(&baseline).map_err(|error| RunError::Input(error.to_string()))?;
    let observers = ObserverOptions { known: true, ..ObserverOptions::default() };
    let outcome = prepared.simulation(scheduler, feeds, observers)?.finish()?;
    Ok(Recipe { known: outcome.known.map(Arc::new), ..recipe.clone() })
}
