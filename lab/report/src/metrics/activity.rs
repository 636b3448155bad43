//! What the dies do over time: how long each is busy, how long of that with garbage collection, how many transactions wait for it; and
//! the response times of requests over time.
//!
//! Follows a device's events up to the last completion: collections that go on after it delay no request. Promises memory for
//! its windows, for what is in flight and for the events between two completions, however long the run. Must never know how it is shown.

mod rows;
mod windows;

use flashlane_core::event::{Event, Kinds, Stamped};
use flashlane_core::{Completion, Geometry, Op, PlaneId};

pub use rows::RowKind;
use rows::Rows;
use windows::Windows;
pub use windows::{MAX_WINDOWS, Measure, STEPS, step_from};

use crate::in_flight::{Begun, Change, Command, InFlight};

/// The activity of a run.
#[derive(Clone, Debug)]
pub struct Activity {
    rows: Rows,
    windows: Windows,
    flight: InFlight<(), Occupied>,
    /// Transactions that wait for each row, and since when their number is this.
    waiting: Vec<(u64, u64)>,
    /// Events since the last completion.
    since: Vec<Stamped>,
    /// When the last request completed.
    last: u64,
    /// Whether no more will.
    over: bool,
}

/// The dies of a command.
#[derive(Clone, Debug, Default)]
struct Occupied {
    /// Since when it is served, unless it stands paused.
    since: u64,
    collects: bool,
    /// The dies it occupies, and members that have not ended on each.
    dies: Vec<(u32, u32)>,
}

impl Activity {
    /// The events that it needs; of a device that pauses commands [`Kinds::PHASES`] too.
    pub const KINDS: Kinds = Kinds::QUEUES.and(Kinds::REQUESTS);

    /// Of a device of this shape, before its first event.
    pub fn new(geometry: Geometry) -> Activity {
        let rows = Rows::new(geometry);
        Activity {
            rows,
            windows: Windows::new(rows.count),
            flight: InFlight::default(),
            waiting: vec![(0, 0); rows.count],
            since: Vec::new(),
            last: 0,
            over: false,
        }
    }

    /// Processes an event of the device.
    pub fn event(&mut self, stamped: &Stamped) {
        if let Event::Completed { .. } = stamped.event {
            self.last = stamped.at.ns();
            let mut events = std::mem::take(&mut self.since);
            events.drain(..).for_each(|event| self.apply(&event));
            self.since = events;
        } else if stamped.event.is_of_transaction() && !self.over {
            self.since.push(*stamped);
        }
    }

    /// Says that no request will complete any more: what follows is not kept.
    pub fn requests_are_over(&mut self) {
        self.over = true;
        self.since = Vec::new();
    }

    fn apply(&mut self, stamped: &Stamped) {
        let now = stamped.at.ns();
        match self.flight.follow(stamped) {
            Some(Change::Queued(txn)) => self.wait(self.die_of(txn), 1, now),
            Some(Change::Moved(txn, from)) => {
                self.wait(self.die(from), -1, now);
                self.wait(self.die_of(txn), 1, now);
            }
            Some(Change::Begun { txn, command, is_first }) => self.begun(txn, command, is_first, now),
            Some(Change::Paused(command)) => {
                let Some(Command { own, .. }) = self.flight.command(command) else { return };
                let Occupied { since, collects, ref dies } = *own;
                let dies: Vec<u32> = dies.iter().filter(|(_, left)| *left > 0).map(|(die, _)| *die).collect();
                dies.into_iter().for_each(|die| self.serve(die, collects, since, now));
            }
            Some(Change::Resumed(command, _)) => {
                if let Some(command) = self.flight.command_mut(command) {
                    command.own.since = now;
                }
            }
            Some(Change::Ended { txn, .. }) => self.ended(txn, now),
            None => {}
        }
    }

    /// Counts a completed read or write.
    pub fn completed(&mut self, completion: &Completion) {
        if !completion.op.is_data() {
            return;
        }
        let response = completion.done.since(completion.arrival).ns();
        self.windows.complete(completion.op, completion.done.ns(), response);
    }

    /// Ends the run.
    pub fn finish(mut self) -> Activity {
        for row in 0..self.rows.count {
            let (count, since) = self.waiting[row];
            self.windows.add(Measure::Waiting, row, since, self.last, count);
        }
        let flight = std::mem::take(&mut self.flight);
        for command in flight.into_commands().filter(|command| command.paused.is_none()) {
            let Occupied { since, collects, dies } = command.own;
            for (die, _) in dies.into_iter().filter(|(_, left)| *left > 0) {
                self.serve(die, collects, since, self.last);
            }
        }
        self.since = Vec::new();
        self
    }

    /// Width of a window, ns.
    pub fn width_ns(&self) -> u64 {
        self.windows.width
    }

    /// Windows with anything in them, from the first of the run on.
    pub fn windows(&self) -> usize {
        self.windows.count()
    }

    /// What rows are.
    pub fn kind(&self) -> RowKind {
        self.rows.kind
    }

    /// Rows, in the order channel, chip, die.
    pub fn rows(&self) -> usize {
        self.rows.count
    }

    /// The name of a row.
    pub fn row_name(&self, row: usize) -> String {
        self.rows.name(row)
    }

    /// The mean of a measure in a window: busy and collecting dies as a share of the row's, waiting transactions as their number.
    pub fn mean(&self, measure: Measure, window: usize, row: usize) -> f64 {
        let sum = self.windows.sum(measure, window, row);
        let dies = if measure == Measure::Waiting { 1 } else { self.rows.dies };
        sum as f64 / (self.windows.width as f64 * f64::from(dies))
    }

    /// Requests of one direction that completed in a window, with response times of a step; [`step_from`] says which.
    pub fn requests(&self, op: Op, window: usize, step: usize) -> u32 {
        self.windows.requests(op, window, step)
    }

    /// The first step with a request, and one past the last.
    pub fn steps(&self) -> (usize, usize) {
        self.windows.steps()
    }

    /// Halves the number of windows.
    pub fn coarsen(&mut self) {
        self.windows.coarsen();
    }

    fn die(&self, plane: PlaneId) -> usize {
        self.rows.die(plane) as usize
    }

    /// The die of a transaction in flight.
    fn die_of(&self, txn: u64) -> usize {
        self.die(self.flight.get(txn).expect("in flight").plane)
    }

    fn begun(&mut self, txn: u64, number: u64, is_first: bool, now: u64) {
        let die = self.die_of(txn);
        let collects = self.flight.transaction(txn).owner.collects();
        let Some(Command { own, .. }) = self.flight.command_mut(number) else { return };
        if is_first {
            (own.since, own.collects) = (now, collects);
        }
        match own.dies.iter_mut().find(|(known, _)| *known as usize == die) {
            Some((_, left)) => *left += 1,
            None => own.dies.push((die as u32, 1)),
        }
        self.wait(die, -1, now);
    }

    fn ended(&mut self, txn: u64, now: u64) {
        let die = self.die_of(txn);
        let Some(Begun { command, .. }) = self.flight.transaction(txn).begun else {
            // It never reached the flash.
            return self.wait(die, -1, now);
        };
        let Some(Command { paused, own, .. }) = self.flight.command_mut(command) else { return };
        let Some((_, left)) = own.dies.iter_mut().find(|(known, _)| *known as usize == die) else { return };
        *left -= 1;
        if *left == 0 && paused.is_none() {
            let (collects, since) = (own.collects, own.since);
            self.serve(die as u32, collects, since, now);
        }
    }

    fn serve(&mut self, die: u32, collects: bool, from: u64, to: u64) {
        let row = self.rows.of(die);
        self.windows.add(Measure::Busy, row, from, to, 1);
        if collects {
            self.windows.add(Measure::Collecting, row, from, to, 1);
        }
    }

    /// One transaction more, or less, waits for a die.
    fn wait(&mut self, die: usize, by: i64, now: u64) {
        let row = self.rows.of(die as u32);
        let (count, since) = self.waiting[row];
        self.windows.add(Measure::Waiting, row, since, now, count);
        self.waiting[row] = (count.saturating_add_signed(by), now);
    }
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
