//! `kyber` in scenes worked out by hand.

use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId};

use super::*;
use crate::request::Bio;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time::from_ns(ms * MS)
}

fn kyber() -> Kyber {
    let ms = |ms: u64| Duration::from_ns(ms * MS);
    Kyber::new(Parameters { targets: [ms(2), ms(10), ms(5_000)], look: ms(100), jiffy: ms(4), patience: ms(1_000) })
}

fn request(id: u64, op: Op, tagged: Time) -> Request {
    Request::of(tagged, &Bio { id: RequestId(id), flow: FlowId(0), op, plain: true, offset: 0, bytes: 4_096 })
}

/// So many enter.
fn enter(kyber: &mut Kyber, op: Op, ids: core::ops::Range<u64>) {
    ids.for_each(|id| kyber.insert(&request(id, op, Time::ZERO)));
}

/// All that goes.
fn gone(kyber: &mut Kyber, now: Time) -> Vec<u64> {
    core::iter::from_fn(|| kyber.next(now)).map(|id| id.0).collect()
}

/// So many requests end at `now` that took `in_drive` and `total` microseconds.
fn end(kyber: &mut Kyber, now: Time, op: Op, count: u64, [in_drive, total]: [u64; 2]) {
    for id in 0..count {
        let before = |us: u64| Time::from_ns(now.ns() - us * 1_000);
        let mut request = request(id, op, before(total));
        request.issued = before(in_drive);
        kyber.kinds[kind(op)].in_drive += 1;
        kyber.completed(now, &request);
    }
}

/// The depths after a look at `now`.
fn depths(kyber: &mut Kyber, now: Time) -> [u32; KINDS] {
    assert_eq!(kyber.next(now), None, "nothing waits");
    kyber.kinds.each_ref().map(|kind| kind.depth)
}

#[test]
fn kinds_take_turns_with_batches() {
    let mut kyber = kyber();
    enter(&mut kyber, Op::Write, 100..110);
    enter(&mut kyber, Op::Read, 0..20);
    enter(&mut kyber, Op::Trim, 200..202);
    let expected = (0..16).chain(100..108).chain(200..201).chain(16..20).chain(108..110).chain(201..202);
    assert_eq!(gone(&mut kyber, at(0)), expected.collect::<Vec<_>>(), "16 reads, 8 writes, 1 trim");
}

#[test]
fn of_each_kind_so_many_are_in_the_drive() {
    let mut kyber = kyber();
    enter(&mut kyber, Op::Write, 0..130);
    assert_eq!(gone(&mut kyber, at(0)), (0..128).collect::<Vec<_>>());
    enter(&mut kyber, Op::Read, 130..131);
    assert_eq!(gone(&mut kyber, at(0)), [130], "reads have room");
    kyber.completed(at(1), &request(0, Op::Write, at(0)));
    assert_eq!(gone(&mut kyber, at(1)), [128]);
}

/// Reads keep to their target, writes do not: reads get a depth by how much of their target they need, three quarters of it, look after look.
#[test]
fn reads_are_lowered_because_writes_miss_their_target() {
    let mut kyber = kyber();
    let mut reads = Vec::new();
    for look in 1..4 {
        let now = at(104 * look);
        end(&mut kyber, now, Op::Read, 600, [600, 1_400]);
        end(&mut kyber, now, Op::Write, 500, [11_000, 40_000]);
        let [read, write, trim, other] = depths(&mut kyber, at(104 * look + 104));
        assert_eq!((write, trim, other), (128, 64, 16), "a depth never exceeds the first one");
        reads.push(read);
    }
    assert_eq!(reads, [192, 144, 108], "1.4 of 2 ms is in the third quarter");
    for look in 4..6 {
        end(&mut kyber, at(104 * look), Op::Read, 500, [600, 5_000]);
        reads.push(depths(&mut kyber, at(104 * look + 104))[0]);
    }
    assert_eq!(reads[3..], [216, 256], "writes are well, and reads wait too long here: twice the depth, but 256");
    end(&mut kyber, at(624), Op::Read, 500, [600, 1_400]);
    assert_eq!(depths(&mut kyber, at(728))[0], 256, "all is well: nothing changes");
}

/// One in a hundred above the quarter is allowed of the whole, one in ten of the time in the drive.
#[test]
fn what_is_rare_changes_nothing() {
    for (slow, expected) in [(50, 256), (51, 128)] {
        let mut kyber = kyber();
        end(&mut kyber, at(50), Op::Read, 900, [600, 900]);
        end(&mut kyber, at(50), Op::Write, 500 - slow, [2_000, 2_000]);
        end(&mut kyber, at(50), Op::Write, slow, [10_001, 10_001]);
        assert_eq!(depths(&mut kyber, at(152))[0], expected, "{slow} of 500 writes miss");
    }
}

/// Fewer than 500 count once the first is a second old.
#[test]
fn few_latencies_are_collected_for_a_second() {
    let mut kyber = kyber();
    for look in 1..11 {
        end(&mut kyber, at(104 * look), Op::Read, 40, [3_000, 3_000]);
        depths(&mut kyber, at(104 * look + 104));

        assert_eq!(kyber.kinds[0].in_all[DRIVE].samples(), if look < 10 { 40 * look } else { 0 });
    }
}

/// What waits because of a depth goes at the look that raises it.
#[test]
fn a_look_lets_go_what_waits() {
    let mut kyber = kyber();
    kyber.kinds[0].depth = 2;
    enter(&mut kyber, Op::Read, 0..5);
    assert_eq!(gone(&mut kyber, at(0)), [0, 1]);
    end(&mut kyber, at(103), Op::Read, 500, [600, 5_000]);
    assert_eq!((kyber.next_event(), gone(&mut kyber, at(203))), (at(204), Vec::new()), "the jiffy after 203 ms");
    assert_eq!(gone(&mut kyber, at(204)), [2, 3]);
}
