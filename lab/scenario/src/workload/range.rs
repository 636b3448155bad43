//! The part of a drive's address space that one flow may touch.
//!
//! Owns the limits that generators and scenes check their addresses against. Knows nothing of flows or devices.

use flashlane_core::arrival::WorkloadError;

/// The bytes of the drive that belong to one flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressRange {
    /// First byte, a multiple of the page size.
    pub start_bytes: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Bytes of a logical page of the drive.
    pub page_bytes: u32,
}

impl AddressRange {
    /// Refuses a range that is too small for a page, one that starts inside a page, and one that ends beyond 64 bits.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let page = self.page_bytes as u64;
        if page == 0 {
            return Err(refuse("page_bytes", page, "at least 1"));
        }
        if !self.start_bytes.is_multiple_of(page) {
            return Err(refuse(
                "address range start",
                self.start_bytes,
                format_args!("a multiple of the page, {page}"),
            ));
        }
        if self.bytes < page {
            return Err(refuse("address range", self.bytes, format_args!("at least one page, {page} bytes")));
        }
        if self.start_bytes.checked_add(self.bytes).is_none() {
            return Err(refuse("address range", self.bytes, "an end below 2^64"));
        }
        Ok(())
    }
}

/// An error about a key in the one form that all keys use: its value, and what would be legal.
pub(super) fn refuse(key: &str, value: impl std::fmt::Display, legal: impl std::fmt::Display) -> WorkloadError {
    WorkloadError { place: key.to_string(), message: format!("{value} is not legal; legal: {legal}") }
}
