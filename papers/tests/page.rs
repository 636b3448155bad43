//! The page of all claims follows from the stored results, and these from the claims of today.

use std::path::Path;

use flashlane_papers::page::{Results, Stored, page};
use flashlane_papers::{PAPERS, Paper, Setting};

#[path = "../../lab/tests/common/kept.rs"]
mod kept;

/// The stored results of a whole paper; `None` if there are none.
fn stored(paper: &Paper, setting: Setting) -> Option<Stored> {
    let file = format!("docs/papers/results/{}-{}.json", paper.name, setting.name());
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&file)).ok()?;
    let command = format!("flashlane paper {} --setting {} --out DIR makes it", paper.name, setting.name());
    let stored = Stored::read(&text).unwrap_or_else(|why| panic!("{file}: {why}; {command}"));
    assert_eq!((stored.name.as_str(), stored.setting), (paper.name, setting), "{file}");
    assert_eq!(stored.outdated(&paper.claims()), None, "{file}; {command}");
    Some(stored)
}

#[test]
fn the_page_of_all_claims_is_up_to_date() {
    let (mut all, mut missing) = (Vec::new(), Vec::new());
    for paper in PAPERS {
        let has_chosen = paper.claims().chosen.is_some();
        let chosen = has_chosen.then(|| stored(paper, Setting::Chosen)).flatten();
        if has_chosen && chosen.is_none() {
            missing.push((paper.name, Setting::Chosen));
        }
        match stored(paper, Setting::Plain) {
            Some(plain) => all.push(Results { paper, plain, chosen }),
            None => missing.push((paper.name, Setting::Plain)),
        }
    }
    assert!(!all.is_empty(), "stored results are found");
    kept::same("papers", "docs/papers/README.md", &page(&all, &missing));
}
