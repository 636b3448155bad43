//! Who wins, for whom, by how much, and who pays for it.

use super::parties::Party;
use crate::results::format::{faster, more, number, share, time};
use crate::results::summary::Summary;

/// Parties that are named one by one; of more, only the extremes are.
const NAMED: usize = 4;
/// A slowdown from which on it is worth a sentence.
const SLOWED: f64 = 1.1;
/// Sentences about p99 and majorities where they go another way than the means.
const ASIDES: usize = 2;
/// Requests a second of all flows that differ by less than this share are alike.
const THROUGHPUT: f64 = 0.05;

/// What the sentences are about.
struct Judged<'a> {
    summary: &'a Summary,
    parties: &'a [Party<'a>],
    /// The scheduler the others are compared with.
    against: usize,
    /// The scheduler that wins.
    winner: usize,
}

/// The findings of a summary.
pub(super) fn of(summary: &Summary, parties: &[Party<'_>]) -> Vec<String> {
    let against = summary.schedulers.iter().position(|run| run.name == summary.against).unwrap_or(0);
    if parties.is_empty() {
        return vec!["no request completed".into()];
    }
    if summary.schedulers.len() < 2 {
        return parties.iter().take(NAMED).filter_map(|party| of_one(party, &summary.against)).collect();
    }
    let mut judged = Judged { summary, parties, against, winner: against };
    if parties.iter().all(Party::is_alike) {
        return judged.alike();
    }
    judged.winner = judged.choose();
    let mut found = Vec::new();
    if summary.schedulers.iter().all(|run| run.control) {
        found.push("all schedulers are controls, so they compete among themselves".to_owned());
    }
    found.extend(judged.wins());
    found.extend(judged.throughput());
    found.extend(judged.majorities());
    found.extend(judged.company());
    found.push(judged.pays());
    found
}

/// A run by itself.
fn of_one(party: &Party<'_>, scheduler: &str) -> Option<String> {
    let figures = party.figures[0]?;
    let times = format!("{}: mean {}, p99 {}", party.name, time(figures.mean_ns), time(figures.p99_ns as f64));
    Some(match party.slowdowns[0] {
        Some(slowdown) => {
            format!("{times}; sharing makes the mean {} its mean alone under {scheduler}", times_text(slowdown))
        }
        None => times,
    })
}

impl Judged<'_> {
    fn name(&self, run: usize) -> &str {
        &self.summary.schedulers[run].name
    }

    /// The schedulers that may win: all but controls; all of them if there are only controls.
    fn candidates(&self) -> Vec<usize> {
        let runs = &self.summary.schedulers;
        let all = runs.iter().all(|run| run.control);
        (0..runs.len()).filter(|&run| all || !runs[run].control).collect()
    }

    /// The candidate under which a party is fastest: the one compared with, unless another counts as faster.
    fn best(&self, party: &Party<'_>) -> Option<usize> {
        let candidates = self.candidates();
        let gains = candidates.iter().filter_map(|&run| Some((run, party.judged_gain(run)?)));
        let reference = gains.clone().find(|&(run, _)| run == self.against);
        let best = reference.into_iter().chain(gains).reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(run, _)| run)
    }

    /// The scheduler that is the best for most parties, of equals the one with the largest gains together.
    fn choose(&self) -> usize {
        let rank = |run: usize| {
            let firsts = self.parties.iter().filter(|party| self.best(party) == Some(run)).count();
            let together: f64 = self.parties.iter().filter_map(|party| party.judged_gain(run)).map(f64::ln).sum();
            (firsts, together)
        };
        let candidates = self.candidates();
        let first = if candidates.contains(&self.against) { self.against } else { candidates[0] };
        candidates.into_iter().fold(first, |best, run| if rank(run) > rank(best) { run } else { best })
    }

    /// The schedulers whose gains and losses are told: the winner; if that is the one compared with, all others.
    fn compared(&self) -> impl Iterator<Item = usize> {
        let (against, winner) = (self.against, self.winner);
        (0..self.summary.schedulers.len()).filter(move |&run| run != against && (run == winner || winner == against))
    }

    /// No mean differs; p99 may.
    fn alike(&self) -> Vec<String> {
        let base = self.name(self.against);
        let mean = |party: &Party<'_>| Some(format!("{} {}", party.name, time(party.mean(self.against)?)));
        let means = self.parties.iter().take(NAMED).filter_map(mean).collect::<Vec<_>>().join(", ");
        let mut found = vec![format!("no scheduler's mean differs from {base}'s by more than noise (mean: {means})")];
        let runs = (0..self.summary.schedulers.len()).filter(|&run| run != self.against);
        let tails = runs.flat_map(|run| self.parties.iter().filter_map(move |party| self.tail(party, run)));
        found.extend(tails.take(ASIDES));
        found.extend(self.majorities());
        found
    }

    /// That a party's p99 differs under a scheduler.
    fn tail(&self, party: &Party<'_>, run: usize) -> Option<String> {
        let gain = party.tail_gain(run).filter(|gain| *gain != 1.0)?;
        let (from, to) = party.p99(self.against).zip(party.p99(run))?;
        let (base, name) = (self.name(self.against), self.name(run));
        Some(format!(
            "p99 of {} under {name}: {} than under {base} ({}, was {})",
            party.name,
            faster(gain),
            time(to),
            time(from)
        ))
    }

    /// For each party under which scheduler it is fastest.
    fn wins(&self) -> Vec<String> {
        let mut won: Vec<(f64, String)> = self.parties.iter().filter_map(|party| self.win(party)).collect();
        won.sort_by(|a, b| b.0.total_cmp(&a.0));
        let left = won.len().saturating_sub(NAMED);
        let mut won: Vec<String> = won.into_iter().take(NAMED).map(|(_, sentence)| sentence).collect();
        if left > 0 {
            won.push(format!("{left} more gain less"));
        }
        won
    }

    /// The scheduler under which a party is fastest, and by how much.
    fn win(&self, party: &Party<'_>) -> Option<(f64, String)> {
        let best = self.best(party)?;
        if best == self.against {
            // Where another wins, who pays says as much.
            return (self.winner == self.against).then(|| self.reference_wins(party)).flatten();
        }
        let judged = party.judged_gain(best).filter(|gain| *gain != 1.0)?;
        let (from, to) = party.mean(self.against).zip(party.mean(best))?;
        let base = self.name(self.against);
        let mut sentence = format!("{} wins for {}: ", self.name(best), party.name);
        if let Some(gain) = party.throughput_gain(best).filter(|gain| *gain != 1.0) {
            sentence.push_str(&format!("{} requests/s; ", more(gain)));
        }
        sentence.push_str(&match party.gain(best) {
            Some(gain) if gain != 1.0 => {
                format!("mean {}, {} than under {base} ({})", time(to), faster(gain), time(from))
            }
            _ => format!("mean {}, as under {base}", time(to)),
        });
        if let (Some(gain), Some(from), Some(to)) = (party.tail_gain(best), party.p99(self.against), party.p99(best)) {
            sentence.push_str(&match gain {
                1.0 => format!("; p99 {}, as under {base}", time(to)),
                gain if gain > 1.0 => format!("; p99 {}, {} ({})", time(to), faster(gain), time(from)),
                gain => format!("; but its p99 is {} ({}, was {})", faster(gain), time(to), time(from)),
            });
        }
        Some((judged, sentence))
    }

    /// That no candidate is faster for a party than the scheduler compared with, and which comes next; nothing if all are alike.
    fn reference_wins(&self, party: &Party<'_>) -> Option<(f64, String)> {
        let others = self.candidates().into_iter().filter(|&run| run != self.against);
        let gains = others.filter_map(|run| Some((run, party.judged_gain(run)?)));
        let (next, gain) = gains.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        if gain == 1.0 {
            return None;
        }
        let p99 = |run: usize| party.p99(run).map_or_else(String::new, |p99| format!(", p99 {}", time(p99)));
        let sentence = format!(
            "{} wins for {}: mean {}{}; next is {}, {} ({}{})",
            self.name(self.against),
            party.name,
            time(party.mean(self.against)?),
            p99(self.against),
            self.name(next),
            self.difference(party, next, gain),
            time(party.mean(next)?),
            p99(next)
        );
        Some((1.0 / gain, sentence))
    }

    /// A difference by which a party is judged, in words.
    fn difference(&self, party: &Party<'_>, run: usize, gain: f64) -> String {
        match party.throughput_gain(run) {
            Some(throughput) if throughput != 1.0 => format!("{} requests/s", more(gain)),
            _ => faster(gain),
        }
    }

    /// How many requests a second closed loops get under the winner, unless they are fastest there, and all flows together if they get fewer.
    fn throughput(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (run, party) in self.compared().flat_map(|run| self.parties.iter().map(move |party| (run, party))) {
            if self.best(party) == Some(run) {
                continue;
            }
            let Some(gain) = party.throughput_gain(run).filter(|gain| *gain != 1.0) else { continue };
            let (Some(from), Some(to)) = (party.served(self.against), party.served(run)) else { continue };
            let (who, verb) = (&party.name, if party.is_plural() { "do" } else { "does" });
            let name = self.name(run);
            let text =
                format!("{who} {verb} {} requests/s under {name} ({}, was {})", more(gain), number(to), number(from));
            found.push((gain.ln().abs(), text));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut found: Vec<String> = found.into_iter().take(NAMED).map(|(_, text)| text).collect();
        let (base, name) = (self.name(self.against), self.name(self.winner));
        let served = |run: usize| self.summary.schedulers[run].total.all.as_ref().and_then(|all| all.iops);
        if let (Some(from), Some(to)) = (served(self.against), served(self.winner))
            && to < from * (1.0 - THROUGHPUT)
        {
            found.push(format!(
                "{name} serves {} requests/s than {base} ({}, was {})",
                more(to / from),
                number(to),
                number(from)
            ));
        }
        found
    }

    /// Where most requests of a party go one way and its mean goes the other, or nowhere.
    fn majorities(&self) -> Vec<String> {
        let mut found = Vec::new();
        let runs = (0..self.summary.schedulers.len()).filter(|&run| run != self.against);
        for (run, party) in runs.flat_map(|run| self.parties.iter().map(move |party| (run, party))) {
            let (Some(slower), Some(gain), Some(pairs)) =
                (party.slower_by_count(run), party.gain(run), party.pairs[run])
            else {
                continue;
            };
            if gain != 1.0 && (slower > 0.0) == (gain < 1.0) {
                continue;
            }
            let part = |count: u64| share(count as f64 / pairs.requests as f64);
            let mean = match gain {
                1.0 => "the mean differs by no more than noise".to_owned(),
                gain => format!("the mean is {}", faster(gain)),
            };
            let way = if slower > 0.0 { "slower than faster" } else { "faster than slower" };
            let (name, counts) = (self.name(run), [pairs.faster, pairs.slower].map(part));
            found.push((
                slower.abs(),
                format!(
                    "{} under {name}: {mean}, yet more requests are {way} ({} faster, {} slower)",
                    party.name, counts[0], counts[1]
                ),
            ));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().take(ASIDES).map(|(_, text)| text).collect()
    }

    /// How much the parties are slowed by each other.
    fn company(&self) -> Vec<String> {
        let mut slowed: Vec<(f64, String)> = Vec::new();
        for party in self.parties {
            let (Some(from), Some(to)) = (party.slowdowns[self.against], party.slowdowns[self.winner]) else {
                continue;
            };
            if from.max(to) < SLOWED {
                continue;
            }
            let base = self.name(self.against);
            let mut sentence =
                format!("under {base}, sharing makes {}'s mean {} its mean alone", party.name, times_text(from));
            if self.winner != self.against {
                sentence.push_str(&format!(", under {} {}", self.name(self.winner), times_text(to)));
            }
            slowed.push((from.max(to), sentence));
        }
        slowed.sort_by(|a, b| b.0.total_cmp(&a.0));
        slowed.into_iter().take(NAMED).map(|(_, sentence)| sentence).collect()
    }

    /// Who is slower under the winner than under the scheduler compared with; if that is the winner itself, who is slower under the others.
    fn pays(&self) -> String {
        let base = self.name(self.against);
        let is_reference = self.winner == self.against;
        let losses = self.compared().flat_map(|run| self.parties.iter().filter_map(move |party| self.loss(party, run)));
        let mut losses: Vec<(f64, String)> = losses.collect();
        losses.sort_by(|a, b| a.0.total_cmp(&b.0));
        match losses.len() {
            0 if is_reference => {
                format!("nobody pays under the others: no mean and no p99 is above those under {base}")
            }
            0 => {
                format!("nobody pays under {}: no mean and no p99 is above those under {base}", self.name(self.winner))
            }
            count => {
                let named: Vec<String> = losses.into_iter().take(NAMED).map(|(_, who)| who).collect();
                let more = if count > NAMED { format!("; {} more pay less", count - NAMED) } else { String::new() };
                format!("{}{more}", named.join("; "))
            }
        }
    }

    /// What a party loses under a scheduler: of its mean, or else of its p99.
    fn loss(&self, party: &Party<'_>, run: usize) -> Option<(f64, String)> {
        let base = self.name(self.against);
        let pays = format!("{} {}", party.name, if party.is_plural() { "pay" } else { "pays" });
        let mean = || {
            let gain = party.gain(run).filter(|gain| *gain < 1.0)?;
            let (from, to) = party.mean(self.against).zip(party.mean(run))?;
            Some((gain, String::new(), from, to))
        };
        let p99 = || {
            let gain = party.tail_gain(run).filter(|gain| *gain < 1.0)?;
            let (from, to) = party.p99(self.against).zip(party.p99(run))?;
            Some((gain, " in p99".to_owned(), from, to))
        };
        let (gain, what, from, to) = mean().or_else(p99)?;
        let (name, to, from) = (self.name(run), time(to), time(from));
        Some((gain, format!("{pays}{what} under {name}: {} than under {base} ({to}, was {from})", faster(gain))))
    }
}

/// A slowdown as a factor: `271x`, `1.01x`.
fn times_text(slowdown: f64) -> String {
    if slowdown >= 100.0 {
        format!("{}x", number(slowdown.round()).trim_end_matches(".0"))
    } else {
        format!("{slowdown:.2}x")
    }
}
