//! How much memory a device takes at most, from its configuration, before anything is allocated.
//!
//! Counts what grows with the drive: bytes a page, a block, a queue. When a table of these grows, its number here must too (a test in
//! `cli` compares the sum with what runs took).

use crate::config::{Config, Precondition};
use crate::ftl::{GROUP, MAPPING_ENTRY_BYTES, RETRY_BYTES_A_PAGE, SEGMENT, directory_bytes, written_groups_bytes};
use crate::gc::bytes_of_writes;

/// Memory of a device at most, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// All of it.
    pub whole: u64,
    /// Of it the tables with an entry a page, which begin as zeros: the operating system provides memory only for what a run touches.
    pub by_page: u64,
    /// Of these the directory of tables that are made where they are touched; 0 on drives where they are not. There each logical page that is
    /// written makes the entries of as many pages as [`Footprint::MADE_AT_ONCE`] says, and a list of [`Footprint::LIST`] bytes.
    pub directory: u64,
}

impl Footprint {
    /// Logical pages whose entries are made at once.
    pub const MADE_AT_ONCE: u64 = SEGMENT as u64;
    /// Bytes of a list that leads from the directory to entries.
    pub const LIST: u64 = 4 * GROUP as u64;
}

/// Bytes of a block: its figures, its age, its place in the reverse map and in the drive's first state.
const BLOCK: u64 = 40;
/// Bytes of a page of the buffer: an entry, a number in the list of free ones, and a table that is an eighth to a quarter full.
const BUFFER_PAGE: u64 = 92;
/// Bytes of a page of the buffer whose rest is being read, in an ordered map.
const REST: u64 = 24;
/// Whatever else is small.
const FIXED_BYTES: u64 = 2 << 20;

impl Config {
    /// The memory of a device of this configuration, in which a logical page takes `entry` bytes: 4 in the map, 2 if pages may leave
    /// their home plane, 2 if the device records whose data each holds.
    pub fn footprint(&self, entry: u64) -> Footprint {
        let g = &self.geometry;
        let (planes, units, flows) = (u64::from(g.planes()), u64::from(g.units()), self.flows.len() as u64);
        let blocks = planes * u64::from(g.blocks_per_plane);
        let pages = (1 + blocks) * u64::from(g.pages_per_block);
        let stored = u64::from(self.stored_pages());
        // The map and its companions; four bytes back from a physical page.
        let retries = if self.retry.is_some() { RETRY_BYTES_A_PAGE } else { 0 };
        let [cached, cached_a_page] = self.mapping.map_or([0; 2], |mapping| {
            let held = u64::from(mapping.held()).min(self.ftl.logical_pages.into());
            [held * MAPPING_ENTRY_BYTES[0] + 8 * u64::from(self.translation_pages()), MAPPING_ENTRY_BYTES[1]]
        });
        let [directory, lists] = directory_bytes(self.stored_pages());
        let by_page = stored * (entry + retries + cached_a_page) + directory + lists + 4 * pages;
        // A bit for each page that is valid; of one plane as many again, and half of them, for the first state.
        let by_block = blocks * BLOCK + pages / 8 + pages * 3 / 16 / planes + planes * 520;
        let written = written_groups_bytes(self.stored_pages());
        let rest = if self.buffer_reads_rests() { REST } else { 0 };
        let buffer = self.buffer.as_ref().map_or(0, |buffer| u64::from(buffer.pages) * (BUFFER_PAGE + rest));
        // A queue for each unit, direction and priority, with a list for each plane and flow.
        let queues = units * 2 * u64::from(self.priorities);
        let by_queue = queues * (24 * u64::from(g.planes_per_unit()) + 64 * flows + 17) + units * (256 * flows + 1024);
        let whole = by_page + by_block + written + cached + buffer + by_queue + FIXED_BYTES;
        match self.precondition {
            // Filled and overwritten page by page, in maps of one plane at a time (precondition.rs).
            Precondition::Replayed { percent } => {
                let one_plane =
                    4 * (u64::from(g.pages_of_fullest_plane(self.stored_pages())) + u64::from(g.pages_per_plane()));
                Footprint { whole: whole + one_plane + bytes_of_writes(self, percent), by_page: 0, directory: 0 }
            }
            _ => Footprint { whole, by_page, directory },
        }
    }
}
