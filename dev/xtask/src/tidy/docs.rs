//! Rules on prose: module docs, links, the change log.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::Finding;
use super::repo::{File, Repo};

/// Rule: every Rust file says what it is.
pub fn modules(repo: &Repo) -> Vec<Finding> {
    let bare = repo.rust().filter(|(_, rust)| !rust.tree.attrs.iter().any(|attr| attr.path().is_ident("doc")));
    let message = "no module doc: begin with `//!` and say what it owns, what it promises, what it must never know";
    bare.map(|(file, _)| Finding::error(&file.path, 1, message.into())).collect()
}

/// Rule: the change log has a place for what is not released yet.
pub fn changelog(repo: &Repo) -> Vec<Finding> {
    let complaint = |message: &str| vec![Finding::error("CHANGELOG.md", 1, message.into())];
    match repo.file("CHANGELOG.md") {
        None => complaint("there is no change log"),
        Some(file) if file.lines().any(|(_, line)| line.trim_end() == "## [Unreleased]") => Vec::new(),
        Some(_) => complaint("no section `## [Unreleased]`"),
    }
}

/// What a page is measured in.
#[derive(Clone, Copy)]
enum Measure {
    Words,
    /// Lines of its longest section `## [...]`: those of a version.
    LinesOfAVersion,
}

/// Pages that are read from end to end, and how long they may be.
const LENGTHS: [(&str, Measure, usize); 3] = [
    ("README.md", Measure::Words, 1_000),
    ("CHANGELOG.md", Measure::LinesOfAVersion, 60),
    ("docs/results/performance.md", Measure::Words, 2_500),
];

/// Rule: pages that are read from end to end are short.
pub fn lengths(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, measure, most) in LENGTHS {
        let Some(text) = repo.file(path).and_then(|file| file.text.as_deref()) else { continue };
        let (count, unit) = match measure {
            Measure::Words => (text.split_whitespace().count(), "words"),
            Measure::LinesOfAVersion => {
                let versions = text.split("\n## [").skip(1).map(|version| version.trim_end().lines().count());
                (versions.max().unwrap_or(0), "lines of a version")
            }
        };
        if count > most {
            let message =
                format!("{count} {unit}; at most {most}: what is looked up goes to a page of its own in docs/");
            findings.push(Finding::error(path, 1, message));
        }
    }
    findings
}

/// Rule: links inside the repository lead somewhere.
pub fn links(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| file.path.ends_with(".md")) {
        let text = file.text.as_deref().unwrap_or_default();
        for (event, range) in Parser::new(text).into_offset_iter() {
            let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) = event else {
                continue;
            };
            if let Some(fault) = fault(repo, file, &dest_url) {
                let line = text[..range.start].matches('\n').count() + 1;
                findings.push(Finding::error(&file.path, line, fault));
            }
        }
    }
    findings
}

/// What is wrong with a link, if it leads into the repository and does not arrive.
fn fault(repo: &Repo, file: &File, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let Some(target) = (if path.is_empty() { Some(file.path.clone()) } else { join(&file.path, path) }) else {
        return Some(format!("link `{link}` leads out of the repository"));
    };
    if !repo.has(&target) {
        return Some(format!("link `{link}` leads to `{target}`, which does not exist"));
    }
    let heading = heading.filter(|_| target.ends_with(".md"))?;
    let text = repo.file(&target)?.text.as_deref()?;
    let known = anchors(text);
    let missing = !known.iter().any(|anchor| anchor == heading);
    missing.then(|| format!("link `{link}`: `{target}` has no heading `#{heading}`; it has {}", known.join(", ")))
}

/// `link` as seen from the file at `from`; `None` when it climbs out.
pub(super) fn join(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if link.starts_with('/') {
        parts.clear();
    }
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The anchors of a page's headings, as forges make them: lower case, no punctuation, `-` for spaces, `-1` for a second.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let text = heading.take().unwrap_or_default().to_lowercase();
                let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
                let count = seen.entry(anchor.clone()).or_default();
                found.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
                *count += 1;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_module_doc_is_named() {
        let files = [("a.rs", "//! Doc.\n"), ("b.rs", "// not a doc\nfn f() {}\n"), ("c.rs", "/// Of f.\nfn f() {}\n")];
        let found = modules(&Repo::of(&files));
        assert_eq!(found.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["b.rs", "c.rs"]);
    }

    #[test]
    fn the_change_log_needs_its_section() {
        assert_eq!(changelog(&Repo::of(&[])).len(), 1);
        assert_eq!(changelog(&Repo::of(&[("CHANGELOG.md", "# Changes\n\n## [0.1.0]\n")])).len(), 1);
        assert_eq!(changelog(&Repo::of(&[("CHANGELOG.md", "# Changes\n\n## [Unreleased]\n")])), []);
    }

    #[test]
    fn a_page_at_and_past_its_length() {
        let of = |path: &str, text: &str| lengths(&Repo::of(&[(path, text)])).len();
        assert_eq!((of("README.md", &"a word\n".repeat(500)), of("README.md", &"word ".repeat(1_001))), (0, 1));
        let versions =
            |lines: usize| format!("# Changes\n{}", format!("\n## [x]\n{}", "line\n".repeat(lines)).repeat(2));
        assert_eq!(
            (of("CHANGELOG.md", &versions(59)), of("CHANGELOG.md", &versions(60))),
            (0, 1),
            "the heading is a line"
        );
        assert_eq!(
            (
                of("docs/results/performance.md", &"a\n".repeat(2_500)),
                of("docs/results/performance.md", &"a\n".repeat(2_501))
            ),
            (0, 1)
        );
        assert_eq!(of("docs/page.md", &"word ".repeat(1_001)), 0, "other pages may be long");
    }

    fn links_of(text: &str) -> Vec<usize> {
        let other = ("docs/other.md", "# One & two\n\n## `code` here\n\n## One & two\n");
        let files = [("docs/page.md", text), other, ("README.md", ""), ("src/a.rs", "")];
        links(&Repo::of(&files)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn links_that_arrive() {
        let good = "[a](other.md) [b](../README.md) [c](../src/) [d](https://example.org/x#y) [e](/src/a.rs)\n\
                    [f](other.md#one--two) [g](other.md#code-here) [h](other.md#one--two-1) [i](#here)\n\n# Here\n\n\
                    `[not](a-link.md)`\n\n```\n[nor](this.md)\n```\n\n![p](../README.md) [ref]\n\n[ref]: other.md\n";
        assert_eq!(links_of(good), [0usize; 0]);
    }

    #[test]
    fn links_that_do_not() {
        let bad = "[a](missing.md)\n\n[b](../../README.md)\n[c](other.md#none)\n[d](#none)\n\n[ref]\n![p](p.png)\n\n[ref]: gone.md\n";
        assert_eq!(links_of(bad), [1, 3, 4, 5, 7, 8]);
    }
}
