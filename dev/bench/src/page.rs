//! The measured parts of a documentation page, each between two marks. A part is replaced as a whole: text is written by people,
//! and figures only by the program that measured them.

use std::fs;
use std::path::Path;

/// First line of the part of the engine's figures.
pub const BEGIN: &str = "<!-- measured: begin (written by make bench) -->";
/// Its last line.
pub const END: &str = "<!-- measured: end -->";
/// First line of the part of the figures of whole processes.
pub const BEGIN_WHOLE: &str = "<!-- whole processes: begin (written by make bench) -->";
/// Its last line.
pub const END_WHOLE: &str = "<!-- whole processes: end -->";
/// First line of the part of the figures of whole processes of a build with checks.
pub const BEGIN_CHECKED_BUILD: &str = "<!-- build with checks: begin (written by flashlane-bench whole --write) -->";
/// Its last line.
pub const END_CHECKED_BUILD: &str = "<!-- build with checks: end -->";

/// First line of the part of what watching costs.
pub const BEGIN_WATCHING: &str = "<!-- watching: begin (written by flashlane-bench watching) -->";
/// Its last line.
pub const END_WATCHING: &str = "<!-- watching: end -->";

/// First line of the part of the scaling runs.
pub const BEGIN_SCALING: &str = "<!-- scaling: begin (written by flashlane-bench scaling) -->";
/// Its last line.
pub const END_SCALING: &str = "<!-- scaling: end -->";

/// First line of the part of what recommendations come to.
pub const BEGIN_RECOMMENDING: &str = "<!-- recommending: begin (written by flashlane-bench recommending) -->";
/// Its last line.
pub const END_RECOMMENDING: &str = "<!-- recommending: end -->";

/// Puts `figures` between `marks` on the page at `path`.
pub fn update(path: &Path, marks: (&str, &str), figures: &str) -> Result<(), String> {
    let place = path.display();
    let page = fs::read_to_string(path).map_err(|e| format!("{place}: {e}"))?;
    let page = replaced(&page, marks, figures).map_err(|e| format!("{place}: {e}"))?;
    // Written to another file and renamed, so that a full disk leaves the old page intact.
    let beside = path.with_extension("md.new");
    fs::write(&beside, page).and_then(|()| fs::rename(&beside, path)).map_err(|e| {
        // The old page is intact; an incomplete new file is of no use.
        let _ = fs::remove_file(&beside);
        format!("{place}: {e}")
    })
}

fn replaced(page: &str, (begin, end): (&str, &str), figures: &str) -> Result<String, String> {
    let (before, rest) = page.split_once(begin).ok_or_else(|| format!("no line {begin:?}"))?;
    let (_, after) = rest.split_once(end).ok_or_else(|| format!("no line {end:?} after the begin mark"))?;
    Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", figures.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: (&str, &str) = (BEGIN, END);

    #[test]
    fn prose_stays_and_figures_change() {
        let page = format!("# Title\n\n{BEGIN}\nold\n{END}\n\nProse.\n");
        let once = replaced(&page, MARKS, "new\n").unwrap();
        assert_eq!(once, format!("# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nProse.\n"));
        assert_eq!(replaced(&once, MARKS, "new\n"), Ok(once.clone()), "writing twice changes nothing");
    }

    #[test]
    fn a_page_without_marks_is_left_alone() {
        assert!(replaced("# Title\n", MARKS, "x").unwrap_err().contains("begin"));
        assert!(replaced(&format!("{END}\n{BEGIN}\n"), MARKS, "x").unwrap_err().contains("measured: end"));
    }
}
