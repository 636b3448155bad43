//! The elevator beside the kernel's: given what the kernel has done so far, the next request is the predicted one.
//!
//! The recordings are of a loop device of depth 128 with `mq-deadline`, 5,000 issues each; `fio` sent reads and writes at a depth of 256.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId, Op};

use super::*;
use crate::recordings::{Event, recording};
use crate::request::Bio;

const DEPTH: usize = 128;

/// A line of a fixture.
struct Line {
    now: Time,
    what: char,
    key: (usize, u64),
    class: Class,
}

fn lines(name: &str) -> Vec<Line> {
    let line = |Event { us, letter, words }: Event| {
        let class = match words[3].as_str() {
            "rt" => Class::RealTime,
            "idle" => Class::Idle,
            _ => Class::BestEffort,
        };
        let key = (usize::from(words[0] == "W"), words[1].parse().expect("a sector"));
        Line { now: Time::from_ns(us * 1_000), what: letter, key, class }
    };
    recording(name).into_iter().map(line).collect()
}

/// Issues that had a choice or none, and how many of each were the predicted ones.
#[derive(Default, Debug)]
struct Agreement {
    alone: [u32; 2],
    chosen: [u32; 2],
}

/// A request taken as the next one, and the state before, to which the elevator returns where the kernel took another.
struct Predicted {
    id: RequestId,
    class: Class,
    /// Its direction, its place among those, and what stands there.
    lane: usize,
    place: usize,
    entry: (RequestId, u64, Time),
    waiting: usize,
    before: (usize, u32, u32, [[u64; 2]; 3]),
}

fn predict(elevator: &mut MqDeadline, now: Time) -> Option<Predicted> {
    let lasts = elevator.classes.each_ref().map(|class| class.lanes.each_ref().map(|lane| lane.last));
    let before = (elevator.direction, elevator.batched, elevator.starved, lasts);
    let lanes = elevator.classes.each_ref().map(|class| class.lanes.each_ref().map(|lane| lane.oldest.clone()));
    let id = elevator.next(now)?;
    let waiting = lanes.iter().flatten().map(VecDeque::len).sum();
    for (class, lanes) in CLASSES.into_iter().zip(&lanes) {
        for (lane, oldest) in lanes.iter().enumerate() {
            if let Some(place) = oldest.iter().position(|entry| entry.0 == id) {
                return Some(Predicted { id, class, lane, place, entry: oldest[place], waiting, before });
            }
        }
    }
    None
}

/// The kernel took `id` of this class and direction instead.
fn follow_kernel(elevator: &mut MqDeadline, predicted: Predicted, id: RequestId, class: Class, direction: usize) {
    let lane = &mut elevator.classes[predicted.class as usize].lanes[predicted.lane];
    lane.oldest.insert(predicted.place, predicted.entry);
    lane.sorted.insert((predicted.entry.1, predicted.id));
    let (before, batched, starved, lasts) = predicted.before;
    (elevator.direction, elevator.batched, elevator.starved) = (before, batched, starved);
    for (class, lasts) in elevator.classes.iter_mut().zip(lasts) {
        for (lane, last) in class.lanes.iter_mut().zip(lasts) {
            lane.last = last;
        }
    }
    let lane = &mut elevator.classes[class as usize].lanes[direction];
    if before != direction || lane.following() != Some(id) || batched >= elevator.parameters.fifo_batch {
        elevator.batched = 0;
    }
    if direction == WRITES && before != WRITES {
        elevator.starved = 0;
    }
    elevator.direction = direction;
    elevator.batched += 1;
    lane.take(id);
}

/// Replays a fixture. The request that has left the elevator before the drive has room is predicted at that instant.
fn agreement(name: &str, parameters: Deadline) -> Agreement {
    let mut elevator = MqDeadline::new(parameters);
    let mut waiting: BTreeMap<(usize, u64), VecDeque<RequestId>> = BTreeMap::new();
    let (mut in_drive, mut ahead, mut agreement) = (0, None, Agreement::default());
    for (Line { now, what, key, class }, number) in lines(name).into_iter().zip(0..) {
        match what {
            'I' => {
                let id = RequestId(number);
                waiting.entry(key).or_default().push_back(id);
                let op = if key.0 == READS { Op::Read } else { Op::Write };
                let bio = Bio { id, flow: FlowId(0), op, plain: true, offset: key.1, bytes: 4_096 };
                elevator.insert(now, &Request::of(now, &bio), class);
            }
            'D' => {
                let Some(id) = waiting.get_mut(&key).and_then(VecDeque::pop_front) else { continue };
                let predicted = ahead.take().or_else(|| predict(&mut elevator, now)).expect("one waits");
                let of = if predicted.waiting > 1 { &mut agreement.chosen } else { &mut agreement.alone };
                of[0] += 1;
                of[1] += u32::from(predicted.id == id);
                if predicted.id != id {
                    follow_kernel(&mut elevator, predicted, id, class, key.0);
                }
                in_drive += 1;
            }
            _ => {
                in_drive -= 1;
                elevator.completed(class);
            }
        }
        if in_drive >= DEPTH && ahead.is_none() {
            ahead = predict(&mut elevator, now);
        }
    }
    agreement
}

fn parameters(fifo_batch: u32, writes_starved: u32, expire_ms: [u64; 2]) -> Deadline {
    let [read_expire, write_expire] = expire_ms.map(|ms| Duration::from_us(ms * 1_000));
    Deadline { read_expire, write_expire, fifo_batch, writes_starved, ..Deadline::usual() }
}

/// Recordings, the parameters under which they were made, the least share in percent that agrees of all issues and of those with a choice, and what agrees:
/// of 5,000, and of those with a choice (docs/results/host-schedulers.md).
#[test]
fn the_next_request_is_the_kernels() {
    let usual = [500, 5_000];
    let short = parameters(1, 8, [20, 100]);
    let table = [
        ("dl1", parameters(16, 2, usual), [99, 98], [4_994, 3_016, 3_022]),
        ("dlbatch1", parameters(1, 2, usual), [99, 98], [4_996, 3_716, 3_720]),
        ("dlstarved8", parameters(1, 8, usual), [99, 98], [4_989, 3_748, 3_759]),
        ("dlexpire", short, [99, 98], [4_998, 3_326, 3_328]),
        ("dlprio", short, [97, 95], [4_996, 2_526, 2_530]),
        ("dlseq", short, [99, 0], [5_000, 0, 0]),
    ];
    for (name, parameters, [all, chosen], figures) in table {
        let found = agreement(name, parameters);
        let [issued, agreed] = [0, 1].map(|i| found.alone[i] + found.chosen[i]);
        assert!(agreed * 100 >= issued * all, "{name}: {agreed} of {issued} agree, asked {all} %");
        let [of, with_choice] = found.chosen;
        assert!(
            with_choice * 100 >= of * chosen,
            "{name}: {with_choice} of {of} with a choice agree, asked {chosen} %"
        );
        assert_eq!((issued, [agreed, with_choice, of]), (5_000, figures), "{name}: what the page says");
    }
}

/// With one wrong parameter the prediction fails, so the test above tells them apart.
#[test]
fn a_wrong_batch_is_noticed() {
    let found = agreement("dlbatch1", parameters(16, 2, [500, 5_000]));
    assert!(found.chosen[1] * 100 < found.chosen[0] * 90, "a batch of 16 for 1: {found:?}");
}
