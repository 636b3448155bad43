//! Folders and files that are whole or absent, and files that are not ours.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{Cause, Claim, Existing, Folder, Inputs, MARKER, OutFile, OutputError, State, Store};

/// Everything in a folder by name, with the content of files; folders end with `/`.
pub(super) fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            let inside = tree(&path);
            found.push((format!("{name}/"), Vec::new()));
            found.extend(inside.into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            found.push((name, fs::read(&path).unwrap_or_default()));
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_iter().map(|(name, _)| name).collect()
}

pub(super) fn new(path: &Path) -> Result<Folder, OutputError> {
    Folder::create(path, &Inputs::default())
}

/// A folder of results with the content `text`, one of them in a subfolder.
pub(super) fn results(path: &Path, text: &str) -> Folder {
    let folder = new(path).unwrap();
    folder.write("summary.json", text.as_bytes()).unwrap();
    folder.write("fcfs/requests.csv", text.as_bytes()).unwrap();
    folder
}

fn make(path: &Path, text: &str) {
    results(path, text).commit().unwrap();
}

const WHOLE: [&str; 4] = ["fcfs/", "fcfs/requests.csv", MARKER, "summary.json"];

#[track_caller]
fn refused(result: Result<Folder, OutputError>, says: &str) {
    let error = result.expect_err("refused");
    assert_eq!(error.cause, Cause::Refused, "{error}");
    assert!(error.message.contains(says), "{error}");
}

#[test]
fn a_folder_appears_whole_and_is_replaced_whole() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("deep").join("out");
    let folder = results(&path, "one");
    assert!(!path.exists());
    assert_eq!(folder.commit().unwrap(), fs::canonicalize(&path).unwrap());
    assert_eq!(names(&path), WHOLE);
    let marker = fs::read_to_string(path.join(MARKER)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let files = format!("[\n    \"fcfs/requests.csv\",\n    \"{MARKER}\",\n    \"summary.json\"\n  ]");
    assert_eq!(marker, format!("{{\n  \"format\": 1,\n  \"flashlane\": \"{version}\",\n  \"files\": {files}\n}}\n"));

    let again = new(&path).unwrap();
    again.write("results.json", b"two").unwrap();
    assert_eq!(names(&path), WHOLE, "the earlier results stand until the commit");
    again.commit().unwrap();
    assert_eq!(names(&path), [MARKER, "results.json"]);
    assert_eq!(fs::read_dir(parent.path().join("deep")).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_folder_without_a_commit_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    drop(results(&parent.path().join("out"), "one"));
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn an_empty_folder_is_replaced() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("out");
    fs::create_dir(&path).unwrap();
    make(&path, "one");
    assert_eq!(names(&path), WHOLE);
}

#[test]
fn a_folder_that_holds_anything_else_is_left_as_it_is() {
    type Deed = fn(&Path);
    let deeds: [(Deed, &str); 9] = [
        (|out| fs::write(out.join("notes.md"), "mine").unwrap(), "did not write there: notes.md; nothing is replaced"),
        (|out| fs::write(out.join("fcfs/mine.csv"), "mine").unwrap(), "fcfs/mine.csv"),
        (|out| fs::create_dir(out.join("src")).unwrap(), "src"),
        (|out| symlink("/", out.join("root")).unwrap(), "root"),
        (
            |out| {
                fs::remove_file(out.join("summary.json")).unwrap();
                symlink("/etc/passwd", out.join("summary.json")).unwrap();
            },
            "summary.json",
        ),
        (|out| fs::remove_file(out.join(MARKER)).unwrap(), "holds a summary.json and no flashlane-files.json"),
        (|out| fs::write(out.join(MARKER), "{").unwrap(), "is not a list of files"),
        (|out| fs::write(out.join(MARKER), r#"{"format":2,"flashlane":"9","files":[]}"#).unwrap(), "has format 2"),
        (
            |out| (0..9).for_each(|i| fs::write(out.join(format!("{i}.md")), "").unwrap()),
            "0.md, 1.md, 2.md and 6 more;",
        ),
    ];
    for (deed, says) in deeds {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("out");
        make(&path, "one");
        deed(&path);
        let before = tree(parent.path());
        refused(new(&path), says);
        assert_eq!(tree(parent.path()), before, "{says}");
    }
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("thesis.tex"), "mine").unwrap();
    refused(new(parent.path()), "holds files but no flashlane-files.json");
    refused(new(&parent.path().join("thesis.tex")), "is a file");
    refused(new(&parent.path().join("thesis.tex/out")), "Not a directory");
    refused(new(Path::new("/")), "");
    assert_eq!(names(parent.path()), ["thesis.tex"]);
}

/// Whatever a list contains, only files inside the folder are deleted.
#[test]
fn a_list_that_names_files_elsewhere_reaches_none() {
    let parent = tempfile::tempdir().unwrap();
    let (path, thesis) = (parent.path().join("out"), parent.path().join("thesis.tex"));
    fs::create_dir(&path).unwrap();
    fs::write(&thesis, "mine").unwrap();
    let files = format!(r#"["{MARKER}", "../thesis.tex", "{}", "a/../../thesis.tex", "", "."]"#, thesis.display());
    fs::write(path.join(MARKER), format!(r#"{{"format":1,"flashlane":"0.1.0","files":{files}}}"#)).unwrap();
    make(&path, "one");
    assert_eq!(names(&path), WHOLE);
    assert_eq!(fs::read(&thesis).unwrap(), b"mine");
}

#[test]
fn what_comes_to_the_folder_meanwhile_stays_and_the_new_results_are_kept_aside() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("out");
    make(&path, "one");
    let folder = results(&path, "two");
    fs::write(path.join("notes.md"), "mine").unwrap();
    let before = tree(&path);
    let error = folder.commit().unwrap_err();
    assert_eq!(error.cause, Cause::Refused);
    assert_eq!(tree(&path), before);
    let kept = PathBuf::from(error.message.split("the new results are in ").nth(1).unwrap());
    assert!(kept.file_name().unwrap().to_string_lossy().starts_with("out.kept-"), "{error}");
    assert_eq!(names(&kept), WHOLE);
    assert_eq!(fs::read(kept.join("summary.json")).unwrap(), b"two");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
}

#[test]
fn names_stay_inside_and_are_used_once() {
    let parent = tempfile::tempdir().unwrap();
    let folder = results(&parent.path().join("out"), "one");
    for name in ["../x", "/x", "a/../../x", "", ".", "a//b", "a/"] {
        assert_eq!(folder.write(name, b"").unwrap_err().cause, Cause::Refused, "{name}");
    }
    for name in ["summary.json", MARKER] {
        let error = folder.write(name, b"").unwrap_err();
        assert!(error.message.contains("would be written twice"), "{error}");
        assert_eq!(error.path, parent.path().join("out").join(name), "as the user knows it");
    }
}

#[test]
fn a_link_is_followed_and_stays() {
    let parent = tempfile::tempdir().unwrap();
    let (link, target) = (parent.path().join("latest"), parent.path().join("disk/run-1"));
    fs::create_dir_all(&target).unwrap();
    symlink("disk/run-1", &link).unwrap();
    make(&link, "one");
    make(&link, "two");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("disk/run-1"));
    assert_eq!(names(&target), WHOLE);
    assert_eq!(fs::read(target.join("summary.json")).unwrap(), b"two");
    assert_eq!(names(&parent.path().join("disk")).len(), 1 + WHOLE.len(), "nothing is left beside it");
    symlink("nowhere", parent.path().join("lost")).unwrap();
    refused(new(&parent.path().join("lost")), "is a link that leads nowhere");
}

#[test]
fn what_is_inside_is_known_by_place() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path();
    fs::create_dir(root.join("real")).unwrap();
    symlink("real", root.join("link")).unwrap();
    let folder = new(&root.join("link/out")).unwrap();
    let inside = |path: &str| folder.inside(&root.join(path)).unwrap();
    assert_eq!(inside("real/out/report.html").as_deref(), Some("report.html"));
    assert_eq!(inside("link/out/pages/report.html").as_deref(), Some("pages/report.html"));
    assert_eq!(inside("real/./out/../out/report.html"), None, "`..` after what is not there yet is nobody's");
    assert_eq!(inside("report.html"), None);
    assert_eq!(inside("real/outer/report.html"), None);
    assert!(folder.inside(&root.join("real/out")).is_err());
}

#[test]
fn long_names_are_shortened_for_a_while() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("é".repeat(127));
    make(&path, "one");
    make(&path, "two");
    assert_eq!(names(&path), WHOLE);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    let error = new(&parent.path().join("x".repeat(300))).unwrap_err();
    assert_eq!(error.cause, Cause::Refused, "{error}");
}

const OURS: Existing = Existing::ReplaceIf(|head| head.starts_with(b"ours"), "is not ours");
const KEEP: Existing = Existing::Keep("is there");

fn file(path: &Path, existing: Existing) -> Result<OutFile, OutputError> {
    OutFile::create(path, existing, &Inputs::default())
}

#[test]
fn a_file_appears_only_when_finished() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("a.html");
    let begun = file(&path, KEEP).unwrap();
    assert!(!path.exists());
    drop(begun);
    assert_eq!(names(parent.path()), [""; 0], "nothing is left behind");
    file(&path, KEEP).unwrap().write_whole(b"ours 1").unwrap();
    file(&path, OURS).unwrap().write_whole(b"ours 2").unwrap();
    assert_eq!(tree(parent.path()), [("a.html".to_owned(), b"ours 2".to_vec())]);
    let nowhere = Path::new("/nonexistent-folder/summary.json");
    let error = file(nowhere, Existing::Replace).unwrap_err();
    assert_eq!((error.path.as_path(), error.cause), (nowhere, Cause::Refused));
    assert!(error.to_string().contains("cannot be written: No such file"), "{error}");
}

#[test]
fn a_file_of_somebody_else_is_not_replaced() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("thesis.html");
    fs::write(&path, "mine, not ours").unwrap();
    let link = parent.path().join("link.html");
    symlink("thesis.html", &link).unwrap();
    for path in [&path, &link] {
        assert_eq!(file(path, OURS).unwrap_err().message, "is not ours");
        assert_eq!(file(path, KEEP).unwrap_err().message, "is there");
    }
    assert!(file(parent.path(), Existing::Replace).unwrap_err().message.contains("is a directory"));
    for special in ["/dev/null", "/dev/full"].map(Path::new).into_iter().filter(|path| path.exists()) {
        assert!(file(special, Existing::Replace).unwrap_err().message.contains("no regular file"));
    }
    assert_eq!(fs::read(&path).unwrap(), b"mine, not ours");
    file(&link, Existing::Replace).unwrap().write_whole(b"forced").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"forced");
    assert!(link.is_symlink(), "a link is followed and stays");
    assert_eq!(names(parent.path()), ["link.html", "thesis.html"]);

    let late = parent.path().join("late.html");
    for existing in [KEEP, OURS, Existing::Replace] {
        let begun = file(&late, existing).unwrap();
        fs::write(&late, "ours, came meanwhile").unwrap();
        assert!(begun.write_whole(b"x").unwrap_err().message.contains("meanwhile and is left"));
        assert_eq!(fs::read(&late).unwrap(), b"ours, came meanwhile");
        fs::remove_file(&late).unwrap();
    }
    let begun = file(&late, Existing::ReplaceLate).unwrap();
    fs::write(&late, "came meanwhile").unwrap();
    begun.write_whole(b"x").unwrap();
    assert_eq!(fs::read(&late).unwrap(), b"x");
    fs::remove_file(&late).unwrap();
    assert_eq!(names(parent.path()), ["link.html", "thesis.html"]);
}

#[test]
fn an_input_is_no_output_under_any_name() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    fs::write(at("web.csv"), "trace").unwrap();
    fs::hard_link(at("web.csv"), at("hard.csv")).unwrap();
    symlink("web.csv", at("soft.csv")).unwrap();
    let mut inputs = Inputs::default();
    inputs.add("the trace", &at("web.csv"));
    inputs.add("the trace", &at("missing.csv"));
    for name in ["web.csv", "hard.csv", "soft.csv"] {
        let error = OutFile::create(&at(name), Existing::Replace, &inputs).unwrap_err();
        assert!(
            error.message.starts_with("is the trace ") && error.message.contains("web.csv, which is read"),
            "{error}"
        );
    }
    // An input folder: its files are inputs too.
    let mut inputs = Inputs::default();
    inputs.add_folder("the folder of traces", parent.path());
    assert!(OutFile::create(&at("hard.csv"), Existing::Replace, &inputs).is_err());

    make(&at("out"), "one");
    for input in [at("out/summary.json"), at("linked.json")] {
        let _ = fs::hard_link(at("out/summary.json"), at("linked.json"));
        let mut inputs = Inputs::default();
        inputs.add("the trace", &input);
        refused(Folder::create(&at("out"), &inputs), "holds the trace ");
    }
    assert_eq!(names(&at("out")), WHOLE);
}

/// Of a process killed while it began a store, while it wrote the table, and while it removed its folder: without the lock the folder
/// stayed for ever, as did the temporary file of store.json once that was there.
#[test]
fn a_store_opened_again_has_nothing_of_killed_processes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    drop(Store::open(&root, "1").unwrap());
    let clean = names(&root);
    for file in [".store.json.flashlane-AbCdEfGhIjKl", ".results.parquet.flashlane-AbCdEfGhIjKl"] {
        fs::write(root.join(file), "{").unwrap();
    }
    for inner in ["unfinished/AbCdEfGhIjKl/3", "unfinished/MnOpQrStUvWx", "unfinished/YzAbCdEfGhIj/0"] {
        fs::create_dir_all(root.join(inner)).unwrap();
    }
    fs::write(root.join("unfinished/AbCdEfGhIjKl/3/summary.json"), "{").unwrap();
    fs::write(root.join("unfinished/YzAbCdEfGhIj/lock"), "").unwrap();
    fs::write(root.join("claims/one"), "").unwrap();
    // Files of others stay, and so does what a running process has.
    fs::write(root.join(".notes"), "mine").unwrap();
    let running = Store::open(&root, "1").unwrap();
    let held = names(&root.join("unfinished"));
    drop(Store::open(&root, "1").unwrap());
    assert_eq!(names(&root.join("unfinished")), held);
    drop(running);
    let left: Vec<String> = names(&root).into_iter().filter(|name| name != ".notes").collect();
    assert_eq!(left, clean);
    assert_eq!(fs::read(root.join(".notes")).unwrap(), b"mine");
}

/// What a damaged disk, or somebody, may put where a store looks: names of files elsewhere, files without an end, pipes that nobody writes
/// or reads. Nothing is waited for, and nothing is read without an end.
#[test]
fn a_store_opens_regular_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = Store::open(&root, "1").unwrap();
    let make = || match store.claim("one", false).unwrap() {
        Claim::Ours(entry) => {
            entry.begin("figure").unwrap().write_whole(b"1").unwrap();
            entry.commit().unwrap();
        }
        other => panic!("{other:?}"),
    };
    let pipe = |path: &Path| {
        let _ = fs::remove_file(path);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    make();
    assert!(store.has("one"));
    let list = root.join("runs/one/whole.json");
    let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    for name in ["/dev/zero", "../../../../../../../../dev/zero", "pipe"] {
        pipe(&root.join("runs/one/pipe"));
        fs::write(&list, format!("{{\"{name}\":{{\"bytes\":0,\"blake3\":\"{empty}\"}}}}")).unwrap();
        assert_eq!(store.results().state("one"), State::Damaged, "{name}");
        assert!(store.read("one", name).unwrap_err().message.contains("is damaged"), "{name}");
    }
    pipe(&list);
    assert_eq!(store.results().state("one"), State::Damaged);
    pipe(&root.join("packs/other.pack"));
    make();
    assert_eq!(store.read("one", "figure").unwrap(), b"1");

    pipe(&root.join("claims/two"));
    assert!(store.claim("two", true).is_err());
    fs::create_dir(root.join("unfinished/other")).unwrap();
    pipe(&root.join("unfinished/other/lock"));
    drop(Store::open(&root, "1").unwrap());
    pipe(&root.join("store.json"));
    assert!(Store::open(&root, "1").is_err());
}
