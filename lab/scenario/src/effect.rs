//! Keys that have no effect beside the others: of an SLC cache where there is none, of garbage collection's `d-choices` under another
//! `victim`.
//!
//! Owns what the needs are that keys declare. Such a key is an error where the scenario gives it. It is a warning if the scenario also gives the key that switches it
//! off, as a sweep over that key does, or if the preset is set from outside, as in a sweep over presets. What a preset gives is neither, nor
//! is a key with the preset's own value, so that tables of a preset can be copied.

use flashlane_core::geometry::UnitKind;
use flashlane_ssd::config::SuspendAt;
use serde_json::Value;

use super::device::{Device, Key, Need};
use super::document::{Document, ResponseFrom};
use super::error::KeyError;
use super::value::Limit;
use super::words::{DriveState, Service, Superblock, Victim, Word};

/// What a need of keys of `[device]` is.
struct Rule {
    need: Need,
    /// The keys that say whether it is met.
    switches: &'static [&'static str],
    is_met: fn(&Device) -> bool,
    /// What meets it.
    with: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        need: Need::Slc,
        switches: &["slc.static_blocks", "slc.dynamic"],
        is_met: |device| device.slc.is_on(),
        with: "device.slc.static_blocks above 0, or dynamic = true",
    },
    Rule {
        need: Need::DynamicSlc,
        switches: &["slc.dynamic"],
        is_met: |device| device.slc.dynamic() || !device.slc.is_on(),
        with: "device.slc.dynamic = true",
    },
    Rule {
        need: Need::PartialMap,
        switches: &["mapping.entries"],
        is_met: |device| device.mapping.is_on(),
        with: "a number of device.mapping.entries or bytes",
    },
    Rule {
        need: Need::Retries,
        switches: &["retry.states"],
        is_met: |device| device.retry.is_on(),
        with: "device.retry.states",
    },
    Rule {
        need: Need::OneShot,
        switches: &["nand.one_shot_pages"],
        is_met: |device| device.nand.one_shot_pages() != 1 || shares_rows(device),
        with: "device.nand.one_shot_pages above 1",
    },
    Rule {
        need: Need::Segments,
        switches: &["nand.suspend_at"],
        is_met: |device| device.nand.suspend_at().0 == SuspendAt::Segment,
        with: "device.nand.suspend_at = \"segment\"",
    },
    Rule {
        need: Need::MultiPlane,
        switches: &["nand.multi_plane"],
        is_met: |device| device.nand.multi_plane == Some(true),
        with: "device.nand.multi_plane = true",
    },
    Rule {
        need: Need::PlanesOfADie,
        switches: &["geometry.planes_per_die"],
        is_met: |device| device.nand.multi_plane != Some(true) || device.geometry.planes_per_die != Some(1),
        with: "device.geometry.planes_per_die above 1",
    },
    Rule {
        need: Need::OwnBlocks,
        switches: &["ftl.superblock"],
        is_met: |device| device.ftl.superblock().0 == Superblock::Plane,
        with: "device.ftl.superblock = \"plane\"",
    },
    Rule {
        need: Need::DiesOfAUnit,
        switches: &["geometry.unit", "geometry.dies_per_chip"],
        is_met: |device| device.nand.multi_die != Some(true) || has_dies_in_a_unit(device),
        with: "device.geometry.unit = \"chip\" and dies_per_chip above 1",
    },
    Rule {
        need: Need::SharedCommands,
        switches: &["nand.multi_plane", "nand.multi_die"],
        is_met: |device| device.nand.multi_plane == Some(true) || device.nand.multi_die == Some(true),
        with: "device.nand.multi_plane or multi_die = true",
    },
    Rule {
        need: Need::TransferTimes,
        switches: &["bus.mega_transfers"],
        is_met: |device| device.bus.mega_transfers != Some(Limit::Unlimited),
        with: "a number of device.bus.mega_transfers",
    },
    Rule {
        need: Need::DChoices,
        switches: &["gc.victim"],
        is_met: |device| device.gc.victim == Some(Word(Victim::DChoices)),
        with: "device.gc.victim = \"d-choices\"",
    },
    Rule {
        need: Need::Buffer,
        switches: &["buffer.pages"],
        is_met: |device| device.buffer.pages.unwrap_or(0) > 0,
        with: "device.buffer.pages above 0",
    },
    Rule {
        need: Need::WriteBack,
        switches: &["buffer.write_back"],
        is_met: |device| device.buffer.write_back == Some(true),
        with: "device.buffer.write_back = true",
    },
    Rule {
        need: Need::MergedWrites,
        switches: &["buffer.pages", "buffer.write_back", "buffer.merge_writes"],
        is_met: |Device { buffer, .. }| {
            buffer.pages.unwrap_or(0) == 0 || buffer.write_back != Some(true) || buffer.merge_writes != Some(false)
        },
        with: "device.buffer.merge_writes = true",
    },
    Rule {
        need: Need::CommandTimes,
        switches: &["front.read_command_ns", "front.write_command_ns", "front.read_page_ns", "front.write_page_ns"],
        is_met: |Device { front, .. }| {
            let times =
                [front.read_command_ns(), front.write_command_ns(), front.read_page_ns(), front.write_page_ns()];
            times.into_iter().any(|ns| ns > 0)
        },
        with: "device.front.read_command_ns, write_command_ns, read_page_ns or write_page_ns above 0",
    },
    Rule {
        need: Need::SerialService,
        switches: &["front.service"],
        is_met: |device| device.front.service == Some(Word(Service::Serial)),
        with: "device.front.service = \"serial\"",
    },
    Rule {
        need: Need::Filled,
        switches: &["precondition.state"],
        is_met: |device| device.precondition.state == Some(Word(DriveState::Filled)),
        with: "device.precondition.state = \"filled\"",
    },
    Rule {
        need: Need::Replayed,
        switches: &["precondition.state"],
        is_met: |device| device.precondition.state == Some(Word(DriveState::Replayed)),
        with: "device.precondition.state = \"replayed\"",
    },
    Rule {
        need: Need::ParallelService,
        switches: &["front.service"],
        is_met: |device| device.front.service != Some(Word(Service::Serial)),
        with: "device.front.service = \"parallel\"",
    },
];

/// Whether a row of the flash has several logical pages (model 0.16): they are gathered as those of a wordline.
fn shares_rows(device: &Device) -> bool {
    let is_smaller =
        device.ftl.unit_bytes.is_some_and(|unit| device.geometry.page_bytes.is_some_and(|page| unit < page));
    is_smaller || device.ftl.superblock().0 == Superblock::Die
}

fn has_dies_in_a_unit(device: &Device) -> bool {
    device.geometry.unit == Some(Word(UnitKind::Chip)) && device.geometry.dies_per_chip != Some(1)
}

/// The keys of a device as values.
struct Keys(Value);

impl Keys {
    fn of(device: &Device) -> Keys {
        Keys(serde_json::to_value(device).expect("plain values with text keys always have a JSON form"))
    }

    /// The keys that there are.
    fn given(&self) -> Vec<&'static Key> {
        Device::keys().filter(|key| self.get(key.path).is_some()).collect()
    }

    /// The value of `table.key`.
    fn get(&self, path: &str) -> Option<&Value> {
        let (table, key) = path.split_once('.')?;
        self.0.get(table)?.get(key)
    }
}

impl Rule {
    /// Whether a key has an effect only by it.
    fn is_of(&self, key: &Key) -> bool {
        key.needs.contains(&self.need)
    }

    /// Those of the keys `given` over a preset that have no effect.
    fn broken(&self, user: &Keys, given: &[&'static Key], (base, complete): (&Device, &Device)) -> Vec<&'static str> {
        let own = given.iter().filter(|key| self.is_of(key));
        let given: Vec<(&Key, &Value)> = own.filter_map(|key| Some((*key, user.get(key.path)?))).collect();
        if given.is_empty() || (self.is_met)(complete) {
            return Vec::new();
        }
        let preset = Keys::of(base);
        let is_own = |(key, value): &(&Key, &Value)| match preset.get(key.path) {
            Some(kept) => *value != kept,
            None => key.default.is_none_or(|default| **value != default()),
        };
        given.into_iter().filter(is_own).map(|(key, _)| key.path).collect()
    }

    /// Whether the scenario says itself that they shall have no effect.
    fn is_switched(&self, user: &Keys) -> bool {
        self.switches.iter().any(|key| user.get(key).is_some())
    }
}

/// Refuses the keys of `user` over `base` that have no effect in the `complete` device, but for those that it switches off itself.
pub(super) fn check(user: &Device, base: &Device, complete: &Device) -> Result<(), KeyError> {
    let user = Keys::of(user);
    let given = user.given();
    for rule in RULES.iter().filter(|rule| !rule.is_switched(&user)) {
        if let Some(key) = rule.broken(&user, &given, (base, complete)).first() {
            let value = user.get(key).map(shown).unwrap_or_default();
            return Err(KeyError::new(
                format!("device.{key}"),
                value,
                format!("has no effect; legal with {}", rule.with),
            ));
        }
    }
    Ok(())
}

/// A value as a user would write it.
fn shown(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string())
}

/// What the scenario gives and switches off itself, a sentence for each thing it would need. What its device's keys lie over and the complete
/// device are asked for only where a key could depend on another: to read a preset takes as long as all else here.
pub(super) fn warnings<E>(
    document: &Document,
    devices: impl FnOnce() -> Result<(Device, Device), E>,
) -> Result<Vec<String>, E> {
    let (user, run) = (Keys::of(&document.device), &document.run);
    let given = user.given();
    let is_asked = |rule: &&Rule| given.iter().any(|key| rule.is_of(key));
    let rules: Vec<&Rule> = RULES.iter().filter(is_asked).collect();
    let is_entry = run.response_from == Some(ResponseFrom::Entry);
    let (base, complete) = if is_entry || !rules.is_empty() { devices()? } else { Default::default() };
    let of_device = rules.iter().filter_map(|rule| {
        let broken = rule.broken(&user, &given, (&base, &complete));
        let keys: Vec<String> = broken.iter().map(|key| format!("device.{key}")).collect();
        sentence(&keys, rule.with)
    });
    let mut all: Vec<String> = of_device.collect();
    let alone = run.alone == Some(false) && run.alone_scheduler.is_some();
    let entry = is_entry && complete.front.depth == Some(Limit::Unlimited);
    let collect = run.collect.is_some() && run.hold.collect.is_some();
    let poll = document.host.as_ref().is_some_and(|host| host.poll_interval_ns.is_some() && !host.spins());
    for (key, is_broken, with) in [
        ("host.poll_interval_ns", poll, "a host.completion other than \"irq\", or with buffer_hits or read_hits"),
        ("run.alone_scheduler", alone, "run.alone = true"),
        ("run.response_from", entry, "a number of device.front.depth"),
        ("run.collect", collect, "no run.hold.collect and no --collect"),
    ] {
        all.extend(is_broken.then(|| sentence(&[key.to_owned()], with)).flatten());
    }
    for (i, flow) in document.flow.iter().enumerate() {
        for (key, with) in flow.synthetic.iter().flat_map(|spec| spec.without_effect()) {
            all.extend(sentence(&[format!("flow[{i}].synthetic.{key}")], with));
        }
    }
    Ok(all)
}

fn sentence(keys: &[String], with: &str) -> Option<String> {
    let (last, others) = keys.split_last()?;
    Some(match others {
        [] => format!("{last} has no effect, only with {with}"),
        others => format!("{} and {last} have no effect, only with {with}", others.join(", ")),
    })
}

#[cfg(test)]
mod tests;
