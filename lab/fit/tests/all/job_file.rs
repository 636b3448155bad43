//! The job file as fio takes it.

use std::fs;
use std::process::{Command, Output};

use flashlane_fit::{FitError, JobFile, Probes, WriteJobFile, fit, points, standard, write_jobs};

fn fio(folder: &std::path::Path, args: &[&str]) -> Option<Output> {
    match Command::new("fio").args(args).current_dir(folder).output() {
        Ok(output) => Some(output),
        Err(_) => {
            println!("SKIPPED: fio is absent; tools/setup.sh fio installs it");
            None
        }
    }
}

/// On a file of 1 MiB, each job for a moment: options are fio's, results are read, and a file that memory answers for is refused.
#[test]
fn fio_runs_the_jobs_and_its_results_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = JobFile { size: 1 << 20, minutes: 1, engine: "libaio".into() };
    let text = file.text().replace("runtime=1", "runtime=100ms").replace("ramp_time=1", "ramp_time=0");
    // Some file systems have no direct access.
    let text = text.replace("direct=1", "direct=0");
    fs::write(folder.path().join("probe.fio"), text).expect("written");
    let args = ["--readonly", "--output-format=json+", "--output=probe.json", "--filename=drive", "probe.fio"];
    let Some(output) = fio(folder.path(), &args) else { return };
    assert!(!folder.path().join("drive").exists(), "a name that does not exist is not created");
    fs::write(folder.path().join("drive"), vec![1; 1 << 20]).expect("written");
    drop(output);
    let output = fio(folder.path(), &args).expect("it ran before");
    let told = fs::read_to_string(folder.path().join("probe.json")).expect("results");
    let points =
        points("probe.json", &told).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let names = |names: Vec<String>| names.join(" ");
    assert_eq!(
        names(points.iter().map(|point| point.name.clone()).collect()),
        names(standard(file.size).into_iter().map(|job| job.name).collect())
    );
    for (point, job) in points.iter().zip(standard(file.size)) {
        assert_eq!((point.bytes, point.depth, point.threads), (job.bytes, job.depth, job.threads), "{}", job.name);
        assert!(point.core_percent.is_some() && point.exactly(990_000).is_some(), "{point:?}");
    }
    let probes = Probes { points: &points, preset: None, amplification: None };
    let why = fit(&probes, flashlane_fit::Effort::SHORT, &|_| ()).expect_err("direct = 0");
    assert!(matches!(&why, FitError::Input(message) if message.contains("no device is fitted")), "{why}");
}

/// The jobs that write, on a file of 16 MiB and each for 0.4 s, in which a thread is run on a busy machine too: fio takes their options, runs
/// writers beside the thread that they belong to, and its results are read.
#[test]
fn fio_runs_the_jobs_that_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = WriteJobFile { size: 1 << 30, engine: "libaio".into() }.text();
    fs::write(folder.path().join("whole.fio"), &text).expect("written");
    let Some(parsed) = fio(folder.path(), &["--parse-only", "--filename=drive", "whole.fio"]) else { return };
    assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
    let mut short = text.replace("direct=1", "direct=0").replace("size=1073741824", "size=8388608");
    for (key, value) in [("runtime", "400ms"), ("ramp_time", "0"), ("thinktime", "10ms"), ("steadystate_duration", "1")]
    {
        let lines = short.lines().map(|line| match line.split_once('=') {
            Some((name, _)) if name == key => format!("{key}={value}\n"),
            _ => format!("{line}\n"),
        });
        short = lines.collect();
    }
    fs::write(folder.path().join("writes.fio"), short).expect("written");
    let args = ["--output-format=json+", "--output=writes.json", "--filename=drive", "writes.fio"];
    fio(folder.path(), &args).expect("it ran before");
    assert!(!folder.path().join("drive").exists(), "a name that does not exist is not created");
    fs::write(folder.path().join("drive"), vec![1; 16 << 20]).expect("written");
    let output = fio(folder.path(), &args).expect("it ran before");
    let told = fs::read_to_string(folder.path().join("writes.json")).expect("results");
    let points =
        points("writes.json", &told).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let mut expected = Vec::new();
    for job in write_jobs(1 << 30) {
        let has_writers = matches!(job.load, flashlane_fit::Load::Beside { .. });
        expected.push(job.name.clone());
        expected.extend(has_writers.then(|| format!("{}-writers", job.name)));
    }
    assert_eq!(points.iter().map(|point| point.name.clone()).collect::<Vec<_>>(), expected);
}
