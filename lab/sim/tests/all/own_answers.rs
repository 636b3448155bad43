//! What the device offers answers and no shipped one uses: where a page is when its write gets a plane, ranking waiting transactions
//! again, the transactions of a request, and the ends of transactions for a pick answer; and that answers are told to prepare.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::play::{Mix, TestRequest, asks, audit_under, conserved};
use crate::common::{recipe, table1};
use flashlane_audit::{Formula, Preconditioned};
use flashlane_core::decide::{
    Admit, AdmitDeclares, Cancel, CancelDeclares, Collect, CollectDeclares, Commands, Fetch, GcPrecedence, Group,
    Keeps, Needs, Order, OrderDeclares, PageWrite, Pick, PickDeclares, Place, PlaceDeclares, Position, Preempt,
    PreemptDeclares, Promotion, Question, Scheduler, Scope,
};
use flashlane_core::event::{End, Event};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Lpn, Owner, PlaneId, QueueId, TxnId, UnitId};
use flashlane_sched::catalogue::build;
use flashlane_ssd::Device;
use flashlane_ssd::config::{Config, FlowConfig, Precondition};
use rand_pcg::Pcg64Mcg;

/// Four chips of two planes, collecting all the time.
fn config() -> Config {
    let mut config = table1(2, 2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 8);
    config.ftl.logical_pages = config.geometry.planes() * 8 * 17;
    config.precondition = Precondition::Steady;
    config.flows = vec![FlowConfig::at_priority(0); 2];
    config
}

fn load(config: &Config, gap: u64) -> Vec<TestRequest> {
    let mix = Mix { requests: 900, gap, reads: 55, pages: 6, hot: 20, partial: 0, scattered: 20 };
    asks(config, &mix, &mut Pcg64Mcg::new(35))
}

/// Writes go to the plane behind the one that has their page now, and it is noted what was asked about.
struct OnePlaneOn(Arc<Mutex<Vec<PageWrite>>>);

impl Place for OnePlaneOn {
    fn declares(&self) -> PlaceDeclares {
        PlaceDeclares { keeps: Keeps { page_planes: true, ..Keeps::NOTHING }, ..PlaceDeclares::ASK }
    }

    fn plane(&mut self, board: &Board, page: PageWrite) -> PlaneId {
        self.0.lock().expect("no panic").push(page);
        PlaneId((page.at.0 + 1) % board.planes.len() as u16)
    }
}

/// A place answer is told where the page is that it is asked about: where the write that was mapped last put it, or else where it lay at first.
#[test]
fn a_place_answer_is_told_where_a_page_is() {
    let config = config();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let mut scheduler = build(&recipe("fr-fcfs", &[])).expect("a scheduler");
    scheduler.place = Box::new(OnePlaneOn(asked.clone()));
    let asks = load(&config, 400_000);
    let mut asked_of = 0;
    let initial = Preconditioned::of(&config).expect("nothing is replayed");
    let placed = |lpn| initial.place(Lpn(lpn)).expect("the drive is full").0;
    let mut at: Vec<PlaneId> = (0..config.ftl.logical_pages).map(placed).collect();
    let mut elsewhere = 0;
    let (run, _) = audit_under(&config, scheduler, &asks, &mut |event| match *event {
        // Every write was asked about just before it joined its queue.
        Event::Queued { op: FlashOp::Program, owner: Owner::User, lpn, plane, .. } => {
            let page = asked.lock().expect("no panic")[asked_of];
            asked_of += 1;
            assert_eq!((page.lpn, page.at), (lpn, at[lpn.0 as usize]), "write {asked_of}");
            assert_eq!(plane.0, (page.at.0 + 1) % config.geometry.planes() as u16);
            elsewhere += u32::from(page.at != page.home);
        }
        Event::Mapped { lpn, plane, .. } => at[lpn.0 as usize] = plane,
        _ => {}
    })
    .expect("no rule broken");
    conserved(&asks, &run.completions).expect("all done");
    assert_eq!(asked_of, asked.lock().expect("no panic").len());
    assert!(asked_of > 500 && elsewhere > 100, "{asked_of} writes, {elsewhere} of pages that had moved");
}

/// Units that hold a request's transactions: fewest first, then by age.
fn units_held(board: &Board, txn: TxnId) -> (usize, u64) {
    let mut units: Vec<UnitId> =
        board.transactions_of(board.txn(txn).request).map(|other| board.txn(other).unit).collect();
    units.sort_by_key(|unit| unit.0);
    units.dedup();
    (units.len(), board.txn(txn).serial)
}

/// Requests that fewest units hold go first: how many these are changes while a transaction waits. Counts the moves.
struct FewestUnits(Arc<AtomicU64>);

impl Order for FewestUnits {
    fn declares(&self) -> OrderDeclares {
        let keeps = Keeps { request_pages: true, ..Keeps::NOTHING };
        OrderDeclares { is_tail: true, needs: Needs { reranks: true, ..Needs::NOTHING }, keeps }
    }

    fn position(&mut self, _: &Board, _: TxnId, _: QueueId) -> Position {
        Position::TAIL
    }

    fn rerank(&mut self, board: &Board, unit: UnitId, promotions: &mut Vec<Promotion>) {
        for op in [FlashOp::Read, FlashOp::Program] {
            let mut now: Vec<TxnId> = board.walk(board.queue_for(unit, op, 0)).collect();
            let mut sorted = now.clone();
            sorted.sort_by_key(|&txn| units_held(board, txn));
            for (place, &txn) in sorted.iter().enumerate() {
                let from = now.iter().position(|&other| other == txn).expect("it waits");
                if from != place {
                    promotions.push(Promotion { txn, in_front_of: now[place], charge: Duration::ZERO });
                    now.remove(from);
                    now.insert(place, txn);
                    self.0.fetch_add(1, Relaxed);
                }
            }
        }
    }
}

/// The pick answer inside, which sees every queue in the order of [`units_held`], and is called at ends. Counts decisions with a choice, and
/// ends.
struct SeesOrder {
    pick: Box<dyn Pick>,
    choices: Arc<AtomicU64>,
    ends: Arc<AtomicU64>,
}

impl Pick for SeesOrder {
    fn declares(&self) -> PickDeclares {
        PickDeclares { ends: true, ..self.pick.declares() }
    }

    fn prepare(&mut self, board: &Board) {
        self.pick.prepare(board);
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        for op in [FlashOp::Read, FlashOp::Program] {
            let keys: Vec<_> = board.walk(board.queue_for(unit, op, 0)).map(|txn| units_held(board, txn)).collect();
            assert!(keys.is_sorted(), "{:?} at {}: {keys:?}", unit, board.now);
            self.choices.fetch_add(u64::from(keys.len() > 1), Relaxed);
        }
        self.pick.pick(board, unit, scope, group);
    }

    fn ended(&mut self, board: &Board, txn: TxnId) {
        assert_eq!(board.txn(txn).owner, Owner::User);
        self.ends.fetch_add(1, Relaxed);
    }
}

/// An order answer that asks for it ranks what waits again before each decision, by what has changed since; and a pick answer that asks for
/// it is called at every end.
#[test]
fn waiting_transactions_are_ranked_again() {
    let config = config();
    let [moves, choices, ends] = [(); 3].map(|()| Arc::new(AtomicU64::new(0)));
    let mut scheduler = build(&recipe("read-first-suspend", &[])).expect("a scheduler");
    scheduler.order = Box::new(FewestUnits(moves.clone()));
    scheduler.pick = Box::new(SeesOrder { pick: scheduler.pick, choices: choices.clone(), ends: ends.clone() });
    let asks = load(&config, 150_000);
    let mut ended = 0;
    let mut users = std::collections::BTreeSet::new();
    let (run, _) = audit_under(&config, scheduler, &asks, &mut |event| match *event {
        Event::Queued { txn, owner: Owner::User, .. } => drop(users.insert(txn)),
        Event::Ended { txn, end: End::Flash, .. } => ended += u64::from(users.contains(&txn)),
        _ => {}
    })
    .expect("no rule broken");
    conserved(&asks, &run.completions).expect("all done");
    let [moves, choices, ends] = [moves, choices, ends].map(|count| count.load(Relaxed));
    assert_eq!(ends, ended);
    assert!(moves > 300 && choices > 300 && ends > 1000, "{moves} moves, {choices} choices, {ends} ends");
}

/// An answer that notes for which question it is told to prepare.
struct Notes<T: ?Sized> {
    answer: Box<T>,
    question: Question,
    told: Arc<Mutex<Vec<Question>>>,
}

impl<T: ?Sized> Notes<T> {
    fn boxed(answer: Box<T>, question: Question, told: &Arc<Mutex<Vec<Question>>>) -> Box<Notes<T>> {
        Box::new(Notes { answer, question, told: told.clone() })
    }
}

/// An answer to a question that prepares by a note and does all else as the one inside.
macro_rules! notes {
    ($Question:ident, $Declares:ident, $(fn $ask:ident(&mut self $(, $name:ident: $Of:ty)*) $(-> $Answer:ty)?;)*) => {
        impl $Question for Notes<dyn $Question> {
            fn declares(&self) -> $Declares {
                self.answer.declares()
            }

            fn prepare(&mut self, board: &Board) {
                self.told.lock().expect("no panic").push(self.question);
                self.answer.prepare(board);
            }

            $(fn $ask(&mut self $(, $name: $Of)*) $(-> $Answer)? {
                self.answer.$ask($($name),*)
            })*
        }
    };
}

notes! { Admit, AdmitDeclares, fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch>; }
notes! { Place, PlaceDeclares, fn plane(&mut self, board: &Board, page: PageWrite) -> PlaneId; }
notes! { Order, OrderDeclares, fn position(&mut self, board: &Board, txn: TxnId, queue: QueueId) -> Position; }
notes! { Pick, PickDeclares, fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group); }
notes! {
    Preempt, PreemptDeclares,
    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration>;
    fn serve(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration>;
}
notes! { Collect, CollectDeclares, fn precedence(&mut self, board: &Board, unit: UnitId) -> GcPrecedence; }
notes! { Cancel, CancelDeclares, fn drops(&mut self, board: &Board, old: TxnId) -> bool; }

/// The answers to all seven questions are told once to prepare, before the device takes a request, and those of another scheduler when it
/// takes the place of the first.
#[test]
fn all_seven_answers_are_told_to_prepare() {
    let config = config();
    let told = Arc::new(Mutex::new(Vec::new()));
    let scheduler = || {
        let Scheduler { admit, place, order, pick, preempt, collect, cancel } =
            build(&recipe("fr-fcfs", &[])).expect("a scheduler");
        Scheduler {
            admit: Notes::boxed(admit, Question::Admit, &told),
            place: Notes::boxed(place, Question::Place, &told),
            order: Notes::boxed(order, Question::Order, &told),
            pick: Notes::boxed(pick, Question::Pick, &told),
            preempt: Notes::boxed(preempt, Question::Preempt, &told),
            collect: Notes::boxed(collect, Question::Collect, &told),
            cancel: Notes::boxed(cancel, Question::Cancel, &told),
        }
    };
    let all_told = || {
        let mut told = std::mem::take(&mut *told.lock().expect("no panic"));
        told.sort_by_key(|question| *question as usize);
        told == Question::ALL
    };
    let mut device = Device::new(&config, scheduler()).expect("legal");
    assert!(all_told(), "when the device is built");
    device.change_scheduler(&config, scheduler());
    assert!(all_told(), "when the scheduler is changed");
    let asks = load(&config, 400_000);
    let (run, _) = audit_under(&config, scheduler(), &asks, &mut |_| {}).expect("no rule broken");
    conserved(&asks, &run.completions).expect("all done");
    assert!(all_told(), "once in a run");
}
