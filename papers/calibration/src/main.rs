//! Finds what the papers' clones need and their papers do not print, and prints it as the data file that is stored.
//!
//! Owns the searches, which nothing that is shipped needs. Promises the stored file of `lab/scenario/data` for each name (README.md beside it).

mod slacker_burst_rates;
mod slacker_bursts;
mod slacker_rates;
mod sos;

use std::process::ExitCode;
use std::time::Instant;

use flashlane_papers::{Place, Runner, Setting, Settings};
use flashlane_sim::RunError;

/// Finds the data file. Calls the second with each workload that is done: what was reached, and whether that is near enough.
type Find = fn(&Runner<'_>, &(dyn Fn(String, bool) + Sync)) -> Result<String, RunError>;

/// A search with the settings behind the stored file.
struct Search {
    name: &'static str,
    setting: Setting,
    quick: bool,
    seeds: u64,
    find: Find,
}

const SEARCHES: [Search; 4] = [
    Search { name: "slacker-rates", setting: Setting::Plain, quick: false, seeds: 5, find: slacker_rates::find },
    Search { name: "slacker-bursts", setting: Setting::Chosen, quick: false, seeds: 3, find: slacker_bursts::find },
    Search {
        name: "slacker-burst-rates",
        setting: Setting::Chosen,
        quick: false,
        seeds: 3,
        find: slacker_burst_rates::find,
    },
    Search { name: "sos", setting: Setting::Plain, quick: true, seeds: 5, find: sos::find },
];

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(search) = SEARCHES.iter().find(|search| search.name == name) else {
        let names = SEARCHES.map(|search| search.name).join(", ");
        eprintln!("error: {name:?}: no such search; there are {names}");
        return ExitCode::from(2);
    };
    let settings = Settings { quick: search.quick, seeds: search.seeds, ..Settings::quick(search.setting) };
    let begun = Instant::now();
    let told = |what: String, is_reached: bool| {
        eprintln!("{:4} s  {what}{}", begun.elapsed().as_secs(), if is_reached { "" } else { ": not reached" });
    };
    match (search.find)(&Runner::new(&settings, Place::default()), &told) {
        Ok(file) => {
            print!("{file}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
