//! Fuzzing one target: choose an input, mutate it, run the target, keep inputs with new answers, stop at the first
//! failure.

use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Target;
use crate::mutate::mutate;
use crate::quiet::catch;
use crate::shrink::shrink;

/// The most inputs tried while shrinking a failing one.
const SHRINK_BUDGET: usize = 20_000;
/// A target that takes more processor time than this for 64 KiB is taken to hang.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// One that takes this many times as long by the clock waits for something that does not come. (On a busy machine a second of processor time
/// may take ten.)
const WAITS: u32 = 12;

/// An input may not make the process take more memory than this, MiB.
pub const MAX_MEMORY: u64 = if cfg!(test) { 256 } else { 1024 };
/// The most inputs that are kept because their answers are new: a target whose messages quote its input must not fill the memory with them.
const MAX_KEPT: usize = if cfg!(test) { 16 } else { 4_096 };
/// The letters of an answer that tell it apart.
const LETTERS: usize = 60;
/// Taking so much lasts longer than this; quicker inputs are not asked for their memory.
const MEMORY_TAKES: Duration = Duration::from_millis(20);

/// When to stop a campaign.
#[derive(Clone, Copy, Debug)]
pub enum Effort {
    /// After this many inputs: the same inputs every time.
    Inputs(u64),
    /// After this time.
    Time(Duration),
}

/// Figures of a campaign without a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stats {
    /// Number of inputs tried.
    pub inputs: u64,
    /// Number of different answers, ignoring numbers in them.
    pub answers: usize,
}

/// An input that made a target fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The input, shrunk unless the target hangs.
    pub input: Vec<u8>,
    /// The panic and its place, or that the target hangs.
    pub message: String,
    /// The number of the input, counted from 1.
    pub number: u64,
}

/// The input being run, its number and when it began, for the thread that watches the time.
type Watch = Arc<Mutex<Option<(Instant, u64, Vec<u8>)>>>;

/// Runs `target` on many inputs. An input that takes more processor time than `patience`, or [`WAITS`] times as long by the clock, ends the
/// campaign too; its thread is abandoned.
pub fn campaign(target: Target, seed: u64, effort: Effort, patience: Duration) -> Result<Stats, Failure> {
    let watch = Watch::default();
    let (sender, receiver) = channel();
    let (begins, begun) = channel();
    let theirs = Arc::clone(&watch);
    std::thread::spawn(move || {
        let _ = begins.send(own_thread());
        let outcome = feed_all(target, seed, effort, &theirs);
        // Sending fails if the watching thread has given up on this one.
        let _ = sender.send(outcome);
    });
    let thread = begun.recv().ok().flatten();
    // The input that was being run when last looked, and the processor time of its thread when that was seen first.
    let mut seen: Option<(u64, Option<Duration>)> = None;
    loop {
        match receiver.recv_timeout(patience / 8) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => panic!("the campaign on {} died outside its target", target.name),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = thread.and_then(time_of_thread);
        let current = watch.lock().expect("no panic while locked").clone();
        let Some((since, number, input)) = current else { continue };
        let from = match seen {
            Some((before, from)) if before == number => from,
            _ => now,
        };
        seen = Some((number, from));
        let by_clock = since.elapsed();
        // Where the system does not tell processor time the clock counts.
        let taken = now.zip(from).map_or(by_clock, |(now, from)| now.saturating_sub(from));
        if taken > patience || by_clock > patience * WAITS {
            let message = format!("no answer after {} s", by_clock.as_secs());
            return Err(Failure { input, message, number });
        }
    }
}

/// The number of this thread, where the system tells it.
fn own_thread() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/stat").ok()?.split(' ').next()?.parse().ok()
}

/// The processor time of a thread of this process, where the system tells it.
fn time_of_thread(thread: u64) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    // After the name, which ends with the last parenthesis, user and system time are the 12th and 13th field, in hundredths of a second.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: Option<u64> = fields.get(11..13)?.iter().map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(10 * ticks?))
}

/// Runs the target on `input` once; returns its answer, or the panic.
pub fn feed_one(target: &Target, input: &[u8]) -> Result<String, String> {
    catch(|| (target.feed)(input))
}

fn feed_all(target: Target, seed: u64, effort: Effort, watch: &Watch) -> Result<Stats, Failure> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let begun = Instant::now();
    let mut corpus = (target.seeds)();
    assert!(!corpus.is_empty(), "{} has no seeds", target.name);
    let seeds = corpus.len() as u64;
    let mut answers = BTreeSet::new();
    let mut number = 0;
    // An earlier campaign of this process may have had more.
    let limit = MAX_MEMORY.max(most_memory().unwrap_or_default());
    loop {
        let done = match effort {
            Effort::Inputs(limit) => number >= limit.max(seeds),
            Effort::Time(limit) => number >= seeds && begun.elapsed() >= limit,
        };
        if done {
            return Ok(Stats { inputs: number, answers: answers.len() });
        }
        // The seeds themselves come first, unchanged.
        let mut input =
            corpus[if number < seeds { number as usize } else { rng.random_range(0..corpus.len()) }].clone();
        if number >= seeds {
            let other = &corpus[rng.random_range(0..corpus.len())];
            mutate(&mut rng, &mut input, other, target.words);
        }
        number += 1;
        *watch.lock().expect("no panic while locked") = Some((Instant::now(), number, input.clone()));
        let since = Instant::now();
        let answer = feed_one(&target, &input);
        if since.elapsed() > MEMORY_TAKES
            && let Some(took) = most_memory().filter(|&took| took > limit)
        {
            return Err(Failure { input, message: format!("{took} MiB of memory"), number });
        }
        *watch.lock().expect("no panic while locked") = None;
        match answer {
            Err(_) => return Err(smallest(&target, &input, number)),
            Ok(printed) => {
                if answers.len() < MAX_KEPT && answers.insert(shape(&printed, &input)) {
                    corpus.push(input);
                }
            }
        }
    }
}

/// The most memory that the process has had so far, MiB, where the system tells it.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? / 1024)
}

fn smallest(target: &Target, input: &[u8], number: u64) -> Failure {
    let input = shrink(input, SHRINK_BUDGET, |bytes| feed_one(target, bytes).is_err());
    let message = feed_one(target, &input).expect_err("a target answers the same twice");
    Failure { input, message, number }
}

/// An answer with numbers and quoted words removed, which identifies its kind. Where the input has quotes itself, what a message quotes may
/// end anywhere: then all between the first quote and the last is removed.
fn shape(printed: &str, input: &[u8]) -> String {
    let is_quote = |c: char| matches!(c, '"' | '`');
    let outside: String = if input.iter().any(|&byte| is_quote(byte.into())) {
        let (first, last) = (printed.find(is_quote), printed.rfind(is_quote));
        first.zip(last).map_or(printed.to_owned(), |(first, last)| [&printed[..first], &printed[last..]].concat())
    } else {
        printed.split(is_quote).step_by(2).collect()
    };
    outside.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::RwLock;

    use super::*;

    const TARGET: Target = Target {
        name: "sample",
        about: "a reader with a bug in a corner",
        seeds: || vec![b"size=10\n".to_vec()],
        words: &["depth="],
        feed: |input| {
            let text = String::from_utf8_lossy(input);
            let Some(number) = text.lines().find_map(|line| line.strip_prefix("depth=")) else {
                return "none".into();
            };
            assert!(number != "65536", "that number");
            format!("some {}", number.len().min(3))
        },
    };

    /// Memory is the process's: what one test takes would be another's that runs beside it. That one has this lock for itself.
    static MEMORY: RwLock<()> = RwLock::new(());

    /// However long a busy machine keeps it waiting.
    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_bug_in_a_corner_is_found_and_made_small() {
        let _with_others = MEMORY.read();
        let failure = campaign(TARGET, 1, Effort::Inputs(2_000_000), HOUR).unwrap_err();
        assert_eq!(failure.input, b"depth=65536");
        assert!(failure.message.contains("that number"), "{}", failure.message);
    }

    #[test]
    fn the_same_seed_takes_the_same_way() {
        let _with_others = MEMORY.read();
        let run = |seed| campaign(TARGET, seed, Effort::Inputs(2_000_000), HOUR).unwrap_err().number;
        assert_eq!(run(5), run(5));
    }

    #[test]
    fn a_target_without_bugs_is_fed_to_the_end() {
        let _with_others = MEMORY.read();
        let target = Target { feed: |input| format!("{} bytes", input.len()), ..TARGET };
        let stats = campaign(target, 1, Effort::Inputs(1_000), TIMEOUT).unwrap();
        assert_eq!(stats, Stats { inputs: 1_000, answers: 1 });
    }

    #[test]
    fn a_target_that_hangs_is_left_behind() {
        let target = Target {
            feed: |_| loop {
                std::thread::sleep(Duration::from_millis(5));
            },
            ..TARGET
        };
        let failure = campaign(target, 1, Effort::Inputs(10), Duration::from_millis(80)).unwrap_err();
        assert_eq!((failure.number, failure.input.as_slice()), (1, b"size=10\n".as_slice()));
        assert!(failure.message.starts_with("no answer"), "{}", failure.message);
    }

    #[test]
    fn a_target_that_computes_for_ever_is_left_behind() {
        let target = Target {
            feed: |input| loop {
                if input.len() > 1 << 20 {
                    return String::new();
                }
            },
            ..TARGET
        };
        let failure = campaign(target, 1, Effort::Inputs(10), Duration::from_millis(80)).unwrap_err();
        assert_eq!((failure.number, failure.input.as_slice()), (1, b"size=10\n".as_slice()));
    }

    /// On a busy machine a target may have to wait for its processor for longer than it may compute.
    #[test]
    fn waiting_for_a_processor_is_no_hang() {
        let _with_others = MEMORY.read();
        let target = Target {
            feed: |_| {
                std::thread::sleep(Duration::from_millis(300));
                String::new()
            },
            ..TARGET
        };
        if own_thread().and_then(time_of_thread).is_some() {
            assert!(campaign(target, 1, Effort::Inputs(2), Duration::from_millis(80)).is_ok());
        }
    }

    /// Every answer of this target is new.
    #[test]
    fn the_inputs_that_are_kept_are_few() {
        let _with_others = MEMORY.read();
        let target = Target {
            feed: |input| {
                let sum = input.iter().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
                (0..12).map(|i| char::from(b'a' + (sum >> (4 * i) & 15) as u8)).collect()
            },
            ..TARGET
        };
        let stats = campaign(target, 1, Effort::Inputs(1_000), TIMEOUT).unwrap();
        assert_eq!(stats, Stats { inputs: 1_000, answers: MAX_KEPT });
    }

    #[test]
    fn a_target_that_fills_the_memory_is_named() {
        let _alone = MEMORY.write();
        let target = Target {
            feed: |input| {
                let filled = vec![input.len() as u8; (MAX_MEMORY as usize + 64) << 20];
                std::thread::sleep(MEMORY_TAKES);
                format!("{}", filled[filled.len() / 2])
            },
            ..TARGET
        };
        if most_memory().is_some() {
            let failure = campaign(target, 1, Effort::Inputs(10), TIMEOUT).unwrap_err();
            assert!(failure.message.ends_with("MiB of memory"), "{}", failure.message);
        }
    }

    #[test]
    fn answers_that_differ_in_numbers_and_quoted_input_only_are_one() {
        let shape = |printed: &str, input: &str| shape(printed, input.as_bytes());
        assert_eq!(shape("line 3: `abc` is no number", "abc"), shape("line 17: `x y` is no number", "x y"));
        assert_eq!(
            shape("`a``b`: legal is `c`", "a``b"),
            shape("`d`e`: legal is `c`", "d`e"),
            "quotes in what is quoted"
        );
        assert_ne!(shape("line 3: too large", ""), shape("line 3: too small", ""));
    }
}
