//! Random scenes; `SWARM_SEED=N SWARM_RUNS=1` repeats one, `SWARM_RUNS=10000000` runs for hours.

use crate::model::plain::Plain;
use crate::model::scene::{RunResult, Scene, Stepped, play, sample};

/// Scenes unless the environment says otherwise.
const SCENES: u64 = 6_000;

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: must be a whole number")))
}

/// Whether a scene has CPUs with background threads that no thread of an application is ever on.
fn background_alone_on_a_cpu(scene: &Scene) -> bool {
    let threads: usize = scene.applications.iter().map(|application| application.begins.len()).sum();
    threads < scene.host.cpus as usize && !scene.host.background.is_empty()
}

/// What the plain model makes of a scene, or how the host differs from it.
fn compare(scene: &Scene) -> Result<RunResult, String> {
    let plain = play(scene, Plain::new(&scene.host));
    for left_behind in [false, true] {
        let made = play(scene, Stepped::new(&scene.host, left_behind));
        if made != plain {
            let (made, plain) = (format!("{made:#?}"), format!("{plain:#?}"));
            let pairs = made.lines().zip(plain.lines()).enumerate();
            let differs = pairs.filter(|(_, (made, plain))| made != plain).take(3);
            let lines: Vec<String> = differs
                .map(|(line, (made, plain))| format!("line {line}: {} instead of {}", made.trim(), plain.trim()))
                .collect();
            return Err(format!("left behind: {left_behind}; {}", lines.join("; ")));
        }
    }
    Ok(plain)
}

/// The shortest beginning of a scene in which the host differs from the plain model.
fn shortest(scene: &Scene) -> Scene {
    let shorter = (1..scene.count).map(|count| Scene { count, ..scene.clone() });
    let differs = |scene: &Scene| !std::panic::catch_unwind(|| compare(scene)).is_ok_and(|made| made.is_ok());
    shorter.into_iter().find(differs).unwrap_or_else(|| scene.clone())
}

#[test]
fn host_scenes_against_the_plain_model() {
    let (first, runs) = (environment("SWARM_SEED").unwrap_or(1), environment("SWARM_RUNS").unwrap_or(SCENES));
    let (mut sums, mut alone) = ([0u64; 8], 0);
    for seed in first..first.saturating_add(runs) {
        let scene = sample::scene(seed);
        match std::panic::catch_unwind(|| compare(&scene)) {
            Ok(Ok(played)) => {
                let meter = &played.meter;
                let adapted = played.windows.iter().filter(|window| window.ns() > 0).count() as u64;
                let counts = [
                    played.seen.len() as u64,
                    meter.interrupts,
                    meter.messages,
                    meter.too_late,
                    meter.gave_up,
                    meter.reads.hit + meter.writes.hit,
                    meter.reads.miss + meter.writes.miss,
                    adapted,
                ];
                alone += u64::from(background_alone_on_a_cpu(&scene));
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            outcome => {
                let scene = shortest(&scene);
                let why = outcome.map_or(Err("a panic, see above".to_owned()), |_| compare(&scene));
                panic!(
                    "SWARM_SEED={seed} SWARM_RUNS=1 cargo test -p flashlane-host --test all model: {why:?}\n{scene:#?}"
                );
            }
        }
    }
    // I/Os, interrupts, messages, too late, given up, hits, misses, windows: scenes in which little happens would hold little.
    assert!(runs < SCENES || sums.iter().all(|&sum| sum > runs / 20), "the scenes have become too tame: {sums:?}");
    assert!(runs < SCENES || alone > runs / 50, "CPUs without threads of applications in {alone} scenes only");
}
