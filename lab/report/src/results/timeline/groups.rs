//! Groups of packets, compressed and written one behind the other, here or on a thread of their own.
//!
//! Promises the same bytes either way, memory for a few groups, and that the thread has ended when this is dropped.

use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::protobuf::Message;

/// How hard groups are compressed.
const LEVEL: Compression = Compression::new(1);
/// Groups that wait for the thread at most; each has half a megabyte.
const MAX_WAITING: usize = 2;

/// Field of a file, and of a packet that is a compressed group.
const PACKET: u32 = 1;
const COMPRESSED: u32 = 50;

pub(super) enum Groups<W> {
    Here(W),
    Apart(Apart<W>),
}

/// The thread, and the way to it.
pub(super) struct Apart<W> {
    groups: Option<SyncSender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<W>>>,
}

impl<W: Write + Send + 'static> Groups<W> {
    pub(super) fn new(out: W, apart: bool) -> io::Result<Groups<W>> {
        if !apart {
            return Ok(Groups::Here(out));
        }
        let (groups, waiting) = sync_channel(MAX_WAITING);
        let thread = Builder::new().name("timeline".into()).spawn(move || {
            let mut out = out;
            waiting.into_iter().try_for_each(|group: Vec<u8>| write(&mut out, &group))?;
            Ok(out)
        })?;
        Ok(Groups::Apart(Apart { groups: Some(groups), thread: Some(thread) }))
    }

    /// Writes a group, or has it written.
    pub(super) fn push(&mut self, group: Vec<u8>) -> io::Result<()> {
        match self {
            Groups::Here(out) => write(out, &group),
            Groups::Apart(apart) => match apart.groups.as_ref().is_some_and(|groups| groups.send(group).is_ok()) {
                true => Ok(()),
                // The thread has ended, for an error.
                false => apart.end().map(drop),
            },
        }
    }

    /// All groups are written.
    pub(super) fn finish(self) -> io::Result<W> {
        let mut out = match self {
            Groups::Here(out) => out,
            Groups::Apart(mut apart) => apart.end()?,
        };
        out.flush()?;
        Ok(out)
    }
}

impl<W> Apart<W> {
    /// Waits for the thread.
    fn end(&mut self) -> io::Result<W> {
        self.groups = None;
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_else(|| Err(io::Error::other("the thread that writes has ended")))
    }
}

impl<W> Drop for Apart<W> {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Writes a group as one packet that holds it compressed.
fn write(out: &mut impl Write, group: &[u8]) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(group.len() / 2), LEVEL);
    encoder.write_all(group)?;
    let compressed = encoder.finish()?;
    let mut packet = Message::default();
    packet.message(PACKET, |packet| packet.bytes(COMPRESSED, &compressed));
    out.write_all(&packet.take())
}
