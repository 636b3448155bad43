//! What the dies do over time: how long each is busy, how long of that with garbage collection, how many transactions wait for it; and
//! the response times of requests over time.
//!
//! Follows a device's events up to the last completion: collections that go on after it serve nobody. Owns the windows: at most
//! [`MAX_WINDOWS`] of equal width, which doubles when a run needs more. Promises memory for the windows, for what is in flight and for the
//! events between two completions, however long the run. Must never know how it is shown.

use flashlane_core::event::{Event, Stamped};
use flashlane_core::{Completion, Geometry, Op, Owner, PlaneId};
use rustc_hash::FxHashMap;

/// The most windows. A run ends with more than half as many.
pub const MAX_WINDOWS: usize = 160;
/// The most rows: of a drive with more dies, chips are rows, or channels.
const MAX_ROWS: u32 = 128;
/// Initial width of a window, ns.
const FIRST_WIDTH: u64 = 1_000;
/// Steps of response time in an octave.
pub const STEPS: u32 = 4;
/// Steps in all.
const LATENCIES: usize = 64 * STEPS as usize;

/// What a row of dies is: one die, or all dies of a chip or a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// One die.
    Die,
    /// A chip with several dies.
    Chip,
    /// A channel.
    Channel,
}

/// The measures of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Time in which it serves a command that is not paused.
    Busy,
    /// The part of it for garbage collection.
    Collecting,
    /// Number of transactions that wait for it, times how long.
    Waiting,
}

/// The activity of a run.
#[derive(Clone, Debug)]
pub struct Activity {
    geometry: Geometry,
    kind: RowKind,
    /// Dies in a row.
    dies: u32,
    rows: usize,
    width: u64,
    /// For each measure, for each window, for each row: ns.
    sums: [Vec<u64>; 3],
    /// For each direction (reads, writes), for each window, for each step of response time: requests.
    latencies: [Vec<u32>; 2],
    transactions: FxHashMap<u64, (usize, Owner, Option<u64>)>,
    commands: FxHashMap<u64, Command>,
    /// Transactions that wait for each row, and since when there are so many.
    waiting: Vec<(u64, u64)>,
    /// Events since the last completion.
    since: Vec<Stamped>,
    /// When the last request completed.
    last: u64,
}

/// A command under way.
#[derive(Clone, Debug)]
struct Command {
    /// Since when it is served; `None` while it is paused.
    since: Option<u64>,
    collects: bool,
    /// The dies it occupies, and members that have not ended on each.
    dies: Vec<(u32, u32)>,
}

impl Activity {
    /// Of a device of this shape, before its first event.
    pub fn new(geometry: Geometry) -> Activity {
        let dies = geometry.planes() / geometry.planes_per_die;
        let chips = dies / geometry.dies_per_chip;
        let (kind, in_row) = if dies <= MAX_ROWS {
            (RowKind::Die, 1)
        } else if chips <= MAX_ROWS {
            (RowKind::Chip, geometry.dies_per_chip)
        } else {
            (RowKind::Channel, geometry.dies_per_chip * geometry.chips_per_channel)
        };
        let rows = (dies / in_row) as usize;
        Activity {
            geometry,
            kind,
            dies: in_row,
            rows,
            width: FIRST_WIDTH,
            sums: [Vec::new(), Vec::new(), Vec::new()],
            latencies: [Vec::new(), Vec::new()],
            transactions: FxHashMap::default(),
            commands: FxHashMap::default(),
            waiting: vec![(0, 0); rows],
            since: Vec::new(),
            last: 0,
        }
    }

    /// Processes an event of the device.
    pub fn event(&mut self, stamped: &Stamped) {
        if let Event::Completed { .. } = stamped.event {
            self.last = stamped.at.ns();
            let mut events = std::mem::take(&mut self.since);
            events.drain(..).for_each(|event| self.apply(&event));
            self.since = events;
        } else if stamped.event.is_of_transaction() {
            self.since.push(*stamped);
        }
    }

    fn apply(&mut self, stamped: &Stamped) {
        let now = stamped.at.ns();
        match stamped.event {
            Event::Queued { txn, owner, plane, .. } => {
                let die = self.die(plane);
                self.transactions.insert(txn, (die, owner, None));
                self.wait(die, 1, now);
            }
            Event::Moved { txn, plane } => {
                let die = self.die(plane);
                let Some((place, ..)) = self.transactions.get_mut(&txn) else { return };
                let from = std::mem::replace(place, die);
                self.wait(from, -1, now);
                self.wait(die, 1, now);
            }
            Event::Dispatched { txn, command, .. } => self.dispatched(txn, command, now),
            Event::ArrayStarted { command, .. } => {
                if let Some(command) = self.commands.get_mut(&command) {
                    command.since.get_or_insert(now);
                }
            }
            Event::Paused { command, .. } => {
                let Some(mut paused) = self.commands.remove(&command) else { return };
                if let Some(since) = paused.since.take() {
                    for &(die, _) in paused.dies.iter().filter(|(_, left)| *left > 0) {
                        self.serve(die, paused.collects, since, now);
                    }
                }
                self.commands.insert(command, paused);
            }
            Event::Ended { txn, .. } => self.ended(txn, now),
            _ => {}
        }
    }

    /// Counts a completed request.
    pub fn completed(&mut self, completion: &Completion) {
        let window = self.window_of(completion.done.ns());
        let step = step_of(completion.done.since(completion.arrival).ns());
        let table = &mut self.latencies[usize::from(completion.op == Op::Write)];
        let place = window * LATENCIES + step;
        if table.len() <= place {
            table.resize((window + 1) * LATENCIES, 0);
        }
        table[place] += 1;
    }

    /// Ends the run.
    pub fn finish(mut self) -> Activity {
        for row in 0..self.rows {
            let (count, since) = self.waiting[row];
            self.add(Measure::Waiting, row, since, self.last, count);
        }
        for command in std::mem::take(&mut self.commands).into_values() {
            let Some(since) = command.since else { continue };
            for &(die, _) in command.dies.iter().filter(|(_, left)| *left > 0) {
                self.serve(die, command.collects, since, self.last);
            }
        }
        self.transactions.clear();
        self.since = Vec::new();
        self
    }

    /// Width of a window, ns.
    pub fn width_ns(&self) -> u64 {
        self.width
    }

    /// Windows with anything in them, from the first of the run on.
    pub fn windows(&self) -> usize {
        let dies = self.sums.iter().map(|sums| sums.len() / self.rows.max(1));
        dies.chain(self.latencies.iter().map(|table| table.len() / LATENCIES)).max().unwrap_or(0)
    }

    /// What rows are.
    pub fn kind(&self) -> RowKind {
        self.kind
    }

    /// Rows, in the order channel, chip, die.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The name of a row.
    pub fn row_name(&self, row: usize) -> String {
        let die = row as u32 * self.dies;
        let chip = die / self.geometry.dies_per_chip;
        let channel = chip / self.geometry.chips_per_channel;
        let (chip, die) = (chip % self.geometry.chips_per_channel, die % self.geometry.dies_per_chip);
        match self.kind {
            RowKind::Die => format!("channel {channel}, chip {chip}, die {die}"),
            RowKind::Chip => format!("channel {channel}, chip {chip}"),
            RowKind::Channel => format!("channel {channel}"),
        }
    }

    /// The mean of a measure in a window: busy and collecting dies as a share of the row's, waiting transactions as their number.
    pub fn mean(&self, measure: Measure, window: usize, row: usize) -> f64 {
        let sum = self.sums[measure as usize].get(window * self.rows + row).copied().unwrap_or(0);
        let dies = if measure == Measure::Waiting { 1 } else { self.dies };
        sum as f64 / (self.width as f64 * f64::from(dies))
    }

    /// Requests of one direction that completed in a window, with response times of a step; [`step_from`] says which.
    pub fn requests(&self, op: Op, window: usize, step: usize) -> u32 {
        self.latencies[usize::from(op == Op::Write)].get(window * LATENCIES + step).copied().unwrap_or(0)
    }

    /// The first step with a request, and one past the last.
    pub fn steps(&self) -> (usize, usize) {
        let used = |step: &usize| {
            self.latencies.iter().any(|table| table.iter().skip(*step).step_by(LATENCIES).any(|count| *count > 0))
        };
        let first = (0..LATENCIES).find(used).unwrap_or(0);
        let last = (first..LATENCIES).rev().find(used).map_or(first, |last| last + 1);
        (first, last)
    }

    /// Halves the number of windows.
    pub fn coarsen(&mut self) {
        self.width = self.width.saturating_mul(2);
        for sums in &mut self.sums {
            halve(sums, self.rows);
        }
        for table in &mut self.latencies {
            halve(table, LATENCIES);
        }
    }

    fn die(&self, plane: PlaneId) -> usize {
        (u32::from(plane.0) / self.geometry.planes_per_die) as usize
    }

    fn dispatched(&mut self, txn: u64, number: u64, now: u64) {
        let Some((die, owner, command)) = self.transactions.get_mut(&txn) else { return };
        *command = Some(number);
        let (die, collects) = (*die, *owner == Owner::Gc);
        let command =
            self.commands.entry(number).or_insert_with(|| Command { since: Some(now), collects, dies: Vec::new() });
        match command.dies.iter_mut().find(|(known, _)| *known as usize == die) {
            Some((_, left)) => *left += 1,
            None => command.dies.push((die as u32, 1)),
        }
        self.wait(die, -1, now);
    }

    fn ended(&mut self, txn: u64, now: u64) {
        let Some((die, _, command)) = self.transactions.remove(&txn) else { return };
        let Some(number) = command else {
            // It never reached the flash.
            return self.wait(die, -1, now);
        };
        let Some(command) = self.commands.get_mut(&number) else { return };
        let (since, collects) = (command.since, command.collects);
        let Some((_, left)) = command.dies.iter_mut().find(|(known, _)| *known as usize == die) else { return };
        *left -= 1;
        let over = *left == 0;
        if command.dies.iter().all(|(_, left)| *left == 0) {
            self.commands.remove(&number);
        }
        if let (true, Some(since)) = (over, since) {
            self.serve(die as u32, collects, since, now);
        }
    }

    fn serve(&mut self, die: u32, collects: bool, from: u64, to: u64) {
        let row = (die / self.dies) as usize;
        self.add(Measure::Busy, row, from, to, 1);
        if collects {
            self.add(Measure::Collecting, row, from, to, 1);
        }
    }

    /// One transaction more, or less, waits for a die.
    fn wait(&mut self, die: usize, by: i64, now: u64) {
        let row = die / self.dies as usize;
        let (count, since) = self.waiting[row];
        self.add(Measure::Waiting, row, since, now, count);
        self.waiting[row] = (count.saturating_add_signed(by), now);
    }

    fn add(&mut self, measure: Measure, row: usize, from: u64, to: u64, times: u64) {
        if from >= to || times == 0 {
            return;
        }
        let last = self.window_of(to - 1);
        let sums = &mut self.sums[measure as usize];
        if sums.len() < (last + 1) * self.rows {
            sums.resize((last + 1) * self.rows, 0);
        }
        let mut at = from;
        while at < to {
            let window = at / self.width;
            let end = ((window + 1).saturating_mul(self.width)).min(to);
            sums[window as usize * self.rows + row] += (end - at) * times;
            at = end;
        }
    }

    /// The window of an instant, which is there after this.
    fn window_of(&mut self, at: u64) -> usize {
        while at / self.width >= MAX_WINDOWS as u64 {
            self.coarsen();
        }
        (at / self.width) as usize
    }
}

/// Adds each second window of `size` entries to the one before it.
fn halve<T: Copy + std::ops::AddAssign>(table: &mut Vec<T>, size: usize) {
    let windows = table.len() / size;
    for window in 0..windows {
        for entry in 0..size {
            let value = table[window * size + entry];
            if window % 2 == 0 {
                table[window / 2 * size + entry] = value;
            } else {
                table[window / 2 * size + entry] += value;
            }
        }
    }
    table.truncate(windows.div_ceil(2) * size);
}

/// The step of a response time: four an octave.
fn step_of(ns: u64) -> usize {
    let octave = ns.max(1).ilog2();
    let quarter = if octave >= 2 { (ns >> (octave - 2)) & 3 } else { 0 };
    (octave * STEPS) as usize + quarter as usize
}

/// The shortest response time of a step, ns.
pub fn step_from(step: usize) -> u64 {
    let (octave, quarter) = (step as u32 / STEPS, (step as u32 % STEPS) as u64);
    if octave >= 2 { (1 << octave) + (quarter << (octave - 2)) } else { 1 << octave }
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
