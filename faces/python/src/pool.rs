//! Threads for runs: each stays known to Python, so that a decision made in Python does not have to introduce it anew.

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::error;

/// A pool of `jobs` threads; by default one for each processor.
pub(crate) fn pool(jobs: Option<usize>) -> PyResult<ThreadPool> {
    let count = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let spawn = |thread: rayon::ThreadBuilder| {
        let builder = std::thread::Builder::new().name(format!("flashlane-{}", thread.index()));
        builder.spawn(|| Python::attach(|py| py.detach(|| thread.run()))).map(drop)
    };
    let made = ThreadPoolBuilder::new().num_threads(count).spawn_handler(spawn).build();
    made.map_err(|cause| error(format!("cannot use {count} threads: {cause}")))
}
