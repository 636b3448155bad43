//! Runs a program with limits on its time and memory, and reads its lines as they come.
//!
//! Time is processor time where the system tells it (/proc), so that a loaded machine changes no verdict. One that waits
//! for ever takes none: a program is ended too when it has taken none for long.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::tree::SWITCH;

/// A program that takes no processor time for so long waits for ever.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// How often processes are asked for their times.
const OFTEN: Duration = Duration::from_millis(200);
/// Address space of a program, KiB: many times what the largest device of a test takes.
const MEMORY_KIB: u64 = 6 << 20;

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// By itself; whether it says that all is well.
    Itself(bool),
    /// It took longer than it may.
    TooLong,
    /// Its reader had seen enough.
    Enough,
}

/// What a program did.
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// What it printed.
    pub output: Vec<u8>,
    /// Processor time it took.
    pub cpu: Duration,
}

/// A program to run.
pub struct Program<'a> {
    /// The file.
    pub exe: &'a Path,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// The mutant that is on; 0 for none.
    pub mutant: u32,
    /// How long it may wait without taking processor time: [`TIMEOUT`].
    pub patience: Duration,
}

impl Program<'_> {
    /// Runs it for at most `limit` of processor time. `enough` sees each whole line and says whether to stop.
    pub fn run(&self, limit: Duration, enough: &mut dyn FnMut(&str) -> bool) -> Result<Outcome, String> {
        let fault = |e: std::io::Error| format!("{}: cannot be run: {e}", self.exe.display());
        // The shell sets the limits; what a program starts inherits them, and a clock on its own processor time.
        let seconds = limit.as_secs() + 2;
        let script = format!("ulimit -v {MEMORY_KIB}; ulimit -t {seconds}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(self.exe).args(&self.args).current_dir(&self.folder);
        command
            .env(SWITCH, self.mutant.to_string())
            .env("RAYON_NUM_THREADS", "1")
            .env("CARGO_MANIFEST_DIR", &self.folder);
        command.env_remove("CI").env("RUST_BACKTRACE", "0");
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(fault)?;
        let stdout = child.stdout.take().expect("a pipe was asked for");
        let outcome = watch_output(&mut child, &reader(stdout), (limit, self.patience), enough);
        if child.try_wait().map_err(fault)?.is_none() {
            end_group(child.id());
            child.wait().map_err(fault)?;
        }
        outcome.map_err(fault)
    }
}

/// What a program prints, piece by piece, from a thread that ends with it.
fn reader(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            if sender.send(piece[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn watch_output(
    child: &mut Child,
    pieces: &Receiver<Vec<u8>>,
    (limit, patience): (Duration, Duration),
    enough: &mut dyn FnMut(&str) -> bool,
) -> std::io::Result<Outcome> {
    let begun = Instant::now();
    let (mut asked, mut moved) = (begun, begun);
    let mut outcome = Outcome { ended: Ended::TooLong, output: Vec::new(), cpu: Duration::ZERO };
    let mut line = 0;
    loop {
        let silent = match pieces.recv_timeout(Duration::from_millis(20)) {
            Ok(piece) => {
                outcome.output.extend(piece);
                false
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(Duration::from_millis(1));
                true
            }
        };
        while let Some(length) = outcome.output[line..].iter().position(|&byte| byte == b'\n') {
            let text = String::from_utf8_lossy(&outcome.output[line..line + length]).into_owned();
            line += length + 1;
            if enough(&text) {
                outcome.ended = Ended::Enough;
                return Ok(outcome);
            }
        }
        let now = Instant::now();
        let before = outcome.cpu;
        outcome.cpu = times(child.id()).map_or_else(|| begun.elapsed(), |(_, time)| time).max(outcome.cpu);
        if now - asked > OFTEN {
            asked = now;
            outcome.cpu = time_of_group(child.id()).max(outcome.cpu);
        }
        if outcome.cpu > before {
            moved = now;
        }
        if silent && let Some(status) = child.try_wait()? {
            // The reader may be behind; what still has the pipe open after the program's end is not waited for.
            while let Ok(piece) = pieces.recv_timeout(Duration::from_secs(2)) {
                outcome.output.extend(piece);
            }
            outcome.ended = Ended::Itself(status.success());
            return Ok(outcome);
        }
        if outcome.cpu > limit || now - moved > patience {
            return Ok(outcome);
        }
    }
}

/// The group of a process, and the processor time of it and of those it has waited for.
fn times(process: u32) -> Option<(u32, Duration)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may hold anything and ends with the last parenthesis: state, parent, group; and later user,
    // system, and the same of children, in hundredths of a second.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: Option<u64> = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum();
    Some((fields[2].parse().ok()?, Duration::from_millis(10 * ticks?)))
}

/// Processor time of a whole group of processes.
fn time_of_group(group: u32) -> Duration {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter_map(times).filter(|&(of, _)| of == group).map(|(_, time)| time).sum()
}

/// Ends a process and all it has started.
fn end_group(process: u32) {
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{process}")]).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, enough: &mut dyn FnMut(&str) -> bool) -> Outcome {
        let exe = Path::new("/bin/sh");
        let args = vec!["-c".into(), script.into()];
        let patience = Duration::from_secs(2);
        let program = Program { exe, args, folder: std::env::temp_dir(), mutant: 42, patience };
        program.run(limit, enough).unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn what_is_printed_and_how_it_ends() {
        let outcome = shell("echo one; printf \"$FLASHLANE_MUTANT\"", LONG, &mut |_| false);
        assert_eq!((outcome.ended, outcome.output.as_slice()), (Ended::Itself(true), &b"one\n42"[..]));
        assert_eq!(shell("exit 3", LONG, &mut |_| false).ended, Ended::Itself(false));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let outcome = shell("while :; do :; done", Duration::from_millis(200), &mut |_| false);
        assert_eq!(outcome.ended, Ended::TooLong);
        let begun = Instant::now();
        let outcome = shell("sleep 60 & wait", LONG, &mut |_| false);
        assert_eq!(outcome.ended, Ended::TooLong);
        assert!(begun.elapsed() < LONG, "one that takes no processor time");
        let outcome = shell("sh -c 'while :; do :; done' & wait", Duration::from_millis(200), &mut |_| false);
        assert_eq!(outcome.ended, Ended::TooLong, "what it has started counts");
    }

    #[test]
    fn the_reader_may_stop_it() {
        let mut seen = Vec::new();
        let outcome = shell("echo one; echo two; sleep 1; echo three", LONG, &mut |line| {
            seen.push(line.to_owned());
            line == "two"
        });
        assert_eq!(outcome.ended, Ended::Enough);
        assert_eq!(seen, ["one", "two"]);
    }
}
