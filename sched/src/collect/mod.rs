//! When may garbage collection run?

mod first;
mod free;
mod paid_by_writes;
mod semi_preemptive;

pub use first::First;
pub use free::Free;
pub use paid_by_writes::PaidByWrites;
pub use semi_preemptive::SemiPreemptive;
