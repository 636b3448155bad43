//! `flashlane serve --fuse`: the exports as files of a mounted folder.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::FallocateFlags;

use super::common::{flashlane, folder, text};
use super::serve::Served;

/// Whether this process may mount; says that nothing was checked if not.
pub(super) fn may_mount() -> bool {
    let user = Command::new("id").arg("-u").output().map(|out| text(&out.stdout)).unwrap_or_default();
    let may = user.trim() == "0" && Path::new("/dev/fuse").exists();
    if !may {
        println!("SKIPPED: not root, or no /dev/fuse: files of a served drive were not mounted");
    }
    may
}

/// A server with its files at `desk/mnt`; `None` where the system does not mount them, as in a container.
pub(super) fn begin(desk: &Path, args: &[&str]) -> Option<Served> {
    if !may_mount() {
        return None;
    }
    // It may be there, and what a killed server left is no folder.
    let _ = std::fs::create_dir(desk.join("mnt"));
    let all: Vec<&str> = ["--fuse", "mnt"].iter().chain(args).copied().collect();
    match Served::try_begin(desk, &all) {
        Ok(served) => Some(served),
        Err(why) if why.contains("cannot be mounted") => {
            println!("SKIPPED: this system does not mount files of a served drive: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// What a killed server left mounted at `mnt` is taken down at the end of a test, whatever becomes of it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn of(desk: &Path) -> Folder {
        Folder(desk.to_owned())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l", "mnt"]).current_dir(&self.0).output();
    }
}

fn open(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(path).expect("a file of the drive")
}

/// Any bytes are read and written, though the drive has sectors; what is flushed is in the file of the contents; the folder is empty again at the end.
#[test]
fn exports_are_files() {
    let desk = folder();
    let _mounted = Folder::of(desk.path());
    let args = ["--data", "contents", "--time-scale", "0.01"];
    let Some(served) = begin(desk.path(), &args) else { return };
    assert!(served.said.contains("  mnt/reader\n") && served.said.contains("  mnt/writer\n"), "{}", served.said);
    let mnt = desk.path().join("mnt");
    let mut names: Vec<_> = mnt.read_dir().expect("a folder").map(|entry| entry.expect("a file").file_name()).collect();
    names.sort();
    assert_eq!(names, ["reader", "writer"]);
    let writer = open(&mnt.join("writer"));
    let size = writer.metadata().expect("its size").len();
    assert!(size > 8 << 20, "{size}");
    let mut bytes: Vec<u8> = (0..1_000_000_u32 / 512 * 512).map(|at| (at * 7 / 5) as u8).collect();
    writer.write_all_at(&bytes, 512).expect("written, in several pieces");
    writer.sync_all().expect("flushed");
    let mut read = vec![0; 3000];
    writer.read_exact_at(&mut read, 1234).expect("from within a sector to within another");
    assert!(read == bytes[1234 - 512..][..3000]);
    writer.write_all_at(&[9; 512], size - 512).expect("the last sector");
    let mut end = [0; 600];
    assert_eq!(writer.read_at(&mut end, size - 100).expect("the rest"), 100);
    assert!(end[..100] == [9; 100] && writer.read_at(&mut end, size).expect("nothing") == 0);
    writer.write_all_at(&[8; 700], 2_000_100).expect("parts of sectors");
    let mut around = [0; 1536];
    writer.read_exact_at(&mut around, 1_999_872).expect("the sectors");
    assert!((0..1536).all(|at| around[at] == if (228..928).contains(&at) { 8 } else { 0 }));
    // A hole and zeroes, from within a page to within another; space that is there already.
    let fallocate =
        |mode, offset, bytes| rustix::fs::fallocate(&writer, mode | FallocateFlags::KEEP_SIZE, offset, bytes);
    fallocate(FallocateFlags::PUNCH_HOLE, 500_000, 100_000).expect("a hole");
    fallocate(FallocateFlags::ZERO_RANGE, 700_001, 9).expect("zeroes");
    fallocate(FallocateFlags::empty(), 0, size).expect("it is there");
    assert!(fallocate(FallocateFlags::COLLAPSE_RANGE, 0, 8192).is_err(), "nothing is taken out");
    bytes[500_000 - 512..600_000 - 512].fill(0);
    bytes[700_001 - 512..][..9].fill(0);
    let mut all = vec![0; bytes.len()];
    writer.read_exact_at(&mut all, 512).expect("read");
    assert!(all == bytes);
    let why = writer.write_at(&[0; 1024], size - 512).expect_err("beyond the end");
    assert_eq!(why.kind(), ErrorKind::StorageFull);
    assert!(File::create(mnt.join("other")).is_err(), "there are no other files");
    writer.set_len(0).expect("as with a block device nothing is cut off");
    assert_eq!(std::fs::metadata(mnt.join("writer")).expect("its size").len(), size);
    // Two exports, one drive; eight threads at once.
    let reader = open(&mnt.join("reader"));
    std::thread::scope(|scope| {
        for thread in 0..8_u8 {
            let reader = &reader;
            scope.spawn(move || {
                for round in 0..16_u64 {
                    let at = (u64::from(thread) * 16 + round) * 8192;
                    reader.write_all_at(&[thread + 1; 8192], at).expect("written");
                    let mut back = [0; 8192];
                    reader.read_exact_at(&mut back, at).expect("read");
                    assert!(back == [thread + 1; 8192]);
                }
            });
        }
    });
    drop((reader, writer));
    let said = served.end();
    assert!(said.contains(" + 0 failed + 0 refused;"), "{said}");
    for kind in ["flush", "trim", "write-zeroes"] {
        assert!(said.lines().any(|line| line.starts_with(&format!("writer           {kind} "))), "{kind}: {said}");
    }
    assert_eq!(mnt.read_dir().expect("the folder").count(), 0, "unmounted");
    let contents = std::fs::read(desk.path().join("contents")).expect("the contents");
    let first = contents.len() as u64 / 2 + 512;
    assert!(contents[first as usize..][..bytes.len()] == bytes, "the second export has the second half");
}

/// A server that was killed leaves a folder that the next one takes over; one that ends while a file is open says so.
#[test]
fn a_folder_left_over_is_taken_over() {
    let desk = folder();
    let _mounted = Folder::of(desk.path());
    let args = ["--data", "contents", "--time-scale", "0.01"];
    let Some(killed) = begin(desk.path(), &args) else { return };
    let mnt = desk.path().join("mnt");
    open(&mnt.join("reader")).write_all_at(&[3; 4096], 4096).expect("written");
    let refused = flashlane(desk.path(), &["serve", "s.toml", "--fuse", "mnt"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--fuse mnt: must be an empty folder"), "{}", text(&refused.stderr));
    drop(killed);
    assert!(mnt.read_dir().is_err(), "nobody answers there");
    let served = begin(desk.path(), &args).expect("mounted again");
    let reader = open(&mnt.join("reader"));
    let mut back = [0; 4096];
    reader.read_exact_at(&mut back, 4096).expect("read");
    assert_eq!(back, [3; 4096]);
    let said = served.end();
    assert!(said.contains("still had a file there in use"), "{said}");
    assert!(reader.read_at(&mut back, 0).is_err(), "the file is gone");
    assert_eq!(mnt.read_dir().expect("the folder").count(), 0, "unmounted");
}

#[test]
fn folders_that_cannot_be_used_are_refused() {
    let desk = folder();
    std::fs::write(desk.path().join("s.toml"), include_str!("../small.toml")).expect("written");
    std::fs::create_dir_all(desk.path().join("full/x")).expect("made");
    std::fs::create_dir(desk.path().join("mnt")).expect("made");
    let slash = include_str!("../small.toml").replace("\"reader\"", "\"a/b\"");
    std::fs::write(desk.path().join("slash.toml"), slash).expect("written");
    for (scenario, mnt, said) in [
        ("s.toml", "none", "--fuse none: No such file"),
        ("s.toml", "s.toml", "--fuse s.toml: Not a directory"),
        ("s.toml", "full", "--fuse full: must be an empty folder"),
        ("slash.toml", "mnt", "a file cannot have the name of the flow \"a/b\""),
    ] {
        let refused = flashlane(desk.path(), &["serve", scenario, "--fuse", mnt]);
        assert_eq!(refused.status.code(), Some(2), "{mnt}: {}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(said), "{mnt}: {}", text(&refused.stderr));
    }
}
