//! What calls of the library allocate where nothing runs on a device: functions with small loops make them
//! millions of times. Allocations are counted, not seconds, so that the result is the same everywhere.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use pollyrs_rt::abi::{ABI_VERSION, ALL, Array, REASON_RUNTIME, Scop};

/// Counts allocations by thread.
struct Counting;

thread_local!(static COUNT: Cell<u64> = const { Cell::new(0) });

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

unsafe extern "C" {
    fn pollyrs_rt_begin(scop: *const Scop, work: f64, arrays: *const Array, n: u32) -> *mut c_void;
    fn pollyrs_rt_begin_held(
        slot: *mut *mut c_void,
        scop: *const Scop,
        work: f64,
        arrays: *const Array,
        n: u32,
    ) -> *mut c_void;
    fn pollyrs_rt_host_begin(scop: *const Scop, reason: u32) -> *mut c_void;
    fn pollyrs_rt_host_end(host: *mut c_void);
    fn pollyrs_rt_release(slot: *mut *mut c_void, read: u32, write: u32);
    fn pollyrs_rt_access(
        slot: *mut *mut c_void,
        start: *const c_void,
        bytes: u64,
        step: i64,
        times: u64,
        write: u32,
    );
    fn pollyrs_rt_discard(slot: *mut *mut c_void, dead: u32);
    fn pollyrs_rt_holds(slot: *mut *mut c_void) -> i32;
    fn pollyrs_rt_leave(slot: *mut *mut c_void);
    fn pollyrs_rt_enter(slot: *mut *mut c_void, lender: *mut *mut c_void) -> *mut *mut c_void;
    fn pollyrs_rt_return(slot: *mut *mut c_void, n: u32, known: *const u32);
}

/// Allocations of a thousand calls, after one.
fn allocations(call: impl Fn()) -> u64 {
    call();
    let before = COUNT.get();
    (0..1000).for_each(|_| call());
    COUNT.get() - before
}

fn scop() -> &'static Scop {
    Box::leak(Box::new(Scop {
        abi_version: ABI_VERSION,
        flags: 0,
        name: c"small".as_ptr(),
        at: c"a.c:1".as_ptr(),
        n_kernels: 0,
        n_images: 0,
        kernels: null(),
        images: null(),
        n_reasons: 0,
        n_arrays: 0,
        reasons: null(),
        array_names: null(),
        cache: Box::leak(Box::new(0)),
    }))
}

/// What the code of a function with a hold does beside its runs.
///
/// # Safety
/// A slot of an activation.
unsafe fn touch(slot: *mut *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe {
        pollyrs_rt_release(slot, 1, 2);
        pollyrs_rt_access(slot, (&raw const slot).cast(), 8, 0, 0, 1);
        pollyrs_rt_discard(slot, 1);
        assert_eq!(pollyrs_rt_holds(slot), 0);
        pollyrs_rt_release(slot, ALL, ALL);
    }
}

#[test]
fn calls_that_have_nothing_to_do_allocate_nothing() {
    // SAFETY: no other thread of this program reads the environment.
    unsafe { std::env::set_var("POLLYRS_RT_OFFLOAD", "never") };
    let scop = scop();
    let refused = || {
        // SAFETY: as the header says.
        unsafe {
            assert!(pollyrs_rt_begin(scop, 10.0, null(), 0).is_null());
            pollyrs_rt_host_end(pollyrs_rt_host_begin(scop, REASON_RUNTIME));
        }
    };
    let plain = || {
        let mut slot = null_mut();
        // SAFETY: a slot of this activation.
        unsafe {
            touch(&raw mut slot);
            pollyrs_rt_leave(&raw mut slot);
        }
        assert!(slot.is_null());
    };
    let lent_by = |lender: *mut *mut c_void| {
        let mut slot = null_mut();
        // SAFETY: the lender's activation is under way.
        unsafe {
            assert_eq!(pollyrs_rt_enter(&raw mut slot, lender), &raw mut slot);
            touch(&raw mut slot);
            pollyrs_rt_return(&raw mut slot, 1, [1].as_ptr());
        }
        assert!(slot.is_null());
    };
    let nobody = Cell::new(null_mut());
    let somebody = Cell::new(null_mut());
    // SAFETY: a slot of this activation.
    unsafe { pollyrs_rt_begin_held(somebody.as_ptr(), scop, 10.0, null(), 0) };
    assert!(!somebody.get().is_null());
    assert_eq!(allocations(refused), 0, "a refused execution");
    assert_eq!(allocations(plain), 0, "an activation without runs");
    assert_eq!(allocations(|| lent_by(nobody.as_ptr())), 0, "one that nobody's hold is lent to");
    assert!(nobody.get().is_null());
    assert_eq!(allocations(|| lent_by(somebody.as_ptr())), 0, "one that a hold is lent to");
    // SAFETY: as above.
    unsafe { pollyrs_rt_leave(somebody.as_ptr()) };
    assert!(somebody.get().is_null());
}

#[test]
fn a_lent_hold_is_its_lenders() {
    // SAFETY: no other thread of this program reads the environment.
    unsafe { std::env::set_var("POLLYRS_RT_OFFLOAD", "never") };
    let scop = scop();
    // An activation that lends to a second one, which lends to a third; the last one asks for a run.
    let slots: [Cell<*mut c_void>; 3] = Default::default();
    let [first, second, third] = [&slots[0], &slots[1], &slots[2]].map(Cell::as_ptr);
    for leaves in [false, true] {
        // SAFETY: slots of activations under way.
        unsafe {
            pollyrs_rt_enter(second, first);
            assert!(slots[0].get().is_null());
            pollyrs_rt_enter(third, second);
            assert!(!slots[0].get().is_null() && !slots[1].get().is_null());
            pollyrs_rt_begin_held(third, scop, 10.0, null(), 0);
            touch(third);
            if leaves {
                pollyrs_rt_leave(third);
                assert!(slots[2].get().is_null());
            }
            pollyrs_rt_return(third, 1, [1].as_ptr());
            assert!(slots[2].get().is_null() && !slots[1].get().is_null());
            pollyrs_rt_return(second, 1, [1].as_ptr());
            assert!(slots[1].get().is_null() && !slots[0].get().is_null());
            // Lent once more, and left without a run: all of the hold comes back, and it stays the lender's.
            pollyrs_rt_enter(second, first);
            pollyrs_rt_leave(second);
            assert!(slots[1].get().is_null() && !slots[0].get().is_null());
            pollyrs_rt_leave(first);
        }
        assert!(slots[0].get().is_null());
    }
}
