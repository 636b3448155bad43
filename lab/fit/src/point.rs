//! What was measured: a job that ran, in one form whatever file told of it.

/// Whether a job reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Reads only.
    Reads,
    /// Writes only.
    Writes,
    /// Both.
    Mixed,
}

/// Where a job's requests go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Access {
    /// Anywhere alike.
    Random,
    /// By Zipf's law with this exponent.
    Zipf(f64),
    /// One after the other, or a pattern that no flow of a scenario has.
    Other,
}

/// Writes beside a job's requests, all together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writers {
    /// So many a second.
    Rate(u32),
    /// As many as there can be.
    Most,
}

impl Writers {
    /// The rate, if there is one.
    pub fn rate(self) -> Option<u32> {
        match self {
            Writers::Rate(rate) => Some(rate),
            Writers::Most => None,
        }
    }
}

/// Rate and times of requests of one kind, as a drive or the model has them.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    /// Requests a second.
    pub iops: f64,
    /// Mean response time, us.
    pub mean_us: f64,
    /// Response times by rank in millionths, us.
    pub quantiles: Vec<(u32, f64)>,
}

fn at_rank(quantiles: &[(u32, f64)], millionths: u32) -> Option<f64> {
    quantiles.iter().find(|&&(rank, _)| rank == millionths).map(|&(_, us)| us)
}

impl Figures {
    /// The response time of rank `millionths`, us.
    pub fn exactly(&self, millionths: u32) -> Option<f64> {
        at_rank(&self.quantiles, millionths)
    }
}

/// One job: how it ran, and the times and the rate that it saw. Of a job that reads and writes, those of its reads.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The file.
    pub file: String,
    /// The job's name.
    pub name: String,
    /// Whether it reads.
    pub kind: Kind,
    /// Where its requests go.
    pub access: Access,
    /// Bytes of a request.
    pub bytes: u64,
    /// Requests outstanding, of all threads together.
    pub depth: u32,
    /// Threads that share them.
    pub threads: u32,
    /// Bytes of the part of the drive, where the job says so.
    pub span: Option<u64>,
    /// What was read or written, in words, if its name says that it is no drive.
    pub no_drive: Option<String>,
    /// What the job has besides that a closed loop of random requests has not, in words.
    pub apart: Option<String>,
    /// Requests a second.
    pub iops: f64,
    /// Mean completion latency, us.
    pub mean_us: f64,
    /// Latencies by rank in millionths, us, in ascending order of both.
    pub quantiles: Vec<(u32, f64)>,
    /// Rate and times of the writes of a job that reads and writes.
    pub writes: Option<Figures>,
    /// What a table says of the writes beside a job that reads and writes.
    pub beside: Option<Writers>,
    /// Whether the job went on until its rate was steady, if it was to.
    pub is_steady: Option<bool>,
    /// Processor time of each thread, percent of a core, where it is known.
    pub core_percent: Option<f64>,
}

impl Point {
    /// The job in the time of a drive that was served `scale` times as slowly.
    #[must_use]
    pub fn at_scale(mut self, scale: f64) -> Point {
        self.iops *= scale;
        self.mean_us /= scale;
        self.quantiles.iter_mut().for_each(|(_, us)| *us /= scale);
        self
    }

    /// The latency of rank `millionths`, us, between the two that were measured on both sides of it; `None` beyond them.
    pub fn quantile(&self, millionths: u32) -> Option<f64> {
        let above = self.quantiles.iter().position(|&(rank, _)| rank >= millionths)?;
        let (rank, high) = self.quantiles[above];
        if rank == millionths {
            return Some(high);
        }
        let (below, low) = *self.quantiles.get(above.checked_sub(1)?)?;
        Some(low + (high - low) * f64::from(millionths - below) / f64::from(rank - below))
    }

    /// The latency of exactly this rank, us.
    pub fn exactly(&self, millionths: u32) -> Option<f64> {
        at_rank(&self.quantiles, millionths)
    }

    /// Its rate and times.
    pub fn figures(&self) -> Figures {
        Figures { iops: self.iops, mean_us: self.mean_us, quantiles: self.quantiles.clone() }
    }

    /// Whether the other is the same job, run at another time.
    pub fn repeats(&self, other: &Point) -> bool {
        let job = |p: &Point| (p.kind, p.access, p.bytes, p.depth, p.threads, p.span, p.apart.clone());
        job(self) == job(other)
    }

    /// Whether a closed loop of random reads in a scenario is this job.
    pub fn is_of_random_reads(&self) -> bool {
        self.kind == Kind::Reads && self.access != Access::Other && self.apart.is_none()
    }

    /// What it does, in words.
    pub fn load(&self) -> String {
        let size = if self.bytes.is_multiple_of(1_024) {
            format!("{} KiB", self.bytes / 1_024)
        } else {
            format!("{} B", self.bytes)
        };
        let skew = match self.access {
            Access::Zipf(theta) => format!(", zipf {theta}"),
            _ => String::new(),
        };
        format!("{size}, depth {}{skew}", self.depth)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Reads of 4 KiB at a depth.
    pub fn point(depth: u32, mean_us: f64, quantiles: &[(u32, f64)]) -> Point {
        Point {
            file: "a file".into(),
            name: format!("depth-{depth}"),
            kind: Kind::Reads,
            access: Access::Random,
            bytes: 4_096,
            depth,
            threads: 1,
            span: None,
            no_drive: None,
            apart: None,
            iops: 1e6 * f64::from(depth) / mean_us,
            mean_us,
            quantiles: quantiles.to_vec(),
            writes: None,
            beside: None,
            is_steady: None,
            core_percent: None,
        }
    }

    #[test]
    fn a_scale_of_time_divides_times_and_leaves_the_requests_in_flight() {
        let slow = point(8, 1_200.0, &[(500_000, 1_000.0), (990_000, 4_000.0)]);
        let scaled = slow.clone().at_scale(20.0);
        assert_eq!((scaled.mean_us, &scaled.quantiles[..]), (60.0, &[(500_000, 50.0), (990_000, 200.0)][..]));
        assert!((scaled.iops * scaled.mean_us - slow.iops * slow.mean_us).abs() < 1e-6);
    }

    #[test]
    fn quantiles_between_are_between_and_none_is_beyond() {
        let point = point(1, 60.0, &[(100_000, 50.0), (500_000, 60.0), (900_000, 80.0)]);
        assert_eq!([100_000, 300_000, 800_000].map(|rank| point.quantile(rank)), [50.0, 55.0, 75.0].map(Some));
        assert_eq!([99_999, 900_001].map(|rank| point.quantile(rank)), [None; 2]);
        assert_eq!([point.exactly(500_000), point.exactly(300_000)], [Some(60.0), None]);
    }
}
