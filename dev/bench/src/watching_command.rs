//! What watching costs: measures all options, prints the table.

use std::path::PathBuf;

use flashlane_bench::{callgrind, kept, watching};

use crate::whole_command::program;

/// What becomes of the table.
#[derive(clap::Args)]
pub struct Arguments {
    /// Writes the table to its file in this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// Measures all options.
///
/// # Errors
/// A run that fails.
pub fn act(Arguments { write }: Arguments) -> Result<(), String> {
    if cfg!(debug_assertions) {
        eprintln!("This is a build with checks: its instructions are not those of the program that users run.");
    }
    if !callgrind::present() {
        return Err("valgrind is absent: instructions cannot be counted".into());
    }
    let text = watching::table(&program()?)?;
    print!("{text}");
    write.map_or(Ok(()), |folder| kept::write(&folder, kept::WATCHING, &text))
}
