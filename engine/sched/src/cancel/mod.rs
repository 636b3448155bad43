//! Is a waiting write superseded?

pub(crate) mod keep;
pub(crate) mod overwrite;
