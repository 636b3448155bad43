//! How other threads wake the thread of the drive: a file descriptor that it polls.

use std::io;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

/// A descriptor that becomes readable when a thread has something for that of the drive. Its copies are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Wakeup(Arc<OwnedFd>);

impl Wakeup {
    /// One that is not readable yet.
    ///
    /// # Errors
    /// There are no descriptors left.
    pub(crate) fn new() -> io::Result<Wakeup> {
        Ok(Wakeup(Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?)))
    }

    /// Makes it readable.
    pub(crate) fn notify(&self) {
        // It fails only with 2^64 notices that have not been cleared, and then it is readable already.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    /// Makes it unreadable until the next notice. What the notices were about is to be fetched after that.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&*self.0, &mut [0; 8]);
    }
}

impl AsFd for Wakeup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
