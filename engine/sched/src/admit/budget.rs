//! Workload-aware budget compensation: every flow has a budget of flash time per round, and pays for the garbage
//! collection it causes (Jun and Shin, NVMSA 2015, as FLIN §7's fairness baseline; model 2.1.9, D-FLN-20).
//!
//! A flow with budget left is fetched from, one without waits for the next round even if the flash is idle. A round ends
//! when every flow with a command pending has used up its budget, or, if some has, when its time is over. A command is
//! pending until it completes: a flow whose commands are all in the device keeps the round open, too, so that one that floods
//! the device is held to its share, and the flash idles for it (FLIN §7.1: it "leaves many resources idle"). The other
//! reading, pending until fetched, never delays any flow where the device fetches without limit. A flow may overdraw with its
//! last command of a round and pays back in the next; budget that it does not use is lost.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::decide::{Admit, AdmitDeclares, Commands, Fetch, Keeps};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, FlowId, Op, Time};

use super::round_robin::has_room;
use crate::entries::{AnswerEntry, Build};
use crate::params::Param;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "budget",
    summary: "each flow has a budget of flash time per round, less the garbage collection it causes",
    source: "Jun and Shin (NVMSA 2015) as in FLIN §7; model 2.1.9 WA-BC",
    params: &[
        Param { name: "budget_round_us", unit: "us", default: 10_000, min: 1, max: 1 << 40, help: "length of a round" },
        Param::switch("budget_compensation", 1, "whether flows pay for the garbage collection they cause (D-FLN-20)"),
        Param::switch(
            "budget_until_completed",
            1,
            "whether a flow with budget left and commands in the device keeps those without budget waiting",
        ),
    ],
    build: Build::Admit(&|v| {
        let round = Duration::from_us(v.get("budget_round_us"));
        let [compensates, until_completed] =
            ["budget_compensation", "budget_until_completed"].map(|name| v.get(name) == 1);
        Box::new(Budget::new(round, compensates, until_completed))
    }),
};

/// A flow's account, ns of flash time.
#[derive(Clone, Copy, Default, Debug)]
struct Account {
    left: i64,
    quantum: i64,
    /// What garbage collection has cost per page it wrote.
    surcharge: i64,
    /// What the board showed when the round began: pages it had written, and pages of it moved.
    written: u64,
    moved: u64,
}

/// Budget compensation.
#[derive(Debug)]
pub struct Budget {
    round: Duration,
    compensates: bool,
    /// Whether a command is pending until it completes, or only until it is fetched.
    until_completed: bool,
    accounts: Vec<Account>,
    /// Blocks erased when the round began.
    erased: u64,
    ends: Time,
    /// The flow to look at first.
    next: usize,
    waits: bool,
}

impl Budget {
    /// `round` is the length of a round; `compensates` charges garbage collection to the flows that cause it; commands are
    /// pending `until_completed`, else until fetched.
    pub const fn new(round: Duration, compensates: bool, until_completed: bool) -> Budget {
        let ends = Time::ZERO;
        Budget { round, compensates, until_completed, accounts: Vec::new(), erased: 0, ends, next: 0, waits: false }
    }

    /// What a command costs.
    fn cost(&self, board: &Board, flow: usize, head: &ActiveRequest) -> i64 {
        let page = board.facts.geometry.page_bytes;
        let (op, surcharge) = match head.op {
            Op::Read => (FlashOp::Read, 0),
            Op::Write => (FlashOp::Program, self.accounts[flow].surcharge),
            // Without a transaction.
            Op::Trim | Op::WriteZeroes | Op::Flush => return 0,
        };
        i64::from(head.pages) * (board.facts.service(op, page).ns() as i64 + surcharge)
    }

    /// Rounds until the first of the flows with a command waiting has budget again.
    fn rounds_to_solvency(&self, board: &Board) -> i64 {
        let waiting = self.accounts.iter().zip(&board.flows).filter(|(_, flow)| flow.waiting() > 0);
        waiting.map(|(account, _)| -account.left / account.quantum + 1).min().unwrap_or(1)
    }

    /// Ends `rounds` rounds and begins the next.
    fn replenish(&mut self, board: &Board, rounds: i64) {
        if self.compensates {
            self.share_out(board);
        }
        for account in &mut self.accounts {
            account.left = account.quantum.min(account.left.saturating_add(account.quantum.saturating_mul(rounds)));
        }
        self.ends = board.now + self.round;
    }

    /// Charges the garbage collection of the last round: a move to the flow whose page it is, erases to every flow by the pages
    /// it wrote.
    fn share_out(&mut self, board: &Board) {
        let page = board.facts.geometry.page_bytes;
        let [read, program, erase] =
            [FlashOp::Read, FlashOp::Program, FlashOp::Erase].map(|op| board.facts.service(op, page).ns());
        let erased: u64 = board.units.iter().map(|unit| unit.counters.erases).sum();
        let flows = || self.accounts.iter().zip(&board.flows);
        let all: u64 = flows().map(|(account, flow)| flow.programmed() - account.written).sum();
        let erases = (erased - self.erased) * erase;
        self.erased = erased;
        for (account, flow) in self.accounts.iter_mut().zip(&board.flows) {
            let (written, moved) = (flow.programmed() - account.written, flow.moved() - account.moved);
            // A flow that wrote nothing keeps its last surcharge.
            if let Some(moves) = (moved * (read + program)).checked_div(written) {
                account.surcharge = (moves + erases / all) as i64;
            }
            (account.written, account.moved) = (flow.programmed(), flow.moved());
        }
    }

    /// The next flow with a command it may send and budget left. Otherwise whether any flow with a command pending has budget,
    /// and whether any with a command waiting has none.
    fn solvent(&self, board: &Board, commands: &dyn Commands) -> Result<usize, (bool, bool)> {
        let flows = self.accounts.len();
        let (mut solvent, mut exhausted) = (false, false);
        for i in 0..flows {
            let f = (self.next + i) % flows;
            if board.flows[f].waiting() == 0 {
                solvent |= self.until_completed && board.flows[f].in_flight() > 0 && self.accounts[f].left > 0;
                continue;
            }
            if self.accounts[f].left <= 0 {
                exhausted = true;
            } else if !has_room(FlowId(f as u16), commands) {
                solvent = true;
            } else {
                return Ok(f);
            }
        }
        Err((solvent, exhausted))
    }
}

impl Admit for Budget {
    fn declares(&self) -> AdmitDeclares {
        let keeps = Keeps { page_flows: self.compensates, ..Keeps::NOTHING };
        AdmitDeclares { keeps, ..AdmitDeclares::ASK }
    }

    fn prepare(&mut self, board: &Board) {
        let weights: i128 = board.flows.iter().map(|flow| 1 << flow.priority()).sum();
        // The longest round on the largest drive is near the limit of 64 bits before the weight is applied.
        let time = i128::from(self.round.ns()) * board.units.len() as i128;
        let account = |flow: &flashlane_core::board::Flow| {
            let quantum = (time * (1 << flow.priority()) / weights).max(1) as i64;
            Account { left: quantum, quantum, ..Account::default() }
        };
        self.accounts = board.flows.iter().map(account).collect();
        self.ends = board.now + self.round;
    }

    fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch> {
        loop {
            self.waits = false;
            let (solvent, exhausted) = match self.solvent(board, commands) {
                Ok(f) => {
                    let flow = FlowId(f as u16);
                    let head = commands.head(flow).expect("a command waits") as usize;
                    self.accounts[f].left -= self.cost(board, f, &board.requests[head]);
                    self.next = f + 1;
                    return Some(Fetch::head(flow));
                }
                Err(found) => found,
            };
            let over = exhausted && (!solvent || board.now >= self.ends);
            if !over {
                self.waits = exhausted;
                return None;
            }
            // If no flow can go after one round either, as many rounds end at once as are needed.
            let rounds = if solvent { 1 } else { self.rounds_to_solvency(board) };
            self.replenish(board, rounds);
        }
    }

    fn ask_again(&self) -> Time {
        if self.waits { self.ends } else { Time::NEVER }
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
