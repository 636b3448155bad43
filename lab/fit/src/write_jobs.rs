//! The jobs that write: what a drive does in a burst, once it is overwritten for long, and to reads meanwhile, as a job file of fio.
//!
//! Owns the list, which the modelled probe runs too. Promises a file that names no device and creates none, and says first that it destroys
//! what is on the drive.

use std::fmt::Write as _;

/// A job that writes, or waits.
#[derive(Clone, PartialEq, Debug)]
pub struct WriteJob {
    /// Its name in the file, by which a fit knows it.
    pub name: String,
    /// What it does.
    pub load: Load,
}

/// What a job does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// Writes the whole drive once, in sequence.
    Fill,
    /// Waits, so that the drive may tidy up.
    Idle,
    /// Small writes one at a time.
    Lone,
    /// Writes these bytes of a burst, in sequence.
    Burst {
        /// Bytes of the burst before it.
        from: u64,
        /// Bytes of the burst with it.
        to: u64,
    },
    /// Overwrites the drive at random.
    Overwrite,
    /// Overwrites it further until the rate is steady.
    Settle,
    /// Overwrites as fast as it can.
    Steady,
    /// Ten thousand requests a second, half of them reads, beside writes: so many writes a second in all, or as many as there can be.
    Beside {
        /// Writes a second.
        rate: Option<u32>,
    },
}

const GIB: u64 = 1 << 30;
/// Bytes of a write of a burst.
pub const BURST_BYTES: u64 = 128 << 10;
/// Writes of a burst that are outstanding.
pub const BURST_DEPTH: u32 = 32;
/// Bytes of all other requests.
pub const SMALL_BYTES: u64 = 4 << 10;
/// Threads that overwrite, and writes that each has outstanding.
pub const WRITERS: u32 = 4;
/// Writes that each of them has outstanding.
pub const WRITER_DEPTH: u32 = 64;
/// Requests a second of the thread beside writes, half of them reads.
pub const PROBE_RATE: u32 = 10_000;
/// Appended to the name of a job beside writes: the job of the writers.
pub const WRITERS_OF: &str = "-writers";
/// Writes a second, each about the root of two times the one before.
const RATES: [u32; 11] = [10_000, 14_000, 20_000, 28_000, 40_000, 56_000, 80_000, 113_000, 160_000, 226_000, 320_000];
/// Ends of a burst's jobs, in GiB.
const CUTS_GIB: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Of the drive's size, the share that a burst writes at most.
const BURST_SHARE: u64 = 4;
const IDLE_S: u64 = 300;
const LONE_S: u64 = 10;
const STEADY_S: u64 = 120;
const BESIDE_S: u64 = 60;
const RAMP_S: u64 = 10;
/// How long is written until the rate is steady, at most; and how long it must be.
const SETTLE_S: u64 = 3_600;
const SETTLED_S: u64 = 600;
/// How often the drive is overwritten before.
const OVERWRITES: u64 = 2;
/// Bytes a second that the hours are computed with: in sequence, and at random.
const SEQUENCE_RATE: u64 = 1_000_000_000;
const RANDOM_RATE: u64 = 250_000_000;

/// The jobs for a drive of `size` bytes, in their order.
pub fn write_jobs(size: u64) -> Vec<WriteJob> {
    let job = |name: &str, load| WriteJob { name: name.into(), load };
    let mut jobs = vec![job("fill", Load::Fill)];
    for (idle, burst) in [("idle", "burst"), ("idle-again", "again")] {
        jobs.push(job(idle, Load::Idle));
        if burst == "burst" {
            jobs.push(job("lone", Load::Lone));
        }
        let ends = CUTS_GIB.into_iter().filter(|&gib| gib == 1 || gib * GIB <= size / BURST_SHARE);
        let mut from = 0;
        for gib in ends {
            jobs.push(job(&format!("{burst}-{gib}g"), Load::Burst { from, to: gib * GIB }));
            from = gib * GIB;
        }
    }
    jobs.push(job("overwrite", Load::Overwrite));
    jobs.push(job("settle", Load::Settle));
    jobs.push(job("steady", Load::Steady));
    jobs.push(job("beside-unlimited", Load::Beside { rate: None }));
    jobs.extend(RATES.map(|rate| job(&format!("beside-{rate}"), Load::Beside { rate: Some(rate) })));
    jobs.push(job("steady-last", Load::Steady));
    jobs
}

/// The file of these jobs.
#[derive(Clone, Debug)]
pub struct WriteJobFile {
    /// Bytes of the drive: they decide how long it takes, and how much a burst writes.
    pub size: u64,
    /// fio's engine.
    pub engine: String,
}

impl WriteJobFile {
    /// The drive's size, if the user does not say.
    pub const SIZE: u64 = 1 << 40;

    /// Its text.
    pub fn text(&self) -> String {
        let jobs = write_jobs(self.size);
        let mut text = format!(
            "# THESE JOBS DESTROY ALL DATA on the drive that they are given. They tell how it writes.\n\
             #\n\
             #   fio --output-format=json+ --output=writes.json --filename=/dev/nvme0n1 writes.fio\n\
             #   flashlane fit probe.json writes.json -o my-drive.toml\n\
             #\n\
             {}\
             #\n\
             # Write amplification, if the drive's log has physical writes: afterwards once more, with logs before and behind it:\n\
             #   (nvme smart-log -o json /dev/nvme0; nvme ocp smart-add-log -o json /dev/nvme0) > before.json\n\
             #   fio --section=steady --filename=/dev/nvme0n1 writes.fio\n\
             #   (nvme smart-log -o json /dev/nvme0; nvme ocp smart-add-log -o json /dev/nvme0) > after.json\n\
             #   flashlane fit probe.json writes.json --smart before.json,after.json -o my-drive.toml\n\
             [global]\n\
             ioengine={}\n\
             direct=1\n\
             # A name that does not exist is an error, not a new file.\n\
             allow_file_create=0\n\
             # All of the drive: writes of a part of it are amplified less.\n\
             size=100%\n\
             norandommap=1\n\
             randrepeat=0\n\
             thread=1\n\
             # One result for each job, of all its threads; one job after the other (stonewall).\n\
             group_reporting=1\n\
             percentile_list=1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99\n",
            self.hours(&jobs),
            self.engine,
        );
        for job in &jobs {
            section(&mut text, job);
        }
        text
    }

    /// How long the jobs take, and how that is computed, as comments.
    fn hours(&self, jobs: &[WriteJob]) -> String {
        let in_sequence = |bytes: u64| bytes as f64 / SEQUENCE_RATE as f64;
        let overwrites = (OVERWRITES * self.size) as f64 / RANDOM_RATE as f64;
        let further: f64 = jobs
            .iter()
            .map(|job| match job.load {
                Load::Fill | Load::Overwrite | Load::Settle => 0.0,
                Load::Idle => IDLE_S as f64,
                Load::Lone => LONE_S as f64,
                Load::Burst { from, to } => in_sequence(to - from),
                Load::Steady => (RAMP_S + STEADY_S) as f64,
                Load::Beside { .. } => (RAMP_S + BESIDE_S) as f64,
            })
            .sum();
        let hours = |seconds: f64| seconds / 3_600.0;
        let (fill, settle) = (in_sequence(self.size), SETTLE_S as f64);
        format!(
            "# They take about {:.1} hours: {:.1} to write {} GB once at {} MB/s, {:.1} to overwrite that {OVERWRITES} times at\n\
             # {} MB/s, up to {:.1} until the rate is steady, {:.1} for the others. A drive with half these rates takes twice as long.\n",
            hours(fill + overwrites + settle + further),
            hours(fill),
            self.size / 1_000_000_000,
            SEQUENCE_RATE / 1_000_000,
            hours(overwrites),
            RANDOM_RATE / 1_000_000,
            hours(settle),
            hours(further),
        )
    }
}

fn section(text: &mut String, job: &WriteJob) {
    let small =
        |rw: &str, depth: u32, threads: u32| format!("rw={rw}\nbs={SMALL_BYTES}\niodepth={depth}\nnumjobs={threads}\n");
    let overwrite = small("randwrite", WRITER_DEPTH, WRITERS);
    let in_sequence = format!("rw=write\nbs={BURST_BYTES}\niodepth={BURST_DEPTH}\n");
    let timed = |seconds: u64, ramp: u64| format!("time_based=1\nramp_time={ramp}\nruntime={seconds}\n");
    let (about, keys) = match job.load {
        Load::Fill => ("The whole drive once, in sequence.", in_sequence),
        Load::Idle => (
            "Two reads, and a pause between them: the drive may make room.",
            format!("{}number_ios=2\nthinktime={IDLE_S}s\n", small("randread", 1, 1)),
        ),
        Load::Lone => ("Small writes, one at a time.", small("randwrite", 1, 1) + &timed(LONE_S, 0)),
        Load::Burst { from, to } => {
            let about =
                if from == 0 { "A burst, job after job without a pause: where it becomes slower shows." } else { "" };
            (about, format!("{in_sequence}offset={from}\nsize={}\n", to - from))
        }
        Load::Overwrite => (
            "Random overwrites of the whole drive, so that all free blocks have been used.",
            format!("{}loops={OVERWRITES}\n", small("randwrite", WRITER_DEPTH * WRITERS, 1)),
        ),
        // Over ten minutes SNIA's rule allows a slope of a tenth; its other half, at most a fifth between rounds, is not judged.
        Load::Settle => (
            "Further, until the rate changes by less than a tenth in ten minutes.",
            format!(
                "{overwrite}{}steadystate=iops_slope:0.016%\nsteadystate_duration={SETTLED_S}\n",
                timed(SETTLE_S, 0)
            ),
        ),
        Load::Steady => ("The steady rate.", overwrite.clone() + &timed(STEADY_S, RAMP_S)),
        Load::Beside { .. } => {
            let each = PROBE_RATE / 2;
            let keys = format!("{}rate_iops={each},{each}\n", small("randrw", 1_024, 1));
            ("Reads and writes of one thread, beside as many writes.", keys + &timed(BESIDE_S, RAMP_S))
        }
    };
    if !about.is_empty() {
        write!(text, "\n# {about}\n").expect("a string takes all");
    }
    write!(text, "[{}]\nstonewall\n{keys}", job.name).expect("a string takes all");
    if let Load::Beside { rate } = job.load {
        // Not after the other (no stonewall), and with a result of its own.
        write!(text, "[{}{WRITERS_OF}]\nnew_group\n{overwrite}", job.name).expect("a string takes all");
        if let Some(rate) = rate {
            let each = (rate - PROBE_RATE / 2) / WRITERS;
            write!(text, "rate_iops=,{each}\nrate_process=poisson\n").expect("a string takes all");
        }
        text.push_str(&timed(BESIDE_S, RAMP_S));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_that_it_destroys_names_no_drive_and_states_its_hours() {
        let text = WriteJobFile { size: 960_000_000_000, engine: "io_uring".into() }.text();
        assert!(text.starts_with("# THESE JOBS DESTROY ALL DATA on the drive"), "{text}");
        assert!(text.contains("\nallow_file_create=0\n") && text.contains("\nsize=100%\n"));
        assert!(!text.contains("\nfilename") && !text.contains("\nstonewall\nrw=randread\nbs=4096\niodepth=1024"));
        // 0.27 and 2.13 h by the rates of the comment, an hour, and the fixed times: 610 s of waiting and lone writes, 2 x 137 s of bursts,
        // 260 s of the steady rate, 840 s beside writes.
        let hours = "about 4.0 hours: 0.3 to write 960 GB once at 1000 MB/s, 2.1 to overwrite that 2 times at\n# 250 MB/s, up to 1.0 until the rate is steady, 0.6 for";
        assert!(text.contains(hours), "{text}");
    }

    #[test]
    fn a_burst_is_cut_without_gaps_and_is_a_quarter_of_the_drive_at_most() {
        let parts = |size: u64, of: &str| -> Vec<(u64, u64)> {
            let jobs = write_jobs(size);
            let parts = jobs.iter().filter(|job| job.name.starts_with(of));
            parts
                .map(|job| match job.load {
                    Load::Burst { from, to } => (from / GIB, to / GIB),
                    _ => (0, 0),
                })
                .collect()
        };
        assert_eq!(parts(40 * GIB, "burst-"), [(0, 1), (1, 2), (2, 4), (4, 8)]);
        assert_eq!(parts(40 * GIB, "again-"), parts(40 * GIB, "burst-"));
        assert_eq!(parts(GIB, "burst-"), [(0, 1)]);
        let mut names: Vec<String> = write_jobs(GIB << 10).into_iter().map(|job| job.name).collect();
        assert_eq!(names.len(), 36);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 36);
    }
}
