//! How much of a claim is reproduced: kinds of claims, and verdicts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Published numbers.
    Size,
    /// A sign or an order.
    Direction,
    /// A limit that something keeps to, "about 0" among them.
    Bound,
    /// Arithmetic, or what was set from the paper, and what follows from it. Never in a paper's count.
    Input,
    /// A claim of ours. Never in a paper's count.
    Ours,
}

impl Kind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Size => "size",
            Kind::Direction => "direction",
            Kind::Bound => "bound",
            Kind::Input => "input",
            Kind::Ours => "ours",
        }
    }

    /// Whether it counts as a claim of the paper.
    pub fn counts(self) -> bool {
        !matches!(self, Kind::Input | Kind::Ours)
    }
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A size: it holds, and every number is within 20 % of the published one.
    #[serde(rename = "within-20-percent")]
    Within20Percent,
    /// A size: it holds, and every number is within a factor of two.
    #[serde(rename = "within-a-factor-of-2")]
    WithinFactor2,
    /// A size or a direction: it holds, and no more.
    Direction,
    /// A bound: it is kept.
    BoundKept,
    /// An input or a claim of ours: it holds.
    Holds,
    /// It does not hold.
    Differs,
    /// It cannot be tested here.
    NotTestableHere,
}

impl Verdict {
    /// All verdicts that a claim of a paper may have, in the order of the tables.
    pub const OF_A_PAPER: [Verdict; 6] = [
        Verdict::Within20Percent,
        Verdict::WithinFactor2,
        Verdict::Direction,
        Verdict::BoundKept,
        Verdict::Differs,
        Verdict::NotTestableHere,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Within20Percent => "within 20 %",
            Verdict::WithinFactor2 => "within a factor of 2",
            Verdict::Direction => "direction",
            Verdict::BoundKept => "bound kept",
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
            Verdict::NotTestableHere => "not testable here",
        }
    }

    /// The verdict on a claim of this kind that holds or not; `measured` are compared with `sizes` as far as these go.
    pub(super) fn of(kind: Kind, holds: bool, measured: &[f64], sizes: &[f64]) -> Verdict {
        let all = |near: fn(f64, f64) -> bool| measured.iter().zip(sizes).all(|(&it, &size)| near(it, size));
        match kind {
            _ if !holds => Verdict::Differs,
            Kind::Size if all(|it, size| (it - size).abs() <= 0.2 * size.abs()) => Verdict::Within20Percent,
            Kind::Size if all(|it, size| (0.5..=2.0).contains(&(it / size))) => Verdict::WithinFactor2,
            Kind::Size | Kind::Direction => Verdict::Direction,
            Kind::Bound => Verdict::BoundKept,
            Kind::Input | Kind::Ours => Verdict::Holds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_as_near_as_its_farthest_number() {
        let of = |measured: &[f64], sizes: &[f64]| Verdict::of(Kind::Size, true, measured, sizes);
        assert_eq!(of(&[12.0, -4.8], &[10.0, -6.0]), Verdict::Within20Percent);
        assert_eq!(of(&[12.1, -4.8], &[10.0, -6.0]), Verdict::WithinFactor2);
        assert_eq!(of(&[20.0, -3.0], &[10.0, -6.0]), Verdict::WithinFactor2);
        assert_eq!(of(&[20.1, -6.0], &[10.0, -6.0]), Verdict::Direction);
        assert_eq!(of(&[10.0, 6.0], &[10.0, -6.0]), Verdict::Direction, "another sign is no size");
        assert_eq!(of(&[10.0, 99.0], &[10.0]), Verdict::Within20Percent, "what has no size is not compared");
        assert_eq!(
            Verdict::of(Kind::Size, false, &[10.0], &[10.0]),
            Verdict::Differs,
            "what does not hold has no size"
        );
    }

    #[test]
    fn other_kinds_hold_or_differ() {
        for (kind, holds) in [
            (Kind::Direction, Verdict::Direction),
            (Kind::Bound, Verdict::BoundKept),
            (Kind::Input, Verdict::Holds),
            (Kind::Ours, Verdict::Holds),
        ] {
            assert_eq!(Verdict::of(kind, true, &[1.0], &[]), holds);
            assert_eq!(Verdict::of(kind, false, &[1.0], &[]), Verdict::Differs);
            assert_eq!(kind.counts(), matches!(kind, Kind::Direction | Kind::Bound));
        }
    }
}
