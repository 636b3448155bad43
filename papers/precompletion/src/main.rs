//! The ways of waiting for an I/O of precompletion, measured on the machine this runs on (model 3.1.5): no host is simulated.
//!
//! A thread runs a simulated device under the wall clock and completes I/Os through a word that can be spun on and slept on
//! (`mailbox`, `device`). A thread in the foreground reads and writes and waits for each in one of the ways (`foreground`), beside
//! threads that burn CPU time or do I/O (`background`), all pinned to one CPU. Ways take turns, each next to the interrupt and to the
//! background alone, so that a noisy machine still gives ratios (`plan`); the ratios and what they show are `figures` and `verdicts`.

#[cfg(target_os = "linux")]
mod background;
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod figures;
#[cfg(target_os = "linux")]
mod foreground;
#[cfg(all(test, target_os = "linux"))]
mod kept_run_tests;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod mailbox;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod verdicts;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_default();
    let seconds = args.next().map_or(Ok(40), |text| text.parse());
    let Some(seconds) = seconds.ok().filter(|seconds| !file.is_empty() && (1..=3_600).contains(seconds)) else {
        eprintln!("usage: flashlane-precompletion SLOTS.csv [SECONDS]: 1 to 3600 seconds, default 40");
        return ExitCode::from(2);
    };
    let measured = plan::measure(seconds).and_then(|(slots, missing)| {
        figures::write(&file, &slots).map_err(|error| format!("{file}: {error}"))?;
        Ok(verdicts::render(&slots, &missing))
    });
    match measured {
        Ok(text) => print!("{text}"),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!(
        "error: this measures on Linux only: it needs futexes, CPUs to keep threads on, and priorities of threads"
    );
    ExitCode::FAILURE
}
