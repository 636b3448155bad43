//! Random scenes: every bio goes to the drive once and never early, in a request of its kind and no larger than may be, and never are there more in the drive than its
//! depth, nor with a tag than there are tags, nor more of a flow in a slice than its limit allows.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::{Bio, Block, Class, Config, Deadline, ElevatorConfig, FlowConfig, Kyber, Limit, Merging, Request};

const SLICE: Duration = Duration::from_us(100_000);
const SCENES: u64 = 2_000;

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

/// What has been asked, and what became of it.
struct Scene {
    asked: BTreeMap<u64, (Time, Bio)>,
    issued: Vec<(Time, Bio)>,
    merged: u64,
    in_drive: VecDeque<(Time, RequestId)>,
}

/// Plays requests at random instants on a drive that takes a while for each; returns all that was issued, in order.
fn play(rng: &mut Pcg64Mcg, config: &Config) -> Scene {
    let mut block = Block::new(config);
    let mut arrivals: Vec<u64> = (0..60).map(|_| draw(rng, 40) * 10_000_000).collect();
    arrivals.sort_unstable();
    let mut arrivals: VecDeque<Time> = arrivals.into_iter().map(Time::from_ns).collect();
    let mut scene = Scene { asked: BTreeMap::new(), issued: Vec::new(), merged: 0, in_drive: VecDeque::new() };
    let mut now = Time::ZERO;
    loop {
        let completes = scene.in_drive.iter().map(|&(at, _)| at).min().unwrap_or(Time::NEVER);
        let next = completes.min(block.next_event(now)).min(arrivals.front().copied().unwrap_or(Time::NEVER));
        if next == Time::NEVER {
            return scene;
        }
        assert!(next >= now, "time goes back from {now} to {next}");
        now = next;
        while let Some(at) = scene.in_drive.iter().position(|&(at, _)| at <= now) {
            let (_, id) = scene.in_drive.remove(at).expect("it is there");
            block.completed(now, id);
        }
        block.advance(now);
        while arrivals.pop_front_if(|at| *at <= now).is_some() {
            let last = scene.asked.last_key_value().map(|(_, (_, bio))| *bio);
            let bio = bio(rng, RequestId(scene.asked.len() as u64), config.flows.len() as u64, last);
            scene.asked.insert(bio.id.0, (now, bio));
            block.enter(now, bio);
        }
        block.unplug(now);
        while let Some(request) = block.issue(now) {
            is_whole(config, &block, &request);
            for bio in block.bios(request.id) {
                assert!(scene.asked[&bio.id.0].0 <= now, "issued before it came");
                scene.issued.push((now, *bio));
            }
            scene.merged += u64::from(request.bios - 1);
            scene.in_drive.push_back((now + Duration::from_us(1 + draw(rng, 20_000)), request.id));
            assert!(scene.in_drive.len() <= config.depth.min(config.tags) as usize, "more in the drive than fit");
        }
    }
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

/// A request has the bytes of its bios and no others, all of its flow and kind, and no more of them than may be.
fn is_whole(config: &Config, block: &Block, request: &Request) {
    let bios: Vec<Bio> = block.bios(request.id).copied().collect();
    let mut places: Vec<[u64; 2]> = bios.iter().map(|bio| [bio.offset, bio.end()]).collect();
    places.sort_unstable();
    assert_eq!((request.bios as usize, bios[0].id), (bios.len(), request.id));
    assert_eq!((request.offset, request.end()), (places[0][0], places[bios.len() - 1][1]));
    assert!(places.windows(2).all(|pair| pair[0][1] == pair[1][0]), "{places:?}");
    if bios.len() > 1 {
        let Merging { max_bytes, max_segments } = config.merging.expect("merging is on");
        assert!(request.bytes <= max_bytes && request.segments <= max_segments, "{request:?}");
        assert!(bios.iter().all(|bio| bio.plain && (bio.flow, bio.op) == (request.flow, request.op)), "{bios:?}");
    }
}

/// From when a flow's first request came to when its last went no more goes than the limit allows in that time and three slices more, one of them begun and one
/// kept; and one request, which may be larger than a slice's worth.
fn keeps_limits(config: &Config, scene: &Scene) {
    for (number, flow) in config.flows.iter().enumerate() {
        for way in 0..2 {
            let Limit { iops, bps } = flow.limits[way];
            let counted =
                |bio: &&(Time, Bio)| bio.1.flow.index() == number && bio.1.direction() == way && bio.1.op != Op::Flush;
            let gone: Vec<&(Time, Bio)> = scene.issued.iter().filter(counted).collect();
            let (first, last) = match (gone.first(), gone.last()) {
                (Some(first), Some(last)) => (scene.asked[&first.1.id.0].0, last.0),
                _ => continue,
            };
            let seconds = (last.since(first).ns() + 3 * SLICE.ns()) as u128;
            if let Some(iops) = iops {
                let most = u128::from(iops) * seconds / 1_000_000_000 + 1;
                assert!(gone.len() as u128 <= most, "{} requests, at most {most}", gone.len());
            }
            if let Some(bps) = bps {
                let bytes: u64 = gone.iter().map(|(_, bio)| if bio.op == Op::Trim { 512 } else { bio.bytes }).sum();
                let most = u128::from(bps) * seconds / 1_000_000_000 + 32_768;
                assert!(u128::from(bytes) <= most, "{bytes} bytes, at most {most}");
            }
        }
    }
}

#[test]
fn every_request_goes_once_within_depth_tags_and_limits() {
    let mut merged = 0;
    for seed in 0..SCENES {
        let rng = &mut Pcg64Mcg::new(u128::from(seed) << 64 | 0xb10c);
        let config = config(rng);
        let scene = play(rng, &config);
        let mut ids: Vec<u64> = scene.issued.iter().map(|(_, bio)| bio.id.0).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..60).collect::<Vec<_>>(), "seed {seed}: each once; {config:?}");
        keeps_limits(&config, &scene);
        merged += scene.merged;
    }
    assert!(merged > SCENES, "{merged} bios joined others");
}
