//! Memory in large or small pages.
//!
//! The allocator asks the system for huge pages, because a long run looks into its drive's page map at random places. A
//! huge page is cleared as a whole when it is first touched: a run that is over before it has touched much of the map is
//! quicker with small ones, and takes far less memory.

use flashlane_lab::run;
use flashlane_lab::scenario::Scenario;

/// From now on small pages, if the runs of `scenario` are short. Whatever is wrong with it will be said by the runs.
pub fn suit(scenario: &Scenario) {
    if run::is_short(scenario).unwrap_or(false) {
        small_pages();
    }
}

/// From now on small pages.
#[cfg(target_os = "linux")]
pub fn small_pages() {
    // A system that does not know of huge pages has small ones.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// The same where pages have one size.
#[cfg(not(target_os = "linux"))]
pub fn small_pages() {}
