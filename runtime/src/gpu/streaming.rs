//! Copies past the caches, into memory that a device reads soon.

/// Copies into memory that no core reads soon.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`].
pub unsafe fn copy_streaming(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64; `to` is aligned to 16 where it is streamed to, and all accesses are
    // inside of the ranges.
    unsafe {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        let head = to.align_offset(64).min(bytes);
        std::ptr::copy_nonoverlapping(from, to, head);
        // Spelt out: this is fast in builds that optimise little, too.
        let (mut source, mut place) = (from.add(head), to.add(head));
        let end = source.add((bytes - head) / 64 * 64);
        while source != end {
            let (a, b) = (_mm_loadu_si128(source.cast()), _mm_loadu_si128(source.add(16).cast()));
            let (c, d) = (_mm_loadu_si128(source.add(32).cast()), _mm_loadu_si128(source.add(48).cast()));
            _mm_stream_si128(place.cast(), a);
            _mm_stream_si128(place.add(16).cast(), b);
            _mm_stream_si128(place.add(32).cast(), c);
            _mm_stream_si128(place.add(48).cast(), d);
            (source, place) = (source.add(64), place.add(64));
        }
        let done = source.offset_from_unsigned(from);
        std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done);
        // Before the device is told.
        _mm_sfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streaming_copies_every_byte() {
        let from: Vec<u8> = (0..1000u32).map(|i| (i * 7 + i / 256) as u8).collect();
        for (skip, start, bytes) in [(0, 0, 1000), (1, 3, 0), (3, 1, 5), (5, 7, 63), (2, 60, 64), (9, 1, 900)]
        {
            let mut to = vec![0xee; 1100];
            // SAFETY: inside of both vectors.
            unsafe { copy_streaming(from.as_ptr().add(skip), to.as_mut_ptr().add(start), bytes) };
            assert_eq!(to[start..start + bytes], from[skip..skip + bytes]);
            assert!(to[..start].iter().chain(&to[start + bytes..]).all(|&byte| byte == 0xee));
        }
    }
}
