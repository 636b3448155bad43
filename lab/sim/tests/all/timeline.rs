//! Timelines: the file is read back by the published field numbers, with a reader of its own: bytes, tags and lengths, nothing of the writer's.

use std::collections::BTreeMap;
use std::io::Read;

use crate::common::busy::{busy, busy_for};
use flashlane_core::event::{End, Event, Stamped};
use flashlane_report::results::{Timeline, TimelineFormat};
use flashlane_scenario::Scenario;
use flashlane_sim::{ObserverOptions, run_observed};

/// A field of a message: its number, and what it holds.
#[derive(Clone, Debug)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

/// A message.
type Message = Vec<(u64, Field)>;

/// The fields of a message, as protobuf's encoding has them.
fn fields(mut bytes: &[u8]) -> Message {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        unreachable!("a varint ends")
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (eight, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(eight.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (inside, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(inside.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        found.push((tag >> 3, field));
    }
    found
}

fn number(message: &[(u64, Field)], field: u64) -> Option<u64> {
    message.iter().find_map(|(number, value)| match value {
        Field::Number(value) if *number == field => Some(*value),
        _ => None,
    })
}

fn numbers(message: &[(u64, Field)], field: u64) -> Vec<u64> {
    let of = |(number, value): &(u64, Field)| match value {
        Field::Number(value) if *number == field => Some(*value),
        _ => None,
    };
    message.iter().filter_map(of).collect()
}

fn messages(message: &[(u64, Field)], field: u64) -> Vec<Vec<u8>> {
    let of = |(number, value): &(u64, Field)| match value {
        Field::Bytes(bytes) if *number == field => Some(bytes.clone()),
        _ => None,
    };
    message.iter().filter_map(of).collect()
}

/// All packets of a trace, those in compressed groups included.
fn packets(bytes: &[u8]) -> Vec<Message> {
    let mut all = Vec::new();
    for packet in messages(&fields(bytes), 1) {
        let packet = fields(&packet);
        let compressed = messages(&packet, 50);
        if compressed.is_empty() {
            all.push(packet);
        }
        for group in compressed {
            let mut inside = Vec::new();
            flate2::read::ZlibDecoder::new(group.as_slice()).read_to_end(&mut inside).expect("zlib");
            all.extend(packets(&inside));
        }
    }
    all
}

/// Runs the scenario; returns the file, and how many transactions ended on the flash.
fn timeline(format: TimelineFormat, window: (u64, u64)) -> (Vec<u8>, u64) {
    timeline_of(&busy("sprinkler", 0.0), format, window)
}

fn timeline_of(scenario: &Scenario, format: TimelineFormat, window: (u64, u64)) -> (Vec<u8>, u64) {
    let geometry = scenario.device_config().expect("a device").geometry;
    let names = ["reader".to_owned(), "writer".to_owned()];
    let mut timeline = Timeline::new(Vec::new(), format, geometry, &names, window, window.0 > 0).expect("memory");
    let mut ended = 0;
    let mut show = |stamped: &Stamped| {
        ended += u64::from(matches!(stamped.event, Event::Ended { end: End::Flash, .. }));
        timeline.observe(stamped);
    };
    let observers = ObserverOptions { events: Some(&mut show), ..ObserverOptions::default() };
    run_observed(scenario, observers).expect("a run");
    (timeline.finish().expect("written"), ended)
}

/// A timeline knows whether anything falls into its window; where dies take commands themselves, chips have no tracks.
#[test]
fn a_window_after_the_end_shows_nothing() {
    for (window, is_empty) in [((0, u64::MAX), false), ((1_000_000_000_000, u64::MAX), true)] {
        let mut scenario = busy("sprinkler", 0.0);
        let unit = [("device.geometry.unit".to_owned(), "die".to_owned())];
        scenario.assign(&unit).expect("a key of the device");
        let geometry = scenario.device_config().expect("a device").geometry;
        let (names, chrome) = (["reader".to_owned(), "writer".to_owned()], TimelineFormat::Chrome);
        let mut timeline = Timeline::new(Vec::new(), chrome, geometry, &names, window, false).expect("memory");
        let mut show = |stamped: &Stamped| timeline.observe(stamped);
        let observers = ObserverOptions { events: Some(&mut show), ..ObserverOptions::default() };
        run_observed(&scenario, observers).expect("a run");
        assert_eq!(timeline.is_empty(), is_empty, "{window:?}");
        let text = String::from_utf8(timeline.finish().expect("written")).expect("text");
        assert!(text.contains("\"die 0.0.0\"") && !text.contains("\"chip 0.0\""), "{text}");
    }
}

#[test]
fn perfetto_reads_whole_nested_slices_on_named_tracks() {
    let (bytes, _) = timeline(TimelineFormat::Perfetto, (0, u64::MAX));
    let packets = packets(&bytes);
    let mut tracks: BTreeMap<u64, (String, bool)> = BTreeMap::new();
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    // By track and time, in the order of the file: how a reader sorts them.
    let mut events: Vec<(u64, usize, u64, Message)> = Vec::new();
    for (place, packet) in packets.iter().enumerate() {
        for descriptor in messages(packet, 60) {
            let descriptor = fields(&descriptor);
            let name = String::from_utf8(messages(&descriptor, 2).remove(0)).expect("text");
            let is_counter = !messages(&descriptor, 8).is_empty();
            tracks.insert(number(&descriptor, 1).expect("a uuid"), (name, is_counter));
        }
        for interned in messages(packet, 12) {
            for name in messages(&fields(&interned), 2) {
                let name = fields(&name);
                let text = String::from_utf8(messages(&name, 2).remove(0)).expect("text");
                names.insert(number(&name, 1).expect("an iid"), text);
            }
        }
        for event in messages(packet, 11) {
            let event = fields(&event);
            let track = number(&event, 11).expect("a track");
            events.push((number(packet, 8).expect("a time"), place, track, event));
        }
    }
    let named = |name: &str| tracks.values().filter(|(own, _)| own == name).count();
    assert_eq!((named("channel 1"), named("die 1.1.0"), named("flow reader"), named("flow writer")), (1, 1, 1, 1));
    events.sort_by_key(|(at, place, ..)| (*at, *place));
    let mut open: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut waiting: BTreeMap<u64, i64> = BTreeMap::new();
    let (mut leaves, mut arrives) = (Vec::new(), Vec::new());
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for (_, _, track, event) in &events {
        match number(event, 9) {
            Some(1) => {
                let name = names[&number(event, 10).expect("a name")].clone();
                leaves.extend(numbers(event, 47));
                arrives.extend(numbers(event, 48));
                *seen.entry(name.clone()).or_default() += 1;
                let stack = open.entry(*track).or_default();
                // Only a paused command may have others inside: in its pause.
                assert!(
                    stack.last().is_none_or(|outer| outer == "paused" || name == "paused" || name == "victim"),
                    "{stack:?} {name}"
                );
                stack.push(name);
            }
            Some(2) => drop(open.get_mut(track).and_then(Vec::pop).expect("a slice that began")),
            Some(4) => drop(waiting.insert(*track, number(event, 30).expect("a value") as i64)),
            other => panic!("type {other:?}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice ended");
    assert!(waiting.values().all(|&waiting| waiting == 0), "nothing waits at the end: {waiting:?}");
    assert!(waiting.keys().all(|track| tracks[track].1), "counters are on counter tracks");
    for kind in ["read", "program", "paused", "erase", "move: read", "move: program", "read request", "write request"] {
        assert!(seen.get(kind).is_some_and(|&count| count > 0), "{kind}: {seen:?}");
    }
    assert_eq!((seen["read request"], seen["write request"]), (800, 60));
    leaves.sort_unstable();
    arrives.sort_unstable();
    assert_eq!(leaves, arrives, "every arrow has two ends");
    assert!(leaves.len() > 800 + 60 * 4 / 2);
}

#[test]
fn a_window_shows_what_touches_it() {
    let window = (20_000_000, 25_000_000);
    let (bytes, _) = timeline(TimelineFormat::Perfetto, window);
    let (whole, _) = timeline(TimelineFormat::Perfetto, (0, u64::MAX));
    assert!(bytes.len() * 3 < whole.len(), "{} of {}", bytes.len(), whole.len());
    let mut depth: BTreeMap<u64, i64> = BTreeMap::new();
    let mut ends = 0;
    for packet in packets(&bytes) {
        for event in messages(&packet, 11) {
            let event = fields(&event);
            let at = number(&packet, 8).expect("a time");
            let track = number(&event, 11).expect("a track");
            match number(&event, 9) {
                Some(1) => {
                    assert!(at <= window.1, "begins after the window: {at}");
                    *depth.entry(track).or_default() += 1;
                }
                Some(2) => {
                    assert!(at >= window.0, "ended before the window: {at}");
                    *depth.entry(track).or_default() -= 1;
                    ends += 1;
                }
                _ => assert!((window.0..=window.1).contains(&at), "a counter outside the window"),
            }
        }
    }
    assert!(ends > 20 && depth.values().all(|&depth| depth == 0), "{ends} {depth:?}");
}

/// A million transactions have less than 60 MB: docs/results/performance.md has the size of such a file, of which this is a fortieth.
#[test]
fn a_transaction_takes_sixty_bytes_at_most() {
    let (bytes, ended) = timeline_of(&busy_for("sprinkler", 0.0, 20), TimelineFormat::Perfetto, (0, u64::MAX));
    assert!(ended > 25_000, "{ended} transactions");
    let each = bytes.len() as f64 / ended as f64;
    assert!((20.0..60.0).contains(&each), "{each} bytes for each of {ended} transactions");
}

#[test]
fn the_twin_in_json_has_the_same_slices() {
    let (bytes, _) = timeline(TimelineFormat::Chrome, (0, u64::MAX));
    let json: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let events = json["traceEvents"].as_array().expect("a list");
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    let (perfetto, _) = timeline(TimelineFormat::Perfetto, (0, u64::MAX));
    let types = |kind: u64| {
        let packets = packets(&perfetto);
        let events = packets.iter().flat_map(|packet| messages(packet, 11));
        events.filter(|event| number(&fields(event), 9) == Some(kind)).count()
    };
    assert_eq!((of("B"), of("E"), of("C")), (types(1), types(2), types(4)));
    assert_eq!(of("s"), of("f"));
    assert!(events.iter().any(|event| event["args"]["name"] == "die 0.1.0"));
}

/// What a block layer holds back has lanes of its own: no slice of a flow overlaps another of its lane, and together they are as long as the waits.
#[test]
fn waits_above_the_drive_have_lanes() {
    let text = "scheduler = \"fcfs\"\ndevice = \"flin-isca18\"\n[block]\ndepth = 2\nmerges = false\n[[flow]]\nname = \"reader\"\n\
                synthetic = { requests = 200, read_ratio = 1.0, rate_iops = 40000, size = { constant = 4096 } }\n[[flow]]\nname = \"writer\"\n\
                synthetic = { requests = 100, read_ratio = 0.0, arrivals = \"closed-loop\", depth = 8, size = { constant = 4096 } }\n";
    let scenario = Scenario::parse("block.toml", text.to_owned()).expect("a scenario");
    let mut waited = 0;
    let mut count = |stamped: &Stamped| {
        if let Event::Submitted { arrival, .. } = stamped.event {
            waited += stamped.at.since(arrival).ns();
        }
    };
    let observers = ObserverOptions { events: Some(&mut count), ..ObserverOptions::default() };
    run_observed(&scenario, observers).expect("a run");
    let (bytes, _) = timeline_of(&scenario, TimelineFormat::Chrome, (0, u64::MAX));
    let json: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let events = json["traceEvents"].as_array().expect("a list");
    let name = |event: &serde_json::Value| event["args"]["name"].as_str().unwrap_or_default().to_owned();
    let is_of_flow = |name: &str| name.starts_with("reader ") || name.starts_with("writer ");
    let tracks = events.iter().filter(|event| event["name"] == "thread_name" && is_of_flow(&name(event)));
    let tracks: BTreeMap<u64, String> =
        tracks.map(|event| (event["tid"].as_u64().expect("a track"), name(event))).collect();
    let mut slices: Vec<&serde_json::Value> =
        events.iter().filter(|event| event["ph"] == "B" || event["ph"] == "E").collect();
    let ns = |event: &serde_json::Value| (event["ts"].as_f64().expect("a time") * 1e3).round() as u64;
    // At one instant a slice ends before the next begins.
    slices.sort_by_key(|event| (ns(event), event["ph"] == "B"));
    let (mut open, mut shown) = (BTreeMap::new(), 0);
    for slice in slices {
        let track = slice["tid"].as_u64().expect("a track");
        let Some(lane) = tracks.get(&track) else { continue };
        if slice["ph"] == "B" {
            assert_eq!(open.insert(track, ns(slice)), None, "{lane}: one slice at a time");
            assert_eq!(slice["name"] == "waits above the drive", lane.contains(" above the drive "), "{lane}");
        } else {
            let since = open.remove(&track).expect("a slice that began");
            shown += if lane.contains("above") { ns(slice) - since } else { 0 };
        }
    }
    assert!(open.is_empty() && waited > 0);
    assert_eq!(shown, waited);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert!(timeline(TimelineFormat::Perfetto, (0, u64::MAX)).0 == timeline(TimelineFormat::Perfetto, (0, u64::MAX)).0);
}
