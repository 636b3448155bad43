//! Printing to standard output.

use std::io::{ErrorKind, Write};

use crate::fail::Failure;

/// Prints `text`. A reader that has gone (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::Fault(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}
