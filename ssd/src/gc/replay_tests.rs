//! A drive overwritten plane by plane is the one overwritten in the order of all writes.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::geometry::{AllocationOrder, Geometry, UnitKind};
use flashlane_core::{Duration, Lpn, PlaneId};

use super::replay::{Replay, Replayed, in_order};
use crate::config::*;

/// Percent of the drive that is overwritten.
const PERCENT: u32 = 300;

/// A drive of 24 planes, so that a replay has several parts. Its last stripe is not full.
fn config(victim: Victim, separate_frontier: bool, wear_aware: bool) -> Config {
    let geometry = Geometry {
        channels: 3,
        chips_per_channel: 2,
        dies_per_chip: 2,
        planes_per_die: 2,
        blocks_per_plane: 24,
        pages_per_block: 16,
        page_bytes: 8192,
        metadata_bytes: 448,
        unit: UnitKind::Chip,
    };
    let array = |us| Latency::Constant(Duration::from_us(us));
    Config {
        geometry,
        nand: Nand {
            read: array(75),
            program: array(1300),
            erase: array(3800),
            iterations: 20,
            suspend: Duration::ZERO,
            resume: Duration::ZERO,
            multi_plane: true,
            multi_die: true,
            same_page_read: false,
            same_page_program: true,
        },
        bus: Bus {
            mega_transfers: 333,
            width_bytes: 1,
            rounding: Rounding::Exact,
            with_metadata: false,
            command: [Duration::ZERO; 3],
            data_out_setup: Duration::ZERO,
            plane_gap: Duration::ZERO,
            dispatch: Dispatch::Eager,
        },
        ftl: Ftl {
            order: AllocationOrder::CWDP,
            logical_pages: 24 * 16 * 18 + 5,
            read_modify_write: false,
            wear_aware,
        },
        gc: Gc { victim, start_blocks: 3, hard_blocks: 1, separate_frontier },
        precondition: Precondition::Replayed { percent: PERCENT },
        buffer: None,
        front: Front {
            protocol: Protocol::Nvme { depth: u32::MAX },
            in_flight: u32::MAX,
            queue_capacity: [u32::MAX; 2],
            link_bytes_per_s: 0,
            link_latency: Duration::ZERO,
            service: Service::Parallel,
        },
        memory: Duration::from_us(1),
        flows: vec![FlowConfig::at_priority(0)],
        priorities: 1,
        seed: 1,
    }
}

/// All that a run can see of a plane: where its pages are, and its blocks.
fn seen(
    state: &Replayed,
    config: &Config,
    plane: PlaneId,
) -> (Vec<Vec<(flashlane_core::Ppa, Lpn)>>, alloc::string::String) {
    let mut pages = Vec::new();
    for block in 0..config.geometry.blocks_per_plane {
        let mut of_block = Vec::new();
        state.ftl.valid_pages(plane, block, &mut of_block);
        pages.push(of_block);
    }
    (pages, state.ftl.blocks_in_words(plane))
}

/// The drive overwritten in parts for a number of threads, the last one first.
fn by_plane(config: &Config, threads: usize) -> Replayed {
    let replay = Replay::of(config, threads).expect("a legal drive").expect("a replay");
    assert_eq!(replay.parts(), if threads == 1 { 2 } else { 24 });
    let mut drive = replay.drive();
    (0..replay.parts()).rev().for_each(|part| replay.overwrite(part, |done| drive.put(done)));
    drive
}

#[test]
fn plane_by_plane_the_drive_is_the_same() {
    for victim in [Victim::Greedy, Victim::Fifo, Victim::CostBenefit] {
        for (separate, wear_aware) in [(false, false), (true, false), (false, true), (true, true)] {
            let config = config(victim, separate, wear_aware);
            config.check().expect("a legal drive");
            let threads = if wear_aware { 1 } else { 64 };
            let (one, other) = (by_plane(&config, threads), in_order(&config, PERCENT));
            for lpn in (0..config.ftl.logical_pages).map(Lpn) {
                let place = |state: &Replayed| (state.ftl.plane_of(lpn), state.ftl.lookup(lpn));
                assert_eq!(place(&one), place(&other), "{victim:?}, {lpn:?}");
            }
            for plane in (0..config.geometry.planes() as u16).map(PlaneId) {
                let (one, other) = (seen(&one, &config, plane), seen(&other, &config, plane));
                assert_eq!(one, other, "{victim:?}, {separate}, {wear_aware}, {plane:?}");
                assert!(one.0.iter().any(|pages| !pages.is_empty() && pages.len() < 16), "nothing was overwritten");
            }
        }
    }
}

/// So many percent of the drive's pages are overwritten, rounded down: of 6,917 pages 69 at 1 %, and 345 at 5 %. So few need no collection,
/// and every page that was written is still there. Before, 289 pages of each of the 24 planes were, as many as in the fullest.
#[test]
fn so_many_pages_are_overwritten() {
    for victim in [Victim::Greedy, Victim::Random] {
        for (percent, overwritten) in [(1, 69), (5, 345)] {
            let config = Config { precondition: Precondition::Replayed { percent }, ..config(victim, false, false) };
            let drive = Replayed::of(&config).expect("a legal drive").expect("a replay");
            let planes = (0..config.geometry.planes() as u16).map(PlaneId);
            let blocks = |plane| (0..config.geometry.blocks_per_plane).map(move |block| (plane, block));
            let written: u32 = planes.flat_map(blocks).map(|(plane, block)| drive.ftl.written(plane, block)).sum();
            assert_eq!(written, 24 * 289 + overwritten, "{victim:?}, {percent} %");
        }
    }
}
