//! Traces with an impossible rate, whose times were therefore probably recorded in another unit.

use flashlane_trace::RecordedRate;

use crate::results::summary::{Recorded, Summary};

/// The flows whose traces were recorded at a rate that no drive serves, or at hardly any.
pub(super) fn of(summary: &Summary) -> Vec<String> {
    let warning = |recorded: &Recorded| {
        let rate = RecordedRate { requests: recorded.requests, bytes: recorded.bytes, span_ns: recorded.span_ns };
        rate.warning(recorded.format.parse().ok()?, recorded.time_unit.parse().ok()?)
    };
    let flows = summary.flows.iter();
    flows.filter_map(|flow| Some(format!("{}: {}", flow.name, warning(flow.recorded.as_ref()?)?))).collect()
}

#[cfg(test)]
mod tests {
    use crate::results::example::example;
    use crate::results::summary::Recorded;
    use crate::results::verdict::{Rule, Verdict};

    /// The warnings about units where the first flow's trace has this many requests of 4 KiB in this time.
    fn warnings(requests: u64, span_ns: f64) -> Vec<String> {
        let mut summary = example();
        let (format, time_unit) = ("mqsim".into(), "ns".into());
        summary.flows[0].recorded =
            Some(Recorded { format, time_unit, requests, bytes: 4096 * requests, span_ns, volumes: None });
        let warnings = Verdict::of(&summary).warnings.into_iter();
        warnings.filter(|warning| warning.rule == Rule::Units).map(|warning| warning.text).collect()
    }

    #[test]
    fn an_impossible_rate_is_doubted_and_an_ordinary_one_is_not() {
        let message = warnings(1_001, 100_000.0);
        assert_eq!(message.len(), 1);
        assert!(message[0].starts_with("web: 10,000,000 requests/s were recorded"), "{message:?}");
        assert!(warnings(11, 36_001e9)[0].contains("one request in 1.00 hours"));
        assert_eq!(warnings(1_001, 100_000_000.0), Vec::<String>::new());
    }
}
