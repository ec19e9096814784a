//! Whether the driver may be called where the thread is.
//!
//! Problem: threads and coroutines may have stacks of a few pages, which the program's loops get along with,
//! but not the driver. Approach: a thread's bounds are asked for once; where less than [`ROOM`] is left, or
//! the stack is none of the thread's own (a coroutine's, a signal handler's), nobody knows its end, or it is
//! near, and the original loop runs.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

/// Bytes that must be left. On an H200 with driver 580, a first execution overflows stacks of 32 KiB, and
/// gets along with 48; a driver that compiles PTX on the way may need more.
const ROOM: usize = 128 << 10;

/// `pthread_attr_t` of Linux's C libraries: at most 64 bytes.
#[repr(C, align(16))]
struct Attributes([u8; 128]);

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn pthread_getattr_np(thread: usize, attributes: *mut Attributes) -> c_int;
    fn pthread_attr_getstack(
        attributes: *const Attributes,
        low: *mut *mut c_void,
        bytes: *mut usize,
    ) -> c_int;
    fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
}

thread_local!(static BOUNDS: Cell<Option<(usize, usize)>> = const { Cell::new(None) });

/// The first byte of the thread's stack and the one behind the last.
fn bounds() -> Option<(usize, usize)> {
    let mut attributes = Attributes([0; 128]);
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the calling thread, and room for what the C library writes; destroyed where it was made.
    unsafe {
        if pthread_getattr_np(pthread_self(), &mut attributes) != 0 {
            return None;
        }
        let known = pthread_attr_getstack(&attributes, &mut low, &mut bytes) == 0;
        pthread_attr_destroy(&mut attributes);
        known.then(|| (low.addr(), low.addr() + bytes))
    }
}

/// Whether there is room for calls of the driver. Where the system can't say how large the stack is, it is
/// taken to be large.
pub fn has_room() -> bool {
    let here = std::hint::black_box(0u8);
    let known = BOUNDS.try_with(|known| {
        if known.get().is_none() {
            known.set(Some(bounds().unwrap_or((0, usize::MAX))));
        }
        known.get()
    });
    let (low, high) = known.ok().flatten().unwrap_or((0, usize::MAX));
    (low.saturating_add(ROOM)..high).contains(&std::ptr::from_ref(&here).addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_stacks_have_no_room() {
        for (kib, expected) in [(32, false), (120, false), (256, true), (2048, true)] {
            let thread = std::thread::Builder::new().stack_size(kib << 10);
            assert_eq!(thread.spawn(has_room).unwrap().join().unwrap(), expected, "{kib} KiB");
        }
        // Deep down there is none left.
        fn descend(left: usize) -> bool {
            let frame = std::hint::black_box([0u8; 4096]);
            let below = if left == 0 { has_room() } else { descend(left - 1) };
            std::hint::black_box(&frame);
            below
        }
        for (frames, expected) in [(1, true), (40, false)] {
            let thread = std::thread::Builder::new().stack_size(256 << 10);
            assert_eq!(
                thread.spawn(move || descend(frames)).unwrap().join().unwrap(),
                expected,
                "{frames} frames"
            );
        }
    }

    #[test]
    fn a_stack_of_the_programs_own_counts_as_small() {
        BOUNDS.with(|known| known.set(Some((4096, 8192))));
        assert!(!has_room());
        BOUNDS.with(|known| known.set(None));
        assert!(has_room());
    }
}
