//! The front end: requests from their submission to their completion, the submission queues, and the link to the host.
//!
//! Owns which requests are inside the device, which commands may be fetched, and when completions reach the host. Promises that
//! every request completes once. Must never know physical addresses, transactions or flash. In this order: the front end, what the
//! admit decision sees of it, the submission queues, the link, the slots of requests, the check of a submitted request.

mod checks;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::decide::{Commands, Fetch};
use flashlane_core::event::Event;
use flashlane_core::{Board, Completion, Duration, FlowId, Lpn, Op, Time};

pub use checks::Refusal;
pub(crate) use checks::{RequestValidator, Shape};

use crate::config::{self, Config, Protocol};
use crate::shared::State;

/// A request's slot in the board's table of requests; `RequestSlot::MAX` for a transaction that belongs to no request.
pub(crate) type RequestSlot = u32;

/// What an event of the host interface leaves the device to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Nothing at once.
    Other,
    /// This command enters.
    Enters(RequestSlot),
    /// An entry of the map arrives from the host's memory.
    EntryArrives,
    /// This flush has entered its submission queue.
    FlushArrives(RequestSlot),
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
    /// wordline. No device has both.
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
            inward: Link::new(&config.front, decision),
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
        self.inward = Link::new(config, decision);
        (self.ask_again, self.wake) = (Time::NEVER, Time::NEVER);
        self.refresh_set();
    }

    /// Sends a command across the link to its submission queue.
    #[inline]
    pub(crate) fn send(&mut self, slot: RequestSlot, state: &mut State) {
        let ActiveRequest { flow, op, bytes, .. } = *request_at(slot, state);
        if self.inward.is_instant() {
            self.queues.push(flow, slot, &mut state.board);
            return;
        }
        let bytes = if op == Op::Write { bytes } else { 0 };
        self.inward.send(state.now(), slot, bytes);
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

    /// Whether this instant was set; it is then no longer.
    #[inline]
    pub(crate) fn takes_timer(&mut self, now: Time) -> bool {
        let is_due = self.timer <= now;
        if is_due {
            self.timer = Time::NEVER;
            self.refresh_set();
        }
        is_due
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
        } else {
            return self.set_instant_comes(state);
        }
        self.refresh();
        step
    }

    /// Something was set for this instant.
    fn set_instant_comes(&mut self, state: &mut State) -> Step {
        let now = state.now();
        let mut step = Step::Other;
        if self.ask_again <= now {
            self.ask_again = Time::NEVER;
            state.agenda.open = true;
        } else if self.wake <= now {
            self.wake = Time::NEVER;
            state.agenda.open = true;
        } else if self.entry <= now {
            self.entry = Time::NEVER;
            step = Step::EntryArrives;
        }
        self.refresh_set();
        step
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

    /// Schedules the end of the only request in the device, all pages of which are served, after `busy`, or after the time the
    /// memory takes if that is nothing.
    pub(crate) fn serve_after(&mut self, slot: RequestSlot, busy: Duration, state: &mut State) {
        debug_assert!(request_at(slot, state).remaining == 0 && self.from_memory.next == Time::NEVER);
        let time = if busy == Duration::ZERO { self.memory } else { busy };
        self.from_memory.add(state.now() + time, slot);
        self.refresh();
    }

    /// If all pages of a request were served from memory, schedules its end: after the time the memory takes.
    #[cold]
    pub(crate) fn serve_if_done(&mut self, slot: RequestSlot, state: &mut State) {
        if request_at(slot, state).remaining == 0 {
            self.from_memory.insert(state.now() + self.memory, slot);
            self.refresh();
        }
    }

    /// Schedules the end of a request without pages of its own: after `time`.
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

// The submission queues: with NVMe one for each flow, with SATA one for all flows (model 0.7). They own which commands wait and how many
// the device has fetched.

/// The submission queues.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Queues {
    waiting: u32,
    in_flight: u32,
    limit: u32,
    depth: u32,
    shared: bool,
    /// With SATA, trims and flushes are not queued commands (model 0.7): how many wait or are in the device.
    unqueued: u32,
    /// Whether one of them is in the device.
    alone: bool,
    /// The limit while none holds others back.
    full_limit: u32,
    queues: Vec<VecDeque<RequestSlot>>,
}

impl Queues {
    /// The empty queues of `config`.
    fn new(config: &config::Front, flows: usize) -> Queues {
        let (shared, depth) = match config.protocol {
            Protocol::Nvme { depth } => (false, depth),
            Protocol::Sata { depth } => (true, depth),
        };
        let limit = if shared { config.in_flight.min(depth) } else { config.in_flight };
        Queues {
            queues: vec![VecDeque::new(); if shared { 1 } else { flows }],
            shared,
            depth,
            limit,
            full_limit: limit,
            unqueued: 0,
            alone: false,
            in_flight: 0,
            waiting: 0,
        }
    }

    /// The queue in which a flow's commands wait: its own, or with SATA the shared one, which is shown as flow 0's.
    fn queue_of(&self, flow: FlowId) -> usize {
        if self.shared { 0 } else { flow.index() }
    }

    /// Adds a command to its queue.
    #[inline]
    fn push(&mut self, flow: FlowId, slot: RequestSlot, board: &mut Board) {
        let queue = self.queue_of(flow);
        self.queues[queue].push_back(slot);
        self.waiting += 1;
        if self.shared && !board.requests[slot as usize].op.is_data() {
            self.unqueued += 1;
        }
        self.publish(queue, board);
    }

    /// Whether a command waits and the device has space for one more.
    #[inline]
    pub(crate) fn could_admit(&self) -> bool {
        self.waiting > 0 && self.in_flight < self.limit
    }

    /// Commands that wait, or were fetched and have not completed.
    fn outstanding(&self) -> usize {
        self.waiting as usize + self.in_flight as usize
    }

    /// If no other command waits and the device has space, counts a command of `flow` as one that enters the device without
    /// waiting in its queue. Returns whether it enters.
    #[inline]
    pub(crate) fn enters_at_once(&mut self, flow: FlowId, board: &mut Board) -> bool {
        let queue = &mut board.flows[self.queue_of(flow)];
        let enters = self.waiting == 0 && self.in_flight < self.limit && queue.in_flight() < self.depth;
        if enters {
            self.in_flight += 1;
            queue.command_fetched();
        }
        enters
    }

    /// The commands of a flow's queue, oldest first, in two parts: as many as the queue depth lets the device see.
    #[inline]
    fn window(&self, queue: FlowId, board: &Board) -> [&[RequestSlot]; 2] {
        let Some(queued) = self.queues.get(queue.index()) else { return [&[]; 2] };
        let (first, second) = queued.as_slices();
        let seen = board.flows[queue.index()].waiting() as usize;
        let of_first = seen.min(first.len());
        [&first[..of_first], &second[..seen - of_first]]
    }

    /// Takes a command of a flow's queue into the device, `position` places behind its head.
    fn fetch(&mut self, queue: FlowId, position: u32, board: &mut Board) -> RequestSlot {
        let queued = &mut self.queues[queue.index()];
        let taken = if position == 0 { queued.pop_front() } else { queued.remove(position as usize) };
        let slot = taken.expect("an admitted command waits");
        self.waiting -= 1;
        self.in_flight += 1;
        board.flows[queue.index()].command_fetched();
        self.publish(queue.index(), board);
        slot
    }

    /// Counts a fetched command of `flow` that has completed.
    #[inline(always)]
    fn completed(&mut self, flow: FlowId, board: &mut Board) {
        let queue = self.queue_of(flow);
        self.in_flight -= 1;
        board.flows[queue].command_completed();
        if self.unqueued > 0 {
            self.unqueued_completed();
        }
        if self.waiting > 0 {
            self.publish(queue, board);
        }
    }

    /// If a trim or a flush of SATA is the only command in the device, it has completed.
    #[cold]
    fn unqueued_completed(&mut self) {
        if core::mem::take(&mut self.alone) {
            self.unqueued -= 1;
            self.limit = self.full_limit;
        }
    }

    /// Whether a trim or a flush of SATA waits or is in the device.
    #[inline]
    pub(crate) fn has_unqueued(&self) -> bool {
        self.unqueued > 0
    }

    /// With SATA, takes a trim or a flush into the device if it has waited longest and the device is empty.
    pub(crate) fn fetch_unqueued(&mut self, board: &mut Board) -> Option<RequestSlot> {
        let first = *self.queues[0].front()?;
        if self.unqueued == 0 || self.in_flight > 0 || board.requests[first as usize].op.is_data() {
            return None;
        }
        self.alone = true;
        Some(self.fetch(FlowId(0), 0, board))
    }

    /// What a trim or a flush of SATA leaves of the commands that the device may fetch: those before it. While it waits for the
    /// commands in the device, or is there, none.
    #[cold]
    fn hold_back(&mut self, board: &mut Board) {
        let is_unqueued = |&slot: &RequestSlot| !board.requests[slot as usize].op.is_data();
        let before = if self.alone { Some(0) } else { self.queues[0].iter().position(is_unqueued) };
        let holds_all = self.alone || before == Some(0) && self.in_flight > 0;
        self.limit = if holds_all { 0 } else { self.full_limit };
        let shown = board.flows[0].waiting();
        board.flows[0].set_waiting(before.map_or(shown, |before| shown.min(before as u32)));
    }

    /// Updates what the board shows of a queue: as many waiting commands as the queue depth lets the device see.
    #[inline]
    fn publish(&mut self, queue: usize, board: &mut Board) {
        let space = self.depth - board.flows[queue].in_flight().min(self.depth);
        board.flows[queue].set_waiting(space.min(self.queues[queue].len() as u32));
        if self.unqueued > 0 {
            self.hold_back(board);
        }
    }
}

// One direction of the link between host and device.

/// A serial resource with a fixed latency, first in, first out.
#[derive(Debug)]
pub(crate) struct Link {
    free: Time,
    bytes_per_s: u64,
    latency: Duration,
    in_transit: Due,
}

impl Link {
    /// The link of `config`, with `extra` added to its latency.
    fn new(config: &config::Front, extra: Duration) -> Link {
        Link {
            free: Time::ZERO,
            bytes_per_s: config.link_bytes_per_s,
            latency: config.link_latency + extra,
            in_transit: Due::new(),
        }
    }

    /// Whether crossing takes no time.
    #[inline]
    pub(crate) fn is_instant(&self) -> bool {
        self.bytes_per_s == 0 && self.latency == Duration::ZERO
    }

    /// Sends `bytes` bytes for the request in `slot`.
    #[inline]
    fn send(&mut self, now: Time, slot: RequestSlot, bytes: u64) {
        self.free = self.free.max(now) + Duration::from_ns(crossing_ns(bytes, self.bytes_per_s));
        self.in_transit.add(self.free + self.latency, slot);
    }
}

/// Requests, each with the instant at which something happens to it, in the order of the instants.
#[derive(Debug)]
struct Due {
    /// The first instant; [`Time::NEVER`] without requests.
    next: Time,
    requests: VecDeque<(Time, RequestSlot)>,
}

impl Due {
    /// No requests.
    fn new() -> Due {
        Due { next: Time::NEVER, requests: VecDeque::new() }
    }

    /// Adds a request, to which it happens at `at`: not before it does to those that are there.
    #[inline]
    fn add(&mut self, at: Time, slot: RequestSlot) {
        debug_assert!(self.requests.back().is_none_or(|&(last, _)| last <= at));
        self.next = self.next.min(at);
        self.requests.push_back((at, slot));
    }

    /// Adds a request, to which it may happen before it does to others that are there; of equal instants it is the last.
    fn insert(&mut self, at: Time, slot: RequestSlot) {
        self.next = self.next.min(at);
        let place = self.requests.iter().rposition(|&(other, _)| other <= at).map_or(0, |before| before + 1);
        self.requests.insert(place, (at, slot));
    }

    /// Takes the first request if its instant has come by `now`.
    #[inline]
    fn take(&mut self, now: Time) -> Option<RequestSlot> {
        if self.next > now {
            return None;
        }
        let (_, slot) = self.requests.pop_front()?;
        self.next = self.requests.front().map_or(Time::NEVER, |&(at, _)| at);
        Some(slot)
    }
}

/// How long `bytes` bytes take at `rate` bytes per second, in ns, rounded up; no time at rate 0, which is no limit.
#[inline]
pub(crate) fn crossing_ns(bytes: u64, rate: u64) -> u64 {
    const NS: u64 = 1_000_000_000;
    match bytes.checked_mul(NS) {
        _ if rate == 0 => 0,
        // What no division of 128 bits is needed for: up to 18 GB.
        Some(product) => product.div_ceil(rate),
        None => (u128::from(bytes) * u128::from(NS)).div_ceil(u128::from(rate)) as u64,
    }
}

// The slots of the board's table of requests, and the page lists of scattered requests (whose pages are not consecutive).

/// What is kept besides the board's table of requests: free slots and page lists.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The pages of scattered requests, by slot.
    lists: Vec<Box<[Lpn]>>,
    free: Vec<RequestSlot>,
}

impl Requests {
    /// Gives a submitted request a slot; `list` has its pages if they are not consecutive.
    #[inline(always)]
    pub(crate) fn insert(&mut self, request: ActiveRequest, list: Option<&[Lpn]>, board: &mut Board) -> RequestSlot {
        let slot = if let Some(slot) = self.free.pop() {
            board.requests[slot as usize] = request;
            slot
        } else {
            board.requests.push(request);
            board.requests.len() as RequestSlot - 1
        };
        if let Some(list) = list {
            self.scatter(slot, list);
        }
        slot
    }

    /// Stores the page list of a scattered request.
    fn scatter(&mut self, slot: RequestSlot, pages: &[Lpn]) {
        let index = slot as usize;
        if self.lists.len() <= index {
            self.lists.resize_with(index + 1, Box::default);
        }
        self.lists[index] = pages.into();
    }

    /// The `i`-th page of `request`, which is in `slot`.
    #[inline(always)]
    pub(crate) fn page(&self, slot: RequestSlot, request: &ActiveRequest, i: u32) -> Lpn {
        if request.scattered { self.lists[slot as usize][i as usize] } else { Lpn(request.lpn.0 + i) }
    }

    /// Whether two requests, by slot, touch a page in common.
    fn overlap(&self, slots: [RequestSlot; 2], board: &Board) -> bool {
        let [one, other] = slots.map(|slot| (slot, &board.requests[slot as usize]));
        let last = |request: &ActiveRequest| u64::from(request.lpn.0) + u64::from(request.pages);
        let lies_in = |lpn: Lpn, (slot, request): (RequestSlot, &ActiveRequest)| match request.scattered {
            true => self.lists[slot as usize].contains(&lpn),
            false => (u64::from(request.lpn.0)..last(request)).contains(&u64::from(lpn.0)),
        };
        match (one.1.scattered, other.1.scattered) {
            (false, false) => u64::from(one.1.lpn.0) < last(other.1) && u64::from(other.1.lpn.0) < last(one.1),
            (true, _) => self.lists[one.0 as usize].iter().any(|&lpn| lies_in(lpn, other)),
            (false, true) => self.lists[other.0 as usize].iter().any(|&lpn| lies_in(lpn, one)),
        }
    }

    /// Frees the slot of a served request.
    #[inline(always)]
    fn remove(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        debug_assert!(request.remaining == 0);
        if request.scattered {
            self.lists[slot as usize] = Box::default();
        }
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a division of 128 bits, on both sides of the products that 64 bits hold.
    #[test]
    fn crossing_takes_what_a_wide_division_says() {
        let mut x: u64 = 9;
        let mut narrow = 0;
        for _ in 0..50_000 {
            let mut sample = || {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                x.rotate_left(32) >> (x >> 58)
            };
            let (bytes, rate) = (sample() >> 20, sample() >> 24);
            let plain = match rate {
                0 => 0,
                _ => (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate)),
            };
            narrow += u32::from(bytes.checked_mul(1_000_000_000).is_some());
            assert_eq!(crossing_ns(bytes, rate), plain as u64, "{bytes} bytes at {rate}");
        }
        assert!((5_000..45_000).contains(&narrow), "{narrow} of 50,000 in 64 bits");
        assert_eq!(
            [(0, 7), (4096, 4_000_000_000), (1, 3)].map(|(n, rate)| crossing_ns(n, rate)),
            [0, 1024, 333_333_334]
        );
    }
}
