//! The parameters of FLIN's answers: its configuration values (model 2.1.8), and every choice where the paper is silent or
//! contradicts itself (model 2.3), the decision as the default.

use super::gc_quota::{QuotaRule, Rounding};
use super::intensity::Rule;
use crate::order::fair::Settings;
use crate::params::{Param, Values};

/// Parameters of the first stage.
pub(crate) static ORDER_PARAMS: &[Param] = &[
    Param {
        name: "epoch_us",
        unit: "us",
        default: 10_000,
        min: 1,
        max: 1 << 40,
        help: "flows are classed by intensity every so often (FLIN §5.1)",
    },
    Param {
        name: "alpha_read",
        unit: "B/s",
        default: 32_000_000,
        min: 0,
        max: 1 << 50,
        help: "reads at this rate and above are of high intensity (FLIN §6; decimal, D-FLN-02)",
    },
    Param {
        name: "alpha_write",
        unit: "B/s",
        default: 256_000,
        min: 0,
        max: 1 << 50,
        help: "writes at this rate and above are of high intensity; below a page an epoch any write is (D-FLN-03)",
    },
    Param {
        name: "rate_window",
        unit: "epochs",
        default: 1,
        min: 1,
        max: 1000,
        help: "number of epochs over which rates are taken (D-FLN-03)",
    },
    Param::switch("class_per_unit", 0, "classes by unit, against the limits over the number of units (D-FLN-02)"),
    Param::switch("alpha_per_epoch", 0, "alpha_read and alpha_write are bytes of an epoch, not of a second (D-FLN-27)"),
    Param {
        name: "fairness_threshold",
        unit: "thousandths",
        default: 600,
        min: 0,
        max: 1000,
        help: "below this fairness the worst-off flow of high intensity goes to the front (FLIN §6, F_thr)",
    },
    Param::switch("barrier", 1, "what was moved to the front may not be passed, nor its flow reversed (D-FLN-08)"),
    Param::switch(
        "alone_departed",
        0,
        "a flow's last transaction counts for the alone wait after it has left (D-FLN-06)",
    ),
    Param::switch(
        "average_halves",
        0,
        "average slowdowns count half after every epoch, else all of the run (D-FLN-09)",
    ),
];

/// Parameters of garbage collection before writes. The pick decision computes what the collect decision will do, so both
/// have them.
pub(crate) static QUOTA_PARAMS: &[Param] = &[
    Param {
        name: "gc_pages",
        unit: "pages",
        default: 1024,
        min: 0,
        max: 1 << 40,
        help: "writes pay for garbage collection while their plane has fewer free pages (FLIN §6, GC_FLIN; D-FLN-14)",
    },
    Param {
        name: "gc_net_blocks",
        unit: "blocks",
        default: 1,
        min: 0,
        max: 1 << 20,
        help: "a write does all that waits while its plane has this many free blocks or fewer (safety net of D-FLN-13)",
    },
    Param {
        name: "gc_rounding",
        unit: "0 up, 1 down, 2 nearest",
        default: 0,
        min: 0,
        max: 2,
        help: "rounding of a write's share of page moves (D-FLN-13)",
    },
    Param::switch(
        "gc_preemptible",
        0,
        "reads go between page moves that a write pays for, and interrupt their programs (D-FLN-16)",
    ),
];

/// Parameters of suspension by proportional waits.
pub(crate) static SUSPENSION_PARAMS: &[Param] = &[Param::switch(
    "present_pause",
    0,
    "a program in service has waited only for as long as it stands paused now (O1; D-FLN-28)",
)];

/// The first stage's settings.
pub(crate) fn order_settings(values: &Values<'_>) -> Settings {
    Settings {
        intensity: Rule {
            epoch_ns: values.get("epoch_us") * 1000,
            limit: [values.get("alpha_read"), values.get("alpha_write")],
            per_epoch: values.get("alpha_per_epoch") == 1,
            window: values.get("rate_window"),
            per_unit: values.get("class_per_unit") == 1,
        },
        threshold: values.get("fairness_threshold"),
        barrier: values.get("barrier") == 1,
        count_departed: values.get("alone_departed") == 1,
        halve: values.get("average_halves") == 1,
    }
}

/// When writes trigger collection, and how much.
pub(crate) fn quota_rule(values: &Values<'_>) -> QuotaRule {
    QuotaRule {
        below_pages: values.get("gc_pages"),
        net_blocks: values.get("gc_net_blocks"),
        rounding: Rounding::numbered(values.get("gc_rounding")),
        preemptible: values.get("gc_preemptible") == 1,
    }
}
