//! Numbers for display: four significant figures and a unit.
//!
//! Used by the terminal table and the report alike, so that both show the same text.

/// A time: `812 ns`, `81.23 µs`, `1.234 ms`, `12.35 s`.
pub(super) fn time(ns: f64) -> String {
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    // A value that would be rounded up to 1000 of a unit is shown in the next unit.
    let (unit, size) = units.into_iter().find(|(_, size)| ns < 999.95 * size).unwrap_or(units[3]);
    if unit == "ns" && ns.fract() == 0.0 {
        return format!("{ns:.0} ns");
    }
    format!("{} {unit}", four_figures(ns / size))
}

/// A rate or a ratio: `0.1234`, `12.34`, `1,234`, `1,234,567`.
pub(super) fn number(value: f64) -> String {
    if value.abs() >= 999.95 { grouped(value.round() as i128) } else { four_figures(value) }
}

/// A whole number with thousands separators: `12,345,678`.
pub(super) fn count(value: u64) -> String {
    grouped(value.into())
}

/// A share of one, in percent: `12.3%`.
pub(super) fn share(value: f64) -> String {
    format!("{:.1}%", 100.0 * value)
}

/// A change in percent with its sign: `+12.3%`, `-4.0%`, `0.0%`.
pub(super) fn percent(value: f64) -> String {
    let text = format!("{value:+.1}%");
    if text == "+0.0%" || text == "-0.0%" { "0.0%".into() } else { text }
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
}
