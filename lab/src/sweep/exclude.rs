//! Conditions that leave runs out: expressions over the keys of the scenario, with the axes' values in it.
//!
//! The expressions are minijinja's, as in the claims of papers: `flow[0].priority > 2 and seed == 1`.

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, UndefinedBehavior};

use crate::scenario::Document;

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
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        for text in &texts {
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
        for text in &self.texts {
            let fail = |why: String| (text.clone(), why);
            let expression = self.environment.compile_expression(text).map_err(|error| fail(error.to_string()))?;
            let held = expression.eval(&keys).map_err(|error| {
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

    #[test]
    fn what_is_no_condition_is_said() {
        assert!(excluded("seed >").unwrap_err().contains("syntax"));
        assert!(excluded("sed == 1").unwrap_err().contains("undefined"));
        assert!(excluded("seed + 1").unwrap_err().contains("neither true nor false"));
    }
}
