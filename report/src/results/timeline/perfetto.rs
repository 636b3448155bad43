//! Perfetto's trace format: packets of protobuf, by the field numbers of `perfetto/trace/trace_packet.proto` and
//! `track_event.proto`, in compressed groups.
//!
//! Only the fields used here are declared.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use prost::Message;
use rustc_hash::FxHashMap;

use super::slice::{Slice, Track};

#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(super) packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub(super) sequence_flags: Option<u32>,
    #[prost(bytes = "vec", optional, tag = "50")]
    pub(super) compressed_packets: Option<Vec<u8>>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub(super) debug_annotations: Vec<DebugAnnotation>,
    /// 1 begin of a slice, 2 its end, 4 a counter.
    #[prost(int32, optional, tag = "9")]
    pub(super) r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
    #[prost(int64, optional, tag = "30")]
    pub(super) counter_value: Option<i64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub(super) flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub(super) terminating_flow_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) uint_value: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "2")]
    pub(super) event_names: Vec<Name>,
    #[prost(message, repeated, tag = "3")]
    pub(super) debug_annotation_names: Vec<Name>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Name {
    #[prost(uint64, optional, tag = "1")]
    pub(super) iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(super) counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CounterDescriptor {}

/// Types of a track event.
pub(super) const BEGIN: i32 = 1;
pub(super) const END: i32 = 2;
pub(super) const COUNTER: i32 = 4;

/// The writer's only sequence of packets.
const SEQUENCE: u32 = 1;
/// The state of names begins anew; packets that need names say so.
const CLEARED: u32 = 1;
const NEEDS: u32 = 2;

/// Packets in a compressed group.
const GROUP: usize = 8_192;
/// How hard groups are compressed: a third of the time of zlib's default, and 6 % larger.
const LEVEL: Compression = Compression::new(4);

pub(super) struct Perfetto<W: Write> {
    out: W,
    packets: Vec<Packet>,
    tracks: u64,
    names: FxHashMap<&'static str, u64>,
    annotations: FxHashMap<&'static str, u64>,
    begun: bool,
}

impl<W: Write> Perfetto<W> {
    pub(super) fn new(out: W) -> Perfetto<W> {
        let (names, annotations) = (FxHashMap::default(), FxHashMap::default());
        Perfetto { out, packets: Vec::new(), tracks: 0, names, annotations, begun: false }
    }

    pub(super) fn track(&mut self, name: &str, parent: Option<Track>, counter: bool) -> io::Result<Track> {
        self.tracks += 1;
        let descriptor = TrackDescriptor {
            uuid: Some(self.tracks),
            name: Some(name.to_owned()),
            parent_uuid: parent,
            counter: counter.then(CounterDescriptor::default),
        };
        self.push(Packet { track_descriptor: Some(descriptor), ..Packet::default() })?;
        Ok(self.tracks)
    }

    pub(super) fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        self.begin(slice)?;
        self.end(slice.track, slice.until)
    }

    pub(super) fn begin(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let mut new = InternedData::default();
        let name_iid = Some(interned(&mut self.names, slice.name, &mut new.event_names));
        let printed = [slice.value, slice.second].into_iter().flatten();
        let debug_annotations = printed.map(|(name, value)| DebugAnnotation {
            name_iid: Some(interned(&mut self.annotations, name, &mut new.debug_annotation_names)),
            uint_value: Some(value),
        });
        let begin = TrackEvent {
            debug_annotations: debug_annotations.collect(),
            r#type: Some(BEGIN),
            name_iid,
            track_uuid: Some(slice.track),
            flow_ids: slice.leaves.to_vec(),
            terminating_flow_ids: slice.arrives.to_vec(),
            counter_value: None,
        };
        let interned_data = (new != InternedData::default()).then_some(new);
        self.event(slice.begun, begin, interned_data)
    }

    pub(super) fn end(&mut self, track: Track, at: u64) -> io::Result<()> {
        self.event(at, TrackEvent { r#type: Some(END), track_uuid: Some(track), ..TrackEvent::default() }, None)
    }

    pub(super) fn counter(&mut self, track: Track, at: u64, value: i64) -> io::Result<()> {
        let counter_value = Some(value);
        let event =
            TrackEvent { r#type: Some(COUNTER), track_uuid: Some(track), counter_value, ..TrackEvent::default() };
        self.event(at, event, None)
    }

    fn event(&mut self, at: u64, event: TrackEvent, interned_data: Option<InternedData>) -> io::Result<()> {
        self.push(Packet {
            timestamp: Some(at),
            trusted_packet_sequence_id: Some(SEQUENCE),
            track_event: Some(event),
            interned_data,
            sequence_flags: Some(if self.begun { NEEDS } else { CLEARED | NEEDS }),
            ..Packet::default()
        })?;
        self.begun = true;
        Ok(())
    }

    fn push(&mut self, packet: Packet) -> io::Result<()> {
        self.packets.push(packet);
        if self.packets.len() >= GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the packets as one packet that holds them compressed.
    fn flush(&mut self) -> io::Result<()> {
        let group = Trace { packet: std::mem::take(&mut self.packets) };
        let mut encoder = ZlibEncoder::new(Vec::new(), LEVEL);
        encoder.write_all(&group.encode_to_vec())?;
        let compressed = Packet { compressed_packets: Some(encoder.finish()?), ..Packet::default() };
        self.out.write_all(&Trace { packet: vec![compressed] }.encode_to_vec())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The number of a name, which is declared when it comes for the first time.
fn interned(known: &mut FxHashMap<&'static str, u64>, name: &'static str, new: &mut Vec<Name>) -> u64 {
    let next = known.len() as u64 + 1;
    *known.entry(name).or_insert_with(|| {
        new.push(Name { iid: Some(next), name: Some(name.to_owned()) });
        next
    })
}
