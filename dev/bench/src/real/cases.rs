//! What is run: devices, each beside the drive that it models, the workloads that were measured on that drive, and the measured figures.

/// A device beside a drive.
#[derive(Debug)]
pub struct Case {
    /// Its name in tables.
    pub name: &'static str,
    /// The beginning of a scenario: the device, and the scheduler that it is judged under.
    pub device: &'static str,
    /// What is compared.
    pub load: Load,
    /// Whether the short form has it.
    pub is_short: bool,
}

/// What is compared.
#[derive(Debug)]
pub enum Load {
    /// 4 KiB random reads of a closed loop of this depth.
    Reads(u32),
    /// Response times of 10,000 requests a second, half of them reads, beside random writes.
    Writes(Writes),
    /// A rate of the 970 PRO.
    Peak(Peak),
    /// Write amplification in equilibrium.
    Amplification(Amplification),
}

/// Random writes of 4 KiB at some rates, on a smaller drive.
#[derive(Debug)]
pub struct Writes {
    /// The drive.
    pub drive: &'static str,
    /// How many times smaller the device is made.
    pub scale: u32,
    /// Requests a second, in the order in which they are run; of all of these the first one's reads are not counted.
    pub rates: &'static [u32],
    /// Writes a second that the device may take when saturated; a tenth of the drive is written at nine tenths of it first.
    pub expected: f64,
    /// Requests at each rate while times are measured. A die must collect several victims meanwhile: while it collects one, reads wait longer.
    pub requests: f64,
    /// Time at full rate while that and times are measured, s: a die fills several superblocks.
    pub saturated_s: f64,
    /// What is written before the rates, as a share of the drive.
    pub before: f64,
}

/// One of six rates.
#[derive(Debug)]
pub struct Peak {
    /// Its name in the data.
    pub figure: &'static str,
    /// Keys of the flow.
    pub keys: &'static str,
}

/// How much of which drive is written how. Blocks alone decide it, so that one die will do.
#[derive(Debug)]
pub struct Amplification {
    /// The drive, how it is written and the GiB that are used, as the data begins a line.
    pub line: &'static str,
    /// Flash of the drive, GiB.
    pub raw_gib: f64,
    /// How victims are chosen.
    pub victim: &'static str,
    /// Whether this point was fitted.
    pub is_fitted: bool,
}

/// Scheduler and device of a scenario: the answers that drives are judged under, which fetch `burst` commands of a queue at a time (default 1), and
/// the preset.
macro_rules! preset {
    ($name:literal) => {
        preset!($name, 1)
    };
    ($name:literal, $burst:literal) => {
        concat!(
            "scheduler = { base = \"read-first-suspend\", place = \"rotate\", collect = \"paced\", fetch_burst = ",
            $burst,
            " }\n[device]\npreset = \"",
            $name,
            "\"\n"
        )
    };
}

const PRO_980: &str = "scheduler = \"read-first-suspend\"\n[device]\npreset = \"samsung-980-pro-1tb\"\n";
const PRO_970: &str =
    "scheduler = { base = \"read-first\", place = \"rotate\" }\n[device]\npreset = \"samsung-970-pro-512gb\"\n";
const MAX_7450: &str = concat!(
    preset!("micron-7450-max-800gb"),
    "geometry = { channels = 1, chips_per_channel = 1, pages_per_block = 192 }\n",
    "buffer = { pages = 256, flush_above = 64 }\nftl = { user_bytes = 4_000_000_000 }\n"
);
const SPACE: &str = include_str!("../../data/real/amplification.toml");

const TO_30_000: &[u32] = &[30_000, 10_000];
const TO_50_000: &[u32] = &[50_000, 30_000, 10_000];
const TO_70_000: &[u32] = &[70_000, 50_000, 30_000, 10_000];
const TO_110_000: &[u32] = &[110_000, 90_000, 70_000, 50_000, 30_000, 10_000];

const fn reads(depth: u32, is_short: bool) -> Case {
    Case { name: "samsung-980-pro-1tb", device: PRO_980, load: Load::Reads(depth), is_short }
}

/// A drive at an eighth of its size. Smaller ones have blocks of so few wordlines that the padding of the last one of each victim shows.
const fn writes(name: &'static str, device: &'static str, writes: Writes) -> Case {
    Case { name, device, is_short: false, load: Load::Writes(writes) }
}

const fn steady(drive: &'static str, rates: &'static [u32], expected: f64) -> Writes {
    Writes { drive, scale: 8, rates, expected, requests: 200_000.0, saturated_s: 4.0, before: 0.02 }
}

/// A short look at a drive, soon after its beginning.
const fn short(name: &'static str, device: &'static str, drive: &'static str, expected: f64) -> Case {
    let rates = &[10_000];
    let writes = Writes { drive, scale: 32, rates, expected, requests: 5_000.0, saturated_s: 2.0, before: 0.01 };
    Case { name, device, is_short: true, load: Load::Writes(writes) }
}

const fn peak(figure: &'static str, keys: &'static str) -> Case {
    Case { name: "samsung-970-pro-512gb", device: PRO_970, load: Load::Peak(Peak { figure, keys }), is_short: false }
}

const fn space(line: &'static str, raw_gib: f64, victim: &'static str, is_fitted: bool) -> Case {
    let amplification = Amplification { line, raw_gib, victim, is_fitted };
    Case { name: "blocks alone", device: SPACE, load: Load::Amplification(amplification), is_short: false }
}

/// One die of a 7450 MAX.
const fn fill(line: &'static str, is_fitted: bool) -> Case {
    let amplification = Amplification { line, raw_gib: 1_080.0, victim: "greedy", is_fitted };
    Case { name: "micron-7450-max-800gb", device: MAX_7450, is_short: false, load: Load::Amplification(amplification) }
}

/// All cases.
pub const CASES: &[Case] = &[
    reads(1, true),
    reads(2, false),
    reads(4, false),
    reads(8, true),
    reads(16, false),
    reads(32, true),
    reads(64, false),
    reads(128, true),
    reads(256, false),
    writes("samsung-pm9a3-960gb", preset!("samsung-pm9a3-960gb", 16), steady("PM9A3 960 GB", TO_70_000, 75_000.0)),
    writes("sk-hynix-pe8110-960gb", preset!("sk-hynix-pe8110-960gb"), steady("PE8110 960 GB", TO_70_000, 78_000.0)),
    writes("micron-7450-pro-960gb", preset!("micron-7450-pro-960gb"), steady("7450 PRO 960 GB", TO_50_000, 67_000.0)),
    writes("wd-dc-960gb", preset!("wd-dc-960gb"), steady("WD 960 GB", TO_30_000, 45_000.0)),
    writes("solidigm-p5520-1920gb", preset!("solidigm-p5520-1920gb"), steady("P5520 1.92 TB", TO_110_000, 115_000.0)),
    short("samsung-pm9a3-960gb, short", preset!("samsung-pm9a3-960gb", 16), "PM9A3 960 GB", 72_000.0),
    short("sk-hynix-pe8110-960gb, short", preset!("sk-hynix-pe8110-960gb"), "PE8110 960 GB", 75_000.0),
    writes("datacenter-tlc", preset!("datacenter-tlc"), steady("P5520 1.92 TB", TO_70_000, 90_000.0)),
    writes("modern-tlc", preset!("modern-tlc"), steady("PM9A3 960 GB", TO_30_000, 50_000.0)),
    peak("4 KiB random reads", "read_ratio = 1, access = \"random\", align_bytes = 4096, depth = 256"),
    peak("4 KiB sequential reads", "read_ratio = 1, access = \"streaming\", depth = 256"),
    peak("4 KiB random writes", "read_ratio = 0, access = \"random\", align_bytes = 4096, depth = 256"),
    peak("4 KiB sequential writes", "read_ratio = 0, access = \"streaming\", depth = 256"),
    peak("sequential read", "read_ratio = 1, access = \"streaming\", depth = 32"),
    peak("sequential write", "read_ratio = 0, access = \"streaming\", depth = 32"),
    fill("7450 MAX 800 GB,uniform,372,", false),
    fill("7450 MAX 800 GB,uniform,596,", false),
    fill("7450 MAX 800 GB,uniform,745,", true),
    space("7450 MAX 800 GB,uniform,372,", 1_080.0, "greedy", false),
    space("7450 MAX 800 GB,uniform,447,", 1_080.0, "greedy", false),
    space("7450 MAX 800 GB,uniform,521,", 1_080.0, "greedy", false),
    space("7450 MAX 800 GB,uniform,596,", 1_080.0, "greedy", false),
    space("7450 MAX 800 GB,uniform,670,", 1_080.0, "greedy", false),
    space("7450 MAX 800 GB,uniform,745,", 1_080.0, "greedy", true),
    space("P5520 1.92 TB,uniform,1788,", 2_146.0, "cost-benefit", true),
    space("P5520 1.92 TB,zipf 0.8,1788,", 2_146.0, "cost-benefit", false),
];

// Files of measured figures. The README of `dev/bench/data/real` names their sources.

/// 4 KiB random reads by depth.
pub const READS: &str = include_str!("../../data/real/random-reads.csv");
/// Response times beside steady random writes, and saturated rates.
pub const WRITES: &str = include_str!("../../data/real/steady-writes.csv");
/// Peak rates of a client drive, three results each.
pub const PEAKS: &str = include_str!("../../data/real/peak-rates.csv");
/// Write amplification by used space and by pattern.
pub const AMPLIFICATION: &str = include_str!("../../data/real/write-amplification.csv");

/// The figure in `column` of the line of `file` that begins with `start`, such as `980 PRO,8,`.
///
/// # Panics
/// If the file, which is part of this program, has no such line, column or number.
pub fn measured(file: &str, start: &str, column: &str) -> f64 {
    let head = file.lines().next().unwrap_or_default();
    let index = head.split(',').position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"));
    let line = file.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no line {start}"));
    let cell = line.split(',').nth(index).unwrap_or_default();
    cell.parse().unwrap_or_else(|_| panic!("{start}: {column} is {cell:?}"))
}
