//! Overload: when the requests of a flow came faster than they were served, judged by the flow's own time.
//!
//! A backlog stands as long as a request of the flow is on its way. A stretch is a part of the flow's time that ends where nothing is
//! on its way and no request comes for more than [`GAP`]; longer waits for the next request inside it are left out of its length. A
//! stretch overloads the drive if the backlog at its last arrival took more than a twentieth of it to work off.
//!
//! Everything is counted as completions are passed, in order of their time; a request that arrived before a completion is always known
//! by then. Memory grows with the requests on their way.

use std::collections::VecDeque;

use flashlane_core::{Duration, Time};

/// Arrivals further apart are not one load.
const GAP: Duration = Duration::from_ns(100_000_000);
/// The fewest requests of a stretch from which overload can be judged.
const ENOUGH: u64 = 1_000;
/// The fewest requests of a backlog that is an overload: fewer are slow requests.
const BACKLOG: u64 = 50;
/// The backlog at the last arrival of a stretch may take this part of it.
const PART: u64 = 20;

/// Follows the backlog of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    /// When the requests arrived that have not completed yet, as far as is known; of those that have, as many of the oldest are gone.
    waiting: VecDeque<Time>,
    stretch: Spell,
    standing: Spell,
    /// When the backlog began that stands, or that stood last.
    since: Time,
    /// The last of the arrivals that have been taken.
    last: Time,
    /// The first request that figures count.
    counted_from: Option<Time>,
    /// What the stretch is, if nothing comes within [`GAP`].
    ending: Option<Overload>,
    found: Option<Overload>,
}

/// Requests, and the time in which they came: the sum of the waits between them that are not left out.
#[derive(Clone, Copy, Debug, Default)]
struct Spell {
    requests: u64,
    /// Waits for the next request that are not left out, and their sum.
    waits: u64,
    length: Duration,
}

/// The longest backlog of those that were overloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overload {
    /// Requests of the flow that arrived and completed while it stood.
    pub requests: u64,
    /// Waits between their arrivals of at most 0.1 s.
    pub waits: u64,
    /// The sum of those: from the first arrival to the last, longer waits left out.
    pub offered: Duration,
    /// How long it stood: from the first of their arrivals to the last of their completions.
    pub stood: Duration,
}

impl Overload {
    /// Requests that arrived per second; `None` if all came at one instant.
    pub fn offered_iops(&self) -> Option<f64> {
        (self.offered > Duration::ZERO).then(|| self.waits as f64 / self.offered.ns() as f64 * 1e9)
    }

    /// Requests that completed per second while the backlog stood.
    pub fn served_iops(&self) -> f64 {
        self.requests as f64 / self.stood.ns() as f64 * 1e9
    }
}

impl Spell {
    /// One request.
    const FIRST: Spell = Spell { requests: 1, waits: 0, length: Duration::ZERO };

    /// Adds a request that came so long after the one before.
    #[inline]
    fn add(&mut self, wait: Duration) {
        self.requests += 1;
        if wait <= GAP {
            self.waits += 1;
            self.length += wait;
        }
    }
}

impl Backlog {
    /// Counts a request that arrived; `is_counted` says whether figures count it.
    #[inline]
    pub(super) fn arrive(&mut self, at: Time, is_counted: bool) {
        if is_counted && self.counted_from.is_none() {
            self.counted_from = Some(at);
        }
        self.waiting.push_back(at);
    }

    /// The request that arrived last never reached the device.
    pub(super) fn take_back(&mut self) {
        self.waiting.pop_back();
    }

    /// Counts a request that completed at `done`: of those that arrived one more has been served.
    #[inline]
    pub(super) fn complete(&mut self, done: Time) {
        let Some(arrival) = self.waiting.pop_front() else { return };
        self.count(arrival);
        if self.waiting.front().is_none_or(|next| *next > done) {
            self.end_standing(done);
        }
    }

    #[inline]
    fn count(&mut self, arrival: Time) {
        if self.standing.requests == 0 {
            self.begin_standing(arrival);
        } else {
            let wait = arrival.since(self.last);
            self.standing.add(wait);
            self.stretch.add(wait);
        }
        self.last = arrival;
    }

    /// A request comes where none is on its way: it goes on with the stretch, or begins another.
    fn begin_standing(&mut self, arrival: Time) {
        let wait = arrival.since(self.last);
        if wait > GAP || self.stretch.requests == 0 {
            self.end_stretch();
            self.stretch = Spell::FIRST;
        } else {
            self.stretch.add(wait);
        }
        self.ending = None;
        self.standing = Spell::FIRST;
        self.since = arrival;
    }

    /// Nothing is on its way from `done` on.
    fn end_standing(&mut self, done: Time) {
        let left = done.since(self.last);
        let is_judged = self.stretch.requests >= ENOUGH && self.standing.requests >= BACKLOG;
        if is_judged
            && left.ns() > self.stretch.length.ns() / PART
            && self.counted_from.is_some_and(|at| at <= self.last)
        {
            let Spell { requests, waits, length: offered } = self.standing;
            self.ending = Some(Overload { requests, waits, offered, stood: done.since(self.since) });
        }
        self.standing = Spell::default();
    }

    fn end_stretch(&mut self) {
        let longest = |a: &Overload| a.stood;
        self.found = self.found.into_iter().chain(self.ending.take()).max_by_key(longest);
    }

    /// Ends the run.
    pub(super) fn close(&mut self) {
        self.end_stretch();
        self.waiting = VecDeque::new();
    }

    /// The longest overload, once the run is over; `None` if there was none.
    pub(super) fn overload(&self) -> Option<Overload> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;
    const S: u64 = 1_000_000_000;

    /// Follows requests that arrive at these instants, all counted, and are served one after the other, each for `service` ns. Completions
    /// are passed as late as 64 arrivals after their time, or at once: the same figures.
    fn served(arrivals: &[u64], service: u64) -> Backlog {
        let ends = arrivals.iter().scan(0, |free, &at| {
            *free = at.max(*free) + service;
            Some(*free)
        });
        let ends: Vec<u64> = ends.collect();
        let follow = |batch: usize| {
            let (mut backlog, mut passed) = (Backlog::default(), 0);
            for (i, &at) in arrivals.iter().enumerate() {
                if i.is_multiple_of(batch) {
                    while ends[passed] <= at {
                        backlog.complete(Time::from_ns(ends[passed]));
                        passed += 1;
                    }
                }
                backlog.arrive(Time::from_ns(at), true);
            }
            ends[passed..].iter().for_each(|&end| backlog.complete(Time::from_ns(end)));
            backlog.close();
            backlog
        };
        let [at_once, late] = [1, 64].map(follow);
        assert_eq!(at_once.overload(), late.overload());
        late
    }

    /// `count` instants from `from` on, `apart` ns apart.
    fn every(apart: u64, from: u64, count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |i| from + apart * i)
    }

    fn overload(arrivals: impl IntoIterator<Item = u64>, service: u64) -> Option<Overload> {
        served(&arrivals.into_iter().collect::<Vec<u64>>(), service).overload()
    }

    /// 20,000 requests per second for 1 s, of which 10,000 are served.
    fn found(requests: u64, waits: u64, offered: u64, stood: u64) -> Option<Overload> {
        Some(Overload { requests, waits, offered: Duration::from_ns(offered), stood: Duration::from_ns(stood) })
    }

    #[test]
    fn rates_are_those_of_the_time_in_which_the_flow_sends() {
        let much = |from: u64| every(50 * US, from, 20_000);
        let wanted = found(20_000, 19_999, 19_999 * 50 * US, 2 * S);
        for from in [0, 60 * S] {
            assert_eq!(overload(much(from), 100 * US), wanted, "wherever in the run");
        }
        let once = overload(much(0), 100 * US).expect("an overload");
        assert_eq!((once.offered_iops(), once.served_iops()), (Some(20_000.0), 10_000.0));
        assert_eq!(overload(much(0).chain([9 * S]), 100 * US), wanted, "what comes long afterwards changes nothing");
        assert_eq!(overload(much(0).chain(much(9 * S)), 100 * US), wanted, "nor does another of its kind");
    }

    /// A wait of 0.5 s while a backlog stands is left out of what is offered.
    #[test]
    fn waits_are_left_out_while_a_backlog_stands() {
        let twice = every(50 * US, 0, 20_000).chain(every(50 * US, 19_999 * 50 * US + S / 2, 20_000));
        assert_eq!(overload(twice, 100 * US), found(40_000, 39_998, 39_998 * 50 * US, 4 * S));
    }

    /// The figures begin with the backlog: 10 s of few requests before it change nothing.
    #[test]
    fn what_was_served_in_time_is_no_backlog() {
        let calm = every(1_000 * US, 0, 10_000);
        assert_eq!(
            overload(calm.chain(every(50 * US, 10 * S, 20_000)), 100 * US),
            found(20_000, 19_999, 19_999 * 50 * US, 2 * S)
        );
    }

    #[test]
    fn who_keeps_up_is_not_overloaded() {
        assert_eq!(overload(every(100 * US, 0, 50_000), 99 * US), None);
        assert_eq!(overload(every(100 * US, 0, 50_000), 104 * US), None, "less than a twentieth");
        assert!(overload(every(100 * US, 0, 50_000), 106 * US).is_some());
        assert_eq!(overload(every(S / 5, 0, 2_000), S / 10), None, "few requests that take long");
        assert_eq!(overload(every(50 * US, 0, 999), 100 * US), None, "too few");
        let bursts = (0..100).flat_map(|burst| every(10, burst * 20_000 * US, 1_500));
        assert_eq!(overload(bursts, 12 * US), None, "bursts, each worked off before the next");
        let (mut slow, mut at_last) = (Backlog::default(), 0);
        for at in every(1_000 * US, 0, 2_000) {
            slow.arrive(Time::from_ns(at), true);
            at_last = at;
            slow.complete(Time::from_ns(at + if at == 1_999_000 * US { S } else { US }));
        }
        slow.close();
        assert_eq!((slow.overload(), at_last), (None, 1_999_000 * US), "one slow request");
    }

    /// All at one instant: a backlog without a rate of arrivals.
    #[test]
    fn what_comes_at_once_has_no_rate() {
        let at_once = overload([0; 1_000], US).expect("an overload");
        assert_eq!((at_once.offered_iops(), at_once.served_iops()), (None, 1e6));
    }

    #[test]
    fn warm_up_alone_is_no_overload() {
        let follow = |counted_from: u64| {
            let mut backlog = Backlog::default();
            let arrivals: Vec<u64> = every(50 * US, 0, 20_000).chain([5 * S]).collect();
            arrivals.iter().for_each(|&at| backlog.arrive(Time::from_ns(at), at >= counted_from));
            (1..=20_000).for_each(|i| backlog.complete(Time::from_ns(100 * US * i)));
            backlog.complete(Time::from_ns(5 * S + US));
            backlog.close();
            backlog.overload().is_some()
        };
        assert_eq!([follow(0), follow(S / 2), follow(2 * S)], [true, true, false]);
    }

    #[test]
    fn a_request_that_is_refused_is_none() {
        let mut backlog = Backlog::default();
        for at in every(50 * US, 0, 1_000) {
            backlog.arrive(Time::from_ns(at), true);
            backlog.complete(Time::from_ns(at + US));
            backlog.arrive(Time::from_ns(at + US), true);
            backlog.take_back();
        }
        backlog.close();
        assert_eq!((backlog.overload(), backlog.stretch.requests), (None, 1_000));
    }
}
