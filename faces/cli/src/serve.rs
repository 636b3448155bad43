//! `flashlane serve`: the modelled drive as a block device in real time.

use crate::args::{CtlArgs, ServeArgs};
use crate::fail::Failure;

/// Runs `flashlane serve`.
#[cfg(not(target_os = "linux"))]
pub fn act(_: &ServeArgs) -> Result<(), Failure> {
    Err(Failure::Fault("serve: waits for clients as only Linux can".into()))
}

/// Runs `flashlane serve`.
#[cfg(target_os = "linux")]
pub fn act(args: &ServeArgs) -> Result<(), Failure> {
    linux::act(args)
}

/// Runs `flashlane ctl`.
#[cfg(not(target_os = "linux"))]
pub fn control(_: &CtlArgs) -> Result<(), Failure> {
    Err(Failure::Fault("ctl: only Linux has servers to talk to".into()))
}

/// Runs `flashlane ctl`.
#[cfg(target_os = "linux")]
pub fn control(args: &CtlArgs) -> Result<(), Failure> {
    linux::control(args)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt::Write as _;
    use std::io::IsTerminal as _;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use flashlane_core::Op;
    use flashlane_outputs::shown::{self, counted};
    use flashlane_report::metrics::Histogram;
    use flashlane_serve::{Backing, Live, Options, PowerCut, Ready, Report};
    use flashlane_sim::Drive;

    use crate::args::{CtlArgs, CtlCommand, ServeArgs};
    use crate::fail::Failure;
    use crate::plan;
    use crate::progress;
    use crate::run::{choose, chosen};
    use crate::signals;
    use crate::text::{note, print};

    /// Beyond this part of the drive's own times the machine is said not to keep up, if it is late by more than any machine is, us.
    const LATE: f64 = 0.1;
    const LATE_US: f64 = 15.0;

    pub(super) fn act(args: &ServeArgs) -> Result<(), Failure> {
        let mut scenario = plan::scenario(&args.workload)?;
        plan::seeds_are_unused(&scenario, "serve");
        let not_measured = plan::not_measured(&scenario)?;
        let own = scenario.schedulers()?;
        if let Some(name) = &args.scheduler {
            let choice = chosen(&args.workload, &scenario, "--scheduler", &[name])?;
            choose(&mut scenario, "--scheduler", choice);
        }
        scenario.add_spare_flows(args.spare)?;
        let state = state_file(args)?;
        let drive = flashlane_sim::drive(&scenario, own, state.as_deref())?;
        let title = format!("{} on {}", scenario.name(), scenario.device_name());
        let head = head(&format!("{} on {}", scenario.name(), scenario.device_described()), &drive, &args.data);
        let exports: Vec<(String, u64)> =
            drive.flows.iter().map(|flow| (flow.name.clone(), flow.range.length)).collect();
        let options = options(args, state);
        let (ready, stop) = flashlane_serve::open(drive, &options, &signals::ending()).map_err(Failure::Input)?;
        let head = plan::remarks(&scenario) + &not_measured + &head;
        print(&format!("{head}{}Ctrl-C ends it.\n", places(&exports, &ready, args)))?;
        if args.realtime
            && let Err(why) = ready.ask_for_real_time()
        {
            note(&format!(
                "note: --realtime was refused: {why}; root may, or who has `ulimit -r 10`. The server goes on at normal priority"
            ));
        }
        let report = if args.live && std::io::stdout().is_terminal() {
            let live = Live::begin(title, ready.handle(), stop);
            let live = live.map_err(|why| Failure::Fault(format!("--live: {why}")))?;
            let report = ready.run(&mut |_| {});
            if let Err(why) = live.end() {
                note(&format!("note: --live ended early: {why}"));
            }
            report
        } else {
            progress::of_server(|say| ready.run(say))
        };
        finish(&report.map_err(Failure::Fault)?, args)
    }

    /// What is served, and where its bytes are.
    fn head(title: &str, drive: &Drive, data: &Backing) -> String {
        let mut text = format!("{title} under {}, {} GB", drive.scheduler, gigabytes(drive.bytes));
        let _ = match data {
            Backing::Memory => writeln!(text, "; contents in memory, lost when the server ends or is killed"),
            Backing::File(path) => writeln!(text, "; contents in {}\n{}", shown::path(path), drive.start),
        };
        if drive.has_volatile_writes {
            text.push_str(
                "Writes are done in the page buffer, which loses them in a power cut unless they were flushed.\n",
            );
        }
        text
    }

    /// Where the exports, with their sizes, and the figures are.
    fn places(exports: &[(String, u64)], ready: &Ready, args: &ServeArgs) -> String {
        let (nbd, metrics) = ready.addresses();
        let mut text = String::new();
        let width = exports.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, bytes) in exports {
            let uri = nbd.iter().map(|address| address.uri(name));
            let file = args.fuse.iter().map(|folder| shown::path(&folder.join(name)).to_string());
            let places: Vec<String> = uri.chain(file).collect();
            let _ = writeln!(text, "  {name:width$}  {:>8} GB  {}", gigabytes(*bytes), places.join("  "));
        }
        if let Some(address) = metrics {
            let _ = writeln!(text, "Figures for Prometheus: http://{address}/metrics");
        }
        text
    }

    fn options(args: &ServeArgs, state: Option<PathBuf>) -> Options {
        Options {
            nbd: args.nbd.clone(),
            fuse: args.fuse.clone(),
            data: args.data.clone(),
            time_scale: args.time_scale,
            spin: Duration::from_micros(args.spin_us.into()),
            record: args.record.clone(),
            state,
            power_cut: args.power_cut,
            control: args.ctl.clone(),
            metrics: args.metrics,
            ignores_flushes: args.ignore_flushes,
            ..Options::default()
        }
    }

    /// Where the state of the drive is from one session to the next; nowhere if its contents are in memory.
    fn state_file(args: &ServeArgs) -> Result<Option<PathBuf>, Failure> {
        let Backing::File(data) = &args.data else { return Ok(None) };
        let state = kept_state(data)?;
        args.record.iter().try_for_each(|record| check_record(record, data, &state))?;
        Ok(Some(state))
    }

    /// Where the state of the drive is whose contents are in the file `data`.
    fn kept_state(data: &Path) -> Result<PathBuf, Failure> {
        let state = flashlane_sim::used_file(data);
        if state.exists() && !data.exists() {
            let (data, state) = (shown::path(data), shown::path(&state));
            let message = format!(
                "--data {data}: is not there, but the state of its drive is, in {state}; bring back the one or delete the other"
            );
            return Err(Failure::Input(message));
        }
        Ok(state)
    }

    /// The record has a file of its own: neither the contents nor the state are written there.
    fn check_record(record: &Path, data: &Path, state: &Path) -> Result<(), Failure> {
        let same = |other: &Path| std::path::absolute(other).ok() == std::path::absolute(record).ok();
        let why = match (same(data), same(state)) {
            (true, _) => "is the file of --data",
            (_, true) => "is where the state of the drive is kept",
            _ => return Ok(()),
        };
        Err(Failure::Input(format!("--record {}: {why}; name another file", shown::path(record))))
    }

    /// Asks a server for something, and prints its answer.
    pub(super) fn control(args: &CtlArgs) -> Result<(), Failure> {
        let command = match &args.ask {
            CtlCommand::Scheduler { name } => format!("scheduler {name}"),
            CtlCommand::Priority { flow, priority } => format!("priority {flow} {priority}"),
            CtlCommand::Stats => "stats".into(),
            CtlCommand::PowerCut => "power-cut".into(),
        };
        let limit = Duration::from_secs(args.timeout_s.into());
        let answer = flashlane_serve::send(&args.socket, &command, limit).map_err(Failure::Input)?;
        print(&format!("{}\n", shown::escaped_lines(&answer)))
    }

    /// Prints what was served, and says what went wrong.
    fn finish(report: &Report, args: &ServeArgs) -> Result<(), Failure> {
        print(&table(report, args.time_scale))?;
        for (reason, count) in &report.broken {
            note(&format!("note: {}: {reason}", were(*count, "connection", "closed")));
        }
        if report.turned_away > 0 {
            note(&format!("note: {}: 256 at a time are served", were(report.turned_away, "connection", "turned away")));
        }
        if let (Some(folder), true) = (&args.fuse, report.files_in_use) {
            let folder = shown::path(folder);
            note(&format!(
                "note: --fuse {folder}: a program or a loop device still had a file there in use, which fails from now on"
            ));
        }
        if let Some(line) = behind(report, args.time_scale) {
            note(&line);
        }
        if let (Some(path), Some(recorded)) = (&args.record, &report.recorded) {
            let path = shown::path(path);
            match recorded {
                Ok(lines) => note(&format!("note: {} in {path}", were(*lines, "command", "recorded"))),
                Err(why) => return Err(Failure::Fault(format!("--record {path}: could not be written: {why}"))),
            }
        }
        if let Some(PowerCut { commands, pages, landed, buffered, lost }) = report.cut {
            print(&format!(
                "the power was cut during {commands} writes, trims and write zeroes; {landed} of their {pages} pages have landed\n\
                 {lost} of {buffered} pages of answered writes that only the page buffer had are lost\n"
            ))?;
        }
        match &report.kept {
            Some(Ok(path)) => {
                note(&format!("note: the drive's state for the next session is in {}", shown::path(path)))
            }
            Some(Err(why)) => {
                note(&format!("note: the drive's state is not kept for the next session: {}", shown::escaped(why)))
            }
            None => {}
        }
        match &report.fault {
            Some(fault) => Err(Failure::Fault(fault.clone())),
            None if report.file_failed => Err(Failure::Fault("--data: the file could not be read or written".into())),
            None => Ok(()),
        }
    }

    /// The table at the end.
    fn table(report: &Report, time_scale: f64) -> String {
        let mut text = format!(
            "\n{:<16} {:<12} {:>10} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10}\n",
            "export", "", "received", "done", "not done", "MB", "mean us", "p50 us", "p99 us"
        );
        for export in &report.exports {
            for op in export.kinds() {
                let response = &export.response[op.index()];
                let received = export.received[op.index()];
                let _ = writeln!(
                    text,
                    "{:<16} {:<12} {received:>10} {:>10} {:>8} {:>10.1} {:>10.1} {:>10.1} {:>10.1}",
                    export.name,
                    op.name(),
                    response.count(),
                    received - response.count(),
                    export.bytes[op.index()] as f64 / 1e6,
                    response.mean().unwrap_or(0.0) / 1e3,
                    us(response, 500_000),
                    us(response, 990_000),
                );
            }
        }
        let received: u64 = report.exports.iter().flat_map(|export| export.received).sum();
        let done: u64 = report.exports.iter().map(flashlane_serve::ExportReport::completed).sum();
        let failed: u64 = report.exports.iter().map(|export| export.failed).sum();
        // Those that a power cut found under way.
        let unanswered = match received - done - failed {
            0 => String::new(),
            some => format!(" + {some} not answered"),
        };
        let _ = writeln!(
            text,
            "commands: {} read = {done} done + {failed} failed{unanswered} + {} refused; times are the model's\n\
             answered later than by the model: {}, most {:.1} us",
            received + report.refused,
            report.refused,
            flashlane_serve::lateness(&report.late, time_scale),
            report.late.max().unwrap_or(0) as f64 / 1e3,
        );
        text
    }

    /// What is said where answers came much later than by the model.
    fn behind(report: &Report, time_scale: f64) -> Option<String> {
        let mut all = Histogram::new();
        let data =
            report.exports.iter().flat_map(|export| [Op::Read, Op::Write].map(|op| &export.response[op.index()]));
        data.for_each(|response| all.merge(response));
        let (own, late) = (us(&all, 500_000) * time_scale, us(&report.late, 500_000));
        (late > LATE_US.max(LATE * own)).then(|| {
            format!(
                "warning: half of the answers came {late:.0} us late or more, beside {own:.0} us of the drive itself: this machine does not \
                 keep up; --time-scale 10 gives it ten times as long"
            )
        })
    }

    fn us(histogram: &Histogram, millionths: u32) -> f64 {
        histogram.percentile(millionths).unwrap_or(0) as f64 / 1e3
    }

    fn gigabytes(bytes: u64) -> String {
        format!("{:.1}", bytes as f64 / 1e9)
    }

    /// What was done with a number of things: `1 connection was closed`, `2 connections were closed`.
    fn were(count: impl Into<u64>, thing: &str, done: &str) -> String {
        let count = count.into();
        format!("{} {} {done}", counted(count, thing), if count == 1 { "was" } else { "were" })
    }
}
