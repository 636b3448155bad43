//! The catalogue's data: the answers by name, and the schedulers composed of them.

mod fairness;
mod sos;

use alloc::boxed::Box;

use flashlane_core::decide::{Cancel, Collect, Order, Pick, Place, Preempt, Question};

use crate::entries::{Answers, Choice, SchedulerEntry};
use crate::params::Param;
use crate::{cancel, collect, flin, order, pick, place, preempt};

pub(crate) static PLACE: &[Choice<dyn Place>] = &[
    Choice {
        name: "static",
        summary: "every page stays on the plane the stripe gives it",
        source: "model 1.1.1",
        params: &[],
        build: &|_| Box::new(place::Home),
    },
    Choice {
        name: "rotate",
        summary: "each write goes to the next plane in turn, channel first",
        source: "model 1.1.1",
        params: &[],
        build: &|_| Box::new(place::Rotate::default()),
    },
    Choice {
        name: "dynamic",
        summary: "a write goes to the chip that can take it first, when it can",
        source: "Slacker §3.3, §7.6; D-SLK-22",
        params: place::dynamic::PARAMS,
        build: &|v| Box::new(place::Dynamic::of(v)),
    },
    Choice {
        name: "late",
        summary: "a write waits for any chip until one could begin it, and chips nearly out of blocks take none",
        source: "ours; model 1.1.10",
        params: place::late::PARAMS,
        build: &|v| Box::new(place::Late::of(v)),
    },
    Choice {
        name: "rebalance",
        summary: "static until a chip has nothing to do: it takes a write from the chip with the most work",
        source: "SOS; model 4.1.2 QSL",
        params: place::rebalance::PARAMS,
        build: &|v| Box::new(place::Rebalance::of(v)),
    },
];

pub(crate) static ORDER: &[Choice<dyn Order>] = &[
    Choice { name: "tail", summary: "order of arrival", source: "", params: &[], build: &|_| Box::new(order::Tail) },
    Choice {
        name: "fair",
        summary: "low intensity before high, then where slowdowns are most equal",
        source: "FLIN §4.1, §5.1-5.3; model 2.1.5",
        params: flin::ORDER_PARAMS,
        build: &|v| Box::new(order::Fair::new(flin::order_settings(v))),
    },
    Choice {
        name: "slack-bypass",
        summary: "ahead of transactions with enough slack, by estimated response times",
        source: "Slacker §4.1, §5; model 1.1.3",
        params: order::slack_bypass::PARAMS,
        build: &|v| Box::new(order::SlackBypass::with_estimates(v)),
    },
    Choice {
        name: "need-bypass",
        summary: "ahead of transactions with enough slack, but only as far as the request ends earlier by it",
        source: "ours, after Slacker §4.1, §5; model 1.1.9",
        params: order::need::PARAMS,
        build: &|v| Box::new(order::Need::of(v)),
    },
    Choice {
        name: "slack-oracle",
        summary: "slack-bypass with the true response times of the baseline in place of estimates: a control",
        source: "model 1.1.7",
        params: order::slack_bypass::PARAMS,
        build: &|v| Box::new(order::SlackBypass::with_known_responses(v)),
    },
];

pub(crate) static PICK: &[Choice<dyn Pick>] = &[
    Choice {
        name: "fcfs",
        summary: "the oldest transaction, read or write",
        source: "model 2.1.9",
        params: &[Param {
            name: "fcfs_widen",
            unit: "0 or 1",
            default: 1,
            min: 0,
            max: 1,
            help: "whether companions may share the oldest transaction's command (multi-plane, multi-die)",
        }],
        build: &|v| Box::new(pick::Fcfs::new(v.get("fcfs_widen") == 1)),
    },
    Choice {
        name: "read-first",
        summary: "reads before writes, each in order",
        source: "model 2.1.9 RP",
        params: &[],
        build: &|_| Box::new(pick::ReadFirst),
    },
    Choice {
        name: "read-first-bounded",
        summary: "reads before writes, the most urgent where there are priorities; a write goes after so many reads in a row",
        source: "ours; model 1.1.12",
        params: pick::read_first_bounded::PARAMS,
        build: &|v| Box::new(pick::ReadFirstBounded::of(v)),
    },
    Choice {
        name: "fr-fcfs",
        summary: "reads before writes until the write queue fills",
        source: "Slacker §2.1; model 1.1.2",
        params: pick::fill::PARAMS,
        build: &|v| Box::new(pick::FrFcfs::new(pick::FillTrigger::of(v))),
    },
    Choice {
        name: "largest-group",
        summary: "the largest multi-plane, multi-die group, then one request's, then the oldest; reads first",
        source: "Sprinkler (HPCA 2014) as in FLIN §6; model 2.1.9",
        params: &[Param {
            name: "group_window",
            unit: "transactions",
            default: 128,
            min: 1,
            max: 1 << 20,
            help: "how far into a queue groups are looked for",
        }],
        build: &|v| Box::new(pick::Sprinkler::new(v.get("group_window"))),
    },
    Choice {
        name: "wait-balanced",
        summary: "levels in turn by weight, then the read or write that waits longer in proportion to its service",
        source: "FLIN §4.2-4.3, §5.4; model 2.1.6, model 2.1.7",
        params: flin::QUOTA_PARAMS,
        build: &|v| Box::new(pick::WaitBalanced::new(flin::quota_rule(v))),
    },
];

pub(crate) static PREEMPT: &[Choice<dyn Preempt>] = &[
    Choice {
        name: "never",
        summary: "commands run to their end",
        source: "",
        params: &[],
        build: &|_| Box::new(preempt::Never),
    },
    Choice {
        name: "suspend",
        summary: "a waiting read suspends a program or erase at once",
        source: "Wu and He (FAST 2012) as in FLIN §6",
        params: &[],
        build: &|_| Box::new(preempt::Blind::anytime()),
    },
    Choice {
        name: "pause-at-boundary",
        summary: "a waiting read pauses a program at the end of its iteration",
        source: "Wu and He (FAST 2012) as in Slacker §4.3",
        params: &[],
        build: &|_| Box::new(preempt::Blind::at_boundaries()),
    },
    Choice {
        name: "proportional",
        summary: "a read suspends a program that waits less in proportion, and any page move made in idle time",
        source: "FLIN §4.3 optimisations; model 2.1.7",
        params: flin::SUSPENSION_PARAMS,
        build: &|v| Box::new(preempt::Proportional::new(v.get("present_pause") == 1)),
    },
    Choice {
        name: "worth",
        summary: "a program or erase is paused if the waiting reads gain more by it than everyone pays",
        source: "ours; model 1.1.11",
        params: preempt::worth::PARAMS,
        build: &|v| Box::new(preempt::Worth::of(v)),
    },
    Choice {
        name: "slack-pause",
        summary: "reads pause a program at the end of its iteration while it can spare the time",
        source: "Slacker §4.2; model 1.1.6",
        params: pick::fill::PARAMS,
        build: &|v| Box::new(preempt::BySlack::new(pick::FillTrigger::of(v))),
    },
];

pub(crate) static COLLECT: &[Choice<dyn Collect>] = &[
    Choice {
        name: "atomic",
        summary: "a victim is emptied and erased without a break",
        source: "D-SLK-14",
        params: &[],
        build: &|_| Box::new(collect::First::atomic()),
    },
    Choice {
        name: "non-preemptive",
        summary: "garbage collection beats user transactions until the victim is erased; reads may suspend its programs",
        source: "model 2.1.9",
        params: &[],
        build: &|_| Box::new(collect::First::non_preemptive()),
    },
    Choice {
        name: "semi-preemptive",
        summary: "user transactions go between its steps above the hard threshold of free blocks",
        source: "model 2.1.9 SPGC",
        params: &[],
        build: &|_| Box::new(collect::SemiPreemptive),
    },
    Choice {
        name: "paced",
        summary: "semi-preemptive, but at the hard threshold writes go between its steps, as many as it frees pages for",
        source: "ours; model 1.1.13",
        params: &[],
        build: &|_| Box::new(collect::Paced),
    },
    Choice {
        name: "write-triggered",
        summary: "in idle time, and before a write of a plane short of pages its flow's share of what waits",
        source: "FLIN §4.3, §5.4 eq. 10; model 2.1.7",
        params: flin::QUOTA_PARAMS,
        build: &|v| Box::new(collect::WriteTriggered::new(flin::quota_rule(v))),
    },
    Choice {
        name: "free",
        summary: "garbage collection takes no time: a control",
        source: "FLN-E7",
        params: &[],
        build: &|_| Box::new(collect::Free),
    },
];

pub(crate) static CANCEL: &[Choice<dyn Cancel>] = &[
    Choice {
        name: "keep",
        summary: "every write is programmed",
        source: "",
        params: &[],
        build: &|_| Box::new(cancel::Keep),
    },
    Choice {
        name: "overwrite",
        summary: "a waiting write is dropped when a younger write of its page arrives",
        source: "SOS; model 4.1.2 WHM",
        params: cancel::overwrite::PARAMS,
        build: &|v| Box::new(cancel::Overwrite::of(v)),
    },
];

/// The simplest answers; each scheduler replaces those in which it differs.
pub(crate) const PLAIN: Answers = Answers {
    admit: "round-robin",
    place: "static",
    order: "tail",
    pick: "read-first",
    preempt: "never",
    collect: "semi-preemptive",
    cancel: "keep",
};

/// What a scheduler leaves open whose source is about no garbage collection.
const OPEN_COLLECT: &[Question] = &[Question::Collect];

/// Slacker's baseline; its systems change what they differ in. That nothing interrupts a collection is what the paper says of its drive, not
/// of its scheduler (D-SLK-14): its experiments set `run.collect = "atomic"`.
const FR_FCFS: Answers = Answers { pick: "fr-fcfs", ..PLAIN };
const SLACKER: &str = "Slacker (ASPLOS 2017)";

/// The systems of the NCQ paper: commands are chosen on their way in, and nothing reorders them behind it.
const NCQ_FCFS: Answers = Answers { admit: "oldest", pick: "fcfs", ..PLAIN };
const NCQ: Answers = Answers { admit: "shortest", ..NCQ_FCFS };
const NCQ_PAPER: &str = "NCQ scheduling (ELEX 2015)";

pub(crate) static SCHEDULERS: &[SchedulerEntry] = &[
    SchedulerEntry {
        name: "fcfs",
        paper: "FLIN (ISCA 2018)",
        section: "§6; model 2.1.9",
        summary: "first come, first served on every chip",
        answers: Answers { pick: "fcfs", ..PLAIN },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "read-first",
        paper: "FLIN (ISCA 2018)",
        section: "§3.3; model 2.1.9 RP",
        summary: "reads before writes",
        answers: PLAIN,
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "read-first-suspend",
        paper: "FLIN (ISCA 2018)",
        section: "§6; model 2.1.9 RP+S",
        summary: "reads before writes, and a waiting read suspends programs and erases",
        answers: Answers { preempt: "suspend", ..PLAIN },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "fr-fcfs",
        paper: SLACKER,
        section: "§2.1; model 1.1.2",
        summary: "reads before writes until the write queue fills; Slacker's baseline",
        answers: FR_FCFS,
        open: OPEN_COLLECT,
        set: &[],
    },
    fairness::SPRINKLER,
    fairness::SPRINKLER_NP,
    fairness::SPRINKLER_FAIRNESS,
    fairness::SPRINKLER_FAIRNESS_NP,
    fairness::FLIN,
    fairness::STAGE_1,
    fairness::STAGE_3,
    SchedulerEntry {
        name: "wbyp",
        paper: SLACKER,
        section: "§4.1; model 1.1.3",
        summary: "fr-fcfs, and writes go ahead of writes that have enough slack",
        answers: Answers { order: "slack-bypass", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[("rbyp", 0)],
    },
    SchedulerEntry {
        name: "rbyp",
        paper: SLACKER,
        section: "§4.1; model 1.1.3",
        summary: "fr-fcfs, and reads go ahead of reads that have enough slack",
        answers: Answers { order: "slack-bypass", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[("wbyp", 0)],
    },
    SchedulerEntry {
        name: "wp",
        paper: SLACKER,
        section: "§4.2; model 1.1.6",
        summary: "fr-fcfs, and reads pause programs that have enough slack",
        answers: Answers { order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[("rbyp", 0), ("wbyp", 0)],
    },
    SchedulerEntry {
        name: "rbyp+wp",
        paper: SLACKER,
        section: "§7; model 1.1.7",
        summary: "rbyp and wp together",
        answers: Answers { order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[("wbyp", 0)],
    },
    SchedulerEntry {
        name: "slacker",
        paper: SLACKER,
        section: "§4; model 1.1",
        summary: "rbyp, wbyp and wp together",
        answers: Answers { order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "need",
        paper: "ours, after Slacker",
        section: "model 1.1.9",
        summary: "slacker, and pages of a request bypass only as far as the request ends earlier by it",
        answers: Answers { order: "need-bypass", preempt: "slack-pause", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "late",
        paper: "ours",
        section: "model 1.1.10 to 1.1.13",
        summary: "writes get a chip as late as possible, reads go first and pause programs where that is worth it: the default choice",
        answers: Answers {
            place: "late",
            pick: "read-first-bounded",
            preempt: "worth",
            collect: "paced",
            cancel: "overwrite",
            ..PLAIN
        },
        // It places writes by how short of blocks planes are, as this collection counts.
        open: &[],
        // Writes that reads can pass on their chip have lost their patience before.
        set: &[("reads_in_row", 4)],
    },
    SchedulerEntry {
        name: "dynalloc",
        paper: SLACKER,
        section: "§3.3, §7.6; model 1.1.7",
        summary: "fr-fcfs, and writes go to whichever chip is free",
        answers: Answers { place: "dynamic", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "dynalloc+slacker",
        paper: SLACKER,
        section: "§7.6; model 1.1.7",
        summary: "slacker, and writes go to whichever chip is free",
        answers: Answers { place: "dynamic", order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "wp-blind",
        paper: SLACKER,
        section: "§4.2; model 1.1.7",
        summary: "fr-fcfs, and any waiting read pauses a program: a control for wp",
        answers: Answers { preempt: "pause-at-boundary", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "oracle-slack",
        paper: SLACKER,
        section: "§5; model 1.1.7",
        summary: "slacker with the baseline's true response times in place of estimates: a control",
        answers: Answers { order: "slack-oracle", preempt: "slack-pause", ..FR_FCFS },
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "ncq-fcfs",
        paper: NCQ_PAPER,
        section: "§3; model 5.1 FCFS",
        summary: "first come, first served, in the host interface and on every chip",
        answers: NCQ_FCFS,
        open: OPEN_COLLECT,
        set: &[],
    },
    SchedulerEntry {
        name: "ncq-s",
        paper: NCQ_PAPER,
        section: "§2 eq. 1; model 5.1 S",
        summary: "of the waiting commands the smallest first",
        answers: NCQ,
        open: OPEN_COLLECT,
        set: &[("ncq_type", 0), ("ncq_buffer", 0)],
    },
    SchedulerEntry {
        name: "ncq-sb",
        paper: NCQ_PAPER,
        section: "§3; model 5.1 SB",
        summary: "ncq-s, counting only pages that are not in the buffer",
        answers: NCQ,
        open: OPEN_COLLECT,
        set: &[("ncq_type", 0)],
    },
    SchedulerEntry {
        name: "ncq-ts",
        paper: NCQ_PAPER,
        section: "§2 eq. 2; model 5.1 TS",
        summary: "ncq-s, with the different times of reads and writes",
        answers: NCQ,
        open: OPEN_COLLECT,
        set: &[("ncq_buffer", 0)],
    },
    SchedulerEntry {
        name: "ncq-tsb",
        paper: NCQ_PAPER,
        section: "§2 eq. 3; model 5.1 TSB",
        summary: "of the waiting commands the one with the shortest service by size, type and buffer: the proposal",
        answers: NCQ,
        open: OPEN_COLLECT,
        set: &[],
    },
    sos::HOS,
    sos::QSL,
    sos::WHM,
    sos::BOTH,
];

/// Answers that no drive can give: what a scheduler gains by them is a bound, not a choice. Pairs of a question and a name.
pub(crate) static CONTROL_ANSWERS: &[(Question, &str)] =
    &[(Question::Collect, "free"), (Question::Order, "slack-oracle")];

/// Schedulers that are there to compare others with: with the oracle's order, and with what `wp` leaves out.
pub(crate) static CONTROL_SCHEDULERS: &[&str] = &["oracle-slack", "wp-blind"];

/// Other names of schedulers.
pub(crate) static ALIASES: &[(&str, &str)] = &[("baseline", "fr-fcfs")];
