//! Progress on a terminal: rate and time left. No output if it is not a terminal.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flashlane_lab::run::Progress;
use flashlane_papers as papers;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text;

/// Runs `work` and shows `progress` on a terminal meanwhile.
pub fn shown<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    watched(|bar| follow(bar, progress), |_| work())
}

/// Runs `work` on a paper and shows its progress. Messages from `work` are printed above the bar, and also where there
/// is no bar.
pub fn of_paper<T>(progress: &papers::Progress, work: impl FnOnce(&dyn Fn(String)) -> T) -> T {
    let follow = |bar: &ProgressBar| follow_paper(bar, progress);
    watched(follow, |bar| {
        work(&|line| match bar {
            Some(bar) => bar.suspend(|| text::note(&line)),
            None => text::note(&line),
        })
    })
}

/// Runs `work` while `follow` updates a bar, if there is a terminal.
fn watched<T>(follow: impl Fn(&ProgressBar) + Sync, work: impl FnOnce(Option<&ProgressBar>) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work(None);
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    style(&bar, "{spinner} {elapsed}");
    let over = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                follow(&bar);
                std::thread::park_timeout(Duration::from_millis(120));
            }
        });
        let result = work(Some(&bar));
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
    style(bar, if total > 0 { KNOWN } else { UNKNOWN });
    bar.set_position(progress.done());
}

fn follow_paper(bar: &ProgressBar, progress: &papers::Progress) {
    const KNOWN: &str = "{bar:32} {pos} of {len} scenarios  {per_sec}  {eta} left  {msg}";
    const UNKNOWN: &str = "{spinner} {elapsed}  {msg}";
    let (made, of) = (progress.made(), progress.of());
    style(bar, if of > 0 { KNOWN } else { UNKNOWN });
    if made < bar.position() {
        // The next experiments begin, with a rate of their own.
        bar.reset();
    }
    if bar.length() != Some(of) {
        bar.set_length(of);
    }
    bar.set_message(format!("{} requests in all", HumanCount(progress.requests())));
    bar.set_position(made);
}

fn style(bar: &ProgressBar, template: &str) {
    bar.set_style(ProgressStyle::with_template(template).expect("a template of known keys"));
}
