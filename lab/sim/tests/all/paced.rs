//! Collection at the pace of writes (model 1.1.13): on a small drive that writers keep out of blocks, `late` waits for a few page moves; with
//! semi-preemptive collection it would wait for whole victims.

use flashlane_report::results::SchedulerResult;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

/// Where blocks run out the longest write waits for less than a third as long, the mean is half as long, and no more pages are moved a write; the
/// auditor follows all of it. No write starves with static placement either.
#[test]
fn writes_wait_for_page_moves_and_not_for_victims() {
    let text = include_str!("../../../../dev/xtask/corpus/paced.toml");
    let scenario = Scenario::parse("out-of-blocks", text.to_owned()).expect("a good scenario");
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    let comparison = compare(&scenario, &options).expect("the comparison runs");
    assert!(comparison.audited.is_some_and(|events| events > 0), "the auditor saw events");
    let [semi, paced, fixed] = &comparison.summary.schedulers[..] else { panic!("three schedulers") };
    let writes =
        |of: &SchedulerResult| of.total.write.as_ref().map(|it| (it.mean_ns, it.max_ns)).expect("writes ended");
    let ((semi_mean, semi_longest), (mean, longest)) = (writes(semi), writes(paced));
    assert!(longest * 3 < semi_longest, "{longest} and {semi_longest} ns");
    assert!(mean * 2.0 < semi_mean, "{mean} and {semi_mean} ns");
    let amplification = |of: &SchedulerResult| of.device.write_amplification.expect("pages were written");
    assert!(amplification(paced) < 1.02 * amplification(semi));
    assert!(writes(fixed).1 < semi_longest, "{} ns", writes(fixed).1);
}
