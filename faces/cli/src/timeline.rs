//! `--timeline`: the timelines of a run or a comparison, one file for each scheduler.
//!
//! Each comes from a run of its own after the others, so that figures are the same with and without.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flashlane_core::event::Stamped;
use flashlane_outputs::{Existing, Inputs, OutFile, shown};
use flashlane_report::results::format::time;
use flashlane_report::results::{Timeline, TimelineFormat};
use flashlane_scenario::{BlockLayer, Scenario, SchedulerChoice};
use flashlane_sim::{ObserverOptions, run_observed};
use flashlane_sweep::nanoseconds;
use flate2::write::GzEncoder;

use crate::args::Output;
use crate::fail::Failure;

/// The error about a file that exists.
const KEPT: &str = "exists already and is left as it is; give another name, or --force to overwrite it";

/// How well timelines are compressed.
const LEVEL: u32 = 4;

/// The timelines to write.
pub struct Timelines {
    files: Vec<(Shown, OutFile)>,
    names: Vec<PathBuf>,
    format: TimelineFormat,
    /// Whether their names end in `.gz`.
    packs: bool,
    window: (u64, u64),
}

/// A run that is shown: a scheduler, below a block layer if there is one.
type Shown = (SchedulerChoice, Option<BlockLayer>);

/// A file, compressed if its name says so.
enum Packed {
    Plain(BufWriter<File>),
    Gz(Box<GzEncoder<BufWriter<File>>>),
}

impl Packed {
    /// The whole file.
    fn finish(self) -> io::Result<BufWriter<File>> {
        match self {
            Packed::Plain(file) => Ok(file),
            Packed::Gz(encoder) => encoder.finish(),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(file) => file.write(bytes),
            Packed::Gz(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(file) => file.flush(),
            Packed::Gz(encoder) => encoder.flush(),
        }
    }
}

impl Timelines {
    /// Prepares what `output` asks for: `None` if that is nothing.
    pub fn prepare(scenario: &Scenario, output: &Output, inputs: &Inputs) -> Result<Option<Timelines>, Failure> {
        let Some(path) = &output.timeline else { return Ok(None) };
        let window = output.window.as_deref().map_or(Ok((0, u64::MAX)), window)?;
        let (stem, packs) = match path.extension() {
            Some(extension) if extension == "gz" => (path.with_extension(""), true),
            _ => (path.clone(), false),
        };
        let is_json = stem.extension().is_some_and(|extension| extension == "json");
        let format = if is_json { TimelineFormat::Chrome } else { TimelineFormat::Perfetto };
        let existing = || if output.force { Existing::Replace } else { Existing::Keep(KEPT) };
        let files = files(scenario, path)?;
        let names = files.iter().map(|(_, path)| path.clone()).collect();
        let begin =
            |(run, path): (Shown, PathBuf)| Ok::<_, Failure>((run, OutFile::create(&path, existing(), inputs)?));
        let files = files.into_iter().map(begin).collect::<Result<_, _>>()?;
        Ok(Some(Timelines { files, names, format, packs, window }))
    }

    /// The files, in the order of the schedulers.
    pub fn names(&self) -> &[PathBuf] {
        &self.names
    }

    /// Runs each scheduler and writes its timeline.
    pub fn write(self, scenario: &Scenario) -> Result<(), Failure> {
        let config = scenario.device_config()?;
        let flows: Vec<String> = scenario.flows(&config)?.into_iter().map(|flow| flow.name).collect();
        for (((choice, layer), file), path) in self.files.into_iter().zip(&self.names) {
            let mut own = scenario.clone();
            own.set("schedulers", "--timeline", |document| {
                document.scheduler = Some(choice);
                document.schedulers = None;
                document.run.alone = Some(false);
                document.run.baseline = None;
            });
            if let Some(layer) = &layer {
                own.keep_block(layer);
            }
            let (out, pending) = file.parts();
            let out = match self.packs {
                true => Packed::Gz(Box::new(GzEncoder::new(out, flate2::Compression::new(LEVEL)))),
                false => Packed::Plain(out),
            };
            let apart = flashlane_sim::threads() > 1;
            let timeline = Timeline::new(out, self.format, config.geometry, &flows, self.window, apart);
            let mut timeline = timeline.map_err(|error| pending.fault(&error))?;
            let mut observe = |stamped: &Stamped| timeline.observe(stamped);
            run_observed(&own, ObserverOptions { events: Some(&mut observe), ..ObserverOptions::default() })?;
            if timeline.is_empty() {
                let (path, end) = (shown::path(path), time(timeline.seen_until() as f64));
                eprintln!("warning: {path} shows nothing: nothing falls into its --window; the run ends at {end}");
            }
            let out = timeline.finish().and_then(Packed::finish).map_err(|error| pending.fault(&error))?;
            pending.finish(out)?;
        }
        Ok(())
    }
}

/// The runs, and the files of their timelines, if the user named `path`.
pub fn files(scenario: &Scenario, path: &Path) -> Result<Vec<(Shown, PathBuf)>, Failure> {
    let schedulers = scenario.schedulers()?;
    let blocks = scenario.blocks(&scenario.device_config()?)?;
    let layers: Vec<Option<BlockLayer>> =
        if blocks.is_empty() { vec![None] } else { blocks.into_iter().map(Some).collect() };
    let several = schedulers.len() * layers.len() > 1;
    let own = |choice: &SchedulerChoice, layer: &Option<BlockLayer>| {
        let name = layer.as_ref().map_or_else(|| choice.name(), |layer| layer.below(&choice.name()));
        if several { beside(path, &name) } else { path.to_path_buf() }
    };
    let below = |choice: &SchedulerChoice| {
        layers.iter().map(|layer| ((choice.clone(), layer.clone()), own(choice, layer))).collect::<Vec<_>>()
    };
    Ok(schedulers.iter().flat_map(below).collect())
}

/// The file of one of several schedulers: `run.perfetto` becomes `run-fcfs.perfetto`, and `run.json.gz` `run-fcfs.json.gz`.
fn beside(path: &Path, scheduler: &str) -> PathBuf {
    let mut stem = PathBuf::from(path.file_name().unwrap_or_default());
    let mut ending = String::new();
    while let Some(extension) = stem.extension().map(|extension| extension.to_string_lossy().into_owned()) {
        stem.set_extension("");
        ending = format!(".{extension}{ending}");
        if extension != "gz" {
            break;
        }
    }
    path.with_file_name(format!("{}-{scheduler}{ending}", stem.to_string_lossy()))
}

/// The instants of `A..B`, ns.
fn window(text: &str) -> Result<(u64, u64), Failure> {
    let legal = "must be A..B with units, such as 1.5ms..2ms, 3s.. or ..800us";
    let fail = || Failure::Input(format!("--window {text}: {legal}"));
    let (from, to) = text.split_once("..").ok_or_else(fail)?;
    let instant = |text: &str, default: u64| if text.is_empty() { Some(default) } else { nanoseconds(text) };
    let (from, to) = instant(from, 0).zip(instant(to, u64::MAX)).ok_or_else(fail)?;
    if from >= to {
        return Err(Failure::Input(format!("--window {text}: ends before it begins; {legal}")));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_units_and_open_ends() {
        let of = |text: &str| window(text).ok();
        assert_eq!(of("1.5ms..2ms"), Some((1_500_000, 2_000_000)));
        assert_eq!(of("..800us"), Some((0, 800_000)));
        assert_eq!(of("3s.."), Some((3_000_000_000, u64::MAX)));
        for wrong in ["", "5ms", "2ms..1ms", "1..2", "1ms..x", "-1ms..2ms"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_scheduler_has_a_file() {
        assert_eq!(beside(Path::new("a/run.perfetto"), "fcfs"), Path::new("a/run-fcfs.perfetto"));
        assert_eq!(beside(Path::new("run"), "hos+qsl"), Path::new("run-hos+qsl"));
        assert_eq!(beside(Path::new("a/tl.json.gz"), "fcfs"), Path::new("a/tl-fcfs.json.gz"));
        assert_eq!(beside(Path::new("v1.2.json"), "fcfs"), Path::new("v1.2-fcfs.json"));
        assert_eq!(beside(Path::new("tl.gz"), "fcfs"), Path::new("tl-fcfs.gz"));
    }
}
