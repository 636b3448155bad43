//! Counting instructions with valgrind's callgrind. Counts do not depend on load, frequency or neighbours.

use std::process::Command;

use crate::outcome::Outcome;

/// A run under callgrind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Items of work the run did.
    pub items: u64,
    /// Instructions of the measured part of the run.
    pub instructions: u64,
}

/// Whether valgrind is installed.
pub fn present() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs `program args` under callgrind.
pub fn count(program: &std::path::Path, args: &[String]) -> Result<Counted, String> {
    // Only the part that the meter measures: drawing requests beforehand is not counted.
    let (printed, message) = run(program, args, &["--toggle-collect=*measured*"])?;
    Ok(Counted { items: Outcome::find(&printed)?.items, instructions: collected(&message)? })
}

/// Instructions of the whole process `program args`.
pub fn whole(program: &std::path::Path, args: &[String]) -> Result<u64, String> {
    collected(&run(program, args, &[])?.1)
}

/// Runs `program args` under callgrind with these options; returns what the program printed, and what callgrind printed.
fn run(program: &std::path::Path, args: &[String], options: &[&str]) -> Result<(String, String), String> {
    // The profile itself is not needed, only the total that callgrind prints at the end.
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(options)
        .arg(program)
        .args(args)
        .output()
        .map_err(|e| format!("cannot run valgrind: {e}"))?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("{} {} under callgrind: {}\n{message}", program.display(), args.join(" "), output.status));
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), message))
}

/// Instructions per item, from a run and a longer one.
pub fn per_item(short: Counted, long: Counted) -> Result<f64, String> {
    if long.items <= short.items || long.instructions < short.instructions {
        return Err(format!("the longer run did not do more: {short:?}, {long:?}"));
    }
    Ok((long.instructions - short.instructions) as f64 / (long.items - short.items) as f64)
}

/// The total in callgrind's last lines, `==17== Collected : 1234567`.
fn collected(message: &str) -> Result<u64, String> {
    let value = message.lines().rev().find_map(|line| line.split_once("Collected : ").map(|(_, value)| value.trim()));
    let value = value.ok_or_else(|| format!("callgrind printed no total: {message:?}"))?;
    value.parse().map_err(|_| format!("callgrind's total is {value:?}, not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_the_closing_words() {
        let message = "==9== Callgrind, a call-graph generating cache profiler\n==9== \n==9== Events    : Ir\n\
                    ==9== Collected : 123456789\n==9== \n==9== I   refs:      123,456,789\n";
        assert_eq!(collected(message), Ok(123_456_789));
        assert!(collected("==9== Events : Ir\n").unwrap_err().contains("no total"));
        assert!(collected("==9== Collected : 1 2\n").unwrap_err().contains("\"1 2\""));
    }

    #[test]
    fn what_does_not_grow_cancels_out() {
        let run = |items| Counted { items, instructions: 5_000_000 + 356 * items };
        assert_eq!(per_item(run(100_000), run(200_000)), Ok(356.0));
        assert!(per_item(run(200), run(200)).is_err());
    }
}
