//! A client's connection: its socket, its conversation, what waits to be sent.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fd::{AsFd, BorrowedFd};

use crate::nbd::{Close, Command, Export, Session};

/// A connection gets no more commands while more bytes than this are under way for it: of commands, and of answers that it has not
/// taken. What is held is this, one command, and what was received in one go.
pub(crate) const MAX_HELD: usize = 32 << 20;

/// A socket of either kind.
#[derive(Debug)]
pub(crate) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Unix(socket) => socket.as_fd(),
            Socket::Tcp(socket) => socket.as_fd(),
        }
    }
}

impl Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => socket.read(bytes),
            Socket::Tcp(socket) => socket.read(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => socket.write(bytes),
            Socket::Tcp(socket) => socket.write(bytes),
        }
    }
}

/// A client.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) session: Session,
    /// Tells it from earlier ones of the same number.
    pub(crate) generation: u64,
    began: Instant,
    /// Bytes to be sent, from `sent` on.
    out: Vec<u8>,
    sent: usize,
    /// Commands of the client that have not been answered, and the bytes that they hold.
    pub(crate) under_way: usize,
    pub(crate) held: usize,
    /// Nothing more is read, and it is closed once everything is answered and sent.
    pub(crate) closing: bool,
    /// What the poll was last told to watch: reading, and writing.
    pub(crate) watched: (bool, bool),
}

impl Connection {
    /// With `is_refused` its client learns that it can open no export now.
    pub(crate) fn new(socket: Socket, exports: Arc<[Export]>, generation: u64, is_refused: bool) -> Connection {
        let mut out = Vec::new();
        let session = if is_refused { Session::refusing(exports, &mut out) } else { Session::new(exports, &mut out) };
        Connection {
            socket,
            session,
            generation,
            began: Instant::now(),
            out,
            sent: 0,
            under_way: 0,
            held: 0,
            closing: false,
            watched: (true, false),
        }
    }

    /// What is to be watched: whether it may send more commands, and whether something waits to be sent.
    pub(crate) fn wanted(&self) -> (bool, bool) {
        (!self.closing && self.held + self.unsent() <= MAX_HELD, self.unsent() > 0)
    }

    fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Takes what the client has sent, through `buffer`, and adds its commands; the reason if the client broke the protocol.
    pub(crate) fn receive(&mut self, buffer: &mut [u8], commands: &mut Vec<Command>) -> Option<&'static str> {
        match self.socket.read(buffer) {
            Ok(0) => {
                self.closing = true;
                None
            }
            Ok(count) => self.understand(&buffer[..count], commands),
            Err(why) if matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => None,
            Err(_) => {
                self.abandon();
                None
            }
        }
    }

    /// Adds the commands in what the client has sent, with `bytes` at the end, as many as may be under way.
    pub(crate) fn understand(&mut self, bytes: &[u8], commands: &mut Vec<Command>) -> Option<&'static str> {
        let budget = (MAX_HELD + 1).saturating_sub(self.held + self.unsent());
        let close = self.session.receive(bytes, budget, &mut self.out, commands).err()?;
        self.closing = true;
        match close {
            Close::Asked | Close::Full => None,
            Close::Broken(reason) => Some(reason),
        }
    }

    /// Whether commands wait that may be given to the drive now.
    pub(crate) fn is_resumable(&self) -> bool {
        self.session.is_paused() && self.wanted().0
    }

    /// What is sent next is added by `answer`.
    pub(crate) fn answer(&mut self, answer: impl FnOnce(&Session, &mut Vec<u8>)) {
        answer(&self.session, &mut self.out);
    }

    /// Sends as much as the socket takes.
    pub(crate) fn send(&mut self) {
        while self.unsent() > 0 {
            match self.socket.write(&self.out[self.sent..]) {
                Ok(0) => return self.abandon(),
                Ok(count) => self.sent += count,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return self.abandon(),
            }
        }
        if self.unsent() == 0 {
            // A large answer's memory is not kept for the small ones after it.
            if self.out.capacity() > 64 << 10 {
                self.out = Vec::new();
            }
            self.out.clear();
            self.sent = 0;
        } else if self.sent > self.out.len() / 2 {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// How much of `limit` its handshake may still take; `None` once an export is open, or the connection is being closed.
    pub(crate) fn handshake_left(&self, limit: Duration) -> Option<Duration> {
        let is_under_way = self.session.export().is_none() && !self.closing;
        is_under_way.then(|| limit.saturating_sub(self.began.elapsed()))
    }

    /// The client is gone: nothing more is sent.
    pub(crate) fn abandon(&mut self) {
        self.closing = true;
        self.out = Vec::new();
        self.sent = 0;
    }

    /// Whether nothing is left to be done for it.
    pub(crate) fn is_over(&self) -> bool {
        self.closing && self.under_way == 0 && self.unsent() == 0
    }
}
