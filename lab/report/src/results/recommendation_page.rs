//! The page of a recommendation.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::format;
use super::recommendation::{Recommendation, Tried};
use super::recommendation_text::{advice, best_not_taken, broken, costs, gaps, not_judged, not_run};
use super::report::environment;

const PAGE: &str = include_str!("../../assets/report/recommendation.html");

/// The page of a recommendation, which `command` makes again.
pub fn html(made: &Recommendation, command: &str) -> String {
    let mut environment = environment("recommendation.html", PAGE);
    environment.add_filter("count", format::count);
    let page = environment.get_template("recommendation.html").expect("just added");
    let advice = match &made.refusal {
        Some(why) => format!("Nothing was chosen: {why}. Take the default, {}.", made.default),
        None => advice(made),
    };
    let tables: Vec<Value> = costs(made)
        .into_iter()
        .map(|table| context! { title => table.title, heads => table.heads, rows => table.rows })
        .collect();
    page.render(context! {
        made => Value::from(Serde(made)),
        advice,
        other => best_not_taken(made).map(|best| best.written.clone()),
        tables,
        broken => broken(made),
        not_judged => not_judged(made),
        gaps => gaps(made),
        tried => tried(made),
        not_run => not_run(&made.failed),
        command,
    })
    .expect("the page asks only for what it is given")
}

/// What was tried; half a bar is a mean as long as that of the first, a whole one twice as long or longer.
fn tried(made: &Recommendation) -> Vec<Value> {
    let one = |one: &Tried| {
        let is_taken = made.take.is_some_and(|take| made.judged[take].name == one.name);
        context! {
            name => one.name.clone(),
            round => one.round,
            rounds => one.rounds,
            ratio => format::number(one.ratio),
            share => format!("{:.1}", (50.0 * one.ratio).min(100.0)),
            limits => if one.keeps { "kept" } else { "broken" },
            colour => usize::from(is_taken),
        }
    };
    made.tried.iter().map(one).collect()
}
