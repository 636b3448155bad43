//! One-shot programs of whole wordlines (model 0.15): what a device must be to have them.

use alloc::format;
use alloc::string::String;

use super::check::{ConfigError, HOUR, error, range};
use super::{Config, FullCache, Latency, PageTimes, Service};

impl Config {
    /// Whether pages of the buffer are gathered: to rows, and to wordlines of native cells. Where a row is a page and writes wait for a fold, each goes to
    /// the SLC cache by itself.
    pub fn gathers_wordlines(&self) -> bool {
        self.pages_of_a_program() > 1 && (self.geometry.slots > 1 || !self.waits_for_folds())
    }

    /// Whether translation pages are gathered with those of the buffer. One that finds the SLC cache full does not wait where a row is a page.
    pub fn gathers_map(&self) -> bool {
        self.gathers_wordlines() && (self.geometry.slots > 1 || self.slc.is_none())
    }

    /// Whether writes wait for a fold while the SLC cache is full.
    pub fn waits_for_folds(&self) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.full == FullCache::Fold)
    }

    /// Whether pages are gathered to wordlines that pass the SLC cache: writes do not wait for folds, or the cache has no static block, so that
    /// there may be none to fold.
    pub fn passes_cache(&self) -> bool {
        self.gathers_wordlines()
            && self.slc.as_ref().is_some_and(|slc| !self.waits_for_folds() || slc.static_blocks == 0)
    }

    /// Pages that are gathered at most before they become a program: those of a row where all go to the SLC cache, else those of a wordline.
    pub fn pages_of_a_list(&self) -> u32 {
        if self.slc.is_none() || self.passes_cache() { self.pages_of_a_program() } else { self.geometry.slots }
    }

    /// Pages that one program of native cells writes: those of all rows of a wordline.
    pub fn pages_of_a_program(&self) -> u32 {
        self.nand.one_shot_pages * self.geometry.slots
    }

    /// Valid pages with which a full block is no victim: fewer, and its moves leave at least what one program writes.
    pub fn pages_that_fill_a_block(&self) -> u32 {
        self.geometry.pages_per_block - (self.pages_of_a_program() - 1)
    }

    pub(super) fn check_one_shot(&self) -> Result<(), ConfigError> {
        let (nand, pages) = (&self.nand, self.nand.one_shot_pages);
        range("nand.one_shot_pages", pages.into(), 1, PageTimes::MOST_BITS as u64)?;
        if self.geometry.slots > 1 {
            self.check_slots()?;
        }
        if let Some(wait) = nand.one_shot_wait {
            range("nand.one_shot_wait", wait.ns(), 0, HOUR)?;
        }
        if pages == 1 {
            return Ok(());
        }
        let rows = self.geometry.pages_per_block / self.geometry.slots;
        if !rows.is_multiple_of(pages) {
            let legal = format!("must be a divisor of geometry.pages_per_block, which is {rows}");
            return Err(error("nand.one_shot_pages", pages, &legal));
        }
        let refuse = |key, value: &str, legal: String| Err(ConfigError { key, value: String::from(value), legal });
        if matches!(nand.program, Latency::ByPage(_)) {
            let legal = String::from("must be one time, that of a program of all pages of a wordline");
            return refuse("nand.program (with one_shot_pages)", "one by page", legal);
        }
        if let Latency::ByPage(times) = nand.read
            && times.iter().count() != pages as usize
        {
            let times = format!("{}", times.iter().count());
            let legal = format!("must be as many times as one_shot_pages, {pages}, or one");
            return refuse("nand.read (with one_shot_pages)", &times, legal);
        }
        if matches!(self.front.service, Service::Serial { .. }) {
            let legal = String::from("has no flash to program in one shot; leave one_shot_pages out");
            return refuse("one_shot_pages (with serial service)", "serial", legal);
        }
        match &self.slc {
            Some(slc) if slc.bits != pages => {
                Err(error("slc.bits", slc.bits, &format!("must be nand.one_shot_pages, which is {pages}")))
            }
            _ if self.waits_for_folds() => Ok(()),
            _ => self.check_gathering(),
        }
    }

    /// Where rows have several pages, these are gathered.
    fn check_slots(&self) -> Result<(), ConfigError> {
        let slots = self.geometry.slots;
        self.check_flash(
            "slots (with serial service)",
            "has no flash; needs ftl.unit_bytes = geometry.page_bytes and ftl.superblock = \"plane\"",
        )?;
        if !self.buffer.as_ref().is_some_and(|buffer| buffer.write_back && buffer.merge_writes) {
            let legal = "units smaller than a page and superblocks need a page buffer: buffer.pages above 0, write_back and merge_writes";
            return Err(error("geometry.slots", slots, legal));
        }
        self.check_gathering()
    }

    /// The buffer must be able to hold a full list of every plane: then one is full, or can be made so, before the buffer is.
    fn check_gathering(&self) -> Result<(), ConfigError> {
        let pages = self.nand.one_shot_pages;
        let Some(buffer) = self.buffer.as_ref().filter(|buffer| buffer.write_back && buffer.merge_writes) else {
            let legal = String::from(
                "needs a page buffer with write_back and merge_writes, or an SLC cache, [device.slc], with full = \"fold\"; without them it must be 1",
            );
            return Err(error("nand.one_shot_pages", pages, &legal));
        };
        let parts = if buffer.per_flow { self.flows.len() as u32 } else { 1 };
        let of_program = self.pages_of_a_list();
        let stripe = u64::from(self.geometry.planes()) * u64::from(of_program);
        if u64::from(buffer.pages / parts) >= stripe {
            return Ok(());
        }
        let of_flow = if parts > 1 { format!(" for each of {parts} flows") } else { String::new() };
        let planes = self.geometry.planes();
        let why = if self.geometry.slots == 1 { "nand.one_shot_pages" } else { "programs of several pages" };
        let legal = format!("must be at least {stripe}{of_flow} with {why}: {of_program} for each of {planes} planes");
        Err(error("buffer.pages", buffer.pages, &legal))
    }
}
