//! Serial service: which pages the buffer holds, which it gives up, and how long a command takes.
//!
//! An account of its own, by the events alone: every buffered page with the number of its last use.

use std::collections::BTreeMap;

use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, FlowId, Lpn, RequestId, Time};
use flashlane_ssd::config::{Charge, Config, Service};
use rustc_hash::FxHashMap;

use super::rule::{Log, Rule};

/// A buffered page.
#[derive(Clone, Copy, Debug)]
struct Held {
    part: usize,
    used: u64,
    dirty: bool,
}

/// The command that is served.
#[derive(Debug)]
struct Command {
    id: RequestId,
    flow: FlowId,
    op: Op,
    begun: Time,
    /// Pages read and written in the flash.
    worked: [u64; 2],
    /// Pages of a write that the buffer did not hold.
    missed: u64,
    /// Dirty pages of the buffer written out for it.
    written_out: u64,
}

/// The account of a device with serial service.
#[derive(Debug)]
pub(super) struct Serial {
    cluster: u64,
    literal: bool,
    page: [Duration; 2],
    memory: Duration,
    /// Pages of a part of the buffer, if there is one.
    capacity: usize,
    per_flow: bool,
    write_back: bool,
    read_allocate: bool,
    held: FxHashMap<Lpn, Held>,
    /// By part, the pages by the number of their last use.
    by_use: Vec<BTreeMap<u64, Lpn>>,
    uses: u64,
    command: Option<Command>,
}

impl Serial {
    /// The account of a device of `config`, if it serves commands so.
    pub(super) fn new(config: &Config) -> Option<Serial> {
        let Service::Serial { cluster, charge } = config.front.service else { return None };
        let transfer = config.transfer(config.page_on_bus().into());
        let page = |op: FlashOp| config.bus.command[op.index()] + config.typical(op) + transfer;
        let buffer = config.buffer.as_ref();
        let per_flow = buffer.is_some_and(|buffer| buffer.per_flow);
        let parts = if per_flow { config.flows.len() } else { 1 };
        Some(Serial {
            cluster: cluster.into(),
            literal: charge == Charge::Literal,
            page: [page(FlashOp::Read), page(FlashOp::Program)],
            memory: config.memory,
            capacity: buffer.map_or(0, |buffer| buffer.pages as usize / parts),
            per_flow,
            write_back: buffer.is_some_and(|buffer| buffer.write_back),
            read_allocate: buffer.is_some_and(|buffer| buffer.read_allocate),
            held: FxHashMap::default(),
            by_use: vec![BTreeMap::new(); parts],
            uses: 0,
            command: None,
        })
    }

    /// The buffer of a used drive holds these pages of a part before the first command, the one used longest ago first.
    pub(super) fn holds(&mut self, part: usize, pages: &[(Lpn, bool)]) {
        for &(lpn, dirty) in pages {
            self.uses += 1;
            self.held.insert(lpn, Held { part, used: self.uses, dirty });
            self.by_use[part].insert(self.uses, lpn);
        }
    }

    /// A command begins to be served.
    pub(super) fn admitted(&mut self, id: RequestId, (flow, op): (FlowId, Op), begun: Time) {
        self.command = Some(Command { id, flow, op, begun, worked: [0; 2], missed: 0, written_out: 0 });
    }

    /// A page of the command was served, by the flash or from memory. Returns when the command ends if that was the last.
    pub(super) fn page(&mut self, id: RequestId, lpn: Lpn, by_flash: bool, log: &mut Log) -> Option<Time> {
        let Command { op, flow, .. } = *self.command.as_ref().filter(|command| command.id == id)?;
        let held = self.held.contains_key(&lpn);
        let fits = match op {
            Op::Read => by_flash != held,
            Op::Write => by_flash != self.write_back,
            Op::Trim | Op::WriteZeroes | Op::Flush => false,
        };
        log.check(fits, Rule::SerialHit, || {
            let (kind, by) = (op.name(), if by_flash { "the flash" } else { "memory" });
            format!("page {} of {kind} {} was served by {by}; in the buffer: {held}.", lpn.0, id.0)
        });
        let missed = !held && op == Op::Write;
        let enters = !held && if op == Op::Write { self.write_back } else { self.read_allocate };
        if held || enters {
            self.used(lpn, flow, op == Op::Write && self.write_back);
        }
        let part = &self.by_use[self.part(flow)];
        log.check(!enters || part.len() <= self.capacity, Rule::SerialEvict, || {
            format!("page {} makes {} pages in a buffer of {}.", lpn.0, part.len(), self.capacity)
        });
        let command = self.command.as_mut().expect("just seen");
        command.missed += u64::from(missed);
        command.worked[op.index()] += u64::from(by_flash);
        self.ends()
    }

    /// The flash serves a page of the command: whether it writes a dirty page of the buffer out, for a flush or a write with FUA. If so,
    /// returns when the command ends if that was the last.
    pub(super) fn writes_out(&mut self, id: RequestId, lpn: Lpn) -> Option<Time> {
        let write_back = self.write_back;
        let may = |command: &&mut Command| {
            command.id == id && (command.op == Op::Flush || command.op == Op::Write && write_back)
        };
        let command = self.command.as_mut().filter(may)?;
        let held = self.held.get_mut(&lpn).filter(|held| held.dirty)?;
        held.dirty = false;
        command.written_out += 1;
        self.ends()
    }

    /// A page was trimmed: the buffer gives it up.
    pub(super) fn trimmed(&mut self, lpn: Lpn) {
        if let Some(held) = self.held.remove(&lpn) {
            self.by_use[held.part].remove(&held.used);
        }
    }

    /// A page left the buffer.
    pub(super) fn evicted(&mut self, lpn: Lpn, log: &mut Log) {
        let Some(held) = self.held.remove(&lpn) else {
            log.report(Rule::SerialEvict, || format!("page {} was not in the buffer.", lpn.0));
            return;
        };
        let part = &mut self.by_use[held.part];
        let (oldest, full) = (part.first_key_value().map(|(_, &lpn)| lpn), part.len() == self.capacity);
        part.remove(&held.used);
        log.check(oldest == Some(lpn) && full, Rule::SerialEvict, || {
            format!("page {} was given up; least recently used was {oldest:?}, full: {full}.", lpn.0)
        });
        if let Some(command) = &mut self.command {
            command.worked[1] += u64::from(held.dirty);
        }
    }

    fn part(&self, flow: FlowId) -> usize {
        if self.per_flow { flow.index() } else { 0 }
    }

    /// A page is used, and enters the buffer if it was not there.
    fn used(&mut self, lpn: Lpn, flow: FlowId, written: bool) {
        self.uses += 1;
        let fresh = Held { part: self.part(flow), used: self.uses, dirty: false };
        let held = self.held.entry(lpn).or_insert(fresh);
        let part = &mut self.by_use[held.part];
        part.remove(&held.used);
        (held.used, held.dirty) = (self.uses, held.dirty || written);
        part.insert(self.uses, lpn);
    }

    /// When the command ends by what has been served of it.
    fn ends(&self) -> Option<Time> {
        let Command { op, begun, worked: [read, written], missed, written_out, .. } = *self.command.as_ref()?;
        let written = if self.literal && op == Op::Write && self.write_back { missed } else { written };
        let of = |op: usize, pages: u64| self.page[op] * pages.div_ceil(self.cluster);
        let busy = of(0, read) + of(1, written + written_out);
        Some(begun + if busy == Duration::ZERO { self.memory } else { busy })
    }
}
