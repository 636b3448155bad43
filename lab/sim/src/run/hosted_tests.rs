//! Runs behind a host against the plain loop: device and host step by step through every instant at which anything happens on
//! either, in which nothing is left behind and nothing is stepped over.

use proptest::prelude::*;

use super::*;
use crate::drive::prepare::prepare;
use crate::run::observers::ObserverOptions;
use flashlane_scenario::Scenario;

impl Simulation<'_> {
    /// As [`Simulation::finish_hosted`], instant by instant.
    fn finish_plainly(mut self, host: &HostConfig) -> Result<Outcome, RunError> {
        self.draw_first()?;
        let mut run = HostedRun::new(host, &mut self.device);
        run.host.step_each_event();
        loop {
            let device = self.device.next_event();
            self.pass_events(&mut run)?;
            let next = self.earliest().map_or(Time::NEVER, |(at, _)| at);
            if next == Time::NEVER && run.open == 0 {
                self.device.advance_to_completion(Time::NEVER);
                self.pass_events(&mut run)?;
                return self.conclude(Some(run.finish()));
            }
            let now = next.min(device).min(run.host.next_event());
            assert!(now <= Time::LAST, "requests left and nothing to do");
            self.device.advance(now);
            self.pass_events(&mut run)?;
            self.act_at(&mut run, now)?;
        }
    }
}

/// Everything that came of a run of the scenario.
fn outcome(text: &str, plainly: bool) -> String {
    let scenario = Scenario::parse("hosted.toml", text.to_owned()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let prepared = prepare(&scenario).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let scheduler = prepared.catalogue.build(&prepared.schedulers[0].1).expect("a scheduler");
    let observers = ObserverOptions { responses: true, audit: true, ..ObserverOptions::default() };
    let feeds = prepared.feeds(|_| true).expect("flows");
    let run = Simulation::new(&prepared.config, scheduler, feeds, prepared.limits, observers).expect("a run");
    let host = prepared.host.as_ref().expect("a host");
    let made = if plainly { run.finish_plainly(host) } else { run.finish_hosted(host) };
    format!("{:#?}", made.unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// The read of a page, the transfer of its data, and the sum: times of `flin-isca18` at which instants of device and host coincide.
const READ_NS: [u64; 3] = [75_000, 12_300, 87_300];

/// A time: any up to about two reads, or one of the above.
fn near_a_read() -> impl Strategy<Value = u64> {
    prop_oneof![2 => 0u64..200_000, 1 => prop::sample::select(&READ_NS[..])]
}

/// A small drive, and what ends every scenario.
const DEVICE: &str = r#"
[run]
alone = false
[device]
preset = "flin-isca18"
[device.geometry]
channels = 2
chips_per_channel = 2
blocks_per_plane = 24
pages_per_block = 16
[device.ftl]
over_provisioning_percent = 30
"#;

/// Keys of devices in which more or less takes no time.
fn device() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        1 => Just("[device.bus]\nmega_transfers = \"unlimited\"\n".to_owned()),
        1 => (0u64..2_000).prop_map(|ns| format!("[device.bus]\nread_command_ns = {ns}\n")),
        1 => Just("[device.front]\nlink_bytes_per_s = 1_000_000_000\nlink_latency_ns = 500\n".to_owned()),
    ]
}

/// A scenario with a host.
fn hosted() -> impl Strategy<Value = String> {
    let fixed = |word: &'static str, sleeps: bool| Just((format!("\"{word}\"\n"), sleeps));
    let predictor = prop_oneof![Just("at-issue"), Just("staged")];
    let window = prop_oneof![Just("\"adaptive\"".to_owned()), near_a_read().prop_map(|ns| ns.to_string())];
    let spins = prop_oneof![Just(String::new()), (0u64..60_000).prop_map(|ns| format!("max_spin_ns = {ns}\n"))];
    let early = (predictor, window, spins).prop_map(|(predictor, window, spins)| {
        (format!("\"precompletion\"\npredictor = \"{predictor}\"\nwindow_ns = {window}\n{spins}"), true)
    });
    let completion = prop_oneof![
        1 => fixed("irq", true),
        1 => fixed("poll", false),
        1 => fixed("poll-prio", false),
        3 => early
    ];
    let cost = || prop_oneof![2 => Just(0u64), 3 => 1u64..8_000, 1 => near_a_read()];
    let work = prop_oneof![
        (1u32..4, -20i8..20)
            .prop_map(|(threads, nice)| format!("work = \"cpu\"\nthreads = {threads}\nnice = {nice}\n")),
        (1u32..3, 5_000u64..20_000, prop_oneof![Just(0u64), 20_000u64..200_000]).prop_map(
            |(threads, section, device)| {
                format!("work = \"io\"\nthreads = {threads}\nsection_ns = {section}\ndevice_ns = {device}\n")
            }
        ),
    ];
    let host = (completion, 1u32..4, [cost(), cost(), cost(), cost()], (0u64..2_000, any::<bool>(), any::<bool>()));
    let shares = (20_000u64..4_000_000, 10_000u64..3_000_000, 0u64..400_000, -20i8..20);
    let flow = (0u32..11, 1u32..9, prop_oneof![Just(0u64), 1u64..300], 1u32..40_000, any::<bool>()).prop_map(
        |(reads, depth, think, bytes, closed)| {
            let arrivals = match closed {
                true => format!("arrivals = \"closed-loop\", depth = {depth}, think_us = {think}"),
                false => format!("rate_iops = {}", 500 * depth),
            };
            let (sectors, share) = ((bytes / 512).max(1) * 512, f64::from(reads) / 10.0);
            let size = format!("size = {{ mix = [[4096, 3], [{sectors}, 1]] }}, working_set_fraction = 0.02");
            format!("[[flow]]\nsynthetic = {{ read_ratio = {share:.1}, {size}, {arrivals}, requests = 120 }}\n")
        },
    );
    let schedulers = prop_oneof![Just("fr-fcfs"), Just("slacker"), Just("flin"), Just("dynalloc"), Just("fcfs")];
    let parts = (schedulers, any::<bool>(), 1u32..65, any::<u16>(), device());
    (host, shares, prop::collection::vec(work, 0..3), prop::collection::vec(flow, 1..4), parts).prop_map(
        |(((completion, sleeps), cpus, [irq, wake, switch, submit], (interval, writes, reads)), shares, work, flows, parts)| {
            let ((period, slice, granularity, nice), (scheduler, buffered, pages, seed, device)) = (shares, parts);
            let buffer = match buffered {
                true => format!("[device.buffer]\npages = {pages}\nread_allocate = true\naccess_ns = 1000\n"),
                false => String::new(),
            };
            let background: String = work.iter().map(|keys| format!("[[host.background]]\n{keys}")).collect();
            format!(
                "seed = {seed}\nscheduler = \"{scheduler}\"\n[host]\ncompletion = {completion}cpus = {cpus}\nirq_ns = {irq}\nwake_ns = {wake}\nswitch_ns = {switch}\n\
                 submit_ns = {submit}\npoll_interval_ns = {interval}\nbuffer_hits = {}\nread_hits = {}\nnice = {nice}\n\
                 period_ns = {period}\nmin_slice_ns = {slice}\nwakeup_granularity_ns = {granularity}\n{background}\
                 {}{DEVICE}{buffer}{device}",
                writes && buffered && sleeps,
                reads && buffered && sleeps,
                flows.concat()
            )
        },
    )
}

/// Windows as long as a read: its message is due at the instant of the decision that issues it, at which the CPU has something to do as
/// well: in the first scene because of what came to it at that instant, in the second by itself.
const AT_THE_DECISION: [&str; 2] = [
    r#"
seed = 5652
scheduler = "dynalloc"
[host]
completion = "precompletion"
predictor = "at-issue"
window_ns = 87_300
irq_ns = 0
wake_ns = 0
switch_ns = 4_929
submit_ns = 0
period_ns = 20_000
min_slice_ns = 10_000
wakeup_granularity_ns = 0
[[flow]]
synthetic = { read_ratio = 0.1, size = { mix = [[4096, 3], [13312, 1]] }, working_set_fraction = 0.02, rate_iops = 2000, requests = 120 }
"#,
    r#"
seed = 2072
scheduler = "dynalloc"
[host]
completion = "precompletion"
predictor = "at-issue"
window_ns = 87_300
cpus = 3
irq_ns = 0
wake_ns = 0
switch_ns = 0
submit_ns = 0
nice = -19
period_ns = 20_000
min_slice_ns = 46_753
wakeup_granularity_ns = 81_879
[[host.background]]
work = "cpu"
threads = 2
[[flow]]
synthetic = { read_ratio = 0.8, size = { mix = [[4096, 3], [6144, 1]] }, working_set_fraction = 0.02, rate_iops = 1000, requests = 120 }
[[flow]]
synthetic = { read_ratio = 0.3, size = { mix = [[4096, 3], [2048, 1]] }, working_set_fraction = 0.02, arrivals = "closed-loop", depth = 2, think_us = 111, requests = 120 }
[[flow]]
synthetic = { read_ratio = 0.8, size = { mix = [[4096, 3], [22528, 1]] }, working_set_fraction = 0.02, rate_iops = 1500, requests = 120 }
"#,
];

#[test]
fn a_message_at_the_instant_of_a_decision_finds_the_cpu_as_it_is_then() {
    for scene in AT_THE_DECISION {
        let text = format!("{scene}{DEVICE}");
        let (quick, plain) = (outcome(&text, false), outcome(&text, true));
        assert!(quick == plain, "{text}\n{}", first_difference(&quick, &plain));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn what_is_stepped_over_changes_nothing(text in hosted()) {
        let (quick, plain) = (outcome(&text, false), outcome(&text, true));
        prop_assert!(quick == plain, "{}\n{}", text, first_difference(&quick, &plain));
    }
}

/// The first lines that differ.
fn first_difference(a: &str, b: &str) -> String {
    let pair = a.lines().zip(b.lines()).enumerate().find(|(_, (a, b))| a != b);
    pair.map_or("one is longer".into(), |(line, (a, b))| format!("line {line}: {} instead of {}", a.trim(), b.trim()))
}
