//! The traces and scenarios of the cases, generated: the same bytes on every machine.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

/// A kind of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// 4 KiB reads, 200,000 per second on average.
    Reads,
    /// 7 reads of 10, 4 to 32 KiB, 3,000 per second.
    Mix,
    /// 4 KiB writes, 3,000 per second.
    Writes,
    /// Writes of 4 to 32 KiB, 20,000 per second: on a small drive of today they outlast the free blocks.
    Steady,
}

/// A kind of drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drive {
    /// 16 GB, the flash of `flin-isca18`.
    Small,
    /// 480 GB, the same flash.
    Large,
    /// 480 GB, `scenarios/mqsim-reference.toml`.
    Reference,
    /// 120 GB, `datacenter-tlc` with a sixteenth of the pages a block.
    Datacenter,
}

impl Workload {
    /// Those that every drive of [`Drive::ALL`] gets.
    pub const ALL: [Workload; 3] = [Workload::Reads, Workload::Mix, Workload::Writes];

    /// The name in cases.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Reads => "reads",
            Workload::Mix => "mix",
            Workload::Writes => "writes",
            Workload::Steady => "steady-writes",
        }
    }

    /// Mean time between two requests, ns; requests of 10 that are reads; most units of 4 KiB of a request.
    fn shape(self) -> (u32, u32, u32) {
        match self {
            Workload::Reads => (5_000, 10, 1),
            Workload::Mix => (333_333, 7, 8),
            Workload::Writes => (333_334, 0, 1),
            Workload::Steady => (50_000, 0, 8),
        }
    }

    /// Writes a trace of this many requests in the MQSim format (`ns device sector sectors type`).
    fn write(self, sectors: u32, requests: u64, to: &mut impl Write) -> std::io::Result<()> {
        let (gap, reads, most) = self.shape();
        let mut rng = Pcg32::seed_from_u64(u64::from(gap));
        // The high half of the product is uniform, but for one part in 2^32 / bound.
        let mut below = |bound: u32| ((u64::from(rng.next_u32()) * u64::from(bound)) >> 32) as u32;
        let mut at = 0;
        for _ in 0..requests {
            at += u64::from(below(2 * gap));
            let units = 1 + below(most);
            let (sector, is_read) = (8 * below(sectors / 8 - most), u32::from(below(10) < reads));
            writeln!(to, "{at} 0 {sector} {} {is_read}", 8 * units)?;
        }
        Ok(())
    }
}

impl Drive {
    /// Those that get every workload of [`Workload::ALL`].
    pub const ALL: [Drive; 3] = [Drive::Small, Drive::Large, Drive::Reference];

    /// The name in cases.
    pub fn name(self) -> &'static str {
        match self {
            Drive::Small => "16 GB",
            Drive::Large => "480 GB",
            Drive::Reference => "reference",
            Drive::Datacenter => "datacenter",
        }
    }

    /// Sectors from the first on that requests lie in.
    fn sectors(self) -> u32 {
        let bytes: u64 = match self {
            Drive::Small => 12_000_000_000,
            Drive::Large | Drive::Reference => 400_000_000_000,
            Drive::Datacenter => 112_000_000_000,
        };
        (bytes / 512) as u32
    }

    /// The scenario: garbage is collected where requests write.
    fn scenario(self, workload: Workload) -> String {
        let state = if workload == Workload::Reads { "fresh" } else { "steady" };
        let blocks = match self {
            Drive::Small => 137,
            Drive::Large => 4096,
            Drive::Reference => return include_str!("../../../../scenarios/mqsim-reference.toml").into(),
            Drive::Datacenter => return DATACENTER.into(),
        };
        format!(
            "name = \"bench\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nblocks_per_plane = {blocks}\n[device.ftl]\n\
             over_provisioning_percent = 15.0\n[device.precondition]\nstate = \"{state}\"\n[run]\ncollect = \"non-preemptive\"\n\
             alone = false\n[[flow]]\nname = \"bench\"\n[flow.synthetic]\nrate_iops = 1000\nrequests = 1\n"
        )
    }
}

/// `datacenter-tlc` with blocks of a sixteenth of their pages, so that many superblocks are collected in a short run.
const DATACENTER: &str = "name = \"bench\"\n[device]\npreset = \"datacenter-tlc\"\n[device.geometry]\npages_per_block = 96\n[device.ftl]\n\
                          user_gb = 120\n[run]\nalone = false\n[[flow]]\nname = \"bench\"\n[flow.synthetic]\nrate_iops = 1000\nrequests = 1\n";

/// The scenario and trace files of a case, made in `folder` unless they are there.
pub fn files(folder: &Path, (workload, drive): (Workload, Drive), requests: u64) -> Result<(PathBuf, PathBuf), String> {
    let failed = |path: &Path| format!("{}: cannot be written", path.display());
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", failed(folder)))?;
    let scenario = folder.join(format!("{}-{}.toml", workload.name(), drive.name().replace(' ', "-")));
    fs::write(&scenario, drive.scenario(workload)).map_err(|e| format!("{}: {e}", failed(&scenario)))?;
    let sectors = drive.sectors();
    let trace = folder.join(format!("{}-{sectors}-{requests}.trace", workload.name()));
    let file = File::create(&trace).map_err(|e| format!("{}: {e}", failed(&trace)))?;
    let mut to = BufWriter::new(file);
    workload
        .write(sectors, requests, &mut to)
        .and_then(|()| to.flush())
        .map_err(|e| format!("{}: {e}", failed(&trace)))?;
    Ok((scenario, trace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_what_their_workload_says_and_the_same_each_time() {
        let made = |workload: Workload| {
            let mut bytes = Vec::new();
            workload.write(1_000_000, 10_000, &mut bytes).expect("written");
            String::from_utf8(bytes).expect("text")
        };
        for workload in Workload::ALL.into_iter().chain([Workload::Steady]) {
            let text = made(workload);
            assert_eq!(text, made(workload));
            let rows: Vec<Vec<u64>> = text
                .lines()
                .map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect())
                .collect();
            let (gap, reads, most) = workload.shape();
            assert_eq!(rows.len(), 10_000);
            let mean = rows[9_999][0] as f64 / 10_000.0;
            assert!((mean / f64::from(gap) - 1.0).abs() < 0.03, "{mean} ns between requests");
            let read = rows.iter().filter(|row| row[4] == 1).count() as f64 / 1_000.0;
            assert!((read - f64::from(reads)).abs() < 0.3, "{read} reads of 10");
            assert!(rows.iter().all(|row| row[2] + row[3] <= 1_000_000 && row[3] <= u64::from(8 * most)));
            assert!(rows.iter().any(|row| row[3] == u64::from(8 * most)));
        }
    }
}
