//! Which command enters the device next?

mod budget;
mod round_robin;
#[cfg(test)]
mod testing;
mod weighted;

pub use budget::Budget;
pub use round_robin::RoundRobin;
pub use weighted::Weighted;
