//! What is in flight at a device: transactions from their queues to their ends, and commands from their first member to the last.
//!
//! Computed from the device's events. Who follows them keeps what else it needs with each transaction (`T`) and each command (`C`), and does what
//! [`InFlight::follow`] says has changed. Promises memory for what is in flight only. Must never know what becomes of it.

use flashlane_core::decide::Estimate;
use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, RequestId, Sequence, Time, UnitId};

/// A transaction that waits or is served.
#[derive(Clone, Debug)]
pub struct Transaction<T> {
    /// Its request, `None` for garbage collection and buffer eviction.
    pub request: Option<RequestId>,
    /// Its flow.
    pub flow: FlowId,
    /// What it does.
    pub op: FlashOp,
    /// On whose behalf.
    pub owner: Owner,
    /// The logical page; meaningless for an erase.
    pub lpn: Lpn,
    /// The plane it works on.
    pub plane: PlaneId,
    /// When it joined its queue.
    pub queued: Time,
    /// Its estimate, and the slack it had then.
    pub estimate: Option<(Estimate, Duration)>,
    /// Its command, once that has begun.
    pub begun: Option<Begun>,
    /// What the follower keeps with it.
    pub own: T,
}

/// That a transaction is a member of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Begun {
    /// When the command began.
    pub at: Time,
    /// The command.
    pub command: u64,
    /// What was left of the transaction's slack.
    pub slack: Duration,
}

/// A command that is served or stands paused.
#[derive(Clone, Debug)]
pub struct Command<C> {
    /// Its unit.
    pub unit: UnitId,
    /// When it began.
    pub begun: Time,
    /// Since when it stands paused.
    pub paused: Option<Time>,
    /// Members that have not ended.
    pub left: u32,
    /// What the follower keeps with it.
    pub own: C,
}

/// What an event changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A transaction joined its queue.
    Queued(u64),
    /// A waiting transaction left this plane for another.
    Moved(u64, PlaneId),
    /// A transaction became the first member of a command that begins, or another one.
    Begun {
        /// The transaction.
        txn: u64,
        /// Its command.
        command: u64,
        /// Whether it is the first.
        is_first: bool,
    },
    /// A command stands paused.
    Paused(u64),
    /// A command goes on, which stood paused since then.
    Resumed(u64, Time),
    /// A transaction ended. It is known until the next event, and so is its command, which is over if it has no members left.
    Ended {
        /// The transaction.
        txn: u64,
        /// How.
        end: End,
        /// Time its command was paused.
        paused: Duration,
    },
}

/// Transactions and commands in flight, by their numbers.
#[derive(Clone, Debug)]
pub struct InFlight<T, C> {
    transactions: Sequence<Transaction<T>>,
    commands: Sequence<Command<C>>,
    /// The transaction that the last event ended.
    ended: Option<u64>,
}

impl<T, C> Default for InFlight<T, C> {
    fn default() -> InFlight<T, C> {
        InFlight { transactions: Sequence::default(), commands: Sequence::default(), ended: None }
    }
}

impl<T: Default, C: Default> InFlight<T, C> {
    /// Processes an event; returns what it changed.
    ///
    /// # Panics
    /// If the events are not those of a device: a transaction is queued twice, or moves, begins or ends that was never queued.
    pub fn follow(&mut self, stamped: &Stamped) -> Option<Change> {
        if let Some(ended) = self.ended.take() {
            self.remove(ended);
        }
        let now = stamped.at;
        match stamped.event {
            Event::Queued { txn, request, flow, op, owner, lpn, plane, .. } => {
                let own = T::default();
                let (queued, estimate, begun) = (now, None, None);
                let new = Transaction { request, flow, op, owner, lpn, plane, queued, estimate, begun, own };
                assert!(self.transactions.insert(txn, new).is_none(), "transaction {txn} queued twice");
                Some(Change::Queued(txn))
            }
            Event::Moved { txn, plane } => {
                Some(Change::Moved(txn, std::mem::replace(&mut self.transaction(txn).plane, plane)))
            }
            Event::Estimated { txn, estimate, slack } => {
                self.transaction(txn).estimate = Some((estimate, slack));
                None
            }
            Event::Dispatched { txn, command, unit, slack, .. } => {
                self.transaction(txn).begun = Some(Begun { at: now, command, slack });
                Some(Change::Begun { txn, command, is_first: self.join_command(command, unit, now) })
            }
            Event::Paused { command, .. } => {
                self.commands.get_mut(command)?.paused = Some(now);
                Some(Change::Paused(command))
            }
            Event::ArrayStarted { command, .. } => {
                let since = self.commands.get_mut(command)?.paused.take()?;
                Some(Change::Resumed(command, since))
            }
            Event::Ended { txn, end, paused } => {
                if let Some(Begun { command, .. }) = self.transaction(txn).begun {
                    self.commands.get_mut(command).expect("begun with its first member").left -= 1;
                }
                self.ended = Some(txn);
                Some(Change::Ended { txn, end, paused })
            }
            _ => None,
        }
    }

    /// Counts one more transaction of a command that begins `now`; whether it is the first.
    fn join_command(&mut self, command: u64, unit: UnitId, now: Time) -> bool {
        if let Some(begun) = self.commands.get_mut(command) {
            begun.left += 1;
            return false;
        }
        self.commands.insert(command, Command { unit, begun: now, paused: None, left: 1, own: C::default() });
        true
    }

    /// A transaction in flight.
    ///
    /// # Panics
    /// If it was never queued or has ended.
    pub fn transaction(&mut self, txn: u64) -> &mut Transaction<T> {
        self.transactions.get_mut(txn).unwrap_or_else(|| panic!("transaction {txn} was never queued"))
    }

    /// A transaction, if it is in flight.
    pub fn get(&self, txn: u64) -> Option<&Transaction<T>> {
        self.transactions.get(txn)
    }

    /// As [`InFlight::get`], to change what the follower keeps with it.
    pub fn get_mut(&mut self, txn: u64) -> Option<&mut Transaction<T>> {
        self.transactions.get_mut(txn)
    }

    /// A command, if it is in flight. Transfers of serial service have numbers that are no command's.
    pub fn command(&self, number: u64) -> Option<&Command<C>> {
        self.commands.get(number)
    }

    /// As [`InFlight::command`], to change what the follower keeps with it.
    pub fn command_mut(&mut self, number: u64) -> Option<&mut Command<C>> {
        self.commands.get_mut(number)
    }

    /// The commands in flight with their numbers, in any order.
    pub fn commands(&self) -> impl Iterator<Item = (u64, &Command<C>)> {
        self.commands.iter().filter(|(_, command)| command.left > 0)
    }

    /// The commands in flight, in any order.
    pub fn into_commands(self) -> impl Iterator<Item = Command<C>> {
        self.commands.into_values().filter(|command| command.left > 0)
    }

    /// Number of transactions that were queued and have not ended.
    pub fn count(&self) -> usize {
        self.transactions.len() - usize::from(self.ended.is_some())
    }

    fn remove(&mut self, txn: u64) {
        let begun = self.transactions.remove(txn).and_then(|ended| ended.begun);
        if let Some(Begun { command, .. }) = begun
            && self.commands.get(command).is_some_and(|command| command.left == 0)
        {
            self.commands.remove(command);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64, event: Event) -> Stamped {
        Stamped { at: Time::from_ns(ns), event }
    }

    fn queued(txn: u64) -> Event {
        let (flow, op, owner, lpn) = (FlowId(0), FlashOp::Program, Owner::User, Lpn(7));
        Event::Queued { txn, request: None, flow, op, owner, lpn, plane: PlaneId(3), bytes: 4_096 }
    }

    fn dispatched(txn: u64, command: u64) -> Event {
        Event::Dispatched { txn, command, unit: UnitId(1), ppa: 0, slack: Duration::from_ns(40) }
    }

    fn ended(txn: u64) -> Event {
        Event::Ended { txn, end: End::Flash, paused: Duration::from_ns(6) }
    }

    fn started(command: u64) -> Event {
        Event::ArrayStarted { unit: UnitId(1), command, until: Time::NEVER }
    }

    /// A command of two members that is paused once: what is said to change, and what is known at the end and after it.
    #[test]
    fn a_command_from_its_first_member_to_its_last() {
        let mut flight = InFlight::<u32, u32>::default();
        let changes: Vec<Option<Change>> = [
            at(0, queued(1)),
            at(1, queued(2)),
            at(2, Event::Moved { txn: 2, plane: PlaneId(4) }),
            at(5, dispatched(1, 9)),
            at(5, dispatched(2, 9)),
            at(6, started(9)),
            at(7, Event::Paused { unit: UnitId(1), command: 9, remaining: Duration::ZERO }),
            at(8, started(9)),
            at(9, started(10)),
            at(10, ended(1)),
        ]
        .iter()
        .map(|stamped| flight.follow(stamped))
        .collect();
        let (end, paused) = (End::Flash, Duration::from_ns(6));
        let expected = [
            Some(Change::Queued(1)),
            Some(Change::Queued(2)),
            Some(Change::Moved(2, PlaneId(3))),
            Some(Change::Begun { txn: 1, command: 9, is_first: true }),
            Some(Change::Begun { txn: 2, command: 9, is_first: false }),
            None,
            Some(Change::Paused(9)),
            Some(Change::Resumed(9, Time::from_ns(7))),
            None,
            Some(Change::Ended { txn: 1, end, paused }),
        ];
        assert_eq!(changes, expected);
        let begun = Begun { at: Time::from_ns(5), command: 9, slack: Duration::from_ns(40) };
        let known = |txn| flight.get(txn).map(|known| (known.plane, known.queued.ns(), known.begun));
        assert_eq!(known(1), Some((PlaneId(3), 0, Some(begun))), "until the next event");
        assert_eq!(known(2), Some((PlaneId(4), 1, Some(begun))));
        assert_eq!((flight.count(), flight.command(9).map(|command| command.left)), (1, Some(1)));
        assert!(flight.follow(&at(11, ended(2))).is_some() && flight.get(1).is_none());
        assert_eq!((flight.count(), flight.command(9).map(|command| command.left)), (0, Some(0)));
        assert_eq!((flight.commands().count(), flight.clone().into_commands().count()), (0, 0), "it is over");
        assert_eq!(flight.follow(&at(12, started(9))), None);
        assert!(flight.get(2).is_none() && flight.command(9).is_none());
    }

    #[test]
    fn what_has_ended_takes_no_memory() {
        let mut flight = InFlight::<(), ()>::default();
        flight.follow(&at(0, queued(0)));
        for txn in 1..10_000 {
            flight.follow(&at(txn, queued(txn)));
            flight.follow(&at(txn, dispatched(txn, txn)));
            flight.follow(&at(txn, ended(txn)));
        }
        assert_eq!((flight.transactions.len(), flight.commands.len(), flight.count()), (2, 1, 1));
    }
}
