//! Power cuts: what was flushed is there, of the rest some is not.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use flashlane_serve::{Address, Backing, Options, PowerCut, send};

use super::client::Client;
use super::{FLUSH, SCENARIO, Served, TRIM, WRITE_ZEROES, mixed, with_key};

const WRITE: u16 = 1;
const SECTOR: u64 = 512;
const PAGE: u64 = 8192;

/// Sectors that the client writes to.
const SECTORS: u64 = 64 * PAGE / SECTOR;

/// Commands of the client that may be under way at a time.
const DEPTH: usize = 8;

/// A command that was sent: its first and last sector, those it changes, and what they hold then.
struct Sent {
    kind: u16,
    sectors: std::ops::Range<u64>,
    forced: bool,
    value: u32,
    /// Of a flush: how many values of each sector had been answered when it was sent.
    answered: Vec<usize>,
}

/// A drive in the client's eyes: what each sector may hold after a power cut. The last value is the one answered last, the first one is durable.
struct Plain {
    values: Vec<Vec<u32>>,
    /// Values of each sector that are no longer possible.
    gone: Vec<usize>,
}

impl Plain {
    fn new() -> Plain {
        Plain { values: vec![vec![0]; SECTORS as usize], gone: vec![0; SECTORS as usize] }
    }

    fn answered(&self) -> Vec<usize> {
        self.values.iter().zip(&self.gone).map(|(values, gone)| gone + values.len()).collect()
    }

    /// Only the last of the first `count` values answered, and later ones, are possible.
    fn flushed(&mut self, answered: &[usize]) {
        for ((values, gone), &count) in self.values.iter_mut().zip(&mut self.gone).zip(answered) {
            let goes = (count - 1).saturating_sub(*gone);
            values.drain(..goes);
            *gone += goes;
        }
    }

    fn answer(&mut self, sent: &Sent) {
        if sent.kind == FLUSH {
            return self.flushed(&sent.answered);
        }
        for sector in sent.sectors.clone() {
            let values = &mut self.values[sector as usize];
            values.push(sent.value);
            if sent.forced {
                self.gone[sector as usize] += values.len() - 1;
                values.drain(..values.len() - 1);
            }
        }
    }

    /// Sectors that hold what they may not, if those commands may have been done or not.
    fn lost(&self, contents: &[u8], under_way: &BTreeMap<u64, Sent>) -> usize {
        let is_lost = |&sector: &u64| {
            let bytes = &contents[(sector * SECTOR) as usize..][..SECTOR as usize];
            let value = u32::from_le_bytes(bytes[..4].try_into().expect("four"));
            assert!(bytes.chunks(4).all(|word| word == value.to_le_bytes()), "sector {sector} is torn");
            let may_be = |sent: &Sent| sent.sectors.contains(&sector) && sent.value == value;
            !self.values[sector as usize].contains(&value) && !under_way.values().any(may_be)
        };
        (0..SECTORS).filter(is_lost).count()
    }
}

/// A random command that overlaps none of those under way; FUA is a matter of the caller's.
fn command(random: &mut impl FnMut(u64) -> u64, value: u32, under_way: &BTreeMap<u64, Sent>) -> Option<Sent> {
    let sectors = random(SECTORS);
    let sectors = sectors..(sectors + 1 + random(48)).min(SECTORS);
    let kind = [WRITE, WRITE, WRITE, WRITE, WRITE, WRITE, WRITE, TRIM, WRITE_ZEROES, FLUSH][random(10) as usize];
    let page = PAGE / SECTOR;
    let changes = match kind {
        TRIM => sectors.start.next_multiple_of(page)..sectors.end / page * page,
        FLUSH => 0..0,
        _ => sectors.clone(),
    };
    let overlaps = |sent: &Sent| sent.sectors.start < sectors.end && sectors.start < sent.sectors.end;
    let value = if kind == WRITE { value } else { 0 };
    let forced = kind == WRITE && random(8) == 0;
    let is_free = kind == FLUSH || !under_way.values().any(overlaps);
    (is_free && !(kind == TRIM && changes.is_empty())).then_some(Sent {
        kind,
        sectors: changes,
        forced,
        value,
        answered: Vec::new(),
    })
}

/// Random commands on a drive with this buffer, and a power cut while some are under way: the sectors that hold what they may not.
fn cut(folder: &Path, seed: u64, buffer: &str, ignores_flushes: bool) -> (usize, PowerCut) {
    let path = |name: &str| folder.join(format!("{seed}{name}"));
    let options = Options {
        nbd: Some(Address::Unix(path("socket"))),
        data: Backing::File(path("contents")),
        spin: Duration::ZERO,
        control: Some(path("ctl")),
        ignores_flushes,
        ..Options::default()
    };
    let served = Served::with(options, format!("seed = {seed}\n{}", with_key(buffer)));
    let [mut client, mut other] = ["db", "backup"].map(|export| Client::open(&path("socket"), export, false));
    let (mut random, mut plain) = (mixed(seed), Plain::new());
    let mut under_way: BTreeMap<u64, Sent> = BTreeMap::new();
    for value in 1..=400 {
        if under_way.len() == DEPTH || !under_way.is_empty() && random(3) == 0 {
            let (cookie, error, _) = client.answer(0);
            assert_eq!(error, 0);
            plain.answer(&under_way.remove(&cookie).expect("a command under way"));
        }
        if random(40) == 0 {
            // It covers what was answered on the other connection.
            let answered = plain.answered();
            other.change(FLUSH, 0, 0, &[]);
            plain.flushed(&answered);
        }
        let Some(mut sent) = command(&mut random, value, &under_way) else { continue };
        let (offset, length) = (sent.sectors.start * SECTOR, (sent.sectors.end - sent.sectors.start) * SECTOR);
        let data = match sent.kind {
            WRITE => sent.value.to_le_bytes().repeat(length as usize / 4),
            FLUSH => {
                sent.answered = plain.answered();
                Vec::new()
            }
            _ => Vec::new(),
        };
        let cookie = match sent.forced {
            true => client.send_forced(sent.kind, offset, length as u32, &data),
            false => client.send(sent.kind, offset, length as u32, &data),
        };
        under_way.insert(cookie, sent);
    }
    send(&path("ctl"), "power-cut", Duration::from_secs(60)).expect("it cuts the power");
    let report = served.thread.join().expect("it ends by itself");
    let contents = std::fs::read(path("contents")).expect("contents");
    (plain.lost(&contents, &under_way), report.cut.expect("a cut"))
}

/// Buffers that write out for flushes only, all the time, and each write by itself.
const BUFFERS: [&str; 3] = [
    "buffer = { pages = 256, write_back = true, protected = false, flush_above = 200, read_allocate = false }\n",
    "buffer = { pages = 48, write_back = true, protected = false, flush_above = 20, read_allocate = true }\n",
    "buffer = { pages = 64, write_back = true, protected = false, merge_writes = false, flush_above = 0, read_allocate = false }\n",
];

#[test]
fn a_power_cut_takes_nothing_that_was_flushed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cuts: Vec<PowerCut> = Vec::new();
    for (number, buffer) in BUFFERS.iter().enumerate() {
        for seed in (0..3).map(|round| 10 * number as u64 + round) {
            let (lost, cut) = cut(folder.path(), seed, buffer, false);
            assert_eq!(lost, 0, "seed {seed}: {cut:?}");
            cuts.push(cut);
        }
    }
    // How much the buffers have at a cut depends on the machine.
    let sum = |of: fn(&PowerCut) -> u64| cuts.iter().map(of).sum::<u64>();
    let (buffered, lost) = (sum(|cut| cut.buffered), sum(|cut| cut.lost));
    assert!(lost > 0 && lost < buffered, "{cuts:?}");
}

/// The same client finds out that flushes were not done.
#[test]
fn flushes_that_are_not_done_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (lost, cut) = cut(folder.path(), 1, BUFFERS[0], true);
    assert!(lost > 0, "{cut:?}");
}

/// A buffer that keeps its pages without power, and a drive without a buffer, lose nothing that was answered.
#[test]
fn a_protected_buffer_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for (seed, buffer) in [(90, ""), (91, "buffer = { pages = 64, write_back = true, protected = true }\n")] {
        let (lost, cut) = cut(folder.path(), seed, buffer, true);
        assert_eq!((lost, cut.buffered), (0, 0), "{cut:?}");
    }
}

/// A drive whose power is cut once it has been given `power_cut` commands, a hundred times as slow as the model.
fn slow(folder: &Path, power_cut: u64) -> Options {
    Options {
        nbd: Some(Address::Unix(folder.join("socket"))),
        data: Backing::File(folder.join("contents")),
        time_scale: 100.0,
        spin: Duration::ZERO,
        state: Some(folder.join("contents.state")),
        power_cut: Some(power_cut),
        ..Options::default()
    }
}

/// The power is cut after a number of commands: what was answered is there, of the others whole pages are, and nobody gets an answer.
#[test]
fn a_power_cut_takes_what_was_not_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Served::with(slow(folder.path(), 11), SCENARIO.to_owned());
    let mut client = Client::open(&folder.path().join("socket"), "db", true);
    client.write(0, &[1; 64 << 10]);
    for write in 0..16 {
        // The last ones may find that the server has ended.
        let _ = client.try_send(WRITE, (64 << 10) + write * 4 * PAGE, 4 * PAGE as u32, &vec![2; 4 * PAGE as usize]);
    }
    let report = served.thread.join().expect("it ends by itself");
    let cut = report.cut.expect("a cut");
    assert_eq!((cut.commands, cut.pages, report.kept), (10, 40, None));
    let bytes = std::fs::read(folder.path().join("contents")).expect("contents");
    let (answered, rest) = bytes.split_at(64 << 10);
    assert!(answered.iter().all(|byte| *byte == 1));
    let landed = rest.chunks(PAGE as usize).filter(|page| page[0] == 2).count() as u64;
    assert!(rest.chunks(PAGE as usize).all(|page| page.iter().all(|byte| *byte == page[0])));
    assert!(landed == cut.landed && (5..36).contains(&landed), "{cut:?}, {landed}");
    assert!(rest[40 * PAGE as usize..].iter().all(|byte| *byte == 0), "the drive did not get the others");
    assert!(!folder.path().join("contents.state").exists());
}

/// The pages of trims and of write zeroes land or not as those of writes do; what the drive had ended has landed.
#[test]
fn a_power_cut_takes_trims_and_zeroes_that_were_not_answered() {
    let of = |seed: u64| {
        let folder = tempfile::tempdir().expect("a folder");
        // A trim takes 10 ms of the model, a second here.
        let text = with_key("ftl.trim_ns = 10_000_000\n");
        let served = Served::with(slow(folder.path(), 11), format!("seed = {seed}\n{text}"));
        let mut client = Client::open(&folder.path().join("socket"), "db", true);
        client.write(0, &[1; 80 * PAGE as usize]);
        for command in 0..10 {
            let kind = [TRIM, WRITE_ZEROES][command as usize % 2];
            // From within a page to within another: six pages are whole, and zeroes reach into two more.
            client.send(kind, 8 * command * PAGE + 512, 7 * PAGE as u32, &[]);
        }
        let report = served.thread.join().expect("it ends by itself");
        let mut bytes = std::fs::read(folder.path().join("contents")).expect("contents");
        bytes.truncate(80 * PAGE as usize);
        (report.cut.expect("a cut"), bytes)
    };
    let (cut, bytes) = of(1);
    assert_eq!((cut.commands, cut.pages), (10, 5 * 6 + 5 * 8));
    let mut landed = [0; 2];
    for (number, page) in bytes.chunks(PAGE as usize).enumerate() {
        let (kind, place) = (number / 8 % 2, number % 8);
        // The bytes of the page that the command covers.
        let covered = match place {
            0 => 512..PAGE as usize,
            7 => 0..512,
            _ => 0..PAGE as usize,
        };
        let is_zero = page[covered.clone()].iter().all(|byte| *byte == 0);
        let rest: Vec<u8> = page[..covered.start].iter().chain(&page[covered.end..]).copied().collect();
        assert!(rest.iter().all(|byte| *byte == 1), "page {number}: bytes that no command covers");
        assert!(is_zero || page.iter().all(|byte| *byte == 1), "page {number} is torn");
        assert!(!is_zero || kind == 1 || (1..7).contains(&place), "page {number}: a trim takes whole pages");
        landed[kind] += u64::from(is_zero);
    }
    assert!(landed.iter().sum::<u64>() == cut.landed, "{cut:?}, {landed:?}");
    assert!((5..=25).contains(&landed[0]) && (8..=32).contains(&landed[1]), "{landed:?}");
    assert!(of(1) == (cut, bytes.clone()), "a seed has one outcome");
    assert!(of(2).1 != bytes);
}
