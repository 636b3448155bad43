//! Elevators: which of the requests that have a tag goes to the drive next.

mod deadline;
mod kyber;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use flashlane_core::{RequestId, Time};

use crate::config::{Class, ElevatorConfig};
use crate::requests::Request;
use deadline::MqDeadline;
use kyber::Kyber;

/// An elevator with what waits in it.
#[derive(Debug)]
pub(crate) enum Elevator {
    None(VecDeque<RequestId>),
    MqDeadline(Box<MqDeadline>),
    Kyber(Box<Kyber>),
}

impl Elevator {
    pub(crate) fn new(config: &ElevatorConfig) -> Elevator {
        match config {
            ElevatorConfig::None => Elevator::None(VecDeque::new()),
            ElevatorConfig::MqDeadline(parameters) => Elevator::MqDeadline(Box::new(MqDeadline::new(*parameters))),
            ElevatorConfig::Kyber(parameters) => Elevator::Kyber(Box::new(Kyber::new(*parameters))),
        }
    }

    /// Whether requests may leave it in another order than they came.
    pub(crate) fn orders(&self) -> bool {
        !matches!(self, Elevator::None(_))
    }

    /// A request of `class` enters.
    pub(crate) fn insert(&mut self, now: Time, request: &Request, class: Class) {
        match self {
            Elevator::None(waiting) => waiting.push_back(request.id),
            Elevator::MqDeadline(elevator) => elevator.insert(now, request, class),
            Elevator::Kyber(elevator) => elevator.insert(request),
        }
    }

    /// A request of `class` that waits here and began at the address `from` has taken up a bio.
    pub(crate) fn moved(&mut self, from: u64, request: &Request, class: Class) {
        if let Elevator::MqDeadline(elevator) = self
            && from != request.offset
        {
            elevator.moved(from, request, class);
        }
    }

    /// Takes the request that goes next.
    pub(crate) fn next(&mut self, now: Time) -> Option<RequestId> {
        match self {
            Elevator::None(waiting) => waiting.pop_front(),
            Elevator::MqDeadline(elevator) => elevator.next(now),
            Elevator::Kyber(elevator) => elevator.next(now),
        }
    }

    /// A request of `class` that was taken has ended.
    pub(crate) fn completed(&mut self, now: Time, request: &Request, class: Class) {
        match self {
            Elevator::None(_) => {}
            Elevator::MqDeadline(elevator) => elevator.completed(class),
            Elevator::Kyber(elevator) => elevator.completed(now, request),
        }
    }

    /// When something may go that may not go now, if nothing enters or ends before.
    pub(crate) fn next_event(&self, now: Time) -> Time {
        match self {
            Elevator::None(_) => Time::NEVER,
            Elevator::MqDeadline(elevator) => elevator.next_event(now),
            Elevator::Kyber(elevator) => elevator.next_event(),
        }
    }
}
