//! Claims evaluated over figures.
//!
//! Owns what names mean in an expression: those of the figures, their means; `by_seed`, the same with a list of the values of each seed;
//! `group`, the lists of names; `it`, what was measured. Measurements may be changed without evaluating all of them anew.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Expression};

use super::expressions::{environment, numbers_in, shown};
use super::strength::Verdict;
use super::{Claim, Claims};
use crate::measurements::Measurements;
use crate::setting::Setting;

/// What expressions are evaluated in.
pub(crate) struct Judge {
    environment: Environment<'static>,
    /// First names of the figures whose values by seed some claim asks for.
    asked_by_seed: BTreeSet<String>,
    by_seed: BTreeMap<String, Value>,
}

/// The expressions of a claim, read.
pub(crate) struct Compiled<'a> {
    claim: &'a Claim,
    expressions: Option<[Expression<'a, 'a>; 2]>,
}

/// What a claim comes to.
pub(crate) struct Outcome {
    pub(crate) text: Option<String>,
    pub(crate) verdict: Verdict,
}

/// Figures in place of those that a judge was made with.
pub(crate) struct Changed(BTreeMap<String, Value>);

/// Figures that were drawn, by their first names.
#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) means: BTreeMap<String, Value>,
    pub(crate) by_seed: BTreeMap<String, Value>,
}

impl Judge {
    pub(crate) fn new(claims: &Claims, figures: &Measurements) -> Judge {
        let mut environment = environment();
        let asked = asked_by_seed(claims);
        let by_seed = values(figures.all_values(), |name| asked.contains(name));
        for (name, value) in values(figures.means(), |_| true) {
            environment.add_global(name, value);
        }
        environment.add_global("by_seed", Value::from(by_seed.clone()));
        environment.add_global("group", Value::from(Serde(claims.group.clone())));
        Judge { environment, asked_by_seed: asked, by_seed }
    }

    /// The figures it was made with.
    pub(crate) fn unchanged(&self) -> Changed {
        Changed(BTreeMap::new())
    }

    /// `figures` in place of those of the same first name.
    pub(crate) fn changed(&self, figures: &Measurements) -> Changed {
        let by_seed = values(figures.all_values(), |name| self.asked_by_seed.contains(name));
        self.with(Drawn { means: values(figures.means(), |_| true), by_seed })
    }

    /// What was drawn in place of the figures of the same first name.
    pub(crate) fn with(&self, drawn: Drawn) -> Changed {
        let Drawn { means: mut changed, by_seed } = drawn;
        let asked: Vec<_> = by_seed.into_iter().filter(|(name, _)| self.asked_by_seed.contains(name)).collect();
        if !asked.is_empty() {
            let by_seed: BTreeMap<String, Value> = self.by_seed.clone().into_iter().chain(asked).collect();
            changed.insert("by_seed".into(), Value::from(by_seed));
        }
        Changed(changed)
    }

    /// Reads the expressions of a claim.
    pub(crate) fn compile<'a>(&'a self, claim: &'a Claim, setting: Setting) -> Result<Compiled<'a>, Error> {
        let expressions = match (claim.untested(setting), &claim.measured, &claim.holds_if) {
            (None, Some(measured), Some(holds_if)) => {
                Some([self.environment.compile_expression(measured)?, self.environment.compile_expression(holds_if)?])
            }
            _ => None,
        };
        Ok(Compiled { claim, expressions })
    }

    /// What an expression comes to, as text.
    pub(crate) fn text(&self, expression: &str) -> Result<String, Error> {
        shown(&self.environment.compile_expression(expression)?.eval(())?)
    }
}

impl Compiled<'_> {
    pub(crate) fn is_tested(&self) -> bool {
        self.expressions.is_some()
    }

    /// What the claim comes to with these figures.
    pub(crate) fn of(&self, figures: &Changed) -> Result<Outcome, Error> {
        let verdict = self.verdict(figures)?;
        let text = match &self.expressions {
            Some([measured, _]) => Some(shown(&measured.eval(figures.names())?)?),
            None => None,
        };
        Ok(Outcome { text, verdict })
    }

    /// The verdict on it with these figures.
    pub(crate) fn verdict(&self, figures: &Changed) -> Result<Verdict, Error> {
        let Some([measured, holds_if]) = &self.expressions else { return Ok(Verdict::NotTestableHere) };
        let it = measured.eval(figures.names())?;
        let numbers = if self.claim.sizes.is_empty() { Vec::new() } else { numbers_in(&it)? };
        if numbers.len() < self.claim.sizes.len() {
            let message = format!("{} sizes for {} measured numbers", self.claim.sizes.len(), numbers.len());
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        let mut names = figures.0.clone();
        names.insert("it".into(), it);
        let holds = holds_if.eval(Value::from(names))?;
        if holds.kind() != ValueKind::Bool {
            let message = format!("holds_if is {holds}, which is neither true nor false");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        Ok(Verdict::of(self.claim.kind, holds.is_true(), &numbers, &self.claim.sizes))
    }
}

impl Changed {
    fn names(&self) -> Value {
        Value::from(self.0.clone())
    }
}

/// The first names of figures that expressions of `claims` have after `by_seed.`.
fn asked_by_seed(claims: &Claims) -> BTreeSet<String> {
    let texts =
        claims.claim.iter().flat_map(|claim| claim.measured.iter().chain(&claim.holds_if).chain(claim.beside.values()));
    let after = texts.flat_map(|text| text.split("by_seed.").skip(1));
    after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

/// The entries of an object whose names are wanted.
fn values(object: serde_json::Value, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, Value> {
    let serde_json::Value::Object(object) = object else { return BTreeMap::new() };
    object.into_iter().filter(|(name, _)| wanted(name)).map(|(name, value)| (name, Value::from(Serde(value)))).collect()
}
