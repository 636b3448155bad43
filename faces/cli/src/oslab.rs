//! `flashlane oslab`: ways of waiting for I/O measured on this machine.

use std::path::Path;
use std::time::Instant;

use flashlane_oslab::{self as oslab, Findings, Settings};
use flashlane_outputs::{Inputs, OutFile};
use flashlane_report::results::ResultsDir;

use crate::args::OslabArgs;
use crate::fail::Failure;
use crate::signals;
use crate::text::{note, print};

/// Runs the command with these arguments.
pub fn act(args: &OslabArgs) -> Result<(), Failure> {
    let usual = Settings::default();
    let settings = Settings {
        seconds: args.seconds.unwrap_or(usual.seconds),
        slot_ms: args.slot_ms.unwrap_or(usual.slot_ms),
        threads: args.threads.unwrap_or(usual.threads),
        write_percent: args.write_percent.unwrap_or(usual.write_percent),
        device: args.device.clone().unwrap_or(usual.device),
    };
    settings.check().map_err(Failure::Input)?;
    let outputs = args.out.as_deref().map(results_in).transpose()?;
    let findings = measure(&settings)?;
    if let Some((dir, data, page)) = outputs {
        data.write_whole(findings.to_json().as_bytes())?;
        page.write_whole(oslab::html(&findings).as_bytes())?;
        dir.commit()?;
    }
    print(&oslab::render(&findings))
}

/// Measures, and says on the way what is measured.
pub fn measure(settings: &Settings) -> Result<Findings, Failure> {
    let begun = Instant::now();
    let told = |what: &str| note(&format!("{:4} s  {what}", begun.elapsed().as_secs()));
    oslab::measure(settings, &told).map_err(|message| match message.starts_with("--") {
        true => Failure::Input(message),
        false => Failure::Fault(message),
    })
}

fn results_in(path: &Path) -> Result<(ResultsDir, OutFile, OutFile), Failure> {
    signals::install_handlers()?;
    let dir = ResultsDir::apart_from(path, &Inputs::default())?;
    let (data, page) = (dir.begin("oslab.json")?, dir.begin("oslab.html")?);
    Ok((dir, data, page))
}
