//! Figures and what becomes of them: metrics, which count what completes, and results, which are written and shown. Both follow a device's
//! events by way of `in_flight`.

mod in_flight;
pub mod metrics;
pub mod results;
