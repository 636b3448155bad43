//! What the estimator's state would cost in hardware, as the paper counts it (Slacker §5.3): counters, flags and registers
//! of every chip and channel.

/// One kind of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// What it is.
    pub name: &'static str,
    /// How it is stored.
    pub kind: Kind,
}

/// How a piece of state is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An up/down counter.
    Counter,
    /// A flag.
    Flag,
    /// A time register.
    Register,
}

impl Kind {
    /// Bits: counters of 32, time registers of 64, which never wrap in a run.
    pub const fn bits(self) -> u32 {
        match self {
            Kind::Counter => 32,
            Kind::Flag => 1,
            Kind::Register => 64,
        }
    }
}

const fn counter(name: &'static str) -> State {
    State { name, kind: Kind::Counter }
}

/// Of every chip: eight counters, a flag, two registers.
pub const CHIP: &[State] = &[
    counter("Num_RDQ"),
    counter("Num_WRQ"),
    counter("Cntr_RD"),
    counter("Cntr_WR"),
    counter("Cntr_ER"),
    counter("Cntr_ARD"),
    counter("Cntr_AWR"),
    counter("Cntr_Move"),
    State { name: "Flag_RD/WR", kind: Kind::Flag },
    State { name: "T_Start", kind: Kind::Register },
    State { name: "T_Now", kind: Kind::Register },
];

/// Of every channel: two counters.
pub const CHANNEL: &[State] = &[counter("Cntr_Ready"), counter("Cntr_Total")];

/// Of every chip beyond the paper's list: the mean of D-SLK-02 needs the number of advanced commands, too.
pub const CHIP_MORE: &[State] = &[counter("advanced read commands"), counter("advanced write commands")];

/// Of every waiting transaction; the paper does not list it.
pub const TRANSACTION: &[State] = &[State { name: "slack", kind: Kind::Register }];

/// Whole bytes that hold all of `states`.
pub fn bytes(states: &[State]) -> u32 {
    states.iter().map(|state| state.kind.bits()).sum::<u32>().div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_in_the_paper() {
        let count = |states: &[State], kind| states.iter().filter(|state| state.kind == kind).count();
        assert_eq!([Kind::Counter, Kind::Flag, Kind::Register].map(|kind| count(CHIP, kind)), [8, 1, 2]);
        assert_eq!([Kind::Counter, Kind::Flag, Kind::Register].map(|kind| count(CHANNEL, kind)), [2, 0, 0]);
        assert_eq!([CHIP, CHANNEL, CHIP_MORE, TRANSACTION].map(bytes), [49, 8, 8, 8]);
    }
}
