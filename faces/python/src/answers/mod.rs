//! Answers that are written in Python.
//!
//! Each is an answer of the catalogue whose every decision is a call of a method of its instance. Promises that the first exception ends
//! all runs, and that the device goes on as it may until they have ended.

mod asked;
mod collect;
mod failures;
mod order;
mod pick;
mod place;
mod preempt;

use std::sync::Arc;

use flashlane_core::decide::Question;
use flashlane_sched::Values;
use flashlane_sched::catalogue::{AnswerEntry, Build, Catalogue, SHIPPED, SchedulerEntry};
use pyo3::prelude::*;

use crate::error::error;
pub use asked::Written;
use asked::{Asked, Maker};
pub(crate) use failures::Failures;

/// The shipped catalogue with these answers, and for each a scheduler.
pub(crate) fn extended(written: Vec<Written>, failures: &Failures) -> PyResult<Catalogue> {
    let mut catalogue = SHIPPED.clone();
    for answer in written {
        // A catalogue is used until the program ends.
        let name: &'static str = Box::leak(answer.name.clone().into_boxed_str());
        let question = Question::named(&answer.question);
        let base = answer.base.clone();
        let maker = Maker { name, written: Arc::new(answer), failures: failures.clone() };
        let question = question.ok_or_else(|| error(format!("{name}: answers no question")))?;
        let build = match question {
            Question::Place => Build::Place(built(maker, |asked| Box::new(place::PythonPlace(asked)))),
            Question::Order => Build::Order(built(maker, |asked| Box::new(order::PythonOrder(asked)))),
            Question::Pick => Build::Pick(built(maker, |asked| Box::new(pick::PythonPick(asked)))),
            Question::Preempt => Build::Preempt(built(maker, |asked| Box::new(preempt::PythonPreempt(asked)))),
            Question::Collect => Build::Collect(built(maker, |asked| Box::new(collect::PythonCollect(asked)))),
            Question::Admit | Question::Cancel => {
                return Err(error(format!("{name}: {} cannot be answered in Python", question.name())));
            }
        };
        let (summary, source) = ("written in Python", "the caller");
        catalogue.add_answer(AnswerEntry { name, summary, source, params: &[], build }).map_err(error)?;
        let Some(from) = catalogue.scheduler(&base).copied() else {
            let names: Vec<&str> = catalogue.schedulers().iter().map(|entry| entry.name).collect();
            return Err(error(format!("{name}: base = {base:?}: no such scheduler; there are {}", names.join(", "))));
        };
        let mut answers = from.answers;
        answers[question] = name;
        // What it answers itself a scenario does not answer for it.
        let open: Vec<Question> = from.open.iter().copied().filter(|open| *open != question).collect();
        let open: &'static [Question] = Box::leak(open.into_boxed_slice());
        let entry =
            SchedulerEntry { name, paper: "none", section: "", summary: "written in Python", answers, open, ..from };
        catalogue.add_scheduler(entry).map_err(error)?;
    }
    Ok(catalogue)
}

/// How an answer is built: `of` makes it of its side in Python.
fn built<T: ?Sized + 'static>(maker: Maker, of: fn(Asked) -> Box<T>) -> &'static (dyn Fn(&Values<'_>) -> Box<T> + Sync) {
    Box::leak(Box::new(move |_: &Values<'_>| of(Asked::new(&maker))))
}
