//! A synthetic workload in a few words, and its properties that results report.

use super::source::ns;
use super::spec::{Access, Arrivals, Size, SyntheticSpec};

impl SyntheticSpec {
    /// Whether its next request may depend on a completion.
    pub fn is_closed_loop(&self) -> bool {
        self.arrivals == Arrivals::ClosedLoop
    }

    /// Requests it keeps in flight, if it is a closed loop.
    pub fn closed_depth(&self) -> Option<u32> {
        self.is_closed_loop().then_some(self.depth.unwrap_or(1))
    }

    /// Whether it is a closed loop that sends a request at the instant at which one ends, however many there are.
    pub(crate) fn follows_at_once(&self) -> bool {
        self.is_closed_loop() && self.requests.is_none() && ns(self.think_us.unwrap_or(0.0)) == 0
    }

    /// Whether each request starts where the previous one ended.
    pub fn is_streaming(&self) -> bool {
        self.access == Access::Streaming
    }

    /// The workload in a few words, for tables: `70 % reads, random, 4096 B, poisson 2000 IOPS`.
    pub fn describe(&self) -> String {
        let reads = self.read_ratio.map_or_else(String::new, |ratio| format!("{} % reads, ", ratio * 100.0));
        let access = keyword(&self.access);
        let size = match &self.size {
            Size::Constant(bytes) => format!("{bytes} B"),
            Size::Uniform(_) => "uniform sizes".to_owned(),
            Size::Lognormal(_) => "lognormal sizes".to_owned(),
            Size::Mix(_) => "mixed sizes".to_owned(),
        };
        let rate = match (self.rate_iops, self.rate_mb_per_s, self.closed_depth()) {
            (_, _, Some(depth)) => format!(" {depth} deep"),
            (Some(iops), _, _) => format!(" {iops} IOPS"),
            (_, Some(rate), _) => format!(" {rate} MB/s"),
            _ => String::new(),
        };
        format!("{reads}{access}, {size}, {}{rate}{}", keyword(&self.arrivals), self.commands())
    }

    /// The requests beside plain reads and writes in a few words, each after a comma.
    fn commands(&self) -> String {
        let share = |share: Option<f64>, what: &str| {
            share.filter(|share| *share > 0.0).map(|share| format!(", {} % {what}", share * 100.0))
        };
        [
            share(self.trim_ratio, "trims"),
            share(self.fua_ratio, "of writes with FUA"),
            self.flush_every_writes.map(|writes| format!(", a flush every {writes} writes")),
            self.flush_every_ms.map(|ms| format!(", a flush every {ms} ms")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The spelling of a keyword in a scenario.
fn keyword<T: serde::Serialize>(word: &T) -> String {
    serde_json::to_value(word).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
