//! Channels: one transfer at a time on the bus, first come first served among ready transfers, data-out before data-in when
//! both become ready at the same instant, then by command age (model 0.4).
//!
//! Owns the requests for each bus, the timers of its units, and the channel's next instant.

use flashlane_core::board::{Command, Service};
use flashlane_core::event::Event;
use flashlane_core::min_tree::{MAX_INSTANTS, NEVER};
use flashlane_core::transaction::{FlashOp, Transaction};
use flashlane_core::{ChannelId, Duration, Time, TxnId, UnitId};

use super::{ChannelStep, Phase, UnitStep};
use crate::shared::Agenda;

impl ChannelStep<'_> {
    /// Processes everything that happens on the bus at this instant, and the expired timers of units if `units`. Returns the
    /// channel's next instant.
    #[inline(always)]
    pub(super) fn process(&mut self, units: bool) -> u64 {
        let now = self.now.ns();
        if self.channel.planned == now {
            if self.first_is_elided() {
                let way = self.channel.bus_requests.first();
                self.unit_step(way).planned_transfer_ended();
            } else {
                self.grant();
            }
        }
        self.end_transfers();
        if units {
            self.timers_expired();
        }
        self.assign_bus();
        if self.channel.deferred != 0 {
            self.channel.release_deferred(now, self.agenda);
        }
        self.channel.next()
    }

    /// Processes the units whose timers have expired.
    #[inline(always)]
    pub(super) fn timers_expired(&mut self) {
        let now = self.now.ns();
        let mut due =
            self.channel.timers.all().take_while(|&(_, at)| at <= now).fold(0, |due, (way, _)| due | 1u64 << way);
        while due != 0 {
            let way = due.trailing_zeros() as usize;
            due &= due - 1;
            self.unit_step(way).timer_expired();
        }
    }

    /// Processes the beginning of transfers that have begun without an event.
    pub(super) fn start_elided_transfers(&mut self) {
        let now = self.now.ns();
        while !self.channel.taken() && self.channel.bus_requests.first_instant().max(self.channel.released) <= now {
            self.grant();
            self.end_transfers();
        }
        self.assign_bus();
    }

    /// Ends the current transfer if it is over at this instant, and those after it that take no time.
    #[inline(always)]
    pub(super) fn end_transfers(&mut self) {
        while self.channel.end == self.now.ns() {
            self.transfer_ended();
        }
    }

    /// Plans the next transfer of a free bus, that of the first request. The channel's next event is the end of that transfer, or
    /// its beginning if that can be observed or is the transfer of a command. Transfers that begin or end at this instant are
    /// processed.
    #[inline(always)]
    pub(super) fn assign_bus(&mut self) {
        let now = self.now.ns();
        while !self.channel.taken() {
            self.channel.planned = NEVER;
            let since = self.channel.bus_requests.first_instant();
            if since == NEVER {
                return;
            }
            let way = self.channel.bus_requests.first();
            debug_assert!(self.goes_first(way));
            let elided = self.first_is_elided();
            let length = if elided { self.units[self.first + way].bus_time } else { 0 };
            self.channel.planned = self.channel.instant_of(since, length);
            if self.channel.planned > now {
                return;
            }
            if elided {
                self.unit_step(way).planned_transfer_ended();
            } else {
                self.grant();
            }
            self.end_transfers();
        }
    }

    /// Whether the beginning of the next transfer cannot be observed. This holds for pages of reads only; the beginning of a
    /// command's transfer is always processed.
    #[inline(always)]
    fn first_is_elided(&self) -> bool {
        !self.channel.bus_requests.first_is_late() & !self.common.elision_disabled
    }

    /// For assertions: whether the unit `way` goes before all others that have requested the bus since the same instant: data-out
    /// before data-in, then by command age.
    fn goes_first(&self, way: usize) -> bool {
        let among =
            self.channel.bus_requests.all().filter(|&(_, since)| since == self.channel.bus_requests.first_instant());
        let key = |&(way, _): &(usize, u64)| {
            let unit = &self.units[self.first + way];
            (unit.phase == Phase::Command, unit.serial)
        };
        among.min_by_key(key).is_some_and(|(first, _)| first == way)
    }

    /// Begins the transfer of the first request, at the later of the request and the instant when the bus became free. The
    /// callers end a transfer that takes no time.
    #[inline(always)]
    fn grant(&mut self) {
        let since = self.channel.bus_requests.first_instant();
        let way = self.channel.bus_requests.first();
        debug_assert!(self.goes_first(way));
        self.channel.bus_requests.pop_first();
        let mut step = self.unit_step(way);
        let start = since.max(step.channel.released);
        let Command { op, members, .. } = step.board_view.command;
        if step.unit.phase == Phase::Command {
            step.send(op, members, since, start);
        } else {
            step.unit.phase = Phase::DataOut;
            step.occupy_for(members, since, start);
        }
    }

    /// Ends the current transfer.
    #[inline(always)]
    fn transfer_ended(&mut self) {
        self.channel.end = NEVER;
        let mut step = self.unit_step(usize::from(self.channel.holder));
        if step.unit.phase == Phase::Command {
            step.channel.released = step.now.ns();
            let Command { op, members, .. } = step.board_view.command;
            step.start_array(op, members, step.now);
        } else {
            step.page_out();
        }
    }
}

impl UnitStep<'_> {
    /// Ends this unit's planned transfer, whose beginning was not processed. It is that of a page: a command's always is
    /// processed.
    #[inline(always)]
    pub(super) fn planned_transfer_ended(&mut self) {
        let (since, length) = (self.channel.bus_requests.first_instant(), self.unit.bus_time);
        self.channel.planned = NEVER;
        self.channel.bus_requests.pop_first();
        self.count(self.board_view.command.members, since, since.max(self.channel.released), length);
        self.page_out();
    }

    /// How long the unit will hold the bus, if the beginning of its transfer is not processed; 0 if it is.
    #[inline(always)]
    fn elided_length(&self) -> u64 {
        if self.common.elision_disabled { 0 } else { self.unit.bus_time }
    }

    /// A page of the unit's read has been transferred: its transaction ends, and the next page of the command follows.
    #[inline(always)]
    fn page_out(&mut self) {
        self.channel.released = self.now.ns();
        let done = self.unit.current;
        if self.unit.row > 0 {
            return self.row_out(done);
        }
        let Transaction { next, retries, .. } = self.txns[done.index()];
        if self.common.retry_step.is_some() {
            // Counted here and not as the array begins, an instant that differs where the beginnings of transfers are no events.
            self.common.retries[0] += u64::from(retries > 0);
            self.common.retries[1] += u64::from(retries);
        }
        self.ended.push(self.txns, done);
        if next.is_some() {
            // A command keeps the bus until all its pages are transferred.
            self.unit.current = next;
            self.unit.phase = Phase::DataOut;
            self.channel.holder = self.way as u8;
            let length = self.common.setup + self.txns[next.index()].transfer;
            self.occupy(self.now, length);
        } else {
            self.free();
        }
    }

    /// Pages of a row have been transferred that one transaction reads: the next one, or all at once.
    #[inline(never)]
    fn row_out(&mut self, read: TxnId) {
        if self.unit.row_out == 0 {
            self.ended.push(self.txns, read);
        }
        self.unit.row_out += self.unit.row_step;
        self.unit.row -= self.unit.row_step;
        if self.unit.row == 0 {
            return self.free();
        }
        self.unit.phase = Phase::DataOut;
        self.channel.holder = self.way as u8;
        self.occupy(self.now, self.common.setup + self.txns[read.index()].transfer);
    }

    /// Begins the command's transfer at `start`, requested since `since`; for a program it includes `members` pages. With
    /// `Common::runs_on` the array phase is started here too, so that the end of the transfer is no event.
    #[inline(always)]
    fn send(&mut self, op: FlashOp, members: u8, since: u64, start: u64) {
        let pages = if op == FlashOp::Program { members } else { 0 };
        if self.common.runs_on[op.index()] {
            let length = self.unit.bus_time;
            self.count(pages, since, start, length);
            self.channel.released = start + length;
            self.start_array(op, members, Time::from_ns(start + length));
        } else {
            self.occupy_for(pages, since, start);
        }
    }

    /// The unit requests the bus for its command on `members` pages at this instant. Returns false if the caller must assign the
    /// bus then.
    #[inline(always)]
    pub(super) fn request_bus_now(&mut self, op: FlashOp, members: u8) -> bool {
        let now = self.now.ns();
        if self.channel.in_use(now) {
            let is_first = self.channel.bus_requests.insert_by_arrival(self.way, now, true);
            return self.channel.taken() | !is_first;
        }
        self.send(op, members, now, now);
        (self.channel.end != now) & (self.channel.bus_requests.first_instant() >= self.channel.released)
    }

    /// The read's page will request the bus at `at`, when the array phase ends.
    #[inline(always)]
    pub(super) fn request_bus_from(&mut self, at: Time) {
        let length = self.elided_length();
        self.channel.request_later(self.way, at, length);
    }

    /// Begins the unit's transfer of `pages` pages at `start`, requested since `since`.
    #[inline(always)]
    fn occupy_for(&mut self, pages: u8, since: u64, start: u64) {
        let length = self.unit.bus_time;
        self.count(pages, since, start, 0);
        self.channel.holder = self.way as u8;
        self.channel.planned = NEVER;
        self.occupy(Time::from_ns(start), Duration::from_ns(length));
    }

    /// Counts a transfer of `pages` pages that begins at `start` and was requested since `since`, and `length` of bus time.
    #[inline(always)]
    fn count(&mut self, pages: u8, since: u64, start: u64, length: u64) {
        let pages = u64::from(pages);
        self.counters.transfers += pages;
        self.counters.stalled += if since < start { pages } else { 0 };
        self.counters.busy += Duration::from_ns(length);
    }

    /// Occupies the bus, which the unit holds, from `start` on for `length`.
    #[inline(always)]
    fn occupy(&mut self, start: Time, length: Duration) {
        let until = start + length;
        self.channel.end = until.ns();
        self.counters.busy += length;
        if self.log.on && length > Duration::ZERO {
            let (unit, command, channel) = (self.id, self.unit.serial, ChannelId(self.unit.channel));
            self.log.push(start, || Event::BusTaken { channel, unit, command, until });
        }
    }

    /// The unit's command has ended: the unit must decide, unless nothing waits for it and no read may move to it.
    #[inline(always)]
    pub(super) fn free(&mut self) {
        self.unit.phase = Phase::Idle;
        let state = &mut *self.board_view;
        if self.unit.has_paused {
            state.service = Service::Paused;
            self.agenda.mark(self.id);
        } else {
            state.service = Service::Idle;
            self.counters.idle |= 1 << self.way;
            state.counters.busy += self.now - self.unit.busy_from;
            let waits = (state.user_waiting() != 0) | state.gc.any();
            self.agenda.mark_if(self.id, waits | self.common.reads_move);
        }
    }
}

// A channel: the requests for its bus, the timers of its units, and its next instant.

/// A channel: its bus, and the timers of its units.
///
/// The transfer of a read's page begins without an event of its own: the next holder is known when the bus becomes free, and only
/// the end of the transfer can be observed, so the channel's next event is that end. The transfer is called recorded once its
/// beginning has been processed: at its end, or when a decision reads the channel ([`super::Flash::publish_channel`]).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Channel {
    /// When the transfer under way ends, ns; [`NEVER`] when none has been recorded.
    pub(super) end: u64,
    /// When the bus last became free, ns; or when it will become free, for a transfer without an event at its end.
    pub(super) released: u64,
    /// While no recorded transfer is under way: the end of the next transfer, or its beginning if that is an event. [`NEVER`]
    /// without requests, and while a recorded transfer is under way.
    pub(super) planned: u64,
    /// Units that may not decide before the bus is free, one bit for each.
    pub(super) deferred: u64,
    /// For them, when the bus becomes free after a transfer without an event at its end, ns; else [`NEVER`].
    pub(super) wake: u64,
    /// The unit of the recorded transfer, by its number on the channel.
    pub(super) holder: u8,
    /// The channel's first unit.
    pub(super) first: u16,
    /// Requests for the bus, each with the instant (past or future) from which on the unit requests it, in the order in which
    /// they are served. At one instant, requests for pages of reads go before those for commands, which are marked late. (Among
    /// equals the order is that of insertion, which is by command age: commands begin in the order of their age.)
    pub(super) bus_requests: Instants,
    /// Timers of units, those of the same instant in the order of the units.
    pub(super) timers: Instants,
}

impl Channel {
    /// A channel of idle units from `first` on.
    pub(super) fn idle(first: u32) -> Channel {
        Channel {
            end: NEVER,
            released: 0,
            planned: NEVER,
            deferred: 0,
            wake: NEVER,
            holder: 0,
            first: first as u16,
            timers: Instants::empty(),
            bus_requests: Instants::empty(),
        }
    }

    /// Whether a recorded transfer is under way.
    #[inline(always)]
    pub(super) fn taken(&self) -> bool {
        self.end != NEVER
    }

    /// Whether a transfer is under way that has not been recorded.
    #[inline(always)]
    pub(super) fn has_elided_transfer(&self, now: u64) -> bool {
        !self.taken() && self.bus_requests.first_instant() <= now
    }

    /// Whether a transfer is under way, recorded or not.
    #[inline(always)]
    pub(super) fn in_use(&self, now: u64) -> bool {
        self.taken() || self.has_elided_transfer(now) || now < self.released
    }

    /// The transfer of pages of a read that is under way at `now` and has not been recorded: the unit's number on the channel, and when the transfer ends.
    pub(super) fn unrecorded(&self, now: u64) -> Option<(usize, u64)> {
        let is_any = self.has_elided_transfer(now) && !self.bus_requests.first_is_late();
        is_any.then(|| (self.bus_requests.first(), self.planned))
    }

    /// Of bus time that counts transfers as they are processed, the part up to `now`; `elides` if beginnings of pages of reads are not
    /// processed. Those are counted at their end, all other transfers at their beginning.
    pub(super) fn busy_until(&self, counted: Duration, now: u64, elides: bool) -> Duration {
        let ahead = if self.taken() { self.end } else { self.released }.saturating_sub(now);
        let is_elided = elides && self.has_elided_transfer(now) && !self.bus_requests.first_is_late();
        let start = self.bus_requests.first_instant().max(self.released);
        let elapsed = if is_elided { now.saturating_sub(start) } else { 0 };
        Duration::from_ns(counted.ns() + elapsed - ahead)
    }

    /// Adds the request of a read's page for the bus from `at` on, for `length` (0 if the beginning of transfers is an event). On
    /// a tie the page added first goes first: its command is older.
    #[inline(always)]
    pub(super) fn request_later(&mut self, way: usize, at: Time, length: u64) {
        let at = at.ns();
        let is_first = self.bus_requests.insert_by_arrival(way, at, false);
        if !self.taken() & is_first {
            self.planned = self.instant_of(at, length);
        }
    }

    /// When a transfer of `length` ends that was requested since `since` and is the next one, while no recorded transfer is under
    /// way.
    #[inline(always)]
    pub(super) fn instant_of(&self, since: u64, length: u64) -> u64 {
        since.max(self.released) + length
    }

    /// Lets the unit `way` wait for the bus, which is in use, before it decides.
    #[inline]
    pub(super) fn defer(&mut self, way: u8, now: u64) {
        self.deferred |= 1 << way;
        self.wake = if self.released > now { self.released } else { NEVER };
    }

    /// Marks the units that had to wait for the bus before they decide, if that is free.
    fn release_deferred(&mut self, now: u64, agenda: &mut Agenda) {
        self.wake = if self.released > now { self.released } else { NEVER };
        if self.in_use(now) {
            return;
        }
        let mut deferred = core::mem::take(&mut self.deferred);
        while deferred != 0 {
            let way = deferred.trailing_zeros() as u16;
            deferred &= deferred - 1;
            agenda.mark(UnitId(self.first + way));
        }
    }

    /// The channel's next instant. Units that wait for a taken bus have none.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        self.bus_next().min(self.timers.first_instant())
    }

    /// The next instant of the bus.
    #[inline(always)]
    pub(super) fn bus_next(&self) -> u64 {
        // At least one of the first two is NEVER.
        self.end.min(self.planned).min(self.wake)
    }
}

// Units of a channel, each with an instant, in ascending order of the instants.
//
// A sorted array is enough: a channel has few units, new instants are mostly the latest, and only the first is read.

/// Bits of a unit's number on its channel.
const WAY_BITS: u32 = 6;

/// Units of a channel, each with an instant, sorted.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Instants {
    length: usize,
    /// From index 1 on, ascending: instant in ns, whether it is late, and the unit, packed as `ns << 7 | late << 6 | way`. Index
    /// 0 is 0, and all ones follow the last entry.
    keys: [u64; 2 * MAX_INSTANTS + 1],
}

impl Instants {
    /// Entries that are moved without a loop when the first is removed: as many as a channel usually has units.
    const UNROLL: usize = 4;

    /// An empty list.
    pub(super) fn empty() -> Instants {
        let mut keys = [u64::MAX; 2 * MAX_INSTANTS + 1];
        keys[0] = 0;
        Instants { length: 0, keys }
    }

    /// The first instant; [`flashlane_core::min_tree::NEVER`] if there is none.
    #[inline(always)]
    pub(super) fn first_instant(&self) -> u64 {
        // The arithmetic shift turns all ones into NEVER.
        (self.keys[1] as i64 >> (WAY_BITS + 1)) as u64
    }

    /// The first unit, by its number on the channel.
    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        self.keys[1] as usize % MAX_INSTANTS
    }

    /// Whether the first is late.
    #[inline(always)]
    pub(super) fn first_is_late(&self) -> bool {
        self.keys[1] >> WAY_BITS & 1 == 1
    }

    /// Adds a unit that is not listed. Units of the same instant are in the order of their numbers.
    #[inline(always)]
    pub(super) fn insert_by_number(&mut self, way: usize, at: u64) {
        self.insert(way, at << (WAY_BITS + 1) | way as u64, 0);
    }

    /// Adds a unit that is not listed, behind all others of the same instant; one that is not `late` goes before those that are.
    /// Returns whether it is the first now.
    #[inline(always)]
    pub(super) fn insert_by_arrival(&mut self, way: usize, at: u64, late: bool) -> bool {
        self.insert(way, (at << 1 | u64::from(late)) << WAY_BITS | way as u64, MAX_INSTANTS as u64 - 1)
    }

    /// Inserts the key behind all keys that are at most `key | ignored`. Returns whether it is the first.
    #[inline(always)]
    fn insert(&mut self, way: usize, key: u64, ignored: u64) -> bool {
        debug_assert!(self.length < MAX_INSTANTS && self.all().all(|(other, _)| other != way));
        let mut last = self.length % (2 * MAX_INSTANTS);
        self.length += 1;
        while self.keys[last] > key | ignored {
            self.keys[last + 1] = self.keys[last];
            last = (last - 1) % (2 * MAX_INSTANTS);
        }
        self.keys[last + 1] = key;
        last == 0
    }

    /// Removes the first.
    #[inline(always)]
    pub(super) fn pop_first(&mut self) {
        debug_assert!(self.length > 0);
        for place in 1..=Self::UNROLL {
            self.keys[place] = self.keys[place + 1];
        }
        if self.length > Self::UNROLL {
            self.keys.copy_within(Self::UNROLL + 2..self.length + 2, Self::UNROLL + 1);
        }
        self.length -= 1;
    }

    /// Removes the unit, if it is listed.
    pub(super) fn remove(&mut self, way: usize) {
        let place = self.all().position(|(other, _)| other == way);
        if let Some(place) = place {
            self.keys.copy_within(place + 2..self.length + 2, place + 1);
            self.length -= 1;
        }
    }

    /// All entries in order: the unit's number on the channel, and its instant.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.keys[1..=self.length].iter().map(|key| (*key as usize % MAX_INSTANTS, key >> (WAY_BITS + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use flashlane_core::min_tree::NEVER;
    use flashlane_testing::Random;

    /// Compares with a list sorted after each change, for many lengths.
    #[test]
    fn entries_are_in_the_order_of_a_sorted_list() {
        let mut random = Random(7);
        for (units, behind) in [1, 2, 4, 5, 6, 16, 64].into_iter().flat_map(|units| [(units, false), (units, true)]) {
            let mut list = Instants::empty();
            let mut plain: Vec<(u64, bool, usize, usize)> = Vec::new();
            for age in 0..5_000 {
                let x = random.bits();
                let (way, at, late) = ((x >> 40) as usize % units, (x >> 50) % 32, x >> 63 == 1);
                if let Some(place) = plain.iter().position(|entry| entry.3 == way) {
                    if late {
                        list.remove(way);
                        plain.remove(place);
                    } else {
                        list.pop_first();
                        plain.remove(0);
                    }
                } else if behind {
                    list.insert_by_arrival(way, at, late);
                    plain.push((at, late, age, way));
                } else {
                    list.insert_by_number(way, at);
                    plain.push((at, false, way, way));
                }
                plain.sort();
                list.remove(units);
                assert_eq!(list.first_instant(), plain.first().map_or(NEVER, |first| first.0));
                assert!(list.all().eq(plain.iter().map(|entry| (entry.3, entry.0))));
                assert!(plain.is_empty() || list.first() == plain[0].3);
            }
        }
    }
}
