//! Files of the repository that tests compare with the code's output: golden figures, generated documentation.
//!
//! Only `cargo xtask bless` writes them anew. It creates a permit, a file that says what may be written, names it in
//! the environment of the tests it starts, and deletes it afterwards: so a variable that a shell happens to have
//! permits nothing.

use std::path::{Path, PathBuf};

/// The top of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Whether files of this kind (`golden`, `docs`, `report`) are to be written.
pub fn permitted(kind: &str) -> bool {
    std::env::var_os("FLASHLANE_BLESS").map(PathBuf::from).is_some_and(|permit| permits(&permit, kind))
}

/// Whether the file `permit` permits writing files of this kind: it must have the name that `xtask` gives it, and list
/// the kind.
pub fn permits(permit: &Path, kind: &str) -> bool {
    let name = permit.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("bless-") && std::fs::read_to_string(permit).is_ok_and(|text| text.trim() == kind)
}

/// Checks that `file` (a path from the root of the repository) contains `now`; writes it instead if that is permitted.
#[track_caller]
pub fn same(kind: &str, file: &str, now: &str) {
    let path = Path::new(ROOT).join(file);
    if permitted(kind) {
        let folder = path.parent().expect("a file lies in a folder");
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, now));
        written.unwrap_or_else(|why| panic!("{file}: {why}"));
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let line = kept.lines().zip(now.lines()).take_while(|(kept, now)| kept == now).count();
    assert!(
        kept == now,
        "{file} is not what the code says, from line {} on; if the code is right, `cargo xtask bless {kind}` writes it \
         anew, and the commit says why.\n\nnow:\n{}\nkept:\n{}",
        line + 1,
        from(now, line),
        from(&kept, line)
    );
}

/// The lines from `first` on, cut if the text is long.
fn from(text: &str, first: usize) -> String {
    text.lines().skip(first.saturating_sub(2)).take(60).collect::<Vec<_>>().join("\n")
}
