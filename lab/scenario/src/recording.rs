//! The head of a record that `flashlane serve --record` writes: the drive as it was served, as a scenario whose flows replay the requests
//! below it.
//!
//! Owns the head's form. Promises that a record is a scenario wherever one can be named, whatever its file is called, and that its device
//! is the one that was served. The requests are a trace (format `record`) and no concern of this.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::base::{Base, is_device_file};
use super::changes::{RecordedFile, Recording};
use super::device::Device;
use super::document::{Document, Run};
use super::error::KeyError;
use super::flow::{Flow, Range};
use super::trace::TraceFlow;
use super::{DEFAULT_PRESET, Scenario, ScenarioError};

/// The first line of a record.
const FIRST: &str = "# flashlane record 1\n";

/// How a line of the scenario begins.
const LINE: &str = "#| ";

/// The last line of the head.
const LAST: &str = "# flow,ns,offset,bytes,kind,forced\n";

/// The most bytes of a head.
const BYTES: u64 = 8 << 20;

impl Scenario {
    /// The head of a record of this scenario's drive under its first scheduler, by this build and in this state.
    ///
    /// # Errors
    /// Anything wrong with the scenario.
    pub fn recording_head(&self, build: &str, state: &str) -> Result<String, ScenarioError> {
        let base = self.base()?;
        let complete = self.document.device.complete(&base.device).map_err(|error| self.located(error, &base))?;
        let flows = self.flows(&self.device_config()?)?;
        let flow = |(number, plan): (usize, super::FlowPlan)| Flow {
            name: Some(plan.name),
            priority: plan.priority,
            range: Some(Range::Bytes(plan.range)),
            trace: Some(TraceFlow {
                format: Some("record".into()),
                device: Some(number.to_string()),
                ..TraceFlow::file("")
            }),
            ..Flow::default()
        };
        let given = &self.document.run;
        let document = Document {
            name: Some(self.name().to_owned()),
            seed: Some(self.seed()),
            // All keys are there, so that a device file is not needed.
            device: Device { preset: Some(base.shipped.to_owned()), ..complete },
            host: None,
            block: None,
            scheduler: self.schedulers()?.into_iter().next(),
            schedulers: None,
            run: Run {
                collect: given.collect.clone(),
                hold: given.hold.clone(),
                shadow_estimator: given.shadow_estimator,
                ..Run::default()
            },
            flow: flows.into_iter().enumerate().map(flow).collect(),
        };
        let text = toml::to_string(&document).expect("a document with text keys has a TOML form");
        let mut head = FIRST.to_owned();
        let preset = self.document.device.preset.as_deref();
        let device_file = preset.filter(|preset| is_device_file(preset)).map(|_| RecordedFile {
            name: self.device_name().to_owned(),
            described: self.device_described(),
            fitted: base.fitted,
        });
        head.push_str(&Recording::about(build, state, device_file.as_ref()));
        text.lines().for_each(|line| head.push_str(&format!("{LINE}{line}\n")));
        head.push_str(LAST);
        Ok(head)
    }
}

/// Has `document` name the file that its device came from, so that results call it by that, and returns what then lies at its path: all values are in the
/// record, and the file is not read.
fn named_by_its_file(document: &mut Document, file: &RecordedFile) -> Result<(PathBuf, Base), KeyError> {
    let shipped = Base::shipped(document.device.preset.as_deref().unwrap_or(DEFAULT_PRESET), &["device.preset"])?;
    let preset = format!("./{}", file.name);
    document.device.preset = Some(preset.clone());
    let device = Device { preset: None, ..document.device.clone() };
    Ok((preset.into(), Base { name: file.described.clone(), device, fitted: file.fitted, ..shipped }))
}

/// Whether the file at `path` is a record.
pub fn is_record(path: &Path) -> bool {
    opened(path).is_some()
}

/// The record at `path` behind its first line; `None` if the file is none.
fn opened(path: &Path) -> Option<File> {
    // Opening a named pipe waits for a writer, and what is read of it is lost.
    let mut file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    let mut first = [0; FIRST.len()];
    file.read_exact(&mut first).ok().filter(|()| first == *FIRST.as_bytes())?;
    Some(file)
}

/// The scenario in the head of the record at `path`; `None` if the file is none.
pub(super) fn scenario(path: &Path) -> Option<Result<Scenario, ScenarioError>> {
    let file = opened(path)?;
    // The buffer is made for records alone: tables of the drive that take memory which has been used and freed are cleared.
    Some(read(path, BufReader::with_capacity(1 << 17, file).take(BYTES)))
}

fn read(path: &Path, mut input: io::Take<impl BufRead>) -> Result<Scenario, ScenarioError> {
    let at =
        |place: String, message: String| ScenarioError { place, key: String::new(), value: String::new(), message };
    let refused = |message: String| at(path.display().to_string(), message);
    // The first line has been read.
    let mut lines = 1;
    let (mut text, mut recording) = (String::new(), Recording { file: path.to_owned(), ..Recording::default() });
    loop {
        let mut line = String::new();
        input.read_line(&mut line).map_err(|why| refused(format!("cannot be read: {why}")))?;
        lines += 1;
        match line.strip_prefix(LINE) {
            Some(line) => text.push_str(line),
            None if line == LAST => break,
            None if line == "#|\n" => text.push('\n'),
            None if line.starts_with('#') && line.ends_with('\n') => {
                recording.take(&line).map_err(|why| at(format!("{}:{lines}", path.display()), why))?;
            }
            None => {
                let message =
                    format!("the head of this record is cut off: it must end with the line `{}`", LAST.trim_end());
                return Err(refused(message));
            }
        }
    }
    let place = format!("{} (head)", path.display());
    let read = recording.read_changes(input.into_inner(), lines);
    read.map_err(|(line, message)| at(format!("{}:{line}", path.display()), message))?;
    let first = Scenario::parse(&place, text)?;
    let (mut document, origin) = (first.document, first.origin);
    let file = recording.device_file.as_ref().map(|file| named_by_its_file(&mut document, file)).transpose();
    let file = file.map_err(|error| origin.locate(error))?;
    for trace in document.flow.iter_mut().filter_map(|flow| flow.trace.as_mut()) {
        trace.path = path.file_name().map(Into::into).unwrap_or_default();
    }
    let text = toml::to_string(&document).expect("what was read has a TOML form");
    let mut scenario = Scenario::parse(&place, text)?;
    scenario.folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    if let Some((path, base)) = file {
        scenario.devices.add(scenario.folder.join(path), base);
    }
    recording.scheduler = scenario.schedulers()?[0].name();
    scenario.recording = Some(Arc::new(recording));
    Ok(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every preset comes back as the same device, under another file name; what limits runs is left out.
    #[test]
    fn a_head_is_the_scenario_again() {
        let folder = tempfile::tempdir().expect("a folder");
        for preset in super::super::PRESETS {
            let text = format!(
                "name = \"mine\"\nschedulers = [\"slacker\", \"fcfs\"]\nseed = 9\n[device]\npreset = \"{}\"\n\
                 [run]\nrequests = 5\n\
                 [[flow]]\npriority = 1\nrequest = [{{ at_ns = 0, op = \"read\", pages = [0] }}]\n\
                 [[flow]]\nsynthetic = {{ requests = 1, rate_iops = 5 }}\n",
                preset.name
            );
            let Ok(scenario) = Scenario::parse("t.toml", text) else { panic!("{}", preset.name) };
            let head = match scenario.recording_head("1, figures 2", "as the precondition says, 3") {
                Ok(head) => head,
                Err(why) => panic!("{}: {why}", preset.name),
            };
            let path = folder.path().join(format!("{}.record", preset.name));
            std::fs::write(&path, format!("{head}0,5,0,4096,read,0\n#! 9 priority 1 0\n")).expect("written");
            let again = Scenario::load(&path).unwrap_or_else(|why| panic!("{}: {why}", preset.name));
            let [one, two] = [&scenario, &again].map(|s| s.device_config().unwrap_or_else(|why| panic!("{why}")));
            assert_eq!(format!("{one:?}"), format!("{two:?}"), "{}", preset.name);
            let ranges = |s: &Scenario| {
                s.flows(&one).map(|flows| flows.into_iter().map(|f| (f.name, f.priority, f.range)).collect::<Vec<_>>())
            };
            assert_eq!(ranges(&scenario).ok(), ranges(&again).ok());
            assert_eq!((again.name(), again.seed(), again.document().run.requests), ("mine", 9, None));
            let recording = again.recording().expect("a record");
            assert_eq!((recording.build.as_str(), recording.changes.len()), ("1, figures 2", 1));
            assert_eq!(
                (recording.state.as_str(), recording.scheduler.as_str()),
                ("as the precondition says, 3", "slacker")
            );
            assert_eq!(again.schedulers().map(|list| list[0].name()).ok().as_deref(), Some("slacker"));
        }
    }

    #[test]
    fn a_head_that_is_cut_off_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cut");
        std::fs::write(&path, format!("{FIRST}#| seed = 1\n")).expect("written");
        let why = Scenario::load(&path).expect_err("cut off").to_string();
        assert!(why.contains("the head of this record is cut off"), "{why}");
    }
}
