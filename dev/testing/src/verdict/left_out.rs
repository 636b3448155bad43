//! Who may lose, and that every loss which docs/reading-results.md says is told has its sentence: on exactly these requests, scheduler and measure.

use std::collections::BTreeSet;

use super::{Read, TIGHT, WIDE, Whose, list, number, told};

/// A loss of this size is on the first screen, whosever it is, and of a part it is told beside a loss of the whole.
const LARGE: f64 = 2.0;
/// Lines of the first screen.
const LINES: usize = 12;

const OTHERS: [&str; 3] = ["commands/trim", "commands/write_zeroes", "commands/flush"];
const KINDS: [&str; 8] = ["all", "commit", "read", "write", "fua_write", OTHERS[0], OTHERS[1], OTHERS[2]];

/// What requests are in a verdict.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// They win or pay by themselves.
    Tenant,
    /// They are a part of these.
    Part(&'static str),
}

/// What a sentence tells to be worse: under which scheduler, for whom, by which key; `completed` where nothing completes any more.
type Losses = BTreeSet<(usize, Whose, &'static str)>;

impl Read<'_> {
    /// Whether a flow alternates writes and flushes.
    fn is_of_commits(&self, flow: usize) -> bool {
        number(&self.flows()[flow]["writes_per_flush"]).is_some()
            && self.has(flow, "write")
            && self.has(flow, "commands/flush")
    }

    /// Whether a flow completes such requests under any scheduler.
    fn has(&self, flow: usize, kind: &'static str) -> bool {
        if kind == "commit" {
            return self.is_of_commits(flow);
        }
        (0..list(self.json, "/schedulers").len()).any(|run| self.of(run, (Some(flow), kind), "mean_ns").is_some())
    }

    /// What the requests of each flow and kind are.
    pub(super) fn find_roles(&self) -> Vec<(Whose, Role)> {
        let each = (0..self.flows().len()).flat_map(|flow| KINDS.into_iter().map(move |kind| (flow, kind)));
        each.filter_map(|(flow, kind)| Some(((Some(flow), kind), self.find_role(flow, kind)?))).collect()
    }

    fn role(&self, whose: Whose) -> Option<Role> {
        self.roles.iter().find(|one| one.0 == whose).map(|one| one.1)
    }

    /// By which keys these requests are judged, and how far each may be apart.
    fn keys(&self, whose: Whose) -> Vec<(&'static str, f64)> {
        let Some(role) = self.role(whose) else { return vec![("own_iops", TIGHT)] };
        let is_loop = whose.0.is_some_and(|flow| !self.flows()[flow]["depth"].is_null());
        let has_rate = is_loop && (role == Role::Tenant || whose.1 == "commit");
        let all =
            [(true, ("mean_ns", TIGHT)), (whose.1 != "commit", ("p99_ns", WIDE)), (has_rate, ("own_iops", TIGHT))];
        all.into_iter().filter(|one| one.0).map(|one| one.1).collect()
    }

    /// What such requests of a flow are; `None` if there are none or another name stands for them.
    fn find_role(&self, flow: usize, kind: &'static str) -> Option<Role> {
        let (several, is_open) = (self.flows().len() > 1, self.flows()[flow]["depth"].is_null());
        let (reads, writes, commits) = (self.has(flow, "read"), self.has(flow, "write"), self.is_of_commits(flow));
        // All that a closed loop does is one rate.
        let of_loop = match () {
            () if commits && !reads => "commit",
            () if reads || writes => "all",
            () => OTHERS.into_iter().find(|&kind| self.has(flow, kind)).unwrap_or("all"),
        };
        let is_one_tenant = is_open && several && !commits;
        let role = match kind {
            _ if !self.has(flow, kind) => return None,
            "write" | "commands/flush" if commits => Role::Part("commit"),
            "all" if is_one_tenant => Role::Tenant,
            "all" if is_open => return None,
            "read" | "write" if (is_one_tenant || !is_open) && !(reads && writes) => return None,
            "read" | "write" if is_one_tenant => Role::Part("all"),
            "fua_write" if is_open && commits => Role::Part("commit"),
            "fua_write" if is_one_tenant && !reads => Role::Part("all"),
            "fua_write" if is_open => Role::Part("write"),
            _ if is_open || kind == of_loop => Role::Tenant,
            "all" => return None,
            _ => Role::Part(of_loop),
        };
        Some(role)
    }

    /// Whose requests are judged; of all flows together their rate.
    fn all_judged(&self) -> Vec<Whose> {
        let has_loop = self.flows().iter().any(|flow| !flow["depth"].is_null());
        let total = (has_loop && self.flows().len() > 1).then_some((None, "all"));
        self.roles.iter().map(|one| one.0).chain(total).collect()
    }

    /// All that somebody may lose: whose, by which key, and how far it may be apart.
    pub(super) fn judged(&self) -> Vec<(Whose, &'static str, f64)> {
        let of = |whose: Whose| self.keys(whose).into_iter().map(move |(key, within)| (whose, key, within));
        self.all_judged().into_iter().flat_map(of).collect()
    }

    /// How many times better a figure is; 1 where the two are alike, nothing where one of them is missing.
    fn factor(&self, run: usize, whose: Whose, key: &str) -> Option<f64> {
        let (from, to) = (self.of(self.base, whose, key)?, self.of(run, whose, key)?);
        let within = if key == "p99_ns" { WIDE } else { TIGHT };
        let gain = if key == "own_iops" { to / from } else { from / to };
        Some(if (from - to).abs() <= within * from.min(to) { 1.0 } else { gain })
    }

    /// By how much requests are better off: a closed loop by its rate, if that differs, everybody else by the mean.
    pub(super) fn gain(&self, run: usize, whose: Whose) -> Option<f64> {
        let is_loop = whose.0.is_some_and(|flow| !self.flows()[flow]["depth"].is_null());
        let runs = 0..list(self.json, "/schedulers").len();
        let by_rate =
            is_loop && runs.into_iter().any(|run| self.factor(run, whose, "own_iops").is_some_and(|gain| gain != 1.0));
        self.factor(run, whose, if by_rate { "own_iops" } else { "mean_ns" })
    }

    /// The scheduler that wins: for most tenants, of equals with the largest product of gains.
    fn winner(&self) -> usize {
        let runs = list(self.json, "/schedulers");
        let controls = runs.iter().all(|run| run["control"] == true);
        let mut candidates: Vec<usize> =
            (0..runs.len()).filter(|&run| controls || runs[run]["control"] == false).collect();
        candidates.sort_by_key(|&run| run != self.base);
        let tenants = self.roles.iter().filter(|one| one.1 == Role::Tenant).map(|one| one.0);
        let gains: Vec<Vec<Option<f64>>> =
            tenants.map(|whose| candidates.iter().map(|&run| self.gain(run, whose)).collect()).collect();
        let first =
            |of: &[Option<f64>]| (0..of.len()).rev().max_by(|&a, &b| of[a].partial_cmp(&of[b]).expect("no NaN"));
        let rank = |number: usize| {
            let differ = gains.iter().filter(|of| of.iter().flatten().any(|&gain| gain != 1.0));
            let firsts = differ.filter(|of| first(of) == Some(number)).count();
            (firsts, gains.iter().filter_map(|of| of[number]).map(f64::ln).sum::<f64>())
        };
        let best = (0..candidates.len()).reduce(|best, next| if rank(next) > rank(best) { next } else { best });
        best.map_or(self.base, |best| candidates[best])
    }

    /// What these sentences tell to be worse.
    fn losses_in(&self, lines: &[String]) -> Losses {
        let mut found = BTreeSet::new();
        for line in lines {
            let Some(told) = told(line) else { continue };
            let (Some(run), Some(mut whose)) = (self.run(told.name), self.whose(told.whom)) else { continue };
            if self.flows().len() == 1 {
                whose.0 = Some(0);
            }
            if told.changes.starts_with("none completed") {
                found.insert((run, whose, "completed"));
            }
            for clause in told.changes.split("; ") {
                let said = clause.split(" (").next().unwrap_or_default();
                let said = said.strip_prefix("but ").unwrap_or(said);
                if said.contains(" fewer ") {
                    found.insert((run, whose, "own_iops"));
                } else if said.contains(" slower") {
                    found.insert((run, whose, if said.starts_with("p99 ") { "p99_ns" } else { "mean_ns" }));
                }
            }
        }
        found
    }

    /// What these requests lose under a scheduler, and how many times.
    fn losses(&self, run: usize, whose: Whose) -> Vec<(&'static str, f64)> {
        let has = |run: usize| self.of(run, whose, "requests").is_some();
        if has(self.base) && !has(run) {
            return vec![("completed", f64::MAX)];
        }
        let losses =
            self.keys(whose).into_iter().filter_map(|(key, _)| Some((key, 1.0 / self.factor(run, whose, key)?)));
        losses.filter(|&(_, loss)| loss > 1.0).collect()
    }

    /// Whether the losses of these requests are told: those of a part where the whole does not pay, does not lose in that measure, or loses less than
    /// half as much.
    fn is_told(&self, run: usize, whose: Whose, losses: &[(&'static str, f64)]) -> bool {
        let whole = match self.role(whose) {
            Some(Role::Part(of)) => (whose.0, of),
            _ => return true,
        };
        let of_whole = self.losses(run, whole);
        let says_more = |&(key, loss): &(&'static str, f64)| {
            of_whole.iter().find(|one| one.0 == key).is_none_or(|&(_, same)| loss - 1.0 >= LARGE * (same - 1.0))
        };
        self.gain(run, whole).unwrap_or(1.0) >= 1.0 || losses.iter().any(says_more)
    }

    /// Every loss that the rules tell has a sentence; on a first screen with room those of the winner and those from twofold on are there.
    pub(super) fn nothing_left_out(&mut self, first: &[String], all: &[String]) {
        let (seen, told) = (self.losses_in(first), self.losses_in(all));
        let has_room = first.iter().filter(|line| !line.ends_with(" with --full")).count() < LINES;
        let winner = self.winner();
        let whose = self.all_judged();
        let mut missing = Vec::new();
        for run in (0..list(self.json, "/schedulers").len()).filter(|&run| run != self.base) {
            for &whose in &whose {
                let losses = self.losses(run, whose);
                if !self.is_told(run, whose, &losses) {
                    continue;
                }
                for (key, loss) in losses {
                    let one = (run, whose, key);
                    let is_first = has_room && (run == winner || loss >= LARGE);
                    if !told.contains(&one) || is_first && !seen.contains(&one) {
                        let place = if told.contains(&one) { "not on the first screen" } else { "not told" };
                        missing.push(format!("{place}: {whose:?} {key} {loss} times worse under {}", self.name(run)));
                    }
                }
            }
            missing.extend(self.amplification_left_out(run, all));
        }
        self.problems.append(&mut missing);
    }

    /// Whether the drive writes more under a scheduler and no sentence tells it.
    fn amplification_left_out(&self, run: usize, all: &[String]) -> Option<String> {
        let name = self.name(run);
        let of = |run: usize| number(&list(self.json, "/schedulers")[run]["device"]["write_amplification"]);
        let (from, to) = of(self.base).zip(of(run))?;
        let (pays, few) = (format!("the drive pays under {name}: "), format!(" to {name}: "));
        let tells = |line: &String| {
            line.starts_with(&pays) || line.starts_with("write amplification ") && line.contains(&few)
                // Where no request is counted nothing is compared.
                || line.starts_with("no request ")
        };
        let is_left_out = to - from > WIDE * from && !all.iter().any(tells);
        is_left_out.then(|| format!("not told: write amplification {from} -> {to} under {name}"))
    }
}
