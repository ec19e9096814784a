//! Ranges in NVIDIA's tools: what ran, of which loop nest, where in the source.
//!
//! Problem: Nsight shows copies and kernels with made-up names, and nothing tells which loop of the program
//! they belong to. NVTX is the tools' interface for that: a tool names a library in `NVTX_INJECTION64_PATH`,
//! whoever has ranges to show loads it and calls `InitializeInjectionNvtx2`, and the tool stores its
//! functions where a table tells it to (NVTX 3, `nvtxTypes.h`: NvtxExportTableCallbacks, NvtxFunctionTable).
//! Nothing of NVIDIA's has to be installed to compile or to run without a tool.
//!
//! Invariants:
//!
//! * without the variable nothing is loaded, and a range costs one load and a test;
//! * a tool that can't be loaded, refuses, or lacks a function is no tool: the program runs as without it;
//! * ranges of a thread are closed in the reverse order of their opening, on that thread.
//!
//! Example: an execution of the loop nest at `gemm.c:85` in domain `pollyrs`: `kernel_gemm#0 (gemm.c:85)`
//! from begin to end, in it `to the device` and `to the host`.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

/// Functions of a module, the number 0, which is none, counted in; both modules have as many.
const FUNCTIONS: usize = 16;
/// `NVTX_CB_MODULE_CORE`: functions without a domain. Tools want to find it; none of it is used.
const MODULE_CORE: c_int = 1;
/// `NVTX_CB_MODULE_CORE2`: functions of domains, and some of their numbers.
const MODULE_DOMAINS: c_int = 5;
const DOMAIN_RANGE_PUSH: usize = 4;
const DOMAIN_RANGE_POP: usize = 5;
const DOMAIN_CREATE: usize = 12;
/// `NVTX_ETID_CALLBACKS`, `NVTX_ETID_VERSIONINFO`.
const EXPORT_CALLBACKS: u32 = 1;
const EXPORT_VERSION: u32 = 3;
/// `NVTX_VERSION`.
const VERSION: u16 = 3;
/// `NVTX_MESSAGE_TYPE_ASCII`.
const MESSAGE_ASCII: c_int = 1;

/// Where a tool stores its functions.
type Functions = [AtomicPtr<c_void>; FUNCTIONS];
static CORE: Functions = [const { AtomicPtr::new(std::ptr::null_mut()) }; FUNCTIONS];
static DOMAINS: Functions = [const { AtomicPtr::new(std::ptr::null_mut()) }; FUNCTIONS];

/// The addresses of a module's functions, by number; nothing at both ends.
#[repr(transparent)]
struct Places([*const AtomicPtr<c_void>; FUNCTIONS + 1]);

// SAFETY: addresses of statics that are accessed atomically.
unsafe impl Sync for Places {}

impl Places {
    const fn of(functions: &'static Functions) -> Places {
        let mut places = [std::ptr::null(); FUNCTIONS + 1];
        let mut number = 1;
        while number < FUNCTIONS {
            places[number] = &raw const functions[number];
            number += 1;
        }
        Places(places)
    }
}

static CORE_PLACES: Places = Places::of(&CORE);
static DOMAIN_PLACES: Places = Places::of(&DOMAINS);

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    table: unsafe extern "C" fn(c_int, *mut *const Places, *mut c_uint) -> c_int,
}

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct VersionInfo {
    bytes: usize,
    version: u32,
    reserved: u32,
    set_version_of_tool: extern "C" fn(u32),
}

static CALLBACKS: Callbacks = Callbacks { bytes: size_of::<Callbacks>(), table: module_table };
static VERSION_INFO: VersionInfo = VersionInfo {
    bytes: size_of::<VersionInfo>(),
    version: VERSION as u32,
    reserved: 0,
    set_version_of_tool: ignore_version,
};

extern "C" fn ignore_version(_: u32) {}

/// # Safety
/// The pointers are NULL or writable.
unsafe extern "C" fn module_table(module: c_int, table: *mut *const Places, size: *mut c_uint) -> c_int {
    let places = match module {
        MODULE_CORE => &CORE_PLACES,
        MODULE_DOMAINS => &DOMAIN_PLACES,
        _ => return 0,
    };
    // SAFETY: the caller's promise.
    unsafe {
        if !table.is_null() {
            *table = places;
        }
        if !size.is_null() {
            *size = FUNCTIONS as c_uint;
        }
    }
    1
}

/// `NvtxGetExportTableFunc_t`.
extern "C" fn export_table(table: u32) -> *const c_void {
    match table {
        EXPORT_CALLBACKS => (&raw const CALLBACKS).cast(),
        EXPORT_VERSION => (&raw const VERSION_INFO).cast(),
        _ => std::ptr::null(),
    }
}

/// `nvtxEventAttributes_v2`.
#[repr(C)]
struct Attributes {
    version: u16,
    bytes: u16,
    category: u32,
    colour_type: c_int,
    colour: u32,
    payload_type: c_int,
    reserved: c_int,
    payload: u64,
    message_type: c_int,
    message: *const c_char,
}

const _: () = assert!(size_of::<Attributes>() == 48 && size_of::<VersionInfo>() == 24);

/// Opens a domain's range, closes the one opened last, makes a domain.
type Push = unsafe extern "C" fn(*mut c_void, *const Attributes) -> c_int;
type Pop = unsafe extern "C" fn(*mut c_void) -> c_int;
type Create = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// A tool that listens.
struct Tool {
    domain: *mut c_void,
    push: Push,
    pop: Pop,
}

// SAFETY: the tool's functions may be called on any thread, with its handle of the domain.
unsafe impl Send for Tool {}
// SAFETY: as above.
unsafe impl Sync for Tool {}

impl Tool {
    fn attach() -> Option<Tool> {
        let path = std::env::var_os("NVTX_INJECTION64_PATH").filter(|path| !path.is_empty())?;
        // SAFETY: loading the tool is what its user asked for.
        let library = unsafe { Library::new(path) }.ok()?;
        type Initialize = unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int;
        // SAFETY: the function that the interface prescribes.
        let attached = unsafe {
            library.get::<Initialize>(c"InitializeInjectionNvtx2".to_bytes_with_nul()).ok()?(export_table)
        };
        if attached == 0 {
            return None;
        }
        // Its functions stay in use.
        std::mem::forget(library);
        let function = |number: usize| {
            let function = DOMAINS[number].load(Ordering::Acquire);
            (!function.is_null()).then_some(function)
        };
        let (push, pop) = (function(DOMAIN_RANGE_PUSH)?, function(DOMAIN_RANGE_POP)?);
        let create = function(DOMAIN_CREATE);
        // SAFETY: functions of the numbers' types; without domains the ranges are in the default one.
        unsafe {
            let create = create.map(|create| std::mem::transmute::<*mut c_void, Create>(create));
            Some(Tool {
                domain: create.map_or(std::ptr::null_mut(), |create| create(c"pollyrs".as_ptr())),
                push: std::mem::transmute::<*mut c_void, Push>(push),
                pop: std::mem::transmute::<*mut c_void, Pop>(pop),
            })
        }
    }

    fn of_this_process() -> Option<&'static Tool> {
        static TOOL: OnceLock<Option<Tool>> = OnceLock::new();
        TOOL.get_or_init(Tool::attach).as_ref()
    }
}

/// Whether a tool listens.
pub fn is_watched() -> bool {
    Tool::of_this_process().is_some()
}

/// A range that is open until it is dropped, on the same thread.
pub struct Range {
    tool: &'static Tool,
    of_this_thread: PhantomData<*const ()>,
}

impl Range {
    /// A range with this text, if a tool listens.
    pub fn open(text: impl FnOnce() -> String) -> Option<Range> {
        let tool = Tool::of_this_process()?;
        let text = CString::new(text()).unwrap_or_default();
        let attributes = Attributes {
            version: VERSION,
            bytes: size_of::<Attributes>() as u16,
            category: 0,
            colour_type: 0,
            colour: 0,
            payload_type: 0,
            reserved: 0,
            payload: 0,
            message_type: MESSAGE_ASCII,
            message: text.as_ptr(),
        };
        // SAFETY: the tool copies the text.
        unsafe { (tool.push)(tool.domain, &attributes) };
        Some(Range { tool, of_this_thread: PhantomData })
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the range was opened on this thread, later ones are closed.
        unsafe { (self.tool.pop)(self.tool.domain) };
    }
}
