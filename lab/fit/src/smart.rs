//! A drive's logs before and after writes: what it wrote to its flash for each byte of the host.
//!
//! Reads what nvme-cli prints as JSON, several objects in a file: `smart-log` has the host's writes, OCP's `smart-add-log` the physical ones, makers'
//! logs after Intel's have both.

use std::path::Path;

use serde_json::Value;

use crate::error::FitError;
use crate::read::text_of;

/// Bytes of a unit of `data_units_written`.
const UNIT: f64 = 512_000.0;
/// The longest log, bytes.
const LONGEST: u64 = 1 << 20;
/// Less is written between two logs while a drive is measured for a minute, bytes: then the counters are too coarse.
const LEAST: f64 = 1e9;

/// What two logs say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Amplification {
    /// Physical over host writes.
    Measured(f64),
    /// The logs have no physical writes.
    NoPhysicalWrites,
}

impl Amplification {
    /// Physical over host writes, if that was measured.
    pub fn ratio(self) -> Option<f64> {
        match self {
            Amplification::Measured(ratio) => Some(ratio),
            Amplification::NoPhysicalWrites => None,
        }
    }

    /// What is said of it.
    pub fn sentence(self) -> String {
        match self {
            Amplification::Measured(ratio) => format!("write amplification by the drive's logs: {ratio:.2}"),
            Amplification::NoPhysicalWrites => {
                "write amplification: not measured, as the logs have no physical writes".into()
            }
        }
    }
}

/// Counters of a log, in bytes or in a unit that both have.
struct Written {
    /// The key of the host's writes: logs of two kinds do not count in the same unit.
    key: &'static str,
    host: f64,
    physical: Option<f64>,
}

/// What the logs in the files `before` and `after` say.
///
/// # Errors
/// A file that is no log, or logs between which the host wrote too little.
pub fn amplification(before: &Path, after: &Path) -> Result<Amplification, FitError> {
    let [from, to] = [before, after].map(|path| text_of(path, LONGEST, "logs of nvme-cli are shorter"));
    let [first, last] = [before, after].map(|path| path.display().to_string());
    between([&first, &last], [&from?, &to?])
}

/// The same of texts, which errors call `places`.
///
/// # Errors
/// As [`amplification`].
pub fn between(places: [&str; 2], texts: [&str; 2]) -> Result<Amplification, FitError> {
    let from = written(places[0], texts[0])?;
    let to = written(places[1], texts[1])?;
    if from.key != to.key || from.physical.is_some() != to.physical.is_some() {
        let with = |log: &Written| if log.physical.is_some() { "physical writes" } else { "no physical writes" };
        let of = |log: &Written| format!("{} and {}", log.key, with(log));
        let told =
            format!("has {}, and {} has {}; expected the same logs before and after", of(&to), places[0], of(&from));
        return Err(FitError::at(places[1], told));
    }
    let host = to.host - from.host;
    if host < 0.0 {
        let told = format!("{} bytes fewer were written than in {}; expected before,after", shown(-host), places[0]);
        return Err(FitError::at(places[1], told));
    }
    let (Some(physical_from), Some(physical_to)) = (from.physical, to.physical) else {
        return Ok(Amplification::NoPhysicalWrites);
    };
    let physical = physical_to - physical_from;
    if host < LEAST {
        let told = format!("{} bytes were written since {}; expected at least {LEAST:.0}", shown(host), places[0]);
        return Err(FitError::at(places[1], told));
    }
    let ratio = physical / host;
    if !(0.01..=1_000.0).contains(&ratio) {
        let told = format!("{} physical bytes for {} of the host since {}", shown(physical), shown(host), places[0]);
        return Err(FitError::at(places[1], format!("{told}; expected logs of one drive, in the order before,after")));
    }
    Ok(Amplification::Measured(ratio))
}

fn written(place: &str, text: &str) -> Result<Written, FitError> {
    let fault = |message: String| FitError::at(place, message);
    let begin =
        text.find('{').ok_or_else(|| fault("has no JSON object; expected logs of nvme-cli (-o json)".into()))?;
    let objects: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(&text[begin..]).into_iter().collect();
    let objects = objects.map_err(|error| fault(format!("is no JSON ({error})")))?;
    let find = |key: &str| objects.iter().find_map(|object| found(object, key)).map(number).transpose().map_err(&fault);
    // Both in units of 32 MiB, or what its maker counts in.
    if let (Some(nand), Some(host)) = (find("nand_bytes_written")?, find("host_bytes_written")?) {
        const MIB_32: f64 = 33_554_432.0;
        return Ok(Written { key: "host_bytes_written", host: host * MIB_32, physical: Some(nand * MIB_32) });
    }
    if let (Some(_), None) | (None, Some(_)) = (find("nand_bytes_written")?, find("host_bytes_written")?) {
        let told =
            "has one of nand_bytes_written and host_bytes_written; expected both, as they count in the same unit";
        return Err(fault(told.into()));
    }
    let units = find("data_units_written")?
        .ok_or_else(|| fault("has no data_units_written; expected nvme smart-log -o json in it, too".into()))?;
    Ok(Written { key: "data_units_written", host: units * UNIT, physical: find("physical_media_units_written")? })
}

/// A number of bytes, without hundreds of digits.
fn shown(bytes: f64) -> String {
    if bytes.abs() < 1e18 { format!("{bytes:.0}") } else { format!("{bytes:.2e}") }
}

/// The value under `key`, at any depth, however its words are joined.
fn found<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    let named = object.iter().find(|(name, _)| name.to_ascii_lowercase().replace(' ', "_") == key);
    named.map(|(_, value)| value).or_else(|| object.values().find_map(|value| found(value, key)))
}

/// A counter: a number, a text, two halves, or a raw value beside a normalised one.
fn number(value: &Value) -> Result<f64, String> {
    let part = |name: &str| value.get(name).and_then(Value::as_f64);
    let halves = || Some(part("hi")? * 18_446_744_073_709_551_616.0 + part("lo")?);
    let text = || value.as_str()?.replace(',', "").parse().ok();
    let number = value.as_f64().or_else(halves).or_else(|| part("raw")).or_else(text);
    number.filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(|| {
        let shown: String = value.to_string().chars().take(60).collect();
        format!("{}: expected a counter", flashlane_outputs::shown::escaped(&shown))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ocp(units: u64, lo: u64) -> String {
        format!(
            "{{\"data_units_written\": {units}}}\n{{\"Physical media units written\": {{\"hi\": 0, \"lo\": {lo}}}}}"
        )
    }

    #[test]
    fn physical_writes_are_found_in_the_forms_of_makers_and_their_absence_is_said() {
        let of = |before: &str, after: &str| between(["a.json", "b.json"], [before, after]).expect("logs");
        // 10,000 units are 5.12 GB.
        assert_eq!(of(&ocp(500, 7), &ocp(10_500, 19_200_000_007)), Amplification::Measured(3.75));
        let newer = |units: u64, bytes: &str| {
            format!("{{\"data_units_written\": \"{units}\", \"physical_media_units_written\": {bytes}}}")
        };
        assert_eq!(of(&newer(0, "0.0"), &newer(10_000, "\"10,240,000,000\"")), Amplification::Measured(2.0));
        let intel = |nand: u64, host: u64| {
            format!(
                "{{\"Device stats\": {{\"nand_bytes_written\": {{\"normalized\": 100, \"raw\": {nand}}}, \"host_bytes_written\": {{\"raw\": {host}}}}}}}"
            )
        };
        assert_eq!(of(&intel(10, 10), &intel(210, 110)), Amplification::Measured(2.0));
        let none = |units: u64| format!("{{\"data_units_written\": {units}}}");
        assert_eq!(of(&none(1), &none(100_000)), Amplification::NoPhysicalWrites);
    }

    #[test]
    fn what_is_no_log_is_refused_with_its_file() {
        let said = |before: &str, after: &str| {
            between(["a.json", "b.json"], [before, after]).expect_err("no logs").to_string()
        };
        let good = ocp(10_500, 19_200_000_007);
        for (before, after, says) in [
            ("", &*good, "a.json: has no JSON object"),
            (&*good, "{\"a\": ", "b.json: is no JSON ("),
            ("{\"a\": 1}", &good, "a.json: has no data_units_written; expected nvme smart-log"),
            (
                "{\"data_units_written\": 1, \"nand_bytes_written\": 1}",
                &good,
                "a.json: has one of nand_bytes_written and host_",
            ),
            ("{\"data_units_written\": \"many\"}", &good, "a.json: \"many\": expected a counter"),
            (&good, &good, "b.json: 0 bytes were written since a.json; expected at least 1000000000"),
            (
                &ocp(500, 19_200_000_007),
                &ocp(10_500, 7),
                "b.json: -19200000000 physical bytes for 5120000000 of the host",
            ),
            (
                "{\"data_units_written\": 400000}",
                "{\"data_units_written\": 100000}",
                "b.json: 153600000000 bytes fewer were written than in a.json; expected before,after",
            ),
            (
                "{\"data_units_written\": 1}",
                "{\"nand_bytes_written\": 700, \"host_bytes_written\": 300}",
                "b.json: has host_bytes_written and physical writes, and a.json has data_units_written and no physical writes; expected the",
            ),
            (
                &good,
                "{\"data_units_written\": 1e300, \"physical_media_units_written\": 1e302}",
                "b.json: 1.00e302 physical bytes for 5.12e305 of",
            ),
        ] {
            let error = said(before, after);
            assert!(error.starts_with(says), "{error}");
        }
    }
}
