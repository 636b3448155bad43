//! Merging beside the kernel's: from the bios of each thread and the ends of its plugs, which requests leave the plug.

use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};

use super::*;
use crate::config::{ElevatorConfig, FlowConfig, Merging};
use crate::recordings::{Event, recording};
use crate::requests::Request;

/// The threads of the recordings.
const THREADS: usize = 16;

/// Direction, first byte and length of requests.
type Requests = Vec<(char, u64, u64)>;

fn block(merging: Merging) -> Block {
    Block::new(&Config {
        elevator: ElevatorConfig::None,
        depth: u32::MAX,
        tags: u32::MAX,
        merging: Some(merging),
        slice: Duration::from_us(100_000),
        flows: std::vec![FlowConfig::default(); THREADS],
    })
}

/// Bios, the requests that the model makes of them, and the kernel's, in order, as many of each thread.
fn requests(name: &str, leaves: char, merging: Merging) -> (usize, Requests, Requests) {
    let mut block = block(merging);
    let [mut ours, mut kernels]: [Vec<Requests>; 2] = [0, 1].map(|_| std::vec![Requests::new(); THREADS]);
    // Threads whose full plug the model has ended: the kernel tells of it after the bio that found it full.
    let mut has_ended = [false; THREADS];
    let mut bios = 0;
    for Event { us, letter, words } in recording(name) {
        let now = Time::from_ns(us * 1_000);
        let thread = words.last().and_then(|word| word.parse::<usize>().ok()).expect("a thread");
        match letter {
            'U' if has_ended[thread] => has_ended[thread] = false,
            'U' => block.unplug_flow(now, FlowId(thread as u16)),
            'B' => {
                let op = if words[0] == "R" { Op::Read } else { Op::Write };
                let [offset, bytes] = [1, 2].map(|word| words[word].parse::<u64>().expect("sectors") * 512);
                let id = RequestId(bios);
                block.enter(now, Bio { id, flow: FlowId(thread as u16), op, plain: true, offset, bytes });
                bios += 1;
            }
            letter if letter == leaves => {
                let [offset, bytes] = [1, 2].map(|word| words[word].parse::<u64>().expect("sectors") * 512);
                kernels[thread].push((words[0].chars().next().expect("a letter"), offset, bytes));
            }
            _ => {}
        }
        while let Some(Request { flow, op, offset, bytes, .. }) = block.issue(now) {
            has_ended[flow.index()] = letter == 'B';
            ours[flow.index()].push((if op == Op::Read { 'R' } else { 'W' }, offset, bytes));
        }
    }
    let common = ours.iter_mut().zip(&mut kernels);
    common.for_each(|(ours, kernels)| {
        let least = ours.len().min(kernels.len());
        ours.truncate(least);
        kernels.truncate(least);
    });
    (bios as usize, ours.concat(), kernels.concat())
}

const LOOP: Merging = Merging { max_bytes: 1_280 << 10, max_segments: 128 };

#[test]
fn the_requests_are_the_kernels() {
    for (name, leaves, [bios, made]) in [("merges", 'I', [8_449, 1_034]), ("merges-none", 'D', [5_057, 629])] {
        let (all, ours, kernels) = requests(name, leaves, LOOP);
        let differ = ours.iter().zip(&kernels).filter(|(ours, kernels)| ours != kernels).count();
        assert_eq!((all, ours.len(), differ), (bios, made, 0), "{name}: what the page says");
    }
}

#[test]
fn with_other_limits_they_are_not() {
    for merging in [Merging { max_segments: 15, ..LOOP }, Merging { max_bytes: 256 << 10, ..LOOP }] {
        let (_, ours, kernels) = requests("merges-none", 'D', merging);
        assert_ne!(ours, kernels);
    }
}
