//! Reads that wait for a multi-plane command while garbage collection moves the page of one of them.

use std::collections::BTreeMap;

use crate::common::{atomic, drain, table1};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Extent, FlowId, Lpn, Op, Owner, Request, RequestId, Time};
use flashlane_sched::catalogue::build;
use flashlane_ssd::Device;
use flashlane_ssd::config::Config;

fn submit(device: &mut Device, id: u64, op: Op, pages: &[u32]) {
    let list: Vec<Lpn> = pages.iter().copied().map(Lpn).collect();
    let (now, extent) = (device.now(), Extent::Pages(&list));
    device
        .submit(now, &Request { id: RequestId(id), flow: FlowId(0), op, fua: false, arrival: now, extent })
        .expect("in the drive");
}

/// A chip of four planes in this many dies, which demands equal page offsets of reads that share a command and a die. Page `n` lies on
/// the `n`-th plane, modulo 4; with two dies pages 0 and 2 on the planes of the first, 1 and 3 on those of the second.
fn drive(dies: u32) -> Config {
    let mut config = table1(1, 1);
    let g = &mut config.geometry;
    (g.dies_per_chip, g.planes_per_die, g.blocks_per_plane, g.pages_per_block) = (dies, 4 / dies, 9, 4);
    config.ftl.logical_pages = 64;
    config.nand.same_page_read = true;
    config
}

/// Pages 0 to 3 come second in their planes, and page `moved` is moved to the beginning of a block while it waits to be read with these
/// others. Returns the commands in which they are read, in order.
fn commands(dies: u32, moved: u32, reads: &[u32]) -> Vec<Vec<u32>> {
    let scheduler = build(&atomic("fr-fcfs", &[])).expect("a scheduler");
    let mut device = Device::new(&drive(dies), scheduler).expect("a device");
    device.report_events();
    // The plane of `moved` is filled: its first block keeps that page alone, the others two pages and more, so the first is the victim.
    let hot = 4 + moved;
    let cold: Vec<u32> = (0..12).map(|i| 8 + moved + 4 * i).collect();
    let mut writes = vec![4, 5, 6, 7, 0, 1, 2, 3, hot, hot];
    writes.extend(cold.chunks(2).flat_map(|pair| [pair[0], pair[1], hot, hot]));
    let mut writes = writes.into_iter();
    let is_victim_chosen = |device: &mut Device| {
        let chosen = device.events().iter().any(|e| matches!(e.event, Event::VictimChosen { .. }));
        device.events().clear();
        chosen
    };
    'filling: for id in 0.. {
        submit(&mut device, id, Op::Write, &[writes.next().expect("collection begins before they are all written")]);
        loop {
            let next = device.next_event();
            if is_victim_chosen(&mut device) {
                break 'filling;
            }
            if next == Time::NEVER {
                break;
            }
            device.advance(next);
        }
    }
    submit(&mut device, 1_000, Op::Read, reads);
    drain(&mut device);
    let mut lpn_of = BTreeMap::new();
    let mut of_command: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for stamped in device.events().drain(..) {
        match stamped.event {
            Event::Queued { txn, lpn, owner: Owner::User, op: FlashOp::Read, .. } => {
                lpn_of.insert(txn, lpn.0);
            }
            Event::Dispatched { txn, command, ppa, .. } => {
                if let Some(&lpn) = lpn_of.get(&txn) {
                    assert_eq!(ppa % 4, u32::from(lpn != moved), "page {lpn}: which place in its block");
                    of_command.entry(command).or_default().push(lpn);
                }
            }
            _ => {}
        }
    }
    of_command.into_values().collect()
}

/// On one die the page that was moved is read by itself, the other two together: the one that stays behind keeps nobody else out. If
/// the page that leads was moved, the others stay behind, and are read together after it.
#[test]
fn a_page_that_was_moved_keeps_only_itself_out_of_the_command() {
    assert_eq!(commands(1, 1, &[0, 1, 2]), [vec![0, 2], vec![1]]);
    assert_eq!(commands(1, 2, &[0, 1, 2]), [vec![0, 1], vec![2]]);
    assert_eq!(commands(1, 0, &[0, 1, 2]), [vec![0], vec![1, 2]]);
    // Whichever of them leads.
    assert_eq!(commands(1, 1, &[2, 1, 0]), [vec![2, 0], vec![1]]);
    assert_eq!(commands(1, 0, &[2, 1, 0, 3]), [vec![2, 1, 3], vec![0]]);
}

/// Offsets are compared within a die only: the moved page joins reads of the other die, and its neighbour stays behind.
#[test]
fn a_page_that_was_moved_keeps_out_its_neighbour_on_the_die() {
    assert_eq!(commands(2, 1, &[0, 1, 2, 3]), [vec![0, 1, 2], vec![3]]);
    assert_eq!(commands(2, 1, &[0, 3, 2, 1]), [vec![0, 3, 2], vec![1]]);
    assert_eq!(commands(2, 1, &[1, 2, 3, 0]), [vec![1, 2, 0], vec![3]]);
}
