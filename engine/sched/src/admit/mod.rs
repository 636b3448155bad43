//! Which command enters the device next?

pub(crate) mod budget;
pub(crate) mod ncq;
pub(crate) mod round_robin;
#[cfg(test)]
mod testing;
pub(crate) mod weighted;
