//! Slack-aware write pausing: a program that can spare the time is paused, at the end of an iteration, for the read that
//! has waited longest, and for further ones while it can spare theirs (Slacker §4.2, model 1.1.6).
//!
//! The slack of a command is the least of its transactions'. Only the read at the head of the queue is considered
//! (D-SLK-13). While the fill trigger holds, writes go before reads and nothing is paused (D-SLK-15).

use alloc::boxed::Box;

use flashlane_core::decide::{Preempt, PreemptDeclares, SuspendPoints};
use flashlane_core::{Board, Duration, TxnId, UnitId};

use crate::entries::{AnswerEntry, Build};
use crate::pick::fill::{self, FillTrigger};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "slack-pause",
    summary: "reads pause a program at the end of its iteration while it can spare the time",
    source: "Slacker §4.2; model 1.1.6",
    params: fill::PARAMS,
    build: Build::Preempt(&|v| Box::new(BySlack::new(FillTrigger::of(v)))),
};

/// Slack-aware write pausing.
#[derive(Debug)]
pub struct BySlack {
    fill: FillTrigger,
}

impl BySlack {
    /// Pauses unless `fill` holds.
    pub const fn new(fill: FillTrigger) -> BySlack {
        BySlack { fill }
    }
}

/// Whether every transaction of the command that begins with `lead` can spare `time`.
#[inline]
fn can_spare(board: &Board, lead: TxnId, time: Duration) -> bool {
    let mut member = lead;
    while member.is_some() {
        let txn = board.txn(member);
        if txn.slack < time {
            return false;
        }
        member = txn.next;
    }
    true
}

impl Preempt for BySlack {
    fn declares(&self) -> PreemptDeclares {
        PreemptDeclares { suspend_points: SuspendPoints::Boundary, ..PreemptDeclares::ASK }
    }

    /// The overheads are charged here, once a pause; the reads as they are served.
    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        let overheads = board.facts.suspend + board.facts.resume;
        (!self.will_keep_refusing(board, unit, read)).then_some(overheads)
    }

    /// Slack only shrinks, so a command that cannot spare the time now never can. Nor do the writes that wait for a unit
    /// become fewer while it works on one, except for those that younger writes of their pages replace; and when a transaction
    /// joins the unit, the device asks again.
    fn will_keep_refusing(&self, board: &Board, unit: UnitId, read: TxnId) -> bool {
        let needed = board.service(read) + board.facts.suspend + board.facts.resume;
        self.fill.holds(board, unit) || !can_spare(board, board.units[unit.index()].command.lead, needed)
    }

    fn serve(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        let cost = board.service(read);
        can_spare(board, board.units[unit.index()].paused.lead, cost).then_some(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{program, read, serve};
    use flashlane_core::Time;
    use flashlane_core::board::Command;

    const US: u64 = 1000;

    /// One die of two planes: a program of 200 us slack beside one of 150 in service, a read waiting.
    fn busy() -> Board {
        let mut board = crate::pick::testing::board(1, 2);
        let [a, b] = [(0, 200), (1, 150)].map(|(slot, slack)| {
            let id = program(&mut board, slot, u32::from(slot));
            board.txn_mut(id).slack = Duration::from_us(slack);
            id
        });
        serve(&mut board, &[a, b], Time::from_ns(1300 * US));
        read(&mut board, 9, 0, 7);
        board
    }

    /// Whether the scene's read pauses the program, and at what cost.
    fn pauses(answer: &mut BySlack, board: &Board) -> Option<Duration> {
        answer.pause(board, UnitId(0), board.first(UnitId(0), flashlane_core::transaction::FlashOp::Read))
    }

    fn rarely_full() -> BySlack {
        BySlack::new(FillTrigger::new(80, 4096))
    }

    /// The read takes 75 us, and 25 on the bus.
    #[test]
    fn the_member_with_least_slack_decides() {
        let points = rarely_full().declares().suspend_points;
        assert_eq!(points, SuspendPoints::Boundary, "programs are paused at the end of an iteration");
        for (slack, is) in [(150, true), (100, true), (99, false)] {
            let mut board = busy();
            let other = board.txn(board.units[0].command.lead).next;
            board.txn_mut(other).slack = Duration::from_us(slack);
            let rule = "all of a command must be able to spare the read's 100 us";
            let cost = pauses(&mut rarely_full(), &board);
            assert_eq!(cost, is.then_some(Duration::ZERO), "{rule}; one has 200 us of slack, the other {slack}");
        }
    }

    #[test]
    fn overheads_must_fit_too_and_are_charged_once() {
        let mut board = busy();
        (board.facts.suspend, board.facts.resume) = (Duration::from_us(20), Duration::from_us(30));
        let cost = pauses(&mut rarely_full(), &board);
        assert_eq!(cost, Some(Duration::from_us(50)), "a pause charges its overheads");
        board.facts.resume = Duration::from_us(31);
        let cost = pauses(&mut rarely_full(), &board);
        assert_eq!(cost, None, "slack of 150 us must hold the read's 100 and overheads of 51");
    }

    #[test]
    fn nothing_is_paused_while_writes_go_first() {
        let mut answer = BySlack::new(FillTrigger::new(50, 4));
        for (waiting, is) in [(2, true), (3, false)] {
            let mut board = busy();
            for i in 0..waiting {
                program(&mut board, 0, 20 + i);
            }
            let rule = "nothing is paused while more than the share of writes waits, 2 of 4";
            assert_eq!(pauses(&mut answer, &board).is_some(), is, "{rule}; {waiting} wait");
        }
    }

    /// What is in service meanwhile, a read, does not count, nor do the overheads.
    #[test]
    fn a_paused_command_serves_what_it_can_spare() {
        for (left, serves) in [(100_000, true), (99_999, false)] {
            let mut board = busy();
            (board.facts.suspend, board.facts.resume) = (Duration::from_us(20), Duration::from_us(30));
            let waiting = board.first(UnitId(0), flashlane_core::transaction::FlashOp::Read);
            let other = board.txn(board.units[0].command.lead).next;
            board.txn_mut(other).slack = Duration::from_ns(left);
            board.units[0].paused = core::mem::replace(&mut board.units[0].command, Command::NONE);
            let cost = rarely_full().serve(&board, UnitId(0), waiting);
            let rule = "a paused command serves a read whose 100 us all of it can spare, and is charged these";
            assert_eq!(cost, serves.then_some(Duration::from_us(100)), "{rule}; one has {left} ns");
        }
    }
}
