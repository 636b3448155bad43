//! Batches of what a run does, handed to a thread that has nothing else to do.
//!
//! Owns the run's [`Watchers`] and the batches that wait for them. A batch is taken by an idle thread of the pool, one after the other in the order
//! of the run; where there is none, the run takes them itself when [`MAX_WAITING`] items wait. So the watchers see the same whatever the number of
//! threads, nothing waits for a thread that is not at work, and memory is bounded. An error, or a panic, of a watcher comes out of the run at its
//! next batch. Promises that no thread has the watchers any more when this is dropped: their unfinished files are then gone.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::RunError;
use super::watchers::{Batch, Watchers};

/// Items of a batch: few enough to be still in a core's own cache when they are taken.
pub(super) const LENGTH: usize = 512;
/// Items that wait at most, unless a single step of the device makes more.
const MAX_WAITING: usize = 16 * LENGTH;

/// Bytes of the batches of a run: those that wait, one that is filled and one that is taken.
pub(super) const BYTES: u64 = ((MAX_WAITING + 2 * LENGTH) * Batch::ITEM_BYTES) as u64;

/// The run's side.
pub(super) struct Handoff {
    shared: Arc<Shared>,
    /// Whether the pool has threads beside that of the run.
    has_others: bool,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    desk: Mutex<Desk>,
    /// Fewer batches wait, or the watchers are back.
    changed: Condvar,
}

#[derive(Default)]
struct Desk {
    /// `None` while a thread is at work with them, and after the end.
    watchers: Option<Watchers>,
    waiting: VecDeque<Batch>,
    /// Items in these.
    items: usize,
    /// Empty batches, for reuse.
    spare: Vec<Batch>,
    /// Whether a thread was asked to take what waits and has not begun to.
    is_asked: bool,
    failed: Option<Failed>,
    /// A watcher has failed: it missed events, and takes no more.
    is_over: bool,
}

/// Why the watchers take no more.
enum Failed {
    Error(RunError),
    Panic(Box<dyn Any + Send>),
}

impl Handoff {
    pub(super) fn new(watchers: Watchers) -> Handoff {
        let desk = Desk { watchers: Some(watchers), ..Desk::default() };
        let shared = Arc::new(Shared { desk: Mutex::new(desk), changed: Condvar::new() });
        Handoff { shared, has_others: rayon::current_num_threads() > 1, is_over: false }
    }

    /// Hands a batch on, and leaves an empty one in its place.
    ///
    /// # Errors
    /// That of a watcher at an earlier batch, or at this one.
    pub(super) fn hand(&self, batch: &mut Batch) -> Result<(), RunError> {
        let mut desk = self.shared.lock();
        if desk.is_over {
            batch.clear();
            return desk.check();
        }
        let next = desk.spare.pop().unwrap_or_default();
        desk.items += batch.len();
        desk.waiting.push_back(std::mem::replace(batch, next));
        if !self.has_others {
            desk = self.shared.work(desk);
        } else if !desk.is_asked && desk.watchers.is_some() {
            desk.is_asked = true;
            let shared = Arc::clone(&self.shared);
            rayon::spawn(move || {
                let mut desk = shared.lock();
                desk.is_asked = false;
                drop(shared.work(desk));
            });
        }
        if desk.items > MAX_WAITING {
            desk = self.shared.wait(desk, |desk| desk.items <= MAX_WAITING / 2);
        }
        desk.check()
    }

    /// Waits until all batches are taken; returns the watchers.
    ///
    /// # Errors
    /// As [`Handoff::hand`].
    pub(super) fn finish(mut self) -> Result<Watchers, RunError> {
        let watchers = self.end(|_| {})?;
        Ok(watchers.unwrap_or_default())
    }

    /// Takes the watchers back when all that waits after `before` is taken.
    fn end(&mut self, before: impl FnOnce(&mut Desk)) -> Result<Option<Watchers>, RunError> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(None);
        }
        let mut desk = self.shared.lock();
        before(&mut desk);
        desk = self.shared.wait(desk, |desk| desk.waiting.is_empty() && desk.watchers.is_some());
        let watchers = desk.watchers.take();
        desk.check()?;
        Ok(watchers)
    }
}

impl Drop for Handoff {
    /// What waits is given up.
    fn drop(&mut self) {
        let _ = self.end(Desk::give_up);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `is_done`: at work itself unless another thread is.
    fn wait<'d>(&'d self, mut desk: MutexGuard<'d, Desk>, is_done: impl Fn(&Desk) -> bool) -> MutexGuard<'d, Desk> {
        while !is_done(&desk) {
            desk = if desk.watchers.is_some() {
                self.work(desk)
            } else {
                self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner)
            };
        }
        desk
    }

    /// Has the watchers take all that waits, unless another thread has them at work or they are gone.
    fn work<'d>(&'d self, mut desk: MutexGuard<'d, Desk>) -> MutexGuard<'d, Desk> {
        let Some(mut watchers) = desk.watchers.take() else { return desk };
        while let Some(mut batch) = desk.waiting.pop_front() {
            drop(desk);
            let taken = catch_unwind(AssertUnwindSafe(|| watchers.take(&batch)));
            desk = self.lock();
            desk.items = desk.items.saturating_sub(batch.len());
            batch.clear();
            desk.spare.push(batch);
            match taken {
                Ok(Ok(())) => {}
                Ok(Err(error)) => desk.fail(Failed::Error(error)),
                Err(panic) => desk.fail(Failed::Panic(panic)),
            }
            if desk.items <= MAX_WAITING / 2 {
                self.changed.notify_all();
            }
        }
        desk.watchers = Some(watchers);
        self.changed.notify_all();
        desk
    }
}

impl Desk {
    /// What waits is not taken any more.
    fn give_up(&mut self) {
        self.waiting.clear();
        self.items = 0;
    }

    fn fail(&mut self, why: Failed) {
        self.failed = Some(why);
        self.is_over = true;
        self.give_up();
    }

    /// The error of a watcher, once.
    fn check(&mut self) -> Result<(), RunError> {
        match self.failed.take() {
            None => Ok(()),
            Some(Failed::Error(error)) => Err(error),
            Some(Failed::Panic(panic)) => resume_unwind(panic),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashlane_core::event::{Event, Stamped};
    use flashlane_core::{RequestId, Time};

    use super::*;

    fn batch(from: u64, count: u64) -> Batch {
        let event = |number| Stamped { at: Time::ZERO, event: Event::Admitted { request: RequestId(number) } };
        let mut batch = Batch::default();
        batch.events.extend((from..from + count).map(event));
        batch
    }

    /// Has a run in a pool of `threads` hand on batches to `watch`; returns the most items that waited.
    fn run(threads: usize, batches: u64, watch: impl FnMut(&[Stamped]) + Send + 'static) -> usize {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.scope(|_| {
            let handoff = Handoff::new(Watchers { watch: Some(Box::new(watch)), ..Watchers::default() });
            let mut most = 0;
            for number in 0..batches {
                handoff.hand(&mut batch(number * LENGTH as u64, LENGTH as u64)).expect("no error");
                most = most.max(handoff.shared.lock().items);
            }
            assert!(handoff.finish().expect("no error").watch.is_some());
            most
        })
    }

    #[test]
    fn everything_is_taken_in_order_by_any_number_of_threads_and_little_waits() {
        for threads in [1, 2, 5] {
            for pause in [0, 200] {
                let seen = Arc::new(Mutex::new(0));
                let own = Arc::clone(&seen);
                let most = run(threads, 100, move |events| {
                    std::thread::sleep(Duration::from_micros(pause));
                    let mut seen = own.lock().expect("no panic");
                    for stamped in events {
                        assert_eq!(stamped.event, Event::Admitted { request: RequestId(*seen) });
                        *seen += 1;
                    }
                });
                assert_eq!(*seen.lock().expect("no panic"), 100 * LENGTH as u64);
                assert!(most <= MAX_WAITING, "{most} items waited");
                assert!(threads > 1 || most == 0, "a run that is alone holds nothing back");
            }
        }
    }

    #[test]
    fn a_thread_that_is_free_takes_what_waits() {
        let own = std::thread::current().id();
        let elsewhere = Arc::new(Mutex::new(false));
        let seen = Arc::clone(&elsewhere);
        run(2, 200, move |_| {
            std::thread::sleep(Duration::from_millis(1));
            *seen.lock().expect("no panic") |= std::thread::current().id() != own;
        });
        assert!(*elsewhere.lock().expect("no panic"));
    }

    #[test]
    fn a_panic_of_a_watcher_ends_the_run() {
        for threads in [1, 2] {
            let ended = catch_unwind(|| run(threads, 1_000, |events| assert!(events.is_empty(), "broken")));
            let panic = ended.expect_err("it panics");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"broken"));
        }
    }

    /// A watcher that has failed missed events: it must not see later ones, whenever the run learns of the failure.
    #[test]
    fn nothing_is_taken_after_a_failure() {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let taken = Arc::new(std::sync::atomic::AtomicU32::new(0));
            let counted = Arc::clone(&taken);
            let watch = move |_: &[Stamped]| {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                panic!("broken");
            };
            pool.scope(|_| {
                let handoff = Handoff::new(Watchers { watch: Some(Box::new(watch)), ..Watchers::default() });
                let hand = |from| catch_unwind(AssertUnwindSafe(|| handoff.hand(&mut batch(from, 10))));
                let mut failures = usize::from(hand(0).is_err());
                while !handoff.shared.lock().is_over {
                    std::thread::yield_now();
                }
                failures += (1..4).filter(|number| hand(number * 10).is_err()).count();
                failures += usize::from(catch_unwind(AssertUnwindSafe(|| handoff.finish())).is_err());
                assert_eq!((failures, taken.load(std::sync::atomic::Ordering::Relaxed)), (1, 1));
            });
        }
    }

    /// A run that ends with an error drops its side: files that watchers had begun must be gone then, also while one is being written.
    #[test]
    fn when_the_run_is_given_up_nobody_has_the_watchers() {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let held = Arc::new(());
            let own = Arc::clone(&held);
            let watch = move |_: &[Stamped]| {
                let _own = &own;
                std::thread::sleep(Duration::from_millis(5));
            };
            pool.scope(|_| {
                let handoff = Handoff::new(Watchers { watch: Some(Box::new(watch)), ..Watchers::default() });
                for _ in 0..4 {
                    handoff.hand(&mut batch(0, 10)).expect("no error");
                }
                drop(handoff);
                assert_eq!(Arc::strong_count(&held), 1);
            });
        }
    }
}
