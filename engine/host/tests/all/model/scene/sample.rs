//! Random scenes: small hosts and devices with round times, so that instants coincide, and with odd ones, so that rounding shows.

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Geometry, Op};
use flashlane_host::{Background, Completion, Config, Costs, Fairness, Predictor, Waiting, WindowChoice, Work};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::device::{Fate, Tables, geometry};
use super::{Application, Scene};

/// A stream of random numbers.
pub struct Sampler(Pcg64Mcg);

impl Sampler {
    pub fn new(seed: u64) -> Sampler {
        let mut rng = Pcg64Mcg::new(u128::from(seed) << 64 | 0x1234_5677);
        rng.next_u64();
        Sampler(rng)
    }

    /// 0 to `most`.
    fn upto(&mut self, most: u64) -> u64 {
        self.0.next_u64() % (most + 1)
    }

    fn chance(&mut self, of_hundred: u64) -> bool {
        self.upto(99) < of_hundred
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.upto(of.len() as u64 - 1) as usize]
    }

    fn table<T>(&mut self, most: u64, mut item: impl FnMut(&mut Sampler) -> T) -> Vec<T> {
        (0..=self.upto(most - 1)).map(|_| item(self)).collect()
    }

    /// A time up to `most` microseconds: whole ones or not.
    fn time(&mut self, most: u64) -> u64 {
        if self.chance(60) { self.upto(most) * 1_000 } else { self.upto(most * 1_000) }
    }

    /// A time that is often none.
    fn maybe(&mut self, most: u64) -> u64 {
        if self.chance(35) { 0 } else { self.time(most) }
    }

    fn duration(&mut self, most: u64) -> Duration {
        Duration::from_ns(self.maybe(most))
    }

    fn nice(&mut self) -> i8 {
        if self.chance(50) { 0 } else { self.one_of(&[-20, -7, -2, -1, 1, 2, 5, 12, 19]) }
    }
}

fn waiting(sampler: &mut Sampler) -> Waiting {
    let window = match sampler.upto(3) {
        0 => WindowChoice::Adaptive,
        _ => WindowChoice::Fixed(Duration::from_ns(sampler.maybe(60))),
    };
    let predictor = sampler.one_of(&[Predictor::AtIssue, Predictor::Staged]);
    let early = Completion::Precompletion { window, predictor };
    Waiting {
        completion: sampler.one_of(&[Completion::Irq, Completion::Poll, early, early, early]),
        buffer_hits: sampler.chance(40),
        read_hits: sampler.chance(40),
        read_hit_spin: sampler.duration(40),
        max_spin: sampler.chance(40).then(|| sampler.duration(40)),
        poll_interval: if sampler.chance(70) { Duration::ZERO } else { sampler.duration(5) },
        nice: sampler.nice(),
    }
}

fn background(sampler: &mut Sampler) -> Background {
    let section = Duration::from_ns(100 + sampler.time(20));
    let work = match sampler.upto(2) {
        0 => Work::Burn,
        1 => Work::Io { section, device: Duration::ZERO },
        _ => Work::Io { section, device: Duration::from_ns(1 + sampler.time(60)) },
    };
    Background { work, threads: sampler.one_of(&[1, 1, 2, 3]), nice: sampler.nice() }
}

fn host(sampler: &mut Sampler, geometry: Geometry) -> Config {
    let groups = sampler.one_of(&[0, 1, 1, 2, 3]);
    Config {
        cpus: sampler.one_of(&[1, 1, 2, 3]),
        waiting: waiting(sampler),
        costs: Costs {
            irq: sampler.duration(5),
            wake: sampler.duration(5),
            switch: sampler.duration(6),
            submit: sampler.duration(12),
        },
        fairness: Fairness {
            period: Duration::from_ns(1 + sampler.time(300)),
            min_slice: Duration::from_ns(1_000 + sampler.time(60)),
            wakeup_granularity: sampler.duration(60),
        },
        background: (0..groups).map(|_| background(sampler)).collect(),
        geometry,
        buffer_pages: sampler.chance(80).then(|| 1 + sampler.upto(20) as u32),
        buffer_per_flow: sampler.chance(40),
    }
}

fn device(sampler: &mut Sampler, host: &Config) -> Tables {
    let noise = sampler.one_of(&[1, 1, 30]);
    let array = 1 + sampler.time(90);
    let memory = sampler.one_of(&[0, 0, 0, 30, 80]);
    let own = sampler.one_of(&[0, 0, 5, 40]);
    let pages = host.buffer_pages;
    Tables {
        geometry: host.geometry,
        array: sampler.table(7, |sampler| array + sampler.upto(noise) * sampler.one_of(&[1, 500, 1_000])),
        bytes: sampler.table(3, |sampler| 512 * sampler.one_of(&[8, 8, 8, 4, 24, 1])),
        sector: sampler.one_of(&[0, 100, 500, 1_537]),
        gap: sampler.one_of(&[0, 0, 700]),
        link: sampler.table(3, |sampler| if noise == 1 { 2_000 } else { sampler.maybe(4) }),
        fates: sampler.table(9, |sampler| {
            let other = [Fate::Memory, Fate::Memory, Fate::Late, Fate::Both];
            if sampler.chance(memory) { sampler.one_of(&other) } else { Fate::Flash }
        }),
        memory: sampler.maybe(20),
        free: sampler.table(5, |sampler| pages.map(|pages| sampler.upto(u64::from(pages)) as u32)),
        pairs: sampler.chance(30),
        own: {
            let mut own = sampler.table(1 + own, |sampler| {
                let op = sampler.one_of(&[FlashOp::Read, FlashOp::Program, FlashOp::Program, FlashOp::Erase]);
                (sampler.time(2_000), sampler.upto(7) as u16, op)
            });
            own.sort_by_key(|own| own.0);
            own
        },
    }
}

fn application(sampler: &mut Sampler) -> Application {
    let (writes, large, pages) =
        (sampler.one_of(&[0, 0, 30, 100]), sampler.one_of(&[0, 0, 30]), sampler.one_of(&[3, 40, 1_000]));
    let spread = sampler.one_of(&[0, 0, 50, 500]);
    let mut begins = sampler.table(6, |sampler| sampler.maybe(spread));
    begins.sort_unstable();
    Application {
        begins,
        think: sampler.table(4, |sampler| sampler.maybe(spread.max(20))),
        ios: sampler.table(20, |sampler| {
            let op = if sampler.chance(writes) { Op::Write } else { Op::Read };
            (op, sampler.upto(pages), if sampler.chance(large) { 1 + sampler.upto(4) as u32 } else { 1 })
        }),
    }
}

/// The scene of a seed.
pub fn scene(seed: u64) -> Scene {
    let mut sampler = Sampler::new(seed);
    let geometry = geometry(sampler.one_of(&[1, 1, 2]), sampler.one_of(&[1, 2, 3, 4]));
    let host = host(&mut sampler, geometry);
    host.check().unwrap_or_else(|error| panic!("only legal hosts are drawn: {error:?}"));
    let device = device(&mut sampler, &host);
    let applications = (0..=sampler.upto(2)).map(|_| application(&mut sampler)).collect();
    let count = sampler.one_of(&[5, 20, 60]);
    Scene { host, device, applications, count }
}
