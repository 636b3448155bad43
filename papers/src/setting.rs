//! How what a paper leaves open is read in its experiments.

use flashlane_scenario::Document;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reading of what the paper leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// What the paper's text says, and the nearest where it says nothing.
    #[default]
    Plain,
    /// The one setting for the whole paper, chosen after results were seen, under which most of them are reproduced
    /// ([`ChosenSetting`]).
    Chosen,
}

impl Setting {
    /// The settings, in the order of the tables.
    pub const ALL: [Setting; 2] = [Setting::Plain, Setting::Chosen];

    /// As it is called on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Plain => "plain",
            Setting::Chosen => "chosen",
        }
    }
}

/// A variant of a paper's chosen setting, which no claim counts under.
#[derive(Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What is otherwise.
    pub about: &'static str,
    /// Changes a scenario of the setting; it is given the name.
    pub(crate) change: fn(&mut Document, &str),
}

/// `[chosen]` in a paper's `claims.toml`: the one setting that was chosen after results were seen.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChosenSetting {
    /// What is set, each in a sentence.
    pub sets: Vec<String>,
    /// Why.
    pub because: Vec<String>,
    /// What the paper says against it.
    pub against: Vec<String>,
}
