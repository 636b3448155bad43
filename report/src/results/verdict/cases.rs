//! Whose requests are judged: each flow, of a single flow each kind of request, and what is a part of another.

use crate::results::flow_stats::{FlowStats, ResponseStats};
use crate::results::paired::PairStats;
use crate::results::replications::RequestKind;
use crate::results::summary::{SchedulerResult, Summary};

/// A percentile is trusted with this many requests beyond it.
pub(super) const BEYOND: u64 = 10;

/// Requests that are judged together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Case {
    /// Their flow's number; `None` for all flows together.
    pub(super) flow: Option<usize>,
    /// Their kind.
    pub(super) kind: RequestKind,
    /// What they are in the verdict.
    pub(super) role: Role,
    /// Whether the next request waits for a completion: then throughput is what a scheduler gives it.
    pub(super) is_loop: bool,
}

/// What a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Wins or pays by itself.
    Tenant,
    /// Is a part of the case with this number.
    Part(usize),
    /// Half of a commit, which is the case with this number: only its p99 is judged, which a commit does not have.
    HalfOfCommit(usize),
    /// All flows together: only its throughput is judged.
    Total,
}

/// The kinds beside reads and writes.
const OTHERS: [RequestKind; 3] = [RequestKind::Trim, RequestKind::WriteZeroes, RequestKind::Flush];

/// The cases of a summary.
pub(super) fn of(summary: &Summary) -> Vec<Case> {
    let mut cases = Vec::new();
    let several = summary.flows.len() > 1;
    for (flow, info) in summary.flows.iter().enumerate() {
        let has = |kind: RequestKind| summary.schedulers.iter().any(|run| kind.of(&run.flows[flow].figures).is_some());
        let commits = info.writes_per_flush.is_some() && has(RequestKind::Write) && has(RequestKind::Flush);
        let mut add = |flow: Option<usize>, kind: RequestKind, role: Role| {
            cases.push(Case { flow, kind, role, is_loop: info.depth.is_some() });
            cases.len() - 1
        };
        let halves = |add: &mut dyn FnMut(Option<usize>, RequestKind, Role) -> usize, commit: usize| {
            add(Some(flow), RequestKind::Write, Role::HalfOfCommit(commit));
            add(Some(flow), RequestKind::Flush, Role::HalfOfCommit(commit));
        };
        let present = |kinds: &[RequestKind]| kinds.iter().copied().filter(|&kind| has(kind)).collect::<Vec<_>>();
        let mixed = has(RequestKind::Read) && has(RequestKind::Write);
        if info.depth.is_some() {
            // All that a closed loop does is one rate: it wins or pays as a whole.
            let head = match commits && !has(RequestKind::Read) {
                true => RequestKind::Commit,
                false => {
                    *present(&[RequestKind::All]).iter().chain(&present(&OTHERS)).next().unwrap_or(&RequestKind::All)
                }
            };
            if !has(head) && head != RequestKind::Commit {
                continue;
            }
            let tenant = add(Some(flow), head, Role::Tenant);
            if head == RequestKind::Commit {
                halves(&mut add, tenant);
            } else if commits {
                add(Some(flow), RequestKind::Read, Role::Part(tenant));
                let commit = add(Some(flow), RequestKind::Commit, Role::Part(tenant));
                halves(&mut add, commit);
            } else if mixed {
                add(Some(flow), RequestKind::Read, Role::Part(tenant));
                add(Some(flow), RequestKind::Write, Role::Part(tenant));
            }
            let rest =
                present(&OTHERS).into_iter().filter(|&kind| kind != head && !(commits && kind == RequestKind::Flush));
            rest.chain(present(&[RequestKind::FuaWrite])).for_each(|kind| {
                add(Some(flow), kind, Role::Part(tenant));
            });
            continue;
        }
        // Of one flow its reads and its writes are judged, of several each flow's together.
        let of_one = if several { Some(flow) } else { None };
        let mut of_writes = None;
        if several && !commits && has(RequestKind::All) {
            let tenant = add(of_one, RequestKind::All, Role::Tenant);
            of_writes = Some(tenant);
            if mixed {
                add(of_one, RequestKind::Read, Role::Part(tenant));
                of_writes = Some(add(of_one, RequestKind::Write, Role::Part(tenant)));
            }
        } else {
            present(&[RequestKind::Read]).into_iter().for_each(|kind| {
                add(of_one, kind, Role::Tenant);
            });
            if commits {
                let commit = add(Some(flow), RequestKind::Commit, Role::Tenant);
                of_writes = Some(commit);
                halves(&mut add, commit);
            } else if has(RequestKind::Write) {
                of_writes = Some(add(of_one, RequestKind::Write, Role::Tenant));
            }
        }
        if let Some(writes) = of_writes.filter(|_| has(RequestKind::FuaWrite)) {
            add(of_one, RequestKind::FuaWrite, Role::Part(writes));
        }
        let others = present(&OTHERS).into_iter().filter(|&kind| !(commits && kind == RequestKind::Flush));
        others.for_each(|kind| {
            add(of_one, kind, Role::Tenant);
        });
    }
    if several && summary.schedulers.iter().any(|run| run.total.all.is_some()) {
        cases.push(Case { flow: None, kind: RequestKind::All, role: Role::Total, is_loop: false });
    }
    cases
}

impl Case {
    /// Whether it may win or pay by itself.
    pub(super) fn is_tenant(&self) -> bool {
        self.role == Role::Tenant
    }

    /// The flow's name.
    pub(super) fn flow_name(&self, summary: &Summary) -> Option<String> {
        self.flow.map(|flow| summary.flows[flow].name.clone())
    }

    /// Its figures in a run, of a commit those of its flushes, and where they stand in the summary.
    pub(super) fn figures<'a>(&self, summary: &'a Summary, run: usize) -> Option<(&'a ResponseStats, String)> {
        let kind = if self.kind == RequestKind::Commit { RequestKind::Flush } else { self.kind };
        self.figures_of(summary, run, kind)
    }

    fn figures_of<'a>(
        &self,
        summary: &'a Summary,
        run: usize,
        kind: RequestKind,
    ) -> Option<(&'a ResponseStats, String)> {
        let result: &SchedulerResult = &summary.schedulers[run];
        let (figures, within): (&FlowStats, String) = match self.flow {
            Some(flow) => (&result.flows[flow].figures, format!("/schedulers/{run}/flows/{flow}/figures")),
            None => (&result.total, format!("/schedulers/{run}/total")),
        };
        let key = match kind {
            RequestKind::All => "all",
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::FuaWrite => "fua_write",
            RequestKind::Trim => "commands/trim",
            RequestKind::WriteZeroes => "commands/write_zeroes",
            RequestKind::Flush | RequestKind::Commit => "commands/flush",
        };
        Some((kind.of(figures)?, format!("{within}/{key}")))
    }

    /// Its mean in a run, ns, and the figures it is made of.
    pub(super) fn mean(&self, summary: &Summary, run: usize) -> Option<(f64, Vec<String>)> {
        let (figures, path) = self.figures(summary, run)?;
        let (mean, path) = (figures.mean_ns, format!("{path}/mean_ns"));
        if self.kind != RequestKind::Commit {
            return Some((mean, vec![path]));
        }
        let (writes, of_writes) = self.figures_of(summary, run, RequestKind::Write)?;
        let each = summary.flows[self.flow?].writes_per_flush?;
        Some((each * writes.mean_ns + mean, vec![format!("{of_writes}/mean_ns"), path]))
    }

    /// Its requests one by one against the same ones under the scheduler compared with, and where they stand in the summary: of a kind other than
    /// reads and writes of a single flow there are none.
    pub(super) fn pairs<'a>(&self, summary: &'a Summary, run: usize) -> Option<(&'a PairStats, String)> {
        let result = &summary.schedulers[run];
        match (self.flow, self.kind) {
            (Some(flow), RequestKind::All) if summary.flows.len() > 1 => {
                Some((result.flows[flow].paired.as_ref()?, format!("/schedulers/{run}/flows/{flow}/paired")))
            }
            (_, kind) if summary.flows.len() == 1 => {
                let paired = result.paired.as_ref()?;
                let (pairs, key) = match kind {
                    RequestKind::All => (Some(&paired.all), "all"),
                    RequestKind::Read => (paired.read.as_ref(), "read"),
                    RequestKind::Write => (paired.write.as_ref(), "write"),
                    _ => (None, ""),
                };
                Some((pairs?, format!("/schedulers/{run}/paired/{key}")))
            }
            _ => None,
        }
    }

    /// The fewest requests that completed under any scheduler.
    pub(super) fn fewest(&self, summary: &Summary) -> u64 {
        let runs = 0..summary.schedulers.len();
        runs.map(|run| self.figures(summary, run).map_or(0, |(figures, _)| figures.requests)).min().unwrap_or(0)
    }
}

/// Requests as a user calls them, and whether that is a plural.
pub(super) fn called(flow: Option<&str>, request: Option<RequestKind>) -> (String, bool) {
    let kind = match request {
        None | Some(RequestKind::All) => {
            return flow.map_or_else(|| ("all requests".to_owned(), true), |flow| (flow.to_owned(), false));
        }
        Some(RequestKind::Read) => "reads",
        Some(RequestKind::Write) => "writes",
        Some(RequestKind::FuaWrite) => "writes with FUA",
        Some(RequestKind::Trim) => "trims",
        Some(RequestKind::WriteZeroes) => "write zeroes",
        Some(RequestKind::Flush) => "flushes",
        Some(RequestKind::Commit) => "commits",
    };
    match flow {
        Some(flow) => (format!("{flow}'s {kind}"), true),
        None => (kind.to_owned(), true),
    }
}
