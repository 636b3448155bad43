//! What a run of the mutants comes to, as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::mutant::{Kind, Mutant};
use super::store::MutantResult;

/// Counts of a group of mutants.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
struct Count {
    /// Change results and are noticed by a rule, a scene or a law.
    caught: u32,
    /// Change results and are noticed by stored results only.
    stored: u32,
    /// Change results and are not noticed.
    survived: u32,
    /// Change no result of the corpus, but are noticed.
    only_noticed: u32,
    /// Neither.
    silent: u32,
    /// Change no result of the corpus, and were not shown to the tests.
    unshown: u32,
}

impl Count {
    fn add(&mut self, result: &MutantResult) {
        let which = match (result.change.is_some(), &result.detection) {
            (true, Some(detection)) if detection.stored => &mut self.stored,
            (true, Some(_)) => &mut self.caught,
            (true, None) => &mut self.survived,
            (false, Some(_)) => &mut self.only_noticed,
            (false, None) => &mut self.silent,
        };
        *which += 1;
    }

    fn changing(&self) -> u32 {
        self.caught + self.stored + self.survived
    }

    fn drawn(&self) -> u32 {
        self.changing() + self.only_noticed + self.silent + self.unshown
    }

    fn row(&self, name: &str) -> String {
        let Count { caught, stored, survived, only_noticed, silent, unshown } = *self;
        let (drawn, changing) = (self.drawn(), self.changing());
        let rates = format!("{} | {}", share(caught, changing), share(caught + stored, changing));
        format!(
            "| {name} | {drawn} | {unshown} | {silent} | {only_noticed} | {changing} | {caught} | {stored} | {survived} | {rates} |\n"
        )
    }
}

fn share(part: u32, of: u32) -> String {
    if of == 0 { "".into() } else { format!("{:.0} %", 100.0 * f64::from(part) / f64::from(of)) }
}

const HEAD: &str =
    "drawn | no result changes, not shown to tests | silent | noticed, no result changes | change results | caught | by stored results only | survived | \
                    rate | rate with stored results |
|---|---|---|---|---|---|---|---|---|---|---|
";

/// How many places each crate has.
pub fn places(all: &[Mutant]) -> BTreeMap<String, usize> {
    let mut places = BTreeMap::new();
    all.iter().for_each(|mutant| *places.entry(mutant.krate().to_owned()).or_default() += 1);
    places
}

/// The tables and the survivors. `unshown` change no result of the corpus, and no test has seen them.
pub fn text(results: &[(&Mutant, MutantResult)], unshown: &[&Mutant], places: &BTreeMap<String, usize>) -> String {
    let mut text = String::new();
    let mut crates: BTreeMap<&str, Count> = BTreeMap::new();
    let mut files: BTreeMap<&str, Count> = BTreeMap::new();
    let mut kinds: BTreeMap<Kind, Count> = BTreeMap::new();
    let mut catchers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut all = Count::default();
    for (mutant, result) in results {
        crates.entry(mutant.krate()).or_default().add(result);
        files.entry(&mutant.file).or_default().add(result);
        kinds.entry(mutant.kind).or_default().add(result);
        all.add(result);
        if let Some(detection) = &result.detection {
            *catchers.entry(&detection.suite).or_default() += 1;
        }
    }
    for mutant in unshown {
        let groups = [crates.entry(mutant.krate()).or_default(), files.entry(&mutant.file).or_default()];
        groups
            .into_iter()
            .chain([kinds.entry(mutant.kind).or_default(), &mut all])
            .for_each(|count| count.unshown += 1);
    }
    let _ = write!(text, "| file | {HEAD}");
    files.iter().for_each(|(file, count)| text.push_str(&count.row(file)));
    let _ = write!(text, "\n| kind | {HEAD}");
    let rows = Kind::ALL.iter().filter_map(|kind| Some((kind, kinds.get(kind)?)));
    rows.for_each(|(kind, count)| text.push_str(&count.row(kind.name())));
    let _ = write!(text, "\n| crate, of this many places | {HEAD}");
    for (krate, count) in &crates {
        text.push_str(&count.row(&format!("{krate}, {}", places.get(*krate).copied().unwrap_or_default())));
    }
    text.push_str(&all.row("all"));
    text.push_str("\nnoticed by:");
    for (suite, count) in catchers {
        let _ = write!(text, " {suite} {count},");
    }
    let _ = write!(text, "\n\n{}", survivors(results));
    let silent = results.iter().filter(|(_, result)| result.change.is_none() && result.detection.is_none());
    let _ = writeln!(text, "\nneither noticed nor changing a result of the corpus:");
    silent.for_each(|(mutant, _)| {
        let _ = writeln!(text, "  {} {}", mutant.id, mutant.description());
    });
    let changing = all.changing();
    let _ = writeln!(
        text,
        "\n{} mutants: {changing} change results, {} of them caught ({}), {} with stored results ({})",
        all.drawn(),
        all.caught,
        share(all.caught, changing),
        all.caught + all.stored,
        share(all.caught + all.stored, changing)
    );
    text
}

/// The mutants that change results and that no rule, scene or law notices, those that change most first.
fn survivors(results: &[(&Mutant, MutantResult)]) -> String {
    let mut text = String::from("survivors that change results:\n");
    let unnoticed = |result: &MutantResult| result.detection.as_ref().is_none_or(|detection| detection.stored);
    let mut found: Vec<_> = results.iter().filter(|(_, result)| unnoticed(result)).collect();
    found.retain(|(_, result)| result.change.is_some());
    let size = |result: &MutantResult| result.change.as_ref().and_then(|change| change.mean).unwrap_or(f64::MAX);
    found.sort_by(|(_, a), (_, b)| size(b).total_cmp(&size(a)));
    for (mutant, result) in found {
        let Some(change) = &result.change else { continue };
        let mean = change
            .mean
            .filter(|&mean| mean > 0.0)
            .map_or(String::new(), |mean| format!(", a mean by {:.2} %", 100.0 * mean));
        let stored = if result.detection.is_some() { "; stored results notice it" } else { "" };
        let _ = writeln!(text, "  {} {}", mutant.id, mutant.description());
        let _ = writeln!(
            text,
            "      {}{mean}; in {} of the corpus, most in {}{stored}",
            change.how, change.scenarios, change.scenario
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::corpus::Change;
    use super::super::operators;
    use super::super::programs::Detection;
    use super::*;

    #[test]
    fn rates_are_of_those_that_change_results() {
        let all = operators::find("engine/core/src/a.rs", "fn f() -> u8 { g(a < b, a <= b, a == b, a != b, a > b) }")
            .unwrap();
        let change = |mean| Some(Change { scenario: "s".into(), scenarios: 2, mean, how: "figures".into() });
        let detection = |stored| Some(Detection { suite: "core lib".into(), test: "t".into(), hung: false, stored });
        let result = |change, detection| MutantResult { change, detection, seconds: 1.0 };
        let results = [
            result(change(Some(0.5)), detection(false)),
            result(change(Some(0.125)), None),
            result(change(Some(0.25)), detection(true)),
            result(None, detection(false)),
            result(None, None),
        ];
        let pairs: Vec<(&Mutant, MutantResult)> = all.iter().zip(results).collect();
        let unshown = operators::find("engine/core/src/a.rs", "fn h() -> u8 { g(a < b) }").unwrap();
        let text = text(&pairs, &[&unshown[0]], &places(&all));
        assert!(text.contains("| engine/core/src/a.rs | 6 | 1 | 1 | 1 | 3 | 1 | 1 | 1 | 33 % | 67 % |"), "{text}");
        assert!(text.contains("| core, 5 | 6 | 1 | 1 | 1 | 3 | 1 | 1 | 1 | 33 % | 67 % |"), "{text}");
        assert!(
            text.contains("6 mutants: 3 change results, 1 of them caught (33 %), 2 with stored results (67 %)"),
            "{text}"
        );
        let (first, second) = (text.find("by 25.00 %").unwrap(), text.find("by 12.50 %").unwrap());
        assert!(first < second, "the largest change first");
    }
}
