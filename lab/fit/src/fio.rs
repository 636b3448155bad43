//! Results of fio: its JSON, `json` and `json+`, of fio 2 and 3.
//!
//! Promises one point for each job that did I/O, with threads that fio lists one by one put together, and an error that names file and job for
//! what cannot be read.

use serde_json::{Map, Value};

use flashlane_outputs::shown;

use crate::error::FitError;
use crate::point::{Access, Figures, Kind, Point};

/// The longest text that is read, bytes: a hundred jobs with histograms take 2 MB.
pub const LONGEST: usize = 64 << 20;
/// The most jobs of a file.
const MOST_JOBS: usize = 10_000;
/// The ranks that are taken from histograms, in millionths: fio's own.
pub const RANKS: [u32; 17] = [
    10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 950_000, 990_000,
    995_000, 999_000, 999_500, 999_900,
];

/// The points of `text`, the content of `file`.
///
/// # Errors
/// Text that is no result of fio, or a job that did no I/O or is not said to be what.
pub fn read(file: &str, text: &str) -> Result<Vec<Point>, FitError> {
    if text.len() > LONGEST {
        return Err(FitError::at(file, format!("{} bytes; results of fio have at most {LONGEST}", text.len())));
    }
    // fio prints slopes and deviations of nothing as C does.
    let text = text.replace(": -nan", ": null").replace(": nan", ": null").replace(": inf", ": null");
    // fio and its users' shells put remarks in lines before it.
    let begin = text.find('{').ok_or_else(|| FitError::at(file, foreign("has no JSON object")))?;
    let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
    let root = values.next().ok_or_else(|| FitError::at(file, foreign("is empty")))?;
    let root = root.map_err(|error| {
        let why = if error.is_eof() { "ends in the middle of its JSON; was fio stopped?" } else { "is no JSON" };
        FitError::at(file, format!("{why} ({error})"))
    })?;
    let jobs = root.get("jobs").and_then(Value::as_array);
    let jobs = jobs.ok_or_else(|| FitError::at(file, foreign("has no list `jobs`")))?;
    if jobs.is_empty() || jobs.len() > MOST_JOBS {
        return Err(FitError::at(file, format!("{} jobs, expected 1 to {MOST_JOBS}", jobs.len())));
    }
    let empty = Map::new();
    let global = root.get("global options").and_then(Value::as_object).unwrap_or(&empty);
    let mut groups: Vec<(String, Vec<&Value>)> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let name = job.get("jobname").and_then(Value::as_str).map_or_else(|| format!("[{index}]"), str::to_owned);
        // Threads of one job stand one after the other, unless fio reports them as one.
        match groups.last_mut().filter(|(last, _)| *last == name && job.get("jobname").is_some()) {
            Some((_, threads)) if threads.len() < declared_threads(global, job) as usize => threads.push(job),
            _ => groups.push((name, vec![job])),
        }
    }
    groups.iter().map(|(name, threads)| point(file, name, global, threads)).collect()
}

fn foreign(what: &str) -> String {
    format!("{what}; expected the output of fio --output-format=json+, or a table whose first line names its columns")
}

/// The options of a job: its own over the global ones.
struct Options<'a> {
    global: &'a Map<String, Value>,
    own: Option<&'a Map<String, Value>>,
}

impl<'a> Options<'a> {
    fn of(global: &'a Map<String, Value>, job: &'a Value) -> Options<'a> {
        Options { global, own: job.get("job options").and_then(Value::as_object) }
    }

    /// The value under the first of these names that is there: fio writes options as they were written.
    fn get(&self, names: &[&str]) -> Option<String> {
        let of = |map: &Map<String, Value>| {
            names.iter().find_map(|name| match map.get(*name)? {
                Value::String(text) => Some(text.trim().to_owned()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
        };
        self.own.and_then(of).or_else(|| of(self.global))
    }
}

fn declared_threads(global: &Map<String, Value>, job: &Value) -> u32 {
    let threads = Options::of(global, job).get(&["numjobs"]);
    threads.and_then(|text| text.parse().ok()).filter(|&threads| (1..=65_536).contains(&threads)).unwrap_or(1)
}

/// Bytes of `4k`, `4KiB`, `1m`, `1.5T`, `4096`: fio's sizes, in units of 1,024 by default.
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = match text[digits..].trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let unit = 1_u64 << (10 * unit);
    let Some((whole, part)) = text[..digits].split_once('.') else {
        return text[..digits].parse::<u64>().ok()?.checked_mul(unit);
    };
    // Of at most six decimals: more are no size that anyone writes.
    let scale = 10_u64.checked_pow(u32::try_from(part.len()).ok().filter(|&places| (1..=6).contains(&places))?)?;
    let rest = part.parse::<u64>().ok()?.checked_mul(unit)? / scale;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(rest)
}

fn point(file: &str, name: &str, global: &Map<String, Value>, threads: &[&Value]) -> Result<Point, FitError> {
    let fault = |what: String| FitError::at(file, format!("job {}: {what}", shown::short(name)));
    let job = threads[0];
    let options = Options::of(global, job);
    let said = |names: &[&str]| options.get(names);
    let rw = said(&["rw", "readwrite"]).unwrap_or_else(|| "read".into());
    let (kind, access) = pattern(&rw, said(&["random_distribution"]).as_deref())
        .ok_or_else(|| fault(format!("rw = {}: not a way of fio to read or write", shown::short(&rw))))?;
    let side = if kind == Kind::Writes { "write" } else { "read" };
    let Some(figures) = figures(threads, side).map_err(&fault)? else {
        let error = threads.iter().find_map(|thread| thread.get("error").and_then(Value::as_u64).filter(|&e| e > 0));
        let error = error.map_or(String::new(), |error| format!(" (error {error})"));
        return Err(fault(format!("no {side} completed{error}; leave the job out, or run it again")));
    };
    let writes = if kind == Kind::Mixed { self::figures(threads, "write").map_err(&fault)? } else { None };
    let size = said(&["bs", "blocksize"]).unwrap_or_else(|| "4k".into());
    let first = size.split([',', ':']).next().unwrap_or_default();
    let bytes_of = bytes(first)
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| fault(format!("bs = {}: not a size", shown::short(&size))))?;
    let number = |key: &str, default: u32| match said(&[key]) {
        None => Ok(default),
        Some(text) => match text.parse() {
            Ok(number @ 1..=65_536) => Ok(number),
            _ => Err(fault(format!("{key} = {}: expected 1 to 65536", shown::short(&text)))),
        },
    };
    let engine = said(&["ioengine"]).unwrap_or_default();
    let one_at_a_time = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"].contains(&&*engine);
    let each = if one_at_a_time { 1 } else { number("iodepth", 1)? };
    let threads_of = number("numjobs", 1)?;
    let depth = each.checked_mul(threads_of).filter(|&depth| depth <= 65_536);
    let depth = depth.ok_or_else(|| fault(format!("{threads_of} threads of depth {each} are over 65536")))?;
    let core = |thread: &&Value| Some(thread.get("usr_cpu")?.as_f64()? + thread.get("sys_cpu")?.as_f64()?);
    let cores: Vec<f64> = threads.iter().filter_map(core).filter(|core| core.is_finite()).collect();
    Ok(Point {
        file: file.into(),
        name: shown::short(name),
        kind,
        access,
        bytes: bytes_of,
        depth,
        threads: threads_of,
        span: said(&["size"]).and_then(|text| bytes(&text)),
        no_drive: no_drive(&options, &engine),
        apart: apart(&options, &size),
        iops: figures.iops,
        mean_us: figures.mean_us,
        quantiles: figures.quantiles,
        writes,
        beside: None,
        is_steady: job.get("steadystate").and_then(|steady| Some(steady.get("attained")?.as_f64()? > 0.0)),
        core_percent: cores.iter().copied().reduce(f64::max),
    })
}

fn pattern(rw: &str, distribution: Option<&str>) -> Option<(Kind, Access)> {
    let access = match distribution.map(|text| text.split_once(':').unwrap_or((text, "1.2"))) {
        None | Some(("random", _)) => Access::Random,
        Some(("zipf", theta)) => theta.parse().ok().filter(|theta| *theta > 0.0).map_or(Access::Other, Access::Zipf),
        Some(_) => Access::Other,
    };
    Some(match rw.split(':').next().unwrap_or_default() {
        "randread" => (Kind::Reads, access),
        "read" => (Kind::Reads, Access::Other),
        "randwrite" => (Kind::Writes, access),
        "write" => (Kind::Writes, Access::Other),
        "randrw" => (Kind::Mixed, access),
        "rw" | "readwrite" => (Kind::Mixed, Access::Other),
        "trim" | "randtrim" | "trimwrite" | "randtrimwrite" => (Kind::Writes, Access::Other),
        _ => return None,
    })
}

/// What was measured, if its name says that it is no drive. Names of engines that need no kernel (`trtype=...`) say nothing.
fn no_drive(options: &Options<'_>, engine: &str) -> Option<String> {
    if ["nbd", "rbd", "http", "libiscsi", "gfapi", "gfapi_async", "null"].contains(&engine) {
        return Some(format!("what fio's engine {engine} reaches"));
    }
    let names = options.get(&["filename"]).or_else(|| options.get(&["directory"]))?;
    let what = |name: &str| match name.strip_prefix("/dev/") {
        _ if name.contains('=') || name.starts_with(r"\\.\") => None,
        None => Some("a file, with its file system"),
        Some(rest) if rest.starts_with("shm/") => Some("a file in memory"),
        Some(rest) => {
            let kinds = [
                ("vd", "a virtual disk"),
                ("xvd", "a virtual disk"),
                ("nbd", "a network drive"),
                ("rbd", "a network drive"),
            ];
            let others = [("loop", "a file behind a loop device"), ("ram", "memory"), ("zram", "memory")];
            kinds.into_iter().chain(others).find(|(kind, _)| rest.starts_with(kind)).map(|(_, what)| what)
        }
    };
    names.split(':').find_map(|name| Some(format!("{}, {}", shown::short(name), what(name)?)))
}

/// What makes it another load than a closed loop of requests of one size.
fn apart(options: &Options<'_>, size: &str) -> Option<String> {
    let keys = ["rate_iops", "rate", "thinktime", "bssplit", "bsrange", "latency_target", "rate_process"];
    let key = keys.into_iter().find_map(|key| Some(format!("{key} = {}", shown::short(&options.get(&[key])?))));
    let buffered = || options.get(&["direct"]).filter(|direct| direct == "0").map(|_| "direct = 0".to_owned());
    let sizes = || size.contains([',', ':']).then(|| format!("bs = {}", shown::short(size)));
    key.or_else(buffered).or_else(sizes)
}

/// Rate and times of the requests of one side of all threads; none if no such request completed.
fn figures(threads: &[&Value], side: &str) -> Result<Option<Figures>, String> {
    let sides: Vec<&Value> = threads.iter().filter_map(|thread| thread.get(side)).collect();
    let counts: Vec<f64> = sides.iter().map(|side| count(side)).collect();
    if counts.iter().sum::<f64>() <= 0.0 {
        return Ok(None);
    }
    let (mean_us, quantiles) = latencies(&sides, &counts)?;
    let mut iops = 0.0;
    for rate in sides.iter().filter_map(|side| side.get("iops")) {
        // A table of fio's figures that another program wrote may have numbers as texts.
        let number = rate.as_f64().or_else(|| rate.as_str()?.trim().parse().ok());
        iops += number.ok_or_else(|| format!("iops = {}: expected a number", shown::short(&rate.to_string())))?;
    }
    if !(iops.is_finite() && iops > 0.0) {
        return Err(format!("iops = {iops}: expected above 0"));
    }
    Ok(Some(Figures { iops, mean_us, quantiles }))
}

/// Requests that completed.
fn count(side: &Value) -> f64 {
    let number = |key: &str| side.get(key).and_then(Value::as_f64);
    let by_rate = || Some(number("iops")? * number("runtime")? / 1e3);
    number("total_ios").or_else(by_rate).filter(|count| count.is_finite()).unwrap_or(0.0).max(0.0)
}

/// Mean and quantiles of latency from submission to completion, us, of all threads. fio has completion and submission apart, and quantiles of the
/// first alone; submission is the host's and much the same each time, so that its mean is added to all.
fn latencies(sides: &[&Value], counts: &[f64]) -> Result<(f64, Vec<(u32, f64)>), String> {
    // fio 3 counts nanoseconds, fio 2 microseconds. Percentiles stand beside whichever was asked for.
    let forms = [("clat_ns", 1e3), ("lat_ns", 1e3), ("clat", 1.0), ("lat", 1.0)];
    let has = |form: &str, part: &str| sides.iter().all(|side| side.get(form).is_some_and(|f| f.get(part).is_some()));
    let form = forms.iter().find(|(form, _)| has(form, "percentile"));
    let form = form.or_else(|| forms.iter().find(|(form, _)| has(form, "mean")));
    let &(form, unit) = form.ok_or("no completion latencies (clat_ns, lat_ns or clat)")?;
    let all: f64 = counts.iter().sum();
    let figures = |part: &str| -> Vec<&Value> { sides.iter().filter_map(|side| side.get(form)?.get(part)).collect() };
    let means: Vec<f64> = figures("mean").into_iter().filter_map(Value::as_f64).collect();
    if means.len() != sides.len() {
        return Err(format!("{form} has no mean"));
    }
    let of_all = |means: &[f64]| means.iter().zip(counts).map(|(mean, count)| mean * count).sum::<f64>() / all / unit;
    let mean = of_all(&means);
    if !(mean.is_finite() && mean > 0.0) {
        return Err(format!("{form}.mean = {}: expected above 0", mean * unit));
    }
    let bins: Vec<&Map<String, Value>> = figures("bins").into_iter().filter_map(Value::as_object).collect();
    let quantiles = if bins.len() == sides.len() && unit > 1.0 { of_bins(&bins)? } else { Vec::new() };
    let quantiles = if quantiles.is_empty() { of_percentiles(&figures("percentile"), counts)? } else { quantiles };
    let quantiles = quantiles.into_iter().map(|(rank, value)| (rank, value / unit)).filter(|&(_, us)| us > 0.0);
    let mut quantiles: Vec<(u32, f64)> = quantiles.collect();
    quantiles.dedup_by_key(|&mut (rank, _)| rank);
    if quantiles.iter().zip(quantiles.iter().skip(1)).any(|(a, b)| a.1 > b.1) {
        return Err(format!("{form}: percentiles that fall"));
    }
    let submission = form.strip_prefix('c').and_then(|lat| {
        let mean = |side: &&Value| side.get(format!("s{lat}"))?.get("mean")?.as_f64().filter(|ns| *ns > 0.0);
        sides.iter().map(mean).collect::<Option<Vec<f64>>>()
    });
    let submission = submission.map_or(0.0, |means| of_all(&means));
    quantiles.iter_mut().for_each(|(_, us)| *us += submission);
    Ok((mean + submission, quantiles))
}

/// Quantiles of histograms that are put together.
fn of_bins(bins: &[&Map<String, Value>]) -> Result<Vec<(u32, f64)>, String> {
    let mut together: Vec<(u64, u64)> = Vec::new();
    for (value, count) in bins.iter().flat_map(|bins| bins.iter()) {
        let (Ok(value), Some(count)) = (value.parse(), count.as_u64()) else {
            return Err(format!("bins: {} = {count}: expected whole numbers, 0 or more", shown::short(value)));
        };
        together.push((value, count));
    }
    together.sort_unstable();
    let all: u128 = together.iter().map(|&(_, count)| u128::from(count)).sum();
    if all == 0 {
        return Ok(Vec::new());
    }
    let (mut below, mut at) = (0, together.iter());
    let mut value = 0;
    let quantile = |rank: u32| {
        let needed = (all * u128::from(rank)).div_ceil(1_000_000);
        while below < needed {
            let Some(&(next, count)) = at.next() else { break };
            (value, below) = (next, below + u128::from(count));
        }
        (rank, value as f64)
    };
    Ok(RANKS.into_iter().map(quantile).collect())
}

/// Quantiles of threads by their percentiles: the mean of each over the threads, by their counts.
fn of_percentiles(figures: &[&Value], counts: &[f64]) -> Result<Vec<(u32, f64)>, String> {
    let first = figures.first().and_then(|figure| figure.as_object());
    let Some(first) = first.filter(|_| figures.len() == counts.len()) else { return Ok(Vec::new()) };
    let all: f64 = counts.iter().sum();
    let mut quantiles = Vec::new();
    for percent in first.keys() {
        let Some(rank) = percent.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent)) else {
            continue;
        };
        let mut sum = 0.0;
        for (figure, count) in figures.iter().zip(counts) {
            let value = figure.get(percent).unwrap_or(&Value::Null);
            let number = value.as_f64().filter(|value| *value >= 0.0);
            let number = number.ok_or_else(|| {
                format!("percentile {percent} = {}: expected a number, 0 or more", shown::short(&value.to_string()))
            })?;
            sum += number * count;
        }
        // fio 2 has percentiles of 0 beyond those that it was asked for.
        if sum > 0.0 && rank > 0.0 {
            quantiles.push(((rank * 1e4).round() as u32, sum / all));
        }
    }
    quantiles.sort_by_key(|&(rank, _)| rank);
    Ok(quantiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of fio 3.33: two threads of a job that fio lists one by one, histograms cut short.
    const FIO_3: &str = r#"fio: this is a remark
        {"fio version": "fio-3.33", "global options": {"rw": "randread", "direct": "1", "ioengine": "io_uring"},
         "jobs": [
          {"jobname": "a", "groupid": 0, "error": 0, "job options": {"bs": "4K", "iodepth": "16", "numjobs": "2"},
           "read": {"iops": 1000.0, "runtime": 2000, "total_ios": 3,
             "clat_ns": {"min": 50000, "max": 90112, "mean": 60000.0, "N": 3, "percentile": {"50.000000": 50432},
               "bins": {"50432": 2, "90624": 1}}}, "usr_cpu": 30.5, "sys_cpu": 61.0},
          {"jobname": "a", "groupid": 0, "error": 0, "job options": {"bs": "4K", "iodepth": "16", "numjobs": "2"},
           "read": {"iops": 500.0, "runtime": 2000, "total_ios": 1,
             "clat_ns": {"min": 100000, "max": 100000, "mean": 100000.0, "N": 1, "percentile": {"50.000000": 100864},
               "bins": {"100864": 1}}}, "usr_cpu": 1.0, "sys_cpu": 2.0}]}"#;

    /// Of fio 2.16, in microseconds, with unused percentiles of 0.
    const FIO_2: &str = r#"{"fio version": "fio-2.16", "jobs": [
          {"jobname": "b", "job options": {"rw": "randread", "bs": "8k", "iodepth": "4"},
           "read": {"iops": 2000.0, "runtime": 1000, "total_ios": 2000,
             "slat": {"mean": 3.0}, "clat": {"min": 80, "max": 400, "mean": 95.5,
               "percentile": {"1.000000": 81, "50.000000": 92, "99.000000": 201, "0.00": 0}}}}]}"#;

    #[test]
    fn both_forms_are_read_and_threads_put_together() {
        let points = read("a.json", FIO_3).expect("fio 3");
        let [point] = &points[..] else { panic!("{points:?}") };
        assert_eq!((point.bytes, point.depth, point.threads, point.iops), (4_096, 32, 2, 1_500.0));
        assert_eq!((point.mean_us, point.core_percent), (70.0, Some(91.5)));
        let at = |rank| point.exactly(rank);
        assert_eq!([at(500_000), at(600_000), at(999_000)], [50.432, 90.624, 100.864].map(Some));
        let old = read("b.json", FIO_2).expect("fio 2");
        assert_eq!((old[0].mean_us, old[0].depth, old[0].core_percent), (98.5, 4, None), "with 3 us of submission");
        assert_eq!(old[0].quantiles, [(10_000, 84.0), (500_000, 95.0), (990_000, 204.0)]);
        let synchronous = FIO_2.replace("\"bs\"", "\"ioengine\": \"psync\", \"bs\"");
        assert_eq!(read("b.json", &synchronous).expect("fio 2")[0].depth, 1, "whatever its iodepth says");
    }

    #[test]
    fn sizes_are_fios() {
        let sizes = ["4096", "4k", "4KiB", "1.5T", "0.25m", "1.", ".5k", "1.2.3k", "1.5x", "99999999T", "1.0000001g"];
        let read = sizes.map(bytes);
        let none = [None; 6];
        assert_eq!(read[..5], [4_096, 4_096, 4_096, 3 << 39, 1 << 18].map(Some));
        assert_eq!(read[5..], none, "{read:?}");
    }

    /// A thread that reads and writes: the point has its reads, and its writes beside them.
    #[test]
    fn both_sides_of_a_mixed_job_are_read() {
        let mixed = FIO_2.replace("randread", "randrw").replace("\"read\"", "\"write\"");
        let error = read("b.json", &mixed).expect_err("no read").to_string();
        assert!(error.starts_with("b.json: job b: no read completed"), "{error}");
        let both = FIO_2.replace("randread", "randrw").replacen(
            "\"read\"",
            "\"write\": {\"total_ios\": 10, \"iops\": \"5.5\", \"clat\": {\"mean\": 9.0}}, \"read\"",
            1,
        );
        let [point] = &read("b.json", &both).expect("both sides")[..] else { panic!("a job") };
        let writes = point.writes.as_ref().expect("writes");
        assert_eq!((point.mean_us, writes.mean_us, writes.iops), (98.5, 9.0, 5.5), "a text that is a number");
        let error = read("b.json", &both.replace("\"5.5\"", "\"many\"")).expect_err("no number").to_string();
        assert_eq!(error, "b.json: job b: iops = \"many\": expected a number");
    }

    #[test]
    fn what_a_closed_loop_has_not_is_kept_in_words() {
        for (from, to, says) in [
            ("\"bs\"", "\"rate_iops\": \"100\", \"bs\"", Some("rate_iops = 100")),
            ("\"bs\"", "\"direct\": \"0\", \"bs\"", Some("direct = 0")),
            ("\"8k\"", "\"8k,4k\"", Some("bs = 8k,4k")),
            ("\"8k\"", "\"8KiB\"", None),
        ] {
            let points = read("b.json", &FIO_2.replace(from, to)).expect(to);
            assert_eq!((points[0].apart.as_deref(), points[0].bytes), (says, 8_192));
        }
    }

    #[test]
    fn what_is_no_drive_by_its_name_is_said() {
        for (key, name, says) in [
            ("filename", "/dev/nvme0n1", None),
            ("filename", "trtype=PCIe traddr=0000.04.00.0 ns=1", None),
            ("filename", r"\\\\.\\PhysicalDrive1", None),
            ("filename", "/dev/nvme0n1:probe.dat", Some("probe.dat, a file, with its file system")),
            ("directory", "/srv", Some("/srv, a file, with its file system")),
            ("filename", "/dev/shm/f", Some("/dev/shm/f, a file in memory")),
            ("filename", "/dev/vdb", Some("/dev/vdb, a virtual disk")),
            ("filename", "/dev/nbd0", Some("/dev/nbd0, a network drive")),
            ("filename", "/dev/loop0", Some("/dev/loop0, a file behind a loop device")),
            ("ioengine", "nbd", Some("what fio's engine nbd reaches")),
        ] {
            let text = FIO_2.replace("\"bs\"", &format!("\"{key}\": \"{name}\", \"bs\""));
            assert_eq!(read("b.json", &text).expect(name)[0].no_drive.as_deref(), says, "{name}");
        }
    }

    #[test]
    fn bad_input_is_named_with_its_file_and_job() {
        let half = &FIO_2[..FIO_2.len() / 2];
        let cases: [(&str, &str); 6] = [
            ("", "b.json: has no JSON object; expected the output of fio --output-format=json+"),
            (half, "b.json: ends in the middle of its JSON; was fio stopped?"),
            ("{\"jobs\": 1 2", "b.json: is no JSON"),
            ("{\"points\": []}", "b.json: has no list `jobs`"),
            ("{\"jobs\": []}", "b.json: 0 jobs, expected 1 to 10000"),
            ("{\"jobs\": [{}]}", "b.json: job [0]: no read completed"),
        ];
        for (text, says) in cases {
            let error = read("b.json", text).expect_err(says).to_string();
            assert!(error.starts_with(says), "{error}");
        }
        for (from, to, says) in [
            ("\"total_ios\": 2000", "\"total_ios\": 0", "no read completed; leave the job out, or run it again"),
            ("\"8k\"", "\"8q\"", "bs = 8q: not a size"),
            ("\"4\"}", "\"0\"}", "iodepth = 0: expected 1 to 65536"),
            ("randread", "randwalk", "rw = randwalk: not a way of fio to read or write"),
            ("\"clat\"", "\"flat\"", "no completion latencies"),
            ("201", "20", "clat: percentiles that fall"),
            ("201", "-201", "percentile 99.000000 = -201: expected a number, 0 or more"),
            ("95.5", "-1", "clat.mean = -1: expected above 0"),
        ] {
            let error = read("b.json", &FIO_2.replace(from, to)).expect_err(to).to_string();
            assert!(error.starts_with(&format!("b.json: job b: {says}")), "{error}");
        }
        let error = read("a.json", &FIO_3.replace("\"90624\"", "\"-5\"")).expect_err("a bin below 0").to_string();
        assert_eq!(error, "a.json: job a: bins: -5 = 1: expected whole numbers, 0 or more");
        let error = read("b.json", &FIO_2.replace("8k", &"8q".repeat(100))).expect_err("a long value").to_string();
        assert!(error.ends_with("8q8q... (200 characters): not a size"), "{error}");
        let undefined = FIO_2.replace("\"slat\": {\"mean\": 3.0}", "\"slat\" : {\"mean\" : -nan}");
        assert_eq!(read("b.json", &undefined).expect("a slope of nothing")[0].mean_us, 95.5);
        let long = " ".repeat(LONGEST + 1);
        assert!(read("b.json", &long).expect_err("long").to_string().contains("have at most"));
    }
}
