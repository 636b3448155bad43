//! Where in its chip's queue does a transaction stand?

mod known;
mod shadow;
pub(crate) mod slack_bypass;
mod tail;

pub use known::Responses;
pub use shadow::Shadow;
pub use slack_bypass::SlackBypass;
pub use tail::Tail;
