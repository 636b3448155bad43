//! A used drive's state, stored and taken up by a device built later: it acts as the one that was used.

use crate::common::play::{Mix, TestRequest, asks, hand_over};
use crate::common::{slc_cache, small_gc_drive};
use flashlane_audit::{Auditor, Policy, Start};
use flashlane_core::{Completion, Duration, PlaneId, Time};
use flashlane_sched::catalogue::{Recipe, build, schedulers};
use flashlane_ssd::config::{Buffer, Config, FlowConfig, FullCache, Latency, Mapping, Precondition, SlcCache, Victim};
use flashlane_ssd::{Device, Replayed, SavedUse};
use rand_pcg::Pcg64Mcg;
use serde::de::DeserializeSeed;

/// A small drive that collects garbage all the time, with random victims and random times.
fn drive() -> Config {
    let mut config = small_gc_drive();
    config.gc.victim = Victim::DChoices(3);
    config.nand.read = Latency::Gaussian { mean: Duration::from_us(75), sd: Duration::from_us(5) };
    config.flows = (0..2).map(|_| FlowConfig::at_priority(0)).collect();
    config
}

fn with_buffer() -> Config {
    let buffer = Buffer { per_flow: true, read_allocate: true, protected: true, ..Buffer::plain(64, 20) };
    Config { buffer: Some(buffer), ..drive() }
}

/// With fewer entries of the map in memory than the drive has.
fn with_mapping() -> Config {
    let mut config = drive();
    config.ftl.logical_pages = config.geometry.planes() * 16 * 15;
    config.mapping = Some(Mapping {
        entries: 200,
        host_entries: 50,
        entries_per_page: 64,
        entry_bytes: 8,
        read_bytes: 512,
        warm: true,
    });
    config
}

/// With blocks in SLC mode, some of them always, and with `dynamic` also free ones, beside a buffer and a map that does not fit.
fn with_slc(dynamic: bool) -> Config {
    let mut config = with_mapping();
    config.ftl.logical_pages = config.geometry.planes() * 16 * 9;
    config.buffer = with_buffer().buffer;
    let (idle, full) =
        if dynamic { (None, FullCache::Direct) } else { (Some(Duration::from_us(300)), FullCache::Fold) };
    config.slc = Some(SlcCache { dynamic, idle, full, ..slc_cache(2, 2) });
    config
}

/// With rows of four pages, in which pages of the buffer and of the map are gathered.
fn with_rows(full: FullCache) -> Config {
    let mut config = with_slc(full == FullCache::Direct);
    config.geometry.slots = 4;
    config.ftl.logical_pages = config.geometry.planes() * 16 * 6;
    config.buffer = Some(Buffer { protected: true, ..Buffer::plain(256, 20) });
    config
}

/// The schedulers that remember nothing of what was before: no counts of channels, no owners of pages.
fn recipes() -> Vec<Recipe> {
    let all = schedulers().iter().map(|row| Recipe { base: Some(row.name.to_owned()), ..Recipe::default() });
    let forgets = |recipe: &Recipe| {
        build(recipe).is_ok_and(|scheduler| {
            let declares = scheduler.declares();
            !declares.admit.needs_buffer && !declares.order.needs.estimates && !declares.keeps().page_flows
        })
    };
    all.filter(forgets).collect()
}

fn requests(config: &Config, start: u64, seed: u64) -> Vec<TestRequest> {
    let mix = Mix { requests: 500, gap: 40_000, reads: 40, pages: 4, hot: 20, partial: 30, scattered: 20 };
    let mut asks = asks(config, &mix, &mut Pcg64Mcg::new(u128::from(seed) | 1));
    asks.iter_mut().for_each(|ask| ask.at += start);
    asks
}

fn serve(device: &mut Device, asks: &[TestRequest]) -> Vec<Completion> {
    for (ask, id) in asks.iter().zip(0..) {
        device.advance(Time::from_ns(ask.at));
        hand_over(device, id, ask);
    }
    // It is switched off with pages in SLC mode.
    device.end_idle_time(device.now());
    assert!(device.drain(Time::LAST));
    assert_eq!((device.fault(), device.outstanding()), (None, 0));
    device.check();
    std::mem::take(device.completions())
}

fn stored(device: &Device) -> Vec<u8> {
    postcard::to_stdvec(&device.used_state()).expect("stored")
}

fn read(config: &Config, bytes: &[u8]) -> Result<Replayed, postcard::Error> {
    SavedUse(config).deserialize(&mut postcard::Deserializer::from_bytes(bytes))
}

const LATER: u64 = 10_000_000_000;

/// Under every scheduler, and from every one to the next: the same completions, and the same state after them.
#[test]
fn a_drive_taken_up_acts_as_the_used_one() {
    let with_cache = [(with_slc(false), "slc"), (with_slc(true), "dynamic slc")];
    let mut open = 0;
    let others = [(drive(), "plain"), (with_buffer(), "buffer"), (with_mapping(), "mapping")];
    for (config, name) in with_cache.into_iter().chain(others) {
        config.check().expect("a legal drive");
        let all = recipes();
        assert!(all.len() > 10, "{}", all.len());
        let mut held = 0;
        for (i, recipe) in all.iter().enumerate() {
            let before = &all[(i + 1) % all.len()];
            let mut used = Device::new(&config, build(before).expect("a recipe")).expect("a legal drive");
            serve(&mut used, &requests(&config, 0, i as u64));
            let bytes = stored(&used);
            let state = read(&config, &bytes).expect("a state");
            let mut later = Device::in_state(&config, build(recipe).expect("a recipe"), Some(state)).expect("legal");
            assert!(later.began_used() && stored(&later) == bytes, "{name}, {recipe:?}");
            used.change_scheduler(&config, build(recipe).expect("a recipe"));
            let asks = requests(&config, LATER, 100 + i as u64);
            let (one, other) = (serve(&mut used, &asks), serve(&mut later, &asks));
            let differing = one.iter().zip(&other).find(|(one, other)| one != other);
            assert_eq!(differing, None, "{name}, {before:?} to {recipe:?}");
            assert!(later.totals().erases > 20 && later.totals().erases < used.totals().erases);
            assert!(stored(&used) == stored(&later), "{name}, {recipe:?}");
            let states = later.slc_states();
            held += states.iter().filter(|state| !state.filled.is_empty()).count();
            open += states.iter().filter(|state| state.open.is_some()).count();
        }
        assert_eq!(config.slc.is_some(), held > all.len(), "{name}: {held} planes held pages in SLC mode");
    }
    assert!(open > 20, "{open} blocks in SLC mode were not full");
}

/// The auditor knows such a drive's pages from the device, and finds nothing wrong.
#[test]
fn the_auditor_takes_it_up_too() {
    let in_rows = [FullCache::Direct, FullCache::Fold].map(with_rows);
    let mut to_write = 0;
    for config in [drive(), with_buffer(), with_mapping(), with_slc(false), with_slc(true)].into_iter().chain(in_rows) {
        for recipe in &recipes()[..6] {
            let scheduler = || build(recipe).expect("a recipe");
            let mut used = Device::new(&config, scheduler()).expect("a legal drive");
            serve(&mut used, &requests(&config, 0, 7));
            let bytes = stored(&used);
            let state = read(&config, &bytes).expect("a state");
            let mut later = Device::in_state(&config, scheduler(), Some(state)).expect("legal");
            assert!(stored(&later) == bytes, "{recipe:?}");
            to_write += later.held_entries().iter().filter(|entry| entry.0.0 >= config.ftl.logical_pages).count();
            later.report_events();
            let mut auditor = {
                let (lpn_of, written) =
                    (|plane, ppa| later.lpn_at(plane, ppa), |plane, block| later.written_in(plane, block));
                Auditor::new(&config, Policy::of(&scheduler()), Start::Known { lpn_of: &lpn_of, written: &written }, 8)
            };
            auditor.memory_holds(&later.buffered(), &later.held_entries());
            for (plane, state) in (0..).map(PlaneId).zip(later.slc_states()) {
                let open = state.open.map(|(block, _)| block);
                auditor.slc_holds(plane, open, &state.filled, state.erased.len() as u32);
            }
            serve(&mut later, &requests(&config, LATER, 8));
            later.events().drain(..).for_each(|event| auditor.observe(&event));
            let verdict = auditor.finish();
            assert!(verdict.is_clean(), "{recipe:?}: {verdict}");
        }
    }
    assert!(to_write > 10, "{to_write} translation pages were still to be written");
}

/// A state whose blocks in SLC mode do not agree with its cache is refused: of more static blocks, or with more dynamic ones than
/// there may be.
#[test]
fn another_cache_refuses_it() {
    // Half of the drive is free, so that there are dynamic blocks.
    let config = Config { precondition: Precondition::Filled { per_mille: 300 }, ..with_slc(true) };
    let mut used = Device::new(&config, build(&recipes()[0]).expect("a recipe")).expect("a legal drive");
    serve(&mut used, &requests(&config, 0, 9));
    let bytes = stored(&used);
    assert!(used.slc_states().iter().any(|state| state.filled.iter().any(|&block| block < config.native_blocks())));
    assert!(read(&config, &bytes).is_ok());
    let with = |change: fn(&mut SlcCache)| {
        let mut other = config.clone();
        other.slc.as_mut().map(change).expect("a cache");
        other
    };
    let others =
        [with(|slc| slc.dynamic = false), with(|slc| slc.dynamic_limit = 1), with(|slc| slc.static_blocks = 3)];
    for other in others {
        assert!(read(&other, &bytes).is_err(), "{:?}", other.slc);
    }
}

/// The state of a drive of another size, or with another buffer, is refused.
#[test]
fn another_drive_refuses_it() {
    let config = with_buffer();
    let fcfs = || build(&recipes()[0]).expect("a recipe");
    let mut used = Device::new(&config, fcfs()).expect("a legal drive");
    serve(&mut used, &requests(&config, 0, 9));
    let bytes = stored(&used);
    assert!(read(&config, &bytes).is_ok());
    let mut larger = config.clone();
    larger.geometry.blocks_per_plane += 2;
    let mut smaller_buffer = config.clone();
    smaller_buffer.buffer.as_mut().expect("a buffer").pages = 8;
    for other in [larger, smaller_buffer, drive(), Config { mapping: with_mapping().mapping, ..config }] {
        assert!(read(&other, &bytes).is_err());
    }
}
