//! What the traces of a scenario say before a run: which volumes they have, and how far apart their flows were recorded.
//!
//! Promises that a flow of each volume has all keys of the flow it is made from, that flows of one file keep their distance in time, and
//! that what is kept or not kept of several files is said. Looks at traces, and never at more of them than it needs; what is wrong with one is said
//! where it is replayed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flashlane_outputs::shown::escaped;
use flashlane_ssd::config::{Config, MAX_FLOWS};
use flashlane_trace::{
    Beyond, Format, OPTIONS, Sizes, Speedup, TraceOptions, TraceSource, Volumes, rereadable, volumes,
};

use super::document::Document;
use super::error::KeyError;
use super::flow::Flow;
use super::limits::NAME;
use super::resolve::{FlowPlan, FlowSource};
use super::trace::TraceFlow;
use super::words::Word;
use super::{Scenario, ScenarioError};
use flashlane_core::arrival::WorkloadError;

/// What is to be said of flows: the name of one, or `traces`, and a sentence.
pub type Said = Vec<(String, String)>;

/// What was found in traces, by what was asked: copies of a scenario ask the same.
#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<BTreeMap<String, Look>>);

/// What was found in a trace under some options.
#[derive(Clone, Debug, PartialEq)]
enum Look {
    /// There is none, or it is of a format whose times always count from the start.
    Nothing,
    First(Format, u64),
    /// Whether it goes on to a given time.
    Reaches(bool),
    /// The names of its volumes.
    Volumes(Vec<Vec<u8>>),
}

impl Looks {
    fn get(&self, asked: String, look: impl FnOnce() -> Look) -> Look {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&asked) {
            return found.clone();
        }
        let found = look();
        known().insert(asked, found.clone());
        found
    }

    /// The format of a trace, and when its first request was recorded.
    fn first(&self, path: &Path, options: &TraceOptions) -> Option<(Format, u64)> {
        let look = || {
            let mut source = TraceSource::open(path, options, u64::MAX).ok()?;
            let format = Some(source.recognition().format).filter(|format| !format.is_recording())?;
            Some(Look::First(format, source.first_recorded()?))
        };
        match self.get(format!("first {path:?} {options:?}"), || look().unwrap_or(Look::Nothing)) {
            Look::First(format, ns) => Some((format, ns)),
            _ => None,
        }
    }

    /// The names of the volumes of a trace, at most one more than a device has flows.
    ///
    /// # Errors
    /// As reading the trace.
    fn volumes(&self, path: &Path, options: &TraceOptions) -> Result<Vec<Vec<u8>>, WorkloadError> {
        let mut failed = None;
        let look = || match volumes(path, options, MAX_FLOWS) {
            Ok(found) => Look::Volumes(found.into_iter().map(|volume| volume.name).collect()),
            Err(why) => {
                failed = Some(why);
                Look::Nothing
            }
        };
        match self.get(format!("volumes {path:?} {options:?}"), look) {
            Look::Volumes(names) => Ok(names),
            // What is wrong with it is found again.
            _ => failed.map_or_else(|| volumes(path, options, MAX_FLOWS).map(|_| Vec::new()), Err),
        }
    }

    /// Whether the requests of a trace go on to this recorded time.
    fn reaches(&self, path: &Path, options: &TraceOptions, ns: u64) -> bool {
        let look = || TraceSource::open(path, options, u64::MAX).is_ok_and(|mut source| source.reaches(ns));
        self.get(format!("reaches {ns} {path:?} {options:?}"), || Look::Reaches(look())) == Look::Reaches(true)
    }
}

impl Scenario {
    /// The scenario with a flow for each volume of traces whose volumes are apart, called `FLOW:VOLUME`.
    ///
    /// # Errors
    /// Keys that are wrong, a trace that cannot be read, or more volumes than a device has flows.
    pub fn with_volumes_apart(&self) -> Result<Cow<'_, Scenario>, ScenarioError> {
        if !self.document.flow.iter().any(is_apart) {
            return Ok(Cow::Borrowed(self));
        }
        // Errors in keys name the flows that the user wrote.
        let plans = self.flows(&self.device_config()?)?;
        let mut flows: Vec<Flow> = Vec::new();
        for (i, (flow, plan)) in self.document.flow.iter().zip(&plans).enumerate() {
            match &plan.source {
                FlowSource::Trace(path, trace) if is_apart(flow) => {
                    let names = self.volumes_of(i, path, trace)?;
                    flows.extend(names.into_iter().map(|name| part(flow, plan, name)));
                }
                _ => flows.push(Flow { name: Some(plan.name.clone()), ..flow.clone() }),
            }
        }
        if flows.len() > MAX_FLOWS {
            let message = format!("{} volumes and other flows; a device has at most {MAX_FLOWS}: {FEWER}", flows.len());
            return Err(self.origin.locate(KeyError::new("flow", "", message)));
        }
        name_apart(&mut flows);
        let document = Document { flow: flows, ..self.document.clone() };
        Ok(Cow::Owned(Scenario { document, ..self.clone() }))
    }

    /// The names of the volumes of a flow's trace; one without requests has none, and stays one flow.
    fn volumes_of(&self, i: usize, path: &Path, trace: &TraceFlow) -> Result<Vec<Option<Vec<u8>>>, ScenarioError> {
        let file = path.display().to_string();
        let unread = |WorkloadError { place, message }: WorkloadError| {
            let (place, key) = match OPTIONS.contains(&&place[..]) && place != file {
                true => (file.clone(), format!("flow[{i}].trace.{place}")),
                false => (place, String::new()),
            };
            ScenarioError { place, key, value: String::new(), message }
        };
        let whole = WorkloadError { place: path.display().to_string(), message: String::new() };
        rereadable(path).map_err(|why| unread(WorkloadError { message: why.into(), ..whole }))?;
        let options = trace.options().expect("the keys were checked");
        let found = self.looks.volumes(path, &options).map_err(unread)?;
        if found.len() > MAX_FLOWS {
            let keys = vec![format!("flow[{i}].trace.volumes"), format!("flow[{i}].trace")];
            let message = format!("the trace has more than {MAX_FLOWS} volumes, the most flows of a device: {FEWER}");
            return Err(self.origin.locate(KeyError { keys, value: "\"apart\"".into(), message }));
        }
        let names: Vec<_> = found.into_iter().map(Some).collect();
        Ok(if names.is_empty() { vec![None] } else { names })
    }

    /// The flows as [`Scenario::flows`] has them, with the distance in time at which they were recorded where that is kept, and what is to be
    /// said of it: a flow's name, or `traces`, and a sentence.
    ///
    /// # Errors
    /// As [`Scenario::flows`].
    pub fn flows_in_time(&self, config: &Config) -> Result<(Vec<FlowPlan>, Said), ScenarioError> {
        let mut plans = self.flows(config)?;
        let found = Timed::of(&plans, &self.looks);
        let said = keep_distances(&mut plans, &found, &self.looks);
        Ok((plans, said))
    }
}

/// What to do about too many volumes.
const FEWER: &str = "device picks one of them, and together or overlaid makes them one flow";

fn is_apart(flow: &Flow) -> bool {
    flow.trace.as_ref().is_some_and(|trace| trace.volumes == Some(Word(Volumes::Apart)))
}

/// The flow of one volume.
fn part(flow: &Flow, plan: &FlowPlan, volume: Option<Vec<u8>>) -> Flow {
    let trace = flow.trace.clone().map(|trace| TraceFlow { volumes: None, part: volume.clone(), ..trace });
    let name = match &volume {
        Some(volume) => format!("{}:{}", plan.name, escaped(&String::from_utf8_lossy(volume))),
        None => plan.name.clone(),
    };
    Flow { name: Some(name), trace, ..flow.clone() }
}

/// Makes names as short as they have to be, and different.
fn name_apart(flows: &mut [Flow]) {
    let mut taken = std::collections::BTreeSet::new();
    for flow in flows {
        let given = flow.name.take().unwrap_or_default();
        // Space for the number behind it.
        let end = given.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= NAME - 6).last();
        let short = if given.len() <= NAME { &given[..] } else { &given[..end.unwrap_or(0)] };
        let numbered = (2..).map(|n| format!("{short}-{n}"));
        let name = std::iter::once(short.to_owned()).chain(numbered).find(|name| !taken.contains(name));
        let name = name.expect("numbers do not end");
        taken.insert(name.clone());
        flow.name = Some(name);
    }
}

/// A flow whose distance from others can be kept: it replays a trace at its own times, and no key says when it begins.
struct Timed {
    /// Its number.
    flow: usize,
    path: PathBuf,
    options: TraceOptions,
    /// What must be equal for times to be of one axis.
    axis: String,
    format: Format,
    /// When its first request was recorded, in the file's ns.
    first_ns: u64,
}

impl Timed {
    /// Those of `plans`, if there are at least two.
    fn of(plans: &[FlowPlan], looks: &Looks) -> Vec<Timed> {
        let replayed = |plan: &FlowPlan| match &plan.source {
            FlowSource::Trace(path, trace) if trace.start_ns.is_none() && trace.closed_depth().is_none() => {
                Some((path.clone(), trace.options().ok()?))
            }
            _ => None,
        };
        let given: Vec<_> = plans.iter().enumerate().filter_map(|(i, plan)| Some((i, replayed(plan)?))).collect();
        if given.len() < 2 {
            return Vec::new();
        }
        let look = |(flow, (path, options)): (usize, (PathBuf, TraceOptions))| {
            rereadable(&path).ok()?;
            let speedup = options.speedup;
            // When requests were recorded does not depend on these.
            let options = TraceOptions {
                speedup: Speedup::ONE,
                loops: 1,
                volumes: Volumes::Overlaid,
                part: None,
                beyond: Beyond::Reject,
                sizes: Sizes::Reject,
                ..options
            };
            let (format, first_ns) = looks.first(&path, &options)?;
            let file = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            let TraceOptions { time_unit, columns, action, .. } = &options;
            let axis = format!("{file:?} {format} {time_unit:?} {columns:?} {action:?}");
            Some(Timed { flow, path, options: TraceOptions { speedup, ..options }, axis, format, first_ns })
        };
        given.into_iter().filter_map(look).collect()
    }

    fn date(&self) -> Option<i128> {
        self.format.date(self.first_ns)
    }

    /// Whether it goes on until that date.
    fn reaches(&self, date: i128, looks: &Looks) -> bool {
        let ahead = self.date().and_then(|own| u64::try_from(date - own).ok());
        let options = TraceOptions { speedup: Speedup::ONE, ..self.options.clone() };
        ahead
            .and_then(|ahead| self.first_ns.checked_add(ahead))
            .is_some_and(|ns| looks.reaches(&self.path, &options, ns))
    }
}

/// Flows that begin together: those of one file, or of files whose dates overlap.
struct Group<'a> {
    flows: Vec<&'a Timed>,
}

impl Group<'_> {
    /// The flow that was recorded first.
    fn first(&self) -> &Timed {
        self.flows.iter().min_by_key(|timed| (timed.date(), timed.first_ns, timed.flow)).expect("a group has flows")
    }

    /// The speed of all its flows, if they have the same.
    fn speedup(&self) -> Option<Speedup> {
        let speedup = self.flows[0].options.speedup;
        self.flows.iter().all(|timed| timed.options.speedup == speedup).then_some(speedup)
    }
}

/// Sets where each flow begins; returns what is to be said.
fn keep_distances(plans: &mut [FlowPlan], found: &[Timed], looks: &Looks) -> Vec<(String, String)> {
    let mut files: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for timed in found {
        files.entry(&timed.axis).or_insert_with(|| Group { flows: Vec::new() }).flows.push(timed);
    }
    let (mut dated, plain): (Vec<_>, Vec<_>) = files.into_values().partition(|group| group.first().date().is_some());
    dated.sort_by_key(|group| (group.first().date(), group.first().flow));
    let (mut groups, mut apart): (Vec<Group<'_>>, Vec<String>) = (Vec::new(), Vec::new());
    let begins: Option<(i128, usize)> =
        dated.first().and_then(|group| Some((group.first().date()?, group.first().flow)));
    for group in dated {
        let date = group.first().date().unwrap_or_default();
        let same_speed = |other: &&mut Group<'_>| other.speedup().is_some() && other.speedup() == group.speedup();
        let overlaps = |other: &&mut Group<'_>| other.flows.iter().any(|timed| timed.reaches(date, looks));
        let together = groups.iter_mut().find(|other| same_speed(other) && overlaps(other));
        if let Some(other) = together {
            other.flows.extend(group.flows);
            continue;
        }
        if let Some((first, flow)) = begins.filter(|(first, _)| *first < date) {
            let (name, of) = (&plans[group.first().flow].name, &plans[flow].name);
            apart.push(format!("{name} was recorded {} after {of}", lasting((date - first) as f64)));
        }
        groups.push(group);
    }
    let mut said = Vec::new();
    groups.iter().chain(&plain).for_each(|group| begin_together(plans, group, &mut said));
    if !apart.is_empty() {
        let why = "dates that do not overlap, or other speed-ups: each begins at 0, unless start_ns says when";
        said.push(("traces".to_owned(), format!("{}; {why}", apart.join(", "))));
    }
    said
}

/// Gives the flows of a group one beginning: the earliest of theirs.
fn begin_together(plans: &mut [FlowPlan], group: &Group<'_>, said: &mut Vec<(String, String)>) {
    let first = group.first();
    let name = plans[first.flow].name.clone();
    for timed in &group.flows {
        let back = match (timed.axis == first.axis, timed.date(), first.date()) {
            (true, ..) => timed.first_ns - first.first_ns,
            (false, Some(own), Some(other)) => u64::try_from(own - other).unwrap_or(0),
            (false, ..) => 0,
        };
        let FlowSource::Trace(_, trace) = &mut plans[timed.flow].source else { continue };
        // A time before the file's own beginning of time is no time of it.
        let Some(origin) = timed.first_ns.checked_sub(back).filter(|_| back > 0) else { continue };
        trace.origin_ns = Some(origin);
        let after = lasting(back as f64 / timed.options.speedup.factor());
        said.push((plans[timed.flow].name.clone(), format!("begins {after} after {name}, as recorded")));
    }
}

/// A time in words.
fn lasting(ns: f64) -> String {
    match ns {
        ns if ns >= 172_800e9 => format!("{:.1} days", ns / 86_400e9),
        ns if ns >= 1e9 => format!("{:.3} s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.3} ms", ns / 1e6),
        ns => format!("{:.3} us", ns / 1e3),
    }
}

#[cfg(test)]
mod tests;
