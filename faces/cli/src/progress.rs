//! Progress on a terminal: rate and time left. No output if it is not a terminal.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use flashlane_sim::Progress;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::text;
#[cfg(target_os = "linux")]
use flashlane_serve::Message;

/// Runs `work` and shows `progress` on a terminal meanwhile.
pub fn shown<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    watched(|bar| follow(bar, progress), |_| work())
}

/// Runs `work` on a sweep and shows its progress.
pub fn of_sweep<T>(progress: &flashlane_sweep::Progress, work: impl FnOnce() -> T) -> T {
    watched(|bar| follow_sweep(bar, progress), |_| work())
}

/// Runs `work`, a fit or its probe that says which share of `what` is done, and shows that.
pub fn of_fit<T>(what: &str, work: impl FnOnce(&(dyn Fn(f64) + Sync)) -> T) -> T {
    let thousandths = AtomicU64::new(0);
    let follow = |bar: &ProgressBar| {
        style(bar, &format!("{{bar:32}} {{percent:>3}} % of the {what}  {{eta}} left"));
        bar.set_length(1_000);
        bar.set_position(thousandths.load(Ordering::Relaxed));
    };
    watched(follow, |_| work(&|share| thousandths.store((1e3 * share) as u64, Ordering::Relaxed)))
}

/// Runs `work` on a paper and shows its progress. Messages from `work` are printed above the bar, and also where there
/// is no bar.
pub fn of_paper<T>(progress: &flashlane_sweep::Progress, work: impl FnOnce(&dyn Fn(String)) -> T) -> T {
    let follow = |bar: &ProgressBar| follow_paper(bar, progress);
    watched(follow, |bar| {
        work(&|line| match bar {
            Some(bar) => bar.suspend(|| text::note(&line)),
            None => text::note(&line),
        })
    })
}

/// Runs `work`, a server, and shows what it did in the last second; what must not be missed is printed, also where there is no terminal.
#[cfg(target_os = "linux")]
pub fn of_server<T>(work: impl FnOnce(&mut dyn FnMut(Message<'_>)) -> T) -> T {
    let bar = std::io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        style(&bar, "{msg}");
        bar
    });
    let result = work(&mut |message| match (message, &bar) {
        (Message::LastSecond(line), Some(bar)) => bar.set_message(line.to_owned()),
        (Message::LastSecond(_), None) => {}
        (Message::Fault(why), bar) => {
            let line = format!("error: {why}; from now on every command fails");
            bar.as_ref().map_or_else(|| text::note(&line), |bar| bar.suspend(|| text::note(&line)));
        }
    });
    bar.inspect(ProgressBar::finish_and_clear);
    result
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
    const KNOWN: &str = "{bar:32} {percent:>3} %  {human_pos} of {human_len} requests  {rate}/s  {eta} left";
    const UNKNOWN: &str = "{spinner} {human_pos} requests  {rate}/s  {elapsed}";
    const STATE: &str = "{bar:32} {percent:>3} % of the drive's first state  {eta} left";
    if let Some((made, all)) = progress.of_state() {
        style(bar, STATE);
        bar.set_length(all.into());
        bar.set_position(made.into());
        return;
    }
    let total = progress.total();
    if total > 0 && bar.length() != Some(total) {
        bar.set_length(total);
    }
    if progress.done() < bar.position() {
        // The state is made, and requests have a rate of their own.
        bar.reset();
    }
    style(bar, if total > 0 { KNOWN } else { UNKNOWN });
    bar.set_position(progress.done());
}

fn follow_sweep(bar: &ProgressBar, progress: &flashlane_sweep::Progress) {
    style(bar, "{bar:32} {percent:>3} %  {pos} of {len} runs  {per_sec}  {eta} left");
    if bar.length() != Some(progress.of()) {
        bar.set_length(progress.of());
    }
    bar.set_position(progress.done());
}

fn follow_paper(bar: &ProgressBar, progress: &flashlane_sweep::Progress) {
    const KNOWN: &str = "{bar:32} {pos} of {len} runs  {per_sec}  {eta} left  {msg}";
    const UNKNOWN: &str = "{spinner} {elapsed}  {msg}";
    let (made, of) = (progress.done(), progress.of());
    style(bar, if of > 0 { KNOWN } else { UNKNOWN });
    if made < bar.position() {
        // The next experiments begin, with a rate of their own.
        bar.reset();
    }
    if bar.length() != Some(of) {
        bar.set_length(of);
    }
    bar.set_message(format!("{} requests in all", HumanCount(progress.requests().done())));
    bar.set_position(made);
}

fn style(bar: &ProgressBar, template: &str) {
    let style = ProgressStyle::with_template(template).expect("a template of known keys");
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // Nobody is left to tell if the bar cannot be drawn.
        let _ = out.write_str(&rounded(state.per_sec()));
    };
    bar.set_style(style.with_key("rate", rate));
}

/// A rate in three figures, with separators: `1,230,000`.
fn rounded(rate: f64) -> String {
    let unit = 10f64.powf((rate.max(1.0).log10().floor() - 2.0).max(0.0));
    HumanCount(((rate / unit).round() * unit) as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rates_have_three_figures() {
        assert_eq!([0.0, 7.4, 999.6, 1_234.5, 1_234_567.8].map(rounded), ["0", "7", "1,000", "1,230", "1,230,000"]);
    }
}
