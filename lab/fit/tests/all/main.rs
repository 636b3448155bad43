//! Fits as a whole: to a drive that others measured, to modelled drives whose values are hidden, and with fio itself.

mod gallery;
mod hidden;
mod hidden_drives;
mod job_file;
mod public;
mod real_writes;
mod strangers;
