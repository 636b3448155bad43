//! The thread in the foreground: one I/O after another, waiting for each in a given way.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flashlane_host::WindowChoice;
use flashlane_host::window::Window;

use crate::machine;
use crate::mailbox::{DONE, EARLY, Mailbox};

/// Percent of the I/Os that are writes.
pub const WRITE_PERCENT: u64 = 10;

/// How late the device may be for an I/O to count, ns: later, what was measured is the device's thread.
const DEVICE_LATE_NS: u64 = 20_000;

/// The longest wait for one I/O; the device's thread must have ended then.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A way of waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Sleeps until woken at the completion.
    Sleep,
    /// Spins.
    Spin,
    /// Spins at a raised priority.
    SpinRaised,
    /// Sleeps until woken early: a number of microseconds, or as the delays seen suggest.
    Precompletion(Option<u32>),
}

impl Method {
    /// Every way but sleeping, to which the others are compared.
    pub const OTHERS: [Method; 7] = [
        Method::Spin,
        Method::SpinRaised,
        Method::Precompletion(Some(8)),
        Method::Precompletion(Some(16)),
        Method::Precompletion(Some(32)),
        Method::Precompletion(Some(64)),
        Method::Precompletion(None),
    ];

    /// Its name in tables and files.
    pub fn name(self) -> String {
        match self {
            Method::Sleep => "irq".into(),
            Method::Spin => "poll".into(),
            Method::SpinRaised => "poll-prio".into(),
            Method::Precompletion(Some(us)) => format!("pre{us}"),
            Method::Precompletion(None) => "pre-adaptive".into(),
        }
    }

    /// The window by which it is woken early.
    pub fn window(self) -> Window {
        Window::new(match self {
            Method::Precompletion(None) => WindowChoice::Adaptive,
            Method::Precompletion(Some(us)) => WindowChoice::Fixed(flashlane_core::Duration::from_us(us.into())),
            _ => WindowChoice::Fixed(flashlane_core::Duration::ZERO),
        })
    }
}

/// What a slot of I/Os came to.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// I/Os done.
    pub count: u64,
    /// I/Os that are left out because the device was late.
    pub device_late: u64,
    /// For each I/O, from the device's completion to the thread seeing it, ns.
    pub exposed_ns: Vec<u64>,
    /// For each I/O, from the instant at which the device was to complete it to the thread seeing it, ns: latency above device
    /// time.
    pub added_ns: Vec<u64>,
    /// For each sleep that was ended by the device, from its message to the thread running, ns.
    pub wake_ns: Vec<u64>,
    /// Time spent spinning, ns.
    pub spun_ns: u64,
}

/// The foreground thread's state from slot to slot.
#[derive(Debug)]
pub struct Foreground<'a> {
    mailbox: &'a Mailbox,
    pages: u32,
    random: u64,
    free_pages: u32,
}

impl<'a> Foreground<'a> {
    /// A thread that reads and writes `pages` pages.
    pub fn new(mailbox: &'a Mailbox, pages: u32, free_pages: u32) -> Foreground<'a> {
        Foreground { mailbox, pages, random: 0x9e37_79b9_7f4a_7c15, free_pages }
    }

    /// Does I/Os for `length`, waiting by `method`; `window` is that of precompletion.
    ///
    /// # Errors
    /// A raised priority that is not to be had, or a device that is gone.
    pub fn slot(&mut self, method: Method, window: &mut Window, length: Duration) -> Result<Slot, String> {
        match method {
            Method::SpinRaised => machine::raised(|| self.run(method, window, length))?,
            _ => self.run(method, window, length),
        }
    }

    fn run(&mut self, method: Method, window: &mut Window, length: Duration) -> Result<Slot, String> {
        let begun = Instant::now();
        let mut slot = Slot::default();
        while begun.elapsed() < length && !self.mailbox.stops() {
            self.one(method, window, &mut slot)?;
        }
        Ok(slot)
    }

    fn one(&mut self, method: Method, window: &mut Window, slot: &mut Slot) -> Result<(), String> {
        // xorshift: addresses need no better.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let is_write = (self.random >> 40) % 100 < WRITE_PERCENT;
        let page = (self.random % u64::from(self.pages)) as u32;
        let early = matches!(method, Method::Precompletion(_)) && !is_write;
        // Only precompletion knows the buffer's free pages (model 3.1.2).
        let hit = is_write && matches!(method, Method::Precompletion(_)) && self.free_pages >= 1;
        let called = self.mailbox.now_ns();
        self.mailbox.submit(page, is_write, if early { window.width().ns() } else { u64::MAX });
        let mut ran_early = None;
        match method {
            Method::Spin | Method::SpinRaised => slot.spun_ns += self.spin(LONGEST_WAIT)?,
            Method::Precompletion(_) if hit => slot.spun_ns += self.spin(LONGEST_WAIT)?,
            Method::Sleep | Method::Precompletion(_) => {
                self.mailbox.sleep_until(if early { EARLY } else { DONE });
                let ran = self.mailbox.now_ns();
                let message = match self.mailbox.early_ns.load(Ordering::Relaxed) {
                    0 => self.mailbox.done_ns.load(Ordering::Relaxed),
                    at => at,
                };
                slot.wake_ns.push(ran.saturating_sub(message));
                ran_early = early.then_some(ran);
                if self.mailbox.state() != DONE {
                    let patience = Duration::from_nanos(window.longest_spin().ns());
                    slot.spun_ns += self.spin(patience)?;
                    self.mailbox.sleep_until(DONE);
                }
            }
        }
        let seen = self.mailbox.now_ns();
        if self.mailbox.state() != DONE {
            return Ok(());
        }
        self.free_pages = self.mailbox.free_pages.load(Ordering::Relaxed);
        let [done, due] = [&self.mailbox.done_ns, &self.mailbox.due_ns].map(|word| word.load(Ordering::Relaxed));
        slot.count += 1;
        if done.saturating_sub(due) > DEVICE_LATE_NS {
            slot.device_late += 1;
            return Ok(());
        }
        if let Some(ran) = ran_early {
            let has_message = self.mailbox.early_ns.load(Ordering::Relaxed) > 0;
            let lead = if has_message { self.mailbox.lead_ns.load(Ordering::Relaxed) } else { 0 };
            window.observe(flashlane_core::Duration::from_ns((ran + lead).saturating_sub(done)));
        }
        slot.exposed_ns.push(seen.saturating_sub(done));
        slot.added_ns.push(seen.saturating_sub(due.max(called)));
        Ok(())
    }

    /// Spins until the I/O is done, for `longest` at most; returns the time, ns.
    fn spin(&self, longest: Duration) -> Result<u64, String> {
        let begun = Instant::now();
        while self.mailbox.state() != DONE && !self.mailbox.stops() {
            std::hint::spin_loop();
            if begun.elapsed() > longest {
                if longest >= LONGEST_WAIT {
                    return Err("the device's thread completed nothing for seconds".into());
                }
                break;
            }
        }
        Ok(begun.elapsed().as_nanos() as u64)
    }
}
