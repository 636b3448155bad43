//! `flashlane paper` as a user runs it.

use std::path::Path;

use crate::common::{flashlane, folder, text};

/// Standard output and standard error of a run that ends with `code`.
#[track_caller]
fn message(folder: &Path, args: &[&str], code: i32) -> (String, String) {
    let output = flashlane(folder, args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    (out, err)
}

#[test]
fn papers_and_claims_are_listed() {
    let folder = folder();
    let (out, _) = message(folder.path(), &["paper"], 0);
    assert!(out.starts_with("slacker  Slacker: ") && out.contains(" E6, E7, "), "{out}");
    let (out, _) = message(folder.path(), &["paper", "slacker", "--list"], 0);
    assert!(
        out.contains("\n  E17a, input (§3.3) a table that redirects writes needs MB, and percent of 512 MB: 117, 23\n"),
        "{out}"
    );
    let of_e6a = "; holds if it >= 1\n      beside it, need: mean(pick(improvement.need, group.write_intensive))\n      \
                  beside it, per request: mean(pick(gain_per_request.slacker, group.write_intensive))\n";
    assert!(out.contains(of_e6a) && out.contains("\n      its null: no_gain\n"), "{out}");
    assert!(out.contains("  chosen, after results were seen:\n    sets: "), "{out}");
    let (out, _) = message(folder.path(), &["paper", "cross", "--list"], 0);
    assert!(out.contains("\n  X1: every scheduler on the workloads of Slacker, FLIN, "), "{out}");
}

#[test]
fn an_experiment_is_run_judged_and_written() {
    let folder = folder();
    let args = ["paper", "slacker", "--quick", "--experiment", "E17,E2", "--tables", "--out", "made"];
    let (out, err) = message(folder.path(), &args, 0);
    assert!(err.contains("E2: chips that a request accesses") && err.contains("E17: "), "{err}");
    assert!(!err.contains("E6"), "only what was asked for: {err}");
    assert!(out.contains("redirection_table") && out.contains("117440512"), "{out}");
    let line = out.lines().find(|line| line.starts_with(" E17")).unwrap_or_else(|| panic!("{out}"));
    assert!(line.contains("117, 23") && line.contains("117.4, 22.94") && line.ends_with("holds"), "{line}");
    assert!(line.contains(" input "), "{line}");
    let counts = "1 claims of the paper: 0 within 20 %, 0 within a factor of 2, 0 direction, 1 bound kept, 0 differs, 0 not testable here; \
                  2 inputs, 0 differ (a quick look: too short to judge by)\n";
    assert!(out.ends_with(counts), "{out}");
    let last = out.lines().count() - 1;
    assert!(out.lines().take(last).all(|line| line.chars().count() <= 120), "{out}");
    let written = std::fs::read_to_string(folder.path().join("made/results.json")).unwrap();
    assert!(written.contains("\"verdict\": \"bound-kept\"") && written.contains("\"bits_per_page\""), "{written}");
    // The same run again, over the earlier results, with another number of threads.
    let stored = std::fs::read(folder.path().join("made/slacker-plain.figures.json.gz")).unwrap();
    let again = [&args[..], &["--jobs", "1"]].concat();
    assert_eq!(message(folder.path(), &again, 0).0, out);
    assert_eq!(std::fs::read_to_string(folder.path().join("made/results.json")).unwrap(), written);
    assert_eq!(std::fs::read(folder.path().join("made/slacker-plain.figures.json.gz")).unwrap(), stored);
    // Other seeds are other runs, and the results say so.
    let other = [&args[..], &["--first-seed", "7"]].concat();
    message(folder.path(), &other, 0);
    let written = std::fs::read_to_string(folder.path().join("made/results.json")).unwrap();
    assert!(written.contains("\"first_seed\": 7,"), "{written}");
    assert!(folder.path().join("made/slacker-plain-from-7.figures.json.gz").exists());
}

#[test]
fn a_trace_takes_the_place_of_the_clone_of_its_name() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    // One page each, except the last request: that one touches 16 chips.
    let lines: String = (0..9).map(|i| format!("{} 0 {} 16 0\n", i * 1_000, i * 16)).collect();
    std::fs::write(folder.path().join("mine/src2-0.mqsim"), lines + "9000 0 0 256 0\n").unwrap();
    let args = ["paper", "slacker", "--quick", "--experiment", "E2", "--traces", "mine", "--tables"];
    let (out, _) = message(folder.path(), &args, 0);
    let row = out.lines().find(|line| line.trim_start().starts_with("src2-0-p")).unwrap_or_else(|| panic!("{out}"));
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["src2-0-p", "0.9000"]);
    let (_, err) =
        message(folder.path(), &["paper", "slacker", "--quick", "--experiment", "E2", "--traces", "none"], 2);
    assert!(err.contains("error: --traces none: cannot be read: No such file"), "{err}");
}

#[test]
fn wrong_names_are_bad_input() {
    let folder = folder();
    let (_, err) = message(folder.path(), &["paper", "slaker"], 2);
    assert_eq!(
        err,
        "error: paper \"slaker\": no such paper; there are slacker, flin, ncq, sos, precompletion, cross, real; did you mean \"slacker\"?\n"
    );
    let (_, err) = message(folder.path(), &["paper", "slacker", "--experiment", "E77"], 2);
    assert!(err.starts_with("error: experiment \"E77\": slacker has E1, "), "{err}");
    message(folder.path(), &["paper", "slacker", "--seeds", "0"], 2);
    let (_, err) = message(folder.path(), &["paper", "slacker", "--setting", "chosen", "--variant", "rate-12"], 2);
    assert!(err.starts_with("error: --variant \"rate-12\": slacker has rate-4.8, "), "{err}");
    assert!(err.ends_with("; did you mean \"rate-1.2\"?\n"), "{err}");
    let (_, err) = message(folder.path(), &["paper", "slacker", "--variant", "rate-1.2"], 2);
    assert_eq!(err, "error: --variant rate-1.2: it varies the chosen setting; add --setting chosen\n");
    let (_, err) = message(folder.path(), &["paper", "ncq", "--variant", "rate-1.2"], 2);
    assert_eq!(err, "error: --variant \"rate-1.2\": ncq has none\n");
    let (_, err) = message(folder.path(), &["paper", "real", "--quick"], 2);
    assert_eq!(err, "error: --traces: paper real replays the traces of a folder; name one\n");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_written() {
    let folder = folder();
    for wrong in
        [&["--experiment", "E77"][..], &["--variant", "short"], &["--experiment", "E21", "--traces", "nothing"]]
    {
        let args = [&["paper", "flin", "--quick", "--out", "out"], wrong].concat();
        let (_, err) = message(folder.path(), &args, 2);
        assert!(err.starts_with("error: ") && err.lines().count() == 1, "{err}");
        assert!(!folder.path().join("out").exists(), "{args:?}");
    }
}

/// A variant has results of its own, which say so, and a file of its own.
#[test]
fn a_variant_of_the_chosen_setting_is_written_apart() {
    let folder = folder();
    let args = [
        "paper",
        "slacker",
        "--quick",
        "--setting",
        "chosen",
        "--experiment",
        "E13",
        "--out",
        "made",
        "--variant",
        "rate-1.2",
    ];
    let (out, _) = message(folder.path(), &args, 0);
    assert!(out.contains("\nIts variant rate-1.2, under which no claim counts.\n"), "{out}");
    let of = |name: &str| std::fs::read_to_string(folder.path().join("made").join(name)).unwrap();
    assert!(of("results.json").contains("\"variant\": \"rate-1.2\","));
    let varied = of("claims.json");
    assert!(folder.path().join("made/slacker-chosen-rate-1.2.figures.json.gz").exists());
    message(folder.path(), &args[..9], 0);
    assert!(!of("results.json").contains("\"variant\""));
    assert_ne!(of("claims.json"), varied);
}

/// Two traces: each by itself, and the pair.
#[test]
fn the_comparisons_are_made_on_real_traces() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    for (name, step) in [("one.mqsim", 7), ("two.x.mqsim", 11)] {
        let line = |i: u64| format!("{} 0 {} {} {}\n", i * 100_000, i * step % 997 * 16, 8 * (1 + i % 5), i % 2);
        std::fs::write(folder.path().join("mine").join(name), (0..200).map(line).collect::<String>()).unwrap();
    }
    let real = ["paper", "real", "--quick", "--traces", "mine"];
    let (out, err) = message(folder.path(), &[&real[..], &["--tables"]].concat(), 0);
    assert!(err.contains("R1: ") && err.contains("R2: ") && err.contains("R3: "), "{err}");
    for table in ["slacker_one_page_improvement", "slacker_eight_pages_improvement", "sos_improvement", "flin_fairness"]
    {
        assert!(out.contains(&format!("\n{table}\n")), "{table}: {out}");
    }
    assert!(out.lines().any(|line| line.trim_start().starts_with("one+two ")), "{out}");
    let (out, _) = message(folder.path(), &[&real[..], &["--experiment", "R2"]].concat(), 0);
    let lines: Vec<&str> = out.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines[0].starts_with("The papers' comparisons on real traces"), "{out}");
    assert_eq!(lines.iter().filter(|line| line.trim_start().starts_with("median of 2 ")).count(), 6, "{out}");
    assert_eq!(lines.last(), Some(&"--tables prints the figures of each trace."));
}

/// The same figures twice, from a paper behind a host.
#[test]
fn precompletion_is_made_again() {
    let folder = folder();
    let arguments = ["paper", "precompletion", "--quick", "--experiment", "E1,E2,A3"];
    let (first, _) = message(folder.path(), &arguments, 0);
    assert_eq!(message(folder.path(), &arguments, 0).0, first);
    assert!(
        first.contains(
            "3 claims of the paper: 0 within 20 %, 1 within a factor of 2, 1 direction, 1 bound kept, 0 differs"
        ),
        "{first}"
    );
}

/// The quick parts of FLIN: the list, and an experiment twice.
#[test]
fn flin_is_made_again() {
    let folder = folder();
    let (out, _) = message(folder.path(), &["paper", "flin", "--list"], 0);
    assert!(out.contains("\n  E8, E9, E10, E11, E12, E13: five systems, and five with another collector, on 40 mixes of four traces per seed, 60 s each\n"), "{out}");
    assert!(out.contains("\n      not testable here: the drives are not available"), "{out}");
    let args = ["paper", "flin", "--quick", "--experiment", "E2,E3", "--tables", "--out", "made"];
    let (out, err) = message(folder.path(), &args, 0);
    assert!(err.contains("E2, E3: queues and waits of one flow of reads\n"), "{err}");
    let ends = |name: &str, verdict: &str| out.lines().filter(|l| l.starts_with(name) && l.ends_with(verdict)).count();
    assert_eq!((ends(" E2", "direction"), ends(" E3", "direction"), ends(" E3", "bound kept")), (1, 1, 1), "{out}");
    let written = std::fs::read_to_string(folder.path().join("made/results.json")).unwrap();
    // Runs of other seeds have other names.
    let (_, err) = message(folder.path(), &[&args[..], &["--first-seed", "2"]].concat(), 0);
    assert!(err.contains(" made now and 0 found"), "{err}");
    let again = [&args[..], &["--jobs", "1"]].concat();
    assert_eq!(message(folder.path(), &again, 0).0, out);
    assert_eq!(std::fs::read_to_string(folder.path().join("made/results.json")).unwrap(), written);
}
