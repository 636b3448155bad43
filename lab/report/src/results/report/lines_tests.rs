//! What the page's lines say is what the summary says, also where windows are joined.

use super::*;
use crate::results::example::{example, flow, made_by};
use crate::results::{DeviceStats, FlowInfo};

fn close(shown: Option<f64>, real: f64) {
    let off = shown.unwrap_or_else(|| panic!("nothing for {real}")) / real;
    assert!((off - 1.0).abs() < 0.003, "{shown:?} for {real}");
}

#[test]
fn few_flows_have_every_window_and_fine_distributions() {
    let summary = example();
    let lines = Lines::of(&summary);
    assert!(!lines.joined);
    let codes = Codes { least: lines.least_ns, most: lines.most_ns };
    for (r, run) in summary.schedulers.iter().enumerate() {
        for (f, figures) in figures(run).into_iter().enumerate() {
            let over = &figures.over_time;
            assert_eq!(lines.width_ns[r][f], over.width_ns);
            let (mean, p99) = (codes.times(&lines.all.mean[r][f]), codes.times(&lines.all.p99[r][f]));
            assert_eq!(mean.iter().flatten().count(), over.all.at_ns.len(), "no window more, none less");
            for (i, &at) in over.all.at_ns.iter().enumerate() {
                let place = (at / over.width_ns) as usize;
                close(mean[place], over.all.mean_ns[i] as f64);
                close(p99[place], over.all.p99_ns[i] as f64);
            }
            let all = figures.all.as_ref().unwrap();
            assert_eq!(lines.all.requests[r][f], all.requests);
            let cdf = codes.times(&lines.all.cdf[r][f]);
            assert_eq!((cdf.len(), *lines.shares.last().unwrap()), (lines.shares.len(), 1.0));
            close(*cdf.last().unwrap(), all.max_ns as f64);
            assert!(cdf.windows(2).all(|pair| pair[0] <= pair[1]), "a distribution");
            let median = lines.shares.iter().position(|&share| share == 0.5).unwrap();
            assert!((cdf[median].unwrap() / all.p50_ns as f64 - 1.0).abs() < 0.019);
        }
    }
    // The second flow writes only: it has no lines of its own for writes, and none for reads.
    assert_eq!(lines.write.requests[0][2], lines.all.requests[0][2]);
    assert!(lines.write.mean[0][2].is_empty() && lines.read.mean[0][2].is_empty() && lines.read.requests[0][2] == 0);
    assert!(!lines.read.mean[0][1].is_empty());
}

/// The chart's axis is one of nines: each has as many points of its own as the next, up to where ten requests take longer.
#[test]
fn a_distribution_is_as_fine_at_each_nine() {
    let cdf = Cdf { at_most_ns: vec![1, 2], requests: vec![5_000, 10_000] };
    let shares = shares([&cdf].into_iter());
    let within = |from: f64, to: f64| shares.iter().filter(|&&share| from < share && share < to).count();
    // Three nines of 200 points; equal distances add 18 points to the first of these ranges and one to the second.
    let (first, second, third) = (within(0.9001, 0.9899), within(0.9901, 0.99899), within(0.99901, 0.9999));
    assert!((60..=66).contains(&(second - 1)) && (60..=66).contains(&(first - 17)), "{first} {second}");
    assert!(third <= 2, "{third} beyond");
}

#[test]
fn joined_windows_have_the_mean_of_all_their_requests() {
    let window = |requests, sum, p99| Window { requests, sum, p99 };
    let all =
        vec![window(2, 20.0, 12.0), window(1, 40.0, 40.0), Window::default(), Window::default(), window(1, 5.0, 5.0)];
    let mut windows = Windows { width: 1_000, all };
    windows.halve();
    assert_eq!(
        (windows.width, &windows.all[..]),
        (2_000, &[window(3, 60.0, 40.0), Window::default(), window(1, 5.0, 5.0)][..])
    );
    assert_eq!(windows.figures(mean).collect::<Vec<_>>(), [Some(20.0), None, Some(5.0)]);
}

#[test]
fn many_flows_have_fewer_windows_of_the_same_requests() {
    let flows: Vec<FlowInfo> = (0..64).map(|i| FlowInfo { name: i.to_string(), ..FlowInfo::default() }).collect();
    let own: Vec<_> = (0..64).map(|_| flow(7, 6_000, 20, 30)).collect();
    let run = SchedulerResult::new("fcfs", &flows, &own, None, &DeviceStats::default());
    let summary = Summary::new(made_by(), flows, vec![run; 60], vec![]);
    let lines = Lines::of(&summary);
    let letters = |part: &Part| part.mean.iter().chain(&part.p99).flatten().map(String::len).sum::<usize>();
    let windows = (letters(&lines.all) + letters(&lines.read) + letters(&lines.write)) / 2;
    assert!(lines.joined);
    assert!((MAX_VALUES / 3..=MAX_VALUES).contains(&windows), "{windows} windows");
    let over = &summary.schedulers[0].flows[0].figures.over_time;
    assert!(lines.width_ns[0][1] > over.width_ns && lines.width_ns[0][1] == lines.width_ns[59][64]);
    let end = over.all.at_ns.last().unwrap() / lines.width_ns[0][1];
    assert_eq!(lines.all.mean[0][1].len() as u64, 2 * (end + 1), "up to the end of the run");
}
