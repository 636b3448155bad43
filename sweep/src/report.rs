//! The page of a sweep: any figure against any axis, a chart for each value of another, with confidence bands over the seeds.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::bands::Bands;
use super::file::Sweep;
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
    page.render(context! {
        scenario => sweep.base.name(),
        device => sweep.base.device_name(),
        runs => plan.runs.len(),
        excluded => plan.excluded,
        seeds,
        bands => Value::from(Serde(Bands::of(sweep, plan, table))),
        command,
        js => SCRIPT,
    })
    .expect("the page asks only for what it is given")
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
