//! The entries of the catalogue: answers and schedulers by name, and what a user asks for.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use flashlane_core::decide::{ByQuestion, Question};

use crate::order::KnownResponses;
use crate::params::{Param, Values};

/// How an answer is built from the values of its parameters. A closure that captures something has to be leaked:
/// `Box::leak(Box::new(...))`; a catalogue is used until the program ends.
pub type Build<T> = &'static (dyn Fn(&Values<'_>) -> Box<T> + Sync);

/// A named answer to one question.
pub struct Choice<T: ?Sized + 'static> {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or section it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Builds it.
    pub build: Build<T>,
}

impl<T: ?Sized + 'static> Clone for Choice<T> {
    fn clone(&self) -> Choice<T> {
        *self
    }
}

impl<T: ?Sized + 'static> Copy for Choice<T> {}

/// The seven answers of a scheduler, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answers {
    /// Which command enters the device next.
    pub admit: &'static str,
    /// Which chip a write goes to.
    pub place: &'static str,
    /// Where in its queue a transaction stands.
    pub order: &'static str,
    /// What an idle chip does next.
    pub pick: &'static str,
    /// Whether the running program or erase may be paused.
    pub preempt: &'static str,
    /// When garbage collection may run.
    pub collect: &'static str,
    /// Whether a waiting write is superseded.
    pub cancel: &'static str,
}

impl Answers {
    /// The answer to each question.
    pub const fn by_question(&self) -> ByQuestion<&'static str> {
        ByQuestion([self.admit, self.place, self.order, self.pick, self.preempt, self.collect, self.cancel])
    }

    /// The answer to a question, to change.
    pub const fn answer_mut(&mut self, question: Question) -> &mut &'static str {
        match question {
            Question::Admit => &mut self.admit,
            Question::Place => &mut self.place,
            Question::Order => &mut self.order,
            Question::Pick => &mut self.pick,
            Question::Preempt => &mut self.preempt,
            Question::Collect => &mut self.collect,
            Question::Cancel => &mut self.cancel,
        }
    }
}

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

/// An answer as the documentation shows it.
#[derive(Clone, Copy, Debug)]
pub struct AnswerInfo {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or section it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
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
