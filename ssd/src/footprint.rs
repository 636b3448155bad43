//! How much memory a device takes, computed from its configuration before anything is allocated.
//!
//! Adds up the tables of the translation layer, which are the large ones; the rest is one constant. When a table changes, its
//! line here must change too (a test in `cli` compares the sum with the memory that runs actually took).

use core::mem::size_of;

use flashlane_core::{Lpn, Ppa};

use crate::config::{Config, Precondition, Victim};
use crate::gc::bytes_of_writes;

/// What of a device's tables depends on the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OptionalTables {
    /// Pages may leave their home plane.
    pub moves_pages: bool,
    /// The device records which flow's data each page holds.
    pub page_flows: bool,
    /// The scheduler keeps a state a flow in every queue of every unit.
    pub by_flow: bool,
}

/// Memory of a device, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Footprint {
    /// Written to before the first request.
    pub at_once: u64,
    /// Allocated as zeros: the operating system provides memory only for what a run touches. `at_once` not included.
    pub as_touched: u64,
    /// Tables of `as_touched` with an entry a logical page.
    pub by_page: u64,
}

impl Footprint {
    /// Address space of all of it.
    pub const fn in_all(&self) -> u64 {
        self.at_once + self.as_touched
    }
}

/// Queues, transactions under way, and whatever else is small.
const FIXED_BYTES: u64 = 2 << 20;

impl Config {
    /// The memory of a device of this configuration under a scheduler that needs `optional`.
    pub fn footprint(&self, optional: OptionalTables) -> Footprint {
        let g = &self.geometry;
        let (planes, units) = (u64::from(g.planes()), u64::from(g.units()));
        let blocks = planes * u64::from(g.blocks_per_plane);
        let pages = u64::from(g.pages_per_block);
        let logical = u64::from(self.ftl.logical_pages);
        let entry = size_of::<Lpn>() as u64;

        // mapping.rs: an entry for each logical page in each table; blocks.rs, reverse map: one for each physical page, and one for each block.
        let map = logical * (size_of::<Ppa>() as u64 + if optional.moves_pages { 2 } else { 0 });
        let page_flows = if optional.page_flows { 2 * logical } else { 0 };
        let reverse = (1 + blocks) * pages * entry + 4 * blocks;
        // mapping.rs: a bit for each physical page. Copied from a pattern, unless no page is valid.
        let validity = planes * u64::from(g.pages_per_plane()).div_ceil(64) * 8;
        // blocks.rs: valid pages, state, erases, age, and the list of free blocks.
        let ages = if self.gc.victim == Victim::CostBenefit { 16 } else { 8 };
        let pools = blocks * (2 + 1 + 4 + 4 + ages) + planes * 512;
        // precondition.rs, and the pattern that validity is copied from.
        let initial = u64::from(g.blocks_per_plane) * 8 + logical.div_ceil(planes) / 16 + validity / planes;
        // buffer.rs: for each page an entry and a number in the free list, and a table that is an eighth to a quarter full.
        let buffer = self.buffer.as_ref().map_or(0, |buffer| u64::from(buffer.pages) * 84);
        // board.rs: a queue for each unit, direction and priority, and for each of them a list for each plane; overtaking.rs: another.
        let lines = units * 2 * u64::from(self.priorities) * (17 + 24 * u64::from(g.planes_per_unit())) + units * 1024;
        let flows = self.flows.len() as u64;
        let by_flow = if optional.by_flow { units * flows * (2 * u64::from(self.priorities) * 64 + 256) } else { 0 };

        let at_once = validity + pools + initial + buffer + lines + by_flow + FIXED_BYTES;
        let as_touched = map + page_flows + reverse;
        let by_page = map + page_flows;
        match self.precondition {
            // Filled and overwritten page by page, in maps of one plane at a time (precondition.rs).
            Precondition::Replayed { percent } => {
                let one_plane = logical.div_ceil(planes) * entry + u64::from(g.pages_per_plane()) * entry;
                let at_once = at_once + as_touched + one_plane + bytes_of_writes(self, percent);
                Footprint { at_once, as_touched: 0, by_page: 0 }
            }
            _ => Footprint { at_once, as_touched, by_page },
        }
    }
}
