//! Is a waiting write superseded?

mod keep;
pub(crate) mod overwrite;

pub use keep::Keep;
pub use overwrite::Overwrite;
