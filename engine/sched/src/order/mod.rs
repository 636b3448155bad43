//! Where in its chip's queue does a transaction stand?

pub(crate) mod fair;
mod known;
pub(crate) mod need;
mod shadow;
pub(crate) mod slack_bypass;
mod tail;

pub use fair::Fair;
pub use known::KnownResponses;
pub use need::Need;
pub use shadow::Shadow;
pub use slack_bypass::SlackBypass;
pub use tail::Tail;
