//! Nulls of made-up claims.

use super::*;

const FILE: &str = r#"
paper = "p"
[nulls]
nothing = [{ figures = "gain", to = 0.0, noise = 0.3 }]
base = [{ figures = "ms.*", to = "ms.base" }]
"#;

fn of(null: &str, measured: &str, holds_if: &str) -> NullOutcome {
    let mut figures = Measurements::default();
    for (path, values) in [
        (&["gain", "a"][..], [9.0, 11.0]),
        (&["gain", "b"], [10.0, 10.0]),
        (&["ms", "base"], [4.0, 4.0]),
        (&["ms", "own"], [1.0, 1.0]),
        (&["other"], [7.0, 7.0]),
    ] {
        values.into_iter().for_each(|value| figures.push(path, value));
    }
    let claim = format!(
        "[[claim]]\nid = \"E1a\"\nexperiment = \"E1\"\nsource = \"s\"\nsays = \"w\"\npublished = \"1\"\nkind = \"size\"\nsizes = [10]\n\
         measured = {measured:?}\nholds_if = {holds_if:?}\nnull = {null:?}\n"
    );
    let claims = Claims::read(&format!("{FILE}{claim}"));
    draw(&claims, &figures, Setting::Plain, 300).expect("sound").remove(0)
}

/// A condition that noise meets is met as often as noise does; one with a margin is not.
#[test]
fn a_null_passes_what_noise_meets() {
    let sign = of("nothing", "mean(gain)", "it > 0");
    assert!((0.4..0.6).contains(&sign.null_passes), "{sign:?}");
    let margin = of("nothing", "mean(gain)", "it >= 1 and other == 7");
    assert_eq!((margin.null_passes, margin.tenth_is_a_size), (0.0, 0.0));
    let seeds = of("nothing", "above(clearly_more(by_seed.gain, 0), 0)", "it >= 2");
    assert!(seeds.null_passes < 0.05, "{seeds:?}");
}

/// A tenth of the effect is near what the baseline is: a figure that is near the published one then says little.
#[test]
fn a_tenth_of_the_effect_is_no_size() {
    let ratio = of("base", "10 * ms.own / ms.base", "it < 9.5");
    assert_eq!((ratio.null_passes, ratio.tenth_is_a_size), (0.0, 1.0), "10 * 4^-0.1 is 8.7");
    let gain = of("base", "13 - 13 * ms.own / ms.base", "it >= 1");
    assert_eq!((gain.null_passes, gain.tenth_is_a_size), (0.0, 0.0), "1.7 of 10");
}

#[test]
fn the_draws_are_as_wide_as_the_rule_says() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let drawn: Vec<f64> = (0..2_000).map(|_| normal(&mut rng)).collect();
    let mean = drawn.iter().sum::<f64>() / 2_000.0;
    let variance = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 2_000.0;
    assert!(mean.abs() < 0.1 && (variance - 1.0).abs() < 0.1, "{mean} {variance}");
}
