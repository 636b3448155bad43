//! The schedulers of FLIN's comparison: its baselines, FLIN, and FLIN's stages one at a time.

use super::PLAIN;
use crate::entries::{Answers, SchedulerEntry};

const PAPER: &str = "FLIN (ISCA 2018)";
const LARGEST: Answers = Answers { pick: "largest-group", preempt: "suspend", collect: "semi-preemptive", ..PLAIN };
const BALANCED: Answers =
    Answers { pick: "wait-balanced", preempt: "proportional", collect: "write-triggered", ..PLAIN };

pub(super) const SPRINKLER: SchedulerEntry = SchedulerEntry {
    name: "sprinkler",
    paper: PAPER,
    section: "§6; model 2.1.9; Sprinkler (HPCA 2014)",
    summary: "largest multi-plane, multi-die group first, reads first, suspension, semi-preemptive garbage collection",
    answers: LARGEST,
    open: &[],
    set: &[],
};

pub(super) const SPRINKLER_NP: SchedulerEntry = SchedulerEntry {
    name: "sprinkler-np",
    paper: PAPER,
    section: "§6, §3.4; D-FLN-29",
    summary: "sprinkler with garbage collection that goes before user transactions until its victim is erased",
    answers: Answers { collect: "non-preemptive", ..LARGEST },
    open: &[],
    set: &[],
};

pub(super) const SPRINKLER_FAIRNESS: SchedulerEntry = SchedulerEntry {
    name: "sprinkler+fairness",
    paper: PAPER,
    section: "§7; model 2.1.9 WA-BC; Jun and Shin (NVMSA 2015)",
    summary: "sprinkler, and each flow has a budget of flash time that pays for the garbage collection it causes",
    answers: Answers { admit: "budget", ..LARGEST },
    open: &[],
    set: &[],
};

pub(super) const SPRINKLER_FAIRNESS_NP: SchedulerEntry = SchedulerEntry {
    name: "sprinkler+fairness-np",
    paper: PAPER,
    section: "§7; D-FLN-29",
    summary: "sprinkler+fairness with garbage collection that goes before user transactions until its victim is erased",
    answers: Answers { admit: "budget", collect: "non-preemptive", ..LARGEST },
    open: &[],
    set: &[],
};

pub(super) const FLIN: SchedulerEntry = SchedulerEntry {
    name: "flin",
    paper: PAPER,
    section: "§4; model 2.1.3 to model 2.1.7",
    summary: "equal slowdowns: fair places in queues, turns by priority, balanced waits, garbage collection paid by its cause",
    answers: Answers { order: "fair", ..BALANCED },
    open: &[],
    set: &[],
};

pub(super) const STAGE_1: SchedulerEntry = SchedulerEntry {
    name: "flin-stage1",
    paper: PAPER,
    section: "§7.2; model 2.1.9 FLIN-S1",
    summary: "fair insertion alone, with reads first, suspension and semi-preemptive garbage collection",
    answers: Answers { order: "fair", preempt: "suspend", collect: "semi-preemptive", ..PLAIN },
    open: &[],
    set: &[],
};

pub(super) const STAGE_3: SchedulerEntry = SchedulerEntry {
    name: "flin-stage3",
    paper: PAPER,
    section: "§7.2; model 2.1.9 FLIN-S3",
    summary: "flin with insertion in order of arrival",
    answers: BALANCED,
    open: &[],
    set: &[],
};
