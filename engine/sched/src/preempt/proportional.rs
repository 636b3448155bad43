//! FLIN's two optimisations: a program is suspended for a read that waits longer in proportion (O1), and the program of
//! a page move made in idle time for any read (O2; FLIN §4.3).
//!
//! The paper does not say what the proportional wait of a running program is; the rule is written out in model 2.1.7. It
//! does not change with time: what the read waits more, the program has less to run. Moves that go before a write are
//! not interrupted unless they yield (D-FLN-16), nor is an erase.

use alloc::boxed::Box;

use flashlane_core::board::Command;
use flashlane_core::decide::{Preempt, PreemptDeclares, SuspendPoints};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, TxnId, UnitId};

use crate::entries::{AnswerEntry, Build};
use crate::flin;
use crate::flin::balance::{Claim, waits_in_service};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "proportional",
    summary: "a read suspends a program that waits less in proportion, and any page move made in idle time",
    source: "FLIN §4.3 optimisations; model 2.1.7",
    params: flin::SUSPENSION_PARAMS,
    build: Build::Preempt(&|v| Box::new(Proportional::new(v.get("present_pause") == 1))),
};

/// Suspension by proportional waits.
#[derive(Debug)]
pub struct Proportional {
    /// Whether a program in service has waited only in its present pause (D-FLN-28).
    present_pause: bool,
}

impl Proportional {
    pub(crate) const fn new(present_pause: bool) -> Proportional {
        Proportional { present_pause }
    }

    /// Whether `read` waits longer in proportion than the program of `command`, of which `left` is to run, and which has
    /// was paused for `pause` now.
    fn read_waits_longer(
        &self,
        board: &Board,
        read: TxnId,
        command: &Command,
        left: Duration,
        pause: Duration,
        overhead: Duration,
    ) -> bool {
        let claim = |txn| Claim { waited: board.now - board.txn(txn).enqueued, service: board.service(txn) };
        // Pauses move the start of a command to a later instant.
        let before = || command.started - board.txn(command.lead).enqueued;
        let waited = if self.present_pause { pause } else { before() + pause };
        let program = Claim { waited, service: board.service(command.lead) };
        let (of_read, of_program) = waits_in_service(claim(read), program, left, overhead);
        of_read.longer_than(of_program)
    }
}

impl Preempt for Proportional {
    fn declares(&self) -> PreemptDeclares {
        PreemptDeclares { suspend_points: SuspendPoints::Any, ..PreemptDeclares::ASK }
    }

    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        let command = &board.units[unit.index()].command;
        let left = command.ends.since(board.now);
        let overhead = board.facts.suspend + board.facts.resume;
        let worth_it = command.op == FlashOp::Program && left > overhead;
        let moves = command.owner.collects();
        let preempts =
            worth_it && (moves || self.read_waits_longer(board, read, command, left, Duration::ZERO, overhead));
        preempts.then_some(Duration::ZERO)
    }

    fn serve(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        let command = &board.units[unit.index()].paused;
        let pause = board.now - command.paused_at;
        // The command is paused already, so only resuming it costs time.
        let moves = command.owner.collects();
        let preempts =
            moves || self.read_waits_longer(board, read, command, command.remaining, pause, board.facts.resume);
        preempts.then_some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{board, program, read, serve};
    use flashlane_core::Owner;
    use flashlane_core::Time;

    fn plain() -> Proportional {
        Proportional::new(false)
    }

    /// The instant of every question, ns.
    const NOW: u64 = 5_000_000;

    /// A program for `owner` in service, of which `left` ns are to run, that waited `waited` ns before it began; and a read that
    /// has just come. Services are 1,325 us and 100.
    fn busy(owner: Owner, left: u64, waited: u64) -> (Board, TxnId) {
        let mut board = board(1, 2);
        board.now = Time::from_ns(NOW);
        let id = program(&mut board, 0, 1);
        board.txn_mut(id).enqueued = Time::from_ns(1_000_000);
        serve(&mut board, &[id], Time::from_ns(NOW + left));
        let command = &mut board.units[0].command;
        (command.owner, command.started) = (owner, Time::from_ns(1_000_000 + waited));
        let reading = read(&mut board, 1, 1, 2);
        board.txn_mut(reading).enqueued = board.now;
        (board, reading)
    }

    /// O1: the read's proportional wait, what is left of the program over 100 us, must be longer than the program's, what it
    /// has waited and the read with its overheads over 1,325 us. With 40 us left that is 0.4, even at 430 us of waiting and
    /// overheads.
    #[test]
    fn a_program_of_a_user_is_suspended_if_the_read_waits_more() {
        for (waited, overheads, preempts) in
            [(429_999, 0, true), (430_000, 0, false), (409_999, 20, true), (410_000, 20, false)]
        {
            let (mut board, reading) = busy(Owner::User, 40_000, waited);
            board.facts.suspend = Duration::from_us(overheads / 4);
            board.facts.resume = Duration::from_us(overheads * 3 / 4);
            let pauses = plain().pause(&board, UnitId(0), reading).is_some();
            let rule = "a read preempts a program that waits less over its service, overheads counted";
            assert_eq!(pauses, preempts, "{rule}; the program has waited {waited} ns, overheads {overheads} us");
        }
    }

    /// O2: any read preempts the program of a move, unless less than the overheads is left of it. An erase never does.
    #[test]
    fn a_program_of_a_move_is_suspended_if_anything_is_gained() {
        for (left, preempts) in [(0, false), (20_000, false), (20_001, true)] {
            let (mut board, reading) = busy(Owner::Gc, left, 4_000_000);
            (board.facts.suspend, board.facts.resume) = (Duration::from_us(15), Duration::from_us(5));
            let pauses = plain().pause(&board, UnitId(0), reading).is_some();
            let rule = "any read preempts a page move that has more than the overheads of 20 us left";
            assert_eq!(pauses, preempts, "{rule}; {left} ns are left");
            board.units[0].command.op = FlashOp::Erase;
            assert_eq!(plain().pause(&board, UnitId(0), reading), None, "no read preempts an erase");
        }
    }

    /// In a pause the time it has lasted counts as the program's waiting, and only resuming still costs. 50 us left are 0.5,
    /// even at 662.5 us.
    #[test]
    fn a_paused_program_is_resumed_when_it_has_waited_more() {
        for (waited, pause, resume, preempts) in [
            (0, 562_499, 0, true),
            (0, 562_500, 0, false),
            (200_000, 362_499, 0, true),
            (200_000, 362_500, 0, false),
            (0, 462_499, 100, true),
            (0, 462_500, 100, false),
        ] {
            let (mut board, reading) = busy(Owner::User, 0, waited);
            (board.facts.suspend, board.facts.resume) = (Duration::from_us(300), Duration::from_us(resume));
            let command = board.units[0].command;
            let paused_at = Time::from_ns(NOW - pause);
            board.units[0].paused = Command { remaining: Duration::from_us(50), paused_at, ..command };
            let serves = plain().serve(&board, UnitId(0), reading).is_some();
            let rule =
                "a paused program is resumed when it waits more over its service; its pause counts, and resuming";
            assert_eq!(serves, preempts, "{rule}; waited {waited}, paused for {pause} ns, resuming {resume} us");
            board.units[0].paused.owner = Owner::Gc;
            assert!(plain().serve(&board, UnitId(0), reading).is_some(), "a move waits for any read");
        }
    }

    /// D-FLN-28: what the program waited before it began and in earlier pauses does not count, only the pause it stands in. With
    /// 40 us left a read waits 0.4, and 430 us of pause are as much.
    #[test]
    fn only_the_present_pause_counts() {
        let present = || Proportional::new(true);
        for waited in [429_999, 430_000, 3_000_000] {
            let (board, reading) = busy(Owner::User, 40_000, waited);
            assert!(
                present().pause(&board, UnitId(0), reading).is_some(),
                "what a program waited before it began does not count: {waited} ns"
            );
        }
        for (left, preempts) in [(7_548, true), (7_547, false)] {
            // The read over 1,325 us is 0.0755.
            let (board, reading) = busy(Owner::User, left, 0);
            let pauses = present().pause(&board, UnitId(0), reading).is_some();
            let rule =
                "a program that has waited for nothing is preempted if what is left is more over the read's service";
            assert_eq!(pauses, preempts, "{rule}; {left} ns are left");
        }
        for (pause, preempts) in [(562_499, true), (562_500, false)] {
            let (mut board, reading) = busy(Owner::User, 0, 900_000);
            let command = board.units[0].command;
            let paused_at = Time::from_ns(NOW - pause);
            board.units[0].paused = Command { remaining: Duration::from_us(50), paused_at, ..command };
            assert_eq!(
                present().serve(&board, UnitId(0), reading).is_some(),
                preempts,
                "only the present pause counts as waiting: {pause} ns"
            );
            assert!(
                plain().serve(&board, UnitId(0), reading).is_none(),
                "else what it waited before counts too: 900 us and the pause"
            );
        }
    }
}
