//! What a scheduler declares in advance, so that the device need not ask every time, is what it would answer: every row of the
//! catalogue runs the same when it declares nothing and is asked every time.
//!
//! One declaration is not held to this: that a lone command enters at once leaves the turn of round robin where it is
//! (ARCHITECTURE.md, shortcuts of the policy). It is checked with one flow, where turns do not matter.

use crate::common::play::{self, Mix, TestRequest, Wake, asks};
use crate::common::{recipe, small_gc_drive};
use flashlane_core::decide::{
    Admit, AdmitDeclares, Collect, CollectDeclares, Commands, Departure, Estimate, Fetch, GcPrecedence, GcQuota, Group,
    Order, OrderDeclares, PageWrite, Pick, PickDeclares, Place, PlaceDeclares, Placement, Position, Promotion,
    Scheduler, Scope,
};
use flashlane_core::geometry::UnitKind;
use flashlane_core::{Board, Duration, PlaneId, QueueId, RequestId, Time, TxnId, UnitId};
use flashlane_sched::catalogue::{build, schedulers};
use flashlane_ssd::config::{Config, FlowConfig};
use rand_pcg::Pcg64Mcg;

/// A decision that gives the same answers as the one inside, and declares none of them. What the device must provide or act on is
/// declared as inside: everything but the answers named here.
struct Asked<D: ?Sized>(Box<D>);

impl Admit for Asked<dyn Admit> {
    fn declares(&self) -> AdmitDeclares {
        AdmitDeclares { skips_when_single: false, ..self.0.declares() }
    }
    fn prepare(&mut self, board: &Board) {
        self.0.prepare(board);
    }
    fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch> {
        self.0.next(board, commands)
    }
    fn ask_again(&self) -> Time {
        self.0.ask_again()
    }
}

impl Order for Asked<dyn Order> {
    fn declares(&self) -> OrderDeclares {
        OrderDeclares { is_tail: false, ..self.0.declares() }
    }
    fn prepare(&mut self, board: &Board) {
        self.0.prepare(board);
    }
    fn position(&mut self, board: &Board, txn: TxnId, queue: QueueId) -> Position {
        self.0.position(board, txn, queue)
    }
    fn promote(&mut self, board: &Board, created: &[TxnId], promotions: &mut Vec<Promotion>) {
        self.0.promote(board, created, promotions);
    }
    fn rerank(&mut self, board: &Board, unit: UnitId, promotions: &mut Vec<Promotion>) {
        self.0.rerank(board, unit, promotions);
    }
    fn response(&mut self, board: &Board, txn: TxnId, request: RequestId) -> Duration {
        self.0.response(board, txn, request)
    }
    fn estimate(&mut self, board: &Board, txn: TxnId, request: RequestId) -> Estimate {
        self.0.estimate(board, txn, request)
    }
    fn departs(&mut self, board: &Board, txn: TxnId, departure: Departure) -> Duration {
        self.0.departs(board, txn, departure)
    }
    fn ended(&mut self, board: &Board, txn: TxnId) {
        self.0.ended(board, txn);
    }
}

impl Pick for Asked<dyn Pick> {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: false, ..self.0.declares() }
    }
    fn prepare(&mut self, board: &Board) {
        self.0.prepare(board);
    }
    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        self.0.pick(board, unit, scope, group);
    }
    fn next_read(&mut self, board: &Board, unit: UnitId) -> TxnId {
        self.0.next_read(board, unit)
    }
    fn ended(&mut self, board: &Board, txn: TxnId) {
        self.0.ended(board, txn);
    }
}

impl Collect for Asked<dyn Collect> {
    fn declares(&self) -> CollectDeclares {
        CollectDeclares { goes_first: false, ..self.0.declares() }
    }
    fn prepare(&mut self, board: &Board) {
        self.0.prepare(board);
    }
    fn precedence(&mut self, board: &Board, unit: UnitId) -> GcPrecedence {
        self.0.precedence(board, unit)
    }
    fn quota(&mut self, board: &Board, write: TxnId) -> GcQuota {
        self.0.quota(board, write)
    }
}

impl Place for Asked<dyn Place> {
    fn declares(&self) -> PlaceDeclares {
        PlaceDeclares { is_static: false, ..self.0.declares() }
    }
    fn prepare(&mut self, board: &Board) {
        self.0.prepare(board);
    }
    fn plane(&mut self, board: &Board, page: PageWrite) -> PlaneId {
        self.0.plane(board, page)
    }
    fn place_at_dispatch(&mut self, board: &Board, write: TxnId) -> Option<Placement> {
        self.0.place_at_dispatch(board, write)
    }
    fn steal_write(&mut self, board: &Board, unit: UnitId) -> Option<Placement> {
        self.0.steal_write(board, unit)
    }
}

/// A small drive that collects garbage all the time, with this many flows on two levels.
fn drive(unit: UnitKind, flows: u8) -> Config {
    let mut config = small_gc_drive();
    config.geometry.unit = unit;
    config.bus.command = [290, 361, 220].map(Duration::from_ns);
    config.flows = (0..flows).map(|flow| FlowConfig::at_priority(flow % 2)).collect();
    config.priorities = 2;
    config
}

/// A scheduler with one of its answers that declares nothing.
type Ask = fn(Scheduler) -> Scheduler;

const ADMIT: Ask = |scheduler| Scheduler { admit: Box::new(Asked(scheduler.admit)), ..scheduler };
const PLACE: Ask = |scheduler| Scheduler { place: Box::new(Asked(scheduler.place)), ..scheduler };
const ORDER: Ask = |scheduler| Scheduler { order: Box::new(Asked(scheduler.order)), ..scheduler };
const PICK: Ask = |scheduler| Scheduler { pick: Box::new(Asked(scheduler.pick)), ..scheduler };
const COLLECT: Ask = |scheduler| Scheduler { collect: Box::new(Asked(scheduler.collect)), ..scheduler };

/// Runs every row as it is and with one of its answers changed, by each of `changes` in turn.
fn same_on(drive: impl Fn(UnitKind) -> Config, changes: &[(&str, Ask)]) {
    for unit in [UnitKind::Chip, UnitKind::Die] {
        let config = drive(unit);
        for gap in [20_000, 500_000] {
            let mix = Mix { requests: 2_500, gap, reads: 55, pages: 4, hot: 20, partial: 30, scattered: 20 };
            let asks: Vec<TestRequest> = asks(&config, &mix, &mut Pcg64Mcg::new(u128::from(gap) | 7));
            for entry in schedulers() {
                let recipe = recipe(entry.name, &[]);
                let scheduler = || build(&recipe).expect("a scheduler");
                let declared = play::play_under(&config, scheduler(), &asks, Wake::Plain);
                assert!(declared.totals.erases > 50, "{}: too little happened", entry.name);
                for (what, ask) in changes {
                    let asked = play::play_under(&config, ask(scheduler()), &asks, Wake::Plain);
                    assert_eq!(declared, asked, "{}, {what}, {unit:?}, a request every {gap} ns", entry.name);
                }
            }
        }
    }
}

#[test]
fn what_is_declared_of_transactions() {
    let changes = [
        ("positions at the tail", ORDER),
        ("pages that stay home", PLACE),
        ("single transactions that start", PICK),
        ("garbage collection that goes first", COLLECT),
    ];
    same_on(|unit| drive(unit, 2), &changes);
}

#[test]
fn single_commands_that_enter() {
    same_on(|unit| drive(unit, 1), &[("single commands that enter", ADMIT)]);
}

/// A drive behind a link, which lets few commands in.
fn linked(unit: UnitKind, flows: u8) -> Config {
    let mut config = drive(unit, flows);
    config.front.in_flight = 6;
    (config.front.link_bytes_per_s, config.front.link_latency) = (2_000_000_000, Duration::from_us(3));
    config
}

#[test]
fn single_commands_that_have_crossed_the_link() {
    same_on(|unit| linked(unit, 1), &[("single commands that have crossed the link", ADMIT)]);
}

/// Behind a link the commands of several flows are compared, so that not even the turn of round robin moves; and with memory that
/// takes no time, those of one instant.
#[test]
fn commands_that_cross_the_link_and_are_compared() {
    let no_time = |unit| Config { memory: Duration::ZERO, ..linked(unit, 1) };
    same_on(|unit| linked(unit, 2), &[("commands of two flows", ADMIT)]);
    same_on(no_time, &[("commands of an instant", ADMIT)]);
}
