//! Which flow's data each logical page holds (`Valid` of FLIN eq. 10, and the flow whose pages garbage collection moves).
//!
//! A page holds data of the flow that wrote it last. Before its first write it belongs to the first flow whose part of the
//! drive contains it, or to none. Kept only for schedulers that use it: two bytes for each logical page, whose
//! memory is touched only when the page is written.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{FlowId, Lpn};

use crate::config::FlowConfig;

/// The flow of every logical page.
#[derive(Clone, Debug)]
pub struct PageFlows {
    /// By logical page: the flow that wrote it last plus one; 0 for none yet.
    last: Vec<u16>,
    /// Ranges of pages of the same flow before the first request: the first page of each range and the flow. Ascending; the
    /// first range begins at page 0.
    parts: Vec<(u32, Option<FlowId>)>,
    /// Logical pages below this one hold data before the first request.
    filled: u32,
}

impl PageFlows {
    /// The flows of the pages of a drive of `logical_pages`, of which the first `filled` hold data.
    pub(super) fn new(flows: &[FlowConfig], logical_pages: u32, filled: u32) -> PageFlows {
        let mut edges = vec![0];
        for flow in flows.iter().filter(|flow| flow.pages > 0) {
            edges.extend([flow.first_page, flow.first_page.saturating_add(flow.pages)]);
        }
        edges.retain(|&edge| edge < logical_pages);
        edges.sort_unstable();
        edges.dedup();
        let holds = |flow: &FlowConfig, page| page >= flow.first_page && page - flow.first_page < flow.pages;
        let flow_of = |page| flows.iter().position(|flow| holds(flow, page)).map(|f| FlowId(f as u16));
        let parts = edges.into_iter().map(|edge| (edge, flow_of(edge))).collect();
        PageFlows { last: vec![0; logical_pages as usize], parts, filled }
    }

    /// The flow whose data `lpn` holds; `None` if it is no flow's or holds no data.
    pub(super) fn of(&self, lpn: Lpn) -> Option<FlowId> {
        match self.last[lpn.0 as usize] {
            0 if lpn.0 < self.filled => self.parts[self.parts.partition_point(|&(start, _)| start <= lpn.0) - 1].1,
            0 => None,
            flow => Some(FlowId(flow - 1)),
        }
    }

    /// Records that `flow` writes `lpn`; returns the flow whose data it held.
    pub(super) fn claim(&mut self, lpn: Lpn, flow: FlowId) -> Option<FlowId> {
        let old = self.of(lpn);
        self.last[lpn.0 as usize] = flow.0 + 1;
        old
    }

    /// How many pages hold data of each flow before the first request.
    pub(super) fn first_counts(&self, flows: usize) -> Vec<u64> {
        let mut counts = vec![0; flows];
        for (i, &(start, flow)) in self.parts.iter().enumerate() {
            let end = self.parts.get(i + 1).map_or(self.filled, |&(next, _)| next.min(self.filled));
            if let Some(flow) = flow {
                counts[flow.index()] += u64::from(end.saturating_sub(start));
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first_page: u32, pages: u32) -> FlowConfig {
        FlowConfig { priority: 0, first_page, pages }
    }

    #[test]
    fn the_first_flow_of_a_part_owns_it_until_another_writes() {
        let flows = [part(10, 20), part(20, 30), part(0, 0), part(5, 10)];
        let mut page_flows = PageFlows::new(&flows, 100, 45);
        let of = |page_flows: &PageFlows, lpn| page_flows.of(Lpn(lpn)).map(|f| f.0);
        let expected = [(0, None), (4, None), (5, Some(3)), (10, Some(0)), (29, Some(0)), (30, Some(1)), (44, Some(1))];
        for (lpn, flow) in expected {
            assert_eq!(of(&page_flows, lpn), flow, "page {lpn}");
        }
        assert_eq!(of(&page_flows, 45), None, "holds no data");
        assert_eq!(page_flows.first_counts(4), [20, 15, 0, 5]);
        assert_eq!(page_flows.claim(Lpn(29), FlowId(2)), Some(FlowId(0)));
        assert_eq!(page_flows.claim(Lpn(60), FlowId(0)), None);
        assert_eq!((of(&page_flows, 29), of(&page_flows, 60)), (Some(2), Some(0)));
    }
}
