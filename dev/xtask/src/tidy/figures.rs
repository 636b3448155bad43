//! Rule on the pages of results: a figure in a sentence stands in the page's tables, or the passage says where it comes from.
//!
//! A figure is a number with a decimal point, a percentage, or three digits or more; years and names that have digits in them are none. The
//! passage (a paragraph, or an item of a list) names a command, or has a link to a file; a page that is linked must have the figure.
//! The rule knows neither what a command prints nor whether a table's cell is the one that is meant.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::Finding;
use super::docs::join;
use super::repo::Repo;

const PAGES: &str = "docs/results/";
/// A program writes this page from the claims and the stored figures; what claims.toml says for and against a setting has no table.
const CLAIMS: &str = "docs/results/papers/README.md";
/// How code begins that a reader can run.
const COMMANDS: [&str; 7] = ["flashlane ", "flashlane-bench", "cargo ", "python3 ", "make ", "tools/", "--experiment "];

/// Rule: every figure in a sentence of a page of results is held by the page or has a source.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_page = |path: &str| path.starts_with(PAGES) && path.ends_with(".md") && path != CLAIMS;
    for file in repo.files.iter().filter(|file| is_page(&file.path)) {
        let text = file.text.as_deref().unwrap_or_default();
        let page = Page::of(text);
        for passage in &page.passages {
            let linked = passage.links.iter().filter_map(|link| join(&file.path, link.split('#').next()?));
            let (pages, files): (Vec<String>, Vec<String>) = linked.partition(|target| target.ends_with(".md"));
            if passage.has_command || !files.is_empty() {
                continue;
            }
            let texts = pages.iter().filter_map(|target| repo.file(target)?.text.as_deref());
            let elsewhere: BTreeSet<&str> = texts.flat_map(|text| numbers(text).map(|number| number.text)).collect();
            for (figure, at) in passage.figures() {
                if !page.held.contains(figure) && !elsewhere.contains(figure) {
                    let line = text[..at].matches('\n').count() + 1;
                    let message = format!(
                        "`{figure}` stands in no table or block of this page, and the passage names no command, no file and no \
                         page that has it"
                    );
                    findings.push(Finding::error(&file.path, line, message));
                }
            }
        }
    }
    findings
}

/// A page: the numbers of its tables and blocks, and its passages.
#[derive(Default)]
struct Page {
    held: BTreeSet<String>,
    passages: Vec<Passage>,
}

/// A paragraph or an item of a list.
#[derive(Default)]
struct Passage {
    /// Its words; a letter stands for each piece of code.
    words: String,
    /// For each piece of the words where it begins, in them and on the page.
    pieces: Vec<(usize, usize)>,
    links: Vec<String>,
    has_command: bool,
}

impl Page {
    fn of(text: &str) -> Page {
        let mut page = Page::default();
        let mut depth_of_held = 0_usize;
        let mut in_heading = false;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Table(_) | Tag::CodeBlock(_)) => depth_of_held += 1,
                Event::End(TagEnd::Table | TagEnd::CodeBlock) => depth_of_held -= 1,
                Event::Start(Tag::Heading { .. }) => in_heading = true,
                Event::End(TagEnd::Heading(_)) => in_heading = false,
                Event::Start(Tag::Paragraph | Tag::Item) => page.passages.push(Passage::default()),
                Event::Text(words) | Event::Code(words) if depth_of_held > 0 => {
                    page.held.extend(numbers(&words).map(|number| number.text.to_owned()));
                }
                _ if in_heading || depth_of_held > 0 => {}
                event => {
                    if let Some(passage) = page.passages.last_mut() {
                        passage.take(event, range.start);
                    }
                }
            }
        }
        page
    }
}

impl Passage {
    fn take(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Text(words) => {
                self.pieces.push((self.words.len(), at));
                self.words.push_str(&words);
            }
            Event::Code(code) => {
                self.has_command |= COMMANDS.iter().any(|command| code.starts_with(command));
                self.words.push('x');
            }
            Event::SoftBreak | Event::HardBreak => self.words.push(' '),
            Event::Start(Tag::Link { dest_url, .. }) if !dest_url.starts_with('#') && !dest_url.contains("://") => {
                self.links.push(dest_url.into())
            }
            _ => {}
        }
    }

    /// The figures of the words, each with its place on the page.
    fn figures(&self) -> impl Iterator<Item = (&str, usize)> {
        numbers(&self.words).filter(Number::is_figure).map(|number| {
            let piece = self.pieces.iter().rfind(|(begin, _)| *begin <= number.at).expect("a number is in a piece");
            (number.text, piece.1 + number.at - piece.0)
        })
    }
}

/// A number that is no part of a word: `1,024`, `0.5`, `-7` without its sign.
struct Number<'a> {
    text: &'a str,
    at: usize,
    before: &'a str,
    after: &'a str,
}

/// What stands before a number that counts nothing measured.
const NAMES: [&str; 9] = ["model", "section", "part", "table", "figure", "figures", "equation", "family", "Linux"];

impl Number<'_> {
    fn is_figure(&self) -> bool {
        let digits = self.text.bytes().filter(u8::is_ascii_digit).count();
        let is_percent = self.after.trim_start().starts_with('%') && self.text != "95";
        let is_year =
            digits == 4 && self.text.len() == 4 && (self.text.starts_with("19") || self.text.starts_with("20"));
        let is_version = self.text.matches('.').count() > 1;
        let is_named =
            self.before.split_whitespace().last().is_some_and(|word| NAMES.contains(&word.trim_start_matches('(')));
        (self.text.contains('.') || is_percent || digits >= 3) && !is_year && !is_version && !is_named
    }
}

fn numbers(text: &str) -> impl Iterator<Item = Number<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text[from..].find(|c: char| c.is_ascii_digit())?;
            let is_inside = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
            let length = text[at..].find(|c: char| !is_inside(c)).unwrap_or(text.len() - at);
            from = at + length;
            let number = text[at..from].trim_end_matches([',', '.']);
            let (before, after) = (&text[..at], &text[at + number.len()..]);
            let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '§' | '^' | '/' | '#');
            let mut last = before.chars().rev();
            let joins = match last.next() {
                Some('-') => last.next().is_some_and(is_letter),
                Some(c) => is_letter(c),
                None => false,
            };
            let mut next = after.chars();
            let goes_on = match next.next() {
                Some('-') => next.next().is_some_and(is_letter),
                Some(c) => c.is_alphabetic() || c == '_' || c == '/',
                None => false,
            };
            if !joins && !goes_on {
                return Some(Number { text: number, at, before, after });
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a page with findings; beside it stand another page of results, with 7.5, and a scenario.
    fn lines(text: &str) -> Vec<usize> {
        let files = [
            ("docs/results/page.md", text),
            ("docs/results/papers/other.md", "| a |\n|---|\n| 7.5 |\n"),
            ("scenarios/a.toml", ""),
        ];
        check(&Repo::of(&files)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn figures_that_tables_and_blocks_have() {
        let held = "It takes 1,024 us, 0.5 of 12 %, and -7.25.\n\n| a | b |\n|---|---|\n| 1,024 us | **0.5** (12 %) |\n\n```text\n-7.25\n```\n";
        assert_eq!(lines(held), [0_usize; 0]);
        let blocks = "- It takes 117 us\n- and 118.\n\nThen:\n\n    run 117 118\n";
        assert_eq!(lines(blocks), [0_usize; 0]);
    }

    #[test]
    fn figures_that_nothing_has_are_named_with_their_lines() {
        assert_eq!(lines("# 123.4\n\nIt takes\n1,024 us.\n\n- 0.5\n- *12 %*\n- 117\n"), [4, 6, 7, 8]);
        assert_eq!(lines("It takes 1,025 us.\n\n| a |\n|---|\n| 1,024 |\n"), [1]);
        assert_eq!(
            lines("In `0.75 %` it takes [0.5](#here).\n\n# Here\n"),
            [1],
            "code is no figure, a link within the page no source"
        );
    }

    #[test]
    fn sources_hold_for_their_passage_alone() {
        let command = "By `flashlane run a.toml` 0.5.\n\nBy itself 0.6.\n\n- `cargo test x`: 0.7\n- 0.8\n";
        assert_eq!(lines(command), [3, 6]);
        let linked = "[a](../../scenarios/a.toml): 0.5.\n\n[other](papers/other.md#x): 7.5 and 7.6.\n";
        assert_eq!(lines(linked), [3], "a page has to have the figure");
        assert_eq!(
            lines("[Elsewhere](https://example.org/a.csv): 0.5.\n"),
            [1],
            "what cannot be seen here is no source"
        );
        assert_eq!(lines("By `device.x = 1` 0.5.\n"), [1], "a key is no command");
    }

    #[test]
    fn numbers_that_are_no_figures() {
        let none = "In 2017 E17 and fin2 took p99.9 of mix 100-14 (model 0.11, §5.5, figure 14.5), 12 us, 64-byte, 2^23, 27.1.0, 95 % sure.\n";
        assert_eq!(lines(none), [0_usize; 0]);
        let files = [("docs/page.md", "It takes 1,024 us.\n")];
        assert_eq!(check(&Repo::of(&files)), [], "other pages are free");
    }
}
