//! `flashlane paper`: a paper's experiments and claims.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use flashlane_outputs::shown;
use flashlane_outputs::{Inputs, OutputError, Store};
use flashlane_papers::claims::Claim;
use flashlane_papers::stored::{StoredClaims, StoredMeasurements};
use flashlane_papers::{self as papers, PAPERS, Paper, PaperResult, Place, Settings};
use flashlane_sim::maker;
use flashlane_sweep::Progress;

use crate::args::PaperArgs;
use crate::fail::Failure;
use crate::memory;
use crate::progress;
use crate::run::rayon_threads;
use crate::signals;
use crate::sweep::made_again;
use crate::text::{note, print};

/// Columns of the table of claims.
const WIDTH: u16 = 120;

/// Runs the command with these arguments.
pub fn act(args: &PaperArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else { return print(&overview()) };
    let paper = Paper::named(name).map_err(Failure::Input)?;
    let setting = args.setting.setting();
    let variant = args.variant.as_deref().map(|name| paper.variant(name)).transpose().map_err(Failure::Input)?;
    if args.list {
        return print(&list(paper));
    }
    if let Some(jobs) = args.jobs {
        rayon_threads(jobs)?;
    }
    let seeds = args.seeds.unwrap_or(if args.quick { 1 } else { paper.seeds });
    let (first_seed, traces) = (args.first_seed, args.traces.clone());
    let is_real = paper.name == papers::real::REAL.name;
    if is_real {
        papers::real::named(traces.as_deref())?.left_out.iter().for_each(|why| note(&format!("left out: {why}")));
    }
    let settings = Settings { quick: args.quick, seeds, first_seed, traces, setting, variant };
    if args.quick {
        // The experiments are hundreds of short runs.
        memory::small_pages();
    }
    paper.check(&args.experiment, &settings)?;
    let store = args.out.as_deref().map(|path| store(path, args)).transpose()?;
    let begun = Instant::now();
    let progress = Progress::default();
    let result = progress::of_paper(&progress, |say| {
        let report = |what: &str| say(format!("{:4} s  {what}", begun.elapsed().as_secs()));
        let place = Place { store: store.as_ref(), progress: Some(&progress) };
        paper.run(&args.experiment, &settings, place, &report)
    })?;
    if let Some(store) = &store {
        let (found, made, path) = (progress.found(), progress.made(), shown::path(store.path()));
        note(&format!("{} runs, {made} made now and {found} found in {path}", found + made));
        if let Some(damaged) = Some(made_again(&progress)).filter(|text| !text.is_empty()) {
            note(damaged.trim_end());
        }
    }
    let is_cross = paper.name == papers::cross::CROSS.name;
    let picture = if is_cross { papers::cross::picture(&result).map_err(Failure::Fault)? } else { None };
    let written = store.map(|store| write(&store, &result, picture.as_deref()));
    let has_claims = !paper.claims().claim.is_empty();
    let head = papers::render(&result, WIDTH);
    let text = if is_real && !args.tables {
        format!("{head}{}--tables prints the figures of each trace.\n", papers::medians(&result))
    } else if !has_claims {
        format!("{head}{}", papers::tables(&result))
    } else if args.tables {
        papers::tables(&result) + &head
    } else {
        head
    };
    // The claims are printed even if the results cannot be written: the runs may have taken hours.
    print(&text)?;
    Ok(written.transpose().map(drop)?)
}

/// Writes the results beside the runs.
fn write(store: &Store, result: &PaperResult, picture: Option<&str>) -> Result<(), OutputError> {
    let figures = StoredMeasurements::from(result);
    let file = figures.made.file();
    let claims = StoredClaims { made: figures.made.clone(), claims: result.claims.clone() }.to_json();
    let (figures, results) = (figures.to_gz(), result.to_json());
    let files = [
        ("claims.json", Some(claims.as_bytes())),
        (&file, Some(&figures)),
        ("cross.svg", picture.map(str::as_bytes)),
        ("results.json", Some(results.as_bytes())),
    ];
    files.into_iter().try_for_each(|(name, bytes)| match bytes {
        Some(bytes) => store.begin(name)?.write_whole(bytes),
        None => Ok(()),
    })
}

/// The store of the runs and the results, opened before anything runs.
fn store(path: &Path, args: &PaperArgs) -> Result<Store, Failure> {
    signals::install_handlers()?;
    let mut inputs = Inputs::default();
    if let Some(traces) = &args.traces {
        inputs.add_folder("the folder of traces", traces);
    }
    Ok(Store::apart_from(path, &maker(), &inputs)?)
}

fn overview() -> String {
    let mut text = String::new();
    for paper in PAPERS {
        let claims = paper.claims();
        let experiments = paper.experiments().join(", ");
        let _ = writeln!(text, "{}  {}\n{:w$}  {experiments}", paper.name, claims.paper, "", w = paper.name.len());
    }
    text.push_str("cross  all schedulers on the workloads of all papers\n");
    text.push_str("real  the papers' comparisons on the traces of a folder\n");
    text.push_str("\nflashlane paper NAME --list shows the claims, flashlane paper NAME --quick looks at each.\n");
    text
}

fn list(paper: &Paper) -> String {
    let claims = paper.claims();
    let mut text = format!("{}\n\nruns\n", claims.paper);
    for group in paper.groups {
        let _ = writeln!(text, "  {}: {}", group.experiments.join(", "), group.about);
    }
    if let Some(chosen) = &claims.chosen {
        text.push_str("\nsettings\n  plain: the paper's text, and the nearest where it says nothing\n  chosen, after results were seen:\n");
        for (title, lines) in [("sets", &chosen.sets), ("because", &chosen.because), ("against it", &chosen.against)] {
            for line in lines {
                let _ = writeln!(text, "    {title}: {line}");
            }
        }
    }
    if !paper.variants.is_empty() {
        text.push_str("\nvariants of the chosen setting\n");
        paper.variants.iter().for_each(|variant| text.push_str(&format!("  {}: {}\n", variant.name, variant.about)));
    }
    text.push_str("\nclaims\n");
    for claim in &claims.claim {
        list_claim(&mut text, claim);
    }
    text
}

fn list_claim(text: &mut String, claim: &Claim) {
    let (id, source, says, published) = (&claim.id, &claim.source, &claim.says, &claim.published);
    let _ = writeln!(text, "  {id}, {} ({source}) {says}: {published}", claim.kind.name());
    let _ = match (&claim.measured, &claim.holds_if, &claim.untestable) {
        (Some(measured), Some(condition), _) => writeln!(text, "      {measured}; holds if {condition}"),
        (_, _, reason) => writeln!(text, "      not testable here: {}", reason.as_deref().unwrap_or_default()),
    };
    if let Some(reason) = &claim.untestable_chosen {
        let _ = writeln!(text, "      not testable under the chosen setting: {reason}");
    }
    for (name, expression) in &claim.beside {
        let _ = writeln!(text, "      beside it, {name}: {expression}");
    }
    match (&claim.null, &claim.null_exception) {
        (Some(null), None) => *text += &format!("      its null: {null}\n"),
        (Some(null), Some(why)) => *text += &format!("      its null: {null}; it may pass: {why}\n"),
        (None, Some(why)) => *text += &format!("      no null: {why}\n"),
        (None, None) => (),
    }
}
