//! The fit of writes: a burst, the steady rate, and reads beside writes.
//!
//! What one load tells is fitted to it alone, one after the other: the time of a program and the SLC cache to the burst, the flash beyond the user's to the
//! steady rate, the buffer's time to lone writes, pauses of programs to reads beside writes. Owns which jobs tell what.

use flashlane_scenario::Scenario;

use crate::device_file;
use crate::error::FitError;
use crate::mixed::{self, Beside, Pauses};
use crate::model::{Base, Values};
use crate::play;
use crate::point::{Figures, Kind, Point};
use crate::search::Effort;
use crate::write_jobs::{BURST_BYTES, Load, SMALL_BYTES, WRITERS_OF, write_jobs};
use crate::write_loads::Drive;

/// How the drive's scheduler answers: reads first, and collection at the pace of writes.
pub const ANSWERS: &str = "{ base = \"read-first-suspend\", place = \"rotate\", collect = \"paced\" }";
/// A burst whose last part is slower than its fastest by this factor has a cache.
const CLIFF: f64 = 0.75;
/// Evaluations of a value that is solved for, at most; and how near is near enough.
const STEPS: usize = 6;
const NEAR: f64 = 0.004;
/// Requests of a run for each of a run of reads.
const MORE: u64 = 30;
/// Parts of a burst without which it tells nothing.
const PARTS: usize = 3;
/// The least difference of rates that tells values apart: with less, the hidden values of two modelled drives were outside of what was called measured, as
/// runs are short and the values of reads are not quite theirs.
const TELLS: f64 = 0.05;
/// The least flash beyond the user's size that is tried, as a share of it. With less a drive cannot be made smaller, as each block of fewer pages has an
/// unfinished wordline, and a run took a minute; drives whose GB are counted from GiB of flash have 0.07.
const LEAST_SPARE: f64 = 0.05;
/// What a drive keeps free or has open is the preset's, so that its flash is not told nearer than this share: a hidden drive had 1.093 times the user's size,
/// and 1.108 to 1.122 were called measured.
const KEPT: f64 = 0.02;
/// Rates and means of writes and mixed jobs are called measured if none that was held out is further off than this.
const HOLDS: f64 = 0.1;
const GIB: u64 = 1 << 30;

/// The jobs that write, by use.
#[derive(Debug, Default)]
pub struct Loads<'a> {
    lone: Option<&'a Point>,
    /// Ends of the parts, bytes, and what was measured; and the same of the burst again.
    bursts: [Vec<(u64, &'a Point)>; 2],
    settle: Option<&'a Point>,
    steady: Vec<&'a Point>,
    beside: Vec<mixed::Job<'a>>,
    /// Whether jobs read alone.
    pub has_reads: bool,
}

impl<'a> Loads<'a> {
    /// Whether reads are known beside writes alone.
    pub fn tell_reads(&self) -> bool {
        !self.has_reads && !self.beside.is_empty()
    }

    /// The jobs of steady writes and of reads beside them that are fitted to; none without the first.
    pub fn fitted_beside(&self) -> Vec<&'a Point> {
        let Some(steady) = self.steady.first() else { return Vec::new() };
        let beside = mixed::fitted(&mixed::compared(&self.beside, steady.iops));
        [*steady].into_iter().chain(beside.into_iter().map(|(_, point)| point)).collect()
    }

    /// Whether a fit of writes has what it needs: a burst of several parts, or the steady rate.
    pub fn tell(&self) -> bool {
        self.bursts[0].len() >= PARTS || !self.steady.is_empty()
    }
}

/// Whether a point is of this load, and not only called like its job.
fn is_of(point: &Point, load: Load) -> bool {
    let bytes = match load {
        Load::Burst { .. } => BURST_BYTES,
        Load::Lone | Load::Settle | Load::Steady => SMALL_BYTES,
        Load::Fill | Load::Idle | Load::Overwrite => point.bytes,
        Load::Beside { .. } => return point.kind != Kind::Reads,
    };
    point.kind == Kind::Writes && point.bytes == bytes
}

/// Sorts the standard jobs that write out of `points`; the others come second.
///
/// # Errors
/// A job that is there twice.
pub fn sorted(points: &[Point]) -> Result<(Loads<'_>, Vec<Point>), FitError> {
    let jobs = write_jobs(1 << 50);
    let mut loads = Loads::default();
    let mut others = Vec::new();
    let mut seen: Vec<&Point> = Vec::new();
    for point in points {
        if let Some(writers) = point.beside {
            let rate = writers.rate();
            if let Some((_, first)) = loads.beside.iter().find(|&&(other, _)| other == rate) {
                let message = format!("job {}: reads beside as many writes are in job {} too", point.name, first.name);
                return Err(FitError::at(&point.file, message));
            }
            loads.beside.push((rate, point));
            continue;
        }
        let name = point.name.strip_suffix(WRITERS_OF).unwrap_or(&point.name);
        let Some(job) = jobs.iter().find(|job| job.name == name).filter(|job| is_of(point, job.load)) else {
            others.push(point.clone());
            continue;
        };
        if let Some(first) = seen.iter().find(|first| first.name == point.name) {
            let message =
                format!("job {}: is in {} too; give the results of one run of these jobs", point.name, first.file);
            return Err(FitError::at(&point.file, message));
        }
        seen.push(point);
        match job.load {
            Load::Lone => loads.lone = Some(point),
            Load::Burst { to, .. } => loads.bursts[usize::from(name.starts_with("again"))].push((to, point)),
            Load::Settle => loads.settle = Some(point),
            Load::Steady => loads.steady.push(point),
            Load::Beside { rate } if name == point.name => loads.beside.push((rate, point)),
            Load::Fill | Load::Idle | Load::Overwrite | Load::Beside { .. } => {}
        }
    }
    loads.bursts.iter_mut().for_each(|burst| burst.sort_by_key(|(end, _)| *end));
    loads.has_reads = others.iter().any(|point| point.kind == Kind::Reads);
    Ok((loads, others))
}

impl Loads<'_> {
    /// What is said of jobs beside writes that are not compared.
    pub fn left_out(&self) -> Option<String> {
        mixed::left_out(&self.beside, self.steady.first().map(|point| point.iops))
    }
}

/// What is fitted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WriteValues {
    /// Time of a program, us.
    pub program_us: f64,
    /// Flash over what the user has.
    pub raw: f64,
    /// Bytes that the user has.
    pub user: f64,
    /// Bytes of the SLC cache, and the time of a program in it, us.
    pub slc: Option<[f64; 2]>,
    /// Time of the buffer, us.
    pub access_us: f64,
    /// How programs are paused for reads, if jobs tell it.
    pub pauses: Option<Pauses>,
    /// Whether reads wait behind writes that wait for space (`shared`) or not (`by-kind`), if jobs tell it.
    pub order: Option<&'static str>,
}

/// A row: what was measured beside what the device does.
#[derive(Clone, Debug)]
pub struct WriteRow {
    /// What it is about.
    pub about: About,
    /// The job's name.
    pub name: String,
    /// Whether values were fitted to it.
    pub is_fitted: bool,
    /// What was measured, and what the device does.
    pub figures: [Figures; 2],
}

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// Writes one at a time.
    Lone,
    /// Bytes a second of a part of a burst; `iops` are bytes.
    Burst,
    /// Writes a second.
    Steady,
    /// Physical over host writes; `mean_us` is the ratio.
    Amplification,
}

impl WriteRow {
    /// Modelled over measured, less one: the rate of bursts and steady writes, else the mean.
    pub fn error(&self) -> f64 {
        let [measured, modelled] = &self.figures;
        match self.about {
            About::Burst | About::Steady => modelled.iops / measured.iops - 1.0,
            _ => modelled.mean_us / measured.mean_us - 1.0,
        }
    }
}

/// What a value's jobs tell of it.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// These fit as well.
    Between(f64, f64),
    /// No job tells it.
    Not,
}

/// The fit of writes.
#[derive(Debug)]
pub struct Written {
    /// The values.
    pub values: WriteValues,
    /// What is known of program time, raw flash and cache.
    pub told: [Told; 3],
    /// Rows of the table.
    pub rows: Vec<WriteRow>,
    /// Reads beside writes.
    pub beside: Vec<Beside>,
    /// How far two runs of the steady rate and two bursts are apart.
    pub repetition: Option<f64>,
    /// Whether the steady part was reached.
    pub is_steady: Option<bool>,
}

/// A fit under way.
struct Fit<'a> {
    base: &'a mut Base,
    reads: Values,
    values: WriteValues,
    requests: u64,
    /// Writes that the jobs which overwrite have outstanding, where a table tells it.
    writers: Option<u32>,
}

/// Fits writes beside the values of reads, into the keys of `base`; none if no job tells of them.
///
/// # Errors
/// A run that fails.
pub fn fit(
    base: &mut Base,
    reads: &mut Values,
    loads: &Loads<'_>,
    amplification: Option<f64>,
    effort: Effort,
    progress: &dyn Fn(f64),
) -> Result<Option<Written>, FitError> {
    if !loads.tell() {
        return Ok(None);
    }
    let values = WriteValues::of(base, reads)?;
    let is_table = loads.beside.iter().any(|(_, point)| point.beside.is_some());
    let writers = loads.steady.first().filter(|_| is_table).map(|steady| steady.depth);
    let mut fit = Fit { base, reads: *reads, values, requests: MORE * effort.requests, writers };
    let repetition = repetition(loads);
    let apart = repetition.unwrap_or(0.0).max(TELLS);
    let mut told = [Told::Not; 3];
    if loads.bursts[0].len() >= PARTS {
        [told[0], told[2]] = fit.burst(&loads.bursts[0], apart)?;
    }
    progress(0.2);
    if let Some(steady) = loads.steady.first() {
        let which = if loads.bursts[0].len() < PARTS { Which::Program } else { Which::Raw };
        // The rate goes with the time of a program too, which is known as well as the burst tells it.
        let apart = if which == Which::Raw { 2.0 * apart } else { apart };
        told[which as usize] = fit.solve(which, steady.iops, apart, &|drive, requests| {
            drive.steady(requests).map(|(figures, _)| figures.iops)
        })?;
    }
    progress(0.4);
    if let Some(lone) = loads.lone {
        fit.keys()?;
        let modelled = fit.drive()?.lone(fit.requests / 10).map_err(FitError::Input)?;
        fit.values.access_us = (fit.values.access_us + lone.mean_us - modelled.mean_us).max(0.0);
    }
    progress(0.5);
    let beside = fit.beside(loads)?;
    progress(0.9);
    fit.keys()?;
    let rows = fit.rows(loads, amplification)?;
    progress(1.0);
    *reads = fit.reads;
    let is_steady = loads.settle.and_then(|settle| settle.is_steady);
    Ok(Some(Written { values: fit.values, told, rows, beside, repetition, is_steady }))
}

/// A value that is solved for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Program = 0,
    Raw = 1,
}

/// What the parts of a burst that end at `ends` tell of a cache of about `bytes`: the part in which it ends. Where in it is not told, as a drive may empty
/// its cache meanwhile: of a hidden drive 5.01 to 5.55 GiB were called measured where it had 4.5.
fn within_part(ends: &[u64], bytes: f64, apart: f64) -> Told {
    let ends = || ends.iter().map(|&end| end as f64);
    let from = ends().filter(|end| *end <= bytes).fold(0.0, f64::max);
    let to = ends().find(|end| *end >= bytes).unwrap_or(bytes);
    Told::Between(from.min(bytes * (1.0 - apart)), to.max(bytes * (1.0 + apart)))
}

impl Which {
    /// What is told by a logarithm that may be off by `width`: that of the program's time, or of the flash that is not the user's.
    fn told(self, at: f64, width: f64) -> Told {
        let [low, high] = [at - width, at + width].map(f64::exp);
        match self {
            Which::Program => Told::Between(low, high),
            Which::Raw => Told::Between(1.0 + (low - KEPT).max(0.0), 1.0 + high + KEPT),
        }
    }
}

/// The largest difference between two runs of a job.
fn repetition(loads: &Loads<'_>) -> Option<f64> {
    let [first, again] = &loads.bursts;
    let again = |end: u64| again.iter().find(|(other, _)| *other == end);
    let rates = first.iter().skip(1).filter_map(|&(end, a)| Some((a.iops, again(end)?.1.iops)));
    let steady = loads.steady.windows(2).map(|pair| (pair[0].iops, pair[1].iops));
    rates.chain(steady).map(|(a, b)| (b / a - 1.0).abs()).reduce(f64::max)
}

impl WriteValues {
    /// What the preset has.
    fn of(base: &Base, reads: &Values) -> Result<WriteValues, FitError> {
        let scene = play::scenario(&base.text(reads, ANSWERS), 0, &play::flow("x", "requests = 1"));
        let scene = scene.map_err(FitError::Input)?;
        let (user, raw) = play::bytes(&scene).map_err(FitError::Input)?;
        let config = scene.device_config().map_err(|error| FitError::Input(error.to_string()))?;
        let device = base.device();
        Ok(WriteValues {
            user: user as f64,
            program_us: config.nand.program.typical().ns() as f64 / 1e3,
            raw: (raw as f64 - base.slc_bytes(reads)) / user as f64,
            slc: None,
            access_us: device.buffer.access_ns.unwrap_or(1_000) as f64 / 1e3,
            pauses: None,
            order: None,
        })
    }
}

impl Fit<'_> {
    /// Gives the base the keys of the values.
    fn keys(&mut self) -> Result<(), FitError> {
        self.base.writes = self.base.write_keys(&self.reads, &self.values);
        Ok(())
    }

    /// The drive of the keys.
    fn drive(&self) -> Result<Drive, FitError> {
        let scene: Result<Scenario, String> =
            play::scenario(&self.base.text(&self.reads, ANSWERS), 0, &play::flow("x", "requests = 1"));
        let drive = scene.and_then(Drive::new).map_err(FitError::Input)?;
        Ok(self.writers.into_iter().fold(drive, Drive::with_writers))
    }

    /// The program time and the cache by a burst's parts, of which the first is not compared: some of it fits in the buffer.
    fn burst(&mut self, parts: &[(u64, &Point)], apart: f64) -> Result<[Told; 2], FitError> {
        let ends: Vec<u64> = parts.iter().map(|(end, _)| *end).collect();
        let rates: Vec<f64> = parts.iter().map(|(_, point)| point.iops * point.bytes as f64).collect();
        let (slow, fast) = (rates[rates.len() - 1], rates[1..].iter().copied().fold(0.0, f64::max));
        let mut cache = Told::Not;
        if slow < CLIFF * fast {
            // The part in which it ends is written at both rates.
            let bytes: f64 = rates
                .iter()
                .zip(&ends)
                .zip([0].iter().chain(&ends))
                .map(|((&rate, &to), &from)| {
                    let share = (1.0 / rate - 1.0 / slow) / (1.0 / fast - 1.0 / slow);
                    (to - from) as f64 * share.clamp(0.0, 1.0)
                })
                .sum();
            let per_us = self.base.page_bytes_at_once(&self.reads);
            self.values.slc = Some([bytes, (1e6 * per_us / fast).max(10.0)]);
            cache = within_part(&ends, bytes, apart);
        }
        let last = ends[ends.len() - 2..].to_vec();
        let program = self.solve(Which::Program, slow, apart, &|drive, _| Ok(drive.burst(&last)?[1]))?;
        if let Some([bytes, _]) = self.values.slc {
            // One step for the time in the cache, and one for its size.
            let early: Vec<u64> = ends.iter().copied().filter(|&end| (end as f64) < 0.9 * bytes).collect();
            if early.len() >= 2 {
                self.keys()?;
                let modelled = self.drive()?.burst(&early[early.len() - 2..]).map_err(FitError::Input)?[1];
                if let Some([_, us]) = &mut self.values.slc {
                    *us *= (modelled / fast).clamp(0.5, 2.0);
                }
            }
        }
        Ok([program, cache])
    }

    /// The value with which a rate is what was measured, and those with which it is as near as repetitions.
    fn solve(
        &mut self,
        which: Which,
        target: f64,
        apart: f64,
        rate: &dyn Fn(&Drive, u64) -> Result<f64, String>,
    ) -> Result<Told, FitError> {
        // A rate goes with the inverse of the program time, and with about the root of the flash that is the drive's own.
        let (mut at, mut slope, range) = match which {
            Which::Program => (self.values.program_us.ln(), -1.0, (50.0_f64).ln()..=(40_000.0_f64).ln()),
            Which::Raw => ((self.values.raw - 1.0).ln(), 0.7, LEAST_SPARE.ln()..=(1.5_f64).ln()),
        };
        let mut before: Option<[f64; 2]> = None;
        let mut best = [at, f64::INFINITY];
        for _ in 0..STEPS {
            match which {
                Which::Program => self.values.program_us = at.exp(),
                Which::Raw => self.values.raw = 1.0 + at.exp(),
            }
            self.keys()?;
            let off = (rate(&self.drive()?, self.requests).map_err(FitError::Input)? / target).ln();
            if off.abs() < f64::abs(best[1]) {
                best = [at, off];
            }
            if let Some([from, was]) = before.filter(|[from, _]| (at - from).abs() > 1e-3) {
                let seen = (off - was) / (at - from);
                // A slope of noise would lead far away.
                if seen * slope > 0.0 {
                    slope = seen.clamp(-2.0, 3.0);
                }
            }
            if off.abs() < NEAR {
                break;
            }
            before = Some([at, off]);
            at = (at - (off / slope).clamp(-0.7, 0.7)).clamp(*range.start(), *range.end());
        }
        match which {
            Which::Program => self.values.program_us = best[0].exp(),
            Which::Raw => self.values.raw = 1.0 + best[0].exp(),
        }
        let width = (apart + best[1].abs()) / slope.abs().max(0.1);
        Ok(which.told(best[0], width))
    }

    /// How programs are paused, and the rows of reads beside writes.
    fn beside(&mut self, loads: &Loads<'_>) -> Result<Vec<Beside>, FitError> {
        let Some(steady) = loads.steady.first().map(|point| point.iops) else { return Ok(Vec::new()) };
        let nand = &self.base.device().nand;
        let from = Pauses {
            suspend_us: nand.suspend_ns.unwrap_or_default() as f64 / 1e3,
            parts: f64::from(nand.iterations.unwrap_or(12)),
        };
        let jobs = mixed::compared(&loads.beside, steady);
        let requests = self.requests;
        self.level(loads, &jobs, steady)?;
        let pauses = mixed::fit(&jobs, steady, from, requests, &mut |pauses| {
            self.values.pauses = Some(pauses);
            self.keys()?;
            self.drive()
        })?;
        self.values.pauses = pauses;
        self.level(loads, &jobs, steady)?;
        self.order(&jobs, steady)?;
        self.keys()?;
        mixed::rows(&jobs, steady, requests, &self.drive()?)
    }

    /// Whether reads wait behind writes that wait for space: what is nearer to the mean of reads beside as many writes as there can be. These still judge.
    fn order(&mut self, jobs: &[mixed::Job<'_>], steady: f64) -> Result<(), FitError> {
        let Some(job) = jobs.iter().find(|(rate, _)| rate.is_none()) else { return Ok(()) };
        let mut off = |order| -> Result<f64, FitError> {
            self.values.order = Some(order);
            self.keys()?;
            let [reads, _] = mixed::run(&self.drive()?, &[*job], steady, self.requests)?.remove(0);
            Ok((reads.mean_us / job.1.mean_us).ln().abs())
        };
        let [apart, together] = [off("by-kind")?, off("shared")?];
        self.values.order = Some(if together < apart { "shared" } else { "by-kind" });
        Ok(())
    }

    /// Gives the array, and the buffer, the times that reads and writes of the job beside the fewest writes tell, if no other jobs tell them.
    fn level(&mut self, loads: &Loads<'_>, jobs: &[mixed::Job<'_>], steady: f64) -> Result<(), FitError> {
        let (Some(job), true) = (mixed::fitted(jobs).first().copied(), loads.tell_reads() || loads.lone.is_none())
        else {
            return Ok(());
        };
        self.keys()?;
        let [reads, writes] = mixed::run(&self.drive()?, &[job], steady, self.requests)?.remove(0);
        // Half of them meet no program.
        let middle = |figures: &Figures| figures.exactly(500_000).unwrap_or(figures.mean_us);
        if loads.tell_reads() {
            let own = self.reads.read_us.iter().sum::<f64>() / 3.0;
            let by = (1.0 + (middle(&job.1.figures()) - middle(&reads)) / own).clamp(0.2, 5.0);
            self.reads.read_us = self.reads.read_us.map(|us| us * by);
        }
        if let Some(measured) = job.1.writes.as_ref().filter(|_| loads.lone.is_none()) {
            self.values.access_us = (self.values.access_us + middle(measured) - middle(&writes)).max(0.0);
        }
        Ok(())
    }

    fn rows(&mut self, loads: &Loads<'_>, amplification: Option<f64>) -> Result<Vec<WriteRow>, FitError> {
        let (drive, requests) = (self.drive()?, 2 * self.requests);
        let row = |about, name: &str, is_fitted, measured, modelled| WriteRow {
            about,
            name: name.into(),
            is_fitted,
            figures: [measured, modelled],
        };
        let mut rows = Vec::new();
        if let Some(lone) = loads.lone {
            let modelled = drive.lone(requests / 10).map_err(FitError::Input)?;
            rows.push(row(About::Lone, &lone.name, true, lone.figures(), modelled));
        }
        let ends: Vec<u64> = loads.bursts[0].iter().map(|(end, _)| *end).collect();
        if ends.len() >= PARTS {
            let rates = drive.burst(&ends).map_err(FitError::Input)?;
            for (parts, again) in loads.bursts.iter().zip([false, true]) {
                for (end, point) in parts {
                    // The first part is not compared: some of it fits in the buffer.
                    let Some(index @ 1..) = ends.iter().position(|other| other == end) else { continue };
                    let bytes = |rate: f64| Figures { iops: rate, mean_us: 0.0, quantiles: Vec::new() };
                    let is_fitted = !again && (index + 1 == ends.len() || self.values.slc.is_some());
                    let measured = bytes(point.iops * point.bytes as f64);
                    rows.push(row(About::Burst, &point.name, is_fitted, measured, bytes(rates[index])));
                }
            }
        }
        if loads.steady.is_empty() {
            return Ok(rows);
        }
        let (steady, amplified) = drive.steady(requests).map_err(FitError::Input)?;
        for (index, point) in loads.steady.iter().enumerate() {
            rows.push(row(About::Steady, &point.name, index == 0, point.figures(), steady.clone()));
        }
        if let Some(ratio) = amplification {
            let of = |ratio: f64| Figures { iops: 0.0, mean_us: ratio, quantiles: Vec::new() };
            rows.push(row(About::Amplification, "logs", false, of(ratio), of(amplified)));
        }
        Ok(rows)
    }
}

impl Base {
    /// Planes of the drive.
    fn planes(&self, reads: &Values) -> f64 {
        let geometry = &self.device().geometry;
        let each =
            geometry.channels.unwrap_or(1) * geometry.dies_per_chip.unwrap_or(1) * geometry.planes_per_die.unwrap_or(1);
        f64::from(each * reads.chips)
    }

    /// Bytes that all planes program at once, a page each.
    fn page_bytes_at_once(&self, reads: &Values) -> f64 {
        self.planes(reads) * f64::from(self.device().geometry.page_bytes.unwrap_or(16_384))
    }

    /// Bytes of the flash that the preset's blocks in SLC mode take, which are fewer of a plane where there are more chips.
    fn slc_bytes(&self, reads: &Values) -> f64 {
        let geometry = &self.device().geometry;
        let own = self.device().slc.static_blocks.unwrap_or(0) * geometry.chips_per_channel.unwrap_or(1);
        let pages = f64::from(geometry.pages_per_block.unwrap_or_default());
        f64::from(own.div_ceil(reads.chips)) * pages * self.page_bytes_at_once(reads)
    }

    /// The keys of these values.
    fn write_keys(&self, reads: &Values, values: &WriteValues) -> Vec<(&'static str, String)> {
        let device = self.device();
        let ns = |us: f64| ((us * 1e3).round() as u64).to_string();
        let row = self.page_bytes_at_once(reads) * f64::from(device.geometry.pages_per_block.unwrap_or_default());
        let bits = device.nand.one_shot_pages.unwrap_or(3).max(2);
        let cache = values.slc.map_or(0.0, |[bytes, _]| (bytes * f64::from(bits) / row).round().max(1.0));
        let blocks = (values.raw * values.user / row).ceil() + cache;
        let mut keys = vec![
            ("geometry.blocks_per_plane", (blocks as u64).to_string()),
            ("nand.program_ns", ns(values.program_us)),
            ("buffer.access_ns", ns(values.access_us)),
        ];
        if device.ftl.unit_bytes.is_none() {
            keys.push(("ftl.unit_bytes", "4096".into()));
            keys.push(("ftl.read_modify_write", "true".into()));
            let pages = |count: Option<u32>| (4 * u64::from(count.unwrap_or_default())).to_string();
            keys.push(("buffer.pages", pages(device.buffer.pages)));
            keys.push(("buffer.flush_above", pages(device.buffer.flush_above)));
        }
        if let Some(Pauses { suspend_us, parts }) = values.pauses {
            keys.push(("nand.suspend_ns", ns(suspend_us)));
            keys.push(("nand.suspend_at", "\"segment\"".into()));
            keys.push(("nand.iterations", (parts as u64).to_string()));
        }
        keys.extend(values.order.map(|order| ("front.order", format!("{order:?}"))));
        if device.gc.start_percent.is_none_or(|percent| percent > 1.0) {
            keys.push(("gc.start_percent", "1.0".into()));
        }
        if device.slc.static_blocks.is_some() || values.slc.is_some() {
            keys.push(("slc.static_blocks", (cache as u64).to_string()));
            keys.push(("slc.dynamic", "false".into()));
        }
        if let Some([_, us]) = values.slc {
            let or = |own: Option<u64>, default: f64| own.unwrap_or(default as u64).to_string();
            keys.push(("slc.bits", bits.to_string()));
            keys.push(("slc.read_ns", or(device.slc.read_ns, 25_000.0)));
            keys.push(("slc.program_ns", ns(us)));
            keys.push(("slc.erase_ns", or(device.slc.erase_ns, 2_000_000.0)));
            keys.push(("slc.idle_ms", device.slc.idle_ms.unwrap_or(500.0).to_string()));
            keys.push(("slc.full", "\"direct\"".into()));
        }
        keys
    }
}

impl Written {
    /// The word of `[fitted]` for writes.
    pub fn word(&self) -> &'static str {
        let of = |row: &&WriteRow| matches!(row.about, About::Burst | About::Steady) && !row.is_fitted;
        let worst = self.rows.iter().filter(of).map(|row| row.error().abs()).reduce(f64::max);
        let holds = worst.is_some_and(|worst| worst <= HOLDS) && self.is_steady != Some(false);
        if holds { "measured" } else { "bounded" }
    }

    /// A sentence for each use.
    pub fn sentences(&self) -> Vec<String> {
        let held_out = |about| self.rows.iter().filter(move |row| row.about == about && !row.is_fitted);
        let percent = |share: f64| format!("{:.0} %", (100.0 * share).ceil());
        let worst = |about| held_out(about).map(|row| row.error().abs()).reduce(f64::max);
        let mut sentences = vec![mixed::sentence(&self.beside)];
        let again = match self.repetition {
            Some(0.0) => "a model repeats itself".into(),
            Some(apart) => format!("two runs differ by up to {:.1} %", 100.0 * apart),
            None => "measured once, repeatability unknown".into(),
        };
        for (what, about) in [("bursts of writes", About::Burst), ("sustained writes", About::Steady)] {
            sentences.push(match worst(about) {
                Some(off) => format!("{what}: rates within {} ({again})", percent(off)),
                None if self.rows.iter().any(|row| row.about == about) => format!("{what}: {again}"),
                None => format!("{what}: not measured"),
            });
        }
        if let Some([bytes, _]) = self.values.slc {
            sentences.push(format!("a burst after a pause is fast for {:.1} GiB: the cache", bytes / GIB as f64));
        }
        if self.is_steady == Some(false) {
            sentences.push("the rate was not steady when its time was over: sustained writes are doubtful".into());
        }
        sentences.push(format!("writes are fitted under the scheduler {ANSWERS}; another one changes them"));
        sentences
    }

    /// What is known of the value of a key, if it is one of writes.
    pub fn about(&self, key: &str) -> Option<String> {
        let known = |told: Told, unit: f64| match told {
            Told::Not => "not told by these probes".to_owned(),
            Told::Between(low, high) => {
                let word = if high / low <= device_file::TOLD { "measured" } else { "bounded" };
                format!("{word}: {} fit as well", device_file::between(low * unit, high * unit))
            }
        };
        let [program, raw, cache] = self.told;
        Some(match key {
            // Rates tell what all planes program together; their number is told by reads alone, and a hidden drive's was another.
            "nand.program_ns" => match program {
                Told::Not => known(program, 1e3),
                Told::Between(low, high) => {
                    let fit = device_file::between(1e3 * low, 1e3 * high);
                    format!("bounded: {fit} fit as well with so many planes; other numbers of planes have other times")
                }
            },
            "geometry.blocks_per_plane" => {
                let known = known(raw, 1.0);
                // A hidden drive whose cache was in use while it was overwritten had a sixth more than the user's size, where a thirtieth was called measured.
                let with_cache = known.strip_prefix("measured").filter(|_| self.values.slc.is_some());
                let known = with_cache.map_or(known.clone(), |rest| {
                    format!(
                        "bounded{rest} with a cache that takes no writes while it is full; another use has other values"
                    )
                });
                format!("flash over the user's size; {known}")
            }
            "slc.static_blocks" if self.values.slc.is_none() => "no part of the burst is faster than the last".into(),
            "slc.static_blocks" => format!("GiB of the cache; {}", known(cache, 1.0 / GIB as f64)),
            "slc.program_ns" => "by the rate of the burst's fast parts".into(),
            "gc.start_percent" => "little flash is kept free, so that the steady rate tells how much there is".into(),
            "nand.suspend_ns" | "nand.iterations" | "nand.suspend_at" => {
                "by reads beside writes; other pairs of pause and iterations may fit as well".into()
            }
            "front.order" => "by reads beside as many writes as can be".into(),
            "buffer.access_ns" => "by lone writes, beyond what reads tell of the link".into(),
            "ftl.unit_bytes" | "ftl.read_modify_write" | "buffer.pages" | "buffer.flush_above" => {
                "a map of 4 KiB, as small writes share programs".into()
            }
            key if key.starts_with("slc.") => "not told by these probes".into(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::tests::point;

    fn job(name: &str, bytes: u64, iops: f64) -> Point {
        Point { name: name.into(), kind: Kind::Writes, bytes, iops, ..point(32, 100.0, &[]) }
    }

    #[test]
    fn a_job_is_known_by_its_load_too_and_may_be_there_once() {
        let reads = Point { kind: Kind::Reads, ..job("steady", SMALL_BYTES, 1.0) };
        let points =
            [reads, job("steady", 16_384, 1.0), job("burst-2g", BURST_BYTES, 1.0), job("lone", SMALL_BYTES, 1.0)];
        let (loads, others) = sorted(&points).expect("each once");
        assert_eq!((others.len(), loads.steady.len(), loads.bursts[0].len(), loads.lone.is_some()), (2, 0, 1, true));
        let error = sorted(&[points[2].clone(), points[2].clone()]).expect_err("twice").to_string();
        assert_eq!(error, "a file: job burst-2g: is in a file too; give the results of one run of these jobs");
    }

    /// The hidden value of a drive with fewer planes than were fitted was outside of what was called measured.
    #[test]
    fn the_time_of_a_program_is_not_called_measured() {
        let base = Base::named("modern-tlc").expect("a preset");
        let values = WriteValues::of(&base, &base.values()).expect("a device");
        let told = [Told::Between(1_900.0, 2_000.0), Told::Not, Told::Not];
        let written = Written { values, told, rows: vec![], beside: vec![], repetition: None, is_steady: None };
        let about = written.about("nand.program_ns").expect("it is one of writes");
        assert_eq!(
            about,
            "bounded: 1900000 to 2000000 fit as well with so many planes; other numbers of planes have other times"
        );
    }

    #[test]
    fn a_cache_is_told_by_the_part_of_a_burst_in_which_it_ends() {
        let ends = [1, 2, 4, 8, 16].map(|gib| gib * GIB);
        let told = |gib: f64| match within_part(&ends, gib * GIB as f64, 0.05) {
            Told::Between(low, high) => [low, high].map(|bytes| (100.0 * bytes / GIB as f64).round() / 100.0),
            Told::Not => panic!("it is told"),
        };
        assert_eq!(told(5.28), [4.0, 8.0]);
        assert_eq!(told(7.9), [4.0, 8.3], "or just beyond it");
        assert_eq!(told(0.5), [0.0, 1.0]);
    }

    /// What a hidden drive kept free was not the preset's, so that its flash was outside of what was called measured.
    #[test]
    fn flash_is_not_told_nearer_than_what_a_drive_keeps_free() {
        let Told::Between(low, high) = Which::Raw.told(0.115_f64.ln(), 0.06) else { panic!("it is told") };
        assert!((1.08..1.093).contains(&low) && (1.14..1.15).contains(&high), "{low} to {high}");
        assert!(matches!(Which::Raw.told(0.01_f64.ln(), 0.06), Told::Between(1.0, _)), "there is no less");
    }

    /// The flash of a hidden drive whose cache stayed in use was outside of what was called measured.
    #[test]
    fn the_flash_of_a_drive_with_a_cache_is_not_called_measured() {
        let base = Base::named("client-tlc").expect("a preset");
        let values = WriteValues::of(&base, &base.values()).expect("a device");
        let about = |slc| {
            let told = [Told::Not, Told::Between(1.02, 1.04), Told::Not];
            let values = WriteValues { slc, ..values };
            let written = Written { values, told, rows: vec![], beside: vec![], repetition: None, is_steady: None };
            written.about("geometry.blocks_per_plane").expect("it is one of writes")
        };
        assert_eq!(about(None), "flash over the user's size; measured: 1.020 to 1.040 fit as well");
        assert!(about(Some([1e10, 200.0])).starts_with("flash over the user's size; bounded: 1.020 to 1.040 fit"));
    }

    /// With twelve times the chips, a plane has a twelfth of the blocks, those of the cache among them.
    #[test]
    fn the_flash_of_a_preset_does_not_go_with_its_chips() {
        let base = Base::named("client-tlc").expect("a preset");
        let raw = |chips| WriteValues::of(&base, &Values { chips, ..base.values() }).expect("a device").raw;
        assert!(raw(2) > 1.0 && (raw(24) / raw(2) - 1.0).abs() < 0.1, "{} and {}", raw(24), raw(2));
    }

    /// A part that the second burst lacks is compared with none.
    #[test]
    fn parts_of_two_bursts_are_compared_by_their_ends() {
        let parts = |names: [&str; 3]| names.map(|name| job(name, BURST_BYTES, name.len() as f64));
        let mut points = parts(["burst-1g", "burst-2g", "burst-16g"]).to_vec();
        points.extend(parts(["again-1g", "again-16g", "again-32g"]));
        let (loads, _) = sorted(&points).expect("each once");
        assert_eq!(repetition(&loads), Some(0.0), "9 beside 9, and not 8 beside 9");
    }
}
