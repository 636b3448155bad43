//! What is drawn: slices on tracks, whatever the format.

/// The number of a track.
pub(super) type Track = u64;

/// Something that takes time on a track.
#[derive(Clone, Copy)]
pub(super) struct Slice<'a> {
    pub(super) track: Track,
    pub(super) name: &'static str,
    /// From and to, ns.
    pub(super) begun: u64,
    pub(super) until: u64,
    /// Its arguments: a name and a number, twice.
    pub(super) value: Option<(&'static str, u64)>,
    pub(super) second: Option<(&'static str, u64)>,
    /// Arrows that leave here, and that end here.
    pub(super) leaves: &'a [u64],
    pub(super) arrives: &'a [u64],
}

impl Slice<'_> {
    /// A slice without arguments.
    pub(super) const fn plain(track: Track, name: &'static str, begun: u64, until: u64) -> Slice<'static> {
        Slice { track, name, begun, until, value: None, second: None, leaves: &[], arrives: &[] }
    }
}
