//! Statistics of a trace: one pass, in memory bounded by the addresses it touches.
//!
//! Counts, sums, sizes and addresses are exact; percentiles of gaps are exact to three significant digits. Equal addresses of
//! different volumes are the same where a run has them overlaid, so that footprints are those of the run. Must never know a drive beyond its size.

use std::collections::BTreeMap;
use std::path::Path;

use flashlane_core::Op;
use flashlane_core::choice::Choice;
use hdrhistogram::Histogram;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::counts::{AdaptedRequest, TraceCounts, is_zero};
use super::input::{Origin, origins};
use super::source::TraceSource;
use super::{Format, RecordedRate, TimeUnit, TraceOptions, Volumes, error};
use flashlane_core::arrival::WorkloadError;

/// The page size for footprint and re-writes.
const PAGE_BYTES: u64 = 4096;
/// Pages in a word of a bit map, words in a block of it.
const WORD: u64 = 64;
const WORDS: usize = 8;

/// Request sizes in bytes.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Sizing {
    /// Requests counted.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Mean size.
    pub mean: f64,
    /// Smallest size.
    pub min: u64,
    /// Half of the requests are no larger.
    pub p50: u64,
    /// 90 % of the requests are no larger.
    pub p90: u64,
    /// 99 % of the requests are no larger.
    pub p99: u64,
    /// Largest size.
    pub max: u64,
}

impl Sizing {
    fn is_empty(&self) -> bool {
        self.requests == 0
    }
}

/// Time between an arrival and the next, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Gaps {
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation over mean: 1 for Poisson arrivals, more for bursts.
    pub variation: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99 % of the gaps are no longer.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Share of requests that arrive together with the one before.
    pub zero_share: f64,
}

/// The statistics of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceStat {
    /// The file.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Why it was read as that format.
    pub reason: String,
    /// What else was chosen or is left out, a sentence each; absent if nothing is to be said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The unit in which its times were read.
    pub time_unit: TimeUnit,
    /// Why they may be in another unit; null unless the rate is impossible.
    pub warning: Option<String>,
    /// Counts of what was read.
    pub counts: TraceCounts,
    /// Devices and their requests, in the order they appear.
    pub devices: Vec<(String, u64)>,
    /// Reads.
    pub reads: Sizing,
    /// Writes.
    pub writes: Sizing,
    /// Reads and writes together.
    pub all: Sizing,
    /// Trims; absent if there are none, as are the next three.
    #[serde(skip_serializing_if = "Sizing::is_empty")]
    pub trims: Sizing,
    /// Write zeroes.
    #[serde(skip_serializing_if = "Sizing::is_empty")]
    pub write_zeroes: Sizing,
    /// Flushes.
    #[serde(skip_serializing_if = "is_zero")]
    pub flushes: u64,
    /// Writes with force unit access.
    #[serde(skip_serializing_if = "is_zero")]
    pub fua_writes: u64,
    /// From the first arrival to the last, seconds, after the speed-up.
    pub span_s: f64,
    /// Reads and writes per second over the span, without those of its first instant, as a run counts what it is offered: n requests are n - 1
    /// gaps. Zero when it has no length.
    pub rate_iops: f64,
    /// Bytes that these read and write per second.
    pub rate_bytes_per_s: f64,
    /// The same of trims, write zeroes and flushes; absent without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_commands: Option<f64>,
    /// Most requests in any second counted from the first arrival.
    pub peak_iops: u64,
    /// First byte touched.
    pub first_byte: u64,
    /// One past the last byte touched: the size of drive that this trace needs.
    pub end_byte: u64,
    /// Bytes of the 4 KiB pages read or written, each counted once.
    pub footprint_bytes: u64,
    /// What the volumes of the trace share; absent if there is one, as is the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<&'static str>,
    /// The footprint with an address space for each volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footprint_apart_bytes: Option<u64>,
    /// Gaps between arrivals.
    pub gaps: Gaps,
    /// Share of reads and writes that start where the one before on the same device ended.
    pub sequential_share: f64,
    /// Share of written 4 KiB pages that had been written before.
    pub rewrite_share: f64,
    /// Share of reads and writes whose offset or size is no multiple of 4 KiB.
    pub unaligned_share: f64,
}

/// Reads the trace at `path` and returns its statistics on a drive of `capacity_bytes`, which may be `u64::MAX`.
///
/// # Errors
/// A trace that cannot be read, or that has nothing left under these options.
pub fn stat(path: &Path, options: &TraceOptions, capacity_bytes: u64) -> Result<TraceStat, WorkloadError> {
    measure(origins(path)?, path.display().to_string(), options, capacity_bytes)
}

impl TraceStat {
    /// The statistics as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("figures with text keys always have a JSON form");
        text.push('\n');
        text
    }

    /// Statistics of a trace in memory.
    pub fn of_bytes(name: &str, bytes: &[u8], options: &TraceOptions) -> Result<TraceStat, WorkloadError> {
        measure(vec![Origin::Bytes(name.to_owned(), bytes.into())], name.to_owned(), options, u64::MAX)
    }
}

fn measure(
    origins: Vec<Origin>,
    file: String,
    options: &TraceOptions,
    capacity_bytes: u64,
) -> Result<TraceStat, WorkloadError> {
    let mut source = TraceSource::of(origins, options, capacity_bytes)?;
    let mut collector = StatCollector::new();
    while let Some(request) = source.next_adapted()? {
        collector.add(request);
    }
    if collector.first_ns.is_none() {
        return Err(error(file, "every request was rejected; legal is a trace with at least one that is not"));
    }
    Ok(collector.finish(file, &source, options))
}

/// Counts of one device.
#[derive(Default)]
struct Device {
    requests: u64,
    next_offset: Option<u64>,
}

/// A block of the page bit maps: which pages were touched, which written.
#[derive(Default)]
struct Block {
    touched: [u64; WORDS],
    written: [u64; WORDS],
}

/// Pages of a trace, each counted once.
#[derive(Clone, Copy, Default)]
struct Pages {
    touched: u64,
    written: u64,
}

impl Pages {
    /// Those of these blocks, of which no two have the same.
    fn of<'a>(blocks: impl Iterator<Item = &'a Block>) -> Pages {
        let bits = |words: &[u64; WORDS]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        // Sums do not depend on the order of a map.
        blocks.fold(Pages::default(), |sum, block| Pages {
            touched: sum.touched + bits(&block.touched),
            written: sum.written + bits(&block.written),
        })
    }
}

/// The pages of all devices at the same addresses.
fn overlaid(blocks: &FxHashMap<(u32, u64), Block>) -> Pages {
    let mut shared: FxHashMap<u64, Block> = FxHashMap::default();
    // What is in any of them does not depend on the order of the map.
    blocks.iter().for_each(|((_, number), block)| {
        let all = shared.entry(*number).or_default();
        for word in 0..WORDS {
            all.touched[word] |= block.touched[word];
            all.written[word] |= block.written[word];
        }
    });
    Pages::of(shared.values())
}

/// Sums over one pass.
struct StatCollector {
    /// Requests of a size, by operation.
    sizes: [FxHashMap<u64, u64>; Op::ALL.len()],
    fua_writes: u64,
    devices: Vec<Device>,
    blocks: FxHashMap<(u32, u64), Block>,
    gaps: Histogram<u64>,
    gap_sum: f64,
    gap_squares: f64,
    zero_gaps: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    /// Reads and writes after the first instant, their bytes, and other requests after it.
    later: u64,
    later_bytes: u64,
    later_commands: u64,
    second: u64,
    in_second: u64,
    peak: u64,
    first_byte: u64,
    end_byte: u64,
    sequential: u64,
    unaligned: u64,
    written_pages: u64,
}

impl StatCollector {
    fn new() -> Self {
        StatCollector {
            sizes: Default::default(),
            fua_writes: 0,
            devices: Vec::new(),
            blocks: FxHashMap::default(),
            // Cannot fail: three is a legal number of digits.
            gaps: Histogram::new(3).expect("a histogram of three significant digits"),
            gap_sum: 0.0,
            gap_squares: 0.0,
            zero_gaps: 0,
            first_ns: None,
            last_ns: 0,
            later: 0,
            later_bytes: 0,
            later_commands: 0,
            second: 0,
            in_second: 0,
            peak: 0,
            first_byte: u64::MAX,
            end_byte: 0,
            sequential: 0,
            unaligned: 0,
            written_pages: 0,
        }
    }

    fn add(&mut self, r: AdaptedRequest) {
        *self.sizes[r.op.index()].entry(r.length).or_default() += 1;
        self.time(&r);
        self.fua_writes += u64::from(r.fua);
        let end = r.offset + r.length;
        if r.op != Op::Flush {
            self.first_byte = self.first_byte.min(r.offset);
            self.end_byte = self.end_byte.max(end);
        }
        let device = self.device(r.device);
        device.requests += 1;
        if !r.op.is_data() {
            return;
        }
        let goes_on = device.next_offset.replace(end) == Some(r.offset);
        self.sequential += u64::from(goes_on);
        self.unaligned += u64::from(!r.offset.is_multiple_of(PAGE_BYTES) || !r.length.is_multiple_of(PAGE_BYTES));
        self.touch(r.device, r.offset / PAGE_BYTES, (end - 1) / PAGE_BYTES, r.op);
    }

    fn device(&mut self, number: u32) -> &mut Device {
        let number = number as usize;
        if number >= self.devices.len() {
            self.devices.resize_with(number + 1, Device::default);
        }
        &mut self.devices[number]
    }

    fn time(&mut self, r: &AdaptedRequest) {
        let at_ns = r.at_ns;
        let first = *self.first_ns.get_or_insert(at_ns);
        match r.op.is_data() {
            _ if at_ns == first => {}
            true => (self.later, self.later_bytes) = (self.later + 1, self.later_bytes + r.length),
            false => self.later_commands += 1,
        }
        if self.peak > 0 {
            let gap = at_ns - self.last_ns;
            let recorded = self.gaps.record(gap);
            debug_assert!(recorded.is_ok(), "the histogram grows as it needs");
            self.gap_sum += gap as f64;
            self.gap_squares += (gap as f64) * (gap as f64);
            self.zero_gaps += u64::from(gap == 0);
        }
        self.last_ns = at_ns;
        let second = (at_ns - first) / 1_000_000_000;
        if second != self.second {
            (self.second, self.in_second) = (second, 0);
        }
        self.in_second += 1;
        self.peak = self.peak.max(self.in_second);
    }

    /// Marks the pages `from` to `to`.
    fn touch(&mut self, device: u32, from: u64, to: u64, op: Op) {
        let mut page = from;
        while page <= to {
            let block = self.blocks.entry((device, page / (WORD * WORDS as u64))).or_default();
            let word = (page / WORD) as usize % WORDS;
            let last = to.min(page | (WORD - 1));
            let count = (last - page + 1) as u32;
            let bits = (u64::MAX >> (64 - count)) << (page % WORD);
            block.touched[word] |= bits;
            if op == Op::Write {
                self.written_pages += u64::from(count);
                block.written[word] |= bits;
            }
            page = last + 1;
        }
    }

    fn finish(mut self, file: String, source: &TraceSource, options: &TraceOptions) -> TraceStat {
        let [reads, writes, trims, zeroes, flushes] = std::mem::take(&mut self.sizes).map(BTreeMap::from_iter);
        let mut both = reads.clone();
        for (size, count) in &writes {
            *both.entry(*size).or_default() += count;
        }
        let all = sizing(&both);
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let span_ns = (self.last_ns - self.first_ns.unwrap_or(0)) as f64;
        let span_s = span_ns / 1e9;
        let (format, time_unit) = (source.recognition().format, source.time_unit());
        let [trims, write_zeroes] = [trims, zeroes].map(|table| sizing(&table));
        let flushes = flushes.values().sum();
        let requests = all.requests + trims.requests + write_zeroes.requests + flushes;
        let recorded = RecordedRate { requests, bytes: all.bytes, span_ns: span_ns * options.speedup.factor() };
        let per_second = |amount: u64| if span_s > 0.0 { amount as f64 / span_s } else { 0.0 };
        let several = self.devices.iter().filter(|device| device.requests > 0).count() > 1;
        let apart = Pages::of(self.blocks.values());
        let pages = if several && options.volumes == Volumes::Overlaid { overlaid(&self.blocks) } else { apart };
        let names = source.devices().iter().map(|name| String::from_utf8_lossy(name).into_owned());
        TraceStat {
            file,
            format,
            reason: source.recognition().reason.clone(),
            notes: source.recognition().notes.clone(),
            time_unit,
            warning: recorded.warning(format, time_unit),
            counts: source.counts(),
            devices: names.zip(self.devices.iter().map(|d| d.requests)).filter(|(_, requests)| *requests > 0).collect(),
            reads: sizing(&reads),
            writes: sizing(&writes),
            all,
            trims,
            write_zeroes,
            flushes,
            fua_writes: self.fua_writes,
            span_s,
            rate_iops: per_second(self.later),
            rate_bytes_per_s: per_second(self.later_bytes),
            rate_commands: (requests > all.requests).then(|| per_second(self.later_commands)),
            peak_iops: self.peak,
            first_byte: self.first_byte.min(self.end_byte),
            end_byte: self.end_byte,
            footprint_bytes: pages.touched * PAGE_BYTES,
            volumes: several.then(|| options.volumes.word()),
            footprint_apart_bytes: several.then_some(apart.touched * PAGE_BYTES),
            gaps: self.gap_figures(),
            sequential_share: share(self.sequential, all.requests),
            rewrite_share: share(self.written_pages - pages.written, self.written_pages),
            unaligned_share: share(self.unaligned, all.requests),
        }
    }

    fn gap_figures(&self) -> Gaps {
        let count = self.gaps.len();
        if count == 0 {
            return Gaps::default();
        }
        let mean = self.gap_sum / count as f64;
        let variance = (self.gap_squares / count as f64 - mean * mean).max(0.0);
        Gaps {
            mean_ns: mean,
            variation: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 },
            p50_ns: self.gaps.value_at_quantile(0.5),
            p99_ns: self.gaps.value_at_quantile(0.99),
            max_ns: self.gaps.max(),
            zero_share: self.zero_gaps as f64 / count as f64,
        }
    }
}

/// The statistics of a table from size to number of requests.
fn sizing(table: &BTreeMap<u64, u64>) -> Sizing {
    let requests: u64 = table.values().sum();
    let bytes: u64 = table.iter().map(|(size, count)| size * count).sum();
    let (Some((min, _)), Some((max, _))) = (table.first_key_value(), table.last_key_value()) else {
        return Sizing::default();
    };
    let percentile = |percent: u64| {
        let rank = (requests * percent).div_ceil(100);
        let mut seen = 0;
        let found = table.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        found.map_or(*max, |(size, _)| *size)
    };
    Sizing {
        requests,
        bytes,
        mean: bytes as f64 / requests as f64,
        min: *min,
        p50: percentile(50),
        p90: percentile(90),
        p99: percentile(99),
        max: *max,
    }
}
