//! The line of the control socket: what a client asks of a server, understood from the bytes that it has sent.
//!
//! Promises that nothing is understood but one whole line with its end, and of it nothing but the words of one command: what was cut off, has
//! further words or comes with a second line is refused, whatever it begins with. Must never know the server.

use flashlane_outputs::shown;

/// The most that a line may have, bytes, its end included.
pub const LINE_BYTES: usize = 4096;

/// The priorities that any drive can have.
const PRIORITIES: std::ops::RangeInclusive<u8> = 0..=7;

/// What there is to ask.
const LEGAL: &str = "must be `scheduler NAME`, `priority FLOW N`, `stats` or `power-cut`";

/// What is asked of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ControlCommand {
    /// Another scheduler, by name.
    Scheduler(String),
    /// Another priority of a flow, by name.
    Priority(String, u8),
    /// The figures so far.
    Stats,
    /// A power cut.
    PowerCut,
}

impl ControlCommand {
    /// What a client asks that has sent these bytes; those of a longer line may be cut off behind [`LINE_BYTES`].
    ///
    /// # Errors
    /// They are not one line with its end, or it is no command: why, in words.
    pub fn of(sent: &[u8]) -> Result<ControlCommand, String> {
        let (line, rest) = match sent.iter().position(|&byte| byte == b'\n') {
            Some(end) if end < LINE_BYTES => (&sent[..end], &sent[end + 1..]),
            None if sent.is_empty() => return Err("no line came".into()),
            None if sent.len() < LINE_BYTES => {
                return Err(format!(
                    "{}: a line without its end ('\\n'); a command is one line with its end",
                    brief(&shown::bytes(sent))
                ));
            }
            _ => return Err(format!("a line that is longer than {LINE_BYTES} bytes with its end")),
        };
        if !rest.is_empty() {
            return Err("more than one line; a connection is for one command".into());
        }
        let text = std::str::from_utf8(line).map_err(|_| format!("{}: not UTF-8", brief(&shown::bytes(line))))?;
        ControlCommand::of_line(text)
    }

    /// What a line without its end asks.
    ///
    /// # Errors
    /// It is no command: why, in words.
    fn of_line(line: &str) -> Result<ControlCommand, String> {
        if line.contains(char::is_control) {
            return Err(format!("{}: has a control character; {LEGAL}", brief(&shown::escaped(line))));
        }
        // Names may have spaces.
        let (verb, rest) = line.split_once(' ').map_or((line, None), |(verb, rest)| (verb, Some(rest)));
        let line = brief(&shown::escaped(line));
        match (verb, rest) {
            ("stats", None) => Ok(ControlCommand::Stats),
            ("power-cut", None) => Ok(ControlCommand::PowerCut),
            ("stats" | "power-cut", Some(_)) => Err(format!("{line}: `{verb}` has no further words")),
            ("scheduler", Some(name)) if !name.is_empty() => Ok(ControlCommand::Scheduler(name.into())),
            ("priority", Some(rest)) => match rest.rsplit_once(' ') {
                Some((flow, number)) if !flow.is_empty() => {
                    Ok(ControlCommand::Priority(flow.into(), priority(number)?))
                }
                _ => Err(format!("{line}: {LEGAL}")),
            },
            _ => Err(format!("{line}: {LEGAL}")),
        }
    }
}

/// The priority that is written so.
fn priority(number: &str) -> Result<u8, String> {
    let digits = Some(number).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let legal = digits.and_then(|digits| digits.parse().ok()).filter(|priority| PRIORITIES.contains(priority));
    legal.ok_or_else(|| format!("priority {}: must be a whole number from 0 to 7", brief(&shown::escaped(number))))
}

/// The beginning of a text that may be long.
fn brief(text: &str) -> String {
    const MAX_SHOWN: usize = 80;
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_understood_whole() {
        for (line, command) in [
            ("stats\n", ControlCommand::Stats),
            ("power-cut\n", ControlCommand::PowerCut),
            ("scheduler flin\n", ControlCommand::Scheduler("flin".into())),
            ("scheduler mine and yours\n", ControlCommand::Scheduler("mine and yours".into())),
            ("priority db 0\n", ControlCommand::Priority("db".into(), 0)),
            ("priority my db 7\n", ControlCommand::Priority("my db".into(), 7)),
        ] {
            assert_eq!(ControlCommand::of(line.as_bytes()), Ok(command), "{line}");
        }
    }

    /// Whatever is before, behind or within a command, and any part of it, is no command.
    #[test]
    fn nothing_else_is_understood() {
        for (sent, why) in [
            (&b""[..], "no line came"),
            (b"power-cut", "power-cut: a line without its end ('\\n')"),
            (b"power-cut\0", "power-cut\\u{0}: a line without its end"),
            (b"\n", "must be `scheduler NAME`"),
            (b"power\n", "must be `scheduler NAME`"),
            (b"power-cu\n", "must be"),
            (b"power-cuts\n", "must be"),
            (b"POWER-CUT\n", "must be"),
            (b" power-cut\n", "must be"),
            (b"power-cut \n", "`power-cut` has no further words"),
            (b"power-cut --help\n", "power-cut --help: `power-cut` has no further words"),
            (b"power-cut -h\n", "no further words"),
            (b"power-cut now please\n", "no further words"),
            (b"stats x\n", "`stats` has no further words"),
            (b"power-cut\r\n", "power-cut\\r: has a control character"),
            (b"power-cut\0\n", "has a control character"),
            (b"\0power-cut\n", "has a control character"),
            (b"power-cut\t--help\n", "has a control character"),
            (b"power-cut\n\n", "more than one line"),
            (b"stats\npower-cut\n", "more than one line"),
            (b"power-cut\nx", "more than one line"),
            (b"stats\xff\n", "stats\\xFF: not UTF-8"),
            (b"scheduler\n", "must be"),
            (b"scheduler \n", "must be"),
            (b"priority\n", "must be"),
            (b"priority db\n", "must be"),
            (b"priority  1\n", "must be"),
            (b"priority db 8\n", "priority 8: must be a whole number from 0 to 7"),
            (b"priority db +1\n", "priority +1: must be"),
            (b"priority db -1\n", "priority -1: must be"),
            (b"priority db \n", "priority : must be"),
            (b"priority db 1 \n", "priority : must be"),
            (b"priority db 1 --help\n", "priority --help: must be"),
            (b"priority db 99999999999999999999\n", "must be a whole number"),
        ] {
            let refused = ControlCommand::of(sent).expect_err(&shown::bytes(sent));
            assert!(refused.contains(why), "{}: {refused}", shown::bytes(sent));
        }
        for cut in 0.."power-cut".len() {
            assert!(
                ControlCommand::of(&b"power-cut"[..cut]).is_err()
                    && ControlCommand::of(format!("{}\n", &"power-cut"[..cut]).as_bytes()).is_err()
            );
        }
    }

    #[test]
    fn a_line_has_a_longest_length() {
        let name = |bytes: usize| "x".repeat(bytes - "scheduler \n".len());
        let longest = format!("scheduler {}\n", name(LINE_BYTES));
        assert_eq!(
            (longest.len(), ControlCommand::of(longest.as_bytes())),
            (LINE_BYTES, Ok(ControlCommand::Scheduler(name(LINE_BYTES))))
        );
        let longer = format!("scheduler {}\n", name(LINE_BYTES + 1));
        for sent in [&longer.as_bytes()[..LINE_BYTES], longer.as_bytes()] {
            assert_eq!(ControlCommand::of(sent), Err("a line that is longer than 4096 bytes with its end".into()));
        }
        let unended = "x".repeat(LINE_BYTES - 1);
        assert!(
            ControlCommand::of(unended.as_bytes())
                .is_err_and(|why| why.len() < 200 && why.contains("xxx...: a line without"))
        );
    }
}
