//! The sentence of a finding, made from the finding alone.

use super::cases::called;
use super::effects::LARGEST;
use super::finding::{Change, Compared, Finding, FindingKind, SeedOpinion, SeedRange, SeedWord};
use super::uneven::speed;
use crate::results::format::{count, faster, more, number, share, time, times};
use crate::results::replications::RequestKind;

/// The sentence, without a full stop.
pub(super) fn sentence(finding: &Finding) -> String {
    let of_all = finding.flow.is_none() && finding.request == Some(RequestKind::All);
    let (who, plural) = match of_all && finding.change(Compared::Rate).is_some() {
        true => ("all flows together".to_owned(), true),
        false => called(finding.flow.as_deref(), finding.request),
    };
    let scheduler = finding.scheduler.as_deref().unwrap_or("the others");
    let base = finding.baseline.as_deref().unwrap_or_default();
    let verb = |one: &str, many: &str| if plural { many.to_owned() } else { one.to_owned() };
    match finding.kind {
        FindingKind::NothingCompleted => "no request completed".into(),
        FindingKind::NothingCounted => {
            let completed = finding.figure("/completed");
            match completed {
                1.0 => "no request is counted: the only one that completed arrived in the warm-up".into(),
                _ => {
                    format!("no request is counted: all {} that completed arrived in the warm-up", number_of(completed))
                }
            }
        }
        FindingKind::OnlyControls => "all schedulers are controls, so they compete among themselves".into(),
        FindingKind::Run => run(finding, &who),
        FindingKind::AllAlike => all_alike(finding),
        FindingKind::AlikeHere => {
            let alike = changes(finding, base);
            format!("{who} {} alike under {scheduler} with this seed: {alike}", verb("is", "are"))
        }
        FindingKind::Wins => format!("{scheduler} wins for {who}: {}{}", changes(finding, base), as_good(finding)),
        FindingKind::ReferenceWins => {
            format!("{base} wins for {who}; next is {scheduler}: {}", changes(finding, base))
        }
        FindingKind::Gains => format!("{who} {} under {scheduler}: {}", verb("gains", "gain"), changes(finding, base)),
        FindingKind::Pays | FindingKind::PartPays => {
            let what = match finding.changes.first().map(|change| change.measure) {
                Some(Compared::P99) => " in p99",
                _ => "",
            };
            format!("{who} {}{what} under {scheduler}: {}", verb("pays", "pay"), changes(finding, base))
        }
        FindingKind::PartSlower => {
            format!("{who} {} slower under {scheduler}: {}", verb("is", "are"), changes(finding, base))
        }
        FindingKind::Starves => {
            let before = number_of(finding.figure("/requests"));
            let none =
                if finding.figure("/warm_up") > 0.0 { "none completed that is counted" } else { "none completed" };
            format!("{who} {} under {scheduler}: {none}, {before} did under {base}", verb("pays", "pay"))
        }
        FindingKind::NobodyPays => {
            let rate = if finding.names.is_empty() { "" } else { " and no requests/s of a closed loop" };
            format!(
                "nobody pays under {scheduler}: no mean{rate} is worse than under {base} by more than 1%, no p99 by more than 5%"
            )
        }
        FindingKind::NothingToOrder
        | FindingKind::HostGains
        | FindingKind::HostPays
        | FindingKind::LimitBringsNothing => above(finding, &who, plural),
        FindingKind::Uneven => uneven(finding, &who, scheduler, base),
        FindingKind::Slowdown => slowdown(finding, &who, scheduler, base),
        FindingKind::Majority => majority(finding, &who, scheduler),
        FindingKind::WriteAmplification => pages(finding, scheduler, base),
        FindingKind::DecisionBrings
        | FindingKind::EachBrings
        | FindingKind::NoDecisionAlone
        | FindingKind::DecisionsDiffer => decisions(finding, &who, scheduler, base),
        FindingKind::Seeds => seeds(finding),
    }
}

/// What an elevator and limits bring.
fn above(finding: &Finding, who: &str, plural: bool) -> String {
    let [scheduler, base] = [&finding.scheduler, &finding.baseline].map(|name| name.as_deref().unwrap_or_default());
    let what = finding.names.first().map_or("", String::as_str);
    let s = if plural { "" } else { "s" };
    match finding.kind {
        FindingKind::NothingToOrder => format!(
            "the host had nothing to order under {}: at most 1% of the requests waited in its elevator",
            finding.names.join(", ")
        ),
        FindingKind::LimitBringsNothing => {
            let reads_first = finding.names.get(1);
            let why = reads_first.map(|pick| format!("; the drive itself takes reads before writes (pick {pick})"));
            format!(
                "{what} bring {who} nothing under {scheduler}: {}{}",
                changes(finding, base),
                why.unwrap_or_default()
            )
        }
        FindingKind::HostGains => format!("{who} gain{s} by {what} under {scheduler}: {}", changes(finding, base)),
        _ => {
            let why = finding.names.get(1).map(|tags| format!("; {tags}"));
            format!("{who} pay{s} for {what} under {scheduler}: {}{}", changes(finding, base), why.unwrap_or_default())
        }
    }
}

/// Which other schedulers are as good as the one that wins.
fn as_good(finding: &Finding) -> String {
    match finding.names.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} is within 1% of it"),
        [few @ .., last] if few.len() < NAMED => format!("; {} and {last} are within 1% of it", few.join(", ")),
        many => format!("; {} others are within 1% of it", many.len()),
    }
}

/// What changes, each with what the seeds say.
fn changes(finding: &Finding, base: &str) -> String {
    let up = finding.changes.first().map_or(1.0, |change| change.factor);
    let commits = finding.request == Some(RequestKind::Commit);
    let mut text = String::new();
    for (number, one) in finding.changes.iter().enumerate() {
        if number > 0 {
            text.push_str("; ");
            let is_contrary = !one.is_alike() && up != 1.0 && (one.factor > 1.0) != (up > 1.0);
            text.push_str(if is_contrary { "but " } else { "" });
        }
        text.push_str(&change(one, (number == 0).then_some(base), commits));
        if let Some(seeds) = &one.seeds {
            text.push_str(&opinion(one, seeds, number == 0));
        }
    }
    text
}

/// `mean 33x faster than under fcfs (2.984 ms -> 90.97 µs)`.
fn change(change: &Change, base: Option<&str>, commits: bool) -> String {
    let than = base.map_or_else(String::new, |base| format!(" than under {base}"));
    let show = |value: f64| if change.measure == Compared::Rate { number(value) } else { time(value) };
    let values = format!("{} -> {}", show(change.from), show(change.to));
    let name = match change.measure {
        Compared::Mean => "mean".to_owned(),
        // Few requests beyond a percentile say so.
        Compared::P99 if change.requests < 1_000 => format!("p99 of {}", requests(change.requests)),
        Compared::P99 => "p99".to_owned(),
        Compared::Rate => String::new(),
        Compared::WriteAmplification => "write amplification".to_owned(),
    };
    let unit = if commits { "commits/s" } else { "requests/s" };
    let by = size_of(change);
    match (change.measure, change.is_alike()) {
        (Compared::Rate, true) => format!("as many {unit} ({values}, within {}%)", change.within_percent),
        (Compared::Rate, false) => {
            let than = if by.ends_with(" as many") { than.replacen(" than", " as", 1) } else { than };
            format!("{by} {unit}{than} ({values})")
        }
        (_, true) => format!("{name} alike ({values}, within {}%)", change.within_percent),
        (_, false) => format!("{name} {by}{than} ({values})"),
    }
}

/// How large a change is: a factor from twofold on, or where seeds are told as factors.
fn size_of(change: &Change) -> String {
    let range = change.seeds.as_ref().filter(|seeds| seeds.says == SeedWord::Decided);
    let range = range.and_then(|seeds| seeds.better.or(seeds.worse));
    let (is_rate, factor) = (change.measure == Compared::Rate, change.factor);
    let by = plain(change.size());
    // One of the two is 0: there is no factor.
    if change.size() >= LARGEST {
        let words = if is_rate { ["more", "fewer"] } else { ["faster", "slower"] };
        return words[usize::from(factor < 1.0)].into();
    }
    match (range.is_some_and(|range| range.high >= FAR) && change.size() < FAR, is_rate, factor > 1.0) {
        (false, true, _) => more(factor),
        (false, false, _) => faster(factor),
        (true, true, true) => format!("{by} as many"),
        (true, true, false) => format!("{by} fewer"),
        (true, false, true) => format!("{by} faster"),
        (true, false, false) => format!("{by} slower"),
    }
}

/// From this factor on figures are far apart.
const FAR: f64 = 2.0;

/// What the seeds say of a change, as the end of its phrase.
fn opinion(change: &Change, seeds: &SeedOpinion, is_first: bool) -> String {
    let SeedOpinion { says, seeds: all, outcomes, better, worse, alike } = *seeds;
    // Of figures that are alike here, other seeds are told where they are far apart.
    let is_far = [better, worse].into_iter().flatten().any(|range| range.high >= FAR);
    if change.is_alike() && !is_far {
        return String::new();
    }
    // Outcomes are of all figures, so they are told once.
    let kinds = if is_first && outcomes > 1 && outcomes < all {
        format!(", {outcomes} different outcomes")
    } else {
        String::new()
    };
    match says {
        SeedWord::NothingChanges => String::new(),
        SeedWord::Same => format!(", the same under all {all} seeds"),
        SeedWord::Decided => {
            let Some(range) = better.or(worse) else { return String::new() };
            let over = if is_first { format!(" over {all} seeds{kinds}") } else { String::new() };
            format!(", {}{over}", between(range, better.is_some(), change.measure))
        }
        SeedWord::Alike => format!(", within 1% under all {all} seeds"),
        SeedWord::Open | SeedWord::TooFew => {
            let [up, down] = match change.measure {
                Compared::Rate => ["more", "fewer"],
                Compared::WriteAmplification => ["fewer", "more"],
                Compared::Mean | Compared::P99 => ["faster", "slower"],
            };
            let open = if says == SeedWord::Open { "not decided: " } else { "" };
            format!(", {open}{}{kinds}", ways([(up, better), (down, worse)], alike, all))
        }
    }
}

/// `faster in 3 of 5 seeds (at most 1.26x), slower in 2 (at least 13x), alike in 1`.
fn ways(sides: [(&str, Option<SeedRange>); 2], alike: u32, all: u32) -> String {
    let larger = |one: SeedRange, other: Option<SeedRange>| other.is_some_and(|other| one.low > other.low);
    let mut parts: Vec<String> = Vec::new();
    let push = |parts: &mut Vec<String>, what: &str, seeds: u32, factor: String| {
        let of = if parts.is_empty() { format!(" of {all} seeds") } else { String::new() };
        parts.push(format!("{what} in {seeds}{of}{factor}"));
    };
    for (number, (name, side)) in sides.into_iter().enumerate() {
        let Some(range) = side else { continue };
        let factor = match () {
            () if range.seeds == 1 => format!(" ({})", plain(range.low)),
            () if larger(range, sides[1 - number].1) => format!(" (at least {})", plain(range.low)),
            () => format!(" (at most {})", plain(range.high)),
        };
        push(&mut parts, name, range.seeds, factor);
    }
    if alike > 0 {
        push(&mut parts, "alike", alike, String::new());
    }
    parts.join(", ")
}

/// A factor as it is: `1.26x`, `13x`.
fn plain(factor: f64) -> String {
    if factor < 2.0 { format!("{factor:.2}x") } else { format!("{}x", times(factor)) }
}

/// `33x to 127x`, `1.9x to 2.0x`, `5% to 10%`: in percent if both ends are below twofold, else as factors.
fn between(range: SeedRange, is_better: bool, measure: Compared) -> String {
    let of = |size: f64| {
        let factor = if is_better { size } else { 1.0 / size };
        match measure {
            Compared::WriteAmplification if range.high < FAR && is_better => {
                format!("{:.0}%", 100.0 * (1.0 - 1.0 / size))
            }
            Compared::WriteAmplification if range.high < FAR => format!("{:.0}%", 100.0 * (size - 1.0)),
            // With one digit such a factor would be 1.0 or 1.1.
            _ if range.high >= FAR && size < 1.15 => format!("{size:.2}x"),
            _ if range.high >= FAR => format!("{}x", times(size)),
            Compared::Mean | Compared::P99 => first_word(&faster(factor)),
            Compared::Rate => first_word(&more(factor)),
            Compared::WriteAmplification => unreachable!("below twofold it is in percent, else a factor"),
        }
    };
    if range.high >= LARGEST {
        return format!("at least {}", of(range.low.min(LARGEST)));
    }
    let [low, high] = [range.low, range.high].map(of);
    if low == high { low } else { format!("{low} to {high}") }
}

fn first_word(text: &str) -> String {
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// A run by itself.
fn run(finding: &Finding, who: &str) -> String {
    let of = finding.figure("/requests") as u64;
    let few = if of < 1_000 { format!(" of {}", requests(of)) } else { String::new() };
    let means = finding.figures.iter().filter(|figure| figure.path.ends_with("/mean_ns"));
    let mean = means.map(|figure| figure.value).next().unwrap_or(0.0);
    let times = format!("{who}: mean {}, p99{few} {}", time(mean), time(finding.figure("/p99_ns")));
    let slowdown = finding.figures.iter().find(|figure| figure.path.ends_with("/slowdown"));
    match slowdown {
        Some(slowdown) => {
            let under = finding.scheduler.as_deref().unwrap_or_default();
            format!("{times}; sharing makes the mean {} its mean alone under {under}", times_text(slowdown.value))
        }
        None => times,
    }
}

/// `1 request`, `949 requests`.
fn requests(number: u64) -> String {
    counted(number, "request")
}

fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A whole number.
fn number_of(value: f64) -> String {
    count(value as u64)
}

/// Nothing differs beyond the tolerance.
fn all_alike(finding: &Finding) -> String {
    let base = finding.baseline.as_deref().unwrap_or_default();
    let mut means = finding.figures.iter().filter(|figure| figure.path.ends_with("/mean_ns"));
    // A commit has two figures, which stand for one mean.
    let mut shown = Vec::new();
    for name in finding.names.iter().take(NAMED) {
        let Some(figure) = means.next() else { break };
        if name.ends_with("commits") {
            means.next();
        }
        shown.push(format!("{name} {}", time(figure.value)));
    }
    let more = finding.names.len() - shown.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let who = if finding.changes.is_empty() {
        "all schedulers are alike"
    } else {
        "nothing but write amplification tells the schedulers apart"
    };
    format!(
        "{who}: means and requests/s within 1% of those under {base}, p99 within 5% (mean: {}{more})",
        shown.join(", ")
    )
}

/// Names in a list.
const NAMED: usize = 4;

/// Quarters, and in how little the difference lies.
fn uneven(finding: &Finding, who: &str, scheduler: &str, base: &str) -> String {
    let of = |end: &str| -> Vec<f64> {
        let figures =
            finding.figures.iter().filter(|figure| figure.path.contains("/quarters/") && figure.path.ends_with(end));
        figures.map(|figure| figure.value).collect()
    };
    let quarters: Vec<String> = of("/baseline_mean_ns")
        .into_iter()
        .zip(of("/mean_ns"))
        .map(|(from, to)| match speed(from, to) {
            factor if factor < 9.95 => format!("{factor:.2}"),
            factor => times(factor),
        })
        .collect();
    let quarters = (!quarters.is_empty()).then(|| {
        let are = if finding.flow.is_some() { "is" } else { "are" };
        let quarters = quarters.join(", ");
        let whose = if finding.flow.is_some() { "its requests" } else { "the run" };
        format!(
            "in the four quarters of {whose} {who} {are} {quarters} times as fast under {scheduler} as under {base}"
        )
    });
    let concentrated = finding.figures.iter().any(|figure| figure.path.ends_with("/gained_ns"));
    let concentrated = concentrated.then(|| concentration(finding));
    match (quarters, concentrated) {
        (Some(quarters), Some(concentrated)) => {
            format!("{quarters}; nine tenths of the difference lie in {concentrated}")
        }
        (Some(quarters), None) => quarters,
        (None, Some(concentrated)) => {
            format!("nine tenths of the difference of {who} under {scheduler} lie in {concentrated}")
        }
        (None, None) => String::new(),
    }
}

/// `the last 110.0 ms, 2.6% of the requests (gains of 12.3 s and losses of 4.1 s)`.
fn concentration(finding: &Finding) -> String {
    let figure = |end: &str| finding.figure(end);
    let (from, to) = (figure("/from_ns"), figure("/to_ns"));
    let (first, last) = (figure("/first_arrival_ns"), figure("/last_arrival_ns"));
    let all = finding.figures.iter().rfind(|figure| figure.path.ends_with("/requests")).map_or(1.0, |all| all.value);
    let requests = finding.figures.iter().find(|figure| figure.path.ends_with("/concentration/requests"));
    let alone = requests.map_or(0.0, |requests| requests.value);
    let (gained, lost) = (figure("/gained_ns"), figure("/lost_ns"));
    let window = (last - first) / 100.0;
    let place = if figure("/windows") == 0.0 {
        format!("{} of the requests", share(alone / all))
    } else {
        let share = share(figure("/window_requests") / all);
        let windows = figure("/windows");
        match () {
            () if to - from > (windows + 0.5) * window => {
                format!(
                    "{windows:.0} of 100 windows of time between {} and {}, {share} of the requests",
                    time(from),
                    time(to)
                )
            }
            () if to >= last - 1.0 => format!("the last {}, {share} of the requests", time(to - from)),
            () if from <= first + 1.0 => format!("the first {}, {share} of the requests", time(to - from)),
            () => format!("the {} from {} on, {share} of the requests", time(to - from), time(from)),
        }
    };
    let net = (gained - lost).abs();
    if gained > net && lost > net {
        format!("{place} (in all requests gain {} and lose {})", time(gained), time(lost))
    } else {
        place
    }
}

/// How much a flow is slowed by the others.
fn slowdown(finding: &Finding, who: &str, scheduler: &str, base: &str) -> String {
    let mut values = finding.figures.iter().map(|figure| times_text(figure.value));
    let from = values.next().unwrap_or_default();
    let under = values.next().map_or_else(String::new, |to| format!(", under {scheduler} {to}"));
    format!("under {base}, sharing makes {who}'s mean {from} its mean alone{under}")
}

/// The mean and the number of requests disagree.
fn majority(finding: &Finding, who: &str, scheduler: &str) -> String {
    let [all, up, down] = ["/requests", "/faster", "/slower"].map(|end| finding.figure(end));
    let mean = match finding.changes.first() {
        Some(change) if !change.is_alike() => format!("the mean is {}", faster(change.factor)),
        _ => "the mean is within 1%".to_owned(),
    };
    let way = if down > up { "slower than faster" } else { "faster than slower" };
    format!(
        "{who} under {scheduler}: {mean}, yet more requests are {way} ({} faster, {} slower)",
        share(up / all),
        share(down / all)
    )
}

/// Write amplification.
fn pages(finding: &Finding, scheduler: &str, base: &str) -> String {
    let Some(change) = finding.changes.first() else { return String::new() };
    let (from, to) = (change.from, change.to);
    let amount = match change.factor {
        factor if factor <= 1.0 / FAR => format!("{}x as much", times(1.0 / factor)),
        factor if factor < 1.0 => format!("{:.0}% more", 100.0 * (to / from - 1.0)),
        factor if factor >= FAR => format!("{}x less", times(factor)),
        _ => format!("{:.0}% less", 100.0 * (1.0 - to / from)),
    };
    let values = format!("write amplification {} -> {}", number(from), number(to));
    if let Some(erases) = change.too_few_erases {
        return format!(
            "{values} from {base} to {scheduler}: too few to tell ({}, one seed)",
            counted(erases, "erase")
        );
    }
    let seeds = change.seeds.as_ref().map_or_else(String::new, |seeds| opinion(change, seeds, true));
    let pays = if change.factor < 1.0 { "the drive pays" } else { "the drive gains" };
    let than = if amount.ends_with(" as much") { "as" } else { "than" };
    format!("{pays} under {scheduler}: it writes {amount} {than} under {base} ({values}){seeds}")
}

/// What brings a large gain or loss.
fn decisions(finding: &Finding, who: &str, scheduler: &str, base: &str) -> String {
    let Some(change) = finding.changes.first() else { return String::new() };
    let measure = if change.measure == Compared::P99 { "p99" } else { "mean" };
    let what = format!("why the {measure} of {who} is {} under {scheduler} than under {base}", faster(change.factor));
    let names = finding.names.join(", ");
    match finding.kind {
        FindingKind::DecisionBrings => format!("{what}: {names} alone brings it"),
        FindingKind::EachBrings if finding.names.len() == 1 => {
            format!("{what}: {names} alone brings it, and part of it stays without that")
        }
        FindingKind::EachBrings => format!("{what}: each of {names} alone brings it"),
        FindingKind::NoDecisionAlone => format!("{what}: no decision alone brings it; the two differ in {names}"),
        _ => format!("{what}: the two differ in {names}"),
    }
}

/// How many seeds there are.
fn seeds(finding: &Finding) -> String {
    let seeds = finding.figure("/replications/seeds");
    let Some(because) = finding.names.first() else {
        return match seeds > 1.0 {
            true => format!("seeds change nothing here: all {seeds:.0} give the same figures"),
            false => {
                "one seed: whether other states of the drive agree was not tried, and nothing is called decided".into()
            }
        };
    };
    let n = if seeds == 1.0 { "one seed".to_owned() } else { format!("{seeds:.0} seeds") };
    let why = match because.as_str() {
        "many" => format!(
            ", since {} requests under all schedulers are more than 1,000,000",
            number_of(finding.figure("/replications/requests"))
        ),
        "replayed" => ", since the drive is overwritten before each run".into(),
        "state" => ", since the drive's state comes from a file".into(),
        _ => String::new(),
    };
    format!("{n}{why}: nothing is called decided (--seeds 5 tells whether other states of the drive agree)")
}

/// A slowdown as a factor: `271x`, `1.01x`.
fn times_text(slowdown: f64) -> String {
    if slowdown >= 100.0 { format!("{}x", number_of(slowdown.round())) } else { format!("{slowdown:.2}x") }
}
