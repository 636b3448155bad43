//! The auditor on hand-made streams: it reports nothing about any legal one, and for every rule there is a legal stream with
//! one change that breaks that rule alone.

pub(crate) mod case;
mod flash_rows;
mod ftl_rows;
mod host_rows;
mod legal;
mod long;
mod scenes;
mod slc_rows;
mod table;
mod wordline_rows;

use case::Case;

/// The rules a stream breaks, as text for a failing test.
fn broken(case: &Case) -> String {
    case.audit().to_string()
}
