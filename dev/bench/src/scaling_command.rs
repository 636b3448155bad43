//! The scaling runs: measures all points, prints the table.

use std::path::{Path, PathBuf};

use flashlane_bench::scaling::{self, growth, table};
use flashlane_bench::{kept, machine};

use crate::whole_command::program;

/// What becomes of the table.
#[derive(clap::Args)]
pub struct Arguments {
    /// Writes the table to its file in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "count")]
    write: Option<PathBuf>,
    /// Counts the instructions of a request instead (valgrind is slow), with more flows, deeper queues and larger drives
    #[arg(long)]
    count: bool,
}

/// Measures all points.
///
/// # Errors
/// A run that fails.
pub fn act(Arguments { write, count }: Arguments) -> Result<(), String> {
    if cfg!(debug_assertions) {
        eprintln!("This is a build with checks: times say nothing about the program that users run.");
    }
    let program = program()?;
    if count {
        return count_growth(&program);
    }
    let (mut axes, mut done) = (Vec::new(), 0);
    for (axis, points) in scaling::axes() {
        let mut rows = Vec::new();
        for point in points {
            let mut figures = Vec::new();
            for scheduler in scaling::SCHEDULERS {
                done += 1;
                eprintln!("measuring {done} of {}: {axis} {}, {scheduler}", table::points(), point.on(axis));
                figures.push(scaling::measure(&program, &point, scheduler)?);
            }
            rows.push((point.on(axis), figures));
        }
        axes.push((axis, rows));
    }
    let text = format!(
        "On {}; one run each, ns of CPU per page transaction.\n\n{}",
        machine::describe(),
        table::render(&axes)
    );
    print!("{text}");
    write.map_or(Ok(()), |folder| kept::write(&folder, kept::SCALING, &text))
}

/// Counts the instructions of all points of [`growth`].
fn count_growth(program: &Path) -> Result<(), String> {
    let mut rows = Vec::new();
    for (name, point) in growth::points() {
        let mut counts = Vec::new();
        for scheduler in growth::SCHEDULERS {
            eprintln!("counting {name}, {scheduler}");
            counts.push(growth::count(program, &point, scheduler)?);
        }
        rows.push((name, counts));
    }
    print!("{}", growth::render(&rows));
    Ok(())
}
