//! The results of a paper's experiments: for the terminal, and as `results.json`.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use schemars::JsonSchema;
use serde::Serialize;

use super::claims::{JudgedClaim, Kind, Verdict};
use super::measurements::Measurements;
use super::runner::Runner;
use super::setting::Setting;
use flashlane_report::metrics::mean_and_ci95;

/// `results.json`: the claims of a paper with what was measured, and every figure behind them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaperResult {
    /// Version of this format.
    pub version: u32,
    /// Short name of the paper.
    pub name: String,
    /// Its title.
    pub paper: String,
    /// Version of Flashlane.
    pub flashlane: String,
    /// Whether this was a look only: fewer requests, one seed. Its verdicts mean little.
    pub quick: bool,
    /// Seeds of each workload.
    pub seeds: u64,
    /// The first of them; the others follow.
    pub first_seed: u64,
    /// How what the paper leaves open was read.
    pub setting: Setting,
    /// What was otherwise than in the chosen setting; not there if nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// An identifier of all scenarios that were run: equal for equal scenarios.
    pub scenarios: String,
    /// What to know about the figures: traces in place of clones, values that could not be reached.
    pub notes: Vec<String>,
    /// The claims, in the order of the paper.
    pub claims: Vec<JudgedClaim>,
    /// Every figure by name, objects in objects; the innermost has `mean`, `ci95` (half the width of the 95 % confidence
    /// interval over the seeds, null with one) and `seeds` (the values).
    pub figures: serde_json::Value,
    #[serde(skip)]
    table: Measurements,
}

impl PaperResult {
    pub(super) fn new(
        name: &str,
        paper: &str,
        runner: &Runner<'_>,
        claims: Vec<JudgedClaim>,
        figures: Measurements,
    ) -> PaperResult {
        PaperResult {
            version: 3,
            name: name.into(),
            paper: paper.into(),
            flashlane: env!("CARGO_PKG_VERSION").into(),
            quick: runner.settings.quick,
            seeds: runner.settings.seeds,
            first_seed: runner.settings.first_seed,
            setting: runner.settings.setting,
            variant: runner.settings.variant.map(|variant| variant.name.to_owned()),
            scenarios: runner.scenarios(),
            notes: figures.notes().to_vec(),
            claims,
            figures: figures.to_json(),
            table: figures,
        }
    }

    /// The figures.
    pub(crate) fn table(&self) -> &Measurements {
        &self.table
    }

    /// The bytes of `results.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("figures are finite and names are strings");
        text.push('\n');
        text
    }
}

/// The JSON schema of `results.json`.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(PaperResult).to_value()
}

/// The claims as a table of at most `width` columns.
pub fn render(result: &PaperResult, width: u16) -> String {
    let mut text = format!("{}\n\n", result.paper);
    if result.setting == Setting::Chosen {
        text.push_str(
            "Under the setting that was chosen after results were seen; --list says what it sets and why.\n\n",
        );
        if let Some(variant) = &result.variant {
            text.push_str(&format!("Its variant {variant}, under which no claim counts.\n\n"));
        }
    }
    if result.claims.is_empty() {
        result.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
        return text;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(["", "source", "the paper says", "published", "measured", "kind", "verdict"]);
    for claim in &result.claims {
        table.add_row([
            claim.id.clone(),
            claim.source.clone(),
            claim.says.clone(),
            claim.published.clone(),
            claim.measured.clone().or_else(|| claim.reason.clone()).unwrap_or_default(),
            claim.kind.name().to_string(),
            verdict(claim),
        ]);
    }
    push_lines(&mut text, &table);
    for note in &result.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&count(&result.claims));
    text.push_str(if result.quick { " (a quick look: too short to judge by)\n" } else { "\n" });
    text
}

/// A claim's verdict, and whether single seeds come to another.
pub(crate) fn verdict(claim: &JudgedClaim) -> String {
    format!("{}{}", claim.verdict.name(), if claim.is_unstable() { ", unstable" } else { "" })
}

/// How many claims of a paper have which verdict, inputs and claims of our own apart.
fn count(claims: &[JudgedClaim]) -> String {
    let counted = |verdict: Verdict| claims.iter().filter(|c| c.kind.counts() && c.verdict == verdict).count();
    let verdicts = Verdict::OF_A_PAPER.map(|verdict| format!("{} {}", counted(verdict), verdict.name()));
    let mut text = format!("{} claims of the paper", claims.iter().filter(|claim| claim.kind.counts()).count());
    text.push_str(&format!(": {}", verdicts.join(", ")));
    for (kind, what) in [(Kind::Input, "inputs"), (Kind::Ours, "of our own")] {
        let of_kind = || claims.iter().filter(move |claim| claim.kind == kind);
        if of_kind().count() > 0 {
            let differ = of_kind().filter(|claim| claim.verdict == Verdict::Differs).count();
            text.push_str(&format!("; {} {what}, {differ} differ", of_kind().count()));
        }
    }
    match claims.iter().filter(|claim| claim.is_unstable()).count() {
        0 => text,
        unstable => format!("{text}; {unstable} unstable: single seeds come to another verdict"),
    }
}

/// Every figure: one table for each first name, a row for each last name, a column for each in between.
pub fn tables(result: &PaperResult) -> String {
    tables_of(result, false)
}

/// The same with one row for each table: the medians of its rows.
pub fn medians(result: &PaperResult) -> String {
    tables_of(result, true)
}

fn tables_of(result: &PaperResult, medians: bool) -> String {
    let mut names: Vec<&str> = Vec::new();
    result.table.iter().for_each(|(path, _)| {
        if !names.contains(&path[0].as_str()) {
            names.push(&path[0])
        }
    });
    let mut text = String::new();
    for name in names {
        let of_name: Vec<(&[String], &[f64])> = result.table.iter().filter(|(path, _)| path[0] == name).collect();
        let column = |path: &[String]| if path.len() > 2 { path[1..path.len() - 1].join(".") } else { String::new() };
        let (mut columns, mut rows): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
        for (path, _) in &of_name {
            let (c, r) = (column(path), path[path.len() - 1].as_str());
            if !columns.contains(&c) {
                columns.push(c);
            }
            if !rows.contains(&r) {
                rows.push(r);
            }
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(std::iter::once(String::new()).chain(columns.iter().cloned()).collect::<Vec<_>>());
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        let mut add = |head: String, cell: &dyn Fn(&String) -> String| {
            table.add_row(std::iter::once(head).chain(columns.iter().map(cell)).collect::<Vec<_>>());
        };
        if medians {
            let of =
                |c: &String| of_name.iter().filter(|(path, _)| column(path) == *c).map(|(_, values)| *values).collect();
            add(format!("median of {}", rows.len()), &|c| number(&[median(of(c))]));
            rows.clear();
        }
        for row in rows {
            add(row.to_string(), &|c| {
                let found = of_name.iter().find(|(path, _)| column(path) == *c && path[path.len() - 1] == row);
                found.map_or_else(|| "-".to_string(), |(_, values)| number(values))
            });
        }
        text.push_str(&format!("{name}\n"));
        push_lines(&mut text, &table);
    }
    text
}

/// The median of the means of figures.
fn median(figures: Vec<&[f64]>) -> f64 {
    let mut means: Vec<f64> = figures.into_iter().map(|values| mean_and_ci95(values).0).collect();
    means.sort_by(f64::total_cmp);
    let half = means.len() / 2;
    if means.len().is_multiple_of(2) { (means[half - 1] + means[half]) / 2.0 } else { means[half] }
}

/// A figure's mean, with its interval if there are several seeds.
fn number(values: &[f64]) -> String {
    let (mean, ci95) = mean_and_ci95(values);
    let plain = |x: f64| match x.abs() {
        n if n >= 1e4 => format!("{x:.0}"),
        n if n >= 100.0 => format!("{x:.1}"),
        n if n >= 1.0 || n == 0.0 => format!("{x:.2}"),
        _ => format!("{x:.4}"),
    };
    ci95.map_or_else(|| plain(mean), |width| format!("{} ± {}", plain(mean), plain(width)))
}

fn push_lines(text: &mut String, table: &Table) {
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
}
