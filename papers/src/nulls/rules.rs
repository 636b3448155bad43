//! The rules of a null: which figures they name, and where they move these.

use super::Targets;
use crate::claims::{NullRule, NullValue};
use crate::measurements::Measurements;

/// The deviation of a draw where a rule does not say, as a share of the value.
const NOISE: f64 = 0.01;

/// Where a figure is without effect.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    /// Its values then, one for each that it has.
    pub(super) values: Vec<f64>,
    /// The deviation of the draws of its mean.
    pub(super) noise: Noise,
}

/// A deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Noise {
    /// In the unit of the figure.
    Of(f64),
    /// As a share of the value.
    Share(f64),
}

/// What `rules` make of `figures`; of several rules for a figure the first.
pub(super) fn targets(rules: &[NullRule], figures: &Measurements) -> Result<Targets, String> {
    let mut targets = Targets::new();
    for rule in rules {
        let pattern: Vec<&str> = rule.figures.split('.').collect();
        let mut named = 0;
        for (path, values) in figures.iter() {
            let Some(stars) = matched(&pattern, path) else { continue };
            named += 1;
            let target = match &rule.to {
                NullValue::Value(to) => {
                    Target { values: vec![*to; values.len()], noise: Noise::Of(rule.noise.unwrap_or(0.0)) }
                }
                NullValue::Name(name) => {
                    let values = match name.as_str() {
                        "mean" => mean(&pattern, path, values.len(), figures),
                        _ => baseline(name, &stars, &path[pattern.len()..], values.len(), figures)?,
                    };
                    Target { values, noise: Noise::Share(rule.noise.unwrap_or(NOISE)) }
                }
            };
            targets.entry(path.to_vec()).or_insert(target);
        }
        if named == 0 {
            return Err(format!("there are no figures {:?}", rule.figures));
        }
    }
    Ok(targets)
}

/// What the stars of `pattern` are in `path`; `None` if it does not begin as the pattern says. A star may end a part: `fairness_*`.
fn matched(pattern: &[&str], path: &[String]) -> Option<Vec<String>> {
    if path.len() < pattern.len() {
        return None;
    }
    let mut stars = Vec::new();
    for (part, name) in pattern.iter().zip(path) {
        match part.strip_suffix('*') {
            Some(begins) => stars.push(name.strip_prefix(begins)?.to_owned()),
            None if part == name => (),
            None => return None,
        }
    }
    Some(stars)
}

/// The values of the figure `name`, with what stars stand for, and `rest` after it.
fn baseline(
    name: &str,
    stars: &[String],
    rest: &[String],
    count: usize,
    figures: &Measurements,
) -> Result<Vec<f64>, String> {
    let mut stars = stars.iter();
    let parts = name.split('.').map(|part| match part.strip_suffix('*') {
        Some(begins) => format!("{begins}{}", stars.next().map_or("*", String::as_str)),
        None => part.to_owned(),
    });
    let path: Vec<String> = parts.chain(rest.iter().cloned()).collect();
    let values = figures.values(&path).ok_or_else(|| format!("there is no figure {:?}", path.join(".")))?;
    Ok(fitted(values, count))
}

/// The mean over all figures that differ from `path` in what the last star of `pattern` stands for alone; without a star, over all that the
/// pattern names.
fn mean(pattern: &[&str], path: &[String], count: usize, figures: &Measurements) -> Vec<f64> {
    let last = pattern.iter().rposition(|part| part.ends_with('*'));
    let is_alike = |other: &[String]| match last {
        Some(at) => other.len() == path.len() && (0..path.len()).all(|i| i == at || other[i] == path[i]),
        None => true,
    };
    let group: Vec<Vec<f64>> = figures
        .iter()
        .filter(|(other, _)| matched(pattern, other).is_some() && is_alike(other))
        .map(|(_, values)| fitted(values, count))
        .collect();
    (0..count).map(|at| group.iter().map(|values| values[at]).sum::<f64>() / group.len() as f64).collect()
}

/// `count` values: these, or their mean for each.
fn fitted(values: &[f64], count: usize) -> Vec<f64> {
    if values.len() == count { values.to_vec() } else { vec![crate::mean_and_ci95(values).0; count] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(figures: &str, to: NullValue) -> Result<Vec<(String, Vec<f64>)>, String> {
        let mut all = Measurements::default();
        for (path, values) in [
            (["f_25", "base", "a"], [1.0, 3.0]),
            (["f_25", "own", "a"], [8.0, 8.0]),
            (["f_50", "base", "a"], [2.0, 2.0]),
            (["f_50", "own", "a"], [7.0, 9.0]),
            (["g", "own", "a"], [5.0, 5.0]),
        ] {
            values.into_iter().for_each(|value| all.push(&path, value));
        }
        let rule = NullRule { figures: figures.into(), to, noise: None };
        let found = targets(&[rule], &all)?;
        Ok(found.into_iter().map(|(path, target)| (path.join("."), target.values)).collect())
    }

    #[test]
    fn stars_are_what_they_stand_for() {
        let to = |name: &str| NullValue::Name(name.into());
        let named = |found: &[(&str, [f64; 2])]| {
            Ok(found.iter().map(|(name, values)| (name.to_string(), values.to_vec())).collect::<Vec<_>>())
        };
        assert_eq!(of("f_*.own", to("f_*.base")), named(&[("f_25.own.a", [1.0, 3.0]), ("f_50.own.a", [2.0, 2.0])]));
        assert_eq!(of("f_50.own", NullValue::Value(0.5)), named(&[("f_50.own.a", [0.5, 0.5])]));
        assert_eq!(of("f_25.*", to("mean")), named(&[("f_25.base.a", [4.5, 5.5]), ("f_25.own.a", [4.5, 5.5])]));
        assert_eq!(of("f_*.own", to("mean")), named(&[("f_25.own.a", [7.5, 8.5]), ("f_50.own.a", [7.5, 8.5])]));
        assert_eq!(of("g", to("f_25.base")).expect_err("another name"), "there is no figure \"f_25.base.own.a\"");
        assert_eq!(of("h", to("mean")).expect_err("none"), "there are no figures \"h\"");
    }
}
