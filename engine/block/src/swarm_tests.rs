//! Random scenes: what the block layer does keeps to the auditor's rules, and what is changed in it does not.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::{
    Audit, Bio, Block, Class, Config, Deadline, ElevatorConfig, Event, FlowConfig, Kyber, Limit, Merging, Rule, Stamped,
};

const SLICE: Duration = Duration::from_us(100_000);
const SCENES: u64 = 2_000;
const BIOS: usize = 60;

fn draw(rng: &mut Pcg64Mcg, below: u64) -> u64 {
    rng.next_u64() % below
}

fn config(rng: &mut Pcg64Mcg) -> Config {
    let ms = |ms: u64| Duration::from_us(ms * 1_000);
    let elevator = match draw(rng, 3) {
        0 => ElevatorConfig::None,
        1 => ElevatorConfig::Kyber(Kyber {
            targets: [ms(1 + draw(rng, 20)), ms(1 + draw(rng, 20)), ms(5_000)],
            look: ms(100),
            jiffy: ms(4),
            patience: ms(draw(rng, 1_000)),
        }),
        _ => ElevatorConfig::MqDeadline(Deadline {
            read_expire: ms(1 + draw(rng, 50)),
            write_expire: ms(1 + draw(rng, 500)),
            fifo_batch: 1 + draw(rng, 8) as u32,
            writes_starved: draw(rng, 4) as u32,
            prio_aging_expire: ms(1 + draw(rng, 300)),
            jiffy: ms(4),
        }),
    };
    let depth = 1 + draw(rng, 6) as u32;
    let limit = |rng: &mut Pcg64Mcg| Limit {
        iops: (draw(rng, 3) == 0).then(|| 5 + draw(rng, 200)),
        bps: (draw(rng, 3) == 0).then(|| 50_000 + draw(rng, 2_000_000)),
    };
    let flows = (0..1 + draw(rng, 4))
        .map(|_| FlowConfig {
            threads: 1 + draw(rng, 3) as u32,
            class: [Class::RealTime, Class::BestEffort, Class::Idle][draw(rng, 3) as usize],
            limits: [limit(rng), limit(rng)],
        })
        .collect();
    let merging = (draw(rng, 3) > 0)
        .then(|| Merging { max_bytes: 8_192 << draw(rng, 6), max_segments: 1 + draw(rng, 10) as u32 });
    Config { tags: 1 + draw(rng, 10) as u32, elevator, depth, merging, slice: SLICE, flows }
}

/// Plays requests at random instants on a drive that takes a while for each; returns all that happened.
fn play(rng: &mut Pcg64Mcg, config: &Config) -> Vec<Stamped> {
    let mut block = Block::new(config);
    block.report_events();
    let mut arrivals: Vec<u64> = (0..BIOS).map(|_| draw(rng, 40) * 10_000_000).collect();
    arrivals.sort_unstable();
    let mut arrivals: VecDeque<Time> = arrivals.into_iter().map(Time::from_ns).collect();
    let (mut in_drive, mut last) = (Vec::<(Time, RequestId)>::new(), None);
    let (mut now, mut events) = (Time::ZERO, Vec::new());
    loop {
        let completes = in_drive.iter().map(|&(at, _)| at).min().unwrap_or(Time::NEVER);
        let next = completes.min(block.next_event(now)).min(arrivals.front().copied().unwrap_or(Time::NEVER));
        if next == Time::NEVER {
            return events;
        }
        assert!(next >= now, "time goes back from {now} to {next}");
        now = next;
        for (_, id) in in_drive.extract_if(.., |(at, _)| *at <= now) {
            block.completed(now, id);
        }
        block.advance(now);
        while arrivals.pop_front_if(|at| *at <= now).is_some() {
            let id = RequestId((BIOS - 1 - arrivals.len()) as u64);
            let bio = bio(rng, id, config.flows.len() as u64, last.replace(id).and(latest(&events)));
            block.enter(now, bio);
            events.extend(block.events());
        }
        block.unplug(now);
        while let Some(request) = block.issue(now) {
            in_drive.push((now + Duration::from_us(1 + draw(rng, 20_000)), request.id));
        }
        events.extend(block.events());
    }
}

/// The bio that entered last.
fn latest(events: &[Stamped]) -> Option<Bio> {
    events.iter().rev().find_map(|stamped| if let Event::Entered(bio) = stamped.event { Some(bio) } else { None })
}

/// A bio anywhere, or one that goes on where the last one ended or ends where that began.
fn bio(rng: &mut Pcg64Mcg, id: RequestId, flows: u64, last: Option<Bio>) -> Bio {
    if let Some(last) = last
        && last.op != Op::Flush
        && draw(rng, 3) > 0
    {
        let goes_on = draw(rng, 3) > 0 || last.offset < last.bytes;
        return Bio { id, offset: if goes_on { last.end() } else { last.offset - last.bytes }, ..last };
    }
    let op = [Op::Read, Op::Write, Op::Trim, Op::Flush][draw(rng, 4) as usize];
    let flow = FlowId(draw(rng, flows) as u16);
    let (offset, bytes) = (draw(rng, 16) * 4_096, 4_096 * (1 + draw(rng, 3)));
    Bio { id, flow, op, plain: op.is_data() && draw(rng, 6) > 0, offset, bytes }
}

/// The rules that these events break.
fn broken(config: &Config, events: &[Stamped]) -> Vec<Rule> {
    let mut audit = Audit::new(config);
    events.iter().for_each(|stamped| audit.observe(stamped));
    audit.finish().0.into_iter().map(|violation| violation.rule).collect()
}

fn scene(seed: u64) -> (Config, Vec<Stamped>, Pcg64Mcg) {
    let mut rng = Pcg64Mcg::new(u128::from(seed) << 64 | 0xb10c);
    let config = config(&mut rng);
    let events = play(&mut rng, &config);
    (config, events, rng)
}

#[test]
fn every_bio_keeps_to_the_rules() {
    let mut merged = 0;
    // In the last one trims follow at a limit on a write that is larger than a slice's worth.
    for seed in (0..SCENES).chain([11_190]) {
        let (config, events, _) = scene(seed);
        assert_eq!(broken(&config, &events), [], "seed {seed}: {config:?}");
        let count = |is: fn(&Event) -> bool| events.iter().filter(|stamped| is(&stamped.event)).count();
        assert_eq!(count(|event| matches!(event, Event::Entered(_))), BIOS, "seed {seed}");
        merged += count(|event| matches!(event, Event::Joined { .. }));
    }
    assert!(merged as u64 > SCENES, "{merged} bios joined others");
}

/// An event that is left out, comes twice or too early, or says something else.
#[test]
fn other_events_are_refused() {
    for seed in 0..SCENES {
        let (config, events, mut rng) = scene(seed);
        let at = draw(&mut rng, events.len() as u64) as usize;
        let mut without = events.clone();
        let event = without.remove(at);
        assert_ne!(broken(&config, &without), [], "seed {seed}: without {event:?}");
        let mut twice = events.clone();
        twice.insert(at, event);
        assert_ne!(broken(&config, &twice), [], "seed {seed}: twice {event:?}");
        let mut early = without;
        early.insert(0, Stamped { at: Time::ZERO, ..event });
        let is_first = matches!(event.event, Event::Entered(_));
        assert!(is_first || !broken(&config, &early).is_empty(), "seed {seed}: first of all {event:?}");
        let mut other = events.clone();
        let rule = change(&mut other[at].event);
        assert!(rule.is_none_or(|rule| broken(&config, &other).contains(&rule)), "seed {seed}: {:?}", other[at]);
    }
}

/// Makes an event say something else, and says which rule that breaks.
fn change(event: &mut Event) -> Option<Rule> {
    match event {
        Event::Issued { bytes, .. } => {
            *bytes += 1;
            Some(Rule::Whole)
        }
        Event::Joined { request, .. } => {
            *request = RequestId(request.0 + 1_000);
            Some(Rule::InOrder)
        }
        _ => None,
    }
}

/// What is right for a block layer is too much for one with less: of each kind some scenes come to their bounds.
#[test]
fn less_of_everything_is_refused() {
    let mut found = BTreeSet::new();
    for seed in 0..SCENES / 4 {
        let (config, events, _) = scene(seed);
        let tenth = |limit: Limit| Limit { iops: limit.iops.map(|iops| iops / 10), bps: limit.bps.map(|bps| bps / 10) };
        let mut flows = config.flows.clone();
        flows.iter_mut().for_each(|flow| flow.limits = flow.limits.map(tenth));
        let less = [
            Config { depth: config.depth - 1, ..config.clone() },
            Config { tags: config.tags - 1, ..config.clone() },
            Config { merging: config.merging.map(|most| Merging { max_bytes: 8_191, ..most }), ..config.clone() },
            Config { merging: config.merging.map(|most| Merging { max_segments: 1, ..most }), ..config.clone() },
            Config { flows, ..config },
        ];
        for (number, config) in less.iter().enumerate() {
            found.extend(broken(config, &events).into_iter().map(|rule| (number, rule as usize)));
        }
    }
    let rules = [Rule::Depth, Rule::Tags, Rule::Merge, Rule::Merge, Rule::Limit];
    let expected: BTreeSet<_> = rules.into_iter().enumerate().map(|(number, rule)| (number, rule as usize)).collect();
    assert_eq!(found, expected, "each breaks its own rule and no other");
}
