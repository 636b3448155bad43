//! The device keys whose values are keywords.
//!
//! Owns the keywords and their meanings; the schema and the messages list them from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares an enum of keywords.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(inline)]
        pub enum $name { $($(#[$word_doc])* $word,)* }
    };
}

words! {
    /// What a scheduling unit is.
    Unit {
        /// The whole chip.
        Chip,
        /// Each die.
        Die,
    }
}

words! {
    /// Rounding of bus times.
    Rounding {
        /// To the nearest ns.
        Exact,
        /// As MQSim.
        Mqsim,
    }
}

words! {
    /// When a free unit chooses.
    Dispatch {
        /// At once.
        Eager,
        /// When the bus is free too.
        BusIdle,
    }
}

words! {
    /// Victim selection.
    Victim {
        /// Fewest valid pages.
        Greedy,
        /// Any block with an invalid page.
        Random,
        /// The best of `choices` drawn at random.
        DChoices,
        /// Sealed longest ago.
        Fifo,
        /// Largest benefit over cost, with age.
        CostBenefit,
    }
}

words! {
    /// Host protocol.
    Protocol {
        /// NVMe.
        Nvme,
        /// SATA with native command queuing.
        Sata,
    }
}

words! {
    /// How commands in the device are served.
    Service {
        /// By the flash.
        Parallel,
        /// One after the other, without the flash.
        Serial,
    }
}

words! {
    /// What a write pays for under serial service.
    Charge {
        /// The dirty pages that it drives out.
        FreeAware,
        /// Every page that it misses.
        Literal,
    }
}

words! {
    /// State of the drive before the first request.
    DriveState {
        /// Erased.
        Fresh,
        /// Written once, in part.
        Filled,
        /// Garbage collection in equilibrium.
        Steady,
        /// Overwritten at random before the run.
        Replayed,
    }
}
