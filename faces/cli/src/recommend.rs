//! `flashlane recommend`: which scheduler to take for a workload.

use flashlane_outputs::Store;
use flashlane_report::results::{recommendation_page, recommendation_text};
use flashlane_sweep::{Limits, MakeOptions, Progress, Recommend, Shard};

use crate::args::RecommendArgs;
use crate::arguments;
use crate::fail::Failure;
use crate::memory;
use crate::outputs;
use crate::plan;
use crate::progress;
use crate::run::rayon_threads;
use crate::signals;
use crate::sweep::made_again;
use crate::text::{note, print, print_json};

/// Runs `flashlane recommend`.
pub fn act(args: &RecommendArgs) -> Result<(), Failure> {
    if let Some(jobs) = args.jobs {
        rayon_threads(jobs)?;
    }
    let scenario = plan::scenario(&args.workload)?;
    plan::seeds_are_unused(&scenario, "recommend");
    let not_measured = plan::not_measured(&scenario)?;
    let limits = Limits {
        p99_ns: args.p99,
        flush_p99_ns: args.flush_p99,
        write_amplification: args.write_amplification,
        fairness: args.fairness,
    };
    let recommend = Recommend::new(&scenario, limits)?;
    memory::check_needs(&recommend.memory()?)?;
    signals::install_handlers()?;
    let inputs = outputs::inputs(&args.workload, &scenario)?;
    let report = args.report.as_ref().map(|path| outputs::begin_report(path, None, &inputs, args.force)).transpose()?;
    let store = args.out.as_ref().map(|out| Store::apart_from(out, &flashlane_sim::maker(), &inputs)).transpose()?;
    let progress = Progress::default();
    let command = arguments::command_line();
    let options = MakeOptions { shard: Shard::WHOLE, audit: args.audit, command: command.clone(), progress: &progress };
    let made = progress::of_sweep(&progress, || recommend.make(store.as_ref(), &options))?;
    let damaged = made_again(&progress);
    if !damaged.is_empty() {
        note(damaged.trim_end());
    }
    let written =
        report.map_or(Ok(()), |(file, _)| file.write_whole(recommendation_page::html(&made, &command).as_bytes()));
    // The answer is printed even if its page cannot be written.
    if args.json {
        if !not_measured.is_empty() {
            note(not_measured.trim_end());
        }
        print_json(&made.to_json())
    } else {
        print(&(plan::remarks(&scenario) + &not_measured + &recommendation_text::render(&made)))
    }?;
    Ok(written?)
}
