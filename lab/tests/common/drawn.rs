//! How properties are tried with drawn values: how often, and where a failure is kept.
//!
//! A failed property prints a line `cc SEED` and adds it to `proptest-regressions/NAME.txt` of the crate, to be committed: what stands
//! there is tried first from then on. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` in the environment say how many cases are drawn,
//! and from which seed.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// So many cases, unless the environment says how many; failures are kept under `name`.
pub fn drawn(cases: u32, name: &str) -> ProptestConfig {
    kept_in(cases, format!("{}/proptest-regressions/{name}.txt", env!("CARGO_MANIFEST_DIR")))
}

/// The same, kept in any file.
pub fn kept_in(cases: u32, file: String) -> ProptestConfig {
    let plain = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { plain.cases } else { cases };
    // Said outright, because proptest would look for the file from the top of the workspace, where tests do not run.
    let file = FileFailurePersistence::Direct(Box::leak(file.into_boxed_str()));
    ProptestConfig { cases, failure_persistence: Some(Box::new(file)), ..plain }
}
