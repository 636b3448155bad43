//! What one run of a case reports, and how the child process passes it on: one line of `key=value` words.

use std::fmt;
use std::str::FromStr;

/// The cost of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Items of work done; for a simulated drive these are page transactions.
    pub items: u64,
    /// CPU time of the work, without start-up.
    pub work_ns: u64,
    /// CPU time, all threads, from the start of the process until the work began.
    pub ready_ns: u64,
    /// The peak memory of the process.
    pub peak_bytes: u64,
}

/// The first word of the outcome's line; a case may print other lines.
const MARK: &str = "outcome";

impl Outcome {
    /// Finds the outcome in the output of a child process.
    pub fn find(printed: &str) -> Result<Outcome, String> {
        let line = printed.lines().find(|line| line.split(' ').next() == Some(MARK));
        line.ok_or_else(|| format!("the child printed no outcome: {printed:?}"))?.parse()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { items, work_ns, ready_ns, peak_bytes } = self;
        write!(f, "{MARK} items={items} work_ns={work_ns} ready_ns={ready_ns} peak_bytes={peak_bytes}")
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(line: &str) -> Result<Outcome, String> {
        let value = |key: &str| {
            let word = line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            let word = word.ok_or_else(|| format!("no {key} in {line:?}"))?;
            word.parse::<u64>().map_err(|_| format!("{key} is {word:?} in {line:?}, not a whole number"))
        };
        Ok(Outcome {
            items: value("items")?,
            work_ns: value("work_ns")?,
            ready_ns: value("ready_ns")?,
            peak_bytes: value("peak_bytes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let outcome = Outcome { items: 12, work_ns: 3_400, ready_ns: 56, peak_bytes: 789 };
        assert_eq!(outcome.to_string().parse(), Ok(outcome));
        assert_eq!(Outcome::find(&format!("chatter\n{outcome}\nmore\n")), Ok(outcome));
    }

    #[test]
    fn what_is_missing_or_mangled_is_named() {
        assert!(Outcome::find("outcomes=1\n").unwrap_err().contains("no outcome"));
        assert!(Outcome::find("outcome items=1 work_ns=2 ready_ns=3").unwrap_err().contains("no peak_bytes"));
        let error = Outcome::find("outcome items=x work_ns=2 ready_ns=3 peak_bytes=4").unwrap_err();
        assert!(error.contains("items is \"x\""), "{error}");
    }
}
