//! What a build needs of the processor, and whether this one has it.
//!
//! Flashlane is compiled for the instructions that `.cargo/config.toml` names; without them a program ends at the first that is missing,
//! which tells nobody why. Programs and the Python package ask here before they do anything else.

/// What this build needs, in words.
pub const NEEDS: &str = if cfg!(all(target_arch = "x86_64", target_feature = "avx2")) {
    "an x86-64-v3 processor (AVX2, BMI, FMA: Intel since Haswell of 2013, AMD since Excavator of 2015)"
} else {
    "no more than every processor of its architecture has"
};

/// What a program prints on a processor that cannot run this build.
pub const REFUSAL: &str = "error: this build needs an x86-64-v3 processor (AVX2, BMI, FMA: Intel since Haswell of 2013, AMD since Excavator of 2015), which this \
     is not; build it from source without the target-cpu of .cargo/config.toml\n";

/// Whether this processor can run this build.
///
/// What the standard library says of features that are compiled for is always yes, so the processor itself is asked. Until the answer is there
/// nothing may be done that the compiler could do with wide registers: no lists, no texts that are put together.
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub fn is_able() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    has(__cpuid(1).ecx, LEAF_1_ECX)
        && __cpuid(0).eax >= 7
        && has(__cpuid_count(7, 0).ebx, LEAF_7_EBX)
        && __cpuid(0x8000_0000).eax >= 0x8000_0001
        && has(__cpuid(0x8000_0001).ecx, EXTENDED_ECX)
}

/// Whether this processor can run this build: it was compiled for all of its architecture.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
pub fn is_able() -> bool {
    true
}

/// SSE3, SSSE3, FMA, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE (the system keeps the wide registers), AVX, F16C.
#[cfg(any(test, all(target_arch = "x86_64", target_feature = "avx2")))]
const LEAF_1_ECX: u32 = 1 << 0 | 1 << 9 | 1 << 12 | 1 << 19 | 1 << 20 | 1 << 22 | 1 << 23 | 1 << 27 | 1 << 28 | 1 << 29;
/// BMI1, AVX2, BMI2.
#[cfg(any(test, all(target_arch = "x86_64", target_feature = "avx2")))]
const LEAF_7_EBX: u32 = 1 << 3 | 1 << 5 | 1 << 8;
/// LZCNT.
#[cfg(any(test, all(target_arch = "x86_64", target_feature = "avx2")))]
const EXTENDED_ECX: u32 = 1 << 5;

#[cfg(any(test, all(target_arch = "x86_64", target_feature = "avx2")))]
fn has(register: u32, bits: u32) -> bool {
    register & bits == bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        for bits in [LEAF_1_ECX, LEAF_7_EBX, EXTENDED_ECX] {
            assert!(has(bits, bits) && has(u32::MAX, bits) && !has(bits & (bits - 1), bits));
        }
        assert!(is_able(), "the tests run here");
    }
}
