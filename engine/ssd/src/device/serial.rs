//! Serial service: one command at a time, for the page times of what it misses in the buffer (NCQ §2; model 5.1, D-NCQ-04).
//!
//! Owns what a command costs there. Neither flash nor map takes part: a page is read or written in its typical time, no block is
//! collected, and nothing is transferred.

use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Lpn, Op, Time, TxnId};

use super::Device;
use crate::buffer::{Buffer, Stored};
use crate::config::{Charge, Config, Service};
use crate::frontend::{Frontend, RequestSlot};
use crate::shared::State;

/// Serial service: what it depends on, and what it has served.
#[derive(Debug)]
pub(super) struct Serial {
    /// Pages served at a time.
    cluster: u32,
    charge: Charge,
    /// Time of a page, read and written.
    page: [Duration; 2],
    /// Pages read and written so far.
    pub(super) served: [u64; 2],
    /// The pages of the command that is being served.
    sorted_pages: Vec<Lpn>,
    /// Dirty pages that this command has written to the flash.
    written_out: Vec<Lpn>,
}

impl Serial {
    /// That of `config`, if commands are served so.
    pub(super) fn of(config: &Config) -> Option<Serial> {
        let Service::Serial { cluster, charge } = config.front.service else { return None };
        let facts = config.facts();
        let page = [FlashOp::Read, FlashOp::Program].map(|op| facts.typical(op));
        Some(Serial { cluster, charge, page, served: [0; 2], sorted_pages: Vec::new(), written_out: Vec::new() })
    }

    /// Serves the pages of a read or a write: those it hits are used first, then those it misses, each in ascending order (D-NCQ-11). Returns how
    /// many are read and written for that.
    fn serve(
        &mut self,
        slot: RequestSlot,
        request: &ActiveRequest,
        frontend: &mut Frontend,
        buffer: &mut Option<Buffer>,
        state: &mut State,
    ) -> [u32; 2] {
        let pages = &mut self.sorted_pages;
        pages.extend((0..request.pages).map(|i| frontend.requests.page(slot, request, i)));
        pages.sort_unstable();
        let own = if request.fua { pages.clone() } else { Vec::new() };
        let written_out = &mut self.written_out;
        let mut command = Command { slot, request, frontend, buffer, state, written_out, pages: [0; 2], missed: 0 };
        pages.retain(|&lpn| !command.hits_buffer(lpn));
        for lpn in pages.drain(..) {
            // A list may name a page twice.
            if !command.hits_buffer(lpn) {
                command.serve_missing(lpn);
            }
        }
        let mut worked = command.pages;
        if self.charge == Charge::Literal && request.op == Op::Write {
            worked[1] = command.missed;
        }
        for lpn in own {
            if command.buffer.as_mut().is_some_and(|buffer| buffer.clean(lpn)) {
                worked[1] += 1;
                command.frontend.page_written_out(slot, lpn, command.state);
                command.written_out.push(lpn);
            }
        }
        worked
    }

    /// Counts pages that are read and written. Returns how long that takes.
    fn work(&mut self, pages: [u32; 2]) -> Duration {
        (0..2).for_each(|op| self.served[op] += u64::from(pages[op]));
        self.time(pages)
    }

    /// Time of this number of pages read and written; at most up to the last instant.
    fn time(&self, pages: [u32; 2]) -> Duration {
        let of = |op: usize| u128::from(self.page[op].ns()) * u128::from(pages[op].div_ceil(self.cluster));
        Duration::from_ns((of(0) + of(1)).min(Time::LAST.ns().into()) as u64)
    }
}

// The stage: a command comes in, and is done after the time that it takes.

impl Device {
    /// Serves a command, the only one in the device.
    #[cold]
    pub(super) fn serve_serially(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        let time = match request.op {
            Op::Read | Op::Write => self.serve_pages_serially(slot, request),
            Op::Flush => self.flush_serially(slot),
            Op::Trim | Op::WriteZeroes => self.trim_serially(slot, request),
        };
        self.frontend.ends_after(slot, time, &mut self.state);
    }

    fn serve_pages_serially(&mut self, slot: RequestSlot, request: &ActiveRequest) -> Duration {
        let Some(serial) = &mut self.serial else { return Duration::ZERO };
        let worked = serial.serve(slot, request, &mut self.frontend, &mut self.buffer, &mut self.state);
        let time = serial.work(worked);
        if request.op == Op::Write
            && let Some(durability) = &mut self.durability
        {
            let pages = (0..request.pages).map(|i| self.frontend.requests.page(slot, request, i));
            pages.for_each(|lpn| durability.stored(slot, lpn, TxnId::NONE, &self.state.board));
        }
        while let Some(lpn) = self.serial.as_mut().and_then(|serial| serial.written_out.pop()) {
            self.no_longer_dirty(lpn, None);
        }
        self.frontend.at_least_memory(time)
    }

    /// The pages that are still dirty, of those that a flush waits for, are written now.
    fn flush_serially(&mut self, slot: RequestSlot) -> Duration {
        let mut pages = self.durability.as_ref().map_or(Vec::new(), |durability| durability.pages_of(slot));
        let (Some(buffer), Some(serial)) = (&mut self.buffer, &mut self.serial) else {
            return self.frontend.at_least_memory(Duration::ZERO);
        };
        pages.retain(|&lpn| buffer.clean(lpn));
        let time = serial.work([0, pages.len() as u32]);
        for lpn in pages {
            self.frontend.page_written_out(slot, lpn, &mut self.state);
            self.no_longer_dirty(lpn, Some(slot));
        }
        self.frontend.at_least_memory(time)
    }

    /// The pages leave the buffer. There is no map of pages with data, so a trim takes the time of the command alone.
    fn trim_serially(&mut self, slot: RequestSlot, request: &ActiveRequest) -> Duration {
        for i in 0..request.pages {
            let lpn = self.frontend.requests.page(slot, request, i);
            if let Some(buffer) = &mut self.buffer {
                buffer.trim(lpn, false);
            }
            self.no_longer_dirty(lpn, None);
        }
        self.report_unmapped(slot, request);
        self.unmap.command
    }

    /// The pages of a trim have no copies from now on.
    pub(super) fn report_unmapped(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        let (id, pages) = (request.id, request.pages);
        if !request.scattered {
            self.state.log(|| Event::Unmapped { request: id, lpn: request.lpn, pages });
            return;
        }
        for i in 0..pages {
            let lpn = self.frontend.requests.page(slot, request, i);
            self.state.log(|| Event::Unmapped { request: id, lpn, pages: 1 });
        }
    }
}
/// A command that is being served, and the pages that it works on in the flash.
struct Command<'a> {
    slot: RequestSlot,
    request: &'a ActiveRequest,
    frontend: &'a mut Frontend,
    buffer: &'a mut Option<Buffer>,
    state: &'a mut State,
    written_out: &'a mut Vec<Lpn>,
    /// Read, and written.
    pages: [u32; 2],
    /// Pages of a write that the buffer did not hold.
    missed: u32,
}

impl Command<'_> {
    /// Whether the buffer serves a page of the command; if so, it does.
    fn hits_buffer(&mut self, lpn: Lpn) -> bool {
        let Some(buffer) = self.buffer else { return false };
        let hit = match self.request.op {
            Op::Read => buffer.read(lpn),
            Op::Write if buffer.contains(lpn) && buffer.write_back => {
                buffer.write(lpn, self.request.flow) == Stored::Yes
            }
            // A write beside a buffer of reads updates its page there, and goes to the flash all the same.
            Op::Write => {
                buffer.read(lpn);
                false
            }
            Op::Trim | Op::WriteZeroes | Op::Flush => false,
        };
        if hit {
            self.frontend.page_from_memory(self.slot, lpn, self.state);
        }
        hit
    }

    /// Serves a page of the command that the buffer does not hold.
    fn serve_missing(&mut self, lpn: Lpn) {
        let (is_write, flow) = (self.request.op == Op::Write, self.request.flow);
        let takes = |buffer: &&mut Buffer| if is_write { buffer.write_back } else { buffer.read_allocate };
        let taken_by = self.buffer.as_mut().filter(takes);
        let is_taken = taken_by.is_some();
        if let Some(evicted) = taken_by.and_then(|buffer| buffer.replace(lpn, flow, is_write)) {
            if evicted.was_dirty {
                self.pages[1] += 1;
                self.written_out.push(evicted.lpn);
            }
            self.state.log(|| Event::Evicted { lpn: evicted.lpn });
        }
        if is_write && is_taken {
            self.missed += 1;
            self.frontend.page_from_memory(self.slot, lpn, self.state);
        } else {
            self.pages[self.request.op.index()] += 1;
            self.missed += u32::from(is_write);
            self.frontend.page_in_series(self.slot, lpn, self.state);
        }
    }
}
