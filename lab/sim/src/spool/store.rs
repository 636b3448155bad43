//! Where the blocks of spools are held: in memory up to a limit that all spools share, beyond it in temporary files.
//!
//! Promises that a block comes back as it was put in, and that temporary files have no name and are gone with the
//! process, however it ends.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::packed::Shape;
use flashlane_core::arrival::WorkloadError;

/// Bytes of blocks that may be held in memory, shared by the spools of a comparison.
#[derive(Debug)]
pub(crate) struct Budget(AtomicUsize);

impl Budget {
    pub(super) fn new(bytes: usize) -> Arc<Budget> {
        Arc::new(Budget(AtomicUsize::new(bytes)))
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Relaxed);
    }
}

/// A block's place.
#[derive(Debug)]
enum Place {
    Memory(Arc<[u8]>),
    /// First byte in the file, and number of bytes.
    File(u64, usize),
    /// The only reader there was has read it.
    Gone,
}

/// The blocks of a spool.
#[derive(Debug)]
pub(super) struct Store {
    blocks: Vec<(Place, Shape)>,
    budget: Arc<Budget>,
    file: Option<(File, u64)>,
}

impl Store {
    pub fn new(budget: Arc<Budget>) -> Store {
        Store { blocks: Vec::new(), budget, file: None }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Adds a block.
    ///
    /// # Errors
    /// A temporary file that cannot be written.
    pub fn push(&mut self, bytes: Vec<u8>, shape: Shape) -> Result<(), WorkloadError> {
        let place = if self.budget.take(bytes.len()) {
            Place::Memory(bytes.into())
        } else {
            let (file, end) = match &mut self.file {
                Some(file) => file,
                None => self.file.insert((tempfile::tempfile().map_err(unwritable)?, 0)),
            };
            file.write_all(&bytes).map_err(unwritable)?;
            let start = *end;
            *end += bytes.len() as u64;
            Place::File(start, bytes.len())
        };
        self.blocks.push((place, shape));
        Ok(())
    }

    /// The block with this number; with `frees`, nobody will read it again.
    ///
    /// # Errors
    /// A temporary file that cannot be read.
    pub fn get(&mut self, number: usize, frees: bool) -> Result<(Arc<[u8]>, Shape), WorkloadError> {
        let (place, shape) = &mut self.blocks[number];
        let bytes = match place {
            Place::Memory(bytes) => Arc::clone(bytes),
            Place::File(start, length) => {
                let (file, _) = self.file.as_mut().expect("a block in a file has one");
                let mut bytes = vec![0; *length];
                read_at(file, &mut bytes, *start).map_err(unreadable)?;
                bytes.into()
            }
            Place::Gone => unreachable!("a block was freed for its only reader"),
        };
        if frees && let Place::Memory(bytes) = std::mem::replace(place, Place::Gone) {
            self.budget.give_back(bytes.len());
        }
        Ok((bytes, *shape))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for (place, _) in &self.blocks {
            if let Place::Memory(bytes) = place {
                self.budget.give_back(bytes.len());
            }
        }
    }
}

/// Reads without moving the end at which blocks are written.
#[cfg(unix)]
fn read_at(file: &mut File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Reads, and goes back to the end, at which blocks are written.
#[cfg(not(unix))]
fn read_at(file: &mut File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)?;
    file.seek(SeekFrom::End(0)).map(drop)
}

fn place() -> String {
    format!("temporary file in {}", std::env::temp_dir().display())
}

fn unwritable(why: std::io::Error) -> WorkloadError {
    let message = format!("the requests of a long trace cannot be written to it: {why}; TMPDIR names another folder");
    WorkloadError { place: place(), message }
}

fn unreadable(why: std::io::Error) -> WorkloadError {
    WorkloadError { place: place(), message: format!("the requests of a trace cannot be read from it again: {why}") }
}

#[cfg(test)]
mod tests {
    use super::super::packed::Met;
    use super::*;
    use flashlane_trace::Sorted;

    const SHAPE: Shape = Shape {
        used: 3,
        shift: 0,
        requests: 1,
        request_bytes: 512,
        last_ns: 9,
        met: Met { volumes: 1, sorted: Sorted { requests: 0, places: 0, back_ns: 0 } },
    };

    #[test]
    fn blocks_beyond_the_limit_go_to_a_file_and_come_back() {
        let budget = Budget::new(250);
        let mut store = Store::new(Arc::clone(&budget));
        for number in 0..5u8 {
            store.push(vec![number; 100], SHAPE).expect("written");
        }
        let in_memory = store.blocks.iter().filter(|(place, _)| matches!(place, Place::Memory(_))).count();
        assert_eq!((in_memory, store.len()), (2, 5));
        for number in [4u8, 0, 3, 1, 2] {
            let (bytes, shape) = store.get(number.into(), false).expect("read");
            assert_eq!((&bytes[..], shape), (&[number; 100][..], SHAPE));
        }
        store.push(vec![9; 100], SHAPE).expect("written after blocks were read");
        assert_eq!(store.get(5, false).expect("read").0[..], [9; 100]);
        drop(store);
        assert_eq!(budget.0.load(Relaxed), 250, "what is dropped no longer counts");
    }

    #[test]
    fn what_nobody_reads_again_no_longer_counts() {
        let budget = Budget::new(100);
        let mut store = Store::new(Arc::clone(&budget));
        for number in 0..10u8 {
            store.push(vec![number; 100], SHAPE).expect("written");
            assert_eq!(store.get(number.into(), true).expect("read").0[0], number);
        }
        assert!(store.file.is_none(), "each took the space of the one before");
    }
}
