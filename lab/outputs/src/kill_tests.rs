//! Runs that are killed, and runs at the same time: the next run removes what a killed one left, and results never mix.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::leftover::{LOCK, NEW, OLD};
use super::tests::{new, results, tree};
use super::{Existing, Inputs, MARKER, OutFile};

/// The text in a complete folder of results, the same in all its files; `None` if there is no such folder.
#[track_caller]
fn message(path: &Path) -> Option<String> {
    if !path.exists() {
        return None;
    }
    let text = fs::read_to_string(path.join("summary.json")).unwrap();
    let found = tree(path);
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(fs::read_to_string(path.join("fcfs/requests.csv")).unwrap(), text);
    assert!(fs::read_to_string(path.join(MARKER)).unwrap().contains("fcfs/requests.csv"));
    Some(text)
}

/// Names beside the results.
fn beside(parent: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(parent).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "out");
    names.sort();
    names
}

/// What a killed run of the folder `out` left.
fn leftover(parent: &Path, folders: &[(&str, &[(&str, &str)])], began: &str) -> PathBuf {
    let outer = parent.join(".out.flashlane-aaaaBBBB0123");
    fs::create_dir(&outer).unwrap();
    fs::write(outer.join(LOCK), began).unwrap();
    for (folder, files) in folders {
        for (file, text) in *files {
            let path = outer.join(folder).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    outer
}

#[test]
fn a_dead_runs_listed_files_are_swept_and_no_others() {
    let parent = tempfile::tempdir().unwrap();
    let began = "\"summary.json\"\n\"fcfs/requests.csv\"\n\"../../thesis.tex\"\n\"half a li";
    let outer = leftover(parent.path(), &[(NEW, &[("summary.json", "{"), ("fcfs/requests.csv", "")])], began);
    fs::write(parent.path().join("thesis.tex"), "mine").unwrap();
    drop(new(&parent.path().join("out")).unwrap());
    assert_eq!(beside(parent.path()), ["thesis.tex"]);

    // A foreign file in it stays where it is.
    let outer_again = leftover(parent.path(), &[(NEW, &[("summary.json", "{"), ("mine.md", "mine")])], began);
    assert_eq!(outer, outer_again);
    drop(new(&parent.path().join("out")).unwrap());
    assert_eq!(fs::read(outer.join(NEW).join("mine.md")).unwrap(), b"mine");
    assert!(!outer.join(NEW).join("summary.json").exists());
}

#[test]
fn other_names_are_not_swept() {
    let parent = tempfile::tempdir().unwrap();
    let others =
        [".out.flashlane-aaaaBBBB012", ".out.flashlane-aaaaBBBB01234", ".out.flashlane-aaaaBBBB01.3", ".out.partial-1"];
    let others = others.into_iter().chain([".outer.flashlane-aaaaBBBB0123", "out.flashlane-aaaaBBBB0123"]);
    let mut others: Vec<&str> = others.collect();
    for name in &others {
        fs::create_dir_all(parent.path().join(name).join(NEW)).unwrap();
        fs::write(parent.path().join(name).join(LOCK), "").unwrap();
    }
    results(&parent.path().join("out"), "one").commit().unwrap();
    others.sort_unstable();
    assert_eq!(beside(parent.path()), others);
}

#[test]
fn earlier_results_whose_name_is_missing_are_put_back() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("out");
    results(&path, "one").commit().unwrap();
    let outer = leftover(parent.path(), &[(NEW, &[("summary.json", "{}")])], "\"summary.json\"\n");
    fs::rename(&path, outer.join(OLD)).unwrap();
    drop(new(&path).unwrap());
    assert_eq!(message(&path).as_deref(), Some("one"));
    assert_eq!(beside(parent.path()), [""; 0]);
}

#[test]
fn a_living_run_is_not_swept_and_the_last_commit_wins_whole() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("out");
    let (one, two, three) = (results(&path, "one"), results(&path, "two"), results(&path, "three"));
    assert_eq!(beside(parent.path()).len(), 3);
    for (folder, text) in [(two, "two"), (one, "one"), (three, "three")] {
        folder.commit().unwrap();
        assert_eq!(message(&path).as_deref(), Some(text));
    }
    assert_eq!(beside(parent.path()), [""; 0]);
}

/// If another run has a temporary name, its random part is drawn again, even if the two names have the same prefix.
#[test]
fn runs_that_draw_the_same_name_do_not_mix() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("out");
    let drawn = |text: &str| {
        fastrand::seed(7);
        results(&path, text)
    };
    let one = drawn("one");
    let name = beside(parent.path());
    let two = drawn("two");
    assert_eq!(beside(parent.path()).len(), 2);
    assert!(beside(parent.path()).contains(&name[0]), "the seed made the second run draw the name of the first");
    drop(one);
    assert!(!beside(parent.path()).contains(&name[0]));
    let three = drawn("three");
    assert!(beside(parent.path()).contains(&name[0]), "and it is drawn first");
    two.commit().unwrap();
    assert_eq!(message(&path).as_deref(), Some("two"));
    three.commit().unwrap();
    assert_eq!(message(&path).as_deref(), Some("three"));
    assert_eq!(beside(parent.path()), [""; 0]);
}

#[test]
fn two_steps_do_as_well_as_one() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("out");
    for text in ["one", "two", "three"] {
        results(&path, text).in_two_steps(|_| {}).commit().unwrap();
        assert_eq!(message(&path).as_deref(), Some(text));
        assert_eq!(beside(parent.path()), [""; 0]);
    }
}

#[test]
fn many_runs_at_once_leave_one_whole() {
    for two_steps in [false, true] {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("out");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for i in 0..10 {
                        let folder = results(path, &format!("{thread} {i}"));
                        let folder = if two_steps { folder.in_two_steps(|_| {}) } else { folder };
                        folder.commit().unwrap();
                    }
                });
            }
        });
        assert!(message(&path).is_some());
        assert_eq!(beside(parent.path()), [""; 0]);
    }
}

#[test]
fn a_dead_runs_file_is_swept_and_a_living_ones_is_not() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("a.html");
    let create = || OutFile::create(&path, Existing::Replace, &Inputs::default()).unwrap();
    fs::write(parent.path().join(".a.html.flashlane-aaaaBBBB0123"), "half").unwrap();
    let one = create();
    assert_eq!(beside(parent.path()).len(), 1);
    let two = create();
    assert_eq!(beside(parent.path()).len(), 2);
    one.write_whole(b"one").unwrap();
    // The file that appeared meanwhile did not exist when the second run began.
    assert!(two.write_whole(b"two").is_err());
    assert_eq!(beside(parent.path()), ["a.html"]);
}

/// Tells the child process below what to do: the folder, and the step at which to abort, if any.
const KILL_STEP: &str = "FLASHLANE_TEST_COMMITS";

/// Not a test by itself: the process that the tests below start and kill. Commits again and again, in two steps.
#[test]
fn process_that_commits() {
    let Some(notify) = std::env::var_os(KILL_STEP) else { return };
    let notify = notify.into_string().unwrap();
    let path = PathBuf::from(notify.split('\n').next().unwrap());
    let die = |step: &str| {
        let notify = std::env::var(KILL_STEP).unwrap();
        if notify.split('\n').nth(1) == Some(step) {
            // Like a kill: nothing is dropped.
            std::process::abort();
        }
    };
    for i in 0..10_000 {
        results(&path, &format!("{i}")).in_two_steps(die).commit().unwrap();
    }
}

fn start(path: &Path, step: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let (_, module) = module_path!().split_once("::").unwrap();
    command.args(["--exact", &format!("{module}::process_that_commits")]);
    let notify = format!("{}\n{step}", path.display());
    command.env(KILL_STEP, notify).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Checks that after a kill the earlier or the new results are there, at the latest once the next run has begun, and
/// nothing else.
#[track_caller]
fn recovers(parent: &Path) {
    let path = parent.join("out");
    drop(new(&path).unwrap());
    assert!(message(&path).is_some());
    assert_eq!(beside(parent), ["thesis.tex"]);
    assert_eq!(fs::read(parent.join("thesis.tex")).unwrap(), b"mine");
}

#[test]
fn a_run_that_dies_at_any_step_loses_nothing() {
    for (step, name_is_there) in
        [("before the first rename", true), ("between the renames", false), ("installed", true)]
    {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("out");
        fs::write(parent.path().join("thesis.tex"), "mine").unwrap();
        results(&path, "earlier").commit().unwrap();
        assert!(!start(&path, step).wait().unwrap().success());
        assert_eq!(path.exists(), name_is_there, "{step}");
        assert_eq!(beside(parent.path()).len(), 2, "{step}: a leftover");
        drop(new(&path).unwrap());
        let wanted = if step == "installed" { "0" } else { "earlier" };
        assert_eq!(message(&path).as_deref(), Some(wanted), "{step}");
        recovers(parent.path());
    }
}

#[test]
fn a_run_killed_between_two_renames_at_random_moments_loses_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("out");
    fs::write(parent.path().join("thesis.tex"), "mine").unwrap();
    results(&path, "earlier").commit().unwrap();
    let mut random = fastrand::Rng::with_seed(15);
    let mut alive = 0;
    for _ in 0..100 {
        let mut child = start(&path, "");
        std::thread::sleep(Duration::from_micros(random.u64(0..30_000)));
        alive += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        recovers(parent.path());
    }
    assert_eq!(alive, 100, "processes that were at work when they were killed");
    assert_ne!(message(&path).as_deref(), Some("earlier"), "some of them committed");
}
