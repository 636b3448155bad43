//! Classes of schedulers: a bound holds for all of a class.

/// What the schedulers of a class have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    /// Where they put writes.
    pub placement: Placement,
    /// Whether they program every write.
    pub writes: Writes,
}

/// Where writes go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// To the home of their page.
    Fixed,
    /// Anywhere; those that go home are among them.
    Free,
}

/// Whether every write is programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writes {
    /// Every one.
    Kept,
    /// One that waits may be dropped for another of its page; schedulers that drop none are among them.
    Dropped,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 4] = [
        Class { placement: Placement::Fixed, writes: Writes::Kept },
        Class { placement: Placement::Fixed, writes: Writes::Dropped },
        Class { placement: Placement::Free, writes: Writes::Kept },
        Class { placement: Placement::Free, writes: Writes::Dropped },
    ];

    /// The class's place in [`Class::ALL`].
    pub(crate) const fn index(self) -> usize {
        2 * self.placement as usize + self.writes as usize
    }
}
