//! What a run is made of: schedulers and their decisions, what changes during it, the state in which its drive starts.

pub(crate) mod changes;
pub(crate) mod decisions;
pub(crate) mod recipes;
pub(crate) mod state_file;
pub(crate) mod states;
pub(crate) mod used;
