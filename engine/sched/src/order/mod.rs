//! Where in its chip's queue does a transaction stand?

pub(crate) mod fair;
mod known;
pub(crate) mod need;
mod shadow;
pub(crate) mod slack_bypass;
pub(crate) mod tail;

pub use known::KnownResponses;
pub use shadow::Shadow;
