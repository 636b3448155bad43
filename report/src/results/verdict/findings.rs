//! Who wins, for whom, by how much, and who pays for it.

use super::tenants::Tenant;
use crate::results::format::{faster, more, number, share, time};
use crate::results::summary::Summary;

/// Tenants that are named one by one; of more, only the extremes are.
const NAMED: usize = 4;
/// A slowdown from which on it is worth a sentence.
const SLOWED: f64 = 1.1;
/// Sentences about p99 and majorities where they go another way than the means.
const ASIDES: usize = 2;
/// Requests per second of all flows that differ by less than this share are alike.
const THROUGHPUT: f64 = 0.05;

/// What the sentences are about.
struct Judged<'a> {
    summary: &'a Summary,
    tenants: &'a [Tenant<'a>],
    /// The scheduler the others are compared with.
    baseline: usize,
    /// The scheduler that wins.
    winner: usize,
}

/// The findings of a summary.
pub(super) fn of(summary: &Summary, tenants: &[Tenant<'_>]) -> Vec<String> {
    let baseline = summary.schedulers.iter().position(|run| run.name == summary.baseline).unwrap_or(0);
    if tenants.is_empty() {
        return vec!["no request completed".into()];
    }
    if summary.schedulers.len() < 2 {
        return tenants.iter().take(NAMED).filter_map(|tenant| of_one(tenant, &summary.baseline)).collect();
    }
    let mut judged = Judged { summary, tenants, baseline, winner: baseline };
    if tenants.iter().all(Tenant::is_alike) {
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
fn of_one(tenant: &Tenant<'_>, scheduler: &str) -> Option<String> {
    let figures = tenant.figures[0]?;
    let times = format!("{}: mean {}, p99 {}", tenant.name, time(figures.mean_ns), time(figures.p99_ns as f64));
    Some(match tenant.slowdowns[0] {
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

    /// The candidate under which a tenant is fastest: the one compared with, unless another counts as faster.
    fn best(&self, tenant: &Tenant<'_>) -> Option<usize> {
        let candidates = self.candidates();
        let gains = candidates.iter().filter_map(|&run| Some((run, tenant.judged_gain(run)?)));
        let reference = gains.clone().find(|&(run, _)| run == self.baseline);
        let best = reference.into_iter().chain(gains).reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(run, _)| run)
    }

    /// The scheduler that is the best for most tenants, of equals the one with the largest gains together.
    fn choose(&self) -> usize {
        let rank = |run: usize| {
            let firsts = self.tenants.iter().filter(|tenant| self.best(tenant) == Some(run)).count();
            let together: f64 = self.tenants.iter().filter_map(|tenant| tenant.judged_gain(run)).map(f64::ln).sum();
            (firsts, together)
        };
        let candidates = self.candidates();
        let first = if candidates.contains(&self.baseline) { self.baseline } else { candidates[0] };
        candidates.into_iter().fold(first, |best, run| if rank(run) > rank(best) { run } else { best })
    }

    /// The schedulers whose gains and losses are told: the winner; if that is the one compared with, all others.
    fn compared(&self) -> impl Iterator<Item = usize> {
        let (baseline, winner) = (self.baseline, self.winner);
        (0..self.summary.schedulers.len()).filter(move |&run| run != baseline && (run == winner || winner == baseline))
    }

    /// No mean differs; p99 may.
    fn alike(&self) -> Vec<String> {
        let base = self.name(self.baseline);
        let mean = |tenant: &Tenant<'_>| Some(format!("{} {}", tenant.name, time(tenant.mean(self.baseline)?)));
        let means = self.tenants.iter().take(NAMED).filter_map(mean).collect::<Vec<_>>().join(", ");
        let mut found = vec![format!("no scheduler's mean differs from {base}'s by more than noise (mean: {means})")];
        let runs = (0..self.summary.schedulers.len()).filter(|&run| run != self.baseline);
        let tails = runs.flat_map(|run| self.tenants.iter().filter_map(move |tenant| self.tail(tenant, run)));
        found.extend(tails.take(ASIDES));
        found.extend(self.majorities());
        found
    }

    /// That a tenant's p99 differs under a scheduler.
    fn tail(&self, tenant: &Tenant<'_>, run: usize) -> Option<String> {
        let gain = tenant.tail_gain(run).filter(|gain| *gain != 1.0)?;
        let (from, to) = tenant.p99(self.baseline).zip(tenant.p99(run))?;
        let (base, name) = (self.name(self.baseline), self.name(run));
        Some(format!(
            "p99 of {} under {name}: {} than under {base} ({}, was {})",
            tenant.name,
            faster(gain),
            time(to),
            time(from)
        ))
    }

    /// For each tenant under which scheduler it is fastest.
    fn wins(&self) -> Vec<String> {
        let mut won: Vec<(f64, String)> = self.tenants.iter().filter_map(|tenant| self.win(tenant)).collect();
        won.sort_by(|a, b| b.0.total_cmp(&a.0));
        let left = won.len().saturating_sub(NAMED);
        let mut won: Vec<String> = won.into_iter().take(NAMED).map(|(_, sentence)| sentence).collect();
        if left > 0 {
            won.push(format!("{left} more gain less"));
        }
        won
    }

    /// The scheduler under which a tenant is fastest, and by how much.
    fn win(&self, tenant: &Tenant<'_>) -> Option<(f64, String)> {
        let best = self.best(tenant)?;
        if best == self.baseline {
            // Where another wins, who pays says as much.
            return (self.winner == self.baseline).then(|| self.reference_wins(tenant)).flatten();
        }
        let judged = tenant.judged_gain(best).filter(|gain| *gain != 1.0)?;
        let (from, to) = tenant.mean(self.baseline).zip(tenant.mean(best))?;
        let base = self.name(self.baseline);
        let mut sentence = format!("{} wins for {}: ", self.name(best), tenant.name);
        if let Some(gain) = tenant.throughput_gain(best).filter(|gain| *gain != 1.0) {
            sentence.push_str(&format!("{} requests/s; ", more(gain)));
        }
        sentence.push_str(&match tenant.gain(best) {
            Some(gain) if gain != 1.0 => {
                format!("mean {}, {} than under {base} ({})", time(to), faster(gain), time(from))
            }
            _ => format!("mean {}, as under {base}", time(to)),
        });
        if let (Some(gain), Some(from), Some(to)) =
            (tenant.tail_gain(best), tenant.p99(self.baseline), tenant.p99(best))
        {
            sentence.push_str(&match gain {
                1.0 => format!("; p99 {}, as under {base}", time(to)),
                gain if gain > 1.0 => format!("; p99 {}, {} ({})", time(to), faster(gain), time(from)),
                gain => format!("; but its p99 is {} ({}, was {})", faster(gain), time(to), time(from)),
            });
        }
        Some((judged, sentence))
    }

    /// That no candidate is faster for a tenant than the scheduler compared with, and which comes next; nothing if all are alike.
    fn reference_wins(&self, tenant: &Tenant<'_>) -> Option<(f64, String)> {
        let others = self.candidates().into_iter().filter(|&run| run != self.baseline);
        let gains = others.filter_map(|run| Some((run, tenant.judged_gain(run)?)));
        let (next, gain) = gains.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        if gain == 1.0 {
            return None;
        }
        let p99 = |run: usize| tenant.p99(run).map_or_else(String::new, |p99| format!(", p99 {}", time(p99)));
        let sentence = format!(
            "{} wins for {}: mean {}{}; next is {}, {} ({}{})",
            self.name(self.baseline),
            tenant.name,
            time(tenant.mean(self.baseline)?),
            p99(self.baseline),
            self.name(next),
            self.difference(tenant, next, gain),
            time(tenant.mean(next)?),
            p99(next)
        );
        Some((1.0 / gain, sentence))
    }

    /// A difference by which a tenant is judged, in words.
    fn difference(&self, tenant: &Tenant<'_>, run: usize, gain: f64) -> String {
        match tenant.throughput_gain(run) {
            Some(throughput) if throughput != 1.0 => format!("{} requests/s", more(gain)),
            _ => faster(gain),
        }
    }

    /// How many requests per second closed loops get under the winner, unless they are fastest there, and all flows together if they get fewer.
    fn throughput(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (run, tenant) in self.compared().flat_map(|run| self.tenants.iter().map(move |tenant| (run, tenant))) {
            if self.best(tenant) == Some(run) {
                continue;
            }
            let Some(gain) = tenant.throughput_gain(run).filter(|gain| *gain != 1.0) else { continue };
            let (Some(from), Some(to)) = (tenant.served(self.baseline), tenant.served(run)) else { continue };
            let (who, verb) = (&tenant.name, if tenant.is_plural() { "do" } else { "does" });
            let name = self.name(run);
            let text =
                format!("{who} {verb} {} requests/s under {name} ({}, was {})", more(gain), number(to), number(from));
            found.push((gain.ln().abs(), text));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut found: Vec<String> = found.into_iter().take(NAMED).map(|(_, text)| text).collect();
        let (base, name) = (self.name(self.baseline), self.name(self.winner));
        let served = |run: usize| self.summary.schedulers[run].total.all.as_ref().and_then(|all| all.iops);
        if let (Some(from), Some(to)) = (served(self.baseline), served(self.winner))
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

    /// Where most requests of a tenant go one way and its mean goes the other, or nowhere.
    fn majorities(&self) -> Vec<String> {
        let mut found = Vec::new();
        let runs = (0..self.summary.schedulers.len()).filter(|&run| run != self.baseline);
        for (run, tenant) in runs.flat_map(|run| self.tenants.iter().map(move |tenant| (run, tenant))) {
            let (Some(slower), Some(gain), Some(pairs)) =
                (tenant.slower_by_count(run), tenant.gain(run), tenant.pairs[run])
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
                    tenant.name, counts[0], counts[1]
                ),
            ));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().take(ASIDES).map(|(_, text)| text).collect()
    }

    /// How much the tenants are slowed by each other.
    fn company(&self) -> Vec<String> {
        let mut slowed: Vec<(f64, String)> = Vec::new();
        for tenant in self.tenants {
            let (Some(from), Some(to)) = (tenant.slowdowns[self.baseline], tenant.slowdowns[self.winner]) else {
                continue;
            };
            if from.max(to) < SLOWED {
                continue;
            }
            let base = self.name(self.baseline);
            let mut sentence =
                format!("under {base}, sharing makes {}'s mean {} its mean alone", tenant.name, times_text(from));
            if self.winner != self.baseline {
                sentence.push_str(&format!(", under {} {}", self.name(self.winner), times_text(to)));
            }
            slowed.push((from.max(to), sentence));
        }
        slowed.sort_by(|a, b| b.0.total_cmp(&a.0));
        slowed.into_iter().take(NAMED).map(|(_, sentence)| sentence).collect()
    }

    /// Who is slower under the winner than under the scheduler compared with; if that is the winner itself, who is slower under the others.
    fn pays(&self) -> String {
        let base = self.name(self.baseline);
        let is_reference = self.winner == self.baseline;
        let losses =
            self.compared().flat_map(|run| self.tenants.iter().filter_map(move |tenant| self.loss(tenant, run)));
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

    /// What a tenant loses under a scheduler: of its mean, or else of its p99.
    fn loss(&self, tenant: &Tenant<'_>, run: usize) -> Option<(f64, String)> {
        let base = self.name(self.baseline);
        let pays = format!("{} {}", tenant.name, if tenant.is_plural() { "pay" } else { "pays" });
        let mean = || {
            let gain = tenant.gain(run).filter(|gain| *gain < 1.0)?;
            let (from, to) = tenant.mean(self.baseline).zip(tenant.mean(run))?;
            Some((gain, String::new(), from, to))
        };
        let p99 = || {
            let gain = tenant.tail_gain(run).filter(|gain| *gain < 1.0)?;
            let (from, to) = tenant.p99(self.baseline).zip(tenant.p99(run))?;
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
