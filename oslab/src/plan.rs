//! What is measured, in which order: ways of waiting take turns in pairs with the interrupt.
//!
//! A round has, for every way, a slot of the background alone, one of sleeping and one of the way itself; which of the last two
//! comes first alternates. A disturbance of the machine then falls on both sides of a ratio alike.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flashlane_host::WindowChoice;
use flashlane_host::window::Window;
use flashlane_scenario::workload::scene::SceneRequest;
use flashlane_scenario::{Device, Document, Flow, Scenario};
use flashlane_ssd::Config;

use crate::background;
use crate::device;
use crate::figures::RawSlot;
use crate::findings::Findings;
use crate::foreground::{Foreground, Slot};
use crate::machine::{self, Machine};
use crate::mailbox::Mailbox;
use crate::methods::{Background, Method, Settings};

/// The device's configuration.
fn config(settings: &Settings) -> Result<Config, String> {
    let read = SceneRequest {
        at_ns: 0,
        op: flashlane_scenario::workload::scene::SceneOp::Read,
        fua: false,
        offset: None,
        length: None,
        pages: Some(vec![0]),
    };
    let document = Document {
        device: Device::preset(settings.device.clone()),
        flow: vec![Flow { request: vec![read], ..Flow::default() }],
        ..Document::default()
    };
    Scenario::from_document("--device", document).device_config().map_err(|error| error.to_string())
}

/// Measures. `told` is called with what begins.
///
/// # Errors
/// Illegal settings, or threads that are not to be had.
pub fn measure(settings: &Settings, told: &(dyn Fn(&str) + Sync)) -> Result<Findings, String> {
    settings.check()?;
    let config = config(settings)?;
    let mut machine = Machine::look();
    // Schedulers stay on the thread that made them, so this one is only asked; the device's thread makes its own.
    let free = device::Running::new(&config)?.free_pages();
    let mailbox = Arc::new(Mailbox::new(free));
    let pages = device::Running::pages(&config);
    let (shared, cpu) = (Arc::clone(&mailbox), machine.device());
    let name = std::thread::Builder::new().name("device".into());
    let device = move || device::Running::new(&config)?.run(&shared, cpu);
    let thread = name.spawn(device).map_err(|e| format!("no thread for the device: {e}"))?;
    let (shared, machine_of, plan) = (Arc::clone(&mailbox), machine.clone(), settings.clone());
    let slots = std::thread::scope(|scope| {
        let foreground = scope.spawn(|| {
            machine::pin(machine_of.foreground())?;
            let foreground = Foreground::new(&shared, pages, plan.write_percent, free);
            rounds(&plan, &machine_of, foreground, told)
        });
        foreground.join().map_err(|_| "the foreground's thread panicked".to_owned())?
    });
    mailbox.stop.store(true, Ordering::Relaxed);
    let ended = thread.join().map_err(|_| "the device's thread panicked".to_owned())?;
    let (slots, missing) = slots.map_err(|error| match &ended {
        Err(device) => device.clone(),
        Ok(()) => error,
    })?;
    ended?;
    machine.missing.extend(missing);
    Ok(Findings::new(settings.clone(), machine.cpus.len(), machine.missing, slots))
}

/// Slots, and what could not be had.
type Slots = (Vec<RawSlot>, Vec<String>);

fn rounds(
    settings: &Settings,
    machine: &Machine,
    foreground: Foreground<'_>,
    told: &(dyn Fn(&str) + Sync),
) -> Result<Slots, String> {
    let backgrounds = [Background::Idle, Background::Cpu, Background::Io];
    let share = Duration::from_secs(settings.seconds.into()) / backgrounds.len() as u32;
    let length = Duration::from_millis(settings.slot_ms.into());
    let mut measuring = Measuring { foreground, length, slots: Vec::new(), missing: Vec::new() };
    for background in backgrounds {
        told(&format!("{} in the background", background.name()));
        let mut methods: Vec<(Method, Window)> =
            Method::others().into_iter().map(|method| (method, window_of(method))).collect();
        let running = background::Running::start(background, settings.threads, machine.foreground())?;
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
    Ok((measuring.slots, measuring.missing))
}

/// What has been measured.
struct Measuring<'a> {
    foreground: Foreground<'a>,
    length: Duration,
    slots: Vec<RawSlot>,
    missing: Vec<String>,
}

impl Measuring<'_> {
    /// The background alone, sleeping, and `method`, the last two `swapped` or not. Returns whether the method is to be had.
    fn pair(
        &mut self,
        beside: (Background, &background::Running),
        round: u32,
        method: Method,
        window: &mut Window,
        swapped: bool,
    ) -> Result<bool, String> {
        let mut none = window_of(Method::Sleep);
        let mut slots = vec![self.slot(beside, round, None, &mut none)?];
        let order = if swapped { [method, Method::Sleep] } else { [Method::Sleep, method] };
        for one in order {
            let window = if one == Method::Sleep { &mut none } else { &mut *window };
            match self.slot(beside, round, Some(one), window) {
                Ok(slot) => slots.push(slot),
                Err(error) if one == Method::SpinRaised => {
                    let error = format!("{}: {error}", method.name());
                    if !self.missing.contains(&error) {
                        self.missing.push(error);
                    }
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        self.slots.extend(slots.into_iter().map(|slot| slot.of_pair(method)));
        Ok(true)
    }

    /// One slot: the foreground waiting by `method`, or nothing in the foreground.
    fn slot(
        &mut self,
        (background, running): (Background, &background::Running),
        round: u32,
        method: Option<Method>,
        window: &mut Window,
    ) -> Result<RawSlot, String> {
        let (before, begun) = (running.operations(), Instant::now());
        let made = match method {
            Some(method) => self.foreground.slot(method, window, self.length)?,
            None => {
                std::thread::sleep(self.length);
                Slot::default()
            }
        };
        let elapsed = begun.elapsed();
        let operations = running.operations() - before;
        Ok(RawSlot::new(background, round, method, operations, elapsed, &made))
    }
}

fn window_of(method: Method) -> Window {
    Window::new(match method {
        Method::Precompletion(None) => WindowChoice::Adaptive,
        Method::Precompletion(Some(us)) => WindowChoice::Fixed(flashlane_core::Duration::from_us(us.into())),
        _ => WindowChoice::Fixed(flashlane_core::Duration::ZERO),
    })
}
