//! Flows made of volumes, and when flows begin.

use super::*;

const HEAD: &str = "schedulers = [\"fcfs\"]\ndevice = \"flin-isca18\"\n";

/// A folder with these files, and the scenario with these flows in it.
fn scenario(files: &[(&str, String)], flows: &str) -> (tempfile::TempDir, Scenario) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let scenario = Scenario::of_file(&folder.path().join("s.toml"), format!("{HEAD}{flows}"));
    (folder, scenario.unwrap_or_else(|why| panic!("{why}")))
}

/// Alibaba lines: volume, and us since a day of 2020.
fn alibaba(lines: &[(u32, u64)]) -> String {
    lines.iter().map(|(volume, us)| format!("{volume},R,4096,4096,{}\n", 1_577_808_000_000_000 + us)).collect()
}

/// MSR lines of that day, and us.
fn msr(us: &[u64]) -> String {
    let day = (1_577_808_000u64 + 11_644_473_600) * 10_000_000;
    us.iter().map(|us| format!("{},h,0,Read,0,4096,1\n", day + us * 10)).collect()
}

/// The recorded beginning of each flow where it is not its own, in us since that day, and what is said.
fn beginnings(files: &[(&str, String)], flows: &str) -> (Vec<Option<i64>>, Vec<String>) {
    let (_folder, scenario) = scenario(files, flows);
    let config = scenario.device_config().unwrap_or_else(|why| panic!("{why}"));
    let (plans, said) = scenario.flows_in_time(&config).unwrap_or_else(|why| panic!("{why}"));
    let origin = |plan: &FlowPlan| match &plan.source {
        FlowSource::Trace(path, trace) => {
            let (format, ns) = (path.extension().is_some_and(|e| e == "msr"), trace.origin_ns?);
            let us = if format { ns / 1_000 - 11_644_473_600_000_000 } else { ns / 1_000 };
            Some(us as i64 - 1_577_808_000_000_000)
        }
        _ => None,
    };
    (plans.iter().map(origin).collect(), said.into_iter().map(|(flow, text)| format!("{flow}: {text}")).collect())
}

fn flow(path: &str, more: &str) -> String {
    format!("[[flow]]\ntrace = {{ path = \"{path}\"{more} }}\n")
}

#[test]
fn flows_of_one_file_keep_their_distance() {
    let file = [("a.alibaba", alibaba(&[(7, 0), (7, 10), (9, 2_000_000), (9, 2_000_100)]))];
    let of = |device: u32, more: &str| flow("a.alibaba", &format!(", device = \"{device}\"{more}"));
    let (origins, said) = beginnings(&file, &(of(9, "") + &of(7, "")));
    assert_eq!(origins, [Some(0), None]);
    assert_eq!(said, ["a: begins 2.000 s after a-2, as recorded"]);
    // At twice the speed the distance is half; the same file under another path.
    let (origins, said) =
        beginnings(&file, &(of(7, ", speedup = 2") + &flow("./a.alibaba", ", device = \"9\", speedup = 2")));
    assert_eq!((origins, said[0].as_str()), (vec![None, Some(0)], "a-2: begins 1.000 s after a, as recorded"));
    // `start_ns` says otherwise, also if it says 0; a closed replay has no times.
    for more in [", start_ns = 0", ", start_ns = 5", ", replay = \"closed\", depth = 2"] {
        assert_eq!(beginnings(&file, &(of(7, "") + &of(9, more))), (vec![None, None], vec![]), "{more}");
    }
    // One flow begins at 0, wherever it lies in the file.
    assert_eq!(beginnings(&file, &of(9, "")), (vec![None], vec![]));
    // Without dates too, and by what a flow skips.
    let file = [("a.spc", "0,8,4096,r,1.0\n1,8,4096,r,1.5\n0,8,4096,r,3.0\n".to_owned())];
    let two = |more: &str| flow("a.spc", ", device = \"0\"") + &flow("a.spc", more);
    assert_eq!(beginnings(&file, &two(", device = \"1\"")).1, ["a-2: begins 500.000 ms after a, as recorded"]);
    assert_eq!(beginnings(&file, &two(", offset = 2")).1, ["a-2: begins 2.000 s after a, as recorded"]);
    // Times in another unit are on another axis.
    assert_eq!(beginnings(&file, &two(", device = \"1\", time_unit = \"ms\"")).1, Vec::<String>::new());
}

#[test]
fn several_files_keep_their_distance_where_their_dates_overlap() {
    let files = |second: &[u64]| [("a.alibaba", alibaba(&[(7, 0), (7, 10), (7, 1_000)])), ("b.msr", msr(second))];
    let both = |more: &str| flow("a.alibaba", "") + &flow("b.msr", more);
    // The other format counts from 1601.
    let (origins, said) = beginnings(&files(&[400, 90_000]), &both(""));
    assert_eq!((origins, said), (vec![None, Some(0)], vec!["b: begins 400.000 us after a, as recorded".to_owned()]));
    assert_eq!(beginnings(&files(&[1_000]), &both("")).0, [None, Some(0)], "the last request is in it");
    let told = |after: &str| {
        vec![format!(
            "traces: b was recorded {after} after a; dates that do not overlap, or other speed-ups: each begins at 0, unless start_ns says when"
        )]
    };
    assert_eq!(beginnings(&files(&[1_001, 2_000]), &both("")), (vec![None, None], told("1.001 ms")));
    assert_eq!(beginnings(&files(&[400 * 86_400_000_000]), &both("")).1, told("400.0 days"));
    assert_eq!(beginnings(&files(&[400, 500]), &both(", speedup = 2")), (vec![None, None], told("400.000 us")));
    // What is read of it, not what there is.
    let short = flow("a.alibaba", ", limit = 2") + &flow("b.msr", "");
    assert_eq!(beginnings(&files(&[400, 500]), &short), (vec![None, None], told("400.000 us")));
    // Equal beginnings, or one that a key gives, need no word.
    assert_eq!(beginnings(&files(&[0, 500]), &both("")), (vec![None, None], vec![]));
    assert_eq!(beginnings(&files(&[9_000]), &both(", start_ns = 0")), (vec![None, None], vec![]));
    // Files without dates begin at 0.
    let plain = [("a.spc", "0,8,4096,r,1.0\n".to_owned()), ("b.spc", "0,8,4096,r,1.5\n".to_owned())];
    assert_eq!(beginnings(&plain, &(flow("a.spc", "") + &flow("b.spc", ""))), (vec![None, None], vec![]));
    // Two that overlap and a third, a year later.
    let three = [
        ("a.msr", msr(&[50, 900])),
        ("b.alibaba", alibaba(&[(1, 0), (1, 100)])),
        ("c.msr", msr(&[365 * 86_400_000_000])),
    ];
    let (origins, said) = beginnings(&three, &(flow("a.msr", "") + &flow("b.alibaba", "") + &flow("c.msr", "")));
    assert_eq!(origins, [Some(0), None, None]);
    assert_eq!(said.len(), 2);
    assert!(said[1].starts_with("traces: c was recorded 365.0 days after b; "), "{said:?}");
}

#[test]
fn volumes_apart_are_a_flow_each_with_all_keys() {
    let text = alibaba(&[(7, 0), (9, 5), (7, 10), (11, 20)]);
    let keys = "priority = 3\nname = \"disk\"\ntrace = { path = \"a.alibaba\", volumes = \"apart\", limit = 3, speedup = 2 }\n";
    let flows = format!("[[flow]]\n{keys}[[flow]]\nsynthetic = {{ requests = 5, rate_iops = 100 }}\n");
    let (_folder, given) = scenario(&[("a.alibaba", text.clone())], &flows);
    let made = given.with_volumes_apart().unwrap_or_else(|why| panic!("{why}")).into_owned();
    let plans = made.flows(&made.device_config().expect("legal")).expect("legal");
    let names: Vec<_> = plans.iter().map(|plan| (plan.name.as_str(), plan.priority)).collect();
    assert_eq!(
        names,
        [("disk:7", 3), ("disk:9", 3), ("flow1", 0)],
        "the limit is of the file, and leaves out volume 11"
    );
    let lengths: Vec<_> = plans.iter().map(|plan| plan.range.offset).collect();
    assert!(lengths[1] > 0 && lengths[2] == 2 * lengths[1], "a slice each");
    let FlowSource::Trace(_, trace) = &plans[1].source else { panic!("a trace") };
    assert_eq!((trace.part.as_deref(), trace.limit, trace.volumes), (Some(&b"9"[..]), Some(3), None));
    assert!(matches!(made.with_volumes_apart(), Ok(Cow::Borrowed(_))), "once");
    // Without one that is apart nothing is read.
    let (_folder, given) = scenario(&[], &flow("missing", ""));
    assert!(matches!(given.with_volumes_apart(), Ok(Cow::Borrowed(_))));
    let (_folder, given) = scenario(&[], &flow("missing", ", volumes = \"apart\""));
    let fails = |given: &Scenario| given.with_volumes_apart().map(drop).expect_err("wrong").to_string();
    assert!(fails(&given).contains("missing: no such file"), "{}", fails(&given));
    // What is wrong with a key stands where the user wrote it.
    let (_folder, given) =
        scenario(&[("a.alibaba", text)], &flow("a.alibaba", ", volumes = \"apart\", speedup = \"x\""));
    assert!(fails(&given).contains("s.toml:4:"), "{}", fails(&given));
    let many = alibaba(&(0..1_025).map(|volume| (volume, 0)).collect::<Vec<_>>());
    let (_folder, given) = scenario(&[("a.alibaba", many)], &flow("a.alibaba", ", volumes = \"apart\""));
    let why = fails(&given);
    assert!(why.contains("flow[0].trace.volumes = \"apart\": the trace has more than 1024 volumes"), "{why}");
}

#[test]
fn a_closed_replay_needs_a_depth_and_no_speed() {
    let fails = |more: &str| {
        let (_folder, scenario) = scenario(&[], &flow("a.spc", more));
        scenario.check().expect_err(more).to_string()
    };
    for (more, says) in [
        (", depth = 4", "depth = 4: a depth of 4 has no meaning without replay closed; legal is both, or neither"),
        (", replay = \"open\", depth = 4", "depth = 4: a depth of 4 has no meaning"),
        (", replay = \"closed\"", "replay = \"closed\": closed needs a depth of 1 to 65536 requests outstanding"),
        (
            ", replay = \"closed\", depth = 0",
            "depth = 0: a depth of 0 is none that a closed replay can keep; legal is 1 to 65536",
        ),
        (", replay = \"closed\", depth = 65537", "depth = 65537: a depth of 65537"),
        (", replay = \"closed\", depth = 1, speedup = 2", "speedup = 2: has no meaning with replay closed"),
    ] {
        let why = fails(more);
        assert!(why.contains(&format!("flow[0].trace.{says}")), "{more}: {why}");
    }
    let (_folder, scenario) = scenario(&[], &flow("a.spc", ", replay = \"closed\", depth = 65536"));
    assert!(scenario.check().is_ok());
}
