//! The page of all papers and all claims, from stored results.
//!
//! Owns the words of `docs/papers/README.md`. Promises a page that follows from the stored files and the files of claims alone; runs
//! nothing.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::claims::{Claims, JudgedClaim, Verdict};
use crate::paper::Paper;
use crate::report::PaperResult;
use crate::setting::{ChosenSetting, Setting};

/// What is stored of the results of a whole paper, `claims.json`: all of `results.json` but the figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// Short name of the paper.
    pub name: String,
    /// Version of Flashlane that made it.
    pub flashlane: String,
    /// Whether it was a look only.
    pub quick: bool,
    /// Seeds of each workload.
    pub seeds: u64,
    /// The setting it was made under.
    pub setting: Setting,
    /// An identifier of all scenarios.
    pub scenarios: String,
    /// The claims with what was measured.
    pub claims: Vec<JudgedClaim>,
}

impl From<&PaperResult> for Stored {
    fn from(result: &PaperResult) -> Stored {
        Stored {
            name: result.name.clone(),
            flashlane: result.flashlane.clone(),
            quick: result.quick,
            seeds: result.seeds,
            setting: result.setting,
            scenarios: result.scenarios.clone(),
            claims: result.claims.clone(),
        }
    }
}

impl Stored {
    /// The bytes of `claims.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("texts and whole numbers");
        text.push('\n');
        text
    }

    /// Reads a stored `claims.json`.
    ///
    /// # Errors
    /// Text that is no such file.
    pub fn read(text: &str) -> Result<Stored, String> {
        serde_json::from_str(text).map_err(|why| why.to_string())
    }

    /// What is no longer as `claims` says: the first claim that was added, removed or changed since. `None` if nothing is.
    pub fn outdated(&self, claims: &Claims) -> Option<String> {
        if self.quick {
            return Some("it is a quick look".into());
        }
        if self.claims.len() != claims.claim.len() {
            return Some(format!("{} claims, now {}", self.claims.len(), claims.claim.len()));
        }
        let changed = self.claims.iter().zip(&claims.claim).find(|(stored, now)| {
            (&stored.experiment, &stored.source, &stored.says, &stored.published, &stored.reproduced_if)
                != (&now.experiment, &now.source, &now.says, &now.published, &now.reproduced_if)
        });
        changed.map(|(stored, _)| format!("{} ({}) {}: changed since", stored.experiment, stored.source, stored.says))
    }
}

/// The stored results of a paper: under the plain reading, and under the chosen setting where it has been run.
#[derive(Clone, Debug)]
pub struct Results {
    /// The paper.
    pub paper: &'static Paper,
    /// Under the plain reading.
    pub plain: Stored,
    /// Under the chosen setting.
    pub chosen: Option<Stored>,
}

/// What became of a claim under both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Reproduced,
    OnlyPlain,
    OnlyChosen,
    Differs,
    NotTestable,
}

impl Outcome {
    const ALL: [Outcome; 5] =
        [Outcome::Reproduced, Outcome::OnlyPlain, Outcome::OnlyChosen, Outcome::Differs, Outcome::NotTestable];

    fn of(plain: Verdict, chosen: Option<Verdict>) -> Outcome {
        use Verdict::{Differs, NotTestableHere, Reproduced};
        match (plain, chosen) {
            (NotTestableHere, _) => Outcome::NotTestable,
            (Reproduced, Some(Differs)) => Outcome::OnlyPlain,
            (Reproduced, _) => Outcome::Reproduced,
            (Differs, Some(Reproduced)) => Outcome::OnlyChosen,
            (Differs, _) => Outcome::Differs,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Outcome::Reproduced => "reproduced",
            Outcome::OnlyPlain => "reproduced, not under the setting",
            Outcome::OnlyChosen => "reproduced under the setting",
            Outcome::Differs => "differs",
            Outcome::NotTestable => "not testable here",
        }
    }
}

impl Results {
    fn outcomes(&self) -> Vec<Outcome> {
        let chosen = |at: usize| self.chosen.as_ref().map(|stored| stored.claims[at].verdict);
        self.plain.claims.iter().enumerate().map(|(at, claim)| Outcome::of(claim.verdict, chosen(at))).collect()
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.outcomes().iter().filter(|&&one| one == outcome).count()
    }
}

/// The page. `missing` are the runs of whole papers that have not been made and stored: paper and setting.
pub fn page(all: &[Results], missing: &[(&str, Setting)]) -> String {
    let mut text = String::from(
        "<!-- generated from docs/papers/results by `cargo xtask bless papers`; a test holds it to them -->\n\n\
         # What the papers claim, and what comes about\n\n\
         Every claim of every paper in the program, beside what was measured on the modelled device: under the plain reading (the paper's\n\
         text, and the nearest where it says nothing), and under one setting for the whole paper where one was chosen **after results were\n\
         seen**. [How papers are made again](running.md) has the options and the expressions; the pages of the papers say what was set up,\n\
         what differs and what was tried. The measured values are those of the stored [results](results), which say the program's version\n\
         and the scenarios; nothing is run to make this page.\n\n",
    );
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
    all.iter().for_each(|results| section(&mut text, results));
    text
}

fn summary(text: &mut String, all: &[Results]) {
    text.push_str("| paper | claims |");
    Outcome::ALL.iter().for_each(|outcome| *text += &format!(" {} |", outcome.name()));
    text.push_str("\n|---|---:|---:|---:|---:|---:|---:|\n");
    for results in all {
        let name = results.paper.name;
        let _ = write!(text, "| [{name}]({name}.md) | {} |", results.plain.claims.len());
        Outcome::ALL.iter().for_each(|&outcome| *text += &format!(" {} |", results.count(outcome)));
        text.push('\n');
    }
    text.push('\n');
}

fn section(text: &mut String, results: &Results) {
    let claims = results.paper.claims();
    let _ = writeln!(text, "## {}\n", claims.paper);
    let made = |stored: &Stored| {
        let [name, setting] = [&stored.name, stored.setting.name()];
        format!(
            "`flashlane paper {name} --setting {setting}`: version {}, {} seed{}, scenarios `{}`",
            stored.flashlane,
            stored.seeds,
            if stored.seeds == 1 { "" } else { "s" },
            stored.scenarios
        )
    };
    for stored in std::iter::once(&results.plain).chain(&results.chosen) {
        let _ = writeln!(text, "- {}", made(stored));
    }
    text.push('\n');
    if let Some(chosen) = &claims.chosen {
        setting(text, chosen);
    }
    let both = results.chosen.as_ref();
    text.push_str(if both.is_some() {
        "| | source | claim | published | plain | chosen | verdict |\n|---|---|---|---|---|---|---|\n"
    } else {
        "| | source | claim | published | measured | verdict |\n|---|---|---|---|---|---|\n"
    });
    for (at, (claim, outcome)) in results.plain.claims.iter().zip(results.outcomes()).enumerate() {
        let cell =
            |claim: &JudgedClaim| escaped(claim.measured.as_deref().or(claim.reason.as_deref()).unwrap_or_default());
        let _ = write!(
            text,
            "| {} | {} | {} | {} |",
            claim.experiment,
            escaped(&claim.source),
            escaped(&claim.says),
            escaped(&claim.published)
        );
        let _ = write!(text, " {} |", cell(claim));
        if let Some(chosen) = both {
            let other = if claims.claim[at].measured_chosen.is_some() { "*" } else { "" };
            let value = if outcome == Outcome::NotTestable { String::new() } else { cell(&chosen.claims[at]) };
            let _ = write!(text, " {value}{other} |");
        }
        let _ = writeln!(text, " {} |", outcome.name());
    }
    text.push('\n');
    if claims.claim.iter().any(|claim| claim.measured_chosen.is_some()) {
        text.push_str("\\* measured by another expression under the setting; `--list` shows both.\n\n");
    }
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
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_reading_under_which_a_claim_holds() {
        use Verdict::{Differs, NotTestableHere, Reproduced};
        for (plain, chosen, name) in [
            (Reproduced, None, "reproduced"),
            (Reproduced, Some(Reproduced), "reproduced"),
            (Reproduced, Some(Differs), "reproduced, not under the setting"),
            (Differs, Some(Reproduced), "reproduced under the setting"),
            (Differs, Some(Differs), "differs"),
            (Differs, None, "differs"),
            (NotTestableHere, Some(NotTestableHere), "not testable here"),
        ] {
            assert_eq!(Outcome::of(plain, chosen).name(), name, "{plain:?} {chosen:?}");
        }
    }

    #[test]
    fn results_of_other_claims_are_outdated() {
        let claims = Claims::read(
            "paper = \"p\"\n[[claim]]\nexperiment = \"E1\"\nsource = \"s\"\nsays = \"w\"\npublished = \"1\"\nmeasured = \"1\"\nreproduced_if = \"it == 1\"\n",
        );
        let figures = crate::figures::Figures::default();
        let judged = claims.judge(&["E1"], &figures, Setting::Plain).expect("sound");
        let stored = Stored {
            name: "p".into(),
            flashlane: "1".into(),
            quick: false,
            seeds: 1,
            setting: Setting::Plain,
            scenarios: "0".into(),
            claims: judged,
        };
        assert_eq!(stored.outdated(&claims), None);
        let mut moved = claims.clone();
        moved.claim[0].reproduced_if = Some("it < 2".into());
        assert_eq!(stored.outdated(&moved).as_deref(), Some("E1 (s) w: changed since"));
        moved.claim.clear();
        assert_eq!(stored.outdated(&moved).as_deref(), Some("1 claims, now 0"));
        assert_eq!(Stored { quick: true, ..stored }.outdated(&claims).as_deref(), Some("it is a quick look"));
    }
}
