//! The estimator's switches as parameters of schedulers; 0 is the model's decision, 1 the paper by the letter or
//! another reading.

use super::Options;
use crate::params::{Param, Values};

/// See [`Options::literal_advanced`].
pub const ADV_LITERAL: Param = Param::switch(
    "adv_literal",
    0,
    "the advanced counters of eq. 4 count commands, as the paper's sentence reads, not transactions (D-SLK-02)",
);
/// See [`Options::double_count`].
pub const DOUBLE_COUNT: Param = Param::switch(
    "double_count",
    0,
    "the second line of eq. 4 by the letter: waiting reads count twice for a write (D-SLK-03)",
);
/// See [`Options::gc_per_operation`].
pub const GC_PER_OP: Param =
    Param::switch("gc_per_op", 0, "collection may come before every operation ahead, not once a wait (D-SLK-06)");
/// See [`Options::physical_residual`].
pub const RESIDUAL_PHY: Param = Param::switch(
    "residual_phy",
    0,
    "eq. 7 asks the hardware when it will be free instead of taking typical times (D-SLK-07)",
);
/// See [`super::ErrorTerm`].
pub const ERR_TERM: Param = Param::switch(
    "err_term",
    0,
    "adds the mean error of the last second to estimated waits (footnote 3); slack does not change",
);

/// All of them.
pub const ALL: &[Param] = &[ADV_LITERAL, DOUBLE_COUNT, GC_PER_OP, RESIDUAL_PHY, ERR_TERM];

impl Options {
    /// The switches as set; the answer must declare [`ALL`] but the error term.
    pub(crate) fn of(values: &Values<'_>) -> Options {
        Options {
            literal_advanced: values.get(ADV_LITERAL.name) == 1,
            double_count: values.get(DOUBLE_COUNT.name) == 1,
            gc_per_operation: values.get(GC_PER_OP.name) == 1,
            physical_residual: values.get(RESIDUAL_PHY.name) == 1,
        }
    }
}
