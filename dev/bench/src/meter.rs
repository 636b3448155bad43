//! The measurements inside a running case: CPU clocks and peak memory. No wall clock: other processes share the cores.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

use crate::outcome::Outcome;

/// The measurement of a case, which covers its process from the start.
pub struct Meter {
    ready_ns: u64,
    began_ns: u64,
}

impl Meter {
    /// Ends start-up and begins the work.
    pub fn begin() -> Meter {
        Meter { ready_ns: cpu_ns(ClockId::ProcessCPUTime), began_ns: cpu_ns(ClockId::ThreadCPUTime) }
    }

    /// Counts the time since `begin` as preparation: the work begins now.
    pub fn restart(self) -> Meter {
        Meter { began_ns: cpu_ns(ClockId::ThreadCPUTime), ..self }
    }

    /// Ends the work; must be called on the thread that began it.
    pub fn end(self, items: u64) -> Result<Outcome, String> {
        let work_ns = cpu_ns(ClockId::ThreadCPUTime) - self.began_ns;
        let status = fs::read_to_string("/proc/self/status").map_err(|e| format!("/proc/self/status: {e}"))?;
        Ok(Outcome { items, work_ns, ready_ns: self.ready_ns, peak_bytes: peak_bytes(&status)? })
    }
}

/// Runs the work that is measured: callgrind counts instructions inside the function of this name only.
#[inline(never)]
pub fn measured<T>(work: impl FnOnce() -> T) -> T {
    std::hint::black_box(work())
}

fn cpu_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `VmHWM` of a `/proc/PID/status`, in bytes.
fn peak_bytes(status: &str) -> Result<u64, String> {
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let value = value.ok_or("/proc/self/status has no VmHWM line")?.trim();
    let kilobytes = value.strip_suffix(" kB").and_then(|number| number.trim().parse::<u64>().ok());
    kilobytes.map(|k| k * 1024).ok_or_else(|| format!("VmHWM is {value:?}, not a number of kB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_status_page() {
        assert_eq!(peak_bytes("Name:\tx\nVmPeak:\t 9000 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1 kB\n"), Ok(1234 * 1024));
        assert!(peak_bytes("VmRSS:\t 1 kB\n").is_err());
        assert!(peak_bytes("VmHWM:\t much\n").unwrap_err().contains("much"));
    }

    #[test]
    fn work_takes_cpu_time_and_sleep_takes_none() {
        let meter = Meter::begin();
        let mut sum = 0u64;
        for i in 0..20_000_000u64 {
            sum = std::hint::black_box(sum ^ i);
        }
        let worked = meter.end(1).unwrap();
        assert!(worked.work_ns > 1_000_000, "{worked}");
        let meter = Meter::begin();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let slept = meter.end(1).unwrap();
        assert!(slept.work_ns < 25_000_000, "{slept}");
        assert!(slept.ready_ns > worked.ready_ns && slept.peak_bytes > 100_000);
    }
}
