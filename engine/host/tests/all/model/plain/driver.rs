//! What threads and the driver do with an I/O (model 3.1.2 to 3.1.5).

use flashlane_core::{Duration, Op, RequestId};
use flashlane_host::{Completion, Io, Seen};

use super::{Doing, Mode, Plain, Wait, is_small_read, ns};

impl Plain {
    /// An application asks for an I/O.
    pub fn call(&mut self, now: u64, io: Io) {
        let unused = self.unused.entry(io.flow.0).or_default().pop();
        let id = unused.unwrap_or_else(|| {
            self.foreground += 1;
            self.add(((self.foreground - 1) % self.config.cpus) as usize, self.config.waiting.nice)
        });
        let cpu = self.threads[id].cpu;
        self.run_cpu(cpu, now);
        let thread = &mut self.threads[id];
        thread.wait = Some(Wait {
            io,
            called: now,
            submitted: 0,
            done: None,
            counted_off: 0,
            taken_for_hit: false,
            lead: None,
            ran_at: None,
            spun: 0,
        });
        if self.cpus[cpu].has == Some(id) {
            // Its thread has just seen one.
            self.charge(cpu, now);
            self.cpus[cpu].deciding = false;
            self.deciding.retain(|&other| other != cpu);
            self.threads[id].doing = Doing::Submit(self.config.costs.submit.ns());
        } else {
            thread.doing = Doing::Submit(self.config.costs.submit.ns());
            self.wake(id, now);
        }
    }

    /// The thread that waits for a request whose completion has not come.
    fn waiting_for(&self, request: RequestId) -> Option<usize> {
        let waits = |wait: &Wait| wait.io.id == request && wait.done.is_none();
        self.threads.iter().position(|thread| thread.wait.as_ref().is_some_and(waits))
    }

    /// What comes after the decisions of an instant comes after what CPUs do at it.
    fn catch_up(&mut self, cpu: usize, now: u64) {
        if self.reached == Some(now) {
            self.run_cpu(cpu, now);
        }
    }

    /// A completion comes.
    pub fn completed(&mut self, now: u64, request: RequestId, free: Option<u32>) {
        let from_memory = self.tracker.completed(request.0, now, &mut self.meter);
        let Some(id) = self.waiting_for(request) else { return };
        let cpu = self.threads[id].cpu;
        self.catch_up(cpu, now);
        let Some(wait) = &mut self.threads[id].wait else { return };
        wait.done = Some(now);
        let (io, hit, counted_off) = (wait.io, wait.taken_for_hit, wait.counted_off);
        self.memory.completed(&io, hit, counted_off, from_memory, free, &mut self.meter);
        match self.threads[id].doing {
            Doing::Sleep => self.interrupt(id, 0, now),
            Doing::Spin(_) if (self.cpus[cpu].mode, self.cpus[cpu].has) == (Mode::Run, Some(id)) => {
                self.charge(cpu, now);
                let spun = self.threads[id].wait.map_or(0, |wait| wait.spun);
                // It looks after each interval that it has spun for.
                let rest = match self.config.waiting.poll_interval.ns() {
                    0 => 0,
                    interval => (interval - spun % interval) % interval,
                };
                if rest == 0 {
                    self.see(id, now);
                } else {
                    self.threads[id].doing = Doing::Spin(Some(now + rest));
                }
            }
            _ => {}
        }
    }

    /// A message comes that announces the end of an I/O.
    pub(super) fn message(&mut self, request: u64, announced: u64, now: u64) {
        let Some(id) = self.waiting_for(RequestId(request)) else { return };
        let cpu = self.threads[id].cpu;
        self.catch_up(cpu, now);
        match self.threads[id].doing {
            Doing::Sleep => self.interrupt(id, announced.saturating_sub(now), now),
            Doing::Spin(_) => {
                self.charge_if_held(cpu, id, now);
                self.threads[id].doing = Doing::Spin(Some(now + self.spins_for(cpu)));
            }
            _ => {}
        }
    }

    fn charge_if_held(&mut self, cpu: usize, id: usize, now: u64) {
        if self.cpus[cpu].has == Some(id) {
            self.charge(cpu, now);
        }
    }

    fn interrupt(&mut self, id: usize, lead: u64, now: u64) {
        self.meter.interrupts += 1;
        let thread = &mut self.threads[id];
        thread.doing = Doing::Look;
        if let Some(wait) = &mut thread.wait {
            wait.lead = Some(lead);
        }
        self.interrupt_cpu(self.threads[id].cpu, id, now);
    }

    fn spins_for(&self, cpu: usize) -> u64 {
        self.config.waiting.max_spin.map_or(self.windows[cpu].longest_spin(), Duration::ns)
    }

    /// A thread has its CPU: for the first time, or again after an interrupt.
    pub(super) fn has_cpu(&mut self, id: usize, now: u64) {
        let cpu = self.threads[id].cpu;
        let spins_for = self.spins_for(cpu);
        let thread = &mut self.threads[id];
        let is_done = thread.wait.is_some_and(|wait| wait.done.is_some());
        match (thread.doing, &mut thread.wait) {
            (Doing::Look, Some(wait)) => {
                wait.ran_at = Some(now);
                thread.doing = Doing::Spin(Some(now + spins_for));
                if is_done {
                    self.see(id, now);
                }
            }
            (Doing::Spin(_), _) if is_done => self.see(id, now),
            (Doing::Nothing | Doing::Sleep, _) => self.give_up(cpu, now),
            _ => {}
        }
    }

    /// What a thread did is over.
    pub(super) fn work_over(&mut self, id: usize, now: u64) {
        let thread = &mut self.threads[id];
        match (thread.doing, &mut thread.wait) {
            (Doing::Submit(_), Some(_)) => self.submit(id, now),
            (Doing::Spin(_), Some(wait)) if wait.done.is_none() => {
                // For too long: it sleeps, and its completion interrupts it.
                self.meter.gave_up += u64::from(wait.lead.is_some());
                wait.lead = None;
                thread.doing = Doing::Sleep;
                self.give_up(self.threads[id].cpu, now);
            }
            (Doing::Spin(_), _) => self.see(id, now),
            (Doing::Section(_), _) => {
                thread.sections_done += 1;
                thread.doing = Doing::Nothing;
                let (cpu, wakes) = (thread.cpu, now + thread.device);
                self.cpus[cpu].alarms.push((wakes, id));
                self.give_up(cpu, now);
            }
            other => unreachable!("{other:?} does not end"),
        }
    }

    /// The driver submits an I/O and decides how its thread waits.
    fn submit(&mut self, id: usize, now: u64) {
        let (cpu, waiting) = (self.threads[id].cpu, &self.config.waiting);
        let Some(Wait { io, .. }) = self.threads[id].wait else { return };
        let mut counted_off = 0;
        let doing = match (waiting.completion, io.op) {
            (Completion::Poll, _) => Doing::Spin(None),
            (_, Op::Write) if self.memory.takes(&io) => {
                counted_off = io.pages;
                Doing::Spin(None)
            }
            (_, Op::Read) if io.pages == 1 && self.memory.holds(io.page) => {
                Doing::Spin(Some(now + waiting.read_hit_spin.ns()))
            }
            _ => Doing::Sleep,
        };
        let polls = waiting.completion == Completion::Poll;
        let thread = &mut self.threads[id];
        thread.doing = doing;
        if let Some(wait) = &mut thread.wait {
            (wait.submitted, wait.counted_off) = (now, counted_off);
            wait.taken_for_hit = doing != Doing::Sleep && !polls;
        }
        self.tracker.expect(io.id.0, is_small_read(&io), self.windows[cpu].width());
        self.submissions.push(io.id);
        self.give_up(cpu, now);
    }

    /// A thread sees its I/O done.
    fn see(&mut self, id: usize, now: u64) {
        let cpu = self.threads[id].cpu;
        self.charge(cpu, now);
        let thread = &mut self.threads[id];
        thread.doing = Doing::Nothing;
        let Some(wait) = thread.wait.take() else { return };
        let Wait { io, called, submitted, done, spun, .. } = wait;
        let done = done.expect("it is");
        if let (true, Some(ran), Some(lead)) = (is_small_read(&io), wait.ran_at, wait.lead) {
            self.windows[cpu].observe((ran + lead).saturating_sub(done));
        }
        self.meter.cpu.spin += Duration::from_ns(spun);
        self.seen.push(Seen {
            id: io.id,
            flow: io.flow,
            op: io.op,
            called: ns(called),
            submitted: ns(submitted),
            done: ns(done),
            seen: ns(now),
            spun: Duration::from_ns(spun),
        });
        self.unused.entry(io.flow.0).or_default().push(id);
        self.cpus[cpu].deciding = true;
        self.deciding.push(cpu);
    }
}
