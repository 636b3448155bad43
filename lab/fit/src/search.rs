//! The search for values of a device whose reads are those that were measured.
//!
//! How many units work at once is enumerated for each preset, because whole numbers have no slope; the other values are searched by least squares, first on the
//! smallest reads, then on all. All that was tried is kept: a value's interval is of all that fit as well, whatever the other values were.

use std::cell::Cell;

use crate::error::FitError;
use crate::least_squares::{Least, least, solved};
use crate::model::{Base, Values};
use crate::point::{Figures, Point};

/// How long is searched.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Requests of a run, of depth 1.
    pub requests: u64,
    /// Evaluations for each number of chips, on the smallest reads.
    pub each: usize,
    /// Evaluations for each of the best of these, on all points; their runs have three times the requests. To choose among presets half of them are enough.
    pub best: usize,
    /// Requests of a run that is shown, of depth 1.
    pub shown: u64,
}

impl Effort {
    /// What users get.
    pub const FULL: Effort = Effort { requests: 3_000, each: 12, best: 30, shown: 60_000 };
    /// For tests by day.
    pub const SHORT: Effort = Effort { requests: 2_000, each: 10, best: 20, shown: 20_000 };
}

/// Numbers of chips of a channel that are tried.
const CHIPS: [u32; 11] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24];
/// Numbers of chips of each preset, the best on the smallest reads, from which is searched on all points; and of the best preset those from which that goes on.
const STARTS: [usize; 2] = [3, 2];
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
pub const LEAST_DIFFERENCE: f64 = 0.01;

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
    /// All, in the order in which they were tried; none if no reads alone were measured.
    pub tried: Vec<Tried>,
    /// Errors up to this are as good.
    pub as_good: f64,
    /// The fewest and the most chips of a channel that fit the smallest reads as well.
    pub chips: [u32; 2],
    /// By how much the points fit worse to data that lies otherwise, as a logarithm; none if no larger reads tell it.
    pub laid: Option<f64>,
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
    count: &'a dyn Fn(),
    tried: Vec<Tried>,
}

/// What was tried of a preset, on the smallest reads and on all.
struct Tries<'a> {
    base: Base,
    /// Whether data lies as the preset says.
    is_own: bool,
    coarse: Vec<Tried>,
    fine: Search<'a>,
}

impl Tries<'_> {
    fn error(&self) -> f64 {
        least_of(&self.fine.tried).error
    }
}

/// Puts the best first. Data lies as in its preset, unless that fits worse: writes and other reads depend on it. Returns by how much data that lies otherwise fits
/// worse, if that was tried.
fn best_first(found: &mut [Tries<'_>]) -> Option<f64> {
    found.sort_by(|a, b| a.error().total_cmp(&b.error()));
    let other = (1..found.len()).find(|&other| found[other].base.preset == found[0].base.preset)?;
    let worse = found[other].error() - found[0].error();
    if found[0].is_own || worse > LEAST_DIFFERENCE {
        return Some(worse);
    }
    found.swap(0, other);
    Some(-worse)
}

/// The preset as it is, where no reads alone were measured.
///
/// # Errors
/// There is no such preset.
pub fn kept(preset: Option<&str>) -> Result<Found, FitError> {
    let base = Base::named(preset.unwrap_or(PRESETS[0]))?;
    let best = Tried { values: base.values(), error: 0.0 };
    Ok(Found { base, best, tried: Vec::new(), as_good: 0.0, chips: [best.values.chips; 2], laid: None })
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
    let ([starts, last], few) = (STARTS, effort.best / 2);
    let all = names.len() * (CHIPS.len() * effort.each + 2 * starts * few) + (last + 1) * effort.best;
    let made = Cell::new(0);
    let count = || {
        made.set(made.get() + 1);
        progress((f64::from(made.get()) / all as f64).min(1.0));
    };
    let least = lone(points).bytes;
    let small: Vec<&Point> = points.iter().copied().filter(|point| point.bytes == least).collect();
    let mut found: Vec<Tries<'_>> = Vec::new();
    for name in &names {
        let mut base = Base::named(name)?;
        let mut coarse = Search { points: &small, requests: effort.requests, count: &count, tried: Vec::new() };
        for chips in CHIPS.into_iter().filter(|&chips| can_serve(&base, chips, points)) {
            coarse.descend(&base, start(&base, chips, points), effort.each, 0.25, Command::Searched);
        }
        // How data lies shows in what is read together.
        let own = base.laid;
        let lays = if has_sizes(points) { vec![own, own.other()] } else { vec![own] };
        for laid in lays {
            base.laid = laid;
            let mut fine = Search { points, requests: 3 * effort.requests, count: &count, tried: Vec::new() };
            for from in best_by_chips(&coarse.tried).into_iter().take(starts) {
                fine.descend(&base, from.values, few, 0.1, Command::Searched);
            }
            found.push(Tries { base: base.clone(), is_own: laid == own, coarse: coarse.tried.clone(), fine });
        }
    }
    found.retain(|tries| !tries.fine.tried.is_empty());
    let laid = best_first(&mut found);
    let Tries { base, coarse, mut fine, .. } = found.into_iter().next().ok_or_else(|| {
        FitError::Input(format!(
            "no device of {} can serve these points; --preset names another to start from",
            names.join(", ")
        ))
    })?;
    for from in best_by_chips(&fine.tried).into_iter().take(last) {
        fine.descend(&base, from.values, effort.best, 0.03, Command::Searched);
    }
    let best = least_of(&fine.tried);
    let as_good = best.error + repetition.max(LEAST_DIFFERENCE);
    let best = fine.settle(&base, best, as_good, effort.best);
    fine.widen(&base, best, as_good);
    // Other numbers of chips were judged on the smallest reads alone, by which they may be as good.
    let as_good_small = least_of(&coarse).error + repetition.max(LEAST_DIFFERENCE);
    let others = best_by_chips(&coarse).into_iter().filter(|tried| tried.error <= as_good_small);
    let chips = others.map(|tried| tried.values.chips).chain([best.values.chips]);
    let chips = chips.fold([u32::MAX, 0], |[low, high], chips| [low.min(chips), high.max(chips)]);
    progress(1.0);
    Ok(Found { best, base, tried: fine.tried, as_good, chips, laid })
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

/// Logarithms of modelled over measured, of all that is compared, weighted: the squares add up to their mean.
pub fn differences(points: &[&Point], figures: &[Figures]) -> Vec<f64> {
    let (mut all, mut weights) = (Vec::new(), 0.0);
    let mut add = |measured: f64, modelled: f64, weight: f64| {
        let off = (modelled / measured).ln();
        let far = off.abs();
        let far = if far < LARGE { far } else { (LARGE * (2.0 * far - LARGE)).sqrt() };
        all.push(weight.sqrt() * far.copysign(off));
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
    all.iter_mut().for_each(|off| *off /= weights.sqrt());
    all
}

/// How far the model is from the points together.
pub fn error(differences: &[f64]) -> f64 {
    differences.iter().map(|off| off * off).sum::<f64>().sqrt()
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

/// Whether reads of several sizes tell of the link, and of how data lies.
fn has_sizes(points: &[&Point]) -> bool {
    points.iter().any(|point| point.bytes > 8_192)
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

/// What is searched, all as logarithms: what a lone read takes, its array time, the bus, the command if it is searched, and the link where sizes tell it.
struct Axes<'a> {
    base: &'a Base,
    from: Values,
    points: &'a [&'a Point],
    command: Command,
}

impl Axes<'_> {
    /// Where the values to begin with are.
    fn place(&self) -> Vec<f64> {
        let Axes { from, .. } = self;
        let read = from.read_us.iter().sum::<f64>() / 3.0;
        let bytes = lone(self.points).bytes;
        let transfers = self.base.transfer_us(from, bytes) + bytes as f64 / from.link_gb_s / 1e3;
        let total = read + transfers + from.command_us + 2.0 * from.link_us;
        let mut place = vec![total.ln(), read.ln(), from.bus.ln()];
        place.extend((self.command == Command::Searched).then_some(from.command_us.ln()));
        place.extend(has_sizes(self.points).then_some(from.link_gb_s.ln()));
        place
    }

    /// The values of a place.
    fn values(&self, at: &[f64]) -> Values {
        let from = self.from;
        let mut others = at[3..].iter().map(|at| at.exp());
        let mut next = |is_searched: bool, own: f64| if is_searched { others.next().unwrap_or(own) } else { own };
        let command_us = next(self.command == Command::Searched, from.command_us);
        let link_gb_s = next(has_sizes(self.points), from.link_gb_s);
        let values = Values { bus: at[2].exp(), command_us, link_gb_s, ..from };
        assembled(self.base, values, at[0].exp(), at[1].exp(), self.points)
    }
}

impl<'a> Search<'a> {
    /// How far a device of these values is from the points; `None` if none can be built.
    fn evaluate(&mut self, base: &Base, values: Values) -> Option<Vec<f64>> {
        (self.count)();
        let figures = base.run_all(&values, self.points, self.requests).ok()?;
        let differences = differences(self.points, &figures);
        self.tried.push(Tried { values, error: error(&differences) });
        Some(differences)
    }

    /// Searches from these values, with about `most` evaluations.
    fn descend(&mut self, base: &Base, from: Values, most: usize, step: f64, command: Command) -> Option<Least> {
        let axes = Axes { base, from, points: self.points, command };
        least(&axes.place(), step, most, |at| {
            let is_sane = at.iter().all(|at| (-7.0..=12.0).contains(at));
            is_sane.then(|| self.evaluate(base, axes.values(at)))?
        })
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

    /// Tries values beyond those that fit as well, until they fit no more: what the search had no cause to try would else look measured. First along each axis with
    /// the others following as the slopes say, then each value alone.
    fn widen(&mut self, base: &Base, best: Tried, as_good: f64) {
        if let Some(Least { at, slopes }) = self.descend(base, best.values, 0, 0.05, Command::Searched) {
            let axes = Axes { base, from: best.values, points: self.points, command: Command::Searched };
            for axis in 0..at.len() {
                let unit: Vec<f64> = (0..at.len()).map(|other| f64::from(u8::from(other == axis))).collect();
                let along = solved(&slopes, 0.0, &unit);
                // By the slopes, the error is then as large as may be.
                let far = (as_good.powi(2) - best.error.powi(2)).max(0.0).sqrt() / along[axis].sqrt();
                for way in [1.0, -1.0] {
                    for part in [0.3, 0.6, 0.9, 1.2, 1.5] {
                        let next = at.iter().zip(&along).map(|(at, by)| at + (way * part * far * by).clamp(-2.0, 2.0));
                        let next: Vec<f64> = next.collect();
                        let off = self.evaluate(base, axes.values(&next));
                        if off.is_none_or(|off| error(&off) > as_good) {
                            break;
                        }
                    }
                }
            }
        }
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
                    if self.evaluate(base, values).is_none_or(|off| error(&off) > as_good) {
                        break;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fit took the other way for a difference of nothing, and with the map that writes need its larger reads took half as long again.
    #[test]
    fn data_lies_as_in_the_preset_unless_that_fits_worse() {
        let base = Base::named("client-tlc").expect("a preset");
        let tries = |is_own: bool, error: f64| {
            let tried = vec![Tried { values: base.values(), error }];
            let fine = Search { points: &[], requests: 0, count: &|| (), tried };
            Tries { base: base.clone(), is_own, coarse: Vec::new(), fine }
        };
        let first = |own: f64, other: f64| {
            let mut found = [tries(true, own), tries(false, other)];
            let worse = best_first(&mut found).expect("both were tried");
            (found[0].is_own, (1e3 * worse).round())
        };
        assert_eq!(first(0.010, 0.030), (true, 20.0));
        assert_eq!(first(0.030, 0.010), (false, 20.0));
        assert_eq!(first(0.015, 0.010), (true, -5.0));
        assert_eq!(best_first(&mut [tries(true, 0.1)]), None);
    }
}
