//! Programs that know nothing of the model use a served drive: clients of NBD, a file system, a database.
//!
//! What they need is named in tools/setup.sh. What is not there is skipped loudly; with CI=true a missing program is a failure.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use super::common::{flashlane, folder, text};
use super::serve::Served;
use super::serve_files::{self, Folder};

/// Where a user who is not root does not look for programs.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether these programs are all there; says which is not.
pub(super) fn have(names: &[&str]) -> bool {
    let found = |name: &&&str| PATH.split(':').any(|folder| Path::new(folder).join(name).exists());
    let Some(missing) = names.iter().find(|name| !found(name)) else { return true };
    assert!(std::env::var("CI").as_deref() != Ok("true"), "CI needs {missing}: tools/setup.sh disks");
    println!("SKIPPED: no {missing} (tools/setup.sh disks installs it): a served drive was not used by it");
    false
}

/// A program that is ended after two minutes, which it needs nothing near of.
pub(super) fn program(desk: &Path, line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new("timeout");
    command.arg("-k5").arg("120").arg(words.next().expect("a program")).args(words);
    command.current_dir(desk).env("PATH", PATH).stdin(Stdio::null());
    command
}

fn attempt(desk: &Path, line: &str) -> Output {
    program(desk, line).output().unwrap_or_else(|why| panic!("{line}: {why}"))
}

/// Runs a program that must succeed; what it prints.
pub(super) fn run(desk: &Path, line: &str) -> String {
    let done = attempt(desk, line);
    assert!(done.status.success(), "{line}: {}\n{}{}", done.status, text(&done.stdout), text(&done.stderr));
    text(&done.stdout)
}

const READER: &str = "nbd+unix:///reader?socket=socket";
const WRITER: &str = "nbd+unix:///writer?socket=socket";

/// Clients that copy and compare whole exports find what was written, before and after another start of the server.
#[test]
fn clients_of_nbd_accept_it() {
    if !have(&["nbdinfo", "nbdcopy", "qemu-img", "qemu-io"]) {
        return;
    }
    let folder = folder();
    let desk = folder.path();
    let args = ["--data", "contents", "--time-scale", "0.01"];
    let served = Served::begin(desk, &args);
    let size = run(desk, &format!("nbdinfo --size {READER}")).trim().parse::<usize>().expect("a size");
    let said = run(desk, &format!("nbdinfo --list {READER}"));
    for part in
        ["reader", "writer", "can_flush: true", "can_fua: true", "can_multi_conn: true", "block_size_minimum: 512"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Bytes that differ everywhere, with a part that is never written and one of zeroes.
    let mut bytes: Vec<u8> = (0..size as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    bytes[3 << 20..5 << 20].fill(0);
    std::fs::write(desk.join("whole"), &bytes).expect("written");
    run(desk, &format!("nbdcopy --flush whole {READER}"));
    run(desk, &format!("nbdcopy {READER} back"));
    assert!(std::fs::read(desk.join("back")).expect("the copy") == bytes, "nbdcopy");
    run(desk, &format!("qemu-img convert -n -f raw -O raw whole {WRITER}"));
    run(desk, &format!("qemu-img compare -f raw -F raw whole {WRITER}"));
    run(desk, &format!("qemu-img convert -f raw -O qcow2 {READER} copy.qcow2"));
    run(desk, "qemu-img compare -f raw -F qcow2 whole copy.qcow2");
    let io = |steps: &[&str]| {
        let mut qemu = program(desk, "qemu-io -f raw");
        steps.iter().for_each(|step| _ = qemu.args(["-c", step]));
        let done = qemu.arg(WRITER).output().expect("qemu-io runs");
        let said = text(&done.stdout) + &text(&done.stderr);
        assert!(done.status.success() && !said.contains("failed"), "{steps:?}: {said}");
    };
    io(&["write -P 0x5a 1536 70k", "write -f -P 0xa5 1M 512", "flush", "read -P 0x5a 1536 70k", "read -P 0xa5 1M 512"]);
    served.end();
    let again = Served::begin(desk, &args);
    io(&["read -P 0x5a 1536 70k", "read -P 0xa5 1M 512"]);
    run(desk, &format!("qemu-img compare -f raw -F raw whole {READER}"));
    again.end();
}

/// Whether there is fio with its engine for NBD.
fn have_fio() -> bool {
    let found = have(&["fio"]) && run(Path::new("/"), "fio --enghelp").contains("nbd");
    if !found {
        println!("SKIPPED: no fio with an engine for NBD: it did not check a served drive");
    }
    found
}

/// Four jobs at once write, read, flush and check; what checks them is killed and started again, then the server.
#[test]
fn fio_checks_what_four_jobs_wrote() {
    if !have_fio() {
        return;
    }
    let folder = folder();
    let desk = folder.path();
    let args = ["--data", "contents", "--time-scale", "0.01", "--scheduler", "read-first"];
    // Each job has 4 MiB of its own, as commands in flight that overlap have no order.
    let jobs = "\
[global]\nthread\nioengine=nbd\nuri=nbd+unix:///reader?socket=socket\nsize=4m\nverify=crc32c\nverify_fatal=1\nrandrepeat=1\niodepth=16\n\
[random]\nrw=randwrite\nbs=4k\noffset=0\n\
[mixed]\nrw=randrw\nbs=16k\noffset=OFFSET\nfsync=8\n\
[unaligned]\nrw=randwrite\nbs=5632\noffset=16m\nfsync=32\n\
[sequential]\nrw=write\nbs=64k\noffset=24m\nfsync=4\n";
    // Reads of the mixed job are checked, and it knows only what it wrote itself.
    std::fs::write(desk.join("killed.fio"), jobs.replace("OFFSET", "8m")).expect("written");
    std::fs::write(desk.join("jobs.fio"), jobs.replace("OFFSET", "32m")).expect("written");
    let served = Served::begin(desk, &args);
    let mut killed = Command::new("fio");
    killed.args(["killed.fio", "--loops=1000"]).current_dir(desk).stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = killed.spawn().expect("fio runs");
    // Killed once it has written something.
    let contents = File::open(desk.join("contents")).expect("the contents");
    let mut byte = [0; 4096];
    while contents.read_at(&mut byte, 24 << 20).is_ok_and(|_| byte == [0; 4096]) {
        assert!(killed.try_wait().expect("a state").is_none(), "fio ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    run(desk, "fio jobs.fio");
    drop(served);
    let again = Served::begin(desk, &args);
    run(desk, "fio jobs.fio --verify_only");
    let said = again.end();
    assert!(said.contains(" + 0 failed + 0 refused"), "{said}");
}

/// Trims among writes that are checked, of pages and of sectors; what was trimmed reads as zeroes, for the next server's clients too.
#[test]
fn fio_reads_zeroes_where_it_trimmed() {
    if !have_fio() {
        return;
    }
    let folder = folder();
    let desk = folder.path();
    let args = ["--data", "contents", "--time-scale", "0.01", "--scheduler", "read-first"];
    // One command at a time where a block is trimmed and then written: commands in flight that overlap have no order.
    let jobs = "\
[global]\nthread\nioengine=nbd\nuri=nbd+unix:///reader?socket=socket\nsize=2m\nrandrepeat=1\n\
[pages]\nrw=trimwrite\nbs=16k\noffset=0\nfsync=8\nverify=crc32c\nverify_fatal=1\n\
[unaligned]\nrw=trimwrite\nbs=5632\noffset=8m\nfsync=32\nverify=crc32c\nverify_fatal=1\n\
[filled]\nrw=randwrite\nbs=64k\niodepth=16\noffset=16m\n\
[trimmed]\nstonewall\nrw=randtrim\nbs=16k\niodepth=16\noffset=16m\n";
    std::fs::write(desk.join("jobs.fio"), jobs).expect("written");
    let zeroes = |place: &str| {
        let fio = "fio --name=z --ioengine=nbd --rw=randread --bs=16k --size=2m --verify=pattern --verify_pattern=0x00 --verify_fatal=1";
        program(desk, fio).args([&format!("--uri={READER}"), place]).output().expect("fio runs").status.success()
    };
    let served = Served::begin(desk, &args);
    run(desk, "fio jobs.fio");
    assert!(!zeroes("--offset=0") && !zeroes("--offset=8m") && zeroes("--offset=16m"));
    let said = served.end();
    let trims = said.lines().find(|line| line.starts_with("reader") && line.contains(" trim ")).expect("a row");
    // 128 of whole pages before writes, and 128 of what was filled.
    let done: Vec<u64> = trims.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(done[0] >= 256 + 372 && done[0] == done[1], "{said}");
    let again = Served::begin(desk, &args);
    assert!(zeroes("--offset=16m") && !zeroes("--offset=8m"));
    again.end();
}

/// The reader's file as a loop device with an ext4 file system at `desk/disk`. It is taken down whatever becomes of the test.
struct Disk {
    desk: PathBuf,
    device: String,
}

impl Disk {
    /// Attached, not yet mounted; `None` where the system has no loop devices, as in a container.
    fn attach(desk: &Path) -> Option<Disk> {
        let attached = attempt(desk, "losetup --find --show --direct-io=on mnt/reader");
        if !attached.status.success() {
            println!("SKIPPED: no loop device for a served drive: {}", text(&attached.stderr).trim());
            return None;
        }
        let _ = std::fs::create_dir(desk.join("disk"));
        Some(Disk { desk: desk.to_owned(), device: text(&attached.stdout).trim().to_owned() })
    }

    fn make(&self) {
        run(&self.desk, &format!("mkfs.ext4 -q -F {}", self.device));
    }

    /// What a mount finds in the journal it does first. Blocks of files that are deleted are trimmed.
    fn mount(&self) {
        assert_eq!(self.try_mount(), Ok(()));
    }

    fn try_mount(&self) -> Result<(), String> {
        self.try_run(&format!("mount -t ext4 -o discard {} disk", self.device))
    }

    /// Whether the file system, which is not mounted, has no faults.
    fn check(&self) -> Result<(), String> {
        self.try_run(&format!("e2fsck -f -n {}", self.device))
    }

    fn try_run(&self, line: &str) -> Result<(), String> {
        let done = attempt(&self.desk, line);
        if done.status.success() {
            Ok(())
        } else {
            Err(format!("{line}: {}{}", text(&done.stdout), text(&done.stderr)))
        }
    }

    fn unmount(&self) {
        run(&self.desk, "umount disk");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = attempt(&self.desk, "umount disk");
        let _ = attempt(&self.desk, &format!("losetup -d {}", self.device));
    }
}

const DISK_TOOLS: [&str; 6] = ["losetup", "mkfs.ext4", "e2fsck", "mount", "umount", "fstrim"];
const DISK_ARGS: [&str; 4] = ["--data", "contents", "--time-scale", "0.1"];

/// A file system on a loop device on a file of the drive: what was synchronised is there after the server was killed while more was written.
#[test]
fn ext4_is_sound_after_the_server_was_killed() {
    if !serve_files::may_mount() || !have(&DISK_TOOLS) {
        return;
    }
    let folder = folder();
    let desk = folder.path();
    let _mounted = Folder::of(desk);
    let Some(mut served) = serve_files::begin(desk, &DISK_ARGS) else { return };
    let bytes: Vec<u8> = (0..1_500_000_u32).map(|at| (at / 3) as u8).collect();
    for round in 0..2 {
        let Some(disk) = Disk::attach(desk) else { return };
        if round == 0 {
            disk.make();
        }
        disk.mount();
        for kept in 0..round {
            let found = std::fs::read(desk.join(format!("disk/kept{kept}"))).expect("what was synchronised");
            assert!(found == bytes, "file {kept} in round {round}");
        }
        let mut kept = File::create(desk.join(format!("disk/kept{round}"))).expect("made");
        kept.write_all(&bytes).expect("written");
        kept.sync_all().expect("synchronised");
        File::open(desk.join("disk")).and_then(|folder| folder.sync_all()).expect("its name, too");
        drop(kept);
        std::fs::write(desk.join("disk/trimmed"), &bytes).expect("written");
        run(desk, "sync -f disk");
        std::fs::remove_file(desk.join("disk/trimmed")).expect("removed");
        run(desk, "fstrim disk");
        // Much is on its way when the server is killed.
        for more in 0..200 {
            std::fs::write(desk.join(format!("disk/{round}.{more}")), &bytes[..40_000]).expect("in the page cache");
        }
        let syncing = program(desk, "sync -f disk").stderr(Stdio::null()).spawn();
        drop(served);
        let _ = syncing.expect("sync runs").wait();
        drop(disk);
        served = serve_files::begin(desk, &DISK_ARGS).expect("it serves again");
    }
    let disk = Disk::attach(desk).expect("as before");
    disk.mount();
    assert!(std::fs::read(desk.join("disk/kept1")).expect("what was synchronised") == bytes);
    run(desk, "fstrim disk");
    disk.unmount();
    assert_eq!(disk.check(), Ok(()));
    drop(disk);
    let said = served.end();
    assert!(!said.contains("in use"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("reader") && line.contains(" trim ")), "{said}");
}

/// A database that says when it has committed.
struct Database {
    child: Child,
    /// Until it is to end.
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Database {
    fn open(desk: &Path) -> Result<Database, String> {
        let mut sqlite = program(desk, "sqlite3 -batch -bail disk/db");
        let mut child =
            sqlite.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
        let asks = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("its output"));
        let mut database = Database { child, asks, answers };
        database.say("pragma journal_mode=wal; pragma synchronous=full; pragma wal_autocheckpoint=50;");
        database.say("create table if not exists t(n integer primary key, v blob); select 'ready';");
        loop {
            match database.answer().as_str() {
                "ready" => return Ok(database),
                "" => return Err("the database cannot be opened".to_owned()),
                _ => {}
            }
        }
    }

    /// Its last row, if it is sound and has every row up to that, and those up to `committed`.
    fn look(&mut self, committed: u64) -> Result<u64, String> {
        self.say("pragma integrity_check; select count(*), ifnull(max(n), 0) from t;");
        let (sound, rows) = (self.answer(), self.answer());
        let last = rows.split_once('|').filter(|(count, last)| count == last).and_then(|(_, last)| last.parse().ok());
        last.filter(|last| sound == "ok" && *last >= committed)
            .ok_or_else(|| format!("{sound}; rows and the last: {rows}; {committed} were committed"))
    }

    fn say(&mut self, line: &str) {
        // After the server was killed the process may have ended.
        if let Some(asks) = &mut self.asks {
            let _ = writeln!(asks, "{line}");
        }
    }

    /// The next line that it prints; nothing after its end.
    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("text");
        line.trim().to_owned()
    }

    /// Has it end once it has done what it was asked.
    fn leave(&mut self) {
        self.asks = None;
    }

    /// Has row `n` written; it says `n` once that is committed.
    fn add(&mut self, n: u64) {
        self.say(&format!("insert into t values({n}, randomblob(3000)); select {n};"));
    }
}

/// The database process ends when its input is closed. Its folder must not be removed before.
impl Drop for Database {
    fn drop(&mut self) {
        self.leave();
        let _ = self.child.wait();
    }
}

/// What ends the server while the database writes.
type End = fn(&Path, Served);

/// A database beside a backup that writes: after each end of the server the file system and the database are sound, and all rows are there
/// whose commits were answered.
fn database_survives(rounds: u64, args: &[&str], end: End) {
    if let Some(found) = database_after(rounds, args, end) {
        assert_eq!(found, Ok(()));
    }
}

/// What is lost or broken after one of these ends of the server, in words; `None` where the system cannot run the check.
fn database_after(rounds: u64, args: &[&str], end: End) -> Option<Result<(), String>> {
    if !serve_files::may_mount() || !have(&DISK_TOOLS) || !have(&["sqlite3", "fio"]) {
        return None;
    }
    let folder = folder();
    let desk = folder.path();
    let _mounted = Folder::of(desk);
    let args: Vec<&str> = DISK_ARGS.iter().chain(args).copied().collect();
    let mut committed = 0;
    for round in 0..rounds {
        let served = serve_files::begin(desk, &args)?;
        let disk = Disk::attach(desk)?;
        if round == 0 {
            disk.make();
        }
        match database_until(desk, &disk, committed, || end(desk, served)) {
            Ok(last) => committed = last,
            Err(why) => return Some(Err(format!("round {round}: {why}"))),
        }
    }
    let served = serve_files::begin(desk, &args).expect("it serves again");
    let disk = Disk::attach(desk).expect("as before");
    let whole = disk.try_mount().and_then(|()| Database::open(desk)?.look(committed));
    let checked = whole.and_then(|_| {
        disk.unmount();
        disk.check()
    });
    drop(disk);
    served.end();
    Some(checked)
}

/// A database on the disk has rows written until `end` ends the server; the last row whose commit was answered. What was `committed` before must
/// be there.
fn database_until(desk: &Path, disk: &Disk, committed: u64, end: impl FnOnce()) -> Result<u64, String> {
    disk.try_mount()?;
    let mut database = Database::open(desk)?;
    let last = database.look(committed)?;
    let mut backup =
        program(desk, "fio --name=b --ioengine=nbd --rw=write --bs=128k --iodepth=8 --size=32m --loops=1000");
    let backup = backup.arg(format!("--uri={WRITER}")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut backup = backup.spawn().expect("fio");
    // A few more are on their way when it ends.
    let until = last + 20 + last % 7;
    (last + 1..=until + 30).for_each(|n| database.add(n));
    let mut committed = last;
    while committed < until
        && let Ok(n) = database.answer().parse()
    {
        committed = n;
    }
    let stopped = committed < until;
    end();
    database.leave();
    while let Ok(n) = database.answer().parse() {
        committed = n;
    }
    let _ = backup.kill();
    let _ = backup.wait();
    if stopped { Err(format!("the database stopped behind row {committed}")) } else { Ok(committed) }
}

/// Writes are done in a buffer that the drive loses with its power, of which each flow has a part, so that a flush takes its time.
const VOLATILE: [&str; 8] = [
    "--set",
    "device.buffer.pages=512",
    "--set",
    "device.buffer.per_flow=true",
    "--set",
    "device.buffer.flush_above=200",
    "--set",
    "device.buffer.write_back=true",
];

#[test]
fn a_database_is_sound_after_the_server_was_killed() {
    database_survives(2, &[], |_, served| drop(served));
}

#[test]
#[ignore = "nightly: a database and 20 kills of the server"]
fn a_database_is_sound_after_many_kills() {
    database_survives(20, &[&["--scheduler", "read-first"][..], &VOLATILE].concat(), |_, served| drop(served));
}

/// Cuts the power; the server has ended by itself.
fn cut(desk: &Path, served: Served) {
    let done = flashlane(desk, &["ctl", "ctl", "power-cut"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let said = served.ended();
    assert!(said.contains("the power was cut") && said.contains(" pages of answered writes"), "{said}");
}

#[test]
fn a_database_is_sound_after_power_cuts() {
    database_survives(2, &[&["--ctl", "ctl"][..], &VOLATILE].concat(), cut);
}

#[test]
#[ignore = "nightly: a database and 20 power cuts"]
fn a_database_is_sound_after_many_power_cuts() {
    database_survives(20, &[&["--ctl", "ctl", "--scheduler", "read-first"][..], &VOLATILE].concat(), cut);
}

/// If flushes are answered that were not done, power cuts take what was committed, and the tests above would fail.
#[test]
fn a_database_is_lost_if_flushes_are_not_done() {
    let args = [&["--ctl", "ctl", "--ignore-flushes"][..], &VOLATILE].concat();
    if let Some(found) = database_after(10, &args, cut) {
        assert!(found.is_err(), "ten power cuts took nothing");
    }
}
