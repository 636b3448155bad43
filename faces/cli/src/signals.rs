//! Signals that end the program: unfinished outputs are removed first.
//!
//! Promises that a signal which was ignored when the program began (`nohup`, a background job of a script) stays
//! ignored.

use crate::fail::Failure;

#[cfg(unix)]
mod handlers {
    use std::io::{IsTerminal, Write};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    /// The signals that end the program, and their names.
    const ENDING: [(i32, &str); 3] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")];

    pub(super) fn install() -> std::io::Result<()> {
        // Sent when a file exceeds the system's limit. It must not end the program: the write then fails with an error
        // that names the file.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let mut signals = Signals::new(heeded())?;
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                crate::spool::remove();
                flashlane_outputs::abandon(|| {
                    let name = ENDING.iter().find(|(own, _)| *own == signal).map_or("a signal", |(_, name)| *name);
                    let mut stderr = std::io::stderr().lock();
                    let line = if stderr.is_terminal() { "\n" } else { "" };
                    // Standard error may be a terminal that was closed.
                    let _ = writeln!(stderr, "{line}error: ended by {name}; unfinished outputs are removed");
                    // Other threads are still running, so no destructors may run.
                    signal_hook::low_level::exit(128 + signal);
                });
            }
        })?;
        Ok(())
    }

    /// The signals that end the program, without those that were ignored when it began.
    pub(super) fn heeded() -> Vec<i32> {
        let ignored = ignored();
        ENDING.into_iter().map(|(signal, _)| signal).filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
    }

    /// The ignored signals, one bit each, as far as the system reports them.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// From now on, signals that end the program remove unfinished outputs first. To be called before any output is begun.
pub fn install_handlers() -> Result<(), Failure> {
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    let mut result = Ok(());
    INSTALLED.call_once(|| result = install());
    result
}

/// The signals on which a server ends, which does so itself.
#[cfg(target_os = "linux")]
pub fn ending() -> Vec<i32> {
    handlers::heeded()
}

fn install() -> Result<(), Failure> {
    #[cfg(unix)]
    handlers::install().map_err(|e| Failure::Fault(format!("signal handlers cannot be installed: {e}")))?;
    Ok(())
}
