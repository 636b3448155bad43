//! The figures of a running server for Prometheus: the text, and the page at which it is read.

use std::fmt::{Display, Write as _};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use flashlane_core::Op;
use flashlane_report::metrics::Histogram;

use crate::control::ServerHandle;
use crate::limited::Limited;
use crate::listener::{answer_each, reason, too_many};
use crate::snapshot::Snapshot;

/// How long a client may take to ask, and to take the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest head of a request.
const HEAD_BYTES: usize = 8 << 10;

const UNAVAILABLE: &str = "503 Service Unavailable";

/// Upper bounds of the buckets of a histogram, us.
const BOUNDS_US: [u64; 16] =
    [5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000, 10_000_000];

/// Answers clients at `address`, on threads of their own; where it listens.
///
/// # Errors
/// An address that cannot be listened at, in words.
pub(crate) fn open(address: SocketAddr, handle: ServerHandle) -> Result<SocketAddr, String> {
    let failed = |why: io::Error| format!("--metrics {address}: cannot be listened at: {}", reason(&why));
    let listener = TcpListener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let serve =
        move || answer_each(listener.incoming(), move |client| answer(&client, &handle), |client| refuse(&client));
    std::thread::Builder::new().name("metrics".into()).spawn(serve).map_err(failed)?;
    Ok(bound)
}

/// Answers a request of HTTP.
fn answer(client: &TcpStream, handle: &ServerHandle) -> io::Result<()> {
    let mut asking = Limited::new(client, TIMEOUT);
    let mut head = Vec::new();
    let mut some = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = asking.read(&mut some)?;
        if count == 0 || head.len() > HEAD_BYTES {
            return Ok(());
        }
        head.extend_from_slice(&some[..count]);
    }
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let asked = line.split(|&byte| byte == b' ').collect::<Vec<_>>();
    let (status, body) = match asked[..] {
        [b"GET", b"/metrics", _] => match handle.snapshot() {
            Some(snapshot) => ("200 OK", text(&snapshot)),
            None => (UNAVAILABLE, "the server has ended\n".into()),
        },
        [b"GET", ..] => ("404 Not Found", "the figures are at /metrics\n".into()),
        _ => ("405 Method Not Allowed", "only GET\n".into()),
    };
    send(client, status, &body)
}

/// Tells a client that too many others are being answered, without a wait for what it may send.
fn refuse(mut client: &TcpStream) -> io::Result<()> {
    client.set_nonblocking(true)?;
    let _ = client.read(&mut [0; HEAD_BYTES]);
    send(client, UNAVAILABLE, &too_many())
}

/// Sends an answer of HTTP.
fn send(client: &TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    Limited::new(client, TIMEOUT).write_all((head + body).as_bytes())
}

/// All figures in Prometheus' text format.
fn text(snapshot: &Snapshot) -> String {
    let mut page = Page(String::new());
    of_exports(&mut page, snapshot);
    page.family("flashlane_late_seconds", "histogram", "How much later than by the model commands were answered");
    page.histogram("flashlane_late_seconds", "", &snapshot.late);
    page.one("flashlane_connections", "gauge", "Open connections", snapshot.connections);
    let seconds = snapshot.simulated_ns as f64 / 1e9;
    page.one("flashlane_simulated_seconds_total", "counter", "Simulated time since the start", seconds);
    page.one("flashlane_time_scale", "gauge", "Real seconds that a simulated one takes", snapshot.time_scale);
    page.family("flashlane_scheduler", "gauge", "1 for the scheduler that decides");
    page.value("flashlane_scheduler", &format!("scheduler=\"{}\"", escaped(&snapshot.scheduler)), 1);
    of_drive(&mut page, snapshot);
    page.0
}

fn of_exports(page: &mut Page, snapshot: &Snapshot) {
    let labels: Vec<String> =
        snapshot.exports.iter().map(|export| format!("export=\"{}\"", escaped(&export.name))).collect();
    let with_op = |label: &str, op: Op| format!("{label},op=\"{}\"", op.name());
    let ops = Op::ALL;
    page.family("flashlane_response_seconds", "histogram", "Response times of the drive, simulated");
    for (export, label) in snapshot.exports.iter().zip(&labels) {
        for op in ops {
            page.histogram("flashlane_response_seconds", &with_op(label, op), &export.response[op.index()]);
        }
    }
    page.family("flashlane_bytes_total", "counter", "Bytes of commands that are done");
    for (export, label) in snapshot.exports.iter().zip(&labels) {
        for op in ops {
            page.value("flashlane_bytes_total", &with_op(label, op), export.bytes[op.index()]);
        }
    }
    page.family("flashlane_failed_total", "counter", "Commands that failed");
    for (export, label) in snapshot.exports.iter().zip(&labels) {
        page.value("flashlane_failed_total", label, export.failed);
    }
    page.family("flashlane_under_way", "gauge", "Commands that are under way");
    for (count, label) in snapshot.under_way.iter().zip(&labels) {
        page.value("flashlane_under_way", label, count);
    }
    page.family("flashlane_priority", "gauge", "Priority of the commands that enter now");
    for (priority, label) in snapshot.priorities.iter().zip(&labels) {
        page.value("flashlane_priority", label, priority);
    }
}

fn of_drive(page: &mut Page, snapshot: &Snapshot) {
    let drive = &snapshot.drive;
    page.family("flashlane_programs_total", "counter", "Pages programmed");
    let programs = drive.programs();
    for (cause, pages) in programs.by_cause() {
        page.value("flashlane_programs_total", &format!("by=\"{cause}\""), pages);
    }
    if let Some(amplification) = programs.write_amplification() {
        let help = "Pages programmed over those for the host, since the start";
        page.one("flashlane_write_amplification", "gauge", help, amplification);
    }
    page.one("flashlane_erases_total", "counter", "Blocks erased", drive.erases);
    page.one("flashlane_pauses_total", "counter", "Programs and erases paused for reads", drive.pauses);
    let count = |what: fn(&crate::UnitView) -> bool| snapshot.units.iter().filter(|unit| what(unit)).count();
    page.one("flashlane_units", "gauge", "Units that do something by themselves: dies or chips", snapshot.units.len());
    page.one("flashlane_busy_units", "gauge", "Units that do something", count(|unit| unit.is_busy));
    page.one("flashlane_paused_units", "gauge", "Units with a paused program or erase", count(|unit| unit.is_paused));
    let collecting = count(|unit| unit.collecting > 0);
    page.one("flashlane_collecting_units", "gauge", "Units at which collection waits", collecting);
    page.family("flashlane_waiting", "gauge", "Reads and programs that wait at a unit");
    let per_channel = snapshot.units_per_channel.max(1);
    for (number, unit) in snapshot.units.iter().enumerate() {
        let at = format!("channel=\"{}\",unit=\"{}\"", number / per_channel, number % per_channel);
        for (op, waiting) in ["read", "program"].iter().zip(unit.waiting) {
            page.value("flashlane_waiting", &format!("{at},op=\"{op}\""), waiting);
        }
    }
}

/// What is being written.
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            _ => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.value(name, "", value);
    }

    /// A histogram of ns in seconds: values of a bucket count where all of them are within the bound.
    fn histogram(&mut self, name: &str, labels: &str, histogram: &Histogram) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut buckets = histogram.cdf().into_iter().peekable();
        let (bucket, mut below) = (format!("{name}_bucket"), 0);
        for bound in BOUNDS_US {
            while let Some((_, count)) = buckets.next_if(|&(highest, _)| highest <= bound * 1_000) {
                below = count;
            }
            self.value(&bucket, &format!("{labels}{comma}le=\"{}\"", bound as f64 / 1e6), below);
        }
        self.value(&bucket, &format!("{labels}{comma}le=\"+Inf\""), histogram.count());
        self.value(&format!("{name}_sum"), labels, histogram.sum() as f64 / 1e9);
        self.value(&format!("{name}_count"), labels, histogram.count());
    }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::snapshot;

    #[test]
    fn figures_are_those_of_the_snapshot() {
        let mut snapshot = snapshot();
        snapshot.exports[0].name = "a\"b\\".into();
        let text = text(&snapshot);
        for line in [
            "flashlane_response_seconds_bucket{export=\"a\\\"b\\\\\",op=\"read\",le=\"0.00005\"} 0",
            "flashlane_response_seconds_bucket{export=\"a\\\"b\\\\\",op=\"read\",le=\"0.0001\"} 1",
            "flashlane_response_seconds_bucket{export=\"a\\\"b\\\\\",op=\"read\",le=\"0.0002\"} 1",
            "flashlane_response_seconds_bucket{export=\"a\\\"b\\\\\",op=\"read\",le=\"0.002\"} 3",
            "flashlane_response_seconds_bucket{export=\"a\\\"b\\\\\",op=\"read\",le=\"+Inf\"} 3",
            "flashlane_response_seconds_sum{export=\"a\\\"b\\\\\",op=\"read\"} 0.00209",
            "flashlane_response_seconds_count{export=\"a\\\"b\\\\\",op=\"write\"} 0",
            "flashlane_bytes_total{export=\"a\\\"b\\\\\",op=\"read\"} 12288",
            "flashlane_under_way{export=\"a\\\"b\\\\\"} 5",
            "flashlane_scheduler{scheduler=\"flin\"} 1",
            "flashlane_waiting{channel=\"1\",unit=\"1\",op=\"program\"} 7",
            "flashlane_programs_total{by=\"host\"} 3",
            "flashlane_programs_total{by=\"collection\"} 9",
            "flashlane_programs_total{by=\"mapping\"} 4",
            "flashlane_programs_total{by=\"fold\"} 7",
            "flashlane_programs_total{by=\"padding\"} 1",
            "flashlane_write_amplification 8",
            "flashlane_busy_units 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        // Every figure has its help and its type before it, once.
        let mut named = Vec::new();
        for line in text.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(name) => named.push(name.split(' ').next().unwrap_or_default().to_owned()),
                None if line.starts_with('#') => {}
                None => assert!(line.starts_with(named.last().expect("a type")), "{line}"),
            }
        }
        let count = named.len();
        named.sort();
        named.dedup();
        assert_eq!(named.len(), count);
    }
}
