//! The answer: the device, the table in which held-out points judge it, and for which uses it is.

use flashlane_outputs::shown;

use crate::device_file::{self, Fitted};
use crate::doubts::{self, Sorted};
use crate::error::FitError;
use crate::mixed::{self, Beside};
use crate::point::{Access, Figures, Point};
use crate::search::{Effort, Found, kept, search};
use crate::smart::Amplification;
use crate::table::{Kind, Row, render};
use crate::writes::{self, About, WriteRow, Written};

/// Means that are further off than this in the middle, or as far apart when a job is run again: there is no device that does as this drive.
const NOTHING_HOLDS: f64 = 0.25;
/// Reads are called measured if no held-out mean is further off than this.
const HOLDS: f64 = 0.1;
/// Of the time of a fit of reads and writes, what reads take.
const READS_SHARE: f64 = 0.5;
/// What is said where reads are known beside writes alone, and where these have no rate to be compared with.
const BESIDE_ALONE: &str =
    "no job reads alone: reads beside the fewest writes tell the time of the array, all else of reads is the preset's";
const NO_STEADY: &str =
    "reads beside writes need the drive's steady rate: a line named steady, with rw = randwrite and bs = 4k";
/// Ranks of the table's columns.
const COLUMNS: [u32; 4] = [500_000, 900_000, 990_000, 999_000];

/// A fitted device, judged.
#[derive(Debug)]
pub struct Answer {
    /// The text of its file; why there is none, if the model does not follow the drive.
    pub device: Result<String, String>,
    /// The preset that has all other values.
    pub preset: &'static str,
    /// The values that were fitted; none if there is no device.
    pub values: Vec<Fitted>,
    /// Rows of the table: each point with what was measured and what the device does.
    pub rows: Vec<Judged>,
    /// The fit of writes, if jobs told of them.
    pub writes: Option<Written>,
    /// What was left out, and what is doubtful.
    pub remarks: Vec<String>,
    /// A sentence for each use.
    pub sentences: Vec<String>,
}

/// A point beside the device.
#[derive(Debug)]
pub struct Judged {
    /// The point.
    pub point: Point,
    /// Whether values were fitted to it.
    pub is_fitted: bool,
    /// What the device does.
    pub figures: Figures,
}

impl Judged {
    /// Modelled over measured mean, less one.
    pub fn mean_error(&self) -> f64 {
        self.figures.mean_us / self.point.mean_us - 1.0
    }

    /// The same of a quantile; `None` where it was not measured.
    pub fn error(&self, millionths: u32) -> Option<f64> {
        Some(self.figures.exactly(millionths)? / self.point.exactly(millionths)? - 1.0)
    }
}

/// What a fit is made of.
#[derive(Clone, Copy, Debug)]
pub struct Probes<'a> {
    /// What was measured.
    pub points: &'a [Point],
    /// The preset to begin with; without one those that are usual.
    pub preset: Option<&'a str>,
    /// What the drive's logs say of its steady writes.
    pub amplification: Option<Amplification>,
}

/// Fits a device, and calls `progress` with the share that is done.
///
/// # Errors
/// Points that tell nothing of a drive, or a run that fails.
pub fn fit(probes: &Probes<'_>, effort: Effort, progress: &dyn Fn(f64)) -> Result<Answer, FitError> {
    let (loads, others) = writes::sorted(probes.points)?;
    let no_device = |why: String| FitError::Input(format!("no device is fitted: {why}"));
    let is_beside_alone = loads.tell_reads();
    let mut sorted = if !is_beside_alone {
        doubts::sort(&others).map_err(no_device)?
    } else if loads.tell() {
        Sorted { remarks: vec![BESIDE_ALONE.into()], ..Sorted::default() }
    } else {
        return Err(no_device(NO_STEADY.into()));
    };
    sorted.remarks.extend(loads.left_out());
    let share = if loads.tell() { READS_SHARE } else { 1.0 };
    let of_reads = |done: f64| progress(share * done);
    let mut found = if is_beside_alone {
        kept(probes.preset)?
    } else {
        search(&sorted.fitted, probes.preset, sorted.repetition.unwrap_or(0.0), effort, &of_reads)?
    };
    let ratio = probes.amplification.and_then(Amplification::ratio);
    let of_writes = |done: f64| progress(share + (1.0 - share) * done);
    let written = writes::fit(&mut found.base, &mut found.best.values, &loads, ratio, effort, &of_writes)?;
    let rows = judge(&sorted, &found, effort)?;
    let mut sentences = sentences(&rows, &sorted);
    match &written {
        Some(written) => sentences.extend(written.sentences()),
        None => sentences
            .extend(["reads among writes: not measured", "writes, bursts and sustained: not measured"].map(Into::into)),
    }
    sentences.extend(probes.amplification.map(Amplification::sentence));
    let mut values = Vec::new();
    let errors: Vec<(bool, f64)> = match &written {
        Some(written) if is_beside_alone => mixed::errors(&written.beside),
        _ => rows.iter().map(|row| (row.is_fitted, row.mean_error())).collect(),
    };
    let device = match why_none(&errors, sorted.repetition) {
        Some(why) => Err(format!("no device is written: {why}")),
        None => {
            let worst = rows.iter().filter(|row| !row.is_fitted).map(|row| row.mean_error().abs()).reduce(f64::max);
            let reads = match worst {
                _ if is_beside_alone => "not measured",
                Some(worst) if worst <= HOLDS => "measured",
                _ => "bounded",
            };
            let writes = written.as_ref().map_or("not measured", Written::word);
            let mixed = written.as_ref().map_or("not measured", |written| mixed::word(&written.beside));
            let about = |key: &str| written.as_ref()?.about(key);
            values = device_file::values(&found, &about);
            let fitted = if is_beside_alone { loads.fitted_beside() } else { sorted.fitted };
            Ok(device_file::text(&found, &fitted, &sentences, [reads, mixed, writes], &values))
        }
    };
    let preset = found.base.preset;
    Ok(Answer { device, preset, values, rows, writes: written, remarks: sorted.remarks, sentences })
}

/// Why there is no device that does as the drive did, by the errors of means that were fitted and held out.
fn why_none(errors: &[(bool, f64)], repetition: Option<f64>) -> Option<String> {
    let middle = |is_fitted: bool| {
        let of = errors.iter().filter(|(fitted, _)| *fitted == is_fitted);
        let mut means: Vec<f64> = of.map(|(_, off)| off.abs()).collect();
        means.sort_by(f64::total_cmp);
        means.get(means.len() / 2).copied().filter(|&middle| middle > NOTHING_HOLDS)
    };
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    if let Some(apart) = repetition.filter(|&apart| apart > NOTHING_HOLDS) {
        let apart = percent(apart);
        return Some(format!(
            "a job that was run again differs by {apart}; find what changed meanwhile, and measure again"
        ));
    }
    let off = |what: &str, middle| format!("half of the {what} means are off by {} or more", percent(middle));
    middle(false).map(|middle| off("held-out", middle)).or_else(|| middle(true).map(|middle| off("fitted", middle)))
}

fn judge(sorted: &Sorted<'_>, found: &Found, effort: Effort) -> Result<Vec<Judged>, FitError> {
    let mut points: Vec<(&Point, bool)> = sorted.fitted.iter().map(|&point| (point, true)).collect();
    points.extend(sorted.held_out.iter().map(|&point| (point, false)));
    points.sort_by_key(|(point, _)| (point.access != Access::Random, point.bytes, point.depth, point.threads));
    let all: Vec<&Point> = points.iter().map(|(point, _)| *point).collect();
    let figures = found.base.run_all(&found.best.values, &all, effort.shown)?;
    let rows = points.into_iter().zip(figures);
    Ok(rows.map(|((point, is_fitted), figures)| Judged { point: point.clone(), is_fitted, figures }).collect())
}

/// A sentence for each use: small reads, larger ones, skewed ones, and what was not measured.
fn sentences(rows: &[Judged], sorted: &Sorted<'_>) -> Vec<String> {
    let least = rows.iter().map(|row| row.point.bytes).min().unwrap_or_default();
    type Which = fn(&Judged, u64) -> bool;
    let uses: [(&str, Which); 3] = [
        ("random reads of the smallest size", |row, least| {
            row.point.bytes == least && row.point.access == Access::Random
        }),
        ("larger random reads", |row, least| row.point.bytes > least && row.point.access == Access::Random),
        ("skewed reads", |row, _| row.point.access != Access::Random),
    ];
    let mut sentences = Vec::new();
    for (what, which) in uses {
        let of: Vec<&Judged> = rows.iter().filter(|row| which(row, least) && !row.is_fitted).collect();
        let worst = |errors: &mut dyn Iterator<Item = f64>| errors.map(f64::abs).reduce(f64::max);
        let part = |name: &str, error: Option<f64>| match error {
            Some(error) => format!("{name} within {:.0} %", (100.0 * error).ceil()),
            None => format!("{name} not measured"),
        };
        if of.is_empty() {
            let fitted = rows.iter().any(|row| which(row, least));
            sentences
                .push(format!("{what}: not {}", if fitted { "judged, as no job was held out" } else { "measured" }));
            continue;
        }
        let parts = [
            part("means", worst(&mut of.iter().map(|row| row.mean_error()))),
            part("p99", worst(&mut of.iter().filter_map(|row| row.error(990_000)))),
            part("p99.9", worst(&mut of.iter().filter_map(|row| row.error(999_000)))),
        ];
        let jobs = shown::counted(of.len(), "held-out job");
        sentences.push(format!("{what}: {} ({jobs})", parts.join(", ")));
    }
    sentences.push(match sorted.repetition {
        Some(0.0) => {
            "repetitions of a job are equal, as those of a model are: of a drive's repeatability that says nothing"
                .into()
        }
        Some(off) => format!("repetitions of a job differ by up to {:.1} %", 100.0 * off),
        None => "repeatability: not measured, as no job was run twice".into(),
    });
    sentences
}

impl Answer {
    /// The rows of the table.
    pub fn table(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.iter().map(row).collect();
        rows.extend(self.writes.iter().flat_map(|writes| &writes.rows).map(row_of_writes));
        rows.extend(self.writes.iter().flat_map(|writes| &writes.beside).flat_map(rows_beside));
        rows
    }

    /// The table and all that is to be said, as text.
    pub fn text(&self) -> String {
        let mut text = render("job", &self.table());
        for remark in &self.remarks {
            text += &format!("\nwarning: {remark}");
        }
        text += if self.remarks.is_empty() { "\n" } else { "\n\n" };
        for sentence in &self.sentences {
            text += &format!("{sentence}\n");
        }
        text
    }
}

fn row(judged: &Judged) -> Row {
    let Judged { point, is_fitted, figures } = judged;
    let pair = |rank: u32| [point.exactly(rank), figures.exactly(rank)].map(|us| us.unwrap_or(f64::NAN));
    let mut cells: Vec<[f64; 2]> = COLUMNS.map(pair).into();
    cells.push([point.mean_us, figures.mean_us]);
    cells.push([point.iops, figures.iops]);
    Row::new(Kind::Reads, [&point.name, &point.load(), "reads, us"], *is_fitted, cells)
}

/// Times in the order of the table's columns.
fn times([measured, modelled]: &[Figures; 2]) -> Vec<[f64; 2]> {
    let pair = |rank: u32| [measured.exactly(rank), modelled.exactly(rank)].map(|us| us.unwrap_or(f64::NAN));
    COLUMNS.map(pair).into_iter().chain([[measured.mean_us, modelled.mean_us]]).collect()
}

fn rows_beside(beside: &Beside) -> impl Iterator<Item = Row> {
    let load = match beside.rate {
        Some(rate) => format!("4 KiB, {rate} writes a second"),
        None => "4 KiB, as many writes as can be".into(),
    };
    let row =
        |of: &str, is_fitted, figures| Row::new(Kind::Beside, [&beside.name, &load, of], is_fitted, times(figures));
    let writes = beside.writes.as_ref().map(|figures| row("writes, us", false, figures));
    [row("reads, us", beside.is_fitted, &beside.reads)].into_iter().chain(writes)
}

fn row_of_writes(row: &WriteRow) -> Row {
    let [measured, modelled] = &row.figures;
    let mean = [measured.mean_us, modelled.mean_us];
    let rate = |unit: f64| vec![[measured.iops / unit, modelled.iops / unit]];
    let (kind, load, what, cells) = match row.about {
        About::Lone => (Kind::Beside, "4 KiB, depth 1", "writes, us", times(&row.figures)),
        About::Burst => (Kind::Rates, "128 KiB in sequence", "MB/s", rate(1e6)),
        About::Steady => (Kind::Rates, "4 KiB, overwrites", "writes a second", rate(1.0)),
        About::Amplification => (Kind::Amplification, "steady writes", "physical over host", vec![mean]),
    };
    Row::new(kind, [&row.name, load, what], row.is_fitted, cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_device_where_fitted_or_held_out_means_or_repetitions_are_far_off() {
        let why = |fitted: f64, held_out: f64, repetition| {
            why_none(&[(true, fitted), (false, held_out)], repetition).unwrap_or_default()
        };
        assert_eq!(why(0.25, -0.25, Some(0.25)), "");
        assert_eq!(why(0.0, 0.26, None), "half of the held-out means are off by 26 % or more");
        assert_eq!(why(-0.3, 0.0, None), "half of the fitted means are off by 30 % or more");
        assert!(why(0.0, 0.0, Some(9.0)).starts_with("a job that was run again differs by 900 %"));
        assert_eq!(why_none(&[(true, 0.1)], None), None, "none was held out");
    }
}
