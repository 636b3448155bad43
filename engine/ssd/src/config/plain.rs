//! A device with every option off, and a buffer, for tests and examples to change.

use alloc::vec;

use flashlane_core::geometry::AllocationOrder;
use flashlane_core::{Duration, Geometry};

use super::{
    Buffer, BufferOrder, Bus, Config, Controller, Dispatch, FlowConfig, Front, Ftl, Gc, Latency, Nand, Precondition,
    Protocol, Rounding, Service, SuspendAt, Unmap, Victim,
};

impl Config {
    /// An erased device with the times that Slacker and FLIN give in their Table 1 (reads 75 us, programs 1300 us, erases 3800 us, 333 million
    /// transfers/s of a byte), one flow, three quarters of its pages logical, and every option and limit off.
    pub fn plain(geometry: Geometry) -> Config {
        let array = |us| Latency::Constant(Duration::from_us(us));
        Config {
            geometry,
            retry: None,
            slc: None,
            nand: Nand {
                read: array(75),
                program: array(1300),
                erase: array(3800),
                iterations: 20,
                erase_iterations: 20,
                suspend: Duration::ZERO,
                resume: Duration::ZERO,
                suspend_limit: u32::MAX,
                suspend_min: Duration::ZERO,
                suspend_at: SuspendAt::Instant,
                multi_plane: true,
                multi_die: true,
                same_page_read: false,
                same_page_program: true,
                one_shot_pages: 1,
                one_shot_wait: None,
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
                logical_pages: geometry.planes() * geometry.pages_per_plane() * 3 / 4,
                read_modify_write: false,
                wear_aware: false,
            },
            unmap: Unmap::default(),
            mapping: None,
            gc: Gc { victim: Victim::Greedy, start_blocks: 3, hard_blocks: 1, separate_frontier: true },
            precondition: Precondition::Fresh,
            buffer: None,
            front: Front {
                protocol: Protocol::Nvme { depth: u32::MAX },
                in_flight: u32::MAX,
                queue_capacity: [u32::MAX; 2],
                link_bytes_per_s: 0,
                link_latency: Duration::ZERO,
                order: BufferOrder::ByKind,
                controller: Controller::INSTANT,
                service: Service::Parallel,
            },
            memory: Duration::from_us(1),
            flows: vec![FlowConfig::at_priority(0)],
            priorities: 1,
            seed: 1,
        }
    }
}

impl Buffer {
    /// A buffer of this many pages, shared by all flows, that completes writes, keeps no pages that are read, and writes pages out when more
    /// than `flush_above` are dirty. Its contents are lost with the power.
    pub const fn plain(pages: u32, flush_above: u32) -> Buffer {
        Buffer {
            pages,
            per_flow: false,
            write_back: true,
            read_allocate: false,
            flush_above,
            merge_writes: true,
            protected: false,
            pace: Duration::ZERO,
        }
    }
}
