//! Runs through a store: what comes out of it is what was measured, to the bit.

use super::*;
use flashlane_sim::Outcome;

/// A scenario of the smallest drive, with every part that figures can have.
fn document(seed: u64) -> Document {
    let text = format!(
        "schedulers = [\"fcfs\", \"read-first\"]\nseed = {seed}\n[device]\npreset = \"unit-cycle\"\n[run]\nslack = true\n\
         [[flow]]\nname = \"a\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = {{ constant = 2048 }}\nrate_iops = 100_000\nrequests = 200\n\
         [[flow]]\nname = \"b\"\n[flow.synthetic]\nread_ratio = 0.9\nsize = {{ constant = 2048 }}\nrate_iops = 30_000\nrequests = 90\n"
    );
    Scenario::parse("test", text).expect("a scenario").document().clone()
}

/// Numbers that a careless text would change: the shortest text of each is read as the same bits.
struct Delicate;

impl Counter for Delicate {
    const NAME: &'static str = "delicate 1";
    type Counts = Vec<f64>;

    fn of(_: &Scenario) -> Result<Delicate, RunError> {
        Ok(Delicate)
    }

    fn observe(&mut self, _: &Stamped) {}

    fn figures(self, outcome: &Outcome) -> Vec<f64> {
        let mean = outcome.flows[0].response_all().mean().unwrap_or(0.0);
        vec![0.1 + 0.2, -0.0, 5e-324, f64::MAX, 1.0 / 3.0, 8_188_030_092_111_111.0, mean / 7.0]
    }
}

#[test]
fn a_store_gives_back_what_was_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings::quick(Setting::Plain);
    let runs = || (1..=3).map(|seed| (seed, document(seed))).collect::<Vec<_>>();
    let plain = Runner::new(&settings, Place::default());
    let wanted = plain.compare(runs()).expect("runs");
    let counted = plain.count::<Delicate, _>(runs()).expect("runs");
    let mut sizes = Vec::new();
    for (round, found) in [(0, 0), (1, 6)] {
        let store = Store::open(&folder.path().join("store"), "1").expect("a store");
        let progress = Progress::default();
        let runner = Runner::new(&settings, Place { store: Some(&store), progress: Some(&progress) });
        let kept = runner.compare(runs()).expect("runs");
        assert_eq!(kept, wanted);
        assert_eq!(serde_json::to_string(&kept).expect("JSON"), serde_json::to_string(&wanted).expect("JSON"));
        let bits = |runs: &[(u64, Vec<f64>)]| -> Vec<Vec<u64>> {
            runs.iter().map(|(_, numbers)| numbers.iter().map(|number| number.to_bits()).collect()).collect()
        };
        // The same scenarios, and other figures of them: runs of their own.
        assert_eq!(bits(&runner.count::<Delicate, _>(runs()).expect("runs")), bits(&counted));
        assert_eq!((progress.found(), progress.made()), (found, 6 - found), "round {round}");
        assert_eq!(runner.scenarios(), plain.scenarios());
        sizes.push(progress.requests().done());
    }
    assert!(sizes[0] > 0 && sizes[1] == 0, "{sizes:?}");
    let [first, ..] = &wanted[..] else { panic!("three runs") };
    let run = &first.1.schedulers[1];
    assert!(run.slack.as_ref().is_some_and(|slack| slack.read.as_ref().is_some_and(|s| !s.cdf.requests.is_empty())));
    assert!(run.total.all.as_ref().is_some_and(|all| all.cdf.requests.is_empty() && all.mean_ns > 0.0));
    assert!(run.flows[1].slowdown_over_time.as_ref().is_some_and(|s| !s.slowdown.is_empty()));
}

#[test]
fn damaged_figures_are_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings::quick(Setting::Plain);
    let (store, progress) = (Store::open(&folder.path().join("store"), "1").expect("a store"), Progress::default());
    let runner = Runner::new(&settings, Place { store: Some(&store), progress: Some(&progress) });
    let wanted = runner.compare(vec![((), document(1))]).expect("a run");
    let names = store.results().names();
    let packs = std::fs::read_dir(folder.path().join("store/packs")).expect("packs");
    let pack = packs.map(|entry| entry.expect("an entry").path()).next().expect("a pack");
    let mut bytes = std::fs::read(&pack).expect("a record");
    *bytes.last_mut().expect("figures") ^= 1;
    std::fs::write(&pack, bytes).expect("written");
    assert!(runner.compare(vec![((), document(1))]).expect("made again") == wanted);
    assert_eq!((progress.damaged(), progress.made(), names.len()), (names, 2, 1));
}
