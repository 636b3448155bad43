//! Is a waiting write superseded?

mod keep;
mod overwrite;

pub use keep::Keep;
pub use overwrite::Overwrite;
