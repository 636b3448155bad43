//! Files of drives' states (`--state`): whatever such a file contains, it is refused with its name, or it is the one that was written.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use flashlane_scenario::Scenario;
use flashlane_sim::{ObserverOptions, run_observed};
use tempfile::TempDir;

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "state-files",
    about: "a file given as --state: taken only if it is what was written, else refused by name",
    seeds: || vec![KEPT.with_borrow_mut(|kept| kept.get_or_insert_with(Kept::new).file.clone())],
    words: &["FLSTATE2", "made by: ", "\0\0\0\0", "\u{1}\0\0\0\0\0\0\0"],
    feed: |input| KEPT.with_borrow_mut(|kept| kept.get_or_insert_with(Kept::new).feed(input)),
};

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// A file of the state of a small drive, and where such files are read.
struct Kept {
    file: Vec<u8>,
    path: PathBuf,
    _folder: TempDir,
}

impl Kept {
    fn new() -> Kept {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive.state");
        run(&path).expect("a small run");
        Kept { file: std::fs::read(&path).expect("the state"), path, _folder: folder }
    }

    fn feed(&self, input: &[u8]) -> String {
        std::fs::write(&self.path, input).expect("written");
        match run(&self.path) {
            Ok(()) => {
                assert!(input == self.file, "a file that nobody wrote is taken");
                "taken".into()
            }
            Err(message) => {
                assert!(message.starts_with("--state "), "{message}");
                message.split_once(": ").map_or(message.as_str(), |(_, why)| why).to_owned()
            }
        }
    }
}

/// A run with one request on a drive whose initial state is read from `path`, or written there.
fn run(path: &Path) -> Result<(), String> {
    let text = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 1\nchips_per_channel = 1\n\
                dies_per_chip = 1\nplanes_per_die = 2\npages_per_block = 8\nblocks_per_plane = 16\n[device.ftl]\n\
                over_provisioning_percent = 40.0\n[device.precondition]\nstate = \"replayed\"\n[[flow]]\n[[flow.request]]\nat_ns = 0\n\
                op = \"read\"\npages = [0]\n";
    let mut scenario = Scenario::parse("test", text.into()).map_err(|error| error.to_string())?;
    scenario.keep_state(path);
    run_observed(&scenario, ObserverOptions::default()).map(|_| ()).map_err(|error| error.to_string())
}
