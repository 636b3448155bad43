//! Alignment of starts.

/// Alignment of drawn starts. It is nearly always a power of two, for which a shift replaces the division: that would
/// be half the cost of a request.
#[derive(Clone, Debug)]
pub(super) struct Align {
    bytes: u64,
    shift: Option<u32>,
}

impl Align {
    pub(super) fn new(bytes: u64) -> Align {
        Align { bytes, shift: bytes.is_power_of_two().then(|| bytes.trailing_zeros()) }
    }

    /// The alignment, bytes.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many times the alignment fits into `span` bytes.
    #[inline]
    pub(super) fn count(&self, span: u64) -> u64 {
        self.shift.map_or_else(|| span / self.bytes, |shift| span >> shift)
    }
}
