//! Flushes, and writes with FUA where the buffer loses its dirty pages with the power (model 0.13): which programs they wait for.
//!
//! A flush waits for the pages that are dirty when it enters its submission queue, a write with FUA for its own: each for the end of the
//! program that has this version of the page, or of a younger one. From its admission on a page that it waits for is written out at once.
//! A program that is dropped for a younger one of its page counts when that ends; a trimmed page is waited for no longer.
//!
//! Owns what waits for which pages, and the log of what a power cut would take. What the buffer holds is in [`Buffer`].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::transaction::{FlashOp, Stage, Transaction, tag};
use flashlane_core::{Board, FlowId, Lpn, Op, Owner, RequestId, TxnId};

use super::Device;
use super::effects::{Effect, Why, WriteOut};
use crate::config::Config;
use crate::frontend::RequestSlot;

/// A command that waits for a page.
#[derive(Clone, Copy, Debug)]
struct Waits {
    slot: RequestSlot,
    /// Programs of the page that must still end.
    programs: u32,
}

/// What becomes of the pages of writes in a buffer that loses them with the power. Programs are counted: a later one has a greater number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferedPage {
    /// A page of a write is in the buffer.
    Stored {
        /// The write.
        request: RequestId,
        /// The page.
        lpn: Lpn,
        /// The last program of the page that has not ended; 0 if there is none. Its data is older.
        after: u64,
    },
    /// The flash has what was stored of a page before a program of it was created.
    Durable {
        /// The page.
        lpn: Lpn,
        /// The program; [`u64::MAX`] if nothing of the page is in the buffer only.
        program: u64,
    },
}

/// What waits for pages to be programmed.
#[derive(Debug, Default)]
pub(super) struct Durability {
    pages: BTreeMap<Lpn, Vec<Waits>>,
    /// What became of pages, if that is reported.
    log: Option<Vec<BufferedPage>>,
    /// Programs of the buffer that have not ended, by page, if it does not merge writes: then all its pages are on their way to the flash.
    programs: BTreeMap<Lpn, u32>,
    /// Whether it merges them, and knows itself which pages are dirty.
    merges: bool,
}

impl Durability {
    /// That of `config`, if its buffer loses dirty pages with the power.
    pub(super) fn of(config: &Config) -> Option<Durability> {
        let buffer = config.buffer.as_ref().filter(|buffer| buffer.is_volatile())?;
        Some(Durability { merges: buffer.merge_writes, ..Durability::default() })
    }

    fn add(&mut self, lpn: Lpn, slot: RequestSlot, programs: u32) {
        self.pages.entry(lpn).or_default().push(Waits { slot, programs });
    }

    /// Whether nothing waits, and nothing is reported.
    #[inline(always)]
    pub(super) fn is_idle(&self) -> bool {
        self.pages.is_empty() && self.log.is_none()
    }

    /// Reports what became of a page.
    fn log_page(&mut self, page: BufferedPage) {
        self.log.iter_mut().for_each(|log| log.push(page));
    }

    /// The pages that a command waits for, in ascending order.
    pub(super) fn pages_of(&self, slot: RequestSlot) -> Vec<Lpn> {
        let waits = |waits: &&Waits| waits.slot == slot;
        self.pages.iter().filter(|(_, all)| all.iter().any(|one| waits(&one))).map(|(&lpn, _)| lpn).collect()
    }

    /// A page of a write is in the buffer; `youngest` is the youngest write of the page before that has not ended.
    pub(super) fn stored(&mut self, slot: RequestSlot, lpn: Lpn, youngest: TxnId, board: &Board) {
        if self.log.is_some() {
            let request = board.requests[slot as usize].id;
            let after = if youngest.is_some() { number(board.txn(youngest).serial) } else { 0 };
            self.log_page(BufferedPage::Stored { request, lpn, after });
        }
    }

    /// A program of a page has ended: the commands that wait for the page no longer, and whether others do.
    fn programmed(&mut self, lpn: Lpn) -> (Vec<RequestSlot>, bool) {
        let Some(all) = self.pages.get_mut(&lpn) else { return (Vec::new(), false) };
        let mut done = Vec::new();
        all.retain_mut(|waits| {
            waits.programs -= 1;
            if waits.programs == 0 {
                done.push(waits.slot);
            }
            waits.programs > 0
        });
        let others = !all.is_empty();
        if !others {
            self.pages.remove(&lpn);
        }
        (done, others)
    }

    /// A program of a page in the buffer was created.
    #[cold]
    pub(super) fn program_created(&mut self, lpn: Lpn) {
        if !self.merges {
            *self.programs.entry(lpn).or_default() += 1;
        }
    }

    /// A program of a page has ended, was dropped, or is of a page that was trimmed.
    #[cold]
    pub(super) fn program_gone(&mut self, lpn: Lpn) {
        let Some(programs) = self.programs.get_mut(&lpn) else { return };
        *programs -= 1;
        if *programs == 0 {
            self.programs.remove(&lpn);
        }
    }

    /// The next program of a page to end has its newest version.
    fn next_is_newest(&mut self, lpn: Lpn) {
        for waits in self.pages.get_mut(&lpn).into_iter().flatten() {
            waits.programs = 1;
        }
    }
}

/// [`Durability::programs`], counted anew.
fn programs_of_buffer(board: &Board) -> BTreeMap<Lpn, u32> {
    let counts = |txn: &&Transaction| {
        txn.stage != Stage::Free
            && (txn.owner, txn.op) == (Owner::Buffer, FlashOp::Program)
            && txn.tag & tag::TRIMMED == 0
    };
    let mut programs = BTreeMap::new();
    for txn in board.txns.iter().filter(counts) {
        *programs.entry(txn.lpn).or_default() += 1;
    }
    programs
}

/// The number of the program of this serial number.
const fn number(serial: u64) -> u64 {
    serial + 1
}

impl Device {
    /// From now on reports what becomes of pages of writes, if the buffer loses them with the power.
    pub fn report_buffered_pages(&mut self) {
        self.durability.iter_mut().for_each(|durability| _ = durability.log.get_or_insert_default());
    }

    /// What became of pages since this was last drained, in order; the caller drains. `None` if it is not reported.
    pub fn buffered_pages(&mut self) -> Option<&mut Vec<BufferedPage>> {
        self.durability.as_mut()?.log.as_mut()
    }

    /// Whether a request of this kind with FUA waits for the programs of its pages.
    #[cold]
    pub(super) fn waits_for_programs(&self, op: Op) -> bool {
        op == Op::Write && self.durability.is_some()
    }

    /// A flush enters its submission queue: it waits for the pages that are dirty now.
    #[cold]
    pub(super) fn flush_arrives(&mut self, slot: RequestSlot) {
        let (Some(durability), Some(buffer)) = (&mut self.durability, &self.buffer) else { return };
        debug_assert!(durability.merges || durability.programs == programs_of_buffer(&self.state.board));
        let dirty = if durability.merges { buffer.dirty_pages() } else { durability.programs.clone() };
        self.state.board.requests[slot as usize].remaining = dirty.len() as u32;
        for (lpn, programs) in dirty {
            durability.add(lpn, slot, programs);
        }
    }

    /// A write with FUA waits for the programs that bring its page, which is in the buffer, to the flash.
    #[cold]
    pub(super) fn waits_for_page(&mut self, slot: RequestSlot, lpn: Lpn) {
        let (Some(durability), Some(buffer)) = (&mut self.durability, &self.buffer) else { return };
        let programs = if durability.merges {
            buffer.programs_needed(lpn)
        } else {
            durability.programs.get(&lpn).copied().unwrap_or_default()
        };
        durability.add(lpn, slot, programs);
    }

    /// A waiting program of a page in the buffer has been dropped for a younger one, which has its newest version; that of the write with
    /// FUA `slot`, if it is one.
    #[inline(always)]
    pub(super) fn program_renewed(&mut self, lpn: Lpn, slot: Option<RequestSlot>) {
        if let Some(durability) = &mut self.durability {
            durability.next_is_newest(lpn);
            slot.into_iter().for_each(|slot| durability.add(lpn, slot, 1));
        }
    }

    /// A program of a page of the buffer has ended. If something in the device waits for a younger version of the page, that is written out.
    #[cold]
    pub(super) fn page_is_durable(&mut self, id: TxnId) {
        let Transaction { lpn, flow, tag, serial, .. } = *self.state.board.txn(id);
        let Some(durability) = self.durability.as_mut().filter(|_| tag & tag::TRIMMED == 0) else { return };
        durability.program_gone(lpn);
        if durability.is_idle() {
            return;
        }
        durability.log_page(BufferedPage::Durable { lpn, program: number(serial) });
        let (done, others) = durability.programmed(lpn);
        done.into_iter().for_each(|slot| self.page_waited_for(slot));
        if others {
            self.is_written_out_if_awaited(lpn, flow);
        }
    }

    /// If something in the device waits for a page, that is written out next.
    pub(super) fn is_written_out_if_awaited(&mut self, lpn: Lpn, flow: FlowId) {
        let in_device = |waits: &Waits| is_in_device(&self.state.board.requests[waits.slot as usize]);
        let waiting = self.durability.as_ref().and_then(|durability| durability.pages.get(&lpn));
        if waiting.is_some_and(|all| all.iter().any(in_device)) {
            let (why, awaited_by) = (Why::Awaited, RequestSlot::MAX);
            self.effects.push(Effect::WriteOut(WriteOut { lpn, flow, why, awaited_by }));
        }
    }

    /// A page of the buffer is dirty no longer without a program that ends: it was trimmed, or left the buffer under serial service. All
    /// commands but `except` no longer wait for it.
    #[cold]
    pub(super) fn no_longer_dirty(&mut self, lpn: Lpn, except: Option<RequestSlot>) {
        let Some(durability) = &mut self.durability else { return };
        durability.log_page(BufferedPage::Durable { lpn, program: u64::MAX });
        let waits = durability.pages.remove(&lpn);
        for Waits { slot, .. } in waits.into_iter().flatten() {
            if except == Some(slot) {
                self.state.board.requests[slot as usize].remaining -= 1;
            } else {
                self.page_waited_for(slot);
            }
        }
    }

    /// A command waits for one page fewer.
    fn page_waited_for(&mut self, slot: RequestSlot) {
        let request = &mut self.state.board.requests[slot as usize];
        if is_in_device(request) {
            self.frontend.page_done(slot, 0, &mut self.state);
        } else {
            request.remaining -= 1;
        }
    }
}

/// Whether a command that waits for pages has entered the device: a write whose pages are in the buffer has.
fn is_in_device(request: &ActiveRequest) -> bool {
    request.op == Op::Write || request.entered
}
