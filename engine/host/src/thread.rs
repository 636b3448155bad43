//! Threads: what each does, and its share of its CPU.

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};

use crate::config::{Background, Work};
use crate::fair::weight;

/// A thread's index in the host's table.
pub(crate) type ThreadId = u32;
/// No thread.
pub(crate) const NO_THREAD: ThreadId = u32::MAX;

/// What a thread does when it has its CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// Nothing: a foreground thread between two I/Os, a background thread that waits for its device.
    Nothing,
    /// Burns CPU time for ever.
    Burn,
    /// Sections that cannot be preempted, back to back.
    Sections,
    /// The rest of a section that cannot be preempted; its device follows.
    Section(Duration),
    /// The rest of submitting its I/O.
    Submit(Duration),
    /// Looks whether its I/O is done: it has just been woken.
    CheckCompletion,
    /// Spins for its I/O; sleeps at the instant given.
    Spin(Time),
    /// Sleeps until its I/O wakes it.
    Sleep,
}

/// An I/O of a foreground thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub id: RequestId,
    pub op: Op,
    /// A read or a write without force unit access.
    pub plain: bool,
    /// First page.
    pub page: u64,
    pub pages: u32,
    /// When the thread asked for it.
    pub called: Time,
    /// When the device got it.
    pub submitted: Time,
    /// When its completion arrived; `NEVER` until then.
    pub done: Time,
    /// Pages counted off the buffer's free ones.
    pub reserved_pages: u32,
    /// Whether the device's memory was predicted to serve it.
    pub predicted_hit: bool,
    /// Whether a message or interrupt for it has come, after which its completion sends none.
    pub notified: bool,
    /// How long before the end it announced its message came; zero for an interrupt at its completion.
    pub lead: Duration,
    /// When its thread ran again after it had slept; `NEVER` until then.
    pub ran_at: Time,
    /// Time spent spinning.
    pub spun: Duration,
}

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread {
    pub cpu: u32,
    pub activity: Activity,
    /// Weight of its nice value; 1024 for 0.
    pub weight: u64,
    /// CPU time weighted by its weight.
    pub vruntime: u64,
    /// CPU time.
    pub ran: u64,
    /// Sections done, where they are counted one by one.
    pub operations: u64,
    /// Number of its group of background threads.
    pub group: Option<u32>,
    /// Length of its sections.
    pub section: Duration,
    /// How often it was given a CPU that another had, for sections back to back.
    pub resumed: u64,
    /// How far into a section it was when its CPU time was `.1`.
    pub position: (Duration, u64),
    /// Time of its own device.
    pub device: Duration,
    /// The flow it issues I/Os for.
    pub flow: FlowId,
    pub io: Option<Pending>,
}

impl Thread {
    /// It gets a CPU that another thread had. Sections back to back go on at a place within a section that steps through the
    /// section evenly, by the golden ratio: it would otherwise be locked to the foreground's I/Os (D-PRE-19).
    pub fn resume(&mut self) {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        if self.activity == Activity::Sections {
            self.resumed += 1;
            let share = u128::from(self.resumed.wrapping_mul(GOLDEN));
            let place = (share * u128::from(self.section.ns())) >> 64;
            self.position = (Duration::from_ns(place as u64), self.ran);
        }
    }

    /// CPU time until it can be preempted.
    pub fn until_preemptible(&self) -> Duration {
        match self.activity {
            Activity::Section(left) => left,
            Activity::Sections => {
                let (place, since) = self.position;
                let done = place.ns() + self.ran - since;
                Duration::from_ns(done.next_multiple_of(self.section.ns()) - done)
            }
            _ => Duration::ZERO,
        }
    }

    /// Whether its I/O is done and it has not seen it.
    #[inline]
    pub fn has_unseen(&self) -> bool {
        self.io.as_ref().is_some_and(|io| io.done != Time::NEVER)
    }

    /// Whether it has no use for a CPU.
    pub fn is_waiting(&self) -> bool {
        matches!(self.activity, Activity::Nothing | Activity::Sleep)
    }
}

/// A thread in the foreground that has no I/O.
pub(crate) fn foreground(cpu: u32, flow: FlowId, nice: i8) -> Thread {
    Thread {
        cpu,
        activity: Activity::Nothing,
        weight: weight(nice),
        vruntime: 0,
        ran: 0,
        operations: 0,
        group: None,
        section: Duration::ZERO,
        resumed: 0,
        position: (Duration::ZERO, 0),
        device: Duration::ZERO,
        flow,
        io: None,
    }
}

/// A thread of a group in the background.
pub(crate) fn background(cpu: u32, number: u32, group: Background) -> Thread {
    let (activity, section, device) = match group.work {
        Work::Burn => (Activity::Burn, Duration::ZERO, Duration::ZERO),
        Work::Io { section, device } if device == Duration::ZERO => (Activity::Sections, section, device),
        Work::Io { section, device } => (Activity::Section(section), section, device),
    };
    let thread = foreground(cpu, FlowId(0), group.nice);
    Thread { activity, group: Some(number), section, device, ..thread }
}
