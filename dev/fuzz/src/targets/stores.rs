//! Stores of runs: whatever one of their files contains, the store is refused, the run is found damaged, or its results are those that were
//! written.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use flashlane_outputs::{Claim, State, Store};
use flashlane_sim::maker;
use flashlane_sim::{Options, compare};
use flashlane_sweep::{Plan, SUMMARY, Sweep};
use tempfile::TempDir;

use crate::Target;

/// The target of this module. The first byte chooses the file; the rest is what it contains.
pub const TARGET: Target = Target {
    name: "stores",
    about: "files of a store of runs: a damaged run is found, whole ones have their results",
    seeds: || KEPT.with_borrow_mut(|kept| kept.get_or_insert_with(Kept::new).seeds()),
    words: &[
        "\"bytes\":",
        "\"blake3\":",
        "/dev/zero",
        "../",
        "summary.json",
        "[[[[",
        "{\"a\":",
        "null",
        "1e999",
        "\"layout\": 2",
        "schedulers",
    ],
    feed: |input| KEPT.with_borrow_mut(|kept| kept.get_or_insert_with(Kept::new).feed(input)),
};

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Files of a store that are damaged, below its folder; NAME is the run. The first two are those of a store with packs, the next three of one
/// with folders. The last is put in by a program that writes wrong results, so that the record's hash agrees with it.
const FILES: [&str; 8] = [
    "store.json",
    "packs/one.pack",
    "runs/NAME/whole.json",
    "runs/NAME/summary.json",
    "runs/NAME/made-by.json",
    "claims/NAME",
    "unfinished/other/lock",
    "by the program",
];

/// A store of one run.
struct Kept {
    folder: TempDir,
    sweep: Sweep,
    plan: Plan,
    /// Its files, below the store's folder, in the order of [`FILES`].
    files: [(String, Vec<u8>); 5],
    table: Vec<u8>,
}

impl Kept {
    fn new() -> Kept {
        let text = "name = \"one\"\ndevice = \"unit-cycle\"\nscheduler = \"fcfs\"\n[[flow]]\nname = \"a\"\n[[flow.request]]\nat_ns = 0\n\
                    op = \"read\"\npages = [0, 1]\n[sweep]\nseeds = [1]\n";
        let sweep = Sweep::of_file(Path::new("sweep.toml"), text.into()).expect("a sweep");
        let plan = sweep.plan().expect("a plan");
        let scenario = sweep.scenario(&plan.runs[0].at).expect("a scenario");
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        let summary = compare(&scenario, &options).expect("a run").summary.to_json().into_bytes();
        let folder = tempfile::tempdir().expect("a folder");
        let files = [0, 1, 2, 3, 4].map(|at| (FILES[at].replace("NAME", &plan.runs[0].name), Vec::new()));
        let mut kept = Kept { folder, sweep, plan, files, table: Vec::new() };
        kept.put(&summary, true);
        for at in [0, 2, 3, 4] {
            kept.files[at].1 = std::fs::read(kept.path(&kept.files[at].0)).expect("a file of the store");
        }
        kept.remove_results();
        kept.put(&summary, false);
        let packs = std::fs::read_dir(kept.path("packs")).expect("packs");
        let pack = packs.map(|entry| entry.expect("an entry").path()).next().expect("a pack");
        kept.files[1].1 = std::fs::read(pack).expect("a pack");
        kept.table = kept.table_of(&kept.open().expect("a store")).expect("a table");
        kept
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join("store").join(file)
    }

    fn open(&self) -> Result<Store, String> {
        Store::open(&self.folder.path().join("store"), &maker()).map_err(|error| error.message)
    }

    fn name(&self) -> &str {
        &self.plan.runs[0].name
    }

    /// Makes the run, with this summary, as a folder or as a record.
    fn put(&self, summary: &[u8], is_folder: bool) {
        let store = self.open().expect("a store");
        let Claim::Ours(entry) = store.claim(self.name(), false).expect("a claim") else {
            panic!("nobody else has the run");
        };
        match is_folder {
            true => entry.begin(SUMMARY).and_then(|file| file.write_whole(summary)).expect("written"),
            false => entry.write(SUMMARY, summary),
        }
        entry.write("made-by.json", b"{}");
        entry.commit().expect("there");
    }

    /// Leaves a store without results.
    fn remove_results(&self) {
        for folder in ["packs", "runs"] {
            std::fs::remove_dir_all(self.path(folder)).expect("removed");
            std::fs::create_dir(self.path(folder)).expect("made");
        }
    }

    fn table_of(&self, store: &Store) -> Result<Vec<u8>, String> {
        let table = self.plan.table(&self.sweep, store).map_err(|error| error.to_string())?;
        let mut text = Vec::new();
        table.write_csv(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let content = |at: usize| match at {
            0..5 => self.files[at].1.clone(),
            7 => self.files[3].1.clone(),
            _ => Vec::new(),
        };
        (0..FILES.len()).map(|at| [vec![at as u8], content(at)].concat()).collect()
    }

    fn feed(&self, input: &[u8]) -> String {
        let (first, content) = input.split_first().unwrap_or((&0, &[]));
        let at = usize::from(*first) % FILES.len();
        let (file, by_program) = (FILES[at], at == 7);
        self.remove_results();
        std::fs::write(self.path(&self.files[0].0), &self.files[0].1).expect("written");
        if by_program {
            self.put(content, false);
        } else {
            for (file, content) in if (2..5).contains(&at) { &self.files[2..] } else { &self.files[1..2] } {
                std::fs::create_dir_all(self.path(file).parent().expect("inside the store")).expect("made");
                std::fs::write(self.path(file), content).expect("written");
            }
            let path = self.path(&file.replace("NAME", self.name()));
            std::fs::create_dir_all(path.parent().expect("inside the store")).expect("made");
            std::fs::write(path, content).expect("written");
        }
        let store = match self.open() {
            Ok(store) => store,
            Err(printed) => return format!("refused {printed}"),
        };
        let state = store.results().state(self.name());
        let claim = store.claim(self.name(), false).expect("nothing is wrong with the disk");
        assert_eq!(matches!(claim, Claim::There), state == State::Whole, "{claim:?}");
        drop(claim);
        match self.table_of(&store) {
            Ok(table) => {
                assert!(by_program || table == self.table, "other results, unnoticed");
                format!("{file} {state:?}")
            }
            Err(printed) => format!("{file} {state:?} {printed}"),
        }
    }
}
