//! The modelled drive in real time: its clock, what is under way in it, and how late the machine is.
//!
//! Promises that the drive is advanced and given requests in order of time, so that the same requests at the same instants give the same
//! completions in a run; and that every command ends once. Must never know sockets or bytes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use flashlane_core::decide::Scheduler;
use flashlane_core::{Extent, FlowId, Op, Request, RequestId, Time};
use flashlane_ssd::{Config, Device};

use crate::volatile::{DurablePage, Unanswered, VolatilePage};

/// A drive whose simulated time follows the machine's clock.
pub(crate) struct RealTime<T> {
    device: Device,
    began: Instant,
    /// Real seconds that a simulated one takes.
    scale: f64,
    next_id: u64,
    under_way: BTreeMap<u64, T>,
    /// What only the page buffer has, if that is to be known.
    unanswered: Option<Unanswered>,
    /// Pages of it that the flash has got.
    durable: Vec<DurablePage>,
}

/// A command that the drive has ended.
#[derive(Debug)]
pub(crate) struct Ended<T> {
    pub(crate) of: T,
    /// When the drive ended it, simulated.
    pub(crate) at: Time,
    /// How long the drive took, simulated ns.
    pub(crate) response_ns: u64,
    /// The pages of a write that only the page buffer has, if that is known.
    pub(crate) volatile: Vec<VolatilePage>,
}

impl<T> RealTime<T> {
    pub(crate) fn new(device: Device, scale: f64) -> RealTime<T> {
        RealTime {
            device,
            began: Instant::now(),
            scale,
            next_id: 0,
            under_way: BTreeMap::new(),
            unanswered: None,
            durable: Vec::new(),
        }
    }

    /// From now on keeps track of the pages of writes that only the page buffer has.
    pub(crate) fn follow_buffer(&mut self) {
        self.device.report_buffered_pages();
        self.unanswered = Some(Unanswered::default());
    }

    /// The pages of the buffer that the flash had got, in order, when the drive ended the commands that were taken last.
    pub(crate) fn take_durable(&mut self) -> Vec<DurablePage> {
        std::mem::take(&mut self.durable)
    }

    /// The simulated instant now. Later than every instant whose decisions have been made: a request that comes now cannot be part of them.
    pub(crate) fn now(&self) -> Time {
        let ns = (self.began.elapsed().as_nanos() as f64 / self.scale) as u64;
        Time::from_ns(ns.max(self.device.now().ns() + 1)).min(Time::LAST)
    }

    /// How long ago a simulated instant was, in real time; zero if it is yet to come.
    pub(crate) fn since(&self, at: Time) -> Duration {
        self.began.elapsed().saturating_sub(self.real(at))
    }

    fn real(&self, at: Time) -> Duration {
        Duration::from_nanos((at.ns() as f64 * self.scale) as u64)
    }

    /// How long from now until the drive has something to do; `None` if it has not. Makes the decisions of the present instant.
    pub(crate) fn next_event(&mut self) -> Option<Duration> {
        let next = self.device.next_event();
        (next != Time::NEVER).then(|| self.real(next).saturating_sub(self.began.elapsed()))
    }

    /// Gives the drive a command at `now`, which [`RealTime::now`] returned since the last event was looked for.
    ///
    /// # Errors
    /// The drive cannot serve it; `of` comes back.
    pub(crate) fn submit(
        &mut self,
        now: Time,
        flow: u16,
        op: Op,
        (offset, length, fua): (u64, u64, bool),
        of: T,
    ) -> Result<(), T> {
        if self.device.fault().is_some() {
            return Err(of);
        }
        let id = RequestId(self.next_id);
        let extent = Extent::Bytes { offset, length };
        if self.device.submit(now, &Request { id, flow: FlowId(flow), op, fua, arrival: now, extent }).is_err() {
            return Err(of);
        }
        self.under_way.insert(self.next_id, of);
        self.next_id += 1;
        Ok(())
    }

    /// Advances the drive to now and takes what it has ended.
    pub(crate) fn advance(&mut self, ended: &mut Vec<Ended<T>>) {
        let now = self.now();
        self.device.advance(now);
        self.take_ended(ended);
    }

    /// The same without a step beyond its last event, for a drive that gets no commands; whether it has drained or has stopped.
    pub(crate) fn drain(&mut self, ended: &mut Vec<Ended<T>>) -> bool {
        let drained = self.device.drain(self.now());
        self.take_ended(ended);
        drained
    }

    /// From `at` on the drive gets no commands and is to drain.
    pub(crate) fn begins_to_drain(&mut self, at: Time) {
        self.device.end_idle_time(at);
    }

    /// Changes the scheduler, as was requested at `at`; the drive has drained.
    pub(crate) fn change_scheduler(&mut self, at: Time, config: &Config, scheduler: Scheduler) {
        self.device.advance(at);
        self.device.change_scheduler(config, scheduler);
    }

    /// Lets the drive do what is left to do, collections too, without waiting for the clock: it gets no more commands. What it would do after
    /// some idle time it does not begin.
    pub(crate) fn finish(&mut self) {
        self.device.end_idle_time(self.device.now());
        self.device.drain(Time::LAST);
    }

    /// Gives a flow another priority at `now`, which [`RealTime::now`] returned since the last event was looked for.
    pub(crate) fn set_priority(&mut self, now: Time, flow: FlowId, priority: u8) {
        self.device.advance(now);
        self.device.set_priority(flow, priority);
    }

    /// The drive.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Real time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Real seconds that a simulated one takes.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    fn take_ended(&mut self, ended: &mut Vec<Ended<T>>) {
        if let (Some(unanswered), Some(reports)) = (&mut self.unanswered, self.device.buffered_pages()) {
            self.durable.extend(reports.drain(..).filter_map(|report| unanswered.take(report)));
        }
        for done in self.device.completions().drain(..) {
            let pages = done.lpn.0..done.lpn.0 + done.pages;
            let unanswered = self.unanswered.as_mut().filter(|_| done.op == Op::Write);
            let volatile = unanswered.map_or(Vec::new(), |unanswered| unanswered.answered(done.id.0, pages));
            if let Some(of) = self.under_way.remove(&done.id.0) {
                ended.push(Ended { of, at: done.done, response_ns: done.done.since(done.arrival).ns(), volatile });
            }
        }
    }

    /// Why the drive has stopped, if it has, and the commands that will not end for it.
    pub(crate) fn fault(&mut self) -> Option<(String, Vec<T>)> {
        let fault = self.device.fault()?;
        let message = format!("the modelled drive stopped at {} ns: {}", fault.at.ns(), fault.message);
        Some((message, std::mem::take(&mut self.under_way).into_values().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_scenario::Scenario;

    fn device() -> Device {
        let toml = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n[[flow]]\nname = \"one\"\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]\n";
        let scenario = Scenario::parse("t.toml", toml.to_owned()).unwrap_or_else(|why| panic!("{why}"));
        flashlane_sim::drive(&scenario, Vec::new(), None).unwrap_or_else(|why| panic!("{why}")).device
    }

    /// A read takes as long as in a run, and is over that much later by the clock, or twice as much if a second takes two.
    #[test]
    fn a_command_ends_at_its_time() {
        for scale in [1.0, 20.0] {
            let mut drive = RealTime::new(device(), scale);
            let began = Instant::now();
            let now = drive.now();
            drive.submit(now, 0, Op::Read, (0, 4096, false), "first").expect("within the drive");
            let mut ended = Vec::new();
            while ended.is_empty() {
                let wait = drive.next_event().expect("a read is under way");
                std::thread::sleep(wait);
                drive.advance(&mut ended);
            }
            let ended = &ended[0];
            assert_eq!((ended.of, ended.at.since(now).ns()), ("first", ended.response_ns));
            assert!((75_000..200_000).contains(&ended.response_ns), "{}", ended.response_ns);
            assert!(began.elapsed() >= Duration::from_nanos((ended.response_ns as f64 * scale) as u64));
            assert_eq!((drive.under_way.len(), drive.next_event()), (0, None));
        }
    }

    #[test]
    fn what_is_beyond_the_drive_comes_back() {
        let mut drive = RealTime::new(device(), 1.0);
        let now = drive.now();
        assert_eq!(drive.submit(now, 0, Op::Read, (u64::MAX - 4096, 4096, false), 5), Err(5));
        assert_eq!(drive.submit(now, 1, Op::Read, (0, 4096, false), 6), Err(6), "there is one flow");
    }
}
