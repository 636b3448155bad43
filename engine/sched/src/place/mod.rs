//! Which chip does a write go to?

pub(crate) mod dynamic;
pub(crate) mod home;
pub(crate) mod late;
pub(crate) mod rebalance;
pub(crate) mod rotate;
