//! The memory that FLIN needs in the SSD controller's DRAM (FLIN §5.5).

/// Bytes of DRAM for `flows` flows on `chips` chips with at most `transactions` waiting: per flow and chip the arrival
/// rates of reads and writes and the average slowdowns in both queues, per transaction its alone time, per flow the
/// counts of writes and valid pages; 32 bits each.
pub const fn dram_bytes(chips: u64, flows: u64, transactions: u64) -> u64 {
    const WORD: u64 = 4;
    let rates = 2 * flows * chips;
    let slowdowns = 2 * flows * chips;
    let counts = 2 * flows;
    WORD * (rates + transactions + slowdowns + counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-FLN-13: 64 chips, 128 flows, 262,144 transactions: 1,180,672 bytes, 1.13 MiB, 0.055 % of 2 GiB.
    #[test]
    fn the_paper_s_device() {
        let bytes = dram_bytes(64, 128, 262_144);
        assert_eq!(bytes, 1_180_672);
        assert_eq!((bytes * 100) >> 20, 112, "1.126 MiB");
        assert_eq!(bytes * 100_000 / (2 << 30), 54, "0.055 % of 2 GiB, rounded");
    }
}
