//! Runs behind a host against the plain loop: device and host step by step through every instant at which anything happens on
//! either, in which nothing is left behind and nothing is stepped over.

use proptest::prelude::*;

use super::*;
use crate::run::observers::ObserverOptions;
use crate::run::prepare::prepare;
use crate::scenario::Scenario;

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

/// A scenario with a host.
fn hosted() -> impl Strategy<Value = String> {
    let completion = prop_oneof![
        Just("\"irq\"".to_owned()),
        Just("\"poll\"".to_owned()),
        Just("\"poll-prio\"".to_owned()),
        (
            prop_oneof![Just("\"at-issue\""), Just("\"staged\"")],
            prop_oneof![Just("\"adaptive\"".to_owned()), (0u64..200_000).prop_map(|ns| ns.to_string())]
        )
            .prop_map(|(predictor, window)| format!(
                "\"precompletion\"\npredictor = {predictor}\nwindow_ns = {window}"
            )),
    ];
    let cost = || prop_oneof![1 => Just(0u64), 3 => 1u64..8_000];
    let work = prop_oneof![
        (1u32..4, -20i8..20)
            .prop_map(|(threads, nice)| format!("work = \"cpu\"\nthreads = {threads}\nnice = {nice}\n")),
        (1u32..3, 5_000u64..20_000, prop_oneof![Just(0u64), 20_000u64..200_000]).prop_map(
            |(threads, section, device)| {
                format!("work = \"io\"\nthreads = {threads}\nsection_ns = {section}\ndevice_ns = {device}\n")
            }
        ),
    ];
    let spins = prop_oneof![Just(String::new()), (0u64..60_000).prop_map(|ns| format!("max_spin_ns = {ns}\n"))];
    let host =
        (completion, 1u32..4, [cost(), cost(), cost(), cost()], (0u64..2_000, any::<bool>(), any::<bool>()), spins);
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
    let parts = (schedulers, any::<bool>(), 1u32..65, any::<u16>());
    (host, shares, prop::collection::vec(work, 0..3), prop::collection::vec(flow, 1..4), parts).prop_map(
        |((completion, cpus, [irq, wake, switch, submit], (interval, writes, reads), spins), shares, work, flows, parts)| {
            let ((period, slice, granularity, nice), (scheduler, buffered, pages, seed)) = (shares, parts);
            let buffer = match buffered {
                true => format!("[device.buffer]\npages = {pages}\nread_allocate = true\naccess_ns = 1000\n"),
                false => String::new(),
            };
            let background: String = work.iter().map(|keys| format!("[[host.background]]\n{keys}")).collect();
            format!(
                "seed = {seed}\nscheduler = \"{scheduler}\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 2\n\
                 chips_per_channel = 2\nblocks_per_plane = 24\npages_per_block = 16\n[device.ftl]\nover_provisioning_percent = 30\n\
                 {buffer}[host]\ncompletion = {completion}\ncpus = {cpus}\nirq_ns = {irq}\nwake_ns = {wake}\nswitch_ns = {switch}\n\
                 submit_ns = {submit}\npoll_interval_ns = {interval}\nbuffer_hits = {}\nread_hits = {}\nnice = {nice}\n{spins}\
                 period_ns = {period}\nmin_slice_ns = {slice}\nwakeup_granularity_ns = {granularity}\n{background}\
                 [run]\nalone = false\n{}",
                writes && buffered,
                reads && buffered,
                flows.concat()
            )
        },
    )
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
