//! Actual slack: how much later a transaction could have ended without its request ending later (model 1.2.1).
//!
//! Owns the distributions. The slack of a transaction is the end of the last transaction of its request minus its own
//! end, so it is known only afterwards and differs from what a scheduler estimated. Must never know schedulers.

use flashlane_core::Op;

use super::Histogram;
use super::sizes::{SIZES, size_class};

/// Actual slack of the transactions of measured requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slack {
    /// For transactions of reads, then of writes.
    direction: [Histogram; 2],
    /// Number of transactions and the sum of their slack in ns, by size of the request.
    size: [(u64, u128); SIZES],
}

impl Slack {
    /// Counts the transactions of a read or a write of `pages` pages; `ends` are the instants at which they ended, ns.
    pub fn record(&mut self, op: Op, pages: u32, ends: &[u64]) {
        let Some(&last) = ends.iter().max().filter(|_| op.is_data()) else { return };
        let size = &mut self.size[size_class(pages)];
        for end in ends {
            self.direction[op.index()].record(last - end);
            *size = (size.0 + 1, size.1 + u128::from(last - end));
        }
    }

    /// The slack of the transactions of one direction.
    pub fn of(&self, op: Op) -> &Histogram {
        &self.direction[op.index()]
    }

    /// Number of transactions of requests of a size class, and their mean slack, ns.
    pub fn of_size(&self, class: usize) -> (u64, Option<f64>) {
        let (count, sum) = self.size[class];
        (count, (count > 0).then(|| sum as f64 / count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_is_up_to_the_last_sibling() {
        let mut slack = Slack::default();
        slack.record(Op::Read, 3, &[70, 100, 40]);
        slack.record(Op::Read, 1, &[500]);
        slack.record(Op::Write, 40, &[10, 20]);
        slack.record(Op::Read, 2, &[]);
        assert_eq!((slack.of(Op::Read).count(), slack.of(Op::Read).sum()), (4, 90));
        assert_eq!((slack.of(Op::Read).min(), slack.of(Op::Read).max()), (Some(0), Some(60)));
        assert_eq!(slack.of(Op::Write).mean(), Some(5.0));
        assert_eq!(slack.of_size(2), (3, Some(30.0)));
        assert_eq!(slack.of_size(16), (2, Some(5.0)));
        assert_eq!(slack.of_size(1), (0, None));
    }
}
