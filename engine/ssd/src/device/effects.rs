//! Effects: what a stage of the device leaves to those above it, because calls go down only.
//!
//! They lie on a stack, which the loop of the device empties ([`Device::follow_up`](super::Device)): what follows from one is done wholly, with
//! all that follows from that, before what lay beneath. So a stage that has several says them in the reverse order, and one that is to go on
//! after an effect puts itself back beneath. Reads, and writes without a write-back buffer or a mapping cache, have none.

use flashlane_core::{FlowId, Lpn};

use super::Device;
use crate::frontend::RequestSlot;

/// A read of a translation page, or entries that the host's memory has sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ReadId(pub(super) u32);

/// What is to be done next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// A write goes on to put its pages into the buffer; `waited` if it is the first of those that wait for space.
    FillBuffer { slot: RequestSlot, waited: bool },
    /// A read goes on that has waited behind writes without space.
    ReadGoes(RequestSlot),
    /// A page of the buffer is written out.
    WriteOut(WriteOut),
    /// Pages of this flow's part of the buffer are written out, as far as too many are dirty or writes wait for space.
    FlushPart(FlowId),
    /// This flow's part of the buffer has space: writes that wait take it.
    SpaceFreed(FlowId),
    /// The same for the parts to which cancelled programs have given pages back.
    SpaceGivenBack,
    /// Entries of the map have arrived: what waits for them goes on.
    EntriesArrived(ReadId),
    /// A translation page that was read is written anew; read again first, unless that was the `whole` page.
    RewritePage { page: Lpn, flow: FlowId, whole: bool },
    /// Translation pages are written anew whose dirty entries have made room. Last of what follows from a completion, an arrival or an admission.
    RewriteEntries,
}

/// A page of the buffer that is written out.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteOut {
    pub(super) lpn: Lpn,
    /// The flow whose program it is.
    pub(super) flow: FlowId,
    pub(super) why: Why,
    /// A write with FUA that waits for it; [`RequestSlot::MAX`] for none.
    pub(super) awaited_by: RequestSlot,
}

/// Why a page is written out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// The buffer does not merge writes: each has a program.
    EachWrite,
    /// A program that waited was dropped for this version of the page, which goes where that went.
    Renewed,
    /// Something waits for the page, which may have a program already.
    Awaited,
    /// It was written in part, and its rest must be read first; or it was written whole while its rest was being read.
    InPart,
}

impl Device {
    /// Once what follows now is over, translation pages are written anew whose dirty entries have made room.
    #[inline]
    pub(super) fn rewrites_entries(&mut self) {
        if self.translation.is_some() {
            self.effects.push(Effect::RewriteEntries);
        }
    }
}
