//! What others ask of a running server: figures, another scheduler, another priority.
//!
//! Threads of their own (`ctl`, `metrics`, the dashboard) ask for it: they send requests to the thread of the drive through a channel and
//! never touch the drive. Must never know how figures are shown.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use flashlane_outputs::shown;

use crate::control_line::{ControlCommand, LINE_BYTES};
use crate::limited::Limited;
use crate::listener::{SocketFile, answer_each, bind_unix, reason, too_many};
use crate::snapshot::Snapshot;
use crate::wakeup::Wakeup;

/// How long a client of the control socket may take to send its command, and to take the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How long the rest is taken of what a refused client sends, so that it sees why; and how long nothing more has to come before that.
const LEFT_OVER: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(100)];

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

    /// Does what the command says.
    fn answer(&self, command: ControlCommand) -> Reply {
        let ended = || Err("the server has ended".to_owned());
        match command {
            ControlCommand::Stats => self.snapshot().map_or_else(ended, |snapshot| Ok(snapshot.table())),
            ControlCommand::PowerCut => self.request(ControlRequest::PowerCut).unwrap_or_else(ended),
            ControlCommand::Scheduler(name) => {
                self.request(|answer| ControlRequest::Scheduler(name, answer)).unwrap_or_else(ended)
            }
            ControlCommand::Priority(flow, priority) => {
                self.request(|answer| ControlRequest::Priority(flow, priority, answer)).unwrap_or_else(ended)
            }
        }
    }
}

/// Listens at `path`, for this user only, and answers clients on threads of their own.
///
/// # Errors
/// A path at which it cannot listen, by its name.
pub(crate) fn open(path: &Path, handle: ServerHandle) -> Result<SocketFile, String> {
    let failed = |why: io::Error| format!("--ctl {}: cannot be listened at: {}", shown::path(path), reason(&why));
    let (listener, file) = bind_unix(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    let serve =
        move || answer_each(listener.incoming(), move |client| answer(&client, &handle), |client| refuse(&client));
    std::thread::Builder::new().name("control".into()).spawn(serve).map_err(failed)?;
    Ok(file)
}

/// Answers a client: `ok` or `error`, a line end, and the text.
fn answer(client: &UnixStream, handle: &ServerHandle) -> io::Result<()> {
    let command = ControlCommand::of(&line_of(client)?);
    let is_refused = command.is_err();
    let (kind, text) = match command.and_then(|command| handle.answer(command)) {
        Ok(text) => ("ok", text),
        Err(text) => ("error", text),
    };
    Limited::new(client, TIMEOUT).write_all(format!("{kind}\n{text}\n").as_bytes())?;
    if is_refused { take_rest(client) } else { Ok(()) }
}

/// Tells a client that too many others are being answered, without a wait for what it may send.
fn refuse(mut client: &UnixStream) -> io::Result<()> {
    client.set_nonblocking(true)?;
    let _ = client.read(&mut [0; LINE_BYTES]);
    client.write_all(format!("error\n{}", too_many()).as_bytes())
}

/// What a client has sent: all until its first line ends, and what has come with that line; at most a little more than a line may have. Less
/// if it sends no more, or nothing more in time.
fn line_of(client: &UnixStream) -> io::Result<Vec<u8>> {
    let mut asking = Limited::new(client, TIMEOUT);
    let mut sent = Vec::new();
    let mut some = [0; LINE_BYTES];
    while sent.len() < LINE_BYTES && !sent.contains(&b'\n') {
        match in_time(asking.read(&mut some))? {
            0 => return Ok(sent),
            count => sent.extend_from_slice(&some[..count]),
        }
    }
    // A second line may have come as a packet of its own.
    client.set_nonblocking(true)?;
    let mut stream = client;
    if let Ok(count) = stream.read(&mut some) {
        sent.extend_from_slice(&some[..count]);
    }
    client.set_nonblocking(false)?;
    Ok(sent)
}

/// A read that took too long is as one at the end.
fn in_time(read: io::Result<usize>) -> io::Result<usize> {
    match read {
        Err(why) if why.kind() == io::ErrorKind::TimedOut => Ok(0),
        read => read,
    }
}

/// Takes what else a client sends, for a while: a socket that is closed before all has been read would keep the answer from it.
fn take_rest(client: &UnixStream) -> io::Result<()> {
    client.shutdown(Shutdown::Write)?;
    let [most, quiet] = LEFT_OVER;
    let until = Instant::now() + most;
    let mut some = [0; LINE_BYTES];
    let mut rest = Limited::new(client, quiet);
    while in_time(rest.read(&mut some))? > 0 {
        rest.until = until.min(Instant::now() + quiet);
    }
    Ok(())
}

/// Sends a command, a line without its end, to the control socket at `path`; its answer.
///
/// # Errors
/// It is no command, nobody listens there, the server refuses the command or does not answer for so long: why, in words.
pub fn send(path: &Path, command: &str, limit: Duration) -> Result<String, String> {
    let line = format!("{command}\n");
    ControlCommand::of(line.as_bytes())?;
    let (answer, answered) = channel();
    let socket = path.to_owned();
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

/// Sends a line, and waits for the answer.
fn exchange(path: &Path, line: &str) -> Result<String, String> {
    let failed =
        |why: io::Error| format!("{}: {why}; is a server running with --ctl and this path?", shown::path(path));
    let mut server = UnixStream::connect(path).map_err(failed)?;
    // A server that refuses the client closes the connection before it has read the line, which is an error both ways: its answer is there.
    let sent = server.write_all(line.as_bytes());
    let mut answer = String::new();
    let read = server.take(1 << 20).read_to_string(&mut answer);
    if answer.is_empty() {
        sent.and(read).map_err(failed)?;
    }
    match answer.trim_end().split_once('\n').unwrap_or((answer.trim_end(), "")) {
        ("ok", text) => Ok(text.to_owned()),
        ("error", text) => Err(text.to_owned()),
        // The server may be gone before it has answered.
        _ if line == "power-cut\n" => Ok(CUT.to_owned()),
        _ => Err(format!("{}: ended without an answer", shown::path(path))),
    }
}
