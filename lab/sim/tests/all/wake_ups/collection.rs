//! Garbage collection: its steps, and planes that begin to need it.

use super::*;

/// A chip whose writes soon start a collection.
fn collecting() -> Config {
    let mut config = one_plane();
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 16);
    (config.ftl.logical_pages, config.precondition) = (17 * 16, Precondition::Steady);
    config
}

/// Garbage collection while there are no requests: each step begins the instant the one before it ends, under every way
/// to collect. A victim of `v` pages takes `v` reads and programs and an erase.
#[test]
fn a_step_of_garbage_collection_ends() {
    for scheduler in ["fr-fcfs", "read-first", "sprinkler", "flin", "slacker"] {
        let pages: Vec<[u32; 1]> = (0..60u32).map(|i| [i * 77 % 272]).collect();
        // So far apart that the collection started by a write is over before the next write.
        let lines: Vec<Line<'_>> =
            pages.iter().enumerate().map(|(i, page)| (i as u64 * 100_000_000, 0, Write, &page[..])).collect();
        let mut device = lived(&collecting(), &recipe(scheduler, &[]), &lines, true);
        let (mut chosen, mut victims, mut free) = (None, 0, 0);
        for stamped in device.events().drain(..) {
            let now = stamped.at.ns();
            match stamped.event {
                Event::Submitted { .. } => free = now + WRITE,
                Event::VictimChosen { valid, .. } => chosen = Some((free.max(now), u64::from(valid))),
                Event::Erased { .. } => {
                    let (from, valid) = chosen.take().expect("a victim");
                    assert_eq!(now, from + valid * (READ + WRITE) + 3_800_000, "{scheduler}: {valid} pages");
                    (victims, free) = (victims + 1, now);
                }
                _ => {}
            }
        }
        assert!(victims > 2, "{scheduler}: {victims} victims");
    }
}

/// A plane that falls short of free blocks begins to collect at that instant, and again as soon as a block has been
/// erased if it is still short: no instant ends with a plane that is short and does not collect.
#[test]
fn a_plane_is_short_of_blocks() {
    let config = collecting();
    for scheduler in ["fr-fcfs", "sprinkler", "flin"] {
        let mut device = device(&config, &recipe(scheduler, &[]));
        let mut short = 0;
        for id in 0..400u64 {
            let now = Time::from_ns(id * 2_000_000);
            device.advance(now);
            let page = [Lpn((id * 77 % 272) as u32)];
            let extent = Extent::Pages(&page);
            device
                .submit(
                    now,
                    &Request { id: RequestId(id), flow: FlowId(0), op: Write, fua: false, arrival: now, extent },
                )
                .unwrap();
            while device.next_event() < Time::from_ns((id + 1) * 2_000_000) {
                let plane = &device.board().planes[0];
                assert!(plane.free_blocks >= config.gc.start_blocks || plane.collecting, "{scheduler}: {plane:?}");
                short += u64::from(plane.collecting);
                let next = device.next_event();
                device.advance(next);
            }
        }
        assert!(short > 500, "{scheduler}: {short}");
    }
}

/// A plane that is short of blocks and has nothing but valid pages begins to collect the instant it loses a copy to another
/// plane.
///
/// Writes go to the two chips in turn, ten cycles apart. Those on chip 0 are of pages of chip 1, so chip 0 loses nothing: of
/// its eight blocks of four pages four are full at first and three are opened, the last by the ninth write there. The others
/// are of page 31, which lies on chip 1. The last write is of page 0 of chip 0, and goes to chip 1.
#[test]
fn a_plane_loses_a_copy() {
    let mut config = unit_cycle(2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (8, 4);
    (config.gc.start_blocks, config.ftl.logical_pages) = (2, 32);
    config.precondition = Precondition::Filled { per_mille: 1000 };
    let pages: Vec<[u32; 1]> = (0..20)
        .map(|i| {
            [if i == 19 {
                0
            } else if i % 2 == 0 {
                1 + i
            } else {
                31
            }]
        })
        .collect();
    let lines: Vec<Line<'_>> =
        pages.iter().enumerate().map(|(i, page)| (10 * CYCLE * i as u64, 0, Write, &page[..])).collect();
    let mut device = lived(&config, &mix("fr-fcfs", &[(Question::Place, "rotate")], &[]), &lines, true);
    let chosen = device.events().drain(..).filter_map(|s| match s.event {
        Event::VictimChosen { plane, .. } if plane.0 == 0 => Some(s.at.ns() / CYCLE),
        _ => None,
    });
    assert_eq!(chosen.collect::<Vec<_>>(), [190]);
}
