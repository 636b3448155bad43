//! When may garbage collection run?

mod first;
mod free;
mod semi_preemptive;
mod write_triggered;

pub use first::First;
pub use free::Free;
pub use semi_preemptive::SemiPreemptive;
pub use write_triggered::WriteTriggered;
