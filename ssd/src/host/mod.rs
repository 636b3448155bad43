//! Host interface: requests from their submission to their completion, the submission queues, and the link to the host.
//!
//! Owns which requests are inside the device, which commands may be fetched, and when completions reach the host. Promises that
//! every request completes once. Must never know physical addresses, transactions or flash.

mod link;
mod queues;
mod requests;
mod validator;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::decide::{Commands, Fetch};
use flashlane_core::event::Event;
use flashlane_core::{Board, Completion, Duration, Extent, FlowId, Lpn, Op, Time};

use crate::config::Config;
use crate::state::State;
use link::Link;
use queues::Queues;
pub(crate) use requests::Requests;
pub use validator::Refusal;
use validator::RequestValidator;
pub(crate) use validator::Shape;

/// A request's slot in the board's table of requests; `RequestSlot::MAX` for a transaction that belongs to no request.
pub(crate) type RequestSlot = u32;

/// The host interface.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) requests: Requests,
    /// Completions since they were last drained, in order of time.
    pub(crate) completions: Vec<Completion>,
    /// Capacity of a unit's queues, for reads and writes: a command is not fetched while a queue it needs is full.
    pub(crate) queue_capacity: [u32; 2],
    /// Pages served without a flash operation of their own.
    pub(crate) pages_from_memory: u64,
    /// The earliest of the instants in the links, `from_memory`, `ask_again` and `wake`.
    next: Time,
    queues: Queues,
    /// Host to device.
    inward: Link,
    /// Device to host.
    outward: Link,
    /// Requests served from memory, each with the instant when its data is ready.
    from_memory: VecDeque<(Time, RequestSlot)>,
    /// Time the memory takes to serve a request.
    memory: Duration,
    /// When to ask the admit decision again.
    ask_again: Time,
    /// When the device is to decide again for a reason of its own.
    wake: Time,
    validator: RequestValidator,
}

impl Host {
    /// The idle interface of `config`; `decision` is the time the scheduler needs for each command before it can enter.
    pub(crate) fn new(config: &Config, decision: Duration) -> Host {
        Host {
            requests: Requests::default(),
            completions: Vec::new(),
            queue_capacity: config.front.queue_capacity,
            pages_from_memory: 0,
            next: Time::NEVER,
            queues: Queues::new(&config.front, config.flows.len()),
            inward: Link::new(&config.front, decision),
            outward: Link::new(&config.front, Duration::ZERO),
            from_memory: VecDeque::new(),
            memory: config.memory,
            ask_again: Time::NEVER,
            wake: Time::NEVER,
            validator: RequestValidator::new(config),
        }
    }

    /// What a request touches.
    ///
    /// # Errors
    /// A request that the device could not serve.
    #[inline(always)]
    pub(crate) fn check(&self, flow: FlowId, extent: &Extent<'_>) -> Result<Shape, Refusal> {
        self.validator.check(flow, extent)
    }

    /// The page that contains byte `offset`.
    #[inline]
    pub(crate) fn page_at(&self, offset: u64) -> Lpn {
        self.validator.page_at(offset)
    }

    /// Gives a submitted request a slot; `list` has its pages if they are not consecutive.
    #[inline(always)]
    pub(crate) fn register(&mut self, request: ActiveRequest, list: Option<&[Lpn]>, board: &mut Board) -> RequestSlot {
        let slot = self.requests.insert(request, board);
        if let Some(list) = list {
            self.requests.scatter(slot, list);
        }
        slot
    }

    /// Whether a command takes no time to cross the link to the device.
    #[inline]
    pub(crate) fn is_link_instant(&self) -> bool {
        self.inward.is_instant()
    }

    /// If no other command waits and the device has space, counts a command of `flow` as one that enters the device without
    /// waiting in its submission queue. Returns whether it enters.
    #[inline]
    pub(crate) fn enters_at_once(&mut self, flow: FlowId, board: &mut Board) -> bool {
        self.queues.enters_at_once(flow, board)
    }

    /// Sends a command across the link to its submission queue.
    #[cold]
    pub(crate) fn send(&mut self, slot: RequestSlot, state: &mut State) {
        let ActiveRequest { flow, op, bytes, .. } = *request_at(slot, state);
        if self.inward.is_instant() {
            self.queues.push(flow, slot, &mut state.board);
            return;
        }
        let bytes = if op == Op::Write { bytes } else { 0 };
        self.inward.send(state.now(), slot, bytes);
        self.refresh();
    }

    /// Whether a command waits and the device has space for one more.
    #[inline]
    pub(crate) fn could_admit(&self) -> bool {
        self.queues.could_admit()
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
            self.refresh();
        }
    }

    /// Lets the device decide again at `at`, instead of what was set before.
    pub(crate) fn wake_at(&mut self, at: Time) {
        self.wake = at;
        self.refresh();
    }

    /// The earliest instant anything happens at the interface.
    #[inline(always)]
    pub(crate) fn next_event(&self) -> Time {
        self.next
    }

    fn refresh(&mut self) {
        let from_memory = self.from_memory.front().map_or(Time::NEVER, |&(at, _)| at);
        let link = self.inward.next().min(self.outward.next());
        self.next = from_memory.min(link).min(self.ask_again).min(self.wake);
    }

    /// Processes one event of this instant.
    pub(crate) fn step(&mut self, state: &mut State) {
        let now = state.now();
        if let Some(slot) = self.outward.arrived(now) {
            self.complete(slot, state);
        } else if self.from_memory.front().is_some_and(|&(at, _)| at <= now) {
            let (_, slot) = self.from_memory.pop_front().expect("just seen");
            self.served(slot, state);
        } else if let Some(slot) = self.inward.arrived(now) {
            let flow = request_at(slot, state).flow;
            self.queues.push(flow, slot, &mut state.board);
            state.agenda.open = true;
        } else if self.ask_again <= now {
            self.ask_again = Time::NEVER;
            state.agenda.open = true;
        } else if self.wake <= now {
            self.wake = Time::NEVER;
            state.agenda.open = true;
        }
        self.refresh();
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

    /// Counts a page of a request that the flash serves under serial service.
    pub(crate) fn page_in_series(&mut self, slot: RequestSlot, lpn: Lpn, state: &mut State) {
        let request = request_at(slot, state);
        request.remaining -= 1;
        let request = request.id;
        state.log(|| Event::PageInSeries { request, lpn });
    }

    /// Schedules the end of the only request in the device, all pages of which are served, after `busy`, or after the time the
    /// memory takes if that is nothing.
    pub(crate) fn serve_after(&mut self, slot: RequestSlot, busy: Duration, state: &mut State) {
        debug_assert!(request_at(slot, state).remaining == 0 && self.from_memory.is_empty());
        let time = if busy == Duration::ZERO { self.memory } else { busy };
        self.from_memory.push_back((state.now() + time, slot));
        self.refresh();
    }

    /// If all pages of a request were served from memory, schedules its end: after the time the memory takes.
    #[cold]
    pub(crate) fn serve_if_done(&mut self, slot: RequestSlot, state: &mut State) {
        if request_at(slot, state).remaining == 0 {
            self.from_memory.push_back((state.now() + self.memory, slot));
            self.refresh();
        }
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
        self.refresh();
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
        self.inward.len() + self.queues.outstanding()
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
    pub(crate) host: &'a Host,
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
        self.host.queues.window(queue, self.board)
    }

    #[inline]
    fn full(&self, command: RequestSlot) -> bool {
        (self.full)(command, &self.board.requests[command as usize])
    }

    fn missing(&self, command: RequestSlot) -> u32 {
        (self.missing)(command, &self.board.requests[command as usize])
    }

    fn overlap(&self, one: RequestSlot, other: RequestSlot) -> bool {
        self.host.requests.overlap([one, other], self.board)
    }
}
