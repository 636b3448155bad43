//! The file of a fitted device: a preset, the keys that were fitted, and for each what is known of it.

use std::fmt::Write as _;

use flashlane_outputs::shown;

use crate::model::Values;
use crate::point::Point;
use crate::read::short;
use crate::search::{Found, LEAST_DIFFERENCE, Tried};

/// Values within this of one another are told: of the interval its upper end over its lower.
pub const TOLD: f64 = 1.25;
/// Values that are at least kept from others by the points.
const BOUNDED: f64 = 3.0;

/// With a larger error of the best fit no value is told: others that were not tried may fit better.
const FOLLOWS: f64 = 0.04;

/// A key of the file.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Its path below `device`.
    pub key: &'static str,
    /// Its value, as in the file.
    pub value: String,
    /// What is known of it, in words.
    pub known: String,
}

/// The keys of the device found, in order. `of_writes` says what is known of a value that writes tell.
pub fn values(found: &Found, of_writes: &dyn Fn(&str) -> Option<String>) -> Vec<Fitted> {
    let mut keys = found.base.keys(&found.best.values);
    keys.sort_by_key(|(key, _)| *key);
    let with = |(key, value)| Fitted { key, value, known: of_writes(key).unwrap_or_else(|| about(found, key)) };
    keys.into_iter().map(with).collect()
}

/// What is known of a value.
struct Known {
    low: f64,
    high: f64,
    /// How far the best fit is from the points.
    error: f64,
}

impl Known {
    /// Of all values that fit as well.
    fn of(found: &Found, value: impl Fn(&Values) -> f64) -> Known {
        let as_good = found.tried.iter().filter(|tried| tried.error <= found.as_good);
        let own = value(&found.best.values);
        let (low, high) = as_good
            .map(|Tried { values, .. }| value(values))
            .fold((own, own), |(low, high), value| (low.min(value), high.max(value)));
        Known { low, high, error: found.best.error }
    }

    fn comment(&self, unit: &str) -> String {
        let ratio = if self.low > 0.0 { self.high / self.low } else { f64::INFINITY };
        let known = match ratio {
            _ if self.error > FOLLOWS => "doubtful, as jobs that were fitted are off",
            ratio if ratio <= TOLD => "measured",
            ratio if ratio <= BOUNDED => "bounded",
            _ => "not told by these probes",
        };
        format!("{known}: {}{unit} fit as well", between(self.low, self.high))
    }

    /// The same for a value that units trade for, which reads tell only with the number of these.
    fn comment_with_units(&self, unit: &str) -> String {
        let comment = self.comment(unit);
        match comment.strip_prefix("measured") {
            Some(rest) => format!("bounded{rest} with so many units; other numbers of units have other values"),
            None => comment,
        }
    }
}

/// An interval, its ends with about three digits and rounded outwards: what is in it is in what is shown.
pub fn between(low: f64, high: f64) -> String {
    let end = |value: f64, round: fn(f64) -> f64| {
        let decimals = if value < 2.0 {
            3
        } else if value < 10.0 {
            2
        } else {
            usize::from(value < 100.0)
        };
        let unit = 10_f64.powi(decimals as i32);
        format!("{:.decimals$}", round(value * unit) / unit)
    };
    format!("{} to {}", end(low, f64::floor), end(high, f64::ceil))
}

/// The text of the file of these `values`. `sentences` say for which uses it is, `words` are those for reads, mixed requests and writes.
pub fn text(found: &Found, points: &[&Point], sentences: &[String], words: [&str; 3], values: &[Fitted]) -> String {
    let mut text = format!(
        "# A device that reads as a measured drive, made by flashlane fit {} from the preset {}.\n",
        env!("CARGO_PKG_VERSION"),
        found.base.preset
    );
    let mut files: Vec<String> = points.iter().map(|point| short(&point.file)).collect();
    files.dedup();
    let fitted = shown::counted(points.len(), "job");
    writeln!(text, "# Fitted to {fitted} of {}.", shown::escaped(&files.join(", "))).expect("a string takes all");
    for sentence in sentences {
        writeln!(text, "# {}", shown::escaped(sentence)).expect("a string takes all");
    }
    write!(
        text,
        "#\n# Behind each value: what is known of it, and which values fit no worse than repetitions differ. Keys that are not here are the\n\
         # preset's: {} do not tell them.\n[device]\npreset = \"{}\"\n",
        if found.base.writes.is_empty() { "reads" } else { "the jobs" },
        found.base.preset
    )
    .expect("a string takes all");
    let mut table = "";
    for Fitted { key, value, known } in values {
        let (of, name) = key.split_once('.').expect("keys are in a table");
        if of != table {
            write!(text, "\n[device.{of}]\n").expect("a string takes all");
            table = of;
        }
        writeln!(text, "{:47} # {known}", format!("{name} = {value}")).expect("a string takes all");
    }
    let [reads, mixed, writes] = words;
    write!(
        text,
        "\n# For which uses it was fitted.\n[fitted]\nreads = \"{reads}\"\nmixed = \"{mixed}\"\nwrites = \"{writes}\"\n"
    )
    .expect("a string takes all");
    text
}

fn about(found: &Found, key: &str) -> String {
    let base = &found.base;
    match key {
        "precondition.state" => match found.laid {
            Some(worse) if worse > LEAST_DIFFERENCE => {
                format!("told by larger reads: {} fits worse by {:.0} %", base.laid.other().word(), 100.0 * worse)
            }
            _ => format!("not told by these probes: {} fits as well, or was not tried", base.laid.other().word()),
        },
        "precondition.fill_percent" => "all of the drive was written before".into(),
        "nand.read_ns" if found.tried.is_empty() => {
            "by reads beside the fewest writes; link and bus are the preset's".into()
        }
        _ if found.tried.is_empty() => "not told by these jobs: the preset's".into(),
        "geometry.chips_per_channel" => {
            let [low, high] = found.chips.map(|chips| f64::from(base.units(chips)));
            let known = Known { low, high, error: found.best.error }.comment("");
            // Of a hidden drive of another preset's family with 32 units, 40 alone fitted as well.
            let known = known.strip_prefix("measured").map_or(known.clone(), |rest| format!("bounded{rest}"));
            format!(
                "with the preset's channels {} units; {known} from this preset",
                base.units(found.best.values.chips)
            )
        }
        "nand.read_ns" => {
            let known = Known::of(found, |values| values.read_us.iter().sum::<f64>() / 3.0);
            known.comment_with_units(" us on average")
        }
        "bus.mega_transfers" => {
            let known = Known::of(found, |values| values.bus);
            let [fewest, most] = found.chips.map(f64::from);
            if most / fewest > TOLD { known.comment_with_units("") } else { known.comment("") }
        }
        "front.read_command_ns" => Known::of(found, |values| 1e3 * values.command_us).comment(""),
        "front.link_latency_ns" => {
            let known = Known::of(found, |values| 1e3 * values.link_us).comment_with_units("");
            format!("{known}; controller, host and engine are in it")
        }
        "front.link_bytes_per_s" => Known::of(found, |values| values.link_gb_s).comment(" GB/s"),
        _ => "follows from the chips, so that the drive keeps the preset's size".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Base;

    /// Of hidden drives with other numbers of units the units, the array time and the rate of the bus were outside of what was called measured.
    #[test]
    fn units_and_what_they_trade_for_are_not_called_measured() {
        let base = Base::named("modern-tlc").expect("a preset");
        let best = Tried { values: base.values(), error: 0.0 };
        let found = |chips| Found { base: base.clone(), best, tried: vec![best], as_good: 0.01, chips, laid: None };
        let about = |chips, key| about(&found(chips), key);
        let units = "with the preset's channels 64 units; bounded: 64.0 to 64.0 fit as well from this preset";
        assert_eq!(about([2, 2], "geometry.chips_per_channel"), units);
        let so_many = "bounded: 50.0 to 50.0 us on average fit as well with so many units; other numbers of units have other values";
        assert_eq!(about([2, 2], "nand.read_ns"), so_many);
        assert!(about([2, 2], "front.link_latency_ns").starts_with("bounded: 3000 to 3000 fit as well with so many"));
        assert!(about([2, 2], "bus.mega_transfers").starts_with("measured"));
        assert!(about([2, 3], "bus.mega_transfers").starts_with("bounded"));
    }

    #[test]
    fn an_interval_is_shown_no_narrower_than_it_is() {
        assert_eq!(between(1.1639, 1.1841), "1.163 to 1.185");
        assert_eq!(between(9.999, 10.01), "9.99 to 10.1");
        assert_eq!(between(1_513_219.7, 1_688_623.2), "1513219 to 1688624");
    }
}
