//! The device's thread: a simulated SSD under the wall clock.
//!
//! It spins, because sleeping would be later than the device is exact. Promises to complete nothing before its simulated time;
//! how late it was is in the mailbox.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use flashlane_core::{Duration, Extent, FlowId, Op, Request, RequestId, Time};
use flashlane_host::{Meter, Predictor, Tracker};
use flashlane_sched::catalogue::{Recipe, SHIPPED};
use flashlane_ssd::{Config, Device};

use crate::machine;
use crate::mailbox::{DONE, EARLY, Mailbox};

/// A device to run, and how.
pub struct Running {
    device: Device,
    tracker: Tracker,
    meter: Meter,
    page_bytes: u64,
}

impl Running {
    /// The device of `config` under `fr-fcfs`.
    ///
    /// # Errors
    /// A device that cannot be built.
    pub fn new(config: &Config) -> Result<Running, String> {
        let recipe = Recipe { base: Some("fr-fcfs".into()), ..Recipe::default() };
        let scheduler = SHIPPED.build(&recipe).map_err(|error| error.to_string())?;
        let mut device = Device::new(config, scheduler).map_err(|error| error.to_string())?;
        device.report_events();
        let tracker = Tracker::new(config.geometry, Some(Predictor::Staged));
        let page_bytes = u64::from(config.geometry.page_bytes);
        Ok(Running { device, tracker, meter: Meter::default(), page_bytes })
    }

    /// Free pages of the write buffer.
    pub fn free_pages(&self) -> u32 {
        self.device.free_buffer_pages(FlowId(0)).unwrap_or(0)
    }

    /// Runs until everything ends.
    ///
    /// # Errors
    /// A device that stopped.
    pub fn run(mut self, mailbox: &Arc<Mailbox>, cpu: usize) -> Result<(), String> {
        machine::pin(cpu)?;
        // Where a raised priority is not to be had, other processes make the device late, which is counted.
        let _ = machine::set_nice(machine::RAISED);
        let mut ticket = 0;
        while !mailbox.stops() {
            let now = Time::from_ns(mailbox.now_ns());
            self.catch_up(now, mailbox)?;
            let submitted = mailbox.ticket.load(Ordering::Acquire);
            if submitted != ticket {
                ticket = submitted;
                self.submit(RequestId(ticket), mailbox)?;
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Processes what has happened up to `now`, event by event.
    fn catch_up(&mut self, now: Time, mailbox: &Mailbox) -> Result<(), String> {
        loop {
            let next = self.device.next_event();
            self.pass_events();
            if let Some(fault) = self.device.fault() {
                return Err(format!("the device stopped at {}: {}", fault.at, fault.message));
            }
            if self.tracker.next_timer() < next && self.tracker.next_timer() <= now {
                self.send_message(self.tracker.next_timer(), mailbox);
                continue;
            }
            if next > now {
                return Ok(());
            }
            self.device.advance(next);
            self.pass_events();
            self.complete(mailbox);
        }
    }

    fn pass_events(&mut self) {
        for stamped in self.device.events().drain(..) {
            self.tracker.observe(&stamped);
        }
    }

    fn send_message(&mut self, at: Time, mailbox: &Mailbox) {
        if let Some((_, announced)) = self.tracker.due(at, &mut self.meter) {
            let now = mailbox.now_ns();
            mailbox.early_ns.store(now, Ordering::Relaxed);
            mailbox.lead_ns.store(announced.ns().saturating_sub(now), Ordering::Relaxed);
            mailbox.advance_to(EARLY);
        }
    }

    fn complete(&mut self, mailbox: &Mailbox) {
        let mut completions = std::mem::take(self.device.completions());
        for completion in completions.drain(..) {
            self.tracker.completed(completion.id, completion.done, &mut self.meter);
            mailbox.free_pages.store(self.free_pages(), Ordering::Relaxed);
            mailbox.due_ns.store(completion.done.ns(), Ordering::Relaxed);
            mailbox.done_ns.store(mailbox.now_ns(), Ordering::Relaxed);
            mailbox.advance_to(DONE);
        }
        *self.device.completions() = completions;
    }

    fn submit(&mut self, id: RequestId, mailbox: &Mailbox) -> Result<(), String> {
        let now = Time::from_ns(mailbox.now_ns());
        self.catch_up(now, mailbox)?;
        let op = if mailbox.is_write.load(Ordering::Relaxed) { Op::Write } else { Op::Read };
        let page = mailbox.page.load(Ordering::Relaxed);
        let window = mailbox.window_ns.load(Ordering::Relaxed);
        let small_read = op == Op::Read && window != u64::MAX;
        self.tracker.expect(id, small_read, Duration::from_ns(if small_read { window } else { 0 }));
        let extent = Extent::Bytes { offset: u64::from(page) * self.page_bytes, length: 4_096.min(self.page_bytes) };
        let request = Request { id, flow: FlowId(0), op, fua: false, arrival: now, extent };
        self.device.submit(now, &request).map_err(|refusal| format!("the device refused a request: {refusal:?}"))
    }
}
