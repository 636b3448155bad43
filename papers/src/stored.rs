//! Figures as they are stored beside the claims, and claims judged from them.
//!
//! Owns `NAME-SETTING.figures.json.gz`: every figure of a whole paper with its value for each seed, to seven significant digits, and what
//! was run. Promises that claims judged from the file are those judged when it was made, without a run.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::claims::{Claim, Claims, JudgedClaim};
use crate::measurements::Measurements;
use crate::paper::Paper;
use crate::report::PaperResult;
use crate::setting::Setting;

/// The most bytes that a file of figures unpacks to.
const MAX_BYTES: u64 = 64 << 20;

/// What the figures of a whole paper were made with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Version of the format: that of `results.json`.
    pub version: u32,
    /// Short name of the paper.
    pub name: String,
    /// Version of Flashlane.
    pub flashlane: String,
    /// Whether it was a look only.
    pub quick: bool,
    /// Seeds of each workload.
    pub seeds: u64,
    /// The first of them.
    pub first_seed: u64,
    /// The setting it was made under.
    pub setting: Setting,
    /// What was otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// An identifier of all scenarios.
    pub scenarios: String,
}

/// What is stored of a whole paper.
#[derive(Clone, Debug)]
pub struct StoredMeasurements {
    /// What they were made with.
    pub made: Made,
    /// Every figure.
    pub figures: Measurements,
}

/// The claims of a whole paper with what was measured, `claims.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredClaims {
    /// What the figures were made with.
    #[serde(flatten)]
    pub made: Made,
    /// The claims.
    pub claims: Vec<JudgedClaim>,
}

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(flatten)]
    made: Made,
    figures: serde_json::Value,
}

impl Made {
    /// The seeds.
    pub fn seeds(&self) -> Vec<u64> {
        (self.first_seed..self.first_seed + self.seeds).collect()
    }

    /// The name of the file of its figures: `sos-plain.figures.json.gz`, `sos-plain-from-6.figures.json.gz`.
    pub fn file(&self) -> String {
        file_of(&self.name, self.setting, self.variant.as_deref(), self.first_seed)
    }
}

/// The name of the file of a paper's figures.
pub fn file_of(paper: &str, setting: Setting, variant: Option<&str>, first_seed: u64) -> String {
    let variant = variant.map(|name| format!("-{name}")).unwrap_or_default();
    let from = if first_seed == 1 { String::new() } else { format!("-from-{first_seed}") };
    format!("{paper}-{}{variant}{from}.figures.json.gz", setting.name())
}

impl From<&PaperResult> for StoredMeasurements {
    fn from(result: &PaperResult) -> StoredMeasurements {
        let made = Made {
            version: result.version,
            name: result.name.clone(),
            flashlane: result.flashlane.clone(),
            quick: result.quick,
            seeds: result.seeds,
            first_seed: result.first_seed,
            setting: result.setting,
            variant: result.variant.clone(),
            scenarios: result.scenarios.clone(),
        };
        StoredMeasurements { made, figures: result.table().rounded() }
    }
}

impl StoredMeasurements {
    /// The bytes of the file.
    pub fn to_gz(&self) -> Vec<u8> {
        let file = File { made: self.made.clone(), figures: self.figures.all_values() };
        let json = serde_json::to_vec(&file).expect("figures are finite and names are strings");
        let mut gz = GzEncoder::new(Vec::new(), Compression::best());
        gz.write_all(&json).and_then(|()| gz.finish()).expect("memory takes all bytes")
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// Bytes that are no such file.
    pub fn read(gz: &[u8]) -> Result<StoredMeasurements, String> {
        let mut json = Vec::new();
        let limited = GzDecoder::new(gz).take(MAX_BYTES).read_to_end(&mut json);
        limited.map_err(|why| why.to_string())?;
        let file: File = serde_json::from_slice(&json).map_err(|why| why.to_string())?;
        Ok(StoredMeasurements { made: file.made, figures: Measurements::from_values(&file.figures)? })
    }

    /// The claims of `paper`, judged from the figures.
    ///
    /// # Errors
    /// A claim that asks for a figure that is not there, or that cannot be evaluated.
    pub fn judge(&self, paper: &Paper) -> Result<StoredClaims, String> {
        let claims = paper.claims();
        let experiments: Vec<&str> = claims.claim.iter().map(|claim| claim.experiment.as_str()).collect();
        let judged = claims.judge(&experiments, &self.figures, self.made.setting, &self.made.seeds())?;
        Ok(StoredClaims { made: self.made.clone(), claims: judged })
    }

    /// Those claims of `paper` that these figures have all names for: figures of other seeds may be older than the newest claims.
    pub fn judge_what_is_there(&self, paper: &Paper) -> StoredClaims {
        let claims = paper.claims();
        let alone = |claim: &Claim| {
            let one = Claims { claim: vec![claim.clone()], ..claims.clone() };
            let judged = one.judge(&[&claim.experiment], &self.figures, self.made.setting, &self.made.seeds());
            judged.ok().and_then(|mut judged| judged.pop())
        };
        StoredClaims { made: self.made.clone(), claims: claims.claim.iter().filter_map(alone).collect() }
    }
}

impl StoredClaims {
    /// The bytes of `claims.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("texts and finite numbers");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_figures_are_read_as_they_were() {
        let mut figures = Measurements::default();
        [1.25, 2.0 / 3.0].into_iter().for_each(|value| figures.push(&["gain", "a"], value));
        let made = Made {
            version: 3,
            name: "p".into(),
            flashlane: "1".into(),
            quick: false,
            seeds: 2,
            first_seed: 6,
            setting: Setting::Plain,
            variant: None,
            scenarios: "0".into(),
        };
        let stored = StoredMeasurements { made, figures: figures.rounded() };
        let again = StoredMeasurements::read(&stored.to_gz()).expect("as written");
        assert_eq!((&again.made, again.figures.all_values()), (&stored.made, stored.figures.all_values()));
        assert_eq!(again.made.file(), "p-plain-from-6.figures.json.gz");
        assert_eq!(again.made.seeds(), [6, 7]);
        assert_eq!(file_of("p", Setting::Chosen, None, 1), "p-chosen.figures.json.gz");
        assert_eq!(file_of("p", Setting::Chosen, Some("rate-1"), 1), "p-chosen-rate-1.figures.json.gz");
        assert!(StoredMeasurements::read(b"no gz").is_err());
    }
}
