//! Memory for the bytes of a drive, in chunks that a thread of its own has touched: the first touch of memory can take the system milliseconds
//! (it makes large pages), which the thread of the drive would answer late by.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

/// Bytes of a chunk.
pub(crate) const CHUNK: u64 = 16 << 10;

/// Chunks that are ready at a time.
const READY: usize = 1024;

/// Bytes of the smallest page of memory.
const PAGE: usize = 4096;

/// Where chunks of zeroes are taken from.
#[derive(Debug)]
pub(crate) struct Chunks(Receiver<Box<[u8]>>);

impl Default for Chunks {
    fn default() -> Chunks {
        let (ready, chunks) = sync_channel(READY);
        // Without the thread chunks are made when they are needed. It ends when the receiver is dropped.
        let _ = Builder::new().name("memory".into()).spawn(move || while ready.send(touched()).is_ok() {});
        Chunks(chunks)
    }
}

impl Chunks {
    /// A chunk of zeroes.
    pub(crate) fn take(&self) -> Box<[u8]> {
        self.0.try_recv().unwrap_or_else(|_| zeroes())
    }
}

fn zeroes() -> Box<[u8]> {
    vec![0; CHUNK as usize].into_boxed_slice()
}

fn touched() -> Box<[u8]> {
    let mut chunk = zeroes();
    // Else the compiler removes these stores, as the bytes are zero already.
    std::hint::black_box(&mut chunk).iter_mut().step_by(PAGE).for_each(|byte| *byte = 0);
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_zeroes_whether_ready_or_not() {
        let chunks = Chunks::default();
        for _ in 0..2 * READY {
            let mut chunk = chunks.take();
            assert!(chunk.len() as u64 == CHUNK && chunk.iter().all(|byte| *byte == 0));
            chunk.fill(1);
        }
    }
}
