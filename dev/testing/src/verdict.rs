//! Reads the sentences of a verdict against `summary.json`, for tests.
//!
//! Written apart from the code that makes them: it parses the text, looks the figures up in the JSON and works out for itself what they bear. It
//! takes no notice of the JSON's own `verdict`, except that its sentences are those printed.

mod left_out;
mod seeds;

use serde_json::Value;

/// Means and rates within this share of the smaller are alike, and p99 and write amplification within the other.
const TIGHT: f64 = 0.01;
const WIDE: f64 = 0.05;

/// A summary under its verdict.
struct Read<'a> {
    json: &'a Value,
    base: usize,
    problems: Vec<String>,
    roles: Vec<(Whose, left_out::Role)>,
}

/// Whose requests: the flow, and the key of their figures; `commit` for a commit.
type Whose = (Option<usize>, &'static str);

/// What is wrong with the sentences `all` (with `--full`) and `first` (on the first screen) of this `summary.json`: one text each.
pub fn problems(json: &Value, first: &[String], all: &[String]) -> Vec<String> {
    let base = json["baseline"].as_str().unwrap_or_default();
    let base = list(json, "/schedulers").iter().position(|run| run["name"] == base).unwrap_or(0);
    let mut read = Read { json, base, problems: Vec::new(), roles: Vec::new() };
    read.roles = read.find_roles();
    read.first_screen(first, all);
    all.iter().for_each(|line| read.line(line));
    if list(json, "/schedulers").len() > 1 {
        read.nothing_left_out(first, all);
    }
    read.problems
}

fn list<'a>(json: &'a Value, path: &str) -> &'a [Value] {
    json.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// A value as it is printed, with its unit: `1.234 ms`, `12,345`, `33x`.
fn parse(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    let (digits, unit) = match text.split_once(' ') {
        Some((digits, "ns")) => (digits, 1.0),
        Some((digits, "µs")) => (digits, 1e3),
        Some((digits, "ms")) => (digits, 1e6),
        Some((digits, "s")) => (digits, 1e9),
        None => (text, 1.0),
        Some(_) => return None,
    };
    let value: f64 = digits.replace(',', "").parse().ok()?;
    Some((value * unit, unit))
}

/// Whether a printed value, of four figures, is this one.
fn is_shown((shown, unit): (f64, f64), value: f64) -> bool {
    (shown - value).abs() <= (6e-4 * value.abs()).max(6e-4 * unit)
}

/// Whether `text` says how much better this factor is: `33x`, `12%`; below twofold as a factor only where it is `far` from others.
fn says_factor(text: &str, factor: f64, percent: f64, far: bool) -> bool {
    if let Some(times) = text.strip_suffix('x') {
        let (times, _) = parse(times).unwrap_or_default();
        let large = factor.max(1.0 / factor);
        return (far || large > 1.98)
            && (times - large).abs() <= if large < 9.95 { 0.051 } else { 0.51 + 1e-9 * large };
    }
    let shown = text.strip_suffix('%').and_then(|digits| digits.parse::<f64>().ok());
    shown.is_some_and(|shown| (shown - percent).abs() <= 0.51)
}

impl Read<'_> {
    fn problem(&mut self, line: &str, why: &str) {
        self.problems.push(format!("{why}: {line}"));
    }

    fn run(&self, name: &str) -> Option<usize> {
        list(self.json, "/schedulers").iter().position(|run| run["name"] == name)
    }

    fn name(&self, run: usize) -> &str {
        self.json["schedulers"][run]["name"].as_str().unwrap_or_default()
    }

    fn flows(&self) -> &[Value] {
        list(self.json, "/flows")
    }

    fn of(&self, run: usize, (flow, kind): Whose, key: &str) -> Option<f64> {
        let run = &self.json["schedulers"][run];
        let figures = match flow {
            Some(flow) => &run["flows"][flow]["figures"],
            None => &run["total"],
        };
        if kind == "commit" {
            let writes = number(&self.flows()[flow.unwrap_or(0)]["writes_per_flush"])?;
            let flush = &figures["commands"]["flush"];
            return match key {
                "mean_ns" => Some(writes * number(&figures["write"]["mean_ns"])? + number(&flush["mean_ns"])?),
                "p99_ns" => None,
                key => number(&flush[key]),
            };
        }
        number(&figures.pointer(&format!("/{kind}"))?[key])
    }

    /// The requests that a sentence names.
    fn whose(&self, text: &str) -> Option<Whose> {
        const KINDS: [(&str, &str); 7] = [
            ("reads", "read"),
            ("writes", "write"),
            ("writes with FUA", "fua_write"),
            ("trims", "commands/trim"),
            ("write zeroes", "commands/write_zeroes"),
            ("flushes", "commands/flush"),
            ("commits", "commit"),
        ];
        let kind = |text: &str| KINDS.iter().find(|(name, _)| *name == text).map(|(_, key)| *key);
        for (number, flow) in self.flows().iter().enumerate() {
            let name = flow["name"].as_str().unwrap_or_default();
            match text.strip_prefix(name) {
                Some("") => return Some((Some(number), "all")),
                Some(rest) => {
                    if let Some(kind) = rest.strip_prefix("'s ").and_then(kind) {
                        return Some((Some(number), kind));
                    }
                }
                None => {}
            }
        }
        match text {
            "all flows together" | "all requests" => Some((None, "all")),
            text => Some((None, kind(text)?)),
        }
    }

    /// At most twelve sentences, each of which is among all, and the right number of others; the JSON has the same.
    fn first_screen(&mut self, first: &[String], all: &[String]) {
        let (last, shown) = match first.split_last() {
            Some((last, shown)) if last.ends_with(" with --full") => (Some(last), shown),
            _ => (None, first),
        };
        let said = last.and_then(|last| last.split(' ').next()?.parse::<usize>().ok()).unwrap_or(0);
        if shown.len() > 12 || shown.len() + said != all.len() || shown.is_empty() {
            self.problems.push(format!("{} of {} lines and {said} more", shown.len(), all.len()));
        }
        if let Some(stray) = shown.iter().find(|line| !all.contains(line)) {
            self.problem(stray, "not among all lines");
        }
        let json: Vec<&str> =
            list(self.json, "/verdict/findings").iter().filter_map(|one| one["text"].as_str()).collect();
        if json != all.iter().map(String::as_str).collect::<Vec<_>>() {
            self.problems.push(format!("the JSON has other sentences: {json:?}"));
        }
    }

    /// That nothing completed, or nothing is counted.
    fn no_request(&mut self, line: &str) {
        if line.starts_with("no request completed") {
            let completed = list(self.json, "/schedulers").iter().map(|run| number(&run["total"]["completed"]));
            if completed.flatten().any(|completed| completed > 0.0) {
                self.problem(line, "requests completed");
            }
        } else if line.starts_with("no request is counted") {
            let kinds = ["/all", "/commands/trim", "/commands/write_zeroes", "/commands/flush"];
            let has = |run: &Value, kind: &str| run["total"].pointer(kind).is_some_and(|figures| !figures.is_null());
            let counted = list(self.json, "/schedulers").iter().any(|run| kinds.iter().any(|kind| has(run, kind)));
            if counted {
                self.problem(line, "some are counted");
            }
        }
    }

    /// A sentence.
    fn line(&mut self, line: &str) {
        if ["noise", "chance", "NaN", "inf", "significan"].iter().any(|word| line.contains(word)) {
            self.problem(line, "a word that says nothing");
        }
        let (head, rest) = line.split_once(": ").unwrap_or((line, ""));
        if line.starts_with("no request ") {
            self.no_request(line);
        } else if let Some(rest) = line.strip_prefix("nobody pays under ") {
            self.nobody_pays(line, rest);
        } else if line.starts_with("all schedulers are alike")
            || line.starts_with("nothing but write amplification tells")
        {
            for run in 0..list(self.json, "/schedulers").len() {
                self.nobody_differs(line, run);
            }
        } else if line.starts_with("all schedulers are controls") {
            if list(self.json, "/schedulers").iter().any(|run| run["control"] == false) {
                self.problem(line, "one is not");
            }
        } else if line.starts_with("under ") && line.contains("its mean alone") {
            self.slowdown(line);
        } else if line.contains("yet more requests are ") {
            self.majority(line, head);
        } else if line.starts_with("in the four quarters") || line.starts_with("nine tenths") {
            self.uneven(line);
        } else if line.starts_with("the drive ") || line.starts_with("write amplification ") {
            self.pages(line);
        } else if line.starts_with("seeds change nothing here") || line.contains("nothing is called decided") {
            self.seeds(line);
        } else if let Some(told) = told(line) {
            if told.changes.starts_with("none completed") {
                return self.starves(line, told);
            }
            if told.gains == Some(true) && head.contains(" wins for ") {
                self.is_best(line, told.name, told.whom);
            }
            let changes = match told.changes.rsplit_once("; ") {
                Some((changes, others)) if others.ends_with(" within 1% of it") => {
                    self.are_as_good(line, others, told.name, told.whom);
                    changes
                }
                _ => told.changes,
            };
            self.changes(line, changes, told.name, told.whom, told.gains);
        } else if line.starts_with("why the ") {
            // Which decision it is rests on runs of their own.
        } else if list(self.json, "/schedulers").len() == 1 {
            self.of_one(line, head, rest);
        } else {
            self.problem(line, "a sentence that is not known");
        }
    }

    /// `mean 33x faster than under fcfs (2.984 ms -> 90.97 µs), 33x to 127x over 5 seeds; p99 ...`.
    fn changes(&mut self, line: &str, rest: &str, name: &str, whom: &str, gains: Option<bool>) {
        let (Some(run), Some(whose)) = (self.run(name), self.whose(whom)) else {
            return self.problem(line, "names nobody");
        };
        let mut is_worse = false;
        for (number, clause) in rest.split("; ").enumerate() {
            let Some((said, values)) = clause.split_once(" (") else {
                self.problem(line, "no figures");
                continue;
            };
            let (values, seeds) = values.split_once(')').unwrap_or((values, ""));
            let said = said.strip_prefix("but ").unwrap_or(said);
            let (key, wide) = match said {
                _ if said.starts_with("mean ") => ("mean_ns", TIGHT),
                _ if said.starts_with("p99 ") => ("p99_ns", WIDE),
                _ => ("own_iops", TIGHT),
            };
            let values = values.split(", within").next().unwrap_or(values);
            let shown: Vec<(f64, f64)> = values.split(" -> ").filter_map(parse).collect();
            let (Some(from), Some(to)) = (self.of(self.base, whose, key), self.of(run, whose, key)) else {
                self.problem(line, "no such figures");
                continue;
            };
            if shown.len() != 2 || !is_shown(shown[0], from) || !is_shown(shown[1], to) {
                self.problem(line, &format!("{from} -> {to} in the summary"));
            }
            let alike = (from - to).abs() <= wide * from.min(to);
            let gain = if key == "own_iops" { to / from } else { from / to };
            let seen = self.gains(run, whose, key);
            let same_way = seen.iter().all(|one| one.max(1.0 / one) > 1.01 && (*one > 1.0) == (gain > 1.0));
            let far = seen.len() >= 5 && same_way && seen.iter().any(|one| one.max(1.0 / one) >= 2.0);
            self.says_change(line, said, key, (gain, alike, far));
            is_worse |= !alike && gain < 1.0;
            if number == 0 && gains.is_some_and(|gains| alike || gains != (gain > 1.0)) {
                self.problem(line, "the first change goes the other way");
            }
            self.over_seeds(line, seeds, run, whose, key);
            if key == "p99_ns" {
                let requests =
                    [self.base, run].iter().filter_map(|&run| self.of(run, whose, "requests")).fold(f64::MAX, f64::min);
                let says = said.split_once("p99 of ").and_then(|(_, rest)| parse(rest.split(' ').next()?));
                if (requests < 1_000.0) != says.is_some() || says.is_some_and(|says| says.0 != requests) {
                    self.problem(line, &format!("{requests} requests"));
                }
            }
        }
        if gains.is_none() && !is_worse && !line.contains("alike under") {
            self.problem(line, "nothing is worse");
        }
    }

    /// Whether the words for a change are those of its size and direction.
    fn says_change(&mut self, line: &str, said: &str, key: &str, (gain, alike, far): (f64, bool, bool)) {
        let words: Vec<&str> = said.split(' ').collect();
        if alike {
            if !(said.ends_with(" alike") || said.starts_with("as many ")) {
                self.problem(line, "is alike");
            }
            return;
        }
        let at = |word: &str| words.iter().position(|&one| one == word).and_then(|at| words.get(at.wrapping_sub(1)));
        let (better, worse) = match key {
            "own_iops" => (at("more").or_else(|| at("as").filter(|_| said.contains("as many"))), at("fewer")),
            _ => (at("faster"), at("slower")),
        };
        let percent = match (key, gain > 1.0) {
            ("own_iops", true) => 100.0 * (gain - 1.0),
            ("own_iops", false) => 100.0 * (1.0 - gain),
            (_, true) => 100.0 * (1.0 - 1.0 / gain),
            (_, false) => 100.0 * (1.0 / gain - 1.0),
        };
        let (right, wrong) = if gain > 1.0 { (better, worse) } else { (worse, better) };
        if wrong.is_some() || !right.is_some_and(|text| says_factor(text, gain, percent, far)) {
            self.problem(line, &format!("{gain} times better"));
        }
    }

    /// A sentence that somebody wins.
    fn is_best(&mut self, line: &str, name: &str, whom: &str) {
        let (Some(run), Some(whose)) = (self.run(name), self.whose(whom)) else {
            return self.problem(line, "names nobody");
        };
        let runs = list(self.json, "/schedulers");
        let controls = runs.iter().all(|run| run["control"] == true);
        if runs[run]["control"] == true && !controls {
            self.problem(line, "a control wins");
        }
        let gain = |run: usize| self.gain(run, whose).unwrap_or(0.0);
        let better = (0..runs.len()).find(|&other| {
            (controls || runs[other]["control"] == false)
                && gain(other) > gain(run) * (1.0 + 1e-9)
                && gain(other) > 1.01
        });
        if let Some(better) = better {
            let text = format!("{} is better", self.name(better));
            self.problem(line, &text);
        }
    }

    /// `need is within 1% of it`, `need and late are within 1% of it`.
    fn are_as_good(&mut self, line: &str, others: &str, name: &str, whom: &str) {
        let (Some(run), Some(whose)) = (self.run(name), self.whose(whom)) else { return };
        let runs = list(self.json, "/schedulers");
        let controls = runs.iter().all(|run| run["control"] == true);
        let as_good = (0..runs.len()).filter(|&other| {
            other != run
                && (controls || runs[other]["control"] == false)
                && self.gain(other, whose).zip(self.gain(run, whose)).is_some_and(|(one, best)| best <= one * 1.01)
        });
        let as_good: Vec<&str> = as_good.map(|other| self.name(other)).collect();
        let are_named = as_good.iter().all(|name| others.contains(name));
        if !are_named && !others.starts_with(&format!("{} others", as_good.len())) {
            self.problem(line, &format!("{as_good:?} are as good"));
        }
    }

    fn nobody_pays(&mut self, line: &str, rest: &str) {
        let name = rest.split(": ").next().unwrap_or_default();
        let runs: Vec<usize> = match self.run(name) {
            Some(run) => vec![run],
            None => (0..list(self.json, "/schedulers").len()).collect(),
        };
        for run in runs {
            for (whose, key, within) in self.judged() {
                let Some(from) = self.of(self.base, whose, key) else { continue };
                let to = self.of(run, whose, key);
                let worse = match to {
                    None => true,
                    Some(to) if key == "own_iops" => from - to > within * from.min(to),
                    Some(to) => to - from > within * from.min(to),
                };
                if worse {
                    self.problem(line, &format!("{whose:?} {key} {from} -> {to:?} under {}", self.name(run)));
                }
            }
        }
    }

    fn nobody_differs(&mut self, line: &str, run: usize) {
        for (whose, key, within) in self.judged() {
            let figures = [self.base, run].map(|run| self.of(run, whose, key));
            let alike = match figures {
                [Some(from), Some(to)] => (from - to).abs() <= within * from.min(to),
                [from, to] => from.is_some() == to.is_some(),
            };
            if !alike {
                self.problem(line, &format!("{whose:?} {key} {figures:?}"));
            }
        }
    }

    fn starves(&mut self, line: &str, told: Told<'_>) {
        let (Some(run), Some(whose)) = (self.run(told.name), self.whose(told.whom)) else {
            return self.problem(line, "names nobody");
        };
        if self.of(run, whose, "requests").is_some() || self.of(self.base, whose, "requests").is_none() {
            self.problem(line, "some completed");
        }
    }

    /// `under fcfs, sharing makes web's mean 271x its mean alone, under mine 1.10x`.
    fn slowdown(&mut self, line: &str) {
        let found = line.strip_prefix("under ").and_then(|rest| {
            let (base, rest) = rest.split_once(", sharing makes ")?;
            let (flow, rest) = rest.split_once("'s mean ")?;
            let (from, rest) = rest.split_once("x its mean alone")?;
            let to = rest.strip_prefix(", under ").and_then(|rest| rest.trim_end_matches('x').rsplit_once(' '));
            let flow = self.flows().iter().position(|one| one["name"] == flow)?;
            Some((flow, [Some((base, from)), to]))
        });
        let Some((flow, said)) = found else { return self.problem(line, "cannot be read") };
        for (name, value) in said.into_iter().flatten() {
            let run = self.run(name).unwrap_or(usize::MAX);
            let slowdown = number(&self.json["schedulers"][run]["flows"][flow]["slowdown"]).unwrap_or(0.0);
            let (value, _) = parse(value).unwrap_or_default();
            if (value - slowdown).abs() > if slowdown >= 100.0 { 0.51 } else { 0.006 } {
                self.problem(line, &format!("{slowdown} under {name}"));
            }
        }
    }

    /// `reads under mine: the mean is 20% faster, yet more requests are slower than faster (16.7% faster, 66.7% slower)`.
    fn majority(&mut self, line: &str, head: &str) {
        let found = head.rsplit_once(" under ").and_then(|(whom, name)| Some((self.whose(whom)?, self.run(name)?)));
        let Some((whose, run)) = found else { return self.problem(line, "names nobody") };
        let pairs = match whose.0 {
            Some(flow) if self.flows().len() > 1 => self.json["schedulers"][run]["flows"][flow]["paired"].clone(),
            _ => self.json["schedulers"][run]["paired"][whose.1].clone(),
        };
        let part = |key: &str| Some(100.0 * number(&pairs[key])? / number(&pairs["requests"])?);
        let shown: Vec<f64> = line
            .split(['(', ',', ')'])
            .filter_map(|text| {
                let text = text.trim();
                let text = text.strip_suffix("% faster").or_else(|| text.strip_suffix("% slower"))?;
                text.parse().ok()
            })
            .collect();
        let (Some(up), Some(down)) = (part("faster"), part("slower")) else { return self.problem(line, "no pairs") };
        let way = if down > up { "slower than faster" } else { "faster than slower" };
        if shown.len() < 2
            || (shown[shown.len() - 2] - up).abs() > 0.06
            || (shown[shown.len() - 1] - down).abs() > 0.06
            || !line.contains(way)
        {
            self.problem(line, &format!("{up} {down}"));
        }
    }

    /// Quarters, and where nine tenths of a difference lie.
    fn uneven(&mut self, line: &str) {
        let found = list(self.json, "/schedulers")
            .iter()
            .enumerate()
            .filter(|(_, run)| line.contains(&format!(" under {} ", run["name"].as_str().unwrap_or_default())));
        let found: Vec<usize> = found.map(|(run, _)| run).filter(|&run| run != self.base).collect();
        let Some(&run) = found.first() else { return self.problem(line, "names nobody") };
        let of_flow = |name: &str| {
            line.contains(&format!("of its requests {name} is ")) || line.contains(&format!("of {name} under "))
        };
        let flow = self
            .flows()
            .iter()
            .position(|flow| self.flows().len() > 1 && of_flow(flow["name"].as_str().unwrap_or_default()));
        let pairs = match flow {
            Some(flow) => self.json["schedulers"][run]["flows"][flow]["paired"].clone(),
            None => self.json["schedulers"][run]["paired"]["all"].clone(),
        };
        if let Some((_, rest)) =
            line.split_once(" is ").or_else(|| line.split_once(" are ")).filter(|_| line.starts_with("in the"))
        {
            let shown: Vec<f64> = rest
                .split(" times as fast")
                .next()
                .unwrap_or_default()
                .split(", ")
                .filter_map(|text| Some(parse(text)?.0))
                .collect();
            let speeds: Vec<f64> = list(&pairs, "/quarters")
                .iter()
                .filter_map(|one| Some(number(&one["baseline_mean_ns"])? / number(&one["mean_ns"])?))
                .collect();
            let same = shown.len() == 4
                && speeds.len() == 4
                && shown.iter().zip(&speeds).all(|(a, b)| (a - b).abs() <= if *b < 9.95 { 0.0051 } else { 0.51 });
            let (low, high) = speeds.iter().fold((f64::MAX, 0.0f64), |(low, high), &one| (low.min(one), high.max(one)));
            if !same || high < 2.0 * low && !(high > 1.05 && low < 1.0 / 1.05) {
                self.problem(line, &format!("{speeds:?}"));
            }
        }
        if line.contains("nine tenths") {
            let found = &pairs["concentration"];
            let of = |key: &str| number(&found[key]).unwrap_or(f64::MAX);
            let requests = number(&pairs["requests"]).unwrap_or(0.0);
            let few_windows = of("windows") <= 5.0 && 2.0 * of("window_requests") < requests;
            let share = 100.0 * if few_windows { of("window_requests") } else { of("requests") } / requests;
            let said = line
                .rsplit_once("% of the requests")
                .and_then(|(text, _)| text.rsplit(' ').next()?.parse::<f64>().ok());
            let both = of("gained_ns").min(of("lost_ns")) > (of("gained_ns") - of("lost_ns")).abs();
            let is_few = few_windows || of("requests") <= 0.05 * requests;
            if !is_few
                || said.is_none_or(|said| (said - share).abs() > 0.06)
                || both != line.contains("in all requests gain")
            {
                self.problem(line, &format!("{found}"));
            }
        }
    }

    /// Write amplification.
    fn pages(&mut self, line: &str) {
        let inside = line.split_once("write amplification ").map_or("", |(_, rest)| rest);
        let mut values = inside.split([')', ' ']).filter_map(parse);
        let shown = [values.next(), values.next()];
        let found = list(self.json, "/schedulers").iter().position(|run| {
            let name = run["name"].as_str().unwrap_or_default();
            line.contains(&format!(" under {name}: ")) || line.contains(&format!(" to {name}: "))
        });
        let Some(run) = found else { return self.problem(line, "names nobody") };
        let device = |run: usize| &self.json["schedulers"][run]["device"];
        let [from, to] = [self.base, run].map(|run| number(&device(run)["write_amplification"]).unwrap_or(0.0));
        let same =
            shown[0].is_some_and(|shown| is_shown(shown, from)) && shown[1].is_some_and(|shown| is_shown(shown, to));
        if !same || (from - to).abs() <= WIDE * from.min(to) {
            self.problem(line, &format!("{from} -> {to}"));
        }
        let few = [self.base, run]
            .iter()
            .any(|&run| (1.0..30.0).contains(&number(&device(run)["gc"]["erases"]).unwrap_or(0.0)));
        let one_seed = list(self.json, "/replications/seeds").len() < 2;
        if (few && one_seed) != line.contains("too few to tell") {
            return self.problem(line, "how many erases it rests on");
        }
        if line.starts_with("the drive pays") && to < from || line.starts_with("the drive gains") && to > from {
            self.problem(line, "the other way");
        }
        if let Some((_, seeds)) = line.split_once("), ").filter(|_| !one_seed) {
            let seeds = seeds.to_owned();
            self.over_seeds(line, &seeds, run, (None, "all"), "write_amplification");
        }
    }

    /// `reads: mean 64.74 µs, p99 108.0 µs; sharing makes the mean 3.71x its mean alone under fcfs`.
    fn of_one(&mut self, line: &str, whom: &str, rest: &str) {
        let Some(whose) = self.whose(whom) else { return self.problem(line, "names nobody") };
        let mean = rest.strip_prefix("mean ").and_then(|rest| parse(rest.split(", p99").next()?));
        let p99 = rest.split_once(", p99").and_then(|(_, rest)| {
            let rest =
                [" requests ", " request "].iter().find_map(|of| rest.split_once(of)).map_or(rest, |(_, rest)| rest);
            parse(rest.split(';').next()?)
        });
        let is = |shown: Option<(f64, f64)>, value: Option<f64>| {
            value.is_some_and(|value| shown.is_some_and(|shown| is_shown(shown, value)))
        };
        if !is(mean, self.of(0, whose, "mean_ns")) || whose.1 != "commit" && !is(p99, self.of(0, whose, "p99_ns")) {
            self.problem(line, "other figures in the summary");
        }
    }
}

/// A sentence about what changes for somebody.
#[derive(Clone, Copy)]
struct Told<'a> {
    /// The scheduler.
    name: &'a str,
    whom: &'a str,
    changes: &'a str,
    /// Whether the first change has to be for the better, or for the worse.
    gains: Option<bool>,
}

/// Reads `mine wins for web: ...`, `web's reads pay under mine: ...` and the like.
fn told(line: &str) -> Option<Told<'_>> {
    let split = |text: &'static [&str], head| text.iter().find_map(|by| str::split_once(head, by));
    let (head, changes) = line.split_once(": ")?;
    if let Some((name, whom)) = head.split_once(" wins for ") {
        return Some(match whom.split_once("; next is ") {
            Some((whom, name)) => Told { name, whom, changes, gains: Some(false) },
            None => Told { name, whom, changes, gains: Some(true) },
        });
    }
    if let Some((whom, name)) = split(&[" gains under ", " gain under "], head) {
        return Some(Told { name, whom, changes, gains: Some(true) });
    }
    const OTHERS: [&str; 8] = [
        " pays under ",
        " pay under ",
        " pays in p99 under ",
        " pay in p99 under ",
        " is slower under ",
        " are slower under ",
        " is alike under ",
        " are alike under ",
    ];
    let (whom, name) = split(&OTHERS, head)?;
    Some(Told { name: name.trim_end_matches(" with this seed"), whom, changes, gains: None })
}
