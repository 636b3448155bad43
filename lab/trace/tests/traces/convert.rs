//! Converting: every writable format read back, and no incomplete output.

use std::path::Path;

use flashlane_core::arrival::WorkloadError;
use flashlane_outputs::{Cause, Existing, Inputs, OutFile, OutputError};
use flashlane_trace::{ConvertError, ConvertReport, recognise};

use super::*;

/// 500 requests on three devices that a format with this time resolution and sectors can express.
fn original(resolution_ns: u64) -> String {
    let mut ns = 0;
    (0..500u64)
        .map(|i| {
            ns += resolution_ns * (i * 7_919 % 97);
            format!("{ns} {} {} {} {}\n", i % 3, i * 104_729 % 1_000_003, 1 + i % 127, i * 31 % 7 % 2)
        })
        .collect()
}

/// Converts; an existing output is replaced.
pub fn convert(input: &Path, output: &Path, options: &TraceOptions, to: Format) -> Result<ConvertReport, ConvertError> {
    let output = OutFile::create(output, Existing::Replace, &Inputs::default())?;
    flashlane_trace::convert(input, output, options, u64::MAX, to)
}

/// The error of a conversion that fails on the input.
#[track_caller]
fn wrong(result: Result<ConvertReport, ConvertError>) -> WorkloadError {
    match result {
        Err(ConvertError::Input(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// The error of a conversion that fails on the output.
#[track_caller]
fn unwritten(result: Result<ConvertReport, ConvertError>) -> OutputError {
    match result {
        Err(ConvertError::Output(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn files(dir: &Path) -> Vec<String> {
    std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_writable_format_reads_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    for to in Format::ALL.into_iter().filter(|f| f.writable()) {
        let resolution = match to {
            Format::Tencent => 1_000_000_000,
            Format::Msr => 100,
            Format::Alibaba | Format::Systor | Format::Vscsi | Format::IologV2 | Format::IologV3 => 1_000,
            _ => 1,
        };
        let input = dir.path().join("in");
        std::fs::write(&input, original(resolution)).unwrap();
        let exact = |format| TraceOptions { jitter_seed: None, ..as_format(format) };
        let want = drain(TraceSource::open(&input, &exact(Format::Mqsim), HUGE).unwrap(), HUGE).unwrap();
        for extension in ["txt", "gz", "zst"] {
            let output = dir.path().join(format!("out-{to}.{extension}"));
            let report = convert(&input, &output, &exact(Format::Mqsim), to).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!((report.written, report.resolution_ns, report.to), (500, resolution, to));
            let head = std::fs::read(&output).unwrap();
            assert_eq!(head.starts_with(&[0x1f, 0x8b]), extension == "gz");
            assert_eq!(head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), extension == "zst");
            let back = drain(TraceSource::open(&output, &exact(to), HUGE).unwrap(), HUGE).unwrap();
            assert_eq!(back.rows, want.rows, "{to}");
            let found = recognise(&output).unwrap();
            assert!(found.format == to || to == Format::Mqsim || to == Format::Ssdsim, "{to}: {found:?}");
        }
    }
}

#[test]
fn devices_survive() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in"), dir.path().join("out"));
    for (from, to, device) in [
        (Format::Msr, Format::Msr, "usr,1"),
        (Format::Alibaba, Format::Tencent, "9"),
        (Format::Spc, Format::Mqsim, "1"),
        (Format::IologV3, Format::IologV2, "/dev/x"),
        (Format::Blkparse, Format::Blkparse, "8,0"),
    ] {
        std::fs::write(&input, sample(from)).unwrap();
        convert(&input, &output, &as_format(from), to).unwrap();
        let options = TraceOptions { device: Some(device.into()), ..as_format(to) };
        let back = drain(TraceSource::open(&output, &options, HUGE).unwrap(), HUGE).unwrap();
        assert!(!back.rows.is_empty(), "{from} to {to}");
    }
}

#[test]
fn options_apply_to_what_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in"), dir.path().join("out"));
    std::fs::write(&input, "1000 0 16 8 1\n2000 1 32 8 0\n4000 0 48 8 1\n").unwrap();
    let options = TraceOptions { device: Some("0".into()), speedup: "2".parse().unwrap(), ..as_format(Format::Mqsim) };
    convert(&input, &output, &options, Format::Mqsim).unwrap();
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "0 0 16 8 1\n1500 0 48 8 1\n");
}

#[test]
fn a_failure_leaves_nothing_and_keeps_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in"), dir.path().join("out.gz"));
    std::fs::write(&output, "precious").unwrap();
    let mut text = original(1);
    text.push_str("broken\n");
    std::fs::write(&input, text).unwrap();
    let why = wrong(convert(&input, &output, &as_format(Format::Mqsim), Format::Msr));
    assert_eq!(why.place, format!("{}:501", input.display()));
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "precious");
    let mut left = files(dir.path());
    left.sort();
    assert_eq!(left, ["in", "out.gz"]);
}

#[test]
fn what_a_format_cannot_say_is_refused_with_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in"), dir.path().join("out"));
    std::fs::write(&input, "0 0 512 512 1\n1 0 512 100 1\n").unwrap();
    let why = wrong(convert(&input, &output, &as_format(Format::Replayer), Format::Mqsim));
    assert_eq!(why.place, format!("{}:2", input.display()));
    assert!(why.message.contains("size of 100 bytes; legal for MQSim ASCII are multiples of 512"), "{why}");
    assert!(!output.exists());
    let why = wrong(convert(&input, &output, &as_format(Format::Replayer), Format::Blktrace));
    assert!(why.message.contains("legal is one of msr"), "{why}");
    let nowhere = dir.path().join("no/such/dir/out");
    let why = unwritten(convert(&input, &nowhere, &as_format(Format::Replayer), Format::Msr));
    assert!(why.path.ends_with("out") && why.message.contains("cannot be written"), "{why}");
    let why = unwritten(convert(&input, dir.path(), &as_format(Format::Replayer), Format::Msr));
    assert!(why.message.contains("is a directory"), "{why}");
}

/// A read, a write, a forced write, a trim, write zeroes and a flush, 1 ms apart.
const KINDS: &str = "time_ms,op,offset,length\n0,read,0,4096\n1,write,4096,4096\n2,write-fua,8192,4096\n3,trim,0,8192\n\
     4,write-zeroes,8192,4096\n5,flush,,\n";

#[test]
fn kinds_that_a_format_has_not_are_left_out_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in"), dir.path().join("out"));
    std::fs::write(&input, KINDS).unwrap();
    let all = drain(TraceSource::open(&input, &as_format(Format::Csv), HUGE).unwrap(), HUGE).unwrap().rows;
    for to in Format::ALL.into_iter().filter(|f| f.writable()) {
        let (kinds, fua): (&[Op], bool) = match to {
            Format::Csv => (&[T, Z, F], true),
            Format::Blkparse => (&[T, F], true),
            Format::IologV2 | Format::IologV3 => (&[T, F], false),
            Format::Vscsi => (&[F], false),
            _ => (&[], false),
        };
        let options = TraceOptions { jitter_seed: None, ..as_format(Format::Csv) };
        let report = convert(&input, &output, &options, to).unwrap_or_else(|why| panic!("{to}: {why}"));
        let rest: Vec<Row> = all.iter().copied().filter(|row| row.1.is_data() || kinds.contains(&row.1)).collect();
        let counted = (report.written, report.left_out, report.without_fua);
        assert_eq!(counted, (rest.len() as u64, 3 - kinds.len() as u64, u64::from(!fua)), "{to}");
        let back = TraceOptions { jitter_seed: None, ..as_format(to) };
        let back = drain(TraceSource::open(&output, &back, HUGE).unwrap(), HUGE).unwrap();
        let without_time = |rows: &[Row]| rows.iter().map(|row| (row.1, row.2, row.3)).collect::<Vec<_>>();
        assert_eq!(without_time(&back.rows), without_time(&rest), "{to}");
        assert_eq!(back.fua, if fua { vec![2] } else { vec![] }, "{to}");
    }
}

#[test]
fn a_place_that_no_file_can_have_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in");
    std::fs::write(&input, original(1)).unwrap();
    let inside_a_file = input.join("out");
    let why = unwritten(convert(&input, &inside_a_file, &as_format(Format::Mqsim), Format::Msr));
    assert!(why.cause == Cause::Refused && why.message.contains("cannot be written"), "{why}");
    assert_eq!(files(dir.path()), ["in"]);
}

/// fio itself replays what is written: every file is added and opened before its first request, and closed at the end.
#[test]
fn fio_replays_its_logs() {
    let fio = std::process::Command::new("fio").arg("--version").output();
    if !fio.is_ok_and(|fio| fio.status.success()) {
        println!("SKIPPED: no fio on the PATH: its logs were not replayed by it");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("in");
    // Twenty requests of two devices, a microsecond apart.
    let lines = (0..20).map(|i| format!("{i},{},{},4096,{}\n", i % 2, i * 4096, ["write", "write", "read"][i % 3]));
    let text = format!("time_us,device,offset,length,op\n{}20,0,,,flush\n21,1,,,flush\n", lines.collect::<String>());
    std::fs::write(&input, text).unwrap();
    let columns = "time=time_us,op=op,offset=offset,length=length,device=device".parse().unwrap();
    let with_device = TraceOptions { columns: Some(columns), ..TraceOptions::default() };
    for (to, version) in [(Format::IologV2, "2"), (Format::IologV3, "3")] {
        let log = dir.path().join(format!("log.{version}"));
        convert(&input, &log, &with_device, to).unwrap();
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(["add", "open", "close"].map(|action| text.matches(action).count()), [2, 2, 2], "{text}");
        let log = log.to_str().unwrap();
        let made = std::process::Command::new("fio")
            .args(["--name=replay", "--ioengine=null", "--output-format=json", &format!("--read_iolog={log}")])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&made.stdout);
        let json: serde_json::Value = serde_json::from_str(&printed[printed.find('{').expect("JSON")..]).expect("JSON");
        let job = &json["jobs"][0];
        assert_eq!(job["error"], 0, "{printed}");
        let ios = ["read", "write", "sync"].map(|kind| job[kind]["total_ios"].as_u64().unwrap());
        assert_eq!(ios, [6, 14, 2], "fio replayed all requests of version {version}");
    }
}
