//! A [`TraceStat`] as text for the terminal.

use std::fmt;

use super::counts::Sorted;
use super::options::Volumes;
use super::stat::{Sizing, TraceStat};
use flashlane_core::choice::Choice;
use flashlane_outputs::shown::escaped;

/// The most devices listed by name.
const DEVICES: usize = 8;

impl fmt::Display for TraceStat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = &self.counts;
        writeln!(f, "file          {}", escaped(&self.file))?;
        writeln!(f, "format        {} ({}): {}", self.format.key(), self.format.title(), self.reason)?;
        for note in &self.notes {
            writeln!(f, "              {note}")?;
        }
        if let Some(warning) = &self.warning {
            writeln!(f, "Warning: {warning}")?;
        }
        write!(f, "lines         {} read, {} skipped, {} of other devices", c.lines, c.skipped, c.filtered)?;
        let stacked = if c.stacked > 0 { format!(", {} of devices over others", c.stacked) } else { String::new() };
        writeln!(f, "{stacked}")?;
        writeln!(
            f,
            "requests      {} read, {} rejected, {} clamped, {} wrapped",
            c.requests, c.rejected, c.clamped, c.wrapped
        )?;
        if c.sorted != Sorted::default() {
            writeln!(f, "sorted        {}", c.sorted)?;
        }
        write!(f, "devices       {}:", self.devices.len())?;
        for (name, requests) in self.devices.iter().take(DEVICES) {
            write!(f, " {} ({requests})", escaped(name))?;
        }
        writeln!(f, "{}", if self.devices.len() > DEVICES { " ..." } else { "" })?;
        volumes(self, f)?;
        requests_by_kind(self, f)?;
        writeln!(f, "\nspan          {:.3} s", self.span_s)?;
        let megabytes = self.rate_bytes_per_s / 1e6;
        write!(
            f,
            "rate          {:.1} IOPS, {megabytes:.2} MB/s, at most {} in a second",
            self.rate_iops, self.peak_iops
        )?;
        match self.rate_commands {
            Some(rate) => writeln!(f, "; {rate:.1} trims, write zeroes and flushes per second")?,
            None => writeln!(f)?,
        }
        let g = &self.gaps;
        writeln!(
            f,
            "gaps          mean {:.1} us, variation {:.2}, p50 {:.1} us, p99 {:.1} us, max {:.1} us, {:.1} % zero",
            g.mean_ns / 1e3,
            g.variation,
            g.p50_ns as f64 / 1e3,
            g.p99_ns as f64 / 1e3,
            g.max_ns as f64 / 1e3,
            100.0 * g.zero_share
        )?;
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        writeln!(
            f,
            "addresses     {} to {} ({:.2} GB), footprint {:.3} GB in 4 KiB pages",
            self.first_byte,
            self.end_byte,
            gigabytes(self.end_byte),
            gigabytes(self.footprint_bytes)
        )?;
        writeln!(
            f,
            "pattern       {:.1} % sequential, {:.1} % of written pages written before, {:.1} % unaligned to 4 KiB",
            100.0 * self.sequential_share,
            100.0 * self.rewrite_share,
            100.0 * self.unaligned_share
        )
    }
}

/// What the volumes of the trace share, if it has several.
fn volumes(stat: &TraceStat, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let (Some(volumes), Some(apart)) = (stat.volumes, stat.footprint_apart_bytes) {
        let (count, apart) = (stat.devices.len(), apart as f64 / 1e9);
        match Volumes::of(volumes) {
            Some(Volumes::Together) => writeln!(f, "volumes       {count}, each after the other in one address space")?,
            Some(Volumes::Apart) => writeln!(f, "volumes       {count}, each with addresses of its own: a flow each")?,
            _ => writeln!(
                f,
                "volumes       {count} share addresses (overlaid): their footprint is {apart:.3} GB with volumes together or apart"
            )?,
        }
    }
    Ok(())
}

/// The table of the kinds of requests.
fn requests_by_kind(stat: &TraceStat, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "\n                requests   share         bytes       mean     min     p50     p90     p99        max"
    )?;
    let commands = [("trims", &stat.trims), ("zeroes", &stat.write_zeroes)];
    let of_all = stat.all.requests + stat.trims.requests + stat.write_zeroes.requests + stat.flushes;
    for (name, sizing) in [("reads", &stat.reads), ("writes", &stat.writes), ("all", &stat.all)] {
        row(f, name, sizing, of_all)?;
    }
    for (name, sizing) in commands.into_iter().filter(|(_, sizing)| sizing.requests > 0) {
        row(f, name, sizing, of_all)?;
    }
    if stat.flushes > 0 {
        writeln!(f, "flushes    {:>13} {:>5.1} %", stat.flushes, 100.0 * stat.flushes as f64 / of_all as f64)?;
    }
    if stat.fua_writes > 0 {
        writeln!(f, "FUA        {} of the writes", stat.fua_writes)?;
    }
    Ok(())
}

/// One line of the size table.
fn row(f: &mut fmt::Formatter<'_>, name: &str, s: &Sizing, all: u64) -> fmt::Result {
    let share = 100.0 * s.requests as f64 / all.max(1) as f64;
    writeln!(
        f,
        "{name:10} {:>13} {share:>5.1} % {:>13} {:>10.0} {:>7} {:>7} {:>7} {:>7} {:>10}",
        s.requests, s.bytes, s.mean, s.min, s.p50, s.p90, s.p99, s.max
    )
}
