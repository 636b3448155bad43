//! The fit of reads beside writes: how programs are paused for them.
//!
//! Owns which rates of writes are fitted to, which judge, and what is said of them. Must never know how a drive is overwritten.

use flashlane_outputs::shown;
use rayon::prelude::*;

use crate::error::FitError;
use crate::least_squares::least;
use crate::point::{Figures, Point};
use crate::search;
use crate::write_jobs::PROBE_RATE;
use crate::write_loads::Drive;

/// Rates beyond this share of the steady one are not compared: requests wait for space, the longer the nearer the rate is, and the steady rate is not known so well.
const BELOW_STEADY: f64 = 0.8;
/// Of more rates than these the lowest and the highest are fitted to, and those between judge; of fewer the lowest alone is fitted to.
const FEWEST: usize = 2;
/// Evaluations of how programs are paused.
const EVALUATIONS: usize = 14;
/// Times of a pause that are tried, us, and parts of a program.
const PAUSES_US: std::ops::RangeInclusive<f64> = 1.0..=600.0;
const PARTS: std::ops::RangeInclusive<f64> = 1.0..=100.0;
/// Reads among writes are called measured if no held-out mean is further off than this.
const HOLDS: f64 = 0.1;

/// A job beside writes: their rate in all, unless there are as many as there can be, and what was measured.
pub type Job<'a> = (Option<u32>, &'a Point);

/// How programs are paused for reads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pauses {
    /// Time until a program is paused, us.
    pub suspend_us: f64,
    /// Parts of a program between which it may be paused.
    pub parts: f64,
}

/// A job beside writes, measured and modelled.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The job's name.
    pub name: String,
    /// Writes a second in all, or as many as there can be.
    pub rate: Option<u32>,
    /// Whether values were fitted to its reads.
    pub is_fitted: bool,
    /// Its reads: what was measured, and what the device does.
    pub reads: [Figures; 2],
    /// Its writes.
    pub writes: Option<[Figures; 2]>,
}

impl Beside {
    /// Modelled over measured mean of its reads, less one.
    pub fn error(&self) -> f64 {
        let [measured, modelled] = &self.reads;
        modelled.mean_us / measured.mean_us - 1.0
    }

    /// The same of their 99th percentile.
    pub fn tail_error(&self) -> Option<f64> {
        let [measured, modelled] = &self.reads;
        Some(modelled.exactly(990_000)? / measured.exactly(990_000)? - 1.0)
    }
}

/// The jobs that are compared on a drive of this steady rate, by rate, the unlimited one last.
pub fn compared<'a>(jobs: &[Job<'a>], steady: f64) -> Vec<Job<'a>> {
    let is_below = |rate: Option<u32>| rate.is_none_or(|rate| f64::from(rate) < BELOW_STEADY * steady);
    let mut compared: Vec<Job<'a>> = jobs.iter().copied().filter(|&(rate, _)| is_below(rate)).collect();
    compared.sort_by_key(|&(rate, _)| rate.unwrap_or(u32::MAX));
    compared
}

/// What is said of jobs that are not compared, on a drive of this steady rate, if that was measured.
pub fn left_out(jobs: &[Job<'_>], steady: Option<f64>) -> Option<String> {
    let (why, names): (String, Vec<&str>) = match steady {
        None => ("no steady job tells the drive's rate".into(), jobs.iter().map(|(_, point)| &*point.name).collect()),
        Some(steady) => {
            let kept = compared(jobs, steady);
            let is_left = |(rate, _): &&Job<'_>| !kept.iter().any(|(other, _)| other == rate);
            let most = 100.0 * BELOW_STEADY;
            (
                format!("their writes are over {most:.0} % of the steady rate"),
                jobs.iter().filter(is_left).map(|(_, point)| &*point.name).collect(),
            )
        }
    };
    (!names.is_empty()).then(|| format!("left out of reads beside writes, because {why}: {}", names.join(", ")))
}

/// Those of them that are fitted to.
pub fn fitted<'a>(compared: &[Job<'a>]) -> Vec<Job<'a>> {
    let rates: Vec<Job<'a>> = compared.iter().copied().filter(|(rate, _)| rate.is_some()).collect();
    match &rates[..] {
        [first, .., last] if rates.len() > FEWEST => vec![*first, *last],
        [first, ..] => vec![*first],
        [] => Vec::new(),
    }
}

/// The pauses with which reads beside writes take as long as measured, beginning with those of the preset; none if no job tells them. `drive` makes the drive of some pauses.
///
/// # Errors
/// No run that succeeds.
pub fn fit(
    compared: &[Job<'_>],
    steady: f64,
    from: Pauses,
    requests: u64,
    drive: &mut dyn FnMut(Pauses) -> Result<Drive, FitError>,
) -> Result<Option<Pauses>, FitError> {
    let jobs = fitted(compared);
    if jobs.is_empty() {
        return Ok(None);
    }
    let points: Vec<&Point> = jobs.iter().map(|(_, point)| *point).collect();
    let mut best: Option<(Pauses, f64)> = None;
    let mut failed = None;
    let start = [from.suspend_us.clamp(*PAUSES_US.start(), *PAUSES_US.end()).ln(), from.parts.max(1.0).ln()];
    least(&start, 0.5, EVALUATIONS, |at| {
        let pauses = Pauses { suspend_us: at[0].exp(), parts: at[1].exp().round() };
        if !PAUSES_US.contains(&pauses.suspend_us) || !PARTS.contains(&pauses.parts) {
            return None;
        }
        let figures = drive(pauses).and_then(|drive| run(&drive, &jobs, steady, requests));
        match figures {
            Ok(figures) => {
                let reads: Vec<Figures> = figures.into_iter().map(|[reads, _]| reads).collect();
                let differences = search::differences(&points, &reads);
                let error = search::error(&differences);
                if best.is_none_or(|(_, least)| error < least) {
                    best = Some((pauses, error));
                }
                Some(differences)
            }
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    });
    best.map_or_else(|| failed.map_or(Ok(None), Err), |(pauses, _)| Ok(Some(pauses)))
}

/// Reads and writes of these jobs on the drive.
///
/// # Errors
/// A run that fails.
pub fn run(drive: &Drive, jobs: &[Job<'_>], steady: f64, requests: u64) -> Result<Vec<[Figures; 2]>, FitError> {
    // The thread of a table's row makes as many writes as reads.
    let probe = |point: &Point| if point.beside.is_some() { 2.0 * point.iops } else { f64::from(PROBE_RATE) };
    let run = |&(rate, point): &Job<'_>| drive.beside(probe(point), rate.map(f64::from), steady, requests);
    jobs.par_iter().map(run).collect::<Result<_, _>>().map_err(FitError::Input)
}

/// The jobs beside what the drive does.
///
/// # Errors
/// A run that fails.
pub fn rows(compared: &[Job<'_>], steady: f64, requests: u64, drive: &Drive) -> Result<Vec<Beside>, FitError> {
    let fitted = fitted(compared);
    let modelled = run(drive, compared, steady, requests)?;
    let row = |(&(rate, point), [reads, writes]): (&Job<'_>, [Figures; 2])| Beside {
        name: point.name.clone(),
        rate,
        is_fitted: fitted.iter().any(|&(of, _)| of == rate),
        reads: [point.figures(), reads],
        writes: point.writes.clone().map(|measured| [measured, writes]),
    };
    Ok(compared.iter().zip(modelled).map(row).collect())
}

/// The word of `[fitted]` for reads and writes together.
pub fn word(rows: &[Beside]) -> &'static str {
    match worst(rows, &|row| Some(row.error())) {
        Some(worst) if worst <= HOLDS => "measured",
        _ if rows.is_empty() => "not measured",
        _ => "bounded",
    }
}

/// Whether rows at rates that the drive keeps up with are fitted to, and the errors of their means.
pub fn errors(rows: &[Beside]) -> Vec<(bool, f64)> {
    rows.iter().filter(|row| row.rate.is_some()).map(|row| (row.is_fitted, row.error())).collect()
}

/// What may be expected of reads beside writes: at rates that the drive keeps up with, and beside as many as can be.
pub fn sentence(rows: &[Beside]) -> String {
    let (at_rates, unlimited): (Vec<Beside>, Vec<Beside>) = rows.iter().cloned().partition(|row| row.rate.is_some());
    let judged = at_rates.iter().filter(|row| !row.is_fitted).count();
    let parts = [
        within(&at_rates).map(|within| format!("{within} ({})", shown::counted(judged, "held-out job"))),
        within(&unlimited).map(|within| format!("beside as many writes as can be {within}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match &parts[..] {
        [] if rows.is_empty() => "reads among writes: not measured".into(),
        [] => "reads among writes: not judged, as no job was held out".into(),
        parts => format!("reads among writes: {}", parts.join("; ")),
    }
}

/// The largest errors of rows that judge; none if none does.
fn within(rows: &[Beside]) -> Option<String> {
    let percent = |share: f64| format!("within {:.0} %", (100.0 * share).ceil());
    let mean = percent(worst(rows, &|row| Some(row.error()))?);
    let tail = worst(rows, &Beside::tail_error).map_or("not measured".into(), percent);
    Some(format!("means {mean}, p99 {tail}"))
}

/// The largest error of those that judge.
fn worst(rows: &[Beside], error: &dyn Fn(&Beside) -> Option<f64>) -> Option<f64> {
    rows.iter().filter(|row| !row.is_fitted).filter_map(error).map(f64::abs).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::tests::point;

    #[test]
    fn rates_that_the_drive_keeps_up_with_are_compared_and_the_outer_ones_fitted_to() {
        let point = point(1_024, 100.0, &[]);
        let jobs = [None, Some(40_000), Some(10_000), Some(20_000), Some(56_000)].map(|rate| (rate, &point));
        let rates = |jobs: &[Job<'_>]| jobs.iter().map(|(rate, _)| *rate).collect::<Vec<_>>();
        let below = compared(&jobs, 60_000.0);
        assert_eq!(rates(&below), [Some(10_000), Some(20_000), Some(40_000), None], "56,000 is over 0.8 of it");
        assert_eq!(rates(&fitted(&below)), [Some(10_000), Some(40_000)]);
        assert_eq!(rates(&fitted(&below[1..3])), [Some(20_000)], "of two, one judges");
        assert_eq!(rates(&fitted(&below[3..])), [], "the unlimited one alone tells nothing");
        let said = |steady| left_out(&jobs, steady).unwrap_or_default();
        assert!(said(Some(60_000.0)).ends_with("their writes are over 80 % of the steady rate: depth-1024"));
        assert_eq!(said(None).matches("depth-1024").count(), 5, "none tells the steady rate");
        assert_eq!(left_out(&jobs, Some(1e6)), None);
    }

    #[test]
    fn the_word_and_the_sentence_are_of_what_was_held_out() {
        let row = |is_fitted: bool, off: f64| {
            let reads = |us: f64| Figures { iops: 1.0, mean_us: us, quantiles: vec![(990_000, 2.0 * us)] };
            Beside {
                name: "x".into(),
                rate: Some(10_000),
                is_fitted,
                reads: [reads(100.0), reads(100.0 * (1.0 + off))],
                writes: None,
            }
        };
        let said = |rows: &[Beside]| (word(rows), sentence(rows));
        assert_eq!(said(&[]), ("not measured", "reads among writes: not measured".into()));
        assert_eq!(said(&[row(true, 0.0)]).0, "bounded");
        let near = "reads among writes: means within 9 %, p99 within 9 % (1 held-out job)";
        assert_eq!(said(&[row(true, 0.5), row(false, -0.085)]), ("measured", near.into()));
        let unlimited = Beside { rate: None, ..row(false, 0.5) };
        let both = format!("{near}; beside as many writes as can be means within 50 %, p99 within 50 %");
        assert_eq!(said(&[row(true, 0.5), row(false, -0.085), unlimited]), ("bounded", both));
        assert_eq!(said(&[row(false, 0.11)]).0, "bounded");
    }
}
