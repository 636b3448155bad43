//! Rule on versions: every file that names a version of Rust names the same one. `stable` names none.

use super::Finding;
use super::repo::Repo;

const PINNED: &str = "rust-toolchain.toml";

/// Rule: the toolchain that rustup takes is the version that the crates ask for.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let Some(pinned) = value(repo, PINNED, "channel") else { return Vec::new() };
    let mut findings = Vec::new();
    for manifest in ["Cargo.toml", "faces/python/Cargo.toml"] {
        let Some(asked) = value(repo, manifest, "rust-version") else { continue };
        if pinned != "stable" && pinned != asked && !pinned.starts_with(&format!("{asked}.")) {
            let message = format!("the channel is {pinned}, yet {manifest} asks for {asked}");
            findings.push(Finding::error(PINNED, 1, message));
        }
    }
    findings
}

/// The value of the first line `key = "value"`.
fn value<'a>(repo: &'a Repo, path: &str, key: &str) -> Option<&'a str> {
    let text = repo.file(path)?.text.as_deref()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
    line.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_differ_are_named() {
        let found = |channel: &str| {
            let pinned = format!("[toolchain]\nchannel = \"{channel}\"\n");
            let manifest = "[workspace.package]\nrust-version = \"1.95\"\n";
            check(&Repo::of(&[(PINNED, &pinned), ("Cargo.toml", manifest), ("faces/python/Cargo.toml", manifest)]))
                .len()
        };
        assert_eq!((found("1.95.0"), found("1.95"), found("1.9.5"), found("stable")), (0, 0, 2, 0));
        assert_eq!(check(&Repo::of(&[("Cargo.toml", "")])), []);
    }
}
