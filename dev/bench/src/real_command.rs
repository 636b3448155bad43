//! Modelled drives beside real ones: runs the cases, prints the table, or what has become worse.

use std::fs;
use std::path::PathBuf;

use flashlane_bench::kept;
use flashlane_bench::real::{CASES, rows};
use flashlane_fit::table;

/// Which cases run, and what becomes of the table.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run only devices whose names contain one of these words
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only the short cases
    #[arg(long)]
    quick: bool,
    /// Writes the table to its file in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["words", "quick"])]
    write: Option<PathBuf>,
    /// Fails if a figure is further from what was measured than the table in this folder says
    #[arg(long, value_name = "DIR", conflicts_with = "write")]
    check: Option<PathBuf>,
}

/// Runs the cases. Returns whether nothing has become worse.
///
/// # Errors
/// A case that cannot be run, a table that is not there.
pub fn act(Arguments { words, quick, write, check }: Arguments) -> Result<bool, String> {
    let is_asked = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| (case.is_short || !quick) && is_asked(case.name)) {
        all.extend(rows(case)?);
        eprintln!("run: {}", case.name);
    }
    if all.is_empty() {
        return Err(format!("no device has any of the words {words:?} in its name"));
    }
    let text = table::render("device", &all);
    print!("{text}");
    if let Some(folder) = check {
        let path = folder.join(kept::REAL);
        let stored = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let worse = table::worse(&all, &stored)?;
        worse.iter().for_each(|line| println!("worse: {line}"));
        return Ok(worse.is_empty());
    }
    write.map_or(Ok(()), |folder| kept::write(&folder, kept::REAL, &text)).map(|()| true)
}
