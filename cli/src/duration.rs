//! Times as users write them.

/// A time with its unit: `1.5ms`, `800us`.
pub fn nanoseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic())?);
    let unit = match unit {
        "ns" => 1.0,
        "us" | "\u{b5}s" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let ns = number.trim().parse::<f64>().ok()? * unit;
    (0.0..9.2e18).contains(&ns).then_some(ns.round() as u64)
}
