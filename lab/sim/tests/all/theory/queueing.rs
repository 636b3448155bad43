//! Waiting times at one server with Poisson arrivals, in nanoseconds and arrivals per nanosecond.

/// A stream of jobs with Poisson arrivals, each with a service time of its own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stream {
    /// Arrivals a nanosecond.
    pub rate_per_ns: f64,
    /// Mean service time.
    pub service_ns: f64,
    /// Mean of the squared service time: the square of the mean if it is constant.
    pub service_squared_ns2: f64,
}

impl Stream {
    /// Jobs that all take `service_ns`.
    pub const fn constant(rate_per_ns: f64, service_ns: f64) -> Stream {
        Stream { rate_per_ns, service_ns, service_squared_ns2: service_ns * service_ns }
    }

    /// Share of the server's time the stream takes.
    pub const fn load(&self) -> f64 {
        self.rate_per_ns * self.service_ns
    }
}

/// Mean wait in an M/D/1 queue, service not counted: `rho s / (2 (1 - rho))`; `None` at a load of 1 or more.
///
/// Source: the Pollaczek-Khinchine formula for constant service; Kleinrock, Queueing Systems vol. 1 (1975), ch. 5.
pub fn md1_wait_ns(rate_per_ns: f64, service_ns: f64) -> Option<f64> {
    mg1_wait_ns(&Stream::constant(rate_per_ns, service_ns))
}

/// Mean wait in an M/G/1 queue, service not counted: `lambda E[S^2] / (2 (1 - rho))`; `None` at a load of 1 or more.
///
/// Source: Pollaczek (1930), Khinchine (1932); Kleinrock, Queueing Systems vol. 1 (1975), ch. 5. Any order of service
/// that does not depend on service times has this mean.
pub fn mg1_wait_ns(stream: &Stream) -> Option<f64> {
    let rho = stream.load();
    (rho < 1.0).then(|| stream.rate_per_ns * stream.service_squared_ns2 / (2.0 * (1.0 - rho)))
}

/// Mean wait of each class, first come first served within a class, when a free server always takes the first class
/// that waits and never interrupts a job: `W0 / ((1 - sigma_before) (1 - sigma_with))`, with `W0` the mean residual
/// work in service and `sigma` the load of the classes up to the one in question. `None` for classes that starve.
///
/// Read-first on one chip is two classes, reads then programs.
///
/// Source: Cobham, Priority assignment in waiting line problems, Operations Research 2 (1954); Kleinrock, Queueing
/// Systems vol. 2 (1976), ch. 3.
pub fn priority_waits_ns(classes: &[Stream]) -> Vec<Option<f64>> {
    let residual: f64 = classes.iter().map(|c| c.rate_per_ns * c.service_squared_ns2 / 2.0).sum();
    let total: f64 = classes.iter().map(Stream::load).sum();
    let mut before = 0.0;
    classes
        .iter()
        .map(|class| {
            let with = before + class.load();
            // Where lower classes starve the server is never idle, and the share of it that the last class served at
            // all gets no longer follows from the arrivals.
            let wait = (total < 1.0).then(|| residual / ((1.0 - before) * (1.0 - with)));
            before = with;
            wait
        })
        .collect()
}

/// Mean number of jobs present, by Little's law: arrivals a nanosecond times the mean time each is present.
///
/// Source: Little, A proof for the queuing formula L = lambda W, Operations Research 9 (1961).
pub fn little_jobs(rate_per_ns: f64, present_ns: f64) -> f64 {
    rate_per_ns * present_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;
    use rand_pcg::Pcg64Mcg;

    fn uniform(rng: &mut Pcg64Mcg) -> f64 {
        // In (0, 1]: its logarithm is finite.
        ((rng.next_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64
    }

    fn gap(rng: &mut Pcg64Mcg, rate: f64) -> f64 {
        -uniform(rng).ln() / rate
    }

    /// Lindley's recursion: a job waits for the work that its predecessor left, less the gap between them.
    fn simulated_wait(rate: f64, jobs: usize, mut service: impl FnMut(&mut Pcg64Mcg) -> f64) -> f64 {
        let mut rng = Pcg64Mcg::new(7);
        let (mut wait, mut sum) = (0.0f64, 0.0);
        for _ in 0..jobs {
            sum += wait;
            wait = (wait + service(&mut rng) - gap(&mut rng, rate)).max(0.0);
        }
        sum / jobs as f64
    }

    #[test]
    fn known_values() {
        // Half a service time at half load; no wait without load; no mean at full load.
        assert_eq!(md1_wait_ns(0.5, 1.0), Some(0.5));
        assert_eq!(md1_wait_ns(0.0, 1.0), Some(0.0));
        assert_eq!(md1_wait_ns(1.0, 1.0), None);
        // Exponential service doubles the wait: M/M/1 is rho s / (1 - rho).
        let exponential = Stream { rate_per_ns: 0.8, service_ns: 1.0, service_squared_ns2: 2.0 };
        assert!((mg1_wait_ns(&exponential).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(little_jobs(0.25, 8.0), 2.0);
    }

    #[test]
    fn waits_agree_with_simulation() {
        for load in [0.3, 0.6, 0.9] {
            let expected = md1_wait_ns(load, 1.0).unwrap();
            let measured = simulated_wait(load, 3_000_000, |_| 1.0);
            assert!((measured / expected - 1.0).abs() < 0.02, "M/D/1 at {load}: {measured} against {expected}");
        }
        // One job in four takes ten times as long: mean 3.25, mean square 25.75.
        let stream = Stream { rate_per_ns: 0.2, service_ns: 3.25, service_squared_ns2: 25.75 };
        let expected = mg1_wait_ns(&stream).unwrap();
        let measured = simulated_wait(0.2, 3_000_000, |rng| if rng.next_u64() >> 62 == 0 { 10.0 } else { 1.0 });
        assert!((measured / expected - 1.0).abs() < 0.02, "M/G/1: {measured} against {expected}");
    }

    /// Simulates two classes at one server, the first before the second, job by job.
    fn simulated_priority(classes: [Stream; 2], jobs: usize) -> [f64; 2] {
        let mut rng = Pcg64Mcg::new(11);
        let mut next = classes.map(|c| gap(&mut rng, c.rate_per_ns));
        let mut waiting: [std::collections::VecDeque<f64>; 2] = Default::default();
        let (mut free, mut sum, mut count) = (0.0f64, [0.0; 2], [0usize; 2]);
        while count[0] + count[1] < jobs {
            if waiting.iter().all(|line| line.is_empty()) {
                free = free.max(next[0].min(next[1]));
            }
            for class in 0..2 {
                while next[class] <= free {
                    waiting[class].push_back(next[class]);
                    next[class] += gap(&mut rng, classes[class].rate_per_ns);
                }
            }
            let class = usize::from(waiting[0].is_empty());
            let arrival = waiting[class].pop_front().unwrap();
            sum[class] += free - arrival;
            count[class] += 1;
            free += classes[class].service_ns;
        }
        [sum[0] / count[0] as f64, sum[1] / count[1] as f64]
    }

    #[test]
    fn priority_waits_agree_with_simulation() {
        // Reads of 1 take 30 % of the chip, programs of 13 take 40 %.
        let classes = [Stream::constant(0.3, 1.0), Stream::constant(0.4 / 13.0, 13.0)];
        let measured = simulated_priority(classes, 3_000_000);
        for (class, expected) in priority_waits_ns(&classes).into_iter().enumerate() {
            let expected = expected.unwrap();
            assert!((measured[class] / expected - 1.0).abs() < 0.02, "{class}: {} for {expected}", measured[class]);
        }
    }

    /// Kleinrock's conservation law: the order of service redistributes waiting time and does not change the work that
    /// waits.
    #[test]
    fn priority_conserves_waiting_work() {
        let classes = [Stream::constant(0.3, 1.0), Stream::constant(0.02, 13.0), Stream::constant(0.004, 50.0)];
        let all = Stream {
            rate_per_ns: classes.iter().map(|c| c.rate_per_ns).sum(),
            service_ns: classes.iter().map(Stream::load).sum::<f64>()
                / classes.iter().map(|c| c.rate_per_ns).sum::<f64>(),
            service_squared_ns2: classes.iter().map(|c| c.rate_per_ns * c.service_squared_ns2).sum::<f64>()
                / classes.iter().map(|c| c.rate_per_ns).sum::<f64>(),
        };
        let fifo = mg1_wait_ns(&all).unwrap() * all.load();
        let waits = priority_waits_ns(&classes);
        let sum: f64 = classes.iter().zip(&waits).map(|(c, w)| c.load() * w.unwrap()).sum();
        assert!((sum / fifo - 1.0).abs() < 1e-12, "{sum} {fifo}");
        assert!(waits[0] < waits[1] && waits[1] < waits[2]);
    }
}
