//! May the running program or erase be paused?

mod blind;
mod by_slack;
mod never;

pub use blind::Blind;
pub use by_slack::BySlack;
pub use never::Never;
