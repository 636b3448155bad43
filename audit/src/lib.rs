//! The auditor: checks, from the event stream alone, what must be true of a device under every scheduler.
//!
//! It owns a second, slow-witted account of everything: requests, transactions, commands, buses, and a page map of
//! its own. It shares no code with the controller: from the device it takes only the configuration (shape and times),
//! and works out every time itself. It never changes anything, and never looks at the board.
//!
//! [`Rule`] lists what it checks, a sentence each. What the stream must look like for that:
//!
//! - Within an instant events come in the order they happen: `Submitted`, `Admitted`, then the request's `Queued` and
//!   `PageFromMemory`; `Ended` of the last transaction before `Completed`. A partial write's read serves no page
//!   and is a transaction of the write's request or of none; a program of the buffer has no request.
//! - A transaction that waits for another (the program of a move) is `Queued` when it joins the queue. One that ends
//!   without having been queued is never mentioned.
//! - A cancelled write's `Ended` may come when it is cancelled (the write that replaces it is then queued within that
//!   instant, or has been) or with the end of its successor. Its request completes no earlier than that.
//! - A command's `Dispatched` come together. Then its phases: the bus for the command and (program) the data of all
//!   members; the array; (read) the bus once a member, in the order of their `Dispatched`, for set-up and data. Programs
//!   and erases end with the array phase, each read with its data. Bus phases of no length, and a read's `ArrayEnded`,
//!   may be left out.
//! - `Paused` comes at the instant the array stops. Nothing starts for the suspend time. `ArrayStarted` on going on
//!   may come before or after the resume time has passed: `until` covers it in the first case.
//! - `Mapped` comes in the instant of its program's `Dispatched`, before or after it. Only free garbage collection
//!   maps without a program. `Erased` comes in the instant of the erase's `Ended`, before or after it.
//! - `VictimChosen` comes in the instant of the `Mapped` or `Erased` that leaves its plane short of free blocks or gives it a block
//!   to empty, and after it.
//!
//! Memory is bounded by what is in flight, plus eight bytes a block and four a logical page (committed where pages were
//! written, and where they lay at the start if no formula says so).

mod choice;
mod command;
mod life;
mod lines;
mod link;
mod pages;
mod pairs;
mod requests;
mod rule;
mod seen;
mod times;
mod transactions;
mod units;
mod victims;
mod waiting;

#[cfg(test)]
pub(crate) mod tests;

use flashlane_core::decide::{Moments, Style};
use flashlane_core::event::{Event, Stamped};
use flashlane_core::{Lpn, PlaneId, Ppa};
use flashlane_ssd::InitialState;
use flashlane_ssd::config::Config;

use choice::Choice;
use lines::Lines;
use link::Link;
use pages::Pages;
use pairs::Pairs;
use requests::Requests;
use rule::Log;
pub use rule::{Rule, Verdict, Violation};
use transactions::Transactions;
use units::Units;
use victims::Victims;
use waiting::Waiting;

/// What the scheduler has said about itself that decides what is legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// When it pauses: [`flashlane_core::decide::Preempt::moments`].
    pub moments: Moments,
    /// How garbage collection runs: [`flashlane_core::decide::Collect::style`].
    pub style: Style,
    /// Whether writes get their unit only when one takes them: [`flashlane_core::decide::Place::binds_at_dispatch`].
    pub binds_late: bool,
}

/// The logical page a physical page holds, if any.
pub type Owner<'a> = dyn Fn(PlaneId, Ppa) -> Option<Lpn> + 'a;

/// Pages of a block (counted inside its plane) written since its last erase.
pub type Written<'a> = dyn Fn(PlaneId, u32) -> u32 + 'a;

/// What a drive holds before the first event, at whatever time one asks.
pub trait Formula {
    /// Where a logical page lies, if anywhere.
    fn place(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)>;

    /// The logical page a physical page holds, if any.
    fn owner(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn>;

    /// Pages of a block (counted inside its plane) that are written.
    fn written(&self, plane: PlaneId, block: u32) -> u32;
}

/// The formula that devices are built from.
impl Formula for InitialState {
    fn place(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        self.place(lpn)
    }

    fn owner(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
        self.lpn_at(plane, ppa)
    }

    fn written(&self, plane: PlaneId, block: u32) -> u32 {
        self.written(plane, block)
    }
}

/// The drive before the first event.
pub enum Start<'a> {
    /// Erased.
    Fresh,
    /// As told: both functions are asked once about everything when the auditor is built.
    Known {
        /// The logical page a physical page holds.
        owner: &'a Owner<'a>,
        /// How far a block is written.
        written: &'a Written<'a>,
    },
    /// As the formula says: it is asked about a block when an event first concerns its pages, and about no other. A run pays
    /// for what it touches.
    Formula(Box<dyn Formula>),
    /// Not told. A block is then checked in full from its first erase on, and only for what was seen before that.
    Unknown,
}

/// Checks a device's events as they come.
pub struct Auditor {
    log: Log,
    events: u64,
    flows: usize,
    logical_pages: u32,
    planes: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    page_bytes: u64,
    write_back: bool,
    modifies: bool,
    free_collection: bool,
    requests: Requests,
    txns: Transactions,
    lines: Lines,
    units: Units,
    pages: Pages,
    victims: Victims,
    choice: Choice,
    pairs: Pairs,
    waiting: Waiting,
}

/// Violations kept in words unless said otherwise.
pub const KEPT: usize = 100;

impl Auditor {
    /// An auditor of a device of `config` that is in state `start`. Keeps the first `keep` violations in words
    /// ([`KEPT`] is a good number) and counts all.
    pub fn new(config: &Config, policy: Policy, start: Start<'_>, keep: usize) -> Auditor {
        let mut log = Log::new(keep);
        Auditor {
            events: 0,
            flows: config.flows.len(),
            logical_pages: config.ftl.logical_pages,
            planes: config.geometry.planes(),
            blocks_per_plane: config.geometry.blocks_per_plane,
            pages_per_block: config.geometry.pages_per_block,
            page_bytes: config.geometry.page_bytes.into(),
            write_back: config.buffer.as_ref().is_some_and(|buffer| buffer.write_back),
            modifies: config.ftl.read_modify_write,
            free_collection: policy.style == Style::Free,
            requests: Requests::new(Link::new(config)),
            txns: Transactions::default(),
            lines: Lines::default(),
            units: Units::new(config, policy),
            pages: Pages::new(&config.geometry, config.ftl.logical_pages, start, &mut log),
            victims: Victims::default(),
            choice: Choice::new(config),
            pairs: Pairs::new(policy.style == Style::Free),
            waiting: Waiting::new(config, policy),
            log,
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn observe(&mut self, stamped: &Stamped) {
        self.events += 1;
        if stamped.at != self.log.now {
            self.settle();
            let (now, at) = (self.log.now, stamped.at);
            self.log.check(at > now, Rule::TimeForward, || format!("an event of {at} comes after {now}."));
            self.log.now = now.max(at);
        }
        self.take(&stamped.event);
    }

    /// The violations kept so far.
    pub fn violations(&self) -> &[Violation] {
        self.log.kept()
    }

    /// Violations so far.
    pub fn total(&self) -> u64 {
        self.log.total()
    }

    /// The stream is over and the device has nothing left to do: nothing may be in flight.
    pub fn finish(mut self) -> Verdict {
        self.settle();
        for request in self.requests.leftover() {
            self.log.report(Rule::Leftover, || format!("request {} did not complete.", request.0));
        }
        for (serial, txn) in self.txns.leftover() {
            self.log.report(Rule::Leftover, || {
                let state = if txn.dispatched.is_some() { "was dispatched" } else { "waits" };
                format!("{} {serial} of {} {state} and did not end.", txn.op.name(), txn.owner.name())
            });
        }
        self.log.verdict(self.events)
    }

    /// Closes the books of an instant.
    fn settle(&mut self) {
        if self.lines.unsettled() {
            self.lines.settle(&mut self.requests, &mut self.log);
        }
        if self.pairs.unsettled() {
            self.pairs.settle(&mut self.log);
        }
        if self.victims.unsettled() {
            self.victims.settle(&self.pages, &mut self.log);
        }
        if self.choice.unsettled() {
            self.choice.settle(&self.victims, &mut self.pages, &mut self.log);
        }
        if self.waiting.unsettled() {
            self.waiting.settle(&self.units, &mut self.log);
        }
    }

    fn take(&mut self, event: &Event) {
        let log = &mut self.log;
        match *event {
            Event::Submitted { request, flow, op, arrival, pages, extent } => {
                log.check(flow.index() < self.flows, Rule::Address, || format!("flow {} of {}.", flow.0, self.flows));
                self.requests.submitted(request, ((flow, op, arrival), pages, extent), log);
            }
            Event::Admitted { request } => self.requests.admitted(request, log),
            Event::PageFromMemory { request, lpn } => {
                let pages = self.logical_pages;
                log.check(lpn.0 < pages, Rule::Address, || format!("logical page {} of {pages}.", lpn.0));
                self.requests.serve_from_memory(request, self.write_back, log);
            }
            Event::Queued { .. } => self.queued(event),
            Event::Moved { txn, plane } => {
                if self.has_page(plane, Some(0)) {
                    if let Some(waits) = self.txns.get(txn).filter(|waits| waits.dispatched.is_none()) {
                        self.waiting.moved(txn, waits, plane);
                    }
                    self.txns.relocate(txn, plane, |lpn| self.pages.find(lpn), &mut self.log);
                }
            }
            Event::Estimated { txn, slack, .. } => self.txns.estimate(txn, slack, log),
            Event::Dispatched { txn, command, unit, ppa, slack } => self.dispatched(txn, command, unit, ppa, slack),
            Event::BusTaken { .. } | Event::ArrayStarted { .. } | Event::ArrayEnded { .. } | Event::Paused { .. } => {
                self.units.phase(event, log);
            }
            Event::Ended { txn, end, paused } => self.ended(txn, end, paused),
            Event::Completed { request } => self.requests.completed(request, log),
            Event::VictimChosen { plane, block, valid } => {
                if self.has_page(plane, block.checked_mul(self.pages_per_block)) {
                    self.choice.chosen(plane, block, &self.victims, &mut self.pages, &mut self.log);
                    let block = self.pages.block(plane, block);
                    self.victims.chosen(block, valid, &mut self.pages, &mut self.log);
                }
            }
            Event::Mapped { lpn, plane, ppa } => {
                if self.has_page(plane, Some(ppa)) && self.has_logical(lpn) {
                    let old = self.pages.map(lpn, plane, ppa, &mut self.log);
                    self.choice.mapped(old, plane, ppa, &self.pages);
                    self.pairs.mapped(lpn, (plane, ppa), old, (&self.victims, &self.pages), &mut self.log);
                }
            }
            Event::Erased { plane, block } => self.erased(plane, block),
        }
    }

    /// Whether a physical page exists.
    fn has_page(&mut self, plane: PlaneId, ppa: Option<u32>) -> bool {
        let all = self.blocks_per_plane * self.pages_per_block;
        let inside = (plane.0 as u32) < self.planes && ppa.is_some_and(|ppa| ppa < all);
        self.log.check(inside, Rule::Address, || match ppa {
            Some(ppa) => format!("page {ppa} of plane {} ({} planes of {all} pages).", plane.0, self.planes),
            None => format!("a block beyond plane {} ({} planes of {all} pages).", plane.0, self.planes),
        })
    }

    /// Whether a logical page exists.
    fn has_logical(&mut self, lpn: Lpn) -> bool {
        let pages = self.logical_pages;
        self.log.check(lpn.0 < pages, Rule::Address, || format!("logical page {} of {pages}.", lpn.0))
    }
}
