//! Variants of the chosen setting, one thing at a time, for short mixes of traces: each of its choices as the plain setting has it, and what FLIN's
//! authors have in their earlier public simulator (SSDSim-Sharp, 2017) and the paper does not say.

use flashlane_scenario::{Document, Limit, Protocol, SchedulerChoice, Word};

use crate::setting::Variant;

/// Free blocks of a plane at which that simulator begins to collect.
const EARLIER_START: u32 = 10;
/// Its share of valid pages in the steady state is 30 %: of the raw capacity of the experiments' drive, GB.
const EARLIER_GB: u64 = 10;
/// Commands of a flow that it fetches.
const EARLIER_FETCH: u64 = 32;
/// Mixes of each class, for each seed.
pub const MIXES: u64 = 5;
/// Simulated time of a mix, ms.
pub const MS: u64 = 10_000;

/// All variants.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "short",
        about: "10 s simulated and five mixes of each class, as under the other variants, and nothing else",
        change: |_, _| (),
    },
    Variant {
        name: "hard-5",
        about: "collection of the baselines may be preempted above 5 free blocks, as in the plain setting",
        change: |document, _| document.device.gc.hard_blocks = Some(5),
    },
    Variant {
        name: "gb-30",
        about: "30 GB for users, as in the plain setting",
        change: |document, _| document.device.ftl.user_gb = Some(30),
    },
    Variant {
        name: "per-second",
        about: "limits of intensity are bytes per second, as in the plain setting",
        change: |document, _| per_second(document),
    },
    Variant {
        name: "first-from-10",
        about: "as in the authors' earlier simulator, collection begins at 10 free blocks; that of the baselines goes first and is never preempted",
        change: |document, _| first_from_10(document),
    },
    Variant {
        name: "gb-10",
        about: "as there, three tenths of the pages are valid: 10 GB for users, not 17",
        change: |document, _| document.device.ftl.user_gb = Some(EARLIER_GB),
    },
    Variant {
        name: "fetch-32",
        about: "as there, 32 commands of a flow are fetched, not all",
        change: |document, _| fetch_32(document),
    },
    Variant {
        name: "earlier-simulator",
        about: "first-from-10, gb-10 and fetch-32 together",
        change: |document, _| {
            first_from_10(document);
            document.device.ftl.user_gb = Some(EARLIER_GB);
            fetch_32(document);
        },
    },
];

/// The mixes of the document's schedulers: all systems are mixes.
fn mixes(document: &mut Document) -> impl Iterator<Item = &mut flashlane_scenario::Mix> {
    document.schedulers.iter_mut().flatten().filter_map(|choice| match choice {
        SchedulerChoice::Mix(mix) => Some(mix.as_mut()),
        SchedulerChoice::Named(_) => None,
    })
}

fn per_second(document: &mut Document) {
    mixes(document).for_each(|mix| _ = mix.parameters.remove("alpha_per_epoch"));
}

fn first_from_10(document: &mut Document) {
    let gc = &mut document.device.gc;
    (gc.start_blocks, gc.hard_blocks) = (Some(EARLIER_START), Some(EARLIER_START - 1));
    let has_flins =
        |mix: &flashlane_scenario::Mix| mix.base.as_deref().is_some_and(|base| base == "flin" || base == "flin-stage3");
    mixes(document).filter(|mix| !has_flins(mix)).for_each(|mix| mix.collect = Some("non-preemptive".into()));
}

fn fetch_32(document: &mut Document) {
    let front = &mut document.device.front;
    (front.protocol, front.depth) = (Some(Word(Protocol::Nvme)), Some(Limit::At(EARLIER_FETCH)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flin::measures::SYSTEMS;
    use crate::flin::setup::{clone, document, systems};
    use crate::{Place, Runner, Setting, Settings};
    use flashlane_scenario::Scenario;

    /// Each is another scenario than every other, and one that can be run.
    #[test]
    fn every_variant_changes_a_mix() {
        let settings = Settings::quick(Setting::Chosen);
        let runner = Runner::new(&settings, Place::default());
        let flow = clone(&runner, "tpcc", 60_000).expect("no traces are read");
        let plain = document(&runner, "mix".into(), (1, 60_000), systems(&runner, &SYSTEMS), vec![flow]);
        let mut documents: Vec<Document> = VARIANTS.iter().map(|_| plain.clone()).collect();
        documents.iter_mut().zip(VARIANTS).for_each(|(document, variant)| (variant.change)(document, variant.name));
        let hash = |document| Scenario::from_document("variant", document).hash().expect("it can be run");
        let mut hashes: Vec<String> = documents.into_iter().map(hash).collect();
        let all = hashes.len();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), all);
    }
}
