//! Parameters of schedulers: legal from their least to their greatest value and not beyond, and none without an effect.
//!
//! The tests go through the catalogue, so a parameter is tested as soon as it is listed. The effect of single values is
//! tested beside each answer.

use crate::common::play::{Mix, TestRequest, asks, audit, built, conserved, hand_over};
use crate::common::small_gc_drive;
use flashlane_core::event::Event;
use flashlane_core::{Completion, Duration, Time};
use flashlane_scenario::Scenario;
use flashlane_sched::catalogue::{AnswerEntry, Question, Recipe, SHIPPED, build, schedulers};
use flashlane_sim::{Options, compare};
use flashlane_ssd::config::{Buffer, Config, FlowConfig};
use rand_pcg::Pcg64Mcg;

/// The first scheduler with this answer, else the simplest one with the answer put in.
fn recipe(question: Question, answer: &str, params: &[(&str, u64)]) -> Recipe {
    let params = params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    match schedulers().iter().find(|entry| entry.answers[question] == answer) {
        Some(entry) => {
            // Units that collect whenever they have nothing to do would never take writes from others.
            let open = entry.open.iter().map(|&question| (question, "non-preemptive".to_owned()));
            Recipe { base: Some(entry.name.to_owned()), answers: open.collect(), params, ..Recipe::default() }
        }
        None => Recipe { answers: vec![(question, answer.to_owned())], params, ..Recipe::default() },
    }
}

/// Every answer that has parameters, with its question.
fn with_parameters() -> impl Iterator<Item = (Question, &'static AnswerEntry)> {
    let listed = Question::ALL.into_iter().flat_map(|q| SHIPPED.answers(q).map(move |answer| (q, answer)));
    listed.filter(|(_, answer)| !answer.params.is_empty())
}

/// The least and the greatest value are legal, and so are the defaults; one less and one more are refused with the
/// parameter's name and its legal values.
#[test]
fn ranges_end_where_they_say() {
    let mut checked = 0;
    for (question, answer) in with_parameters() {
        for param in answer.params {
            let with = |value| recipe(question, answer.name, &[(param.name, value)]);
            assert!(param.min < param.max && (param.min..=param.max).contains(&param.default), "{param:?}");
            for legal in [param.min, param.default, param.max] {
                assert!(build(&with(legal)).is_ok(), "{} = {legal}", param.name);
            }
            for illegal in [param.min.checked_sub(1), param.max.checked_add(1)].into_iter().flatten() {
                let why = SHIPPED.resolve(&with(illegal)).expect_err(param.name);
                assert_eq!((why.key.as_str(), why.value), (param.name, illegal.to_string()));
                let range = format!("{} to {} {}", param.min, param.max, param.unit);
                assert_eq!(why.legal, if param.unit == "0 or 1" { "0 or 1" } else { &range });
            }
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked} parameters");
}

/// A small drive in steady state whose two flows at times send more than it can serve.
fn three_flow_drive() -> Config {
    let mut config = small_gc_drive();
    config.flows = vec![FlowConfig::at_priority(0); 3];
    (config.nand.suspend, config.nand.resume) = (Duration::from_us(5), Duration::from_us(7));
    config
}

/// Requests every `gap` ns, of which `reads` percent read.
fn workload(config: &Config, gap: u64, reads: u32) -> Vec<TestRequest> {
    let mix = Mix { requests: 1500, gap, reads, pages: 6, hot: 20, partial: 20, scattered: 20 };
    let mut asks = asks(config, &mix, &mut Pcg64Mcg::new(11));
    // One flow sends most requests, the other few.
    for (i, ask) in asks.iter_mut().enumerate() {
        ask.flow = if i % 16 == 0 { 2 } else { u16::from(i % 4 == 0) };
    }
    asks
}

/// When requests were done, and the estimates.
#[derive(PartialEq)]
struct Seen(Vec<Completion>, Vec<(Time, i64)>);

fn played(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Seen {
    let (mut device, _) = built(config, recipe).expect("legal");
    device.report_events();
    let mut seen = Seen(Vec::new(), Vec::new());
    let mut look = |device: &mut flashlane_ssd::Device| {
        seen.0.append(device.completions());
        seen.1.extend(device.events().drain(..).filter_map(|s| match s.event {
            Event::Estimated { estimate, .. } => Some((s.at, estimate.response().ns() as i64 + estimate.correction)),
            _ => None,
        }));
    };
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        hand_over(&mut device, id as u64, ask);
        look(&mut device);
    }
    loop {
        let next = device.next_event();
        if next == Time::NEVER {
            break;
        }
        device.advance(next);
        look(&mut device);
    }
    look(&mut device);
    conserved(asks, &seen.0).unwrap_or_else(|why| panic!("{recipe:?}: {why}"));
    seen
}

/// Every parameter has a value that changes when requests are done, or the estimates.
#[test]
fn every_parameter_has_an_effect() {
    let usual = three_flow_drive();
    let asks = workload(&usual, 350_000, 60);
    // Commands that are compared must have to wait.
    let mut narrow = three_flow_drive();
    narrow.front.in_flight = 4;
    narrow.buffer = Some(Buffer { read_allocate: true, ..Buffer::plain(60, 50) });
    // The buffer's programs keep nobody waiting only while it has space.
    let mut spacious = three_flow_drive();
    spacious.buffer =
        narrow.buffer.clone().map(|buffer| Buffer { pages: 400, flush_above: 0, read_allocate: false, ..buffer });
    let many_reads = workload(&spacious, 80_000, 90);
    let mut preferring = three_flow_drive();
    (preferring.flows[2], preferring.priorities) = (FlowConfig::at_priority(1), 2);
    let mut idle = Vec::new();
    for (question, answer) in with_parameters() {
        for param in answer.params {
            let (config, asks) = match (answer.name, param.name) {
                ("shortest", _) | (_, "fetch_burst") => (&narrow, &asks),
                (_, "worth_cap_buffer") => (&spacious, &many_reads),
                (_, "fcfs_by_priority") => (&preferring, &asks),
                _ => (&usual, &asks),
            };
            // The estimator uses places only if writes get theirs on arrival.
            let needs: &[(&str, u64)] = if answer.name == "dynamic" && param.name != "bind_at_arrival" {
                &[("bind_at_arrival", 1)]
            } else {
                &[]
            };
            let with = |value: u64| {
                let params: Vec<(&str, u64)> = needs.iter().copied().chain([(param.name, value)]).collect();
                played(config, &recipe(question, answer.name, &params), asks)
            };
            let usual = with(param.default);
            // Some have an effect only between the ends of their range.
            let between = match param.name {
                "epoch_us" => 2_000,
                "rate_window" => 4,
                "budget_round_us" => 5_000,
                "late_fair" => 1,
                _ => param.min.midpoint(param.max),
            };
            let values = [param.min, param.max, between].into_iter().filter(|&value| value != param.default);
            if !values.into_iter().any(|value| with(value) != usual) {
                idle.push(format!("{question} = {}: {}", answer.name, param.name));
            }
        }
    }
    assert!(idle.is_empty(), "no effect: {idle:?}");
}

/// Extreme values make legal runs, checked by the auditor.
#[test]
fn the_ends_of_ranges_are_legal_runs() {
    let config = three_flow_drive();
    let asks = &workload(&config, 350_000, 60)[..300];
    for (question, answer) in with_parameters() {
        for param in answer.params {
            for value in [param.min, param.max] {
                let recipe = recipe(question, answer.name, &[(param.name, value)]);
                let (_, verdict) = audit(&config, &recipe, asks).unwrap_or_else(|why| panic!("{recipe:?}: {why}"));
                assert!(verdict.events > 1_000);
            }
        }
    }
}

/// What is wrong in a mix is said at its own key.
#[test]
fn an_error_of_a_mix_names_the_key() {
    for (mix, expected) in [
        (r#"{ name = "m", base = "late", bogus = 1 }"#, "s:1:50: scheduler.bogus = 1: no such parameter; there are "),
        (
            r#"{ name = "m", base = "late", place = "laet" }"#,
            "s:1:50: scheduler.place = \"laet\": no such place; there are ",
        ),
        (r#"{ name = "m", base = "laet" }"#, "s:1:34: scheduler.base = \"laet\": no such scheduler; there are fcfs, "),
        (r#"{ base = "laet" }"#, "s:1:22: scheduler.base = \"laet\": no such scheduler; there are fcfs, "),
        (r#""laet""#, "s:1:13: scheduler = \"laet\": no such scheduler; there are fcfs, "),
        (r#"{ name = "m", base = "late", shadow = 2 }"#, "s:1:51: scheduler.shadow = 2: must be 0 or 1"),
        (r#"{ name = "late", place = "late" }"#, "s:1:22: scheduler.name = \"late\": is the name of a scheduler "),
    ] {
        let text = format!("scheduler = {mix}\n[[flow]]\nsynthetic = {{ rate_iops = 9, requests = 1 }}\n");
        let scenario = Scenario::parse("s", text).unwrap_or_else(|why| panic!("{why}"));
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        let error = compare(&scenario, &options).map(|_| ()).expect_err("refused").to_string();
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(error.ends_with("; did you mean \"late\"?"), error.contains("laet"), "{error}");
    }
}
