//! Checks what a device reports of pages in a buffer that loses them with the power, against what flushes and FUA promise.

use std::collections::{BTreeMap, BTreeSet};

use flashlane_core::event::{End, Event};
use flashlane_core::{Completion, Lpn, Op};
use flashlane_ssd::config::{Config, Service};
use flashlane_ssd::{BufferedPage, Device};

use super::play::{TestRequest, Touch};

/// A page of a write that the flash does not have.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Stored {
    request: u64,
    after: u64,
}

/// Watches a run.
pub struct DurablePages {
    is_serial: bool,
    stored: BTreeMap<Lpn, Vec<Stored>>,
    answered: BTreeSet<u64>,
    /// What had been answered and was not in the flash when each flush was submitted.
    owed: BTreeMap<u64, Vec<(Lpn, Stored)>>,
    /// Programs that the flash has ended, as they are counted.
    ended: BTreeSet<u64>,
    trims: Vec<std::ops::Range<u32>>,
}

impl DurablePages {
    pub fn of(config: &Config, device: &mut Device) -> DurablePages {
        device.report_buffered_pages();
        DurablePages {
            is_serial: matches!(config.front.service, Service::Serial { .. }),
            stored: BTreeMap::new(),
            answered: BTreeSet::new(),
            owed: BTreeMap::new(),
            ended: BTreeSet::new(),
            trims: Vec::new(),
        }
    }

    pub fn see(&mut self, event: &Event) {
        match *event {
            Event::Ended { txn, end: End::Flash, .. } => drop(self.ended.insert(txn + 1)),
            Event::Unmapped { lpn, pages, .. } => self.trims.push(lpn.0..lpn.0 + pages),
            _ => {}
        }
    }

    /// A request is about to be submitted.
    pub fn submits(&mut self, id: u64, ask: &TestRequest) {
        if ask.op == Op::Flush {
            let pages = self.stored.iter().flat_map(|(&lpn, all)| all.iter().map(move |&stored| (lpn, stored)));
            self.owed.insert(id, pages.filter(|(_, stored)| self.answered.contains(&stored.request)).collect());
        }
    }

    /// What the device has reported, and then what it has completed.
    pub fn take(
        &mut self,
        device: &mut Device,
        asks: &[TestRequest],
        completions: &[Completion],
    ) -> Result<(), String> {
        let Some(pages) = device.buffered_pages() else { return Ok(()) };
        for page in pages.drain(..) {
            match page {
                BufferedPage::Stored { request, lpn, after } => {
                    self.stored.entry(lpn).or_default().push(Stored { request: request.0, after });
                }
                BufferedPage::Durable { lpn, program } => {
                    let is_true = match program {
                        u64::MAX => self.is_serial || self.trims.iter().any(|trim| trim.contains(&lpn.0)),
                        _ => self.ended.contains(&program),
                    };
                    if !is_true {
                        return Err(format!("page {} is not durable by program {program}", lpn.0));
                    }
                    self.stored.entry(lpn).or_default().retain(|stored| stored.after >= program);
                }
            }
        }
        for completion in completions {
            let id = completion.id.0;
            self.answered.insert(id);
            let left = |(lpn, stored): &(Lpn, Stored)| self.stored.get(lpn).is_some_and(|all| all.contains(stored));
            if let Some((lpn, stored)) = self.owed.remove(&id).into_iter().flatten().find(left) {
                return Err(format!(
                    "flush {id} completed before page {} of request {} is durable",
                    lpn.0, stored.request
                ));
            }
            let is_forced = matches!(asks[id as usize].touch, Touch::Fua(..));
            if is_forced && self.stored.values().flatten().any(|stored| stored.request == id) {
                return Err(format!("the write with FUA {id} completed before its pages are durable"));
            }
        }
        Ok(())
    }
}
