//! Conditions that leave runs out: expressions over the keys of the scenario, with the axes' values in it.
//!
//! The expressions are minijinja's, as in the claims of papers: `flow[0].priority > 2 and seed == 1`.
//!
//! Promises that a condition, whatever its text, does not overflow the stack, and that no word of it multiplies a text: minijinja limits
//! the depth of parentheses only and recurses over everything else, so the length is limited here, and `range`, `replace`, `format` and
//! the like are not there. `*` repeats texts and lists too, up to 100,000,000 times each: conditions with it have numbers alone.

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, UndefinedBehavior, filters};

use crate::scenario::Document;

/// The most words and signs of a condition. Each may be one level of the expression: a thread with 2 MiB of stack holds 1,000 levels
/// even where the compiler optimises nothing.
const MAX_TOKENS: usize = 500;

/// The conditions of a sweep.
#[derive(Debug)]
pub(super) struct Conditions {
    texts: Vec<String>,
    environment: Environment<'static>,
}

impl Conditions {
    /// Compiles the conditions.
    ///
    /// # Errors
    /// One that is no expression, and why.
    pub fn new(texts: Vec<String>) -> Result<Conditions, (String, String)> {
        let environment = environment();
        for text in &texts {
            let tokens = tokens(text);
            if tokens > MAX_TOKENS {
                let message = format!(
                    "has {tokens} words and signs; must have at most {MAX_TOKENS}: give several conditions, each of which excludes"
                );
                return Err((text.clone(), message));
            }
            if multiplies(text) && makes_more_than_numbers(text) {
                let message = "has `*`, and a text, a list or `~`; where a condition multiplies, all must be numbers";
                return Err((text.clone(), message.into()));
            }
            environment.compile_expression(text).map_err(|error| (text.clone(), error.to_string()))?;
        }
        Ok(Conditions { texts, environment })
    }

    /// Whether one of them holds for `document`.
    ///
    /// # Errors
    /// One that cannot be evaluated, and why.
    pub fn exclude(&self, document: &Document, seed: u64) -> Result<bool, (String, String)> {
        if self.texts.is_empty() {
            return Ok(false);
        }
        let keys = keys(document, seed);
        let mut numbers = None;
        for text in &self.texts {
            let fail = |why: String| (text.clone(), why);
            let keys = if multiplies(text) { numbers.get_or_insert_with(|| only_numbers(&keys)) } else { &keys };
            let expression = self.environment.compile_expression(text).map_err(|error| fail(error.to_string()))?;
            let held = expression.eval(keys).map_err(|error| {
                fail(format!("{error}; a condition may name the keys that the scenario gives, and those of the axes"))
            })?;
            match held.kind() {
                ValueKind::Bool if held.is_true() => return Ok(true),
                ValueKind::Bool => {}
                _ => return Err(fail(format!("is {held}, which is neither true nor false"))),
            }
        }
        Ok(false)
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

/// Whether a condition has a product: `*` that is no half of `**`.
fn multiplies(text: &str) -> bool {
    text.split("**").any(|part| part.contains('*'))
}

/// Whether a condition writes out a text, a list or a table, or makes a text.
fn makes_more_than_numbers(text: &str) -> bool {
    // A bracket right behind a value is a place in it; else a list begins.
    let begins_list = |(at, _): (usize, &str)| {
        let before = &text[..at];
        let word = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        let keyword = matches!(word, "in" | "and" | "or" | "not" | "if" | "else" | "is");
        keyword || word.is_empty() && !before.ends_with([']', ')'])
    };
    text.contains(['"', '\'', '~', ',', '{']) || text.match_indices('[').any(begins_list)
}

/// `value` without texts and lists in it.
fn only_numbers(value: &Value) -> Value {
    let members = value.try_iter().into_iter().flatten().map(|key| {
        let member = value.get_item(&key).unwrap_or_default();
        (key, member)
    });
    let kept = members.filter_map(|(key, member)| match member.kind() {
        ValueKind::Number | ValueKind::Bool => Some((key, member)),
        ValueKind::Map => Some((key, only_numbers(&member))),
        _ => None,
    });
    Value::from_pairs(kept)
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
            ("", "1*", "1"),
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

    /// Products of numbers are arithmetic; those of texts and lists would fill the memory or take for ever.
    #[test]
    fn only_numbers_are_multiplied() {
        assert_eq!(excluded("flow[0].synthetic.rate_iops * 2 == 100000 and (seed + 1) * 2 ** 2 == 16"), Ok(true));
        assert_eq!(excluded("seed in [2, 3] and 2**3 == 8"), Ok(true));
        for condition in [
            "[[1]*10000]*10000 == [[1]*10000]*10000",
            "('a' * 100000000 ~ 'a' * 100000000)|length > 1",
            "(seed, 1) * 100000000 == seed",
            "(1 ~ 2) * 50000000 == seed",
            "seed in[1] * 100000000",
            "seed in [1] * 100000000",
            "{1: [2]}[1] * 10 == seed",
        ] {
            assert!(excluded(condition).unwrap_err().contains("must be numbers"), "{condition}");
        }
        for condition in ["device.preset * 9000000 == seed", "flow.a.name * 2 == seed", "flow * 2 == seed"] {
            assert!(excluded(condition).is_err(), "{condition}");
        }
    }

    #[test]
    fn what_is_no_condition_is_said() {
        assert!(excluded("seed >").unwrap_err().contains("syntax"));
        assert!(excluded("sed == 1").unwrap_err().contains("undefined"));
        assert!(excluded("seed + 1").unwrap_err().contains("neither true nor false"));
    }
}
