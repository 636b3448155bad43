//! Pausing by worth: a program or erase is paused if the requests together end earlier by it (model 1.1.11).
//!
//! What a pause changes, with `n` reads waiting at the unit of `R` each and `left` of the command to run:
//!
//! - each read ends earlier by `left`, less the time of the pause itself: a gain of `n (left - suspend)`;
//! - each transaction of the command ends later by the reads and by the overheads `suspend + resume`: a cost of
//!   `n R + suspend + resume` for each of its requests; nobody waits for garbage collection's own, and for programs of the page buffer
//!   only while requests wait for its space;
//! - each write that waits behind ends later by the overheads alone, as the reads would go before it anyway; a write that has no chip
//!   yet waits for all chips, and ends later by its share of them;
//! - requests that will come end later by the overheads, which take the unit's time: as many of them as `worth_arrivals` percent of the reads
//!   that wait, which are the sign that more come. Where pausing takes little time this decides nothing; where it takes long, tails are
//!   those of a device that never pauses.
//!
//! It pauses if and only if the gain is more than `worth_percent` of the cost: at 100 where the account is even, and by default where
//! reads gain twice what others pay, for the account knows nothing of reads that will be served while the command stands paused. A command stands
//! paused for no longer than it takes, over all its pauses, and is then not paused again: so programs end, and so does the collection
//! that gives writes their blocks. A program of the page buffer may stand twice as long while the buffer has space, as
//! nobody waits for it: less than an eighth of the buffer waits for the flash, no request waits for its space, and no write of a request for a chip.

use alloc::boxed::Box;

use flashlane_core::board::Command;
use flashlane_core::decide::{Preempt, PreemptDeclares, SuspendPoints};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Owner, TxnId, UnitId};

use crate::entries::{AnswerEntry, Build};
use crate::params::{Param, Values};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "worth",
    summary: "a program or erase is paused if the waiting reads gain more by it than everyone pays",
    source: "ours; model 1.1.11",
    params: PARAMS,
    build: Build::Preempt(&|v| Box::new(Worth::of(v))),
};

/// Parameters of [`Worth`].
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "worth_percent",
        unit: "percent",
        default: 200,
        min: 100,
        max: 100_000,
        help: "a command is paused if what reads gain is more than this much of what everyone pays",
    },
    Param {
        name: "worth_arrivals",
        unit: "percent",
        default: 20,
        min: 0,
        max: 100_000,
        help: "requests to come that a pause's overheads delay, of the reads that wait",
    },
    Param {
        name: "worth_cap",
        unit: "percent",
        default: 100,
        min: 0,
        max: 1 << 30,
        help: "longest time a program or erase stands paused, of its service time",
    },
    Param {
        name: "worth_cap_buffer",
        unit: "percent",
        default: 200,
        min: 0,
        max: 1 << 30,
        help: "the same for the page buffer's programs while it has space and no write waits",
    },
];

/// Pausing by worth.
#[derive(Debug)]
pub struct Worth {
    percent: u64,
    arrivals: u64,
    cap: u64,
    cap_buffer: u64,
}

impl Worth {
    /// With a scheduler's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Worth {
        let names = ["worth_percent", "worth_arrivals", "worth_cap", "worth_cap_buffer"];
        let [percent, arrivals, cap, cap_buffer] = names.map(|name| values.get(name));
        Worth { percent, arrivals, cap, cap_buffer }
    }

    /// Whether the command of `unit` may be paused on if it has been paused for `paused`.
    fn may_stand(&self, board: &Board, unit: UnitId, command: &Command, paused: Duration) -> bool {
        let within = |cap: u64| paused.ns() * 100 <= cap * board.facts.typical(command.op).ns();
        within(self.cap) || (command.owner == Owner::Buffer && within(self.cap_buffer) && buffer_has_space(board, unit))
    }
}

/// Whether the programs of the page buffer keep nobody waiting: no request waits for its space, less than an eighth of it waits for the
/// flash, and no write of a request waits for the unit or for any.
fn buffer_has_space(board: &Board, unit: UnitId) -> bool {
    let unplaced = board.queues[board.unplaced().index()].len;
    board.waiting_for_buffer == 0 && unplaced < board.facts.buffer_pages / 8 && writes_behind(board, unit) == 0
}

/// Requests that wait behind the command of `unit`, in thousandths: writes that wait for the unit, and of those that wait for any unit or
/// for space in the page buffer its share. Programs of the buffer keep no request waiting while it has space.
fn writes_behind(board: &Board, unit: UnitId) -> u64 {
    let of_user = |id: TxnId| id.is_some() && board.txn(id).owner == Owner::User;
    let here = if of_user(board.first(unit, FlashOp::Program)) { board.waiting(unit, FlashOp::Program) } else { 0 };
    let unplaced = &board.queues[board.unplaced().index()];
    let anywhere = if of_user(unplaced.head) { unplaced.len } else { board.waiting_for_buffer };
    1000 * u64::from(here) + 1000 * u64::from(anywhere) / board.units.len() as u64
}

impl Preempt for Worth {
    fn declares(&self) -> PreemptDeclares {
        PreemptDeclares { suspend_points: SuspendPoints::Any, ..PreemptDeclares::ASK }
    }

    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        let state = &board.units[unit.index()];
        let command = &state.command;
        let overheads = (board.facts.suspend + board.facts.resume).ns();
        let left = command.ends.since(board.now).ns();
        if left <= overheads || !self.may_stand(board, unit, command, command.paused) {
            return None;
        }
        let reads = u64::from(state.waiting(FlashOp::Read));
        let keeps_waiting = match command.owner {
            Owner::User => true,
            Owner::Buffer => board.waiting_for_buffer > 0,
            Owner::Gc | Owner::Fold | Owner::Mapping => false,
        };
        let members = if keeps_waiting { u64::from(command.members) } else { 0 };
        let gain = reads * (left - board.facts.suspend.ns());
        let behind = writes_behind(board, unit) + 10 * self.arrivals * reads;
        let cost = members * (reads * board.service(read).ns() + overheads) + behind * overheads / 1000;
        (gain * 100 > cost * self.percent).then_some(Duration::ZERO)
    }

    fn serve(&mut self, board: &Board, unit: UnitId, _: TxnId) -> Option<Duration> {
        let paused = &board.units[unit.index()].paused;
        let stood = paused.paused + board.now.since(paused.paused_at);
        self.may_stand(board, unit, paused, stood).then_some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{board, program, read, serve};
    use flashlane_core::Time;

    fn worth() -> Worth {
        Worth::of(&Values { params: PARAMS, set: &[], known: None })
    }

    /// Without requests to come.
    fn worth_at(percent: u64) -> Worth {
        let set = &[("worth_percent", percent), ("worth_arrivals", 0)];
        Worth::of(&Values { params: PARAMS, set, known: None })
    }

    /// The instant of every question, us.
    const NOW: u64 = 5_000;

    /// `members` programs in service together, of which `left` us are to run, `reads` reads of 100 us waiting and `behind` writes;
    /// pausing takes `suspend` us and resuming `resume`.
    fn busy(members: u8, left: u64, reads: u32, behind: u32, [suspend, resume]: [u64; 2]) -> (Board, TxnId) {
        let mut board = board(1, 8);
        let us = Duration::from_us;
        (board.facts.suspend, board.facts.resume) = (us(suspend), us(resume));
        board.now = Time::from_ns(NOW * 1000);
        let programs: alloc::vec::Vec<TxnId> = (0..members).map(|slot| program(&mut board, slot, 1)).collect();
        serve(&mut board, &programs, Time::from_ns((NOW + left) * 1000));
        for i in 0..behind {
            program(&mut board, 0, 50 + i);
        }
        let first = read(&mut board, 1, 1, 2);
        for i in 1..reads {
            read(&mut board, 1, 1, 2 + i);
        }
        (board, first)
    }

    /// The sum of the ends of everything that waits, the plain way: in order, with the command paused for the reads or not.
    fn sum_of_ends(members: u64, left: u64, reads: u64, behind: u64, overheads: Option<[u64; 2]>) -> u64 {
        const READ: u64 = 100;
        const WRITE: u64 = 1325;
        let mut now = 0;
        let mut sum = 0;
        let serve_reads = |now: &mut u64, sum: &mut u64| {
            for _ in 0..reads {
                *now += READ;
                *sum += *now;
            }
        };
        if let Some([suspend, resume]) = overheads {
            now += suspend;
            serve_reads(&mut now, &mut sum);
            now += resume + left;
            sum += members * now;
        } else {
            now += left;
            sum += members * now;
            serve_reads(&mut now, &mut sum);
        }
        for _ in 0..behind {
            now += WRITE;
            sum += now;
        }
        sum
    }

    /// The law of `worth`: at 100 % it pauses if and only if the ends of all that wait at the unit, added up, are earlier by it; at
    /// more, only if they are.
    #[test]
    fn a_pause_never_costs_more_than_it_gains() {
        let mut paused = [0; 3];
        for members in [1, 2, 4] {
            for left in [1, 40, 99, 100, 101, 250, 600, 1300] {
                for reads in [1, 2, 5, 12] {
                    for behind in [0, 1, 3, 20] {
                        for overheads in [[0, 0], [20, 10], [300, 200]] {
                            let (board, first) = busy(members, left, reads, behind, overheads);
                            let pauses = worth_at(100).pause(&board, UnitId(0), first).is_some();
                            let picky = worth_at(200).pause(&board, UnitId(0), first).is_some();
                            let ends = |overheads| {
                                sum_of_ends(u64::from(members), left, u64::from(reads), u64::from(behind), overheads)
                            };
                            let gains = ends(Some(overheads)) < ends(None) && left > overheads.iter().sum();
                            let case = (members, left, reads, behind, overheads);
                            let rule = "a pause gains if all that wait at the chip end earlier by it, added up";
                            assert_eq!(pauses, gains, "{rule}; members, left, reads, behind, overheads: {case:?}");
                            assert!(gains || !picky, "{rule}, at 200 % only then; {case:?}");
                            paused[usize::from(pauses)] += 1;
                            paused[2] += usize::from(picky);
                        }
                    }
                }
            }
        }
        assert!(paused.iter().all(|&count| count > 100), "{paused:?}");
    }

    /// A program with 1,100 us to run, two reads of 100 us: where pausing takes 300 us they gain 1,600 us. The program pays 700 with 200 us to
    /// resume, requests to come `2 x 20 % x 500`: more than half of the gain together, but not the program alone.
    #[test]
    fn slow_pauses_are_charged_for_requests_to_come() {
        for (arrivals, overheads, pauses) in [(20, [300, 200], false), (20, [20, 10], true), (0, [300, 200], true)] {
            let (board, first) = busy(1, 1_100, 2, 0, overheads);
            let set = &[("worth_arrivals", arrivals)];
            let mut worth = Worth::of(&Values { params: PARAMS, set, known: None });
            let is = worth.pause(&board, UnitId(0), first).is_some();
            let rule = "a pause pays for the requests to come that its overheads delay";
            assert_eq!(is, pauses, "{rule}: {arrivals} % of the reads that wait, overheads {overheads:?} us");
        }
        // Garbage collection keeps nobody waiting: only requests to come pay, of which twice 20 % x 400 us
        // must be less than what a read gains.
        for (left, pauses) in [(460, false), (461, true)] {
            let (mut board, first) = busy(1, left, 3, 0, [300, 100]);
            board.units[0].command.owner = Owner::Gc;
            let is = worth().pause(&board, UnitId(0), first).is_some();
            assert_eq!(is, pauses, "only requests to come pay for the pause of a page move; {left} us of it are left");
        }
        for (left, pauses) in [(400, false), (401, true)] {
            let (mut board, first) = busy(1, left, 3, 0, [300, 100]);
            board.units[0].command.owner = Owner::Gc;
            let is = worth_at(100).pause(&board, UnitId(0), first).is_some();
            assert_eq!(is, pauses, "nothing is paused for longer than it runs: 400 us of overheads, {left} us left");
        }
    }

    /// Writes without a chip wait for all chips: 40 of them are ten for each of four.
    #[test]
    fn writes_that_have_no_chip_yet_pay_their_share() {
        let facts = flashlane_core::board::Facts {
            geometry: flashlane_core::Geometry { channels: 4, ..board(1, 1).facts.geometry },
            ..board(1, 1).facts
        };
        let mut four = Board::new(facts, 1);
        for waiting in [39, 41] {
            let queue = four.unplaced();
            while four.queues[queue.index()].len < waiting {
                let id = TxnId(four.txns.len() as u32);
                let stage = flashlane_core::transaction::Stage::Waiting;
                let op = FlashOp::Program;
                four.txns.push(flashlane_core::Transaction { op, queue, stage, ..flashlane_core::Transaction::EMPTY });
                four.link(id, queue, TxnId::NONE);
            }
            let behind = writes_behind(&four, UnitId(0));
            assert_eq!(
                behind,
                250 * u64::from(waiting),
                "of {waiting} writes without a chip a quarter waits for each of four"
            );
        }
    }

    /// A program stands paused for no longer than it takes, 1,325 us over all its pauses. So does a page move: else
    /// reads would keep a plane from getting blocks.
    #[test]
    fn a_program_stands_paused_for_its_own_time_at_most() {
        for (before, now, serves) in [(0, 1325, true), (0, 1326, false), (1000, 325, true), (1000, 326, false)] {
            let (mut board, first) = busy(1, 900, 3, 0, [0, 0]);
            let command = board.units[0].command;
            let us = Duration::from_us;
            let paused_at = Time::from_ns((NOW - now) * 1000);
            board.units[0].paused = Command { paused: us(before), paused_at, remaining: us(900), ..command };
            for owner in [Owner::User, Owner::Gc] {
                board.units[0].paused.owner = owner;
                let is = worth().serve(&board, UnitId(0), first).is_some();
                let rule = "a program stands paused for its own 1,325 us at most, over all its pauses";
                assert_eq!(is, serves, "{rule}; one of {owner:?} for {before} us before and {now} us now");
            }
        }
        for (before, pauses) in [(1325, true), (1326, false)] {
            let (mut board, first) = busy(1, 900, 3, 0, [0, 0]);
            board.units[0].command.paused = Duration::from_us(before);
            assert_eq!(
                worth().pause(&board, UnitId(0), first).is_some(),
                pauses,
                "what has stood paused for as long as it takes is paused no more: {before} of 1,325 us"
            );
        }
    }

    /// A program of the page buffer stands paused for twice the time it takes as long as nobody waits for it.
    #[test]
    fn a_program_of_the_buffer_stands_longer_while_the_buffer_has_space() {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Short {
            No,
            WaitsForSpace,
            AnEighthWaits,
            WriteWaits,
            OfUser,
        }
        let cases = [
            (2650, Short::No, true),
            (2651, Short::No, false),
            (1325, Short::WaitsForSpace, true),
            (1326, Short::WaitsForSpace, false),
            (1326, Short::AnEighthWaits, false),
            (1326, Short::WriteWaits, false),
            (1326, Short::OfUser, false),
        ];
        for (case, (now, short, serves)) in cases.into_iter().enumerate() {
            let (mut board, first) = busy(1, 900, 3, u32::from(short == Short::WriteWaits), [0, 0]);
            // Of 80 pages nine wait for the flash, and ten are too many.
            board.facts.buffer_pages = 80;
            let queue = board.unplaced();
            for _ in 0..if short == Short::AnEighthWaits { 10 } else { 9 } {
                let id = TxnId(board.txns.len() as u32);
                let (stage, owner) = (flashlane_core::transaction::Stage::Waiting, Owner::Buffer);
                let op = FlashOp::Program;
                board.txns.push(flashlane_core::Transaction {
                    op,
                    owner,
                    queue,
                    stage,
                    ..flashlane_core::Transaction::EMPTY
                });
                board.link(id, queue, TxnId::NONE);
            }
            board.waiting_for_buffer = u32::from(short == Short::WaitsForSpace);
            let owner = if short == Short::OfUser { Owner::User } else { Owner::Buffer };
            let paused_at = Time::from_ns((NOW - now) * 1000);
            board.units[0].paused = Command { owner, paused_at, ..board.units[0].command };
            assert_eq!(
                worth().serve(&board, UnitId(0), first).is_some(),
                serves,
                "a program of the buffer stands paused for twice its 1,325 us while nobody waits for the buffer; \
                 case {case}, {now} us"
            );
        }
    }

    /// While requests wait for the buffer's space, its programs and those requests pay: one read of 100 us gains 900 us by a pause of 100 us
    /// and as much to resume, the program pays 300 us, and each request that waits 200 us.
    #[test]
    fn a_full_buffer_pays() {
        for (waiting, pauses) in [(0, true), (1, false)] {
            for owner in [Owner::Buffer, Owner::Gc] {
                let (mut board, first) = busy(1, 1_000, 1, 0, [100, 100]);
                board.units[0].command.owner = owner;
                board.waiting_for_buffer = waiting;
                let is = worth_at(200).pause(&board, UnitId(0), first).is_some();
                let rule = "a program of the buffer pays for its pause while requests wait for space";
                assert_eq!(is, pauses || owner == Owner::Gc, "{rule}; {waiting} wait, a program of {owner:?}");
            }
        }
        for (waiting, pauses) in [(4, true), (5, false)] {
            let (mut board, first) = busy(1, 1_000, 1, 0, [100, 100]);
            board.units[0].command.owner = Owner::Gc;
            board.waiting_for_buffer = waiting;
            assert_eq!(
                worth_at(110).pause(&board, UnitId(0), first).is_some(),
                pauses,
                "every request that waits for space pays the overheads of 200 us, which a read gains 900 us by; \
                 {waiting} wait"
            );
        }
    }
}
