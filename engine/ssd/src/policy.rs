//! The policy: asks the scheduler's seven decisions, or uses what is known of their answers in advance ([`Known`]).
//!
//! Returns what a unit does next as an [`Action`], which the device applies; changes nothing of the device itself. No other
//! module calls the scheduler.

use alloc::vec::Vec;

use flashlane_core::board::{Command, Service, Unit};
use flashlane_core::decide::{
    Commands, Declares, Departure, Estimate, Fetch, GcMode, GcPrecedence, GcQuota, Group, Keeps, MigrationLimits,
    Needs, PageWrite, Placement, Position, Promotion, Scheduler, Scope, SuspendPoints,
};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, PlaneId, QueueId, RequestId, Time, TxnId, UnitId};

use crate::config::{Config, Dispatch, SuspendAt};

/// What a unit does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Nothing at this instant.
    Stay,
    /// Begins the next transaction of the garbage collection that waits for it.
    Collect,
    /// Begins the only waiting user transaction.
    StartOne(TxnId),
    /// Begins a command of the user transactions in [`Policy::group`], the first of which leads.
    Start,
    /// Begins a command of the reads in [`Policy::group`] while another command is paused. The duration is taken from the slack
    /// of the paused command's transactions.
    StartInPause(Duration),
    /// Pauses its running program or erase. The duration is taken from the slack of that command's transactions.
    Pause(Duration),
    /// Lets its running program or erase go on, and decides again at this instant.
    AskAgainAt(Time),
    /// Resumes its paused command.
    Resume,
}

/// The admit decision's answer.
pub(crate) enum Admission {
    /// This command enters the device.
    Enter(Fetch),
    /// None enters now; ask again at this instant at the latest.
    AskAgain(Time),
}

/// Answers that a scheduler declares in advance, as far as they hold on the drive, so that it need not be asked every time.
///
/// It must hold to them: the choices it makes are then those it would have made. A command that enters without being asked about
/// leaves the admit decision's state as it was, so round robin's turn does not move. A test runs every scheduler with nothing
/// declared (`lab/sim/tests/all/declared.rs`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The order decision puts every transaction at the tail of its queue.
    pub(crate) tail_order: bool,
    /// Pages never leave their home plane.
    pub(crate) static_place: bool,
    /// Writes get their plane when a unit takes them.
    pub(crate) binds_at_dispatch: bool,
    /// The place decision reads channels or expected ends.
    pub(crate) places_by_times: bool,
    /// Waiting writes move to units that have nothing to do.
    pub(crate) migrates_writes: bool,
    /// Running programs or erases may be paused.
    pub(crate) pauses: bool,
    /// The preempt decision pauses programs only, and at the end of an iteration only.
    pub(crate) preempt_chooses_boundaries: bool,
    /// Running programs or erases may be paused at the end of an iteration only.
    pauses_at_boundaries: bool,
    /// There are instants at which a running program or erase may not be paused yet.
    pauses_wait: bool,
    /// A program or an erase of garbage collection may be paused.
    pauses_gc: bool,
    /// A command enters the device at once if no other command waits and the device has space.
    pub(crate) single_command_enters: bool,
    /// So does a command of the only flow that has crossed the link.
    pub(crate) single_arrival_enters: bool,
    /// The admit decision is asked only once everything that arrives at an instant is there.
    pub(crate) ranks_all_waiting: bool,
    /// The only waiting transaction of an idle unit begins at once, if it may be dispatched.
    single_transaction_starts: bool,
    /// A read that has crossed the link and finds its unit idle begins at once if nothing else happens at that instant; what the host submits
    /// then comes later.
    pub(crate) lone_read_starts: bool,
    /// Garbage collection goes before user transactions.
    gc_first: bool,
    /// Waiting garbage collection begins whenever its unit is idle, without any further check.
    gc_goes_at_once: bool,
    /// Victims are emptied at once, without flash operations.
    pub(crate) collects_for_free: bool,
    /// Figures of the board that the device keeps for the answers.
    pub(crate) keeps: Keeps,
    /// A decision may read the expected end of a running command.
    pub(crate) reads_expected_ends: bool,
    /// Waiting writes may move or be dropped.
    pub(crate) changes_waiting_writes: bool,
    /// A dropped write is done at once.
    pub(crate) dropped_end_at_once: bool,
    /// A write takes the place of the one dropped for it.
    pub(crate) inherits_place: bool,
    /// How waiting writes move.
    pub(crate) migration: MigrationLimits,
    /// The order or the pick decision is notified when user transactions end.
    pub(crate) ends: bool,
    /// They are, or blocks in SLC mode are folded some time after the last one has ended.
    pub(crate) notes_ends: bool,
    /// The pick decision is.
    pick_ends: bool,
    /// What the order decision needs besides being asked for positions.
    pub(crate) needs: Needs,
}

impl Known {
    /// What a scheduler declares, as far as it holds on the drive of `config`.
    fn of(declares: &Declares, config: &Config) -> Known {
        let Declares { admit, place, cancel, order, pick, preempt, collect } = declares;
        let (front, needs) = (&config.front, order.needs);
        let instant = Duration::ZERO;
        // Commands cross the host link in no time.
        let instant_link = front.link_bytes_per_s == 0
            && front.link_latency == instant
            && needs.decision == instant
            && !front.controller.takes_time();
        let single_enters =
            admit.skips_when_single && !admit.ranks_all_waiting && front.queue_capacity == [u32::MAX; 2];
        let eager = config.bus.dispatch == Dispatch::Eager;
        let migrates_writes = place.migration.at_once > 0;
        let preempt_chooses_boundaries = preempt.suspend_points == SuspendPoints::Boundary;
        let pauses_at_boundaries = preempt_chooses_boundaries || config.nand.suspend_at == SuspendAt::Segment;
        Known {
            tail_order: order.is_tail,
            static_place: place.is_static,
            binds_at_dispatch: place.binds_at_dispatch,
            places_by_times: !place.is_static && place.reads_times,
            migrates_writes,
            pauses: preempt.suspend_points != SuspendPoints::Never,
            preempt_chooses_boundaries,
            pauses_at_boundaries,
            pauses_wait: pauses_at_boundaries || config.nand.suspend_min > instant,
            pauses_gc: matches!(collect.mode, GcMode::Transactions { pausable: true }),
            single_command_enters: instant_link && single_enters,
            // Commands of several flows that arrive at one instant are compared. Of one flow the first goes first, and none of that
            // instant is served before all are there, unless memory takes no time.
            single_arrival_enters: single_enters && config.flows.len() == 1 && config.memory > instant,
            ranks_all_waiting: admit.ranks_all_waiting,
            single_transaction_starts: pick.skips_when_single,
            lone_read_starts: pick.skips_when_single
                && order.is_tail
                && !(place.binds_at_dispatch || migrates_writes || needs.reranks)
                && needs.departures_from > 0
                && front.link_latency > instant,
            gc_first: collect.goes_first,
            gc_goes_at_once: collect.goes_first && !collect.write_triggered && eager,
            collects_for_free: collect.mode == GcMode::Free,
            keeps: declares.keeps(),
            ends: needs.ends || pick.ends,
            notes_ends: needs.ends || pick.ends || config.slc.as_ref().is_some_and(|slc| slc.idle.is_some()),
            pick_ends: pick.ends,
            reads_expected_ends: !order.is_tail || needs.estimates,
            changes_waiting_writes: migrates_writes || !cancel.keeps_all,
            dropped_end_at_once: cancel.ends_at_once,
            inherits_place: cancel.inherits_place && order.is_tail && !needs.promotions && !needs.reranks,
            migration: place.migration,
            needs,
        }
    }
}

/// The scheduler with what it has declared about itself.
pub(crate) struct Policy {
    /// Members of the command that [`Action::Start`] or [`Action::StartInPause`] begins.
    pub(crate) group: Group,
    /// What is known of the answers in advance.
    pub(crate) known: Known,
    /// Whether the order decision is notified when transactions leave their queues ([`Needs::departures_from`]).
    pub(crate) notifies_departures: bool,
    scheduler: Scheduler,
}

impl Policy {
    /// `scheduler` on the drive of `config`.
    pub(crate) fn new(scheduler: Scheduler, config: &Config) -> Policy {
        let declares = scheduler.declares();
        Policy {
            group: Group::new(),
            known: Known::of(&declares, config),
            notifies_departures: declares.order.needs.departures_from == 0,
            scheduler,
        }
    }

    /// Lets the scheduler allocate the memory it will need. Called once, before the first request.
    pub(crate) fn prepare(&mut self, board: &Board) {
        self.scheduler.prepare(board);
    }

    // Admit.

    /// The command that enters the device next; if none, when to ask again.
    pub(crate) fn admit(&mut self, board: &Board, commands: &dyn Commands) -> Admission {
        match self.scheduler.admit.next(board, commands) {
            Some(fetch) => Admission::Enter(fetch),
            None => {
                let again = self.scheduler.admit.ask_again();
                debug_assert!(again > board.now, "asked again at once, the answer would be the same");
                Admission::AskAgain(again)
            }
        }
    }

    // Place and cancel.

    /// The plane a page is to be written to. If writes get their plane at dispatch, this is its home plane until then.
    #[inline(always)]
    pub(crate) fn place(&mut self, board: &Board, page: PageWrite) -> PlaneId {
        if self.known.static_place || self.known.binds_at_dispatch {
            page.home
        } else {
            self.scheduler.place.plane(board, page)
        }
    }

    /// The next of the writes that have no plane yet to get one, for schedulers that bind at dispatch; `None` if none gets one now.
    pub(crate) fn place_at_dispatch(&mut self, board: &Board, oldest: TxnId) -> Option<Placement> {
        self.scheduler.place.place_at_dispatch(board, oldest)
    }

    /// The waiting write that moves to a unit with nothing to do; `None` if none moves.
    pub(crate) fn steal_write(&mut self, board: &Board, unit: UnitId) -> Option<Placement> {
        self.scheduler.place.steal_write(board, unit)
    }

    /// Whether the waiting write `old` is dropped for a younger one of its page.
    pub(crate) fn drops(&mut self, board: &Board, old: TxnId) -> bool {
        self.scheduler.cancel.drops(board, old)
    }

    // Order.

    /// The position at which a user transaction joins a queue.
    #[inline(always)]
    pub(crate) fn position(&mut self, board: &Board, id: TxnId, queue: QueueId) -> Position {
        if self.known.tail_order {
            return Position::TAIL;
        }
        self.notifies_departures |= board.queues[queue.index()].len >= self.known.needs.departures_from;
        self.scheduler.order.position(board, id, queue)
    }

    /// Notifies the order decision that a user transaction leaves its queue; returns what is to be taken from its slack.
    #[inline(always)]
    pub(crate) fn departs(&mut self, board: &Board, id: TxnId, departure: Departure) -> Duration {
        self.scheduler.order.departs(board, id, departure)
    }

    /// Notifies the order and the pick decision that a user transaction has ended ([`Known::ends`]).
    pub(crate) fn ended(&mut self, board: &Board, id: TxnId) {
        if self.known.needs.ends {
            self.scheduler.order.ended(board, id);
        }
        if self.known.pick_ends {
            self.scheduler.pick.ended(board, id);
        }
    }

    /// Adds to `promotions` which of a request's transactions move forward in their queues.
    pub(crate) fn promote(&mut self, board: &Board, created: &[TxnId], promotions: &mut Vec<Promotion>) {
        self.scheduler.order.promote(board, created, promotions);
    }

    /// Adds to `promotions` which transactions that wait for `unit` move forward in their queues now.
    pub(crate) fn rerank(&mut self, board: &Board, unit: UnitId, promotions: &mut Vec<Promotion>) {
        self.scheduler.order.rerank(board, unit, promotions);
    }

    /// The estimated response time of a waiting transaction.
    pub(crate) fn response(&mut self, board: &Board, id: TxnId, request: RequestId) -> Duration {
        self.scheduler.order.response(board, id, request)
    }

    /// The estimated response time of a waiting transaction, in parts.
    pub(crate) fn estimate(&mut self, board: &Board, id: TxnId, request: RequestId) -> Estimate {
        self.scheduler.order.estimate(board, id, request)
    }

    // Pick, preempt and collect.

    /// What `unit` does next.
    #[inline(always)]
    pub(crate) fn next(&mut self, board: &Board, unit: UnitId) -> Action {
        let state = &board.units[unit.index()];
        match state.service {
            Service::Idle if state.gc.any() && self.known.gc_goes_at_once => Action::Collect,
            Service::Idle => self.next_of_idle(board, unit, state),
            Service::Paused => self.next_in_pause(board, unit),
            Service::Busy if self.known.pauses => self.next_of_busy(board, unit),
            Service::Busy => Action::Stay,
        }
    }

    /// What an idle unit does next: garbage collection or user transactions.
    #[inline(always)]
    fn next_of_idle(&mut self, board: &Board, unit: UnitId, state: &Unit) -> Action {
        let (waiting, gc_waits) = (state.user_waiting(), state.gc.any());
        if waiting == 0 && !gc_waits {
            // The write that a collection goes before may have been trimmed: it is ended here, since nothing else is asked for.
            return if state.foreground_gc.is_open() { Action::Collect } else { Action::Stay };
        }
        if state.foreground_gc.is_open() {
            return self.next_of_foreground_gc(board, unit, state);
        }
        if self.known.single_transaction_starts && !gc_waits && waiting == 1 {
            let op = if state.waiting(FlashOp::Read) == 1 { FlashOp::Read } else { FlashOp::Program };
            let id = board.first(unit, op);
            if board.eligible(id) && board.has_page(id) {
                return Action::StartOne(id);
            }
        }
        if gc_waits && (self.known.gc_first || self.scheduler.collect.precedence(board, unit) == GcPrecedence::Gc) {
            return Action::Collect;
        }
        self.pick(board, unit, Scope::Any);
        match (self.group.lead().is_some(), gc_waits) {
            (true, _) => Action::Start,
            (false, true) => Action::Collect,
            (false, false) => Action::Stay,
        }
    }

    /// What an idle unit does next while garbage collection goes before a write: that, or reads if it yields to them.
    #[cold]
    fn next_of_foreground_gc(&mut self, board: &Board, unit: UnitId, state: &Unit) -> Action {
        if state.foreground_gc.is_preemptible() && state.waiting(FlashOp::Read) > 0 {
            self.pick(board, unit, Scope::Reads);
            if self.group.lead().is_some() {
                return Action::Start;
            }
        }
        Action::Collect
    }

    /// Fills [`Policy::group`] with the transactions that `unit` begins next within `scope`; leaves it empty if none.
    pub(crate) fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope) {
        self.group.clear();
        self.scheduler.pick.pick(board, unit, scope, &mut self.group);
    }

    /// The waiting read that the preempt decision is asked about; [`TxnId::NONE`] if none waits.
    #[inline(always)]
    fn next_read(&mut self, board: &Board, unit: UnitId) -> TxnId {
        match board.waiting(unit, FlashOp::Read) {
            0 => TxnId::NONE,
            _ => self.scheduler.pick.next_read(board, unit),
        }
    }

    /// What a unit with a paused command does next: waiting reads, or the paused command.
    #[inline(never)]
    fn next_in_pause(&mut self, board: &Board, unit: UnitId) -> Action {
        let read = self.next_read(board, unit);
        if read.is_none() {
            return Action::Resume;
        }
        let Some(charge) = self.scheduler.preempt.serve(board, unit, read) else { return Action::Resume };
        if self.known.single_transaction_starts && board.waiting(unit, FlashOp::Read) == 1 {
            self.group.clear();
            self.group.push(board, read);
        } else {
            self.pick(board, unit, Scope::Reads);
        }
        if self.group.lead().is_some() { Action::StartInPause(charge) } else { Action::Resume }
    }

    /// What a busy unit does next: pauses its program or erase for a waiting read, or goes on.
    #[inline(never)]
    fn next_of_busy(&mut self, board: &Board, unit: UnitId) -> Action {
        let state = &board.units[unit.index()];
        let command = &state.command;
        if !command.in_array || state.paused.lead.is_some() || command.ends <= board.now {
            return Action::Stay;
        }
        if command.pauses >= board.facts.suspend_limit {
            return Action::Stay;
        }
        if command.owner.collects()
            && (!self.known.pauses_gc || state.foreground_gc.is_open() && !state.foreground_gc.is_preemptible())
        {
            return Action::Stay;
        }
        if self.known.preempt_chooses_boundaries && command.op != FlashOp::Program {
            return Action::Stay;
        }
        let read = self.next_read(board, unit);
        if read.is_none() {
            return Action::Stay;
        }
        if (!self.known.pauses_wait || self.pause_point(board, command, board.now) == board.now)
            && let Some(charge) = self.scheduler.preempt.pause(board, unit, read)
        {
            return Action::Pause(charge);
        }
        self.asks_again_at(board, unit, read).map_or(Action::Stay, Action::AskAgainAt)
    }

    /// When to ask again whether the unit's program or erase is paused for `read`; `None` for not until something else happens.
    #[inline(always)]
    pub(crate) fn asks_again_at(&self, board: &Board, unit: UnitId, read: TxnId) -> Option<Time> {
        let command = &board.units[unit.index()].command;
        let may_be = self.known.pauses_wait && command.in_array && command.pauses < board.facts.suspend_limit;
        if !may_be {
            return None;
        }
        // An answer that may pause at any instant has been asked already, unless no pause was possible yet.
        let from = Time::from_ns(board.now.ns() + u64::from(self.known.pauses_at_boundaries));
        let at = self.pause_point(board, command, from);
        (at > board.now && !self.scheduler.preempt.will_keep_refusing(board, unit, read)).then_some(at)
    }

    /// The first instant from `from` on at which the running program or erase can be paused (model 0.4).
    fn pause_point(&self, board: &Board, command: &Command, from: Time) -> Time {
        let rest = if command.pauses > 0 { board.facts.suspend_min } else { Duration::ZERO };
        let from = from.max(command.array_from + rest);
        if !self.known.pauses_at_boundaries {
            return from;
        }
        let iteration = board.facts.iteration[command.op.index()].ns();
        let iterations = (from - command.array_from).ns().div_ceil(iteration).max(1);
        Time::from_ns(command.array_from.ns() + iterations * iteration)
    }

    /// How much of the waiting garbage collection goes before the picked `write`.
    pub(crate) fn quota(&mut self, board: &Board, write: TxnId) -> GcQuota {
        self.scheduler.collect.quota(board, write)
    }
}
