//! CPU time of processes that this one starts.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// CPU time, of users and kernel, of all processes that this one has started and that have ended, in seconds.
///
/// # Errors
/// A system that does not say.
pub fn seconds_of_children() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| format!("CPU times of children: {e}"))?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_child_counts_once_it_has_ended() {
        let before = seconds_of_children().expect("times");
        let status = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
            .status()
            .expect("sh");
        assert!(status.success());
        assert!(seconds_of_children().expect("times") > before);
    }
}
