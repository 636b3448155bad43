//! The chores as they are called.

#[cfg(unix)]
mod bad_arguments;
#[cfg(target_os = "linux")]
mod setup;
