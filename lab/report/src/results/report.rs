//! The report: one HTML page that opens offline.
//!
//! Owns the page, and what it has in common with other pages. Promises that everything on it comes from the summary and from what the dies did over time, that names given by a user are text and never
//! markup, and that nothing is fetched when it is opened.

mod codes;
mod light;
mod lines;

use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};

use lines::Lines;

use super::activity::Maps;
use super::brief;
use super::ceiling_text;
use super::format::{self, Sense, count, relative};
use super::summary::{SchedulerResult, Summary};
use super::verdict::{Finding, Verdict};
use super::waterfall::Waterfalls;
use crate::metrics::Activity;

const PAGE: &str = include_str!("../../assets/report/report.html");
const SCRIPTS: [&str; 5] = [
    include_str!("../../assets/report/base.js"),
    include_str!("../../assets/report/charts.js"),
    include_str!("../../assets/report/heat.js"),
    include_str!("../../assets/report/tables.js"),
    include_str!("../../assets/report/start.js"),
];
const HEAD: &str = include_str!("../../assets/report/head.html");
const MADE: &str = include_str!("../../assets/report/made.html");
const STYLE: &str = include_str!("../../assets/report/report.css");
const GUARD: &str = include_str!("../../assets/report/guard.js");
const SHARED: &str = include_str!("../../assets/report/page.js");
const CHARTS: &str = include_str!("../../assets/vendor/uplot/uPlot.iife.min.js");
const CHARTS_STYLE: &str = include_str!("../../assets/vendor/uplot/uPlot.min.css");
const CHARTS_LICENCE: &str = include_str!("../../assets/vendor/uplot/LICENSE");

/// The text by which a page is recognised as a report.
const GENERATOR: &[u8] = b"<meta name=\"generator\" content=\"Flashlane\">";

/// Whether a file that begins with `head` is a report.
pub fn is_report(head: &[u8]) -> bool {
    head.windows(GENERATOR.len()).any(|part| part == GENERATOR)
}

/// The template of a page, with the head, the command at the end, the style, the chart library and the script that pages share. `name` ends with `.html`, which
/// escapes what is put into it.
pub fn environment(name: &'static str, page: &'static str) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.add_template("head.html", HEAD).expect("the head is a template");
    environment.add_template("made.html", MADE).expect("the end is a template");
    environment.add_template(name, page).expect("the page is a template");
    let shared = [
        ("css", STYLE),
        ("guard_js", GUARD),
        ("page_js", SHARED),
        ("uplot_js", CHARTS),
        ("uplot_css", CHARTS_STYLE),
        ("uplot_licence", CHARTS_LICENCE),
    ];
    shared.into_iter().for_each(|(name, text)| environment.add_global(name, text));
    environment
}

/// The page of a summary, which `command` makes again; with heat maps where there is an activity for each of its schedulers.
pub fn html(summary: &Summary, activity: &[Activity], command: &str) -> String {
    let mut environment = environment("report.html", PAGE);
    let float = |value: &Value| f64::try_from(value.clone()).unwrap_or(f64::NAN);
    environment.add_filter("time", move |value: Value| format::time(float(&value)));
    environment.add_filter("number", move |value: Value| format::number(float(&value)));
    environment.add_filter("share", move |value: Value| format::share(float(&value)));
    for (filter, sense) in [("faster", Sense::Time), ("more", Sense::Amount), ("gain", Sense::Gain)] {
        environment.add_filter(filter, move |value: Value| relative(float(&value), sense));
    }
    environment.add_filter("count", format::count);
    let page = environment.get_template("report.html").expect("just added");
    let verdict = Verdict::of(summary);
    let (first, others): (Vec<&Finding>, Vec<&Finding>) =
        verdict.findings.iter().partition(|finding| finding.is_on_first_screen);
    let [findings, others] = [first, others].map(|all| all.iter().map(|one| one.text.clone()).collect::<Vec<_>>());
    let warnings: Vec<String> = verdict.warnings.into_iter().map(|warning| warning.text).collect();
    let attribution = summary.attribution.as_ref().map(|made| Value::from(Serde(Waterfalls::of(made))));
    let ceiling = summary.ceiling.as_ref().map(|ceiling| {
        let runs = &summary.schedulers;
        let (gaps, table) = (ceiling_text::gaps(runs), ceiling_text::figures(runs));
        let (notes, columns) = (ceiling.notes.clone(), table.heads().into_iter().map(String::from).collect::<Vec<_>>());
        let figures: Vec<Vec<String>> = table.cells().collect();
        context! { title => ceiling_text::title(ceiling), notes, gaps, columns, figures }
    });
    let light = light::light(summary);
    let (preset, changes) = summary.made_by.preset_and_changes();
    page.render(context! {
        preset,
        changes,
        requests => completed(summary),
        summary => Value::from(Serde(&light)),
        data => Value::from(Serde(light::data(&light))),
        lines => Value::from(Serde(Lines::of(summary))),
        verdict => context! { findings, others, warnings, decisions => brief::differences(summary) },
        attribution,
        ceiling,
        warm_up => summary.schedulers.iter().any(|run| run.total.warm_up > 0),
        maps => Value::from(Serde(Maps::of(activity))),
        command,
        scripts => SCRIPTS,
    })
    .expect("the page asks only for what a summary has")
}

/// How many requests each run completed: closed loops send as many as a scheduler serves.
fn completed(summary: &Summary) -> String {
    let of = |run: &SchedulerResult| run.total.completed;
    let (least, most) = (summary.schedulers.iter().map(of).min(), summary.schedulers.iter().map(of).max());
    match (least.unwrap_or(0), most.unwrap_or(0)) {
        (least, most) if least == most => count(most),
        (least, most) => format!("{} to {}", count(least), count(most)),
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
