//! The spools of a comparison: one for each flow with a trace, opened when it is first needed.

use std::sync::{Arc, Mutex};

use super::feed::Feed;
use super::spool::{self, Budget, Spool};
use flashlane_core::arrival::WorkloadError;
use flashlane_scenario::FlowPlan;

/// The spools of a comparison.
#[derive(Debug)]
pub(super) struct Spools {
    flows: Vec<Mutex<Slot>>,
    budget: Arc<Budget>,
}

#[derive(Debug, Default)]
struct Slot {
    spool: Option<Arc<Spool>>,
    /// Runs that have yet to begin reading it.
    readers: usize,
}

impl Slot {
    /// One that was announced needs it no more.
    fn leave(&mut self) {
        self.readers = self.readers.saturating_sub(1);
        if self.readers == 0 {
            self.spool = None;
        }
    }
}

impl Spools {
    pub fn new(flows: usize) -> Spools {
        Spools { flows: (0..flows).map(|_| Mutex::default()).collect(), budget: spool::budget() }
    }

    /// Announces that `readers` runs will read the trace of a flow.
    pub fn expect_readers(&self, flow: usize, readers: usize) {
        self.slot(flow, |slot| slot.readers += readers);
    }

    /// Keeps all traces for runs of which nobody knows yet whether they come.
    pub fn hold(&self) {
        (0..self.flows.len()).for_each(|flow| self.expect_readers(flow, 1));
    }

    /// Ends what [`Spools::hold`] began.
    pub fn release(&self) {
        (0..self.flows.len()).for_each(|flow| self.slot(flow, Slot::leave));
    }

    /// The spool of a flow, for a look that does not count as reading; `None` if the flow has no trace.
    ///
    /// # Errors
    /// A trace that cannot be opened.
    pub fn get(&self, flow: usize, plan: &FlowPlan) -> Result<Option<Arc<Spool>>, WorkloadError> {
        self.slot(flow, |slot| self.opened(slot, plan))
    }

    /// The spool of a flow, for a run. After the last announced one it is not kept here: that run's reader frees what it has read.
    ///
    /// # Errors
    /// A trace that cannot be opened.
    pub fn begin_reading(&self, flow: usize, plan: &FlowPlan) -> Result<Option<Arc<Spool>>, WorkloadError> {
        self.slot(flow, |slot| {
            let spool = self.opened(slot, plan)?;
            slot.leave();
            Ok(spool)
        })
    }

    fn opened(&self, slot: &mut Slot, plan: &FlowPlan) -> Result<Option<Arc<Spool>>, WorkloadError> {
        if slot.spool.is_none() {
            slot.spool = Feed::spool(plan, Arc::clone(&self.budget))?.map(Arc::new);
        }
        Ok(slot.spool.clone())
    }

    fn slot<T>(&self, flow: usize, of: impl FnOnce(&mut Slot) -> T) -> T {
        of(&mut self.flows[flow].lock().expect("opening a trace does not panic"))
    }
}
