//! Figures as expressions see them, of which some are drawn anew again and again.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Value;

use super::Targets;
use super::rules::{Noise, Target};
use crate::claims::Drawn;
use crate::measurements::Measurements;

/// Figures by their first names.
pub(super) struct Tree(Vec<(String, Node)>);

enum Node {
    /// What no draw changes: means, and values by seed.
    Fixed([Value; 2]),
    Inner(Vec<(Value, Node)>),
    Drawn {
        measured: Vec<f64>,
        target: Target,
    },
}

impl Tree {
    /// The figures with these first names.
    pub(super) fn new(figures: &Measurements, names: &BTreeSet<String>, targets: &Targets) -> Tree {
        let mut entries: Vec<(&[String], &[f64])> =
            figures.iter().filter(|(path, _)| names.contains(&path[0])).collect();
        entries.sort_by_key(|(path, _)| *path);
        let all = children(&entries, 0, targets);
        let drawn = all.into_iter().filter(|(_, node)| !matches!(node, Node::Fixed(_)));
        Tree(drawn.collect())
    }

    /// A draw in which this share of the effect is left; `normal` yields draws with a deviation of 1.
    pub(super) fn sample(&self, normal: &mut dyn FnMut() -> f64, effect: f64) -> Drawn {
        let mut drawn = Drawn::default();
        for (name, node) in &self.0 {
            let [mean, by_seed] = node.sample(normal, effect);
            drawn.means.insert(name.clone(), mean);
            drawn.by_seed.insert(name.clone(), by_seed);
        }
        drawn
    }
}

/// The nodes of sorted entries, which have the same names before part `depth`.
fn children(entries: &[(&[String], &[f64])], depth: usize, targets: &Targets) -> Vec<(String, Node)> {
    entries
        .chunk_by(|(a, _), (b, _)| a[depth] == b[depth])
        .map(|alike| (alike[0].0[depth].clone(), node(alike, depth + 1, targets)))
        .collect()
}

fn node(entries: &[(&[String], &[f64])], depth: usize, targets: &Targets) -> Node {
    let (path, values) = entries[0];
    if path.len() == depth {
        return match targets.get(path) {
            Some(target) => Node::Drawn { measured: values.to_vec(), target: target.clone() },
            None => Node::Fixed(leaf(values)),
        };
    }
    let inner = children(entries, depth, targets);
    if inner.iter().all(|(_, node)| matches!(node, Node::Fixed(_))) {
        let pairs: Vec<(Value, [Value; 2])> = inner
            .into_iter()
            .filter_map(|(name, node)| match node {
                Node::Fixed(pair) => Some((Value::from(name), pair)),
                _ => None,
            })
            .collect();
        return Node::Fixed(map(pairs));
    }
    Node::Inner(inner.into_iter().map(|(name, node)| (Value::from(name), node)).collect())
}

impl Node {
    fn sample(&self, normal: &mut dyn FnMut() -> f64, effect: f64) -> [Value; 2] {
        match self {
            Node::Fixed(pair) => pair.clone(),
            Node::Inner(inner) => {
                map(inner.iter().map(|(name, node)| (name.clone(), node.sample(normal, effect))).collect())
            }
            Node::Drawn { measured, target } => {
                // So that the noise of the mean is that of the rule, the values have more.
                let more = (measured.len() as f64).sqrt();
                let values: Vec<f64> = measured
                    .iter()
                    .zip(&target.values)
                    .map(|(&measured, &base)| moved(measured, base, effect, target.noise, more * normal()))
                    .collect();
                leaf(&values)
            }
        }
    }
}

/// `base` with `effect` of the way to `measured`, and noise: a share of a factor where both are above 0, else of the difference.
fn moved(measured: f64, base: f64, effect: f64, noise: Noise, normal: f64) -> f64 {
    match noise {
        Noise::Of(deviation) => base + effect * (measured - base) + deviation * normal,
        Noise::Share(share) if measured > 0.0 && base > 0.0 => {
            base * libm::pow(measured / base, effect) * (1.0 + share * normal)
        }
        Noise::Share(share) => base + effect * (measured - base) + share * base.abs() * normal,
    }
}

fn leaf(values: &[f64]) -> [Value; 2] {
    [Value::from(crate::mean_and_ci95(values).0), Value::from(values.to_vec())]
}

fn map(pairs: Vec<(Value, [Value; 2])>) -> [Value; 2] {
    let (mut means, mut by_seed) = (BTreeMap::new(), BTreeMap::new());
    for (name, [mean, values]) in pairs {
        means.insert(name.clone(), mean);
        by_seed.insert(name, values);
    }
    [Value::from(means), Value::from(by_seed)]
}
