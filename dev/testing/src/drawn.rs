//! Settings of property tests: how many cases are drawn, and where failures are stored.
//!
//! A failed property prints a line `cc SEED` and adds it to `proptest-regressions/NAME.txt` of the crate, to be
//! committed: stored cases are tried first from then on. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` in the environment
//! set how many cases are drawn, and from which seed.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// `cases` cases, unless the environment sets another number; failures are stored under `name` in the folder of a crate,
/// `env!("CARGO_MANIFEST_DIR")` of the test.
pub fn drawn(cases: u32, krate: &str, name: &str) -> ProptestConfig {
    kept_in(cases, format!("{krate}/proptest-regressions/{name}.txt"))
}

/// [`drawn`] with failures stored in any file.
pub fn kept_in(cases: u32, file: String) -> ProptestConfig {
    let plain = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { plain.cases } else { cases };
    // The path is given explicitly, because proptest would look for it from the root of the workspace, where tests do
    // not run.
    let file = FileFailurePersistence::Direct(Box::leak(file.into_boxed_str()));
    ProptestConfig { cases, failure_persistence: Some(Box::new(file)), ..plain }
}
