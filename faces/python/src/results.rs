//! The outcome of a comparison, and what is made from its summary.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use flashlane_report::metrics::Activity;
use flashlane_outputs::{Existing, Inputs, OutFile};
use flashlane_report::results::verdict::Verdict;
use flashlane_report::results::{KeptRows, Summary, brief, report as page};
use flashlane_sim::Comparison;
use pyo3::prelude::*;

use crate::error::error;
use crate::rows::{Batches, Rows};

/// The outcome of a comparison.
#[pyclass(frozen)]
pub struct Outcome {
    summary: Summary,
    remarks: Vec<(String, String)>,
    audited: Option<u64>,
    rows: BTreeMap<String, Arc<Batches>>,
    activity: Vec<Activity>,
}

impl Outcome {
    pub(crate) fn new(made: Comparison, rows: KeptRows) -> Outcome {
        let flows: Vec<String> = made.summary.flows.iter().map(|flow| flow.name.clone()).collect();
        let rows = rows.into_iter().map(|(name, rows)| (name, Arc::new(Batches::of(rows, &flows)))).collect();
        Outcome { summary: made.summary, remarks: made.remarks, audited: made.audited, rows, activity: made.activity }
    }
}

#[pymethods]
impl Outcome {
    /// The bytes of `summary.json`.
    fn summary_json(&self) -> String {
        self.summary.to_json()
    }

    /// Remarks of trace readers: the flow and the text.
    fn remarks(&self) -> Vec<(String, String)> {
        self.remarks.clone()
    }

    /// Number of events audited.
    fn audited(&self) -> Option<u64> {
        self.audited
    }

    /// Writes the report.
    fn report(&self, path: PathBuf, command: &str) -> PyResult<()> {
        let existing = Existing::ReplaceIf(
            page::is_report,
            "exists and is no report of flashlane, so it is left as it is; give another name",
        );
        let file = OutFile::create(&path, existing, &Inputs::default()).map_err(error)?;
        file.write_whole(page::html(&self.summary, &self.activity, command).as_bytes()).map_err(error)
    }

    /// The rows of a table of a scheduler, if they were kept.
    fn rows(&self, table: &str, scheduler: &str) -> Option<Rows> {
        let found = self.rows.get(table).or_else(|| self.rows.get(&format!("{scheduler}/{table}")));
        found.map(|batches| Rows(Arc::clone(batches)))
    }
}

fn read(summary: &str) -> PyResult<Summary> {
    serde_json::from_str(summary).map_err(|cause| error(format!("no summary of this version: {cause}")))
}

/// The verdict on a summary: the sentences of the first screen, and warnings.
#[pyfunction]
pub fn verdict(summary: &str) -> PyResult<(Vec<String>, Vec<String>)> {
    let verdict = Verdict::of(&read(summary)?);
    Ok((verdict.lines(false), verdict.warnings.into_iter().map(|warning| warning.text).collect()))
}

/// The verdict and the first table of a summary as text, or every table.
#[pyfunction]
pub fn render(summary: &str, full: bool) -> PyResult<String> {
    Ok(brief::render(&read(summary)?, full))
}
