//! How the cost of a transaction grows with the length of a run, the number of flows, the size of the drive and the depth of the
//! queues: whole processes of `flashlane run`, each scheduler along four axes around one case.

pub mod growth;
pub mod table;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use flashlane_report::results::Summary;

use crate::cpu;

/// The schedulers, in the order of the columns.
pub const SCHEDULERS: [&str; 4] = ["fr-fcfs", "sprinkler", "flin", "slacker"];

/// What a run is made of. Half of the requests are reads; all are of 4 KiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Of all flows together.
    pub requests: u64,
    /// Flows with as many requests and as deep a queue each.
    pub flows: u64,
    /// Dies of the drive.
    pub dies: u64,
    /// Blocks per plane: with 137 of them 32 dies have 16 GB.
    pub blocks: u64,
    /// Requests in flight of all flows together.
    pub depth: u64,
}

/// The case in the middle.
pub const MIDDLE: Point = Point { requests: 1_000_000, flows: 1, dies: 32, blocks: 137, depth: 256 };

/// Every axis: its name, and its points in ascending order.
pub fn axes() -> [(&'static str, Vec<Point>); 4] {
    let along = |values: &[u64], at: fn(u64) -> Point| values.iter().map(|&value| at(value)).collect();
    [
        ("requests", along(&[100_000, 1_000_000, 10_000_000, 30_000_000], |requests| Point { requests, ..MIDDLE })),
        ("flows", along(&[1, 4, 16, 64], |flows| Point { flows, ..MIDDLE })),
        ("dies, 8 in flight for each", along(&[32, 128, 512, 2_048], |dies| Point { dies, depth: 8 * dies, ..MIDDLE })),
        ("depth", along(&[1, 16, 256, 4_096, 65_536], |depth| Point { depth, ..MIDDLE })),
    ]
}

impl Point {
    /// The value along an axis.
    pub fn on(&self, axis: &str) -> u64 {
        match axis {
            "requests" => self.requests,
            "flows" => self.flows,
            "depth" => self.depth,
            _ => self.dies,
        }
    }

    /// Channels, chips per channel and dies per chip.
    fn shape(&self) -> [u64; 3] {
        match self.dies {
            0..=32 => [8, 4, 1],
            33..=128 => [8, 4, 4],
            129..=512 => [16, 8, 4],
            _ => [32, 16, 4],
        }
    }

    /// The scenario: a full drive, but for the runs' garbage collection.
    pub fn scenario(&self) -> String {
        let [channels, chips, dies] = self.shape();
        let (requests, depth, blocks) = (self.requests / self.flows, self.depth / self.flows, self.blocks);
        let flow = |number: u64| {
            format!(
                "[[flow]]\nname = \"flow-{number}\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = {{ constant = 4096 }}\nalign_bytes = 4096\n\
                 arrivals = \"closed-loop\"\ndepth = {depth}\nrequests = {requests}\n"
            )
        };
        format!(
            "name = \"scaling\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = {channels}\nchips_per_channel = {chips}\n\
             dies_per_chip = {dies}\nblocks_per_plane = {blocks}\n[device.ftl]\nover_provisioning_percent = 15.0\n[device.precondition]\n\
             state = \"steady\"\n[device.front]\ndepth = \"unlimited\"\n[run]\ncollect = \"non-preemptive\"\nalone = false\n{}",
            (0..self.flows).map(flow).collect::<String>()
        )
    }
}

/// Nanoseconds of CPU per page transaction of a run, start-up included, with the `flashlane` at `program`.
///
/// # Errors
/// A file that cannot be written, a program that fails or prints no figures.
pub fn measure(program: &Path, point: &Point, scheduler: &str) -> Result<f64, String> {
    let folder = program.parent().ok_or("the program lies in no folder")?;
    let path = folder.join("bench-scaling.toml");
    fs::write(&path, point.scenario()).map_err(|e| format!("{}: {e}", path.display()))?;
    let before = cpu::seconds_of_children()?;
    let output = Command::new(program)
        .args(["run", "--scheduler", scheduler, "--jobs", "1", "--format", "json"])
        .arg(&path)
        .stdout(Stdio::piped())
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let seconds = cpu::seconds_of_children()? - before;
    let message = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} {point:?} {scheduler}: {}\n{message}", program.display(), output.status));
    }
    let summary: Summary = serde_json::from_slice(&output.stdout).map_err(|e| format!("summary of {point:?}: {e}"))?;
    let device = &summary.schedulers[0].device;
    let collected = 2 * device.gc.moves + device.gc.erases;
    let transactions = device.user_reads + device.partial_write_reads + device.user_programs + collected;
    Ok(seconds * 1e9 / transactions as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_scenario::Scenario;

    #[test]
    fn every_point_is_a_legal_drive_of_its_size() {
        for (axis, points) in axes() {
            assert!(points.contains(&MIDDLE) || axis.starts_with("dies"), "{axis}");
            assert!(points.windows(2).all(|pair| pair[0].on(axis) < pair[1].on(axis)), "{axis}");
            for point in points.into_iter().chain(growth::points().map(|(_, point)| point)) {
                let scenario = Scenario::parse("scaling", point.scenario()).unwrap_or_else(|why| panic!("{why}"));
                let config = scenario.device_config().unwrap_or_else(|why| panic!("{why}"));
                let shape = &config.geometry;
                let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
                assert_eq!(u64::from(dies), point.dies);
                assert_eq!(config.flows.len() as u64, point.flows);
            }
        }
    }
}
