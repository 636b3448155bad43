//! What claims come to if the method does nothing, and with a tenth of its effect.
//!
//! Owns the draws of `[nulls]` in `claims.toml`: the figures that a rule names are those of its baseline, with noise, or moved there from
//! what was measured by nine tenths of the way. Promises the same draws for the same figures; runs nothing. A claim that a null passes says
//! little.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::claims::{Changed, Claim, Claims, Judge, Verdict};
use crate::measurements::Measurements;
use crate::setting::Setting;

mod rules;
mod tree;

use tree::Tree;

/// What a claim comes to in draws of its null.
#[derive(Clone, Debug)]
pub struct NullOutcome {
    /// The claim.
    pub id: String,
    /// Share of the draws without effect in which it does not differ.
    pub null_passes: f64,
    /// Share of the draws of a tenth of the effect in which it is more than a direction.
    pub tenth_is_a_size: f64,
    /// Why it may pass.
    pub exception: Option<String>,
}

/// What the claims that have a null come to in this many draws of it and of a tenth of the effect.
///
/// # Errors
/// A rule that names no figure, a baseline that is missing, a claim that cannot be evaluated.
pub fn draw(claims: &Claims, figures: &Measurements, setting: Setting, draws: u32) -> Result<Vec<NullOutcome>, String> {
    let judge = Judge::new(claims, figures);
    let tested = |claim: &&Claim| claim.untested(setting).is_none();
    let drawn = claims.nulls.par_iter().map(|(name, rules)| {
        let of_null = |claim: &&Claim| claim.null.as_ref() == Some(name);
        let asking: Vec<&Claim> = claims.claim.iter().filter(tested).filter(of_null).collect();
        if asking.is_empty() {
            return Ok(Vec::new());
        }
        let names = first_names(figures, &asking);
        let targets = rules::targets(rules, figures).map_err(|why| format!("null {name}: {why}"))?;
        let tree = Tree::new(figures, &names, &targets);
        of_claims(&judge, &asking, setting, &tree, draws)
    });
    Ok(drawn.collect::<Result<Vec<_>, String>>()?.into_iter().flatten().collect())
}

fn of_claims(
    judge: &Judge,
    asking: &[&Claim],
    setting: Setting,
    tree: &Tree,
    draws: u32,
) -> Result<Vec<NullOutcome>, String> {
    let failed = |claim: &Claim, error: minijinja::Error| format!("claim {} ({}): {error:#}", claim.id, claim.says);
    let compiled = asking.iter().map(|&claim| judge.compile(claim, setting).map_err(|error| failed(claim, error)));
    let compiled = compiled.collect::<Result<Vec<_>, _>>()?;
    let mut counts = vec![(0u32, 0u32); asking.len()];
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for _ in 0..draws {
        for effect in [0.0, 0.1] {
            let figures: Changed = judge.with(tree.sample(&mut || normal(&mut rng), effect));
            for ((claim, expressions), count) in asking.iter().zip(&compiled).zip(&mut counts) {
                let verdict = expressions.verdict(&figures).map_err(|error| failed(claim, error))?;
                if effect == 0.0 {
                    count.0 += u32::from(verdict != Verdict::Differs);
                } else {
                    count.1 += u32::from(!matches!(verdict, Verdict::Differs | Verdict::Direction));
                }
            }
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(draws);
    let outcome = |(claim, (null, tenth)): (&&Claim, (u32, u32))| NullOutcome {
        id: claim.id.clone(),
        null_passes: share(null),
        tenth_is_a_size: share(tenth),
        exception: claim.null_exception.clone(),
    };
    Ok(asking.iter().zip(counts).map(outcome).collect())
}

/// The first names of figures that the expressions of these claims have.
fn first_names(figures: &Measurements, claims: &[&Claim]) -> BTreeSet<String> {
    let texts = || claims.iter().flat_map(|claim| claim.measured.iter().chain(&claim.holds_if));
    let words: BTreeSet<&str> =
        texts().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    figures.iter().map(|(path, _)| &path[0]).filter(|name| words.contains(name.as_str())).cloned().collect()
}

/// A draw of the normal distribution with a deviation of 1 (Box and Muller).
fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (a, b) = (1.0 - uniform(), uniform());
    (-2.0 * libm::log(a)).sqrt() * libm::cos(2.0 * std::f64::consts::PI * b)
}

/// Where figures are moved, by their names.
type Targets = BTreeMap<Vec<String>, rules::Target>;

#[cfg(test)]
mod tests;
