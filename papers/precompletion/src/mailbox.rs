//! The words that the foreground thread and the device thread share: one I/O at a time.
//!
//! The state word goes from `PENDING` over `EARLY`, if the device sends a precompletion message, to `DONE`. The foreground spins
//! on it, or sleeps on it as on a futex; the device wakes it only if it has announced that it sleeps.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::machine;

/// The I/O is under way.
pub const PENDING: u32 = 0;
/// It is about to complete.
pub const EARLY: u32 = 1;
/// It is complete.
pub const DONE: u32 = 2;

/// The longest sleep: nothing may hang, whatever goes wrong.
const LONGEST_SLEEP: Duration = Duration::from_millis(200);

/// The shared words.
#[derive(Debug)]
pub struct Mailbox {
    begun: Instant,
    /// Counts I/Os; a change is a submission.
    pub ticket: AtomicU64,
    /// The page to read or write.
    pub page: AtomicU32,
    /// Whether it is a write.
    pub is_write: AtomicBool,
    /// How early the foreground wants a message, ns; `u64::MAX` for none.
    pub window_ns: AtomicU64,
    state: AtomicU32,
    sleeps: AtomicBool,
    /// When the device was to complete the I/O by its own clock, ns.
    pub due_ns: AtomicU64,
    /// When it announced that, ns.
    pub done_ns: AtomicU64,
    /// When it sent the message, ns.
    pub early_ns: AtomicU64,
    /// How long before the predicted end that was, ns.
    pub lead_ns: AtomicU64,
    /// Free pages of the device's write buffer at the last completion.
    pub free_pages: AtomicU32,
    /// Whether everything is to end.
    pub stop: AtomicBool,
}

impl Mailbox {
    /// Nothing under way.
    pub fn new(free_pages: u32) -> Mailbox {
        Mailbox {
            begun: Instant::now(),
            ticket: AtomicU64::new(0),
            page: AtomicU32::new(0),
            is_write: AtomicBool::new(false),
            window_ns: AtomicU64::new(u64::MAX),
            state: AtomicU32::new(DONE),
            sleeps: AtomicBool::new(false),
            due_ns: AtomicU64::new(0),
            done_ns: AtomicU64::new(0),
            early_ns: AtomicU64::new(0),
            lead_ns: AtomicU64::new(0),
            free_pages: AtomicU32::new(free_pages),
            stop: AtomicBool::new(false),
        }
    }

    /// Nanoseconds since the beginning, by the wall clock.
    pub fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// Whether everything is to end.
    pub fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Submits an I/O; called by the foreground.
    pub fn submit(&self, page: u32, is_write: bool, window_ns: u64) {
        self.page.store(page, Ordering::Relaxed);
        self.is_write.store(is_write, Ordering::Relaxed);
        self.window_ns.store(window_ns, Ordering::Relaxed);
        self.early_ns.store(0, Ordering::Relaxed);
        self.state.store(PENDING, Ordering::SeqCst);
        self.ticket.fetch_add(1, Ordering::Release);
    }

    /// How far the I/O is.
    pub fn state(&self) -> u32 {
        self.state.load(Ordering::Acquire)
    }

    /// Sleeps until the state is `wanted` or beyond. Called by the foreground; ends early when everything ends.
    pub fn sleep_until(&self, wanted: u32) {
        self.sleeps.store(true, Ordering::SeqCst);
        loop {
            let state = self.state.load(Ordering::SeqCst);
            if state >= wanted || self.stops() {
                break;
            }
            machine::sleep_on(&self.state, state, LONGEST_SLEEP);
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }

    /// The device says that the I/O is early or done, and wakes a sleeping foreground.
    pub fn advance_to(&self, state: u32) {
        self.state.store(state, Ordering::SeqCst);
        if self.sleeps.load(Ordering::SeqCst) {
            machine::wake(&self.state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_sleeping_thread_is_woken_and_none_is_missed() {
        let mailbox = Arc::new(Mailbox::new(0));
        let device = Arc::clone(&mailbox);
        let rounds = 2_000;
        let thread = std::thread::spawn(move || {
            for ticket in 1..=rounds {
                while device.ticket.load(Ordering::Acquire) < ticket {
                    std::thread::yield_now();
                }
                if ticket % 2 == 0 {
                    device.advance_to(EARLY);
                }
                device.advance_to(DONE);
            }
        });
        let begun = Instant::now();
        for i in 0..rounds {
            mailbox.submit(i as u32, false, 0);
            if i % 3 == 0 {
                mailbox.sleep_until(EARLY);
            }
            mailbox.sleep_until(DONE);
            assert_eq!(mailbox.state(), DONE);
        }
        thread.join().expect("the device's thread");
        // A missed wake-up costs the longest sleep each time.
        assert!(begun.elapsed() < LONGEST_SLEEP * 100, "{:?}", begun.elapsed());
    }
}
