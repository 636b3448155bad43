//! Entries of the page map that memory does not hold: what waits for them, and the reads and programs of translation pages (model 0.11).
//!
//! Owns what waits for an entry (a page of a read that has no transaction yet, a program that is in no queue) and which translation pages
//! are being read. Which entries memory holds, and which translation pages must be written anew, is in [`MappingCache`]. The reads and
//! programs are transactions as any others, of [`Owner::Mapping`]: the same questions order them.
//!
//! [`MappingCache`]: crate::ftl::MappingCache

use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

use flashlane_core::event::{EntryAt, Event};
use flashlane_core::transaction::{FlashOp, Stage, Transaction, tag};
use flashlane_core::{Duration, FlowId, Lpn, Owner, Time, TxnId};

use super::transactions::create;
use super::{Device, Fault};
use crate::config::Config;
use crate::frontend::{RequestSlot, crossing_ns};
use crate::ftl::{MappingCache, Rewrite};
use crate::shared::{LpnTable, Value};

/// What waits for an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waits {
    /// A page of a read, by its number in the request, and the age that its transaction will have: that of the instant at which it was looked
    /// up.
    Read { slot: RequestSlot, page: u32, age: u64 },
    /// A program; `reads_first` if the rest of its page must be read before it.
    Program { id: TxnId, reads_first: bool },
}

/// Something that waits for the entry of a logical page.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    waits: Waits,
    lpn: Lpn,
    flow: FlowId,
}

/// A translation page that is being read.
#[derive(Debug)]
struct OpenRead {
    /// What waits for its entries, in the order in which it came.
    waiters: Vec<Waiter>,
    /// The whole page is read.
    whole: bool,
    /// The flow for which it is written anew afterwards.
    rewrite: Option<FlowId>,
}

/// The number of an [`OpenRead`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OpenId(u32);

impl Value for OpenId {
    const NONE: OpenId = OpenId(u32::MAX);
}

/// Entries that are on their way to the controller's memory.
#[derive(Debug)]
pub(super) struct Translation {
    /// By translation page, its read.
    reads: LpnTable<OpenId>,
    open: Vec<OpenRead>,
    free: Vec<OpenId>,
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
    too_many: u64,
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
    fn read_of(&mut self, page: Lpn) -> Option<&mut OpenRead> {
        let id = self.reads.get(page);
        if id.is_none() { None } else { self.open.get_mut(id.0 as usize) }
    }

    /// A translation page is being read from now on.
    fn add_read(&mut self, page: Lpn, whole: bool) -> &mut OpenRead {
        let id = self.free.pop().unwrap_or(OpenId(self.open.len() as u32));
        if id.0 as usize == self.open.len() {
            self.open.push(OpenRead { waiters: Vec::new(), whole, rewrite: None });
        }
        self.reads.insert(page, id);
        let read = &mut self.open[id.0 as usize];
        read.whole = whole;
        read
    }

    /// The read of a translation page has ended: what waited for it, in a vector that [`Translation::give_back`] takes, whether it was
    /// of the whole page, and the flow for which that is written anew.
    fn take_read(&mut self, page: Lpn) -> (OpenId, Vec<Waiter>, bool, Option<FlowId>) {
        let id = self.reads.get(page);
        self.reads.remove(page, id);
        let read = &mut self.open[id.0 as usize];
        (id, core::mem::take(&mut read.waiters), read.whole, read.rewrite.take())
    }

    /// Uses the memory of a read again.
    fn give_back(&mut self, id: OpenId, mut waiters: Vec<Waiter>) {
        waiters.clear();
        self.open[id.0 as usize].waiters = waiters;
        self.free.push(id);
    }
}

// Looking up.

impl Device {
    /// Whether page `page` of a read, which is `lpn`, waits for its entry.
    pub(super) fn read_awaits_entry(&mut self, slot: RequestSlot, lpn: Lpn, flow: FlowId, page: u32) -> bool {
        let age = self.state.next_serial();
        self.awaits_entry(lpn, flow, Waits::Read { slot, page, age })
    }

    /// Whether a program that was just created and replaces none is held back until the entry of its page is in memory.
    pub(super) fn program_awaits_entry(&mut self, id: TxnId, reads_first: bool) -> bool {
        let Transaction { lpn, flow, .. } = *self.state.board.txn(id);
        let waits = self.awaits_entry(lpn, flow, Waits::Program { id, reads_first });
        if waits {
            self.state.board.txn_mut(id).stage = Stage::Held;
        }
        waits
    }

    /// Looks up the entry of `lpn` for `flow`. Returns whether it must be fetched first; what waits for it goes on when it has arrived.
    #[inline(never)]
    fn awaits_entry(&mut self, lpn: Lpn, flow: FlowId, waits: Waits) -> bool {
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
    fn entry_arrived(&mut self, lpn: Lpn, flow: FlowId) {
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
        let mut arrived = Vec::new();
        if let Some(translation) = &mut self.translation {
            while let Some(&(at, waiter)) = translation.from_host.front() {
                if at > now {
                    self.frontend.entry_arrives_at(at);
                    break;
                }
                translation.from_host.pop_front();
                arrived.push(waiter);
            }
        }
        self.go_on(&arrived);
        self.write_back_entries();
    }

    /// What waited for entries goes on, now that they are here: pages of a read that follow one another together.
    fn go_on(&mut self, waiters: &[Waiter]) {
        let slot_of = |waiter: &Waiter| match waiter.waits {
            Waits::Read { slot, .. } => Some(slot),
            Waits::Program { .. } => None,
        };
        for waiters in waiters.chunk_by(|a, b| slot_of(a).is_some() && slot_of(a) == slot_of(b)) {
            waiters.iter().for_each(|waiter| self.entry_arrived(waiter.lpn, waiter.flow));
            match waiters[0].waits {
                Waits::Read { slot, .. } => self.read_pages_late(slot, waiters),
                Waits::Program { id, reads_first } => self.enqueue_program_late(id, reads_first),
            }
        }
    }

    /// Serves pages of a read whose entries have been waited for.
    fn read_pages_late(&mut self, slot: RequestSlot, waiters: &[Waiter]) {
        let request = self.state.board.requests[slot as usize];
        self.begin_pages();
        self.transactions.overtaking.joins_late();
        let mut from_memory = false;
        for waiter in waiters {
            let Waits::Read { page, age, .. } = waiter.waits else { continue };
            from_memory |= self.serves_from_memory(slot, waiter.lpn)
                || self.read_looked_up(slot, &request, waiter.lpn, page, Some(age));
        }
        self.estimate_request(&request);
        if from_memory {
            self.frontend.serve_if_done(slot, &mut self.state);
        }
    }

    /// Puts a program whose entry has been waited for into its queue, after the read of the rest of its page if that must be read.
    fn enqueue_program_late(&mut self, id: TxnId, reads_first: bool) {
        if self.entry_of_pending_arrived(id) {
            return;
        }
        if reads_first && self.state.board.txn(id).tag & tag::TRIMMED == 0 {
            self.read_rest(id);
        } else {
            self.transactions.enqueue_held(id, &mut self.policy, &mut self.state);
        }
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
            self.look_up(read, page);
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
        let Some(translation) = &mut self.translation else { return };
        let (id, waiters, whole, rewrite) = translation.take_read(page);
        self.go_on(&waiters);
        if let Some(translation) = &mut self.translation {
            translation.give_back(id, waiters);
        }
        match rewrite {
            Some(flow) if whole => self.program_translation_page(page, flow),
            Some(flow) => self.read_to_rewrite(page, flow),
            None => {}
        }
        self.write_back_entries();
    }

    /// Writes translation pages anew whose dirty entries have made room. To be called when what made them do so is over: a completion and what
    /// it released, an arrival, or the decisions of the units.
    #[inline]
    pub(super) fn write_back_entries(&mut self) {
        if self.ftl.cache.as_ref().is_some_and(MappingCache::has_rewrites) {
            self.rewrite_translation_pages();
        }
    }

    /// Writes translation pages anew whose dirty entries are no longer held. A program of the page that still waits will include them.
    #[cold]
    fn rewrite_translation_pages(&mut self) {
        while let Some(Rewrite { page, flow, is_whole }) =
            self.ftl.cache.as_mut().and_then(|cache| cache.next_rewrite())
        {
            let write = self.page_order.youngest_write(page);
            if write.is_some() && self.state.board.txn(write).stage != Stage::InService {
                continue;
            }
            let read = self.translation.as_mut().and_then(|translation| translation.read_of(page));
            if write.is_some() || is_whole {
                // Memory has the whole page.
                read.into_iter().for_each(|read| read.rewrite = None);
                self.program_translation_page(page, flow);
            } else if let Some(read) = read {
                read.rewrite.get_or_insert(flow);
            } else {
                self.read_to_rewrite(page, flow);
            }
        }
    }

    /// Stops the device: writing the entries that garbage collection changes takes more pages than it frees, so that it would never end.
    #[cold]
    fn stop_endless_collection(&mut self) {
        let pages = self.translation.as_ref().map_or(0, |translation| translation.too_many);
        self.fault.get_or_insert(Fault {
            at: self.state.now(),
            message: format!(
                "the map keeps the drive busy: {pages} translation pages, as many as the drive has pages, were written without a page of the \
                 host in between, because collection changes more entries of the map than fit into the pages it frees; hold more entries \
                 (mapping.entries, mapping.host_entries), lower the user capacity or raise over-provisioning"
            ),
        });
    }

    /// Reads a translation page to write it anew.
    fn read_to_rewrite(&mut self, page: Lpn, flow: FlowId) {
        if let Some(translation) = &mut self.translation {
            translation.add_read(page, true).rewrite = Some(flow);
            self.read_translation_page(page, flow, true);
        }
    }

    /// Creates a program of a translation page, of which no other waits.
    fn program_translation_page(&mut self, page: Lpn, flow: FlowId) {
        if let Some(translation) = &mut self.translation {
            translation.in_a_row += 1;
            if translation.in_a_row > translation.too_many {
                self.stop_endless_collection();
            }
        }
        let plane = self.place(page);
        if self.needs_wordline(plane) {
            return self.program_in_wordline(page, flow, plane);
        }
        let (no_request, op, bytes) = (RequestSlot::MAX, FlashOp::Program, self.transactions.page_on_bus());
        let program = create(no_request, flow, Owner::Mapping, op, page, plane, bytes, &mut self.state);
        if self.wordlines.is_some() {
            self.reserve_cache_page(program);
        }
        let dropped = self.supersede(program, page);
        debug_assert!(dropped.is_none(), "a waiting program of a translation page takes further entries along");
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue(program, &mut self.policy, &mut self.state);
    }
}
