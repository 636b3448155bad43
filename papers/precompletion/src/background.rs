//! Threads in the background, on the CPU of the foreground, each with a counter of its operations.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use crate::machine;

/// Background threads.
pub const THREADS: u32 = 4;
/// Bytes that an I/O thread reads at a time, from the page cache: some ten microseconds in the kernel.
const READ_BYTES: usize = 64 << 10;
/// Reads between two writes that wait for the disk.
const READS_A_WRITE: u64 = 256;
/// Steps of arithmetic that count as an operation of a burner: about a microsecond.
const STEPS: u64 = 512;

/// What runs beside the foreground.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Background {
    /// Nothing.
    Idle,
    /// Threads that burn CPU time.
    Cpu,
    /// Threads that read and write a file of their own.
    Io,
}

impl Background {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Background; 3] = [Background::Idle, Background::Cpu, Background::Io];

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Background::Idle => "idle",
            Background::Cpu => "cpu",
            Background::Io => "io",
        }
    }
}

/// Running background threads. They end when this is dropped.
#[derive(Debug)]
pub struct Running {
    stop: Arc<AtomicBool>,
    operations: Vec<Arc<AtomicU64>>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Starts the threads of a background on `cpu`.
    ///
    /// # Errors
    /// Threads or files that are not to be had.
    pub fn start(background: Background, cpu: usize) -> Result<Running, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut running = Running { stop, operations: Vec::new(), threads: Vec::new() };
        let count = if background == Background::Idle { 0 } else { THREADS };
        for _ in 0..count {
            let (stop, operations) = (Arc::clone(&running.stop), Arc::new(AtomicU64::new(0)));
            running.operations.push(Arc::clone(&operations));
            // The file has no name from the start, so nothing is left behind however this ends.
            let file = match background {
                Background::Io => Some(tempfile::tempfile().map_err(|e| format!("no file for the background: {e}"))?),
                Background::Idle | Background::Cpu => None,
            };
            let thread = std::thread::Builder::new().name("background".into()).spawn(move || {
                // Where it cannot be pinned, the device's thread could not either, which is an error there.
                let _ = machine::pin(cpu);
                match file {
                    Some(file) => do_io(&file, &stop, &operations),
                    None => burn(&stop, &operations),
                }
            });
            running.threads.push(thread.map_err(|e| format!("no thread for the background: {e}"))?);
        }
        Ok(running)
    }

    /// Operations so far, of all threads.
    pub fn operations(&self) -> u64 {
        self.operations.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed so itself.
            let _ = thread.join();
        }
    }
}

fn burn(stop: &AtomicBool, operations: &AtomicU64) {
    let mut x = 1u64;
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..STEPS {
            x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        count += 1;
        operations.store(count, Ordering::Relaxed);
    }
}

fn do_io(file: &File, stop: &AtomicBool, operations: &AtomicU64) {
    let mut buffer = vec![0u8; READ_BYTES];
    // Without space on the disk it reads nothing and counts what it does: the calls.
    let _ = file.write_all_at(&buffer, 0);
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        let _ = black_box(file.read_at(&mut buffer, 0));
        count += 1;
        if count % READS_A_WRITE == 0 && file.write_all_at(&buffer[..4096], 0).is_ok() {
            let _ = file.sync_data();
        }
        operations.store(count, Ordering::Relaxed);
    }
}
