//! Transactions: those that join a unit's queues, leave them, or no longer block others.

use super::*;

/// What a program waits for may go away: a younger write takes the place of a waiting one on another chip, and the fill
/// trigger no longer forbids a pause, which comes at the next boundary.
///
/// Writes go to the chips in turn. At 0 chip 1 has two reads to do (2 cycles) before its half of the first write (4), so the
/// half on chip 0 has a slack of 2. Behind it two writes wait there: more than 50 % of 2, so the read at 0.5 pauses nothing.
/// At 1.5 the write of page 20 is replaced by one that goes to chip 1. At 2 the program is paused, for one cycle.
#[test]
fn a_write_is_withdrawn() {
    let config = unit_cycle(2);
    let answers = [(Question::Place, "rotate"), (Question::Cancel, "overwrite")];
    let recipe = mix("wp", &answers, &[("alpha", 50), ("write_capacity", 2)]);
    let mut lines: Vec<Line<'_>> = vec![
        (0, 0, Read, &[1]),
        (0, 0, Read, &[3]),
        (0, 0, Write, &[100, 102]),
        (0, 0, Write, &[20]),
        (0, 0, Write, &[22]),
        (0, 0, Write, &[24]),
        (500, 0, Read, &[40]),
    ];
    assert_eq!(
        ends(&config, &recipe, &lines)[6],
        9 * CYCLE,
        "behind writes 100 and 20: then one waits, not more than 1"
    );
    lines.push((1_500, 0, Write, &[20]));
    assert_eq!(ends(&config, &recipe, &lines)[6], 3 * CYCLE, "in the pause");
}

/// A write that waits for an older one of its page on another chip begins the instant that one does.
#[test]
fn an_older_write_of_the_page_begins() {
    let rotate = mix("read-first", &[(Question::Place, "rotate")], &[]);
    let lines: [Line<'_>; 3] = [(0, 0, Read, &[0]), (0, 0, Write, &[5]), (0, 0, Write, &[5])];
    // Chip 0 reads for a cycle and then programs page 5; chip 1 is idle until then.
    assert_eq!(ends(&unit_cycle(2), &rotate, &lines), [CYCLE, 5 * CYCLE, 5 * CYCLE]);
}

/// A read whose page was written elsewhere while it waited stays where it is, and keeps its copy (model 4.1.2).
///
/// Writes go to the chips in turn: 8 to chip 0, 9 to chip 1, both to 4. Behind 9 wait seven reads of chip 1, the last but one
/// of page 7, which the third write takes to chip 0, programmed from 4 to 8. At 9 chip 1 has served five reads and goes on with it.
#[test]
fn a_read_of_a_page_written_elsewhere_stays() {
    let rotate = mix("read-first", &[(Question::Place, "rotate")], &[]);
    let lines: [Line<'_>; 9] = [
        (0, 0, Write, &[8]),
        (0, 0, Write, &[9]),
        (1, 0, Read, &[1]),
        (1, 0, Read, &[3]),
        (1, 0, Read, &[5]),
        (1, 0, Read, &[15]),
        (1, 0, Read, &[17]),
        (1, 0, Read, &[7]),
        (1, 0, Read, &[19]),
    ];
    let mut lines = lines.to_vec();
    lines.push((2, 0, Write, &[7]));
    let cycles: Vec<u64> = ends(&unit_cycle(2), &rotate, &lines).iter().map(|ns| ns / CYCLE).collect();
    assert_eq!(cycles, [4, 4, 5, 6, 7, 8, 9, 10, 11, 8]);
    // All requests are done under every scheduler.
    for entry in flashlane_sched::catalogue::schedulers() {
        let done = ends(&unit_cycle(2), &mix(entry.name, &[(Question::Place, "rotate")], &[]), &lines);
        assert!(done.iter().all(|&ns| ns <= 18 * CYCLE), "{}: {done:?}", entry.name);
    }
}

/// The read of the test above in a pause: it is served there.
///
/// Chip 1 programs page 9 from 0 on, paused at 0.5 for five reads, until 5.5. Page 7, read last there, is programmed on chip 0
/// from 4 on; nobody suspends that program.
#[test]
fn a_read_of_a_page_written_elsewhere_stays_in_a_pause() {
    let rotate = mix("read-first-suspend", &[(Question::Place, "rotate")], &[]);
    let mut lines: Vec<Line<'_>> = vec![
        (0, 0, Write, &[8]),
        (0, 0, Write, &[9]),
        (500, 0, Read, &[1]),
        (500, 0, Read, &[3]),
        (500, 0, Read, &[5]),
        (500, 0, Read, &[15]),
        (500, 0, Read, &[7]),
        (600, 0, Write, &[7]),
    ];
    assert_eq!(ends(&unit_cycle(2), &rotate, &lines), [4_000, 9_000, 1_500, 2_500, 3_500, 4_500, 5_500, 8_000]);
    lines.push((700, 0, Read, &[19]));
    assert_eq!(ends(&unit_cycle(2), &rotate, &lines), [4_000, 10_000, 1_500, 2_500, 3_500, 4_500, 5_500, 8_000, 6_500]);
}

/// Writes that no unit has yet: a unit that has nothing else left takes the next, whatever it did before.
#[test]
fn a_unit_takes_the_next_write() {
    let dynamic = recipe("dynalloc", &[]);
    let lines: [Line<'_>; 4] = [(0, 0, Read, &[0]), (0, 0, Write, &[2]), (0, 0, Write, &[4]), (4_500, 0, Write, &[6])];
    // Chip 0 reads first, so write 2 goes to chip 1 and write 4 to chip 0 at 1; at 4.5 chip 1 has been idle for half a cycle.
    let done = ends(&unit_cycle(2), &dynamic, &lines);
    assert_eq!(done, [CYCLE, 4 * CYCLE, 5 * CYCLE, 8_500]);
    // If an older write of its page has not begun, the next write goes first.
    let lines: [Line<'_>; 3] = [(0, 0, Write, &[5]), (0, 0, Write, &[5]), (0, 0, Write, &[6])];
    assert_eq!(ends(&unit_cycle(2), &dynamic, &lines), [4 * CYCLE, 8 * CYCLE, 4 * CYCLE]);
}
