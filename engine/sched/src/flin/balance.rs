//! How the wait of a read weighs against that of a write: proportional waits (FLIN §5.4, eq. 6-8).
//!
//! The proportional wait of a transaction is how long it would have waited if the other went first, over its own service time.

use flashlane_core::Duration;

/// A waiting transaction: how long it has waited, and its service time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) waited: Duration,
    pub(crate) service: Duration,
}

/// A proportional wait: a ratio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    over: u128,
    under: u128,
}

impl Wait {
    const fn new(over: Duration, under: Duration) -> Wait {
        Wait { over: over.ns() as u128, under: under.ns() as u128 }
    }

    /// Whether this wait is strictly longer.
    pub(crate) const fn longer_than(self, other: Wait) -> bool {
        self.over * other.under > other.over * self.under
    }

    /// In ten thousandths, rounded.
    #[cfg(test)]
    const fn value(self) -> u128 {
        (self.over * 10_000 + self.under / 2) / self.under
    }
}

/// The proportional waits of a read and a write that wait for one another, when `collection` of garbage collection goes
/// before the write: it counts once in each (D-FLN-11).
pub(crate) fn waits(read: Claim, write: Claim, collection: Duration) -> (Wait, Wait) {
    let wait = |own: Claim, other: Claim| Wait::new(own.waited + other.service + collection, own.service);
    (wait(read, write), wait(write, read))
}

/// The proportional waits of a read and of the program it would interrupt, of which `left` is to run and which `waited`
/// before it began and in pauses; interrupting it costs `overhead` (optimisation O1).
pub(crate) fn waits_in_service(read: Claim, program: Claim, left: Duration, overhead: Duration) -> (Wait, Wait) {
    let read_wait = Wait::new(read.waited + left, read.service);
    (read_wait, Wait::new(program.waited + read.service + overhead, program.service))
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    fn read(waited: u64) -> Claim {
        Claim { waited: US(waited), service: US(100) }
    }

    fn write(waited: u64) -> Claim {
        Claim { waited: US(waited), service: US(1325) }
    }

    /// The two waits and whether the read goes first.
    fn check(r: u64, w: u64, collection: u64, expected: (u128, u128), read_first: bool) {
        let (a, b) = waits(read(r), write(w), US(collection));
        assert_eq!((a.value(), b.value()), expected);
        assert_eq!(a.longer_than(b), read_first);
    }

    /// A-FLN-09.
    #[test]
    fn without_garbage_collection() {
        check(200, 2000, 0, (152_500, 15_849), true);
        check(0, 18_000, 0, (132_500, 136_604), false);
        // Break-even: a just-arrived read against a write that has waited 17,456.25 us.
        let at = |ns| waits(read(0), Claim { waited: Duration::from_ns(ns), service: US(1325) }, Duration::ZERO);
        let wins = |(a, b): (Wait, Wait)| a.longer_than(b);
        assert!(wins(at(17_456_249)) && !wins(at(17_456_250)));
    }

    /// A-FLN-11.
    #[test]
    fn with_ten_moves_before_the_write() {
        check(200, 18_000, 14_250, (1_577_500, 244_151), true);
        check(0, 200_000, 14_250, (1_557_500, 1_617_736), false);
    }

    /// A-FLN-12.
    #[test]
    fn against_a_program_in_service() {
        let (a, b) = waits_in_service(read(10), write(500), US(900), Duration::ZERO);
        assert_eq!((a.value(), b.value(), a.longer_than(b)), (91_000, 4528, true));
        let (a, b) = waits_in_service(read(0), write(18_000), US(20), US(20));
        assert_eq!((a.value(), b.value(), a.longer_than(b)), (2000, 136_755, false));
    }
}
