//! Names of allocation orders: what is accepted is exactly the 24 names.

use flashlane_core::geometry::AllocationOrder;

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "allocation-order",
    about: "AllocationOrder::parse accepts the 24 names and nothing else",
    seeds: || AllocationOrder::NAMES.iter().map(|name| name.as_bytes().to_vec()).collect(),
    words: &["C", "W", "D", "P"],
    feed: |input| {
        let text = String::from_utf8_lossy(input);
        let accepted = AllocationOrder::parse(&text).is_some();
        assert_eq!(accepted, AllocationOrder::NAMES.contains(&text.as_ref()), "{text:?}");
        if accepted { "an order".into() } else { "refused".into() }
    },
};
