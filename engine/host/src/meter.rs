//! What a host counts: where CPU time went, what was predicted, what background threads did.

use alloc::vec::Vec;

use flashlane_core::Duration;

/// Where the CPUs' time went, summed over the CPUs. What is missing in the elapsed time of all CPUs was idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Foreground threads submitting I/Os.
    pub submit: Duration,
    /// Foreground threads spinning.
    pub spin: Duration,
    /// Interrupts, wake-ups and switches.
    pub overhead: Duration,
    /// Background threads.
    pub background: Duration,
}

/// Errors of predictions: predicted end less actual end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Predictions.
    pub count: u64,
    /// Sum of the errors, ns.
    pub sum_ns: i128,
    /// Sum of their squares, ns^2 (D-PRE-01).
    pub squares_ns: u128,
    /// Predictions that were off by a microsecond at least.
    pub beyond_1us: u64,
}

impl Errors {
    /// Counts a prediction of `predicted` ns for what ended at `actual`.
    #[inline]
    pub(crate) fn count(&mut self, predicted: u64, actual: u64) {
        // Instants of a run fit into 63 bits.
        let error = predicted as i64 - actual as i64;
        let size = error.unsigned_abs();
        self.count += 1;
        self.sum_ns += i128::from(error);
        self.squares_ns += u128::from(size) * u128::from(size);
        self.beyond_1us += u64::from(size >= 1_000);
    }
}

/// I/Os that were predicted to be served from the device's memory, and what came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classified {
    /// Spun for, and the memory served it.
    pub hit: u64,
    /// Spun for in vain: the flash was needed.
    pub miss: u64,
    /// Slept for, though the memory served it.
    pub unseen: u64,
}

/// What groups of background threads did, by group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Operations: for burners nanoseconds of CPU time, for I/O threads sections.
    pub operations: Vec<u64>,
}

/// Everything a host has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// CPU time.
    pub cpu: CpuTime,
    /// Completion interrupts delivered to foreground threads, early ones included.
    pub interrupts: u64,
    /// Precompletion messages sent.
    pub messages: u64,
    /// Predicted I/Os that completed before their message was due.
    pub too_late: u64,
    /// Small reads from the flash without a prediction, because the predictor was cold.
    pub cold: u64,
    /// Times a thread spun for too long and slept again.
    pub gave_up: u64,
    /// Predictions as they were when the read was issued to the chip.
    pub at_issue: Errors,
    /// Predictions as they were when the message was sent, or (where it was not) at completion.
    pub at_message: Errors,
    /// Reads of the device's memory: predicted and not.
    pub reads: Classified,
    /// Writes to the device's buffer: predicted and not.
    pub writes: Classified,
}
