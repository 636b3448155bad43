//! What each request asks of each machine at the least.
//!
//! Machines do one thing at a time: planes, dies, units, channels, both directions of the link; and pools, which stand for all units or all
//! channels where writes may go to any, as one machine that is so many times as fast.

use std::ops::Range;

use flashlane_core::geometry::{Geometry, Stripe};
use flashlane_core::{Lpn, Op, PlaneId};
use flashlane_ssd::Config;

use crate::class::{Class, Placement};
use crate::requests::{Request, Requests};
use crate::service::{Serial, Times};
use crate::wspt::MAX_WORK;

/// What a request asks of a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) machine: u32,
    /// From the arrival to when the machine can begin, ns.
    pub(crate) head: u64,
    pub(crate) work: u64,
    /// From the mean busy time of the work to the request's end, sixteenths of a ns.
    pub(crate) after: u64,
}

/// What a request asks of a machine while its pages are added up.
#[derive(Clone, Copy, Default, Debug)]
struct Sum {
    machine: u32,
    work: u64,
    /// Sum over the pages of their work times the least from their mean busy time to their end, sixteenths.
    moments: u128,
    /// Pages of the request's own operation.
    pages: u64,
    head: u64,
    tail: u64,
}

/// A group of planes that a command may have a number of pages of.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Planes of a machine.
    planes: u32,
    /// Number of the first machine.
    first: u32,
    /// Pages a command may have there.
    joins: u64,
}

/// Splits requests into demands.
#[derive(Debug)]
pub(crate) struct Splitter {
    class: Class,
    times: Times,
    serial: Option<Serial>,
    stripe: Stripe,
    geometry: Geometry,
    levels: Vec<Level>,
    first_channel: u32,
    link: [u32; 2],
    unit_pool: u32,
    channel_pool: u32,
    pub(crate) machines: usize,
    read_modify_write: bool,
    writes_buffered: bool,
    sums: Vec<Sum>,
    /// By machine, the request's place in `sums` plus one.
    places: Vec<u32>,
    pub(crate) demands: Vec<Demand>,
}

/// A page of a request that is sure to need the flash.
struct Page {
    op: Op,
    plane: PlaneId,
    transfer: u64,
    /// If it is read so that it can be written: the time of the program that follows; else 0.
    program_after: u64,
}

impl Splitter {
    pub(crate) fn new(config: &Config, class: Class) -> Splitter {
        let (g, times) = (config.geometry, Times::of(config));
        let [of_die, of_unit] = times.joins;
        let mut levels = Vec::new();
        let mut first = 0;
        // From the coarsest: a finer one adds something only where a command may have fewer pages of it.
        let mut last = u64::MAX;
        for (planes, joins) in [(g.planes_per_unit(), of_unit), (g.planes_per_die, of_die), (1, g.slots.into())] {
            if joins < last {
                levels.push(Level { planes, first, joins });
                first += g.planes() / planes;
            }
            last = joins;
        }
        let first_channel = first;
        let link = [first + g.channels, first + g.channels + 1];
        let (unit_pool, channel_pool) = (link[1] + 1, link[1] + 2);
        let machines = channel_pool as usize + 1;
        Splitter {
            class,
            times,
            serial: Serial::of(config),
            stripe: Stripe::new(&g, config.ftl.order),
            geometry: g,
            levels,
            first_channel,
            link,
            unit_pool,
            channel_pool,
            machines,
            read_modify_write: config.ftl.read_modify_write,
            writes_buffered: config.buffer.as_ref().is_some_and(|buffer| buffer.write_back),
            sums: Vec::new(),
            places: vec![0; machines],
            demands: Vec::new(),
        }
    }

    /// The machines by kind.
    pub(crate) fn groups(&self) -> Vec<Range<u32>> {
        let mut starts: Vec<u32> = self.levels.iter().map(|level| level.first).collect();
        starts.extend([self.first_channel, self.link[0], self.unit_pool, self.channel_pool, self.machines as u32]);
        starts.windows(2).map(|two| two[0]..two[1]).collect()
    }

    /// Puts what `request` asks of each machine into `demands`; returns how long it takes at the least with nothing beside it, ns.
    pub(crate) fn split(&mut self, requests: &Requests, request: &Request) -> u64 {
        self.demands.clear();
        let data = self.times.crossing(request.bytes);
        let (into, out) = match request.op {
            Op::Write => (data, 0),
            Op::Read => (0, data),
            Op::Trim | Op::WriteZeroes | Op::Flush => (0, 0),
        };
        let (head, tail) = (self.times.link_latency + into, out + self.times.link_latency);
        let inside = match self.serial {
            Some(serial) => self.serve_serially(serial, requests, request, head, tail),
            None => self.serve_by_flash(requests, request, head, tail),
        };
        for (machine, work, head, tail) in
            [(0, into, 0, self.times.link_latency + inside + tail), (1, out, head + inside, self.times.link_latency)]
        {
            if work > 0 {
                let after = 8 * work + 16 * tail;
                self.demands.push(Demand { machine: self.link[machine], head, work, after });
            }
        }
        for demand in &mut self.demands {
            demand.work = demand.work.min(MAX_WORK);
        }
        head + inside + tail
    }

    /// Returns the time between the link's two directions at the least.
    fn serve_serially(&mut self, serial: Serial, requests: &Requests, request: &Request, head: u64, tail: u64) -> u64 {
        let is_certain = |&i: &u32| requests.is_certain(request.op, requests.page(request, i), self.class.writes);
        let pages = (0..request.pages).filter(is_certain).count() as u64;
        let work = serial.time(request.op, pages);
        if work > 0 {
            // The whole device is one machine: the first.
            self.demands.push(Demand { machine: 0, head, work, after: 8 * work + 16 * tail });
        }
        work
    }

    /// Returns the time between the link's two directions at the least.
    fn serve_by_flash(&mut self, requests: &Requests, request: &Request, head: u64, tail: u64) -> u64 {
        self.sums.clear();
        let mut fastest = u64::MAX;
        let mut slowest = 0;
        let mut written = 0;
        for i in 0..request.pages {
            let lpn = requests.page(request, i);
            if requests.is_certain(request.op, lpn, self.class.writes) {
                let own = self.add_page(requests, request.op, lpn, requests.bytes_of(request, i));
                (fastest, slowest) = (fastest.min(own), slowest.max(own));
                written += u64::from(request.op == Op::Write);
            }
        }
        let mut inside = slowest;
        if self.class.placement == Placement::Free && written > 0 {
            inside = inside.max(written.div_ceil(self.geometry.planes().into()) * fastest);
        }
        if request.op == Op::Write && self.writes_buffered {
            inside = self.times.memory;
        }
        let mut sums = std::mem::take(&mut self.sums);
        for sum in &sums {
            self.places[sum.machine as usize] = 0;
            inside = inside.max(self.on_one_machine(sum, request.op));
        }
        for sum in sums.drain(..) {
            self.demand(sum, head, tail);
        }
        self.sums = sums;
        inside
    }

    /// How long the request's pages take on a machine at the least, with what must come before and behind.
    fn on_one_machine(&self, sum: &Sum, op: Op) -> u64 {
        match self.levels.iter().rev().find(|level| sum.machine >= level.first) {
            Some(level) if sum.machine < self.first_channel => {
                let commands = sum.pages.div_ceil(level.joins);
                let shared = self.times.fixed(op) / level.joins * sum.pages;
                commands * self.times.fixed(op) + (sum.work - shared.min(sum.work))
            }
            _ if sum.machine < self.link[0] => sum.head + sum.work + sum.tail,
            _ => 0,
        }
    }

    /// Adds a page that needs the flash. Returns the time it takes alone.
    fn add_page(&mut self, requests: &Requests, op: Op, lpn: Lpn, bytes: u32) -> u64 {
        let plane = self.stripe.home(lpn).0;
        let page = self.geometry.page_bytes;
        let partial = op == Op::Write && bytes < page && self.read_modify_write;
        let bytes = if partial { page } else { bytes };
        let transfer = self.times.transfer(op, bytes);
        let own = self.times.fixed(op) + transfer;
        self.add(&Page { op, plane, transfer, program_after: 0 });
        if !partial || requests.is_written_again(lpn) || !requests.has_data(lpn) {
            return own;
        }
        // The page is read first, where it is: nothing else writes it.
        let transfer = self.times.transfer(Op::Read, bytes);
        self.add(&Page { op: Op::Read, plane, transfer, program_after: own });
        own + self.times.fixed(Op::Read) + transfer
    }

    /// Adds a page to the machines that work on it.
    fn add(&mut self, page: &Page) {
        let free = self.class.placement == Placement::Free;
        let fixed = self.times.fixed(page.op);
        let is_read = page.op == Op::Read;
        let on_bus = if is_read { 0 } else { self.times.command[1] / self.times.joins[1] } + page.transfer;
        let (head, tail) = if is_read { (fixed, 0) } else { (0, self.times.array[1]) };
        if !free || is_read {
            for i in 0..self.levels.len() {
                let Level { planes, first, joins } = self.levels[i];
                self.add_work(first + u32::from(page.plane.0) / planes, page, joins);
            }
            let channel = self.geometry.channel_of(self.geometry.unit_of(page.plane)).0;
            self.add_transfer(self.first_channel + u32::from(channel), on_bus, page, [head, tail]);
        }
        if free {
            self.add_work(self.unit_pool, page, self.times.joins[1]);
            self.add_transfer(self.channel_pool, on_bus, page, [head, tail]);
        }
    }

    /// Adds the work of a page on a machine of whose commands `joins` pages may share the array time.
    fn add_work(&mut self, machine: u32, page: &Page, joins: u64) {
        let fixed = self.times.fixed(page.op);
        let work = fixed / joins + page.transfer;
        // From the mean busy time to the end: of a read its share of the array time, then its transfer; of a program the
        // middle of the whole command.
        let [f, x, wide_joins] = [fixed, page.transfer, joins].map(u128::from);
        let moments = match page.op {
            Op::Read => (8 * f * f + 16 * f * x) / wide_joins + 8 * x * x,
            _ => 8 * u128::from(work) * (f + x),
        };
        let sum = self.sum(machine, [0, 0]);
        sum.work += work;
        sum.moments += moments + 16 * u128::from(work) * u128::from(page.program_after);
        sum.pages += u64::from(page.program_after == 0);
    }

    /// Adds the transfer of a page to a channel.
    fn add_transfer(&mut self, machine: u32, work: u64, page: &Page, [head, tail]: [u64; 2]) {
        if work == 0 {
            return;
        }
        let sum = self.sum(machine, [head, tail]);
        sum.work += work;
        sum.moments += u128::from(work) * (8 * u128::from(work) + 16 * u128::from(page.program_after));
        sum.head = sum.head.min(head);
        sum.tail = sum.tail.min(tail);
    }

    /// What the request asks of a machine so far.
    fn sum(&mut self, machine: u32, [head, tail]: [u64; 2]) -> &mut Sum {
        let place = &mut self.places[machine as usize];
        if *place == 0 {
            self.sums.push(Sum { machine, head, tail, ..Sum::default() });
            *place = self.sums.len() as u32;
        }
        &mut self.sums[*place as usize - 1]
    }

    /// Turns a sum into a demand.
    fn demand(&mut self, sum: Sum, head: u64, tail: u64) {
        let Sum { machine, work, moments, .. } = sum;
        let speed = match machine {
            _ if machine == self.unit_pool => self.geometry.units(),
            _ if machine == self.channel_pool => self.geometry.channels,
            _ => 1,
        };
        // The mean busy time of the pages together is the mean of theirs, weighted by their work.
        let mean = (moments / u128::from(work.max(1))) as u64;
        let work = work / u64::from(speed);
        if work > 0 {
            let after = mean.max(8 * work) + 16 * (sum.tail + tail);
            self.demands.push(Demand { machine, head: head + sum.head, work, after });
        }
    }
}
