//! The shipped devices.

use flashlane_core::geometry::{Stripe, UnitKind};
use flashlane_core::{Duration, Lpn};
use flashlane_ssd::config::{Config, Dispatch, Latency, Precondition, Protocol, Victim};

use super::*;

fn preset(name: &str) -> Config {
    with(&format!("device = \"{name}\"")).device_config().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_preset_builds_a_device() {
    for p in PRESETS {
        let config = preset(p.name);
        assert_eq!(config.check(), Ok(()), "{}", p.name);
        let file = p.file();
        assert!(!file.summary.is_empty() && !file.source.is_empty(), "{}", p.name);
        assert_eq!(file.device.preset, None, "{}: a preset starts from the defaults alone", p.name);
    }
}

#[test]
fn every_preset_says_where_it_comes_from_in_each_table() {
    for p in PRESETS {
        for table in p.text.split("\n[").skip(1) {
            assert!(table.contains('#'), "{}: [{}", p.name, table.lines().next().unwrap_or_default());
        }
    }
}

/// The device of Slacker's chosen setting is the paper's but for three keys.
#[test]
fn one_page_a_command_is_all_that_differs() {
    let device = |name| Preset::named(name).expect("a preset").device();
    let mut table_1 = device("slacker-asplos17");
    (table_1.nand.multi_die, table_1.nand.multi_plane) = (Some(false), Some(false));
    table_1.front.write_queue_capacity = device("slacker-one-page").front.write_queue_capacity;
    assert_ne!(table_1.front.write_queue_capacity, device("slacker-asplos17").front.write_queue_capacity);
    table_1.preset = Some("slacker-one-page".into());
    assert_eq!(table_1, device("slacker-one-page"));
}

#[test]
fn slacker_is_its_table_1() {
    let c = preset("slacker-asplos17");
    assert_eq!(c.geometry.unit, UnitKind::Chip);
    assert_eq!((c.geometry.units(), c.geometry.planes_per_unit()), (16, 8));
    assert_eq!(c.geometry.raw_bytes(), 1 << 40);
    assert_eq!(c.ftl.logical_pages, 125_437_128); // 2^27 * 100 / 107
    assert_eq!((c.gc.start_blocks, c.gc.hard_blocks), (205, 20)); // fewer than 204.8; at or below 20.48
    assert_eq!(c.gc.victim, Victim::Greedy);
    assert_eq!(c.front.queue_capacity, [512, 4096]);
    assert_eq!(c.nand.iterations, 20);
    assert_eq!((c.nand.suspend, c.nand.resume), (Duration::ZERO, Duration::ZERO));
    assert_eq!(c.precondition, Precondition::Filled { per_mille: 600 });
    assert_eq!(c.transfer(8192), Duration::from_ns(24_601));
}

/// A-SLK-08: bus time of a page without and with its spare bytes, rounded to the nearest ns and as MQSim rounds.
#[test]
fn a_slk_08_bus() {
    let mut c = preset("slacker-asplos17");
    assert_eq!([8192, 8640].map(|bytes| c.transfer(bytes).ns()), [24_601, 25_946]);
    c.bus.rounding = flashlane_ssd::config::Rounding::MqSim;
    assert_eq!([8192, 8640].map(|bytes| c.transfer(bytes).ns()), [24_576, 25_920]);
}

/// A-FLN-15: checked against the preset.
#[test]
fn flin_is_its_table_1() {
    let c = preset("flin-isca18");
    assert_eq!(c.geometry.raw_bytes(), 549_755_813_888);
    let (planes, block) = (c.geometry.planes() as u64, c.geometry.pages_per_block as u64 * 8192);
    assert_eq!(549_755_813_888 / planes / block, 4096);
    assert_eq!((1024 * 8192, 1024 / c.geometry.pages_per_block), (8_388_608, 4));
    assert_eq!((c.geometry.unit, c.geometry.units(), c.geometry.units_per_channel()), (UnitKind::Die, 32, 4));
    assert_eq!(c.ftl.logical_pages as u64 * 8192, 480_000_000_000);
    assert_eq!((c.gc.start_blocks, c.gc.hard_blocks), (205, 20));
    assert_eq!(c.precondition, Precondition::Steady);
    assert_eq!(c.priorities, 1);
}

/// A-NCQ-04: checked against the preset.
#[test]
fn ncq_is_its_table_1() {
    let c = preset("ncq-elex15");
    assert_eq!(c.geometry.raw_bytes(), 64 << 30);
    let buffer = c.buffer.expect("32 MB");
    assert_eq!((buffer.pages, buffer.pages as u64 * 4096), (8192, 32 << 20));
    assert!(buffer.write_back && !buffer.read_allocate);
    assert_eq!(c.front.protocol, Protocol::Sata { depth: 128 });
    assert_eq!(c.front.in_flight, 1);
    assert_eq!(c.memory, Duration::ZERO);
    assert_eq!(c.nand.read, Latency::Constant(Duration::from_us(20)));
}

/// Only a full buffer of the preset writes out, on the flash by its `flush_above`, which serial service does not have.
#[test]
fn ncq_has_flush_above_on_the_flash_only() {
    let of = |service: &str| {
        let request = "[[flow]]\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]\n";
        let text = format!("[device]\npreset = \"ncq-elex15\"\nfront = {{ service = \"{service}\" }}\n{request}");
        let scenario = Scenario::parse("s", text).expect("a good scenario");
        let complete = scenario
            .document
            .device
            .complete(&scenario.base().expect("a preset").device)
            .expect("legal")
            .buffer
            .flush_above;
        (complete, scenario.device_config().expect("legal").buffer.expect("32 MB").flush_above)
    };
    assert_eq!(of("parallel"), (Some(8192), 8192));
    assert_eq!(of("serial"), (None, 0));
}

#[test]
fn sos_has_sixteen_chips_that_do_one_thing_at_a_time() {
    let c = preset("sos-msst13");
    assert_eq!((c.geometry.channels, c.geometry.units(), c.geometry.planes_per_unit()), (4, 16, 1));
    assert!(!c.nand.multi_plane && !c.nand.multi_die);
}

#[test]
fn a_small_read_on_cosmos_takes_361_us() {
    let c = preset("cosmos-openssd");
    let flash = Latency::Gaussian { mean: Duration::from_us(352), sd: Duration::from_ns(660) };
    assert_eq!(c.nand.read, flash);
    assert_eq!(c.transfer(8192), Duration::ZERO);
    let dma_ns = 4096.0 * 1e9 / c.front.link_bytes_per_s as f64;
    assert!((dma_ns - 9_000.0).abs() < 0.5, "{dma_ns}");
    assert_eq!((c.geometry.units(), c.buffer.map(|b| b.pages)), (4, Some(64)));
}

/// 32 dies that each program a wordline of three pages of 16 KiB in 4 planes at a time write 2.62 GB/s; its pages are read in three times. A
/// superblock of a die is a plane of the engine, whose rows have 16 units of 4 KiB.
#[test]
fn datacenter_tlc_writes_2_6_gb_per_s_and_keeps_its_buffer() {
    let c = preset("datacenter-tlc");
    assert_eq!((c.geometry.planes(), c.geometry.slots, c.geometry.page_bytes), (32, 16, 4_096));
    let stripe = f64::from(c.geometry.page_bytes * c.geometry.planes() * c.geometry.slots);
    let stripe = stripe * f64::from(c.nand.one_shot_pages);
    assert_eq!(c.nand.program, Latency::Constant(Duration::from_us(2_400)));
    assert!((stripe / 2_400e-6 / 1e9 - 2.62).abs() < 0.01);
    let Latency::ByPage(read) = c.nand.read else { panic!("{:?}", c.nand.read) };
    assert!(read.iter().eq([40, 50, 60].map(Duration::from_us)), "{read:?}");
    assert_eq!((c.nand.suspend_limit, c.gc.start_blocks, c.gc.hard_blocks), (8, 7, 3));
    assert!(c.mapping.is_none());
    assert!(c.buffer.is_some_and(|buffer| buffer.protected));
}

/// 32 planes that program three pages of 16 KiB in 2.61 ms write 603 MB/s, in SLC mode 2.28 GB/s, of which 4.03 GB fit at any time.
#[test]
fn client_tlc_writes_600_mb_per_s_behind_its_cache() {
    let c = preset("client-tlc");
    let stripe = f64::from(c.geometry.page_bytes * c.geometry.slots * c.geometry.planes());
    assert_eq!((stripe / 16_384.0, c.geometry.page_bytes), (32.0, 4_096));
    let slc = c.slc.expect("a cache");
    assert_eq!((c.nand.program, c.nand.one_shot_pages), (Latency::Constant(Duration::from_us(2_610)), 3));
    assert!(
        (3.0 * stripe / 2_610e-6 / 1e6 - 602.6).abs() < 0.1 && (stripe / slc.program.ns() as f64 - 2.28).abs() < 0.01
    );
    let pages = u64::from(slc.static_blocks * c.geometry.planes()) * u64::from(c.geometry.pages_per_block / slc.bits);
    assert_eq!(pages * u64::from(c.geometry.page_bytes), 4_026_531_840);
    assert_eq!(
        pages * u64::from(c.geometry.page_bytes) / u64::from(slc.static_blocks) * u64::from(slc.dynamic_limit)
            / 10_000_000,
        1_798
    );
    assert_eq!(c.nand.read.typical(), Duration::from_us(75));
}

/// 4 planes of 64 KiB in a program's time, from each of four dies, are 119 MB/s; the map takes 125 MB, of which 17 MB are held. In SLC mode a
/// die takes 225 MB/s with the transfers, and the static blocks take 6 GB.
#[test]
fn client_qlc_writes_119_mb_per_s_and_holds_an_eighth_of_its_map() {
    let c = preset("client-qlc");
    let row = c.geometry.page_bytes * c.geometry.slots;
    let stripe = f64::from(row * c.geometry.planes());
    assert!((f64::from(c.nand.one_shot_pages) * stripe / 8.8e-3 / 1e6 - 119.2).abs() < 0.1);
    assert_eq!((c.nand.program, c.nand.one_shot_pages), (Latency::Constant(Duration::from_us(8_800)), 4));
    assert_eq!(c.geometry.units(), 4);
    let mapping = c.mapping.expect("a map on the flash");
    let held = f64::from(mapping.entries + mapping.host_entries) / f64::from(c.ftl.logical_pages);
    assert!((held - 0.1363).abs() < 1e-4, "{held}");
    let slc = c.slc.as_ref().expect("an SLC cache");
    let time = slc.program + c.transfer(c.geometry.page_bytes.into()) * u64::from(c.geometry.slots);
    let die = f64::from(row) / time.ns() as f64 * 1e3;
    assert!((die - 225.0).abs() < 1.0, "{die}");
    let pages = u64::from(slc.static_blocks * c.geometry.planes() * c.geometry.pages_per_block / slc.bits);
    assert_eq!(pages * u64::from(c.geometry.page_bytes) / 10_000_000, 603);
    let all = u64::from(slc.static_blocks + slc.dynamic_limit) * pages / u64::from(slc.static_blocks);
    assert_eq!(all * u64::from(c.geometry.page_bytes) / 100_000_000, 761, "76 GB");
}

/// Model 0.6: page `lpn` lies on chip `lpn` modulo the chips, a read is 1 cycle, a write 4, a cycle 1,000 ns.
#[test]
fn a_cycle_is_a_microsecond_and_pages_go_round_the_chips() {
    for chips in [1, 2, 3, 4, 7] {
        let c = with(&format!("[device]\npreset = \"unit-cycle\"\n[device.geometry]\nchannels = {chips}"));
        let c = c.device_config().unwrap();
        let stripe = Stripe::new(&c.geometry, c.ftl.order);
        for lpn in 0..50 {
            let unit = c.geometry.unit_of(stripe.home(Lpn(lpn)).0);
            assert_eq!(unit.index() as u32, lpn % chips, "page {lpn} of {chips} chips");
        }
        assert_eq!((c.transfer(4096), c.buffer.is_none()), (Duration::ZERO, true));
        assert_eq!(c.nand.read, Latency::Constant(Duration::from_ns(1_000)));
        assert_eq!(c.nand.program, Latency::Constant(Duration::from_ns(4_000)));
        assert_eq!(c.nand.iterations, 4);
    }
}

#[test]
fn the_mqsim_reference_is_what_its_readme_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/mqsim-reference.toml");
    let scenario = Scenario::load(Path::new(path)).unwrap_or_else(|e| panic!("{e}"));
    scenario.check().unwrap_or_else(|e| panic!("{e}"));
    let c = scenario.device_config().unwrap();
    let g = c.geometry;
    assert_eq!((g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die), (8, 4, 1, 2));
    assert_eq!((c.transfer(8192), c.transfer(8640)), (Duration::from_ns(24_576), Duration::from_ns(25_920)));
    assert_eq!(c.bus.command.map(Duration::ns), [290, 361, 220]);
    assert_eq!((c.bus.data_out_setup.ns(), c.bus.plane_gap.ns()), (30, 500));
    assert_eq!(c.bus.dispatch, Dispatch::BusIdle);
    assert!(c.nand.same_page_read && c.nand.same_page_program);
    assert_eq!(c.precondition, Precondition::Fresh);
    assert!(c.ftl.logical_pages as u64 * 8192 > 930_000_000 * 512, "the cases span 930,000,000 sectors");
}

/// A drive of today is no drive of a paper: each of its values says where it comes from, on its line or in the comment above it.
#[test]
fn every_value_of_a_drive_of_today_has_a_source_or_is_called_an_assumption() {
    assert_eq!(Preset::of_today().count(), 12);
    for Preset { name, .. } in Preset::of_today() {
        every_value_says_where_it_comes_from(name);
    }
}

fn every_value_says_where_it_comes_from(name: &str) {
    let text = Preset::named(name).expect("shipped").text;
    let mut above = false;
    let mut values = 0;
    for line in text.lines().skip_while(|line| !line.starts_with("[device")) {
        let says = ["assumption", "source:", "fitted to:"].iter().any(|word| line.contains(word));
        if line.starts_with('#') {
            above |= says;
            continue;
        }
        if line.contains(" = ") {
            assert!(says || above, "{name}: no source: {line}");
            values += 1;
        }
        above = false;
    }
    assert!(values > 20, "{name}: {values}");
}
