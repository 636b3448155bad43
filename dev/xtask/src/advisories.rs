//! Whether a version in `Cargo.lock` is known to be vulnerable: what `tools/advisories.sh` says.

use std::path::Path;
use std::process::{Command, Stdio};

/// What the check came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    /// What it says at the end, with a line break.
    pub printed: String,
    /// Whether no version is known to be vulnerable, as far as could be checked.
    pub sound: bool,
}

/// Makes the check. Where it cannot be made, the message says so and it is no failure.
pub fn check(root: &Path) -> Checked {
    checked(Command::new(root.join("tools/advisories.sh")).current_dir(root).stdin(Stdio::null()))
}

fn checked(script: &mut Command) -> Checked {
    match script.stderr(Stdio::inherit()).output() {
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            Checked { printed, sound: output.status.success() }
        }
        Err(error) => {
            let printed =
                format!("advisories: Cargo.lock was NOT checked: tools/advisories.sh cannot be run: {error}\n");
            Checked { printed, sound: true }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    /// A repository with the script, and programs in the places of git and cargo that do what `git` and `cargo` say.
    struct Desk(PathBuf);

    impl Desk {
        fn new(name: &str, git: &str, cargo: &str, last: &str) -> Desk {
            let top = std::env::temp_dir().join(format!("flashlane-advisories-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&top);
            fs::create_dir_all(top.join("tools")).unwrap();
            fs::create_dir_all(top.join("bin")).unwrap();
            fs::copy(crate::root().join("tools/advisories.sh"), top.join("tools/advisories.sh")).unwrap();
            fs::write(top.join("tools/advisories.last"), format!("# what it is\n{last}")).unwrap();
            fs::create_dir_all(top.join("faces/python")).unwrap();
            fs::write(top.join("Cargo.lock"), "[[package]]\n").unwrap();
            fs::write(top.join("faces/python/Cargo.lock"), "[[package]]\n").unwrap();
            for (name, does) in [("git", git), ("cargo", cargo)] {
                let file = top.join("bin").join(name);
                fs::write(&file, format!("#!/bin/sh\n{does}\n")).unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            }
            Desk(top)
        }

        fn check(&self, args: &[&str]) -> Checked {
            let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap());
            // By way of `sh`: a program that another thread starts may have the script open for writing, and then it cannot be executed.
            checked(Command::new("sh").arg(self.0.join("tools/advisories.sh")).args(args).env("PATH", path))
        }

        fn last(&self) -> String {
            fs::read_to_string(self.0.join("tools/advisories.last")).unwrap()
        }
    }

    impl Drop for Desk {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn without_the_database_the_last_check_is_named_and_nothing_fails() {
        let never = Desk::new("never", "exit 128", "exit 0", "").check(&[]);
        assert!(
            never.sound
                && never.printed.contains(" was NOT checked ")
                && never.printed.ends_with("; no check has been made yet\n"),
            "{never:?}"
        );
        let same = Desk::new("same", "exit 128", "exit 0", "");
        let sum = Command::new("sh")
            .args(["-c", "cat Cargo.lock faces/python/Cargo.lock | cksum"])
            .current_dir(&same.0)
            .output()
            .unwrap()
            .stdout;
        let sum = String::from_utf8(sum).unwrap().split(' ').next().unwrap().to_owned();
        fs::write(same.0.join("tools/advisories.last"), format!("# what it is\n2026-11-01 {sum} 2\n")).unwrap();
        let printed = same.check(&[]).printed;
        assert!(
            printed.ends_with("; the last check was made on 2026-11-01 (2 crates, no known vulnerability)\n"),
            "{printed}"
        );
        fs::write(same.0.join("faces/python/Cargo.lock"), "").unwrap();
        let printed = same.check(&[]).printed;
        assert!(
            printed.ends_with("no known vulnerability); Cargo.lock has changed since\n")
                && printed.lines().count() == 1,
            "{printed}"
        );
    }

    #[test]
    fn a_check_that_found_nothing_is_recorded_when_that_is_asked_for() {
        let desk = Desk::new("made", "exit 0", "exit 0", "");
        assert_eq!(
            desk.check(&[]),
            Checked { printed: "advisories: Cargo.lock was checked: no known vulnerability\n".into(), sound: true }
        );
        assert_eq!(desk.last(), "# what it is\n");
        assert!(desk.check(&["--record"]).sound);
        let last = desk.last();
        assert!(last.starts_with("# what it is\n2") && last.ends_with(" 2\n") && last.lines().count() == 2, "{last}");
    }

    #[test]
    fn a_known_vulnerability_fails_and_a_check_without_an_end_does_not() {
        let vulnerable = Desk::new("vulnerable", "exit 0", "[ \"$2\" = --version ] || exit 1", "").check(&["--record"]);
        assert!(!vulnerable.sound && vulnerable.printed.contains("a known vulnerability"), "{vulnerable:?}");
        let endless = Desk::new("endless", "exit 0", "[ \"$2\" = --version ] || exit 101", "").check(&[]);
        assert!(
            endless.sound && endless.printed.contains("(exit code 101); no check has been made yet"),
            "{endless:?}"
        );
    }
}
