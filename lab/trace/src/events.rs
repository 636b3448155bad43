//! What a block trace has of each action and device, and what follows from it: which action is read, and of which devices the requests
//! are left out, because they go on to others that the trace has too.
//!
//! A request to a device mapper or RAID device appears again at the disks below it, after a remap (A) that names both. The requests of
//! the lowest stay. A partition's remap leaves out nothing: its requests appear once. Promises to say what was chosen and what is left
//! out. A trace is surveyed up to a limit, so that reading the first requests of a long one stays quick.

use std::collections::BTreeSet;

use super::action::Action;
use super::error;
use super::format::event::{Event, EventOf};
use super::input::Origin;
use super::lines::Lines;
use super::options::TraceOptions;
use super::quote;
use flashlane_core::arrival::WorkloadError;
use flashlane_core::choice::Choice;
use flashlane_outputs::shown::counted;

/// Bytes of text that are surveyed at most.
const TEXT: u64 = 256 << 20;
/// Sectors that are kept to tell whether requests that go on to a device appear there.
const SECTORS: usize = 1 << 16;
/// Other events that are named.
const NAMED: usize = 8;

/// How often each action appears, in the order of [`Action::LIST`].
type Counts = [u64; Action::LIST.len()];

/// The sectors at which requests begin, the first so many of them.
type Sectors = BTreeSet<u64>;

/// What a block trace has of a device.
struct DeviceEvents {
    name: Vec<u8>,
    counts: Counts,
    sectors: [Sectors; Action::LIST.len()],
}

/// Requests of one device that go on to another (or, of a partition, to the same one), and where there.
struct Remapped {
    from: Vec<u8>,
    to: Vec<u8>,
    sectors: Sectors,
}

/// What a block trace has.
#[derive(Default)]
pub(super) struct EventCounts {
    devices: Vec<DeviceEvents>,
    /// From which device requests go on to which.
    remaps: Vec<Remapped>,
    others: Vec<(Vec<u8>, u64)>,
    /// Places where its recorder says that events are missing.
    lost: u64,
    /// Whether it has all of the trace.
    pub is_whole: bool,
}

/// How a block trace is read.
pub(super) struct Reading {
    pub action: Action,
    /// Devices whose requests are left out, because they appear again at lower ones.
    pub stacked: Vec<Vec<u8>>,
    /// What is to be said of it.
    pub notes: Vec<String>,
}

impl EventCounts {
    /// Of the text that begins with `lines`, whose events `event` finds.
    pub fn of_text(origin: &Origin, lines: &Lines, event: EventOf) -> Result<EventCounts, WorkloadError> {
        let mut counts = EventCounts::default();
        let (sample, is_whole) = lines.sample();
        counts.is_whole = is_whole || lines.broken().is_some();
        if counts.is_whole {
            sample.split(|b| *b == b'\n').filter_map(event).for_each(|event| counts.add(event));
            return Ok(counts);
        }
        let mut all = Lines::new(origin.name(), origin.open()?);
        let mut bytes = 0;
        while bytes < TEXT {
            // What is broken in it is told where it is read.
            let Ok(Some(line)) = all.next() else {
                counts.is_whole = true;
                break;
            };
            bytes += line.line().len() as u64 + 1;
            if let Some(event) = event(line.line()) {
                counts.add(event);
            }
        }
        Ok(counts)
    }

    /// Counts an event.
    pub fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Request { device, action, sector } => {
                let at = self.devices.iter().position(|known| known.name == device).unwrap_or_else(|| {
                    let (name, counts, sectors) = (device.to_vec(), Counts::default(), Default::default());
                    self.devices.push(DeviceEvents { name, counts, sectors });
                    self.devices.len() - 1
                });
                let events = &mut self.devices[at];
                events.counts[action as usize] += 1;
                keep(&mut events.sectors[action as usize], sector);
            }
            Event::Remap { from, to, sector } => {
                self.other(b"A");
                let at =
                    self.remaps.iter().position(|known| known.from == from && known.to == to).unwrap_or_else(|| {
                        self.remaps.push(Remapped { from: from.to_vec(), to: to.to_vec(), sectors: Sectors::new() });
                        self.remaps.len() - 1
                    });
                keep(&mut self.remaps[at].sectors, sector);
            }
            Event::Other(name) => self.other(name),
            Event::Lost => self.lost += 1,
        }
    }

    fn other(&mut self, name: &[u8]) {
        match self.others.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => self.others.push((name.to_vec(), 1)),
        }
    }

    /// How often an action appears.
    fn count(&self, action: Action) -> u64 {
        self.devices.iter().map(|device| device.counts[action as usize]).sum()
    }

    /// How the trace called `name` is read under `options`.
    pub fn reading(&self, name: &str, options: &TraceOptions) -> Result<Reading, WorkloadError> {
        let action = match options.action {
            Some(asked) if self.count(asked) == 0 && self.is_whole && self.any() => return Err(self.without(asked)),
            Some(asked) => asked,
            None => match Action::LIST.iter().map(|choice| choice.value).find(|action| self.count(*action) > 0) {
                Some(Action::Complete) => return Err(error(name, self.only_completions())),
                Some(action) => action,
                None => Action::Queue,
            },
        };
        let mut notes = Vec::new();
        if options.action.is_none() && self.any() {
            notes.push(self.default_action(action));
        }
        // Who asks for a device gets its requests.
        let stacked = if options.device.is_some() { Vec::new() } else { self.stacked(action, &mut notes) };
        if self.lost > 0 {
            notes.push(format!("{}its recorder lost events in {}", self.part(), counted(self.lost, "place")));
        }
        Ok(Reading { action, stacked, notes })
    }

    fn any(&self) -> bool {
        Action::LIST.iter().any(|choice| self.count(choice.value) > 0)
    }

    /// Of what is spoken, if not of the whole trace.
    fn part(&self) -> String {
        let all =
            self.devices.iter().flat_map(|device| &device.counts).chain(self.others.iter().map(|(_, count)| count));
        if self.is_whole { String::new() } else { format!("of its first {}: ", counted(all.sum::<u64>(), "event")) }
    }

    /// The actions with their counts, `except` one.
    fn listed(&self, except: Option<Action>) -> String {
        let actions = Action::LIST.iter().map(|choice| choice.value).filter(|action| Some(*action) != except);
        let listed: Vec<String> = actions
            .filter(|action| self.count(*action) > 0)
            .map(|action| format!("{} {}", action.words(), self.count(action)))
            .collect();
        listed.join(", ")
    }

    /// The error where there is none of the action that was asked for.
    fn without(&self, asked: Action) -> WorkloadError {
        let legal: Vec<&str> =
            Action::LIST.iter().filter(|c| self.count(c.value) > 0).map(|c| c.value.word()).collect();
        let message = format!(
            "`{}`: the trace has 0 {}; it has {}: legal is {}",
            asked.word(),
            asked.words(),
            self.listed(None),
            legal.join(" or ")
        );
        error("action", message)
    }

    fn only_completions(&self) -> String {
        format!(
            "only completions (C {}): Q (queued) or D (issued) is read by default; legal is a trace with these, or action = \
             \"complete\" (--action complete), which takes the time of the completion for that of the request",
            self.count(Action::Complete)
        )
    }

    /// What is said of the action where none was asked for.
    fn default_action(&self, action: Action) -> String {
        let others = self.listed(Some(action));
        let more: Vec<String> =
            self.others.iter().take(NAMED).map(|(name, n)| format!("{} {n}", name.escape_ascii())).collect();
        let dots = if self.others.len() > NAMED { ", ..." } else { "" };
        let left = match (others.is_empty(), more.is_empty()) {
            (true, true) => "there is no other action".to_owned(),
            (true, false) => format!("not read: {}{dots}", more.join(", ")),
            (false, true) => format!("not read: {others} (--action takes another)"),
            (false, false) => format!("not read: {others} (--action takes another); {}{dots}", more.join(", ")),
        };
        format!("{}{} {} is read, by default; {left}", self.part(), action.words(), self.count(action))
    }

    /// The devices whose requests appear again at lower ones.
    fn stacked(&self, action: Action, notes: &mut Vec<String>) -> Vec<Vec<u8>> {
        let mut stacked = Vec::new();
        for DeviceEvents { name: device, counts, .. } in &self.devices {
            let all = self.below(device);
            let uppers = |remap: &&Remapped| &remap.from == device || all.contains(&remap.from.as_slice());
            let again = |lower: &[u8]| {
                self.remaps.iter().filter(uppers).any(|remap| remap.to == lower && self.appear_there(remap, action))
            };
            let mut below: Vec<&[u8]> = all.iter().copied().filter(|lower| again(lower)).collect();
            if counts[action as usize] == 0 || below.is_empty() {
                continue;
            }
            below.sort_unstable();
            let below: Vec<String> = below.into_iter().map(quote).collect();
            notes.push(format!(
                "{}{} lies over {}: its {} left out, because requests appear again below (the device {} alone reads them)",
                self.part(),
                quote(device),
                below.join(", "),
                left_out(counts[action as usize]),
                quote(device),
            ));
            stacked.push(device.clone());
        }
        stacked
    }

    /// Whether requests that go on to a device appear there.
    fn appear_there(&self, remap: &Remapped, action: Action) -> bool {
        let lower = self.devices.iter().find(|device| device.name == remap.to);
        lower.is_some_and(|lower| !lower.sectors[action as usize].is_disjoint(&remap.sectors))
    }

    /// The devices that requests of `device` go on to, also by way of others.
    fn below<'a>(&'a self, device: &'a [u8]) -> Vec<&'a [u8]> {
        let mut found = vec![device];
        let mut at = 0;
        while let Some(upper) = found.get(at).copied() {
            let next = self.remaps.iter().filter(|remap| remap.from == upper).map(|remap| remap.to.as_slice());
            for lower in next {
                if !found.contains(&lower) {
                    found.push(lower);
                }
            }
            at += 1;
        }
        found.split_off(1)
    }
}

fn keep(sectors: &mut Sectors, sector: Option<u64>) {
    if let Some(sector) = sector.filter(|_| sectors.len() < SECTORS) {
        sectors.insert(sector);
    }
}

/// How many requests are left out, with the verb.
fn left_out(requests: u64) -> String {
    format!("{} {}", counted(requests, "request"), if requests == 1 { "is" } else { "are" })
}
