//! May the running program or erase be paused?

mod blind;
mod never;
mod proportional;

pub use blind::Blind;
pub use never::Never;
pub use proportional::Proportional;
