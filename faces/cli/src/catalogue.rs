//! The schedulers of this program: the shipped ones, and those that it was extended by.

use std::sync::{Arc, OnceLock};

use flashlane_sched::catalogue::{Catalogue, SHIPPED};

static CATALOGUE: OnceLock<Arc<Catalogue>> = OnceLock::new();

/// Makes `catalogue` that of the program, unless it has one.
pub fn set(catalogue: Catalogue) {
    CATALOGUE.get_or_init(|| Arc::new(catalogue));
}

/// The program's catalogue.
pub fn get() -> &'static Arc<Catalogue> {
    CATALOGUE.get_or_init(|| Arc::new(SHIPPED.clone()))
}
