//! Any CSV, by the names or numbers of its columns.

use proptest::prelude::*;

use flashlane_trace::{Beyond, ColumnSpec, TimeUnit};

use super::drawn;
use super::*;

fn columns(spec: &str) -> TraceOptions {
    let columns = spec.parse::<ColumnSpec>().unwrap_or_else(|why| panic!("{spec}: {why}"));
    TraceOptions { columns: Some(columns), ..TraceOptions::default() }
}

#[track_caller]
fn read_as(spec: &str, text: &str) -> Whole {
    read(text, &columns(spec)).unwrap_or_else(|why| panic!("{spec}: {why}\n{text}"))
}

/// The error of a text with these columns, checked to name what is legal.
#[track_caller]
fn fails(spec: &str, text: &str) -> WorkloadError {
    let why = read(text, &columns(spec)).expect_err(text);
    assert!(why.message.contains("legal") || why.message.contains("give "), "{why}");
    why
}

/// The error of a text that names columns, checked to say what is legal.
#[track_caller]
fn refused(spec: &str) -> String {
    let why = spec.parse::<ColumnSpec>().expect_err(spec);
    assert!(why.contains("legal is time=COLUMN:UNIT,op=COLUMN"), "{why}");
    why
}

const WANTED: [Row; 3] = [(0, R, 8192, 4096), (2_500, W, 40960, 8192), (2_500, R, 0, 512)];

#[test]
fn every_separator_is_found_by_name_and_by_number() {
    let named = "time=ts:us,op=rw,offset=lba:sectors,length=bytes";
    let numbered = "time=2:us,op=4,offset=1:sectors,length=3";
    for separator in [",", ";", "\t", "|", " ", "  ", " , "] {
        let text = ["lba ts bytes rw host", "16 10.5 4096 R a", "80 13 8192 write b", "0 13.0 512 r c"].map(|line| {
            let cells: Vec<&str> = line.split(' ').collect();
            cells.join(separator) + "\n"
        });
        for text in [text.concat(), text.concat().replace('\n', "\r\n"), format!("# a comment\n\n{}", text.concat())] {
            assert_eq!(read_as(named, &text).rows, WANTED, "{text:?}");
            assert_eq!(read_as(numbered, &text).rows, WANTED, "{text:?}");
            assert_eq!(read_as("time=TS:us,op=RW,offset=1:512,length=Bytes:bytes", &text).rows, WANTED);
        }
        // Without a header there are numbers alone, and all lines are requests.
        let bare = text[1..].concat();
        assert_eq!(read_as(numbered, &bare).rows, WANTED, "{bare:?}");
        let why = fails(named, &bare);
        assert!(
            why.place == "t:1" && why.message.starts_with("there is no column `ts`; legal is one of `16`"),
            "{why}"
        );
    }
}

#[test]
fn cells_may_be_in_quotes() {
    let text = "\"the \"\"time\"\"\",\"op, or so\",offset,length\n\"1\",\"R\",\"8,192\",4096\n";
    let spec = "time=\"the \"time\"\":s";
    assert!(spec.parse::<ColumnSpec>().is_err());
    let spec = "time=1:s,op=\"op, or so\",offset=offset,length=length";
    let why = fails(spec, text);
    assert!(why.place == "t:2" && why.message.starts_with("the offset: `8,192`; legal is a whole number"), "{why}");
    assert_eq!(read_as(spec, &text.replace("8,192", "8192")).rows, [(0, R, 8192, 4096)]);
}

#[test]
fn an_operation_is_a_letter_a_word_a_digit_or_as_explained() {
    let ops = |op: &str, cells: &[&str]| -> Vec<Op> {
        let text: String = cells.iter().map(|cell| format!("1;{cell};0;512\n")).collect();
        let whole = read_as(&format!("time=1:ns,op=2{op},offset=3,length=4"), &text);
        assert_eq!(whole.counts.skipped, (cells.len() - whole.rows.len()) as u64);
        whole.rows.iter().map(|row| row.1).collect()
    };
    assert_eq!(ops("", &["R", "w", "Read", "WRITE", "0", "1"]), [R, W, R, W, R, W]);
    assert_eq!(ops(":1=read", &["0", "1", "R"]), [W, R, R]);
    assert_eq!(ops(":0=write", &["0", "1"]), [W, R]);
    assert_eq!(ops(":40=read:42=write:53=skip", &["40", "42", "53", "0"]), [R, W, R]);
    assert_eq!(ops(":D=skip:RS=read", &["D", "RS", "W"]), [R, W]);
    assert_eq!(ops(":1=skip:0=write", &["1", "0"]), [W]);
    // What was found is printed, with the digits.
    let reason = read_as("time=1:us,op=2,offset=3:sectors,length=4", "0;1;8;512\n").recognition.reason;
    assert_eq!(
        reason,
        "as asked: time in us in column 1, op in column 2, 0 = read, 1 = write, offset in sectors in column 3, length in bytes in \
         column 4; set off by semicolons"
    );
    for wrong in ["2", "", "erase", "00", "RW"] {
        let why = fails("time=1:us,op=2,offset=3,length=4", &format!("0,R,0,512\n0,{wrong},0,512\n"));
        assert!(why.place == "t:2" && why.message.starts_with("the operation: "), "{why}");
    }
    let why = fails("time=1:us,op=2:1=skip,offset=3,length=4", "0,1,0,512\n0,0,0,512\n");
    assert!(why.message.starts_with("the operation: `0`"), "{why}");
}

#[test]
fn units_are_exact_and_those_left_open_are_asked_for() {
    let at = |spec: &str, cell: &str| read_as(spec, &format!("t,o,a,n\n0,R,0,512\n{cell},R,7,1\n")).rows[1];
    assert_eq!(at("time=t:s,op=o,offset=a:4096,length=n:sectors", "0.123456789"), (123_456_789, R, 28_672, 512));
    assert_eq!(at("time=t:100ns,op=o,offset=a,length=n", "12.345"), (1_234, R, 7, 1));
    let text = "time_us,op,lba,size\n0,R,0,512\n5,R,8,512\n";
    assert_eq!(read_as("time=time_us,op=op,offset=lba:sectors,length=size", text).rows[1], (5_000, R, 4096, 512));
    assert_eq!(read_as("time=1,op=2,offset=3,length=4", text).rows[1], (5_000, R, 8, 512));
    let why = fails("time=ts,op=2,offset=3,length=4", "ts,op,a,b\n0,R,0,512\n");
    assert!(why.place == "t:1" && why.message.contains("time=ts: in which unit? give time=ts:UNIT"), "{why}");
    let with_option = TraceOptions { time_unit: Some(TimeUnit::Ms), ..columns("time=ts,op=2,offset=3,length=4") };
    assert_eq!(read("ts,op,a,b\n0,R,0,512\n2,R,0,512\n", &with_option).unwrap().rows[1].0, 2_000_000);
    let both = TraceOptions { time_unit: Some(TimeUnit::Ms), ..columns("time=ts:us,op=2,offset=3,length=4") };
    let why = read("ts,op,a,b\n0,R,0,512\n", &both).unwrap_err();
    assert!(why.message.contains("times are in us, and the option that they are in ms"), "{why}");
    for name in ["lba", "start_sector", "Block", "page_no"] {
        let why = refused(&format!("time=t:us,op=o,offset={name},length=n"));
        assert!(why.starts_with(&format!("offset={name}: is it in bytes or in sectors?")), "{why}");
    }
    // What spreadsheets make of whole numbers, and what they do not.
    assert_eq!(read_as("time=1:us,op=2,offset=3,length=4", "0.0,R,4096.0,512.00\n").rows, [(0, R, 4096, 512)]);
    for wrong in ["4096.5", "-1", "1e3", "18446744073709551616", ""] {
        let why = fails("time=1:us,op=2,offset=3,length=4", &format!("0,R,0,512\n0,R,{wrong},512\n"));
        assert!(why.place == "t:2", "{why}");
    }
    let why = fails("time=1:us,op=2,offset=3:sectors,length=4", "0,R,36028797018963968,512\n");
    assert!(why.message.starts_with("the offset: `36028797018963968`"), "{why}");
}

#[test]
fn an_unknown_column_lists_those_there_are() {
    let text = "ts,rw,lba,bytes\n1,R,8,512\n";
    let why = fails("time=ts:us,op=rw,offset=address,length=bytes", text);
    assert_eq!(
        (why.place.as_str(), why.message.as_str()),
        ("t:1", "there is no column `address`; legal is one of `ts`, `rw`, `lba`, `bytes`")
    );
    let why = fails("time=ts:us,op=rw,offset=5,length=bytes", text);
    assert_eq!(why.message, "there is no column 5; legal is 1 to 4: `ts`, `rw`, `lba`, `bytes`");
    let why = fails(
        "time=ts:us,op=rw,offset=x,length=bytes",
        "ts,rw,X,x,X,bytes\n1,R,8,512,0,0\n".replace('x', "X").as_str(),
    );
    assert!(why.message.contains("`x` is the name of columns 3 and 4 and 5"), "{why}");
    let why = fails("time=ts:us,op=rw,offset=lba:sectors,length=3", text);
    assert!(why.message.contains("column 3 is both offset and length"), "{why}");
    let why = fails("time=ts:us,op=rw,offset=lba:sectors,length=bytes", "ts,rw,lba,bytes\n1,R,8\n");
    assert!(
        why.place == "t:2"
            && why.message.contains("the line has 3 cells, and the header has 4: `ts`, `rw`, `lba`, `bytes`"),
        "{why}"
    );
}

#[test]
fn what_names_no_columns_says_how_they_are_named() {
    for (spec, printed) in [
        ("", "`` names none of time, op, offset, length, device, fua"),
        ("time=1:us,op=2,offset=3", "it does not say which column is the length"),
        ("time=1:us,op=2,offset=3,length=4,size=5", "`size=5` names none of"),
        ("time=1:us,time=2:us,op=2,offset=3,length=4", "`time` is there twice"),
        ("time=0:us,op=2,offset=3,length=4", "`time=0:us`: columns are counted from 1"),
        ("time=:us,op=2,offset=3,length=4", "`time=:us`: names no column"),
        ("time=1:usec,op=2,offset=3,length=4", "time: `usec` is no unit of time"),
        ("time=1:us:us,op=2,offset=3,length=4", "time: takes a column and a unit"),
        ("time=1:us,op=2:1,offset=3,length=4", "op: `1`: legal is VALUE=read"),
        ("time=1:us,op=2:1=erase,offset=3,length=4", "op: `1=erase`: legal is VALUE=read"),
        ("time=1:us,op=2,offset=3,length=4,fua=5:1", "fua: takes a column alone"),
        (
            "time=1:us,op=2:1=read:1=write,offset=3,length=4",
            "op: `1=write`: names no value, or one that is there already",
        ),
        ("time=1:us,op=2:0=read:1=read,offset=3,length=4", "op: 0 and 1 mean the same"),
        ("time=1:us,op=2,offset=3:kb,length=4", "offset: `kb` is no unit"),
        ("time=1:us,op=2,offset=3:0,length=4", "offset: `0` is no unit"),
        ("time=1:us,op=2,offset=3,length=4,device=5:us", "device: takes a column alone"),
        ("time=\"a:us,op=2,offset=3,length=4", "a name in quotes that has no end"),
    ] {
        let why = refused(spec);
        assert!(why.starts_with(printed) || why.contains(printed), "{spec}: {why}");
    }
}

const ALL_KINDS: &str = "time_us,op,offset,length,fua\n0,trim,0,8192,0\n1,Flush,,,\n2,flush,0,0,false\n3,write,512,512,1\n\
     4,write,512,512,\n5,WRITE-FUA,1024,512,0\n6,write-zeroes,4096,4096,FALSE\n7,R,0,512,0\n";

#[test]
fn every_kind_has_a_word_and_fua_a_column() {
    let want = [
        (0, T, 0, 8192),
        (1_000, F, 0, 0),
        (2_000, F, 0, 0),
        (3_000, W, 512, 512),
        (4_000, W, 512, 512),
        (5_000, W, 1024, 512),
        (6_000, Z, 4096, 4096),
        (7_000, R, 0, 512),
    ];
    let whole = read(ALL_KINDS, &TraceOptions::default()).unwrap();
    assert_eq!((&whole.rows[..], &whole.fua[..]), (&want[..], &[3, 5][..]));
    assert!(whole.recognition.reason.ends_with("; FUA in column 5 (fua)"), "{:?}", whole.recognition);
    let numbers = "0 5 0 16 0\n1 9 0 0 0\n3 1 1 1 1\n4 2 1 1 0\n";
    let spec = "time=1:us,op=2:5=trim:9=flush:2=write-fua:0=read,offset=3:sectors,length=4:sectors,fua=5";
    let whole = read_as(spec, numbers);
    assert_eq!(whole.rows, [(0, T, 0, 8192), (1_000, F, 0, 0), (3_000, W, 512, 512), (4_000, W, 512, 512)]);
    assert_eq!(whole.fua, [2, 3]);
}

#[test]
fn flushes_with_a_place_and_reads_with_fua_are_refused() {
    let spec = "time=1:us,op=2,offset=3,length=4,fua=5";
    for (line, printed) in [
        ("1,flush,4096,0,0", "the offset: `4096`; legal is 0 or nothing: a flush has neither offset nor length"),
        ("1,flush,0,512,0", "the length: `512`; legal is 0 or nothing"),
        ("1,flush,x,0,0", "the offset: `x`; legal is 0 or nothing"),
        ("1,R,0,512,1", "force unit access: `1`; legal is 0, false or nothing, because only a write can have it"),
        ("1,trim,0,512,true", "force unit access: `true`; legal is 0, false or nothing"),
        ("1,W,0,512,yes", "force unit access: `yes`; legal is 0, 1, false, true or nothing"),
        ("1,trim,0,0,0", "a size of 0 bytes; legal is 1 byte or more (or reject"),
    ] {
        let why = fails(spec, &format!("0,R,0,512,0\n{line}\n"));
        assert!(why.place == "t:2" && why.message.contains(printed), "{line}: {why}");
    }
}

#[test]
fn a_trim_has_no_largest_size_and_ends_in_the_drive() {
    let text = "time_us,op,offset,length\n0,trim,0,1099511627776\n";
    assert_eq!(read(text, &TraceOptions::default()).unwrap().rows, [(0, T, 0, 1 << 40)]);
    // What is larger than the drive cannot be wrapped.
    for beyond in [Beyond::Error, Beyond::Wrap] {
        let why = read_on(text.as_bytes(), &TraceOptions { beyond, ..TraceOptions::default() }, 1 << 39).unwrap_err();
        let message = "bytes 0 to 1099511627775 lie beyond the part of the drive that the flow may use; legal is below \
                       549755813888 (or reject: left out and counted)";
        assert_eq!((why.place.as_str(), why.message.as_str()), ("t:2", message));
    }
    let reject = TraceOptions { beyond: Beyond::Reject, ..TraceOptions::default() };
    assert_eq!(read_on(text.as_bytes(), &reject, 1 << 39).unwrap().counts.rejected, 1);
}

#[test]
fn devices_may_have_a_column() {
    let text = "dev,t,o,a,n\nsda,1,R,0,512\nsdb,2,W,512,512\nsda,9,W,512,512\n";
    let options = TraceOptions { device: Some("sda".into()), ..columns("time=t:us,op=o,offset=a,length=n,device=dev") };
    let whole = read(text, &options).unwrap();
    assert_eq!((whole.rows, whole.counts.filtered), (vec![(0, R, 0, 512), (8_000, W, 512, 512)], 1));
}

#[test]
fn the_columns_of_python_need_no_words() {
    for (unit, ns) in [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)] {
        let text = format!(",length,op,time_{unit},offset\n0,4096,read,3,8192\n1,512,W,7,0\n");
        for options in [TraceOptions::default(), as_format(Format::Csv)] {
            let whole = read(&text, &options).unwrap();
            assert_eq!(whole.rows, [(0, R, 8192, 4096), (4 * ns, W, 0, 512)]);
            assert_eq!(whole.recognition.format, Format::Csv);
            assert!(
                whole.recognition.reason.contains("its header names the columns: time in"),
                "{:?}",
                whole.recognition
            );
        }
    }
    // Which digit is a read nothing says.
    let why = read("time_ns,op,offset,length\n0,1,0,512\n", &TraceOptions::default()).unwrap_err();
    assert!(
        why.place == "t:2" && why.message.contains("the operation: `1`") && why.message.contains("VALUE=read"),
        "{why}"
    );
    // Two times are no header of Python's.
    let why = read("time_ns,time_us,op,offset,length\n0,0,r,0,512\n", &as_format(Format::Csv)).unwrap_err();
    assert!(why.message.contains("no header with the columns time_ns"), "{why}");
}

#[test]
fn where_no_format_fits_there_is_a_hint() {
    let why = read("when,what,where,much\n1,R,8,512\n2,W,16,512\n", &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("any other CSV is read with --columns, such as time=1:us,op=2,"), "{why}");
}

#[test]
fn columns_belong_to_a_csv() {
    let options = TraceOptions { format: Some(Format::Msr), ..columns("time=1:us,op=2,offset=3,length=4") };
    let why = read(sample(Format::Msr), &options).unwrap_err();
    assert!(why.place == "columns" && why.message.contains("asked for is msr; legal is csv"), "{why}");
    // A format with a date, read as a CSV, may have times in any unit.
    let text = "5,usr,1,Read,8192,4096,512\n9,usr,1,Write,40960,24576,900\n";
    let whole = read_as("time=1:us,op=4,offset=5,length=6,device=2", text);
    assert_eq!(whole.rows, [(0, R, 8192, 4096), (4_000, W, 40960, 24576)]);
    let why = read("PAR1xxxxxx", &columns("time=1:us,op=2,offset=3,length=4")).unwrap_err();
    assert!(why.message.contains("Parquet"), "{why}");
    let why = read("\n\n# only this\n", &columns("time=1:us,op=2,offset=3,length=4")).unwrap_err();
    assert!(why.message.contains("legal"), "{why}");
}

proptest! {
    #![proptest_config(drawn(2_000, env!("CARGO_MANIFEST_DIR"), "traces-columns"))]

    /// A plain reader of cells, which shares no code with the fast one.
    #[test]
    fn columns_in_any_order_are_read_as_they_were_written(
        rows in proptest::collection::vec((0u64..1 << 40, any::<bool>(), 0u64..1 << 40, 1u64..1 << 16), 1..20),
        order in Just([0usize, 1, 2, 3, 4]).prop_shuffle(),
        separator in proptest::sample::select(vec![',', ';', '\t', '|', ' ']),
        quoted in any::<bool>(),
        header in any::<bool>(),
        sectors in any::<bool>(),
    ) {
        let mut rows = rows;
        rows.sort_by_key(|row| row.0);
        let names = ["when", "what", "where", "much", "rest"];
        let line = |cells: [String; 5]| {
            let quote = |cell: &String| if quoted { format!("\"{cell}\"") } else { cell.clone() };
            let cells: Vec<String> = order.iter().map(|at| quote(&cells[*at])).collect();
            cells.join(&separator.to_string()) + "\n"
        };
        let mut text = if header { line(names.map(str::to_owned)) } else { String::new() };
        for (time, write, offset, length) in &rows {
            let op = if *write { "W" } else { "read" };
            text += &line([time.to_string(), op.into(), offset.to_string(), length.to_string(), "x".into()]);
        }
        let place = |role: usize| order.iter().position(|at| *at == role).unwrap() + 1;
        let column = |role: usize| if header { names[role].to_owned() } else { place(role).to_string() };
        let (unit, size) = if sectors { (":sectors", 512) } else { ("", 1) };
        let spec = format!("time={}:ns,op={},offset={}{unit},length={}{unit}", column(0), column(1), column(2), column(3));
        let options = TraceOptions { max_request_bytes: 1 << 30, ..columns(&spec) };
        let whole = read(&text, &options).unwrap();
        let wanted: Vec<Row> = rows
            .iter()
            .map(|(time, write, offset, length)| (time - rows[0].0, if *write { W } else { R }, offset * size, length * size))
            .collect();
        prop_assert_eq!(whole.rows, wanted);
    }

    #[test]
    fn any_words_for_columns_are_read_or_refused(spec in "([a-z]{0,6}[=:,\"0-9 ]{0,3}){0,12}", text in "([0-9a-zA-Z\"]{0,6}[,;|\t \n]){0,60}") {
        match spec.parse::<ColumnSpec>() {
            Ok(columns) => {
                let options = TraceOptions { columns: Some(columns), ..TraceOptions::default() };
                let _ = read(&text, &options);
            }
            Err(why) => prop_assert!(why.contains("legal is")),
        }
    }

    #[test]
    fn any_text_with_columns_is_read_or_refused(
        spec in proptest::sample::select(vec![
            "time=1:us,op=2,offset=3,length=4",
            "time=a:s,op=b:1=read,offset=c:sectors,length=d",
            "time=4:ns,op=3,offset=2:4096,length=1,device=7",
        ]),
        text in "([abcdRW0-9\".]{0,6}[,;|\t ]{0,2}\n?){0,60}",
    ) {
        if let Err(why) = read(&text, &columns(spec)) {
            prop_assert!(!why.place.is_empty() && why.message.len() < 4_000);
        }
    }
}

/// With a cell fewer or more nobody knows which cell is what: also where columns that are not read follow, or cells are set off by spaces.
#[test]
fn a_line_has_as_many_cells_as_the_header() {
    let named = columns("time=ts:us,op=op,offset=lba:sectors,length=bytes");
    let numbered = columns("time=1:us,op=2,offset=3:sectors,length=4");
    for (separator, shown) in
        [(",", "5: `ts`"), (";", "5: `ts`"), ("\t", "5: `ts`"), ("|", "5: `ts`"), (" ", "5: `ts`")]
    {
        for (row, count) in
            [("2,R,16,4096", "4 cells"), ("2,R,16,4096,x,y", "6 cells"), ("2,R", "2 cells"), ("2", "1 cell,")]
        {
            let text = format!("ts,op,lba,bytes,extra\n1,R,8,4096,x\n{row}\n3,R,24,4096,z\n").replace(',', separator);
            for options in [&named, &numbered] {
                let why = read(&text, options).unwrap_err();
                assert_eq!(why.place, "t:3", "{row} {separator}: {why}");
                assert!(why.message.contains(&format!("the line has {count}")) && why.message.contains(shown), "{why}");
            }
        }
    }
    let why = read("1,R,8,4096,x\n2,R,16,4096\n", &numbered).unwrap_err();
    assert!(why.message.contains("the line has 4 cells, and the first line has 5: `1`, `R`"), "{why}");
    let spaced = columns("time=TIME(s):s,op=T,offset=SECTOR:sectors,length=BYTES,device=DISK");
    let text = "TIME(s)  COMM PID DISK T SECTOR BYTES LAT(ms)   \n0.0  app 1 sdx W 8 8192 3.0  \n0.1 ? 0  R 0 8 2.0\n";
    let why = read(text, &spaced).unwrap_err();
    assert_eq!(why.place, "t:3");
    assert!(
        why.message.contains("7 cells, and the header has 8") && why.message.contains("an empty cell cannot be seen"),
        "{why}"
    );
    // Spaces at the end are no cell; an empty cell between commas is one.
    assert_eq!(read(&text[..text.find("0.1").unwrap()], &spaced).unwrap().rows, [(0, W, 4096, 8192)]);
    assert_eq!(read("ts,op,lba,bytes,extra\n1,R,8,4096,\n", &named).unwrap().rows.len(), 1);
    let why = read("time_us,op,offset,length\n1,R,0,512\n2,R,0,512,7\n", &TraceOptions::default()).unwrap_err();
    assert!(why.place == "t:3" && why.message.contains("5 cells, and the header has 4"), "{why}");
}

#[test]
fn a_message_has_the_whole_cell() {
    let options = columns("time=ts:us,op=op,offset=lba:sectors,length=bytes");
    for (separator, cell) in [(";", "1,5"), ("\t", "1,5"), ("|", "1,5"), (",", "1;5"), (";", "1 5"), (",", "1|5")] {
        let text =
            ["ts", "op", "lba", "bytes"].join(separator) + "\n" + &[cell, "R", "8", "4096"].join(separator) + "\n";
        let why = read(text, &options).unwrap_err();
        assert!(why.message.contains(&format!("the time in us: `{cell}`;")), "{why}");
    }
}
