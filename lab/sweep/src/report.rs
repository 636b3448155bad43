//! The page of a sweep: any figure against any axis, a chart for each value of another, with confidence bands over the seeds.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::axis::label;
use super::bands::Bands;
use super::file::Sweep;
use super::outcome::Outcome;
use super::plan::Plan;
use flashlane_report::results::Frame;
use flashlane_report::results::report::environment;

const PAGE: &str = include_str!("../assets/sweep.html");
const SCRIPT: &str = include_str!("../assets/sweep.js");

/// The page of the results `table`, which `command` makes again.
pub fn html(sweep: &Sweep, plan: &Plan, table: &Frame, command: &str) -> String {
    let environment = environment("sweep.html", PAGE);
    let page = environment.get_template("sweep.html").expect("just added");
    let seeds = sweep.axes.iter().find(|axis| axis.path == "seed").map_or(1, |axis| axis.values.len());
    let bands = Bands::of(sweep, plan, table);
    page.render(context! {
        scenario => sweep.base.name(),
        device => devices(sweep),
        runs => plan.runs.len(),
        excluded => plan.excluded,
        // The runs have been made, so that the devices are there.
        warnings => plan.not_measured(sweep).unwrap_or_default(),
        seeds,
        outcome => Value::from(Serde(Outcome::of(&bands))),
        bands => Value::from(Serde(bands)),
        command,
        js => SCRIPT,
    })
    .expect("the page asks only for what it is given")
}

/// The devices of the runs: that of the scenario, or the presets that are an axis.
fn devices(sweep: &Sweep) -> String {
    let axis = sweep.axes.iter().find(|axis| ["device", "device.preset"].contains(&axis.path.as_str()));
    match axis {
        Some(axis) => axis.values.iter().map(label).collect::<Vec<_>>().join(", "),
        None => sweep.base.device_described(),
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
