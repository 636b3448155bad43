//! Rules on the user's book and on ARCHITECTURE.md: how long they are, and whether the names that they give exist.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::Finding;
use super::repo::{File, Repo};

/// The pages of the user's book; those of tutorials too.
const BOOK: [&str; 13] = [
    "README.md",
    "docs/start-here.md",
    "docs/tutorials/",
    "docs/schedulers.md",
    "docs/workloads.md",
    "docs/traces.md",
    "docs/reading-results.md",
    "docs/outputs.md",
    "docs/sweeps.md",
    "docs/python.md",
    "docs/serve.md",
    "docs/recommend.md",
    "docs/devices.md",
];
/// The most words of the book, all that its pages show included.
const WORDS: usize = 17_000;
/// The most words of a sentence, code counted as one.
const SENTENCE: usize = 35;
/// The most words of a cell of a table.
const CELL: usize = 25;

/// Rule: the user's book is short, and so are its sentences.
pub fn lengths(repo: &Repo) -> Vec<Finding> {
    let is_page = |file: &&File| file.path.ends_with(".md") && BOOK.iter().any(|page| file.path.starts_with(page));
    let (mut findings, mut words) = (Vec::new(), 0);
    for file in repo.files.iter().filter(is_page) {
        let text = file.text.as_deref().unwrap_or_default();
        words += text.split_whitespace().count();
        for (line, what, most, part) in parts(text) {
            let count = part.split_whitespace().count();
            if count > most {
                let begin = part.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
                let message = format!("{count} words in a {what}, at most {most}: {begin} ...");
                findings.push(Finding::error(&file.path, line, message));
            }
        }
    }
    if words > WORDS {
        findings.push(Finding::error("README.md", 1, format!("{words} words in the user's book, at most {WORDS}")));
    }
    findings
}

/// The sentences and the cells of tables of a page: where its paragraph begins, which it is, how many words it may have, and its text.
fn parts(page: &str) -> Vec<(usize, &'static str, usize, String)> {
    let (mut found, mut open) = (Vec::new(), None::<String>);
    for (event, at) in Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter() {
        let line = 1 + page[..at.start].matches('\n').count();
        match (event, &mut open) {
            (Event::Start(Tag::Paragraph | Tag::Item | Tag::TableCell), _) => open = Some(String::new()),
            (Event::Start(Tag::CodeBlock(_)), _) => open = None,
            (Event::Text(text), Some(open)) => open.push_str(&text),
            (Event::Code(_), Some(open)) => open.push_str("CODE"),
            (Event::SoftBreak, Some(open)) => open.push(' '),
            (Event::End(TagEnd::TableCell), _) => {
                found.extend(open.take().map(|text| (line, "cell", CELL, text)));
            }
            (Event::End(TagEnd::Paragraph | TagEnd::Item), _) => {
                let text = open.take().unwrap_or_default().replace("? ", ". ");
                found.extend(text.split(". ").map(|text| (line, "sentence", SENTENCE, text.to_owned())));
            }
            _ => {}
        }
    }
    found
}

/// Rule: what ARCHITECTURE.md has between backquotes is a file, or a word of the code.
pub fn names(repo: &Repo) -> Vec<Finding> {
    const PAGE: &str = "ARCHITECTURE.md";
    let Some(text) = repo.file(PAGE).and_then(|file| file.text.as_deref()) else { return Vec::new() };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_there = |name: &str| {
        let is_word = |text: &str| {
            text.match_indices(name)
                .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
        };
        let path = format!("/{}", name.trim_end_matches('/'));
        let is_code = |file: &File| !file.path.ends_with(".md") && file.text.as_deref().is_some_and(is_word);
        repo.files.iter().any(|file| format!("/{}", file.path).contains(&path) || is_code(file))
    };
    let mut findings = Vec::new();
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Code(code) = event else { continue };
        // Of a call the name is looked for, of a path in the code its last part.
        let name = code.split(['(', ' ']).next().unwrap_or_default().rsplit("::").next().unwrap_or_default();
        if !name.is_empty() && !name.contains(['<', '*']) && !is_there(name) {
            let line = 1 + text[..at.start].matches('\n').count();
            let message = format!("`{code}`: no file has this name, and no code this word");
            findings.push(Finding::error(PAGE, line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_and_cells_are_named_and_code_is_one_word() {
        let of =
            |text: &str| lengths(&Repo::of(&[("docs/serve.md", text)])).into_iter().map(|f| f.line).collect::<Vec<_>>();
        let words = |count: usize| "word ".repeat(count);
        let page = format!("# T\n\n{}end. {}end.\n\n- {}end.\n", words(34), words(34), words(35));
        assert_eq!(of(&page), [5]);
        let table = |count: usize| format!("| a | b |\n|---|---|\n| x | {}|\n", words(count));
        assert_eq!((of(&table(25)), of(&table(26)).len()), (vec![], 1));
        assert_eq!(of(&format!("{}`a b c d e f` end.\n", words(33))), [0usize; 0]);
        assert_eq!(of(&format!("```text\n{}\n```\n", words(90))), [0usize; 0], "what is printed has no sentences");
    }

    #[test]
    fn the_book_has_a_length_and_other_pages_have_none() {
        let pages =
            |words: usize| [("README.md", "word. ".repeat(words)), ("docs/tutorials/a.md", "word. ".repeat(10_000))];
        let of = |words: usize| {
            lengths(&Repo::of(&pages(words).each_ref().map(|(path, text)| (*path, text.as_str())))).len()
        };
        assert_eq!((of(7_000), of(7_001)), (0, 1));
        assert!(lengths(&Repo::of(&[("docs/model.md", &"word ".repeat(20_000))])).is_empty());
    }

    #[test]
    fn names_that_are_nowhere_are_found() {
        let files = |page: &'static str| {
            [("ARCHITECTURE.md", page), ("a/src/b/c.rs", "fn d() {} struct Known;"), ("e/f.toml", "")]
        };
        let of = |page: &'static str| names(&Repo::of(&files(page))).into_iter().map(|f| f.line).collect::<Vec<_>>();
        assert_eq!(of("`c.rs` `b/c.rs` `a/src/b` `d` `Known` `d(now)` `Device::d` `a/<any>/c`\n"), [0usize; 0]);
        assert_eq!(of("`Know`\n`x.rs`\n\n`c/b.rs`\n"), [1, 2, 4]);
    }
}
