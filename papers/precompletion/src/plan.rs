//! What is measured, in which order: ways of waiting take turns in pairs with the interrupt.
//!
//! A round has, for every way, a slot of the background alone, one of sleeping and one of the way itself; which of the last two
//! comes first alternates. A disturbance of the machine then falls on both sides of a ratio alike.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flashlane_host::window::Window;
use flashlane_scenario::workload::scene::{SceneOp, SceneRequest};
use flashlane_scenario::{Device, Document, Flow, Scenario};
use flashlane_ssd::Config;

use crate::background::{self, Background};
use crate::device;
use crate::figures::Row;
use crate::foreground::{Foreground, Method, Slot};
use crate::machine;
use crate::mailbox::Mailbox;

/// The device that is simulated.
pub const DEVICE: &str = "cosmos-openssd";
/// Length of a slot.
const SLOT: Duration = Duration::from_millis(120);

/// The device's configuration.
fn config() -> Result<Config, String> {
    let read =
        SceneRequest { at_ns: 0, op: SceneOp::Read, fua: false, offset: None, length: None, pages: Some(vec![0]) };
    let document = Document {
        device: Device::preset(DEVICE.into()),
        flow: vec![Flow { request: vec![read], ..Flow::default() }],
        ..Document::default()
    };
    Scenario::from_document("the device", document).device_config().map_err(|error| error.to_string())
}

/// Every slot, and what could not be had.
type Slots = (Vec<Row>, Vec<String>);

/// Measures for about so many seconds, and says on the way what.
///
/// # Errors
/// Threads or CPUs that are not to be had.
pub fn measure(seconds: u32) -> Result<Slots, String> {
    let config = config()?;
    let cpus = machine::cpus();
    let [cpu, .., other] = cpus[..] else {
        return Err("one CPU: the device's thread would take the foreground's, and nothing would be shown".into());
    };
    // Schedulers stay on the thread that made them, so this one is only asked; the device's thread makes its own.
    let free = device::Running::new(&config)?.free_pages();
    let mailbox = Arc::new(Mailbox::new(free));
    let pages = config.ftl.logical_pages;
    let shared = Arc::clone(&mailbox);
    let device = std::thread::spawn(move || device::Running::new(&config)?.run(&shared, other));
    let slots = std::thread::scope(|scope| {
        let foreground = scope.spawn(|| {
            machine::pin(cpu)?;
            rounds(seconds, cpu, Foreground::new(&mailbox, pages, free))
        });
        foreground.join().map_err(|_| "the foreground's thread panicked".to_owned())?
    });
    mailbox.stop.store(true, Ordering::Relaxed);
    // What the device's thread failed of is what the foreground's failed of.
    device.join().map_err(|_| "the device's thread panicked".to_owned())??;
    slots
}

fn rounds(seconds: u32, cpu: usize, foreground: Foreground<'_>) -> Result<Slots, String> {
    let share = Duration::from_secs(seconds.into()) / Background::ALL.len() as u32;
    let mut measuring = Measuring { foreground, rows: Vec::new(), missing: Vec::new() };
    for background in Background::ALL {
        eprintln!("{} in the background", background.name());
        let mut methods = Method::OTHERS.map(|method| (method, method.window())).to_vec();
        let running = background::Running::start(background, cpu)?;
        let beside = (background, &running);
        let begun = Instant::now();
        let mut round = 0;
        // One round at least, however short the time is.
        while round == 0 || begun.elapsed() < share {
            let mut refused = Vec::new();
            for (i, (method, window)) in methods.iter_mut().enumerate() {
                let swapped = (round as usize + i) % 2 == 1;
                if !measuring.pair(beside, round, *method, window, swapped)? {
                    refused.push(*method);
                }
            }
            methods.retain(|(method, _)| !refused.contains(method));
            round += 1;
        }
    }
    Ok((measuring.rows, measuring.missing))
}

/// What has been measured.
struct Measuring<'a> {
    foreground: Foreground<'a>,
    rows: Vec<Row>,
    missing: Vec<String>,
}

impl Measuring<'_> {
    /// The background alone, sleeping, and `method`, the last two `swapped` or not. Returns whether the method is to be had.
    fn pair(
        &mut self,
        (background, running): (Background, &background::Running),
        round: u32,
        method: Method,
        window: &mut Window,
        swapped: bool,
    ) -> Result<bool, String> {
        let mut none = Method::Sleep.window();
        let order = if swapped { [method, Method::Sleep] } else { [Method::Sleep, method] };
        let mut rows = Vec::new();
        for one in [None, Some(order[0]), Some(order[1])] {
            let window = if one == Some(method) { &mut *window } else { &mut none };
            let (before, begun) = (running.operations(), Instant::now());
            let slot = match one {
                Some(one) => self.foreground.slot(one, window, SLOT),
                None => {
                    std::thread::sleep(SLOT);
                    Ok(Slot::default())
                }
            };
            let (elapsed, did) = (begun.elapsed(), running.operations() - before);
            match slot {
                Ok(slot) => rows.push(Row::new((background, did), round, method, one, elapsed, &slot)),
                Err(error) if one == Some(Method::SpinRaised) => {
                    let error = format!("{}: {error}", method.name());
                    if !self.missing.contains(&error) {
                        self.missing.push(error);
                    }
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        self.rows.append(&mut rows);
        Ok(true)
    }
}
