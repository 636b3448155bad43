//! Figures and what becomes of them: metrics, which count what completes, and results, which are written and shown.

pub mod metrics;
pub mod results;
