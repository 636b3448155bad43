//! Every reason for which a unit, or the admission of commands, must decide again: one scene each, with exact times. If
//! the reason were missed, something in its scene would never happen, or happen later.
//!
//! Each scene is run with the event log and without, since a device without it takes shortcuts. The auditor has a rule
//! for the same fault (`NotIdle`), which covers all other runs.

mod collection;
mod flash;
mod front;
mod queues;

use crate::common::{CYCLE, device, drain, one_plane, recipe, table1, unit_cycle};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::decide::Question;
use flashlane_core::event::Event;
use flashlane_core::{Duration, Extent, FlowId, Lpn, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::*;

/// A page over the bus, an array's read, a whole read, a whole write (Table 1 of Slacker and FLIN), ns.
const BUS: u64 = 24_601;
const ARRAY: u64 = 75_000;
const READ: u64 = ARRAY + BUS;
const WRITE: u64 = BUS + 1_300_000;

/// A request: arrival ns, flow, operation, pages.
type Line<'a> = (u64, u16, Op, &'a [u32]);

/// A device that has served these requests to the end.
fn lived(config: &Config, recipe: &Recipe, lines: &[Line<'_>], watched: bool) -> flashlane_ssd::Device {
    let mut device = device(config, recipe);
    if watched {
        device.report_events();
    }
    for (id, &(at, flow, op, pages)) in lines.iter().enumerate() {
        let arrival = Time::from_ns(at);
        device.advance(arrival);
        let pages: Vec<Lpn> = pages.iter().copied().map(Lpn).collect();
        // One page as bytes: such a request may take the shortcut of a single transaction.
        let page = u64::from(config.geometry.page_bytes);
        let extent = match pages[..] {
            [one] => Extent::Bytes { offset: u64::from(one.0) * page, length: page },
            _ => Extent::Pages(&pages),
        };
        let request = Request { id: RequestId(id as u64), flow: FlowId(flow), op, fua: false, arrival, extent };
        device.submit(arrival, &request).expect("within the drive");
    }
    drain(&mut device);
    device.check();
    device
}

/// When each request was done, the same with and without the event log.
fn ends(config: &Config, recipe: &Recipe, lines: &[Line<'_>]) -> Vec<u64> {
    let [quiet, watched] = [false, true].map(|watched| {
        let mut done = std::mem::take(lived(config, recipe, lines, watched).completions());
        assert_eq!(done.len(), lines.len(), "every request completes");
        done.sort_by_key(|c| c.id);
        done.iter().map(|c| c.done.ns()).collect::<Vec<_>>()
    });
    assert_eq!(quiet, watched, "watching changes nothing");
    watched
}

/// When each request entered the device.
fn admitted(config: &Config, recipe: &Recipe, lines: &[Line<'_>]) -> Vec<u64> {
    let mut device = lived(config, recipe, lines, true);
    let mut at = vec![0; lines.len()];
    for stamped in device.events().drain(..) {
        if let Event::Admitted { request } = stamped.event {
            at[request.0 as usize] = stamped.at.ns();
        }
    }
    at
}

/// `scheduler` with other answers.
fn mix(scheduler: &str, answers: &[(Question, &str)], params: &[(&str, u64)]) -> Recipe {
    let answers = answers.iter().map(|&(question, answer)| (question, answer.to_owned())).collect();
    Recipe { answers, ..recipe(scheduler, params) }
}

/// `channels` channels with one chip of one plane each.
fn chips(channels: u32) -> Config {
    let mut config = table1(channels, 1);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config
}
