//! Packs: what was appended is found, whatever became of the bytes around it, and whoever else works on the store.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::pack::{self, Extent, Files, MAX_BYTES};
use super::packs::PACKS;
use super::{Claim, Results, State, Store};

fn record(name: &str, text: &str) -> Vec<u8> {
    let files: Files = vec![("summary.json".into(), text.into()), ("made-by.json".into(), b"{}".to_vec())];
    pack::record(name, &files).unwrap().unwrap()
}

/// The names, texts and places in a pack of these bytes, without damaged ones, and where the last record ends.
fn found(bytes: &[u8]) -> (Vec<(String, String, Extent)>, u64) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let mut file = pack::open(file.path()).unwrap();
    let (found, end) = pack::scan(&mut file, 0, bytes.len() as u64).unwrap();
    let whole = found.into_iter().filter_map(|(name, extent)| {
        let files = pack::files(&pack::read(&mut file, extent).unwrap(), &name)?;
        Some((name, String::from_utf8(files[0].1.clone()).unwrap(), extent))
    });
    (whole.collect(), end)
}

/// Twelve records of random lengths, some longer than what is read at a time, and where each begins.
fn twelve() -> (Vec<u8>, Vec<(String, String)>, Vec<usize>) {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut bytes, mut results, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..12 {
        let text: String = (0..random.usize(0..20_000)).map(|_| random.char('0'..='9')).collect();
        starts.push(bytes.len());
        bytes.extend(record(&format!("run{number}"), &text));
        results.push((format!("run{number}"), text));
    }
    (bytes, results, starts)
}

fn without_places(found: Vec<(String, String, Extent)>) -> Vec<(String, String)> {
    found.into_iter().map(|(name, text, _)| (name, text)).collect()
}

/// Bytes changed, lost or added somewhere take the records that they are in, and no other one.
#[test]
fn damage_hides_no_other_record() {
    let (bytes, results, starts) = twelve();
    assert_eq!((without_places(found(&bytes).0), found(&bytes).1), (results.clone(), bytes.len() as u64));
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..300 {
        let at = random.usize(0..bytes.len());
        let hit = starts.iter().rposition(|start| *start <= at).unwrap();
        let mut damaged = bytes.clone();
        match random.u8(0..4) {
            0 => damaged[at] ^= 1 << random.u8(0..8),
            1 => drop(damaged.remove(at)),
            2 => damaged.insert(at, random.u8(..)),
            // A page of a disk that was never written.
            _ => damaged[at..].iter_mut().take(512).for_each(|byte| *byte = 0),
        }
        let found = without_places(found(&damaged).0);
        assert!(found.iter().all(|result| results.contains(result)), "what was not written");
        let lost: Vec<usize> = (0..12).filter(|number| !found.contains(&results[*number])).collect();
        let last = starts.iter().rposition(|start| *start <= (at + 511).min(bytes.len() - 1)).unwrap();
        assert!(lost.iter().all(|number| (hit..=last + 1).contains(number)), "{lost:?} of damage in {hit} to {last}");
    }
}

/// A process that is killed while it appends loses that record alone, wherever it had come to.
#[test]
fn the_beginning_of_a_pack_has_the_records_that_end_in_it() {
    let (bytes, results, starts) = twelve();
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..300 {
        let length = random.usize(0..bytes.len());
        let whole = starts.iter().filter(|start| **start <= length).count().saturating_sub(1);
        let (found, end) = found(&bytes[..length]);
        assert_eq!((without_places(found), end), (results[..whole].to_vec(), starts[whole] as u64));
    }
}

fn make(store: &Store, name: &str, text: &str) {
    match store.claim(name, false).unwrap() {
        Claim::Ours(entry) => {
            entry.write("summary.json", text.as_bytes());
            entry.commit().unwrap();
        }
        other => panic!("{name}: {other:?}"),
    }
}

fn text(store: &Store, name: &str) -> String {
    String::from_utf8(store.read(name, "summary.json").unwrap()).unwrap()
}

fn packs(root: &Path) -> Vec<PathBuf> {
    let mut packs: Vec<PathBuf> = fs::read_dir(root.join(PACKS)).unwrap().map(|entry| entry.unwrap().path()).collect();
    packs.sort();
    packs
}

fn there(store: &Store, name: &str) -> bool {
    matches!(store.claim(name, false).unwrap(), Claim::There)
}

#[test]
fn processes_at_once_see_one_another_and_later_ones_go_on_with_their_packs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let open = || Store::open(&root, "1").unwrap();
    let (one, two) = (open(), open());
    make(&one, "a", "A");
    assert!(there(&two, "a"), "made since it was opened");
    make(&two, "b", "B");
    assert!(there(&one, "b"));
    let reader = Results::of(&root, "1").unwrap().unwrap();
    assert_eq!((packs(&root).len(), reader.names()), (2, vec!["a".to_owned(), "b".to_owned()]));
    drop((one, two));
    for (round, name) in ["c", "d", "e"].into_iter().enumerate() {
        let store = open();
        make(&store, name, name);
        assert_eq!(text(&store, "b"), "B", "round {round}");
    }
    assert_eq!(packs(&root).len(), 2, "no pack more");
    // Its packs have other names by now.
    assert_eq!((reader.state("a"), reader.state("b"), reader.state("z")), (State::Whole, State::Whole, State::Absent));
    assert_eq!(reader.read("e", "summary.json").unwrap(), b"e");
    drop(open());
    assert_eq!(packs(&root).len(), 2, "a process that makes nothing leaves nothing");
}

/// What a process that was killed while it appended leaves, once with its pack under the name of one that is being written.
#[test]
fn a_torn_tail_is_cut_off_by_whoever_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = Store::open(&root, "1").unwrap();
    make(&store, "a", "A");
    let pack = packs(&root).remove(0);
    let whole = fs::metadata(&pack).unwrap().len();
    drop(store);
    for (round, ending) in ["pack", "open"].into_iter().enumerate() {
        let torn = record("b", &"B".repeat(1_000));
        let (pack, open) = (packs(&root).remove(0), packs(&root).remove(0).with_extension(ending));
        OpenOptions::new().append(true).open(&pack).unwrap().write_all(&torn[..torn.len() - 1]).unwrap();
        fs::rename(&pack, &open).unwrap();
        let store = Store::open(&root, "1").unwrap();
        assert_eq!((store.results().state("a"), store.results().state("b")), (State::Whole, State::Absent));
        make(&store, &format!("c{round}"), "C");
        assert_eq!((packs(&root).len(), text(&store, "a").as_str()), (1, "A"));
        drop(store);
        let length = fs::metadata(packs(&root).remove(0)).unwrap().len();
        assert_eq!(length, whole + (round as u64 + 1) * record_length("c0", "C"), "nothing of the torn record is left");
    }
}

fn record_length(name: &str, text: &str) -> u64 {
    pack::record(name, &vec![("summary.json".into(), text.into())]).unwrap().unwrap().len() as u64
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// A store that was copied to two machines, went on there and here, and whose packs come back: over those of the same name.
#[test]
fn copies_that_went_on_apart_are_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let store = Store::open(&at("here"), "1").unwrap();
    make(&store, "first", "1");
    // Copied while it is being written: its beginning, under the name of an open pack.
    copy(&at("here/packs"), &at("early"));
    drop(store);
    for name in ["one", "two", "here"] {
        if name != "here" {
            copy(&at("here"), &at(name));
        }
        let store = Store::open(&at(name), "1").unwrap();
        make(&store, &format!("by {name}"), name);
    }
    for from in ["early", "one/packs", "two/packs", "one/packs"] {
        copy(&at(from), &at("here/packs"));
    }
    let store = Store::open(&at("here"), "1").unwrap();
    for (name, wanted) in [("first", "1"), ("by one", "one"), ("by two", "two"), ("by here", "here")] {
        assert_eq!(text(&store, name), wanted);
    }
    // A pack that comes while the store is open.
    let other = Store::open(&at("other"), "1").unwrap();
    make(&other, "late", "L");
    drop(other);
    copy(&at("other/packs"), &at("here/packs"));
    assert!(there(&store, "late"));
}

/// One bit of a record, then the record made again: it is whole from then on, in whatever order packs are read.
#[test]
fn a_damaged_record_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = Store::open(&root, "1").unwrap();
    make(&store, "a", "A");
    make(&store, "b", "B");
    let pack = packs(&root).remove(0);
    let mut bytes = fs::read(&pack).unwrap();
    let end = record_length("a", "A") as usize;
    bytes[end - 1] ^= 1;
    fs::write(&pack, bytes).unwrap();
    assert_eq!((store.results().state("a"), store.results().state("b")), (State::Damaged, State::Whole));
    assert!(store.read("a", "summary.json").unwrap_err().message.contains("summary.json of the result a is damaged"));
    make(&store, "a", "A");
    assert_eq!(text(&store, "a"), "A");
    drop(store);
    let store = Store::open(&root, "1").unwrap();
    assert_eq!((store.results().state("a"), text(&store, "a").as_str()), (State::Whole, "A"));
    // A head: nothing says what the record was.
    let pack = packs(&root).remove(0);
    let mut bytes = fs::read(&pack).unwrap();
    bytes[end + 20] ^= 1;
    fs::write(&pack, bytes).unwrap();
    drop(store);
    let store = Store::open(&root, "1").unwrap();
    assert_eq!((store.results().state("a"), store.results().state("b")), (State::Whole, State::Absent));
}

/// Results in folders are those of a store that was written before packs: they are found, and only what is missing or damaged is made.
#[test]
fn a_store_of_folders_is_read_and_goes_on_with_packs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = Store::open(&root, "1").unwrap();
    for name in ["a", "b"] {
        let Claim::Ours(entry) = store.claim(name, false).unwrap() else { panic!("{name} is missing") };
        entry.begin("summary.json").unwrap().write_whole(name.as_bytes()).unwrap();
        entry.write("made-by.json", b"{}");
        entry.commit().unwrap();
    }
    drop(store);
    fs::remove_dir(root.join(PACKS)).unwrap();
    let about = fs::read_to_string(root.join("store.json")).unwrap();
    fs::write(root.join("store.json"), about.replace("\"layout\": 3", "\"layout\": 2")).unwrap();
    let reader = Results::of(&root, "1").unwrap().unwrap();
    assert_eq!((reader.state("a"), reader.state("c")), (State::Whole, State::Absent));
    assert_eq!(reader.read("a", "made-by.json").unwrap(), b"{}");
    assert!(!fs::read_to_string(root.join("store.json")).unwrap().contains("\"layout\": 3"), "reading changes nothing");
    fs::write(root.join("runs/b/summary.json"), "B").unwrap();
    let store = Store::open(&root, "1").unwrap();
    assert!(there(&store, "a"));
    assert_eq!(store.results().state("b"), State::Damaged);
    make(&store, "b", "b");
    make(&store, "c", "c");
    assert_eq!(["a", "b", "c"].map(|name| text(&store, name)), ["a", "b", "c"]);
    assert_eq!(fs::read_to_string(root.join("store.json")).unwrap(), about, "programs that know no packs refuse it");
    fs::write(root.join("store.json"), about.replace("\"layout\": 3", "\"layout\": 4")).unwrap();
    let refused = Store::open(&root, "1").unwrap_err();
    assert!(
        refused.message.starts_with("is a store of layout 4, which this flashlane does not know (it has 3)"),
        "{refused}"
    );
}

#[test]
fn a_large_result_is_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = Store::open(&root, "1").unwrap();
    make(&store, "large", &" ".repeat(MAX_BYTES));
    assert!(root.join("runs/large/whole.json").exists() && packs(&root).is_empty());
    assert!(store.has("large") && text(&store, "large").len() == MAX_BYTES);
}
