//! The words for a request's history.

use std::fmt::Write as _;

use flashlane_core::Op;
use flashlane_core::transaction::FlashOp;

use super::{Account, Occupant, RequestHistory, TransactionHistory, Wait};
use crate::results::Decisions;
use crate::results::format::{count, signed, time};

/// Transactions of a request that are told one by one; the last to end decides.
const TOLD: usize = 3;

/// A request's history under a scheduler with these decisions; `flows` are the names of the flows.
pub fn history(history: &RequestHistory, scheduler: &str, decisions: &Decisions, flows: &[String]) -> String {
    let done = history.done_ns.unwrap_or(history.arrival_ns);
    let flow = name(flows, history.flow.0);
    let kind = match history.pages {
        0 => history.op.name().to_owned(),
        1 => format!("{} of 1 page", history.op.name()),
        pages => format!("{} of {pages} pages", history.op.name()),
    };
    let fua = if history.fua { " with FUA" } else { "" };
    let mut text = format!(
        "Request {} of {flow} under {scheduler}: {kind}{fua}, arrived at {}, done after {}\n",
        history.request,
        time(history.arrival_ns as f64),
        time((done - history.arrival_ns) as f64)
    );
    let above = history.submitted_ns - history.arrival_ns;
    if above > 0 {
        let _ =
            writeln!(text, "  {} before the device got it (block layer, or a change of scheduler)", time(above as f64));
    }
    let outside = history.admitted_ns - history.submitted_ns;
    if outside > 0 {
        let _ = writeln!(
            text,
            "  {} outside the device, on the link and in its submission queue (admit {})",
            time(outside as f64),
            decisions.admit
        );
    }
    if history.from_memory > 0 {
        let _ =
            writeln!(text, "  {} of its pages from memory: a waiting write, or the page buffer", history.from_memory);
    }
    let inside = done.saturating_sub(history.admitted_ns.max(history.arrival_ns));
    let waited_for = match history.op {
        Op::Flush => Some("a flush waits for the programs of the pages that are dirty when it comes"),
        Op::Write if history.fua && history.from_memory > 0 => {
            Some("FUA waits for the programs of its pages, unless the buffer is protected")
        }
        Op::Trim | Op::WriteZeroes => Some("it changes the map"),
        Op::Read | Op::Write => None,
    };
    if let Some(waited_for) = waited_for {
        let _ = writeln!(text, "  {} in the device and on the link back: {waited_for}", time(inside as f64));
    }
    let steps: Vec<&TransactionHistory> = history.transactions.iter().rev().collect();
    for (i, step) in steps.iter().take(TOLD).enumerate() {
        let last = if i == 0 && steps.len() > 1 { ", the last to end" } else { "" };
        self::step(&mut text, history, step, last, decisions, flows);
    }
    if steps.len() > TOLD {
        let _ = writeln!(text, "  {} more transactions ended earlier", count((steps.len() - TOLD) as u64));
    }
    text
}

fn step(
    text: &mut String,
    history: &RequestHistory,
    step: &TransactionHistory,
    last: &str,
    decisions: &Decisions,
    flows: &[String],
) {
    let (channel, chip, die) = step.place;
    let what = match step.op {
        FlashOp::Read => "read",
        FlashOp::Program => "program",
        FlashOp::Erase => "erase",
    };
    let _ = writeln!(text, "  {what} of page {} on die {channel}.{chip}.{die}{last}", step.lpn);
    let late = step.queued_ns.saturating_sub(history.admitted_ns);
    if late > 0 {
        let what = match step.op {
            FlashOp::Read => "its entry of the map, or space in the buffer for writes before it, came",
            FlashOp::Program | FlashOp::Erase => "the rest of its page, or its entry of the map, was fetched",
        };
        let _ =
            writeln!(text, "    joined its queue {} after the request had entered: {what} first", time(late as f64));
    }
    let Some(begun) = step.begun_ns else {
        let _ = writeln!(text, "    never reached the flash (cancel {})", decisions.cancel);
        return;
    };
    if step.moves > 0 {
        let _ = writeln!(text, "    moved to another chip {} times (place {})", step.moves, decisions.place);
    }
    waits(text, step, begun - step.queued_ns, decisions, flows);
    if let Some((joined, left)) = step.slack_ns {
        let _ = writeln!(
            text,
            "    its slack: {} when it joined its queue, {} when it began",
            time(joined as f64),
            time(left as f64)
        );
    }
    let served = step.ended_ns - begun;
    let paused = if step.paused_ns > 0 {
        format!(", of which paused {} (preempt {})", time(step.paused_ns as f64), decisions.preempt)
    } else {
        String::new()
    };
    let _ = writeln!(text, "    then served in {}{paused}", time(served as f64));
}

/// How long a transaction waited, and for what, the longest first.
fn waits(text: &mut String, step: &TransactionHistory, waited: u64, decisions: &Decisions, flows: &[String]) {
    if waited == 0 {
        let _ = writeln!(text, "    began at once");
        return;
    }
    let _ = writeln!(text, "    waited {}:", time(waited as f64));
    let mut waits: Vec<(&Wait, &Account)> = step.waits.iter().filter(|(_, account)| account.ns > 0).collect();
    waits.sort_by_key(|(_, account)| std::cmp::Reverse(account.ns));
    for (wait, account) in waits {
        let what = describe(wait, account.count, step.op, decisions, flows);
        let _ = writeln!(text, "      {:>9}  {what}", time(account.ns as f64));
    }
}

/// What a unit did, and by which decision.
fn describe(wait: &Wait, commands: u32, own: FlashOp, decisions: &Decisions, flows: &[String]) -> String {
    let several = |work: &Occupant| {
        let noun = match work.op {
            0 => "read",
            1 => "program",
            _ => "erase",
        };
        let of = work.flow.map_or_else(|| nobodys(work).to_owned(), |flow| whose(work, flow, flows));
        let noun = if commands == 1 { noun.to_owned() } else { format!("{noun}s") };
        format!("{} {noun} of {of}", count(commands.max(1).into()))
    };
    match wait {
        Wait::InService(work) => format!("{} in service when it came", several(work)),
        Wait::Older(work) if work.flow.is_none() => format!("{} (collect {})", several(work), decisions.collect),
        Wait::Younger(work) if work.flow.is_none() => {
            format!("{} that came after it (collect {})", several(work), decisions.collect)
        }
        Wait::Older(work) => format!("{} that had come before it", several(work)),
        Wait::Younger(work) => {
            // A younger transaction of the other direction is the pick's choice; one of its own may have been put before it.
            let same = matches!((own, work.op), (FlashOp::Read, 0) | (FlashOp::Program, 1));
            let by = if same && decisions.order != "tail" {
                format!("order {}", decisions.order)
            } else {
                format!("pick {}", decisions.pick)
            };
            format!("{} that came after it and passed it ({by})", several(work))
        }
        Wait::Own => "other transactions of the request".to_owned(),
        Wait::Idle => "nothing on its unit: waiting for the bus, or for a pause to begin or end".to_owned(),
    }
}

/// What a command is for that is no flow's.
fn nobodys(work: &Occupant) -> &'static str {
    if work.folds { "folding" } else { "garbage collection" }
}

/// Whose command it is, of this flow.
fn whose(work: &Occupant, flow: u16, flows: &[String]) -> String {
    let flow = name(flows, flow);
    if work.of_map { format!("the map for {flow}") } else { flow }
}

fn name(flows: &[String], flow: u16) -> String {
    flows
        .get(usize::from(flow))
        .map_or_else(|| format!("flow {flow}"), |name| flashlane_outputs::shown::escaped(name).into_owned())
}

/// Why a request took another time under another scheduler: the parts of the wait of the transaction that ended last.
pub fn difference(one: (&RequestHistory, &str), other: (&RequestHistory, &str), flows: &[String]) -> String {
    let response = |history: &RequestHistory| history.done_ns.unwrap_or(history.arrival_ns) - history.arrival_ns;
    let [from, to] = [response(one.0), response(other.0)];
    let mut text = format!(
        "Under {} it took {} ({} against {}):\n",
        other.1,
        signed(to as f64 - from as f64),
        time(to as f64),
        time(from as f64)
    );
    let parts = [one.0, other.0].map(|history| parts(history, flows));
    let mut keys: Vec<&String> = parts.iter().flat_map(|parts| parts.iter().map(|(key, _)| key)).collect();
    keys.sort_unstable();
    keys.dedup();
    let of =
        |parts: &[(String, u64)], key: &str| parts.iter().filter(|(own, _)| own == key).map(|(_, ns)| *ns).sum::<u64>();
    let mut changes: Vec<(i64, &String)> =
        keys.into_iter().map(|key| (of(&parts[1], key) as i64 - of(&parts[0], key) as i64, key)).collect();
    changes.sort_by_key(|(change, _)| std::cmp::Reverse(change.abs()));
    for (change, key) in changes.into_iter().filter(|(change, _)| *change != 0) {
        let _ = writeln!(text, "  {:>10}  {key}", signed(change as f64));
    }
    text
}

/// The parts of a request's time, along the transaction that ended last.
fn parts(history: &RequestHistory, flows: &[String]) -> Vec<(String, u64)> {
    let mut parts = vec![
        ("before the device got it".to_owned(), history.submitted_ns - history.arrival_ns),
        ("outside the device".to_owned(), history.admitted_ns - history.submitted_ns),
    ];
    let done = history.done_ns.unwrap_or(history.arrival_ns);
    let Some(step) = history.transactions.last() else {
        parts.push(("in memory".to_owned(), done - history.admitted_ns));
        return parts;
    };
    let begun = step.begun_ns.unwrap_or(step.ended_ns);
    parts.push(("before it joined a queue".to_owned(), step.queued_ns - history.admitted_ns));
    for (wait, account) in &step.waits {
        let key = match wait {
            Wait::InService(work) | Wait::Older(work) | Wait::Younger(work) if work.flow.is_none() => {
                format!("waiting for {}", nobodys(work))
            }
            Wait::InService(work) => {
                format!("waiting for what was in service, of {}", whose(work, work.flow.unwrap_or(0), flows))
            }
            Wait::Older(work) => {
                format!("waiting for what had come before it, of {}", whose(work, work.flow.unwrap_or(0), flows))
            }
            Wait::Younger(work) => {
                format!("waiting for what passed it, of {}", whose(work, work.flow.unwrap_or(0), flows))
            }
            Wait::Own => "waiting for other transactions of the request".to_owned(),
            Wait::Idle => "waiting with nothing on its unit".to_owned(),
        };
        parts.push((key, account.ns));
    }
    parts.push(("paused".to_owned(), step.paused_ns));
    parts.push(("in service".to_owned(), step.ended_ns - begun - step.paused_ns.min(step.ended_ns - begun)));
    parts.push(("after its last transaction".to_owned(), done - step.ended_ns.min(done)));
    parts
}
