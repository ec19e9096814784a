//! Pinned memory of the library's own, on large pages where the system has them.
//!
//! Problem: threads that copy through buffers on pages of 4 KiB wait for page tables, most of all in a
//! virtual machine: eight of them fill what `cuMemHostAlloc` gives with 76 GB/s, and 95 GB/s where the
//! buffers lie on pages of 2 MiB (`bench/notes/019-transfers.md`). Invariants:
//!
//! * the memory is a mapping that a forked child does not get: otherwise the first store after a `fork` would
//!   move the page, and the device would go on with the former one;
//! * where the system or the driver refuses any of that, the driver's own pinned memory serves.

use std::ffi::{c_int, c_long, c_void};

use crate::base::error::Result;
use crate::driver::Api;

const LARGE_PAGE: usize = 2 << 20;
const DONTFORK: c_int = 10;
const HUGEPAGE: c_int = 14;

unsafe extern "C" {
    fn mmap(
        at: *mut c_void,
        n: usize,
        access: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, n: usize) -> c_int;
    fn madvise(at: *mut c_void, n: usize, advice: c_int) -> c_int;
}

/// Addresses of the process.
struct Mapping {
    start: *mut c_void,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> Option<Mapping> {
        const READ_WRITE: c_int = 1 | 2;
        const PRIVATE_ANONYMOUS: c_int = 0x2 | 0x20;
        // SAFETY: new memory, wherever there is room.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0) };
        (start as isize != -1).then_some(Mapping { start, bytes })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nothing refers to it.
        unsafe { munmap(self.start, self.bytes) };
    }
}

/// Pinned memory. It stays when this is dropped: the device may be using it.
pub struct Pinned {
    pub start: *mut u8,
    /// None: the driver's.
    mapping: Option<Mapping>,
}

impl Pinned {
    /// Memory of `bytes`; the device's context is current.
    pub fn new(api: &Api, bytes: usize) -> Result<Pinned> {
        if let Some(pinned) = on_large_pages(api, bytes) {
            return Ok(pinned);
        }
        let mut memory = std::ptr::null_mut();
        api.host_allocate(&mut memory, bytes, 0)?;
        Ok(Pinned { start: memory.cast(), mapping: None })
    }

    /// Gives it back; the device's context is current.
    ///
    /// # Safety
    /// Nothing refers to the memory.
    pub unsafe fn free(mut self, api: &Api) {
        let mapping = self.mapping.take();
        // SAFETY: pinned by `new`; the caller's promise.
        let _ = unsafe {
            match &mapping {
                Some(_) => api.host_unregister(self.start.cast()),
                None => api.host_free(self.start.cast()),
            }
        };
        drop(mapping);
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        std::mem::forget(self.mapping.take());
    }
}

fn on_large_pages(api: &Api, bytes: usize) -> Option<Pinned> {
    let mapping = Mapping::new(bytes.checked_add(LARGE_PAGE)?)?;
    let start = mapping.start.wrapping_byte_add(mapping.start.align_offset(LARGE_PAGE));
    // SAFETY: inside of the mapping, which has room for the alignment. Without large pages it is as good as
    // the driver's.
    unsafe {
        madvise(start, bytes, HUGEPAGE);
        if madvise(start, bytes, DONTFORK) != 0 {
            return None;
        }
        api.host_register(start, bytes, 0).ok()?;
    }
    Some(Pinned { start: start.cast(), mapping: Some(mapping) })
}
