//! The SLC cache (model 0.14): its configuration, and what a device must be to have it.

use alloc::format;
use alloc::string::String;

use flashlane_core::{Duration, choices};

use super::{Config, ConfigError, HOUR, PageTimes, Service, error, range};

/// Blocks in SLC mode, with one bit a cell, that take writes first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlcCache {
    /// Blocks of a plane that are always in SLC mode: its last ones. They hold no data before the first request.
    pub static_blocks: u32,
    /// Free blocks beyond [`Gc::start_blocks`] may be opened in SLC mode too, until they are erased.
    pub dynamic: bool,
    /// Most blocks of a plane that `dynamic` has in SLC mode at a time; `u32::MAX` for no limit.
    pub dynamic_limit: u32,
    /// Bits a cell of the other blocks: a block in SLC mode has `pages_per_block / bits` pages.
    pub bits: u32,
    /// Array time of a page read in SLC mode.
    pub read: Duration,
    /// Array time of a page program in SLC mode.
    pub program: Duration,
    /// Array time of an erase of a block in SLC mode.
    pub erase: Duration,
    /// Folding begins when no user transaction has been in the device for this long; `None` for never.
    pub idle: Option<Duration>,
    /// What a write does when the cache is full.
    pub full: FullCache,
}

choices! {
    /// What a write does when the SLC cache is full.
    pub enum FullCache {
        /// It waits until a block has been folded.
        Fold = "fold",
        /// It goes to native cells.
        Direct = "direct",
    }
}

impl Config {
    pub(super) fn check_slc(&self) -> Result<(), ConfigError> {
        let Some(slc) = &self.slc else { return Ok(()) };
        let g = &self.geometry;
        range("slc.bits", slc.bits as u64, 2, PageTimes::MOST_BITS as u64)?;
        if !g.pages_per_block.is_multiple_of(slc.bits) {
            let legal = format!("must be a divisor of geometry.pages_per_block, which is {}", g.pages_per_block);
            return Err(error("slc.bits", slc.bits, &legal));
        }
        range("slc.static_blocks", slc.static_blocks as u64, u64::from(!slc.dynamic), g.blocks_per_plane as u64 - 1)?;
        if slc.dynamic && slc.dynamic_limit == 0 {
            return Err(error("slc.dynamic_limit", 0, "must be at least 1; dynamic = false is for none"));
        }
        for (key, time) in [("slc.read", slc.read), ("slc.program", slc.program), ("slc.erase", slc.erase)] {
            range(key, time.ns(), 1, HOUR)?;
        }
        if let Some(idle) = slc.idle {
            range("slc.idle", idle.ns(), 0, 24 * HOUR)?;
        }
        if matches!(self.front.service, Service::Serial { .. }) {
            let legal = String::from("has no flash whose blocks could be in SLC mode; leave [device.slc] out");
            return Err(ConfigError { key: "slc (with serial service)", value: String::from("serial"), legal });
        }
        Ok(())
    }

    /// Blocks of a plane without the static ones of the SLC cache.
    pub fn native_blocks(&self) -> u32 {
        self.geometry.blocks_per_plane - self.slc.as_ref().map_or(0, |slc| slc.static_blocks)
    }

    /// Blocks of a plane that take pages in SLC mode once and are never erased: the static ones, where full caches are passed by and no idle
    /// time is given after which they are folded.
    pub fn blocks_never_folded(&self) -> u32 {
        let stays = |slc: &&SlcCache| slc.full == FullCache::Direct && slc.idle.is_none();
        self.slc.as_ref().filter(stays).map_or(0, |slc| slc.static_blocks)
    }

    /// What the static blocks of the SLC cache leave, for a message.
    pub(super) fn beside_static_blocks(&self) -> String {
        match self.slc.as_ref().map_or(0, |slc| slc.static_blocks) {
            0 => String::new(),
            blocks => format!(", {blocks} of which are always in SLC mode (slc.static_blocks),"),
        }
    }
}
