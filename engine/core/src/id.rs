//! Ids: small integers that index the board's tables.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub $int);

        impl $name {
            /// The id as a table index.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A host submission queue: one tenant, one trace, one virtual machine.
    FlowId(u16)
}
id! {
    /// A channel: the bus that a group of chips shares.
    ChannelId(u16)
}
id! {
    /// A scheduling unit, which owns its queues and is busy or idle as a whole: a chip or a die, by configuration. Units are
    /// numbered channel by channel, then way, then (when the unit is the die) die.
    UnitId(u16)
}
id! {
    /// A plane, numbered unit by unit: the planes of a unit have consecutive numbers.
    PlaneId(u16)
}
id! {
    /// A queue of waiting transactions: see [`crate::board::QueueKind`].
    QueueId(u32)
}
id! {
    /// A slot in the transaction slab. Reused once the transaction has ended; [`crate::Transaction::serial`] is not.
    TxnId(u32)
}
id! {
    /// The id the host gave a request; unique in a run.
    RequestId(u64)
}

impl TxnId {
    /// "No transaction."
    pub const NONE: TxnId = TxnId(u32::MAX);

    /// Whether this names a transaction.
    #[inline(always)]
    pub const fn is_some(self) -> bool {
        self.0 != u32::MAX
    }

    /// Whether this is [`TxnId::NONE`].
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }
}

impl UnitId {
    /// "No unit."
    pub const NONE: UnitId = UnitId(u16::MAX);
}
