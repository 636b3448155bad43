//! Which findings are on the first screen: at most twelve, those first that no user may miss.

use super::finding::{Change, Finding, FindingKind};

/// Findings on the first screen.
pub(super) const LINES: usize = 12;
/// Gains and losses of at least this factor come first on it, whosever they are.
pub(super) const LARGE: f64 = 2.0;

/// How a finding is ranked; those of a rank by their order, or where it is said by their size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// What is true of the whole comparison; the winner's largest gain and largest loss; the largest loss of all.
    First,
    /// Who wins for a tenant; the first loss under another scheduler; much higher write amplification.
    Tenants,
    /// The largest gains and losses from twofold on, by size.
    Largest,
    /// Where requests disagree among themselves, and which decisions bring the largest gain and loss.
    Explained,
    /// The other gains and losses from twofold on, by size.
    Large,
    /// Slowdowns, and where most requests go the other way.
    Sharing,
    /// The gains and losses below twofold, by size.
    Small,
    /// What is alike or not to be told, and more of [`Rank::Explained`] and [`Rank::Sharing`].
    Rest,
}

/// So many of those who win are in [`Rank::Tenants`],
const TENANTS: usize = 4;
/// in [`Rank::Largest`],
const LARGEST: usize = 3;
/// in [`Rank::Explained`],
const EXPLAINED: usize = 3;
/// and in [`Rank::Sharing`].
const SHARING: usize = 2;

/// Leaves at most [`LINES`] findings on the first screen; their order stays.
pub(super) fn choose(found: &mut [Finding], winner: &str) {
    let shown: Vec<usize> = (0..found.len()).filter(|&number| found[number].is_on_first_screen).collect();
    let of_winner = |number: &usize| found[*number].scheduler.as_deref() == Some(winner);
    let size = |number: usize| found[number].size;
    let mut by_size = shown.clone();
    by_size.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    let mut first = vec![largest_loss(found, &shown, |_| true), largest_loss(found, &shown, of_winner)];
    let is_win = |number: &usize| matches!(found[*number].kind, FindingKind::Wins | FindingKind::ReferenceWins);
    first.push(shown.iter().copied().find(is_win));
    let others_loss = shown.iter().copied().find(|number| loss(&found[*number]).is_some() && !of_winner(number));
    let (mut tenants, mut large, mut explained, mut sharing) = (0, 0, 0, 0);
    // Of `count` the first `most` have this rank.
    let up_to = |count: &mut usize, most: usize, rank: Rank, beyond: Rank| {
        *count += 1;
        if *count <= most { rank } else { beyond }
    };
    let mut ranked: Vec<(Rank, usize, usize)> = Vec::new();
    for (place, &number) in by_size.iter().enumerate() {
        let finding = &found[number];
        let is_large = finding.size >= LARGE;
        let rank = match finding.kind {
            FindingKind::NothingCompleted
            | FindingKind::NothingCounted
            | FindingKind::OnlyControls
            | FindingKind::AllAlike
            | FindingKind::NobodyPays
            | FindingKind::Seeds => Rank::First,
            _ if first.contains(&Some(number)) => Rank::First,
            _ if others_loss == Some(number) => Rank::Tenants,
            FindingKind::Wins | FindingKind::ReferenceWins if tenants < TENANTS => {
                tenants += 1;
                Rank::Tenants
            }
            FindingKind::WriteAmplification => match finding.changes.first() {
                Some(change) if change.too_few_erases.is_some() => Rank::Rest,
                Some(change) if change.factor < 1.0 && (is_large || of_winner(&number)) => Rank::Tenants,
                _ => Rank::Small,
            },
            FindingKind::Wins
            | FindingKind::ReferenceWins
            | FindingKind::Run
            | FindingKind::Gains
            | FindingKind::Pays
            | FindingKind::PartPays
            | FindingKind::PartSlower
            | FindingKind::HostGains
            | FindingKind::HostPays
            | FindingKind::Starves => match is_large {
                true => up_to(&mut large, LARGEST, Rank::Largest, Rank::Large),
                false => Rank::Small,
            },
            FindingKind::Uneven
            | FindingKind::DecisionBrings
            | FindingKind::EachBrings
            | FindingKind::NoDecisionAlone
            | FindingKind::DecisionsDiffer => up_to(&mut explained, EXPLAINED, Rank::Explained, Rank::Rest),
            FindingKind::Slowdown | FindingKind::Majority => up_to(&mut sharing, SHARING, Rank::Sharing, Rank::Rest),
            FindingKind::LimitBringsNothing => Rank::Tenants,
            FindingKind::AlikeHere | FindingKind::NothingToOrder => Rank::Rest,
        };
        let by_size = matches!(rank, Rank::Largest | Rank::Large | Rank::Small);
        ranked.push((rank, if by_size { place } else { 0 }, number));
    }
    ranked.sort_unstable();
    for &(_, _, number) in ranked.iter().skip(LINES) {
        found[number].is_on_first_screen = false;
    }
}

/// Of these findings the one with the largest loss, of equals the first.
fn largest_loss(found: &[Finding], among: &[usize], wanted: impl Fn(&usize) -> bool) -> Option<usize> {
    let losses = among.iter().copied().filter(wanted).filter_map(|number| Some((number, loss(&found[number])?)));
    losses.reduce(|most, next| if next.1 > most.1 { next } else { most }).map(|(number, _)| number)
}

/// How many times worse some requests are served, be it in one measure beside gains in others; `None` if nothing is worse.
fn loss(finding: &Finding) -> Option<f64> {
    match finding.kind {
        FindingKind::Starves => Some(finding.size),
        FindingKind::Wins
        | FindingKind::ReferenceWins
        | FindingKind::Gains
        | FindingKind::Pays
        | FindingKind::PartPays
        | FindingKind::PartSlower
        | FindingKind::HostPays => {
            finding.changes.iter().filter(|change| change.factor < 1.0).map(Change::size).reduce(f64::max)
        }
        _ => None,
    }
}
