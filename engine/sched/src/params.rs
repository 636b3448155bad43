//! Parameters of answers: integers with a unit, a default and a legal range.

use alloc::sync::Arc;

use crate::order::KnownResponses;

/// A parameter of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its key in a scenario.
    pub name: &'static str,
    /// Its unit, as shown to the user.
    pub unit: &'static str,
    /// Its value unless the user says otherwise.
    pub default: u64,
    /// Smallest legal value.
    pub min: u64,
    /// Largest legal value.
    pub max: u64,
    /// What it does, and where it comes from.
    pub help: &'static str,
}

impl Param {
    /// A parameter that is 1 for what `help` says, else 0.
    pub const fn switch(name: &'static str, default: u64, help: &'static str) -> Param {
        Param { name, unit: "0 or 1", default, min: 0, max: 1, help }
    }
}

/// Values for an answer's parameters.
pub struct Values<'a> {
    /// The parameters the answer has.
    pub params: &'a [Param],
    /// What the scheduler or the user set, later entries first.
    pub set: &'a [(&'a str, u64)],
    /// Response times of an earlier run, where the recipe has some.
    pub known: Option<&'a Arc<KnownResponses>>,
}

impl Values<'_> {
    /// The value of a parameter the answer declares.
    ///
    /// # Panics
    /// If the answer did not declare it: a mistake in the answer's own table.
    pub fn get(&self, name: &str) -> u64 {
        let param = self.params.iter().find(|p| p.name == name).expect("an answer reads only parameters it declares");
        self.set.iter().rev().find(|(key, _)| *key == name).map_or(param.default, |&(_, value)| value)
    }
}
