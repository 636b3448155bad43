//! Rule on citations: what code and pages cite of the model has an entry in its page.
//!
//! An entry is a heading that begins with a section number or holds a name (`D-SLK-11`), or a table row or an item of a list that begins
//! with either. It looks at names only and cannot know whether an entry says what the citing line believes.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::repo::Repo;

const PAGE: &str = "docs/model.md";
/// The word that cites a document outside of the repository; in pieces, so that this file does not cite it.
const OUTSIDE: &str = concat!("SP", "EC");

/// Rule: every citation has an entry, and every entry is cited.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let entries = repo.file(PAGE).map(|page| entries(page.lines())).unwrap_or_default();
    let mut findings = Vec::new();
    let mut cited = BTreeSet::new();
    for file in repo.files.iter().filter(|file| [".rs", ".toml", ".md"].iter().any(|end| file.path.ends_with(end))) {
        for (number, line) in file.lines() {
            if words(line).any(|word| word == OUTSIDE) {
                let message = format!("cites `{OUTSIDE}`, which no reader has; cite a section of {PAGE}: `model 0.4`");
                findings.push(Finding::error(&file.path, number, message));
            }
            for name in citations(line) {
                if !entries.contains_key(name) {
                    let message = format!("cites `{name}`, which has no entry in {PAGE} (a heading or a table row)");
                    findings.push(Finding::error(&file.path, number, message));
                } else if file.path != PAGE {
                    cited.insert(name);
                }
            }
        }
    }
    let idle = entries.iter().filter(|(name, _)| !cited.contains(*name));
    findings.extend(idle.map(|(name, &line)| Finding::warning(PAGE, line, format!("nothing cites `{name}`"))));
    findings
}

/// The entries of the page, each with its line.
fn entries<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> BTreeMap<&'a str, usize> {
    let mut found = BTreeMap::new();
    for (number, line) in lines {
        let (text, heading) = match (line.strip_prefix('|'), line.strip_prefix("- "), line.strip_prefix('#')) {
            (Some(row), _, _) => (row.split('|').next().unwrap_or_default(), false),
            (_, Some(item), _) => (item.split([':', ' ']).next().unwrap_or_default(), false),
            (_, _, Some(rest)) => (rest.trim_start_matches('#'), true),
            _ => continue,
        };
        let first = text.split_whitespace().next().filter(|word| is_section(word) || is_name(word));
        let within = words(text).filter(|word| heading && is_name(word));
        first.into_iter().chain(within).for_each(|name| {
            found.entry(name).or_insert(number);
        });
    }
    found
}

/// What a line cites: names, and the section numbers that follow the word "model".
fn citations(line: &str) -> impl Iterator<Item = &str> {
    let sections = line.match_indices("odel ").filter_map(|(at, word)| {
        let before = &line[..at];
        let begins = before.ends_with(['m', 'M']) && !before[..at - 1].ends_with(|c: char| c.is_alphanumeric());
        let rest = &line[at + word.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        (begins && is_section(number)).then_some(number)
    });
    sections.chain(words(line).filter(|word| is_name(word)))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
}

/// Numbers with a point between: `0.4`, `2.1.9`.
fn is_section(word: &str) -> bool {
    word.contains('.') && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// A decision or a statement with its paper and two digits, or a rule of one word: `D-SLK-11`, `A-SUB-04`, `R-ORDER`.
fn is_name(word: &str) -> bool {
    let capitals = |part: &str| part.len() >= 3 && part.bytes().all(|b| b.is_ascii_uppercase());
    match word.split('-').collect::<Vec<_>>()[..] {
        ["D" | "A", paper, number] => {
            capitals(paper) && number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit())
        }
        ["R", rule] => capitals(rule),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Weight;

    const MODEL: &str = "# The model\n\n### 0.4 Flash timing\n\n0.5 is prose.\n\n### 0.3 Order (R-ORDER)\n\n| decision | why |\n\
                         |---|---|\n| D-SLK-11 | as model 0.4 |\n\n- A-SLK-01: by hand\n";

    fn findings(path: &str, text: &str) -> Vec<(String, usize, Weight)> {
        let found = check(&Repo::of(&[(PAGE, MODEL), (path, text)]));
        found.into_iter().map(|f| (f.path, f.line, f.weight)).collect()
    }

    #[test]
    fn citations_of_headings_and_rows_resolve() {
        let text = "// See model 0.4. Model 0.3, too; R-ORDER, (D-SLK-11, A-SLK-01).\n";
        for path in ["a.rs", "b.toml", "c.md"] {
            assert_eq!(findings(path, text), [], "{path}");
        }
    }

    #[test]
    fn what_has_no_entry_is_named_with_its_place() {
        let cited = "// model 0.3, model 0.4, R-ORDER, D-SLK-11, A-SLK-01\n";
        // In two pieces, so that this file does not cite them.
        let pieces = ["mod el 0.5", "mod el 0.40", "D -ZZZ-12", "A -SLK-99", "R -OTHER", "SP EC 0.4", "SP EC's"];
        for wrong in pieces.map(|two| two.replacen(' ', "", 1)) {
            let text = format!("{cited}// as {wrong}\n");
            assert_eq!(findings("a.rs", &text), [("a.rs".to_owned(), 2, Weight::Error)], "{wrong}");
        }
    }

    #[test]
    fn other_words_are_not_citations() {
        let fine =
            ["family 26, model 2", "a remodel 0.9", "model 79", "D-Bus", "A-1-22", "SPECIAL", "the model is", "R-2"];
        for text in fine {
            let text = format!("// model 0.3, model 0.4, R-ORDER, D-SLK-11, A-SLK-01\n// {text}\n");
            assert_eq!(findings("a.rs", &text), [], "{text}");
        }
    }

    #[test]
    fn an_entry_that_nothing_outside_the_page_cites_is_a_warning() {
        let found = findings("a.rs", "// model 0.3, R-ORDER, A-SLK-01\n");
        assert_eq!(found, [(PAGE.to_owned(), 3, Weight::Warning), (PAGE.to_owned(), 11, Weight::Warning)]);
    }
}
