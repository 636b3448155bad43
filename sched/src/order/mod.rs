//! Where in its chip's queue does a transaction stand?

pub(crate) mod fair;
mod tail;

pub use fair::Fair;
pub use tail::Tail;
