//! The `[host]` keys: CPUs, how threads wait for I/O, and what runs beside them.
//!
//! Owns the keys and their defaults. What they mean is the host's.

use std::borrow::Cow;
use std::fmt;

use flashlane_core::{Duration, Geometry};
use flashlane_host::{Background, Completion, Config, Costs, Fairness, Predictor, Waiting, WindowChoice, Work};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::KeyError;

/// The host before the device: when threads see their I/Os done, and who gets the CPUs. Without this table a request is over
/// when its completion reaches the host. With it every outstanding request has a thread of its own; threads are spread over
/// the CPUs in turn and stay there.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Logical CPUs, 1 (default) to 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// How threads wait: sleeping until the interrupt (`irq`, default), spinning (`poll`), spinning at a raised priority
    /// (`poll-prio`), sleeping until an early interrupt (`precompletion`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<CompletionWord>,
    /// How long before the predicted completion the early interrupt comes, ns, or `"adaptive"`. Default 16000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<WindowKey>,
    /// How the device predicts: once, when a read is issued to its chip (`at-issue`, the paper's), or again whenever it learns more about
    /// the channel (`staged`, default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictor: Option<PredictorWord>,
    /// Whether threads spin for writes that fit into the device's buffer. Needs a device with a write-back buffer.
    /// Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_hits: Option<bool>,
    /// Whether threads spin for reads that the device's buffer probably holds. Needs a device with a buffer. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_hits: Option<bool>,
    /// How long a thread spins for such a read before it sleeps, ns. Default 20000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_hit_spin_ns: Option<u64>,
    /// How long a thread that was woken early spins before it sleeps again, ns. Default: four windows, an adaptive one
    /// counting as 4 us at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_spin_ns: Option<u64>,
    /// Interval at which a spinning thread polls, ns. Default 0: continuously.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval_ns: Option<u64>,
    /// Nice value of the threads that issue I/O, -20 to 19. Default 0; -20 for `poll-prio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i8>,
    /// CPU time of interrupt entry, ns. Default 1500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irq_ns: Option<u64>,
    /// CPU time of waking a thread, ns. Default 1500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_ns: Option<u64>,
    /// CPU time of switching to another thread, ns. Default 2800.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_ns: Option<u64>,
    /// CPU time of submitting an I/O, ns. Default 7000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_ns: Option<u64>,
    /// Time in which every runnable thread of a CPU runs once, ns. Default 24000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_ns: Option<u64>,
    /// The shortest slice, ns. Default 3000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_slice_ns: Option<u64>,
    /// How much more CPU time the running thread must have had before a woken one preempts it, ns. Default 4000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wakeup_granularity_ns: Option<u64>,
    /// Threads beside those that issue I/O. Default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundKeys>,
}

/// A group of identical background threads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundKeys {
    /// `cpu` burns CPU time in user code; `io` repeats a section in the kernel that cannot be preempted, then waits for a
    /// device of its own.
    pub work: WorkWord,
    /// Threads on each CPU. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Nice value, -20 to 19. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i8>,
    /// `io`: length of the section, ns. Default 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_ns: Option<u64>,
    /// `io`: time of the thread's own device, ns. Default 0: sections follow one another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_ns: Option<u64>,
}

/// How threads wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum CompletionWord {
    /// Sleeping until the interrupt.
    Irq,
    /// Spinning.
    Poll,
    /// Spinning at a raised priority.
    PollPrio,
    /// Sleeping until an early interrupt.
    Precompletion,
}

/// How the device predicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum PredictorWord {
    /// Once, at the issue.
    AtIssue,
    /// Anew at each stage.
    Staged,
}

/// What background threads do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum WorkWord {
    /// Burn CPU time.
    Cpu,
    /// I/O on another device.
    Io,
}

/// A window: nanoseconds, or `"adaptive"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowKey {
    /// Always so long.
    Ns(u64),
    /// As the delays seen so far suggest.
    Adaptive,
}

const WINDOW: &str = "a whole number of nanoseconds or \"adaptive\"";

impl Serialize for WindowKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WindowKey::Ns(ns) => serializer.serialize_u64(*ns),
            WindowKey::Adaptive => serializer.serialize_str("adaptive"),
        }
    }
}

impl<'de> Deserialize<'de> for WindowKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WindowKey, D::Error> {
        struct Shape;
        impl Visitor<'_> for Shape {
            type Value = WindowKey;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WINDOW)
            }
            fn visit_i64<E: Error>(self, ns: i64) -> Result<WindowKey, E> {
                let wrong = |_| E::custom(format_args!("invalid value: integer `{ns}`, expected {WINDOW}"));
                u64::try_from(ns).map(WindowKey::Ns).map_err(wrong)
            }
            fn visit_u64<E: Error>(self, ns: u64) -> Result<WindowKey, E> {
                Ok(WindowKey::Ns(ns))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<WindowKey, E> {
                match text {
                    "adaptive" => Ok(WindowKey::Adaptive),
                    _ => Err(E::custom(format_args!("unknown word \"{text}\", expected {WINDOW}"))),
                }
            }
        }
        deserializer.deserialize_any(Shape)
    }
}

impl JsonSchema for WindowKey {
    fn schema_name() -> Cow<'static, str> {
        "Window".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-type": WINDOW,
            "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": "adaptive" }]
        })
    }
}

impl Host {
    /// The host's configuration, before a device of this shape with `buffer` pages that writes end in, or reads come from.
    pub(super) fn config(&self, geometry: Geometry, buffer: Option<BufferOf>) -> Result<Config, KeyError> {
        let ns = |key: Option<u64>, default: u64| Duration::from_ns(key.unwrap_or(default));
        let word = self.completion.unwrap_or(CompletionWord::Irq);
        let completion = match word {
            CompletionWord::Irq => Completion::Irq,
            CompletionWord::Poll | CompletionWord::PollPrio => Completion::Poll,
            CompletionWord::Precompletion => Completion::Precompletion {
                window: match self.window_ns.unwrap_or(WindowKey::Ns(16_000)) {
                    WindowKey::Ns(ns) => WindowChoice::Fixed(Duration::from_ns(ns)),
                    WindowKey::Adaptive => WindowChoice::Adaptive,
                },
                predictor: match self.predictor.unwrap_or(PredictorWord::Staged) {
                    PredictorWord::AtIssue => Predictor::AtIssue,
                    PredictorWord::Staged => Predictor::Staged,
                },
            },
        };
        self.check_use(word, buffer)?;
        let config = Config {
            cpus: self.cpus.unwrap_or(1),
            waiting: Waiting {
                completion,
                buffer_hits: self.buffer_hits == Some(true),
                read_hits: self.read_hits == Some(true),
                read_hit_spin: ns(self.read_hit_spin_ns, 20_000),
                max_spin: self.max_spin_ns.map(Duration::from_ns),
                poll_interval: ns(self.poll_interval_ns, 0),
                nice: self.nice.unwrap_or(if word == CompletionWord::PollPrio { -20 } else { 0 }),
            },
            costs: Costs {
                irq: ns(self.irq_ns, 1_500),
                wake: ns(self.wake_ns, 1_500),
                switch: ns(self.switch_ns, 2_800),
                submit: ns(self.submit_ns, 7_000),
            },
            fairness: Fairness {
                period: ns(self.period_ns, 24_000_000),
                min_slice: ns(self.min_slice_ns, 3_000_000),
                wakeup_granularity: ns(self.wakeup_granularity_ns, 4_000_000),
            },
            background: self.background.iter().map(BackgroundKeys::group).collect(),
            geometry,
            buffer_pages: buffer.map(|buffer| buffer.pages),
            buffer_per_flow: buffer.is_some_and(|buffer| buffer.per_flow),
        };
        config.check().map_err(|error| {
            let key = match error.group {
                Some(i) => format!("host.background[{i}].{}", error.key),
                None => format!("host.{}", error.key),
            };
            let above = error.group.map_or("host".to_owned(), |i| format!("host.background[{i}]"));
            KeyError { keys: vec![key, above], value: error.value, message: error.legal }
        })?;
        Ok(config)
    }

    /// Whether threads spin, at least for some I/Os.
    pub(super) fn spins(&self) -> bool {
        let irq = self.completion.is_none_or(|word| word == CompletionWord::Irq);
        !irq || self.buffer_hits == Some(true) || self.read_hits == Some(true)
    }

    /// Keys that would have no effect are errors.
    fn check_use(&self, word: CompletionWord, buffer: Option<BufferOf>) -> Result<(), KeyError> {
        let only = |key: &str, given: bool, used: bool, legal: &str| match given && !used {
            true => Err(KeyError::new(format!("host.{key}"), "", legal)),
            false => Ok(()),
        };
        let early = word == CompletionWord::Precompletion;
        let message = "has no effect; legal with completion = \"precompletion\"";
        only("window_ns", self.window_ns.is_some(), early, message)?;
        only("predictor", self.predictor.is_some(), early, message)?;
        only("max_spin_ns", self.max_spin_ns.is_some(), early, message)?;
        let spins = "has no effect; legal with a completion other than \"irq\", or with buffer_hits or read_hits";
        only("poll_interval_ns", self.poll_interval_ns.is_some() && self.completion.is_none(), self.spins(), spins)?;
        let reads = self.read_hits == Some(true);
        only("read_hit_spin_ns", self.read_hit_spin_ns.is_some(), reads, "has no effect; legal with read_hits = true")?;
        let sleeps = !matches!(word, CompletionWord::Poll | CompletionWord::PollPrio);
        let message =
            "a thread that always spins needs no prediction; legal with completion = \"irq\" or \"precompletion\"";
        only("buffer_hits", self.buffer_hits == Some(true), sleeps, message)?;
        only("read_hits", reads, sleeps, message)?;
        let message = "the device has no write-back buffer; legal with device.buffer.pages and write_back = true";
        only("buffer_hits", self.buffer_hits == Some(true), buffer.is_some_and(|buffer| buffer.write_back), message)?;
        only("read_hits", reads, buffer.is_some(), "the device has no buffer; legal with device.buffer.pages")?;
        for (i, group) in self.background.iter().enumerate() {
            let sections = group.work == WorkWord::Io;
            let message = "has no effect; legal with work = \"io\"";
            only(&format!("background[{i}].section_ns"), group.section_ns.is_some(), sections, message)?;
            only(&format!("background[{i}].device_ns"), group.device_ns.is_some(), sections, message)?;
        }
        Ok(())
    }
}

/// The device's page buffer, as far as a host needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferOf {
    /// Its pages; a flow's, where each has a part.
    pub pages: u32,
    /// Whether each flow has a part.
    pub per_flow: bool,
    /// Whether writes end in it.
    pub write_back: bool,
}

impl BackgroundKeys {
    fn group(&self) -> Background {
        let work = match self.work {
            WorkWord::Cpu => Work::Burn,
            WorkWord::Io => Work::Io {
                section: Duration::from_ns(self.section_ns.unwrap_or(10_000)),
                device: Duration::from_ns(self.device_ns.unwrap_or(0)),
            },
        };
        Background { work, threads: self.threads.unwrap_or(1), nice: self.nice.unwrap_or(0) }
    }
}
