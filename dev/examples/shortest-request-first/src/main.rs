//! Flashlane with a scheduler of your own: shortest request first. Every command of `flashlane` knows it.

mod pick;

use std::process::ExitCode;

use flashlane_sched::catalogue::{AnswerEntry, Answers, Build, Catalogue, Question, RecipeError, SchedulerEntry};
use pick::ShortestRequestFirst;

/// Adds the new answer, and a scheduler that uses it: `fr-fcfs`, but for what an idle die does next.
fn add(catalogue: &mut Catalogue) -> Result<(), RecipeError> {
    catalogue.add_answer(AnswerEntry {
        name: "shortest-request",
        summary: "the request with the fewest pages left to serve",
        source: "an example",
        params: &[],
        build: Build::Pick(&|_| Box::new(ShortestRequestFirst)),
    })?;
    let base = catalogue.scheduler("fr-fcfs").expect("it is shipped").answers;
    catalogue.add_scheduler(SchedulerEntry {
        name: "shortest-request-first",
        paper: "none: an example",
        section: "of the documentation",
        summary: "fr-fcfs, and the request with the fewest pages left goes first",
        answers: Answers { pick: "shortest-request", ..base },
        open: &[Question::Collect],
        set: &[],
    })
}

fn main() -> ExitCode {
    flashlane_cli::main_with(add)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use flashlane_report::results::table;
    use flashlane_scenario::Scenario;
    use flashlane_sched::catalogue::SHIPPED;
    use flashlane_sim::{Options, compare};

    use super::*;

    const SCENARIO: &str = r#"
name = "small-and-large"
schedulers = ["fr-fcfs", "shortest-request-first"]
[run]
collect = "atomic"
[device]
preset = "flin-isca18"
geometry = { channels = 2, chips_per_channel = 2, blocks_per_plane = 64, pages_per_block = 32 }
ftl = { over_provisioning_percent = 28 }
[[flow]]
name = "mixed"
[flow.synthetic]
read_ratio = 0.9
size = { mix = [[8192, 9], [262144, 1]] }
rate_iops = 5_000
requests = 20_000
"#;

    #[test]
    fn the_example_runs_audited_and_its_row_is_in_the_table() {
        let mut scenario = Scenario::parse("small-and-large", SCENARIO.to_owned()).expect("a good scenario");
        let mut catalogue = SHIPPED.clone();
        add(&mut catalogue).expect("the catalogue can be extended");
        scenario.use_catalogue(Arc::new(catalogue));
        let options = Options { audit: true, rows: None, activity: false, progress: None };
        let comparison = compare(&scenario, &options).expect("the comparison runs");
        assert!(comparison.audited.is_some_and(|events| events > 0), "the auditor saw events");
        let [base, own] = &comparison.summary.schedulers[..] else { panic!("two schedulers") };
        assert_eq!((base.name.as_str(), own.name.as_str()), ("fr-fcfs", "shortest-request-first"));
        assert_eq!(base.total.completed, 20_000);
        assert_eq!(own.total.completed, 20_000);
        assert!(table::render(&comparison.summary).contains("shortest-request-first"));
        // What the policy is for: small requests no longer wait behind the pages of large ones.
        let mean = |result: &flashlane_report::results::SchedulerResult| {
            result.total.all.as_ref().expect("requests completed").mean_ns
        };
        assert!(mean(own) < mean(base), "{} is not below {}", mean(own), mean(base));
    }

    #[test]
    fn names_that_are_taken_are_refused() {
        let mut twice = SHIPPED.clone();
        add(&mut twice).expect("the catalogue can be extended");
        let entry = *twice.scheduler("shortest-request-first").expect("just added");
        let error = twice.add_scheduler(entry).expect_err("the name is taken");
        assert!(error.to_string().contains("shortest-request-first"), "{error}");
        let error = twice.add_scheduler(SchedulerEntry {
            name: "other",
            answers: Answers { pick: "nearest", ..entry.answers },
            ..entry
        });
        assert!(error.expect_err("no such answer").to_string().contains("shortest-request"), "legal names are listed");
    }
}
