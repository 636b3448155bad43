//! Which findings are on the first screen: at most twelve, and of each kind that a user needs the largest.

use super::finding::{Finding, FindingKind};

/// Findings on the first screen.
pub(super) const LINES: usize = 12;
/// Gains and losses that come before what is said of other things.
const FIRST: usize = 6;

/// Leaves at most [`LINES`] findings on the first screen, among them the winner's largest gain and largest loss, the first loss under another scheduler
/// and the largest loss of all; their order stays.
pub(super) fn choose(found: &mut [Finding], winner: &str) {
    let mut ranked: Vec<(usize, usize)> = Vec::new();
    let losses = found.iter().enumerate().filter(|(_, one)| one.is_on_first_screen && is_loss(one.kind));
    let largest = losses.rev().max_by(|a, b| a.1.size.total_cmp(&b.1.size)).map(|(number, _)| number);
    let (mut won, mut paid, mut others, mut told, mut asides) = (0, 0, 0, 0, 0);
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
                let (count, rank) =
                    if finding.scheduler.as_deref() == Some(winner) { (&mut paid, 0) } else { (&mut others, 1) };
                *count += 1;
                if *count == 1 { rank } else { after(told) }
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
        ranked.push((if largest == Some(number) { rank.min(1) } else { rank }, number));
    }
    ranked.sort_unstable();
    for &(_, number) in ranked.iter().skip(LINES) {
        found[number].is_on_first_screen = false;
    }
}

fn is_loss(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::Pays | FindingKind::PartPays | FindingKind::PartSlower | FindingKind::Starves)
}

/// The rank of the gain or loss with this number.
fn after(told: usize) -> usize {
    if told <= FIRST { 1 } else { 4 }
}
