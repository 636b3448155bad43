//! The `block:` events of the kernel as text: of ftrace's `trace` and `trace_pipe`, of `trace-cmd report` and of `perf script`, which have
//! `process [cpu] seconds: event: what it says` in common.
//!
//! One event is read: `block_bio_queue` (Q), `block_rq_issue` (D) or `block_rq_complete` (C). Other events, what the tools print about
//! themselves and the frames of call chains are skipped; where a tool says that events were lost, that is counted. The letters of
//! operations are those of blkparse.

use super::definition::{About, How, Recognised, TraceFormat};
use super::event::{Event, device, is_device, remapped_from, request, rwbs, sector};
use super::record::Line;
use crate::TimeUnit;
use crate::action::Action;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "ftrace",
        title: "ftrace, trace-cmd or perf text",
        shape: "process-pid [cpu] seconds: block_rq_issue: major,minor rwbs bytes () sector + sectors [process]",
        time_unit: TimeUnit::S,
        recognised: Recognised::Lines(|line| event(line).is_some()),
        event: Some(event),
        sample: "  fio-97  [000] ..... 12.000001: block_bio_queue: 8,0 R 16 + 8 [fio]\n  fio-97  [001] ..... 12.000003: block_bio_queue: 8,0 WS 80 + 48 [fio]\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, _: u64) -> Result<Line, Fault> {
        let whole = line.line();
        let Some(found) = Head::of(whole) else {
            return if is_beside(whole) { Ok(Line::Skip) } else { Err(line.fault("the event", EVENT)) };
        };
        if action_of(found.name) != Some(how.action) {
            return Ok(Line::Skip);
        }
        let mut time = line.part(found.time.0, found.time.1);
        let time_ns = how.time(&mut time, |time| match time.line().contains(&b'.') {
            true => time.decimal("the time in seconds", 9),
            false => Err(time.fault("the time in seconds", POINT)),
        });
        let within = |from: usize| move |fault: Fault| Fault { at: fault.at + from, ..fault };
        let time_ns = time_ns.map_err(within(found.time.0))?;
        let from = found.says;
        let mut says = line.part(from, whole.len());
        request_of(how.action, &mut says, time_ns, from).map_err(within(from))
    }
}

/// The request of an event, from the device on, which is `from` bytes into the line.
fn request_of(action: Action, says: &mut Cursor<'_>, time_ns: u64, from: usize) -> Result<Line, Fault> {
    let device = device(says)?;
    let device = (device.0 + from as u32, device.1 + from as u32);
    let rwbs = rwbs(says)?;
    if action != Action::Queue && !command(says)? {
        return Ok(Line::Skip);
    }
    request(says, rwbs, time_ns, device)
}

/// What a line must be, for messages.
const EVENT: &str = "process [cpu] seconds: event: ..., as trace_pipe, trace-cmd report and perf script print it";
const POINT: &str = "seconds with a decimal point (times of another clock need a unit: time_unit, --time-unit)";

/// Passes over the bytes of an issued request and its command; false if that is one that is passed through.
fn command(says: &mut Cursor<'_>) -> Result<bool, Fault> {
    says.blanks();
    if says.peek().is_some_and(|b| b.is_ascii_digit()) {
        says.number("the bytes")?;
        says.blanks();
    }
    if says.peek() != Some(b'(') {
        return Err(says.fault("the command", "`()`, or the bytes of a command that is passed through in brackets"));
    }
    let is_plain = says.line()[says.pos()..].starts_with(b"()");
    if is_plain {
        says.word();
    }
    Ok(is_plain)
}

/// The action that an event is.
fn action_of(name: &[u8]) -> Option<Action> {
    match name {
        b"block_bio_queue" => Some(Action::Queue),
        b"block_rq_issue" => Some(Action::Issue),
        b"block_rq_complete" => Some(Action::Complete),
        _ => None,
    }
}

/// Where the parts of a line stand that has an event.
struct Head<'a> {
    time: (usize, usize),
    name: &'a [u8],
    /// Where it begins to say what happened.
    says: usize,
}

impl<'a> Head<'a> {
    /// The first `seconds: event:` of the line; a period may stand between the two, and `block:` before the event.
    fn of(line: &'a [u8]) -> Option<Head<'a>> {
        let mut colons = memchr::memchr_iter(b':', line);
        colons.find_map(|colon| {
            let start = line[..colon].iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
            let time = &line[start..colon];
            let is_time = time.first().is_some_and(u8::is_ascii_digit)
                && time.iter().all(|b| b.is_ascii_digit() || *b == b'.')
                && time.iter().filter(|b| **b == b'.').count() <= 1;
            let rest = line.get(colon + 1..)?;
            if !is_time || !rest.first()?.is_ascii_whitespace() {
                return None;
            }
            let mut at = colon + 1;
            let (mut from, mut to) = word(line, at)?;
            if line[from..to].iter().all(u8::is_ascii_digit) {
                at = to;
                (from, to) = word(line, at)?;
            }
            let name = line[from..to].strip_suffix(b":")?;
            let name = name.strip_prefix(b"block:").unwrap_or(name);
            let says =
                line[to..].iter().position(|b| !b.is_ascii_whitespace()).map_or(line.len(), |blanks| to + blanks);
            Some(Head { time: (start, colon), name, says })
        })
    }
}

/// The word at or after `at`.
fn word(line: &[u8], at: usize) -> Option<(usize, usize)> {
    let from = at + line[at..].iter().position(|b| !b.is_ascii_whitespace())?;
    let to = line[from..].iter().position(u8::is_ascii_whitespace).map_or(line.len(), |length| from + length);
    Some((from, to))
}

/// Whether a line is one that the tools print beside events: about CPUs and lost events, of another tracer, or a frame of a call chain.
fn is_beside(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let begins = |heads: &[&[u8]]| heads.iter().any(|head| text.starts_with(head));
    let is_hexadecimal = |word: &[u8]| word.len() >= 4 && word.iter().all(u8::is_ascii_hexdigit);
    let first = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_frame = line.first().is_some_and(u8::is_ascii_whitespace) && is_hexadecimal(first);
    begins(&[b"cpus=", b"version = ", b"=> "]) || is_lost(text) || is_cpu(text) || is_frame || is_other_tracer(text)
}

/// `CPU 3 is empty`, `CPU:1 [LOST 5 EVENTS]`, `CPU 1: 5 EVENTS DROPPED`.
fn is_cpu(text: &[u8]) -> bool {
    let number = text.strip_prefix(b"CPU").and_then(|rest| rest.strip_prefix(b" ").or(rest.strip_prefix(b":")));
    number.and_then(|rest| rest.first()).is_some_and(u8::is_ascii_digit)
}

/// Whether the tool says that events were lost before this line.
fn is_lost(text: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    (text.starts_with(b"CPU") || text.starts_with(b"[")) && (has(b"LOST") || has(b"DROPPED"))
}

/// `process-pid [000] 12.000001: function <-caller`: a line with a CPU and a time whose event has no name.
fn is_other_tracer(text: &[u8]) -> bool {
    let cpu = text.split(u8::is_ascii_whitespace).any(|word| {
        let inside = word.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
        inside.is_some_and(|digits| digits.len() >= 3 && digits.iter().all(u8::is_ascii_digit))
    });
    let is_time = |word: &[u8]| {
        word.strip_suffix(b":")
            .is_some_and(|time| time.contains(&b'.') && time.iter().all(|b| b.is_ascii_digit() || *b == b'.'))
    };
    cpu && text.split(u8::is_ascii_whitespace).any(is_time)
}

/// The event of a line, if it is a `block:` event or says that some were lost.
fn event(line: &[u8]) -> Option<Event<'_>> {
    let Some(Head { name, says, .. }) = Head::of(line) else {
        return is_lost(line.trim_ascii()).then_some(Event::Lost);
    };
    if !name.starts_with(b"block_") {
        return None;
    }
    let device = line[says..].split(u8::is_ascii_whitespace).next().filter(|word| is_device(word));
    Some(match (name, device, action_of(name)) {
        (_, Some(device), Some(action)) => Event::Request { device, action, sector: sector(&line[says..]) },
        (b"block_bio_remap" | b"block_rq_remap", Some(to), _) => match remapped_from(line) {
            Some(from) => Event::Remap { from, to, sector: sector(&line[says..]) },
            None => Event::Other(name),
        },
        _ => Event::Other(name),
    })
}
