//! The transactions of one command, and which may share it.

use crate::board::Board;
use crate::id::TxnId;
use crate::transaction::{FlashOp, Transaction};

/// The transactions of one command.
#[derive(Clone, Debug)]
pub struct Group {
    members: [TxnId; Group::MAX],
    len: usize,
    used: u64,
}

impl Group {
    /// Largest number of planes of a unit.
    pub const MAX: usize = 64;

    /// An empty group.
    pub const fn new() -> Group {
        Group { members: [TxnId::NONE; Group::MAX], len: 0, used: 0 }
    }

    /// Removes all members.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.used = 0;
    }

    /// Adds a transaction; the first is the lead.
    #[inline]
    pub fn push(&mut self, board: &Board, txn: TxnId) {
        self.members[self.len] = txn;
        self.len += 1;
        self.used |= 1 << board.txn(txn).slot;
    }

    /// The members, lead first.
    #[inline]
    pub fn members(&self) -> &[TxnId] {
        &self.members[..self.len]
    }

    /// The lead, or [`TxnId::NONE`].
    #[inline]
    pub fn lead(&self) -> TxnId {
        if self.len == 0 { TxnId::NONE } else { self.members[0] }
    }

    /// Plane slots of the members, one bit for each.
    #[inline]
    pub const fn used(&self) -> u64 {
        self.used
    }
}

impl Default for Group {
    fn default() -> Group {
        Group::new()
    }
}

impl Board {
    /// Whether `other` may join the command of `group`: same operation, a plane no member uses yet, the die and page
    /// rules of the device (model 0.4), a free page for a program, and no older write of its page that waits.
    #[inline]
    pub fn may_join(&self, group: &Group, other: TxnId) -> bool {
        let (a, b) = (self.txn(group.lead()), self.txn(other));
        let used = group.used();
        if used >> b.slot & 1 == 1 || b.op != a.op || !self.eligible(other) || !self.has_page(other) {
            return false;
        }
        let planes = self.slots_of_die(b.op);
        let shares_die = die_used(used, b.slot / planes, planes);
        if (shares_die && !self.facts.multi_plane) || (b.slot / planes != a.slot / planes && !self.facts.multi_die) {
            return false;
        }
        !shares_die || !self.facts.same_page[b.op.index()] || self.pages_match(group, b)
    }

    /// Plane slots of a die ([`Transaction::slot`]) for an operation.
    #[inline(always)]
    pub fn slots_of_die(&self, op: FlashOp) -> u8 {
        let geometry = &self.facts.geometry;
        (geometry.planes_per_die * if op == FlashOp::Read { geometry.row_planes } else { 1 }) as u8
    }

    /// Whether `b` has the same page offset as the members of `group` on its die.
    fn pages_match(&self, group: &Group, b: &Transaction) -> bool {
        let planes = self.slots_of_die(b.op);
        let offset = |txn: &Transaction| match txn.op {
            FlashOp::Program => self.plane(txn.plane).next_page,
            FlashOp::Read | FlashOp::Erase => self.facts.geometry.row_in_block(txn.ppa),
        };
        let members = group.members().iter().map(|&id| self.txn(id));
        members.filter(|a| a.slot / planes == b.slot / planes).all(|a| offset(a) == offset(b))
    }
}

/// Whether a bit of `used` is set for a plane slot of the die `die`; each die of the unit has `planes` slots.
#[inline]
fn die_used(used: u64, die: u8, planes: u8) -> bool {
    used >> (die * planes) & ((1u64 << planes) - 1) != 0
}
