//! Which command enters the device next?

mod budget;
mod choices;
mod ncq;
mod round_robin;
#[cfg(test)]
mod testing;
mod weighted;

pub use budget::Budget;
pub(crate) use choices::ADMIT;
pub use ncq::{Oldest, Shortest};
pub use round_robin::RoundRobin;
pub use weighted::Weighted;
