//! Repeated division by the same number.

/// A divisor known in advance. If it is a power of two, as most are, dividing by it takes a shift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divisor {
    number: u64,
    shift: Option<u32>,
}

impl Divisor {
    /// Divides by `number`, which must not be zero.
    pub const fn new(number: u32) -> Divisor {
        assert!(number != 0);
        let shift = if number.is_power_of_two() { Some(number.trailing_zeros()) } else { None };
        Divisor { number: number as u64, shift }
    }

    /// The number that it divides by.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Quotient and remainder of `n`.
    #[inline(always)]
    pub const fn split(self, n: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (n >> shift, n & (self.number - 1)),
            None => (n / self.number, n % self.number),
        }
    }

    /// Quotient of `n`, rounded down.
    #[inline(always)]
    pub const fn quotient(self, n: u64) -> u64 {
        match self.shift {
            Some(shift) => n >> shift,
            None => n / self.number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_division() {
        for number in [1, 2, 3, 7, 8, 100, 128, 384, 4096, 1 << 31, u32::MAX] {
            let divisor = Divisor::new(number);
            for n in [0, 1, 2, 99, 4095, 4096, u64::from(number) - 1, u64::from(number), u64::from(u32::MAX), 1 << 40] {
                let (quotient, rest) = divisor.split(n);
                assert_eq!((quotient, rest), (n / u64::from(number), n % u64::from(number)), "{n} by {number}");
                assert_eq!(divisor.quotient(n), quotient);
            }
        }
    }
}
