//! Random scenes: a host, a device, applications, and everything that threads then see.

pub mod device;
pub mod sample;

use std::collections::BTreeMap;

use flashlane_core::event::Stamped;
use flashlane_core::{Duration, FlowId, Op, RequestId, Time};
use flashlane_host::{Config, Groups, Host, Io, Meter, Seen};

use crate::model::plain::Plain;
use device::{Device, Tables};

/// An application: its first I/Os, and what it asks for when it has seen one.
#[derive(Clone, Debug)]
pub struct Application {
    /// When it asks for its first I/Os, in order.
    pub begins: Vec<u64>,
    /// From an I/O seen to the next.
    pub think: Vec<u64>,
    /// Its I/Os in turn: operation, first page, pages.
    pub ios: Vec<(Op, u64, u32)>,
}

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    pub host: Config,
    pub device: Tables,
    pub applications: Vec<Application>,
    /// I/Os in all.
    pub count: u64,
}

/// Everything that came of a scene.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunResult {
    /// What was submitted when, and what was seen, in the order in which it was.
    pub submitted: Vec<(u64, RequestId)>,
    pub seen: Vec<Seen>,
    pub meter: Meter,
    pub groups: Groups,
    pub windows: Vec<Duration>,
}

/// What the host and its plain model have in common.
pub trait Side {
    fn call(&mut self, now: u64, io: Io);
    fn observe(&mut self, event: &Stamped);
    fn completed(&mut self, now: u64, id: RequestId, free: Option<u32>);
    fn advance(&mut self, now: u64);
    fn settle(&mut self, now: u64);
    fn pass(&mut self, now: u64);
    fn next_event(&self) -> u64;
    fn submissions(&mut self) -> Vec<RequestId>;
    fn seen(&mut self) -> Vec<Seen>;
    fn counted(&mut self, now: u64) -> (Meter, Groups, Vec<Duration>);
    /// Whether it is advanced only where something can be noticed outside of it, as runs do.
    fn is_left_behind(&self) -> bool;
}

/// The host, advanced at every instant at which something happens on it, or left behind where that cannot be noticed.
#[derive(Debug)]
pub struct Stepped {
    host: Host,
    left_behind: bool,
}

impl Stepped {
    pub fn new(config: &Config, left_behind: bool) -> Stepped {
        let mut host = Host::new(config);
        if !left_behind {
            host.step_each_event();
        }
        Stepped { host, left_behind }
    }
}

impl Side for Stepped {
    fn call(&mut self, now: u64, io: Io) {
        self.host.call(Time::from_ns(now), io);
    }
    fn observe(&mut self, event: &Stamped) {
        self.host.observe(event);
    }
    fn completed(&mut self, now: u64, id: RequestId, free: Option<u32>) {
        self.host.completed(Time::from_ns(now), id, free);
    }
    fn advance(&mut self, now: u64) {
        self.host.advance(Time::from_ns(now));
    }
    fn settle(&mut self, now: u64) {
        self.host.settle(Time::from_ns(now));
    }
    fn pass(&mut self, now: u64) {
        self.host.pass(Time::from_ns(now));
    }
    fn next_event(&self) -> u64 {
        self.host.next_event().ns()
    }
    fn submissions(&mut self) -> Vec<RequestId> {
        self.host.submissions().drain(..).collect()
    }
    fn seen(&mut self) -> Vec<Seen> {
        self.host.seen().drain(..).collect()
    }
    fn counted(&mut self, now: u64) -> (Meter, Groups, Vec<Duration>) {
        let (meter, groups) = self.host.counted(Time::from_ns(now));
        (meter, groups, self.host.windows().collect())
    }
    fn is_left_behind(&self) -> bool {
        self.left_behind
    }
}

impl Side for Plain {
    fn call(&mut self, now: u64, io: Io) {
        Plain::call(self, now, io);
    }
    fn observe(&mut self, event: &Stamped) {
        Plain::observe(self, event);
    }
    fn completed(&mut self, now: u64, id: RequestId, free: Option<u32>) {
        Plain::completed(self, now, id, free);
    }
    fn advance(&mut self, now: u64) {
        Plain::advance(self, now);
    }
    fn settle(&mut self, now: u64) {
        Plain::settle(self, now);
    }
    fn pass(&mut self, _: u64) {}
    fn next_event(&self) -> u64 {
        Plain::next_event(self)
    }
    fn submissions(&mut self) -> Vec<RequestId> {
        Plain::submissions(self)
    }
    fn seen(&mut self) -> Vec<Seen> {
        Plain::seen(self)
    }
    fn counted(&mut self, now: u64) -> (Meter, Groups, Vec<Duration>) {
        let (meter, groups) = Plain::counted(self, now);
        (meter, groups, self.windows())
    }
    fn is_left_behind(&self) -> bool {
        false
    }
}

/// The instants at which I/Os are asked for, with the application and a number that keeps their order.
type Calls = BTreeMap<(u64, u64), usize>;

/// A scene in progress.
struct Play<'a, S> {
    scene: &'a Scene,
    side: S,
    device: Device,
    calls: Calls,
    /// Calls planned, and I/Os asked for.
    planned: u64,
    asked: Vec<Io>,
    /// I/Os asked for by each application.
    turns: Vec<usize>,
    played: RunResult,
}

/// Plays a scene to the instant at which its last I/O is seen.
pub fn play(scene: &Scene, side: impl Side) -> RunResult {
    let mut play = Play {
        scene,
        side,
        device: Device::new(&scene.device),
        calls: Calls::new(),
        planned: 0,
        asked: Vec::new(),
        turns: vec![0; scene.applications.len()],
        played: RunResult::default(),
    };
    for (number, application) in scene.applications.iter().enumerate() {
        application.begins.iter().for_each(|&at| play.plan(at, number));
    }
    while (play.played.seen.len() as u64) < play.planned {
        let call = play.calls.first_key_value().map_or(u64::MAX, |(&(at, _), _)| at);
        let now = play.device.next_event().min(call).min(play.side.next_event());
        assert!(now < u64::MAX, "I/Os are left and nothing is to happen");
        play.instant(now, call);
    }
    let end = play.played.seen.last().map_or(0, |seen| seen.seen.ns());
    (play.played.meter, play.played.groups, play.played.windows) = play.side.counted(end);
    play.played
}

impl<S: Side> Play<'_, S> {
    fn plan(&mut self, at: u64, application: usize) {
        if self.planned < self.scene.count {
            self.calls.insert((at, self.planned), application);
            self.planned += 1;
        }
    }

    /// Everything that happens at `now` (model 0.3).
    fn instant(&mut self, now: u64, call: u64) {
        self.device.advance(now);
        self.tell();
        let skips = self.side.is_left_behind() && self.device.completions.is_empty() && call > now;
        if !skips || self.side.next_event() <= now {
            self.act(now);
        }
        loop {
            self.device.decide(now);
            if !self.device.events.is_empty() {
                self.tell();
                self.side.pass(now);
            }
            if self.device.completions.is_empty() && self.side.next_event() > now {
                return;
            }
            self.act(now);
        }
    }

    fn tell(&mut self) {
        self.device.events.drain(..).for_each(|event| self.side.observe(&event));
    }

    /// Completions, messages and CPUs, calls; then what they lead to.
    fn act(&mut self, now: u64) {
        for (id, free) in std::mem::take(&mut self.device.completions) {
            self.side.completed(now, id, free);
        }
        self.side.advance(now);
        let mut seen = self.side.seen();
        loop {
            for seen in &seen {
                let application = usize::from(seen.flow.0);
                let think = &self.scene.applications[application].think;
                self.plan(now + think[seen.id.0 as usize % think.len()], application);
            }
            self.played.seen.append(&mut seen);
            while let Some(entry) = self.calls.first_entry()
                && entry.key().0 <= now
            {
                let application = entry.remove();
                self.call(now, application);
            }
            self.side.settle(now);
            for id in self.side.submissions() {
                self.played.submitted.push((now, id));
                let io = self.asked[id.0 as usize];
                self.device.submit(now, &io);
            }
            // Threads that had a CPU after others may have seen theirs by now.
            seen = self.side.seen();
            if seen.is_empty() {
                return;
            }
        }
    }

    fn call(&mut self, now: u64, application: usize) {
        let ios = &self.scene.applications[application].ios;
        let (op, page, pages) = ios[self.turns[application] % ios.len()];
        self.turns[application] += 1;
        let id = RequestId(self.asked.len() as u64);
        let io = Io { id, flow: FlowId(application as u16), op, plain: true, page, pages };
        self.asked.push(io);
        self.side.call(now, io);
    }
}
