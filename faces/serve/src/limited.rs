//! A client's socket with a deadline: reads and writes fail once it has passed, however slowly the client sends or takes bytes.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use rustix::fd::AsFd;
use rustix::net::sockopt::{Timeout, set_socket_timeout};

/// A socket, and its deadline.
#[derive(Debug)]
pub(crate) struct Limited<S> {
    pub(crate) stream: S,
    pub(crate) until: Instant,
}

impl<S: AsFd> Limited<S> {
    /// From now on for so long.
    pub(crate) fn new(stream: S, limit: Duration) -> Limited<S> {
        Limited { stream, until: Instant::now() + limit }
    }

    /// Waits of the system for the stream, one way, end in time.
    fn limit(&self, way: Timeout) -> io::Result<()> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(set_socket_timeout(&self.stream, way, Some(left.max(Duration::from_micros(1))))?)
    }
}

/// [`io::ErrorKind::TimedOut`] once time is over.
impl<S: AsFd + Read> Read for Limited<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.limit(Timeout::Recv)?;
            match self.stream.read(buffer) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(in_time),
            }
        }
    }
}

/// [`io::ErrorKind::TimedOut`] once time is over.
impl<S: AsFd + Write> Write for Limited<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.limit(Timeout::Send)?;
        self.stream.write(bytes).map_err(in_time)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The system says that a wait which ended would block.
fn in_time(why: io::Error) -> io::Error {
    if why.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// A client that sends a byte now and then does not extend the deadline, nor does one that does not read its answer.
    #[test]
    fn neither_way_lasts_longer_than_the_limit() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let began = Instant::now();
        let slow = std::thread::spawn(move || {
            while theirs.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut limited = Limited::new(&ours, Duration::from_millis(200));
        let why = io::copy(&mut limited, &mut io::sink()).expect_err("no end");
        assert_eq!(why.kind(), io::ErrorKind::TimedOut);
        let mut limited = Limited::new(&ours, Duration::from_millis(200));
        let why = limited.write_all(&vec![0; 64 << 20]).expect_err("nobody reads");
        assert_eq!(why.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= Duration::from_millis(400));
        drop(ours);
        slow.join().expect("ends with the stream");
    }
}
