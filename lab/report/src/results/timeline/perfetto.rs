//! Perfetto's trace format: packets of protobuf, by the field numbers of `perfetto/trace/trace_packet.proto` and
//! `track_event.proto`, in compressed groups.
//!
//! Only the fields used here are written.

use std::io::{self, Write};

use super::groups::Groups;
use super::protobuf::Message;
use super::slice::{Slice, Track};

/// Fields of a packet.
mod packet {
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const FLAGS: u32 = 13;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
}

/// Fields of a track event.
mod event {
    pub(super) const ANNOTATION: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME: u32 = 10;
    pub(super) const TRACK: u32 = 11;
    pub(super) const COUNTER: u32 = 30;
    pub(super) const FLOW: u32 = 47;
    pub(super) const TERMINATING_FLOW: u32 = 48;
}

/// Fields of a debug annotation.
mod annotation {
    pub(super) const NAME: u32 = 1;
    pub(super) const UINT: u32 = 3;
}

/// Fields of interned data, and of each name in them.
mod interned {
    pub(super) const EVENT_NAME: u32 = 2;
    pub(super) const ANNOTATION_NAME: u32 = 3;
    pub(super) const IID: u32 = 1;
    pub(super) const NAME: u32 = 2;
}

/// Fields of a track descriptor.
mod descriptor {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
}

/// Field of a file, and of a compressed group.
const PACKET: u32 = 1;

/// Types of a track event.
const BEGIN: u64 = 1;
const END: u64 = 2;
const COUNTER: u64 = 4;

/// The writer's only sequence of packets.
const SEQUENCE: u64 = 1;
/// The state of names begins anew; packets that need names say so.
const CLEARED: u64 = 1;
const NEEDS: u64 = 2;

/// Packets in a compressed group.
const GROUP: usize = 8_192;

pub(super) struct Perfetto<W: Write> {
    out: Groups<W>,
    /// The packets of the group that is filled, and their number.
    group: Message,
    packets: usize,
    tracks: u64,
    names: Names,
    annotations: Names,
    begun: bool,
}

/// Names that are declared when they come for the first time; a name's number is its place, counted from 1. There are a dozen at most.
#[derive(Default)]
struct Names(Vec<&'static str>);

impl Names {
    /// The number of a name, and whether it is new.
    fn number(&mut self, name: &'static str) -> (u64, bool) {
        let known = self.0.iter().position(|known| *known == name);
        let place = known.unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        });
        (place as u64 + 1, known.is_none())
    }
}

impl<W: Write + Send + 'static> Perfetto<W> {
    /// Compresses on a thread of its own if `apart`.
    pub(super) fn new(out: W, apart: bool) -> io::Result<Perfetto<W>> {
        let (names, annotations) = (Names::default(), Names::default());
        let out = Groups::new(out, apart)?;
        Ok(Perfetto { out, group: Message::default(), packets: 0, tracks: 0, names, annotations, begun: false })
    }

    pub(super) fn track(&mut self, name: &str, parent: Option<Track>, counter: bool) -> io::Result<Track> {
        self.tracks += 1;
        let uuid = self.tracks;
        self.packet(|packet| {
            packet.message(packet::TRACK_DESCRIPTOR, |descriptor| {
                descriptor.uint(descriptor::UUID, uuid);
                descriptor.bytes(descriptor::NAME, name.as_bytes());
                if let Some(parent) = parent {
                    descriptor.uint(descriptor::PARENT, parent);
                }
                if counter {
                    descriptor.bytes(descriptor::COUNTER, &[]);
                }
            });
        })?;
        Ok(uuid)
    }

    pub(super) fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        self.begin(slice)?;
        self.end(slice.track, slice.until)
    }

    pub(super) fn begin(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let (name, is_new) = self.names.number(slice.name);
        let mut arguments = [None; 2];
        for (argument, shown) in arguments.iter_mut().zip([slice.value, slice.second].into_iter().flatten()) {
            *argument = Some((self.annotations.number(shown.0), shown));
        }
        let declares = is_new || arguments.iter().flatten().any(|((_, is_new), _)| *is_new);
        let declare = |data: &mut Message| {
            if is_new {
                data.message(interned::EVENT_NAME, |entry| declaration(entry, name, slice.name));
            }
            for ((number, is_new), (name, _)) in arguments.into_iter().flatten() {
                if is_new {
                    data.message(interned::ANNOTATION_NAME, |entry| declaration(entry, number, name));
                }
            }
        };
        let begin = |event: &mut Message| {
            for ((number, _), (_, value)) in arguments.into_iter().flatten() {
                event.message(event::ANNOTATION, |annotation| {
                    annotation.uint(annotation::NAME, number);
                    annotation.uint(annotation::UINT, value);
                });
            }
            event.uint(event::TYPE, BEGIN);
            event.uint(event::NAME, name);
            event.uint(event::TRACK, slice.track);
            slice.leaves.iter().for_each(|id| event.fixed(event::FLOW, *id));
            slice.arrives.iter().for_each(|id| event.fixed(event::TERMINATING_FLOW, *id));
        };
        self.event(slice.begun, NEEDS, begin, declares.then_some(declare))
    }

    pub(super) fn end(&mut self, track: Track, at: u64) -> io::Result<()> {
        let end = |event: &mut Message| {
            event.uint(event::TYPE, END);
            event.uint(event::TRACK, track);
        };
        self.event(at, 0, end, None::<fn(&mut Message)>)
    }

    pub(super) fn counter(&mut self, track: Track, at: u64, value: i64) -> io::Result<()> {
        let count = |event: &mut Message| {
            event.uint(event::TYPE, COUNTER);
            event.uint(event::TRACK, track);
            event.uint(event::COUNTER, value as u64);
        };
        self.event(at, 0, count, None::<fn(&mut Message)>)
    }

    /// Writes a track event, with the names that it declares; `needs` says whether it needs names.
    fn event(
        &mut self,
        at: u64,
        needs: u64,
        event: impl FnOnce(&mut Message),
        declare: Option<impl FnOnce(&mut Message)>,
    ) -> io::Result<()> {
        let flags = if std::mem::replace(&mut self.begun, true) { needs } else { CLEARED | needs };
        self.packet(|packet| {
            packet.uint(packet::TIMESTAMP, at);
            packet.uint(packet::SEQUENCE, SEQUENCE);
            packet.message(packet::TRACK_EVENT, event);
            if let Some(declare) = declare {
                packet.message(packet::INTERNED_DATA, declare);
            }
            if flags != 0 {
                packet.uint(packet::FLAGS, flags);
            }
        })
    }

    fn packet(&mut self, write: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.group.message(PACKET, write);
        self.packets += 1;
        if self.packets >= GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.packets = 0;
        self.out.push(self.group.take())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.finish()
    }
}

/// That a name has a number.
fn declaration(entry: &mut Message, number: u64, name: &str) {
    entry.uint(interned::IID, number);
    entry.bytes(interned::NAME, name.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use prost::Message as _;

    use super::*;

    // The same fields by the names that they have in Perfetto's files, encoded by a library.

    #[derive(Clone, PartialEq, prost::Message)]
    struct Trace {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<Packet>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Packet {
        #[prost(uint64, optional, tag = "8")]
        timestamp: Option<u64>,
        #[prost(uint32, optional, tag = "10")]
        trusted_packet_sequence_id: Option<u32>,
        #[prost(message, optional, tag = "11")]
        track_event: Option<TrackEvent>,
        #[prost(message, optional, tag = "12")]
        interned_data: Option<InternedData>,
        #[prost(uint32, optional, tag = "13")]
        sequence_flags: Option<u32>,
        #[prost(bytes = "vec", optional, tag = "50")]
        compressed_packets: Option<Vec<u8>>,
        #[prost(message, optional, tag = "60")]
        track_descriptor: Option<TrackDescriptor>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct TrackEvent {
        #[prost(message, repeated, tag = "4")]
        debug_annotations: Vec<DebugAnnotation>,
        /// 1 begin of a slice, 2 its end, 4 a counter.
        #[prost(int32, optional, tag = "9")]
        r#type: Option<i32>,
        #[prost(uint64, optional, tag = "10")]
        name_iid: Option<u64>,
        #[prost(uint64, optional, tag = "11")]
        track_uuid: Option<u64>,
        #[prost(int64, optional, tag = "30")]
        counter_value: Option<i64>,
        #[prost(fixed64, repeated, packed = "false", tag = "47")]
        flow_ids: Vec<u64>,
        #[prost(fixed64, repeated, packed = "false", tag = "48")]
        terminating_flow_ids: Vec<u64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct DebugAnnotation {
        #[prost(uint64, optional, tag = "1")]
        name_iid: Option<u64>,
        #[prost(uint64, optional, tag = "3")]
        uint_value: Option<u64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct InternedData {
        #[prost(message, repeated, tag = "2")]
        event_names: Vec<Name>,
        #[prost(message, repeated, tag = "3")]
        debug_annotation_names: Vec<Name>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Name {
        #[prost(uint64, optional, tag = "1")]
        iid: Option<u64>,
        #[prost(string, optional, tag = "2")]
        name: Option<String>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct TrackDescriptor {
        #[prost(uint64, optional, tag = "1")]
        uuid: Option<u64>,
        #[prost(string, optional, tag = "2")]
        name: Option<String>,
        #[prost(uint64, optional, tag = "5")]
        parent_uuid: Option<u64>,
        #[prost(message, optional, tag = "8")]
        counter: Option<CounterDescriptor>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct CounterDescriptor {}

    /// The packets of a file, decoded by the library and encoded again.
    fn through_the_library(file: &[u8]) -> (Vec<Packet>, Vec<u8>) {
        let mut inside = Vec::new();
        for group in Trace::decode(file).expect("a file").packet {
            let compressed = group.compressed_packets.expect("a compressed group");
            flate2::read::ZlibDecoder::new(compressed.as_slice()).read_to_end(&mut inside).expect("zlib");
        }
        let trace = Trace::decode(inside.as_slice()).expect("packets");
        assert!(trace.encode_to_vec() == inside, "the library writes the same bytes");
        (trace.packet, inside)
    }

    /// A file with everything that is written; on how many threads makes no difference to a byte of it.
    fn file(apart: bool) -> Vec<u8> {
        let mut sink = Perfetto::new(Vec::new(), apart).expect("a thread");
        let flow = sink.track("flow a", None, false).expect("memory");
        let lane = sink.track(&"long name ".repeat(40), Some(flow), false).expect("memory");
        let counter = sink.track("waiting", Some(lane), true).expect("memory");
        let many: Vec<u64> = (0..3_000).map(|number| number << 40).collect();
        for at in 0..20_000u64 {
            let slice = Slice { value: Some(("page", at * at * at)), ..Slice::plain(lane, "read", at << 20, at << 21) };
            let slice =
                Slice { second: (at % 3 == 0).then_some(("pages", at)), arrives: &many[..at as usize % 4], ..slice };
            sink.slice(&slice).expect("memory");
            sink.counter(counter, at << 22, at as i64 - 10_000).expect("memory");
        }
        let large = Slice { leaves: &many, ..Slice::plain(lane, "write", 5, u64::MAX) };
        sink.slice(&large).expect("memory");
        sink.finish().expect("memory")
    }

    #[test]
    fn the_library_writes_the_same_packets() {
        let bytes = file(false);
        let (packets, inside) = through_the_library(&bytes);
        assert_eq!(packets.len(), 3 + 3 * 20_000 + 2);
        assert!(inside.len() > 20_000 * 60);
        let begin = TrackEvent {
            debug_annotations: [(1, 27), (2, 3)]
                .map(|(iid, value)| DebugAnnotation { name_iid: Some(iid), uint_value: Some(value) })
                .to_vec(),
            r#type: Some(BEGIN as i32),
            name_iid: Some(1),
            track_uuid: Some(2),
            terminating_flow_ids: vec![0, 1 << 40, 2 << 40],
            ..TrackEvent::default()
        };
        let packet = Packet {
            timestamp: Some(3 << 20),
            trusted_packet_sequence_id: Some(1),
            track_event: Some(begin),
            sequence_flags: Some(2),
            ..Packet::default()
        };
        assert_eq!(packets[3 + 3 * 3], packet);
        let name = |iid, name: &str| Name { iid: Some(iid), name: Some(name.to_owned()) };
        let declared = InternedData {
            event_names: vec![name(1, "read")],
            debug_annotation_names: vec![name(1, "page"), name(2, "pages")],
        };
        assert_eq!((packets[3].interned_data.as_ref(), packets[3].sequence_flags), (Some(&declared), Some(3)));
        let count = packets[5].track_event.as_ref().expect("a counter");
        assert_eq!((count.r#type, count.counter_value), (Some(4), Some(-10_000)));
        let track = packets[2].track_descriptor.as_ref().expect("a track");
        assert_eq!((track.parent_uuid, &track.counter), (Some(2), &Some(CounterDescriptor {})));
        let last = packets[3 + 3 * 20_000].track_event.as_ref().expect("a slice");
        assert_eq!(last.flow_ids.len(), 3_000);
    }

    #[test]
    fn a_thread_of_its_own_writes_the_same_bytes() {
        assert!(file(true) == file(false));
    }

    /// A file that takes so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("no space"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_written_is_an_error_on_either_thread() {
        for (apart, bytes) in [(false, 100), (true, 100), (true, 100_000)] {
            let mut sink = Perfetto::new(Full(bytes), apart).expect("a thread");
            let failed = (0..2_000_000).find_map(|at| sink.counter(1, at * 7_919 % 1_000_003, at as i64).err());
            let error = failed.or_else(|| sink.finish().err()).expect("an error");
            assert_eq!(error.to_string(), "no space", "{apart} {bytes}");
        }
    }
}
