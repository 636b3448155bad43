//! The claims of a paper: what it says, where, of what kind, and when a claim holds.
//!
//! Owns `claims.toml` (docs/results/papers/running.md describes it) and the verdicts. Promises that a verdict follows from the file and the
//! figures alone.

use std::collections::BTreeMap;

use minijinja::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measurements::Measurements;
use super::setting::{ChosenSetting, Setting};

mod expressions;
mod judge;
mod strength;

pub(crate) use judge::{Changed, Drawn, Judge};
pub use strength::{Kind, Verdict};

/// A paper's file of claims.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The paper's title, where and when it was published.
    pub paper: String,
    /// A name that begins with two numbers, `25-11`, belongs to one seed, and each seed has this many of them: `25-11` to the second, if
    /// it is 10.
    pub names_of_a_seed: Option<u64>,
    /// The setting that was chosen after results were seen, if there is one.
    pub chosen: Option<ChosenSetting>,
    /// Names for lists of names, for use in expressions.
    #[serde(default)]
    pub group: toml::Table,
    /// How figures look if a method does nothing, by name.
    #[serde(default)]
    pub nulls: BTreeMap<String, Vec<NullRule>>,
    /// The claims, in the order of the paper.
    pub claim: Vec<Claim>,
}

/// What figures are if the method does nothing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NullRule {
    /// The figures: the first parts of their names, with `.` between them; `*` is any part.
    pub figures: String,
    /// What they are then.
    pub to: NullValue,
    /// The deviation of the draws: of the value itself where `to` is a number, else a share of the value (0.01 unless it says).
    pub noise: Option<f64>,
}

/// What a figure is if the method does nothing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum NullValue {
    /// This.
    Value(f64),
    /// Another figure, by the first parts of its name, a `*` being what it was in `figures`; or `mean`, the mean over all that the last `*`
    /// may be.
    Name(String),
}

/// A claim as the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name: that of its experiment and a letter.
    pub id: String,
    /// The experiment it belongs to: `E6`.
    pub experiment: String,
    /// Where the paper says it: a figure, a table, a section.
    pub source: String,
    /// What is claimed, in words.
    pub says: String,
    /// The published value.
    pub published: String,
    /// What it is about.
    pub kind: Kind,
    /// An expression over the figures: what was measured.
    pub measured: Option<String>,
    /// The published numbers, for a claim of size: the first of those measured are compared with them, one by one.
    #[serde(default)]
    pub sizes: Vec<f64>,
    /// An expression over the figures and `it`, the measured value: whether the claim holds; for one of size, in its direction.
    pub holds_if: Option<String>,
    /// Other readings and measures, by name: expressions that are shown and never counted.
    #[serde(default)]
    pub beside: BTreeMap<String, String>,
    /// The name of the null that must not pass.
    pub null: Option<String>,
    /// Why a null may pass, or why there is none.
    pub null_exception: Option<String>,
    /// Why it cannot be tested here. Instead of `measured` and `holds_if`.
    pub untestable: Option<String>,
    /// Why it cannot be tested under the chosen setting.
    pub untestable_chosen: Option<String>,
}

/// A claim with what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedClaim {
    /// Its name.
    pub id: String,
    /// The experiment it belongs to.
    pub experiment: String,
    /// Where the paper says it.
    pub source: String,
    /// What is claimed.
    pub says: String,
    /// The published value.
    pub published: String,
    /// What it is about.
    pub kind: Kind,
    /// The published numbers of a claim of size; empty otherwise.
    pub sizes: Vec<f64>,
    /// The measured value as text; null if it cannot be tested here.
    pub measured: Option<String>,
    /// Other readings and measures, by name, as text; never counted.
    pub beside: BTreeMap<String, String>,
    /// When it holds, as an expression over `it`, the measured value; null if it cannot be tested here.
    pub holds_if: Option<String>,
    /// What became of it.
    pub verdict: Verdict,
    /// What becomes of it with the figures of each seed alone; empty with one seed.
    pub by_seed: Vec<Verdict>,
    /// Why it cannot be tested here; null if it can.
    pub reason: Option<String>,
}

impl JudgedClaim {
    /// Whether single seeds come to another verdict.
    pub fn is_unstable(&self) -> bool {
        self.by_seed.iter().any(|&verdict| verdict != self.verdict)
    }
}

impl Claims {
    /// Reads a file of claims that ships with the program.
    ///
    /// # Panics
    /// If it is not sound: a claim needs `measured` and `holds_if`, or `untestable`; one of size needs `sizes`.
    pub fn read(text: &str) -> Claims {
        let claims: Claims = toml::from_str(text).unwrap_or_else(|error| panic!("claims.toml: {error}"));
        for (at, claim) in claims.claim.iter().enumerate() {
            let fault = claim.fault(&claims).or_else(|| {
                let twice = claims.claim[..at].iter().any(|other| other.id == claim.id);
                twice.then(|| "its id is another's".into())
            });
            if let Some(fault) = fault {
                panic!("claims.toml: {}: {}: {fault}", claim.id, claim.says);
            }
        }
        claims
    }

    /// Evaluates the claims of `experiments` with the figures measured under `setting` and these seeds.
    ///
    /// # Errors
    /// An expression that cannot be evaluated: the claim's place in words, and what is wrong.
    pub fn judge(
        &self,
        experiments: &[&str],
        figures: &Measurements,
        setting: Setting,
        seeds: &[u64],
    ) -> Result<Vec<JudgedClaim>, String> {
        let judge = Judge::new(self, figures);
        let singly: Vec<_> = match seeds {
            [] | [_] => Vec::new(),
            _ => (0..seeds.len()).map(|at| judge.changed(&figures.of_seed(at, seeds, self.names_of_a_seed))).collect(),
        };
        let asked = self.claim.iter().filter(|claim| experiments.contains(&claim.experiment.as_str()));
        asked
            .map(|claim| {
                let failed = |error: Error| format!("claim {} ({}): {error:#}", claim.id, claim.says);
                let whole = judge.compile(claim, setting).map_err(failed)?;
                let of_all = whole.of(&judge.unchanged()).map_err(failed)?;
                let by_seed = singly.iter().map(|changed| Ok(whole.of(changed)?.verdict)).collect::<Result<_, _>>();
                let beside = claim.beside.iter().filter(|_| whole.is_tested());
                let beside = beside.map(|(name, expression)| Ok((name.clone(), judge.text(expression)?)));
                Ok(JudgedClaim {
                    id: claim.id.clone(),
                    experiment: claim.experiment.clone(),
                    source: claim.source.clone(),
                    says: claim.says.clone(),
                    published: claim.published.clone(),
                    kind: claim.kind,
                    sizes: claim.sizes.clone(),
                    measured: of_all.text,
                    beside: beside.collect::<Result<_, _>>().map_err(failed)?,
                    holds_if: claim.holds_if.clone().filter(|_| whole.is_tested()),
                    verdict: of_all.verdict,
                    by_seed: if whole.is_tested() { by_seed.map_err(failed)? } else { Vec::new() },
                    reason: claim.untested(setting).map(str::to_owned),
                })
            })
            .collect()
    }
}

impl Claim {
    /// Why it is not tested under `setting`; `None` if it is.
    pub fn untested(&self, setting: Setting) -> Option<&str> {
        let chosen = self.untestable_chosen.as_deref().filter(|_| setting == Setting::Chosen);
        chosen.or(self.untestable.as_deref())
    }

    /// What is wrong with it.
    fn fault(&self, claims: &Claims) -> Option<String> {
        let testable = self.measured.is_some() && self.holds_if.is_some() && self.untestable.is_none();
        let untestable = self.untestable.is_some() && self.measured.is_none() && self.holds_if.is_none();
        let letters = self.id.strip_prefix(&self.experiment).unwrap_or_default();
        let sized = self.kind == Kind::Size && testable;
        let bare = self.sizes.iter().any(|size| !size.is_finite() || *size == 0.0);
        let effect = testable && matches!(self.kind, Kind::Size | Kind::Direction);
        let null = self.null.as_ref();
        let says = |wrong: bool, what: &str| wrong.then(|| what.to_owned());
        says(!testable && !untestable, "half a claim")
            .or(says(
                letters.is_empty() || !letters.chars().all(char::is_alphabetic),
                "its id is not its experiment and a letter",
            ))
            .or(says(sized == self.sizes.is_empty(), "sizes go with kind = \"size\", and with that alone"))
            .or(says(bare, "a size is a number other than 0; about 0 is a bound"))
            .or(says(self.untestable_chosen.is_some() && claims.chosen.is_none(), "untestable_chosen without [chosen]"))
            .or(says(null.is_some_and(|null| !claims.nulls.contains_key(null)), "there is no such null"))
            .or(says(
                !effect && (null.is_some() || self.null_exception.is_some()),
                "a null is for sizes and directions that are tested",
            ))
    }
}

#[cfg(test)]
mod tests;
