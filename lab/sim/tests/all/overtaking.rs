//! Requests that go before an older one that could have gone (model 0.7), against a plain count from the events alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::play::{Mix, TestRequest, Touch, asks, built, hand_over};
use crate::common::{device, one_plane, recipe, scene, table1};
use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::{FlashOp, tag};
use flashlane_core::{Completion, Lpn, Op, PlaneId, Time, UnitId};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::{Buffer, Config, FlowConfig, Precondition, Protocol};
use rand_pcg::Pcg64Mcg;

/// A transaction that waits at a unit.
#[derive(Debug)]
struct Waiting {
    /// Arrival and number of its request.
    request: Option<(u64, u64)>,
    unit: UnitId,
    plane: PlaneId,
    op: FlashOp,
    /// Of a read, which of the planes that its row spans, as it joins its queue.
    part: u32,
    lpn: Lpn,
}

/// Requests that overtook, from the events of a run in which every plane has room.
struct Plain<'a> {
    geometry: Geometry,
    asks: &'a [TestRequest],
    /// Where pages lie that were written in the run; on the one drive where it matters the others lie in their order.
    mapped: BTreeMap<u32, u32>,
    /// By serial: the older, the smaller.
    waiting: BTreeMap<u64, Waiting>,
    overtook: BTreeSet<u64>,
}

impl Plain<'_> {
    fn of(config: &Config, asks: &[TestRequest], events: &[Stamped]) -> BTreeSet<u64> {
        let (mapped, waiting, overtook) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut plain = Plain { geometry: config.geometry, asks, mapped, waiting, overtook };
        let mut rest = events;
        while let Some(first) = rest.first() {
            let command = |stamped: &Stamped| match stamped.event {
                Event::Dispatched { command, .. } => Some(command),
                _ => None,
            };
            let members = match command(first) {
                Some(own) => rest.iter().take_while(|next| command(next) == Some(own)).count(),
                None => 0,
            };
            plain.dispatched(&rest[..members]);
            if members == 0 {
                plain.observe(&first.event);
            }
            rest = &rest[members.max(1)..];
        }
        plain.overtook
    }

    /// Which of the planes that its row spans a read of this page is for.
    fn part(&self, op: FlashOp, ppa: u32) -> u32 {
        let Geometry { slots, row_planes, .. } = self.geometry;
        if op == FlashOp::Read { ppa % slots * row_planes / slots } else { 0 }
    }

    fn observe(&mut self, event: &Event) {
        match *event {
            Event::Queued { txn, request, op, lpn, plane, .. } => {
                let request = request.map(|id| (self.asks[id.0 as usize].at, id.0));
                let part = self.part(op, self.mapped.get(&lpn.0).copied().unwrap_or(lpn.0));
                let unit = self.geometry.unit_of(plane);
                self.waiting.insert(txn, Waiting { request, unit, plane, op, part, lpn });
            }
            Event::Mapped { lpn, ppa, .. } => drop(self.mapped.insert(lpn.0, ppa)),
            Event::Ended { txn, end: End::Cancelled, .. } => drop(self.waiting.remove(&txn)),
            _ => {}
        }
    }

    /// The members of one command begin.
    fn dispatched(&mut self, members: &[Stamped]) {
        let mut begin = Vec::new();
        for stamped in members {
            let Event::Dispatched { txn, unit, .. } = stamped.event else { unreachable!("only these") };
            // Garbage collection waits in no queue.
            begin.extend(self.waiting.remove(&txn).map(|waiting| (unit, txn, waiting)));
        }
        // A write waits for every older one of its page, those that begin now included.
        let same_page = |lpn: Lpn, than: u64| {
            let begins = begin.iter().any(|(_, txn, w)| *txn < than && w.op == FlashOp::Program && w.lpn == lpn);
            begins || self.waiting.range(..than).any(|(_, w)| w.op == FlashOp::Program && w.lpn == lpn)
        };
        let oldest = begin.iter().map(|(_, _, member)| member.request).min().flatten();
        for (unit, _, own) in &begin {
            let older = self.waiting.iter().any(|(&serial, other)| {
                let may_go = other.op == FlashOp::Read || !same_page(other.lpn, serial);
                let is_older = other.request.is_some() && other.request < own.request;
                let in_its_place = (other.op, other.plane, other.part) == (own.op, own.plane, own.part);
                other.unit == *unit && may_go && is_older && (other.request < oldest || in_its_place)
            });
            if let (true, Some((_, id))) = (older, own.request) {
                self.overtook.insert(id);
            }
        }
    }
}

/// Runs requests; returns who overtook by the device's word, and by the plain count.
fn counts(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> [BTreeSet<u64>; 2] {
    let (mut device, _) = built(config, recipe).expect("a legal device");
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        hand_over(&mut device, id as u64, ask);
    }
    crate::common::drain(&mut device);
    assert!(!device.events().iter().any(|e| matches!(e.event, Event::VictimChosen { .. })), "every plane has room");
    let plain = Plain::of(config, asks, device.events());
    [marked(device.completions()), plain]
}

fn marked(done: &[Completion]) -> BTreeSet<u64> {
    done.iter().filter(|c| c.tags & tag::OVERTOOK != 0).map(|c| c.id.0).collect()
}

/// Two flows, one with a bounded submission queue beside another, so that requests enter in another order than they arrive.
fn two_flows() -> Config {
    let mut config = table1(1, 2);
    config.flows = vec![FlowConfig::at_priority(0), FlowConfig::at_priority(1)];
    config.priorities = 2;
    config.front.in_flight = 24;
    config
}

/// Random requests under schedulers of every kind whose queues they join in some order.
#[test]
fn the_count_is_that_of_a_plain_search() {
    let schedulers: [(&str, &[(&str, u64)]); 9] = [
        ("fcfs", &[]),
        ("fcfs", &[("fcfs_widen", 1)]),
        ("read-first", &[]),
        ("read-first-suspend", &[]),
        ("fr-fcfs", &[]),
        ("sprinkler", &[]),
        ("slacker", &[]),
        ("hos", &[]),
        ("flin-stage1", &[]),
    ];
    let mut rng = Pcg64Mcg::new(0xf1a5_41a9e);
    let mut found = BTreeMap::new();
    for round in 0..6 {
        let mut config = two_flows();
        config.ftl.read_modify_write = round % 2 == 1;
        if round % 3 == 1 {
            config.front.protocol = Protocol::Sata { depth: 16 };
        } else if round % 3 == 2 {
            config.front.in_flight = u32::MAX;
        }
        let partial = if config.ftl.read_modify_write { 40 } else { 0 };
        let mix = Mix { requests: 300, gap: 150_000, reads: 60, pages: 4, hot: 30, partial, scattered: 30 };
        let asks = asks(&config, &mix, &mut rng);
        for (name, params) in schedulers {
            let [device, plain] = counts(&config, &recipe(name, params), &asks);
            assert_eq!(device, plain, "round {round}, {name} {params:?}");
            *found.entry(name).or_insert(0) += device.len();
        }
    }
    assert!(found.values().all(|&count| count > 150), "the runs are dull: {found:?}");
}

/// A full drive of one die whose rows span two planes.
fn of_two_planes() -> Config {
    let mut config = one_plane();
    (config.geometry.slots, config.geometry.row_planes) = (4, 2);
    config.buffer = Some(Buffer::plain(16, 0));
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.flows = vec![FlowConfig::at_priority(0); 3];
    config
}

/// Reads of a superblock overtake those of their own plane.
#[test]
fn planes_of_a_row_are_told_apart() {
    let (config, mut rng, mut found) = (of_two_planes(), Pcg64Mcg::new(0x91a), 0);
    let mix = Mix { requests: 1_000, gap: 25_000, reads: 90, pages: 1, hot: 10, partial: 0, scattered: 0 };
    for name in ["fcfs", "read-first", "sprinkler", "flin-stage1", "flin-stage3", "flin"] {
        let [device, plain] = counts(&config, &recipe(name, &[]), &asks(&config, &mix, &mut rng));
        assert_eq!(device, plain, "{name}");
        found += device.len();
    }
    assert!(found > 100, "the runs are dull: {found}");
    let mix = Mix { requests: 3_000, gap: 40_000, reads: 100, pages: 1, hot: 0, partial: 0, scattered: 0 };
    let asks = asks(&config, &mix, &mut rng);
    assert_eq!(counts(&config, &recipe("fcfs", &[]), &asks).map(|set| set.len()), [0, 0]);
}

/// What the table shows of three requests for one chip that is busy: the read goes before the older write.
#[test]
fn a_read_that_goes_first_overtakes() {
    let config = table1(1, 1);
    let lines = [(0, Op::Write, &[0u32][..]), (10, Op::Write, &[2]), (20, Op::Read, &[4])];
    let by = |name: &str, params: &[(&str, u64)]| {
        marked(&scene(&mut device(&config, &recipe(name, params)), &lines)).into_iter().collect::<Vec<_>>()
    };
    assert_eq!([by("fcfs", &[]), by("read-first", &[]), by("sprinkler", &[])], [vec![], vec![2], vec![2]]);
}

/// The second transaction of a command takes nobody's place but that of an older one for its plane.
#[test]
fn a_companion_overtakes_on_its_plane_only() {
    let config = table1(1, 1);
    let who = |lines: &[crate::common::Line<'_>]| {
        marked(&scene(&mut device(&config, &recipe("sprinkler", &[])), lines)).into_iter().collect::<Vec<_>>()
    };
    // While page 0 is read, 1 and 2 wait for its plane and 3 for the other: 3 goes along with 1.
    let lines = [(0, Op::Read, &[0u32][..]), (10, Op::Read, &[2]), (20, Op::Read, &[4]), (30, Op::Read, &[1])];
    assert_eq!(who(&lines), [] as [u64; 0]);
    // 2 goes along with 1, although 0 waits for its plane too: 1 and 2 are of one request.
    let lines = [(0, Op::Read, &[0u32][..]), (10, Op::Read, &[3]), (20, Op::Read, &[2, 5])];
    assert_eq!(who(&lines), [2]);
}

/// A write that waits for another write of its page, whose page has to be read first: a write that goes meanwhile passes nobody.
#[test]
fn who_waits_for_more_than_the_unit_is_not_overtaken() {
    let mut config = table1(1, 1);
    config.ftl.read_modify_write = true;
    let page = 8192;
    let ask = |at, op, offset, length| TestRequest { at, flow: 0, op, touch: Touch::Bytes(offset, length) };
    let run = |second: u64| {
        let asks = [
            ask(0, Op::Read, 0, page),
            ask(10, Op::Write, 2 * page, 512),
            ask(20, Op::Write, second * page, page),
            ask(30, Op::Write, 6 * page, page),
        ];
        // Two waiting writes are enough for writes to go before reads.
        let (mut device, _) = built(&config, &recipe("fr-fcfs", &[("write_capacity", 2)])).expect("a legal device");
        for (id, ask) in asks.iter().enumerate() {
            device.advance(Time::from_ns(ask.at));
            hand_over(&mut device, id as u64, ask);
        }
        crate::common::drain(&mut device);
        let done = device.completions();
        let mut order: Vec<u64> = done.iter().map(|c| c.id.0).collect();
        order.retain(|&id| id > 0);
        (order, marked(done).into_iter().collect::<Vec<_>>())
    };
    assert_eq!(run(2), (vec![3, 1, 2], vec![]));
    assert_eq!(run(4), (vec![2, 3, 1], vec![3]), "once its page is read, the first is passed by the last");
}

/// First come, first served: of reads of one page nobody overtakes, however long the queues are.
#[test]
fn fcfs_lets_no_read_of_one_page_overtake() {
    let mut config = table1(2, 2);
    config.flows = vec![FlowConfig::at_priority(0); 3];
    let mut rng = Pcg64Mcg::new(7);
    let mix = Mix { requests: 3_000, gap: 10_000, reads: 100, pages: 1, hot: 50, partial: 0, scattered: 0 };
    let asks = asks(&config, &mix, &mut rng);
    assert!(asks.iter().all(|ask| matches!(ask.touch, Touch::Bytes(_, 8192))));
    let of = |name: &str| counts(&config, &recipe(name, &[]), &asks).map(|set| set.len());
    assert_eq!(of("fcfs"), [0, 0]);
    // Those who may wait longer than others do.
    let [slacker, plain] = of("flin-stage1");
    assert!(slacker == plain && slacker > 100, "{slacker} {plain}");
}
