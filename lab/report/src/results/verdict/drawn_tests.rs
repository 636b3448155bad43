//! Drawn summaries, whose sentences a checker reads that was written apart from the code (`flashlane_testing::verdict`).

use flashlane_testing::verdict::problems;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Change, Compared, Finding, FindingKind, Verdict};
use crate::metrics::FlowMetrics;
use crate::results::example::made_by;
use crate::results::paired::{Concentration, PairStats, Paired, Quarter};
use crate::results::replications::{Replications, RequestKind, SeedRun, SeedsBecause};
use crate::results::{Cdf, CommandStats, DeviceStats, FlowInfo, FlowStats, ResponseStats, SchedulerResult, Summary};

/// Drawn summaries whose sentences are read, every day and every night.
const DAILY: u64 = 400;
const NIGHTLY: u64 = 2_700;
/// And those in whose sentences mistakes are planted.
const PLANTED_DAILY: u64 = 30;
const PLANTED_NIGHTLY: u64 = 250;

struct Draw(Pcg64Mcg);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    fn of_hundred(&mut self, n: u64) -> bool {
        self.below(100) < n
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From `low` to `high`, evenly by factor.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    /// What a scheduler does to a figure: nothing, hardly anything, something or much.
    fn factor(&mut self) -> f64 {
        match self.below(10) {
            0..3 => 1.0,
            3..5 => self.between(0.97, 1.03),
            5..8 => self.between(0.5, 2.0),
            _ => self.between(0.005, 200.0),
        }
    }

    fn stats(&mut self) -> ResponseStats {
        let requests = match self.below(5) {
            0 => 1 + self.below(50),
            1 => [99, 999, 1_000, 1_001][self.below(4) as usize],
            _ => 1_000 + self.below(60_000),
        };
        let mean_ns = self.between(800.0, 2e7);
        let p99_ns = (mean_ns * self.between(1.0, 30.0)) as u64;
        let own_iops = (!self.of_hundred(5)).then(|| self.between(10.0, 500_000.0));
        ResponseStats { requests, mean_ns, p99_ns, own_iops, ..empty() }
    }

    /// Like this under another scheduler or seed.
    fn like(&mut self, stats: &ResponseStats, is_loop: bool) -> ResponseStats {
        let rate = if is_loop || self.of_hundred(10) { self.factor() } else { 1.0 };
        let mean_ns = stats.mean_ns * self.factor();
        let p99_ns = ((stats.p99_ns as f64 * self.factor()) as u64).max(1);
        ResponseStats { mean_ns, p99_ns, own_iops: stats.own_iops.map(|iops| iops * rate), ..stats.clone() }
    }
}

fn empty() -> ResponseStats {
    ResponseStats {
        requests: 0,
        bytes: 0,
        offered_iops: None,
        iops: None,
        own_iops: None,
        mb_per_s: None,
        mean_ns: 0.0,
        stdev_ns: 0.0,
        min_ns: 0,
        p50_ns: 0,
        p95_ns: 0,
        p99_ns: 0,
        p99_9_ns: 0,
        max_ns: 0,
        cdf: Cdf::default(),
    }
}

/// Reads and writes of these together.
fn together<'a>(parts: impl Iterator<Item = &'a ResponseStats>) -> Option<ResponseStats> {
    parts.fold(None, |all, one| {
        let all: ResponseStats = all.unwrap_or_else(empty);
        let requests = all.requests + one.requests;
        let mean_ns = (all.mean_ns * all.requests as f64 + one.mean_ns * one.requests as f64) / requests as f64;
        let own_iops = one.own_iops.map(|iops| iops + all.own_iops.unwrap_or(0.0));
        Some(ResponseStats { requests, mean_ns, own_iops, p99_ns: all.p99_ns.max(one.p99_ns), ..all })
    })
}

/// The figures of a flow: of each kind that it has.
type Parts = Vec<(RequestKind, ResponseStats)>;

fn figures(parts: &Parts) -> FlowStats {
    let of = |kind: RequestKind| parts.iter().find(|(one, _)| *one == kind).map(|(_, stats)| stats.clone());
    let mut stats = FlowStats::of(&FlowMetrics::new());
    (stats.read, stats.write) = (of(RequestKind::Read), of(RequestKind::Write));
    stats.fua_write = of(RequestKind::FuaWrite).map(Box::new);
    stats.all = together(stats.read.iter().chain(&stats.write));
    let [trim, write_zeroes, flush] = [RequestKind::Trim, RequestKind::WriteZeroes, RequestKind::Flush].map(of);
    if trim.is_some() || write_zeroes.is_some() || flush.is_some() {
        stats.commands = Some(Box::new(CommandStats { received: Vec::new(), trim, write_zeroes, flush }));
    }
    stats.completed = parts.iter().map(|(_, stats)| stats.requests).sum();
    (stats.first_arrival_ns, stats.last_arrival_ns) = (Some(1_000), 1_000_001_000);
    stats
}

/// All flows together; of a single flow its own.
fn total(flows: &[Parts]) -> FlowStats {
    let of =
        |kind: RequestKind| together(flows.iter().flatten().filter(|(one, _)| *one == kind).map(|(_, stats)| stats));
    figures(&RequestKind::COUNTED.into_iter().filter_map(|kind| Some((kind, of(kind)?))).collect())
}

fn pairs(draw: &mut Draw, from: &ResponseStats, to: &ResponseStats) -> PairStats {
    let requests = from.requests.max(4);
    let faster = draw.below(requests + 1);
    let slower = draw.below(requests - faster + 1);
    let quarter = |draw: &mut Draw| Quarter {
        requests: requests / 4,
        baseline_mean_ns: draw.between(1e3, 1e6),
        mean_ns: draw.between(1e3, 1e6),
    };
    let concentration = draw.of_hundred(60).then(|| {
        let begin = draw.below(99) * 10_000_000;
        let windows = 1 + draw.below(12) as u32;
        Concentration {
            gained_ns: draw.between(1.0, 1e9),
            lost_ns: draw.between(1.0, 1e9),
            windows,
            from_ns: 1_000 + begin,
            to_ns: 1_000 + begin + 10_000_000 * u64::from(windows),
            window_requests: draw.below(requests) + 1,
            requests: draw.below(requests) + 1,
        }
    });
    PairStats {
        requests,
        faster,
        equal: requests - faster - slower,
        slower,
        improvement_percent: Some(100.0 * (1.0 - to.mean_ns / from.mean_ns)),
        gain_percent_per_request: None,
        p95_improvement_percent: None,
        gain_ns: from.mean_ns - to.mean_ns,
        quarters: if draw.of_hundred(70) { (0..4).map(|_| quarter(draw)).collect() } else { Vec::new() },
        concentration,
    }
}

/// The flows, and what each does under the first scheduler.
fn flows(draw: &mut Draw) -> (Vec<FlowInfo>, Vec<Parts>) {
    let count = if draw.of_hundred(5) { 12 } else { 1 + draw.below(4) };
    let (mut infos, mut all) = (Vec::new(), Vec::new());
    for number in 0..count {
        let chances = [
            (RequestKind::Read, 65),
            (RequestKind::Write, 65),
            (RequestKind::FuaWrite, 20),
            (RequestKind::Trim, 20),
            (RequestKind::WriteZeroes, 10),
            (RequestKind::Flush, 25),
        ];
        let mut parts: Parts = Vec::new();
        for (kind, chance) in chances {
            let has_writes = parts.iter().any(|(one, _)| *one == RequestKind::Write);
            if draw.of_hundred(chance) && (kind != RequestKind::FuaWrite || has_writes) {
                parts.push((kind, draw.stats()));
            }
        }
        let alternates = draw.of_hundred(50) && draw.of_hundred(60);
        infos.push(FlowInfo {
            name: format!("f{number}"),
            depth: draw.of_hundred(30).then_some(8),
            writes_per_flush: alternates.then_some(4.0),
            ..FlowInfo::default()
        });
        all.push(parts);
    }
    (infos, all)
}

/// A summary in which anything may be.
fn drawn(seed: u64) -> Summary {
    let mut draw = Draw(Pcg64Mcg::seed_from_u64(seed));
    let (infos, base) = flows(&mut draw);
    let schedulers = 1 + draw.below(5) as usize;
    let only_controls = draw.of_hundred(4);
    let still = draw.of_hundred(12);
    let mut runs: Vec<SchedulerResult> = Vec::new();
    for number in 0..schedulers {
        let mut shared = base.clone();
        if number > 0 && !still {
            for (flow, parts) in shared.iter_mut().enumerate() {
                let is_loop = infos[flow].depth.is_some();
                parts.iter_mut().for_each(|(_, stats)| *stats = draw.like(stats, is_loop));
                if draw.of_hundred(3) {
                    parts.pop();
                }
            }
        }
        let erases = draw.below(60);
        let write_amplification = (!draw.of_hundred(20)).then(|| draw.between(1.0, 5.0));
        let mut device = DeviceStats { chip_utilisation: draw.share(), write_amplification, ..DeviceStats::default() };
        device.gc.erases = erases;
        let empty: Vec<FlowMetrics> = infos.iter().map(|_| FlowMetrics::new()).collect();
        let mut run = SchedulerResult::new(&format!("s{number}"), &infos, &empty, None, &device);
        run.total = total(&shared);
        run.control = only_controls || draw.of_hundred(10);
        for (flow, parts) in run.flows.iter_mut().zip(&shared) {
            flow.figures = figures(parts);
            flow.slowdown = (infos.len() > 1 && draw.of_hundred(60)).then(|| draw.between(0.9, 300.0));
        }
        runs.push(run);
    }
    let mut summary = Summary::new(made_by(), infos, runs, Vec::new());
    if summary.flows.iter().all(|info| info.depth.is_none()) {
        pair(&mut draw, &mut summary);
    }
    replicate(&mut draw, &mut summary);
    summary
}

/// Requests one by one, as open flows have them.
fn pair(draw: &mut Draw, summary: &mut Summary) {
    let Some((first, others)) = summary.schedulers.split_first_mut() else { return };
    let mut pair =
        |from: &Option<ResponseStats>, to: &Option<ResponseStats>| Some(pairs(draw, from.as_ref()?, to.as_ref()?));
    for run in others {
        if let Some(all) = pair(&first.total.all, &run.total.all) {
            let read = pair(&first.total.read, &run.total.read);
            let write = pair(&first.total.write, &run.total.write);
            run.paired = Some(Paired { baseline: "s0".into(), all, read, write, by_size: Vec::new() });
        }
        for (from, to) in first.flows.iter().zip(&mut run.flows).filter(|_| summary.flows.len() > 1) {
            to.paired = pair(&from.figures.all, &to.figures.all);
        }
    }
}

/// The comparison under other seeds: none, few, the same figures, nearly the same ones, or others.
fn replicate(draw: &mut Draw, summary: &mut Summary) {
    let count = [0, 0, 1, 2, 4, 5, 5, 5, 5, 7][draw.below(10) as usize];
    if count == 0 || summary.schedulers.is_empty() {
        return;
    }
    let kind = draw.below(4);
    let mut runs: Vec<SeedRun> = summary.schedulers.iter().map(|run| SeedRun::of(1, run)).collect();
    for seed in 2..=count {
        for run in &summary.schedulers {
            let mut again = SeedRun::of(seed, run);
            for figures in &mut again.figures {
                let factor = |draw: &mut Draw| match kind {
                    0 => 1.0,
                    1 => draw.between(0.98, 1.02),
                    2 if seed % 2 == 0 => 1.0,
                    _ => draw.factor(),
                };
                figures.mean_ns *= factor(draw);
                figures.p99_ns = ((figures.p99_ns as f64 * factor(draw)) as u64).max(1);
                let rate = factor(draw);
                figures.own_iops = figures.own_iops.map(|iops| iops * rate);
            }
            if kind == 3 {
                again.erases += draw.below(9);
                let factor = draw.between(0.8, 1.3);
                again.write_amplification = again.write_amplification.map(|value| value * factor);
            }
            runs.push(again);
        }
    }
    let because =
        [SeedsBecause::Asked, SeedsBecause::Few, SeedsBecause::Many, SeedsBecause::Replayed, SeedsBecause::State];
    let because = because[draw.below(5) as usize];
    summary.replications =
        Some(Replications { seeds: (1..=count).collect(), because, requests: 1_234_567, drawn: Vec::new(), runs });
}

/// No sentence without figures that bear it, and nothing that is worse is left out.
#[test]
fn every_sentence_is_borne_by_figures() {
    read_sentences(DAILY);
}

#[test]
#[ignore = "nightly: 2,700 summaries take 25 s of CPU"]
fn every_sentence_of_many_is_borne_by_figures() {
    read_sentences(NIGHTLY);
}

fn read_sentences(summaries: u64) {
    let (mut wrong, mut lines) = (Vec::new(), 0);
    let mut kinds = std::collections::BTreeMap::new();
    for seed in 0..summaries {
        let summary = drawn(seed);
        let verdict = Verdict::of(&summary);
        let json = serde_json::from_str(&summary.to_json()).expect("JSON");
        let all = verdict.lines(true);
        lines += all.len();
        verdict.findings.iter().for_each(|finding| *kinds.entry(finding.kind).or_insert(0) += 1);
        wrong.extend(problems(&json, &verdict.lines(false), &all).into_iter().map(|why| format!("{seed}: {why}")));
    }
    println!("{lines} sentences: {kinds:?}");
    assert!(wrong.is_empty(), "{} problems, the first: {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
    assert!(
        lines as u64 > 10 * summaries && kinds.len() >= 17 && kinds.values().all(|&count| count >= 3),
        "{lines} {kinds:?}"
    );
}

/// A sentence with a mistake in it, and what the mistake is; nothing where a sentence has no place for it.
fn mistaken(line: &str, kind: FindingKind) -> Vec<(&'static str, String)> {
    let is_change = line.contains(" -> ") && line.contains(" than under ") && kind != FindingKind::WriteAmplification;
    let mut made = Vec::new();
    let mut plant = |what: &'static str, text: String| {
        if text != line && is_change {
            made.push((what, text));
        }
    };
    plant(
        "the direction",
        if line.contains("faster than") {
            line.replacen("faster than", "slower than", 1)
        } else {
            line.replacen("slower than", "faster than", 1)
        },
    );
    plant("the rate's direction", line.replacen("fewer requests/s than", "more requests/s than", 1));
    plant("a value", line.replacen(" (", " (9", 1));
    plant("another value", line.replacen(" -> ", " -> 7", 1));
    plant("the size", line.replacen(": mean ", ": mean 9", 1));
    plant("alike", line.replacen("mean alike", "mean 12% faster", 1));
    plant("decided", line.replacen("not decided: ", "", 1));
    plant("how many seeds", line.replacen(" in 3 of 5 seeds", " in 4 of 5 seeds", 1));
    plant("few requests", line.replacen("p99 of ", "p99 of 1", 1));
    made
}

/// The sentences without a loss that the one with this number tells: without the sentence, or without one measure behind the first. Sentences that repeat
/// a change (most requests go the other way, which decision brings it) are none of these.
fn without_a_loss(all: &[String], number: usize, finding: &Finding) -> Vec<(&'static str, Vec<String>)> {
    use FindingKind::{AllAlike, DecisionBrings, EachBrings, Majority, NoDecisionAlone};
    let repeats = [AllAlike, Majority, DecisionBrings, EachBrings, NoDecisionAlone];
    let is_loss = |change: &Change| change.factor < 1.0;
    if repeats.contains(&finding.kind) || finding.kind != FindingKind::Starves && !finding.changes.iter().any(is_loss) {
        return Vec::new();
    }
    let mut without = all.to_vec();
    without.remove(number);
    let mut made = vec![("a loss", without)];
    let clauses: Vec<&str> = finding.text.split("; ").collect();
    for change in finding.changes.iter().skip(1).filter(|change| is_loss(change)) {
        let is_its = |clause: &&&str| {
            let clause = clause.strip_prefix("but ").unwrap_or(clause);
            match change.measure {
                Compared::Mean => clause.starts_with("mean "),
                Compared::P99 => clause.starts_with("p99 "),
                _ => clause.contains(" fewer "),
            }
        };
        let mut lines = all.to_vec();
        lines[number] = clauses.iter().filter(|clause| !is_its(clause)).copied().collect::<Vec<_>>().join("; ");
        made.push(("a measure of a loss", lines));
    }
    made
}

/// Mistakes in the sentences are noticed, whatever is mistaken; so is that nobody pays where somebody does, and each loss that is left out: the whole
/// sentence, or one measure of it.
#[test]
fn the_checker_notices_planted_mistakes() {
    plant_mistakes(PLANTED_DAILY);
}

#[test]
#[ignore = "nightly: 250 summaries take over 10 s of CPU"]
fn the_checker_notices_many_planted_mistakes() {
    plant_mistakes(PLANTED_NIGHTLY);
}

fn plant_mistakes(summaries: u64) {
    let mut planted: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for seed in 0..summaries {
        let summary = drawn(seed);
        let verdict = Verdict::of(&summary);
        let all = verdict.lines(true);
        let mut json: serde_json::Value = serde_json::from_str(&summary.to_json()).expect("JSON");
        let mut check = |lines: &[String]| {
            let first = &lines[..lines.len().min(12)];
            let more = (lines.len() > 12).then(|| format!("{} more lines with --full", lines.len() - 12));
            let first: Vec<String> = first.iter().cloned().chain(more).collect();
            // These sentences in place of its own.
            json["verdict"]["findings"] = lines.iter().map(|text| serde_json::json!({ "text": text })).collect();
            problems(&json, &first, lines)
        };
        assert_eq!(check(&all), Vec::<String>::new(), "{seed}");
        for (number, finding) in verdict.findings.iter().enumerate() {
            for (what, text) in mistaken(&finding.text, finding.kind) {
                let mut lines = all.clone();
                lines[number] = text;
                assert!(!check(&lines).is_empty(), "{seed}, {what}: {}", lines[number]);
                *planted.entry(what).or_insert(0) += 1;
            }
            let scheduler = finding.scheduler.clone().unwrap_or_default();
            if matches!(
                finding.kind,
                FindingKind::Pays | FindingKind::PartPays | FindingKind::PartSlower | FindingKind::Starves
            ) {
                let mut lines = all.clone();
                lines.push(format!("nobody pays under {scheduler}: no mean is worse than under s0 by more than 1%, no p99 by more than 5%"));
                assert!(!check(&lines).is_empty(), "{seed}: {scheduler} beside {}", finding.text);
                *planted.entry("nobody pays").or_insert(0) += 1;
            }
            for (what, lines) in without_a_loss(&all, number, finding) {
                assert!(!check(&lines).is_empty(), "{seed}, {what}: {}", finding.text);
                *planted.entry(what).or_insert(0) += 1;
            }
        }
    }
    println!("{planted:?}");
    assert!(planted["a loss"] > 4 * summaries && planted["a measure of a loss"] > summaries, "{planted:?}");
    assert!(planted.len() >= 11 && planted.values().all(|&count| count >= 3), "{planted:?}");
}
