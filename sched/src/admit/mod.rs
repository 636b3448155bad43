//! Which command enters the device next?

mod round_robin;
mod weighted;

pub use round_robin::RoundRobin;
pub use weighted::Weighted;
