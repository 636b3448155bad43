//! Admission by estimated service time: of all waiting commands the one with the shortest goes next (NCQ scheduling, ELEX 2015,
//! §2, eq. 1 to 4; model 5.1).
//!
//! A command that younger ones overtake ages, whatever the estimate (D-NCQ-03): it is multiplied by alpha once for each (D-NCQ-01), with
//! alpha 0 too (D-NCQ-02), and rounded down each time, so that it reaches 0 and nothing younger passes it any more (D-NCQ-14). Estimates are made at every decision (D-NCQ-05), the oldest of
//! equals goes first, and all queues are one to this answer (D-NCQ-16).

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::decide::{Admit, AdmitDeclares, Commands, Fetch};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, FlowId, Op, Time};

use crate::entries::{AnswerEntry, Build};
use crate::params::{Param, Values};

pub(crate) const OLDEST: AnswerEntry = AnswerEntry {
    name: "oldest",
    summary: "the oldest command of all queues",
    source: "NCQ §3 FCFS; model 5.1",
    params: &[],
    build: Build::Admit(&|_| Box::new(Oldest)),
};

pub(crate) const SHORTEST: AnswerEntry = AnswerEntry {
    name: "shortest",
    summary: "of all waiting commands the one with the shortest estimated service, with aging",
    source: "NCQ §2, eq. 1 to 4; model 5.1",
    params: PARAMS,
    build: Build::Admit(&|v| Box::new(Shortest::of(v))),
};

/// Alpha.
pub(crate) const ALPHA: Param = Param {
    name: "ncq_alpha",
    unit: "percent",
    default: 90,
    min: 0,
    max: 100,
    help: "alpha, by which a waiting command's estimate is multiplied for each younger command that overtakes it; 100 for no aging",
};

/// Whether commands of the same pages keep their order.
pub(crate) const KEEP_ORDER: Param = Param::switch(
    "ncq_keep_order",
    0,
    "whether a command waits for every older one that touches a page of it, unless both read (D-NCQ-10)",
);

const TYPE: Param = Param::switch(
    "ncq_type",
    1,
    "whether the estimate tells reads from writes (NCQ eq. 2); otherwise every page takes as long as a read (D-NCQ-15)",
);

const BUFFER: Param = Param::switch(
    "ncq_buffer",
    1,
    "whether the estimate counts only the pages that are not in the buffer at the decision (NCQ eq. 3, D-NCQ-05)",
);

/// All of them.
pub(crate) const PARAMS: &[Param] = &[TYPE, BUFFER, ALPHA, KEEP_ORDER];

/// Shortest estimated service first.
#[derive(Debug)]
pub struct Shortest {
    by_type: bool,
    by_buffer: bool,
    /// Alpha, percent.
    alpha: u64,
    keeps_order: bool,
    /// By command, how many younger ones have overtaken it. Zero for commands that do not wait.
    overtaken: Vec<u32>,
}

/// A waiting command. The fields are in order of age: by arrival, then by queue, then by place in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Waiting {
    arrival: Time,
    flow: FlowId,
    position: u32,
    command: u32,
}

impl Waiting {
    const fn fetch(self) -> Fetch {
        Fetch { flow: self.flow, position: self.position }
    }
}

/// The commands that the device may fetch, queue by queue.
fn waiting<'a>(board: &'a Board, commands: &'a dyn Commands) -> impl Iterator<Item = Waiting> + 'a {
    let flows = (0..board.flows.len() as u16).map(FlowId).filter(|flow| board.flow(*flow).waiting() > 0);
    flows.flat_map(move |flow| {
        let [first, second] = commands.waiting(flow);
        let of = move |(position, &command): (u32, &u32)| Waiting {
            arrival: board.requests[command as usize].arrival,
            flow,
            position,
            command,
        };
        (0..).zip(first.iter().chain(second)).map(of)
    })
}

impl Shortest {
    /// With the parameters [`PARAMS`].
    pub fn of(values: &Values<'_>) -> Shortest {
        let [by_type, by_buffer, keeps_order] = [TYPE, BUFFER, KEEP_ORDER].map(|param| values.get(param.name) == 1);
        Shortest { by_type, by_buffer, alpha: values.get(ALPHA.name), keeps_order, overtaken: Vec::new() }
    }

    /// The estimate of a waiting command, ns.
    fn estimate(&self, board: &Board, commands: &dyn Commands, command: u32) -> u64 {
        let ActiveRequest { op, pages, .. } = board.requests[command as usize];
        if !op.is_data() {
            // It needs no page of the flash.
            return 0;
        }
        let pages = if self.by_buffer { commands.missing(command) } else { pages };
        let op = if self.by_type && op == Op::Write { FlashOp::Program } else { FlashOp::Read };
        let times = self.overtaken.get(command as usize).copied().unwrap_or(0);
        aged(u64::from(pages).saturating_mul(board.facts.typical(op).ns()), self.alpha, times)
    }

    /// Whether an older waiting command touches a page of `command`, and one of the two writes or trims.
    fn must_wait(&self, board: &Board, commands: &dyn Commands, command: Waiting) -> bool {
        let changes = |waiting: Waiting| {
            let op = board.requests[waiting.command as usize].op;
            op == Op::Write || op.unmaps()
        };
        waiting(board, commands).any(|older| {
            older < command && (changes(older) || changes(command)) && commands.overlap(older.command, command.command)
        })
    }

    /// The command that goes next: the shortest, the oldest of equals.
    fn shortest(&self, board: &Board, commands: &dyn Commands) -> Option<Waiting> {
        let mut best: Option<(u64, Waiting)> = None;
        for one in waiting(board, commands) {
            if best.is_some_and(|(estimate, best)| estimate == 0 && best < one) {
                continue;
            }
            let this = (self.estimate(board, commands, one.command), one);
            if best.is_none_or(|best| this < best) && !(self.keeps_order && self.must_wait(board, commands, one)) {
                best = Some(this);
            }
        }
        best.map(|(_, one)| one)
    }
}

/// An estimate after `times` steps of aging, each rounded down (eq. 4, D-NCQ-14).
pub(crate) fn aged(estimate: u64, alpha: u64, times: u32) -> u64 {
    let mut estimate = estimate;
    for _ in 0..times {
        if estimate == 0 || alpha == 100 {
            break;
        }
        // The product with alpha might not fit.
        estimate = estimate / 100 * alpha + estimate % 100 * alpha / 100;
    }
    estimate
}

impl Admit for Shortest {
    fn declares(&self) -> AdmitDeclares {
        AdmitDeclares { ranks_all_waiting: true, needs_buffer: self.by_buffer, ..AdmitDeclares::ASK }
    }

    fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch> {
        let next = self.shortest(board, commands)?;
        // A command whose units' queues have no room keeps all others waiting: passing it would be no overtaking that ages it.
        if commands.full(next.command) {
            return None;
        }
        self.overtaken.resize(board.requests.len().max(self.overtaken.len()), 0);
        for one in waiting(board, commands).filter(|one| *one < next) {
            self.overtaken[one.command as usize] += 1;
        }
        self.overtaken[next.command as usize] = 0;
        Some(next.fetch())
    }
}

/// Oldest first over all queues: what the estimates are compared with (FCFS).
#[derive(Debug)]
pub struct Oldest;

impl Admit for Oldest {
    fn declares(&self) -> AdmitDeclares {
        AdmitDeclares { skips_when_single: true, ..AdmitDeclares::ASK }
    }

    fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch> {
        let flows = (0..board.flows.len() as u16).map(FlowId).filter(|flow| board.flow(*flow).waiting() > 0);
        let heads = flows.filter_map(|flow| Some((flow, commands.head(flow)?)));
        let (flow, oldest) = heads.min_by_key(|&(_, head)| board.requests[head as usize].arrival)?;
        (!commands.full(oldest)).then_some(Fetch::head(flow))
    }
}

#[cfg(test)]
#[path = "ncq_tests.rs"]
mod tests;
