//! The page of all papers and all claims, from stored figures.
//!
//! Owns the words of `docs/results/papers/README.md`. Promises a page that follows from the stored figures and the files of claims alone; runs
//! nothing.

use std::fmt::Write as _;

use crate::claims::{Claim, Claims, JudgedClaim, Kind, Verdict};
use crate::paper::Paper;
use crate::report::verdict;
use crate::setting::{ChosenSetting, Setting};
use crate::stored::StoredClaims;

pub mod rates;

/// The claims of a paper, judged from what is stored: under the plain reading, under the chosen setting where it has been run, and with
/// other seeds.
#[derive(Clone, Debug)]
pub struct Results {
    /// The paper.
    pub paper: &'static Paper,
    /// Under the plain reading; under the chosen setting where that alone has been run.
    pub plain: StoredClaims,
    /// Under the chosen setting.
    pub chosen: Option<StoredClaims>,
    /// Under either, with other seeds.
    pub again: Vec<StoredClaims>,
}

impl Results {
    /// Those that count: under the chosen setting, where there is one.
    fn counted(&self) -> &StoredClaims {
        self.chosen.as_ref().unwrap_or(&self.plain)
    }

    fn under(&self, setting: Setting) -> Option<&StoredClaims> {
        match setting {
            Setting::Plain => Some(&self.plain),
            Setting::Chosen => self.chosen.as_ref(),
        }
    }
}

/// The page. `missing` are the runs of whole papers that have not been made and stored: paper and setting.
pub fn page(all: &[Results], missing: &[(&str, Setting)]) -> String {
    let mut text = String::from(include_str!("head.txt"));
    summary(&mut text, all);
    if !missing.is_empty() {
        let commands =
            missing.iter().map(|(name, setting)| format!("`flashlane paper {name} --setting {}`", setting.name()));
        let _ = writeln!(
            text,
            "Not run as a whole by this version, and so not here: {}.\n",
            commands.collect::<Vec<_>>().join(", ")
        );
    }
    other_seeds(&mut text, all);
    all.iter().for_each(|results| section(&mut text, results));
    text
}

/// Claims in brackets where some are unstable.
fn count<'a>(claims: impl Iterator<Item = &'a JudgedClaim>) -> String {
    let (mut all, mut unstable) = (0, 0);
    for claim in claims {
        all += 1;
        unstable += u32::from(claim.is_unstable());
    }
    if unstable == 0 { all.to_string() } else { format!("{all} ({unstable})") }
}

/// The table of all papers.
fn summary(text: &mut String, all: &[Results]) {
    text.push_str("| paper | claims of the paper |");
    Verdict::OF_A_PAPER.iter().for_each(|verdict| *text += &format!(" {} |", verdict.name()));
    text.push_str(" inputs | ours |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for results in all {
        let (name, claims) = (results.paper.name, &results.counted().claims);
        let of_paper = || claims.iter().filter(|claim| claim.kind.counts());
        let _ = write!(text, "| [{name}]({name}.md) | {} |", count(of_paper()));
        for verdict in Verdict::OF_A_PAPER {
            let _ = write!(text, " {} |", count(of_paper().filter(|claim| claim.verdict == verdict)));
        }
        for kind in [Kind::Input, Kind::Ours] {
            let _ = write!(text, " {} |", count(claims.iter().filter(|claim| claim.kind == kind)));
        }
        text.push('\n');
    }
    text.push('\n');
}

/// What becomes of the verdicts with other seeds.
fn other_seeds(text: &mut String, all: &[Results]) {
    let pairs: Vec<(&StoredClaims, &StoredClaims)> = all
        .iter()
        .flat_map(|results| results.again.iter().filter_map(|again| results.under(again.made.setting).zip(Some(again))))
        .collect();
    if pairs.is_empty() {
        return;
    }
    text.push_str(
        "## With other seeds\n\nWhole papers run with the seeds after those of the tables (`--first-seed`): claims of the paper that were judged with \
         both, how many get the same verdict, and the others.\n\n\
         | paper | setting | seeds | other seeds | claims | same verdict | another verdict |\n|---|---|---|---|---:|---:|---|\n",
    );
    for (first, again) in pairs {
        let twin = |claim: &JudgedClaim| again.claims.iter().find(|other| other.id == claim.id);
        let both = first.claims.iter().filter(|claim| claim.kind.counts());
        let both = both.filter_map(|claim| twin(claim).map(|other| (claim, other)));
        let (same, moved): (Vec<_>, Vec<_>) = both.partition(|(a, b)| a.verdict == b.verdict);
        let from_to = moved.iter().map(|(a, b)| format!("{}: {}, {}", a.id, a.verdict.name(), b.verdict.name()));
        let range = |stored: &StoredClaims| match stored.made.seeds()[..] {
            [only] => only.to_string(),
            [first, .., last] => format!("{first} to {last}"),
            [] => String::new(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            first.made.name,
            first.made.setting.name(),
            range(first),
            range(again),
            same.len() + moved.len(),
            same.len(),
            from_to.collect::<Vec<_>>().join("; ")
        );
    }
    text.push('\n');
}

fn section(text: &mut String, results: &Results) {
    let claims = results.paper.claims();
    let _ = writeln!(text, "## {}\n", claims.paper);
    for stored in std::iter::once(&results.plain).chain(&results.chosen) {
        let made = &stored.made;
        let _ = writeln!(
            text,
            "- `flashlane paper {} --setting {}`: version {}, {} seed{}, scenarios `{}`{}",
            made.name,
            made.setting.name(),
            made.flashlane,
            made.seeds,
            if made.seeds == 1 { "" } else { "s" },
            made.scenarios,
            if made.quick { "; a quick look, too short to judge by" } else { "" }
        );
    }
    text.push('\n');
    if let Some(chosen) = &claims.chosen {
        setting(text, chosen);
    }
    table(text, results, &claims, Kind::counts);
    if claims.claim.iter().any(|claim| !claim.kind.counts()) {
        text.push_str("Inputs, and claims of our own; neither counts:\n\n");
        table(text, results, &claims, |kind| !kind.counts());
    }
}

/// The claims of these kinds.
fn table(text: &mut String, results: &Results, claims: &Claims, of_kind: fn(Kind) -> bool) {
    let wanted = |claim: &&Claim| of_kind(claim.kind);
    let is_beside = claims.claim.iter().filter(wanted).any(|claim| !claim.beside.is_empty());
    let is_chosen = results.chosen.is_some();
    text.push_str("| | source | claim | published | kind | measured | verdict |");
    text.push_str(if is_beside { " beside |" } else { "" });
    text.push_str(if is_chosen { " plain |\n" } else { "\n" });
    let columns = 7 + usize::from(is_beside) + usize::from(is_chosen);
    let _ = writeln!(text, "|{}", "---|".repeat(columns));
    for (claim, plain) in
        results.counted().claims.iter().zip(&results.plain.claims).filter(|(claim, _)| of_kind(claim.kind))
    {
        let measured =
            |claim: &JudgedClaim| claim.measured.clone().or_else(|| claim.reason.clone()).unwrap_or_default();
        let own = [&claim.id, &claim.source, &claim.says, &claim.published, claim.kind.name()];
        let mut cells = own.map(str::to_owned).to_vec();
        cells.extend([measured(claim), verdict(claim)]);
        if is_beside {
            let beside = claim.beside.iter().map(|(name, value)| format!("{name}: {value}"));
            cells.push(beside.collect::<Vec<_>>().join("; "));
        }
        if is_chosen {
            let untested = plain.verdict == Verdict::NotTestableHere;
            cells.push(if untested { String::new() } else { format!("{}: {}", measured(plain), verdict(plain)) });
        }
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push('\n');
}

fn setting(text: &mut String, chosen: &ChosenSetting) {
    let lists = [
        ("The chosen setting", &chosen.sets),
        ("Why it was chosen", &chosen.because),
        ("What the paper says against it", &chosen.against),
    ];
    for (title, lines) in lists {
        let _ = writeln!(text, "{title}:\n");
        lines.iter().for_each(|line| *text += &format!("- {line}\n"));
        text.push('\n');
    }
}

/// Text for a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests;
