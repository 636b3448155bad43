//! May the running program or erase be paused?

mod blind;
mod never;

pub use blind::Blind;
pub use never::Never;
