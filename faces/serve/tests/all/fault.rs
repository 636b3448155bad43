//! A drive that stops for good.

use std::time::Duration;

use flashlane_core::PlaneId;
use flashlane_core::board::Board;
use flashlane_core::decide::{PageWrite, Place};
use flashlane_serve::{Address, Backing, Options};
use flashlane_ssd::Device;

use super::client::Client;
use super::{SCENARIO, Served};

/// Puts every page on one plane, which is full before the drive is.
struct OnePlane;

impl Place for OnePlane {
    fn plane(&mut self, _: &Board, _: PageWrite) -> PlaneId {
        PlaneId(0)
    }
}

/// From the fault on every command of every client fails with an I/O error; the server goes on, and its report has the cause.
#[test]
fn after_a_fault_everything_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let options = Options {
        nbd: Some(Address::Unix(socket.clone())),
        data: Backing::File(folder.path().join("contents")),
        time_scale: 0.01,
        state: Some(folder.path().join("contents.state")),
        control: Some(folder.path().join("ctl")),
        ..Options::default()
    };
    let served = Served::changed(options, SCENARIO.replace("precondition.state = \"steady\"\n", ""), |drive| {
        let (mut scheduler, _) = drive.schedulers.named("read-first").unwrap_or_else(|why| panic!("{why}"));
        scheduler.place = Box::new(OnePlane);
        drive.device = Device::in_state(drive.schedulers.config(), scheduler, None).expect("a drive");
    });
    let [mut db, mut backup] = ["db", "backup"].map(|export| Client::open(&socket, export, true));
    backup.write(0, &[3; 8192]);
    // The plane has 512 pages.
    let page = 8192;
    let cookies: Vec<u64> = (0..600).map(|at| db.send(1, at * page, page as u32, &[5; 8192])).collect();
    let answers: Vec<(u64, u32)> =
        cookies.iter().map(|_| db.answer(0)).map(|(cookie, error, _)| (cookie, error)).collect();
    let failed = answers.iter().filter(|(_, error)| *error == 5).count();
    assert!(failed > 80 && answers.iter().all(|(_, error)| matches!(error, 0 | 5)), "{failed}");
    for client in [&mut db, &mut backup] {
        for (kind, length) in [(0, 8192), (1, 8192), (3, 0), (4, 8192), (6, 8192)] {
            let data = vec![1; if kind == 1 { 8192 } else { 0 }];
            let cookie = client.send(kind, 0, length, &data);
            assert_eq!(client.answer(length), (cookie, 5, Vec::new()), "{kind}");
        }
    }
    let mut late = Client::open(&socket, "db", false);
    let cookie = late.send(0, 0, 512, &[]);
    assert_eq!(late.answer(512), (cookie, 5, Vec::new()), "a client that comes later");
    let said = served.faults.recv().expect("it is said when it happens");
    assert!(served.faults.try_recv().is_err(), "once");
    let stats = flashlane_serve::send(&folder.path().join("ctl"), "stats", Duration::from_secs(60)).expect("figures");
    assert!(stats.starts_with(&said), "{stats}");
    let report = served.end();
    let fault = report.fault.expect("the cause");
    assert_eq!(fault, said);
    assert!(fault.contains("the modelled drive stopped at ") && fault.contains("out of space: plane 0 "), "{fault}");
    assert_eq!(report.exports.iter().map(|export| export.failed).sum::<u64>(), failed as u64 + 11);
    assert!(!folder.path().join("contents.state").exists(), "a stopped drive is not kept: {:?}", report.kept);
    let contents = std::fs::read(folder.path().join("contents")).expect("the contents");
    let kept = contents.chunks(page as usize).filter(|page| page[0] == 5).count();
    assert_eq!(kept, 600 - failed, "what was answered is there");
}
