//! Entries of the page map that memory does not hold: what waits for them, and the reads and programs of translation pages (model 0.11).
//!
//! Owns what waits for an entry (a page of a read that has no transaction yet, a program that is in no queue) and which translation pages
//! are being read. Which entries memory holds, and which translation pages must be written anew, is in [`MappingCache`]. The reads and
//! programs are transactions as any others, of [`Owner::Mapping`]: the same questions order them.
//!
//! [`MappingCache`]: crate::ftl::MappingCache

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use flashlane_core::event::{EntryAt, Event};
use flashlane_core::transaction::{FlashOp, Transaction, held};
use flashlane_core::{Duration, FlowId, Lpn, Owner, Time, TxnId};

use super::Device;
use super::effects::{Effect, ReadId};
use super::transactions::{create, hold};
use crate::config::Config;
use crate::frontend::{RequestSlot, crossing_ns};
use crate::shared::{LpnTable, Value};

/// What waits for an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waits {
    /// A page of a read, by its number in the request, and the age that its transaction will have: that of the instant at which it was looked
    /// up.
    Read { slot: RequestSlot, page: u32, age: u64 },
    /// A program.
    Program(TxnId),
    /// The read of the rest of a page in the buffer.
    Rest,
}

/// Something that waits for the entry of a logical page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) waits: Waits,
    pub(super) lpn: Lpn,
    pub(super) flow: FlowId,
}

/// A translation page that is being read.
#[derive(Debug)]
pub(super) struct OpenRead {
    /// What waits for its entries, in the order in which it came.
    waiters: Vec<Waiter>,
    /// The whole page is read.
    whole: bool,
    /// The flow for which it is written anew afterwards.
    pub(super) rewrite: Option<FlowId>,
}

impl Value for ReadId {
    const NONE: ReadId = ReadId(u32::MAX);
}

/// Entries that are on their way to the controller's memory.
#[derive(Debug)]
pub(super) struct Translation {
    /// By translation page, its read.
    reads: LpnTable<ReadId>,
    open: Vec<OpenRead>,
    free: Vec<ReadId>,
    /// Entries on their way from the host's memory, each with its instant.
    from_host: VecDeque<(Time, Waiter)>,
    /// How long one takes.
    round_trip: Duration,
    /// Bytes on the bus of a read for an entry.
    read_bytes: u32,
    /// Reads of translation pages so far.
    pub(super) read: u64,
    /// Translation pages to be programmed since the last program of the host, and how many are too many: as many as the drive has pages.
    pub(super) in_a_row: u64,
    pub(super) too_many: u64,
}

impl Translation {
    /// That of `config`, if its map lies on the flash.
    pub(super) fn of(config: &Config) -> Option<Translation> {
        let mapping = config.mapping.as_ref()?;
        let crossing = crossing_ns(mapping.entry_bytes.into(), config.front.link_bytes_per_s);
        Some(Translation {
            reads: LpnTable::default(),
            open: Vec::new(),
            free: Vec::new(),
            from_host: VecDeque::new(),
            round_trip: config.front.link_latency * 2 + Duration::from_ns(crossing),
            read_bytes: mapping.read_bytes,
            read: 0,
            in_a_row: 0,
            too_many: u64::from(config.geometry.planes()) * u64::from(config.geometry.pages_per_plane()),
        })
    }

    /// The read of a translation page, if it is being read.
    pub(super) fn read_of(&mut self, page: Lpn) -> Option<&mut OpenRead> {
        let id = self.reads.get(page);
        if id.is_none() { None } else { self.open.get_mut(id.0 as usize) }
    }

    /// A place for what waits for entries that are read, or have arrived from the host's memory.
    fn take_place(&mut self) -> ReadId {
        let id = self.free.pop().unwrap_or(ReadId(self.open.len() as u32));
        if id.0 as usize == self.open.len() {
            self.open.push(OpenRead { waiters: Vec::new(), whole: false, rewrite: None });
        }
        id
    }

    /// A translation page is being read from now on.
    fn add_read(&mut self, page: Lpn, whole: bool) -> &mut OpenRead {
        let id = self.take_place();
        self.reads.insert(page, id);
        let read = &mut self.open[id.0 as usize];
        read.whole = whole;
        read
    }

    /// What waited for entries that have arrived, in the order in which it came; [`Translation::give_back`] takes the vector.
    pub(super) fn take_waiters(&mut self, id: ReadId) -> Vec<Waiter> {
        mem::take(&mut self.open[id.0 as usize].waiters)
    }

    /// Uses the memory of a read again.
    pub(super) fn give_back(&mut self, id: ReadId, mut waiters: Vec<Waiter>) {
        waiters.clear();
        self.open[id.0 as usize].waiters = waiters;
        self.free.push(id);
    }
}

// Looking up.

impl Device {
    /// Looks up the entry of page `page` of a read, which is `lpn`. Returns whether it waits for that.
    pub(super) fn look_up_for_read(&mut self, slot: RequestSlot, lpn: Lpn, flow: FlowId, page: u32) -> bool {
        let age = self.state.next_serial();
        self.look_up_entry(lpn, flow, Waits::Read { slot, page, age })
    }

    /// Looks up the entry of a program that was just created and replaces none, which is held until that is in memory. Returns whether it is.
    pub(super) fn hold_for_entry(&mut self, id: TxnId) -> bool {
        let Transaction { lpn, flow, .. } = *self.state.board.txn(id);
        let waits = self.look_up_entry(lpn, flow, Waits::Program(id));
        if waits {
            hold(id, held::ENTRY, &mut self.state.board);
        }
        waits
    }

    /// Looks up the entry of `lpn` for `flow`. Returns whether it must be fetched first; what waits for it goes on when it has arrived.
    #[inline(never)]
    pub(super) fn look_up_entry(&mut self, lpn: Lpn, flow: FlowId, waits: Waits) -> bool {
        let (Some(cache), Some(translation)) = (&mut self.ftl.cache, &mut self.translation) else { return false };
        let waiter = Waiter { waits, lpn, flow };
        let page = cache.page_of(lpn);
        let at = cache.look_up(lpn, flow);
        self.state.log(|| Event::EntryLookedUp { lpn, at });
        match at {
            EntryAt::Memory => return false,
            EntryAt::Host if translation.round_trip > Duration::ZERO => {
                let at = self.state.now() + translation.round_trip;
                translation.from_host.push_back((at, waiter));
                self.frontend.entry_arrives_at(translation.from_host[0].0);
                return true;
            }
            EntryAt::Host => {}
            EntryAt::Flash if self.page_order.youngest_write(page).is_some() => {}
            EntryAt::Flash if self.wordlines.as_ref().is_some_and(|wordlines| wordlines.has_of_map(page)) => {}
            EntryAt::Flash => {
                let whole = translation.read_bytes == self.transactions.page_bytes;
                match translation.read_of(page) {
                    Some(read) => read.waiters.push(waiter),
                    None => {
                        translation.add_read(page, whole).waiters.push(waiter);
                        self.read_translation_page(page, flow, whole);
                    }
                }
                return true;
            }
        }
        // From memory, in no time: the host's, or that of a translation page that is being written.
        self.entry_arrived(lpn, flow);
        false
    }

    /// An entry is in the controller's memory now.
    pub(super) fn entry_arrived(&mut self, lpn: Lpn, flow: FlowId) {
        if let Some(cache) = &mut self.ftl.cache {
            cache.arrived(lpn, flow);
            // At the latest the decisions of this instant see to them.
            self.state.agenda.open |= cache.has_rewrites();
            self.state.log(|| Event::EntryArrived { lpn });
        }
    }

    /// Entries have arrived from the host's memory.
    #[cold]
    pub(super) fn entries_from_host(&mut self) {
        let now = self.state.now();
        let Some(translation) = &mut self.translation else { return };
        let id = translation.take_place();
        while let Some(&(at, waiter)) = translation.from_host.front() {
            if at > now {
                self.frontend.entry_arrives_at(at);
                break;
            }
            translation.from_host.pop_front();
            translation.open[id.0 as usize].waiters.push(waiter);
        }
        self.rewrites_entries();
        self.effects.push(Effect::EntriesArrived(id));
    }
}

// Reading and writing translation pages.

impl Device {
    /// Creates the read of a translation page.
    fn read_translation_page(&mut self, page: Lpn, flow: FlowId, whole: bool) {
        let bytes = match &mut self.translation {
            Some(translation) if !whole => translation.read_bytes,
            _ => self.transactions.page_on_bus(),
        };
        self.translation.iter_mut().for_each(|translation| translation.read += 1);
        let plane = self.ftl.map.plane_of(page);
        let (no_request, op) = (RequestSlot::MAX, FlashOp::Read);
        let read = create(no_request, flow, Owner::Mapping, op, page, plane, bytes, &mut self.state);
        self.page_order.add_read(page, read);
        if self.transactions.address_reads {
            self.address_read(read, page);
        }
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue(read, &mut self.policy, &mut self.state);
    }

    /// A translation page has been read or written.
    #[cold]
    pub(super) fn translation_page_ended(&mut self, id: TxnId) {
        let Transaction { lpn, op, .. } = *self.state.board.txn(id);
        match op {
            FlashOp::Read => self.translation_page_read(lpn),
            _ => self.page_order.write_ended(lpn, id),
        }
    }

    /// The read of a translation page has ended: its entries are known. What waited for them goes on before translation pages are written anew
    /// whose entries have made room.
    fn translation_page_read(&mut self, page: Lpn) {
        self.rewrites_entries();
        let Some(translation) = &mut self.translation else { return };
        let id = translation.reads.get(page);
        translation.reads.remove(page, id);
        let OpenRead { whole, rewrite, .. } = &mut translation.open[id.0 as usize];
        if let Some(flow) = rewrite.take() {
            self.effects.push(Effect::RewritePage { page, flow, whole: *whole });
        }
        self.effects.push(Effect::EntriesArrived(id));
    }

    /// Reads a translation page to write it anew.
    pub(super) fn read_to_rewrite(&mut self, page: Lpn, flow: FlowId) {
        if let Some(translation) = &mut self.translation {
            translation.add_read(page, true).rewrite = Some(flow);
            self.read_translation_page(page, flow, true);
        }
    }
}
