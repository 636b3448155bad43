//! May the running program or erase be paused?

pub(crate) mod blind;
pub(crate) mod by_slack;
pub(crate) mod never;
pub(crate) mod proportional;
pub(crate) mod worth;
