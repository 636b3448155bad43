//! The page of an answer: sentences, a picture of what was measured beside what the device does, the table and the values.
//!
//! Promises that text from outside is shown as text, with what a terminal obeys escaped.

use flashlane_outputs::shown;
use flashlane_report::results::report::environment;
use minijinja::context;
use minijinja::value::Value;

use crate::answer::Answer;
use crate::table::{CELLS, Row, by_kind};

const PAGE: &str = include_str!("../assets/fit.html");
const SCRIPT: &str = include_str!("../assets/fit.js");
/// Columns of the table that are in the picture.
const DRAWN: [&str; 4] = ["p50", "p90", "p99", "p99.9"];

/// The page of an answer to these `results`, which `command` makes again.
pub fn html(answer: &Answer, results: &str, command: &str) -> String {
    let environment = environment("fit.html", PAGE);
    let page = environment.get_template("fit.html").expect("just added");
    let rows = answer.table();
    let fitted = rows.iter().filter(|row| row.is_fitted).count();
    let about = if answer.device.is_ok() { "A device fitted to" } else { "No device fits" };
    let values = answer.values.iter().map(|fitted| {
        context! { key => fitted.key, value => text(&fitted.value), known => text(&fitted.known) }
    });
    page.render(context! {
        title => format!("{about} {}", text(results)),
        preset => answer.preset,
        fitted,
        judge => rows.len() - fitted,
        why_none => answer.device.as_ref().err().map(|why| text(why)),
        sentences => texts(&answer.sentences),
        warnings => texts(&answer.remarks),
        cells => CELLS,
        tables => tables(&rows),
        points => points(&rows),
        values => values.collect::<Vec<_>>(),
        command => text(command),
        js => SCRIPT,
    })
    .expect("the page asks only for what it is given")
}

fn text(from_outside: &str) -> String {
    shown::escaped(from_outside).into_owned()
}

fn texts(from_outside: &[String]) -> Vec<String> {
    from_outside.iter().map(|one| text(one)).collect()
}

/// The tables, one for each kind of rows.
fn tables(rows: &[Row]) -> Vec<Value> {
    let one = |row: &Row| {
        let cells: Vec<_> = row.cells.iter().map(|&cell| Row::shown(cell).map(Vec::from)).collect();
        context! { labels => texts(&row.labels), cells }
    };
    let table = |rows: Vec<&Row>| rows.into_iter().map(one).collect::<Vec<_>>();
    by_kind(rows).map(|(kind, rows)| context! { heads => kind.columns().to_vec(), rows => table(rows) }).collect()
}

/// What is drawn: times in ns.
fn points(rows: &[Row]) -> Vec<Value> {
    let mut points = Vec::new();
    for (kind, rows) in by_kind(rows) {
        for row in rows {
            for (&rank, &cell) in kind.columns().iter().zip(&row.cells).filter(|(rank, _)| DRAWN.contains(rank)) {
                // A logarithmic axis has no place for others.
                if !cell.iter().all(|us| us.is_finite() && *us > 0.0) {
                    continue;
                }
                let [measured, modelled] = cell.map(|us| 1e3 * us);
                let [job, _, _, of] = &row.labels;
                let what = of.trim_end_matches(", us");
                let name = text(&format!("{job}, {rank} of {what}"));
                points.push(context! { name, measured, modelled, is_fitted => row.is_fitted });
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use flashlane_testing::browser;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::answer::Judged;
    use crate::device_file::Fitted;
    use crate::mixed::Beside;
    use crate::point::Figures;
    use crate::point::tests::point;
    use crate::writes::{About, Told, WriteRow, WriteValues, Written};

    /// Two jobs, the second held out and with a name that is markup and an escape.
    fn answer(device: Result<String, String>) -> Answer {
        let row = |depth, is_fitted, name: &str| {
            let mut point = point(depth, 60.0, &[(500_000, 50.0), (990_000, 200.0)]);
            point.name = name.into();
            let quantiles = vec![(500_000, 55.0), (990_000, 100.0), (999_000, 300.0)];
            let figures = Figures { iops: point.iops, mean_us: 66.0, quantiles };
            Judged { point, is_fitted, figures }
        };
        let values =
            vec![Fitted { key: "bus.mega_transfers", value: "1200".into(), known: "bounded: 900 to 2000".into() }];
        Answer {
            values: if device.is_ok() { values } else { Vec::new() },
            device,
            preset: "modern-tlc",
            rows: vec![row(1, true, "one"), row(2, false, "</script><b>\u{1b}[2J")],
            writes: None,
            remarks: vec!["a <i>".into()],
            sentences: vec!["reads: means within 10 %".into()],
        }
    }

    #[test]
    fn the_page_draws_fitted_and_held_out_quantiles_apart() {
        let page = html(&answer(Ok(String::new())), "a <u>.csv", "flashlane fit");
        assert!(!page.contains('\u{1b}') && !page.contains("<b>\\u{1b}") && !page.contains("a <i>"), "names are text");
        for part in ["&lt;b&gt;\\u{1b}[2J</th>", "a &lt;u&gt;.csv", "<li>a &lt;i&gt;</li>", "bounded: 900 to 2000"] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(page.contains("<td>50.0 55.0<br><small>+10.0 %</small></td><td>-</td>"), "p90 was not measured");
        let Some(opened) = browser::open(&page, "fit-report", (1_280, 2_000), false) else { return };
        opened.check();
        let drawn = opened.dom.split_once("data-drawn=\"").expect("drawn").1.split_once('"').expect("closed").0;
        let drawn: Json = serde_json::from_str(&drawn.replace("&quot;", "\"")).expect("JSON");
        let both = json!([[50_000, 55_000], [200_000, 100_000]]);
        assert_eq!([&drawn["fitted"], &drawn["held_out"]], [&both, &both], "p99.9 was not measured");
        let [least, most] = [0, 1].map(|end| drawn["range"][end].as_f64().expect("a number"));
        assert!(least < 50_000.0 && most > 200_000.0, "{drawn}");
    }

    /// A burst, the steady rate, its amplification, and reads and writes beside writes.
    fn written() -> Written {
        let figures =
            |iops: f64, us: f64| Figures { iops, mean_us: us, quantiles: vec![(500_000, us), (990_000, 3.0 * us)] };
        let row = |about, name: &str, measured, modelled| WriteRow {
            about,
            name: name.into(),
            is_fitted: false,
            figures: [measured, modelled],
        };
        let beside = Beside {
            name: "beside-10000".into(),
            rate: Some(10_000),
            is_fitted: true,
            reads: [figures(5e3, 70.0), figures(5e3, 77.0)],
            writes: Some([figures(5e3, 11.0), figures(5e3, 11.0)]),
        };
        let values =
            WriteValues { program_us: 1e3, raw: 1.1, user: 1e12, slc: None, access_us: 3.0, pauses: None, order: None };
        let rows = vec![
            row(About::Burst, "burst-2g", figures(2e9, 0.0), figures(1e9, 0.0)),
            row(About::Steady, "steady-last", figures(8e4, 0.0), figures(1e5, 0.0)),
            row(About::Amplification, "logs", figures(0.0, 2.0), figures(0.0, 3.0)),
        ];
        Written { values, told: [Told::Not; 3], rows, beside: vec![beside], repetition: None, is_steady: None }
    }

    #[test]
    fn rows_of_writes_are_in_tables_of_their_own_and_their_times_are_drawn() {
        let answer = Answer { writes: Some(written()), ..answer(Ok(String::new())) };
        let page = html(&answer, "a.csv", "c");
        for part in [
            "<td>2000 1000<br><small>-50.0 %</small></td>",
            "<td>80000 100000<br><small>+25.0 %</small></td>",
            "<td>2.00 3.00<br><small>+50.0 %</small></td>",
            "4 KiB, 10000 writes a second",
        ] {
            assert_eq!(page.matches(part).count(), if part.contains("KiB") { 2 } else { 1 }, "{part} in {page}");
        }
        let drawn = points(&answer.table());
        let names: Vec<String> = drawn.iter().map(|point| point.get_attr("name").expect("named").to_string()).collect();
        let beside: Vec<&String> = names.iter().filter(|name| name.starts_with("beside-10000")).collect();
        assert_eq!(beside.len(), 4, "two quantiles each of reads and writes: {names:?}");
        assert!(
            !names.iter().any(|name| name.contains("burst") || name.contains("logs")),
            "rates are no times: {names:?}"
        );
    }

    #[test]
    fn without_a_device_the_page_says_why_and_has_no_values() {
        let mut none = answer(Err("no device is written: <why>".into()));
        // Without quantiles there is nothing to draw.
        none.rows.iter_mut().for_each(|row| row.point.quantiles.clear());
        let page = html(&none, "a.csv", "c");
        assert!(
            page.contains("No device fits a.csv</h1>") && page.contains("no device is written: &lt;why&gt;"),
            "{page}"
        );
        assert!(!page.contains("h-values") && !page.contains("id=\"measured\""), "{page}");
        if let Some(opened) = browser::open(&page, "fit-none", (1_280, 1_200), false) {
            opened.check();
        }
    }
}
