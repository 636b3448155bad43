//! The seven questions: the one list of them, and everything that has an entry for each.

use alloc::boxed::Box;
use core::ops::{Index, IndexMut};

use super::{
    Admit, AdmitDeclares, Cancel, CancelDeclares, Collect, CollectDeclares, Keeps, Order, OrderDeclares, Pick,
    PickDeclares, Place, PlaceDeclares, Preempt, PreemptDeclares,
};
use crate::board::Board;

/// Hands the list of questions to the macro `$to`: for each what it asks, its trait, its name, and what its answers declare. Whatever has
/// an entry for every question is made of this list.
#[macro_export]
macro_rules! questions {
    ($to:ident) => {
        $to! {
            /// Which command enters the device next.
            Admit admit AdmitDeclares,
            /// Which chip a write goes to.
            Place place PlaceDeclares,
            /// Where in its chip's queue a transaction stands.
            Order order OrderDeclares,
            /// What an idle chip does next.
            Pick pick PickDeclares,
            /// Whether the running program or erase may be paused.
            Preempt preempt PreemptDeclares,
            /// When garbage collection may run.
            Collect collect CollectDeclares,
            /// Whether a waiting write is superseded.
            Cancel cancel CancelDeclares,
        }
    };
}

macro_rules! define {
    ($($(#[$asks:meta])* $Question:ident $question:ident $Declares:ident,)*) => {
        /// A question that a scheduler answers.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Question {
            $($(#[$asks])* $Question,)*
        }

        impl Question {
            /// All of them.
            pub const ALL: [Question; 7] = [$(Question::$Question,)*];

            /// All names, in the order of [`Question::ALL`].
            pub const NAMES: [&'static str; 7] = [$(stringify!($question),)*];
        }

        /// A value for each question.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct ByQuestion<T> {
            $($(#[$asks])* pub $question: T,)*
        }

        impl<T> ByQuestion<T> {
            /// The questions with their values, in the order of [`Question::ALL`].
            pub fn iter(&self) -> impl Iterator<Item = (Question, &T)> {
                [$((Question::$Question, &self.$question),)*].into_iter()
            }

            /// The same with each value converted.
            pub fn map<U>(self, mut convert: impl FnMut(Question, T) -> U) -> ByQuestion<U> {
                ByQuestion { $($question: convert(Question::$Question, self.$question),)* }
            }
        }

        impl<T> Index<Question> for ByQuestion<T> {
            type Output = T;

            fn index(&self, question: Question) -> &T {
                match question {
                    $(Question::$Question => &self.$question,)*
                }
            }
        }

        impl<T> IndexMut<Question> for ByQuestion<T> {
            fn index_mut(&mut self, question: Question) -> &mut T {
                match question {
                    $(Question::$Question => &mut self.$question,)*
                }
            }
        }

        /// A scheduler: one answer to each question.
        pub struct Scheduler {
            $($(#[$asks])* pub $question: Box<dyn $Question>,)*
        }

        impl Scheduler {
            /// What its answers declare in advance.
            pub fn declares(&self) -> Declares {
                Declares { $($question: self.$question.declares(),)* }
            }

            /// Has all answers reserve the memory that they will ever need: called once, when the device is built.
            pub fn prepare(&mut self, board: &Board) {
                $(self.$question.prepare(board);)*
            }
        }

        /// What a scheduler's answers declare.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Declares {
            $($(#[$asks])* pub $question: $Declares,)*
        }

        impl Declares {
            /// What the device keeps on the board for any of the answers.
            pub const fn keeps(&self) -> Keeps {
                // Algorithm 2 of FLIN shares out collection by the flows whose pages it moves.
                let keeps = Keeps { page_flows: self.collect.write_triggered, ..Keeps::NOTHING };
                $(let keeps = keeps.and(&self.$question.keeps);)*
                keeps
            }
        }
    };
}

questions!(define);

impl Question {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A table has the value of the question that is asked for, in the order of `ALL`, and names are found again.
    #[test]
    fn questions_are_numbered_and_named_in_order() {
        let mut numbers = ByQuestion::default();
        for (number, question) in Question::ALL.into_iter().enumerate() {
            numbers[question] = number;
            assert_eq!((question as usize, question.name()), (number, Question::NAMES[number]));
            assert_eq!(Question::named(question.name()), Some(question));
        }
        assert!(numbers.iter().map(|(question, number)| (question as usize, *number)).eq((0..7).map(|i| (i, i))));
        assert_eq!((numbers.admit, numbers.cancel, numbers.map(|_, number| number * 2).pick), (0, 6, 6));
        assert_eq!(Question::named("fetch"), None);
    }
}
