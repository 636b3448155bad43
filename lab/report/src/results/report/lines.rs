//! Response times as the page's charts draw them: the distribution and the windows over time of each flow and of all together.
//!
//! Promises that a page of many schedulers and flows stays small: with more than [`MAX_VALUES`] windows neighbours are joined, and
//! distributions have fewer points. `assets/report/charts.js` draws them.

use serde::Serialize;

use super::codes::Codes;
use crate::results::flow_stats::{Cdf, FlowStats, ResponseStats, Series};
use crate::results::summary::{SchedulerResult, Summary};

/// The most windows of a page, those of the mean and those of p99.
const MAX_VALUES: usize = 1_500_000;
/// The most windows of a series at first; the summary has no more.
const MAX_WINDOWS: usize = 200;
/// The most points of all distributions of a page, before the named ones.
const MAX_POINTS: usize = 500_000;
/// Percentiles that every distribution has.
const NAMED: [f64; 10] = [0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999];

/// The lines of all runs.
#[derive(Serialize)]
pub(super) struct Lines {
    /// The times of the lowest and of the highest code, ns.
    least_ns: f64,
    most_ns: f64,
    /// The shares of the requests for which distributions say how long they took.
    shares: Vec<f64>,
    /// Whether windows were joined.
    joined: bool,
    /// Width of the windows, ns: by run, and in it all flows together, then each flow. A single flow is all together.
    width_ns: Vec<Vec<u64>>,
    all: Part,
    read: Part,
    write: Part,
}

/// The lines of one kind of request, in the order of `width_ns`. Where a kind has as many requests as all kinds together it has their
/// lines too, and none here.
#[derive(Serialize, Default)]
struct Part {
    /// The least and the most in any window, ns.
    range_ns: (f64, f64),
    requests: Vec<Vec<u64>>,
    /// The time of each of the shares.
    cdf: Vec<Vec<String>>,
    /// Windows from the beginning of the run on.
    mean: Vec<Vec<String>>,
    p99: Vec<Vec<String>>,
}

/// A window of one or several of the summary's.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Window {
    requests: u64,
    /// Sum of the response times, ns.
    sum: f64,
    p99: f64,
}

/// The windows of one kind of request of a flow.
#[derive(Clone, Debug)]
struct Windows {
    width: u64,
    /// From the beginning of the run on; empty ones have no requests.
    all: Vec<Window>,
}

impl Windows {
    fn of(series: &Series, width: u64) -> Windows {
        let mut all = Vec::new();
        for (i, &at) in series.at_ns.iter().enumerate() {
            let place = (at / width.max(1)) as usize;
            all.resize(place + 1, Window::default());
            let requests = series.requests[i];
            all[place] =
                Window { requests, sum: series.mean_ns[i] as f64 * requests as f64, p99: series.p99_ns[i] as f64 };
        }
        Windows { width, all }
    }

    /// Joins each second window to the one before it. Of p99 the larger stays: what it is for both cannot be known.
    fn halve(&mut self) {
        self.width *= 2;
        let join = |pair: &[Window]| Window {
            requests: pair.iter().map(|window| window.requests).sum(),
            sum: pair.iter().map(|window| window.sum).sum(),
            p99: pair.iter().map(|window| window.p99).fold(0.0, f64::max),
        };
        self.all = self.all.chunks(2).map(join).collect();
    }

    fn figures(&self, of: impl Fn(&Window) -> f64) -> impl Iterator<Item = Option<f64>> {
        self.all.iter().map(move |window| (window.requests > 0).then(|| of(window)))
    }
}

fn mean(window: &Window) -> f64 {
    window.sum / window.requests as f64
}

fn p99(window: &Window) -> f64 {
    window.p99
}

/// What is drawn of one kind of request of a flow.
struct Line<'a> {
    responses: Option<&'a ResponseStats>,
    windows: Windows,
}

/// All lines of a flow: those of all requests, and of reads and writes where they are others.
fn lines(figures: &FlowStats) -> [Option<Line<'_>>; 3] {
    let over = &figures.over_time;
    let line = |responses, series| Line { responses, windows: Windows::of(series, over.width_ns) };
    let own = |responses: &'_ Option<ResponseStats>| {
        responses.as_ref().is_some_and(|own| figures.all.as_ref().is_some_and(|all| own.requests < all.requests))
    };
    [
        Some(line(figures.all.as_ref(), &over.all)),
        own(&figures.read).then(|| line(figures.read.as_ref(), &over.read)),
        own(&figures.write).then(|| line(figures.write.as_ref(), &over.write)),
    ]
}

impl Lines {
    pub(super) fn of(summary: &Summary) -> Lines {
        let figures: Vec<Vec<&FlowStats>> = summary.schedulers.iter().map(figures).collect();
        let mut drawn: Drawn<'_> =
            figures.iter().map(|run| run.iter().map(|figures| lines(figures)).collect()).collect();
        let joined = join(&mut drawn);
        let responses = || every(&drawn).filter_map(|line| line.responses);
        let shares = shares(responses().map(|of| &of.cdf));
        let ends = responses().flat_map(|of| [of.cdf.at_most_ns.first(), of.cdf.at_most_ns.last()]).flatten();
        let windows = every(&drawn).flat_map(|line| line.windows.figures(mean).chain(line.windows.figures(p99)));
        let codes = Codes::over(windows.flatten().chain(ends.map(|&ns| ns as f64)));
        let width = |flow: &[Option<Line<'_>>; 3]| flow[0].as_ref().map_or(0, |line| line.windows.width);
        let width_ns = drawn.iter().map(|run| run.iter().map(width).collect()).collect();
        let [all, read, write] = [0, 1, 2].map(|kind| Part::of(&drawn, &figures, kind, codes, &shares));
        Lines { least_ns: codes.least, most_ns: codes.most, shares, joined, width_ns, all, read, write }
    }
}

/// The lines of each run, in it of all flows together and of each, in it of all requests, of reads and of writes.
type Drawn<'a> = Vec<Vec<[Option<Line<'a>>; 3]>>;

fn every<'d, 'a>(drawn: &'d Drawn<'a>) -> impl Iterator<Item = &'d Line<'a>> {
    drawn.iter().flatten().flatten().flatten()
}

/// Joins windows until a page has at most [`MAX_VALUES`]; returns whether it joined any.
fn join(drawn: &mut Drawn<'_>) -> bool {
    let mut most = MAX_WINDOWS;
    while 2 * every(drawn).map(|line| line.windows.all.len()).sum::<usize>() > MAX_VALUES && most > 1 {
        most /= 2;
        for flow in drawn.iter_mut().flatten() {
            // The kinds of a flow have windows of one width.
            while flow.iter().flatten().any(|line| line.windows.all.len() > most) {
                flow.iter_mut().flatten().for_each(|line| line.windows.halve());
            }
        }
    }
    most < MAX_WINDOWS
}

/// The figures of a run that have lines: of all flows together, and of each where there are several.
fn figures(run: &SchedulerResult) -> Vec<&FlowStats> {
    let each = run.flows.iter().filter(|_| run.flows.len() > 1).map(|flow| &flow.figures);
    std::iter::once(&run.total).chain(each).collect()
}

impl Part {
    fn of(drawn: &Drawn<'_>, figures: &[Vec<&FlowStats>], kind: usize, codes: Codes, shares: &[f64]) -> Part {
        let mut part = Part::default();
        let mut range = (f64::INFINITY, 0.0f64);
        for (run, figures) in drawn.iter().zip(figures) {
            let requests = figures.iter().map(|figures| {
                let responses = [&figures.all, &figures.read, &figures.write][kind];
                responses.as_ref().map_or(0, |own| own.requests)
            });
            part.requests.push(requests.collect());
            let text = |of: &dyn Fn(&Line<'_>) -> String| -> Vec<String> {
                run.iter().map(|flow| flow[kind].as_ref().map_or_else(String::new, of)).collect()
            };
            part.cdf.push(text(&|line| {
                let Some(responses) = line.responses else { return String::new() };
                codes.text(shares.iter().map(|&share| Some(at(&responses.cdf, share) as f64)))
            }));
            part.mean.push(text(&|line| codes.text(line.windows.figures(mean))));
            part.p99.push(text(&|line| codes.text(line.windows.figures(p99))));
            // Where a kind is all there is, its range is that of all.
            let shown = run.iter().filter_map(|flow| flow[kind].as_ref().or(flow[0].as_ref()));
            for time in shown.flat_map(|line| line.windows.figures(mean).chain(line.windows.figures(p99))).flatten() {
                range = (range.0.min(time.max(1.0)), range.1.max(time));
            }
        }
        part.range_ns = (range.0.min(range.1), range.1);
        part
    }
}

/// How far a share is from 1, in powers of ten.
fn nines(share: f64) -> f64 {
    -libm::log10(1.0 - share)
}

/// For which shares a page's distributions are given: as many at equal distances as at equal ratios of what is beyond, fewer where there
/// are many distributions, and the percentiles that have a name.
fn shares<'a>(cdfs: impl Iterator<Item = &'a Cdf>) -> Vec<f64> {
    let (mut count, mut requests) = (0usize, 2u64);
    for cdf in cdfs {
        count += 1;
        requests = requests.max(cdf.requests.last().copied().unwrap_or(0));
    }
    // As far as the chart goes: up to where ten requests take longer.
    let top = nines(1.0 - 10.0 / requests.max(20) as f64);
    let last = nines(1.0 - 0.5 / requests as f64).max(1.0);
    let points = (MAX_POINTS / 2 / count.max(1)).clamp(24, 200);
    let even = (0..=points).map(|i| i as f64 / points as f64);
    let beyond = (0..points).map(|i| 1.0 - libm::pow(10.0, -top * i as f64 / (points - 1) as f64));
    let mut all: Vec<f64> = even.chain(beyond).chain(NAMED.into_iter().filter(|&share| nines(share) <= last)).collect();
    // Nine digits, as the page has them.
    all.iter_mut().for_each(|share| *share = (*share * 1e9).round() / 1e9);
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// The response time within which a share of the requests finished, ns.
fn at(cdf: &Cdf, share: f64) -> u64 {
    let total = cdf.requests.last().copied().unwrap_or(0);
    let rank = ((share * total as f64 - 1e-9).ceil() as u64).clamp(1, total.max(1));
    let place = cdf.requests.partition_point(|&upto| upto < rank);
    cdf.at_most_ns.get(place).or(cdf.at_most_ns.last()).copied().unwrap_or(0)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
