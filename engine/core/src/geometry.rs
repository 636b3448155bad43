//! Geometry of the flash: channels, chips (ways), dies, planes, blocks, pages; and where static allocation puts a page.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::divisor::Divisor;
use crate::id::{ChannelId, PlaneId, UnitId};
use crate::units::{Lpn, Ppa};

/// Numbers of channels, chips, dies, planes, blocks and pages, each per parent, and the sizes of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Channels of the device.
    pub channels: u32,
    /// Chips (ways) on a channel.
    pub chips_per_channel: u32,
    /// Dies in a chip.
    pub dies_per_chip: u32,
    /// Planes in a die.
    pub planes_per_die: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// User bytes of a page.
    pub page_bytes: u32,
    /// Spare bytes of a page (ECC, metadata).
    pub metadata_bytes: u32,
    /// Pages of a row, which one array operation of a plane reads or programs: consecutive ones of a block. 1 where each page is one of its own;
    /// more where the map has smaller units than the flash has pages, or a plane stands for all planes of a die.
    pub slots: u32,
    /// Planes of the flash that a row spans: each has an equal part of its slots, one behind the other, and may be read on its own (model 0.16). 1
    /// unless a plane stands for all planes of a die.
    pub row_planes: u32,
    /// Whether the chip or the die owns the queues and is busy as a whole (D-FLN-01).
    pub unit: UnitKind,
}

choices! {
    /// What a scheduling unit is.
    pub enum UnitKind {
        /// The whole chip: its dies work only as members of one advanced command.
        Chip = "chip",
        /// Each die: dies of a chip work independently.
        Die = "die",
    }
}

impl Geometry {
    /// One plane of eight blocks of eight pages of 4,096 bytes, for tests.
    pub const fn plain() -> Geometry {
        Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 8,
            page_bytes: 4096,
            metadata_bytes: 0,
            slots: 1,
            row_planes: 1,
            unit: UnitKind::Chip,
        }
    }

    /// Units on one channel.
    pub const fn units_per_channel(&self) -> u32 {
        match self.unit {
            UnitKind::Chip => self.chips_per_channel,
            UnitKind::Die => self.chips_per_channel * self.dies_per_chip,
        }
    }

    /// Units of the device.
    pub const fn units(&self) -> u32 {
        self.channels * self.units_per_channel()
    }

    /// Planes of one unit.
    pub const fn planes_per_unit(&self) -> u32 {
        match self.unit {
            UnitKind::Chip => self.dies_per_chip * self.planes_per_die,
            UnitKind::Die => self.planes_per_die,
        }
    }

    /// Planes of the device.
    pub const fn planes(&self) -> u32 {
        self.units() * self.planes_per_unit()
    }

    /// Physical pages in a plane.
    pub const fn pages_per_plane(&self) -> u32 {
        self.blocks_per_plane * self.pages_per_block
    }

    /// The row that a physical page lies in, by its number in the plane.
    pub const fn row_of(&self, page: Ppa) -> u32 {
        page.0 / self.slots
    }

    /// The same by its number in its block.
    #[inline(always)]
    pub const fn row_in_block(&self, ppa: u32) -> u32 {
        ppa % self.pages_per_block / self.slots
    }

    /// Which of the planes of the flash that its row spans a physical page lies in, by its number in the plane.
    pub const fn plane_in_row(&self, ppa: u32) -> u32 {
        ppa % self.slots / (self.slots / self.row_planes)
    }

    /// Planes of the flash in a unit, each of which may read a row of its own.
    pub const fn slots_per_unit(&self) -> u32 {
        self.planes_per_unit() * self.row_planes
    }

    /// How many of the first `pages` logical pages have their home in the plane that has most of them.
    pub const fn pages_of_fullest_plane(&self, pages: u32) -> u32 {
        let stripe = self.planes() * self.slots;
        let rest = pages % stripe;
        pages / stripe * self.slots + if rest < self.slots { rest } else { self.slots }
    }

    /// Raw capacity in bytes, spare bytes not counted.
    pub const fn raw_bytes(&self) -> u64 {
        self.planes() as u64 * self.pages_per_plane() as u64 * self.page_bytes as u64
    }

    /// The plane at `place`.
    pub const fn plane_at(&self, place: Place) -> PlaneId {
        let chip = place.channel * self.chips_per_channel + place.chip;
        PlaneId(((chip * self.dies_per_chip + place.die) * self.planes_per_die + place.plane) as u16)
    }

    /// Where `plane` is.
    pub const fn place_of(&self, plane: PlaneId) -> Place {
        let p = plane.0 as u32;
        let die = p / self.planes_per_die;
        let chip = die / self.dies_per_chip;
        Place {
            channel: chip / self.chips_per_channel,
            chip: chip % self.chips_per_channel,
            die: die % self.dies_per_chip,
            plane: p % self.planes_per_die,
        }
    }

    /// The unit that owns `plane`.
    pub const fn unit_of(&self, plane: PlaneId) -> UnitId {
        UnitId((plane.0 as u32 / self.planes_per_unit()) as u16)
    }

    /// The channel of `unit`.
    pub const fn channel_of(&self, unit: UnitId) -> ChannelId {
        ChannelId((unit.0 as u32 / self.units_per_channel()) as u16)
    }
}

/// Coordinates of a plane: each counted inside its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Channel of the device.
    pub channel: u32,
    /// Chip (way) of the channel.
    pub chip: u32,
    /// Die of the chip.
    pub die: u32,
    /// Plane of the die.
    pub plane: u32,
}

/// The order in which consecutive logical pages spread over the levels, fastest-changing first; `CWDP` is channel,
/// way, die, plane (Slacker §3.1 "plane chosen statically by striping", model 1.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocationOrder([Level; 4]);

/// A level of parallelism.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// `C`
    Channel,
    /// `W`: the chip on its channel.
    Way,
    /// `D`
    Die,
    /// `P`
    Plane,
}

impl AllocationOrder {
    /// Channel, way, die, plane.
    pub const CWDP: AllocationOrder = AllocationOrder([Level::Channel, Level::Way, Level::Die, Level::Plane]);

    /// All 24 orders, in the lexical order of their names.
    pub const NAMES: [&'static str; 24] = [
        "CDPW", "CDWP", "CPDW", "CPWD", "CWDP", "CWPD", "DCPW", "DCWP", "DPCW", "DPWC", "DWCP", "DWPC", "PCDW", "PCWD",
        "PDCW", "PDWC", "PWCD", "PWDC", "WCDP", "WCPD", "WDCP", "WDPC", "WPCD", "WPDC",
    ];

    /// The order named by four different letters of `C`, `W`, `D`, `P`.
    pub fn parse(name: &str) -> Option<AllocationOrder> {
        let bytes: &[u8; 4] = name.as_bytes().try_into().ok()?;
        let mut levels = [Level::Channel; 4];
        for (level, letter) in levels.iter_mut().zip(bytes) {
            *level = match letter {
                b'C' => Level::Channel,
                b'W' => Level::Way,
                b'D' => Level::Die,
                b'P' => Level::Plane,
                _ => return None,
            };
        }
        let distinct = (0..4).all(|i| (0..i).all(|j| levels[i] != levels[j]));
        distinct.then_some(AllocationOrder(levels))
    }

    /// The place of stripe position `position` (a logical page number modulo the number of planes).
    pub fn place(&self, geometry: &Geometry, position: u32) -> Place {
        let mut rest = position;
        let mut place = Place::default();
        for level in self.0 {
            let (count, slot) = match level {
                Level::Channel => (geometry.channels, &mut place.channel),
                Level::Way => (geometry.chips_per_channel, &mut place.chip),
                Level::Die => (geometry.dies_per_chip, &mut place.die),
                Level::Plane => (geometry.planes_per_die, &mut place.plane),
            };
            *slot = rest % count;
            rest /= count;
        }
        place
    }
}

/// Static striping as a table: logical page to home plane. A plane gets as many consecutive pages as a row has slots before the next does.
#[derive(Clone, Debug)]
pub struct Stripe {
    planes: Vec<PlaneId>,
    count: Divisor,
    slots: Divisor,
}

impl Stripe {
    /// The stripe of `order` over `geometry`.
    pub fn new(geometry: &Geometry, order: AllocationOrder) -> Stripe {
        let planes: Vec<PlaneId> =
            (0..geometry.planes()).map(|i| geometry.plane_at(order.place(geometry, i))).collect();
        Stripe { planes, count: Divisor::new(geometry.planes()), slots: Divisor::new(geometry.slots) }
    }

    /// The home plane of `lpn`, and which of that plane's logical pages it is.
    #[inline]
    pub fn home(&self, lpn: Lpn) -> (PlaneId, u32) {
        let (position, local) = self.split(lpn);
        (self.planes[position as usize], local)
    }

    /// The stripe position of the home plane of `lpn`, and which of that plane's logical pages it is.
    #[inline(always)]
    pub fn split(&self, lpn: Lpn) -> (u32, u32) {
        if self.slots.number() == 1 {
            let (local, position) = self.count.split(lpn.0.into());
            return (position as u32, local as u32);
        }
        let (row, slot) = self.slots.split(lpn.0.into());
        let (local, position) = self.count.split(row);
        (position as u32, (local * self.slots.number() + slot) as u32)
    }

    /// The logical page that is number `local` of the plane at a stripe position: the inverse of [`Stripe::split`].
    #[inline(always)]
    pub fn lpn_of(&self, position: u32, local: u32) -> Lpn {
        let planes = self.planes.len() as u32;
        if self.slots.number() == 1 {
            return Lpn(local * planes + position);
        }
        let (row, slot) = self.slots.split(local.into());
        Lpn((row as u32 * planes + position) * self.slots.number() as u32 + slot as u32)
    }

    /// How many of the first `pages` logical pages have their home at a stripe position.
    pub fn pages_at(&self, position: u32, pages: u32) -> u32 {
        let (rows, rest) = self.slots.split(pages.into());
        let (whole, further) = self.count.split(rows);
        let own = match further.cmp(&u64::from(position)) {
            Ordering::Less => 0,
            Ordering::Equal => rest,
            Ordering::Greater => self.slots.number(),
        };
        (whole * self.slots.number() + own) as u32
    }

    /// The stripe position of each plane.
    pub fn positions(&self) -> Vec<u32> {
        let mut positions = alloc::vec![0; self.planes.len()];
        for (position, plane) in self.planes.iter().enumerate() {
            positions[plane.index()] = position as u32;
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slacker() -> Geometry {
        Geometry {
            channels: 4,
            chips_per_channel: 4,
            dies_per_chip: 4,
            planes_per_die: 2,
            blocks_per_plane: 4096,
            pages_per_block: 256,
            page_bytes: 8192,
            metadata_bytes: 448,
            slots: 1,
            row_planes: 1,
            unit: UnitKind::Chip,
        }
    }

    /// A-SLK-12.
    #[test]
    fn cwdp_on_the_slacker_geometry() {
        let g = slacker();
        let expect = [
            (0, (0, 0, 0, 0)),
            (1, (1, 0, 0, 0)),
            (5, (1, 1, 0, 0)),
            (17, (1, 0, 1, 0)),
            (63, (3, 3, 3, 0)),
            (64, (0, 0, 0, 1)),
            (100, (0, 1, 2, 1)),
            (127, (3, 3, 3, 1)),
            (128, (0, 0, 0, 0)),
        ];
        let stripe = Stripe::new(&g, AllocationOrder::CWDP);
        for (lpn, (channel, chip, die, plane)) in expect {
            let place = g.place_of(stripe.home(Lpn(lpn)).0);
            assert_eq!((place.channel, place.chip, place.die, place.plane), (channel, chip, die, plane), "lpn {lpn}");
        }
    }

    #[test]
    fn every_order_is_a_permutation_of_the_planes() {
        for (kind, slots) in [(UnitKind::Chip, 1), (UnitKind::Die, 1), (UnitKind::Die, 4), (UnitKind::Chip, 6)] {
            let g = Geometry { channels: 3, unit: kind, slots, ..slacker() };
            for name in AllocationOrder::NAMES {
                let stripe = Stripe::new(&g, AllocationOrder::parse(name).unwrap());
                let positions = stripe.positions();
                let mut pages = alloc::vec![0; g.planes() as usize];
                for lpn in 0..3_000 {
                    let (plane, local) = stripe.home(Lpn(lpn));
                    let position = positions[plane.index()];
                    assert_eq!(position, lpn / slots % g.planes(), "{name}");
                    assert_eq!((stripe.lpn_of(position, local), pages[position as usize]), (Lpn(lpn), local), "{name}");
                    pages[position as usize] += 1;
                    let of_any = |at: u32| stripe.pages_at(at, lpn + 1) == pages[at as usize];
                    assert!(of_any(position) && of_any(lpn % g.planes()), "{name} {lpn}");
                    assert_eq!(g.pages_of_fullest_plane(lpn + 1), pages[0], "{name} {lpn}");
                }
                let mut seen = positions.clone();
                seen.sort_unstable();
                assert!(seen.iter().enumerate().all(|(i, &p)| i as u32 == p), "{name}");
            }
        }
    }

    #[test]
    fn a_name_that_is_not_an_order_is_refused() {
        for name in ["", "CWD", "CWDPP", "CWDD", "cwdp", "CWDX"] {
            assert!(AllocationOrder::parse(name).is_none(), "{name}");
        }
        assert_eq!(AllocationOrder::parse("CWDP"), Some(AllocationOrder::CWDP));
    }
}
