//! The front end: requests from their submission to their completion, the submission queues, and the link to the host.
//!
//! Owns which requests are inside the device, which commands may be fetched, and when completions reach the host. Promises that
//! every request completes once. Must never know physical addresses, transactions or flash.

mod checks;
mod link;
mod queues;
mod requests;

use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::decide::{Commands, Fetch};
use flashlane_core::event::Event;
use flashlane_core::{Board, Completion, Duration, FlowId, Lpn, Op, Time};

pub use checks::Refusal;
pub(crate) use checks::{RequestValidator, Shape};
pub(crate) use link::crossing_ns;
use link::{Due, Link};
use queues::Queues;
pub(crate) use requests::{RequestSlot, Requests};

use crate::config::{self, Config, Controller};
use crate::shared::State;

/// What an event of the host interface leaves the device to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Nothing at once.
    Other,
    /// This command enters.
    Enters(RequestSlot),
    /// This flush has entered its submission queue.
    FlushArrives(RequestSlot),
}

/// What was set for an instant that has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Set {
    /// The timer ends.
    Timer,
    /// An entry of the map arrives from the host's memory.
    Entry,
    /// Decisions are to be made, which the agenda says.
    Decision,
}

/// The host interface.
#[derive(Debug)]
pub(crate) struct Frontend {
    pub(crate) requests: Requests,
    /// Completions since they were last drained, in order of time.
    pub(crate) completions: Vec<Completion>,
    /// Capacity of a unit's queues, for reads and writes: a command is not fetched while a queue it needs is full.
    pub(crate) queue_capacity: [u32; 2],
    /// Pages served without a flash operation of their own.
    pub(crate) pages_from_memory: u64,
    /// The earliest of the instants in the links, `from_memory` and `next_set`.
    pub(crate) next: Time,
    pub(crate) queues: Queues,
    /// Host to device.
    pub(crate) inward: Link,
    /// What the controller takes for the commands that cross it.
    controller: Controller,
    /// Device to host.
    outward: Link,
    /// Requests served without flash, each with the instant when it is.
    from_memory: Due,
    /// Time the memory takes to serve a request.
    memory: Duration,
    /// The earliest of the next four.
    next_set: Time,
    /// When to ask the admit decision again.
    ask_again: Time,
    /// When the device is to decide again for a reason of its own.
    wake: Time,
    /// When an entry of the map arrives from the host's memory.
    entry: Time,
    /// When blocks in SLC mode may be folded, if there are no user transactions; or when gathered pages have waited long enough for a full
    /// wordline, or the next page may enter the buffer.
    timer: Time,
    pub(crate) validator: RequestValidator,
}

impl Frontend {
    /// The idle interface of `config`; `decision` is the time the scheduler needs for each command before it can enter.
    pub(crate) fn new(config: &Config, decision: Duration) -> Frontend {
        Frontend {
            requests: Requests::default(),
            completions: Vec::new(),
            queue_capacity: config.front.queue_capacity,
            pages_from_memory: 0,
            next: Time::NEVER,
            queues: Queues::new(&config.front, config.flows.len()),
            inward: Link::inward(&config.front, decision),
            controller: config.front.controller,
            outward: Link::new(&config.front, Duration::ZERO),
            from_memory: Due::new(),
            memory: config.memory,
            next_set: Time::NEVER,
            ask_again: Time::NEVER,
            wake: Time::NEVER,
            entry: Time::NEVER,
            timer: Time::NEVER,
            validator: RequestValidator::new(config),
        }
    }

    /// The scheduler needs this time for each command before it can enter. No command may be there.
    pub(crate) fn set_decision(&mut self, config: &config::Front, decision: Duration) {
        self.inward = Link::inward(config, decision);
        (self.ask_again, self.wake) = (Time::NEVER, Time::NEVER);
        self.refresh_set();
    }

    /// Sends a command across the link to its submission queue.
    #[inline]
    pub(crate) fn send(&mut self, slot: RequestSlot, state: &mut State) {
        let ActiveRequest { flow, op, bytes, pages, .. } = *request_at(slot, state);
        if self.inward.is_instant() {
            self.queues.push(flow, slot, &mut state.board);
            return;
        }
        let bytes = if op == Op::Write { bytes } else { 0 };
        self.inward.send_command(state.now(), slot, bytes, self.controller.time_of(op, pages));
        self.next = self.next.min(self.inward.in_transit.next);
    }

    /// With SATA, takes a trim or a flush into the device whose turn it is.
    pub(crate) fn fetch_unqueued(&mut self, state: &mut State) -> Option<RequestSlot> {
        let slot = self.queues.fetch_unqueued(&mut state.board)?;
        let request = request_at(slot, state).id;
        state.log(|| Event::Admitted { request });
        Some(slot)
    }

    /// Takes a command into the device.
    pub(crate) fn fetch(&mut self, fetch: Fetch, state: &mut State) -> RequestSlot {
        let slot = self.queues.fetch(fetch.flow, fetch.position, &mut state.board);
        let request = request_at(slot, state).id;
        state.log(|| Event::Admitted { request });
        slot
    }

    /// Sets when to ask the admit decision again; [`Time::NEVER`] for not at all.
    #[inline]
    pub(crate) fn ask_again_at(&mut self, at: Time) {
        if at != self.ask_again {
            self.ask_again = at;
            self.refresh_set();
        }
    }

    /// Lets the device decide again at `at`, instead of what was set before.
    pub(crate) fn wake_at(&mut self, at: Time) {
        self.wake = at;
        self.refresh_set();
    }

    /// An entry of the map arrives at `at`, and none before.
    pub(crate) fn entry_arrives_at(&mut self, at: Time) {
        self.entry = at;
        self.refresh_set();
    }

    /// Sets when that is, instead of what was set before. If that was earlier, the device wakes up then too, for nothing.
    #[inline]
    pub(crate) fn set_timer(&mut self, at: Time) {
        self.timer = at;
        self.next_set = self.earliest_set();
        self.next = self.next.min(at);
    }

    /// Whether the next thing that happens here is that the timer ends.
    pub(crate) fn awaits_timer(&self) -> bool {
        self.next == self.timer
    }

    /// The timer is not set if it would end later than at `at`.
    pub(crate) fn drop_timer_after(&mut self, at: Time) {
        if self.timer > at {
            self.timer = Time::NEVER;
            self.refresh();
        }
    }

    /// Whether something was set for this instant.
    #[inline(always)]
    pub(crate) fn is_set(&self, now: Time) -> bool {
        self.next_set <= now
    }

    /// What was set for this instant, the timer first; it no longer is.
    #[cold]
    pub(crate) fn take_set(&mut self, state: &mut State) -> Set {
        let now = state.now();
        let due = [
            (&mut self.timer, Set::Timer),
            (&mut self.entry, Set::Entry),
            (&mut self.ask_again, Set::Decision),
            (&mut self.wake, Set::Decision),
        ];
        let mut set = Set::Decision;
        if let Some((at, what)) = due.into_iter().find(|(at, _)| **at <= now) {
            (*at, set) = (Time::NEVER, what);
        }
        state.agenda.open |= set == Set::Decision;
        self.refresh_set();
        set
    }

    fn refresh(&mut self) {
        let link = self.inward.in_transit.next.min(self.outward.in_transit.next);
        self.next = self.from_memory.next.min(link).min(self.next_set);
    }

    fn refresh_set(&mut self) {
        self.next_set = self.earliest_set();
        self.refresh();
    }

    fn earliest_set(&self) -> Time {
        self.ask_again.min(self.wake).min(self.entry).min(self.timer)
    }

    /// Processes one event of this instant. A command that has crossed the link enters the device at once if `single_enters`, no other
    /// command waits and the device has space.
    pub(crate) fn step(&mut self, single_enters: bool, state: &mut State) -> Step {
        let now = state.now();
        let mut step = Step::Other;
        if let Some(slot) = self.outward.in_transit.take(now) {
            self.complete(slot, state);
        } else if let Some(slot) = self.from_memory.take(now) {
            self.served(slot, state);
        } else if let Some(slot) = self.inward.in_transit.take(now) {
            let ActiveRequest { flow, op, .. } = *request_at(slot, state);
            if single_enters && op.is_data() && self.queues.enters_at_once(flow, &mut state.board) {
                step = Step::Enters(slot);
            } else {
                self.queues.push(flow, slot, &mut state.board);
                state.agenda.open = true;
                if op == Op::Flush {
                    step = Step::FlushArrives(slot);
                }
            }
        }
        self.refresh();
        step
    }

    /// A page of a write that waits for space in the buffer was trimmed: it is done.
    #[cold]
    pub(crate) fn page_dropped(&mut self, slot: RequestSlot, lpn: Lpn, state: &mut State) {
        let request = request_at(slot, state);
        request.remaining -= 1;
        let request = request.id;
        state.log(|| Event::PageDropped { request, lpn });
    }

    /// If all pages of a request were stored or dropped, of which the last was stored at `stored`, schedules its end: after the time that the
    /// memory took for that, or now if it is over.
    #[cold]
    pub(crate) fn dropped_if_done(&mut self, slot: RequestSlot, stored: Option<Time>, state: &mut State) {
        if request_at(slot, state).remaining == 0 {
            let served = stored.map_or(Time::ZERO, |stored| stored + self.memory);
            self.from_memory.insert(served.max(state.now()), slot);
            self.refresh();
        }
    }

    /// Counts a page of a request that was served from memory.
    #[cold]
    pub(crate) fn page_from_memory(&mut self, slot: RequestSlot, lpn: Lpn, state: &mut State) {
        let request = request_at(slot, state);
        request.remaining -= 1;
        let request = request.id;
        self.pages_from_memory += 1;
        state.log(|| Event::PageFromMemory { request, lpn });
    }

    /// A page of a write is in the buffer: it is served, but for one with FUA.
    #[cold]
    pub(crate) fn page_stored(&mut self, slot: RequestSlot, lpn: Lpn, state: &mut State) {
        self.page_from_memory(slot, lpn, state);
        let request = request_at(slot, state);
        request.remaining += u32::from(request.fua);
    }

    /// Under serial service, a dirty page is written out for a flush or a write with FUA.
    pub(crate) fn page_written_out(&mut self, slot: RequestSlot, lpn: Lpn, state: &mut State) {
        let request = request_at(slot, state).id;
        state.log(|| Event::PageInSeries { request, lpn });
    }

    /// Counts a page of a request that the flash serves under serial service.
    pub(crate) fn page_in_series(&mut self, slot: RequestSlot, lpn: Lpn, state: &mut State) {
        let request = request_at(slot, state);
        request.remaining -= 1;
        let request = request.id;
        state.log(|| Event::PageInSeries { request, lpn });
    }

    /// The time of a request that takes `busy`, or if that is nothing, the time that the memory takes.
    pub(crate) fn at_least_memory(&self, busy: Duration) -> Duration {
        if busy == Duration::ZERO { self.memory } else { busy }
    }

    /// If all pages of a request were served from memory, schedules its end: after the time the memory takes.
    #[cold]
    pub(crate) fn serve_if_done(&mut self, slot: RequestSlot, state: &mut State) {
        if request_at(slot, state).remaining == 0 {
            self.from_memory.insert(state.now() + self.memory, slot);
            self.refresh();
        }
    }

    /// Schedules the end of a request that waits for nothing else: after `time`.
    pub(crate) fn ends_after(&mut self, slot: RequestSlot, time: Duration, state: &mut State) {
        debug_assert!(request_at(slot, state).remaining == 0);
        let at = state.now().ns().saturating_add(time.ns()).min(2 * Time::LAST.ns());
        self.from_memory.insert(Time::from_ns(at), slot);
        self.refresh();
    }

    /// Counts a page of a request that is done by a transaction with this tag. The last page completes the request.
    #[inline(always)]
    pub(crate) fn page_done(&mut self, slot: RequestSlot, tag: u8, state: &mut State) {
        let request = request_at(slot, state);
        request.tags |= tag;
        request.remaining -= 1;
        if request.remaining == 0 {
            self.served(slot, state);
        }
    }

    /// Sends a served request's answer across the link.
    #[inline(always)]
    fn served(&mut self, slot: RequestSlot, state: &mut State) {
        if self.outward.is_instant() {
            self.complete(slot, state);
            return;
        }
        let ActiveRequest { op, bytes, .. } = *request_at(slot, state);
        let bytes = if op == Op::Read { bytes } else { 0 };
        self.outward.send(state.now(), slot, bytes);
        self.next = self.next.min(self.outward.in_transit.next);
    }

    /// Completes a request: its answer has reached the host.
    #[inline(always)]
    fn complete(&mut self, slot: RequestSlot, state: &mut State) {
        let request = *request_at(slot, state);
        self.requests.remove(slot, &request);
        let ActiveRequest { id, flow, op, arrival, lpn, pages, bytes, tags, .. } = request;
        let done = state.now();
        debug_assert!(done >= arrival);
        self.completions.push(Completion { id, flow, op, arrival, done, lpn, pages, bytes, tags });
        state.log(|| Event::Completed { request: id });
        self.queues.completed(flow, &mut state.board);
        if self.queues.could_admit() {
            state.agenda.open = true;
        }
    }

    /// Requests inside the device or on their way to or from it.
    pub(crate) fn outstanding(&self) -> usize {
        self.inward.in_transit.requests.len() + self.queues.outstanding()
    }
}

/// The request in a slot.
#[inline(always)]
fn request_at(slot: RequestSlot, state: &mut State) -> &mut ActiveRequest {
    &mut state.board.requests[slot as usize]
}

/// The commands in the submission queues, for the admit decision. `full` tells whether a queue of a unit that a command needs is
/// full, `missing` how many of its pages the page buffer does not hold.
pub(crate) struct WaitingCommands<'a, F, M> {
    pub(crate) frontend: &'a Frontend,
    pub(crate) board: &'a Board,
    pub(crate) full: F,
    pub(crate) missing: M,
}

impl<F, M> Commands for WaitingCommands<'_, F, M>
where
    F: Fn(RequestSlot, &ActiveRequest) -> bool,
    M: Fn(RequestSlot, &ActiveRequest) -> u32,
{
    #[inline]
    fn waiting(&self, queue: FlowId) -> [&[RequestSlot]; 2] {
        self.frontend.queues.window(queue, self.board)
    }

    #[inline]
    fn full(&self, command: RequestSlot) -> bool {
        (self.full)(command, &self.board.requests[command as usize])
    }

    fn missing(&self, command: RequestSlot) -> u32 {
        (self.missing)(command, &self.board.requests[command as usize])
    }

    fn overlap(&self, one: RequestSlot, other: RequestSlot) -> bool {
        self.frontend.requests.overlap([one, other], self.board)
    }
}
