//! `kyber` beside the kernel's: by the times that requests took there, depths change as they did.
//!
//! The recording has reads of 4 KiB at a depth of 8 beside writes of 16 KiB at 96, with targets of 20 and 5 ms; writes miss theirs.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId};

use super::*;
use crate::recordings::{Event, recording};
use crate::request::Bio;

const JIFFY_US: u64 = 4_000;
/// What brings the recording's jiffies to whole numbers.
const PHASE_US: u64 = 1_440;

/// Depths of reads with the instants at which they were set, us: the model's, by the kernel's requests, and the kernel's.
fn depths(targets_ms: [u64; 2]) -> [Vec<(u64, u32)>; 2] {
    let ms = |ms: u64| Duration::from_us(ms * 1_000);
    let [read, write] = targets_ms.map(ms);
    let mut kyber =
        Kyber::new(Parameters { targets: [read, write, ms(5_000)], look: ms(100), jiffy: ms(4), patience: ms(1_000) });
    let [mut model, mut kernel] = [const { Vec::new() }; 2];
    let mut tagged: BTreeMap<[String; 2], VecDeque<Time>> = BTreeMap::new();
    let mut issued: BTreeMap<[String; 2], Request> = BTreeMap::new();
    for Event { us, letter, words } in recording("kyber") {
        let now = Time::from_ns((us + PHASE_US) * 1_000);
        let key = [0, 1].map(|word| words.get(word).cloned().unwrap_or_default());
        let (look, before) = (kyber.look, kyber.kinds[0].depth);
        match letter {
            'I' => tagged.entry(key).or_default().push_back(now),
            'D' => {
                let Some(tagged) = tagged.get_mut(&key).and_then(VecDeque::pop_front) else { continue };
                let op = if key[0] == "R" { Op::Read } else { Op::Write };
                let bio = Bio { id: RequestId(0), flow: FlowId(0), op, plain: true, offset: 0, bytes: 4_096 };
                let mut request = Request::of(tagged, &bio);
                request.issued = now;
                kyber.kinds[kind(op)].in_drive += 1;
                issued.insert(key, request);
            }
            'C' => {
                if let Some(request) = issued.remove(&key) {
                    kyber.completed(now, &request);
                }
            }
            'A' => {
                assert_eq!(words[0], "READ", "only reads change");
                kernel.push((us, words[1].parse().expect("a depth")));
            }
            _ => {}
        }
        if kyber.kinds[0].depth != before {
            model.push((look.ns() / 1_000 - PHASE_US, kyber.kinds[0].depth));
        }
    }
    [model, kernel]
}

#[test]
fn depths_change_as_the_kernels_do() {
    let [model, kernel] = depths([20, 5]);
    let set = |all: &[(u64, u32)]| all.iter().map(|(_, depth)| *depth).collect::<Vec<_>>();
    assert_eq!((set(&model), set(&kernel)), ([64, 32, 16, 12, 15, 22, 11].into(), [64, 32, 16, 12, 15, 22, 11].into()));
    for ((ours, _), (theirs, _)) in model.iter().zip(&kernel) {
        assert!(ours.abs_diff(*theirs) < JIFFY_US, "within a jiffy: {model:?} {kernel:?}");
    }
}

#[test]
fn with_other_targets_they_do_not() {
    for targets in [[10, 5], [20, 10], [40, 5]] {
        let [model, kernel] = depths(targets);
        assert_ne!(
            model.iter().map(|set| set.1).collect::<Vec<_>>(),
            kernel.iter().map(|set| set.1).collect::<Vec<_>>()
        );
    }
}
