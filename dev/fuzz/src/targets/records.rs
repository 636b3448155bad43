//! Records of served drives: whatever such a file contains, it is refused with its name, or it is a scenario; with a head that was written
//! by a server it can be run, whatever the lines below it say.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use flashlane_scenario::Scenario;
use flashlane_sim::{ObserverOptions, run_observed};
use tempfile::TempDir;

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "records",
    about: "a record of a served drive: refused by name, or run with its changes to the end",
    seeds: || vec![KEPT.with_borrow_mut(|kept| kept.get_or_insert_with(Kept::new).file.clone())],
    words: &[
        "#! ",
        "scheduler \"flin\"",
        "priority 1 1",
        "# flow,ns,",
        ",read,0\n",
        ",write,1\n",
        ",flush,0\n",
        "\"base\":",
        "#| ",
    ],
    feed: |input| KEPT.with_borrow_mut(|kept| kept.get_or_insert_with(Kept::new).feed(input)),
};

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// A small record, and where such files are read.
struct Kept {
    file: Vec<u8>,
    /// Bytes of its head.
    head: usize,
    path: PathBuf,
    _folder: TempDir,
}

impl Kept {
    fn new() -> Kept {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 1\nchips_per_channel = 1\n\
                    dies_per_chip = 1\nplanes_per_die = 2\npages_per_block = 8\nblocks_per_plane = 16\n[device.ftl]\n\
                    over_provisioning_percent = 40.0\n[[flow]]\nsynthetic = { requests = 1, rate_iops = 1 }\n\
                    [[flow]]\nsynthetic = { requests = 1, rate_iops = 1 }\n";
        let scenario = Scenario::parse("test", text.into()).expect("a scenario");
        let head = flashlane_sim::drive(&scenario, Vec::new(), None).expect("a drive").record_head;
        let rows = "0,5,0,4096,read,0\n1,900,8192,16384,write,1\n#! 1000 priority 1 0\n#! 2000 scheduler \"flin\"\n0,3000,0,8192,write,0\n\
                    0,3000,0,0,flush,0\n#! 4000 scheduler {\"base\":\"slacker\",\"preempt\":\"never\"}\n1,5000,0,512,read,0\n";
        let file = [head.as_bytes(), rows.as_bytes()].concat();
        Kept { file, head: head.len(), path: folder.path().join("drive.record"), _folder: folder }
    }

    fn feed(&self, input: &[u8]) -> String {
        std::fs::write(&self.path, input).expect("written");
        let message = match read(&self.path) {
            Err(message) => message,
            Ok(scenario) if input.starts_with(&self.file[..self.head]) => {
                match run_observed(&scenario, ObserverOptions { audit: true, ..ObserverOptions::default() }) {
                    Ok(outcome) => {
                        assert!(outcome.verdict.is_some_and(|verdict| verdict.is_clean()));
                        return "run".into();
                    }
                    Err(error) => error.to_string(),
                }
            }
            Ok(_) => return "a scenario".into(),
        };
        message.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(60).collect()
    }
}

fn read(path: &Path) -> Result<Scenario, String> {
    let scenario = Scenario::load(path).map_err(|error| error.to_string())?;
    scenario.check().map_err(|error| error.to_string())?;
    Ok(scenario)
}
