//! What expressions come to, and what files of claims are refused.

use super::*;

fn figures() -> Measurements {
    let mut figures = Measurements::default();
    for (name, gain, size) in [("a-p", 3.0, 1.0), ("b", 5.0, 2.0), ("c", 4.0, 30.0)] {
        figures.push(&["gain", name], gain);
        figures.push(&["size", name], size);
    }
    figures.push(&["alone"], 0.25);
    figures
}

/// A file with one claim of this kind.
fn file(kind: &str, rest: &str) -> String {
    format!(
        "paper = \"p\"\n[group]\nfew = [\"a-p\", \"c\"]\n[nulls]\nnothing = [{{ figures = \"gain\", to = 0.0 }}]\n[[claim]]\nid = \"E1a\"\n\
         experiment = \"E1\"\nsource = \"s\"\nsays = \"w\"\npublished = \"1\"\nkind = {kind:?}\n{rest}\n"
    )
}

fn claim(measured: &str, holds_if: &str) -> Claims {
    Claims::read(&file("ours", &format!("measured = {measured:?}\nholds_if = {holds_if:?}")))
}

fn judged(measured: &str, holds_if: &str) -> Result<(Option<String>, bool), String> {
    let judged = claim(measured, holds_if).judge(&["E1"], &figures(), Setting::Plain, &[1])?.remove(0);
    Ok((judged.measured, judged.verdict == Verdict::Holds))
}

#[test]
fn expressions_measure_and_judge() {
    let is = |measured: &str, condition: &str, text: &str, holds: bool| {
        assert_eq!(judged(measured, condition), Ok((Some(text.to_string()), holds)), "{measured}");
    };
    is("mean(gain)", "within(it, 3.9, 4.1)", "4", true);
    is("mean(pick(gain, group.few))", "it > 3.5", "3.50", false);
    is("gain['a-p'] / alone", "it == 12", "12", true);
    is("[least(gain), most(size), above(size, 1), below(size, 2)]", "it[2] == 2 and it[3] == 1", "3, 30, 2, 1", true);
    is("rank_correlation(gain, size)", "it >= 0.4", "0.500", true);
    is("pick(gain, ['b'])", "it.b > 4 and falling([gain.b, gain.c]) and not rising([1, 1])", "b 5", true);
    is("most(minus(gain, size))", "it < 3", "3", false);
    is("[1, 3, 4]", "rising(it, 0.5) and not rising(it, 1) and falling([4, 2], 1.5)", "1, 3, 4", true);
    is("ci95([1, 2, 3])", "ci95([5]) == 0", "2.48", true);
    is("mean(gain)", "above_by_interval(gain, { 'a-p': 2.9, b: 4.8, c: 3.9 })", "4", true);
    is("mean(gain)", "above_by_interval(gain, { 'a-p': 3.1, b: 0, c: 3.9 })", "4", false);
}

/// Beyond the interval over seeds, and with one seed by the sign.
#[test]
fn gains_are_counted_beyond_their_intervals() {
    let mut figures = Measurements::default();
    for (name, steady, noisy) in [("a", 1.0, 2.0), ("b", 2.0, 4.0), ("c", 3.0, 30.0)] {
        for seed in 0..3 {
            figures.push(&["steady", name], steady + 0.01 * f64::from(seed));
            figures.push(&["noisy", name], noisy * f64::from(seed));
        }
    }
    let count = "[above(clearly_more(by_seed.steady, 1.5), 0), above(clearly_more(by_seed.noisy, by_seed.steady), 0), \
                 above(clearly_more(larger(by_seed.noisy, by_seed.steady), 1.5), 0)]";
    let judged =
        claim(count, "it[0] == 2").judge(&["E1"], &figures, Setting::Plain, &[1, 2, 3]).expect("sound").remove(0);
    assert_eq!(judged.measured.as_deref(), Some("2, 0, 0"));
    let one = figures.of_seed(2, &[1, 2, 3], None);
    let judged = claim(count, "it[0] == 2").judge(&["E1"], &one, Setting::Plain, &[3]).expect("sound").remove(0);
    assert_eq!(judged.measured.as_deref(), Some("2, 3, 3"));
}

#[test]
fn what_cannot_be_evaluated_is_said() {
    for (measured, condition, why) in [
        ("mean(gian)", "it > 1", "undefined"),
        ("pick(gain, ['d'])", "it > 1", "nothing was measured for \"d\""),
        ("mean(gain)", "it + 1", "neither true nor false"),
        ("mean(gain", "it > 1", "syntax"),
    ] {
        let error = judged(measured, condition).expect_err(measured);
        assert!(error.contains(why) && error.starts_with("claim E1a (w): "), "{error}");
    }
}

/// A verdict for all seeds and one for each; what stands beside is text.
#[test]
fn a_claim_that_single_seeds_judge_otherwise_is_unstable() {
    let mut figures = Measurements::default();
    [4.0, 0.0, 2.0].into_iter().for_each(|gain| figures.push(&["gain"], gain));
    figures.push(&["size"], 7.0);
    let text =
        "measured = \"gain\"\nsizes = [2]\nholds_if = \"it > 1\"\nbeside = { double = \"2 * gain\", size = \"size\" }";
    let judge = |experiments: &[&str], seeds: &[u64]| {
        Claims::read(&file("size", text)).judge(experiments, &figures, Setting::Plain, seeds).expect("sound")
    };
    let all = judge(&["E1"], &[1, 2, 3]).remove(0);
    assert_eq!((all.verdict, all.is_unstable()), (Verdict::Within20Percent, true));
    assert_eq!(all.by_seed, [Verdict::WithinFactor2, Verdict::Differs, Verdict::Within20Percent]);
    assert_eq!(
        all.beside.into_iter().collect::<Vec<_>>(),
        [("double".into(), "4".into()), ("size".into(), "7".into())]
    );
    assert!(!judge(&["E1"], &[1]).remove(0).is_unstable());
    assert!(judge(&["E2"], &[1]).is_empty());
}

/// A claim may be left out under the chosen setting alone.
#[test]
fn a_claim_may_be_untestable_under_the_chosen_setting() {
    let chosen = "paper = \"p\"\n[chosen]\nsets = []\nbecause = []\nagainst = []\n";
    let text = file("bound", "measured = \"alone\"\nholds_if = \"it < 1\"\nuntestable_chosen = \"why\"");
    let claims = Claims::read(&text.replacen("paper = \"p\"\n", chosen, 1));
    let under = |setting| claims.judge(&["E1"], &figures(), setting, &[1]).expect("sound").remove(0);
    assert_eq!((under(Setting::Plain).verdict, under(Setting::Plain).reason), (Verdict::BoundKept, None));
    let chosen = under(Setting::Chosen);
    assert_eq!((chosen.verdict, chosen.reason.as_deref()), (Verdict::NotTestableHere, Some("why")));
    assert_eq!((chosen.measured, chosen.holds_if), (None, None));
}

#[test]
fn claims_that_are_not_sound_are_refused() {
    let tested = "measured = \"1\"\nholds_if = \"it == 1\"\n";
    let fault = |kind: &str, rest: String| {
        let refused = std::panic::catch_unwind(|| Claims::read(&file(kind, &rest))).expect_err("not sound");
        refused.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    for (kind, rest, why) in [
        ("bound", "measured = \"1\"".to_owned(), "half a claim"),
        ("bound", format!("{tested}untestable = \"why\""), "half a claim"),
        ("size", tested.to_owned(), "sizes go with kind = \"size\""),
        ("bound", format!("{tested}sizes = [1]"), "sizes go with kind = \"size\""),
        ("size", format!("{tested}sizes = [0]"), "about 0 is a bound"),
        ("bound", format!("{tested}null = \"nothing\""), "a null is for sizes and directions"),
        ("direction", format!("{tested}null = \"none\""), "there is no such null"),
        ("bound", format!("{tested}untestable_chosen = \"why\""), "untestable_chosen without [chosen]"),
        ("loud", tested.to_owned(), "unknown variant `loud`"),
    ] {
        let message = fault(kind, rest);
        assert!(message.starts_with("claims.toml: ") && message.contains(why), "{message}");
    }
    let twice =
        file("bound", tested) + "[[claim]]" + file("bound", tested).split("[[claim]]").last().unwrap_or_default();
    let refused = std::panic::catch_unwind(|| Claims::read(&twice)).expect_err("twice");
    assert_eq!(refused.downcast_ref::<String>().map(String::as_str), Some("claims.toml: E1a: w: its id is another's"));
    let other = file("bound", tested).replace("\"E1a\"", "\"E2a\"");
    let refused = std::panic::catch_unwind(|| Claims::read(&other)).expect_err("another experiment's");
    assert!(
        refused.downcast_ref::<String>().is_some_and(|why| why.ends_with("its id is not its experiment and a letter"))
    );
}

#[test]
fn too_few_numbers_for_the_sizes_are_an_error() {
    let claims = Claims::read(&file("size", "measured = \"[1, 2]\"\nsizes = [1, 2, 3]\nholds_if = \"true\""));
    let message = claims.judge(&["E1"], &figures(), Setting::Plain, &[1]).expect_err("one too few");
    assert!(message.contains("3 sizes for 2 measured numbers"), "{message}");
}
