//! `flashlane man`: manual pages, made from the words of the help.

use clap::{Command, CommandFactory};

use crate::args::Cli;
use crate::fail::Failure;
use crate::text::print_as_it_is;

/// Prints the page of the command that `words` name (`trace stat`), or that of the program.
pub fn show(words: &[String]) -> Result<(), Failure> {
    let mut command = Cli::command();
    // Gives commands below others their whole names: flashlane-trace-stat.
    command.build();
    for word in words {
        let known = |of: &Command| of.get_subcommands().map(|sub| sub.get_name().to_owned()).collect::<Vec<_>>();
        let legal = known(&command);
        let Some(found) = command.find_subcommand(word) else {
            let names = if legal.is_empty() { "none below it".to_owned() } else { legal.join(", ") };
            return Err(Failure::Input(format!("man {word:?}: no such command; there are {names}")));
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|why| Failure::Fault(format!("a manual page: {why}")))?;
    print_as_it_is(&String::from_utf8_lossy(&page))
}
