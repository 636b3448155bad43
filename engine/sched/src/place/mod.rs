//! Which chip does a write go to?

pub(crate) mod dynamic;
mod home;
pub(crate) mod late;
pub(crate) mod rebalance;
mod rotate;

pub use dynamic::Dynamic;
pub use home::Home;
pub use late::Late;
pub use rebalance::Rebalance;
pub use rotate::Rotate;
