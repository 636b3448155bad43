//! The state of a used drive, to be stored when a device has drained and taken up by one that is built later.
//!
//! It is the pages and blocks with their erase counts, which of them are in SLC mode, what the mapping cache and the page buffer hold and in
//! which order, and the generators. What a scheduler remembers begins anew, and so does what is counted: results are those of one use.

use alloc::vec::Vec;

use flashlane_core::Lpn;
use rand_pcg::Pcg64Mcg;
use serde::de::{DeserializeSeed, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Device;
use super::wordlines::Wordlines;
use crate::config::Config;
use crate::ftl::{Ftl, HeldEntry, MappingCache, SlcState, UsedTables};
use crate::gc::{Replayed, UsedRest};

/// The state of a device that has drained ([`Device::drain`]), to be stored.
pub struct UsedState<'a>(&'a Device);

/// Reads the state of a used drive of this configuration from what was stored of [`UsedState`].
pub struct SavedUse<'a>(pub &'a Config);

/// What is stored; with an SLC cache, the [`SlcState`] of each plane follows.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    #[serde(borrow)]
    tables: UsedTables<'a>,
    victim_rng: Pcg64Mcg,
    flash_rng: Pcg64Mcg,
    buffer: Option<Vec<Vec<(u32, bool)>>>,
}

impl Device {
    /// Its state, to be stored. It must have drained.
    pub fn used_state(&self) -> UsedState<'_> {
        debug_assert!(self.has_drained(), "stored before it has drained");
        UsedState(self)
    }

    /// Whether it began in the state in which an earlier use left the drive.
    pub fn began_used(&self) -> bool {
        self.began_used
    }

    /// The pages in each part of the buffer, from the one used longest ago on, and whether they are dirty. For auditors, at the start of a
    /// run.
    pub fn buffered(&self) -> Vec<Vec<(Lpn, bool)>> {
        let held = self.buffer.as_ref().map(|buffer| buffer.held()).unwrap_or_default();
        held.into_iter().map(|part| part.into_iter().map(|(lpn, dirty)| (Lpn(lpn), dirty)).collect()).collect()
    }

    /// The logical pages whose entries of the map memory holds, if it does not hold all: the one used longest ago first, each with whether it is
    /// dirty; then the translation pages that are still to be written. For auditors, at the start of a run.
    pub fn held_entries(&self) -> Vec<(Lpn, bool)> {
        let held = self.ftl.cache.as_ref().map(MappingCache::held).unwrap_or_default();
        held.into_iter().map(|(lpn, _, dirty)| (Lpn(lpn), dirty)).collect()
    }

    /// The blocks in SLC mode, plane by plane; empty without a cache. For auditors, at the start of a run.
    pub fn slc_states(&self) -> Vec<SlcState> {
        self.ftl.slc_states()
    }

    /// Takes up the rest of a used drive's state.
    pub(super) fn take_up(&mut self, used: UsedRest, config: &Config) {
        self.flash.set_rng(used.rng);
        self.await_idle_time();
        if let (Some(buffer), Some(held)) = (&mut self.buffer, &used.buffer) {
            buffer.hold(held, config.ftl.logical_pages).expect("what was read fits");
        }
    }
}

impl Serialize for UsedState<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let device = self.0;
        let gathered: Vec<HeldEntry> = device.wordlines.as_ref().map(Wordlines::pages_of_map).unwrap_or_default();
        let stored = Stored {
            tables: device.ftl.used_tables(&gathered),
            victim_rng: device.gc.rng().clone(),
            flash_rng: device.flash.rng().clone(),
            buffer: device.buffer.as_ref().map(|buffer| buffer.held()),
        };
        if device.ftl.has_slc {
            return (stored, device.slc_states()).serialize(serializer);
        }
        stored.serialize(serializer)
    }
}

impl<'de> DeserializeSeed<'de> for SavedUse<'_> {
    type Value = Replayed;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Replayed, D::Error> {
        let config = self.0;
        let (stored, slc) = if config.slc.is_some() {
            <(Stored<'_>, Vec<SlcState>)>::deserialize(deserializer)?
        } else {
            (Stored::deserialize(deserializer)?, Vec::new())
        };
        let Stored { tables, victim_rng, flash_rng, buffer } = stored;
        let other = || D::Error::custom("of another drive");
        let fits = match (&config.buffer, &buffer) {
            (Some(of), Some(held)) => {
                let mut trial = crate::buffer::Buffer::new(of, config.flows.len());
                trial.hold(held, config.ftl.logical_pages).is_some()
            }
            (None, None) => true,
            _ => false,
        };
        let mut ftl = Ftl::with_used_tables(config, tables).filter(|_| fits).ok_or_else(other)?;
        if config.slc.is_some() {
            ftl = ftl.begin_slc_in(config, &slc).ok_or_else(other)?;
        }
        Ok(Replayed::of_use(config, ftl, victim_rng, UsedRest { buffer, rng: flash_rng }))
    }
}
