//! What the driver believes the device's memory to hold (model 3.1.2; D-PRE-07, -08, -17).

use std::collections::BTreeMap;

use flashlane_core::Op;
use flashlane_host::{Config, Io, Meter};

#[derive(Debug)]
pub struct Memory {
    config: Config,
    /// By part of the buffer: the pages last reported free, and those of writes counted off and not completed, now and then.
    parts: BTreeMap<u16, Part>,
    /// Pages by set, the last used last.
    sets: Vec<Vec<u64>>,
}

#[derive(Clone, Debug)]
struct Part {
    free: u32,
    under_way: u32,
}

impl Memory {
    pub fn new(config: &Config) -> Memory {
        let sets = config.buffer_pages.unwrap_or(0).div_ceil(4).max(1);
        Memory { config: config.clone(), parts: BTreeMap::new(), sets: vec![Vec::new(); sets as usize] }
    }

    fn part(&mut self, io: &Io) -> &mut Part {
        let key = if self.config.buffer_per_flow { io.flow.0 } else { 0 };
        let free = self.config.buffer_pages.unwrap_or(0);
        self.parts.entry(key).or_insert(Part { free, under_way: 0 })
    }

    /// Whether a write fits. If so its pages are counted off.
    pub fn takes(&mut self, io: &Io) -> bool {
        if !self.config.waiting.buffer_hits {
            return false;
        }
        let part = self.part(io);
        let fits = part.free >= io.pages;
        if fits {
            (part.free, part.under_way) = (part.free - io.pages, part.under_way + io.pages);
        }
        fits
    }

    fn remembers_pages(&self) -> bool {
        self.config.waiting.read_hits && self.config.buffer_pages.is_some()
    }

    fn set(&mut self, page: u64) -> &mut Vec<u64> {
        let sets = self.sets.len() as u64;
        &mut self.sets[(page % sets) as usize]
    }

    pub fn holds(&mut self, page: u64) -> bool {
        self.remembers_pages() && self.set(page).contains(&page)
    }

    /// What a completion tells. `hit` is what the driver took the I/O for.
    pub fn completed(
        &mut self,
        io: &Io,
        hit: bool,
        counted_off: u32,
        from_memory: bool,
        free: Option<u32>,
        meter: &mut Meter,
    ) {
        let waiting = self.config.waiting;
        if !waiting.buffer_hits && !waiting.read_hits {
            return;
        }
        if let (Some(free), true) = (free, waiting.buffer_hits) {
            let part = self.part(io);
            part.under_way -= counted_off;
            part.free = free - part.under_way.min(free);
        }
        let counts = if io.op == Op::Read { &mut meter.reads } else { &mut meter.writes };
        counts.hit += u64::from(hit && from_memory);
        counts.miss += u64::from(hit && !from_memory);
        counts.unseen += u64::from(!hit && from_memory);
        if !self.remembers_pages() {
            return;
        }
        let fit = u64::from(self.config.buffer_pages.unwrap_or(0));
        let end = io.page + u64::from(io.pages);
        for page in io.page.max(end.saturating_sub(fit))..end {
            let set = self.set(page);
            set.retain(|&other| other != page);
            if io.op == Op::Write || from_memory {
                set.push(page);
                if set.len() > 4 {
                    set.remove(0);
                }
            }
        }
    }
}
