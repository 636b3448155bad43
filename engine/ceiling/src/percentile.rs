//! Bounds on percentiles of the response time. They are loose: a late request may end at any time after that, and the machines of a group
//! are looked at together but groups by themselves.

use std::ops::Range;

use crate::demands::Demand;

/// The percentiles, in thousandths.
const PERCENTILES: [u64; 2] = [990, 999];

/// The search ends when what is left is one part in this.
const PRECISION: u64 = 64;

/// A request.
#[derive(Clone, Copy, Debug)]
struct Request {
    arrival: u64,
    /// How long it takes at the least, whatever the others do, ns.
    alone: u64,
    /// Number of its demands.
    demands: u32,
}

/// The requests with what they ask of each machine.
#[derive(Debug)]
pub(crate) struct Percentiles {
    /// Machines of a kind.
    groups: Vec<Range<u32>>,
    requests: Vec<Request>,
    /// Machine and work, ns.
    demands: Vec<(u32, u32)>,
    /// From every arrival to its work, and from the work to the end, at the least.
    overhead: u64,
}

/// A machine, and the work that would be late if the machine served what is in time as it arrives.
#[derive(Clone, Default, Debug)]
struct Machine {
    /// When all is done that has arrived and is in time.
    free: u64,
    /// Requests and their work since the machine last had nothing to do, or since work was last late.
    since: Vec<(u32, u32)>,
}

impl Percentiles {
    pub(crate) fn new(groups: Vec<Range<u32>>, overhead: u64) -> Percentiles {
        Percentiles { groups, requests: Vec::new(), demands: Vec::new(), overhead }
    }

    pub(crate) fn add(&mut self, arrival: u64, alone: u64, demands: &[Demand]) {
        let known = |demand: &Demand| (demand.machine, u32::try_from(demand.work).unwrap_or(u32::MAX));
        self.demands.extend(demands.iter().map(known));
        self.requests.push(Request { arrival, alone, demands: demands.len() as u32 });
    }

    /// What the 99th and the 99.9th percentile cannot be below, ns. `worst` bounds the largest response time.
    pub(crate) fn bounds(&self, worst: u64) -> [u64; 2] {
        let mut alone: Vec<u64> = self.requests.iter().map(|request| request.alone).collect();
        PERCENTILES.map(|thousandths| {
            let count = alone.len();
            // Nearest rank, as results are counted.
            let rank = (count as u64 * thousandths).div_ceil(1000).max(1) as usize;
            let (_, &mut low, _) = alone.select_nth_unstable(rank - 1);
            self.search(low, worst, count - rank)
        })
    }

    /// The largest time found, of `low` and more, that more than `allowed` requests exceed under every scheduler.
    fn search(&self, mut low: u64, mut high: u64, allowed: usize) -> u64 {
        while high.saturating_sub(low) > low / PRECISION + 1 {
            let middle = low + (high - low) / 2;
            if self.groups.iter().any(|group| self.is_exceeded(group, middle, allowed)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Whether more than `allowed` requests take longer than `time` under every scheduler, as far as the machines of `group` tell.
    fn is_exceeded(&self, group: &Range<u32>, time: u64, allowed: usize) -> bool {
        let room = time.saturating_sub(self.overhead);
        let mut machines = vec![Machine::default(); group.len()];
        // The work of each request that may be late, and the work that is.
        let mut may_be_late = vec![0u64; self.requests.len()];
        let mut late = 0u64;
        let mut demands = self.demands.iter();
        for (number, request) in self.requests.iter().enumerate() {
            for &(machine, work) in demands.by_ref().take(request.demands as usize) {
                if !group.contains(&machine) {
                    continue;
                }
                let machine = &mut machines[(machine - group.start) as usize];
                if machine.free <= request.arrival {
                    machine.since.clear();
                    machine.free = request.arrival;
                }
                machine.free += u64::from(work);
                machine.since.push((number as u32, work));
                let last = request.arrival + room;
                if machine.free > last {
                    late += machine.free - last;
                    machine.free = last;
                    machine.since.drain(..).for_each(|(of, work)| may_be_late[of as usize] += u64::from(work));
                }
            }
        }
        late > most(may_be_late, allowed)
    }
}

/// The sum of the `count` largest.
fn most(mut all: Vec<u64>, count: usize) -> u64 {
    all.retain(|&work| work > 0);
    if count < all.len() {
        all.select_nth_unstable_by(count, |a, b| b.cmp(a));
        all.truncate(count);
    }
    all.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    /// One machine, and requests of 10 ns each.
    fn burst(requests: u64, apart: u64) -> Percentiles {
        let mut all = Percentiles::new(vec![Range { start: 0, end: 1 }], 0);
        for i in 0..requests {
            all.add(i * apart, 10, &[Demand { machine: 0, head: 0, work: 10, after: 80 }]);
        }
        all
    }

    /// A thousand requests at once take 10,000 ns. If ten of them may be late, the other 990 end at 9,900 at the earliest; if one, at 9,990.
    #[test]
    fn a_burst() {
        let all = burst(1000, 0);
        assert!(all.is_exceeded(&(0..1), 9_899, 10) && !all.is_exceeded(&(0..1), 9_900, 10));
        assert!(all.is_exceeded(&(0..1), 9_989, 1) && !all.is_exceeded(&(0..1), 9_990, 1));
        let [p99, p99_9] = all.bounds(10_000);
        assert!((9_700..9_900).contains(&p99) && (9_800..9_990).contains(&p99_9), "{p99} {p99_9}");
    }

    /// Requests that never meet take no longer than they do alone.
    #[test]
    fn nothing_waits() {
        assert_eq!(burst(1000, 10).bounds(10), [10, 10]);
    }

    /// Of all ways to be late, none has fewer late requests than is said: random pieces on one machine, by trying all sets.
    #[test]
    fn no_set_of_late_requests_is_smaller() {
        let mut random = Random(7);
        let mut below = |most| random.below(most);
        let mut exceeded = 0;
        for _ in 0..2000 {
            let count = 1 + below(7) as usize;
            let mut pieces: Vec<(u64, u64)> = (0..count).map(|_| (below(20), 1 + below(8))).collect();
            pieces.sort_unstable();
            let time = 1 + below(15);
            let mut all = Percentiles::new(vec![Range { start: 0, end: 1 }], 0);
            for &(arrival, work) in &pieces {
                all.add(arrival, work, &[Demand { machine: 0, head: 0, work, after: 8 * work }]);
            }
            // The most requests that first in, first out serves in time, of all sets: it meets all deadlines that can be met.
            let in_time = |set: u32| {
                let mut free = 0;
                (0..count).filter(|&i| set >> i & 1 == 1).all(|i| {
                    free = pieces[i].0.max(free) + pieces[i].1;
                    free <= pieces[i].0 + time
                })
            };
            let most = (0..1u32 << count).filter(|&set| in_time(set)).map(u32::count_ones).max().unwrap_or(0);
            let least_late = count - most as usize;
            for allowed in 0..count {
                let is_exceeded = all.is_exceeded(&(0..1), time, allowed);
                assert!(!is_exceeded || least_late > allowed, "{pieces:?} {time} {allowed}");
                exceeded += usize::from(is_exceeded);
            }
        }
        assert!(exceeded > 500, "{exceeded}");
    }
}
