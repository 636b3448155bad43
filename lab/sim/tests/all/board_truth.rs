//! The board is correct: after every instant of a run it is compared with a plain account of the event stream, under
//! every scheduler of the catalogue. A count that is not updated before a decision shows here, even if no other test's
//! decisions depend on it.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::play::{self, Mix, TestRequest, asks};
use crate::common::{recipe, slc_cache, table1};
use flashlane_audit::{Formula, Preconditioned};
use flashlane_core::board::{FlowFigures, GcWaiting, Plane, Service, Unit};
use flashlane_core::decide::{Keeps, PageWrite, Place, PlaceDeclares, Placement};
use flashlane_core::event::Event;
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Board, Duration, Lpn, Op, Owner, PlaneId, QueueId, RequestId, Time, TxnId, UnitId};
use flashlane_sched::catalogue::{build, schedulers};
use flashlane_ssd::Device;
use flashlane_ssd::config::{Buffer, Config, FlowConfig, FullCache, Precondition, Protocol, SlcCache};
use rand_pcg::Pcg64Mcg;

/// A transaction that has not ended.
#[derive(Clone, Copy)]
struct Live {
    request: Option<RequestId>,
    op: FlashOp,
    owner: Owner,
    flow: usize,
    lpn: Lpn,
    /// The unit it waits at; `None` for a write that has no unit yet, and after dispatch.
    waits: Option<usize>,
}

/// The content that the board must have, computed from the events.
struct Truth {
    geometry: Geometry,
    config: Config,
    /// Whether writes get their unit at dispatch, and whether page ownership and valid pages are tracked.
    draws: bool,
    owned: bool,
    valid: bool,
    /// Where the current copy of each logical page lies.
    copies: Vec<Option<PlaneId>>,
    written: Vec<u32>,
    planes: Vec<Plane>,
    waiting: Vec<[u32; 2]>,
    gc: Vec<GcWaiting>,
    flows: Vec<FlowFigures>,
    /// For each submission queue, the commands that have arrived and were not fetched.
    lines: Vec<u32>,
    requests: BTreeMap<RequestId, usize>,
    /// Of writes into the buffer: the pages that are not in it yet.
    unbuffered: BTreeMap<RequestId, u32>,
    admitted: BTreeSet<RequestId>,
    live: BTreeMap<u64, Live>,
    owners: Vec<Option<usize>>,
    /// Pages of the programs whose dispatch follows their mapping, and their places.
    mapped: Vec<(Lpn, PlaneId, u32)>,
    /// By block: whether it is in SLC mode.
    slc: Vec<bool>,
    /// By plane: the next page of its open block in SLC mode, 0 without one, and its victim.
    slc_next: Vec<u32>,
    victims: Vec<Option<u32>>,
    /// What the planes must show; `None` since an event that may change it.
    finished: Option<Vec<Plane>>,
}

impl Truth {
    fn new(config: &Config, device: &Device, (draws, keeps): (bool, Keeps)) -> Truth {
        let Keeps { page_flows: owned, valid_pages: valid, .. } = keeps;
        let geometry = config.geometry;
        let (planes, blocks) = (geometry.planes(), geometry.blocks_per_plane);
        let all = (0..planes as u16).flat_map(|plane| (0..blocks).map(move |block| (PlaneId(plane), block)));
        let written: Vec<u32> = all.map(|(plane, block)| device.written_in(plane, block)).collect();
        let initial = Preconditioned::of(config).expect("nothing is replayed");
        let whose = |lpn: u32| {
            initial.place(Lpn(lpn))?;
            config.flows.iter().position(|flow| (flow.first_page..flow.first_page + flow.pages).contains(&lpn))
        };
        let copies: Vec<_> = (0..config.ftl.logical_pages).map(|lpn| Some(initial.place(Lpn(lpn))?.0)).collect();
        let valid_in = |index: usize| copies.iter().filter(|copy| **copy == Some(PlaneId(index as u16))).count() as u32;
        let shown = |index: usize| {
            let open = written[index * blocks as usize..][..blocks as usize].iter();
            let next = open.copied().find(|&pages| pages > 0 && pages < geometry.pages_per_block).unwrap_or(0);
            Plane { next_page: next, valid_pages: if valid { valid_in(index) } else { 0 }, ..Plane::default() }
        };
        let owners: Vec<Option<usize>> = (0..config.ftl.logical_pages).map(whose).collect();
        let flows = (0..config.flows.len()).map(|flow| FlowFigures {
            priority: config.flows[flow].priority,
            valid_pages: if owned { owners.iter().filter(|owner| **owner == Some(flow)).count() as u64 } else { 0 },
            ..FlowFigures::default()
        });
        let shown = (0..planes as usize).map(shown).collect();
        Truth {
            geometry,
            planes: shown,
            draws,
            owned,
            valid,
            copies,
            waiting: vec![[0; 2]; geometry.units() as usize],
            gc: vec![GcWaiting::default(); geometry.units() as usize],
            lines: vec![0; config.flows.len()],
            requests: BTreeMap::new(),
            unbuffered: BTreeMap::new(),
            admitted: BTreeSet::new(),
            live: BTreeMap::new(),
            mapped: Vec::new(),
            flows: flows.collect(),
            owners,
            slc: (0..planes * blocks).map(|block| block % blocks >= config.native_blocks()).collect(),
            slc_next: vec![0; planes as usize],
            victims: vec![None; planes as usize],
            finished: None,
            written,
            config: config.clone(),
        }
    }

    fn line(&self, flow: usize) -> usize {
        if matches!(self.config.front.protocol, Protocol::Sata { .. }) { 0 } else { flow }
    }

    fn unit(&self, plane: PlaneId) -> usize {
        self.geometry.unit_of(plane).index()
    }

    /// Counts one transaction of a kind more, or one less, where it waits.
    fn count(&mut self, txn: Live, more: bool) {
        let Some(unit) = txn.waits else { return };
        let gc = &mut self.gc[unit];
        let count = match (txn.owner, txn.op) {
            (Owner::Gc | Owner::Fold, FlashOp::Read) => &mut gc.reads,
            (Owner::Gc | Owner::Fold, FlashOp::Program) => &mut gc.programs,
            (Owner::Gc | Owner::Fold, FlashOp::Erase) => &mut gc.erases,
            (_, op) => &mut self.waiting[unit][op.index()],
        };
        *count = if more { *count + 1 } else { *count - 1 };
    }

    fn take(&mut self, event: &Event) {
        if matches!(
            event,
            Event::Mapped { .. }
                | Event::Dispatched { .. }
                | Event::Erased { .. }
                | Event::SlcOpened { .. }
                | Event::VictimChosen { .. }
        ) {
            self.finished = None;
        }
        match *event {
            Event::Submitted { request, flow, op, pages, .. } => {
                let line = self.line(flow.index());
                if op == Op::Write && self.config.buffer.is_some() {
                    self.unbuffered.insert(request, pages);
                }
                self.requests.insert(request, line);
                self.lines[line] += 1;
            }
            Event::Admitted { request } => {
                let line = self.requests[&request];
                self.lines[line] -= 1;
                self.admitted.insert(request);
                self.flows[line].in_flight += 1;
            }
            Event::PageFromMemory { request, .. } => {
                if let Some(pages) = self.unbuffered.get_mut(&request) {
                    *pages -= 1;
                }
            }
            Event::Completed { request } => {
                self.admitted.remove(&request);
                self.unbuffered.remove(&request);
                self.flows[self.requests[&request]].in_flight -= 1;
            }
            Event::Queued { txn, request, flow, op, owner, lpn, plane, .. } => {
                let unplaced = self.draws && !owner.collects() && op == FlashOp::Program;
                let waits = (!unplaced).then_some(self.unit(plane));
                let live = Live { request, op, owner, flow: flow.index(), lpn, waits };
                self.live.insert(txn, live);
                self.count(live, true);
            }
            Event::Moved { txn, plane } => {
                self.count(self.live[&txn], false);
                self.live.get_mut(&txn).expect("queued").waits = Some(self.unit(plane));
                self.count(self.live[&txn], true);
            }
            Event::Dispatched { txn, .. } => self.dispatched(txn),
            Event::Ended { txn, .. } => {
                let live = self.live.remove(&txn).expect("queued");
                self.count(live, false);
            }
            Event::SlcOpened { plane, block } => {
                let block = plane.index() * self.geometry.blocks_per_plane as usize + block as usize;
                self.slc[block] = true;
            }
            Event::VictimChosen { plane, block, valid } => {
                self.victims[plane.index()] = Some(block);
                let shown = &mut self.planes[plane.index()];
                (shown.collecting, shown.victim_pages) = (true, valid);
            }
            Event::Mapped { lpn, plane, ppa } => self.mapped(lpn, plane, ppa),
            Event::Erased { plane, block } => self.erased(plane, block),
            _ => {}
        }
    }

    fn mapped(&mut self, lpn: Lpn, plane: PlaneId, ppa: u32) {
        let (block, page) = self.block_of(plane, ppa);
        assert_eq!(self.written[block], page);
        self.written[block] += 1;
        self.mapped.push((lpn, plane, ppa));
        if let Some(old) = self.copies[lpn.0 as usize].replace(plane) {
            self.planes[old.index()].valid_pages -= u32::from(self.valid);
        }
        self.planes[plane.index()].valid_pages += u32::from(self.valid);
    }

    fn erased(&mut self, plane: PlaneId, block: u32) {
        self.victims[plane.index()] = None;
        let is_static = block >= self.config.native_blocks();
        let block = plane.index() * self.geometry.blocks_per_plane as usize + block as usize;
        self.written[block] = 0;
        self.slc[block] = is_static;
        self.planes[plane.index()].collecting = false;
        for flow in self.flows.iter_mut().filter(|_| self.owned) {
            flow.programmed_at_erase = flow.programmed;
        }
    }

    fn block_of(&self, plane: PlaneId, ppa: u32) -> (usize, u32) {
        let (block, page) = (ppa / self.geometry.pages_per_block, ppa % self.geometry.pages_per_block);
        (plane.index() * self.geometry.blocks_per_plane as usize + block as usize, page)
    }

    fn dispatched(&mut self, serial: u64) {
        let live = self.live[&serial];
        self.count(live, false);
        self.live.get_mut(&serial).expect("queued").waits = None;
        if live.op != FlashOp::Program {
            return;
        }
        let found =
            self.mapped.iter().position(|mapped| mapped.0 == live.lpn).expect("mapped before it was dispatched");
        let (lpn, plane, ppa) = self.mapped.remove(found);
        let hosts = !live.owner.collects();
        if self.slc[self.block_of(plane, ppa).0] {
            self.slc_next[plane.index()] = (ppa % self.geometry.pages_per_block + 1) % self.slc_pages();
        } else if hosts || !self.config.gc.separate_frontier {
            self.planes[plane.index()].next_page = (ppa + 1) % self.geometry.pages_per_block;
        }
        let owner = &mut self.owners[lpn.0 as usize];
        if hosts {
            self.flows[live.flow].programmed += 1;
            if self.owned {
                if let Some(old) = owner.replace(live.flow) {
                    self.flows[old].valid_pages -= 1;
                }
                self.flows[live.flow].valid_pages += 1;
            }
        } else if let Some(flow) = owner.filter(|_| self.owned) {
            self.flows[flow].moved += 1;
        }
    }

    /// Pages of a block in SLC mode.
    fn slc_pages(&self) -> u32 {
        self.config.slc.as_ref().map_or(0, |slc| self.geometry.pages_per_block / slc.bits)
    }

    /// Whether a plane's cache has a page for a write, with so many free blocks, and whether it has none but will have one after a fold.
    fn cache_of(&self, index: usize, free_blocks: u32) -> (bool, bool) {
        let Some(slc) = &self.config.slc else { return (false, false) };
        let blocks = self.geometry.blocks_per_plane as usize;
        let own = |block: usize| (block % blocks, self.written[block], self.slc[block]);
        let mut own = (index * blocks..(index + 1) * blocks).map(own).filter(|block| block.2);
        let erased = own.clone().any(|(block, written, _)| block as u32 >= self.config.native_blocks() && written == 0);
        let dynamic = own.clone().filter(|&(block, ..)| (block as u32) < self.config.native_blocks()).count();
        let may_open = slc.dynamic && dynamic < slc.dynamic_limit as usize;
        let is_spare = may_open && free_blocks > self.config.gc.start_blocks;
        let has_full = own.any(|(_, written, _)| written == self.slc_pages());
        let has_page = self.slc_next[index] > 0 || erased || is_spare;
        (has_page, !has_page && has_full && slc.full == FullCache::Fold)
    }

    /// The part of the board that follows from the rest.
    fn planes(&self) -> Vec<Plane> {
        let (blocks, pages) = (self.geometry.blocks_per_plane as usize, self.geometry.pages_per_block);
        let finished = |(index, plane): (usize, &Plane)| {
            let own = &self.written[index * blocks..][..blocks];
            let native = self.config.native_blocks() as usize;
            let free_blocks = own[..native].iter().filter(|&&written| written == 0).count() as u32;
            let modes = &self.slc[index * blocks..][..blocks];
            let left = |(written, &is_slc)| if is_slc { self.slc_pages() - written } else { pages - written };
            let free_pages = own.iter().zip(modes).map(left).sum();
            // Moves use the last free block, and where they share the host's open block they must not use its last page
            // either. While a static block is folded another is kept, because its erase gives none.
            let kept = 1 + u32::from(self.victims[index].is_some_and(|block| block as usize >= native));
            let shares = !self.config.gc.separate_frontier && free_blocks < kept;
            let has_native = plane.next_page > 0 && !shares || free_blocks > kept;
            let (in_cache, waits) = self.cache_of(index, free_blocks);
            let next_page = if in_cache { self.slc_next[index] } else { plane.next_page };
            Plane { free_blocks, free_pages, next_page, has_free_page: in_cache || !waits && has_native, ..*plane }
        };
        self.planes.iter().enumerate().map(finished).collect()
    }

    /// Compares where the pages of waiting writes are; returns how many of them, and how many are to be written elsewhere.
    fn compare_pages(&self, board: &Board, name: &str) -> [u64; 2] {
        let mut seen = [0; 2];
        for queue in (0..board.queues.len() as u32).map(QueueId) {
            let writes = board.walk(queue).map(|id| board.txn(id)).filter(|txn| txn.op == FlashOp::Program);
            for txn in writes.filter(|txn| txn.blocked_by.is_none()) {
                let Some(plane) = self.copies[txn.lpn.0 as usize] else { continue };
                assert_eq!(txn.page_at, plane, "{name} at {}: page {}", board.now, txn.lpn.0);
                seen[0] += 1;
                seen[1] += u64::from(txn.plane != plane);
            }
        }
        seen
    }

    /// Compares the transactions of every request that is in the device, and their units; returns how many of them were seen.
    fn compare_requests(&self, board: &Board, name: &str) -> u64 {
        let mut seen = 0;
        for (slot, request) in board.requests.iter().enumerate().filter(|(_, it)| self.admitted.contains(&it.id)) {
            let (now, id) = (board.now, request.id);
            let mut serials: Vec<u64> = Vec::new();
            for txn in board.transactions_of(slot as u32).map(|id| board.txn(id)) {
                serials.push(txn.serial);
                if let Some(live) = self.live.get(&txn.serial).filter(|live| live.request == Some(id)) {
                    let is_waiting = txn.stage == Stage::Waiting && txn.queue != board.unplaced();
                    let waits = is_waiting.then_some(txn.unit.index());
                    assert_eq!(waits, live.waits, "{name} at {now}: {id:?}, {}", txn.serial);
                    seen += 1;
                } else {
                    let is_put_off = matches!(txn.stage, Stage::Held | Stage::Cancelled);
                    assert!(is_put_off && txn.request == slot as u32, "{name} at {now}: {id:?}, {}", txn.serial);
                }
            }
            assert!(serials.len() as u32 <= request.remaining, "{name} at {now}: {id:?} has {serials:?}");
            serials.sort_unstable();
            assert!(serials.is_sorted_by(|one, next| one < next), "{name} at {now}: {id:?} twice in {serials:?}");
        }
        let all = self.live.values().filter(|live| live.request.is_some()).count();
        assert_eq!(seen, all, "{name} at {}: transactions of requests that are shown, and all", board.now);
        seen as u64
    }

    fn compare(&mut self, device: &Device, name: &str) {
        let (board, now) = (device.board(), device.now());
        let pages = |p: &Plane| (p.free_pages, p.next_page, p.has_free_page, p.valid_pages);
        let counts = |p: &Plane| (p.free_blocks, pages(p), p.collecting, p.victim_pages);
        let planes = self.finished.take().unwrap_or_else(|| self.planes());
        for (p, (shown, plane)) in board.planes.iter().zip(&planes).enumerate() {
            assert!(counts(shown) == counts(plane), "{name} at {now}: plane {p} is {plane:?}, shown {shown:?}");
        }
        self.finished = Some(planes);
        let waiting = |unit: &Unit| [FlashOp::Read, FlashOp::Program].map(|op| unit.waiting(op));
        for (u, unit) in board.units.iter().enumerate() {
            assert_eq!((waiting(unit), unit.gc), (self.waiting[u], self.gc[u]), "{name} at {now}: unit {u}");
            let each = self.geometry.units_per_channel() as usize;
            let idle = board.channels[u / each].idle >> (u % each) & 1 == 1;
            assert_eq!(idle, unit.service == Service::Idle, "{name} at {now}: unit {u}");
        }
        let waits = |request: &RequestId| self.admitted.contains(request) && self.unbuffered[request] > 0;
        let waiting = self.unbuffered.keys().filter(|request| waits(request)).count();
        assert_eq!(board.waiting_for_buffer as usize, waiting, "{name} at {now}: writes that wait for the buffer");
        let depth = match self.config.front.protocol {
            Protocol::Nvme { depth } | Protocol::Sata { depth } => depth,
        };
        for (f, (shown, flow)) in board.flows.iter().zip(&self.flows).enumerate() {
            let waiting = self.lines[f].min(depth - flow.in_flight);
            let flow = FlowFigures { waiting, ..*flow };
            assert_eq!(shown.figures(), flow, "{name} at {now}: flow {f}");
        }
    }
}

/// Four chips of two dies, with part of the data owned by each flow.
fn small_gc_drive() -> Config {
    let mut config = table1(2, 2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 8);
    config.ftl.logical_pages = config.geometry.planes() * 8 * 17;
    config.precondition = Precondition::Steady;
    let third = config.ftl.logical_pages / 3;
    config.flows = vec![FlowConfig { first_page: 0, pages: third, ..FlowConfig::at_priority(0) }; 2];
    (config.flows[1].priority, config.flows[1].first_page, config.priorities) = (1, third, 2);
    config
}

/// [`small_gc_drive`] with narrow limits at the host interface, a page buffer, partial pages that are read first, and moves
/// that share the host's open blocks.
fn narrow(protocol: Protocol) -> Config {
    let mut config = small_gc_drive();
    config.ftl.read_modify_write = true;
    config.gc.separate_frontier = false;
    (config.nand.suspend, config.nand.resume) = (Duration::from_us(5), Duration::from_us(7));
    config.front.protocol = protocol;
    (config.front.in_flight, config.front.queue_capacity) = (9, [6, 6]);
    config
}

/// [`small_gc_drive`] with blocks in SLC mode, some of them always, and more spare blocks.
fn with_slc(full: FullCache, dynamic: bool) -> Config {
    let mut config = small_gc_drive();
    config.ftl.logical_pages = config.geometry.planes() * 8 * 13;
    config.slc = Some(SlcCache { dynamic, idle: Some(Duration::from_us(500)), full, ..slc_cache(2, 2) });
    config
}

/// The same with at most two dynamic blocks of a plane.
fn with_limit(full: FullCache) -> Config {
    let mut config = with_slc(full, true);
    config.slc.as_mut().expect("a cache").dynamic_limit = 2;
    config
}

/// A place decision that has the device keep the valid pages of planes.
struct KeepsValidPages(Box<dyn Place>);

impl Place for KeepsValidPages {
    fn declares(&self) -> PlaceDeclares {
        let declares = self.0.declares();
        PlaceDeclares {
            keeps: Keeps { page_flows: true, valid_pages: true, page_planes: true, request_pages: true },
            ..declares
        }
    }
    fn prepare(&mut self, board: &Board) {
        self.0.prepare(board);
    }
    fn plane(&mut self, board: &Board, page: PageWrite) -> PlaneId {
        self.0.plane(board, page)
    }
    fn place_at_dispatch(&mut self, board: &Board, oldest: TxnId) -> Option<Placement> {
        self.0.place_at_dispatch(board, oldest)
    }
    fn steal_write(&mut self, board: &Board, unit: UnitId) -> Option<Placement> {
        self.0.steal_write(board, unit)
    }
}

/// Counts of instants, of waiting writes, of those that are to be written elsewhere, of instants at which writes wait for the buffer, and of
/// transactions of requests.
fn each_instant(config: &Config, name: &str, asks: &[TestRequest]) -> [u64; 5] {
    let recipe = recipe(name, &[]);
    let mut scheduler = build(&recipe).expect("a scheduler");
    scheduler.place = Box::new(KeepsValidPages(scheduler.place));
    let declares = scheduler.declares();
    let says = (declares.place.binds_at_dispatch, declares.keeps());
    let mut device = Device::new(config, scheduler).expect("legal");
    device.report_events();
    let mut truth = Truth::new(config, &device, says);
    let (mut instants, mut pages, mut full, mut of_requests) = (0, [0; 2], 0, 0);
    let mut look = |device: &mut Device| {
        device.events().drain(..).for_each(|stamped| truth.take(&stamped.event));
        truth.compare(device, name);
        if instants % 8 == 0 {
            pages.iter_mut().zip(truth.compare_pages(device.board(), name)).for_each(|(all, seen)| *all += seen);
            of_requests += truth.compare_requests(device.board(), name);
        }
        instants += 1;
        full += u64::from(device.board().waiting_for_buffer > 0);
    };
    let mut asks = asks.iter().enumerate().peekable();
    look(&mut device);
    loop {
        let next = device.next_event();
        look(&mut device);
        let arrives = asks.peek().map_or(Time::NEVER, |(_, ask)| Time::from_ns(ask.at));
        let now = next.min(arrives);
        if now == Time::NEVER {
            break;
        }
        device.advance(now);
        while let Some((id, ask)) = asks.next_if(|(_, ask)| Time::from_ns(ask.at) == now) {
            play::hand_over(&mut device, id as u64, ask);
        }
        look(&mut device);
    }
    assert_eq!((device.fault(), device.outstanding()), (None, 0), "{name}");
    assert!(device.totals().erases > 10, "{name}: {} erases are too few", device.totals().erases);
    [instants, pages[0], pages[1], full, of_requests]
}

/// Nine drives: with narrow limits, a buffer, blocks in SLC mode.
fn drives() -> [Config; 9] {
    let mut buffered = narrow(Protocol::Nvme { depth: 5 });
    buffered.buffer = Some(Buffer { per_flow: true, read_allocate: true, ..Buffer::plain(32, 8) });
    let mut shared = with_slc(FullCache::Fold, false);
    shared.gc.separate_frontier = false;
    [
        small_gc_drive(),
        narrow(Protocol::Nvme { depth: 5 }),
        narrow(Protocol::Sata { depth: 7 }),
        buffered,
        with_slc(FullCache::Fold, true),
        with_slc(FullCache::Direct, true),
        with_limit(FullCache::Fold),
        with_limit(FullCache::Direct),
        shared,
    ]
}

/// Compares the board of each drive under each scheduler, but for the pairs whose numbers are left out.
fn compare_boards(is_left_out: fn(usize, usize) -> bool) {
    let (mut runs, mut all_elsewhere) = (0, 0);
    for (drive, config) in drives().iter().enumerate() {
        let mix = Mix { requests: 500, gap: 400_000, reads: 40, pages: 4, hot: 20, partial: 30, scattered: 20 };
        let asks = asks(config, &mix, &mut Pcg64Mcg::new(12));
        for (number, entry) in schedulers().iter().enumerate() {
            if is_left_out(drive, number) {
                continue;
            }
            let [instants, pages, elsewhere, full, of_requests] = each_instant(config, entry.name, &asks);
            assert!(instants > 1000, "{}: {instants} instants are too few", entry.name);
            assert!(pages > 1000, "{}: {pages} waiting writes are too few", entry.name);
            runs += 1;
            all_elsewhere += elsewhere;
            assert!(of_requests > 300, "{}: {of_requests} transactions of requests are too few", entry.name);
            assert!(
                full > 100 || config.buffer.is_none(),
                "{}: {full} instants with a full buffer are too few",
                entry.name
            );
        }
    }
    assert!(all_elsewhere > 3 * runs, "{all_elsewhere} waiting writes whose pages are elsewhere are too few");
}

/// Each scheduler on one of the drives, each drive under a ninth of the schedulers.
#[test]
fn the_board_shows_what_is() {
    compare_boards(|drive, scheduler| (drive + scheduler) % 9 != 0);
}

#[test]
#[ignore = "nightly: the other eight ninths of the pairs of drive and scheduler"]
fn the_board_shows_what_is_on_every_drive() {
    compare_boards(|drive, scheduler| (drive + scheduler) % 9 == 0);
}
