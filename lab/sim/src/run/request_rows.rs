//! The rows of requests: written when they complete, or behind a host when their threads see them done.

use flashlane_core::{Completion, Duration, Sequence};
use flashlane_host::Seen;

use crate::error::RunError;
use flashlane_outputs::OutputError;
use flashlane_report::results::{Format, HeldRequestRow, RequestRow, ResultsDir, RowWriter, SeenRequestRow};

/// What stands before the device of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Above {
    /// Nothing: flows ask it.
    Nothing,
    /// A host.
    Host,
    /// A block layer.
    Block,
}

/// A writer of one row for each request.
pub enum RequestRows {
    /// Without a host or a block layer.
    Completed(RowWriter<RequestRow>),
    /// Below a block layer.
    Held(RowWriter<HeldRequestRow>),
    /// Behind one: the writer, and the requests whose threads have not seen them done.
    Seen(RowWriter<SeenRequestRow>, Sequence<(Completion, bool)>),
}

impl RequestRows {
    /// Begins the file in `dir`, `within` a folder of it if given, for a run with `above` before its device.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn begin(
        dir: &ResultsDir,
        within: Option<&str>,
        format: Format,
        above: Above,
    ) -> Result<RequestRows, OutputError> {
        Ok(match above {
            Above::Nothing => RequestRows::Completed(dir.rows(within, format)?),
            Above::Block => RequestRows::Held(dir.rows(within, format)?),
            Above::Host => RequestRows::Seen(dir.rows(within, format)?, Sequence::default()),
        })
    }

    /// A request completed that had `waited` in a block layer; `counted` says whether figures count it.
    pub(crate) fn completed(
        &mut self,
        completion: &Completion,
        counted: bool,
        waited: &[Duration; 4],
    ) -> Result<(), RunError> {
        let completion = *completion;
        match self {
            RequestRows::Held(rows) => rows.push(&HeldRequestRow { completion, counted, waited: *waited })?,
            RequestRows::Completed(rows) => rows.push(&RequestRow(completion, counted))?,
            RequestRows::Seen(_, unseen) => drop(unseen.insert(completion.id.0, (completion, counted))),
        }
        Ok(())
    }

    /// A thread saw its request done.
    pub(crate) fn seen(&mut self, seen: &Seen) -> Result<(), RunError> {
        if let RequestRows::Seen(rows, unseen) = self
            && let Some((completion, counted)) = unseen.remove(seen.id.0)
        {
            rows.push(&SeenRequestRow { completion, counted, called: seen.called, seen: seen.seen })?;
        }
        Ok(())
    }

    /// Finishes the file.
    pub(crate) fn finish(self) -> Result<(), RunError> {
        match self {
            RequestRows::Completed(rows) => rows.finish()?,
            RequestRows::Held(rows) => rows.finish()?,
            RequestRows::Seen(rows, _) => rows.finish()?,
        };
        Ok(())
    }
}
