//! What is said of seeds: behind a change, and of all.

use serde_json::Value;

use super::{Read, Whose, list, number, says_factor};

impl Read<'_> {
    /// How many times better a scheduler is under each seed.
    pub(super) fn gains(&self, run: usize, whose: Whose, key: &str) -> Vec<f64> {
        let runs = list(self.json, "/replications/runs");
        let of = |name: &str| runs.iter().filter(move |run| run["scheduler"] == name).collect::<Vec<_>>();
        let (base, own) = (of(self.name(self.base)), of(self.name(run)));
        let figure = |run: &Value| -> Option<f64> {
            if key == "write_amplification" {
                return number(&run[key]);
            }
            let flow = whose.0.and_then(|flow| self.flows()[flow]["name"].as_str());
            let of = |kind: &str, key: &str| {
                let figures = list(run, "/figures").iter();
                let mut found = figures.filter(|one| one["flow"].as_str() == flow && one["kind"] == kind);
                found.next().and_then(|one| number(&one[key]))
            };
            match whose.1 {
                "commit" if key == "mean_ns" => {
                    let writes = number(&self.flows()[whose.0.unwrap_or(0)]["writes_per_flush"])?;
                    Some(writes * of("write", key)? + of("flush", key)?)
                }
                "commit" => of("flush", key),
                "fua_write" => of("fua-write", key),
                "commands/write_zeroes" => of("write-zeroes", key),
                kind => of(kind.trim_start_matches("commands/"), key),
            }
        };
        let pairs = base.into_iter().zip(own).filter_map(|(base, own)| Some((figure(base)?, figure(own)?)));
        pairs.map(|(from, to)| if key == "own_iops" { to / from } else { from / to }).collect()
    }

    /// What is said of seeds behind a change.
    pub(super) fn over_seeds(&mut self, line: &str, said: &str, run: usize, whose: Whose, key: &str) {
        let gains = self.gains(run, whose, key);
        let said = said.trim_start_matches(", ");
        let is_up = |gain: &f64| *gain > 1.01;
        let is_down = |gain: &f64| *gain < 1.0 / 1.01;
        let (up, down) =
            (gains.iter().filter(|gain| is_up(gain)).count(), gains.iter().filter(|gain| is_down(gain)).count());
        let all = gains.len();
        let decided = all >= 5 && (up == all || down == all);
        if said.is_empty() || said.starts_with("within 1% under all") || said.starts_with("the same under all") {
            let alike_here = gains.first().is_some_and(|gain| (1.0 / 1.05..=1.05).contains(gain));
            let same = gains.iter().all(|gain| (gain - gains[0]).abs() <= 1e-12 * gains[0]);
            if all > 1 && up + down > 0 && !same && !alike_here {
                self.problem(line, &format!("nothing of the seeds: {gains:?}"));
            }
            return;
        }
        let counts = |word: &str| {
            let at = said.find(&format!("{word} in "))?;
            said[at + word.len() + 4..].split([' ', ',']).next()?.parse::<usize>().ok()
        };
        if said.starts_with("not decided") || said.contains(&format!(" of {all} seeds")) {
            let alike = counts("alike").unwrap_or(0);
            let words = if key == "own_iops" { ["more", "fewer"] } else { ["faster", "slower"] };
            let words = if key == "write_amplification" { ["fewer", "more"] } else { words };
            let [better, worse] = words.map(|word| counts(word).unwrap_or(0));
            if decided || (better, worse, alike) != (up, down, all - up - down) {
                self.problem(line, &format!("the seeds say {gains:?}"));
            }
            if said.starts_with("not decided") != (all >= 5) {
                self.problem(line, "too few seeds");
            }
            return;
        }
        if !decided {
            return self.problem(line, &format!("not decided: {gains:?}"));
        }
        let range = said.split(" over ").next().unwrap_or(said);
        let (low, high) = range.split_once(" to ").unwrap_or((range, range));
        let sizes = || gains.iter().map(|gain| gain.max(1.0 / gain));
        let ends = [sizes().fold(f64::MAX, f64::min), sizes().fold(1.0, f64::max)];
        for (text, size) in [low, high].into_iter().zip(ends) {
            let percent = match (key, up > 0) {
                ("write_amplification", false) | ("own_iops", true) => 100.0 * (size - 1.0),
                ("own_iops", false) | (_, true) => 100.0 * (1.0 - 1.0 / size),
                (_, false) => 100.0 * (size - 1.0),
            };
            // One unit for both ends.
            let text = text.trim_end_matches([',', ' ']);
            let times = text.strip_suffix('x').and_then(|digits| digits.parse::<f64>().ok());
            let is_said = match times.filter(|_| ends[1] > 1.98 && size < 2.0) {
                Some(times) => (times - size).abs() <= 0.051 && times > 1.0,
                None => says_factor(text, size, percent, false),
            };
            let is_factor = ends[1] >= 2.0;
            if !is_said || is_factor && !text.ends_with('x') {
                self.problem(line, &format!("{ends:?} over the seeds"));
            }
        }
    }

    /// A sentence about the seeds of all.
    pub(super) fn seeds(&mut self, line: &str) {
        let seeds = list(self.json, "/replications/seeds").len().max(1);
        let runs = list(self.json, "/replications/runs");
        let same = runs.iter().all(|run| {
            let first = runs.iter().find(|one| one["scheduler"] == run["scheduler"]);
            first.is_some_and(|first| {
                first["figures"] == run["figures"]
                    && first["erases"] == run["erases"]
                    && first["write_amplification"] == run["write_amplification"]
            })
        });
        if line.starts_with("seeds change nothing") != (same && seeds > 1) {
            self.problem(line, "what the seeds change");
        }
        if line.contains("nothing is called decided") && (seeds >= 5 || line.starts_with("one seed") != (seeds == 1)) {
            self.problem(line, &format!("{seeds} seeds"));
        }
    }
}
