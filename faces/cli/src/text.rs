//! Printing to standard output, and errors to standard error.
//!
//! Promises that all text from outside is printed with its control characters escaped
//! ([`shown`](flashlane_outputs::shown)). Line breaks in printed text are the program's own: names are inserted with
//! [`escaped`] or [`path`](flashlane_outputs::shown::path).

use std::io::{ErrorKind, Write};

use flashlane_outputs::shown::{escaped, escaped_json, escaped_lines};

use crate::fail::Failure;
use crate::spool;

/// Prints a text of several lines.
pub fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&escaped_lines(text))
}

/// Prints JSON.
pub fn print_json(json: &str) -> Result<(), Failure> {
    print_as_it_is(&escaped_json(json))
}

/// Prints text that contains nothing from outside. A closed pipe (`| head`) is no failure.
pub fn print_as_it_is(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::Fault(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Prints why a command failed. An error about the input is one line, so a line break in it is part of a name.
pub fn complain(failure: &Failure) {
    let message = spool::renamed(&failure.to_string());
    let shown = match failure {
        Failure::Input(_) => escaped(&message),
        Failure::Fault(_) => escaped_lines(&message),
    };
    note(&format!("error: {shown}"));
}

/// Prints `line` on standard error; a closed one is no failure.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", escaped_lines(line));
}
