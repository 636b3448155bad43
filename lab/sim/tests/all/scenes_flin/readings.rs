//! Scenes in which the readings that FLIN leaves open differ from the default: one a parameter, and the baselines' collection.

use super::*;

/// O1 (D-FLN-28). Two programs; the second has waited 1,324,601 ns when it begins, so that a read with 13 us of it left is not
/// owed a suspension. If only a present pause counts, it has not waited: 7,490 ns left are enough, 7,489 are not.
#[test]
fn a_program_has_waited_in_its_present_pause_only() {
    let config = one_plane();
    let done = |present, left| {
        let lines = [(0, 0, Write, 0), (0, 0, Write, 1), (2 * WRITE - left, 0, Read, 2)];
        play(&config, "flin", &[("present_pause", present)], &lines).0
    };
    let end = 2 * WRITE;
    assert_eq!(done(0, 13_000), [WRITE, end, end + READ]);
    assert_eq!(done(1, 13_000), [WRITE, end + READ, end - 13_000 + READ]);
    let even = READ * READ / WRITE;
    assert_eq!(done(1, even + 1), [WRITE, end + READ, end - even - 1 + READ]);
    assert_eq!(done(1, even), [WRITE, end, end + READ]);
    // An earlier pause does not count either: the default needs 14,979 ns (see above), this 7,490.
    let twice = |left| [(0, 0, Write, 0), (300_000, 0, Read, 1), (WRITE + READ - left, 0, Read, 2)];
    let second = |present, left| play(&config, "flin", &[("present_pause", present)], &twice(left)).0[2];
    assert_eq!([second(0, even + 1), second(1, even + 1)], [WRITE + 2 * READ, WRITE + READ - even - 1 + READ]);
}

/// Epochs of 10 ms and a limit of 1 MB/s: two pages an epoch. Flow 0 reads two pages on `chip` in the first epoch. In the second
/// the last chip is busy with a read of it when another of it comes, and then one of flow 1, which has sent none before. Returns
/// whether flow 1 goes first, that is whether flow 0 is of high intensity there.
fn newcomer_goes_first(config: &Config, chip: u32, params: &[(&str, u64)]) -> bool {
    let last = config.geometry.chips_per_channel - 1;
    let pages = |chip: u32| (0u32..).map(move |i| chip + (last + 1) * i);
    let mut lines: Vec<Line> = pages(chip).take(2).map(|page| (0, 0, Read, page)).collect();
    let epoch = 10_000_000;
    let on_last: Vec<u32> = pages(last).skip(10).take(3).collect();
    lines.extend([
        (epoch, 0, Read, on_last[0]),
        (epoch + 1_000, 0, Read, on_last[1]),
        (epoch + 2_000, 1, Read, on_last[2]),
    ]);
    let params = [params, &[("alpha_read", 1_000_000)]].concat();
    let done = play(config, "flin", &params, &lines).0;
    assert_eq!(done[2], epoch + READ);
    let mut after = [done[3], done[4]];
    after.sort_unstable();
    assert_eq!(after, [epoch + 2 * READ, epoch + 3 * READ]);
    done[4] < done[3]
}

fn chips(chips: u32) -> Config {
    let mut config = table1(1, chips);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config.flows = vec![FlowConfig::at_priority(0); 2];
    config
}

/// D-FLN-27. Two pages are at the limit of a second's megabyte, and far from the limit of an epoch's.
#[test]
fn limits_of_an_epoch_or_of_a_second() {
    let config = chips(1);
    assert!(newcomer_goes_first(&config, 0, &[]));
    assert!(!newcomer_goes_first(&config, 0, &[("alpha_per_epoch", 1)]));
}

/// D-FLN-02. A flow that read only on the first chip is of high intensity on the second, unless classes are by unit.
#[test]
fn classes_of_a_flow_or_of_a_unit() {
    let config = chips(2);
    assert!(newcomer_goes_first(&config, 0, &[]));
    assert!(!newcomer_goes_first(&config, 0, &[("class_per_unit", 1)]));
    assert!(newcomer_goes_first(&config, 1, &[("class_per_unit", 1)]), "two pages there are above one a unit");
}

/// D-FLN-16. A read that comes while a write pays waits for all of its moves and for the write; if they yield, it goes after the
/// read of a move, and interrupts the program of one. The write pays the same moves and then goes.
#[test]
fn reads_between_moves_that_are_paid_for() {
    let config = collecting();
    let writes: Vec<Line> = (0..100).map(|i| (0, 0, Write, i * 77 % 128)).collect();
    let list = commands(&play(&config, "flin", &[], &writes).1);
    let at =
        |op, from: usize| from + list[from..].iter().position(|c| c.1 == op && c.2 == Owner::Gc).expect("a write pays");
    let reading = at(FlashOp::Read, 0);
    let programming = at(FlashOp::Program, reading);
    let paid = list[reading..].iter().find(|c| c.2 == Owner::User).expect("then the write goes").0;
    for (begun, arrives, yields_at) in [
        (list[reading].0, list[reading].0 + 50_000, list[reading].0 + READ),
        (list[programming].0, list[programming].0 + 700_000, list[programming].0 + 700_000),
    ] {
        let mut lines = writes.clone();
        lines.push((arrives, 1, Read, 200));
        let [plain, yielding] = [0, 1].map(|yields| play(&config, "flin", &[("gc_preemptible", yields)], &lines));
        // O1 suspends the write, for once its data are in the read has waited longer.
        assert_eq!(plain.0[100], paid + (WRITE - 1_300_000) + READ, "begun at {begun}");
        assert_eq!(yielding.0[100], yields_at + READ, "begun at {begun}");
        let list = commands(&yielding.1);
        let next =
            list.iter().find(|c| c.0 > begun && c.1 == FlashOp::Program && c.2 == Owner::User).expect("the write");
        assert_eq!(next.0, paid + READ, "the write goes as much later as the read took");
    }
}

/// D-FLN-29. Between the first move of a victim and its erase, writes go under SPGC and none goes without preemption.
#[test]
fn collection_of_the_baselines() {
    let mut config = collecting();
    config.gc.start_blocks = 5;
    // So far apart that a collection begins while nothing waits, and so close that writes come before it ends.
    let lines: Vec<Line> = (0..100).map(|i| (u64::from(i) * 2_000_000, 0, Write, i * 77 % 128)).collect();
    for (scheduler, preempts) in
        [("sprinkler", true), ("sprinkler+fairness", true), ("sprinkler-np", false), ("sprinkler+fairness-np", false)]
    {
        let list = commands(&play(&config, scheduler, &[], &lines).1);
        let first = list.iter().position(|c| c.2 == Owner::Gc).expect("a collection");
        let erase = first + list[first..].iter().position(|c| c.1 == FlashOp::Erase).expect("an erase");
        let between = list[first..erase].iter().any(|c| c.2 == Owner::User);
        assert_eq!(between, preempts, "{scheduler}");
    }
}
