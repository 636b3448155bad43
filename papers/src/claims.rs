//! The claims of a paper: what it says, where, and when a claim counts as reproduced.
//!
//! Owns `claims.toml` (docs/papers/running.md describes it) and its expressions, which are minijinja's, over the figures of the
//! experiments. Promises that a verdict follows from the file and the figures alone.

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::Figures;
use super::setting::{ChosenSetting, Setting};

/// A paper's file of claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The paper's title, where and when it was published.
    pub paper: String,
    /// The setting that was chosen after results were seen, if there is one.
    pub chosen: Option<ChosenSetting>,
    /// Names for lists of names, for use in expressions.
    #[serde(default)]
    pub group: toml::Table,
    /// The claims, in the order of the paper.
    pub claim: Vec<Claim>,
}

/// A claim as the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The experiment it belongs to: `E6`.
    pub experiment: String,
    /// Where the paper says it: a figure, a table, a section.
    pub source: String,
    /// What is claimed, in words.
    pub says: String,
    /// The published value.
    pub published: String,
    /// An expression over the figures: what was measured.
    pub measured: Option<String>,
    /// The expression under the chosen setting, where it is another.
    pub measured_chosen: Option<String>,
    /// An expression over the figures and `it`, the measured value: whether the claim holds.
    pub reproduced_if: Option<String>,
    /// Why it cannot be tested here. Instead of the two above.
    pub untestable: Option<String>,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The condition holds.
    Reproduced,
    /// It does not.
    Differs,
    /// It cannot be tested here.
    NotTestableHere,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Differs => "differs",
            Verdict::NotTestableHere => "not testable here",
        }
    }
}

/// A claim with what was measured.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct JudgedClaim {
    /// The experiment it belongs to.
    pub experiment: String,
    /// Where the paper says it.
    pub source: String,
    /// What is claimed.
    pub says: String,
    /// The published value.
    pub published: String,
    /// The measured value as text; null if it cannot be tested here.
    pub measured: Option<String>,
    /// What counts as reproduced, as an expression over `it`, the measured value; null if it cannot be tested here.
    pub reproduced_if: Option<String>,
    /// What became of it.
    pub verdict: Verdict,
    /// Why it cannot be tested here; null if it can.
    pub reason: Option<String>,
}

impl Claims {
    /// Reads a file of claims that ships with the program.
    ///
    /// # Panics
    /// If it is not sound: a claim needs `measured` and `reproduced_if`, or `untestable`.
    pub fn read(text: &str) -> Claims {
        let claims: Claims = toml::from_str(text).unwrap_or_else(|error| panic!("claims.toml: {error}"));
        for claim in &claims.claim {
            let testable = claim.measured.is_some() && claim.reproduced_if.is_some() && claim.untestable.is_none();
            let untestable = claim.untestable.is_some() && claim.measured.is_none() && claim.reproduced_if.is_none();
            let unchosen = claims.chosen.is_none() && claim.measured_chosen.is_some();
            assert!(!unchosen, "claims.toml: {}: {}: measured_chosen without [chosen]", claim.experiment, claim.says);
            assert!(testable || untestable, "claims.toml: {}: {}: half a claim", claim.experiment, claim.says);
        }
        claims
    }

    /// Evaluates the claims of `experiments` with the figures measured under `setting`.
    ///
    /// # Errors
    /// An expression that cannot be evaluated: the claim's place in words, and what is wrong.
    pub fn judge(&self, experiments: &[&str], figures: &Figures, setting: Setting) -> Result<Vec<JudgedClaim>, String> {
        let mut environment = environment();
        if let serde_json::Value::Object(means) = figures.means() {
            means
                .iter()
                .for_each(|(name, value)| environment.add_global(name.clone(), Value::from(Serde(value.clone()))));
        }
        environment.add_global("group", Value::from(Serde(self.group.clone())));
        let chosen = self.claim.iter().filter(|claim| experiments.contains(&claim.experiment.as_str()));
        chosen
            .map(|claim| {
                let (measured, verdict) = claim
                    .judge(&environment, setting)
                    .map_err(|error| format!("claim {} ({}): {error}", claim.experiment, claim.says))?;
                Ok(JudgedClaim {
                    experiment: claim.experiment.clone(),
                    source: claim.source.clone(),
                    says: claim.says.clone(),
                    published: claim.published.clone(),
                    measured,
                    reproduced_if: claim.reproduced_if.clone(),
                    verdict,
                    reason: claim.untestable.clone(),
                })
            })
            .collect()
    }
}

impl Claim {
    /// The expression of what was measured under `setting`.
    pub fn measured_under(&self, setting: Setting) -> Option<&str> {
        let own = self.measured_chosen.as_ref().filter(|_| setting == Setting::Chosen);
        own.or(self.measured.as_ref()).map(String::as_str)
    }

    fn judge(&self, environment: &Environment<'_>, setting: Setting) -> Result<(Option<String>, Verdict), Error> {
        let (Some(measured), Some(condition)) = (self.measured_under(setting), &self.reproduced_if) else {
            return Ok((None, Verdict::NotTestableHere));
        };
        let it = environment.compile_expression(measured)?.eval(())?;
        let text = shown(&it)?;
        let holds = environment.compile_expression(condition)?.eval(minijinja::context! { it => it })?;
        if holds.kind() != ValueKind::Bool {
            let message = format!("reproduced_if is {holds}, which is neither true nor false");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        let verdict = if holds.is_true() { Verdict::Reproduced } else { Verdict::Differs };
        Ok((Some(text), verdict))
    }
}

/// A measured value as text: a number with three or four significant figures, a list, or names with numbers.
fn shown(value: &Value) -> Result<String, Error> {
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

/// The expression language: minijinja's operators and filters, and functions over lists and maps of numbers.
fn environment() -> Environment<'static> {
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
    environment.add_function("rising", |list: Vec<f64>| list.windows(2).all(|pair| pair[0] < pair[1]));
    environment.add_function("falling", |list: Vec<f64>| list.windows(2).all(|pair| pair[0] > pair[1]));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        let mut figures = Figures::default();
        for (name, gain, size) in [("a-p", 3.0, 1.0), ("b", 5.0, 2.0), ("c", 4.0, 30.0)] {
            figures.push(&["gain", name], gain);
            figures.push(&["size", name], size);
        }
        figures.push(&["alone"], 0.25);
        figures
    }

    fn judged(measured: &str, reproduced_if: &str) -> Result<(Option<String>, Verdict), String> {
        let text = format!(
            "paper = \"p\"\n[group]\nfew = [\"a-p\", \"c\"]\n[[claim]]\nexperiment = \"E1\"\nsource = \"s\"\nsays = \"w\"\n\
             published = \"1\"\nmeasured = {measured:?}\nreproduced_if = {reproduced_if:?}\n"
        );
        let judged = Claims::read(&text).judge(&["E1"], &figures(), Setting::Plain)?.remove(0);
        Ok((judged.measured, judged.verdict))
    }

    #[test]
    fn expressions_measure_and_judge() {
        let is = |measured: &str, condition: &str, text: &str, verdict: Verdict| {
            assert_eq!(judged(measured, condition), Ok((Some(text.to_string()), verdict)), "{measured}");
        };
        is("mean(gain)", "within(it, 3.9, 4.1)", "4", Verdict::Reproduced);
        is("mean(pick(gain, group.few))", "it > 3.5", "3.50", Verdict::Differs);
        is("gain['a-p'] / alone", "it == 12", "12", Verdict::Reproduced);
        is(
            "[least(gain), most(size), above(size, 1), below(size, 2)]",
            "it[2] == 2 and it[3] == 1",
            "3, 30, 2, 1",
            Verdict::Reproduced,
        );
        is("rank_correlation(gain, size)", "it >= 0.4", "0.500", Verdict::Reproduced);
        is(
            "pick(gain, ['b'])",
            "it.b > 4 and falling([gain.b, gain.c]) and not rising([1, 1])",
            "b 5",
            Verdict::Reproduced,
        );
        is("most(minus(gain, size))", "it < 3", "3", Verdict::Differs);
    }

    #[test]
    fn what_cannot_be_evaluated_is_said() {
        for (measured, condition, why) in [
            ("mean(gian)", "it > 1", "undefined"),
            ("pick(gain, ['d'])", "it > 1", "nothing was measured for \"d\""),
            ("mean(gain)", "it + 1", "neither true nor false"),
            ("mean(gain", "it > 1", "syntax"),
        ] {
            let error = judged(measured, condition).expect_err(measured);
            assert!(error.contains(why) && error.starts_with("claim E1 (w): "), "{error}");
        }
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(rank_correlation(&[(1.0, 9.0), (2.0, 8.0), (3.0, 7.0)]), -1.0);
        assert_eq!(rank_correlation(&[(1.0, 1.0), (1.0, 2.0)]), 0.0);
        // Ranks 0.5, 0.5, 2 against 0, 1, 2.
        let r = rank_correlation(&[(1.0, 1.0), (1.0, 2.0), (5.0, 3.0)]);
        assert!((r - 1.5 / (1.5f64 * 2.0).sqrt()).abs() < 1e-12, "{r}");
    }

    #[test]
    #[should_panic(expected = "half a claim")]
    fn half_a_claim_is_refused() {
        Claims::read(
            "paper = \"p\"\n[[claim]]\nexperiment = \"E1\"\nsource = \"s\"\nsays = \"w\"\npublished = \"1\"\nmeasured = \"1\"\n",
        );
    }
}
