//! What the paper leaves open, as each setting decides it: how full the drive is, and which reading of each system runs.
//!
//! [`Setting::Plain`] has every row as the catalogue does, by the decisions of model 2.3. [`Setting::Chosen`] was chosen after
//! results were seen; `[chosen]` in `papers/flin/claims.toml` has its reasons and what the paper says against it.

use crate::Setting;
use flashlane_lab::scenario::Mix;

/// Raw capacity of the experiments' drive, GB.
const RAW_GB: f64 = 34.359_738_368;

/// Capacity for users on the experiments' drive, GB: a sixteenth of table 1's 480, or less.
pub fn user_gb(setting: Setting) -> u64 {
    match setting {
        Setting::Plain => 30,
        Setting::Chosen => 20,
    }
}

/// The same as over-provisioning, percent of the capacity for users, to hundredths.
pub fn over_provisioning_percent(setting: Setting) -> f64 {
    let user = user_gb(setting) as f64;
    ((RAW_GB - user) / user * 1e4).round() / 1e2
}

/// Parameters of FLIN's stages in [`Setting::Chosen`].
const STAGE_1: &[(&str, u64)] = &[("alpha_per_epoch", 1)];
const STAGE_3: &[(&str, u64)] = &[("present_pause", 1), ("gc_yields", 1)];

/// A system by the paper's name for it, which it keeps.
pub fn system(setting: Setting, name: &str) -> Mix {
    let mut mix = Mix { name: Some(name.into()), base: Some(name.into()), ..Mix::default() };
    if setting == Setting::Plain {
        return mix;
    }
    let mut set = |parameters: &[(&str, u64)]| {
        mix.parameters.extend(parameters.iter().map(|&(name, value)| (name.to_owned(), value)));
    };
    match name {
        "sprinkler" | "sprinkler+fairness" => mix.base = Some(format!("{name}-np")),
        "flin" => {
            set(STAGE_1);
            set(STAGE_3);
        }
        "flin-stage1" => {
            set(STAGE_1);
            // As the baselines, which it shares collection with.
            mix.collect = Some("non-preemptive".into());
        }
        "flin-stage3" => set(STAGE_3),
        _ => {}
    }
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
        }
        assert_eq!((user_gb(Setting::Plain) * 16, over_provisioning_percent(Setting::Plain)), (480, 14.53));
    }
}
