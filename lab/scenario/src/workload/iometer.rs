//! The IOmeter workloads of the NCQ paper (ELEX 2015, table II; model 5.2), from the data file that ships inside the program.
//!
//! Owns which synthetic flow each is. Must never know the device or the scheduler.

use serde::Deserialize;

use super::synthetic::{Access, Size, SyntheticSpec};

/// A workload of table II, with what had to be calibrated.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NcqWorkload {
    /// `A`, `B` or `C`.
    pub name: String,
    /// Reads over all requests.
    pub read_ratio: f64,
    /// Mean time between requests, us.
    pub mean_gap_us: f64,
    /// Whether each file is worked on from where it was left.
    pub sequential: bool,
    /// Seed of the sizes of the files: calibrated.
    pub file_seed: u64,
    /// Zipf exponent of the choice of a file: calibrated.
    pub file_theta: f64,
    /// Pages that serial service serves at a time: calibrated.
    pub cluster: u32,
}

/// The weight of each record size over that of half the size: records of 4 to 512 KiB then have the mean of 103.5 KiB that the
/// paper's rates imply (A-NCQ-04).
const WEIGHT_RATIO: f64 = 0.9247;

impl NcqWorkload {
    /// All of them.
    pub fn all() -> Vec<NcqWorkload> {
        let table = include_str!("../../data/ncq-table2.csv");
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(table.as_bytes());
        reader.deserialize().collect::<Result<_, _>>().expect("a table that ships with the program is sound")
    }

    /// The flow of `requests` requests with this seed of its draws.
    pub fn to_synthetic(&self, requests: u64, seed: u64) -> SyntheticSpec {
        SyntheticSpec {
            read_ratio: Some(self.read_ratio),
            size: Size::Mix((0..8).map(|k| (4096 << k, WEIGHT_RATIO.powi(k))).collect()),
            access: Access::Files,
            files: Some(12),
            file_theta: Some(self.file_theta),
            file_seed: Some(self.file_seed),
            file_sequential: Some(self.sequential),
            mean_gap_us: Some(self.mean_gap_us),
            requests: Some(requests),
            seed: Some(seed),
            ..SyntheticSpec::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-NCQ-04: 65,811 KB/s over 636 commands per second are records of 103.5 KB.
    #[test]
    fn records_have_the_mean_that_the_paper_implies() {
        let rows = NcqWorkload::all();
        assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["A", "B", "C"]);
        for row in rows {
            let spec = row.to_synthetic(1, 1);
            spec.validate().expect("a legal flow");
            let Size::Mix(mix) = spec.size else { panic!("a mix of sizes") };
            let weights: f64 = mix.iter().map(|(_, weight)| weight).sum();
            let mean = mix.iter().map(|(bytes, weight)| *bytes as f64 * weight).sum::<f64>() / weights / 1024.0;
            assert!((mean - 65_811.0 / 636.0).abs() < 0.1, "{mean} KiB");
        }
    }
}
