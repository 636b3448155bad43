//! What others ask of a running server: figures, another scheduler, another priority.
//!
//! Threads of their own (`ctl`, `metrics`, the dashboard) ask for it: they send requests to the thread of the drive through a channel and
//! never touch the drive. Must never know how figures are shown.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use flashlane_outputs::shown;

use crate::listener::{SocketFile, answer_each, bind_unix, reason};
use crate::snapshot::Snapshot;
use crate::wakeup::Wakeup;

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

/// Where the thread of the drive finds requests.
#[derive(Debug)]
pub(crate) struct ControlQueue {
    requests: Receiver<ControlRequest>,
    wakeup: Wakeup,
}

/// Controls the server from another thread.
#[derive(Clone, Debug)]
pub struct ServerHandle {
    requests: Sender<ControlRequest>,
    wakeup: Wakeup,
}

/// Both ends.
pub(crate) fn control_channel() -> io::Result<(ServerHandle, ControlQueue)> {
    let wakeup = Wakeup::new()?;
    let (send, requests) = channel();
    Ok((ServerHandle { requests: send, wakeup: wakeup.clone() }, ControlQueue { requests, wakeup }))
}

impl ControlQueue {
    /// What becomes readable when there are requests.
    pub(crate) fn wakeup(&self) -> &Wakeup {
        &self.wakeup
    }

    /// The requests that have come since.
    pub(crate) fn take(&self) -> Vec<ControlRequest> {
        self.wakeup.clear();
        self.requests.try_iter().collect()
    }
}

impl ServerHandle {
    /// Sends a request, and waits for the answer; `None` if the server has ended.
    fn request<T>(&self, request: impl FnOnce(Sender<T>) -> ControlRequest) -> Option<T> {
        let (answer, answered) = channel();
        self.requests.send(request(answer)).ok()?;
        self.wakeup.notify();
        answered.recv().ok()
    }

    /// The server's figures; `None` if it has ended.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.request(ControlRequest::Snapshot)
    }

    /// Does what a line says.
    pub(crate) fn command(&self, line: &str) -> Reply {
        let ended = || Err("the server has ended".to_owned());
        // Names may have spaces.
        let (verb, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
        match (verb, rest.rsplit_once(' ')) {
            ("stats", None) => self.snapshot().map_or_else(ended, |snapshot| Ok(snapshot.table())),
            ("power-cut", None) => self.request(ControlRequest::PowerCut).unwrap_or_else(ended),
            ("scheduler", _) => {
                self.request(|answer| ControlRequest::Scheduler(rest.into(), answer)).unwrap_or_else(ended)
            }
            ("priority", Some((flow, priority))) => {
                let legal = |_| format!("priority {priority}: must be a whole number from 0 to 7");
                let priority = priority.parse().map_err(legal)?;
                self.request(|answer| ControlRequest::Priority(flow.into(), priority, answer)).unwrap_or_else(ended)
            }
            _ => Err("must be `scheduler NAME`, `priority FLOW N`, `stats` or `power-cut`".into()),
        }
    }
}

/// Listens at `path`, for this user only, and answers one client after the other on a thread of its own.
///
/// # Errors
/// A path at which it cannot listen, by its name.
pub(crate) fn open(path: &Path, handle: ServerHandle) -> Result<SocketFile, String> {
    let failed = |why: io::Error| format!("--ctl {}: cannot be listened at: {}", shown::path(path), reason(&why));
    let (listener, file) = bind_unix(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    let serve = move || answer_each(listener.incoming(), |client| answer(&client, &handle));
    std::thread::Builder::new().name("control".into()).spawn(serve).map_err(failed)?;
    Ok(file)
}

/// Answers a client: `ok` or `error`, a line end, and the text.
fn answer(client: &UnixStream, handle: &ServerHandle) -> io::Result<()> {
    client.set_read_timeout(Some(TIMEOUT))?;
    client.set_write_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(client.take(LINE_BYTES)).read_line(&mut line)?;
    let (kind, text) = match handle.command(&line) {
        Ok(text) => ("ok", text),
        Err(text) => ("error", text),
    };
    (&mut &*client).write_all(format!("{kind}\n{text}\n").as_bytes())
}

/// Sends a command to the control socket at `path`; its answer.
///
/// # Errors
/// Nobody listens there, the server refuses the command or does not answer for so long: why, in words.
pub fn send(path: &Path, command: &str, limit: Duration) -> Result<String, String> {
    let (answer, answered) = channel();
    let (socket, line) = (path.to_owned(), command.to_owned());
    // A connection to a server that is stopped, and has many of them, waits without limit: not even that is done on this thread.
    let exchange = std::thread::Builder::new().name("ctl".into()).spawn(move || answer.send(exchange(&socket, &line)));
    exchange.map_err(|why| format!("cannot start a thread: {why}"))?;
    answered.recv_timeout(limit).unwrap_or_else(|_| {
        Err(format!(
            "{}: no answer within {} s: the server is stopped, or its drive takes longer to drain; what was asked may still be done \
             (--timeout-s N waits longer)",
            shown::path(path),
            limit.as_secs_f64()
        ))
    })
}

/// Sends a command, and waits for the answer.
fn exchange(path: &Path, command: &str) -> Result<String, String> {
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
