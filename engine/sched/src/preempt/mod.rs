//! May the running program or erase be paused?

mod blind;
mod by_slack;
mod never;
mod proportional;
pub(crate) mod worth;

pub use blind::Blind;
pub use by_slack::BySlack;
pub use never::Never;
pub use proportional::Proportional;
pub use worth::Worth;
