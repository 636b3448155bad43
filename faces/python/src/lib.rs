//! The native part of the Python package `flashlane`: scenarios in, results out.
//!
//! Owns the boundary. Promises that every error is `flashlane.Error` with the text that the program prints, that no panic crosses
//! it, and that Python code runs while a scenario does. How results look in Python is the package's, in `flashlane/*.py`.

mod answers;
mod error;
mod job;
mod pool;
mod recommend;
mod results;
mod rows;
mod runs;
mod scenario;
mod sweep;
mod view;
mod workload;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// The module `flashlane._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if !flashlane_sim::processor::is_able() {
        return Err(PyImportError::new_err(flashlane_sim::processor::REFUSAL));
    }
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<job::Job>()?;
    module.add_class::<results::Outcome>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<view::BoardView>()?;
    module.add_class::<sweep::NativeSweep>()?;
    module.add_class::<runs::RunsJob>()?;
    module.add_function(wrap_pyfunction!(scenario::start, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::schedulers, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::devices, module)?)?;
    module.add_function(wrap_pyfunction!(results::render, module)?)?;
    module.add_function(wrap_pyfunction!(recommend::recommend, module)?)?;
    module.add_function(wrap_pyfunction!(recommend::seeds, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::summary_of, module)?)?;
    module.add_function(wrap_pyfunction!(results::verdict, module)?)?;
    module.add_function(wrap_pyfunction!(workload::write_trace, module)?)?;
    Ok(())
}
