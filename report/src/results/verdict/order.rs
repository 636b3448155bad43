//! Which findings are on the first screen: at most twelve, and of each kind that a user needs the largest.

use super::finding::{Finding, FindingKind};

/// Findings on the first screen.
pub(super) const LINES: usize = 12;
/// Gains and losses that come before what is said of other things.
const FIRST: usize = 6;

/// Leaves at most [`LINES`] findings on the first screen, among them what the winner's largest gain and largest loss are; their order stays.
pub(super) fn choose(found: &mut [Finding], winner: &str) {
    let mut ranked: Vec<(usize, usize)> = Vec::new();
    let (mut won, mut paid, mut told, mut asides) = (0, 0_u32, 0, 0);
    for (number, finding) in found.iter().enumerate().filter(|(_, finding)| finding.is_on_first_screen) {
        let rank = match finding.kind {
            FindingKind::NothingCompleted
            | FindingKind::NothingCounted
            | FindingKind::OnlyControls
            | FindingKind::AllAlike
            | FindingKind::NobodyPays
            | FindingKind::Seeds => 0,
            FindingKind::Wins | FindingKind::ReferenceWins => {
                (won, told) = (won + 1, told + 1);
                if won == 1 { 0 } else { after(told) }
            }
            FindingKind::Pays | FindingKind::PartPays | FindingKind::Starves => {
                told += 1;
                paid += u32::from(finding.scheduler.as_deref() == Some(winner));
                if paid == 1 && finding.scheduler.as_deref() == Some(winner) { 0 } else { after(told) }
            }
            FindingKind::Run | FindingKind::PartSlower | FindingKind::Gains | FindingKind::AlikeHere => {
                told += 1;
                after(told)
            }
            FindingKind::WriteAmplification => 1,
            FindingKind::Uneven
            | FindingKind::DecisionBrings
            | FindingKind::NoDecisionAlone
            | FindingKind::DecisionsDiffer => {
                asides += 1;
                if asides <= 4 { 2 } else { 5 }
            }
            FindingKind::Slowdown | FindingKind::Majority => {
                asides += 1;
                if asides <= 4 { 3 } else { 5 }
            }
        };
        ranked.push((rank, number));
    }
    ranked.sort_unstable();
    for &(_, number) in ranked.iter().skip(LINES) {
        found[number].is_on_first_screen = false;
    }
}

/// The rank of the gain or loss with this number.
fn after(told: usize) -> usize {
    if told <= FIRST { 1 } else { 4 }
}
