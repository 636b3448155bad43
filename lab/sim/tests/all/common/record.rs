//! The result of a scene from its events: when each transaction ended, its slack, and which were paused or jumped.

use flashlane_core::event::Event;
use flashlane_core::transaction::tag;
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::Device;
use flashlane_ssd::config::Config;

use super::{CYCLE, device, scene};

/// A request of a scene: arrival in cycles, operation, pages.
pub type Line<'a> = (u64, flashlane_core::Op, &'a [u32]);

/// The result of a scene, in cycles: when each transaction ended and its slack then, by request and page in order.
#[derive(Debug, Default, PartialEq)]
pub struct Record {
    pub done: Vec<(u64, u32, u64)>,
    pub estimated: Vec<(u64, u32, u64)>,
    pub dispatched_slack: Vec<(u64, u32, u64)>,
    pub pauses: usize,
    pub jumps: usize,
}

impl Record {
    /// The values for a request's pages, in order of their numbers.
    pub fn of(list: &[(u64, u32, u64)], request: u64) -> Vec<u64> {
        let mut pages: Vec<_> = list.iter().filter(|&&(r, ..)| r == request).map(|&(_, p, v)| (p, v)).collect();
        pages.sort_unstable();
        pages.into_iter().map(|(_, v)| v).collect()
    }
}

/// Runs a scene in cycles and collects its events.
pub fn play_lines(config: &Config, recipe: &Recipe, lines: &[Line<'_>]) -> (Vec<u64>, Record) {
    let mut device = device(config, recipe);
    device.report_events();
    let scaled: Vec<_> = lines.iter().map(|&(at, op, pages)| (at * CYCLE, op, pages)).collect();
    let done = scene(&mut device, &scaled);
    (done.iter().map(|c| c.done.ns() / CYCLE).collect(), collect_events(&mut device, CYCLE))
}

/// Collects the events of a device so far, in units of `unit` ns.
pub fn collect_events(device: &mut Device, unit: u64) -> Record {
    let mut record = Record::default();
    let mut names = std::collections::BTreeMap::new();
    for stamped in device.events().drain(..) {
        match stamped.event {
            Event::Queued { txn, request: Some(request), lpn, .. } => drop(names.insert(txn, (request.0, lpn.0))),
            Event::Estimated { txn, slack, .. } => {
                let (request, lpn) = names[&txn];
                record.estimated.push((request, lpn, slack.ns() / unit));
            }
            Event::Dispatched { txn, slack, .. } => {
                let (request, lpn) = names[&txn];
                record.dispatched_slack.push((request, lpn, slack.ns() / unit));
            }
            Event::Ended { txn, .. } => {
                let (request, lpn) = names[&txn];
                record.done.push((request, lpn, stamped.at.ns() / unit));
            }
            Event::Paused { .. } => record.pauses += 1,
            _ => {}
        }
    }
    record.jumps = device.board().txns.iter().filter(|txn| txn.tag & tag::JUMPED != 0).count();
    record
}
