//! Reads that wait for a multi-plane command while garbage collection moves the page of one of them.

mod common;

use std::collections::BTreeMap;

use common::{drain, recipe, table1};
use flashlane_core::event::Event;
use flashlane_core::{Extent, FlowId, Lpn, Op, Owner, Request, RequestId, Time};
use flashlane_sched::catalogue::build;
use flashlane_ssd::Device;

fn submit(device: &mut Device, id: u64, op: Op, pages: &[u32]) {
    let list: Vec<Lpn> = pages.iter().copied().map(Lpn).collect();
    let (now, extent) = (device.now(), Extent::Pages(&list));
    device
        .submit(now, &Request { id: RequestId(id), flow: FlowId(0), op, arrival: now, extent })
        .expect("in the drive");
}

/// One die of four planes demands equal page offsets of reads that share a command. Pages 0, 1 and 2 have them when their reads are
/// queued; then page 1 is moved. It is read by itself, the other two together: the one that stays behind keeps nobody else out.
#[test]
fn a_page_that_was_moved_keeps_only_itself_out_of_the_command() {
    let mut config = table1(1, 1);
    let g = &mut config.geometry;
    (g.planes_per_die, g.blocks_per_plane, g.pages_per_block) = (4, 9, 4);
    config.ftl.logical_pages = 64;
    config.nand.same_page_read = true;
    let mut device = Device::new(&config, build(&recipe("fr-fcfs", &[])).expect("a scheduler")).expect("a device");
    device.report_events();
    // Page n lies on plane n modulo 4. Pages 0, 1 and 2 come second in their planes; then plane 1 is filled: its first block keeps
    // page 1, the others two pages and more, so the first is the victim.
    let cold = [9, 13, 17, 21, 25, 29, 33, 37, 41, 45, 49, 53];
    let mut writes = vec![4, 5, 6, 0, 1, 2, 5, 5];
    writes.extend(cold.chunks(2).flat_map(|pair| [pair[0], pair[1], 5, 5]));
    let mut id = 0;
    let mut writes = writes.into_iter();
    let is_victim_chosen = |device: &mut Device| {
        let chosen =
            device.events().iter().any(|e| matches!(e.event, Event::VictimChosen { plane, .. } if plane.0 == 1));
        device.events().clear();
        chosen
    };
    'filling: loop {
        submit(&mut device, id, Op::Write, &[writes.next().expect("collection begins before they are all written")]);
        id += 1;
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
    submit(&mut device, id, Op::Read, &[0, 1, 2]);
    drain_events(&mut device);
}

/// Runs to the end; the user's reads of pages 0 and 2 share a command, that of page 1 has its own, at another offset.
fn drain_events(device: &mut Device) {
    drain(device);
    let mut lpn_of = BTreeMap::new();
    let mut read = BTreeMap::new();
    for stamped in device.events().drain(..) {
        match stamped.event {
            Event::Queued { txn, lpn, owner: Owner::User, op: flashlane_core::transaction::FlashOp::Read, .. } => {
                lpn_of.insert(txn, lpn.0);
            }
            Event::Dispatched { txn, command, ppa, .. } => {
                if let Some(&lpn) = lpn_of.get(&txn) {
                    read.insert(lpn, (command, ppa % 4));
                }
            }
            _ => {}
        }
    }
    let [zero, one, two] = [0, 1, 2].map(|lpn| read[&lpn]);
    assert_eq!([zero.1, one.1, two.1], [1, 0, 1], "offsets: page 1 was moved to the start of a block");
    assert_eq!(zero.0, two.0, "pages 0 and 2 share a command");
    assert_ne!(zero.0, one.0, "page 1 does not");
}
