//! Commands, buses, pauses: events of the flash after which a unit must decide.

use super::*;

/// A unit is free when its program's array phase ends, and when the last page of its read is over the bus: what waits for
/// it begins at that instant.
#[test]
fn a_command_ends() {
    let lines: [Line<'_>; 4] = [(0, 0, Write, &[0]), (0, 0, Read, &[1]), (0, 0, Read, &[2]), (0, 0, Write, &[3])];
    let done = ends(&one_plane(), &recipe("fcfs", &[]), &lines);
    assert_eq!(done, [WRITE, WRITE + READ, WRITE + 2 * READ, 2 * WRITE + 2 * READ]);
}

/// Two reads on one channel: the second has its page at 75,000, finds the bus taken and has it the instant it comes free.
/// Then its unit begins the third, though the other unit has the bus next.
#[test]
fn a_bus_comes_free() {
    let mut config = table1(1, 2);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    let lines: [Line<'_>; 4] = [(0, 0, Read, &[0]), (0, 0, Read, &[1]), (0, 0, Read, &[2]), (0, 0, Read, &[3])];
    // Chip 0: bus at 75,000 and, from 99,601 + 75,000, at 174,601. Chip 1: bus at 99,601, then from 124,202 + 75,000.
    let second = READ + BUS;
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ, second, 2 * READ, second + READ]);
}

/// Where units may choose only while their bus is free, they choose the instant it comes free.
#[test]
fn a_unit_that_may_not_choose_before_the_bus_is_free() {
    let mut config = table1(1, 2);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config.bus.dispatch = Dispatch::BusIdle;
    let lines: [Line<'_>; 3] = [(0, 0, Read, &[0]), (80_000, 0, Read, &[1]), (80_000, 0, Read, &[3])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ, 2 * READ, 3 * READ]);
    // A program's data come in first, until 24,601; the read on the other chip begins then.
    let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (10_000, 0, Read, &[1])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [WRITE, BUS + READ]);
}

/// A program that can be suspended is suspended the instant a read comes, at the instant its array begins if the read came
/// before, and goes on the instant the read is out, or the second that came meanwhile.
#[test]
fn a_read_comes_to_a_program_and_leaves() {
    let suspend = recipe("read-first-suspend", &[]);
    let config = one_plane();
    let alone: [Line<'_>; 2] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1])];
    assert_eq!(ends(&config, &suspend, &alone), [WRITE + READ, 500_000 + READ]);
    let before: [Line<'_>; 2] = [(0, 0, Write, &[0]), (BUS - 1, 0, Read, &[1])];
    assert_eq!(ends(&config, &suspend, &before), [WRITE + READ, BUS + READ]);
    let two: [Line<'_>; 3] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1]), (500_001, 0, Read, &[2])];
    assert_eq!(ends(&config, &suspend, &two), [WRITE + 2 * READ, 500_000 + READ, 500_000 + 2 * READ]);
}

/// With overheads of 3 and 5 us: a read is served the instant suspending is over, the program takes 5 us from the instant the
/// read is out, and a read that comes in those 5 us suspends it the instant they are over.
#[test]
fn an_overhead_is_over() {
    let suspend = recipe("read-first-suspend", &[]);
    let mut config = one_plane();
    (config.nand.suspend, config.nand.resume) = (Duration::from_us(3), Duration::from_us(5));
    let first = 500_000 + 3_000 + READ;
    let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1])];
    assert_eq!(ends(&config, &suspend, &lines), [WRITE + READ + 8_000, first]);
    let during: [Line<'_>; 3] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1]), (first + 1_000, 0, Read, &[2])];
    let second = first + 5_000 + 3_000 + READ;
    assert_eq!(ends(&config, &suspend, &during), [WRITE + 2 * (READ + 8_000), first, second]);
    // A read that comes while suspending is served right after the first.
    let meanwhile: [Line<'_>; 3] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1]), (501_000, 0, Read, &[2])];
    assert_eq!(ends(&config, &suspend, &meanwhile), [WRITE + 2 * READ + 8_000, first, first + READ]);
}

/// Iterations of 65 us from 24,601 on. A read that came while the data went in waits for the first boundary, one that came
/// in the middle for the next; after resuming, iterations are counted from the instant the array works again.
#[test]
fn an_iteration_ends() {
    let pauses = mix("fr-fcfs", &[(Question::Preempt, "pause-at-boundary")], &[]);
    let mut config = one_plane();
    let boundary = |n: u64| BUS + n * 65_000;
    for (at, n) in [(1_000, 1), (BUS, 1), (boundary(1) + 1, 2), (boundary(7), 7), (boundary(18) + 1, 19)] {
        let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (at, 0, Read, &[1])];
        assert_eq!(ends(&config, &pauses, &lines), [WRITE + READ, boundary(n) + READ], "read at {at}");
    }
    // The last iteration's end is the program's.
    let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (boundary(19) + 1, 0, Read, &[1])];
    assert_eq!(ends(&config, &pauses, &lines), [WRITE, WRITE + READ]);
    // Paused at 89,601 for 99,601, going on takes 5 us: the array works from 194,202, and the boundary after a read at
    // 200,000, or in the overhead, is at 259,202.
    config.nand.resume = Duration::from_us(5);
    let works = boundary(1) + READ + 5_000;
    for at in [works - 4_000, works, 200_000] {
        let lines: [Line<'_>; 3] = [(0, 0, Write, &[0]), (30_000, 0, Read, &[1]), (at, 0, Read, &[2])];
        let second = works + 65_000 + READ;
        assert_eq!(ends(&config, &pauses, &lines), [WRITE + 2 * (READ + 5_000), boundary(1) + READ, second], "{at}");
    }
}
