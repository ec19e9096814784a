//! Which pages of the program's memory were written since they were last looked at.
//!
//! Problem: a device copy of an array is good until the program writes to the array, and a program compiled
//! without help writes anywhere, through the kernel (`read`) too; and it frees, moves and maps again. Write
//! protection with a signal handler is not an answer: the program may have a handler of its own, and a system
//! call that meets a protected page fails with `EFAULT` rather than raise a signal. The kernel's soft-dirty
//! bits are one for the whole process and cleared all at once. Comparing with a snapshot reads as much memory
//! as a transfer. Since Linux 6.7 userfaultfd has asynchronous write protection: the first write to a
//! protected page, whoever makes it, is let through by the kernel, which notes it; `PAGEMAP_SCAN` reports it.
//!
//! What counts as unwritten ([`Tracker::unwritten`]), and why that is sound:
//!
//! * the page lies in a mapping that is registered now. What was unmapped, moved or mapped anew is not;
//! * it is present, and protected since [`Tracker::protect`]: pages given back (`MADV_DONTNEED`) are absent,
//!   and come back unprotected;
//! * it is private memory: no other mapping reaches it.
//!
//! What escapes: a device that writes, without the kernel, into pages that the program had pinned for it
//! before they were protected (registered buffers of io_uring, RDMA, memory given to `cuMemHostRegister`).
//! That is why residency is an option.
//!
//! Costs for 128 MB in pages of 4 KiB: 0.3 ms to protect, 0.5 ms to ask, 1 ms to lift the protection, and a
//! fault of 1 to 6 µs for the first write to each page.

use std::ffi::{c_int, c_long, c_ulong};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

use crate::base::spans::{PAGE, Span};

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn ioctl(fd: c_int, request: c_ulong, ...) -> c_int;
}

// Numbers and layouts of linux/userfaultfd.h and linux/fs.h, on x86-64.
const SYS_USERFAULTFD: c_long = 323;
const O_CLOEXEC: c_int = 0o2000000;
const UFFD_USER_MODE_ONLY: c_int = 1;
const UFFDIO_API: c_ulong = 0xc018_aa3f;
const UFFDIO_REGISTER: c_ulong = 0xc020_aa00;
const UFFDIO_WRITEPROTECT: c_ulong = 0xc018_aa06;
const FEATURE_WP_UNPOPULATED: u64 = 1 << 13;
const FEATURE_WP_ASYNC: u64 = 1 << 15;
const REGISTER_MODE_WP: u64 = 2;
const PAGEMAP_SCAN: c_ulong = 0xc060_6610;
const PROCMAP_QUERY: c_ulong = 0xc068_6611;
const PAGE_IS_WPALLOWED: u64 = 1;
const PAGE_IS_WRITTEN: u64 = 2;
const PAGE_IS_FILE: u64 = 4;
const PAGE_IS_PRESENT: u64 = 8;
const SCAN_WP_MATCHING: u64 = 1;
const SCAN_CHECK_WPASYNC: u64 = 2;
const VMA_WRITABLE: u64 = 2;
const VMA_SHARED: u64 = 8;

/// `struct pm_scan_arg`.
#[derive(Default)]
#[repr(C)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// `struct procmap_query`.
#[derive(Default)]
#[repr(C)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    vma_start: u64,
    vma_end: u64,
    vma_flags: u64,
    vma_page_size: u64,
    vma_offset: u64,
    inode: u64,
    device: [u32; 2],
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

/// The kernel's watch on the program's writes.
pub struct Tracker {
    faults: File,
    pagemap: File,
    maps: File,
}

impl Tracker {
    /// None where the kernel can't.
    pub fn open() -> Option<Tracker> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return None;
        }
        // SAFETY: a system call without pointers; a descriptor that it gives is ours.
        let faults = unsafe {
            let fd = syscall(SYS_USERFAULTFD, O_CLOEXEC | UFFD_USER_MODE_ONLY);
            if fd < 0 {
                return None;
            }
            File::from_raw_fd(fd as c_int)
        };
        let mut api = [0xaa, FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED, 0u64];
        // SAFETY: `struct uffdio_api` is three 64-bit integers.
        if unsafe { ioctl(faults.as_raw_fd(), UFFDIO_API, api.as_mut_ptr()) } != 0 {
            return None;
        }
        let tracker = Tracker {
            faults,
            pagemap: File::open("/proc/self/pagemap").ok()?,
            maps: File::open("/proc/self/maps").ok()?,
        };
        // Whether all requests are known: on a variable of ours, without changing anything.
        let probe = 0u8;
        let address = &raw const probe as u64 / PAGE * PAGE;
        tracker.mapping(address)?;
        tracker.scan(&mut [Region::default()], (address, address + PAGE), 0, 0, PAGE_IS_PRESENT)?;
        Some(tracker)
    }

    /// The mapping around an address, if it is private, writable memory of ordinary pages.
    fn mapping(&self, address: u64) -> Option<Span> {
        let mut query = Query { size: size_of::<Query>() as u64, address, ..Query::default() };
        // SAFETY: the structure has the size that it says.
        let found = unsafe { ioctl(self.maps.as_raw_fd(), PROCMAP_QUERY, &raw mut query) } == 0;
        let usable = query.vma_flags & (VMA_WRITABLE | VMA_SHARED) == VMA_WRITABLE
            && query.inode == 0
            && query.vma_page_size == PAGE;
        (found && usable).then_some((query.vma_start, query.vma_end))
    }

    /// Prepares the mapping around a span for tracking. As a whole: a mapping in parts could not be moved by
    /// the program any more. False: the span can't be tracked, the current stack for one.
    pub fn register(&self, span: Span) -> bool {
        let local = 0u8;
        let stack = &raw const local as u64;
        let Some((start, end)) = self.mapping(span.0) else { return false };
        if span.1 > end || (start..end).contains(&stack) {
            return false;
        }
        let mut register = [start, end - start, REGISTER_MODE_WP, 0];
        // SAFETY: `struct uffdio_register` is four 64-bit integers. Registering changes nothing the program
        // sees.
        unsafe { ioctl(self.faults.as_raw_fd(), UFFDIO_REGISTER, register.as_mut_ptr()) == 0 }
    }

    /// From now on writes to these pages are noted; what was noted before is forgotten.
    pub fn protect(&self, pages: Span) -> bool {
        if pages.0 >= pages.1 {
            return true;
        }
        let flags = SCAN_WP_MATCHING | SCAN_CHECK_WPASYNC;
        self.scan(&mut [], pages, flags, 0, PAGE_IS_WRITTEN).is_some()
    }

    /// Lifts the protection: the pages count as written.
    pub fn unprotect(&self, pages: Span) -> bool {
        if pages.0 >= pages.1 {
            return true;
        }
        let mut request = [pages.0, pages.1 - pages.0, 0u64];
        // SAFETY: `struct uffdio_writeprotect` is three 64-bit integers.
        unsafe { ioctl(self.faults.as_raw_fd(), UFFDIO_WRITEPROTECT, request.as_mut_ptr()) == 0 }
    }

    /// The parts of these pages that nobody wrote since they were protected, ascending; where there are very
    /// many, the first.
    pub fn unwritten(&self, pages: Span) -> Vec<Span> {
        let mut regions = vec![Region::default(); if pages.0 < pages.1 { 256 } else { 0 }];
        let bad = PAGE_IS_WRITTEN | PAGE_IS_FILE;
        let good = PAGE_IS_WPALLOWED | PAGE_IS_PRESENT;
        let found =
            if regions.is_empty() { None } else { self.scan(&mut regions, pages, 0, bad, bad | good) };
        let mut spans: Vec<Span> = Vec::new();
        for region in regions.iter().take(found.unwrap_or(0)) {
            // Regions of different pages next to each other are one span.
            match spans.last_mut() {
                Some(last) if last.1 == region.start => last.1 = region.end,
                _ => spans.push((region.start, region.end)),
            }
        }
        spans
    }

    /// How many regions of `pages` have all categories of `mask`, those of `inverted` negated.
    fn scan(
        &self,
        regions: &mut [Region],
        pages: Span,
        flags: u64,
        inverted: u64,
        mask: u64,
    ) -> Option<usize> {
        let vec = if regions.is_empty() { 0 } else { regions.as_mut_ptr() as u64 };
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            flags,
            start: pages.0,
            end: pages.1,
            vec,
            vec_len: regions.len() as u64,
            category_inverted: inverted,
            category_mask: mask,
            // Constant for what matches, so that neighbours come as one region.
            return_mask: PAGE_IS_WPALLOWED,
            ..Scan::default()
        };
        // SAFETY: the structure has the size that it says, the table the length.
        let found = unsafe { ioctl(self.pagemap.as_raw_fd(), PAGEMAP_SCAN, &raw mut scan) };
        usize::try_from(found).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::spans::whole_pages;
    use std::ffi::c_void;

    unsafe extern "C" {
        fn mmap(
            at: *mut c_void,
            n: usize,
            protection: c_int,
            flags: c_int,
            fd: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn munmap(at: *mut c_void, n: usize) -> c_int;
        fn madvise(at: *mut c_void, n: usize, advice: c_int) -> c_int;
        fn mremap(at: *mut c_void, old: usize, new: usize, flags: c_int, ...) -> *mut c_void;
        fn read(fd: c_int, to: *mut c_void, n: usize) -> isize;
    }

    /// Private writable memory, filled; at `at` if that is not NULL.
    fn map(at: *mut c_void, pages: u64, flags: c_int) -> u64 {
        let fixed = if at.is_null() { 0 } else { 0x10 };
        // SAFETY: fresh memory, or memory of this test.
        unsafe {
            let start = mmap(at, (pages * PAGE) as usize, 3, 0x20 | fixed | flags, -1, 0);
            start.cast::<u8>().write_bytes(1, (pages * PAGE) as usize);
            start as u64
        }
    }

    #[test]
    fn every_way_to_write_is_noticed() {
        let Some(tracker) = Tracker::open() else { return };
        let start = map(std::ptr::null_mut(), 64, 2);
        let page = |n: u64| start + n * PAGE;
        let all = (start, page(64));
        assert_eq!(tracker.unwritten(all), [], "not registered");
        assert!(tracker.register(all));
        assert_eq!(tracker.unwritten(all), [], "never protected");
        assert!(tracker.protect(all));
        assert_eq!(tracker.unwritten(all), [all]);
        // SAFETY: memory of this test, in every call below.
        unsafe {
            // By the program, by a system call, with the same value.
            *((page(3) + 17) as *mut u8) = 1;
            let zero = File::open("/dev/zero").unwrap();
            assert_eq!(read(zero.as_raw_fd(), (page(7) + 4000) as *mut c_void, 200), 200);
            assert_eq!(tracker.unwritten(all), [(start, page(3)), (page(4), page(7)), (page(9), page(64))]);
            assert!(tracker.protect(all));
            assert_eq!(tracker.unwritten(all), [all]);
            // Given back, and read.
            madvise(page(10) as *mut c_void, PAGE as usize, 4);
            assert_eq!(tracker.unwritten(all), [(start, page(10)), (page(11), page(64))]);
            assert_eq!(*(page(10) as *const u8), 0);
            assert_eq!(tracker.unwritten(all), [(start, page(10)), (page(11), page(64))]);
            // Unmapped, then mapped again with the same contents.
            munmap(page(20) as *mut c_void, PAGE as usize);
            let rest = (page(11), page(64));
            assert_eq!(tracker.unwritten(rest), [(page(11), page(20)), (page(21), page(64))]);
            assert_eq!(map(page(20) as *mut c_void, 1, 2), page(20));
            assert_eq!(tracker.unwritten(rest), [(page(11), page(20)), (page(21), page(64))]);
            // Another page moves to its place.
            mremap(page(30) as *mut c_void, PAGE as usize, PAGE as usize, 3, page(20));
            let rest = (page(11), page(30));
            assert_eq!(tracker.unwritten(rest), [(page(11), page(20)), (page(21), page(30))]);
            // Protection lifted.
            assert!(tracker.unprotect((page(21), page(23))));
            assert_eq!(tracker.unwritten(rest), [(page(11), page(20)), (page(23), page(30))]);
            munmap(start as *mut c_void, (64 * PAGE) as usize);
        }
    }

    #[test]
    fn what_cannot_be_tracked() {
        let Some(tracker) = Tracker::open() else { return };
        let local = [0u8; 3 * PAGE as usize];
        let span = whole_pages((local.as_ptr() as u64, local.as_ptr() as u64 + local.len() as u64));
        assert!(!tracker.register(span), "the stack");
        let shared = map(std::ptr::null_mut(), 4, 1);
        assert!(!tracker.register((shared, shared + 4 * PAGE)), "shared memory");
        assert!(!tracker.register((PAGE, 2 * PAGE)), "nothing mapped");
    }
}
