//! Serial service: one command at a time, for the page times of what it misses in the buffer (NCQ §2; model 5.1, D-NCQ-04).
//!
//! Owns what a command costs there. Neither flash nor map takes part: a page is read or written in its typical time, no block is
//! collected, and nothing is transferred.

use flashlane_core::board::ActiveRequest;
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Lpn, Op, Time};

use super::Device;
use crate::buffer::{Buffer, Stored};
use crate::config::{Charge, Config, Service};
use crate::frontend::RequestSlot;

/// What serial service depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serial {
    /// Pages served at a time.
    cluster: u32,
    charge: Charge,
    /// Time of a page, read and written.
    page: [Duration; 2],
}

impl Serial {
    /// That of `config`, if commands are served so.
    pub(super) fn of(config: &Config) -> Option<Serial> {
        let Service::Serial { cluster, charge } = config.front.service else { return None };
        let facts = config.facts();
        Some(Serial { cluster, charge, page: [FlashOp::Read, FlashOp::Program].map(|op| facts.typical(op)) })
    }

    /// Time of this number of pages read and written; at most up to the last instant.
    fn time(&self, pages: [u32; 2]) -> Duration {
        let of = |op: usize| u128::from(self.page[op].ns()) * u128::from(pages[op].div_ceil(self.cluster));
        Duration::from_ns((of(0) + of(1)).min(Time::LAST.ns().into()) as u64)
    }
}

/// The pages that a command works on in the flash.
#[derive(Clone, Copy, Default, Debug)]
struct Work {
    /// Read, and written.
    pages: [u32; 2],
    /// Pages of a write that the buffer did not hold.
    missed: u32,
}

impl Device {
    /// Serves a command: the pages it hits are used first, then those it misses, each in ascending order (D-NCQ-11).
    #[cold]
    pub(super) fn serve_in_series(&mut self, slot: RequestSlot, request: &ActiveRequest, serial: Serial) {
        let mut pages = core::mem::take(&mut self.sorted_pages);
        pages.extend((0..request.pages).map(|i| self.frontend.requests.page(slot, request, i)));
        pages.sort_unstable();
        pages.retain(|&lpn| !self.hits_buffer(slot, request, lpn));
        let mut work = Work::default();
        for &lpn in &pages {
            // A list may name a page twice.
            if !self.hits_buffer(slot, request, lpn) {
                self.serve_missing(slot, request, lpn, &mut work);
            }
        }
        pages.clear();
        self.sorted_pages = pages;
        if serial.charge == Charge::Literal && request.op == Op::Write {
            work.pages[1] = work.missed;
        }
        self.counters.in_series[0] += u64::from(work.pages[0]);
        self.counters.in_series[1] += u64::from(work.pages[1]);
        self.frontend.serve_after(slot, serial.time(work.pages), &mut self.state);
    }

    /// Whether the buffer serves a page of a command; if so, it does.
    fn hits_buffer(&mut self, slot: RequestSlot, request: &ActiveRequest, lpn: Lpn) -> bool {
        let Some(buffer) = &mut self.buffer else { return false };
        let hit = match request.op {
            Op::Read => buffer.read(lpn),
            Op::Write if buffer.contains(lpn) && buffer.write_back => buffer.write(lpn, request.flow) == Stored::Yes,
            // A write beside a buffer of reads updates its page there, and goes to the flash all the same.
            Op::Write => {
                buffer.read(lpn);
                false
            }
        };
        if hit {
            self.frontend.page_from_memory(slot, lpn, &mut self.state);
        }
        hit
    }

    /// Serves a page of a command that the buffer does not hold.
    fn serve_missing(&mut self, slot: RequestSlot, request: &ActiveRequest, lpn: Lpn, work: &mut Work) {
        let (is_write, flow) = (request.op == Op::Write, request.flow);
        let takes = |buffer: &&mut Buffer| if is_write { buffer.write_back } else { buffer.read_allocate };
        let taken_by = self.buffer.as_mut().filter(takes);
        let is_taken = taken_by.is_some();
        if let Some(evicted) = taken_by.and_then(|buffer| buffer.replace(lpn, flow, is_write)) {
            work.pages[1] += u32::from(evicted.was_dirty);
            self.state.log(|| Event::Evicted { lpn: evicted.lpn });
        }
        if is_write && is_taken {
            work.missed += 1;
            self.frontend.page_from_memory(slot, lpn, &mut self.state);
        } else {
            work.pages[request.op.index()] += 1;
            work.missed += u32::from(is_write);
            self.frontend.page_in_series(slot, lpn, &mut self.state);
        }
    }
}
