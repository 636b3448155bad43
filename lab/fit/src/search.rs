//! The search for values of a device whose reads are those that were measured.
//!
//! How many units work at once is enumerated, because whole numbers have no slope; the other values are searched by a simplex for each. All
//! that was tried is kept: a value's interval is of all that fit as well, whatever the other values were.

use crate::error::FitError;
use crate::model::{Base, Values};
use crate::point::{Figures, Point};
use crate::simplex::least;

/// How long is searched.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Requests of a run, of depth 1.
    pub requests: u64,
    /// Evaluations for each number of chips, on the smallest reads.
    pub each: usize,
    /// Evaluations for the best of these together, on all points; their runs have three times the requests.
    pub best: usize,
    /// Requests of a run that is shown, of depth 1.
    pub shown: u64,
}

impl Effort {
    /// What users get.
    pub const FULL: Effort = Effort { requests: 6_000, each: 14, best: 300, shown: 60_000 };
    /// For tests by day.
    pub const SHORT: Effort = Effort { requests: 3_000, each: 10, best: 105, shown: 20_000 };
}

/// Numbers of chips of a channel that are tried.
const CHIPS: [u32; 11] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24];
/// Numbers of chips, the best on the smallest reads, from which all is searched.
const STARTS: usize = 5;
/// Presets that a fit may start from, if the user names none: one for each number of planes of a die.
const PRESETS: [&str; 3] = ["modern-tlc", "client-tlc", "samsung-980-pro-1tb"];
/// No flash reads a page in less, us.
const FASTEST_FLASH_US: f64 = 5.0;
/// What is compared, and how much it counts: mean, then quantiles by rank.
const MEAN: f64 = 8.0;
const QUANTILES: [(u32, f64); 4] = [(500_000, 1.0), (900_000, 1.0), (990_000, 1.0), (999_000, 0.25)];
/// Differences beyond this count in proportion, not by their square: what the model cannot follow must not spoil the rest.
const LARGE: f64 = 0.1;
/// The least difference that tells values apart, as repetitions of fio's histograms differ by as much.
const LEAST_DIFFERENCE: f64 = 0.01;

/// What was tried.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// The values.
    pub values: Values,
    /// How far the model was from the points, as a logarithm.
    pub error: f64,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The preset that all other values are of.
    pub base: Base,
    /// The best; where a command's time is not told, the best with the preset's.
    pub best: Tried,
    /// All, in the order in which they were tried.
    pub tried: Vec<Tried>,
    /// Errors up to this are as good.
    pub as_good: f64,
    /// The fewest and the most chips of a channel that fit the smallest reads as well.
    pub chips: [u32; 2],
}

/// Whether the time of a command is searched, or stays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Command {
    Searched,
    Kept,
}

/// A search: what it is about, and how far it is.
struct Search<'a> {
    points: &'a [&'a Point],
    requests: u64,
    made: usize,
    all: usize,
    progress: &'a dyn Fn(f64),
    tried: Vec<Tried>,
}

/// Searches for the values of a device that fit `points`, of which repetitions differ by `repetition`, and calls `progress` with the share that
/// is done.
///
/// # Errors
/// No device of these presets can be built, or there is no such preset.
pub fn search(
    points: &[&Point],
    preset: Option<&str>,
    repetition: f64,
    effort: Effort,
    progress: &dyn Fn(f64),
) -> Result<Found, FitError> {
    let names: Vec<&str> = preset.map_or_else(|| PRESETS.to_vec(), |name| vec![name]);
    let least = lone(points).bytes;
    let small: Vec<&Point> = points.iter().copied().filter(|point| point.bytes == least).collect();
    let all = names.len() * CHIPS.len() * effort.each + effort.best + effort.best / STARTS;
    let mut coarse = Search { points: &small, requests: effort.requests, made: 0, all, progress, tried: Vec::new() };
    let mut best: Option<(Base, Vec<Tried>)> = None;
    for name in &names {
        let base = Base::named(name)?;
        coarse.tried.clear();
        for chips in CHIPS.into_iter().filter(|&chips| can_serve(&base, chips, points)) {
            coarse.descend(&base, start(&base, chips, points), effort.each, 0.25, Command::Searched);
        }
        let is_better = best.as_ref().is_none_or(|(_, other)| least_of(&coarse.tried).error < least_of(other).error);
        if !coarse.tried.is_empty() && is_better {
            best = Some((base, coarse.tried.clone()));
        }
    }
    let (base, tried) = best.ok_or_else(|| {
        FitError::Input(format!(
            "no device of {} can serve these points; --preset names another to start from",
            names.join(", ")
        ))
    })?;
    let mut fine =
        Search { points, requests: 3 * effort.requests, made: coarse.made, all, progress, tried: Vec::new() };
    for from in best_by_chips(&tried).into_iter().take(STARTS) {
        fine.descend(&base, from.values, effort.best / STARTS, 0.1, Command::Searched);
    }
    let best = least_of(&fine.tried);
    let as_good = best.error + repetition.max(LEAST_DIFFERENCE);
    let best = fine.settle(&base, best, as_good, effort.best / STARTS);
    fine.widen(&base, best, as_good);
    // Other numbers of chips were judged on the smallest reads alone, by which they may be as good.
    let as_good_small = least_of(&tried).error + repetition.max(LEAST_DIFFERENCE);
    let others = best_by_chips(&tried).into_iter().filter(|tried| tried.error <= as_good_small);
    let chips = others.map(|tried| tried.values.chips).chain([best.values.chips]);
    let chips = chips.fold([u32::MAX, 0], |[low, high], chips| [low.min(chips), high.max(chips)]);
    progress(1.0);
    Ok(Found { best, base, tried: fine.tried, as_good, chips })
}

/// Whether so many units need not be faster than any flash to make the fastest rate.
fn can_serve(base: &Base, chips: u32, points: &[&Point]) -> bool {
    let fastest = points.iter().map(|point| point.iops).fold(0.0, f64::max);
    1e6 * f64::from(base.units(chips)) / fastest > FASTEST_FLASH_US
}

/// The best for each number of chips, the best of all first.
fn best_by_chips(tried: &[Tried]) -> Vec<Tried> {
    let of = |chips: u32| tried.iter().filter(move |tried| tried.values.chips == chips);
    let mut best: Vec<Tried> =
        CHIPS.iter().filter_map(|&chips| of(chips).copied().min_by(|a, b| a.error.total_cmp(&b.error))).collect();
    best.sort_by(|a, b| a.error.total_cmp(&b.error));
    best
}

fn least_of(tried: &[Tried]) -> Tried {
    tried.iter().copied().min_by(|a, b| a.error.total_cmp(&b.error)).expect("something was tried")
}

/// The root of the mean square of logarithms of modelled over measured, of all that is compared.
pub fn error(points: &[&Point], figures: &[Figures]) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    let mut add = |measured: f64, modelled: f64, weight: f64| {
        let off = (modelled / measured).ln().abs();
        sum += weight * if off < LARGE { off * off } else { LARGE * (2.0 * off - LARGE) };
        weights += weight;
    };
    for (point, figures) in points.iter().zip(figures) {
        add(point.mean_us, figures.mean_us, MEAN);
        for (rank, weight) in QUANTILES {
            if let (Some(measured), Some(modelled)) = (point.exactly(rank), figures.exactly(rank)) {
                add(measured, modelled, weight);
            }
        }
    }
    (sum / weights).sqrt()
}

/// The shallowest point of the smallest reads.
fn lone<'a>(points: &[&'a Point]) -> &'a Point {
    points.iter().min_by_key(|point| (point.depth, point.bytes)).expect("a fit has points")
}

/// How much longer the second and the third page of a wordline take, us: latencies of lone reads have a step for each.
fn steps(base: &Base, points: &[&Point]) -> [f64; 2] {
    let own = base.values().read_us;
    let lone = lone(points);
    let highest = lone.exactly(900_000).or_else(|| lone.quantile(833_333));
    let (Some(middle), Some(high)) = (lone.quantile(500_000), highest) else {
        return [own[1] - own[0], own[2] - own[0]];
    };
    // Without a low quantile the mean tells: it is that of the three.
    let low = lone.quantile(166_667).unwrap_or(3.0 * lone.mean_us - middle - high).clamp(0.5 * middle, middle);
    [middle - low, high - low]
}

/// Where the search with this number of chips begins.
fn start(base: &Base, chips: u32, points: &[&Point]) -> Values {
    let mut values = Values { chips, ..base.values() };
    let fastest = points.iter().map(|point| point.iops).fold(1.0, f64::max);
    let bytes = points.iter().map(|point| point.iops * point.bytes as f64).fold(1.0, f64::max);
    values.command_us = 0.9e6 / fastest;
    values.link_gb_s = if points.iter().any(|point| point.bytes > 8_192) {
        1.1 * bytes / 1e9
    } else {
        values.link_gb_s.max(1.5 * bytes / 1e9)
    };
    // As many units as there are serve the fastest rate at three quarters of their time.
    let most = 0.75e6 * f64::from(base.units(chips)) / fastest;
    let total = lone(points).mean_us;
    let read = most.min(0.75 * total);
    assembled(base, values, total, read, points)
}

/// `values` with arrays of `read` and all else so that a lone read takes `total`, us.
fn assembled(base: &Base, mut values: Values, total: f64, read: f64, points: &[&Point]) -> Values {
    let [second, third] = steps(base, points);
    let first = (read - (second + third) / 3.0).max(1.0);
    values.read_us = [first, first + second, first + third];
    let bytes = lone(points).bytes;
    let transfers = base.transfer_us(&values, bytes) + bytes as f64 / values.link_gb_s / 1e3;
    values.link_us = ((total - read - transfers - values.command_us) / 2.0).max(0.0);
    values
}

impl Search<'_> {
    fn evaluate(&mut self, base: &Base, values: Values) -> f64 {
        self.made += 1;
        (self.progress)((self.made as f64 / self.all as f64).min(1.0));
        // Values of which no device can be built are as bad as can be, and tell nothing.
        let Ok(figures) = base.run_all(&values, self.points, self.requests) else { return f64::INFINITY };
        let error = error(self.points, &figures);
        self.tried.push(Tried { values, error });
        error
    }

    /// A simplex over what a lone read takes, its array time, the bus, the command if it is searched, and the link where sizes tell it; all as
    /// logarithms.
    fn descend(&mut self, base: &Base, from: Values, most: usize, step: f64, command: Command) {
        let points = self.points;
        let sizes = points.iter().any(|point| point.bytes > 8_192);
        let read = from.read_us.iter().sum::<f64>() / 3.0;
        let bytes = lone(points).bytes;
        let transfers = base.transfer_us(&from, bytes) + bytes as f64 / from.link_gb_s / 1e3;
        let total = read + transfers + from.command_us + 2.0 * from.link_us;
        let mut start = vec![total.ln(), read.ln(), from.bus.ln()];
        start.extend((command == Command::Searched).then_some(from.command_us.ln()));
        start.extend(sizes.then_some(from.link_gb_s.ln()));
        let values = |at: &[f64]| {
            let mut others = at[3..].iter().map(|at| at.exp());
            let mut next = |is_searched: bool, own: f64| if is_searched { others.next().unwrap_or(own) } else { own };
            let command_us = next(command == Command::Searched, from.command_us);
            let link_gb_s = next(sizes, from.link_gb_s);
            let values = Values { bus: at[2].exp(), command_us, link_gb_s, ..from };
            assembled(base, values, at[0].exp(), at[1].exp(), points)
        };
        least(&start, step, most, |at| {
            let is_sane = at.iter().all(|at| (-7.0..=12.0).contains(at));
            if is_sane { self.evaluate(base, values(at)) } else { f64::INFINITY }
        });
    }

    /// The best with the preset's time of a command, if that fits as well: what it limits is the rate of deeper queues than were measured, and a
    /// time of which the points do not tell must not limit them.
    fn settle(&mut self, base: &Base, best: Tried, as_good: f64, most: usize) -> Tried {
        let from = Values { command_us: base.values().command_us, ..best.values };
        let first = self.tried.len();
        self.descend(base, from, most, 0.05, Command::Kept);
        let settled = self.tried[first..].iter().copied().min_by(|a, b| a.error.total_cmp(&b.error));
        settled.filter(|settled| settled.error <= as_good).unwrap_or(best)
    }

    /// Tries each value alone beyond those that fit as well, until it fits no more: what the search had no cause to try would else look
    /// measured.
    fn widen(&mut self, base: &Base, best: Tried, as_good: f64) {
        type Change = fn(&mut Values, f64);
        let changes: [Change; 5] = [
            |v, by| v.bus *= by,
            |v, by| v.command_us *= by,
            |v, by| v.link_us *= by,
            |v, by| v.link_gb_s *= by,
            |v, by| v.read_us = v.read_us.map(|us| us * by),
        ];
        for change in changes {
            for factors in [[1.02, 1.06, 1.2, 1.6, 3.0, 9.0], [0.98, 0.94, 0.83, 0.6, 0.33, 0.11]] {
                for by in factors {
                    let mut values = best.values;
                    change(&mut values, by);
                    if self.evaluate(base, values) > as_good {
                        break;
                    }
                }
            }
        }
    }
}
