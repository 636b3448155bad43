//! tools/setup.sh where npm or apt-get is absent, wrong or refused: it says so and goes on, or fails with CI=true, and asks nobody else.
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the script needs of the system besides npm and apt-get.
const TOOLS: [&str; 12] =
    ["sh", "sed", "id", "mktemp", "mkdir", "mv", "rm", "tail", "tar", "sha512sum", "env", "dirname"];

/// A folder with nothing but the tools, and with programs of ours beside them.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("setup-{name}-{}", std::process::id()));
        std::fs::create_dir_all(place.join("bin")).expect("a folder");
        let path = std::env::var_os("PATH").expect("a PATH");
        for tool in TOOLS {
            let found = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file());
            symlink(found.unwrap_or_else(|| panic!("no {tool}")), place.join("bin").join(tool)).expect("a link");
        }
        let place = Place(place);
        // Whoever asks a registry past its client is noticed.
        for program in ["curl", "wget", "python3"] {
            place.program(program, "echo \"$0 $*\" >>\"$OUT/asked\"; exit 1");
        }
        place
    }

    /// A program of ours.
    fn program(&self, name: &str, does: &str) {
        let file = self.0.join("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{does}\n")).expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("made a program");
    }

    /// Asks for axe; returns whether that went well, and what was printed.
    fn axe(&self, ci: &str) -> (bool, String) {
        self.need("axe", ci)
    }

    fn need(&self, what: &str, ci: &str) -> (bool, String) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/setup.sh");
        let mut command = Command::new(self.0.join("bin/sh"));
        command.arg(script).arg(what).env("PATH", self.0.join("bin")).env("CI", ci);
        let made =
            command.env("OUT", &self.0).env("CARGO_TARGET_DIR", self.0.join("target")).output().expect("sh runs");
        (made.status.success(), String::from_utf8_lossy(&made.stderr).into_owned())
    }

    /// What a program of ours wrote.
    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.join(name)).ok()
    }

    /// Files in the folder for axe.
    fn left(&self) -> usize {
        std::fs::read_dir(self.0.join("target/axe")).map_or(0, Iterator::count)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is left is in the build's folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn without_npm_axe_is_skipped_loudly_or_fails_in_ci() {
    let place = Place::new("absent");
    let (well, message) = place.axe("");
    assert!(well && message.contains("npm is absent") && message.contains("will be SKIPPED"), "{message}");
    let (well, message) = place.axe("true");
    assert!(!well && message.contains("CI=true allows no gaps"), "{message}");
    // Where there is apt-get, it is asked for npm, as for other tools.
    place.program("apt-get", "echo \"$*\" >>\"$OUT/apt\"; exit 1");
    place.program("sudo", "shift; exec \"$@\"");
    assert!(place.axe("").0);
    assert!(place.read("apt").is_some_and(|asked| asked.contains("update")), "apt-get was not asked");
    assert_eq!((place.read("asked"), place.left()), (None, 0));
}

#[test]
fn a_package_that_npm_refuses_or_that_is_another_is_not_taken() {
    for (name, does) in [("refused", "exit 1"), ("another", "echo another >axe-core-4.14.1.tgz")] {
        let place = Place::new(name);
        place.program("npm", &format!("echo \"$*\" >>\"$OUT/npm\"; {does}"));
        let (well, message) = place.axe("");
        assert!(
            well && message.contains("axe-core 4.14.1 is absent") && message.contains("will be SKIPPED"),
            "{name}: {message}"
        );
        assert_eq!(place.read("npm").as_deref(), Some("pack --silent axe-core@4.14.1\n"), "{name}");
        assert!(!place.axe("true").0, "{name}");
        assert_eq!((place.read("asked"), place.left()), (None, 0), "{name}");
    }
}

/// Of the packages for a guest nothing is left if one is refused.
#[test]
fn a_guest_whose_packages_are_refused_is_skipped_loudly_or_fails_in_ci() {
    let place = Place::new("guest");
    for refused in [None, Some("apt-get"), Some("dpkg-deb")] {
        for (program, does) in [
            ("apt-get", "echo \"$*\" >>\"$OUT/apt\"; case $* in *' download '*) echo >k_1.deb ;; esac"),
            ("apt-cache", "echo '  Depends: linux-image-k'"),
            ("dpkg-deb", "exit 0"),
        ] {
            match refused {
                None => break,
                Some(refused) => place.program(program, if program == refused { "exit 1" } else { does }),
            }
        }
        let (well, message) = place.need("guest", "");
        assert!(well && message.contains("a guest (") && message.contains("will be SKIPPED"), "{refused:?}: {message}");
        assert!(!place.need("guest", "true").0, "{refused:?}");
        assert!(!place.0.join("target/guest").exists(), "{refused:?}");
    }
    assert!(place.read("apt").is_some_and(
        |asked| asked.contains("--download-only") && asked.contains("download linux-image-k busybox-static")
    ));
    assert_eq!(place.read("asked"), None);
}
