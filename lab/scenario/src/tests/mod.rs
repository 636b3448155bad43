//! Scenarios: presets that build, figures of the papers' devices, error messages, hashes, and the reference page.

mod complaints;
mod device_files;
mod presets;
mod scenarios;

use super::*;

/// Reads `text` as the file `s.toml`.
fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse("s.toml", text.to_owned())
}

/// A scenario of one inline read, with `text` at its top.
fn with(text: &str) -> Scenario {
    let flow = "[[flow]]\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";
    parse(&format!("{text}\n{flow}")).expect("the test's own text")
}
