//! A recommendation as text for the terminal.

use std::fmt::Write as _;

use super::format::{Sense, count, faster_than, or_dash, relative, time};
use super::listed::{section, table};
use super::recommendation::{Failed, Judged, Recommendation, Response, Role, RunStats};
use flashlane_outputs::shown::escaped;

/// The longest name that heads a column.
const LONG: usize = 20;

/// The recommendation as text for the terminal.
pub fn render(made: &Recommendation) -> String {
    let (scenario, device) = (escaped(&made.scenario), escaped(&made.device));
    let mut text = format!("{scenario} on {device}: {} requests\n", count(made.requests));
    if let Some(why) = &made.refusal {
        let _ = writeln!(text, "Nothing was chosen: {}.", escaped(why));
        let _ = writeln!(text, "\nTake the default, {}:\n", escaped(&made.default));
        let _ = writeln!(text, "    {}", escaped(&made.line));
        return text;
    }
    let _ = writeln!(
        text,
        "{} runs of {} schedulers and mixes, chosen by their mean response time on {}, judged on {}",
        made.runs,
        made.tried.len(),
        made.chosen_on,
        made.judged_on
    );
    let limits = if made.limits.is_empty() { "nothing".into() } else { made.limits.join(", ") };
    let _ = writeln!(text, "What has to be kept: {}\n", escaped(&limits));
    text.push_str(&escaped(&advice(made)));
    text.push_str("\n\n");
    if !made.line.is_empty() {
        let _ = writeln!(text, "    {}\n", escaped(&made.line));
    }
    if let Some(best) = best_not_taken(made) {
        let _ = writeln!(text, "The best found: {}\n", escaped(&best.written));
    }
    for costs in costs(made) {
        let mut rows = table(costs.heads);
        for row in costs.rows {
            rows.add_row(row);
        }
        section(&mut text, &costs.title, rows);
    }
    let broken: String = broken(made).iter().map(|(name, what)| format!("  {name}: {}\n", escaped(what))).collect();
    if !broken.is_empty() {
        let _ = writeln!(text, "What breaks a limit\n{broken}");
    }
    let open: String = not_judged(made).iter().map(|(name, why)| format!("  {name}: {}\n", escaped(why))).collect();
    if !open.is_empty() {
        let _ = writeln!(text, "Limits that were not judged\n{open}");
    }
    text.push_str(&ceiling(made));
    let not_run: String = not_run(&made.failed).iter().map(|line| format!("{}\n", escaped(line))).collect();
    if !not_run.is_empty() {
        let _ = write!(text, "\n{not_run}");
    }
    text
}

/// The best found, if it is something else than what to take.
pub(super) fn best_not_taken(made: &Recommendation) -> Option<&Judged> {
    let mut all = made.judged.iter().enumerate();
    all.find(|(i, judged)| judged.role == Role::Best && Some(*i) != made.take).map(|(_, best)| best)
}

/// What to take, and why, in one sentence or two.
pub fn advice(made: &Recommendation) -> String {
    let Some(take) = made.take.map(|take| &made.judged[take]) else {
        return "Nothing that was tried keeps what has to be kept; the tables show how near it comes.".into();
    };
    let first = &made.judged[0];
    let default = made.judged.iter().find(|judged| judged.name == made.default);
    let best = made.judged.iter().find(|judged| judged.is_best);
    match take.role {
        Role::Best => {
            let mut text = format!("Take {}: {}", label(take), faster_than(1.0 / take.ratio, &first.name));
            if let Some(default) = default.filter(|default| default.name != first.name) {
                let (gain, name) = (default.ratio / take.ratio, &default.name);
                let _ = match default.broken.is_empty() {
                    true => write!(text, ", and {}, the default", faster_than(gain, name)),
                    false => write!(text, "; {name}, the default, breaks a limit"),
                };
            }
            text + "."
        }
        _ if take.name == made.default => {
            let than = match take.role {
                Role::First => String::new(),
                _ => format!(": {}", faster_than(1.0 / take.ratio, &first.name)),
            };
            format!("Take {}, the default{than}. {}", take.name, why_not_the_best(take, best))
        }
        _ => format!("Keep {}. {}", take.name, why_not_others(take, default, best)),
    }
}

/// Why the best found is not what to take.
fn why_not_the_best(take: &Judged, best: Option<&Judged>) -> String {
    match best.filter(|best| best.name != take.name) {
        None => "Nothing that was tried beats it.".into(),
        Some(best) => format!("Nothing that was tried beats it where it was judged: {}.", fell_short(take, best)),
    }
}

fn why_not_others(take: &Judged, default: Option<&Judged>, best: Option<&Judged>) -> String {
    let default = default.filter(|default| default.name != take.name);
    let best = best.filter(|best| best.name != take.name && Some(&best.name) != default.map(|default| &default.name));
    let reasons: Vec<String> = default.into_iter().chain(best).map(|other| fell_short(take, other)).collect();
    match reasons.is_empty() {
        true => "Nothing that was tried beats it.".into(),
        false => format!("Nothing that was tried beats it where it was judged: {}.", reasons.join("; ")),
    }
}

/// Why `other` is not taken in place of `take`.
fn fell_short(take: &Judged, other: &Judged) -> String {
    let before = faster_than(take.chosen_ratio / other.chosen_ratio, &take.name);
    let before = format!("{} was {before} where it was chosen", label(other));
    match other.broken.is_empty() {
        true => format!("{before}, and is {} where it was judged", faster_than(take.ratio / other.ratio, "it")),
        false => format!("{before}, and breaks a limit where it was judged"),
    }
}

/// How those judged are called. The name of a mix is longer than its figures; what it is stands above the tables.
fn label(judged: &Judged) -> String {
    match judged.role {
        Role::Best if judged.name.chars().count() > LONG => "the best found".into(),
        _ => escaped(&judged.name).into_owned(),
    }
}

/// A table of what each flow gains or pays.
pub(super) struct Costs {
    pub(super) title: String,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// What each flow gains or pays, and the device; nothing where nobody was judged.
pub(super) fn costs(made: &Recommendation) -> Vec<Costs> {
    if made.judged.is_empty() {
        return Vec::new();
    }
    let others = made.judged.iter().skip(1).flat_map(|judged| [label(judged), "Δ".into()]);
    let heads: Vec<String> = [String::new(), label(&made.judged[0])].into_iter().chain(others).collect();
    let part = made.judged_on.split(',').next().unwrap_or_default();
    let figures: Vec<&RunStats> = made.judged.iter().map(|judged| &judged.figures).collect();
    let of: [(&str, Value); 2] =
        [("Mean response time", |response| response.mean_ns), ("p99", |response| response.p99_ns)];
    let mut all = Vec::new();
    for (title, value) in of {
        let mut rows = Vec::new();
        for (flow, first) in figures[0].flows.iter().enumerate() {
            for (kind, get) in kinds(&figures, flow) {
                let values: Vec<Option<f64>> =
                    figures.iter().map(|one| get(&one.flows[flow]).as_ref().map(value)).collect();
                rows.push(row(format!("{} {kind}", escaped(&first.name)), &values, time, Sense::Time));
            }
        }
        all.push(Costs { title: format!("{title} on {part}"), heads: heads.clone(), rows });
    }
    let three = |value: f64| format!("{value:.3}");
    let amplification: Vec<Option<f64>> = figures.iter().map(|one| one.write_amplification).collect();
    let mut rows = vec![row("write amplification".into(), &amplification, three, Sense::Amount)];
    if figures[0].fairness.is_some() {
        let fairness: Vec<Option<f64>> = figures.iter().map(|one| one.fairness).collect();
        rows.push(row("fairness".into(), &fairness, three, Sense::Amount));
    }
    all.push(Costs { title: format!("Device on {part}"), heads, rows });
    all
}

/// A time of a kind of request.
type Value = fn(&Response) -> f64;
/// A kind of request.
type Get = fn(&super::recommendation::FlowTimes) -> &Option<Response>;

/// The kinds of requests that a flow has: reads and writes, or with one of them that one; and flushes.
fn kinds(figures: &[&RunStats], flow: usize) -> Vec<(&'static str, Get)> {
    let all: [(&'static str, Get); 2] = [("reads", |flow| &flow.read), ("writes", |flow| &flow.write)];
    let mut kinds: Vec<(&'static str, Get)> =
        all.into_iter().filter(|(_, get)| figures.iter().any(|one| get(&one.flows[flow]).is_some())).collect();
    if kinds.len() > 1 {
        kinds.insert(0, ("all", |flow| &flow.all));
    }
    if figures.iter().any(|one| one.flows[flow].flush.is_some()) {
        kinds.push(("flushes", |flow| &flow.flush));
    }
    kinds
}

/// A row: the first's value, then each other's with its change.
fn row(name: String, values: &[Option<f64>], show: impl Fn(f64) -> String, sense: Sense) -> Vec<String> {
    let first = values[0];
    let mut cells = vec![name, or_dash(first, &show)];
    for value in &values[1..] {
        let change = value.zip(first).filter(|(_, first)| *first > 0.0);
        let change = change.map(|(value, first)| 100.0 * (value / first - 1.0));
        cells.push(or_dash(*value, &show));
        cells.push(or_dash(change, |change| relative(change, sense)));
    }
    cells
}

/// Those judged that break limits, and which.
pub(super) fn broken(made: &Recommendation) -> Vec<(String, String)> {
    let broken = made.judged.iter().filter(|judged| !judged.broken.is_empty());
    broken.map(|judged| (label(judged), judged.broken.join("; "))).collect()
}

/// Those judged of which a limit was not, and why.
pub(super) fn not_judged(made: &Recommendation) -> Vec<(String, String)> {
    let some = made.judged.iter().filter(|judged| !judged.not_judged.is_empty());
    some.map(|judged| (label(judged), judged.not_judged.join("; "))).collect()
}

/// How far each of those judged is from what no scheduler can beat.
pub(super) fn gaps(made: &Recommendation) -> Vec<(String, String)> {
    made.judged.iter().filter_map(|judged| Some((label(judged), judged.ceiling.as_ref()?.words()))).collect()
}

fn ceiling(made: &Recommendation) -> String {
    if let Some(none) = &made.ceiling_none {
        return format!("Ceiling: none: {}\n", escaped(none));
    }
    let lines: String = gaps(made).iter().map(|(name, gap)| format!("  {name}: {gap}\n")).collect();
    format!("Ceiling, of the mean response time of all requests on {}\n{lines}", made.ceiling_on)
}

/// What could not be run, a line for each reason.
pub(super) fn not_run(failed: &[Failed]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in failed {
        match reasons.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, names)) => names.push(&one.scheduler),
            None => reasons.push((&one.reason, vec![&one.scheduler])),
        }
    }
    reasons.into_iter().map(|(reason, names)| format!("Not run: {}: {reason}", names.join(", "))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::recommendation::{FlowTimes, Tried};
    use super::super::recommendation_page::html;
    use super::*;

    fn judged(name: &str, role: Role, ratios: [f64; 2], broken: bool) -> Judged {
        let response = |mean_ns: f64| Some(Response { mean_ns, p99_ns: 4.0 * mean_ns });
        let flow = |name: &str| FlowTimes {
            name: name.into(),
            all: response(1e6 * ratios[1]),
            read: response(2e5 * ratios[1]),
            write: (name == "db").then_some(Response { mean_ns: 2e6, p99_ns: 9e6 }),
            flush: (name == "web").then_some(Response { mean_ns: 3e6 * ratios[1], p99_ns: 3e6 }),
        };
        Judged {
            name: name.into(),
            written: format!("\"{name}\""),
            role,
            is_best: role == Role::Best,
            chosen_ratio: ratios[0],
            ratio: ratios[1],
            figures: RunStats {
                flows: vec![flow("web"), flow("db")],
                write_amplification: Some(1.5),
                erases: 100,
                runs: 1,
                fairness: None,
            },
            broken: if broken { vec!["p99 of db is 9.000 ms where 1.000 ms is the most".into()] } else { Vec::new() },
            not_judged: if broken { vec!["write amplification: 12 erases are few".into()] } else { Vec::new() },
            ceiling: None,
        }
    }

    fn made(judged: Vec<Judged>, take: Option<usize>) -> Recommendation {
        Recommendation {
            scenario: "mine".into(),
            device: "flin-isca18".into(),
            requests: 12_345,
            runs: 99,
            tried: (0..64).map(tried).collect(),
            chosen_on: "seed 1".into(),
            judged_on: "seeds 2 to 4".into(),
            limits: vec!["p99 of every flow at most +5 % against fcfs".into()],
            refusal: None,
            line: take.map_or_else(String::new, |take| format!("scheduler = {}", judged[take].written)),
            judged,
            take,
            default: "late".into(),
            failed: Vec::new(),
            ceiling_on: "seed 2".into(),
            ceiling_none: Some("there are closed loops".into()),
        }
    }

    fn tried(number: u64) -> Tried {
        let name = format!("scheduler <{number}>");
        Tried { written: format!("{name:?}"), name, round: 1, rounds: 3, ratio: 0.5 + number as f64, keeps: number > 1 }
    }

    const FIRST: [f64; 2] = [1.0, 1.0];

    #[test]
    fn advice_says_what_to_take_and_why_not_the_others() {
        let first = judged("fcfs", Role::First, FIRST, false);
        let late = |ratios, broken| judged("late", Role::Default, ratios, broken);
        let best = |ratios, broken| judged("mix", Role::Best, ratios, broken);
        let cases = [
            (
                vec![first.clone(), late([0.5, 0.5], false), best([0.3, 0.4], false)],
                Some(2),
                "Take mix: 2.5x faster than fcfs, and 20% faster than late, the default.",
            ),
            (
                vec![first.clone(), late([0.5, 0.5], true), best([0.7, 0.8], false)],
                Some(2),
                "Take mix: 20% faster than fcfs; late, the default, breaks a limit.",
            ),
            (
                vec![first.clone(), Judged { is_best: true, ..late([0.5, 0.5], false) }],
                Some(1),
                "Take late, the default: 2.0x faster than fcfs. Nothing that was tried beats it.",
            ),
            (
                vec![first.clone(), late([0.5, 0.5], false), best([0.4, 0.5], false)],
                Some(1),
                "Take late, the default: 2.0x faster than fcfs. Nothing that was tried beats it where it was judged: mix was 20% \
                 faster than late where it was chosen, and is as fast as it where it was judged.",
            ),
            (
                vec![first.clone(), late([0.9, 1.1], false), best([0.8, 0.7], true)],
                Some(0),
                "Keep fcfs. Nothing that was tried beats it where it was judged: late was 10% faster than fcfs where it was chosen, and \
                 is 10% slower than it where it was judged; mix was 20% faster than fcfs where it was chosen, and breaks a limit where \
                 it was judged.",
            ),
            (
                vec![Judged { is_best: true, ..judged("late", Role::First, FIRST, false) }],
                Some(0),
                "Take late, the default. Nothing that was tried beats it.",
            ),
            (
                vec![first.clone(), late([0.5, 0.5], true)],
                None,
                "Nothing that was tried keeps what has to be kept; the tables show how near it comes.",
            ),
        ];
        for (judged, take, wanted) in cases {
            assert_eq!(advice(&made(judged, take)), wanted);
        }
    }

    #[test]
    fn the_text_shows_who_pays_and_what_is_broken() {
        let long =
            Judged { written: "{ base = \"x\" }".into(), ..judged(&"x".repeat(21), Role::Best, [0.2, 0.25], true) };
        let all =
            vec![judged("fcfs", Role::First, FIRST, false), judged("late", Role::Default, [0.5, 0.5], false), long];
        let failed = |scheduler: &str, reason: &str| Failed { scheduler: scheduler.into(), reason: reason.into() };
        let failed = vec![failed("a", "no buffer"), failed("b", "full"), failed("c", "no buffer")];
        let text = render(&Recommendation { failed, ..made(all, Some(1)) });
        for part in [
            "mine on flin-isca18: 12,345 requests\n99 runs of 64 schedulers and mixes, chosen by their mean response time on seed 1, judged on seeds 2 to 4\n",
            "What has to be kept: p99 of every flow at most +5 % against fcfs\n\nTake late, the default",
            "\n\n    scheduler = \"late\"\n\nThe best found: { base = \"x\" }\n\n",
            "Mean response time on seeds 2 to 4\n                   fcfs      late       Δ  the best found       Δ\n",
            "  web reads    200.0 µs  100.0 µs  -50.0%        50.00 µs  -75.0%\n",
            "  web flushes  3.000 ms  1.500 ms  -50.0%        750.0 µs  -75.0%\n",
            "  db all       1.000 ms  500.0 µs  -50.0%        250.0 µs  -75.0%\n",
            "  db writes    2.000 ms  2.000 ms    0.0%        2.000 ms    0.0%\n",
            "p99 on seeds 2 to 4\n",
            "  write amplification  1.500  1.500  0.0%           1.500  0.0%\n",
            "What breaks a limit\n  the best found: p99 of db is 9.000 ms where 1.000 ms is the most\n",
            "Limits that were not judged\n  the best found: write amplification: 12 erases are few\n",
            "Ceiling: none: there are closed loops\n",
            "\nNot run: a, c: no buffer\nNot run: b: full\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("fairness"), "{text}");
    }

    #[test]
    fn the_page_says_what_the_text_says() {
        let all = vec![judged("fcfs", Role::First, FIRST, true), judged("late", Role::Default, [0.5, 0.5], false)];
        let failed = vec![Failed { scheduler: "a".into(), reason: "no <buffer>".into() }];
        let made = Recommendation { failed, ..made(all, Some(1)) };
        let page = html(&made, "flashlane recommend <mine>");
        for part in [
            "12,345 requests on <b>flin-isca18</b>; 99 runs of 64 schedulers and mixes",
            "<p>Take late, the default: 2.0x faster than fcfs. ",
            "<pre><code>scheduler = &quot;late&quot;</code></pre>",
            "<tr><th scope=\"row\">web reads</th><td>200.0 µs</td><td>100.0 µs</td><td>-50.0%</td></tr>",
            "<p class=\"note\">fcfs breaks a limit: p99 of db is 9.000 ms where 1.000 ms is the most.</p>",
            "<p class=\"note\">Not judged of fcfs: write amplification: 12 erases are few.</p>",
            "<p>There is no bound: there are closed loops.</p>",
            "<th scope=\"row\">scheduler &lt;0&gt;</th><td>1 of 3</td><td class=\"bar\">0.500<i style=\"inline-size: 25.0%\"></i></td><td>broken</td>",
            "<td class=\"bar\">63.50<i style=\"inline-size: 100.0%\"></i></td><td>kept</td>",
            "Not run: a: no &lt;buffer&gt;",
            "flashlane recommend &lt;mine&gt;",
        ] {
            assert!(page.contains(part), "{part}\n{}", page.split("</header>").nth(1).unwrap_or(&page));
        }
        let few = Recommendation {
            refusal: Some("too few".into()),
            judged: Vec::new(),
            tried: Vec::new(),
            take: None,
            ..made
        };
        let page = html(&few, "flashlane");
        assert!(page.contains("Nothing was chosen: too few. Take the default, late.") && !page.contains("h-tried"));
    }

    #[test]
    fn json_is_read_back() {
        let made = made(vec![judged("fcfs", Role::First, FIRST, false)], Some(0));
        assert_eq!(serde_json::from_str::<Recommendation>(&made.to_json()).expect("JSON"), made);
    }
}
