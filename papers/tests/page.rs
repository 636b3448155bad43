//! The page of all claims follows from the stored results, and these from the claims of today.

use std::path::Path;

use flashlane_papers::page::{Results, Stored, page};
use flashlane_papers::{PAPERS, Paper, Setting};

#[path = "../../lab/tests/common/kept.rs"]
mod kept;

fn stored(paper: &Paper, setting: Setting) -> Stored {
    let file = format!("docs/papers/results/{}-{}.json", paper.name, setting.name());
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&file));
    let command = format!("flashlane paper {} --setting {} --out DIR makes it", paper.name, setting.name());
    let stored = Stored::read(&text.unwrap_or_else(|why| panic!("{file}: {why}; {command}")));
    let stored = stored.unwrap_or_else(|why| panic!("{file}: {why}; {command}"));
    assert_eq!((stored.name.as_str(), stored.setting), (paper.name, setting), "{file}");
    assert_eq!(stored.outdated(&paper.claims()), None, "{file}; {command}");
    stored
}

#[test]
fn the_page_of_all_claims_is_up_to_date() {
    let of = |paper: &'static Paper| Results {
        paper,
        plain: stored(paper, Setting::Plain),
        chosen: paper.claims().chosen.is_some().then(|| stored(paper, Setting::Chosen)),
    };
    let all: Vec<Results> = PAPERS.iter().map(of).collect();
    kept::same("papers", "docs/papers/README.md", &page(&all));
}
