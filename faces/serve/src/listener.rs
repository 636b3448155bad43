//! Sockets that clients connect to.

use std::io;
use std::net::TcpListener;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fd::{AsFd, BorrowedFd};

use crate::address::Address;
use crate::connection::Socket;

/// The file of a socket, which is removed at the end.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A listener of either kind.
pub(crate) enum Listener {
    Unix { listener: UnixListener, _file: SocketFile },
    Tcp(TcpListener),
}

impl Listener {
    /// A listener that does not wait.
    ///
    /// # Errors
    /// An address that cannot be listened at, in words.
    pub(crate) fn open(address: &Address) -> Result<Listener, String> {
        let listener = Listener::bind(address).and_then(|listener| listener.prepare().map(|()| listener));
        listener.map_err(|why| format!("--nbd {address}: cannot be listened at: {}", reason(&why)))
    }

    /// Where it listens: with a port of the system's choice if `asked` has port 0.
    pub(crate) fn address(&self, asked: &Address) -> Address {
        match self {
            Listener::Unix { .. } => asked.clone(),
            Listener::Tcp(listener) => listener.local_addr().map_or(asked.clone(), Address::Tcp),
        }
    }

    fn bind(address: &Address) -> io::Result<Listener> {
        match address {
            Address::Unix(path) => bind_unix(path).map(|(listener, file)| Listener::Unix { listener, _file: file }),
            Address::Tcp(address) => TcpListener::bind(address).map(Listener::Tcp),
        }
    }

    pub(crate) fn accept(&self) -> io::Result<Socket> {
        match self {
            Listener::Unix { listener, .. } => {
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(true)?;
                Ok(Socket::Unix(socket))
            }
            Listener::Tcp(listener) => {
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(true)?;
                socket.set_nodelay(true)?;
                Ok(Socket::Tcp(socket))
            }
        }
    }

    fn prepare(&self) -> io::Result<()> {
        match self {
            Listener::Unix { listener, .. } => listener.set_nonblocking(true),
            Listener::Tcp(listener) => listener.set_nonblocking(true),
        }
    }
}

/// How long no clients are accepted after one could not be: for want of descriptors or memory, say, until others have been closed.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Clients of one socket that are answered at once; one more is refused.
const ANSWERED_AT_ONCE: usize = 16;

/// What a client that is one too many is told.
pub(crate) fn too_many() -> String {
    format!("{ANSWERED_AT_ONCE} clients are being answered; try again later\n")
}

/// Answers clients until the process ends, each on a thread of its own, so that a slow one keeps no other waiting.
pub(crate) fn answer_each<C: Send + 'static>(
    clients: impl Iterator<Item = io::Result<C>>,
    answer: impl Fn(C) -> io::Result<()> + Clone + Send + 'static,
    refuse: impl Fn(C) -> io::Result<()>,
) {
    // Each client that is being answered holds a copy, so that the count of copies is theirs and one.
    let slot = Arc::new(());
    for client in clients {
        let Ok(client) = client else {
            std::thread::sleep(ACCEPT_PAUSE);
            continue;
        };
        // An error here means that the client has closed its connection: it needs no answer.
        if Arc::strong_count(&slot) > ANSWERED_AT_ONCE {
            let _ = refuse(client);
            continue;
        }
        let (answer, slot) = (answer.clone(), slot.clone());
        let answered = move || {
            let _ = answer(client);
            drop(slot);
        };
        if std::thread::Builder::new().name("client".into()).spawn(answered).is_err() {
            std::thread::sleep(ACCEPT_PAUSE);
        }
    }
}

/// Why an address cannot be listened at.
pub(crate) fn reason(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::AddrInUse => "it is in use, as by another server".to_owned(),
        _ => why.to_string(),
    }
}

/// The longest path of a socket, bytes.
const MAX_PATH: usize = 107;

/// Listens at a path; the socket of a server that did not end by itself is replaced.
pub(crate) fn bind_unix(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let bytes = path.as_os_str().len();
    if bytes > MAX_PATH {
        return Err(io::Error::other(format!("the path has {bytes} bytes, and that of a socket at most {MAX_PATH}")));
    }
    let bound = match UnixListener::bind(path) {
        Err(why) if why.kind() == io::ErrorKind::AddrInUse && is_left_over(path) => {
            std::fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        Err(why) if why.kind() == io::ErrorKind::AddrInUse && !is_socket(path) => {
            return Err(io::Error::other("what is there is no socket, and is not replaced"));
        }
        bound => bound,
    };
    Ok((bound?, SocketFile(path.to_owned())))
}

fn is_socket(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// Whether a file is the socket of a server that did not end by itself: nobody listens there.
fn is_left_over(path: &Path) -> bool {
    let refused = || UnixStream::connect(path).is_err_and(|why| why.kind() == io::ErrorKind::ConnectionRefused);
    is_socket(path) && refused()
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix { listener, .. } => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}
