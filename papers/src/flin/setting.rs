//! What the paper leaves open, as each setting decides it: how full the drive is, when collection may no longer be preempted, and
//! which reading of FLIN runs.
//!
//! [`Setting::Plain`] has every row as the catalogue does, by the decisions of model 2.3. [`Setting::Chosen`] was chosen after
//! results were seen; `[chosen]` in `papers/flin/claims.toml` has its reasons and what the paper says against it.

use crate::Setting;
use flashlane_scenario::Mix;

/// Raw capacity of the experiments' drive, GB.
const RAW_GB: f64 = 34.359_738_368;

/// Capacity for users on the experiments' drive, GB: a sixteenth of table 1's 480, or half of the raw capacity.
pub fn user_gb(setting: Setting) -> u64 {
    match setting {
        Setting::Plain => 30,
        Setting::Chosen => 17,
    }
}

/// The same as over-provisioning, percent of the capacity for users, to hundredths.
pub fn over_provisioning_percent(setting: Setting) -> f64 {
    let user = user_gb(setting) as f64;
    ((RAW_GB - user) / user * 1e4).round() / 1e2
}

/// Free blocks of a plane at and below which the baselines' collection may not be preempted; it starts below 13. GC_FLIN is 4 blocks.
pub fn hard_blocks(setting: Setting) -> u32 {
    match setting {
        Setting::Plain => 5,
        Setting::Chosen => 12,
    }
}

/// Parameters of FLIN's stages in [`Setting::Chosen`].
const STAGE_1: &[(&str, u64)] = &[("alpha_per_epoch", 1)];
const STAGE_3: &[(&str, u64)] = &[("present_pause", 1), ("gc_preemptible", 1)];
/// Those of them that FLIN's answer to preemption has.
pub const OF_PREEMPT: [&str; 1] = ["present_pause"];

/// A system by the paper's name for it, which it keeps.
pub fn system(setting: Setting, name: &str) -> Mix {
    let mut mix = Mix { name: Some(name.into()), base: Some(name.into()), ..Mix::default() };
    let set = match (setting, name) {
        (Setting::Chosen, "flin") => [STAGE_1, STAGE_3].concat(),
        (Setting::Chosen, "flin-stage1") => STAGE_1.to_vec(),
        (Setting::Chosen, "flin-stage3") => STAGE_3.to_vec(),
        _ => Vec::new(),
    };
    mix.parameters.extend(set.into_iter().map(|(name, value)| (name.to_owned(), value)));
    mix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_is_the_catalogue_and_table_1() {
        for name in ["sprinkler", "sprinkler+fairness", "flin", "flin-stage1", "flin-stage3", "fcfs", "read-first"] {
            let plain = Mix { name: Some(name.into()), base: Some(name.into()), ..Mix::default() };
            assert_eq!(system(Setting::Plain, name), plain);
            assert_eq!(system(Setting::Chosen, name).name, plain.name);
            let differs = name.starts_with("flin");
            assert_eq!(system(Setting::Chosen, name) != plain, differs, "{name}");
        }
        assert_eq!((user_gb(Setting::Plain) * 16, over_provisioning_percent(Setting::Plain)), (480, 14.53));
    }
}
