//! The C ABI of `include/pollyrs_rt.h`, mirrored, and the checked view of it that the rest of the library
//! works with.
//!
//! Problem: generated code hands over raw tables; nothing in them may be trusted to be consistent, since a
//! program may be linked to a library of another version. Invariants:
//!
//! * numbers are the header's own (`abi/`);
//! * the mirrors have exactly the header's layout (asserted below for 64-bit targets, and against a C
//!   compiler by the test `layout`);
//! * raw pointers of a descriptor are read in this module only; the accessors ([`Scop::kernels`] and the
//!   like) give slices;
//! * a descriptor is a constant of the user's program: it outlives every execution that refers to it, which
//!   is why the accessors may hand out `'static` data. (A shared object that is unloaded while one of its
//!   SCoPs runs is broken anyway.)

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicU64;

use pollyrs_abi::ROW_DIMS;

use crate::base::rows::Rows;
use crate::base::shape::Shape;
use crate::base::spans::Span;

pub use pollyrs_abi::{
    ABI_VERSION, ALL, ARRAY_CHANGED, ARRAY_COPY_IN, ARRAY_COPY_OUT, ARRAY_FAULT, ARRAY_GUARDED, ARRAY_HELD,
    ARRAY_MASK_SHIFT, ARRAY_OWN, ARRAY_ROWS, ARRAY_SCRATCH, GROUPED_PARTLY, GROUPED_UNSIGNED, IMAGE_CUBIN,
    IMAGE_EARLY_CUBIN, IMAGE_PTX, INSPECT_DISTINCT, INSPECT_FIRST, INSPECT_NUMBERS, INSPECT_UNSIGNED,
    KERNEL_CHECKED, KERNEL_GRAPH, KERNEL_HAS_BARRIER, KERNEL_LATE, KERNEL_PLAIN_BEFORE, KERNEL_PLAIN_SHIFT,
    REASON_RUNTIME, SCOP_APART,
};

/// What descriptors of a version refer to, as linkers are to see that a library is too old. Programs of
/// versions before 8 do not refer to any.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static pollyrs_rt_abi_8: u32 = 8;
/// The same of version 9.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static pollyrs_rt_abi_9: u32 = 9;
/// The same of version 10.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static pollyrs_rt_abi_10: u32 = 10;
/// The same of version 11.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static pollyrs_rt_abi_11: u32 = 11;
/// The same of version 12.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static pollyrs_rt_abi_12: u32 = 12;
/// The same of version 13.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static pollyrs_rt_abi_13: u32 = ABI_VERSION;
const _: () = assert!(ABI_VERSION == 13);
/// The oldest version whose descriptors it understands: version 2 added functions and flags.
pub const OLDEST_ABI_VERSION: u32 = 1;
/// `POLLYRS_ARRAY_WINDOW`.
pub const ARRAY_WINDOW: u32 = ARRAY_ROWS | ARRAY_CHANGED;
/// Where a fault's cell is.
pub const FAULT_ERANGE: usize = pollyrs_abi::FAULT_ERANGE as usize;
pub const FAULT_CHECK: usize = pollyrs_abi::FAULT_CHECK as usize;
pub const FAULT_NAN: usize = pollyrs_abi::FAULT_NAN as usize;
pub const FAULT_PERHAPS: usize = pollyrs_abi::FAULT_PERHAPS as usize;
/// Threads a block may have, on every device.
pub const MAX_BLOCK_THREADS: u64 = 1024;
/// Threads it may have along z.
pub const MAX_BLOCK_DEPTH: u32 = 64;

/// `PollyrsEmuThread`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct EmuThread {
    pub block: u64,
    /// x, y, z.
    pub thread: [u32; 3],
    pub reserved: u32,
    pub shared: *mut c_void,
    pub scheduler: *mut c_void,
}

/// `PollyrsEmuKernel`.
pub type EmuKernel = unsafe extern "C" fn(thread: *const EmuThread, args: *const *mut c_void);

/// `PollyrsKernel`.
#[derive(Debug)]
#[repr(C)]
pub struct Kernel {
    pub name: *const c_char,
    pub emulated: Option<EmuKernel>,
    pub flags: u32,
    pub shared_bytes: u32,
    pub block: [u32; 3],
    pub n_arrays: u32,
    pub array_index: *const u32,
    pub n_scalars: u32,
    pub dynamic_shared_bytes: u32,
}

/// `PollyrsImage`.
#[derive(Debug)]
#[repr(C)]
pub struct Image {
    pub kind: u32,
    pub arch: u32,
    pub data: *const c_void,
    pub bytes: u64,
}

/// `PollyrsScop`.
#[derive(Debug)]
#[repr(C)]
pub struct Scop {
    pub abi_version: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub at: *const c_char,
    pub n_kernels: u32,
    pub n_images: u32,
    pub kernels: *const Kernel,
    pub images: *const Image,
    pub n_reasons: u32,
    pub n_arrays: u32,
    pub reasons: *const *const c_char,
    pub array_names: *const *const c_char,
    pub cache: *mut u64,
}

/// `PollyrsArray`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Array {
    pub start: *mut c_void,
    pub bytes: u64,
    pub bias: i64,
    pub out_offset: u64,
    pub out_bytes: u64,
    pub flags: u32,
    pub element_bytes: u32,
    pub row_bytes: u64,
    pub row_count: [u64; ROW_DIMS],
    pub row_stride: [u64; ROW_DIMS],
}

/// `PollyrsPart`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PartRange {
    pub array: u64,
    pub touched: [u64; 2],
    pub written: [u64; 2],
}

// SAFETY: descriptors are constants of the program; what `cache` points to is only accessed atomically.
unsafe impl Sync for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Image {}
// SAFETY: as above.
unsafe impl Sync for Scop {}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use pollyrs_abi::{ARRAY_WORDS, PART_WORDS};
    use std::mem::{offset_of, size_of};
    assert!(size_of::<EmuThread>() == 40 && offset_of!(EmuThread, shared) == 24);
    assert!(size_of::<Kernel>() == 56 && offset_of!(Kernel, array_index) == 40);
    assert!(size_of::<Image>() == 24 && offset_of!(Image, data) == 8);
    assert!(size_of::<Scop>() == 80 && offset_of!(Scop, cache) == 72);
    assert!(size_of::<PartRange>() == 8 * PART_WORDS);
    assert!(size_of::<Array>() == 8 * ARRAY_WORDS && offset_of!(Array, row_stride) == 80);
};

/// The text at `pointer`, or "" for NULL.
///
/// # Safety
/// NULL, or NUL-terminated and alive for the rest of the program.
unsafe fn text(pointer: *const c_char) -> Cow<'static, str> {
    if pointer.is_null() {
        return Cow::Borrowed("");
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy()
}

/// `n` elements at `pointer`; none for NULL.
///
/// # Safety
/// NULL, or `n` initialised elements that live for the rest of the program.
unsafe fn table<T>(pointer: *const T, n: u32) -> &'static [T] {
    if pointer.is_null() || n == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(pointer, n as usize) }
}

impl Kernel {
    pub fn name(&self) -> Cow<'static, str> {
        // SAFETY: a text of the descriptor (module invariant).
        unsafe { text(self.name) }
    }

    /// The name as the driver takes it.
    pub fn c_name(&self) -> &'static CStr {
        if self.name.is_null() {
            return c"";
        }
        // SAFETY: a text of the descriptor (module invariant).
        unsafe { CStr::from_ptr(self.name) }
    }

    pub fn has_barrier(&self) -> bool {
        self.flags & KERNEL_HAS_BARRIER != 0
    }

    /// The emulated kernel calls the library at each access.
    pub fn checked(&self) -> bool {
        self.flags & KERNEL_CHECKED != 0
    }

    /// Blocks wait for each other.
    pub fn is_graph(&self) -> bool {
        self.flags & KERNEL_GRAPH != 0
    }

    /// An early image does not have it.
    pub fn is_late(&self) -> bool {
        self.flags & KERNEL_LATE != 0
    }

    /// Shared memory that a launch asks for, in bytes, where the image is for `arch`.
    pub fn dynamic_shared_bytes(&self, arch: u32) -> u32 {
        match self.flags >> KERNEL_PLAIN_SHIFT {
            plain @ 1.. if arch < KERNEL_PLAIN_BEFORE => plain.saturating_mul(1024),
            _ => self.dynamic_shared_bytes,
        }
    }

    pub fn block_threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// The SCoP's arrays whose addresses come first among the arguments.
    pub fn array_index(&self) -> &'static [u32] {
        // SAFETY: a table of the descriptor (module invariant).
        unsafe { table(self.array_index, self.n_arrays) }
    }
}

impl Scop {
    /// The descriptor can be read.
    pub fn understood(&self) -> bool {
        (OLDEST_ABI_VERSION..=ABI_VERSION).contains(&self.abi_version)
    }

    /// Whether no array that is written lies in another one's range, whatever the sizes.
    pub fn is_apart(&self) -> bool {
        self.flags & SCOP_APART != 0
    }

    pub fn name(&self) -> Cow<'static, str> {
        // SAFETY: a text of the descriptor (module invariant).
        unsafe { text(self.name) }
    }

    pub fn at(&self) -> Cow<'static, str> {
        // SAFETY: a text of the descriptor (module invariant).
        unsafe { text(self.at) }
    }

    pub fn kernels(&self) -> &'static [Kernel] {
        // SAFETY: a table of the descriptor (module invariant).
        unsafe { table(self.kernels, self.n_kernels) }
    }

    pub fn images(&self) -> &'static [Image] {
        // SAFETY: a table of the descriptor (module invariant).
        unsafe { table(self.images, self.n_images) }
    }

    /// Whether some kernels may be late.
    pub fn has_late(&self) -> bool {
        self.kernels().iter().any(Kernel::is_late)
    }

    pub fn reason(&self, index: u32) -> Option<Cow<'static, str>> {
        // SAFETY: a table of the descriptor (module invariant).
        let reasons = unsafe { table(self.reasons, self.n_reasons) };
        // SAFETY: a text of the descriptor (module invariant).
        reasons.get(index as usize).map(|&reason| unsafe { text(reason) })
    }

    /// The source name of an array, or its number.
    pub fn array_name(&self, index: usize) -> Cow<'static, str> {
        // SAFETY: a table of the descriptor (module invariant).
        let names = unsafe { table(self.array_names, self.n_arrays) };
        match names.get(index) {
            // SAFETY: a text of the descriptor (module invariant).
            Some(&name) if !name.is_null() => unsafe { text(name) },
            _ => Cow::Owned(format!("#{index}")),
        }
    }

    /// The library's slot, where there is one.
    pub fn cache(&self) -> Option<&'static AtomicU64> {
        if self.cache.is_null() || !self.cache.is_aligned() {
            return None;
        }
        // SAFETY: 8 writable aligned bytes of the program that only this library accesses, and always as an
        // atomic.
        Some(unsafe { AtomicU64::from_ptr(self.cache) })
    }
}

impl Array {
    /// Its addresses.
    pub fn span(&self) -> Span {
        (self.start as u64, self.start as u64 + self.bytes)
    }

    /// Whether it stands for memory of the program's.
    pub fn is_memory(&self) -> bool {
        self.flags & (ARRAY_SCRATCH | ARRAY_FAULT) == 0 && self.bytes > 0
    }

    /// Whether it is a cell of the calling code: memory with one address, that nobody else knows.
    pub fn is_own(&self) -> bool {
        self.flags & (ARRAY_HELD | ARRAY_OWN) == ARRAY_OWN
    }

    pub fn copied_in(&self) -> bool {
        self.flags & (ARRAY_COPY_IN | ARRAY_SCRATCH) == ARRAY_COPY_IN && self.bytes > 0
    }

    /// Whether parts of the range may not be readable.
    pub fn is_guarded(&self) -> bool {
        self.flags & ARRAY_GUARDED != 0
    }

    /// Whether a value other than zero, left by a kernel, makes the execution one that failed.
    pub fn is_fault(&self) -> bool {
        self.flags & ARRAY_FAULT != 0 && self.bytes > 0
    }

    /// The range to copy back, relative to `start`; None if nothing comes back.
    pub fn out_range(&self) -> Option<(u64, u64)> {
        let out = self.flags & (ARRAY_COPY_OUT | ARRAY_SCRATCH) == ARRAY_COPY_OUT && self.out_bytes > 0;
        out.then_some((self.out_offset, self.out_bytes))
    }

    /// May stay on the device until a release. (Where the range may have other objects in it, what is written
    /// does not stay; what is only read does by rules of its own: [`crate::residency::loose`].)
    pub fn held(&self) -> bool {
        let marked = self.flags & (ARRAY_HELD | ARRAY_SCRATCH) == ARRAY_HELD && self.bytes > 0;
        marked && (!self.is_guarded() || self.out_range().is_none())
    }

    /// Which of its function's objects it may belong to.
    pub fn mask(&self) -> u32 {
        self.flags >> ARRAY_MASK_SHIFT
    }

    /// Whether all of the range must have values where memory serves more than one execution: not every byte
    /// of what comes back is written.
    pub fn needs_values(&self) -> bool {
        self.copied_in() || self.out_range().is_some() && matches!(self.shape(), Shape::Rows(_))
    }

    /// The bytes of a plain copy that takes as long as the array's copy to the device.
    pub fn bytes_in(&self) -> u64 {
        self.window().map_or(self.bytes, |rows| rows.equivalent().min(self.bytes))
    }

    /// As [`Array::bytes_in`], for the results.
    pub fn bytes_out(&self) -> Option<u64> {
        let (_, bytes) = self.out_range()?;
        match self.shape() {
            Shape::Rows(rows) => Some(rows.equivalent().min(bytes)),
            _ => Some(bytes),
        }
    }

    fn rows(&self) -> Rows {
        Rows { bytes: self.row_bytes, count: self.row_count, stride: self.row_stride }
    }

    /// The rows of which nothing else of the range is touched, if there are such.
    pub fn window(&self) -> Option<Rows> {
        let window = self.flags & (ARRAY_WINDOW | ARRAY_SCRATCH | ARRAY_GUARDED | ARRAY_FAULT);
        (window == ARRAY_WINDOW && self.bytes > 0).then(|| self.rows())
    }

    /// Which bytes of the written range come back.
    pub fn shape(&self) -> Shape {
        if self.flags & ARRAY_ROWS != 0 {
            Shape::Rows(self.rows())
        } else if self.flags & ARRAY_CHANGED != 0 {
            Shape::Changed { element: u64::from(self.element_bytes) }
        } else {
            Shape::Dense
        }
    }

    /// Why this array can't be used, if it can't.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.flags & ARRAY_SCRATCH == 0 && self.bytes > 0 && self.start.is_null() {
            return Err("has bytes but no address");
        }
        if (self.start as u64).checked_add(self.bytes).is_none() || self.bytes > i64::MAX as u64 {
            return Err("does not fit the address space");
        }
        if let (Some(rows), None) = (self.window(), self.out_range())
            && let Some(problem) = Shape::Rows(rows).check(self.bytes)
        {
            return Err(problem);
        }
        match self.out_range() {
            Some((1.., _)) if self.window().is_some() => {
                Err("is written beside the rows that it consists of")
            }
            Some((offset, bytes)) if offset.checked_add(bytes).is_none_or(|end| end > self.bytes) => {
                Err("is written outside its range")
            }
            Some((_, bytes)) => self.shape().check(bytes).map_or(Ok(()), Err),
            None => Ok(()),
        }
    }
}
