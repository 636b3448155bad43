//! The questions by name, and tables with an entry for each.

use core::ops::{Index, IndexMut};

/// A question that a scheduler answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Question {
    /// [`Admit`](super::Admit).
    Admit,
    /// [`Place`](super::Place).
    Place,
    /// [`Order`](super::Order).
    Order,
    /// [`Pick`](super::Pick).
    Pick,
    /// [`Preempt`](super::Preempt).
    Preempt,
    /// [`Collect`](super::Collect).
    Collect,
    /// [`Cancel`](super::Cancel).
    Cancel,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 7] = [
        Question::Admit,
        Question::Place,
        Question::Order,
        Question::Pick,
        Question::Preempt,
        Question::Collect,
        Question::Cancel,
    ];

    /// All names, in the order of [`Question::ALL`].
    pub const NAMES: [&'static str; 7] = ["admit", "place", "order", "pick", "preempt", "collect", "cancel"];

    /// Its name in a scenario.
    pub const fn name(self) -> &'static str {
        Question::NAMES[self as usize]
    }

    /// The question of this name.
    pub fn named(name: &str) -> Option<Question> {
        Question::ALL.into_iter().find(|question| question.name() == name)
    }
}

impl core::fmt::Display for Question {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// A value for each question.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ByQuestion<T>(pub [T; 7]);

impl<T> ByQuestion<T> {
    /// The questions with their values, in the order of [`Question::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Question, &T)> {
        Question::ALL.into_iter().zip(&self.0)
    }

    /// The same with each value converted.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> ByQuestion<U> {
        ByQuestion(self.0.map(convert))
    }
}

impl<T> Index<Question> for ByQuestion<T> {
    type Output = T;

    fn index(&self, question: Question) -> &T {
        &self.0[question as usize]
    }
}

impl<T> IndexMut<Question> for ByQuestion<T> {
    fn index_mut(&mut self, question: Question) -> &mut T {
        &mut self.0[question as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables are indexed by the position in `ALL`, and names are found again.
    #[test]
    fn questions_are_numbered_and_named_in_order() {
        let numbers = ByQuestion([0, 1, 2, 3, 4, 5, 6]);
        for (number, question) in Question::ALL.into_iter().enumerate() {
            assert_eq!((numbers[question], question.name()), (number, Question::NAMES[number]));
            assert_eq!(Question::named(question.name()), Some(question));
        }
        assert_eq!((Question::named("fetch"), numbers.iter().count()), (None, 7));
    }
}
