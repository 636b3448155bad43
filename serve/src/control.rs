//! What others ask of a running server: figures, another scheduler, another priority.
//!
//! They are asked by threads of their own (`ctl`, `metrics`, the dashboard), which talk to the thread of the drive through a channel and
//! never touch the drive. Must never know how figures are shown.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use flashlane_outputs::shown;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;

use crate::listener::{SocketFile, bind_unix, reason};
use crate::snapshot::Snapshot;

/// How long a client of the control socket may take to send its command.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest line that it may send, bytes.
const LINE_BYTES: u64 = 4096;

/// The answer to a power cut.
pub(crate) const CUT: &str = "the power is cut";

/// The answer to a command: a text to show, or why not.
pub(crate) type Reply = Result<String, String>;

/// What is asked of the thread of the drive; each is answered once.
#[derive(Debug)]
pub(crate) enum ControlRequest {
    /// Its figures.
    Snapshot(Sender<Snapshot>),
    /// Another scheduler, by name.
    Scheduler(String, Sender<Reply>),
    /// The power is cut.
    PowerCut(Sender<Reply>),
    /// Another priority of a flow, by name.
    Priority(String, u8, Sender<Reply>),
}

/// Where the thread of the drive finds what is asked.
#[derive(Debug)]
pub(crate) struct Asks {
    list: Receiver<ControlRequest>,
    wakes: Arc<OwnedFd>,
}

/// Asks the thread of the drive.
#[derive(Clone, Debug)]
pub struct Asker {
    list: Sender<ControlRequest>,
    wakes: Arc<OwnedFd>,
}

/// Both ends.
pub(crate) fn pair() -> io::Result<(Asker, Asks)> {
    let wakes = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
    let (send, list) = channel();
    Ok((Asker { list: send, wakes: Arc::clone(&wakes) }, Asks { list, wakes }))
}

impl Asks {
    /// What becomes readable when something is asked.
    pub(crate) fn wakes(&self) -> &OwnedFd {
        &self.wakes
    }

    /// What has been asked since.
    pub(crate) fn take(&self) -> Vec<ControlRequest> {
        let _ = rustix::io::read(&*self.wakes, &mut [0; 8]);
        self.list.try_iter().collect()
    }
}

impl Asker {
    /// Asks, and waits for the answer; `None` if the server has ended.
    fn ask<T>(&self, ask: impl FnOnce(Sender<T>) -> ControlRequest) -> Option<T> {
        let (answer, answered) = channel();
        self.list.send(ask(answer)).ok()?;
        let _ = rustix::io::write(&*self.wakes, &1_u64.to_ne_bytes());
        answered.recv().ok()
    }

    /// The server's figures; `None` if it has ended.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.ask(ControlRequest::Snapshot)
    }

    /// Does what a line says.
    pub(crate) fn command(&self, line: &str) -> Reply {
        let ended = || Err("the server has ended".to_owned());
        // Names may have spaces.
        let (verb, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
        match (verb, rest.rsplit_once(' ')) {
            ("stats", None) => self.snapshot().map_or_else(ended, |snapshot| Ok(snapshot.table())),
            ("power-cut", None) => self.ask(ControlRequest::PowerCut).unwrap_or_else(ended),
            ("scheduler", _) => self.ask(|answer| ControlRequest::Scheduler(rest.into(), answer)).unwrap_or_else(ended),
            ("priority", Some((flow, priority))) => {
                let legal = |_| format!("priority {priority}: must be a whole number from 0 to 7");
                let priority = priority.parse().map_err(legal)?;
                self.ask(|answer| ControlRequest::Priority(flow.into(), priority, answer)).unwrap_or_else(ended)
            }
            _ => Err("must be `scheduler NAME`, `priority FLOW N`, `stats` or `power-cut`".into()),
        }
    }
}

/// Listens at `path`, for this user only, and answers one client after the other on a thread of its own.
///
/// # Errors
/// A path at which it cannot listen, by its name.
pub(crate) fn open(path: &Path, asker: Asker) -> Result<SocketFile, String> {
    let failed = |why: io::Error| format!("--ctl {}: cannot be listened at: {}", shown::path(path), reason(&why));
    let (listener, file) = bind_unix(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    let serve = move || serve(&listener, &asker);
    std::thread::Builder::new().name("control".into()).spawn(serve).map_err(failed)?;
    Ok(file)
}

fn serve(listener: &UnixListener, asker: &Asker) {
    for client in listener.incoming() {
        match client {
            // A client that has closed its connection gets no answer.
            Ok(client) => drop(answer(&client, asker)),
            // Out of descriptors, say: until others are closed.
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Answers a client: `ok` or `error`, a line end, and the text.
fn answer(client: &UnixStream, asker: &Asker) -> io::Result<()> {
    client.set_read_timeout(Some(TIMEOUT))?;
    client.set_write_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(client.take(LINE_BYTES)).read_line(&mut line)?;
    let (kind, text) = match asker.command(&line) {
        Ok(text) => ("ok", text),
        Err(text) => ("error", text),
    };
    (&mut &*client).write_all(format!("{kind}\n{text}\n").as_bytes())
}

/// Sends a command to the control socket at `path`; its answer.
///
/// # Errors
/// Nobody listens there, or the server refuses the command: why, in words.
pub fn send(path: &Path, command: &str) -> Result<String, String> {
    let failed =
        |why: io::Error| format!("{}: {why}; is a server running with --ctl and this path?", shown::path(path));
    let mut server = UnixStream::connect(path).map_err(failed)?;
    server.write_all(format!("{command}\n").as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    server.take(1 << 20).read_to_string(&mut answer).map_err(failed)?;
    match answer.trim_end().split_once('\n').unwrap_or((answer.trim_end(), "")) {
        ("ok", text) => Ok(text.to_owned()),
        ("error", text) => Err(text.to_owned()),
        // The server may be gone before it has answered.
        _ if command == "power-cut" => Ok(CUT.to_owned()),
        _ => Err(format!("{}: ended without an answer", shown::path(path))),
    }
}
