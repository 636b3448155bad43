//! The auditor against hand-made streams: silent on every legal one, and for every rule a stream that is a legal one
//! with one thing changed and breaks that rule alone.

pub(crate) mod case;
mod flash_rows;
mod ftl_rows;
mod host_rows;
mod legal;
mod long;
mod scenes;
mod table;

use case::Case;

/// The rules a stream breaks, in words for a failing test.
fn broken(case: &Case) -> String {
    case.audit().to_string()
}
