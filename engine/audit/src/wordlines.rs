//! One-shot programs (model 0.15): native cells take whole wordlines, which are padded where there are fewer pages.

use flashlane_core::PlaneId;
use flashlane_ssd::config::Config;
use rustc_hash::FxHashMap;

use super::pages::Pages;
use super::rule::{Log, Rule};

/// The wordlines that are being filled at this instant.
#[derive(Debug)]
pub(super) struct Wordlines {
    /// Pages of one, and of a row in SLC mode.
    pages: u32,
    slots: u32,
    pages_per_block: u32,
    /// By block, the page that comes next in a wordline that is not full.
    open: FxHashMap<u32, (PlaneId, u32)>,
}

impl Wordlines {
    /// For a device of `config`, if it has one-shot programs.
    pub(super) fn new(config: &Config) -> Option<Wordlines> {
        let pages = config.nand.one_shot_pages * config.geometry.slots;
        let (pages_per_block, slots) = (config.geometry.pages_per_block, config.geometry.slots);
        (pages > 1).then(|| Wordlines { pages, slots, pages_per_block, open: FxHashMap::default() })
    }

    /// A page of a block was programmed, with data or (`is_pad`) without.
    pub(super) fn programmed(&mut self, plane: PlaneId, ppa: u32, is_pad: bool, pages: &Pages, log: &mut Log) {
        let (block, offset) = (pages.block_of(plane, ppa), ppa % self.pages_per_block);
        let together = if pages.is_slc(block) { self.slots } else { self.pages };
        let begun = self.open.remove(&block);
        let is_next = match begun {
            Some((_, next)) => next == ppa,
            None => !is_pad && offset.is_multiple_of(together),
        };
        log.check(is_next, Rule::Wordline, || {
            let what = if is_pad { "padded" } else { "programmed" };
            format!("page {offset} of {} was {what} apart from its wordline.", pages.describe(block))
        });
        if !(offset + 1).is_multiple_of(together) {
            self.open.insert(block, (plane, ppa + 1));
        }
    }

    /// Whether [`Wordlines::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.open.is_empty()
    }

    /// The instant is over: the wordlines that were begun must be full.
    pub(super) fn settle(&mut self, log: &mut Log) {
        for (plane, next) in self.open.drain().map(|(_, next)| next) {
            log.report(Rule::Wordline, || {
                format!("page {next} of plane {} was left out of a wordline that was programmed.", plane.0)
            });
        }
    }
}
