//! What speaks against a fit: which points cannot be used, what makes all of them doubtful, and when there is nothing to fit.

use crate::jobs;
use crate::point::{Access, Kind, Point};
use crate::read::short;

/// A thread that takes more of a core than this is what was measured.
const CORE_PERCENT: f64 = 90.0;
/// So many times as many requests by more threads at the same depth show that a thread was the limit.
const MORE_BY_THREADS: f64 = 1.05;
/// Flash takes longer than this to read, with its transfer and the host, us.
const FLASH_US: f64 = 12.0;
/// Rates of a drive grow at least this much from its least depth to its greatest.
const GROWTH: f64 = 2.5;
/// Lone reads this much faster than the median had no flash.
const WITHOUT_FLASH: f64 = 0.5;
/// The most reads without flash with which the rest can be fitted.
const MOST_WITHOUT_FLASH: f64 = 0.05;
/// Requests in flight, which are rate times mean, over the depth: a loop has all of them in flight but for the host's time.
const IN_FLIGHT: std::ops::RangeInclusive<f64> = 0.5..=1.5;
/// Differences that are said.
const NOTABLE: f64 = 0.05;

/// The points by use, and what is to be said.
#[derive(Debug, Default)]
pub struct Sorted<'a> {
    /// Those that values are fitted to.
    pub fitted: Vec<&'a Point>,
    /// Those that judge them.
    pub held_out: Vec<&'a Point>,
    /// Sentences: what was left out and why, and what is doubtful.
    pub remarks: Vec<String>,
    /// The largest difference between repetitions of a job, as a share.
    pub repetition: Option<f64>,
}

/// Sorts `points` by use.
///
/// # Errors
/// Points that tell nothing of a drive's flash, in words.
pub fn sort(points: &[Point]) -> Result<Sorted<'_>, String> {
    let mut sorted = Sorted::default();
    // Why there is too little left is in what was left out.
    sort_into(points, &mut sorted)
        .map_err(|why| [vec![why], std::mem::take(&mut sorted.remarks)].concat().join("; "))?;
    Ok(sorted)
}

fn sort_into<'a>(points: &'a [Point], sorted: &mut Sorted<'a>) -> Result<(), String> {
    let mut no_drives: Vec<&str> = points.iter().filter_map(|point| point.no_drive.as_deref()).collect();
    no_drives.sort_unstable();
    no_drives.dedup();
    sorted.remarks.extend(
        no_drives.iter().map(|what| format!("measured was {what}, and no drive: all between is in the device's times")),
    );
    let usable = usable(points, &mut sorted.remarks);
    if usable.is_empty() {
        return Err(
            "no job is of random reads alone with the drive as its limit; flashlane fit --jobs writes such".into()
        );
    }
    let usable = without_limits_of_threads(&usable, &mut sorted.remarks);
    let whole = whole_drive(&usable, &mut sorted.remarks);
    let firsts = repetitions(&whole, sorted);
    structure(&firsts)?;
    without_flash(&firsts, &mut sorted.remarks)?;
    let is_plain = |point: &Point| point.access == Access::Random;
    let mut fitted: Vec<&Point> =
        firsts.iter().copied().filter(|p| is_plain(p) && jobs::is_fitted(p.bytes, p.depth)).collect();
    if fitted.iter().filter(|point| point.bytes == fitted[0].bytes).count() < 3 {
        fitted = every_other(&firsts);
    }
    sorted.held_out = firsts.iter().copied().filter(|point| !fitted.iter().any(|f| std::ptr::eq(*f, *point))).collect();
    sorted.fitted = fitted;
    Ok(())
}

/// Of other depths than the standard ones: the least, the greatest and every other between.
fn every_other<'a>(points: &[&'a Point]) -> Vec<&'a Point> {
    let least = points.iter().map(|point| point.bytes).min().unwrap_or_default();
    let mut series: Vec<&Point> =
        points.iter().copied().filter(|p| p.bytes == least && p.access == Access::Random).collect();
    series.sort_by_key(|point| point.depth);
    let last = series.len().saturating_sub(1);
    series.into_iter().enumerate().filter(|&(index, _)| index % 2 == 0 || index == last).map(|(_, p)| p).collect()
}

/// Random reads whose limit is the drive.
fn usable<'a>(points: &'a [Point], remarks: &mut Vec<String>) -> Vec<&'a Point> {
    let (mut usable, mut of_host, mut others, mut at_odds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for point in points {
        let in_flight = point.iops * point.mean_us / 1e6;
        match point.core_percent {
            _ if !point.is_of_random_reads() => others.push(match (&point.apart, point.kind) {
                (Some(apart), _) => format!("{} ({apart})", point.name),
                (None, Kind::Reads) => format!("{} (not random)", point.name),
                (None, _) => format!("{} (writes)", point.name),
            }),
            _ if !IN_FLIGHT.contains(&(in_flight / f64::from(point.depth))) => {
                let shown = if in_flight < 1e5 { format!("{in_flight:.3}") } else { format!("{in_flight:.0e}") };
                at_odds.push(format!("{} ({shown} of {})", point.name, point.depth));
            }
            Some(percent) if percent > CORE_PERCENT => of_host.push(format!("{} ({percent:.0} %)", point.name)),
            _ => usable.push(point),
        }
    }
    if !of_host.is_empty() {
        let (jobs, n) = (list(&of_host), of_host.len());
        remarks.push(format!(
            "left out, because a thread takes over 90 % of a core, so that the host is the limit: {jobs} ({n} in all)"
        ));
    }
    if !at_odds.is_empty() {
        remarks.push(format!(
            "left out, because rate times mean, the requests in flight, is not the depth: {} ({} in all)",
            list(&at_odds),
            at_odds.len()
        ));
    }
    if !others.is_empty() {
        remarks.push(format!("not used by a fit of random reads: {} ({} in all)", list(&others), others.len()));
    }
    usable
}

/// Points without those of fewer threads than one that made more of the same requests: these measured the host.
fn without_limits_of_threads<'a>(points: &[&'a Point], remarks: &mut Vec<String>) -> Vec<&'a Point> {
    let load = |p: &Point| (p.bytes, p.depth, p.access, p.span);
    let most = |point: &Point| {
        let others = points.iter().filter(|other| load(other) == load(point) && other.threads > point.threads);
        others.map(|other| other.iops).fold(0.0, f64::max)
    };
    let (kept, of_host): (Vec<&Point>, Vec<&Point>) =
        points.iter().copied().partition(|point| most(point) <= MORE_BY_THREADS * point.iops);
    if !of_host.is_empty() {
        let name = |point: &&Point| format!("{} ({:.0} of {:.0} a second)", point.name, point.iops, most(point));
        let names: Vec<String> = of_host.iter().map(name).collect();
        remarks.push(format!(
            "left out, because more threads make over 5 % more of the same reads, so that the host is the limit: {} ({} in all)",
            list(&names),
            names.len()
        ));
    }
    kept
}

fn list(names: &[String]) -> String {
    let shown = names.iter().take(6).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > 6 { format!("{shown}, ...") } else { shown }
}

/// Points of the largest span; what the others say of the map and of a cache is said.
fn whole_drive<'a>(points: &[&'a Point], remarks: &mut Vec<String>) -> Vec<&'a Point> {
    let largest = points.iter().filter_map(|point| point.span).max();
    let (whole, parts): (Vec<&Point>, Vec<&Point>) =
        points.iter().copied().partition(|point| point.span.is_none() || point.span == largest);
    for part in parts {
        let beside = whole.iter().find(|w| (w.bytes, w.depth, w.access) == (part.bytes, part.depth, part.access));
        let Some(whole) = beside else { continue };
        let faster = 1.0 - part.mean_us / whole.mean_us;
        if faster > NOTABLE {
            remarks.push(format!(
                "{}: reads of a part of the drive take {:.0} % less than of all: a cache, or a map that is not all in memory, which the \
                 fitted device does not have",
                part.name,
                100.0 * faster
            ));
        }
    }
    whole
}

/// The first of each job; how far those that follow are from it is said.
fn repetitions<'a>(points: &[&'a Point], sorted: &mut Sorted<'a>) -> Vec<&'a Point> {
    let mut firsts: Vec<&Point> = Vec::new();
    for point in points.iter().copied() {
        let Some(first) = firsts.iter().find(|first| first.repeats(point)) else {
            firsts.push(point);
            continue;
        };
        let off = point.mean_us / first.mean_us - 1.0;
        sorted.repetition = Some(sorted.repetition.unwrap_or(0.0).max(off.abs()));
        if off.abs() > NOTABLE {
            let place = if first.file == point.file { String::new() } else { format!(" of {}", short(&point.file)) };
            sorted.remarks.push(format!(
                "{}{place} repeats {}, and its mean is {:+.0} %: the drive or the host changed meanwhile, and no error below is \
                 surer than that",
                point.name,
                first.name,
                100.0 * off
            ));
        }
    }
    firsts
}

/// Whether the points are of something that reads flash in units that work at once.
fn structure(points: &[&Point]) -> Result<(), String> {
    let least = points.iter().map(|point| point.bytes).min().unwrap_or_default();
    let series = || points.iter().filter(|point| point.bytes == least && point.access == Access::Random);
    let (Some(low), Some(deep)) = (series().min_by_key(|p| p.depth), series().max_by_key(|p| p.depth)) else {
        return Err("no random reads that are spread evenly".into());
    };
    if low.depth > 2 || deep.depth < 8 {
        return Err(format!(
            "depths {} to {} of reads of {least} B do not tell the time of a read from the number of units; needed are 1 or 2, and 8 or more",
            low.depth, deep.depth
        ));
    }
    let typical = low.exactly(500_000).unwrap_or(low.mean_us);
    if typical < FLASH_US {
        return Err(format!(
            "{}: reads take {typical:.1} us at depth {}, which is too short for flash: memory answered (a file in the page cache, tmpfs, \
             a part of the drive that never was written)",
            low.name, low.depth
        ));
    }
    let growth = deep.iops / low.iops;
    if growth < GROWTH {
        return Err(format!(
            "{}: {:.0} reads a second at depth {} are {growth:.1} times those at depth {}, and a drive has at least {GROWTH} times: no units \
             that work at once are seen (a virtual or network disk, a limit of the host)",
            deep.name, deep.iops, deep.depth, low.depth
        ));
    }
    Ok(())
}

/// What share of lone reads came back before flash can have been read.
fn without_flash(points: &[&Point], remarks: &mut Vec<String>) -> Result<(), String> {
    let low = points.iter().min_by_key(|point| (point.depth, point.bytes)).expect("there are points");
    let Some(typical) = low.exactly(500_000) else { return Ok(()) };
    let fast: Vec<_> = low.quantiles.iter().filter(|&&(_, us)| us < WITHOUT_FLASH * typical).collect();
    let Some(&&(rank, us)) = fast.last() else { return Ok(()) };
    let share = f64::from(rank) / 1e6;
    let what = format!("{}: at least {:.0} % of reads take {us:.1} us or less, without flash", low.name, 100.0 * share);
    if share > MOST_WITHOUT_FLASH {
        let most = 100.0 * MOST_WITHOUT_FLASH;
        return Err(format!(
            "{what}; at most {most:.0} % can be fitted: write the drive where it is read, once, and measure again"
        ));
    }
    remarks.push(format!("{what}; the fitted device reads flash always"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::tests::point;

    fn drive() -> Vec<Point> {
        [(1, 60.0), (2, 61.0), (8, 64.0), (32, 90.0), (128, 180.0), (256, 330.0)]
            .map(|(depth, us)| point(depth, us, &[(10_000, 0.8 * us), (500_000, us), (990_000, 2.0 * us)]))
            .into()
    }

    fn refused(points: &[Point], says: &str) {
        let why = sort(points).expect_err(says);
        assert!(why.contains(says), "{why}");
    }

    #[test]
    fn standard_depths_are_fitted_and_those_between_judge() {
        let points = drive();
        let sorted = sort(&points).expect("a drive");
        let depths = |points: &[&Point]| points.iter().map(|point| point.depth).collect::<Vec<_>>();
        assert_eq!((depths(&sorted.fitted), depths(&sorted.held_out)), (vec![1, 8, 128], vec![2, 32, 256]));
        assert_eq!((sorted.remarks, sorted.repetition), (vec![], None));
        let mut other = points;
        other.retain(|point| point.depth != 8);
        let sorted = sort(&other).expect("a drive");
        assert_eq!((depths(&sorted.fitted), depths(&sorted.held_out)), (vec![1, 32, 256], vec![2, 128]));
    }

    #[test]
    fn what_is_no_drive_is_refused_in_words() {
        let changed = |by: fn(&mut Point)| {
            let mut points = drive();
            points.iter_mut().for_each(by);
            points
        };
        refused(&changed(|p| p.quantiles[1].1 /= 20.0), "too short for flash: memory answered");
        refused(
            &changed(|p| (p.iops, p.mean_us) = (29_000.0, f64::from(p.depth) / 0.029)),
            "1.0 times those at depth 1",
        );
        refused(
            &changed(|p| p.iops = 1e300),
            "rate times mean, the requests in flight, is not the depth: depth-1 (6e295 of 1)",
        );
        refused(&changed(|p| p.mean_us *= 0.4), "is not the depth: depth-1 (0.400 of 1)");
        refused(&changed(|p| p.kind = Kind::Writes), "no job is of random reads alone");
        refused(
            &changed(|p| p.core_percent = Some(97.0)),
            "so that the host is the limit: depth-1 (97 %), depth-2 (97 %)",
        );
        refused(&drive()[2..], "depths 8 to 256");
        let cached = changed(|p| p.quantiles.insert(1, (200_000, 0.3 * p.mean_us)));
        let cached: Vec<Point> = cached
            .into_iter()
            .map(|mut p| {
                p.quantiles[0].1 = 0.2 * p.mean_us;
                p
            })
            .collect();
        refused(&cached, "at least 20 % of reads take 18.0 us or less, without flash");
    }

    #[test]
    fn a_load_that_more_threads_make_faster_is_of_the_host() {
        let mut points = drive();
        let of_more = |point: &Point, by: f64| Point {
            name: format!("{} by 4", point.name),
            threads: 4,
            iops: by * point.iops,
            mean_us: point.mean_us / by,
            ..point.clone()
        };
        points.extend([of_more(&points[4], 1.5), of_more(&points[3], 1.04)]);
        let sorted = sort(&points).expect("a drive");
        let says = "so that the host is the limit: depth-128 (711111 of 1066667 a second) (1 in all)";
        assert!(sorted.remarks.iter().any(|remark| remark.ends_with(says)), "{:?}", sorted.remarks);
        let all = [sorted.fitted, sorted.held_out].concat();
        assert_eq!(all.len(), points.len() - 1);
    }

    #[test]
    fn what_is_doubtful_is_said() {
        let mut points = drive();
        points[3].core_percent = Some(96.0);
        points[4].apart = Some("rate_iops = 100".into());
        let again = Point { name: "last".into(), mean_us: 66.0, ..points[0].clone() };
        let part = Point { name: "span-1g".into(), span: Some(1 << 30), mean_us: 50.0, ..points[2].clone() };
        points.iter_mut().for_each(|point| point.span = Some(1 << 35));
        points.extend([Point { span: Some(1 << 35), ..again }, part]);
        points[0].quantiles[0].1 = 10.0;
        points[0].no_drive = Some("f, a file".into());
        points[1].no_drive = Some("f, a file".into());
        let sorted = sort(&points).expect("a drive");
        assert!((sorted.repetition.expect("one") - 0.1).abs() < 1e-9);
        let said = sorted.remarks.join("\n");
        for part in [
            "90 % of a core, so that the host is the limit: depth-32 (96 %)",
            "not used by a fit of random reads: depth-128 (rate_iops = 100)",
            "last repeats depth-1, and its mean is +10 %",
            "span-1g: reads of a part of the drive take 22 % less",
            "depth-1: at least 1 % of reads take 10.0 us or less, without flash",
            "measured was f, a file, and no drive",
        ] {
            assert_eq!(said.matches(part).count(), 1, "{part} in {said}");
        }
    }
}
