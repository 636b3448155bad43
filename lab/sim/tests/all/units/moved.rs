//! Rows that garbage collection reads: where nobody watches, all pages of one cross the bus in one event, and every figure is at every instant what it
//! is where each page has an event of its own.

use super::with_slots;
use crate::common::{device, one_plane, recipe};
use flashlane_core::{Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_ssd::Totals;
use flashlane_ssd::config::{Config, Precondition};

/// One plane in the steady state, whose wordlines have two rows of four pages.
fn collecting() -> Config {
    let mut config = with_slots(4, one_plane());
    (config.nand.one_shot_pages, config.precondition) = (2, Precondition::Steady);
    config.check().expect("a legal device");
    config
}

/// How many instants have events, and the totals every 11,003 ns, while single pages are written all over the drive.
fn lived(scheduler: &str, watched: bool) -> (usize, Vec<Totals>) {
    let config = collecting();
    let mut device = device(&config, &recipe(scheduler, &[]));
    if watched {
        device.report_events();
    }
    let (mut instants, mut figures) = (0, Vec::new());
    for id in 0..200 {
        let now = Time::from_ns(id * 3_000_017);
        let extent = Extent::Pages(&[Lpn((id * 377) as u32 % config.ftl.logical_pages)]);
        let write = Request { id: RequestId(id), flow: FlowId(0), op: Op::Write, fua: false, arrival: now, extent };
        device.submit(now, &write).expect("a page of the drive");
        let mut look = now.ns();
        while look < (id + 1) * 3_000_017 {
            let next = device.next_event().ns();
            instants += usize::from(next <= look);
            device.advance(Time::from_ns(next.min(look)));
            if next > look {
                // A transfer whose beginning is no event is counted at its end.
                figures.push(Totals { transfers: [0; 2], ..device.totals() });
                look += 11_003;
            }
        }
    }
    (instants, figures)
}

#[test]
fn a_row_that_is_moved_crosses_the_bus_in_one_event() {
    for scheduler in ["fr-fcfs", "sprinkler", "late"] {
        let (few, plain) = lived(scheduler, false);
        let (many, watched) = lived(scheduler, true);
        assert!(few < many, "{scheduler}: {few} and {many} instants");
        for (plain, watched) in plain.iter().zip(&watched) {
            assert_eq!(plain, watched, "{scheduler}");
        }
        let last = plain.last().expect("many");
        assert!(last.gc_programs > 100 && plain.len() == watched.len(), "{scheduler}: {last:?}");
    }
}
