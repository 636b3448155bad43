//! Signals that end the program: what is unfinished is removed first.
//!
//! Promises that a signal which was ignored when the program began (`nohup`, a job in the background of a script) stays so.

use crate::fail::Failure;

#[cfg(unix)]
mod watched {
    use std::io::{IsTerminal, Write};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use flashlane_lab::outputs;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    /// The signals that end the program, and what people call them.
    const ENDING: [(i32, &str); 3] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")];

    pub(super) fn watch() -> std::io::Result<()> {
        // A file has grown beyond what the system allows. Heard and not heeded: writing then fails with an error that names the file.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let ignored = ignored();
        let wanted = ENDING.into_iter().map(|(signal, _)| signal).filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = Signals::new(wanted)?;
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                outputs::abandon(|| {
                    let name = ENDING.iter().find(|(own, _)| *own == signal).map_or("a signal", |(_, name)| *name);
                    let mut stderr = std::io::stderr().lock();
                    let line = if stderr.is_terminal() { "\n" } else { "" };
                    // The terminal may be what has gone.
                    let _ = writeln!(stderr, "{line}error: ended by {name}; unfinished outputs are removed");
                    // Other threads go on meanwhile, so nothing is torn down.
                    signal_hook::low_level::exit(128 + signal);
                });
            }
        })?;
        Ok(())
    }

    /// The signals that are ignored, a bit each, as far as the system says.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// From now on, signals that end the program remove what is unfinished. To be called once, before an output is begun.
pub fn watch() -> Result<(), Failure> {
    #[cfg(unix)]
    watched::watch().map_err(|e| Failure::Fault(format!("signals cannot be heard: {e}")))?;
    Ok(())
}
