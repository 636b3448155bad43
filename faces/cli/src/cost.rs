//! `flashlane schedulers --cost`: the state that schedulers would keep in a controller, counted as in their papers.

use std::fmt::Write as _;

use flashlane_scenario::Scenario;
use flashlane_sched::catalogue::{self, Kind, State, cost};

use crate::fail::Failure;
use crate::text::print;

/// The device whose totals are shown.
const DEVICE: &str = "slacker-asplos17";

/// Prints the state of every scheduler that has any beyond its queues.
pub fn show() -> Result<(), Failure> {
    let scene = "[[flow]]\nname = \"cost\"\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]";
    let scenario = Scenario::parse(DEVICE, format!("device = \"{DEVICE}\"\n{scene}"))?;
    let g = scenario.device_config()?.geometry;
    let (chips, channels) = (g.units(), g.channels);
    let mut text = String::from("State in the controller beyond queues and page tables\n");
    let _ = writeln!(text, "\n{} (Slacker §5.3)", names(|entry| entry.answers.order.starts_with("slack-")));
    line(&mut text, "a chip", cost::CHIP);
    line(&mut text, "a channel", cost::CHANNEL);
    line(&mut text, "a chip", cost::CHIP_MORE);
    line(&mut text, "a waiting transaction", cost::TRANSACTION);
    let [chip, channel, more] = [cost::CHIP, cost::CHANNEL, cost::CHIP_MORE].map(cost::bytes);
    let total = chips * chip + channels * channel;
    let _ = writeln!(
        text,
        "  The last two are beyond the paper's list. {DEVICE}: {chips} chips x {chip} + {channels} channels x {channel} = \
         {total} bytes,\n  and {} for the advanced commands.",
        chips * more
    );
    let _ = writeln!(text, "\n{} (Slacker §3.3)", names(|entry| entry.answers.place == "dynamic"));
    let (pages, bits) =
        (u64::from(g.planes()) * u64::from(g.pages_per_plane()), g.planes().next_power_of_two().ilog2());
    let _ = writeln!(
        text,
        "  a page                 {bits} bits: its plane. {DEVICE}: {} bytes.",
        pages * u64::from(bits) / 8
    );
    flin(&mut text);
    print(&text)
}

/// The list of FLIN's state, and its size on the drive that the paper uses as an example.
fn flin(text: &mut String) {
    let (chips, flows, transactions) = (64, 128, 262_144);
    let (none, bytes) = (catalogue::flin_dram_bytes(0, 0, 0), catalogue::flin_dram_bytes);
    let _ = writeln!(text, "\n{} (FLIN §5.5)", names(|entry| entry.answers.order == "fair"));
    // The size with one chip minus the size with none.
    for (of, bytes, what) in [
        (
            "a flow on a chip",
            bytes(1, 1, 0) - bytes(0, 1, 0),
            "arrival rates and average slowdowns of reads and writes",
        ),
        ("a flow", bytes(0, 1, 0) - none, "pages written, valid pages"),
        ("a waiting transaction", bytes(0, 0, 1) - none, "its alone time"),
    ] {
        let _ = writeln!(text, "  {of:21}  {bytes:3} bytes: {what}");
    }
    let total = bytes(chips, flows, transactions);
    let _ = writeln!(
        text,
        "  {chips} chips, {flows} flows, {transactions} transactions: {total} bytes, {:.2} MiB, {:.3} % of 2 GiB.",
        total as f64 / f64::from(1 << 20),
        100.0 * total as f64 / f64::from(1u32 << 31)
    );
}

fn names(has: impl Fn(&catalogue::SchedulerEntry) -> bool) -> String {
    catalogue::schedulers().iter().filter(|entry| has(entry)).map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

fn line(text: &mut String, of: &str, states: &[State]) {
    let kinds = [(Kind::Counter, "counter"), (Kind::Flag, "flag"), (Kind::Register, "register")];
    let counts = kinds.iter().filter_map(|&(kind, name)| {
        let count = states.iter().filter(|state| state.kind == kind).count();
        let (plural, bits) = (if count == 1 { "" } else { "s" }, kind.bits());
        (count > 0).then(|| format!("{count} {name}{plural} of {bits} bit{}", if bits == 1 { "" } else { "s" }))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let names = states.iter().map(|state| state.name).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "  {of:21}  {:3} bytes: {counts} ({names})", cost::bytes(states));
}
