//! The language of claims: minijinja's operators and filters, and functions over lists and maps of numbers.

use std::collections::BTreeMap;

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use flashlane_report::metrics::mean_and_ci95;

/// The expression language: minijinja's operators and filters, and functions over lists and maps of numbers.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_function("mean", |list: Value| {
        let values = numbers(&list)?;
        Ok::<f64, Error>(values.iter().sum::<f64>() / values.len().max(1) as f64)
    });
    environment.add_function("least", |list: Value| {
        Ok::<f64, Error>(numbers(&list)?.into_iter().fold(f64::INFINITY, f64::min))
    });
    environment.add_function("most", |list: Value| {
        Ok::<f64, Error>(numbers(&list)?.into_iter().fold(f64::NEG_INFINITY, f64::max))
    });
    environment.add_function("within", |x: f64, least: f64, most: f64| least <= x && x <= most);
    environment.add_function("above", |list: Value, limit: f64| {
        Ok::<usize, Error>(numbers(&list)?.iter().filter(|&&x| x > limit).count())
    });
    environment.add_function("below", |list: Value, limit: f64| {
        Ok::<usize, Error>(numbers(&list)?.iter().filter(|&&x| x < limit).count())
    });
    environment.add_function("pick", pick);
    environment.add_function("minus", |a: Value, b: Value| {
        let shared = shared(&a, &b)?;
        Ok::<Vec<f64>, Error>(shared.into_iter().map(|(x, y)| x - y).collect())
    });
    environment.add_function("over", |a: Value, b: Value| {
        let shared = shared(&a, &b)?;
        Ok::<Vec<f64>, Error>(shared.into_iter().map(|(x, y)| x / y).collect())
    });
    environment.add_function("rank_correlation", |a: Value, b: Value| {
        let shared = shared(&a, &b)?;
        Ok::<f64, Error>(rank_correlation(&shared))
    });
    environment.add_function("ci95", |list: Value| Ok::<f64, Error>(mean_and_ci95(&numbers(&list)?).1.unwrap_or(0.0)));
    environment.add_function("larger", |a: Value, b: Value| larger(&a, &b));
    environment.add_function("clearly_more", clearly_more);
    environment.add_function("above_by_interval", |a: Value, b: Value| {
        let differences: Vec<f64> = shared(&a, &b)?.into_iter().map(|(x, y)| x - y).collect();
        let (mean, ci95) = mean_and_ci95(&differences);
        Ok::<bool, Error>(mean > ci95.unwrap_or(0.0))
    });
    let steps = |list: Vec<f64>, least: Option<f64>, sign: f64| {
        let least = least.unwrap_or(0.0);
        list.windows(2).all(|pair| sign * (pair[1] - pair[0]) > least)
    };
    environment.add_function("rising", move |list: Vec<f64>, least: Option<f64>| steps(list, least, 1.0));
    environment.add_function("falling", move |list: Vec<f64>, least: Option<f64>| steps(list, least, -1.0));
    environment
}

/// The numbers of a list, or the values of a map.
fn numbers(value: &Value) -> Result<Vec<f64>, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let is_map = value.kind() == ValueKind::Map;
    value
        .try_iter()?
        .map(|item| {
            let item = if is_map { value.get_item(&item)? } else { item };
            f64::try_from(item)
        })
        .collect()
}

/// The entries of a map that have these names.
fn pick(map: Value, names: Vec<String>) -> Result<Value, Error> {
    let found: BTreeMap<String, Value> = names
        .into_iter()
        .map(|name| {
            let value = map.get_attr(&name)?;
            if value.is_undefined() {
                return Err(Error::new(ErrorKind::UndefinedError, format!("nothing was measured for {name:?}")));
            }
            Ok((name, value))
        })
        .collect::<Result<_, Error>>()?;
    Ok(Value::from(found))
}

/// The values of two maps under the names that both have.
fn shared(a: &Value, b: &Value) -> Result<Vec<(f64, f64)>, Error> {
    let mut pairs = Vec::new();
    for key in a.try_iter()? {
        let (left, right) = (a.get_item(&key)?, b.get_item(&key)?);
        if !right.is_undefined() {
            pairs.push((f64::try_from(left)?, f64::try_from(right)?));
        }
    }
    Ok(pairs)
}

/// Spearman's rank correlation, with ties at their mean rank; 0 where all values of one side are equal.
fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let rank = |x: f64| {
            let below = pairs.iter().filter(|pair| of(pair) < x).count() as f64;
            let alike = pairs.iter().filter(|pair| of(pair) == x).count() as f64;
            below + (alike - 1.0) / 2.0
        };
        pairs.iter().map(|pair| rank(of(pair))).collect()
    };
    let (a, b) = (ranks(|pair| pair.0), ranks(|pair| pair.1));
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum::<f64>();
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    if spread == 0.0 { 0.0 } else { sum(&a, &b) / spread }
}

/// The larger of the values by seed of two maps, name by name, seed by seed, under the names that both have.
fn larger(a: &Value, b: &Value) -> Result<Value, Error> {
    let mut found = BTreeMap::new();
    for key in a.try_iter()? {
        let (left, right) = (a.get_item(&key)?, b.get_item(&key)?);
        if !right.is_undefined() {
            let (left, right) = (numbers_in(&left)?, numbers_in(&right)?);
            let larger: Vec<f64> = left.iter().zip(&right).map(|(x, y)| x.max(*y)).collect();
            found.insert(key.to_string(), Value::from(larger));
        }
    }
    Ok(Value::from(found))
}

/// For each name whether its values by seed are more than those of `than`, a map with the same names or a number, by more than the 95 %
/// interval of the differences; of single values, whether they are more.
fn clearly_more(map: Value, than: Value) -> Result<Value, Error> {
    let mut found = BTreeMap::new();
    for key in map.try_iter()? {
        let values = numbers_in(&map.get_item(&key)?)?;
        let others = match than.kind() {
            ValueKind::Number => vec![f64::try_from(than.clone())?; values.len()],
            _ => numbers_in(&than.get_item(&key)?)?,
        };
        let differences: Vec<f64> = values.iter().zip(&others).map(|(x, y)| x - y).collect();
        let (mean, ci95) = mean_and_ci95(&differences);
        found.insert(key.to_string(), i64::from(mean > ci95.unwrap_or(0.0)));
    }
    Ok(Value::from(found))
}

/// The numbers of a measured value: itself, or those of a list or a map.
pub(super) fn numbers_in(value: &Value) -> Result<Vec<f64>, Error> {
    if value.kind() == ValueKind::Number { Ok(vec![f64::try_from(value.clone())?]) } else { numbers(value) }
}

/// A measured value as text: a number with three or four significant figures, a list, or names with numbers.
pub(super) fn shown(value: &Value) -> Result<String, Error> {
    let parts = |iter: minijinja::value::ValueIter| iter.map(|part| shown(&part)).collect::<Result<Vec<_>, _>>();
    Ok(match value.kind() {
        ValueKind::Number => {
            let number = f64::try_from(value.clone())?;
            match number.abs() {
                n if n >= 1e5 || n.fract() == 0.0 => format!("{number:.0}"),
                n if n >= 100.0 => format!("{number:.1}"),
                n if n >= 1.0 => format!("{number:.2}"),
                _ => format!("{number:.3}"),
            }
        }
        ValueKind::Seq | ValueKind::Iterable => parts(value.try_iter()?)?.join(", "),
        ValueKind::Map => {
            let mut text = Vec::new();
            for key in value.try_iter()? {
                text.push(format!("{key} {}", shown(&value.get_item(&key)?)?));
            }
            text.join(", ")
        }
        _ => value.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(rank_correlation(&[(1.0, 9.0), (2.0, 8.0), (3.0, 7.0)]), -1.0);
        assert_eq!(rank_correlation(&[(1.0, 1.0), (1.0, 2.0)]), 0.0);
        // Ranks 0.5, 0.5, 2 against 0, 1, 2.
        let r = rank_correlation(&[(1.0, 1.0), (1.0, 2.0), (5.0, 3.0)]);
        assert!((r - 1.5 / (1.5f64 * 2.0).sqrt()).abs() < 1e-12, "{r}");
    }
}
