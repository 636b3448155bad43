//! The scenarios that belong to the papers' claims.

use std::path::Path;

use flashlane_papers::PAPERS;
use flashlane_scenario::Scenario;

#[test]
fn every_scenario_of_a_paper_checks() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join(".");
    let mut checked = 0;
    for paper in PAPERS {
        let folder = papers.join(paper.name).join("scenarios");
        let files = std::fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        for file in files {
            let path = file.unwrap_or_else(|why| panic!("{why}")).path();
            let scenario = Scenario::load(&path).unwrap_or_else(|why| panic!("{why}"));
            scenario.check().unwrap_or_else(|why| panic!("{why}"));
            checked += 1;
        }
    }
    assert!(checked >= 4, "{checked}");
}
