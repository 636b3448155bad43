//! The rows of a heat map of dies: one for each die, or, on drives of more than [`MAX_ROWS`] dies, for each chip or channel.

use flashlane_core::{Geometry, PlaneId};

/// The most rows: of a drive with more dies, chips are rows, or channels.
const MAX_ROWS: u32 = 128;

/// What a row of dies is: one die, or all dies of a chip or a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// One die.
    Die,
    /// A chip with several dies.
    Chip,
    /// A channel.
    Channel,
}

/// The rows of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    geometry: Geometry,
    pub(super) kind: RowKind,
    /// Dies in a row.
    pub(super) dies: u32,
    pub(super) count: usize,
}

impl Rows {
    pub(super) fn new(geometry: Geometry) -> Rows {
        let dies = geometry.planes() / geometry.planes_per_die;
        let chips = dies / geometry.dies_per_chip;
        let (kind, in_row) = if dies <= MAX_ROWS {
            (RowKind::Die, 1)
        } else if chips <= MAX_ROWS {
            (RowKind::Chip, geometry.dies_per_chip)
        } else {
            (RowKind::Channel, geometry.dies_per_chip * geometry.chips_per_channel)
        };
        Rows { geometry, kind, dies: in_row, count: (dies / in_row) as usize }
    }

    /// The die of a plane, counted over the drive.
    pub(super) fn die(&self, plane: PlaneId) -> u32 {
        u32::from(plane.0) / self.geometry.planes_per_die
    }

    /// The row of a die.
    pub(super) fn of(&self, die: u32) -> usize {
        (die / self.dies) as usize
    }

    pub(super) fn name(&self, row: usize) -> String {
        let die = row as u32 * self.dies;
        let chip = die / self.geometry.dies_per_chip;
        let channel = chip / self.geometry.chips_per_channel;
        let (chip, die) = (chip % self.geometry.chips_per_channel, die % self.geometry.dies_per_chip);
        match self.kind {
            RowKind::Die => format!("channel {channel}, chip {chip}, die {die}"),
            RowKind::Chip => format!("channel {channel}, chip {chip}"),
            RowKind::Channel => format!("channel {channel}"),
        }
    }
}
