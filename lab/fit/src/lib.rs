//! A device that behaves like a drive of one's own: jobs for fio, its results, and the model's values that fit them.
//!
//! Owns the standard jobs, the measured points that readers of files make of results, the search for values, and the table
//! in which points that were held out judge them. Promises that no device is opened or written, that equal inputs give equal outputs, and
//! that a value is called measured only if the points would show another one. Must never know a particular drive.
//!
//! ```text
//! error        what is wrong with which file
//! point        what was measured: one job
//! jobs         the standard jobs, as a job file
//! write_jobs   those that write
//! fio, csv     results of fio, or a table
//! read         a file that is either of them
//! smart        a drive's logs, of its write amplification
//! play         a device under a load, through the library
//! model        a device of given values under the loads of points
//! write_loads  a modelled drive under the jobs that write
//! least_squares  the numbers with which differences are least
//! search       the values that fit
//! mixed        how programs are paused for reads beside writes
//! writes       the values of writes that fit, and their rows
//! doubts       which points can be used, and when there is nothing to fit
//! table        measured beside modelled
//! device_file  the fitted device as a file
//! answer       all this together
//! page         the answer as a page
//! probe        the standard jobs on a modelled drive
//! ```

mod answer;
mod csv;
mod device_file;
mod doubts;
mod error;
mod fio;
mod jobs;
mod least_squares;
mod mixed;
mod model;
mod page;
pub mod play;
mod point;
mod probe;
mod read;
mod search;

mod smart;
pub mod table;
mod write_jobs;
mod write_loads;
mod writes;

pub use answer::{Answer, Judged, Probes, fit};
pub use device_file::Fitted;
pub use error::FitError;
pub use fio::bytes;
pub use jobs::{Job, JobFile, Role, standard};
pub use mixed::Beside;
pub use page::html;
pub use point::{Access, Figures, Kind, Point, Writers};
pub use probe::{Requests, probe};
pub use read::{points, read};
pub use search::Effort;
pub use smart::{Amplification, amplification, between};
pub use write_jobs::{Load, WriteJob, WriteJobFile, write_jobs};
pub use writes::{ANSWERS, About, Told, WriteRow, WriteValues, Written};
