//! The page of a sweep: any figure against any axis, a chart for each value of another, with confidence bands over the seeds.

use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};

use super::bands::Bands;
use super::file::Sweep;
use super::plan::Plan;
use crate::results::Frame;
use crate::results::report::{CHARTS, CHARTS_LICENCE, CHARTS_STYLE, GUARD, STYLE};

const PAGE: &str = include_str!("../../assets/report/sweep.html");
const SCRIPT: &str = include_str!("../../assets/report/sweep.js");

/// The page of the results `table`, which `command` makes again.
pub fn html(sweep: &Sweep, plan: &Plan, table: &Frame, command: &str) -> String {
    let mut environment = Environment::new();
    // The extension of the template's name turns on escaping.
    environment.add_template("sweep.html", PAGE).expect("the page is a template");
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
        css => STYLE,
        js => SCRIPT,
        guard_js => GUARD,
        uplot_js => CHARTS,
        uplot_css => CHARTS_STYLE,
        uplot_licence => CHARTS_LICENCE,
    })
    .expect("the page asks only for what it is given")
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
