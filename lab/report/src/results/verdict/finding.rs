//! A finding as data: what it is about, the figures of the summary that it rests on, and how large it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::results::replications::RequestKind;

/// One thing that a comparison or a run shows. Its sentence is made from it alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The scheduler that it is about; null if it is about all.
    pub scheduler: Option<String>,
    /// The scheduler that this one is compared with; null where nothing is compared.
    pub baseline: Option<String>,
    /// The flow whose requests it is about; null for those of all flows together.
    pub flow: Option<String>,
    /// Their kind; null where it is not about requests.
    pub request: Option<RequestKind>,
    /// What changes for them, that by which they are judged first; empty where nothing is compared.
    pub changes: Vec<Change>,
    /// Other figures that it rests on, each by its path in the summary (a JSON pointer).
    pub figures: Vec<Figure>,
    /// Names it lists: flows that are alike, closed loops, decisions, schedulers within 1 % of the one that wins.
    pub names: Vec<String>,
    /// How large it is: the largest factor in it, at least 1.
    pub size: f64,
    /// Whether five seeds decide what changes first; null where nothing is compared, or there are fewer than five.
    pub decided: Option<bool>,
    /// Whether it is on the first screen; the others are printed with `--full`.
    pub is_on_first_screen: bool,
    /// The sentence, without a full stop.
    pub text: String,
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// No request completed.
    NothingCompleted,
    /// All requests that completed are warm-up, so none is in the figures.
    NothingCounted,
    /// All schedulers are controls, so they compete among themselves.
    OnlyControls,
    /// The response times of a run by itself.
    Run,
    /// Nothing differs beyond the tolerance.
    AllAlike,
    /// Other seeds differ where these requests are alike.
    AlikeHere,
    /// Of all schedulers that are no controls the requests are served best under this one.
    Wins,
    /// The scheduler compared with serves the requests best, and this one is next.
    ReferenceWins,
    /// They are served better than under the scheduler compared with.
    Gains,
    /// They are served worse.
    Pays,
    /// One kind of the requests of a flow is served worse, while the flow as a whole is not.
    PartPays,
    /// One kind of the requests of a closed loop is slower, which share a rate by which they win or pay together; or one half of commits.
    PartSlower,
    /// They completed under the scheduler compared with, and none did under this one.
    Starves,
    /// No tenant is served worse by the winner.
    NobodyPays,
    /// So few requests waited in an elevator that their order could not matter: the runs.
    NothingToOrder,
    /// They are served better with limits of other flows than without.
    HostGains,
    /// They are served worse with limits, or below an elevator, than without; with its tags where it has fewer.
    HostPays,
    /// Limits of other flows bring reads nothing; where the drive's scheduler takes reads first, its answer.
    LimitBringsNothing,
    /// The quarters of the requests differ, or a few windows of time or requests make the difference.
    Uneven,
    /// By how much sharing the drive slows a flow.
    Slowdown,
    /// The mean goes one way, most requests go the other.
    Majority,
    /// Write amplification differs.
    WriteAmplification,
    /// One decision alone brings the largest gain or loss.
    DecisionBrings,
    /// Decisions of which each alone brings the largest gain or loss, and none takes it away alone.
    EachBrings,
    /// No decision alone brings the largest gain or loss: those in which the two schedulers differ.
    NoDecisionAlone,
    /// Decisions were not tried one by one: those in which the two schedulers differ.
    DecisionsDiffer,
    /// How many seeds there are, and what they change.
    Seeds,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// Mean response time, ns.
    Mean,
    /// 99th percentile, ns.
    P99,
    /// Requests completed per second.
    Rate,
    /// Write amplification.
    WriteAmplification,
}

/// A figure of the summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Where it stands in the summary: a JSON pointer.
    pub path: String,
    /// It.
    pub value: f64,
}

/// A figure under two schedulers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What is compared.
    pub measure: Compared,
    /// It under the scheduler compared with.
    pub from: f64,
    /// It under the other.
    pub to: f64,
    /// Paths in the summary of the figures that `from` and `to` are made of: one each, of a commit those of its writes and its flush.
    pub paths: Vec<String>,
    /// How many times better: above 1 a shorter time, more requests, fewer pages written; 1 exactly where the two are alike.
    pub factor: f64,
    /// How far the two may be apart to be alike, percent of the smaller.
    pub within_percent: f64,
    /// The fewest requests that `from` or `to` rests on.
    pub requests: u64,
    /// Erases that write amplification rests on, if they are too few to tell: 1 to 29 in one of two runs, under one seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_few_erases: Option<u64>,
    /// What other seeds say; null if there are none.
    pub seeds: Option<SeedOpinion>,
}

/// What the seeds say of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedOpinion {
    /// In one word.
    pub says: SeedWord,
    /// Seeds under which both schedulers have the figure.
    pub seeds: u32,
    /// How many different outcomes these had: runs whose figures for these requests are all equal are one.
    pub outcomes: u32,
    /// Those under which it is better by over 1 %.
    pub better: Option<SeedRange>,
    /// Those under which it is worse by over 1 %.
    pub worse: Option<SeedRange>,
    /// Those under which the two are within 1 % of one another.
    pub alike: u32,
}

/// Seeds that go one way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedRange {
    /// How many.
    pub seeds: u32,
    /// The smallest factor between the two figures, the larger over the smaller.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// What they say in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeedWord {
    /// Fewer than five seeds: nothing is decided.
    TooFew,
    /// All seeds give the same figures here.
    Same,
    /// All seeds give the same figures, here and everywhere else in the comparison.
    NothingChanges,
    /// All of at least five differ by over 1 % in one direction.
    Decided,
    /// All are within 1 %.
    Alike,
    /// None of these.
    Open,
}

impl Change {
    /// Whether the two are within the tolerance.
    pub fn is_alike(&self) -> bool {
        self.factor == 1.0
    }

    /// How large it is, whichever way it goes: at least 1.
    pub fn size(&self) -> f64 {
        self.factor.max(1.0 / self.factor)
    }
}

impl Finding {
    /// A finding about nothing yet.
    pub(super) fn new(kind: FindingKind) -> Finding {
        Finding {
            kind,
            scheduler: None,
            baseline: None,
            flow: None,
            request: None,
            changes: Vec::new(),
            figures: Vec::new(),
            names: Vec::new(),
            size: 1.0,
            decided: None,
            is_on_first_screen: true,
            text: String::new(),
        }
    }

    /// The change of a measure.
    pub fn change(&self, measure: Compared) -> Option<&Change> {
        self.changes.iter().find(|change| change.measure == measure)
    }

    /// The figure whose path ends with this; 0 if there is none.
    pub(super) fn figure(&self, end: &str) -> f64 {
        self.figures.iter().find(|figure| figure.path.ends_with(end)).map_or(0.0, |figure| figure.value)
    }
}
