//! Tags in scenes worked out by hand, and the batches of the kernel.

use super::*;
use crate::recordings::recording;

fn ask(tags: &mut Tags, flow: u16, id: u64) -> bool {
    let thread = tags.thread(FlowId(flow));
    let has_tag = !tags.waits(thread) && tags.take();
    if !has_tag {
        tags.wait(thread, RequestId(id));
    }
    has_tag
}

/// A tag comes back: the requests that get one by it.
fn give_back(tags: &mut Tags) -> Vec<u64> {
    let mut granted = Vec::new();
    tags.give_back();
    while let Some(thread) = tags.wake() {
        while let Some(id) = tags.next(thread) {
            if !tags.take() {
                tags.queue(thread);
                break;
            }
            tags.pass(thread);
            granted.push(id.0);
        }
    }
    granted
}

#[test]
fn flows_that_wait_take_turns_and_each_keeps_its_order() {
    let mut tags = Tags::new(2, &[FlowConfig::default(); 3]);
    assert!(ask(&mut tags, 0, 0) && ask(&mut tags, 0, 1), "two tags are free");
    for (flow, id) in [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (2, 7)] {
        assert!(!ask(&mut tags, flow, id), "no tag is free for request {id}");
    }
    let order: Vec<u64> = (0..7).flat_map(|_| give_back(&mut tags)).collect();
    assert_eq!(order, [2, 5, 7, 3, 6, 4], "flows 0, 1 and 2 in turn, each with its oldest");
    assert!(ask(&mut tags, 1, 8), "the tag that nobody waited for is free");
}

#[test]
fn each_thread_of_a_flow_has_its_turn() {
    let mut tags = Tags::new(1, &[FlowConfig { threads: 2, ..FlowConfig::default() }, FlowConfig::default()]);
    assert!(ask(&mut tags, 0, 0));
    for (flow, id) in [(1, 1), (0, 2), (0, 3), (0, 4), (1, 5)] {
        assert!(!ask(&mut tags, flow, id), "no tag is free for request {id}");
    }
    let order: Vec<u64> = (0..5).flat_map(|_| give_back(&mut tags)).collect();
    assert_eq!(order, [1, 2, 3, 5, 4], "the other flow and two threads in turn");
}

/// 32 tags: batches of four.
#[test]
fn a_batch_of_tags_wakes_threads_which_take_what_is_free() {
    let mut tags = Tags::new(32, &[FlowConfig::default(); 3]);
    assert!((0..32).all(|id| ask(&mut tags, 0, id)), "32 tags are free");
    for (flow, id) in [(0, 32), (0, 33), (0, 34), (1, 35), (1, 36), (1, 37)] {
        assert!(!ask(&mut tags, flow, id), "no tag is free for request {id}");
    }
    assert!((0..3).all(|_| give_back(&mut tags).is_empty()), "three tags wake no one");
    assert!(ask(&mut tags, 2, 38), "a thread that does not wait takes one of the three");
    assert_eq!(
        give_back(&mut tags),
        [32, 33, 34],
        "the thread that has waited longest takes the other two and the fourth"
    );
    assert!((0..3).all(|_| give_back(&mut tags).is_empty()), "three wake no one");
    assert_eq!(give_back(&mut tags), [35, 36, 37], "the other thread takes what it needs");
    assert!(ask(&mut tags, 0, 39), "the fourth is free");
}

#[test]
fn a_batch_wakes_several_threads_as_long_as_tags_are_free() {
    let mut tags = Tags::new(32, &[FlowConfig::default(); 3]);
    assert!((0..32).all(|id| ask(&mut tags, 0, id)), "32 tags are free");
    for (flow, id) in [(1, 32), (2, 33), (2, 34), (2, 35), (2, 36), (0, 37)] {
        assert!(!ask(&mut tags, flow, id), "no tag is free for request {id}");
    }
    let first: Vec<u64> = (0..4).flat_map(|_| give_back(&mut tags)).collect();
    assert_eq!(first, [32, 33, 34, 35], "one of flow 1, three of flow 2");
    let second: Vec<u64> = (0..4).flat_map(|_| give_back(&mut tags)).collect();
    assert_eq!(second, [37, 36], "flow 0 has waited for longer than flow 2 since it was woken");
}

/// Grants of a recording, by how many tags had come back since the last grant to a thread that waited; and of each thread, while another waited too.
fn grants(name: &str) -> ([u32; 16], Vec<u32>) {
    let (mut after, mut shares) = ([0; 16], std::vec![0; 16]);
    let (mut back, mut asked, mut waiting) = (0, None, VecDeque::new());
    for event in recording(name) {
        let thread: usize = event.words[4].parse().expect("a thread");
        // A thread that asked and has no tag by its next event, or by another's, waits.
        if let Some(earlier) = asked.take_if(|earlier| *earlier != thread || event.letter != 'G') {
            waiting.push_back(earlier);
        }
        match event.letter {
            'B' => asked = Some(thread),
            'C' => back += 1,
            _ => {
                shares[thread] += u32::from(waiting.iter().any(|other| *other != thread));
                if asked.take().is_none() {
                    after[back.min(15)] += 1;
                    back = 0;
                    waiting.retain(|other| *other != thread);
                }
            }
        }
    }
    (after, shares)
}

#[test]
fn the_kernel_wakes_threads_by_as_many_tags() {
    for (name, tags) in [("tags", 32), ("tags-three", 16)] {
        let (after, shares) = grants(name);
        let usual = (0..16).max_by_key(|&back| after[back]).expect("16 of them");
        assert_eq!(usual, Tags::new(tags, &[]).batch as usize, "{name}: {after:?}");
        let shares: Vec<u32> = shares.into_iter().filter(|&share| share > 0).collect();
        let (sum, threads) = (shares.iter().sum::<u32>(), shares.len() as u32);
        let is_even = |share: &u32| (85..=120).contains(&(100 * share * threads / sum));
        assert!(threads > 1 && shares.iter().all(is_even), "{name}: threads get about as many tags: {shares:?}");
    }
}
