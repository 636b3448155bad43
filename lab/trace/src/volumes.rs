//! The volumes of a trace (disks, ASUs, the devices of its hosts): which there are, and how far their addresses go.
//!
//! Promises the same order every time: that in which the file names them. Must never know the drive.

use std::path::Path;

use super::input::{Origin, origins};
use super::options::TraceOptions;
use super::ordered::Ordered;
use super::records::{Record, Records};
use super::{error, quote};
use flashlane_core::Op;
use flashlane_core::arrival::WorkloadError;

/// Where a volume may begin that follows another: at a multiple of this, as partitions do, so that no page of a drive has data of two.
const ALIGNMENT: u64 = 1 << 20;

/// A volume of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Volume {
    /// Its name as the trace has it; empty where the format has none.
    pub name: Vec<u8>,
    /// Its requests that the options leave.
    pub requests: u64,
    /// One past its last byte.
    pub end_byte: u64,
}

/// The volumes of which the trace at `path` has requests under these options, at most one more than `most`.
///
/// # Errors
/// As reading the trace.
pub fn volumes(path: &Path, options: &TraceOptions, most: usize) -> Result<Vec<Volume>, WorkloadError> {
    let mut found = scan(&origins(path)?, options, most)?;
    found.retain(|volume| volume.requests > 0);
    Ok(found)
}

/// Where each volume begins in one address space, by the index of its device.
///
/// # Errors
/// As reading the trace; volumes that 64 bits have no room for.
pub(super) fn starts(origins: &[Origin], options: &TraceOptions) -> Result<Vec<u64>, WorkloadError> {
    let mut next = Some(0u64);
    let place = |volume: Volume| {
        let start = next;
        next = start.and_then(|start| start.checked_add(volume.end_byte)?.checked_next_multiple_of(ALIGNMENT));
        start.filter(|start| start.checked_add(volume.end_byte).is_some()).ok_or_else(|| {
            let message = format!(
                "the volumes up to {} are together longer than 64 bits count; legal are volumes overlaid or apart",
                quote(&volume.name)
            );
            error(origins[0].name(), message)
        })
    };
    scan(origins, options, usize::MAX)?.into_iter().map(place).collect()
}

/// Reads the trace once, as far as the options go.
fn scan(origins: &[Origin], options: &TraceOptions, most: usize) -> Result<Vec<Volume>, WorkloadError> {
    let all = TraceOptions { part: None, ..options.clone() };
    let mut records = Ordered::new(Records::open(origins.to_vec(), &all)?, options.order);
    let mut found: Vec<Volume> = Vec::new();
    let (mut record, mut read, mut used) = (Record::NONE, 0, 0);
    let last = options.limit.map_or(u64::MAX, |limit| options.offset.saturating_add(limit));
    while read < last && records.next(&mut record)? {
        read += 1;
        let at = record.device as usize;
        while found.len() <= at {
            let name = records.file().devices()[found.len()].clone();
            found.push(Volume { name, requests: 0, end_byte: 0 });
        }
        // One that is left out, or an error where the trace is replayed, needs no space.
        let end = record.offset.checked_add(record.length);
        if let (true, true, Some(end)) = (read > options.offset, options.takes(record.op, record.length), end) {
            let volume = &mut found[at];
            used += usize::from(volume.requests == 0);
            volume.requests += 1;
            volume.end_byte = volume.end_byte.max(if record.op == Op::Flush { 0 } else { end });
            if used > most {
                break;
            }
        }
    }
    Ok(found)
}
