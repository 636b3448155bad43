//! The entries of the catalogue: answers and schedulers by name, and what a user asks for.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use flashlane_core::decide::{Admit, ByQuestion, Cancel, Collect, Order, Pick, Place, Preempt, Question, Scheduler};

use crate::order::KnownResponses;
use crate::params::{Param, Values};

macro_rules! build {
    ($($(#[$asks:meta])* $Question:ident $question:ident $Declares:ident,)*) => {
        /// How an answer to a question is built from the values of its parameters. A closure that captures something has to be leaked:
        /// `Box::leak(Box::new(...))`; a catalogue is used until the program ends.
        #[derive(Clone, Copy)]
        pub enum Build {
            $($(#[$asks])* $Question(&'static (dyn Fn(&Values<'_>) -> Box<dyn $Question> + Sync)),)*
        }

        impl AnswerEntry {
            /// The question that it answers.
            pub const fn question(&self) -> Question {
                match self.build {
                    $(Build::$Question(_) => Question::$Question,)*
                }
            }
        }

        /// Builds these answers, each to its question, with what the scheduler or the user set.
        pub(crate) fn scheduler(answers: &ByQuestion<&AnswerEntry>, values: &Values<'_>) -> Scheduler {
            Scheduler {
                $($question: match answers.$question.build {
                    Build::$Question(build) => build(&Values { params: answers.$question.params, ..*values }),
                    _ => unreachable!("it was looked up by its question"),
                },)*
            }
        }
    };
}

flashlane_core::questions!(build);

/// An answer of the catalogue.
#[derive(Clone, Copy)]
pub struct AnswerEntry {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or section it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Builds it.
    pub build: Build,
}

/// The seven answers of a scheduler, by name.
pub type Answers = ByQuestion<&'static str>;

/// A scheduler of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerEntry {
    /// Its name.
    pub name: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The section.
    pub section: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its answers.
    pub answers: Answers,
    /// The questions that its source does not have the scheduler decide. A scenario answers them, alike for every scheduler that leaves
    /// them open; the answer in `answers` is that of a scenario which does not say.
    pub open: &'static [Question],
    /// Parameters it sets differently from the answers' defaults.
    pub set: &'static [(&'static str, u64)],
}

/// What the user asks for: a scheduler of the catalogue, one with changes, or a free combination of answers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recipe {
    /// The scheduler to start from; `read-first` if none is named.
    pub base: Option<String>,
    /// Answers that replace that scheduler's, by name.
    pub answers: Vec<(Question, String)>,
    /// Parameters.
    pub params: Vec<(String, u64)>,
    /// Response times of an earlier run of the same requests, for an order that needs them ([`needs_responses`]).
    pub known: Option<Arc<KnownResponses>>,
}

/// A recipe that cannot be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecipeError {
    /// What is wrong: `scheduler`, a question, or a parameter.
    pub key: String,
    /// The value given.
    pub value: String,
    /// The legal names or the legal range.
    pub legal: String,
}

impl core::fmt::Display for RecipeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.legal)
    }
}

impl core::error::Error for RecipeError {}
