//! The schedulers that are compared, with collection held equal.

use flashlane_scenario::{Document, Mix, Scenario, SchedulerChoice};
use flashlane_sched::catalogue::{self, Recipe, SchedulerEntry};
use flashlane_sim::RunError;

/// The scheduler that the others are compared with.
pub const FIRST: &str = "fcfs";

/// How garbage is collected under every scheduler whose paper is not about it.
const COLLECT: &str = "semi-preemptive";

/// The mix of published answers that is fastest where flows share a full drive: FLIN's first stage, writes in turn over the planes that
/// move to idle chips, and no useless writes.
const MIX: &str = "flin-stage1, moved";

/// Whether the way to collect is what the scheduler is about.
fn owns_collection(entry: &SchedulerEntry) -> bool {
    entry.answers.collect == "write-triggered" || entry.name.ends_with("-np")
}

/// The schedulers that can run `document`, [`FIRST`] before all others. Left out are those that need a buffer on a device without
/// one, and the control that is given another run's response times.
///
/// # Errors
/// A wrong device.
pub fn rows_for(document: &Document) -> Result<Vec<SchedulerChoice>, RunError> {
    let has_buffer = Scenario::from_document("cross", document.clone()).device_config()?.buffer.is_some();
    let runs = |entry: &&SchedulerEntry| {
        let recipe = Recipe { base: Some(entry.name.into()), ..Recipe::default() };
        let needs_buffer = || catalogue::build(&recipe).is_ok_and(|scheduler| scheduler.admit.declares().needs_buffer);
        entry.answers.order != "slack-oracle" && (has_buffer || !needs_buffer())
    };
    let mut entries: Vec<&SchedulerEntry> = catalogue::schedulers().iter().filter(runs).collect();
    entries.sort_by_key(|entry| entry.name != FIRST);
    Ok(entries.into_iter().map(row).chain([mix()]).collect())
}

fn mix() -> SchedulerChoice {
    SchedulerChoice::Mix(Box::new(Mix {
        name: Some(MIX.to_owned()),
        base: Some("flin-stage1".to_owned()),
        place: Some("rebalance".to_owned()),
        cancel: Some("overwrite".to_owned()),
        collect: Some(COLLECT.to_owned()),
        parameters: [("rebalance_after_rotation".to_owned(), 1)].into(),
        ..Mix::default()
    }))
}

fn row(entry: &SchedulerEntry) -> SchedulerChoice {
    let collect = (!owns_collection(entry)).then(|| COLLECT.to_owned());
    let (name, base) = (Some(entry.name.to_owned()), Some(entry.name.to_owned()));
    SchedulerChoice::Mix(Box::new(Mix { name, base, collect, ..Mix::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_about_collection_keeps_its_own() {
        let own: Vec<&str> =
            catalogue::schedulers().iter().filter(|entry| owns_collection(entry)).map(|entry| entry.name).collect();
        assert_eq!(own, ["sprinkler-np", "sprinkler+fairness-np", "flin", "flin-stage3"]);
    }

    #[test]
    fn rows_that_cannot_run_are_left_out_and_fcfs_is_first() {
        let names = |device: &str| -> Vec<String> {
            let document = Scenario::parse(
                "t",
                format!("device = \"{device}\"\n[[flow]]\n[flow.synthetic]\nrate_iops = 1\nrequests = 1\n"),
            );
            let rows = rows_for(document.expect("a scenario").document()).expect("a device");
            rows.iter().map(SchedulerChoice::name).collect()
        };
        let (without, with) = (names("flin-isca18"), names("ncq-elex15"));
        assert_eq!((without[0].as_str(), with[0].as_str()), (FIRST, FIRST));
        let more: Vec<_> = with.iter().filter(|name| !without.contains(name)).collect();
        assert_eq!(more, ["ncq-sb", "ncq-tsb"]);
        assert_eq!(with.len(), catalogue::schedulers().len(), "all but the oracle, and the mix");
    }
}
