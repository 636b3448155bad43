//! The part of a run that figures of the device are about: from the first counted arrival to the last counted completion. Before, the run
//! warms up; after, the device only does what it does when nobody asks.
//!
//! When a completion is the last is known only once nothing more is to come, so the device's counters are kept whenever nothing counted is
//! under way and no counted request comes next.

use flashlane_ssd::{Device, Totals};

/// What the device had done at both ends.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Counted requests under way, as far as is known.
    under_way: u64,
    /// A counted request has completed since the end was kept.
    is_open: bool,
    begins: Option<Totals>,
    ends: Option<Totals>,
}

impl Counted {
    /// A request arrives that figures count, at the device's instant.
    #[inline]
    pub(crate) fn arrive(&mut self, device: &Device) {
        if self.begins.is_none() {
            self.begins = Some(device.counters());
        }
        self.under_way += 1;
    }

    /// One of them has completed.
    #[inline]
    pub(crate) fn complete(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
        self.is_open = true;
    }

    /// Whether the last counted request may have completed: none is under way.
    #[inline]
    pub(crate) fn may_end(&self) -> bool {
        self.is_open && self.under_way == 0
    }

    /// Whether counted requests are under way.
    #[inline]
    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way > 0
    }

    /// The last counted request so far has completed, at the device's instant.
    #[cold]
    pub(crate) fn end(&mut self, device: &Device) {
        self.is_open = false;
        self.ends = Some(device.counters());
    }

    /// What the device did in between, at the end of the run; nothing if no counted request completed.
    pub(crate) fn totals(&self, device: &Device) -> Totals {
        let (all, none) = (device.totals(), Totals::default());
        let begins = self.begins.as_ref().unwrap_or(&none);
        all.between(begins, self.ends.as_ref().unwrap_or(begins))
    }
}
