//! Numbers for display: four significant figures and a unit.
//!
//! Used by the terminal table and the report alike, so that both show the same text.

/// A time: `812 ns`, `81.23 µs`, `1.234 ms`, `12.35 s`.
pub fn time(ns: f64) -> String {
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    // A value that would be rounded up to 1000 of a unit is shown in the next unit.
    let (unit, size) = units.into_iter().find(|(_, size)| ns < 999.95 * size).unwrap_or(units[3]);
    if unit == "ns" && ns.fract() == 0.0 {
        return format!("{ns:.0} ns");
    }
    format!("{} {unit}", four_figures(ns / size))
}

/// A difference of times with its sign: `-40 ns`, `+1.234 ms`, `0 ns`.
pub(super) fn signed(ns: f64) -> String {
    if ns == 0.0 {
        return time(0.0);
    }
    format!("{}{}", if ns < 0.0 { "-" } else { "+" }, time(ns.abs()))
}

/// A rate or a ratio: `0.1234`, `12.34`, `1,234`, `1,234,567`.
pub(super) fn number(value: f64) -> String {
    if value.abs() >= 999.95 { grouped(value.round() as i128) } else { four_figures(value) }
}

/// A whole number with thousands separators: `12,345,678`.
pub fn count(value: u64) -> String {
    grouped(value.into())
}

/// A share of one, in percent: `12.3%`.
pub(super) fn share(value: f64) -> String {
    format!("{:.1}%", 100.0 * value)
}

/// A percentage with its sign: `+12.3%`, `-4.0%`, `0.0%`.
fn percent(value: f64) -> String {
    let text = format!("{value:+.1}%");
    if text == "+0.0%" || text == "-0.0%" { "0.0%".into() } else { text }
}

/// What a percentage says, and so which of its signs is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// Δ of a response time, percent of the time compared with: positive is slower.
    Time,
    /// Gain of response time, percent of the time compared with: positive is faster, and at most 100.
    Gain,
    /// Δ of a rate or another amount: positive is more.
    Amount,
}

/// A percentage with its sign, beyond tenfold as a factor. As times: `-43.1%`, `310x faster`, `12x slower`; as gains: `+43.1%`,
/// `310x faster`, `-189.6%`, `12x slower`; as amounts: `-43.1%`, `12x less`, `310x more`.
///
/// The only place that turns percentages into text: whatever the sense, `faster` stands for a shorter time.
pub(super) fn relative(value: f64, sense: Sense) -> String {
    let ratio = match sense {
        Sense::Time | Sense::Amount => 1.0 + value / 100.0,
        Sense::Gain => 1.0 - value / 100.0,
    };
    let (less, more) = if sense == Sense::Amount { ("less", "more") } else { ("faster", "slower") };
    match ratio {
        r if r >= 10.0 => format!("{}x {more}", times(r)),
        r if r > 0.0 && r <= 0.1 => format!("{}x {less}", times(1.0 / r)),
        _ => percent(value),
    }
}

/// How much faster something is whose time is `gain` times shorter: `12% faster`, `3.2x faster`, `20% slower`, `310x slower`.
pub(super) fn faster(gain: f64) -> String {
    match gain {
        g if g >= 2.0 => format!("{}x faster", times(g)),
        g if g >= 1.0 => format!("{:.0}% faster", 100.0 * (1.0 - 1.0 / g)),
        g if g > 0.5 => format!("{:.0}% slower", 100.0 * (1.0 / g - 1.0)),
        g => format!("{}x slower", times(1.0 / g)),
    }
}

/// The same against `other`: `12% faster than fcfs`, `20% slower than fcfs`, `as fast as fcfs` where that would be no percent.
pub(super) fn faster_than(gain: f64, other: &str) -> String {
    match faster(gain) {
        none if none.starts_with("0%") => format!("as fast as {other}"),
        by => format!("{by} than {other}"),
    }
}

/// How much more something is that is `factor` times as much: `12% more`, `3.2x as many`, `20% fewer`, `3.2x fewer`.
pub(super) fn more(factor: f64) -> String {
    match factor {
        f if f >= 2.0 => format!("{}x as many", times(f)),
        f if f >= 1.0 => format!("{:.0}% more", 100.0 * (f - 1.0)),
        f if f > 0.5 => format!("{:.0}% fewer", 100.0 * (1.0 - f)),
        f => format!("{}x fewer", times(1.0 / f)),
    }
}

/// A factor: `2.1`, `31`, `1,234`.
pub(super) fn times(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { grouped(factor.round() as i128) }
}

/// Shown where there is no value.
pub(super) const NONE: &str = "-";

/// The value formatted by `show`, or a dash.
pub(super) fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_string(), show)
}

fn four_figures(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.5 => 0,
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn grouped(value: i128) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = if value < 0 { String::from("-") } else { String::new() };
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_change_unit_where_they_should() {
        let shown = [0.0, 812.0, 812.25, 999.99, 1_000.0, 81_234.0, 999_999.0, 1_234_000.0, 12_345_678_901.0].map(time);
        assert_eq!(
            shown,
            ["0 ns", "812 ns", "812.2 ns", "1.000 µs", "1.000 µs", "81.23 µs", "1.000 ms", "1.234 ms", "12.35 s"]
        );
        assert_eq!(time(7.2e12), "7200 s");
    }

    #[test]
    fn numbers_keep_four_figures() {
        let shown = [0.0, 0.123_44, 12.344, 123.44, 1_234.4, 1_234_567.0].map(number);
        assert_eq!(shown, ["0.000", "0.123", "12.34", "123.4", "1,234", "1,234,567"]);
        assert_eq!([0, 999, 1_000, 12_345_678].map(count), ["0", "999", "1,000", "12,345,678"]);
        assert_eq!([-0.01, 12.34, -50.0].map(percent), ["0.0%", "+12.3%", "-50.0%"]);
        assert_eq!(share(0.456), "45.6%");
    }

    #[test]
    fn changes_beyond_tenfold_are_factors() {
        let time_change = |value| relative(value, Sense::Time);
        assert_eq!([-43.1, -89.9, 899.0].map(time_change), ["-43.1%", "-89.9%", "+899.0%"]);
        assert_eq!(
            [-90.1, -99.68, 900.1, 32_550.3].map(time_change),
            ["10x faster", "313x faster", "10x slower", "327x slower"]
        );
        let amount = |value| relative(value, Sense::Amount);
        assert_eq!([-95.0, 911.2, 8.0].map(amount), ["20x less", "10x more", "+8.0%"]);
        assert_eq!([1.13, 3.21, 267.2].map(faster), ["12% faster", "3.2x faster", "267x faster"]);
        assert_eq!([1.8, 3.21, 0.8, 0.04].map(more), ["80% more", "3.2x as many", "20% fewer", "25x fewer"]);
        let than = |gain| faster_than(gain, "late");
        assert_eq!(
            [1.76, 1.004, 0.996, 0.98].map(than),
            ["43% faster than late", "as fast as late", "as fast as late", "2% slower than late"]
        );
        assert_eq!([0.9, 0.3, 0.001].map(faster), ["11% slower", "3.3x slower", "1,000x slower"]);
    }

    /// From ten times as fast to eleven times as slow, and beyond what can be: a gain and a Δ of one pair of times agree on which is
    /// faster, a positive gain never looks like a loss, and a percentage that is printed is the one that was given.
    #[test]
    fn a_loss_never_looks_like_a_gain() {
        let sign = |text: &str| match text {
            "0.0%" => 0,
            text if text.starts_with('-') => -1,
            text if text.starts_with('+') => 1,
            text => panic!("a percentage without a sign: {text}"),
        };
        for tenths in -10_000..=10_000_i32 {
            let value = f64::from(tenths) / 10.0;
            for sense in [Sense::Time, Sense::Gain, Sense::Amount] {
                let text = relative(value, sense);
                let is_better = (value > 0.0) == (sense == Sense::Gain);
                match text.split_once("x ") {
                    Some((_, "faster")) => assert!(is_better && sense != Sense::Amount, "{sense:?} {value}: {text}"),
                    Some((_, "slower")) => assert!(!is_better && sense != Sense::Amount, "{sense:?} {value}: {text}"),
                    Some((_, "more")) => assert!(value > 0.0 && sense == Sense::Amount, "{sense:?} {value}: {text}"),
                    Some((_, "less")) => assert!(value < 0.0 && sense == Sense::Amount, "{sense:?} {value}: {text}"),
                    _ => {
                        assert_eq!(sign(&text), tenths.signum(), "{sense:?} {value}: {text}");
                        assert_eq!(text.trim_end_matches('%').parse::<f64>(), Ok(value), "{sense:?}");
                    }
                }
            }
            // The same two times as a Δ and as a gain: opposite signs, or the same words.
            let (delta, gain) = (relative(value, Sense::Time), relative(-value, Sense::Gain));
            match delta.ends_with('%') {
                true => assert_eq!(sign(&delta), -sign(&gain), "{delta} {gain}"),
                false => assert_eq!(delta, gain),
            }
        }
        assert_eq!(relative(-189.6, Sense::Gain), "-189.6%");
        assert_eq!(relative(-290.1, Sense::Gain), "-290.1%");
        assert_eq!(relative(-1_000.0, Sense::Gain), "11x slower");
    }
}
