//! Printing: standard output, and complaints on standard error.
//!
//! Promises that whatever came from outside reaches a terminal with its control characters escaped
//! ([`shown`](flashlane_lab::shown)). Line breaks in what is printed are ours: a name is put into a text by way of
//! [`escaped`] or [`path`](flashlane_lab::shown::path).

use std::io::{ErrorKind, Write};

use flashlane_lab::shown::{escaped, escaped_json, escaped_lines};

use crate::fail::Failure;

/// Prints a text of several lines.
pub fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&escaped_lines(text))
}

/// Prints JSON.
pub fn print_json(json: &str) -> Result<(), Failure> {
    print_as_it_is(&escaped_json(json))
}

/// Prints what holds nothing from outside. A reader that has gone (`| head`) is no failure.
pub fn print_as_it_is(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::Fault(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Says why a command failed. What is wrong with the input is said on one line, so a line break in it came with a name.
pub fn complain(failure: &Failure) {
    let message = failure.to_string();
    let shown = match failure {
        Failure::Input(_) => escaped(&message),
        Failure::Fault(_) => escaped_lines(&message),
    };
    note(&format!("error: {shown}"));
}

/// Says `line` on standard error; that nobody listens is no failure.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", escaped_lines(line));
}
