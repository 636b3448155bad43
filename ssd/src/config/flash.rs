//! The flash: array times, what commands may do, and the buses.

use flashlane_core::Duration;

/// Flash array times and abilities.
#[derive(Clone, Debug)]
pub struct Nand {
    /// Array time of a page read.
    pub read: Latency,
    /// Array time of a page program.
    pub program: Latency,
    /// Array time of a block erase.
    pub erase: Latency,
    /// Program-verify iterations of a typical program (D-SLK-12).
    pub iterations: u32,
    /// Time to pause a program or an erase.
    pub suspend: Duration,
    /// Time to resume it.
    pub resume: Duration,
    /// One command may work on several planes of a die.
    pub multi_plane: bool,
    /// One command may work on several dies of a unit.
    pub multi_die: bool,
    /// The pages of a multi-plane read must have the same offset in their blocks.
    pub same_page_read: bool,
    /// The pages of a multi-plane program must have the same offset in their blocks.
    pub same_page_program: bool,
}

/// An array time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Latency {
    /// Always the same.
    Constant(Duration),
    /// Gaussian by the sum of twelve uniforms, never below 1 ns.
    Gaussian {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
    },
    /// Pages of even offset are fast, pages of odd offset slow (multi-level cells).
    FastSlow {
        /// Even offsets.
        fast: Duration,
        /// Odd offsets.
        slow: Duration,
    },
}

impl Latency {
    /// The value that schedulers calculate with.
    pub const fn typical(self) -> Duration {
        match self {
            Latency::Constant(d) => d,
            Latency::Gaussian { mean, .. } => mean,
            Latency::FastSlow { fast, slow } => Duration::from_ns((fast.ns() + slow.ns()) / 2),
        }
    }
}

/// A channel bus.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Million transfers per second; with `u32::MAX` transfers take no time.
    pub mega_transfers: u32,
    /// Bytes per transfer.
    pub width_bytes: u32,
    /// How transfer times are rounded (model 0.2).
    pub rounding: Rounding,
    /// Whether the spare bytes of a whole page cross the bus too.
    pub with_metadata: bool,
    /// Command phase of a read, a program, an erase on the bus.
    pub command: [Duration; 3],
    /// Set-up before a data-out phase.
    pub data_out_setup: Duration,
    /// Extra array time for each further plane of a command.
    pub plane_gap: Duration,
    /// When a unit may decide.
    pub dispatch: Dispatch,
}

/// Rounding of bus times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// `round_half_up(bytes * 1000 / (width * mega_transfers))` ns.
    Exact,
    /// As MQSim: `floor(2000 / mega_transfers)` ns for two transfers, which is 6 ns for two bytes at 333 MT/s.
    MqSim,
}

/// When a free unit chooses its next command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// At once; the chosen command then waits for the bus if it needs it.
    Eager,
    /// Only while the bus is free too, as MQSim does.
    BusIdle,
}
