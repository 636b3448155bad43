//! A Linux in software emulation has two exports of a served drive as its NVMe disks.
//!
//! The emulator, the kernel and the guest's programs come from packages that `tools/setup.sh guest` unpacks and does not install.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::common::{folder, text};
use super::serve::Served;
use super::serve_tools::{have, program, run};

/// The folder of the unpacked packages; says so if there is none.
fn unpacked() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("guest");
    if folder.join("boot/vmlinuz").exists() {
        return Some(folder);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "CI needs a guest: tools/setup.sh guest");
    println!("SKIPPED: no guest (tools/setup.sh guest fetches it): no Linux had a served drive as its disks");
    None
}

/// An archive that the kernel unpacks at its start (cpio, newc): name, mode, contents.
fn archive(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, (name, mode, contents)) in (1..).zip(files.iter().chain([&("TRAILER!!!", 0, &[][..])])) {
        let sizes = [contents.len() as u32, 0, 0, 0, 0, name.len() as u32 + 1, 0];
        let head = [number, *mode, 0, 0, 1, 0].into_iter().chain(sizes).map(|field| format!("{field:08x}"));
        bytes.extend_from_slice(format!("070701{}{name}\0", head.collect::<String>()).as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(contents);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// Boots the guest; what it has said at its end.
fn boot(packages: &Path, desk: &Path) -> String {
    let busybox = std::fs::read(packages.join("bin/busybox")).expect("the guest's programs");
    let script = include_bytes!("../guest.sh");
    let files = [("bin", 0o40_755, &[][..]), ("bin/busybox", 0o100_755, &busybox), ("init", 0o100_755, script)];
    std::fs::write(desk.join("initrd"), archive(&files)).expect("written");
    let (of, libraries) = (packages.display(), "lib/x86_64-linux-gnu");
    // Where a package was installed already, its files are the system's.
    let mut qemu = program(desk, "env");
    qemu.arg(format!("LD_LIBRARY_PATH={of}/usr/{libraries}:{of}/{libraries}"));
    qemu.arg(format!("QEMU_MODULE_DIR={of}/usr/{libraries}/qemu")).arg(packages.join("usr/bin/qemu-system-x86_64"));
    for data in ["qemu", "seabios"] {
        qemu.arg("-L").arg(packages.join("usr/share").join(data)).arg("-L").arg(Path::new("/usr/share").join(data));
    }
    qemu.args(
        "-accel tcg -cpu max -m 256 -nodefaults -display none -serial stdio -no-reboot -initrd initrd".split(' '),
    );
    // Without no_timer_check a kernel that gets little of a busy machine finds its timer broken.
    qemu.args(["-append", "console=ttyS0 panic=-1 quiet no_timer_check", "-kernel"]).arg(packages.join("boot/vmlinuz"));
    for export in ["reader", "writer"] {
        let nbd = "driver=nbd,server.type=unix,server.path=socket,if=none,cache.direct=on,discard=unmap";
        qemu.args(["-drive", &format!("{nbd},export={export},id={export}")]);
        qemu.args(["-device", &format!("nvme,drive={export},serial={export}")]);
    }
    let done = qemu.output().expect("the emulator runs");
    let said = text(&done.stdout) + &text(&done.stderr);
    assert!(done.status.success(), "{}: {said}", done.status);
    said
}

/// The guest makes a file system, writes files and bytes past its page cache, trims, and reads all of it back after its caches were dropped;
/// then the file of the contents has it.
#[test]
#[ignore = "nightly: a Linux boots in software emulation, from packages of 44 MB"]
fn a_guest_has_it_as_its_disks() {
    let Some(packages) = unpacked() else { return };
    if !have(&["e2fsck", "debugfs"]) {
        return;
    }
    let folder = folder();
    let desk = folder.path();
    let served = Served::begin(desk, &["--data", "contents", "--scheduler", "read-first"]);
    let guest = boot(&packages, desk);
    let said = served.end();
    assert!(guest.contains("all was as it was written"), "{guest}{said}");
    assert!(said.contains(" + 0 failed + 0 refused"), "{said}");
    for export in ["reader", "writer"] {
        for kind in [" flush ", " trim "] {
            assert!(
                said.lines().any(|line| line.starts_with(export) && line.contains(kind)),
                "{export},{kind}: {said}"
            );
        }
    }
    // The first export is the first half of the drive.
    let mut contents = File::open(desk.join("contents")).expect("the contents");
    let half = contents.metadata().expect("its size").len() / 2;
    let mut disk = File::create(desk.join("disk")).expect("made");
    std::io::copy(&mut (&contents).take(half), &mut disk).expect("copied");
    run(desk, "e2fsck -f -n disk");
    for name in ["copy3", "random"] {
        let done =
            program(desk, "debugfs -R").args([&format!("dump /{name} {name}"), "disk"]).output().expect("it runs");
        assert!(done.status.success() && desk.join(name).exists(), "{}", text(&done.stderr));
    }
    let file = |path: &Path| std::fs::read(path).expect("a file");
    assert!(file(&desk.join("copy3")) == file(&packages.join("bin/busybox")));
    let mut raw = vec![0; 4 << 20];
    contents.seek(SeekFrom::Start(half + (192 << 10))).expect("within the second export");
    contents.read_exact(&mut raw).expect("the bytes of the other disk");
    assert!(raw == file(&desk.join("random")));
}
