//! CSVs by their columns: whatever the columns are called and whatever the file contains, both are refused with a reason or read.

use flashlane_trace::{ColumnSpec, Sizes, TimeOrder, TraceOptions, TraceSource};

use crate::Target;

/// The target of this module. The first line names the columns, the rest is the file.
pub const TARGET: Target = Target {
    name: "columns",
    about: "any CSV by its columns: what names them and what is in them is refused with a reason or read, in order of time",
    seeds: || {
        [
            "time=ts:us,op=rw,offset=lba:sectors,length=bytes\nts,rw,lba,bytes,x\n10,R,8,512,a\n11.5,write,16,4096,b\n",
            "time=1:s,op=3:1=read:D=skip,offset=2:4096,length=4,device=5\n0.5;1;1;4096;sda\n0.75;9;0;512;sdb\n1e1;9;D;512;sdb\n",
            "time=2:100ns,op=1,offset=4,length=3\n#op\ttime\tn\tat\nr\t\"5\"\t512\t0\nW\t 7\t512\t\"8\"\n",
            "time=\"a b\":ms,op=o,offset=p,length=n\n\"a b\"|o|p|n\n3|0|0|1\n",
        ]
        .map(|text| text.as_bytes().to_vec())
        .into()
    },
    words: &[
        "time=", "op=", "offset=", "length=", "device=", ":us", ":sectors", ":1=read", "\"", "\n", ",", ";", "\t", "R",
        "0.5", "ts",
    ],
    feed,
};

fn feed(input: &[u8]) -> String {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (spec, file) = (String::from_utf8_lossy(&input[..end]), input.get(end + 1..).unwrap_or_default());
    let columns: ColumnSpec = match spec.parse() {
        Ok(columns) => columns,
        Err(why) => {
            assert!(why.contains("legal is"), "{why}");
            return why;
        }
    };
    let options = TraceOptions {
        columns: Some(columns),
        order: TimeOrder::Clamp,
        sizes: Sizes::Reject,
        ..TraceOptions::default()
    };
    let mut source = match TraceSource::from_bytes("input", file, &options, u64::MAX) {
        Ok(source) => source,
        Err(error) => return error.message,
    };
    super::traces::read(&mut source, |_| ()).unwrap_or_else(|message| message)
}
