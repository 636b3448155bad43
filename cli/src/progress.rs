//! Progress on a terminal: rate and time left. Nothing in a pipe.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flashlane_lab::run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Does `work`, showing how far `progress` has come while a terminal watches.
pub fn shown<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    let over = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                follow(&bar, progress);
                std::thread::park_timeout(Duration::from_millis(120));
            }
        });
        let result = work();
        over.store(true, Ordering::Relaxed);
        result
    });
    bar.finish_and_clear();
    result
}

fn follow(bar: &ProgressBar, progress: &Progress) {
    const KNOWN: &str = "{bar:32} {percent:>3} %  {human_pos} of {human_len} requests  {per_sec}  {eta} left";
    const UNKNOWN: &str = "{spinner} {human_pos} requests  {per_sec}  {elapsed}";
    let total = progress.total();
    if total > 0 && bar.length() != Some(total) {
        bar.set_length(total);
    }
    let style = ProgressStyle::with_template(if total > 0 { KNOWN } else { UNKNOWN });
    bar.set_style(style.expect("a template of known keys"));
    bar.set_position(progress.done());
}
