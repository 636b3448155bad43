//! The counts and response times of one flow.
//!
//! [`FlowMetrics::complete`] is called once for each request and is the only part that must be fast. Must never know
//! which scheduler served the flow.

use flashlane_core::transaction::tag;
use flashlane_core::{Completion, Op, Time};

use super::backlog::{Backlog, Overload};
use super::{Histogram, KINDS, Load, LoadWindow, Timeline};

/// Counts and response times of one flow in one run.
#[derive(Clone, Debug)]
pub struct FlowMetrics {
    /// By [`Op::index`], as the next three.
    issued: [u64; KINDS],
    rejected: [u64; KINDS],
    /// Requests that completed but are left out of the figures (warm-up).
    unmeasured: [u64; KINDS],
    bytes: [u64; KINDS],
    /// `NEVER` until the first request arrives.
    first_arrival: Time,
    last_arrival: Time,
    last_completion: Time,
    touched: Touched,
    timelines: [Timeline; 2],
    /// Those of trims, write zeroes and flushes; `None` until one completes.
    commands: Option<Box<[Timeline; COMMANDS]>>,
    /// Writes with FUA, which are among the writes too, and their bytes; `None` until one completes.
    fua_writes: Option<Box<(Histogram, u64)>>,
    commits: Commits,
    load: Load,
    backlog: Backlog,
}

/// How writes and flushes follow one another.
#[derive(Clone, Copy, Debug, Default)]
struct Commits {
    /// Writes since the last flush.
    since: u64,
    /// The most between two flushes.
    most: u64,
    /// Writes and flushes, up to the last flush.
    writes: u64,
    flushes: u64,
    /// Flushes after at least one write.
    after_writes: u64,
}

/// The most writes between two flushes of a flow that alternates writes and flushes.
const MOST_WRITES: u64 = 16;

/// Kinds of requests that move no data: those after reads and writes.
const COMMANDS: usize = KINDS - 2;

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts {
    /// Produced by the flow.
    pub issued: u64,
    /// Completed, whether figures count them or not.
    pub completed: u64,
    /// Refused before they reached the device.
    pub rejected: u64,
    /// Of those that completed, the ones that figures leave out: warm-up.
    pub warm_up: u64,
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

impl Commits {
    fn flush(&mut self) {
        self.most = self.most.max(self.since);
        self.writes += self.since;
        self.after_writes += u64::from(self.since > 0);
        self.flushes += 1;
        self.since = 0;
    }
}

impl Default for FlowMetrics {
    fn default() -> FlowMetrics {
        FlowMetrics {
            issued: [0; KINDS],
            rejected: [0; KINDS],
            unmeasured: [0; KINDS],
            bytes: [0; KINDS],
            first_arrival: Time::NEVER,
            last_arrival: Time::ZERO,
            last_completion: Time::ZERO,
            touched: Touched::default(),
            timelines: Default::default(),
            commands: None,
            fua_writes: None,
            commits: Commits::default(),
            load: Load::default(),
            backlog: Backlog::default(),
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
        self.backlog.arrive(arrival, is_counted);
        if arrival < self.first_arrival {
            self.first_arrival = arrival;
        }
        self.issued[op.index()] += 1;
        match op {
            Op::Write => self.commits.since += 1,
            Op::Flush => self.commits.flush(),
            _ => {}
        }
        self.last_arrival = self.last_arrival.max(arrival);
    }

    /// Counts a request of the flow that was refused before it reached the device.
    pub fn reject(&mut self, op: Op) {
        self.backlog.take_back();
        self.rejected[op.index()] += 1;
    }

    /// Counts a completed request of the flow.
    #[inline]
    pub fn complete(&mut self, window: &LoadWindow, completion: &Completion) {
        self.load.complete(window, completion.op, completion.done, completion.bytes);
        self.backlog.complete(completion.done);
        let direction = completion.op.index();
        let response = (completion.done - completion.arrival).ns();
        self.last_completion = self.last_completion.max(completion.done);
        self.bytes[direction] += completion.bytes;
        if !completion.op.is_data() {
            return self.complete_command(completion, response);
        }
        self.timelines[direction].record(completion.done.ns(), response, completion.bytes);
        if completion.tags != 0 {
            self.touched.overtaking[direction] += u64::from(completion.tags & tag::OVERTOOK != 0);
            self.touched.jumped[direction] += u64::from(completion.tags & tag::JUMPED != 0);
            self.touched.in_pause += u64::from(completion.tags & tag::IN_PAUSE != 0);
            if completion.tags & tag::FUA != 0 {
                self.complete_fua(completion.bytes, response);
            }
        }
    }

    /// Counts a write with FUA, besides as a write.
    #[cold]
    fn complete_fua(&mut self, bytes: u64, response: u64) {
        let fua_writes = self.fua_writes.get_or_insert_default();
        fua_writes.0.record(response);
        fua_writes.1 += bytes;
    }

    /// Counts a trim, write zeroes or a flush.
    #[cold]
    fn complete_command(&mut self, completion: &Completion, response: u64) {
        let timeline = &mut self.commands.get_or_insert_default()[completion.op.index() - 2];
        timeline.record(completion.done.ns(), response, completion.bytes);
    }

    /// Counts a completed request of the flow that the figures leave out, because it arrived during warm-up.
    #[inline]
    pub fn complete_unmeasured(&mut self, window: &LoadWindow, completion: &Completion) {
        self.load.complete_left_out(window, completion.op, completion.done, completion.bytes);
        self.backlog.complete(completion.done);
        self.last_completion = self.last_completion.max(completion.done);
        self.unmeasured[completion.op.index()] += 1;
    }

    /// Counts the requests that the flow's source refused, by kind; when they would have arrived is unknown.
    pub fn refuse(&mut self, counts: [u64; KINDS]) {
        for (kind, count) in counts.into_iter().enumerate() {
            self.issued[kind] += count;
            self.rejected[kind] += count;
        }
    }

    /// Ends the run: its window is known.
    pub fn close(&mut self, window: &LoadWindow) {
        self.load.close(window);
        self.backlog.close();
    }

    /// Adds the requests of another flow of the run, for figures of several flows together.
    pub fn merge(&mut self, other: &FlowMetrics) {
        for kind in 0..KINDS {
            self.issued[kind] += other.issued[kind];
            self.rejected[kind] += other.rejected[kind];
            self.unmeasured[kind] += other.unmeasured[kind];
            self.bytes[kind] += other.bytes[kind];
        }
        self.first_arrival = self.first_arrival.min(other.first_arrival);
        self.last_arrival = self.last_arrival.max(other.last_arrival);
        self.last_completion = self.last_completion.max(other.last_completion);
        self.load.merge(&other.load);
        self.touched.in_pause += other.touched.in_pause;
        for direction in 0..2 {
            self.touched.overtaking[direction] += other.touched.overtaking[direction];
            self.touched.jumped[direction] += other.touched.jumped[direction];
            self.timelines[direction].merge(&other.timelines[direction]);
        }
        if let Some(other) = &other.fua_writes {
            let own = self.fua_writes.get_or_insert_default();
            own.0.merge(&other.0);
            own.1 += other.1;
        }
        if let Some(commands) = &other.commands {
            let own = self.commands.get_or_insert_default();
            own.iter_mut().zip(&**commands).for_each(|(own, other)| own.merge(other));
        }
    }

    /// Requests the flow produced.
    pub fn issued(&self) -> u64 {
        self.issued.iter().sum()
    }

    /// Requests that completed.
    pub fn completed(&self) -> u64 {
        self.by_kind().iter().map(|counts| counts.completed).sum()
    }

    /// Requests that completed and that figures leave out, because they arrived during warm-up.
    pub fn warm_up(&self) -> u64 {
        self.unmeasured.iter().sum()
    }

    /// Requests of each kind, by [`Op::index`].
    pub fn by_kind(&self) -> [KindCounts; KINDS] {
        Op::ALL.map(|op| {
            let measured = self.over_time(op).map_or(0, Timeline::count);
            let [issued, unmeasured, rejected] = [self.issued, self.unmeasured, self.rejected].map(|of| of[op.index()]);
            KindCounts { issued, completed: unmeasured + measured, rejected, warm_up: unmeasured }
        })
    }

    /// Requests refused before they reached the device.
    pub fn rejected(&self) -> u64 {
        self.rejected.iter().sum()
    }

    /// Whether every request the flow produced is accounted for: completed or rejected.
    pub fn balanced(&self) -> bool {
        self.by_kind().iter().all(|kind| kind.issued == kind.completed + kind.rejected)
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

    /// The longest backlog by which it overloaded the drive; `None` if it did not.
    pub fn overload(&self) -> Option<Overload> {
        self.backlog.overload()
    }

    /// Bytes of the measured requests of one kind.
    pub fn bytes(&self, op: Op) -> u64 {
        self.bytes[op.index()]
    }

    /// Measured requests affected by a mechanism of the scheduler.
    pub fn touched(&self) -> Touched {
        self.touched
    }

    /// Response times of one kind.
    pub fn response(&self, op: Op) -> Histogram {
        self.over_time(op).map_or_else(Histogram::new, Timeline::total)
    }

    /// Response times of writes with FUA, and their bytes; `None` if there was none.
    pub fn fua_writes(&self) -> Option<(&Histogram, u64)> {
        self.fua_writes.as_deref().map(|(responses, bytes)| (responses, *bytes))
    }

    /// Writes before each flush, where writes and flushes alternate: nine of ten flushes come after a write, and never more than 16 writes before one. Of the
    /// flow's own requests, not of those merged with them.
    pub fn writes_per_flush(&self) -> Option<f64> {
        let Commits { most, writes, flushes, after_writes, .. } = self.commits;
        let alternates = flushes > 1 && most <= MOST_WRITES && 10 * after_writes >= 9 * flushes;
        alternates.then(|| writes as f64 / flushes as f64)
    }

    /// Response times of reads and writes together.
    pub fn response_all(&self) -> Histogram {
        let mut all = self.response(Op::Read);
        all.merge(&self.response(Op::Write));
        all
    }

    /// Response time over time of one kind; `None` for a trim, write zeroes and a flush if there was none of the three.
    pub fn over_time(&self, op: Op) -> Option<&Timeline> {
        let commands = self.commands.as_deref().map_or(&[][..], |commands| &commands[..]);
        self.timelines.iter().chain(commands).nth(op.index())
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

    /// Each kind is counted for itself, what was rejected and warm-up too; reads and writes together leave the others out.
    #[test]
    fn every_kind_balances_for_itself() {
        let (mut flow, mut window) = (FlowMetrics::new(), LoadWindow::default());
        let ops = [Op::Read, Op::Trim, Op::Trim, Op::Flush, Op::Write];
        for (at, op) in (0..).zip(ops) {
            flow.issue(&mut window, op, Time::from_ns(10 * at), true);
        }
        assert!(!flow.balanced());
        flow.complete(&window, &completion(Op::Read, 0, 100));
        flow.complete_unmeasured(&window, &completion(Op::Trim, 10, 20));
        flow.complete(&window, &completion(Op::Trim, 20, 50));
        flow.complete(&window, &Completion { bytes: 0, ..completion(Op::Flush, 30, 530) });
        flow.complete(&window, &completion(Op::Write, 40, 240));
        flow.refuse([0, 0, 3, 0, 0]);
        let mut both = FlowMetrics::new();
        both.merge(&flow);
        both.merge(&run(&[completion(Op::Read, 0, 7)]));
        let of = |issued, completed, rejected| KindCounts { issued, completed, rejected, warm_up: 0 };
        let trims = |issued, completed, rejected| KindCounts { warm_up: 1, ..of(issued, completed, rejected) };
        assert_eq!(flow.by_kind(), [of(1, 1, 0), of(1, 1, 0), trims(5, 2, 3), of(0, 0, 0), of(1, 1, 0)]);
        assert_eq!(both.by_kind(), [of(2, 2, 0), of(1, 1, 0), trims(5, 2, 3), of(0, 0, 0), of(1, 1, 0)]);
        for metrics in [&flow, &both] {
            assert!(metrics.balanced());
            assert_eq!((metrics.response(Op::Trim).sum(), metrics.response(Op::Flush).sum()), (30, 500));
            assert_eq!((metrics.bytes(Op::Trim), metrics.bytes(Op::Flush)), (4_096, 0));
        }
        assert_eq!((flow.response_all().sum(), flow.completed(), flow.rejected()), (300, 5, 3));
        assert!(run(&[completion(Op::Read, 0, 7)]).over_time(Op::Flush).is_none());
        flow.reject(Op::Write);
        assert!(!flow.balanced());
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
    fn a_lost_request_unbalances_the_counts() {
        let mut flow = run(&[completion(Op::Read, 0, 10)]);
        assert!(flow.balanced());
        flow.issue(&mut LoadWindow::default(), Op::Read, Time::from_ns(20), true);
        assert!(!flow.balanced());
        flow.reject(Op::Read);
        assert!(flow.balanced());
    }

    #[test]
    fn writes_with_fua_are_writes_and_a_kind_of_their_own() {
        let fua = |done| Completion { tags: tag::FUA, ..completion(Op::Write, 0, done) };
        let mut flow = run(&[completion(Op::Write, 0, 10), fua(100), fua(300), completion(Op::Read, 0, 7)]);
        assert_eq!(flow.fua_writes().map(|(own, bytes)| (own.sum(), own.count(), bytes)), Some((400, 2, 8_192)));
        assert_eq!((flow.response(Op::Write).sum(), flow.touched()), (410, Touched::default()));
        flow.merge(&run(&[fua(5)]));
        assert_eq!(flow.fua_writes().map(|(own, _)| own.count()), Some(3));
        assert!(run(&[completion(Op::Write, 0, 10)]).fua_writes().is_none());
    }

    #[test]
    fn a_flow_that_alternates_writes_and_flushes_is_known_by_it() {
        let of = |ops: &str| {
            let (mut flow, mut window) = (FlowMetrics::new(), LoadWindow::default());
            let op = |letter| match letter {
                'w' => Op::Write,
                'f' => Op::Flush,
                _ => Op::Read,
            };
            ops.chars().for_each(|letter| flow.issue(&mut window, op(letter), Time::ZERO, true));
            flow.writes_per_flush()
        };
        assert_eq!(of("wfwfwf"), Some(1.0));
        assert_eq!(of("wwfrrwwfwwwwfw"), Some(8.0 / 3.0), "reads do not count, nor what is not flushed");
        assert_eq!((of("wf"), of("wwww"), of("rf"), of("wffwff")), (None, None, None, None));
        assert_eq!(of(&("w".repeat(17) + "fwf")), None);
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
