//! One CPU (model 3.1.6): what happens on it next, and what it does then.

use super::{Doing, Mode, NEVER, Plain};

/// 1,024 at nice 0, a quarter more for each step below and a fifth less for each above, to the nearest.
pub fn weight(nice: i8) -> u64 {
    let (mut value, mut over) = (1024u128, 1u128);
    for _ in 0..nice.unsigned_abs() {
        (value, over) = if nice < 0 { (value * 5, over * 4) } else { (value * 4, over * 5) };
    }
    ((value + over / 2) / over) as u64
}

/// CPU time as a thread of this weight is charged for it, rounded down.
fn weighted(time: u64, weight: u64) -> u64 {
    (u128::from(time) * 1024 / u128::from(weight)) as u64
}

impl Plain {
    /// When something happens on a CPU next. While its thread decides, only alarms do.
    pub(super) fn next_on(&self, cpu: usize) -> u64 {
        let state = &self.cpus[cpu];
        let alarm = state.alarms.iter().map(|&(at, _)| at).min().unwrap_or(NEVER);
        if state.deciding {
            return alarm;
        }
        let own = match (state.mode, state.has) {
            (Mode::Idle, _) => {
                if state.queue.is_empty() {
                    NEVER
                } else {
                    state.since
                }
            }
            (Mode::Interrupt(_, until) | Mode::Switch(until), _) => until,
            (Mode::Run, Some(thread)) => {
                let change = if state.preempt {
                    self.preemptible_in(thread)
                } else if state.queue.is_empty() {
                    NEVER
                } else {
                    self.slice(cpu).saturating_sub(self.threads[thread].ran - state.ran_when_chosen)
                };
                state.since.saturating_add(self.ends_in(cpu, thread).min(change))
            }
            (Mode::Run, None) => unreachable!("a thread runs"),
        };
        own.min(alarm)
    }

    /// CPU time until what the thread does is over.
    fn ends_in(&self, cpu: usize, thread: usize) -> u64 {
        match self.threads[thread].doing {
            Doing::Section(left) | Doing::Submit(left) => left,
            Doing::Spin(Some(until)) => until.saturating_sub(self.cpus[cpu].since),
            _ => NEVER,
        }
    }

    /// CPU time until the thread can be preempted.
    fn preemptible_in(&self, thread: usize) -> u64 {
        let thread = &self.threads[thread];
        match thread.doing {
            Doing::Section(left) => left,
            Doing::Sections(length) => {
                let into = (thread.place + thread.ran - thread.ran_then) % length;
                if into == 0 { 0 } else { length - into }
            }
            _ => 0,
        }
    }

    /// The slice of the thread that has the CPU: its share, by weight, of a period that has a shortest slice for each at least.
    fn slice(&self, cpu: usize) -> u64 {
        let (state, fairness) = (&self.cpus[cpu], &self.config.fairness);
        let own = self.threads[state.has.expect("it runs")].weight;
        let all = own + state.queue.iter().map(|&id| self.threads[id].weight).sum::<u64>();
        let shortest = fairness.min_slice.ns();
        let period = fairness.period.ns().max(shortest * (state.queue.len() as u64 + 1));
        ((u128::from(period) * u128::from(own) / u128::from(all)) as u64).max(shortest)
    }

    /// Everything that happens on a CPU up to `now`.
    pub(super) fn run_cpu(&mut self, cpu: usize, now: u64) {
        while self.next_on(cpu) <= now {
            self.step(cpu, self.next_on(cpu));
        }
    }

    /// What happens on a CPU at `now`: of one instant the alarms first.
    fn step(&mut self, cpu: usize, now: u64) {
        if let Some(&(at, thread)) = self.cpus[cpu].alarms.iter().min().filter(|&&(at, _)| at == now) {
            self.cpus[cpu].alarms.retain(|&alarm| alarm != (at, thread));
            self.threads[thread].doing = Doing::Section(self.threads[thread].section);
            self.interrupt_cpu(cpu, thread, now);
            return;
        }
        match self.cpus[cpu].mode {
            Mode::Idle => self.choose(cpu, true, now),
            Mode::Interrupt(woken, _) => {
                let state = &mut self.cpus[cpu];
                (state.since, state.mode) = (now, if state.has.is_some() { Mode::Run } else { Mode::Idle });
                self.enqueue(woken);
                if let Some(next) = self.cpus[cpu].interrupts.pop_front() {
                    self.serve(cpu, next, now);
                } else if let Some(thread) = self.cpus[cpu].has {
                    self.has_cpu(thread, now);
                } else {
                    self.choose(cpu, true, now);
                }
            }
            Mode::Switch(_) => {
                let thread = self.cpus[cpu].has.expect("switched to");
                (self.cpus[cpu].since, self.cpus[cpu].mode) = (now, Mode::Run);
                if let Some(next) = self.cpus[cpu].interrupts.pop_front() {
                    self.serve(cpu, next, now);
                }
                self.has_cpu(thread, now);
            }
            Mode::Run => self.step_running(cpu, now),
        }
    }

    /// Work that is over comes before the end of a slice, which comes at the next place at which the thread can be preempted.
    fn step_running(&mut self, cpu: usize, now: u64) {
        self.charge(cpu, now);
        let thread = self.cpus[cpu].has.expect("it runs");
        if self.ends_in(cpu, thread) == 0 {
            return self.work_over(thread, now);
        }
        let had = self.threads[thread].ran - self.cpus[cpu].ran_when_chosen;
        if !self.cpus[cpu].queue.is_empty() && had >= self.slice(cpu) {
            self.cpus[cpu].preempt = true;
        }
        if self.cpus[cpu].preempt && self.preemptible_in(thread) == 0 {
            self.choose(cpu, true, now);
        }
    }

    /// Charges the running thread.
    pub(super) fn charge(&mut self, cpu: usize, now: u64) {
        let state = &mut self.cpus[cpu];
        let time = now - state.since;
        state.since = now;
        if let (Mode::Run, Some(id)) = (state.mode, state.has) {
            let thread = &mut self.threads[id];
            thread.ran += time;
            thread.weighted += weighted(time, thread.weight);
            match (&mut thread.doing, &mut thread.wait) {
                (Doing::Section(left) | Doing::Submit(left), _) => *left -= time,
                (Doing::Spin(_), Some(wait)) => wait.spun += time,
                _ => {}
            }
        }
        self.raise_floor(cpu);
    }

    /// The floor is the least that a runnable thread has had, and never falls.
    fn raise_floor(&mut self, cpu: usize) {
        let state = &mut self.cpus[cpu];
        let least = state.queue.iter().chain(&state.has).map(|&id| self.threads[id].weighted).min();
        state.floor = state.floor.max(least.unwrap_or(0));
    }

    /// A thread becomes runnable without an interrupt.
    pub(super) fn wake(&mut self, id: usize, now: u64) {
        self.charge(self.threads[id].cpu, now);
        self.enqueue(id);
    }

    /// A woken thread waits for the CPU, at most half a period behind; it preempts one that is too far ahead.
    fn enqueue(&mut self, id: usize) {
        self.raise_floor(self.threads[id].cpu);
        let cpu = &mut self.cpus[self.threads[id].cpu];
        let behind = cpu.floor.saturating_sub(self.config.fairness.period.ns() / 2);
        let woken = &mut self.threads[id];
        woken.weighted = woken.weighted.max(behind);
        let (had, weight) = (woken.weighted, woken.weight);
        cpu.queue.push(id);
        if let Some(current) = cpu.has {
            let granularity = weighted(self.config.fairness.wakeup_granularity.ns(), weight);
            cpu.preempt |= self.threads[current].weighted > had + granularity;
        }
    }

    /// An interrupt that is to wake a thread: served at once, or after those before it and a switch under way.
    pub(super) fn interrupt_cpu(&mut self, cpu: usize, thread: usize, now: u64) {
        if let Mode::Interrupt(..) | Mode::Switch(_) = self.cpus[cpu].mode {
            self.cpus[cpu].interrupts.push_back(thread);
        } else {
            self.charge(cpu, now);
            self.serve(cpu, thread, now);
        }
    }

    fn serve(&mut self, cpu: usize, thread: usize, now: u64) {
        let cost = (self.config.costs.irq + self.config.costs.wake).ns();
        self.cpus[cpu].overhead += cost;
        self.cpus[cpu].mode = Mode::Interrupt(thread, now + cost);
    }

    /// The thread of a CPU gives it up, if it runs and has nothing to do with it. Switching away costs nothing.
    pub(super) fn give_up(&mut self, cpu: usize, now: u64) {
        let state = &self.cpus[cpu];
        if let (Mode::Run, Some(thread)) = (state.mode, state.has)
            && matches!(self.threads[thread].doing, Doing::Nothing | Doing::Sleep)
        {
            self.charge(cpu, now);
            self.cpus[cpu].has = None;
            self.choose(cpu, false, now);
        }
    }

    /// The thread that has had the least gets the CPU: of equals one of the foreground, then the one made first.
    fn choose(&mut self, cpu: usize, costs: bool, now: u64) {
        let switch = if costs { self.config.costs.switch.ns() } else { 0 };
        let state = &mut self.cpus[cpu];
        let before = state.has.take();
        (state.preempt, state.since) = (false, now);
        state.queue.extend(before);
        let threads = &self.threads;
        let order = |&&id: &&usize| (threads[id].weighted, threads[id].group.map_or(0, |group| group + 1), id);
        let Some(&next) = state.queue.iter().min_by_key(order) else {
            state.mode = Mode::Idle;
            return;
        };
        state.queue.retain(|&id| id != next);
        state.has = Some(next);
        state.floor = state.floor.max(threads[next].weighted);
        state.ran_when_chosen = threads[next].ran;
        let is_free = before == Some(next) || state.fresh || switch == 0;
        state.fresh = false;
        if before != Some(next) {
            self.resume_sections(next);
        }
        if is_free {
            self.cpus[cpu].mode = Mode::Run;
            self.has_cpu(next, now);
        } else {
            self.cpus[cpu].overhead += switch;
            self.cpus[cpu].mode = Mode::Switch(now + switch);
        }
    }

    /// Sections back to back go on at a place in a section that is a multiple of the golden ratio's fraction (D-PRE-19).
    fn resume_sections(&mut self, id: usize) {
        let thread = &mut self.threads[id];
        if let Doing::Sections(length) = thread.doing {
            thread.resumed += 1;
            // 2^64 / 1.618...: the fraction in 64 bits.
            let fraction = (u128::from(thread.resumed) * 11_400_714_819_323_198_485) % (1 << 64);
            thread.place = ((fraction * u128::from(length)) / (1 << 64)) as u64;
            thread.ran_then = thread.ran;
        }
    }
}
