//! Outputs: files and folders that are written atomically, and never replace anything that is not ours.
//!
//! Owns how every file that a user keeps is written: under a temporary name beside its place, synced, and then given
//! its name in one step; the list of files in a results folder ([`MARKER`]); the removal of what runs left unfinished.
//! Promises that no file is deleted or replaced that flashlane did not write, unless the user forces a single file, and
//! that after a kill at any moment the earlier output or the new one is there, at the latest after the next run to the
//! same place. Must never know what is written.
//!
//! ```text
//! place                where a path leads
//! inputs               outputs that are inputs
//! listing              which files of a folder are ours
//! leftover             what a dead run left
//! temporary            a run's own temporary folder, locked
//! registry             what is unfinished in this process, for signals
//! exchange             taking the name
//! error                why an output could not be made
//! folder, file, store  what the rest of the crate uses
//! shown                text from outside, safe to print on a terminal
//! ```

mod error;
mod exchange;
mod file;
mod folder;
mod inputs;
mod leftover;
mod listing;
mod place;
mod registry;
pub mod shown;
mod store;
mod temporary;

#[cfg(all(test, unix))]
mod kill_tests;
#[cfg(all(test, unix))]
mod tests;

pub use error::{Cause, OutputError};
pub use file::{Existing, OutFile, Pending};
pub use folder::Folder;
pub use inputs::Inputs;
pub use leftover::abandon;
pub use listing::MARKER;
pub use place::{is_inside, same_place};
pub use store::{Claim, Entry, Results, State, Store};
