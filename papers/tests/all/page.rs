//! The claims and their page follow from the stored figures and the claims of today.

use std::path::{Path, PathBuf};

use flashlane_papers::page::{Results, page, rates};
use flashlane_papers::stored::{StoredClaims, StoredMeasurements, file_of};
use flashlane_papers::{PAPERS, Paper, Setting};
use flashlane_testing::kept;

const RESULTS: &str = "docs/results/papers/results";

/// What is stored in a file.
fn read(path: &Path) -> StoredMeasurements {
    let file = path.display();
    let gz = std::fs::read(path).unwrap_or_else(|why| panic!("{file}: {why}"));
    let stored = StoredMeasurements::read(&gz).unwrap_or_else(|why| panic!("{file}: {why}"));
    let made = &stored.made;
    assert!(!made.quick, "{file}: a quick look says too little to be stored");
    assert_eq!(
        Some(made.file().as_str()),
        path.file_name().and_then(|name| name.to_str()),
        "{file} is called as it was made"
    );
    stored
}

/// What is stored in a file of figures, judged.
fn judged(paper: &Paper, path: &Path) -> StoredClaims {
    let stored = read(path);
    stored.judge(paper).unwrap_or_else(|why| {
        let command = format!("flashlane paper {} --setting {} --out DIR", paper.name, stored.made.setting.name());
        panic!("{}: {why}; if the claim is right, {command} makes the figures", path.display())
    })
}

/// The stored figures of a paper with these seeds; `None` if there are none. Its claims are held to them.
fn stored(paper: &Paper, setting: Setting) -> Option<StoredClaims> {
    let path = folder().join(file_of(paper.name, setting, None, 1));
    let judged = path.exists().then(|| judged(paper, &path))?;
    kept::same("papers", &format!("{RESULTS}/{}-{}.json", paper.name, setting.name()), &judged.to_json());
    Some(judged)
}

/// Those made with other seeds.
fn again(paper: &Paper) -> Vec<StoredClaims> {
    let names = |setting: Setting| format!("{}-{}-from-", paper.name, setting.name());
    let files = std::fs::read_dir(folder()).unwrap_or_else(|why| panic!("{RESULTS}: {why}"));
    let mut files: Vec<PathBuf> =
        files.map(|file| file.unwrap_or_else(|why| panic!("{RESULTS}: {why}")).path()).collect();
    files.sort();
    let is_one = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Setting::ALL.iter().any(|&setting| name.starts_with(&names(setting)))
    };
    files.iter().filter(is_one).map(|path| read(path).judge_what_is_there(paper)).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(RESULTS)
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
        match (stored(paper, Setting::Plain), chosen) {
            (Some(plain), chosen) => all.push(Results { paper, plain, chosen, again: again(paper) }),
            (None, chosen) => {
                missing.push((paper.name, Setting::Plain));
                // Its one column: the setting is named above the table.
                all.extend(chosen.map(|only| Results { paper, plain: only, chosen: None, again: again(paper) }));
            }
        }
    }
    assert!(!all.is_empty(), "stored results are found");
    kept::same("papers", "docs/results/papers/README.md", &page(&all, &missing));
}

/// The page of Slacker's variants and its picture, from those that are stored.
#[test]
fn the_page_of_rates_is_up_to_date() {
    let variants = PAPERS.iter().find(|paper| paper.name == "slacker").expect("a paper").variants;
    let path = |name| folder().join(file_of("slacker", Setting::Chosen, Some(name), 1));
    let all = variants.iter().map(|variant| path(variant.name)).filter(|path| path.exists()).map(|path| read(&path));
    let all: Vec<StoredMeasurements> = all.collect();
    assert!(!all.is_empty(), "stored variants are found");
    let chosen = read(&folder().join(file_of("slacker", Setting::Chosen, None, 1)));
    kept::same("papers", "docs/results/papers/slacker-rates.md", &rates::page(&chosen, &all));
    kept::same("papers", "docs/results/papers/slacker-rates.svg", &rates::picture(&all).expect("it can be drawn"));
}
