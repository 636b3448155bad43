//! The requests of a trace in the order in which they are replayed: as the file has them, or by time.

use super::counts::Sorted;
use super::options::TimeOrder;
use super::records::{Record, Records};
use super::sorted::Sorter;
use flashlane_core::arrival::WorkloadError;

/// [`Records`], sorted if that was asked for.
pub(super) struct Ordered {
    records: Records,
    sorter: Option<Box<Sorter>>,
}

impl Ordered {
    /// The requests of `records` in this order.
    pub fn new(records: Records, order: TimeOrder) -> Ordered {
        Ordered { records, sorter: (order == TimeOrder::Sort).then(Box::default) }
    }

    /// The file.
    pub fn file(&self) -> &Records {
        &self.records
    }

    /// What was moved so far.
    pub fn sorted(&self) -> Sorted {
        self.sorter.as_ref().map_or(Sorted::default(), |sorter| sorter.sorted())
    }

    /// Puts the next request into `record`; returns false if there is none.
    #[inline]
    pub fn next(&mut self, record: &mut Record) -> Result<bool, WorkloadError> {
        match &mut self.sorter {
            None => self.records.next(record),
            Some(sorter) => sorter.next(&mut self.records, record),
        }
    }

    /// Goes back to the first request.
    pub fn rewind(&mut self) -> Result<(), WorkloadError> {
        if let Some(sorter) = &mut self.sorter {
            sorter.rewind();
        }
        self.records.rewind()
    }
}
