//! What a flow asks of the block layer, a bio, and what it waits for on its way.

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};

/// Bytes of a page of memory.
const PAGE: u64 = 4_096;

/// What a flow asks: a request before it may be merged with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bio {
    /// Its number; later ones have greater numbers.
    pub id: RequestId,
    /// Its flow.
    pub flow: FlowId,
    /// What it asks.
    pub op: Op,
    /// Whether it may be merged with others: a read or a write of consecutive bytes, without FUA.
    pub plain: bool,
    /// The address of its first byte in the drive.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

impl Bio {
    /// The place of its direction in pairs: reads 0, all else 1.
    pub(crate) fn direction(&self) -> usize {
        usize::from(self.op != Op::Read)
    }

    /// Its segments: the pages of memory that its data fills, each of which may lie anywhere.
    pub(crate) fn segments(&self) -> u32 {
        u32::try_from(self.bytes.div_ceil(PAGE)).unwrap_or(u32::MAX)
    }

    /// The address behind it.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

/// What a bio waits for on its way to the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Its flow's limit.
    Limit,
    /// A tag.
    Tag,
    /// Its turn in the elevator.
    Elevator,
    /// Room in the drive.
    Driver,
}

impl Stage {
    /// All, in the order in which a bio meets them.
    pub const ALL: [Stage; 4] = [Stage::Limit, Stage::Tag, Stage::Elevator, Stage::Driver];

    /// `limit`, `tag`, `elevator` or `driver`.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Limit => "limit",
            Stage::Tag => "tag",
            Stage::Elevator => "elevator",
            Stage::Driver => "driver",
        }
    }
}

/// Bios that waited at a stage.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Waited {
    /// How many.
    pub requests: u64,
    /// How long together, ns.
    pub total_ns: u128,
}

/// The waits of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FlowWaits {
    /// Bios that went to the drive.
    pub requests: u64,
    /// Those of them that joined the request of another.
    pub merged: u64,
    /// By stage, in the order of [`Stage::ALL`].
    pub stages: [Waited; 4],
}

/// The instants of a bio on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// When it entered, and when it left the stages that it has passed.
    pub(crate) since: Time,
    /// How long it waited at each.
    pub(crate) waited: [Duration; 4],
}

impl Way {
    pub(crate) fn from(now: Time) -> Way {
        Way { since: now, waited: [Duration::ZERO; 4] }
    }

    /// It leaves `stage`.
    pub(crate) fn leave(&mut self, stage: Stage, now: Time) {
        self.waited[stage as usize] = now.since(self.since);
        self.since = now;
    }
}

impl FlowWaits {
    /// Counts a bio that goes to the drive.
    pub(crate) fn count(&mut self, way: &Way) {
        self.requests += 1;
        for (stage, waited) in self.stages.iter_mut().zip(way.waited) {
            stage.requests += u64::from(waited > Duration::ZERO);
            stage.total_ns += u128::from(waited.ns());
        }
    }
}
