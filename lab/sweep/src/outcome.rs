//! What came out of a sweep, in sentences and one table: who has the shortest mean where, and from which value of the longest axis on a
//! scheduler is faster than the first.
//!
//! Rests on the cells that the page draws: means over the seeds. A scheduler is faster where its mean is more than 1 % below the first's and,
//! with several seeds, the whole 95 % interval of the change is below nothing.

use serde::Serialize;

use super::bands::{Bands, Cell};
use super::labels::words;
use flashlane_report::results::format::time;

/// A mean within this much of another's, percent, is alike.
const ALIKE: f64 = 1.0;
/// The most rows of the table on the page; results.csv has all.
const ROWS: usize = 200;

/// The most sentences; the table has the rest.
const SENTENCES: usize = 12;

/// What came out.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Outcome {
    sentences: Vec<String>,
    /// The keys of the axes.
    axes: Vec<String>,
    schedulers: Vec<String>,
    rows: Vec<Row>,
    /// Rows that the table leaves out.
    left_out: usize,
}

/// The means of one combination of values.
#[derive(Debug, PartialEq, Serialize)]
struct Row {
    values: Vec<String>,
    /// For each scheduler its mean, and its change against the first where that is more than nothing.
    means: Vec<String>,
    /// The scheduler with the shortest, if no other is alike.
    best: Option<usize>,
}

/// The cells of one combination: for each scheduler the cell of all flows and kinds, if it has run.
type Place<'a> = (&'a [usize], Vec<Option<&'a Cell>>);

impl Outcome {
    pub(super) fn of(bands: &Bands) -> Outcome {
        let mean = bands.figure("mean_ns");
        let mut places: Vec<Place<'_>> = Vec::new();
        for cell in bands.cells.iter().filter(|cell| cell.flow.is_none() && cell.op == "all") {
            let at = places.iter().position(|(at, _)| *at == cell.at.as_slice()).unwrap_or_else(|| {
                places.push((&cell.at, vec![None; bands.schedulers.len()]));
                places.len() - 1
            });
            places[at].1[cell.scheduler] = Some(cell);
        }
        let rows: Vec<Row> = places.iter().map(|place| row(bands, place, mean)).collect();
        let mut sentences = shortest(bands, &rows);
        for scheduler in 1..bands.schedulers.len() {
            sentences.extend(begins(bands, &places, scheduler, mean));
        }
        if sentences.len() > SENTENCES {
            let more = sentences.len() - (SENTENCES - 1);
            sentences.truncate(SENTENCES - 1);
            sentences.push(format!("{more} more such comparisons are in the table."));
        }
        let left_out = rows.len().saturating_sub(ROWS);
        let axes = bands.axes.iter().map(|axis| axis.path.clone()).collect();
        Outcome {
            sentences,
            axes,
            schedulers: bands.schedulers.clone(),
            rows: rows.into_iter().take(ROWS).collect(),
            left_out,
        }
    }
}

fn row(bands: &Bands, (at, cells): &Place<'_>, mean: usize) -> Row {
    let means: Vec<Option<f64>> = cells.iter().map(|cell| Some(cell.as_ref()?.figures[mean]?.0)).collect();
    let shown = cells.iter().zip(&means).map(|(cell, mean_ns)| {
        let Some(mean_ns) = mean_ns else { return "-".to_owned() };
        let change = cell.and_then(|cell| cell.changes[mean]);
        time(*mean_ns) + &change.map(|(percent, _)| format!(" ({percent:+.1} %)")).unwrap_or_default()
    });
    let means_shown = shown.collect();
    let least = means.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let near: Vec<usize> =
        (0..means.len()).filter(|&i| means[i].is_some_and(|m| m <= least * (1.0 + ALIKE / 100.0))).collect();
    let values = at.iter().zip(&bands.axes).map(|(&value, axis)| axis.labels[value].clone()).collect();
    Row { values, means: means_shown, best: (means.len() > 1 && near.len() == 1).then(|| near[0]) }
}

/// How often each scheduler has the shortest mean.
fn shortest(bands: &Bands, rows: &[Row]) -> Vec<String> {
    if bands.schedulers.len() < 2 || rows.is_empty() {
        return Vec::new();
    }
    let of = |best: Option<usize>| rows.iter().filter(|row| row.best == best).count();
    let mut counts: Vec<(usize, String)> = (0..bands.schedulers.len())
        .map(|i| (of(Some(i)), bands.schedulers[i].clone()))
        .filter(|(count, _)| *count > 0)
        .collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let mut parts: Vec<String> = counts.into_iter().map(|(count, name)| format!("{name} at {count}")).collect();
    if of(None) > 0 {
        parts.push(format!("several within {ALIKE} % of one another at {}", of(None)));
    }
    let points = if rows.len() == 1 { "the one point".to_owned() } else { format!("{} points", rows.len()) };
    vec![format!("Shortest {} of {points}: {}.", words("mean_ns"), parts.join(", "))]
}

/// Where along the axis with the most values `scheduler` is faster than the first, a sentence for each combination of the others.
fn begins(bands: &Bands, places: &[Place<'_>], scheduler: usize, mean: usize) -> Vec<String> {
    let Some(&along) = bands.first.first() else { return Vec::new() };
    let others = |at: &[usize]| -> Vec<usize> {
        at.iter().enumerate().filter(|(axis, _)| *axis != along).map(|(_, &value)| value).collect()
    };
    let mut groups: Vec<(Vec<usize>, Vec<&Place<'_>>)> = Vec::new();
    for place in places {
        let key = others(place.0);
        match groups.iter_mut().find(|(of, _)| *of == key) {
            Some((_, group)) => group.push(place),
            None => groups.push((key, vec![place])),
        }
    }
    let axis = &bands.axes[along];
    let sentence = |(_, mut group): (Vec<usize>, Vec<&Place<'_>>)| {
        if let Some(numbers) = &axis.numbers {
            group.sort_by(|a, b| numbers[a.0[along]].total_cmp(&numbers[b.0[along]]));
        }
        let change = |place: &&Place<'_>| place.1[scheduler]?.changes[mean];
        let faster = |place: &&Place<'_>| {
            change(place)
                .is_some_and(|(percent, half)| percent <= -ALIKE && half.is_none_or(|half| percent + half < 0.0))
        };
        let slower = |place: &&Place<'_>| {
            change(place)
                .is_some_and(|(percent, half)| percent >= ALIKE && half.is_none_or(|half| percent - half > 0.0))
        };
        let value = |place: &Place<'_>| axis.labels[place.0[along]].clone();
        let told = |place: &&Place<'_>| format!("{} ({:+.1} %)", value(place), change(place).map_or(0.0, |c| c.0));
        let beside: Vec<String> = bands
            .axes
            .iter()
            .enumerate()
            .filter(|(own, _)| *own != along && group[0].0.len() > 1)
            .map(|(own, axis)| format!("{} = {}", axis.path, axis.labels[group[0].0[own]]))
            .collect();
        let beside = if beside.is_empty() { String::new() } else { format!(" with {}", beside.join(", ")) };
        let (name, first) = (&bands.schedulers[scheduler], &bands.schedulers[0]);
        let count = group.iter().filter(|place| faster(place)).count();
        let longer = group.iter().filter(|place| slower(place)).count();
        let longer = if longer > 0 { format!("; a longer one at {longer} of {}", group.len()) } else { String::new() };
        // From one value on, or at single ones.
        let tail = group.iter().rev().take_while(|place| faster(place)).count();
        let from = group.len() - tail;
        let seeds = group.iter().filter_map(change).any(|(_, half)| half.is_some());
        let interval = if seeds { " and half the width of its interval" } else { "" };
        let where_ = match (count, tail) {
            (0, _) => {
                return format!("{name} has no mean below {first}'s{beside} by more than {ALIKE} %{interval}{longer}.");
            }
            _ if count == group.len() => {
                let ends = if group.len() > 1 {
                    format!(", {} to {}", told(&group[0]), told(&group[group.len() - 1]))
                } else {
                    String::new()
                };
                format!("at every {}{ends}", axis.path)
            }
            _ if count == tail && axis.numbers.is_some() && tail > 1 => {
                format!("from {} = {} on, to {}", axis.path, told(&group[from]), told(&group[group.len() - 1]))
            }
            _ => {
                let at: Vec<String> = group.iter().filter(|place| faster(place)).map(told).collect();
                format!("at {} = {}", axis.path, at.join(", "))
            }
        };
        format!("{name} has a shorter mean than {first}{beside} {where_}{longer}.")
    };
    groups.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::file::Sweep;
    use crate::{MakeOptions, Progress, Shard, make};
    use flashlane_outputs::Store;

    fn outcome(axes: &str) -> Outcome {
        of(["fcfs", "read-first"], axes)
    }

    fn of(schedulers: [&str; 2], axes: &str) -> Outcome {
        let text = format!(
            "schedulers = {schedulers:?}\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = false\n[[flow]]\nname = \"f\"\n\
             [flow.synthetic]\nread_ratio = 0.5\nsize = {{ constant = 2048 }}\nrate_iops = 5_000\nrequests = 300\n[sweep]\n{axes}"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let sweep = Sweep::of_file(Path::new("s.toml"), text).expect("a sweep");
        let plan = sweep.plan().expect("sound");
        let store = Store::open(&folder.path().join("store"), "1").expect("a store");
        let progress = Progress::default();
        let options = MakeOptions { shard: Shard::WHOLE, audit: false, command: "c".into(), progress: &progress };
        make(&sweep, &plan, &store, &options).expect("made");
        Outcome::of(&Bands::of(&sweep, &plan, &plan.table(&sweep, &store).expect("whole")))
    }

    /// An idle drive gives every scheduler the same mean; one with queues does not.
    #[test]
    fn the_sentences_say_from_which_load_on_a_scheduler_is_faster() {
        let made = outcome("flow.f.synthetic.rate_iops = [10, 1_000_000, 10_000_000]\n");
        assert_eq!((made.rows.len(), made.axes.as_slice()), (3, &["flow.f.synthetic.rate_iops".to_owned()][..]));
        let best: Vec<Option<usize>> = made.rows.iter().map(|row| row.best).collect();
        assert_eq!(best, [None, Some(1), Some(1)], "{made:?}");
        let begin = "read-first has a shorter mean than fcfs from flow.f.synthetic.rate_iops = 1000000 (-";
        assert!(made.sentences[1].starts_with(begin) && made.sentences[1].contains(" on, to 10000000 (-"), "{made:?}");
        let shortest =
            "Shortest mean response time of 3 points: read-first at 2, several within 1 % of one another at 1.";
        assert_eq!(made.sentences[0], shortest);
    }

    /// The interval of two seeds is wide: some percent less are no gain, and the table has them.
    #[test]
    fn a_gain_within_its_interval_is_none() {
        let made = outcome("flow.f.synthetic.rate_iops = [10, 300_000, 600_000]\nseeds = 2\n");
        let none = "read-first has no mean below fcfs's by more than 1 % and half the width of its interval.";
        assert_eq!(made.sentences[1], none, "{made:?}");
        assert!(made.rows[2].means[1].contains(" (-"), "{made:?}");
    }

    /// Each scheduler against the first, so the same two the other way round: who was faster is slower, and that is said.
    #[test]
    fn a_longer_mean_is_said() {
        let axes = "flow.f.synthetic.rate_iops = [300_000, 600_000]\n";
        let (one, other) = (of(["fcfs", "read-first"], axes), of(["read-first", "fcfs"], axes));
        let count = |text: &str, made: &Outcome| made.sentences.iter().filter(|one| one.contains(text)).count();
        assert!(
            count(" has a shorter mean than ", &one) == 1 || count(" has a shorter mean than ", &other) == 1,
            "{one:?}"
        );
        assert_eq!(count(" has a shorter mean than ", &one), count("; a longer one at ", &other), "{one:?} {other:?}");
        assert_eq!(count(" has a shorter mean than ", &other), count("; a longer one at ", &one), "{one:?} {other:?}");
    }

    /// A sweep of many axes has few sentences, and says that there are more.
    #[test]
    fn the_sentences_are_few() {
        let ratios = (0..20).map(|i| format!("0.{:02}", i + 1)).collect::<Vec<_>>().join(", ");
        let rates = (1..=21).map(|i| format!("{i}_000")).collect::<Vec<_>>().join(", ");
        let axes = format!("flow.f.synthetic.rate_iops = [{rates}]\nflow.f.synthetic.read_ratio = [{ratios}]\n");
        let made = outcome(&axes);
        assert_eq!((made.sentences.len(), made.rows.len(), made.left_out), (SENTENCES, ROWS, 20 * 21 - ROWS));
        // One of the shortest means, and one for each of twenty ratios.
        assert_eq!(made.sentences[SENTENCES - 1], "10 more such comparisons are in the table.");
    }

    /// Words have no order: each is named.
    #[test]
    fn words_are_named_one_by_one() {
        let made = outcome("flow.f.synthetic.access = [\"random\", \"streaming\"]\n");
        assert!(made.sentences.iter().all(|sentence| !sentence.contains(" on, to ")), "{made:?}");
        assert_eq!(made.rows.iter().map(|row| row.values[0].as_str()).collect::<Vec<_>>(), ["random", "streaming"]);
    }
}
