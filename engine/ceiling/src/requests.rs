//! The requests of a run, and which of their pages are sure to need the flash.

use flashlane_core::arrival::Span;
use flashlane_core::{Lpn, Op};
use flashlane_ssd::Config;
use flashlane_ssd::config::{Precondition, Service, UnmappedReads};

use crate::class::Writes;

/// A request as it was fed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) arrival: u64,
    pub(crate) bytes: u64,
    pub(crate) op: Op,
    /// Whether it is in the mean.
    pub(crate) counted: bool,
    first: u32,
    pub(crate) pages: u32,
    /// Bytes of the first page before the request begins.
    skip: u32,
    /// Where its pages stand in `lists`, if they are not consecutive.
    list: Option<u32>,
}

/// The requests of a run.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(crate) all: Vec<Request>,
    lists: Vec<Lpn>,
    page_bytes: u32,
    touched: Touched,
    unmapped: Unmapped,
    /// Whether a page is written more than once.
    pub(crate) overwrites: bool,
    memory: ServedByMemory,
}

/// Which pages memory may serve, so that they need no flash.
#[derive(Clone, Copy, Debug)]
struct ServedByMemory {
    /// A read of a page that was touched may find it in the buffer.
    reads_buffered: bool,
    /// Writes end in the buffer.
    writes_buffered: bool,
    /// Serial service: no write in flight serves a read, and none is dropped.
    serial: bool,
}

impl Requests {
    pub(crate) fn new(config: &Config) -> Requests {
        let buffer = config.buffer.as_ref();
        let serial = matches!(config.front.service, Service::Serial { .. });
        Requests {
            all: Vec::new(),
            lists: Vec::new(),
            page_bytes: config.geometry.page_bytes,
            touched: Touched::new(config.ftl.logical_pages),
            unmapped: Unmapped::new(config),
            overwrites: false,
            memory: ServedByMemory {
                reads_buffered: buffer.is_some(),
                writes_buffered: buffer.is_some_and(|buffer| buffer.write_back),
                serial,
            },
        }
    }

    pub(crate) fn add(&mut self, arrival: u64, op: Op, extent: &Span, counted: bool) {
        let page = u64::from(self.page_bytes);
        let request = match extent {
            Span::Bytes { offset, length } => {
                let skip = offset % page;
                let pages = (skip + length).div_ceil(page) as u32;
                let (first, skip) = ((offset / page) as u32, skip as u32);
                Request { arrival, bytes: *length, op, counted, first, pages, skip, list: None }
            }
            Span::Pages(list) => {
                let at = self.lists.len() as u32;
                self.lists.extend(list);
                let pages = list.len() as u32;
                let bytes = u64::from(pages) * page;
                Request { arrival, bytes, op, counted, first: 0, pages, skip: 0, list: Some(at) }
            }
        };
        if !op.is_data() {
            // It counts nothing itself. A page that is trimmed at any time counts nothing either: its writes may be dropped.
            let pages = (0..request.pages).map(|i| self.page(&request, i)).collect::<Vec<_>>();
            pages.into_iter().for_each(|lpn| self.unmapped.add(lpn));
            return;
        }
        for i in 0..request.pages {
            let lpn = self.page(&request, i);
            self.touched.touch(lpn, op);
            self.overwrites |= self.is_written_again(lpn);
        }
        self.all.push(request);
    }

    /// The `i`-th page of a request.
    pub(crate) fn page(&self, request: &Request, i: u32) -> Lpn {
        match request.list {
            None => Lpn(request.first + i),
            Some(at) => self.lists[(at + i) as usize],
        }
    }

    /// Bytes of the `i`-th page that the request touches.
    pub(crate) fn bytes_of(&self, request: &Request, i: u32) -> u32 {
        if request.list.is_some() {
            return self.page_bytes;
        }
        let page = u64::from(self.page_bytes);
        let start = if i == 0 { u64::from(request.skip) } else { 0 };
        let end = (u64::from(request.skip) + request.bytes - u64::from(i) * page).min(page);
        (end - start) as u32
    }

    /// Whether a read of the page, or the read before a write of a part of it, is sure to need the flash if nothing is written there
    /// before.
    pub(crate) fn has_data(&self, lpn: Lpn) -> bool {
        self.unmapped.has_data(lpn)
    }

    /// Whether several writes touch this page, or a trim.
    pub(crate) fn is_written_again(&self, lpn: Lpn) -> bool {
        self.unmapped.contains(lpn) || self.touched.of(lpn) & Touched::WRITTEN_AGAIN != 0
    }

    /// Whether the flash is sure to read or write this page for a request of `op`, whatever a scheduler does that treats writes so.
    pub(crate) fn is_certain(&self, op: Op, lpn: Lpn, writes: Writes) -> bool {
        let flags = self.touched.of(lpn);
        let is_only_touch = flags & Touched::AGAIN == 0;
        match op {
            _ if self.unmapped.contains(lpn) => false,
            Op::Trim | Op::WriteZeroes | Op::Flush => false,
            _ if self.memory.serial => {
                !self.memory.reads_buffered || is_only_touch || (op == Op::Write && !self.memory.writes_buffered)
            }
            Op::Read if self.memory.reads_buffered => is_only_touch && self.has_data(lpn),
            // A write that has not ended serves it; by arrival it may be the younger one.
            Op::Read => flags & Touched::WRITTEN == 0 && self.has_data(lpn),
            Op::Write if self.memory.writes_buffered => false,
            // One of two writes may be dropped for the other.
            Op::Write => writes == Writes::Kept || flags & Touched::WRITTEN_AGAIN == 0,
        }
    }
}

/// Which logical pages are trimmed at any time, and which have data before the run.
#[derive(Debug)]
struct Unmapped {
    /// A bit a page; empty while none is trimmed.
    trimmed: Vec<u64>,
    pages: u32,
    /// Pages from this one on are read without flash until they are written.
    data: u32,
}

impl Unmapped {
    fn new(config: &Config) -> Unmapped {
        let pages = config.ftl.logical_pages;
        let written = match config.precondition {
            Precondition::Fresh => 0,
            Precondition::Filled { per_mille } => (u64::from(pages) * u64::from(per_mille) / 1000) as u32,
            Precondition::Steady | Precondition::Replayed { .. } => pages,
        };
        let data = if config.unmap.reads == UnmappedReads::Memory { written } else { pages };
        Unmapped { trimmed: Vec::new(), pages, data }
    }

    fn add(&mut self, lpn: Lpn) {
        self.trimmed.resize(self.pages as usize / 64 + 1, 0);
        self.trimmed[lpn.0 as usize / 64] |= 1 << (lpn.0 % 64);
    }

    fn contains(&self, lpn: Lpn) -> bool {
        self.trimmed.get(lpn.0 as usize / 64).is_some_and(|word| word >> (lpn.0 % 64) & 1 == 1)
    }

    fn has_data(&self, lpn: Lpn) -> bool {
        lpn.0 < self.data
    }
}

/// How often each logical page is touched and written: four bits a page.
#[derive(Debug)]
struct Touched(Vec<u64>);

impl Touched {
    const ONCE: u64 = 1;
    const AGAIN: u64 = 2;
    const WRITTEN: u64 = 4;
    const WRITTEN_AGAIN: u64 = 8;

    fn new(pages: u32) -> Touched {
        Touched(vec![0; pages as usize / 16 + 1])
    }

    fn of(&self, lpn: Lpn) -> u64 {
        self.0[lpn.0 as usize / 16] >> (4 * (lpn.0 % 16)) & 15
    }

    fn touch(&mut self, lpn: Lpn, op: Op) {
        let flags = self.of(lpn);
        let mut new = if flags & Touched::ONCE == 0 { Touched::ONCE } else { Touched::AGAIN };
        if op == Op::Write {
            new |= if flags & Touched::WRITTEN == 0 { Touched::WRITTEN } else { Touched::WRITTEN_AGAIN };
        }
        self.0[lpn.0 as usize / 16] |= new << (4 * (lpn.0 % 16));
    }
}
