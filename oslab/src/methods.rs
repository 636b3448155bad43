//! The ways of waiting, what runs beside them, and how both are measured.

/// A way of waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Sleeps until woken at the completion.
    Sleep,
    /// Spins.
    Spin,
    /// Spins at a raised priority.
    SpinRaised,
    /// Sleeps until woken early: a number of microseconds, or as the delays seen suggest.
    Precompletion(Option<u32>),
}

impl Method {
    /// Its name in tables and files.
    pub fn name(self) -> String {
        match self {
            Method::Sleep => "irq".into(),
            Method::Spin => "poll".into(),
            Method::SpinRaised => "poll-prio".into(),
            Method::Precompletion(Some(us)) => format!("pre{us}"),
            Method::Precompletion(None) => "pre-adaptive".into(),
        }
    }

    /// Every way but sleeping, to which the others are compared.
    pub fn others() -> Vec<Method> {
        let windows = [8, 16, 32, 64].map(Some);
        let early = windows.into_iter().chain([None]).map(Method::Precompletion);
        [Method::Spin, Method::SpinRaised].into_iter().chain(early).collect()
    }
}

/// What runs beside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Background {
    /// Nothing.
    Idle,
    /// Threads that burn CPU time.
    Cpu,
    /// Threads that read and write a file of their own.
    Io,
}

impl Background {
    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Background::Idle => "idle",
            Background::Cpu => "cpu",
            Background::Io => "io",
        }
    }
}

/// How it is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// For how long in all, seconds, about.
    pub seconds: u32,
    /// Length of a slot, ms.
    pub slot_ms: u32,
    /// Background threads.
    pub threads: u32,
    /// Percent of the I/Os that are writes.
    pub write_percent: u32,
    /// Name of the device's preset.
    pub device: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { seconds: 40, slot_ms: 120, threads: 4, write_percent: 10, device: "cosmos-openssd".into() }
    }
}

impl Settings {
    /// Checks every value.
    ///
    /// # Errors
    /// The option, its value, and what would be legal.
    pub fn check(&self) -> Result<(), String> {
        for (option, value, low, high) in [
            ("--seconds", self.seconds, 1, 3_600),
            ("--slot-ms", self.slot_ms, 20, 10_000),
            ("--threads", self.threads, 1, 64),
            ("--write-percent", self.write_percent, 0, 100),
        ] {
            if !(low..=high).contains(&value) {
                return Err(format!("{option} {value}: must be {low} to {high}"));
            }
        }
        Ok(())
    }
}
