//! What a page has a reader do: files to write, commands to type, and what these print.

use std::ops::Range;

/// One block of a page.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A block below a line `<!-- file: PATH -->`: what the file contains.
    File { path: String, text: String },
    /// A block of commands (`sh`).
    Commands(String),
    /// A block `text` right below commands: what they print, and where on the page it stands.
    Output { text: String, at: Range<usize> },
}

/// The blocks of a page, in order; blocks that are none of these are left out.
pub fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    // The last line that was not empty, and the place of the line.
    let (mut before, mut place) = ("", 0);
    let mut open: Option<(&str, usize)> = None;
    for line in page.split_inclusive('\n') {
        let here = line.trim_end();
        match (open, here.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language, place + line.len())),
            (Some((language, from)), Some("")) => {
                let text = page[from..place].to_owned();
                let file = before.strip_prefix("<!-- file: ").and_then(|rest| rest.strip_suffix(" -->"));
                let is_output =
                    language == "text" && before == "```" && matches!(steps.last(), Some(Step::Commands(_)));
                match file {
                    Some(path) => steps.push(Step::File { path: path.to_owned(), text }),
                    None if language == "sh" => steps.push(Step::Commands(text)),
                    None if is_output => steps.push(Step::Output { text, at: from..place }),
                    None => {}
                }
                (open, before) = (None, "```");
            }
            (None, None) if !here.is_empty() => before = here,
            _ => {}
        }
        place += line.len();
    }
    steps
}

/// The page with other texts in the places of its outputs.
pub fn with_outputs(page: &str, outputs: &[(Range<usize>, String)]) -> String {
    let mut page = page.to_owned();
    for (at, text) in outputs.iter().rev() {
        page.replace_range(at.clone(), text);
    }
    page
}

/// A shell script's lines without comments, continued lines joined.
pub fn lines(commands: &str) -> Vec<String> {
    let joined = commands.replace("\\\n", " ");
    let line = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
    joined.lines().map(line).filter(|line| !line.is_empty()).collect()
}

#[test]
fn blocks_are_found() {
    let page = "# T\n\n```sh\na b   # c\nd \\\n e\n```\n\n```text\nout\n```\n\n<!-- file: x.toml -->\n```toml\nk = 1\n```\n\n```text\nnone\n```\n";
    let found = steps(page);
    let file = Step::File { path: "x.toml".into(), text: "k = 1\n".into() };
    let at = page.find("out\n").expect("there");
    let output = Step::Output { text: "out\n".into(), at: at..at + 4 };
    assert_eq!(found, [Step::Commands("a b   # c\nd \\\n e\n".into()), output, file]);
    assert_eq!(lines("a b   # c\nd \\\n e\n# all\n"), ["a b", "d   e", "# all"]);
    assert!(with_outputs(page, &[(at..at + 4, "new\n".into())]).contains("```text\nnew\n```"));
}
