//! The catalogue's data: the answers by name, and the schedulers composed of them.

use flashlane_core::decide::Question;

use crate::entries::{AnswerEntry, Answers, SchedulerEntry};
use crate::{admit, cancel, collect, order, pick, place, preempt};

/// Every answer, in a file of its own.
pub(crate) static ANSWERS: &[AnswerEntry] = &[
    admit::round_robin::ENTRY,
    admit::weighted::ENTRY,
    admit::budget::ENTRY,
    admit::ncq::OLDEST,
    admit::ncq::SHORTEST,
    place::home::ENTRY,
    place::rotate::ENTRY,
    place::dynamic::ENTRY,
    place::late::ENTRY,
    place::rebalance::ENTRY,
    order::tail::ENTRY,
    order::fair::ENTRY,
    order::slack_bypass::SLACK_BYPASS,
    order::need::ENTRY,
    order::slack_bypass::SLACK_ORACLE,
    pick::fcfs::ENTRY,
    pick::read_first::ENTRY,
    pick::read_first_bounded::ENTRY,
    pick::fr_fcfs::ENTRY,
    pick::sprinkler::ENTRY,
    pick::wait_balanced::ENTRY,
    preempt::never::ENTRY,
    preempt::blind::SUSPEND,
    preempt::blind::PAUSE_AT_BOUNDARY,
    preempt::proportional::ENTRY,
    preempt::worth::ENTRY,
    preempt::by_slack::ENTRY,
    collect::first::ATOMIC,
    collect::first::NON_PREEMPTIVE,
    collect::semi_preemptive::ENTRY,
    collect::paced::ENTRY,
    collect::write_triggered::ENTRY,
    collect::free::ENTRY,
    cancel::keep::ENTRY,
    cancel::overwrite::ENTRY,
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

/// Slacker's baseline; its systems change what they differ in. That nothing interrupts a collection is what the paper says of its drive, not
/// of its scheduler (D-SLK-14): its experiments set `run.collect = "atomic"`.
const FR_FCFS: Answers = Answers { pick: "fr-fcfs", ..PLAIN };

/// Sprinkler as in FLIN §6, and FLIN without its first stage.
const LARGEST: Answers = Answers { pick: "largest-group", preempt: "suspend", ..PLAIN };
const BALANCED: Answers =
    Answers { pick: "wait-balanced", preempt: "proportional", collect: "write-triggered", ..PLAIN };

/// The baseline of SOS, and where the NCQ paper begins.
const FIFO: Answers = Answers { pick: "fcfs", ..PLAIN };

/// What an entry has that does not say otherwise: a paper that says nothing about garbage collection leaves it open.
const OURS: SchedulerEntry = SchedulerEntry {
    name: "",
    paper: "ours",
    section: "",
    summary: "",
    answers: PLAIN,
    open: &[Question::Collect],
    set: &[],
};

/// The same of each paper. FLIN's systems decide about collection, but for those of its comparison that it takes from elsewhere.
const FLIN: SchedulerEntry = SchedulerEntry { paper: "FLIN (ISCA 2018)", ..OURS };
const FLIN_COLLECTS: SchedulerEntry = SchedulerEntry { open: &[], ..FLIN };
const SLACKER: SchedulerEntry = SchedulerEntry { paper: "Slacker (ASPLOS 2017)", answers: FR_FCFS, ..OURS };
/// Commands are chosen on their way in, and nothing reorders them behind it.
const NCQ: SchedulerEntry =
    SchedulerEntry { paper: "NCQ scheduling (ELEX 2015)", answers: Answers { admit: "shortest", ..FIFO }, ..OURS };
/// A chip does one operation at a time.
const SOS: SchedulerEntry =
    SchedulerEntry { paper: "SOS (MSST 2013)", answers: FIFO, set: &[("fcfs_widen", 0)], ..OURS };

pub(crate) static SCHEDULERS: &[SchedulerEntry] = &[
    SchedulerEntry {
        name: "fcfs",
        section: "§6; model 2.1.9",
        summary: "first come, first served on every chip",
        answers: FIFO,
        ..FLIN
    },
    SchedulerEntry { name: "read-first", section: "§3.3; model 2.1.9 RP", summary: "reads before writes", ..FLIN },
    SchedulerEntry {
        name: "read-first-suspend",
        section: "§6; model 2.1.9 RP+S",
        summary: "reads before writes, and a waiting read suspends programs and erases",
        answers: Answers { preempt: "suspend", ..PLAIN },
        ..FLIN
    },
    SchedulerEntry {
        name: "fr-fcfs",
        section: "§2.1; model 1.1.2",
        summary: "reads before writes until the write queue fills; Slacker's baseline",
        ..SLACKER
    },
    SchedulerEntry {
        name: "sprinkler",
        section: "§6; model 2.1.9; Sprinkler (HPCA 2014)",
        summary: "largest multi-plane, multi-die group first, reads first, suspension, semi-preemptive garbage collection",
        answers: LARGEST,
        ..FLIN_COLLECTS
    },
    SchedulerEntry {
        name: "sprinkler-np",
        section: "§6, §3.4; D-FLN-29",
        summary: "sprinkler with garbage collection that goes before user transactions until its victim is erased",
        answers: Answers { collect: "non-preemptive", ..LARGEST },
        ..FLIN_COLLECTS
    },
    SchedulerEntry {
        name: "sprinkler+fairness",
        section: "§7; model 2.1.9 WA-BC; Jun and Shin (NVMSA 2015)",
        summary: "sprinkler, and each flow has a budget of flash time that pays for the garbage collection it causes",
        answers: Answers { admit: "budget", ..LARGEST },
        ..FLIN_COLLECTS
    },
    SchedulerEntry {
        name: "sprinkler+fairness-np",
        section: "§7; D-FLN-29",
        summary: "sprinkler+fairness with garbage collection that goes before user transactions until its victim is erased",
        answers: Answers { admit: "budget", collect: "non-preemptive", ..LARGEST },
        ..FLIN_COLLECTS
    },
    SchedulerEntry {
        name: "flin",
        section: "§4; model 2.1.3 to model 2.1.7",
        summary: "equal slowdowns: fair places in queues, turns by priority, balanced waits, garbage collection paid by its cause",
        answers: Answers { order: "fair", ..BALANCED },
        ..FLIN_COLLECTS
    },
    SchedulerEntry {
        name: "flin-stage1",
        section: "§7.2; model 2.1.9 FLIN-S1",
        summary: "fair insertion alone, with reads first, suspension and semi-preemptive garbage collection",
        answers: Answers { order: "fair", preempt: "suspend", ..PLAIN },
        ..FLIN_COLLECTS
    },
    SchedulerEntry {
        name: "flin-stage3",
        section: "§7.2; model 2.1.9 FLIN-S3",
        summary: "flin with insertion in order of arrival",
        answers: BALANCED,
        ..FLIN_COLLECTS
    },
    SchedulerEntry {
        name: "wbyp",
        section: "§4.1; model 1.1.3",
        summary: "fr-fcfs, and writes go ahead of writes that have enough slack",
        answers: Answers { order: "slack-bypass", ..FR_FCFS },
        set: &[("rbyp", 0)],
        ..SLACKER
    },
    SchedulerEntry {
        name: "rbyp",
        section: "§4.1; model 1.1.3",
        summary: "fr-fcfs, and reads go ahead of reads that have enough slack",
        answers: Answers { order: "slack-bypass", ..FR_FCFS },
        set: &[("wbyp", 0)],
        ..SLACKER
    },
    SchedulerEntry {
        name: "wp",
        section: "§4.2; model 1.1.6",
        summary: "fr-fcfs, and reads pause programs that have enough slack",
        answers: Answers { order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        set: &[("rbyp", 0), ("wbyp", 0)],
        ..SLACKER
    },
    SchedulerEntry {
        name: "rbyp+wp",
        section: "§7; model 1.1.7",
        summary: "rbyp and wp together",
        answers: Answers { order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        set: &[("wbyp", 0)],
        ..SLACKER
    },
    SchedulerEntry {
        name: "slacker",
        section: "§4; model 1.1",
        summary: "rbyp, wbyp and wp together",
        answers: Answers { order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        ..SLACKER
    },
    SchedulerEntry {
        name: "need",
        paper: "ours, after Slacker",
        section: "model 1.1.9",
        summary: "slacker, and pages of a request bypass only as far as the request ends earlier by it",
        answers: Answers { order: "need-bypass", preempt: "slack-pause", ..FR_FCFS },
        ..OURS
    },
    SchedulerEntry {
        name: "late",
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
        ..OURS
    },
    SchedulerEntry {
        name: "dynalloc",
        section: "§3.3, §7.6; model 1.1.7",
        summary: "fr-fcfs, and writes go to whichever chip is free",
        answers: Answers { place: "dynamic", ..FR_FCFS },
        ..SLACKER
    },
    SchedulerEntry {
        name: "dynalloc+slacker",
        section: "§7.6; model 1.1.7",
        summary: "slacker, and writes go to whichever chip is free",
        answers: Answers { place: "dynamic", order: "slack-bypass", preempt: "slack-pause", ..FR_FCFS },
        ..SLACKER
    },
    SchedulerEntry {
        name: "wp-blind",
        section: "§4.2; model 1.1.7",
        summary: "fr-fcfs, and any waiting read pauses a program: a control for wp",
        answers: Answers { preempt: "pause-at-boundary", ..FR_FCFS },
        ..SLACKER
    },
    SchedulerEntry {
        name: "oracle-slack",
        section: "§5; model 1.1.7",
        summary: "slacker with the baseline's true response times in place of estimates: a control",
        answers: Answers { order: "slack-oracle", preempt: "slack-pause", ..FR_FCFS },
        ..SLACKER
    },
    SchedulerEntry {
        name: "ncq-fcfs",
        section: "§3; model 5.1 FCFS",
        summary: "first come, first served, in the host interface and on every chip",
        answers: Answers { admit: "oldest", ..FIFO },
        ..NCQ
    },
    SchedulerEntry {
        name: "ncq-s",
        section: "§2 eq. 1; model 5.1 S",
        summary: "of the waiting commands the smallest first",
        set: &[("ncq_type", 0), ("ncq_buffer", 0)],
        ..NCQ
    },
    SchedulerEntry {
        name: "ncq-sb",
        section: "§3; model 5.1 SB",
        summary: "ncq-s, counting only pages that are not in the buffer",
        set: &[("ncq_type", 0)],
        ..NCQ
    },
    SchedulerEntry {
        name: "ncq-ts",
        section: "§2 eq. 2; model 5.1 TS",
        summary: "ncq-s, with the different times of reads and writes",
        set: &[("ncq_buffer", 0)],
        ..NCQ
    },
    SchedulerEntry {
        name: "ncq-tsb",
        section: "§2 eq. 3; model 5.1 TSB",
        summary: "of the waiting commands the one with the shortest service by size, type and buffer: the proposal",
        ..NCQ
    },
    SchedulerEntry {
        name: "hos",
        section: "HOS; model 4.1.1",
        summary: "out of order across chips, first come first served on each, by physical addresses; SOS's baseline",
        ..SOS
    },
    SchedulerEntry {
        name: "hos+qsl",
        section: "QSL; model 4.1.2",
        summary: "hos, and idle chips take waiting writes from the chip with the most work",
        answers: Answers { place: "rebalance", ..FIFO },
        ..SOS
    },
    SchedulerEntry {
        name: "hos+whm",
        section: "WHM; model 4.1.2",
        summary: "hos, and a waiting write is dropped when a younger write of its page arrives",
        answers: Answers { cancel: "overwrite", ..FIFO },
        ..SOS
    },
    SchedulerEntry {
        name: "sos",
        section: "SOS; model 4.1.2",
        summary: "hos with both: balanced queues and no useless writes",
        answers: Answers { place: "rebalance", cancel: "overwrite", ..FIFO },
        ..SOS
    },
];

/// Answers that no drive can give: what a scheduler gains by them is a bound, not a choice. Pairs of a question and a name.
pub(crate) static CONTROL_ANSWERS: &[(Question, &str)] =
    &[(Question::Collect, "free"), (Question::Order, "slack-oracle")];

/// Schedulers that are there to compare others with: with the oracle's order, and with what `wp` leaves out.
pub(crate) static CONTROL_SCHEDULERS: &[&str] = &["oracle-slack", "wp-blind"];

/// Other names of schedulers.
pub(crate) static ALIASES: &[(&str, &str)] = &[("baseline", "fr-fcfs")];
