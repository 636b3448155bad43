//! The chores as they are called.

#[cfg(unix)]
mod door;
#[cfg(target_os = "linux")]
mod setup;
