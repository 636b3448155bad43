//! Who makes runs: the preparation of a scenario, comparisons and their repetitions, and what is made of them.

pub(crate) mod arrivals;
pub(crate) mod attribute;
pub(crate) mod available;
pub(crate) mod ceiling;
pub(crate) mod compare;
pub(crate) mod deciding;
pub(crate) mod device;
pub(crate) mod explain;
pub(crate) mod further;
pub(crate) mod memory;
pub(crate) mod oracle;
pub(crate) mod prepare;
pub(crate) mod repeat;
