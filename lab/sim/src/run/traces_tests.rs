//! Readers of traces, those of kept requests too, held against a source of their own.

use super::*;
use flashlane_scenario::Scenario;

/// The flow of a scenario whose trace is a file of these lines, in which anything goes.
fn trace(suffix: &str, lines: &str, keys: &str) -> (tempfile::NamedTempFile, FlowPlan) {
    let file = tempfile::Builder::new().suffix(suffix).tempfile().expect("a temporary file");
    std::fs::write(file.path(), lines).expect("written");
    let path = file.path().display().to_string();
    let toml = format!("[device]\npreset = \"flin-isca18\"\n[[flow]]\ntrace = {{ path = {path:?}, {keys} }}\n");
    let scenario = Scenario::parse("trace.toml", toml).unwrap_or_else(|error| panic!("{error}"));
    let config = scenario.device_config().expect("a device");
    let plan = scenario.flows(&config).unwrap_or_else(|error| panic!("{error}")).remove(0);
    (file, plan)
}

const ANYTHING: &str = "order = \"clamp\", beyond = \"reject\"";

fn traces(bytes: usize) -> Traces {
    Traces { left: Arc::new(AtomicUsize::new(bytes)), ..Traces::new(1, true) }
}

fn open(traces: &Traces, plan: &FlowPlan) -> TraceReader {
    traces.open(0, plan).expect("a trace").expect("of the flow")
}

/// What a reader gives, request by request with what was counted by then; at the end its rate and remarks.
type Read = (Vec<(Arrival, [u64; Op::ALL.len()])>, Result<(Recorded, u64, String), WorkloadError>);

fn read(mut reader: TraceReader) -> Read {
    let mut found = Vec::new();
    loop {
        let mut arrival = Arrival::NONE;
        match reader.next_request(&mut arrival) {
            Ok(Produced::Request) => found.push((arrival, reader.rejected())),
            Ok(_) => return (found, Ok((reader.recorded(), reader.expected(), reader.remarks()))),
            Err(why) => return (found, Err(why)),
        }
    }
}

/// Requests of which some lie beyond the drive, some go back in time, and the last is beyond too.
fn lines(count: u64) -> String {
    let line = |i| {
        let sector = if i % 97 == 96 || i + 1 == count { 1 << 40 } else { i * 7_919 % 2_000_000 };
        let at = if i % 31 == 30 { i * 1_000 - 20_000 } else { i * 1_000 };
        format!("{at} 0 {sector} {} {}\n", 1 + i % 64, i % 2)
    };
    (0..count).map(line).collect()
}

#[test]
fn kept_requests_are_those_of_a_source() {
    let iolog =
        "fio version 2 iolog\nd add\nd open\nd write 0 4096\nd trim 8192 65536\nd sync 0 0\nd read 4096 512\nd close\n";
    for (suffix, text, keys) in [(".ascii", lines(40_000), ANYTHING), (".iolog", iolog.to_owned(), "speedup = 3")] {
        let (_file, plan) = trace(suffix, &text, keys);
        let directly = read(TraceReader::open(&plan, 0).expect("a trace").expect("of the flow"));
        let (recorded, expected, remarks) = directly.1.as_ref().expect("sound");
        assert_eq!((recorded.requests, *expected), (directly.0.len() as u64, directly.0.len() as u64));
        assert!(suffix != ".iolog" || recorded.bytes == 4096 + 512, "bytes that are read and written: {recorded:?}");
        assert!(suffix != ".ascii" || remarks.contains("; 413 rejected; "), "{remarks}");
        let traces = traces(KEPT_BYTES);
        let second = open(&traces, &plan);
        assert!(read(second) == directly);
        for _ in 0..2 {
            let kept = open(&traces, &plan);
            assert!(matches!(kept.from, Requests::Kept(_)));
            assert!(read(kept) == directly);
        }
    }
}

#[test]
fn what_does_not_fit_is_read_by_each() {
    let (_file, plan) = trace(".ascii", &lines(40_000), ANYTHING);
    let directly = read(TraceReader::open(&plan, 0).expect("a trace").expect("of the flow"));
    let traces = traces(400_000);
    for _ in 0..2 {
        assert!(read(open(&traces, &plan)) == directly);
        assert!(matches!(*lock(&traces.flows[0]), Slot::Closed));
        assert_eq!(traces.left.load(Relaxed), 400_000, "what was begun is given back");
    }
}

/// One that is open meanwhile reads on its own, and so does the next after one that stopped before the end.
#[test]
fn only_a_whole_trace_is_kept() {
    let (_file, plan) = trace(".ascii", &lines(9_000), ANYTHING);
    let traces = traces(KEPT_BYTES);
    let mut first = open(&traces, &plan);
    let beside = open(&traces, &plan);
    assert!(first.keeper.is_some() && beside.keeper.is_none());
    assert_eq!(first.next_request(&mut Arrival::NONE.clone()), Ok(Produced::Request));
    assert_eq!(first.recorded().requests, RATED as u64, "one request has no rate");
    drop((first, beside));
    assert!(matches!(*lock(&traces.flows[0]), Slot::Free));
    assert!(open(&traces, &plan).keeper.is_some());
}

#[test]
fn an_error_comes_where_it_stands_and_again() {
    let (_file, plan) = trace(".ascii", &(lines(10_000) + "12000000 0 seven 8 1\n" + &lines(5)), ANYTHING);
    let traces = traces(KEPT_BYTES);
    for _ in 0..2 {
        let (found, end) = read(open(&traces, &plan));
        assert_eq!(found.len(), 9_896);
        assert!(end.is_err_and(|why| why.to_string().contains(":10001: ")));
    }
}

#[test]
fn the_number_of_requests_is_estimated_and_then_known() {
    let (_file, plan) = trace(".ascii", &lines(400_000), ANYTHING);
    let traces = traces(KEPT_BYTES);
    let mut reader = open(&traces, &plan);
    reader.next_request(&mut Arrival::NONE.clone()).expect("a request");
    assert!((1..4_000_000).contains(&reader.expected()), "{}", reader.expected());
    let (found, ..) = read(reader);
    assert_eq!(open(&traces, &plan).expected(), 1 + found.len() as u64);
}

/// One run alone keeps nothing: nobody would read it.
#[test]
fn one_run_keeps_nothing() {
    let ((_file, plan), traces) = (trace(".ascii", &lines(20), ANYTHING), Traces::new(1, false));
    read(open(&traces, &plan)).1.expect("sound");
    assert!(matches!(&*lock(&traces.flows[0]), Slot::Closed));
}
