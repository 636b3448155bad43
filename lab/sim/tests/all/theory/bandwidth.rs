//! The read bandwidth that a device cannot exceed.

use flashlane_core::transaction::FlashOp;
use flashlane_ssd::config::Config;

/// What bounds the read bandwidth of a device, in bytes per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saturation {
    /// With all units busy, each doing single-plane reads one after the other.
    pub units_bytes_per_s: f64,
    /// With all buses busy.
    pub buses_bytes_per_s: f64,
}

impl Saturation {
    /// The lower of the two: the bound that saturating traffic approaches.
    pub fn bytes_per_s(&self) -> f64 {
        self.units_bytes_per_s.min(self.buses_bytes_per_s)
    }
}

/// Bandwidth of single-plane reads of `bytes` (a page at most) that keep every unit busy.
///
/// Source: model 2.2, capacity note: `min(units / svc, buses / transfer)` times the bytes of a read, with
/// `svc = command + array + set-up + transfer` (model 0.4).
pub fn read_saturation(config: &Config, bytes: u32) -> Saturation {
    let moved = if bytes == config.geometry.page_bytes { config.page_on_bus() } else { bytes.div_ceil(512) * 512 };
    let array_ns = config.typical(FlashOp::Read).ns() as f64;
    let bus = config.bus.command[0] + config.bus.data_out_setup + config.transfer(moved as u64);
    let bus_ns = bus.ns() as f64;
    let rate = |servers: u32, busy_ns: f64| servers as f64 * bytes as f64 * 1e9 / busy_ns;
    Saturation {
        units_bytes_per_s: rate(config.geometry.units(), array_ns + bus_ns),
        buses_bytes_per_s: rate(config.geometry.channels, bus_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 channels, 4 dies each, 8 KiB pages, 75 us reads, 333 MT/s.
    fn flin() -> Config {
        let text = "device = \"flin-isca18\"\n[[flow]]\n[flow.synthetic]\nrate_iops = 1\nrequests = 1\n".to_owned();
        let scenario = flashlane_scenario::Scenario::parse("the device of FLIN", text).expect("a scenario");
        scenario.device_config().expect("a device")
    }

    #[test]
    fn the_capacity_note_of_the_model() {
        let whole = read_saturation(&flin(), 8192);
        assert!((whole.bytes_per_s() / 1e9 - 2.63).abs() < 0.005, "{whole:?}");
        assert!((whole.buses_bytes_per_s / 1e9 - 2.664).abs() < 0.001, "{whole:?}");
        let half = read_saturation(&flin(), 4096);
        assert!((half.bytes_per_s() / 1e9 - 1.50).abs() < 0.005, "{half:?}");
    }

    #[test]
    fn many_units_on_a_channel_are_bound_by_its_bus() {
        let mut config = flin();
        config.geometry.chips_per_channel = 32;
        let many = read_saturation(&config, 8192);
        assert_eq!(many.bytes_per_s(), many.buses_bytes_per_s);
        assert_eq!(many.buses_bytes_per_s, read_saturation(&flin(), 8192).buses_bytes_per_s);
    }
}
