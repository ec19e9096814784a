//! Whether the device is worth it: a thin estimate, taken at each execution where sizes are known.
//!
//! ```text
//! device = LATENCY + (bytes in + bytes out) / TRANSFER_RATE + work * DEVICE_INSTANCE
//! host   = work * HOST_INSTANCE
//! ```
//!
//! `work` counts statement instances. All constants are orders of magnitude on purpose: transfers dominate every close
//! decision, and `POLLYRS_RT_OFFLOAD=always` overrides. Starting the driver (some 0.2 s, once a process) is not counted.

use crate::abi::Array;

/// Seconds to allocate from the pool, launch a few kernels and wait (each launch with its wait takes about 10 µs).
const LATENCY: f64 = 30e-6;
/// Bytes a second between pageable host memory and the device: half of what PCIe 4.0 x16 gives pinned memory.
const TRANSFER_RATE: f64 = 10e9;
/// Seconds for a statement instance on the device: 24 bytes of traffic each at 1.2 TB/s.
const DEVICE_INSTANCE: f64 = 0.02e-9;
/// Seconds for a statement instance on one host core: a few vectorised operations, or one cache miss in ten.
const HOST_INSTANCE: f64 = 1e-9;

/// Estimated seconds on the device and on the host.
pub fn estimate(work: f64, arrays: &[Array]) -> (f64, f64) {
    // A negative or undefined estimate of the work says nothing in favour of the device.
    let work = if work > 0.0 { work } else { 0.0 };
    let moved: f64 = arrays
        .iter()
        .map(|array| {
            let to_device = if array.copied_in() { array.bytes } else { 0 };
            to_device as f64 + array.out_range().map_or(0.0, |(_, bytes)| bytes as f64)
        })
        .sum();
    (LATENCY + moved / TRANSFER_RATE + work * DEVICE_INSTANCE, work * HOST_INSTANCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{ARRAY_COPY_IN, ARRAY_COPY_OUT, ARRAY_SCRATCH};

    fn array(bytes: u64, flags: u32) -> Array {
        Array {
            start: std::ptr::null_mut(),
            bytes,
            bias: 0,
            out_offset: 0,
            out_bytes: bytes,
            flags,
            element_bytes: 8,
        }
    }

    #[test]
    fn decisions() {
        let both = ARRAY_COPY_IN | ARRAY_COPY_OUT;
        // (work, arrays, on the device?)
        let table: [(f64, Vec<Array>, bool); 7] = [
            (0.0, vec![], false),
            (f64::NAN, vec![], false),
            (-1e12, vec![], false),
            (1e4, vec![array(80_000, both)], false), // a small vector
            (1e9, vec![array(8_000_000, ARRAY_COPY_IN), array(8_000_000, both)], true), // matrix product, n = 1000
            (1e8, vec![array(800_000_000, both)], false), // one pass over a large vector
            (1e8, vec![array(800_000_000, ARRAY_SCRATCH)], true), // scratch isn't moved
        ];
        for (work, arrays, expected) in table {
            let (device, host) = estimate(work, &arrays);
            assert_eq!(device < host, expected, "work {work}: {device} {host}");
        }
    }
}
