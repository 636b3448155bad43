//! Conditions that leave runs out: expressions over the keys of the scenario, with the axes' values in it.
//!
//! The expressions are minijinja's, as in the claims of papers: `flow[0].priority > 2 and seed == 1`.
//!
//! Promises that a condition, whatever its text, does not overflow the stack, and that it takes little memory: minijinja limits
//! the depth of parentheses only and recurses over everything else, so the length is limited here; `range`, `replace`, `format` and
//! the like are not there, and only numbers are multiplied (minijinja would make texts of 100 MB, each anew, wherever `*` stands).

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, UndefinedBehavior, filters};

use super::axis::excerpt;
use super::factors::factors;
use flashlane_scenario::Document;

/// The most words and signs of a condition. Each may be one level of the expression: a thread with 2 MiB of stack holds 1,000 levels
/// even where the compiler optimises nothing.
const MAX_TOKENS: usize = 500;

/// The conditions of a sweep.
#[derive(Debug)]
pub(super) struct Conditions {
    conditions: Vec<Condition>,
    environment: Environment<'static>,
}

#[derive(Debug)]
struct Condition {
    text: String,
    /// What it multiplies, the shortest first.
    factors: Vec<String>,
}

impl Conditions {
    /// Compiles the conditions.
    ///
    /// # Errors
    /// One that is no expression, and why.
    pub fn new(texts: Vec<String>) -> Result<Conditions, (String, String)> {
        let environment = environment();
        let mut conditions = Vec::new();
        for text in texts {
            let tokens = tokens(&text);
            if tokens > MAX_TOKENS {
                let message = format!(
                    "has {tokens} words and signs; must have at most {MAX_TOKENS}: give several conditions, each of which excludes"
                );
                return Err((text, message));
            }
            let factors = factors(&text);
            let condition = Condition { text, factors };
            // Compilation computes what is constant: what is multiplied is looked at before.
            let checked = condition.multiplies_numbers(&environment, &Value::from_pairs([] as [(Value, Value); 0]));
            if let Err(why) = checked.and_then(|()| condition.compiles(&environment)) {
                return Err((condition.text, why));
            }
            conditions.push(condition);
        }
        Ok(Conditions { conditions, environment })
    }

    /// Whether one of them holds for `document`.
    ///
    /// # Errors
    /// One that cannot be evaluated, and why.
    pub fn exclude(&self, document: &Document, seed: u64) -> Result<bool, (String, String)> {
        if self.conditions.is_empty() {
            return Ok(false);
        }
        let keys = keys(document, seed);
        for condition in &self.conditions {
            match condition.holds(&self.environment, &keys) {
                Ok(false) => {}
                Ok(true) => return Ok(true),
                Err(why) => return Err((condition.text.clone(), why)),
            }
        }
        Ok(false)
    }
}

impl Condition {
    fn compiles(&self, environment: &Environment<'_>) -> Result<(), String> {
        environment.compile_expression(&self.text).map(drop).map_err(|error| error.to_string())
    }

    /// Refuses a product of something that is no number. What has no value by itself has none in the condition either, which
    /// says so.
    fn multiplies_numbers(&self, environment: &Environment<'_>, keys: &Value) -> Result<(), String> {
        for factor in &self.factors {
            let value = environment.compile_expression(factor).and_then(|expression| expression.eval(keys));
            let kind = value.map_or(ValueKind::Number, |value| value.kind());
            if !matches!(kind, ValueKind::Number | ValueKind::Bool | ValueKind::Undefined) {
                return Err(format!("multiplies {}, a {kind}; only numbers are multiplied", excerpt(factor)));
            }
        }
        Ok(())
    }

    fn holds(&self, environment: &Environment<'_>, keys: &Value) -> Result<bool, String> {
        self.multiplies_numbers(environment, keys)?;
        let expression = environment.compile_expression(&self.text).map_err(|error| error.to_string())?;
        let held = expression.eval(keys).map_err(|error| {
            format!("{error}; a condition may name the keys that the scenario gives, and those of the axes")
        })?;
        match held.kind() {
            ValueKind::Bool => Ok(held.is_true()),
            _ => Err(format!("is {}, which is neither true nor false", excerpt(&held.to_string()))),
        }
    }
}

/// What conditions may use: minijinja's operators, and those of its filters and tests whose result is a number, true or false.
fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("abs", filters::abs);
    environment.add_filter("float", filters::float);
    environment.add_filter("int", filters::int);
    environment.add_filter("length", filters::length);
    environment.add_filter("max", filters::max);
    environment.add_filter("min", filters::min);
    environment.add_filter("round", filters::round);
    environment.add_test("defined", |value: &Value| !value.is_undefined());
    environment.add_test("undefined", |value: &Value| value.is_undefined());
    environment
}

/// The number of words, numbers and signs in `text`, those inside quotes included.
fn tokens(text: &str) -> usize {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut before = ' ';
    let begins = |c: char| {
        let goes_on = in_word(c) && in_word(before);
        before = c;
        !(c.is_whitespace() || goes_on)
    };
    text.chars().map(begins).filter(|begins| *begins).count()
}

/// The keys of the scenario; flows by their place and by their name.
fn keys(document: &Document, seed: u64) -> Value {
    let mut keys: Vec<(Value, Value)> = Vec::new();
    let all = Value::from(Serde(document));
    for name in all.try_iter().into_iter().flatten() {
        let value = all.get_item(&name).unwrap_or_default();
        keys.push((name, value));
    }
    let flows = document.flow.iter().enumerate().flat_map(|(i, flow)| {
        let value = Value::from(Serde(flow));
        let named = flow.name.clone().map(|name| (Value::from(name), value.clone()));
        std::iter::once((Value::from(i), value)).chain(named)
    });
    let flows = Value::from_pairs(flows);
    keys.retain(|(name, _)| !matches!(name.as_str(), Some("flow" | "seed")));
    keys.push((Value::from("flow"), flows));
    keys.push((Value::from("seed"), Value::from(seed)));
    Value::from_pairs(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let text = "device = \"flin-isca18\"\n[[flow]]\nname = \"a\"\npriority = 2\n[flow.synthetic]\nrate_iops = 5e4\nrequests = 1\n";
        toml::from_str(text).expect("a document")
    }

    fn excluded(condition: &str) -> Result<bool, String> {
        let conditions = Conditions::new(vec![condition.into()]).map_err(|(_, why)| why)?;
        conditions.exclude(&document(), 3).map_err(|(_, why)| why)
    }

    #[test]
    fn conditions_name_keys_by_their_path() {
        assert_eq!(excluded("flow[0].synthetic.rate_iops > 1e4 and seed == 3"), Ok(true));
        assert_eq!(excluded("flow.a.priority == 1"), Ok(false));
        assert_eq!(excluded("device.preset == 'flin-isca18'"), Ok(true));
    }

    /// In a thread with a small stack, as workers of other programs have them.
    fn in_small_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let thread = std::thread::Builder::new().stack_size(1 << 21).spawn(work).expect("a thread");
        thread.join().expect("no panic")
    }

    #[test]
    fn long_conditions_are_refused_and_legal_ones_fit_the_stack() {
        // What stands in front of the others, what is repeated, and what stands behind: each recurses in another place.
        let shapes = [
            ("", "not ", "true"),
            ("", "-", "1"),
            ("", "seed==3 and ", "true"),
            ("", "seed==3 or ", "true"),
            ("", "true if true else ", "true"),
            ("", "1+", "1"),
            ("", "1**", "1"),
            ("", "1~", "1"),
            ("", "1<", "2"),
            ("", "1 in ", "[1]"),
            ("", "(", "1"),
            ("", "[", "1"),
            ("seed", ".a", ""),
            ("seed", "[0]", ""),
            ("seed", "|abs", ""),
            ("seed", " is defined", ""),
        ];
        for (before, again, after) in shapes {
            let of = move |count: usize| format!("{before}{}{after}", again.repeat(count));
            let refused = in_small_thread(move || excluded(&of(10_000)));
            assert!(refused.unwrap_err().contains("must have at most 500"), "{again}");
            let longest = (1..=MAX_TOKENS).rev().find(|count| tokens(&of(*count)) <= MAX_TOKENS).expect("one fits");
            assert!(tokens(&of(longest)) > MAX_TOKENS - 10, "{again}");
            // Right or wrong, it is an answer.
            let _ = in_small_thread(move || excluded(&of(longest)));
        }
        let legal = format!("{}seed == 3", "seed == 1 or ".repeat(90));
        assert_eq!(excluded(&legal), Ok(true));
    }

    #[test]
    fn short_conditions_make_no_long_texts() {
        for condition in [
            "range(100000)|length > 1",
            "'a'|replace('a', 'aa') == 'b'",
            "'%100000000d'|format(1) == 'b'",
            "[1, 2]|join('aa') == 'b'",
        ] {
            assert!(excluded(condition).is_err(), "{condition}");
        }
        assert_eq!(
            excluded("(-3)|abs == seed and seed is defined and seed in [1, 3] and [1, 2]|length == 2"),
            Ok(true)
        );
    }

    /// Each of these would make texts of 100 MB, some of them many; one that is made only to be refused shows here as time.
    #[test]
    fn texts_and_lists_are_not_multiplied() {
        let many = format!("{} == 'b'", ["'a' * 10**8"; 50].join(" ~ "));
        let nested = format!("{}('a' * 10**8 ~ 'a' * 10**8){} == 1", "1 * (".repeat(60), ")".repeat(60));
        for condition in [
            "'a' * 10**8 == 'b'",
            "10**8 * 'a' == 'b'",
            "2 * 10**4 * ('a' ~ 'b') == 'b'",
            "('a' if seed == 3 else 1) * 100_000_000 == 'b'",
            "'a'|max * 100000000 == 'b'",
            "99999999*device.preset|max == 'b'",
            "flow[0].name * 100000000 == 'b'",
            "flow['a']['name'] * -(-100000000) == 'b'",
            "100000000 * {'a': 'b'}.a == 'b'",
            "[1] * 100000 == [2]",
            "\"it's\" * 100000000 == 'b'",
            "'it\\'s' * 100000000 == 'b'",
            "[[1]*10000]*10000 == [[1]*10000]*10000",
            "(seed, 1) * 100000000 == seed",
            "(1 ~ 2) * 50000000 == seed",
            "seed in[1] * 100000000",
            "{1: [2]}[1] * 10 == seed",
            "flow * 2 == seed",
            many.as_str(),
            nested.as_str(),
        ] {
            let begun = std::time::Instant::now();
            let why = excluded(condition).expect_err(condition);
            assert!(why.contains("only numbers are multiplied"), "{condition}: {why}");
            assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{condition}");
        }
    }

    #[test]
    fn numbers_are_multiplied() {
        for condition in [
            "2 * seed == 6 and device.preset == 'flin-isca18'",
            "seed in [2, 3] and 2**3 == 8 and (seed + 1) * 2 ** 2 == 16",
            "flow[0].synthetic.rate_iops*2 > 9e4 and 1.5 * 2**2 == 6 and -2 * -seed == 6",
            "(seed if flow.a.name == 'a' else 2) * 3 == 9",
            "'2 * a' == '2 * a' and [1, 2]|max * [3]|min == 6 and 2 * (-3)|abs * (1 + 2) == 18",
            "true * 2 == 2 or not (nothing is defined and nothing * 2 == 1)",
            "'*' in 'a*b' and '*' == '*'",
        ] {
            assert_eq!(excluded(condition), Ok(true), "{condition}");
        }
        assert!(excluded("nothing * 2 == 1").unwrap_err().contains("undefined"));
    }

    #[test]
    fn what_is_no_condition_is_said() {
        assert!(excluded("seed >").unwrap_err().contains("syntax"));
        assert!(excluded("sed == 1").unwrap_err().contains("undefined"));
        assert!(excluded("seed + 1").unwrap_err().contains("neither true nor false"));
    }
}
