//! The formats by name.

use serde::{Serialize, Serializer};

use crate::TimeUnit;
use crate::refuse;

/// A trace format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// MSR Cambridge CSV.
    Msr,
    /// SPC, as in the UMass repository.
    Spc,
    /// MQSim ASCII.
    Mqsim,
    /// SSDSim ASCII: columns and units as in MQSim's.
    Ssdsim,
    /// DiskSim ASCII.
    Disksim,
    /// The five columns of the FEMU and Heimdall replayers.
    Replayer,
    /// Alibaba block traces.
    Alibaba,
    /// Tencent cloud block storage.
    Tencent,
    /// SYSTOR '17 (virtual desktops).
    Systor,
    /// VSCSI traces of CloudPhysics as CSV.
    Vscsi,
    /// The default text of blkparse.
    Blkparse,
    /// Binary blktrace.
    Blktrace,
    /// fio's I/O log, version 2.
    IologV2,
    /// fio's I/O log, version 3.
    IologV3,
    /// Any CSV, by the names or numbers of its columns.
    Csv,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 15] = [
        Format::Msr,
        Format::Spc,
        Format::Mqsim,
        Format::Ssdsim,
        Format::Disksim,
        Format::Replayer,
        Format::Alibaba,
        Format::Tencent,
        Format::Systor,
        Format::Vscsi,
        Format::Blkparse,
        Format::Blktrace,
        Format::IologV2,
        Format::IologV3,
        Format::Csv,
    ];

    /// The key that users write, a title, and the shape of a line.
    const fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Format::Msr => {
                ("msr", "MSR Cambridge CSV", "filetime(100 ns),host,disk,Read|Write,offset(B),size(B)[,response]")
            }
            Format::Spc => ("spc", "SPC (UMass)", "ASU,lba(512 B),size(B),r|w,seconds[,...]"),
            Format::Mqsim => ("mqsim", "MQSim ASCII", "ns device lba(512 B) sectors 1=read|0=write"),
            Format::Ssdsim => ("ssdsim", "SSDSim ASCII", "ns device lsn(512 B) sectors 1=read|0=write"),
            Format::Disksim => {
                ("disksim", "DiskSim ASCII", "ms device lba(512 B) sectors flags(hexadecimal, bit 0 = read)")
            }
            Format::Replayer => ("replayer", "five-column replayer", "ms device offset(B) size(B) 1=read|0=write"),
            Format::Alibaba => ("alibaba", "Alibaba", "device,R|W,offset(B),length(B),timestamp(us)"),
            Format::Tencent => ("tencent", "Tencent CBS", "timestamp(s),offset(512 B),sectors,0=read|1=write,volume"),
            Format::Systor => ("systor", "SYSTOR '17", "timestamp(s),response(s),R|W|(blank),LUN,offset(B),size(B)"),
            Format::Vscsi => ("vscsi", "VSCSI (CloudPhysics)", "version,time(us),SCSI command,size(B),lbn(512 B)"),
            Format::Blkparse => (
                "blkparse",
                "blkparse text",
                "major,minor cpu sequence seconds pid action rwbs sector + sectors [process]",
            ),
            Format::Blktrace => ("blktrace", "binary blktrace", "48-byte records with magic 0x65617407"),
            Format::IologV2 => {
                ("iolog-v2", "fio iolog version 2", "file action [offset(B) length(B)], after `fio version 2 iolog`")
            }
            Format::IologV3 => {
                ("iolog-v3", "fio iolog version 3", "us file action [offset(B) length(B)], after `fio version 3 iolog`")
            }
            Format::Csv => ("csv", "CSV", "time_ns,op,offset,length as the header or --columns names them"),
        }
    }

    /// The name users write: `msr`, `mqsim`, `iolog-v3`, ...
    pub const fn key(self) -> &'static str {
        self.row().0
    }

    /// Its title in prose.
    pub const fn title(self) -> &'static str {
        self.row().1
    }

    /// The shape of a line (or record), with units.
    pub const fn shape(self) -> &'static str {
        self.row().2
    }

    /// The unit of its times.
    pub const fn time_unit(self) -> TimeUnit {
        match self {
            Format::Mqsim | Format::Ssdsim | Format::Blktrace | Format::Csv => TimeUnit::Ns,
            Format::Msr => TimeUnit::HundredNs,
            Format::Alibaba | Format::Vscsi | Format::IologV2 | Format::IologV3 => TimeUnit::Us,
            Format::Disksim | Format::Replayer => TimeUnit::Ms,
            Format::Spc | Format::Tencent | Format::Systor | Format::Blkparse => TimeUnit::S,
        }
    }

    /// Whether its times carry a date (count from 1601 or 1970), so that no other unit can be meant.
    pub const fn has_date(self) -> bool {
        matches!(self, Format::Msr | Format::Alibaba | Format::Tencent | Format::Systor)
    }

    /// Whether [`convert`](mod@crate::convert) can write it.
    pub const fn writable(self) -> bool {
        !matches!(self, Format::Blktrace)
    }

    /// Whether a first line that begins with a letter is a header instead of an error.
    pub(crate) const fn first_line_may_be_header(self) -> bool {
        matches!(self, Format::Msr | Format::Spc | Format::Alibaba | Format::Tencent | Format::Systor | Format::Vscsi)
    }

    /// The keys of all formats, for messages.
    pub(crate) fn keys() -> String {
        Format::ALL.map(Format::key).join(", ")
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        if let Some(reason) = refuse::by_name(text) {
            return Err(format!("{reason}; legal is one of {}", Format::keys()));
        }
        let found = Format::ALL.into_iter().find(|f| f.key().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("`{}` is no trace format; legal is one of {}", text.escape_debug(), Format::keys()))
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.key())
    }
}
