//! Device configurations: `Config::check` never panics, and every size and time computed from a configuration it
//! accepts fits its type. (The fuzzer is built with overflow checks, so an overflow is a panic.)

use arbitrary::{Result, Unstructured};
use flashlane_core::geometry::{AllocationOrder, Stripe, UnitKind};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Geometry, Lpn};
use flashlane_ssd::config::{
    Buffer, BufferOrder, Bus, Charge, Config, Controller, Dispatch, FlowConfig, Front, Ftl, FullCache, Gc, Latency,
    Mapping, Nand, Precondition, Protocol, ReadRetry, RetryState, Rounding, Service, SlcCache, SuspendAt, Unmap,
    UnmappedReads, Victim,
};

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "config",
    about: "Config::check never panics; sizes and times of an accepted device fit their types",
    seeds: || vec![vec![0; 400], vec![1; 400], (0..=255).cycle().take(600).collect()],
    words: &[],
    feed: |input| {
        let config = config(&mut Unstructured::new(input)).expect("a short input is read as zeros");
        match config.check() {
            Err(error) => format!("{}: {}", error.key, error.legal),
            Ok(()) => {
                reckon(&config);
                "accepted".into()
            }
        }
    },
};

/// Everything that is computed from an accepted configuration before the first request.
fn reckon(config: &Config) {
    let g = &config.geometry;
    assert!(g.planes() <= 1 << 16 && g.units() <= 1 << 16, "ids of planes and units are 16 bits");
    assert!(g.planes_per_unit() * g.row_planes <= 64 && g.units_per_channel() <= 64, "masks are 64 bits");
    let raw_pages = g.planes() as u64 * g.pages_per_plane() as u64;
    assert!(config.stored_pages() as u64 <= raw_pages, "more logical and translation pages than flash");
    assert!(g.raw_bytes() / raw_pages == g.page_bytes as u64);

    let page = config.page_on_bus();
    assert!(page >= g.page_bytes);
    let mut last = Duration::ZERO;
    for sectors in 0..=page as u64 / 512 {
        let transfer = config.transfer(sectors * 512);
        assert!(transfer >= last, "more bytes take no less time");
        last = transfer;
    }
    let commands = [FlashOp::Read, FlashOp::Program, FlashOp::Erase];
    let longest = commands.map(|op| {
        let gaps = config.bus.plane_gap * (g.planes_per_die as u64 - 1);
        let bus = config.bus.command[op.index()] + config.bus.data_out_setup + config.transfer(page as u64);
        let array = config.typical(op) + gaps;
        assert!(array.ns() > 0);
        // All units of a channel one after another, with a pause each.
        (bus + array + config.nand.suspend + config.nand.resume) * 64
    });
    let around = config.memory + config.front.link_latency * 2;
    let total = longest.into_iter().fold(around, |sum, duration| sum + duration);
    // A run adds such durations to instants: even the sum of a thousand must be far from the end of time.
    assert!(total.ns() < u64::MAX / 1_000, "{total}");
    assert!(config.typical(FlashOp::Program).ns() / config.nand.iterations as u64 >= 1, "an iteration takes time");

    if g.planes() <= 512 {
        let stripe = Stripe::new(g, config.ftl.order);
        let positions = stripe.positions();
        for lpn in [0, 1, config.ftl.logical_pages / 2, config.ftl.logical_pages - 1] {
            let (plane, local) = stripe.home(Lpn(lpn));
            assert_eq!(stripe.lpn_of(positions[plane.index()], local), Lpn(lpn));
            assert!(local < g.pages_per_plane(), "a home outside its plane");
        }
    }
}

/// A number, mostly from `usual`, sometimes any.
fn number(u: &mut Unstructured, usual: std::ops::RangeInclusive<u64>) -> Result<u64> {
    Ok(match u.int_in_range(0..=63u8)? {
        63 => u.arbitrary()?,
        62 => *u.choose(&[0, 1, u32::MAX as u64, u64::MAX, usual.end() + 1, usual.start().saturating_sub(1)])?,
        61 => 1u64 << u.int_in_range(0..=63u8)?,
        _ => u.int_in_range(usual)?,
    })
}

fn small(u: &mut Unstructured, usual: std::ops::RangeInclusive<u64>) -> Result<u32> {
    Ok(number(u, usual)?.min(u32::MAX as u64) as u32)
}

fn time(u: &mut Unstructured, usual: std::ops::RangeInclusive<u64>) -> Result<Duration> {
    Ok(Duration::from_ns(number(u, usual)?))
}

fn latency(u: &mut Unstructured) -> Result<Latency> {
    Ok(match u.int_in_range(0..=2u8)? {
        0 => Latency::Constant(time(u, 1..=10_000_000)?),
        1 => Latency::Gaussian { mean: time(u, 1..=10_000_000)?, sd: time(u, 0..=100_000)? },
        _ => Latency::fast_slow(time(u, 1..=1_000_000)?, time(u, 1..=10_000_000)?),
    })
}

fn retry(u: &mut Unstructured) -> Result<ReadRetry> {
    let state = |u: &mut Unstructured| {
        let mut below: Vec<u64> =
            (0..u.int_in_range(0..=3)?).map(|_| u.int_in_range(0..=1u64 << 32)).collect::<Result<_>>()?;
        below.sort_unstable();
        Ok(RetryState { erases: small(u, 0..=3)?, age_days: small(u, 0..=90)?, below })
    };
    let states = (0..u.int_in_range(0..=3)?).map(|_| state(u)).collect::<Result<_>>()?;
    Ok(ReadRetry {
        step: time(u, 1..=100_000)?,
        initial_erases: small(u, 0..=3)?,
        initial_age_days: small(u, 0..=90)?,
        states,
    })
}

fn mapping(u: &mut Unstructured) -> Result<Mapping> {
    Ok(Mapping {
        entries: small(u, 1..=1 << 20)?,
        host_entries: small(u, 0..=1 << 20)?,
        entries_per_page: small(u, 1..=4096)?,
        entry_bytes: small(u, 1..=16)?,
        read_bytes: small(u, 1..=16)?.saturating_mul(512),
        warm: u.arbitrary()?,
    })
}

fn slc(u: &mut Unstructured) -> Result<SlcCache> {
    Ok(SlcCache {
        static_blocks: small(u, 0..=16)?,
        dynamic: u.arbitrary()?,
        dynamic_limit: if u.arbitrary()? { small(u, 0..=8)? } else { u32::MAX },
        bits: small(u, 2..=4)?,
        read: time(u, 1..=100_000)?,
        program: time(u, 1..=1_000_000)?,
        erase: time(u, 1..=10_000_000)?,
        idle: if u.arbitrary()? { Some(time(u, 0..=10_000_000)?) } else { None },
        full: *u.choose(&[FullCache::Fold, FullCache::Direct])?,
    })
}

fn config(u: &mut Unstructured) -> Result<Config> {
    let geometry = geometry(u)?;
    let order = *u.choose(&AllocationOrder::NAMES)?;
    let pages = (geometry.channels as u64 * geometry.chips_per_channel as u64)
        .saturating_mul(geometry.dies_per_chip as u64 * geometry.planes_per_die as u64)
        .saturating_mul(geometry.pages_per_block as u64);
    Ok(Config {
        geometry,
        nand: nand(u)?,
        retry: if u.ratio(1, 8)? { Some(retry(u)?) } else { None },
        slc: if u.ratio(1, 4)? { Some(slc(u)?) } else { None },
        bus: bus(u)?,
        ftl: Ftl {
            order: AllocationOrder::parse(order).expect("NAMES are names"),
            logical_pages: small(u, 1..=pages.clamp(1, u32::MAX as u64))?,
            read_modify_write: u.arbitrary()?,
            wear_aware: u.arbitrary()?,
        },
        mapping: if u.ratio(1, 8)? { Some(mapping(u)?) } else { None },
        unmap: Unmap {
            command: Duration::from_ns(small(u, 0..=100_000)?.into()),
            page: Duration::from_ns(small(u, 0..=1_000)?.into()),
            reads: if u.arbitrary()? { UnmappedReads::Flash } else { UnmappedReads::Memory },
        },
        gc: gc(u)?,
        precondition: match u.int_in_range(0..=3u8)? {
            0 => Precondition::Fresh,
            1 => Precondition::Filled { per_mille: small(u, 0..=1000)? },
            2 => Precondition::Replayed { percent: small(u, 0..=300)? },
            _ => Precondition::Steady,
        },
        buffer: if u.arbitrary()? { Some(buffer(u)?) } else { None },
        front: front(u)?,
        memory: time(u, 0..=10_000)?,
        flows: vec![FlowConfig::at_priority(u.int_in_range(0..=2)?); u.int_in_range(0..=4usize)?.max(1)],
        priorities: u.int_in_range(1..=8u8)?,
        seed: u.arbitrary()?,
    })
}

fn geometry(u: &mut Unstructured) -> Result<Geometry> {
    // Units of the map in a flash page, and planes of a superblock; rows that are not whole now and then.
    let slots = if u.ratio(1, 4)? { small(u, 1..=16)? } else { 1 };
    let whole = if u.ratio(15, 16)? { slots } else { 1 };
    Ok(Geometry {
        channels: small(u, 1..=8)?,
        chips_per_channel: small(u, 1..=8)?,
        dies_per_chip: small(u, 1..=4)?,
        planes_per_die: small(u, 1..=4)?,
        blocks_per_plane: small(u, 16..=4096)?,
        pages_per_block: small(u, 1..=512)?.saturating_mul(whole),
        page_bytes: small(u, 1..=32)?.saturating_mul(512),
        metadata_bytes: small(u, 0..=512)?,
        slots,
        row_planes: if u.ratio(1, 8)? { slots } else { 1 },
        unit: if u.arbitrary()? { UnitKind::Chip } else { UnitKind::Die },
    })
}

fn nand(u: &mut Unstructured) -> Result<Nand> {
    Ok(Nand {
        read: latency(u)?,
        program: latency(u)?,
        erase: latency(u)?,
        iterations: small(u, 1..=16)?,
        erase_iterations: small(u, 1..=16)?,
        suspend: time(u, 0..=100_000)?,
        resume: time(u, 0..=100_000)?,
        suspend_limit: small(u, 0..=3)?,
        suspend_min: time(u, 0..=100_000)?,
        suspend_at: if u.arbitrary()? { SuspendAt::Instant } else { SuspendAt::Segment },
        multi_plane: u.arbitrary()?,
        multi_die: u.arbitrary()?,
        same_page_read: u.arbitrary()?,
        same_page_program: u.arbitrary()?,
        one_shot_pages: if u.ratio(1, 4)? { small(u, 0..=5)? } else { 1 },
        one_shot_wait: if u.arbitrary()? { Some(time(u, 0..=10_000_000)?) } else { None },
    })
}

fn bus(u: &mut Unstructured) -> Result<Bus> {
    Ok(Bus {
        mega_transfers: small(u, 1..=2000)?,
        width_bytes: small(u, 1..=8)?,
        rounding: if u.arbitrary()? { Rounding::Exact } else { Rounding::MqSim },
        with_metadata: u.arbitrary()?,
        command: [time(u, 0..=1_000)?, time(u, 0..=1_000)?, time(u, 0..=1_000)?],
        data_out_setup: time(u, 0..=1_000)?,
        plane_gap: time(u, 0..=1_000)?,
        dispatch: if u.arbitrary()? { Dispatch::Eager } else { Dispatch::BusIdle },
    })
}

fn gc(u: &mut Unstructured) -> Result<Gc> {
    Ok(Gc {
        victim: match u.int_in_range(0..=4u8)? {
            0 => Victim::Greedy,
            1 => Victim::Random,
            2 => Victim::DChoices(small(u, 1..=8)?),
            3 => Victim::Fifo,
            _ => Victim::CostBenefit,
        },
        start_blocks: small(u, 3..=8)?,
        hard_blocks: small(u, 1..=2)?,
        separate_frontier: u.arbitrary()?,
    })
}

fn buffer(u: &mut Unstructured) -> Result<Buffer> {
    Ok(Buffer {
        pages: small(u, 4..=10_000)?,
        per_flow: u.arbitrary()?,
        write_back: u.arbitrary()?,
        read_allocate: u.arbitrary()?,
        flush_above: small(u, 0..=10_000)?,
        merge_writes: u.arbitrary()?,
        protected: u.arbitrary()?,
        pace: Duration::from_ns(if u.arbitrary()? { u64::from(small(u, 1..=10_000_000)?) } else { 0 }),
    })
}

fn front(u: &mut Unstructured) -> Result<Front> {
    let depth = small(u, 1..=128)?;
    let in_flight = small(u, 1..=1024)?;
    let service = if u.ratio(1, 4)? {
        let charge = if u.arbitrary()? { Charge::FreeAware } else { Charge::Literal };
        Service::Serial { cluster: small(u, 1..=16)?, charge }
    } else {
        Service::Parallel
    };
    Ok(Front {
        protocol: if u.arbitrary()? { Protocol::Nvme { depth } } else { Protocol::Sata { depth } },
        in_flight: if service == Service::Parallel { in_flight } else { 1 },
        queue_capacity: [small(u, 1..=1024)?, small(u, 1..=1024)?],
        link_bytes_per_s: number(u, 0..=10_000_000_000)?,
        link_latency: time(u, 0..=10_000)?,
        order: if u.arbitrary()? { BufferOrder::ByKind } else { BufferOrder::Shared },
        controller: Controller {
            cores: small(u, 0..=65)?,
            command: [time(u, 0..=10_000)?, time(u, 0..=10_000)?],
            page: [time(u, 0..=1_000)?, time(u, 0..=1_000)?],
        },
        service,
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;

    /// If nearly everything were refused, the target would test nothing about accepted configurations.
    #[test]
    fn a_fair_part_of_random_configurations_is_accepted() {
        let mut rng = Pcg32::seed_from_u64(3);
        let accepted = (0..4_000).filter_map(|_| {
            let input: Vec<u8> = (0..600).map(|_| rng.random()).collect();
            let config = config(&mut Unstructured::new(&input)).unwrap();
            config.check().is_ok().then_some(config.geometry.slots)
        });
        let accepted: Vec<u32> = accepted.collect();
        assert!((200..3_800).contains(&accepted.len()), "{} of 4,000 accepted", accepted.len());
        let with_rows = accepted.iter().filter(|slots| **slots > 1).count();
        assert!(with_rows >= 5, "{with_rows} of {} with rows", accepted.len());
    }
}
