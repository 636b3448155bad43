//! The decisions of a scheduler, and in which of them two schedulers differ.

use std::collections::BTreeMap;

use flashlane_core::decide::ByQuestion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! decisions {
    ($($(#[$asks:meta])* $Question:ident $question:ident $Declares:ident,)*) => {
        /// A scheduler's answer to each of the seven questions, by name, and its parameters.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct Decisions {
            $($(#[$asks])* pub $question: String,)*
            /// Parameters that differ from their defaults.
            pub parameters: BTreeMap<String, u64>,
        }

        impl Decisions {
            /// These answers, with these parameters.
            pub fn of(answers: &ByQuestion<&str>, parameters: BTreeMap<String, u64>) -> Decisions {
                Decisions { $($question: answers.$question.to_owned(),)* parameters }
            }

            /// The questions with the answers.
            pub fn answers(&self) -> ByQuestion<&str> {
                ByQuestion { $($question: &self.$question,)* }
            }
        }
    };
}

flashlane_core::questions!(decisions);

impl Decisions {
    /// In what it differs from `other`: `pick largest-group`, `write_capacity 64`, `alpha default`.
    pub fn differences(&self, other: &Decisions) -> Vec<String> {
        let (own, others) = (self.answers(), other.answers());
        let answers = own.iter().filter(|&(question, answer)| *answer != others[question]);
        let mut all: Vec<String> = answers.map(|(question, answer)| format!("{question} {answer}")).collect();
        for (name, value) in &self.parameters {
            if other.parameters.get(name) != Some(value) {
                all.push(format!("{name} {value}"));
            }
        }
        let missing = other.parameters.keys().filter(|name| !self.parameters.contains_key(*name));
        all.extend(missing.map(|name| format!("{name} default")));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Decisions;

    #[test]
    fn differences_are_answers_and_parameters() {
        let one = Decisions { pick: "fcfs".into(), collect: "atomic".into(), ..Decisions::default() };
        assert!(one.differences(&one).is_empty());
        let parameters = [("write_capacity".to_owned(), 64)].into();
        let other = Decisions { pick: "fr-fcfs".into(), parameters, ..one.clone() };
        assert_eq!(other.differences(&one), ["pick fr-fcfs", "write_capacity 64"]);
        assert_eq!(one.differences(&other), ["pick fcfs", "write_capacity default"]);
    }
}
