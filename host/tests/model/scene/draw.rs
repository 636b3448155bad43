//! Draws scenes: small hosts and devices with round times, so that instants coincide, and with crooked ones, so that rounding shows.

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Geometry, Op};
use flashlane_host::{Background, Completion, Config, Costs, Fairness, Predictor, Waiting, WindowChoice, Work};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::device::{Fate, Tables, geometry};
use super::{Application, Scene};

/// A stream of random numbers.
pub struct Draw(Pcg64Mcg);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        let mut rng = Pcg64Mcg::new(u128::from(seed) << 64 | 0x1234_5677);
        rng.next_u64();
        Draw(rng)
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

    fn table<T>(&mut self, most: u64, mut draw: impl FnMut(&mut Draw) -> T) -> Vec<T> {
        (0..=self.upto(most - 1)).map(|_| draw(self)).collect()
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

fn waiting(draw: &mut Draw) -> Waiting {
    let window = match draw.upto(3) {
        0 => WindowChoice::Adaptive,
        _ => WindowChoice::Fixed(Duration::from_ns(draw.maybe(60))),
    };
    let predictor = draw.one_of(&[Predictor::AtIssue, Predictor::Staged]);
    let early = Completion::Precompletion { window, predictor };
    Waiting {
        completion: draw.one_of(&[Completion::Irq, Completion::Poll, early, early, early]),
        buffer_hits: draw.chance(40),
        read_hits: draw.chance(40),
        read_hit_spin: draw.duration(40),
        max_spin: draw.chance(40).then(|| draw.duration(40)),
        poll_interval: if draw.chance(70) { Duration::ZERO } else { draw.duration(5) },
        nice: draw.nice(),
    }
}

fn background(draw: &mut Draw) -> Background {
    let section = Duration::from_ns(100 + draw.time(20));
    let work = match draw.upto(2) {
        0 => Work::Burn,
        1 => Work::Io { section, device: Duration::ZERO },
        _ => Work::Io { section, device: Duration::from_ns(1 + draw.time(60)) },
    };
    Background { work, threads: draw.one_of(&[1, 1, 2, 3]), nice: draw.nice() }
}

fn host(draw: &mut Draw, geometry: Geometry) -> Config {
    let groups = draw.one_of(&[0, 1, 1, 2, 3]);
    Config {
        cpus: draw.one_of(&[1, 1, 2, 3]),
        waiting: waiting(draw),
        costs: Costs {
            irq: draw.duration(5),
            wake: draw.duration(5),
            switch: draw.duration(6),
            submit: draw.duration(12),
        },
        fairness: Fairness {
            period: Duration::from_ns(1 + draw.time(300)),
            min_slice: Duration::from_ns(1_000 + draw.time(60)),
            wakeup_granularity: draw.duration(60),
        },
        background: (0..groups).map(|_| background(draw)).collect(),
        geometry,
        buffer_pages: draw.chance(80).then(|| 1 + draw.upto(20) as u32),
        buffer_per_flow: draw.chance(40),
    }
}

fn device(draw: &mut Draw, host: &Config) -> Tables {
    let noise = draw.one_of(&[1, 1, 30]);
    let array = 1 + draw.time(90);
    let memory = draw.one_of(&[0, 0, 0, 30, 80]);
    let own = draw.one_of(&[0, 0, 5, 40]);
    let pages = host.buffer_pages;
    Tables {
        geometry: host.geometry,
        array: draw.table(7, |draw| array + draw.upto(noise) * draw.one_of(&[1, 500, 1_000])),
        bytes: draw.table(3, |draw| 512 * draw.one_of(&[8, 8, 8, 4, 24, 1])),
        sector: draw.one_of(&[0, 100, 500, 1_537]),
        gap: draw.one_of(&[0, 0, 700]),
        link: draw.table(3, |draw| if noise == 1 { 2_000 } else { draw.maybe(4) }),
        fates: draw.table(9, |draw| {
            let other = [Fate::Memory, Fate::Memory, Fate::Late, Fate::Both];
            if draw.chance(memory) { draw.one_of(&other) } else { Fate::Flash }
        }),
        memory: draw.maybe(20),
        free: draw.table(5, |draw| pages.map(|pages| draw.upto(u64::from(pages)) as u32)),
        pairs: draw.chance(30),
        own: {
            let mut own = draw.table(1 + own, |draw| {
                let op = draw.one_of(&[FlashOp::Read, FlashOp::Program, FlashOp::Program, FlashOp::Erase]);
                (draw.time(2_000), draw.upto(7) as u16, op)
            });
            own.sort_by_key(|own| own.0);
            own
        },
    }
}

fn application(draw: &mut Draw) -> Application {
    let (writes, large, pages) =
        (draw.one_of(&[0, 0, 30, 100]), draw.one_of(&[0, 0, 30]), draw.one_of(&[3, 40, 1_000]));
    let spread = draw.one_of(&[0, 0, 50, 500]);
    let mut begins = draw.table(6, |draw| draw.maybe(spread));
    begins.sort_unstable();
    Application {
        begins,
        think: draw.table(4, |draw| draw.maybe(spread.max(20))),
        ios: draw.table(20, |draw| {
            let op = if draw.chance(writes) { Op::Write } else { Op::Read };
            (op, draw.upto(pages), if draw.chance(large) { 1 + draw.upto(4) as u32 } else { 1 })
        }),
    }
}

/// The scene of a seed.
pub fn scene(seed: u64) -> Scene {
    let mut draw = Draw::new(seed);
    let geometry = geometry(draw.one_of(&[1, 1, 2]), draw.one_of(&[1, 2, 3, 4]));
    let host = host(&mut draw, geometry);
    host.check().unwrap_or_else(|error| panic!("only legal hosts are drawn: {error:?}"));
    let device = device(&mut draw, &host);
    let applications = (0..=draw.upto(2)).map(|_| application(&mut draw)).collect();
    let count = draw.one_of(&[5, 20, 60]);
    Scene { host, device, applications, count }
}
