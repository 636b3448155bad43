//! Rule on words that must not be committed: places of one machine, marks of unfinished work, tests switched off. Tests that say they are
//! nightly ones are switched on by `make nightly`.

use super::Finding;
use super::repo::{File, Repo};

/// A word, why it may not stand, and whether tests may use it.
struct Banned {
    word: &'static str,
    why: &'static str,
    in_tests: bool,
}

// Written in pieces, so that this file does not hold what it forbids.
const BANNED: &[Banned] = &[
    Banned { word: concat!("/wo", "rk/"), why: PLACE, in_tests: true },
    Banned { word: concat!("/t", "mp/"), why: PLACE, in_tests: true },
    Banned { word: concat!("/ho", "me/"), why: PLACE, in_tests: true },
    Banned { word: concat!("/ro", "ot/"), why: PLACE, in_tests: true },
    Banned { word: concat!("to", "do!"), why: UNFINISHED, in_tests: false },
    Banned { word: concat!("unimple", "mented!"), why: UNFINISHED, in_tests: false },
    Banned { word: concat!("TO", "DO"), why: UNFINISHED, in_tests: false },
    Banned { word: concat!("FIX", "ME"), why: UNFINISHED, in_tests: false },
    Banned { word: concat!("X", "XX"), why: UNFINISHED, in_tests: false },
    Banned {
        word: SWITCHED_OFF,
        why: "a test that does not run proves nothing; mend it, delete it, or give it a short form and the reason \"nightly: ...\"",
        in_tests: false,
    },
];

const SWITCHED_OFF: &str = concat!("#[ig", "nore");
/// What a test says that `make nightly` runs.
const NIGHTLY: &str = concat!("#[ig", "nore = \"nightly: ");

const PLACE: &str = "a place of one machine; say it relative to the repository";
const UNFINISHED: &str = "unfinished work; finish it, or open an issue";

/// Rule: none of the banned words.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| !is_foreign(file)) {
        for (number, line) in file.lines() {
            for banned in BANNED.iter().filter(|banned| stands_in(line, banned.word)) {
                let is_nightly = banned.word == SWITCHED_OFF && line.contains(NIGHTLY);
                if !(banned.in_tests && file.is_test_line(number) || is_nightly) {
                    findings.push(Finding::error(&file.path, number, format!("`{}`: {}", banned.word, banned.why)));
                }
            }
        }
    }
    findings
}

/// Written by others or by machines: chart libraries, lock files.
fn is_foreign(file: &File) -> bool {
    file.is_lock() || file.path.contains(".min.")
}

/// Whether `word` stands in `line` as a word of its own: no letter, and for paths no part of a longer path, beside it.
fn stands_in(line: &str, word: &str) -> bool {
    let is_path = word.starts_with('/');
    let joins = |c: char| c.is_alphanumeric() || c == '_' || is_path && matches!(c, '.' | '-' | '~' | '/' | '}' | ')');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let ends_open = is_path || word.ends_with('!') || word.starts_with('#');
        !before.is_some_and(joins) && (ends_open || !after.is_some_and(joins))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Repo::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn every_banned_word_is_found_where_it_stands() {
        for banned in BANNED {
            let text = format!("fine\n// {} x\n", banned.word);
            assert_eq!(lines("a/src/b.rs", &text), [2], "{}", banned.word);
            assert_eq!(lines("docs/b.md", &text), [2], "{}", banned.word);
        }
    }

    #[test]
    fn places_may_stand_in_tests_unfinished_work_may_not() {
        for banned in BANNED {
            let text = format!("#[cfg(test)]\nmod tests {{\n    // {}\n}}\n", banned.word);
            let expect: &[usize] = if banned.in_tests { &[] } else { &[3] };
            assert_eq!(lines("a/src/b.rs", &text), expect, "{}", banned.word);
        }
    }

    #[test]
    fn a_test_may_be_a_nightly_one() {
        let test = |mark: &str| format!("#[test]\n{mark}\nfn long() {{}}\n");
        assert_eq!(lines("a/tests/b.rs", &test(&format!("{NIGHTLY}ten minutes\"]"))), [0usize; 0]);
        for mark in [format!("{SWITCHED_OFF}]"), format!("{SWITCHED_OFF} = \"slow\"]")] {
            assert_eq!(lines("a/tests/b.rs", &test(&mark)), [2], "{mark}");
        }
    }

    #[test]
    fn parts_of_other_words_and_paths_are_fine() {
        let fine =
            ["the methodology", "mastodon!", "framework/work/x", "./tmp/x", "target/tmp/x", "${OUT}/tmp/x", "TODOS"];
        for text in fine {
            assert_eq!(lines("a/src/b.md", text), [0usize; 0], "{text}");
        }
        assert_eq!(lines("Cargo.lock", BANNED[0].word), [0usize; 0]);
    }
}
