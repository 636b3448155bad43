//! What a host has counted, and what its background does by itself.

use flashlane_core::{Duration, Time};

use super::{Host, INSTANT};
use crate::config::Config;
use crate::meter::{Groups, Meter};
use crate::thread::Activity;
use crate::window::Window;

impl Host {
    /// Each CPU's window at present: how early the next message should come.
    pub fn windows(&self) -> impl Iterator<Item = Duration> {
        self.windows.iter().map(Window::width)
    }

    /// What was counted up to `now`, to which the host must have been advanced.
    ///
    /// CPUs that no thread of an application has been on all do the same, their background from the start on: the first of them counts
    /// for all, and the others are not run.
    pub fn counted(&mut self, now: Time) -> (Meter, Groups) {
        let cpus = self.cpus.len();
        let alike = cpus.min(self.created as usize);
        let times = |cpu: usize| if cpu == alike { (cpus - alike) as u64 } else { 1 };
        let run = cpus.min(alike + 1);
        (0..run).for_each(|cpu| self.run_cpu(cpu, now + INSTANT));
        let mut meter = self.meter.clone();
        let mut foreground = Duration::ZERO;
        for (number, cpu) in self.cpus[..run].iter_mut().enumerate() {
            cpu.charge(now, &mut self.threads);
            meter.cpu.overhead += cpu.overhead(now) * times(number);
        }
        let mut groups = Groups { operations: alloc::vec![0; self.config.background.len()] };
        for thread in self.threads.iter().filter(|thread| (thread.cpu as usize) < run) {
            let times = times(thread.cpu as usize);
            let ran = Duration::from_ns(thread.ran);
            match thread.group {
                None => foreground += ran,
                Some(group) => {
                    meter.cpu.background += ran * times;
                    groups.operations[group as usize] += times
                        * match thread.activity {
                            Activity::Burn => thread.ran,
                            Activity::Sections => thread.ran / thread.section.ns(),
                            _ => thread.operations,
                        };
                }
            }
            meter.cpu.spin += thread.io.map_or(Duration::ZERO, |io| io.spun);
        }
        meter.cpu.submit = foreground - meter.cpu.spin;
        (meter, groups)
    }

    /// What the background threads of `config` do by themselves up to `until`.
    pub fn background_alone(config: &Config, until: Time) -> Groups {
        Host::new(config).counted(until).1
    }
}
