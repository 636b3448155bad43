//! Further flows for programs that give a drive requests of their own.

use super::flow::{Flow, Range, RangeWord};
use super::words::Word;
use super::{Scenario, ScenarioError};
use crate::workload::synthetic::SyntheticSpec;

impl Scenario {
    /// Adds `count` flows of lowest priority, each with the whole drive as its part: `spare1`, `spare2`, ... The parts of the others stay
    /// as they are.
    ///
    /// # Errors
    /// Anything wrong with the flows that are there, or one of them that has such a name.
    pub fn add_spare_flows(&mut self, count: u16) -> Result<(), ScenarioError> {
        if count == 0 {
            return Ok(());
        }
        let plans = self.flows(&self.device_config()?)?;
        self.set("flow", "--spare", |document| {
            for (flow, plan) in document.flow.iter_mut().zip(plans) {
                // Slices are equal parts for all flows; names may depend on their number.
                (flow.range, flow.name) = (Some(Range::Bytes(plan.range)), Some(plan.name));
            }
            let spare = |number| Flow {
                name: Some(format!("spare{number}")),
                range: Some(Range::Word(Word(RangeWord::All))),
                // A flow has a source; a program that gives the requests does not open it.
                synthetic: Some(SyntheticSpec { requests: Some(1), rate_iops: Some(1.0), ..SyntheticSpec::default() }),
                ..Flow::default()
            };
            document.flow.extend((1..=count).map(spare));
        });
        self.flows(&self.device_config()?).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(flows: &str) -> Scenario {
        let text = format!("[device]\npreset = \"flin-isca18\"\n{flows}");
        Scenario::parse("t.toml", text).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn spare_flows_have_the_whole_drive_and_take_nothing_of_the_others() {
        let flows = "[[flow]]\nsynthetic = { requests = 1, rate_iops = 5 }\n\
                     [[flow]]\nname = \"b\"\npriority = 2\nsynthetic = { requests = 1, rate_iops = 5 }\n";
        let (plain, mut more) = (scenario(flows), scenario(flows));
        more.add_spare_flows(2).unwrap_or_else(|why| panic!("{why}"));
        let plans = |s: &Scenario| {
            let config = s.device_config().unwrap_or_else(|why| panic!("{why}"));
            let plans = s.flows(&config).unwrap_or_else(|why| panic!("{why}"));
            plans.into_iter().map(|plan| (plan.name, plan.priority, plan.range)).collect::<Vec<_>>()
        };
        let (plain, more) = (plans(&plain), plans(&more));
        assert_eq!(more[..2], plain);
        let all = super::super::ByteRange { offset: 0, length: 2 * plain[0].2.length };
        assert!(more[2].2.length >= all.length && more[2].2.offset == 0, "{more:?}");
        assert_eq!((more[2].0.as_str(), more[3].0.as_str(), more[3].1), ("spare1", "spare2", 0));
        assert_eq!(more[2].2, more[3].2);
    }

    #[test]
    fn a_flow_of_that_name_is_refused() {
        let mut taken = scenario("[[flow]]\nname = \"spare1\"\nsynthetic = { requests = 1, rate_iops = 5 }\n");
        let why = taken.add_spare_flows(1).expect_err("two of a name").to_string();
        assert!(why.contains("another flow has this name"), "{why}");
    }
}
