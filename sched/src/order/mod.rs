//! Where in its chip's queue does a transaction stand?

mod tail;

pub use tail::Tail;
