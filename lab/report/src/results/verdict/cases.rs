//! Whose requests are judged: each flow, of a single flow each kind of request, and what is a part of another.

use super::finding::{Finding, FindingKind};
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
    /// Half of a commit, which is the case with this number.
    HalfOfCommit(usize),
    /// All flows together: only its throughput is judged.
    Total,
}

/// The kinds beside reads and writes.
const OTHERS: [RequestKind; 3] = [RequestKind::Trim, RequestKind::WriteZeroes, RequestKind::Flush];

/// The cases of a summary.
pub(super) fn of(summary: &Summary) -> Vec<Case> {
    let mut cases = Vec::new();
    for flow in 0..summary.flows.len() {
        OfFlow { summary, flow, cases: &mut cases }.add_all();
    }
    // What open flows get together is what arrives.
    let has_loop = summary.flows.iter().any(|flow| flow.depth.is_some());
    if has_loop && summary.flows.len() > 1 && summary.schedulers.iter().any(|run| run.total.all.is_some()) {
        cases.push(Case { flow: None, kind: RequestKind::All, role: Role::Total, is_loop: false });
    }
    cases
}

/// The cases of one flow.
struct OfFlow<'a> {
    summary: &'a Summary,
    flow: usize,
    cases: &'a mut Vec<Case>,
}

impl OfFlow<'_> {
    /// Whether any scheduler completed requests of this kind.
    fn has(&self, kind: RequestKind) -> bool {
        self.summary.schedulers.iter().any(|run| kind.of(&run.flows[self.flow].figures).is_some())
    }

    /// Whether it alternates writes and flushes.
    fn commits(&self) -> bool {
        let alternates = self.summary.flows[self.flow].writes_per_flush.is_some();
        alternates && self.has(RequestKind::Write) && self.has(RequestKind::Flush)
    }

    fn add_all(&mut self) {
        if self.summary.flows[self.flow].depth.is_some() { self.add_loop() } else { self.add_open() }
    }

    /// Adds a case, whose number is returned. What an open flow does by itself is all that the run does, and called so.
    fn add(&mut self, kind: RequestKind, role: Role) -> usize {
        let is_loop = self.summary.flows[self.flow].depth.is_some();
        let named = is_loop || self.summary.flows.len() > 1 || self.commits() && kind != RequestKind::Read;
        self.cases.push(Case { flow: named.then_some(self.flow), kind, role, is_loop });
        self.cases.len() - 1
    }

    /// Adds those of these kinds that there are, all in this role.
    fn add_each(&mut self, kinds: &[RequestKind], role: Role) {
        for &kind in kinds {
            if self.has(kind) {
                self.add(kind, role);
            }
        }
    }

    /// Adds commits and their halves.
    fn add_commits(&mut self, role: Role) -> usize {
        let commit = self.add(RequestKind::Commit, role);
        self.add_each(&[RequestKind::Write, RequestKind::Flush], Role::HalfOfCommit(commit));
        commit
    }

    /// The kinds beside reads and writes that are not halves of commits.
    fn others(&self) -> &'static [RequestKind] {
        if self.commits() { &OTHERS[..2] } else { &OTHERS }
    }

    /// All that a closed loop does is one rate: it wins or pays as a whole.
    fn add_loop(&mut self) {
        let (reads, writes) = (self.has(RequestKind::Read), self.has(RequestKind::Write));
        let tenant = if self.commits() && !reads {
            self.add_commits(Role::Tenant)
        } else if reads || writes {
            let tenant = self.add(RequestKind::All, Role::Tenant);
            if self.commits() {
                self.add(RequestKind::Read, Role::Part(tenant));
                self.add_commits(Role::Part(tenant));
            } else if reads && writes {
                self.add_each(&[RequestKind::Read, RequestKind::Write], Role::Part(tenant));
            }
            tenant
        } else {
            let Some(&first) = OTHERS.iter().find(|&&kind| self.has(kind)) else { return };
            let tenant = self.add(first, Role::Tenant);
            let rest: Vec<RequestKind> = OTHERS.into_iter().filter(|&kind| kind != first).collect();
            return self.add_each(&rest, Role::Part(tenant));
        };
        self.add_each(self.others(), Role::Part(tenant));
        self.add_each(&[RequestKind::FuaWrite], Role::Part(tenant));
    }

    /// Of one flow its reads and its writes are judged, of several each flow's together; other kinds by themselves.
    fn add_open(&mut self) {
        let (reads, writes) = (self.has(RequestKind::Read), self.has(RequestKind::Write));
        let mut of_writes = None;
        if self.summary.flows.len() > 1 && !self.commits() && (reads || writes) {
            let tenant = self.add(RequestKind::All, Role::Tenant);
            of_writes = Some(tenant);
            if reads && writes {
                self.add(RequestKind::Read, Role::Part(tenant));
                of_writes = Some(self.add(RequestKind::Write, Role::Part(tenant)));
            }
        } else {
            self.add_each(&[RequestKind::Read], Role::Tenant);
            if self.commits() {
                of_writes = Some(self.add_commits(Role::Tenant));
            } else if writes {
                of_writes = Some(self.add(RequestKind::Write, Role::Tenant));
            }
        }
        if let Some(of_writes) = of_writes {
            self.add_each(&[RequestKind::FuaWrite], Role::Part(of_writes));
        }
        self.add_each(self.others(), Role::Tenant);
    }
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

/// A finding about a case under a scheduler.
pub(super) fn about(kind: FindingKind, summary: &Summary, case: &Case, run: usize) -> Finding {
    Finding {
        scheduler: Some(summary.schedulers[run].name.clone()),
        flow: case.flow_name(summary),
        request: Some(case.kind),
        ..Finding::new(kind)
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
