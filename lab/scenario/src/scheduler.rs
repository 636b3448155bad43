//! Which schedulers a scenario compares: those of the catalogue by name, or mixes of answers.
//!
//! Owns how a choice is written. Whether a name, a question's answer or a parameter exists is checked by the catalogue.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use flashlane_core::decide::{ByQuestion, Question};
use flashlane_sched::Param;
use flashlane_sched::catalogue::SHIPPED;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::value::text_or_table;

macro_rules! mix {
    ($($(#[$asks:meta])* $Question:ident $question:ident $Declares:ident,)*) => {
        /// A mix of answers: those of the scheduler `base`, with other answers to the named questions.
        #[derive(Clone, Default, PartialEq, Debug, Serialize, JsonSchema)]
        pub struct Mix {
            /// What the tables call it. Default: its answers, joined.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub name: Option<String>,
            /// The scheduler to start from (`flashlane schedulers` lists them). Default `read-first`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub base: Option<String>,
            $(
                $(#[$asks])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $question: Option<String>,
            )*
            /// Any other key is a parameter of the scheduler, a whole number, as `flashlane schedulers` lists them.
            #[serde(flatten)]
            pub parameters: BTreeMap<String, u64>,
        }

        impl Mix {
            /// The mix that answers all questions itself.
            pub fn of(name: String, answers: &ByQuestion<&str>, parameters: BTreeMap<String, u64>) -> Mix {
                Mix { name: Some(name), base: None, $($question: Some(answers.$question.to_owned()),)* parameters }
            }

            /// The questions that this mix answers itself, with the answers, in the order of the design.
            pub fn answers(&self) -> Vec<(Question, &str)> {
                let answers = ByQuestion { $($question: self.$question.as_deref(),)* };
                answers.iter().filter_map(|(question, answer)| Some((question, (*answer)?))).collect()
            }

            /// Reads the value of `key`, which stands next in `map`.
            fn read<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
                match key.as_str() {
                    "name" => self.name = Some(map.next_value()?),
                    "base" => self.base = Some(map.next_value()?),
                    $(stringify!($question) => self.$question = Some(map.next_value()?),)*
                    name => {
                        let value = map.next_value_seed(Amount(name))?;
                        self.parameters.insert(key, value);
                    }
                }
                Ok(())
            }
        }
    };
}

flashlane_core::questions!(mix);

/// Read key by key, since what serde makes of a flattened table has lost where each value stands.
impl<'de> Deserialize<'de> for Mix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Mix, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Mix;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of answers")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Mix, A::Error> {
                let mut mix = Mix::default();
                while let Some(key) = map.next_key()? {
                    mix.read(key, &mut map)?;
                }
                Ok(mix)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// The value of the parameter of this name, which may be one that the catalogue does not have.
struct Amount<'a>(&'a str);

impl Amount<'_> {
    /// The parameter, if it ships with us.
    fn shipped(&self) -> Option<&'static Param> {
        let answers = Question::ALL.into_iter().flat_map(|question| SHIPPED.answers(question));
        answers.flat_map(|answer| answer.params).find(|param| param.name == self.0)
    }

    /// What is wrong with the key where the value is that of no parameter.
    fn unknown<E: Error>(&self) -> E {
        let questions = Question::ALL.map(|question| format!("`{}`", question.name())).join(", ");
        let message = format!("unknown field `{}`, expected one of `name`, `base`, {questions}", self.0);
        E::custom(format_args!("{message}, or a parameter, which has a whole number"))
    }
}

impl fmt::Display for Amount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shipped() {
            Some(param) => write!(f, "a whole number from {} to {} ({})", param.min, param.max, param.unit),
            None if self.0 == "params" => {
                f.write_str("parameters beside the name, as in { base = \"late\", late_choices = 3 }")
            }
            None => f.write_str("a whole number, 0 or more"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Amount<'_> {
    type Value = u64;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        let is_known = self.0 == "params" || self.shipped().is_some();
        let unknown = self.unknown();
        deserializer.deserialize_u64(self).map_err(|error| if is_known { error } else { unknown })
    }
}

impl<'de> Visitor<'de> for Amount<'_> {
    type Value = u64;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        u64::try_from(value).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }
}

/// One scheduler of a comparison.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum SchedulerChoice {
    /// A scheduler of the catalogue.
    Named(String),
    /// A mix.
    Mix(Box<Mix>),
}

impl SchedulerChoice {
    /// The name shown in tables.
    pub fn name(&self) -> String {
        match self {
            SchedulerChoice::Named(name) => name.clone(),
            SchedulerChoice::Mix(mix) => mix.name.clone().unwrap_or_else(|| {
                let base = mix.base.clone().into_iter();
                let answers = mix.answers().into_iter().map(|(question, answer)| format!("{question}={answer}"));
                let parameters = mix.parameters.iter().map(|(name, value)| format!("{name}={value}"));
                let parts: Vec<String> = base.chain(answers).chain(parameters).collect();
                if parts.is_empty() { "read-first".into() } else { parts.join("+") }
            }),
        }
    }

    /// Whether that is the value of its key `name`.
    pub(super) fn is_named_by_key(&self) -> bool {
        matches!(self, SchedulerChoice::Mix(mix) if mix.name.is_some())
    }
}

impl<'de> Deserialize<'de> for SchedulerChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SchedulerChoice, D::Error> {
        text_or_table(deserializer, "the name of a scheduler or a table of answers", SchedulerChoice::Named, |mix| {
            SchedulerChoice::Mix(Box::new(mix))
        })
    }
}

impl JsonSchema for SchedulerChoice {
    fn schema_name() -> Cow<'static, str> {
        "SchedulerChoice".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mix = generator.subschema_for::<Mix>();
        json_schema!({ "x-type": "a name, or a table of answers", "anyOf": [{ "type": "string" }, mix] })
    }
}
