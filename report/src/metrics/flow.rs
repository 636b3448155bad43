//! The counts and response times of one flow.
//!
//! [`FlowMetrics::complete`] is called once for each request and is the only part that must be fast. Must never know
//! which scheduler served the flow.

use flashlane_core::transaction::tag;
use flashlane_core::{Completion, Op, Time};

use super::{Histogram, Load, LoadWindow, Timeline};

/// Counts and response times of one flow in one run.
#[derive(Clone, Debug)]
pub struct FlowMetrics {
    issued: u64,
    rejected: u64,
    /// Requests that completed but are left out of the figures (warm-up).
    unmeasured: u64,
    /// `NEVER` until the first request arrives.
    first_arrival: Time,
    last_arrival: Time,
    last_completion: Time,
    bytes: [u64; 2],
    touched: Touched,
    timelines: [Timeline; 2],
    load: Load,
}

/// Requests affected by a mechanism of the scheduler, through at least one of their transactions (model 1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Reads, then writes, that were dispatched before an older request that could have gone (model 0.7).
    pub overtaking: [u64; 2],
    /// Reads, then writes, that jumped at least one place when they joined a queue.
    pub jumped: [u64; 2],
    /// Reads that were served while a program or erase stood paused.
    pub in_pause: u64,
}

impl Default for FlowMetrics {
    fn default() -> FlowMetrics {
        FlowMetrics {
            issued: 0,
            rejected: 0,
            unmeasured: 0,
            first_arrival: Time::NEVER,
            last_arrival: Time::ZERO,
            last_completion: Time::ZERO,
            bytes: [0; 2],
            touched: Touched::default(),
            timelines: Default::default(),
            load: Load::default(),
        }
    }
}

impl FlowMetrics {
    /// Metrics of a flow without any request.
    pub fn new() -> FlowMetrics {
        FlowMetrics::default()
    }

    /// Counts a request that the flow produced at `arrival`, whether it completes or is rejected. The run's window grows up to it if
    /// figures count it.
    #[inline]
    pub fn issue(&mut self, window: &mut LoadWindow, op: Op, arrival: Time, is_counted: bool) {
        if is_counted {
            window.arrive(arrival);
        }
        self.load.arrive(window, op, arrival);
        if arrival < self.first_arrival {
            self.first_arrival = arrival;
        }
        self.issued += 1;
        self.last_arrival = self.last_arrival.max(arrival);
    }

    /// Counts a request of the flow that was refused before it reached the device.
    pub fn reject(&mut self) {
        self.rejected += 1;
    }

    /// Counts a completed request of the flow.
    #[inline]
    pub fn complete(&mut self, window: &LoadWindow, completion: &Completion) {
        self.load.complete(window, completion.op, completion.done, completion.bytes);
        let direction = completion.op.index();
        let response = (completion.done - completion.arrival).ns();
        self.last_completion = self.last_completion.max(completion.done);
        self.bytes[direction] += completion.bytes;
        self.timelines[direction].record(completion.done.ns(), response, completion.bytes);
        if completion.tags != 0 {
            self.touched.overtaking[direction] += u64::from(completion.tags & tag::OVERTOOK != 0);
            self.touched.jumped[direction] += u64::from(completion.tags & tag::JUMPED != 0);
            self.touched.in_pause += u64::from(completion.tags & tag::IN_PAUSE != 0);
        }
    }

    /// Counts a completed request of the flow that the figures leave out, because it arrived during warm-up.
    #[inline]
    pub fn complete_unmeasured(&mut self, window: &LoadWindow, completion: &Completion) {
        self.load.complete(window, completion.op, completion.done, completion.bytes);
        self.last_completion = self.last_completion.max(completion.done);
        self.unmeasured += 1;
    }

    /// Counts `count` requests that the flow's source refused; when they would have arrived is unknown.
    pub fn refuse(&mut self, count: u64) {
        self.issued += count;
        self.rejected += count;
    }

    /// Ends the run: its window is known.
    pub fn close(&mut self, window: &LoadWindow) {
        self.load.close(window);
    }

    /// Adds the requests of another flow of the run, for figures of several flows together.
    pub fn merge(&mut self, other: &FlowMetrics) {
        self.issued += other.issued;
        self.rejected += other.rejected;
        self.unmeasured += other.unmeasured;
        self.first_arrival = self.first_arrival.min(other.first_arrival);
        self.last_arrival = self.last_arrival.max(other.last_arrival);
        self.last_completion = self.last_completion.max(other.last_completion);
        self.load.merge(&other.load);
        self.touched.in_pause += other.touched.in_pause;
        for direction in 0..2 {
            self.touched.overtaking[direction] += other.touched.overtaking[direction];
            self.touched.jumped[direction] += other.touched.jumped[direction];
            self.bytes[direction] += other.bytes[direction];
            self.timelines[direction].merge(&other.timelines[direction]);
        }
    }

    /// Requests the flow produced.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Requests that completed.
    pub fn completed(&self) -> u64 {
        self.unmeasured + self.timelines.iter().map(Timeline::count).sum::<u64>()
    }

    /// Requests refused before they reached the device.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Whether every request the flow produced is accounted for: completed or rejected.
    pub fn balanced(&self) -> bool {
        self.issued == self.completed() + self.rejected
    }

    /// When the flow produced its first request; `None` if it never did.
    pub fn first_arrival(&self) -> Option<Time> {
        (self.first_arrival != Time::NEVER).then_some(self.first_arrival)
    }

    /// When the flow produced its last request.
    pub fn last_arrival(&self) -> Time {
        self.last_arrival
    }

    /// When the last request completed; the start of the run if none did.
    pub fn last_completion(&self) -> Time {
        self.last_completion
    }

    /// What arrived and completed in the run's window.
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Bytes of the measured requests of one direction.
    pub fn bytes(&self, op: Op) -> u64 {
        self.bytes[op.index()]
    }

    /// Measured requests affected by a mechanism of the scheduler.
    pub fn touched(&self) -> Touched {
        self.touched
    }

    /// Response times of one direction.
    pub fn response(&self, op: Op) -> Histogram {
        self.timelines[op.index()].total()
    }

    /// Response times of reads and writes together.
    pub fn response_all(&self) -> Histogram {
        let mut all = self.response(Op::Read);
        all.merge(&self.response(Op::Write));
        all
    }

    /// Response time over time of one direction.
    pub fn over_time(&self, op: Op) -> &Timeline {
        &self.timelines[op.index()]
    }

    /// Response time over time of reads and writes together.
    pub fn over_time_all(&self) -> Timeline {
        let mut all = self.timelines[0].clone();
        all.merge(&self.timelines[1]);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::{FlowId, Lpn, RequestId};

    fn completion(op: Op, arrival: u64, done: u64) -> Completion {
        Completion {
            id: RequestId(0),
            flow: FlowId(0),
            op,
            arrival: Time::from_ns(arrival),
            done: Time::from_ns(done),
            lpn: Lpn(0),
            pages: 1,
            bytes: 4_096,
            tags: 0,
        }
    }

    fn run(completions: &[Completion]) -> FlowMetrics {
        let (mut flow, mut window) = (FlowMetrics::new(), LoadWindow::default());
        completions.iter().for_each(|c| flow.issue(&mut window, c.op, c.arrival, true));
        completions.iter().for_each(|c| flow.complete(&window, c));
        flow.close(&window);
        flow
    }

    #[test]
    fn reads_and_writes_are_kept_apart_and_together() {
        let flow =
            run(&[completion(Op::Read, 100, 150), completion(Op::Write, 110, 1_110), completion(Op::Read, 120, 190)]);
        assert_eq!((flow.issued(), flow.completed(), flow.rejected()), (3, 3, 0));
        assert_eq!(flow.response(Op::Read).sum(), 120);
        assert_eq!(flow.response(Op::Write).sum(), 1_000);
        assert_eq!(flow.response_all().mean(), Some(1_120.0 / 3.0));
        assert_eq!(flow.bytes(Op::Read), 8_192);
        assert_eq!(flow.over_time_all().windows(1_000).len(), 2);
        assert_eq!((flow.first_arrival(), flow.last_arrival()), (Some(Time::from_ns(100)), Time::from_ns(120)));
        assert_eq!(flow.last_completion(), Time::from_ns(1_110));
    }

    #[test]
    fn an_unaccounted_request_shows() {
        let mut flow = run(&[completion(Op::Read, 0, 10)]);
        assert!(flow.balanced());
        flow.issue(&mut LoadWindow::default(), Op::Read, Time::from_ns(20), true);
        assert!(!flow.balanced());
        flow.reject();
        assert!(flow.balanced());
    }

    /// Requests of the warm-up are in no figure but those of the run as a whole.
    #[test]
    fn a_run_is_over_when_the_last_request_of_any_kind_is() {
        let mut flow = run(&[completion(Op::Read, 100, 150)]);
        flow.issue(&mut LoadWindow::default(), Op::Write, Time::from_ns(10), false);
        flow.complete_unmeasured(&LoadWindow::default(), &completion(Op::Write, 10, 900));
        assert_eq!((flow.issued(), flow.completed(), flow.balanced()), (2, 2, true));
        assert_eq!((flow.last_completion(), flow.first_arrival()), (Time::from_ns(900), Some(Time::from_ns(10))));
        assert_eq!((flow.bytes(Op::Write), flow.response_all().sum()), (0, 50));
    }

    #[test]
    fn flows_add_up() {
        let a = [completion(Op::Read, 50, 80), completion(Op::Write, 60, 90)];
        let b = [completion(Op::Read, 10, 5_000)];
        let mut sum = run(&a);
        sum.merge(&run(&b));
        let all = run(&[&a[..], &b[..]].concat());
        assert_eq!(sum.response_all(), all.response_all());
        assert_eq!(sum.first_arrival(), all.first_arrival());
        assert_eq!((sum.issued(), sum.last_completion()), (3, Time::from_ns(5_000)));
    }
}
