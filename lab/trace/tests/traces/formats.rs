//! Every text format: units, spellings, optional parts, what is skipped.

use flashlane_trace::Action;

use super::*;

#[test]
fn msr_counts_100_ns_and_bytes() {
    let text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
                128166372003061629,usr,1,Read,8192,4096,512\r\n\
                128166372003061631,usr,1,write,12288,512\n\
                128166372013061629,usr,1,WRITE,0,65536,7";
    let want = vec![(0, R, 8192, 4096), (200, W, 12288, 512), (1_000_000_000, W, 0, 65536)];
    let whole = read(text, &as_format(Format::Msr)).unwrap();
    assert_eq!(whole.rows, want);
    assert_eq!((whole.counts.lines, whole.counts.skipped), (4, 1));
}

#[test]
fn spc_has_sectors_for_addresses_and_bytes_for_sizes() {
    let text = "0,16,4096,R,0.000000\n 1 , 80 , 24576 , w , 0.001500 , extra, 5\n2,7,1,r,.0\n";
    let why = read(text, &as_format(Format::Spc)).unwrap_err();
    assert!(why.message.contains("the time in seconds: `.0`"), "{why}");
    let text = text.replace(",.0", ",3");
    let want = vec![(0, R, 8192, 4096), (1_500_000, W, 40960, 24576), (3_000_000_000, R, 3584, 1)];
    assert_eq!(rows(Format::Spc, &text), want);
}

#[test]
fn mqsim_and_ssdsim_are_one_shape_and_decimal_throughout() {
    let text = "100 0 16 8 1\n 0250\t0  017 9 0  \n";
    let want = vec![(0, R, 8192, 4096), (150, W, 17 * 512, 9 * 512)];
    assert_eq!(rows(Format::Mqsim, text), want);
    assert_eq!(rows(Format::Ssdsim, text), want);
}

#[test]
fn disksim_has_ms_with_decimals_and_flags_of_which_bit_0_is_read() {
    let text = "10.0 0 16 8 1\n10.25 0 16 8 0\n11 0 16 8 3\n1.2e1 0 16 8 0x10\n12.000001 0 16 8 a\n12.5 0 16 8 F\n";
    let got: Vec<_> = rows(Format::Disksim, text).iter().map(|r| (r.0, r.1)).collect();
    let want = vec![(0, R), (250_000, W), (1_000_000, R), (2_000_000, W), (2_000_001, W), (2_500_000, R)];
    assert_eq!(got, want);
}

#[test]
fn the_replayer_has_ms_and_bytes() {
    let want = vec![(0, R, 8192, 4096), (1_250_000, W, 40960, 24576)];
    assert_eq!(rows(Format::Replayer, sample(Format::Replayer)), want);
}

#[test]
fn alibaba_has_us_at_the_end() {
    let text =
        "device_id,opcode,offset,length,timestamp\n7,R,8192,4096,1577808000000100\n9,W,40960,24576,1577808000000350\n";
    assert_eq!(rows(Format::Alibaba, text), vec![(0, R, 8192, 4096), (250_000, W, 40960, 24576)]);
}

#[test]
fn tencent_says_1_for_writes_and_its_seconds_are_spread() {
    let lines: String = (0..600).map(|i| format!("{},16,8,{},12\n", 1_538_323_200 + i / 200, i % 2)).collect();
    let whole = read(&lines, &as_format(Format::Tencent)).unwrap();
    assert_eq!((whole.rows[0].1, whole.rows[1].1), (R, W));
    let seconds = |rows: &[Row]| rows.iter().map(|r| r.0 as f64 / 1e9).collect::<Vec<_>>();
    let times = seconds(&whole.rows);
    // The first request is at time 0, so seconds of the file begin a little before whole seconds of the run.
    assert!(times[599] > 1.9 && times[599] < 3.0, "{}", times[599]);
    // Spread evenly: the gaps within a second are 5 ms on average, and none is half a second.
    let gaps: Vec<f64> = times[..200].windows(2).map(|w| w[1] - w[0]).collect();
    let mean = gaps.iter().sum::<f64>() / 199.0;
    assert!((0.004..0.006).contains(&mean), "{mean}");
    assert!(gaps.iter().all(|gap| *gap < 0.1));
    assert_eq!(read(&lines, &as_format(Format::Tencent)).unwrap().rows, whole.rows, "the same seed, the same times");
    let other = TraceOptions { jitter_seed: Some(2), ..as_format(Format::Tencent) };
    assert_ne!(read(&lines, &other).unwrap().rows, whole.rows);
    let none = TraceOptions { jitter_seed: None, ..as_format(Format::Tencent) };
    let plain = read(&lines, &none).unwrap().rows;
    assert!(plain.iter().enumerate().all(|(i, r)| r.0 == i as u64 / 200 * 1_000_000_000));
}

#[test]
fn systor_skips_headers_and_blank_operations_and_rounds_to_a_microsecond() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1455592426.0002504,0.1,R,2,8192,4096\n\
                1455592426.000300,,,2,,\n\
                1455592426.0004999999,,W,2,512,512\n\
                Timestamp,Response,IOType,LUN,Offset,Size\n\
                1455592427.000250,0.2,W,2,40960,24576\n";
    let whole = read(text, &as_format(Format::Systor)).unwrap();
    let want = vec![(0, R, 8192, 4096), (250_000, W, 512, 512), (1_000_000_000, W, 40960, 24576)];
    assert_eq!(whole.rows, want);
    assert_eq!(whole.counts.skipped, 3);
}

/// Every kind, at times that count from the start of the drive; only writes are forced.
#[test]
fn a_record_has_every_kind_of_request() {
    let text = "# flashlane record 1\n0,5,8192,4096,read,1\n1,15,0,512,write,1\n0,15,0,0,flush,0\n\
                #! 16 priority 1 0\n1,20,65536,16384,trim,1\n0,25,512,1024,write-zeroes,0\n";
    let whole = read(text, &as_format(Format::Record)).unwrap();
    let want = [(5, R, 8192, 4096), (15, W, 0, 512), (15, F, 0, 0), (20, T, 65536, 16384), (25, Z, 512, 1024)];
    assert_eq!((whole.rows, whole.fua), (want.to_vec(), vec![1]));
    let why = read("# flashlane record 1\n0,5,0,512,erase,0\n", &as_format(Format::Record)).unwrap_err();
    assert!(why.message.contains("read, write, trim, write-zeroes or flush"), "{why}");
}

const BLKPARSE: &str = "\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  P   N [kjournald]
  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]
  8,0    1        4     0.000500000     0  m   N cfq697S / complete
  8,16   1        5     0.000600000   697  Q  RA 100 + 16 [my program]
  8,0    3        6     0.000700000   697  D   W 223490 + 16 [kjournald]
  8,0    3        7     0.000800000   697  Q FWS [kjournald]
  8,0    3        8     0.000810000   697  Q FWS 0 + 0 [kjournald]
  8,0    3        9     0.000820000   697  Q   D 64 + 64 [fstrim]
  8,0    3        9     0.000830000   697  Q   N [kjournald]
  8,0    3        9     0.000840000   697  Q WFS 128 + 8 [kjournald]
  8,0    3        9     0.000850000   697  Q FWFS 136 + 8 [kjournald]
  8,0    3       10     0.000900000   697  A   R 7 + 8 <- (8,1) 3
  8,0    1       11     0.001000000     0  C   W 223490 + 16 [0]
  8,0    3       12     0.002000000   697  D   R 100 + 16
CPU3 (sda):
 Reads Queued:           1,       8KiB\t Writes Queued:           1,        4KiB
Total (sda):
 IO unplugs:             0
";

#[test]
fn blkparse_reads_one_action_q_if_there_is_any() {
    let whole = read(BLKPARSE, &as_format(Format::Blkparse)).unwrap();
    let want = [
        (0, W, 223_490 * 512, 4096),
        (597_803, R, 51_200, 8192),
        (797_803, F, 0, 0),
        (807_803, F, 0, 0),
        (817_803, T, 32_768, 32_768),
        (837_803, W, 65_536, 4096),
        (847_803, F, 0, 0),
        (847_803, W, 69_632, 4096),
    ];
    assert_eq!((whole.rows, whole.fua), (want.to_vec(), vec![5, 7]));
    assert_eq!(whole.counts.lines, 19);
    let issued = TraceOptions { action: Some(Action::Issue), ..as_format(Format::Blkparse) };
    let want = vec![(0, W, 223_490 * 512, 8192), (1_300_000, R, 51_200, 8192)];
    assert_eq!(read(BLKPARSE, &issued).unwrap().rows, want);
    let without_q: String = BLKPARSE.lines().filter(|l| !l.contains(" Q ")).flat_map(|l| [l, "\n"]).collect();
    assert_eq!(read(&without_q, &as_format(Format::Blkparse)).unwrap().rows, want, "D when there is no Q");
    let device = TraceOptions { device: Some("8,16".into()), ..as_format(Format::Blkparse) };
    assert_eq!(read(BLKPARSE, &device).unwrap().rows, vec![(0, R, 51_200, 8192)]);
}

#[test]
fn blkparse_finds_a_q_far_behind_the_first_megabyte() {
    let mut text: String = (0..20_000)
        .map(|i| format!("  8,0    0 {i:>8}     0.{i:09}   697  D   R {} + 8 [a process of some name]\n", 8 * i))
        .collect();
    text.push_str("  8,0    0 90000     0.900000000   697  Q   W 512 + 8 [dd]\n");
    assert!(text.len() > 1 << 20);
    assert_eq!(rows(Format::Blkparse, &text), vec![(0, W, 512 * 512, 4096)]);
}

#[test]
fn iolog_v2_moves_on_by_waits_and_v3_has_times() {
    let v2 = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x read 8192 4096\n/dev/x wait 250 0\n\
              /dev/x write 0 512\n/dev/x sync 8192 0\n/dev/x wait 1000\n/dev/x trim 0 4096\n/dev/x datasync\n\
              /dev/x sync_file_range 0 512\n/dev/x read 512 512\n/dev/x close\n";
    let want = vec![
        (0, R, 8192, 4096),
        (250_000, W, 0, 512),
        (250_000, F, 0, 0),
        (1_250_000, T, 0, 4096),
        (1_250_000, F, 0, 0),
        (1_250_000, R, 512, 512),
    ];
    assert_eq!(rows(Format::IologV2, v2), want);
    let want = vec![(0, R, 8192, 4096), (50_000, W, 40960, 24576)];
    assert_eq!(rows(Format::IologV3, sample(Format::IologV3)), want);
    // As fio 3.33 writes them: the offset of a sync is that of the I/O before.
    let syncs = format!("{}100 /dev/x sync 880640 0\n110 /dev/x datasync 0 0\n", sample(Format::IologV3));
    assert_eq!(rows(Format::IologV3, &syncs)[2..], [(60_000, F, 0, 0), (70_000, F, 0, 0)]);
    let why = read(format!("{syncs}120 /dev/x sync some\n"), &as_format(Format::IologV3)).unwrap_err();
    assert!(why.message.starts_with("the offset in bytes: `some`"), "{why}");
    let other = sample(Format::IologV3).replace("90 /dev/x write", "90 /dev/y write");
    let device = TraceOptions { device: Some("/dev/y".into()), ..TraceOptions::default() };
    assert_eq!(read(other, &device).unwrap().rows, vec![(0, W, 40960, 24576)]);
}

#[test]
fn comments_blank_lines_bom_crlf_and_a_missing_last_newline_are_fine_everywhere() {
    for format in text_formats() {
        let plain = rows(format, sample(format));
        assert_eq!(plain.len(), 2, "{format}");
        let (first, rest) = sample(format).split_once('\n').unwrap();
        let dressed = format!("\u{feff}{first}\n# a comment\n\n   \n{}", rest.trim_end()).replace('\n', "\r\n");
        assert_eq!(rows(format, &dressed), plain, "{format}");
    }
}

#[test]
fn lines_cut_by_a_chunk_are_read_whole() {
    // Lines of 20 to 30 bytes over three chunks of 1 MiB, so that every chunk ends inside a line.
    let mut text = String::new();
    let mut want = Vec::new();
    for i in 0..130_000u64 {
        let (time, sector) = (i * 1_003, i * i % 400_000_000);
        text.push_str(&format!("{time} {} {sector} {} {}\n", i % 12, 1 + i % 130, i % 2));
        want.push((time, if i % 2 == 1 { R } else { W }, sector * 512, (1 + i % 130) * 512));
    }
    assert!(text.len() > 2 << 20);
    assert_eq!(rows(Format::Mqsim, &text), want);
}

#[test]
fn keys_parse_and_print() {
    for format in Format::ALL {
        assert_eq!(format.key().parse(), Ok(format));
        assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{format}\""));
    }
    assert!("mqsim2".parse::<Format>().unwrap_err().contains("legal is one of msr, spc"));
    assert!("Thesios".parse::<Format>().unwrap_err().contains("never an address"));
    assert!("oracle-general".parse::<Format>().unwrap_err().contains("neither operation nor address"));
}

#[test]
fn vscsi_has_scsi_commands_us_bytes_and_blocks() {
    let decimal = "version,time,op,size,lbn\n1,5000,40,4096,16\n1,5250.0,42,24576,80\n2,6000,136,512,1\n2,6001,53,0,0\n2,6002,145,512,9\n2,6003,66,24,0\n";
    let whole = read(decimal, &as_format(Format::Vscsi)).unwrap();
    let want = [(0, R, 8192, 4096), (250_000, W, 40960, 24576), (1_000_000, R, 512, 512)];
    assert_eq!(whole.rows, [&want[..], &[(1_001_000, F, 0, 0), (1_002_000, F, 0, 0)]].concat());
    // The same commands in the other base, also without a letter among them.
    let hexadecimal = "version,time,op,size,lbn\n1,5000,28,4096,16\n1,5250.0,2a,24576,80\n2,6000,0x88,512,1\n2,6001,35,0,0\n2,6002,91,512,9\n2,6003,42,24,0\n";
    assert_eq!(read(hexadecimal, &as_format(Format::Vscsi)).unwrap().rows, whole.rows);
    let digits = "1,100,28,4096,100\n1,200,42,24,0\n1,300,88,4096,200\n1,400,41,512,300\n";
    let of_digits = read(digits, &TraceOptions::default()).unwrap();
    assert_eq!(of_digits.rows, [(0, R, 51_200, 4096), (200_000, R, 102_400, 4096)]);
    assert_eq!(of_digits.recognition.notes, ["SCSI commands are hexadecimal, as the first lines show"]);
    let many: String = (0..2_000).map(|i| format!("1,{i},42,4096,100\n")).collect();
    let why = read(format!("{many}1,2000,2a,4096,100\n"), &TraceOptions::default()).unwrap_err();
    assert!(why.place == "t:2001" && why.message.contains("`2a`; legal is the number of a SCSI command"), "{why}");
    assert!(why.message.contains("decimal as in the first lines"), "{why}");
    assert_eq!(whole.counts.skipped, 2, "the header, and UNMAP, whose ranges the trace does not have");
    let why = read("1,5000,R?,4096,16\n", &as_format(Format::Vscsi)).unwrap_err();
    assert!(why.message.contains("the operation: `R?`; legal is the number of a SCSI command"), "{why}");
}

#[test]
fn what_blkparse_says_at_the_end_is_skipped() {
    let end = "\ndiscarded traces containing low-level device driver specific data (only available in binary output)\n";
    for last in ["", "Input file sda.blktrace.0 added\n"] {
        let whole = read(format!("{}{last}{end}", sample(Format::Blkparse)), &as_format(Format::Blkparse)).unwrap();
        assert_eq!(whole.rows.len(), 2);
    }
}

/// The list of changes says how many formats there are beside csv.
#[test]
fn the_number_of_formats_is_the_one_that_is_said() {
    assert_eq!(Format::ALL.len() - 1, 17, "seventeen: say another number in CHANGELOG.md too");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CHANGELOG.md");
    assert!(std::fs::read_to_string(&path).expect("the list of changes").contains("Seventeen trace formats"));
}
