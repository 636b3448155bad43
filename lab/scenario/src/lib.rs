//! Scenarios: from a TOML file to a device configuration, flows, schedulers and limits of a run; and workloads, which the flows of a
//! scenario name.
//!
//! Owns the keys users write, their defaults, the device presets, and every complaint about them. Promises that a
//! scenario which passes [`Scenario::check`] builds a device, that a complaint names file, line, key, value and what
//! would be legal, and that equal scenarios have equal [hashes](Scenario::hash). Must never run anything.
//!
//! ```text
//! document        the top level
//! flow, trace     [[flow]]
//! host            [host]: CPUs, waiting, background
//! block           [block]: the operating system's block layer
//! device, preset  [device] over a shipped device
//! base            what [device] lies over: a preset, or a device file
//! device_changes  what of it is not as the shipped device has it
//! words           keys whose values are words
//! scheduler       names and mixes
//! value           shapes of values
//! assign          keys set by their path
//! resolve         defaults, ranges
//! recording       the head of a record of a served drive
//! recorded        the volumes of traces, and how far apart flows were recorded
//! changes         what was changed of it while it was recorded
//! spare           further flows of a served drive
//! required        keys that a device must have
//! effect          keys that have none beside the others
//! endless         closed loops that never end
//! names           what schedulers and flows may be called
//! limits          how long, how many
//! rows            pages of the flash to units of the map
//! build           the device -> ssd::config::Config
//! capacity        gigabytes to pages
//! device_error    the device's complaints in our keys
//! error           where in the text a key stands
//! hash, docs      what follows from all
//! workload        where the requests of flows come from
//! ```

mod assign;
mod base;
mod block;
mod build;
mod capacity;
mod changes;
mod device;
mod device_changes;
mod device_error;
mod docs;
mod document;
mod effect;
mod endless;
mod error;
mod flow;
mod hash;
mod host;
mod limits;
mod names;
mod preset;
mod recorded;
mod recording;
mod required;
mod resolve;
mod rows;
mod scheduler;
mod spare;
mod trace;
mod value;
mod words;
pub mod workload;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use assign::Given;
pub use base::{Fitted, device_file, is_device_file};
pub use block::{Block, BlockFlow, BlockLayer, UNLIMITED};
pub use changes::{Change, RecordedChange, RecordedFile, Recording};
pub use device::{Buffer, Bus, Device, Front, Ftl, Gc, Geometry, Nand, Precondition};
pub use docs::{reference, schema};
pub use document::{Document, Hold, ResponseFrom, Run};
pub use error::{ScenarioError, nearest};
pub use flashlane_block::ElevatorWord;
pub use flow::{ByteRange, Flow, Range, RangeWord};
pub use hash::hash_of;
pub use host::{BackgroundKeys, CompletionWord, Host, PredictorWord, WindowKey, WorkWord};
pub use preset::{DEFAULT_PRESET, DEFAULTS, PRESETS, Preset};
pub use recording::is_record;
pub use resolve::{FlowPlan, FlowSource};
pub use scheduler::{Mix, SchedulerChoice};
pub use trace::{Replay, Speedup, TraceFlow};
pub use value::{Latency, Limit};
pub use words::{DriveState, Measured, Protocol, Service, Superblock, Victim, Word};

use base::{Base, DeviceFiles};
use error::{KeyError, Origin};
use flashlane_core::choice::Choice as _;
use flashlane_sched::catalogue::{Catalogue, SHIPPED};
use flashlane_ssd::config::Config;
pub use flashlane_ssd::config::MAX_FLOWS;
use hash::TraceHashes;
use host::BufferOf;
use recorded::Looks;

/// The schedulers of a scenario that names none: the first three each add a decision to the one before, the last is fair between flows. On
/// a trace that keeps some chips busy they differ; `sprinkler` seldom does from the third, as few groups form.
pub const DEFAULT_SCHEDULERS: [&str; 4] = ["fcfs", "read-first", "read-first-suspend", "flin"];

/// The collect answer of schedulers that leave it open, in a scenario that does not say.
pub const DEFAULT_COLLECT: &str = "semi-preemptive";

/// A commented scenario to start from.
pub const TEMPLATE: &str = include_str!("../data/scenario-template.toml");

/// The text of the scenario file at `path`.
///
/// # Errors
/// A file that cannot be read, is too long, or is no text.
pub fn read_text(path: &Path) -> Result<String, ScenarioError> {
    let place = path.display().to_string();
    limits::read(path, &limits::SCENARIO).map_err(|message| ScenarioError {
        place,
        key: String::new(),
        value: String::new(),
        message,
    })
}

/// A scenario, read but not yet run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The content of the file. The command line and other callers may change it; [`Scenario::set`] records what gave
    /// each changed value, so that errors name that.
    document: Document,
    origin: Origin,
    folder: PathBuf,
    catalogue: Arc<Catalogue>,
    /// Hashes of the traces read so far, shared with copies of the scenario.
    traces: Arc<TraceHashes>,
    /// Device files, shared likewise.
    devices: Arc<DeviceFiles>,
    /// What was found in traces, shared likewise.
    looks: Arc<Looks>,
    state_file: Option<PathBuf>,
    /// What it says besides, if it is a record.
    recording: Option<Arc<Recording>>,
    remarks: Vec<(String, String)>,
}

impl Scenario {
    /// Reads the file at `path`: a scenario, or a record of a served drive, whose flows replay it.
    pub fn load(path: &Path) -> Result<Scenario, ScenarioError> {
        if let Some(recorded) = recording::scenario(path) {
            return recorded;
        }
        Scenario::of_file(path, read_text(path)?)
    }

    /// The scenario of `text`, which stands in the file at `path`: the files it names are relative to that file's folder.
    pub fn of_file(path: &Path, text: String) -> Result<Scenario, ScenarioError> {
        let mut scenario = Scenario::parse(&path.display().to_string(), text)?;
        scenario.folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        if scenario.document.name.is_none() {
            scenario.document.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        }
        Ok(scenario)
    }

    /// Reads `text`; errors call it `name`, and files in it are relative to the working directory.
    pub fn parse(name: &str, text: String) -> Result<Scenario, ScenarioError> {
        let origin = Origin { name: name.into(), text, overridden: Vec::new() };
        match toml::from_str(&origin.text) {
            Ok(document) => Ok(Scenario::new(document, origin)),
            Err(error) => Err(origin.syntax(&error)),
        }
    }

    /// A scenario that is not from a file; errors call its origin `name`.
    pub fn from_document(name: &str, document: Document) -> Scenario {
        let origin = Origin { name: name.into(), text: String::new(), overridden: Vec::new() };
        Scenario::new(document, origin)
    }

    fn new(document: Document, origin: Origin) -> Scenario {
        Scenario {
            document,
            origin,
            folder: PathBuf::new(),
            catalogue: Arc::new(SHIPPED.clone()),
            traces: Arc::default(),
            devices: Arc::default(),
            looks: Arc::default(),
            state_file: None,
            recording: None,
            remarks: Vec::new(),
        }
    }

    /// Says `text` of `what` (an option, a flow) with the results: what was left out, and why.
    pub fn remark(&mut self, what: impl Into<String>, text: impl Into<String>) {
        self.remarks.push((what.into(), text.into()));
    }

    /// What is to be said with the results: pairs of what it is about and a sentence.
    pub fn remarks(&self) -> &[(String, String)] {
        &self.remarks
    }

    /// Looks up schedulers and answers in `catalogue` from now on: the shipped one extended by the caller's schedulers and
    /// answers.
    pub fn use_catalogue(&mut self, catalogue: Arc<Catalogue>) {
        self.catalogue = catalogue;
    }

    /// The catalogue in which schedulers and answers are looked up.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Keeps the state of a replayed drive in this file, or in a file of this folder that is named by what determines the state.
    /// Results do not depend on it.
    pub fn keep_state(&mut self, path: impl Into<PathBuf>) {
        self.state_file = Some(path.into());
    }

    /// Where the state of a replayed drive is kept.
    pub fn state_file(&self) -> Option<&Path> {
        self.state_file.as_deref()
    }

    /// What the record says besides the drive and its requests, if this is one.
    pub fn recording(&self) -> Option<&Recording> {
        self.recording.as_deref()
    }

    /// The scenario's keys.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Changes the keys: `key` (with all below it) now comes from `by` (`--device`).
    pub fn set(&mut self, key: impl Into<String>, by: &'static str, change: impl FnOnce(&mut Document)) {
        change(&mut self.document);
        self.origin.overridden.push((key.into(), by));
    }

    /// Sets keys of the file by their paths, before any other change: `("device.gc.start_percent", "7")`, in any order.
    ///
    /// # Errors
    /// No such key, or a value that is none of its.
    pub fn assign(&mut self, sets: &[(String, String)]) -> Result<(), ScenarioError> {
        let given: Vec<Given> = sets.iter().map(|(path, value)| Given::set(path, value)).collect();
        self.give(&given)
    }

    /// The same for keys that options give, in any order: what is given below a key acts whether it stands before or after that key.
    ///
    /// # Errors
    /// As [`Scenario::assign`], or one key that is given two values.
    pub fn give(&mut self, given: &[Given]) -> Result<(), ScenarioError> {
        if given.is_empty() {
            return Ok(());
        }
        let name = self.document.name.clone();
        let (document, paths) = assign::assigned(&self.origin.text, given)?;
        self.document = document;
        self.document.name = self.document.name.take().or(name);
        self.origin.overridden.extend(paths);
        Ok(())
    }

    /// The keys that the file gives its device besides the preset, by their paths: another device does not have them.
    pub fn own_device_keys(&self) -> Vec<String> {
        assign::below(&self.origin.text, "device").into_iter().filter(|path| path != "device.preset").collect()
    }

    /// The name shown in results.
    pub fn name(&self) -> &str {
        self.document.name.as_deref().unwrap_or("unnamed")
    }

    /// Leaves the first of the schedulers that it names, which stays where the file has it.
    ///
    /// # Errors
    /// As [`Scenario::schedulers`].
    pub fn keep_first_scheduler(&mut self) -> Result<(), ScenarioError> {
        let first = self.schedulers()?.swap_remove(0);
        if self.document.scheduler.is_none() {
            self.document.schedulers = Some(vec![first]);
        }
        Ok(())
    }

    /// What the keys of its device lie over.
    fn base(&self) -> Result<Arc<Base>, ScenarioError> {
        let preset = self.document.device.preset.as_deref().unwrap_or(DEFAULT_PRESET);
        self.devices.get(preset, &self.folder, &self.origin)
    }

    /// An error in its own keys or, where it gives none of those at fault, in the file of its device.
    fn located(&self, error: KeyError, base: &Base) -> ScenarioError {
        match &base.origin {
            Some(file) if !error.keys.iter().any(|key| self.document.device.gives(key)) => file.locate(error),
            _ => self.origin.locate(error),
        }
    }

    /// The complete device: its own keys over those of its preset or file.
    ///
    /// # Errors
    /// No such device, or keys that do not go together.
    pub fn device(&self) -> Result<Device, ScenarioError> {
        let base = self.base()?;
        self.document.device.complete(&base.device).map_err(|e| self.located(e, &base))
    }

    /// Name of the device's preset, or of its file without folders.
    pub fn device_name(&self) -> &str {
        base::name(self.document.device.preset.as_deref().unwrap_or(DEFAULT_PRESET))
    }

    /// The uses for which the device's values were measured, if they come from a file that says so.
    ///
    /// # Errors
    /// No such preset, or a device file with an error.
    pub fn fitted(&self) -> Result<Fitted, ScenarioError> {
        self.base().map(|base| base.fitted)
    }

    /// The device in words: its preset or file, and each key that differs from it, with both values.
    pub fn device_described(&self) -> String {
        let described = self.base().map(|base| device_changes::described(&base, &self.document.device));
        described.unwrap_or_else(|_| self.device_name().to_owned())
    }

    /// Seed of everything random.
    pub fn seed(&self) -> u64 {
        self.document.seed.unwrap_or(1)
    }

    /// How many seeds a comparison tries, if the scenario says so.
    ///
    /// # Errors
    /// None, or more than are legal.
    pub fn seeds(&self) -> Result<Option<u64>, ScenarioError> {
        match self.document.run.seeds {
            Some(seeds) if !(1..=limits::SEEDS).contains(&seeds) => {
                Err(self.key_error("run.seeds", seeds, format!("must be 1 to {}", limits::SEEDS)))
            }
            seeds => Ok(seeds),
        }
    }

    /// The same with the seed that is `by` above its own, and flows' own seeds shifted as much. The state of its drive is another one: a single
    /// file that keeps it is left alone.
    pub fn with_shifted_seed(&self, by: u64) -> Scenario {
        let mut scenario = self.clone();
        let seed = self.seed();
        scenario.set("seed", "another seed", |document| {
            document.seed = Some(seed.wrapping_add(by));
            document.flow.iter_mut().for_each(|flow| flow.shift_seed(by));
        });
        scenario.state_file = scenario.state_file.filter(|path| path.is_dir());
        scenario
    }

    /// An error about `key` that only a later step can find (an unknown scheduler, a source's key).
    pub fn key_error(&self, key: &str, value: impl std::fmt::Display, message: impl Into<String>) -> ScenarioError {
        self.origin.locate(KeyError::new(key, value, message))
    }

    /// The device's configuration.
    pub fn device_config(&self) -> Result<Config, ScenarioError> {
        let base = self.base()?;
        let located = |e| self.located(e, &base);
        let device = self.document.device.complete(&base.device).map_err(located)?;
        // Where presets are compared, keys of the file may be for some of them.
        if !self.origin.overridden.iter().any(|(path, _)| path == "device.preset") {
            effect::check(&self.document.device, &base.device, &device).map_err(located)?;
        }
        let priorities: Vec<u8> = self.document.flow.iter().map(|flow| flow.priority).collect();
        build::config(&device, &priorities, self.seed()).map_err(located)
    }

    /// Keys that the scenario gives to no effect because it also switches them off, a sentence for each reason.
    pub fn keys_without_effect(&self) -> Result<Vec<String>, ScenarioError> {
        effect::warnings(&self.document, || Ok((self.base()?.device.clone(), self.device()?)))
    }

    /// The host before the device of `config`, if the scenario has one.
    pub fn host(&self, config: &Config) -> Result<Option<flashlane_host::Config>, ScenarioError> {
        let Some(host) = &self.document.host else { return Ok(None) };
        let flows = self.document.flow.len() as u32;
        let buffer = config.buffer.as_ref().map(|buffer| BufferOf {
            pages: if buffer.per_flow { buffer.pages / flows.max(1) } else { buffer.pages },
            per_flow: buffer.per_flow,
            write_back: buffer.write_back,
        });
        host.config(config.geometry, buffer).map(Some).map_err(|e| self.origin.locate(e))
    }

    /// The block layers before the device of `config`: none, the scenario's, or those that it compares.
    pub fn blocks(&self, config: &Config) -> Result<Vec<BlockLayer>, ScenarioError> {
        if self.document.block.is_none() {
            return Ok(Vec::new());
        }
        if self.document.host.is_some() {
            return Err(self.key_error(
                "block",
                "",
                "must not be there with [host]: threads ask the device themselves",
            ));
        }
        let flows = self.flows(config)?;
        let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
        let layer = |(name, keys): (Option<String>, Block)| {
            keys.config(config.front.protocol, &names).map(|config| BlockLayer { name, keys, config })
        };
        let layers = self.block_keys().and_then(|all| all.into_iter().map(layer).collect());
        layers.map_err(|e| self.origin.locate(e))
    }

    /// The keys of its block layers, each with its name where there is a list of them.
    fn block_keys(&self) -> Result<Vec<(Option<String>, Block)>, KeyError> {
        let Some(block) = &self.document.block else { return Ok(Vec::new()) };
        let is_given = |key: &str| self.origin.overridden.iter().any(|(path, _)| path == key);
        if is_given("block.elevator") {
            // Where elevators are compared, keys of the file may be for some of them.
            let all: Vec<ElevatorWord> = ElevatorWord::LIST.iter().map(|named| named.value).collect();
            return block.without_keys_of_others(&all, is_given).layers();
        }
        block.layers()
    }

    /// Leaves this of the block layers that it compares.
    pub fn keep_block(&mut self, layer: &BlockLayer) {
        self.document.block = Some(layer.keys.clone());
    }

    /// Leaves the first of the block layers that it compares.
    ///
    /// # Errors
    /// As [`Scenario::blocks`].
    pub fn keep_first_block(&mut self) -> Result<(), ScenarioError> {
        if let Some(first) = self.blocks(&self.device_config()?)?.first() {
            self.keep_block(first);
        }
        Ok(())
    }

    /// The schedulers to run, at least one, names unique.
    pub fn schedulers(&self) -> Result<Vec<SchedulerChoice>, ScenarioError> {
        resolve::schedulers(&self.document).map_err(|e| self.origin.locate(e))
    }

    /// The flows with their names, ranges and sources resolved, for the device of `config`.
    pub fn flows(&self, config: &Config) -> Result<Vec<FlowPlan>, ScenarioError> {
        let located = |e| self.origin.locate(e);
        let flows = resolve::flows(&self.document, &self.folder, config).map_err(located)?;
        endless::check(&self.document, &flows, config).map_err(located)?;
        Ok(flows)
    }

    /// Checks everything that can be checked without a run.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let config = self.device_config()?;
        self.host(&config)?;
        self.blocks(&config)?;
        self.flows(&config)?;
        self.schedulers()?;
        self.seeds()?;
        Ok(())
    }

    /// An identifier of the experiment: equal for equal effective scenarios. 16 hexadecimal digits.
    pub fn hash(&self) -> Result<String, ScenarioError> {
        let base = self.base()?;
        hash::hash(self, &base).map_err(|e| self.located(e, &base))
    }
}
