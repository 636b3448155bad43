//! The tracks of a device, and lanes for the requests of a flow, which overlap in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use flashlane_core::geometry::UnitKind;
use flashlane_core::{ChannelId, FlowId, Geometry, PlaneId, UnitId};

use super::sink::Sink;
use super::slice::Track;

/// A counter of what waits at a unit.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Reads,
    Writes,
    Moves,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Reads, Kind::Writes, Kind::Moves];

    const fn title(self) -> &'static str {
        match self {
            Kind::Reads => "waiting reads",
            Kind::Writes => "waiting writes",
            Kind::Moves => "waiting collection",
        }
    }
}

/// The numbers of tracks, by place.
pub(super) struct Tracks {
    geometry: Geometry,
    channels: Vec<Track>,
    units: Vec<Track>,
    dies: Vec<Track>,
    counters: Vec<[Track; 3]>,
    flows: Vec<Flow>,
}

struct Flow {
    name: String,
    group: Track,
    lanes: Vec<Track>,
    /// Lanes in which no request is shown now.
    free: BinaryHeap<Reverse<usize>>,
    /// Lanes of what a block layer held back, each with the instant at which it is free.
    above: Vec<(Track, u64)>,
}

impl Tracks {
    /// Declares the tracks of the device and of the flows.
    pub(super) fn new<W: Write + Send + 'static>(
        geometry: Geometry,
        flows: &[String],
        sink: &mut Sink<W>,
    ) -> io::Result<Tracks> {
        let mut tracks = Tracks {
            geometry,
            channels: Vec::new(),
            units: Vec::new(),
            dies: Vec::new(),
            counters: Vec::new(),
            flows: Vec::new(),
        };
        for name in flows {
            let group = sink.track(&format!("flow {name}"), None)?;
            tracks.flows.push(Flow {
                name: name.clone(),
                group,
                lanes: Vec::new(),
                free: BinaryHeap::new(),
                above: Vec::new(),
            });
        }
        for channel in 0..geometry.channels {
            let bus = sink.track(&format!("channel {channel}"), None)?;
            tracks.channels.push(bus);
            for chip in 0..geometry.chips_per_channel {
                // Where dies take commands of their own, a chip would have a track with nothing on it.
                let above = match geometry.unit {
                    UnitKind::Chip => sink.track(&format!("chip {channel}.{chip}"), Some(bus))?,
                    UnitKind::Die => bus,
                };
                if geometry.unit == UnitKind::Chip {
                    tracks.unit_track(above, sink)?;
                }
                for die in 0..geometry.dies_per_chip {
                    let track = sink.track(&format!("die {channel}.{chip}.{die}"), Some(above))?;
                    tracks.dies.push(track);
                    if geometry.unit == UnitKind::Die {
                        tracks.unit_track(track, sink)?;
                    }
                }
            }
        }
        Ok(tracks)
    }

    /// Makes `track` that of the next unit, with its counters below.
    fn unit_track<W: Write + Send + 'static>(&mut self, track: Track, sink: &mut Sink<W>) -> io::Result<()> {
        self.units.push(track);
        let mut counters = [track; 3];
        for (counter, kind) in counters.iter_mut().zip(Kind::ALL) {
            *counter = sink.counter_track(kind.title(), track)?;
        }
        self.counters.push(counters);
        Ok(())
    }

    pub(super) fn channel(&self, channel: ChannelId) -> Track {
        self.channels[channel.index()]
    }

    pub(super) fn unit(&self, unit: UnitId) -> Track {
        self.units[unit.index()]
    }

    pub(super) fn counter(&self, unit: usize, kind: Kind) -> Track {
        self.counters[unit][kind as usize]
    }

    /// The number of the die of a plane.
    pub(super) fn die_of(&self, plane: PlaneId) -> u32 {
        let place = self.geometry.place_of(plane);
        let chip = place.channel * self.geometry.chips_per_channel + place.chip;
        chip * self.geometry.dies_per_chip + place.die
    }

    pub(super) fn die(&self, die: u32) -> Track {
        self.dies[die as usize]
    }

    /// Whether dies have tracks beside those of units.
    pub(super) fn dies_apart(&self) -> bool {
        self.geometry.unit == UnitKind::Chip
    }

    /// The first lane of the flow in which no request is shown now.
    pub(super) fn take_lane<W: Write + Send + 'static>(
        &mut self,
        flow: FlowId,
        sink: &mut Sink<W>,
    ) -> io::Result<usize> {
        let flow = &mut self.flows[flow.index()];
        if let Some(Reverse(free)) = flow.free.pop() {
            return Ok(free);
        }
        let track = sink.track(&format!("{} {}", flow.name, flow.lanes.len() + 1), Some(flow.group))?;
        flow.lanes.push(track);
        Ok(flow.lanes.len() - 1)
    }

    /// The first lane of the flow's waits above the drive that is free from `since` on; it is taken until `until`.
    pub(super) fn lane_above<W: Write + Send + 'static>(
        &mut self,
        flow: FlowId,
        (since, until): (u64, u64),
        sink: &mut Sink<W>,
    ) -> io::Result<Track> {
        let flow = &mut self.flows[flow.index()];
        if let Some((track, free)) = flow.above.iter_mut().find(|(_, free)| *free <= since) {
            *free = until;
            return Ok(*track);
        }
        let name = format!("{} above the drive {}", flow.name, flow.above.len() + 1);
        let track = sink.track(&name, Some(flow.group))?;
        flow.above.push((track, until));
        Ok(track)
    }

    pub(super) fn lane(&self, flow: FlowId, lane: usize) -> Track {
        self.flows[flow.index()].lanes[lane]
    }

    pub(super) fn free_lane(&mut self, flow: FlowId, lane: usize) {
        self.flows[flow.index()].free.push(Reverse(lane));
    }
}
