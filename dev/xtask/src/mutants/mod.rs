//! Do the tests notice when something else is computed? Small changes of the source, one at a time: which of them change results, and
//! which of those fails a test.
//!
//! Works on a copy of the repository below `target/mutants`. What is drawn depends on the sources and the seed alone.
//! Knows nothing of what the engine does; `docs/results/trust.md` says what came of it.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use clap::Parser as _;

mod build;
mod corpus;
mod draw;
mod mutant;
mod operators;
mod options;
mod process;
mod programs;
mod report;
mod store;
mod tree;

use build::{BuildFolders, Written};
use corpus::Corpus;
use mutant::Mutant;
use options::Options;
use programs::Suite;
use store::{MutantResult, Store};
use tree::Tree;

/// The command `mutants`; `Ok(true)` when it has done what was asked, whatever the tests noticed.
pub fn run(root: &Path, args: &[&str]) -> Result<bool, String> {
    let options = Options::parse_from(std::iter::once("mutants").chain(args.iter().copied()));
    let tree = Tree::read(root)?;
    let all = tree.mutants()?;
    let (count, places) = (all.len(), report::places(&all));
    let mut drawn = draw::order(all, options.seed);
    drawn.retain(|mutant| options.concerns(mutant));
    if drawn.is_empty() {
        return Err(format!("--only {}: no mutant of {count} has that file, kind or id", options.only.join(",")));
    }
    if options.list {
        let drawn = draw::first_of_each(drawn, options.sample(), |mutant| mutant);
        drawn.iter().for_each(|mutant| println!("{} {}", mutant.id, mutant.description()));
        println!("{} of {count} mutants", drawn.len());
        return Ok(true);
    }
    let home = root.join("target/mutants");
    std::fs::create_dir_all(&home).map_err(|e| format!("{}: cannot be made: {e}", home.display()))?;
    let mut store = Store::open(&home.join("results.json"), &tree.identity());
    // The copy of a larger sample holds this one, and is built already. Some more than asked for: a part turns out to be no legal Rust.
    let copied = store.copied(&options.draw()).unwrap_or_default().max(options.sample());
    store.note_copied(&options.draw(), copied);
    let drawn = draw::first_of_each(drawn, copied + copied / 10 + 3, |mutant| mutant);
    // Numbers first: what is known to be illegal leaves gaps, so that the copy is the same as last time.
    let mut drawn: Vec<(u32, Mutant)> = (1..).zip(drawn).collect();
    drawn.retain(|(_, mutant)| !store.is_illegal(&mutant.id));
    let begun = Instant::now();
    println!("building with {} of {count} mutants; minutes", drawn.len());
    let folders = BuildFolders::new(&home);
    let Written { legal, illegal } = folders.write(&tree, drawn)?;
    // Noted at once: another run then writes the same copy, and Cargo builds nothing again.
    illegal.iter().for_each(|mutant| store.note_illegal(mutant));
    store.write()?;
    let mutants =
        draw::in_turn(draw::first_of_each(legal, options.sample(), |(_, mutant)| mutant), |(_, mutant)| mutant);
    folders.build_programs()?;
    if options.build {
        folders.build_tests()?;
        println!("built in {} s", begun.elapsed().as_secs());
        return Ok(true);
    }
    let corpus = Corpus::prepare(&folders)?;
    let (scenarios, time) = corpus.description();
    println!(
        "built in {} s; {scenarios} commands of the corpus take {:.1} s",
        begun.elapsed().as_secs(),
        time.as_secs_f64()
    );
    let store = Mutex::new(store);
    let suites = prepare(folders.build_tests()?, options.jobs.into())?;
    let shared = Shared { corpus, suites, store, begun, options: &options };
    shared.work_through(&mutants)?;
    let store = shared.store.into_inner().map_err(|_| "a worker stopped")?;
    print_results(&mutants, &store, &places);
    println!("{} s in all; results: target/mutants/results.json", begun.elapsed().as_secs());
    Ok(true)
}

/// Prints what the tests noticed, and which mutants change nothing that the corpus shows and were not tested.
fn print_results(mutants: &[(u32, Mutant)], store: &Store, places: &BTreeMap<String, usize>) {
    let known: Vec<(&Mutant, MutantResult)> =
        mutants.iter().filter_map(|(_, m)| Some((m, store.result(&m.id)?))).collect();
    let is_unshown = |m: &&Mutant| store.change(&m.id) == Some(None) && store.result(&m.id).is_none();
    let unshown: Vec<&Mutant> = mutants.iter().map(|(_, mutant)| mutant).filter(is_unshown).collect();
    println!("\n{}", report::text(&known, &unshown, places));
}

/// Runs the tests without a mutant, and says what takes part.
fn prepare(tests: Vec<build::TestProgram>, jobs: usize) -> Result<Vec<Suite>, String> {
    let suites = programs::prepare(tests, jobs)?;
    for test in programs::LEFT_OUT {
        println!("{}: {test}", if test.stored { "counts apart" } else { "left out" });
    }
    let mut total = Duration::ZERO;
    for suite in &suites {
        let (name, Some(usual)) = suite.description() else { continue };
        total += usual;
        let beyond = if total > programs::BUDGET { "; beyond a mutant's time" } else { "" };
        println!("{name}: {:.1} s, {:.1} s with those before it{beyond}", usual.as_secs_f64(), total.as_secs_f64());
    }
    Ok(suites)
}

/// Mutants with their numbers.
type Numbered<'m> = Vec<&'m (u32, Mutant)>;

/// What every worker needs.
struct Shared<'a> {
    corpus: Corpus,
    suites: Vec<Suite>,
    store: Mutex<Store>,
    begun: Instant,
    options: &'a Options,
}

impl Shared<'_> {
    /// Looks at each, and shows it to the tests if it changes results; then, if that is wanted, the others.
    fn work_through(&self, mutants: &[(u32, Mutant)]) -> Result<(), String> {
        self.each(mutants.iter().collect(), |number, mutant| {
            if self.look(number, mutant)? { self.test(number, mutant) } else { Ok(()) }
        })?;
        if self.options.changing {
            return Ok(());
        }
        let changes = |mutant: &Mutant| Ok::<_, String>(matches!(self.store()?.change(&mutant.id), Some(Some(_))));
        let mut others = Vec::new();
        for numbered in mutants {
            if !changes(&numbered.1)? {
                others.push(numbered);
            }
        }
        self.each(others, |number, mutant| self.test(number, mutant))
    }

    /// Takes one mutant after the other, several at a time.
    fn each(
        &self,
        mutants: Numbered<'_>,
        job: impl Fn(u32, &Mutant) -> Result<(), String> + Sync,
    ) -> Result<(), String> {
        let waiting = Mutex::new(VecDeque::from(mutants));
        let next = || waiting.lock().ok()?.pop_front().filter(|_| self.begun.elapsed() < self.options.time());
        let work = || -> Result<(), String> {
            while let Some((number, mutant)) = next() {
                job(*number, mutant)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.options.jobs).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker stopped")?)
        })
    }

    fn store(&self) -> Result<MutexGuard<'_, Store>, String> {
        self.store.lock().map_err(|_| "a worker stopped".into())
    }

    /// Whether a mutant changes results.
    fn look(&self, number: u32, mutant: &Mutant) -> Result<bool, String> {
        if let Some(known) = self.store()?.change(&mutant.id) {
            return Ok(known.is_some());
        }
        let change = self.corpus.changes(number, false)?;
        let mut store = self.store()?;
        store.note_change(mutant, change.as_ref());
        store.write()?;
        Ok(change.is_some())
    }

    /// Whether the tests notice it.
    fn test(&self, number: u32, mutant: &Mutant) -> Result<(), String> {
        let (known, mut change) = {
            let store = self.store()?;
            (store.result(&mutant.id).is_some(), store.change(&mutant.id).flatten())
        };
        if known {
            return Ok(());
        }
        let (detection, time) = programs::noticed(&self.suites, number, mutant.krate())?;
        if change.is_some() && detection.as_ref().is_none_or(|detection| detection.stored) {
            // Of a survivor all is wanted: how much it changes, and where most.
            change = self.corpus.changes(number, true)?;
        }
        let verdict = match (&change, &detection) {
            (Some(_), Some(detection)) => {
                let how = if detection.stored { "caught by stored results only:" } else { "caught by" };
                format!("{how} {} {}", detection.suite, detection.test)
            }
            (Some(change), None) => format!("SURVIVED, {} in {}", change.how, change.scenario),
            (None, Some(detection)) => {
                format!("noticed by {} {}, no result changes", detection.suite, detection.test)
            }
            (None, None) => "silent".into(),
        };
        println!("{} {}: {verdict} ({:.1} s)", mutant.id, mutant.description(), time.as_secs_f64());
        let mut store = self.store()?;
        store.note(mutant, &MutantResult { change, detection, seconds: time.as_secs_f64() });
        store.write()
    }
}
