//! The arrival time of each flow's next request, and the earliest of them.

use flashlane_core::Time;

/// The times of all flows as a tournament tree: each inner node holds the earlier of its two children, the lower flow's at a tie, so
/// that a change takes one comparison for each level.
#[derive(Debug)]
pub(crate) struct NextTimes {
    /// Number of leaves: a power of two.
    leaves: usize,
    /// The root is node 1, the children of node `n` are `2 n` and `2 n + 1`, and flow `i` is node `leaves + i`.
    nodes: Vec<(Time, u32)>,
}

impl NextTimes {
    /// `flows` flows, none of which has a next request.
    pub(crate) fn new(flows: usize) -> NextTimes {
        let leaves = flows.next_power_of_two();
        NextTimes { leaves, nodes: vec![(Time::NEVER, 0); 2 * leaves] }
    }

    /// The flow with the earliest next request, and its time; the lower flow number at a tie. `None` when no flow has one.
    #[inline]
    pub(crate) fn earliest(&self) -> Option<(Time, usize)> {
        let (at, flow) = self.nodes[1];
        (at != Time::NEVER).then_some((at, flow as usize))
    }

    /// Sets when a flow's next request arrives; [`Time::NEVER`] if it has none.
    #[inline]
    pub(crate) fn set(&mut self, flow: usize, at: Time) {
        let mut node = self.leaves + flow;
        let mut least = (at, flow as u32);
        self.nodes[node] = least;
        while node > 1 {
            least = least.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    /// Compares with a scan of all flows, for many numbers of flows, with ties and flows without a request.
    #[test]
    fn the_earliest_is_that_of_a_scan() {
        let mut random = Random(5);
        for flows in [1, 2, 3, 5, 8, 17, 100] {
            let mut times = NextTimes::new(flows);
            let mut plain = vec![Time::NEVER; flows];
            assert_eq!(times.earliest(), None);
            for _ in 0..3_000 {
                let x = random.bits();
                let flow = (x >> 40) as usize % flows;
                let at = if x >> 62 == 0 { Time::NEVER } else { Time::from_ns((x >> 50) % 32) };
                times.set(flow, at);
                plain[flow] = at;
                let scan = plain.iter().zip(0..).map(|(&at, flow)| (at, flow)).min();
                assert_eq!(times.earliest(), scan.filter(|&(at, _)| at != Time::NEVER));
            }
        }
    }
}
