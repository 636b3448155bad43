//! The standard jobs: which reads tell what, as a job file of fio.
//!
//! Owns the list, which the modelled probe runs too. Promises a file that only reads, creates nothing and names no device. No key of
//! it is one that a user would change on the command line, because fio lets the file's `[global]` win.

use std::fmt::Write as _;

/// What a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Values are fitted to it.
    Fitted,
    /// It judges them.
    HeldOut,
    /// An earlier job again: what changed meanwhile.
    Repeated,
    /// Reads within a part of the drive: what a map in memory that holds a part of it costs.
    Span,
    /// Reads of few addresses: what answers without flash.
    Cache,
}

/// A job: random reads of a closed loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// Its name in the file.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Bytes of a read.
    pub bytes: u64,
    /// Reads outstanding, of all threads together.
    pub depth: u32,
    /// Threads that share them.
    pub threads: u32,
    /// Bytes of the drive that are read, if not all that the file names.
    pub span: Option<u64>,
    /// Zipf exponent of addresses.
    pub zipf: Option<f64>,
}

const KIB: u64 = 1_024;
const GIB: u64 = 1 << 30;
/// Bytes of the jobs that look for a cache.
const CACHED: u64 = 64 << 20;
/// Beyond this depth a job is split, because one core may end before the drive does.
const ONE_THREAD: u32 = 8;
const THREADS: u32 = 4;
/// Depths and sizes that are fitted; those between judge.
const FITTED_DEPTHS: [u32; 3] = [1, 8, 128];
const FITTED_SIZES: [u64; 3] = [4 * KIB, 16 * KIB, 128 * KIB];
/// Seconds before each job that are not counted.
const RAMP: u64 = 1;

/// Reads a second of a large job of depth 1, about; and how many reads beyond a quantile tell it.
const SLOWEST_READS: u64 = 5_000;
const FEWEST_BEYOND: u64 = 20;

/// Whether values may be fitted to random reads of this size and depth.
pub fn is_fitted(bytes: u64, depth: u32) -> bool {
    FITTED_DEPTHS.contains(&depth) && FITTED_SIZES.contains(&bytes)
}

/// The standard jobs over `size` bytes of a drive, in their order.
pub fn standard(size: u64) -> Vec<Job> {
    let mut jobs = Vec::new();
    let role = |bytes, depth| if is_fitted(bytes, depth) { Role::Fitted } else { Role::HeldOut };
    for depth in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        jobs.push(reads(&format!("depth-{depth}"), role(4 * KIB, depth), 4 * KIB, depth));
    }
    for kib in [8, 16, 32, 64, 128] {
        for depth in [1, 8, 128] {
            let name = format!("size-{kib}k-depth-{depth}");
            jobs.push(reads(&name, role(kib * KIB, depth), kib * KIB, depth));
        }
    }
    jobs.push(reads("middle", Role::Repeated, 4 * KIB, 1));
    for gib in [1, 4, 16, 64, 256].into_iter().filter(|gib| gib * GIB < size) {
        let span = Some(gib * GIB);
        jobs.push(Job { span, ..reads(&format!("span-{gib}g"), Role::Span, 4 * KIB, 8) });
    }
    jobs.push(Job { span: Some(CACHED.min(size)), threads: 2, ..reads("same-addresses", Role::Cache, 4 * KIB, 2) });
    jobs.push(Job { zipf: Some(0.9), ..reads("skewed", Role::HeldOut, 4 * KIB, 32) });
    jobs.push(reads("last", Role::Repeated, 4 * KIB, 1));
    jobs
}

fn reads(name: &str, role: Role, bytes: u64, depth: u32) -> Job {
    let threads = if depth > ONE_THREAD { THREADS } else { 1 };
    Job { name: name.into(), role, bytes, depth, threads, span: None, zipf: None }
}

/// The file of the standard jobs.
#[derive(Clone, Debug)]
pub struct JobFile {
    /// Bytes of the drive that are read.
    pub size: u64,
    /// How long all jobs take, minutes.
    pub minutes: u32,
    /// fio's engine.
    pub engine: String,
}

impl JobFile {
    /// Smallest and largest sizes that make sense: below, all may be answered from memory.
    pub const SIZES: [u64; 2] = [GIB, 1 << 50];
    /// How much is read, if the user does not say.
    pub const SIZE: u64 = 32 * GIB;

    /// How long each job is measured, s.
    fn seconds(&self) -> u64 {
        (u64::from(self.minutes) * 60 / standard(self.size).len() as u64).saturating_sub(RAMP).max(1)
    }

    /// A note for a file whose jobs are too short to measure p99.9.
    pub fn too_short(&self) -> Option<String> {
        let seconds = self.seconds();
        let beyond = seconds * SLOWEST_READS / 1_000;
        (beyond < FEWEST_BEYOND).then(|| {
            format!("--minutes {}: jobs of {seconds} s have about {beyond} reads beyond p99.9 at depth 1, too few to tell it", self.minutes)
        })
    }

    /// Its text.
    pub fn text(&self) -> String {
        let jobs = standard(self.size);
        let seconds = self.seconds();
        let mut text = format!(
            "# Reads that tell how a drive behaves: {} jobs of {seconds} s. Nothing is written, and no file is created.\n\
             #\n\
             #   fio --readonly --output-format=json+ --output=probe.json --filename=/dev/nvme0n1 probe.fio\n\
             #   flashlane fit probe.json -o my-drive.toml\n\
             #\n\
             # The drive must have been written where it is read: reads of what never was written need no flash.\n\
             # Nothing else should use drive or cores meanwhile. Jobs of over 90 % of a core are left out as the host's.\n\
             [global]\n\
             ioengine={}\n\
             direct=1\n\
             rw=randread\n\
             # A name that does not exist is an error, not a file of this size.\n\
             allow_file_create=0\n\
             size={}\n\
             norandommap=1\n\
             randrepeat=1\n\
             time_based=1\n\
             ramp_time={RAMP}\n\
             runtime={seconds}\n\
             thread=1\n\
             # One result for each job, of all its threads; one job after the other (stonewall).\n\
             group_reporting=1\n\
             percentile_list=1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99\n",
            jobs.len(),
            self.engine,
            self.size
        );
        let mut role = None;
        for job in &jobs {
            if role != Some(job.role) {
                let about = about(job.role);
                write!(text, "\n# {about}\n").expect("a string takes all");
                role = Some(job.role);
            }
            section(&mut text, job);
        }
        text
    }
}

fn about(role: Role) -> &'static str {
    match role {
        Role::Fitted => "Values are fitted to these.",
        Role::HeldOut => "Held out: these judge the values.",
        Role::Repeated => "An earlier job again: what changes by itself.",
        Role::Span => "Reads of a part of the drive: a map that is not all in memory shows.",
        Role::Cache => "Two threads read the same few addresses: a cache shows.",
    }
}

fn section(text: &mut String, job: &Job) {
    let Job { name, bytes, depth, threads, span, zipf, .. } = job;
    let each = depth / threads;
    write!(text, "[{name}]\nstonewall\nbs={bytes}\niodepth={each}\nnumjobs={threads}\n").expect("a string takes all");
    if let Some(span) = span {
        writeln!(text, "size={span}").expect("a string takes all");
    }
    if let Some(theta) = zipf {
        writeln!(text, "random_distribution=zipf:{theta}").expect("a string takes all");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_and_sizes_between_judge_and_names_differ() {
        let jobs = standard(32 * GIB);
        let of = |role| jobs.iter().filter(|job| job.role == role).count();
        assert_eq!([of(Role::Fitted), of(Role::HeldOut), of(Role::Repeated), of(Role::Span)], [9, 16, 2, 3]);
        let mut names: Vec<&str> = jobs.iter().map(|job| &*job.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), jobs.len());
        assert!(jobs.iter().all(|job| job.depth.is_multiple_of(job.threads) && job.depth / job.threads <= 64));
    }

    #[test]
    fn the_file_only_reads_and_takes_its_time() {
        let file = JobFile { size: 32 * GIB, minutes: 10, engine: "libaio".into() };
        let text = file.text();
        assert!(text.contains("\nrw=randread\n") && text.contains("\nallow_file_create=0\n"));
        assert!(text.contains("\nioengine=libaio\n") && !text.contains("write\n") && !text.contains("\nfilename"));
        let seconds: u64 = text.lines().find_map(|l| l.strip_prefix("runtime=")).expect("a time").parse().expect("s");
        let all = (seconds + RAMP) * standard(file.size).len() as u64;
        assert!((540..=600).contains(&all), "{all} s");
        assert_eq!(file.too_short(), None);
        let short = JobFile { minutes: 1, ..file };
        assert!(short.text().contains("\nruntime=1\n"), "never none");
        let says = "--minutes 1: jobs of 1 s have about 5 reads beyond p99.9 at depth 1, too few to tell it";
        assert_eq!(short.too_short().as_deref(), Some(says));
    }
}
