//! The CUDA driver API, loaded at run time: the table of functions and nothing above it.
//!
//! Nothing here decides; every function returns the driver's error as data, with the driver's own words.
//! Names, argument types and numbers are those of `cuda.h` (CUDA 11 and later; the `_v2` symbols exist since
//! CUDA 3.2 or 4.0).

use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::Path;

use libloading::Library;

use crate::base::error::{Error, Result};

/// `CUcontext`, `CUmodule`, `CUfunction`, `CUstream`, `CUevent`, `CUgraph`, `CUgraphNode`, `CUgraphExec`:
/// opaque handles, usable from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Handle(pub *mut c_void);

// SAFETY: the driver's handles may be used from any thread at once (CUDA C Programming Guide, driver API).
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub const NULL: Handle = Handle(std::ptr::null_mut());
}

/// `CUdevice`.
pub type DeviceOrdinal = c_int;
/// `CUdeviceptr`.
pub type Address = u64;

pub const ERROR_OUT_OF_MEMORY: c_int = 2;
const ERROR_NOT_SUPPORTED: c_int = 801;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`.
pub const ATTRIBUTE_MAJOR: c_int = 75;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR`.
pub const ATTRIBUTE_MINOR: c_int = 76;
/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`.
pub const ATTRIBUTE_SHARED_BYTES: c_int = 97;
/// `CU_JIT_ERROR_LOG_BUFFER`.
pub const JIT_ERROR_LOG: c_uint = 5;
/// `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
pub const JIT_ERROR_LOG_BYTES: c_uint = 6;
/// `CU_STREAM_NON_BLOCKING`: no implicit order with the program's own work on the default stream.
pub const STREAM_NON_BLOCKING: c_uint = 1;

/// `CU_EVENT_DISABLE_TIMING`.
pub const EVENT_DISABLE_TIMING: c_uint = 2;

/// Errors after which the context is unusable for the rest of the process: illegal address, launch timeout,
/// destroyed context, assert and the other exceptions of a kernel (`cuda.h`: "the process must be terminated
/// and relaunched").
pub fn is_fatal(code: c_int) -> bool {
    matches!(code, 4 | 46 | 214 | 220 | 700 | 702 | 709 | 710 | 714..=720 | 999)
}

/// Errors of `cuModuleLoadDataEx` that trying again can't change: invalid image, no binary for this device,
/// invalid or unsupported PTX, no or a disabled compiler, unsupported features.
pub fn is_refusal(code: c_int) -> bool {
    matches!(code, 200 | 209 | 218 | 221 | 222 | 223 | 300 | 500 | 801)
}

/// `CUDA_KERNEL_NODE_PARAMS`; drivers before CUDA 12 read all but the last two.
#[repr(C)]
pub struct KernelNode {
    pub function: Handle,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub arguments: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kernel: Handle,
    pub context: Handle,
}

#[cfg(target_pointer_width = "64")]
const _: () =
    assert!(std::mem::size_of::<KernelNode>() == 72 && std::mem::offset_of!(KernelNode, arguments) == 40);

/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_DEVICE`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;

/// An end of a `CUDA_MEMCPY2D`.
#[repr(C)]
pub struct PlaneEnd {
    x: usize,
    y: usize,
    kind: c_uint,
    host: *mut c_void,
    device: Address,
    array: *mut c_void,
    pitch: usize,
}

impl PlaneEnd {
    pub fn host(host: *mut u8, pitch: u64) -> PlaneEnd {
        PlaneEnd { kind: HOST, host: host.cast(), ..PlaneEnd::device(0, pitch) }
    }

    pub fn device(device: Address, pitch: u64) -> PlaneEnd {
        let null = std::ptr::null_mut();
        PlaneEnd { x: 0, y: 0, kind: DEVICE, host: null, device, array: null, pitch: pitch as usize }
    }
}

/// `CUDA_MEMCPY2D`: `height` rows of `width` bytes.
#[repr(C)]
pub struct PlaneCopy {
    pub from: PlaneEnd,
    pub to: PlaneEnd,
    pub width: usize,
    pub height: usize,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(std::mem::size_of::<PlaneCopy>() == 128 && std::mem::offset_of!(PlaneCopy, to) == 56);

/// The table of functions: those of `numbers` take numbers, and references to what they set; any are safe to
/// pass. Of the others the caller promises what `cuda.h` says.
macro_rules! driver_api {
    (
        numbers { $($number:ident = $sign:literal ($($operand:ident: $of:ty),* $(,)?);)* }
        required { $($name:ident = $symbol:literal ($($argument:ident: $type:ty),* $(,)?);)* }
        optional {
            $($extra:ident = $latest:literal $(or $older:literal)? ($($parameter:ident: $kind:ty),* $(,)?);)*
        }
    ) => {
        /// The loaded functions; each method is one driver call.
        pub struct Api {
            $($number: unsafe extern "C" fn($($of),*) -> c_int,)*
            $($name: unsafe extern "C" fn($($type),*) -> c_int,)*
            $($extra: Option<unsafe extern "C" fn($($kind),*) -> c_int>,)*
            error_name: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int,
            error_string: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int,
            /// Keeps the functions alive.
            _library: Library,
        }

        impl Api {
            fn bind(library: Library) -> std::result::Result<Api, libloading::Error> {
                // SAFETY: the symbols have these types in every driver that exports them.
                unsafe {
                    Ok(Api {
                        $($number: *library.get(concat!($sign, "\0").as_bytes())?,)*
                        $($name: *library.get(concat!($symbol, "\0").as_bytes())?,)*
                        $($extra: [concat!($latest, "\0") $(, concat!($older, "\0"))?]
                            .iter()
                            .find_map(|symbol| library.get(symbol.as_bytes()).ok().map(|found| *found)),)*
                        error_name: *library.get(b"cuGetErrorName\0")?,
                        error_string: *library.get(b"cuGetErrorString\0")?,
                        _library: library,
                    })
                }
            }

            $(
                #[doc = concat!("`", $sign, "`.")]
                pub fn $number(&self, $($operand: $of),*) -> Result<()> {
                    // SAFETY: the driver checks numbers, and writes what the references stand for.
                    let code = unsafe { (self.$number)($($operand),*) };
                    self.check($sign, code)
                }
            )*

            $(
                #[doc = concat!("`", $symbol, "`.\n\n# Safety\nAs `cuda.h` says for its arguments.")]
                #[allow(clippy::too_many_arguments)]
                pub unsafe fn $name(&self, $($argument: $type),*) -> Result<()> {
                    // SAFETY: the caller's promise.
                    let code = unsafe { (self.$name)($($argument),*) };
                    self.check($symbol, code)
                }
            )*

            $(
                #[doc = concat!("`", $latest, "`, or an error where the driver has none.\n\n# Safety\nAs `cuda.h` says for its arguments.")]
                pub unsafe fn $extra(&self, $($parameter: $kind),*) -> Result<()> {
                    let Some(function) = self.$extra else { return Err(missing($latest)) };
                    // SAFETY: the caller's promise.
                    let code = unsafe { function($($parameter),*) };
                    self.check($latest, code)
                }
            )*
        }
    };
}

driver_api! {
    numbers {
        init = "cuInit" (flags: c_uint);
        driver_version = "cuDriverGetVersion" (version: &mut c_int);
        device_count = "cuDeviceGetCount" (count: &mut c_int);
        device_get = "cuDeviceGet" (device: &mut DeviceOrdinal, ordinal: c_int);
        device_attribute = "cuDeviceGetAttribute" (value: &mut c_int, attribute: c_int, device: DeviceOrdinal);
        device_memory = "cuDeviceTotalMem_v2" (bytes: &mut usize, device: DeviceOrdinal);
        primary_context_retain = "cuDevicePrimaryCtxRetain" (context: &mut Handle, device: DeviceOrdinal);
        context_current = "cuCtxGetCurrent" (context: &mut Handle);
        context_device = "cuCtxGetDevice" (device: &mut DeviceOrdinal);
        memory_allocate = "cuMemAlloc_v2" (address: &mut Address, bytes: usize);
        host_allocate = "cuMemHostAlloc" (memory: &mut *mut c_void, bytes: usize, flags: c_uint);
        stream_create = "cuStreamCreate" (stream: &mut Handle, flags: c_uint);
        event_create = "cuEventCreate" (event: &mut Handle, flags: c_uint);
    }
    required {
        device_name = "cuDeviceGetName" (name: *mut c_char, bytes: c_int, device: DeviceOrdinal);
        context_push = "cuCtxPushCurrent_v2" (context: Handle);
        context_pop = "cuCtxPopCurrent_v2" (context: *mut Handle);
        module_load = "cuModuleLoadDataEx" (
            module: *mut Handle,
            image: *const c_void,
            n_options: c_uint,
            options: *mut c_uint,
            values: *mut *mut c_void,
        );
        module_unload = "cuModuleUnload" (module: Handle);
        module_function = "cuModuleGetFunction" (function: *mut Handle, module: Handle, name: *const c_char);
        function_attribute = "cuFuncSetAttribute" (function: Handle, attribute: c_int, value: c_int);
        memory_free = "cuMemFree_v2" (address: Address);
        host_free = "cuMemFreeHost" (memory: *mut c_void);
        copy_to_device = "cuMemcpyHtoDAsync_v2" (to: Address, from: *const c_void, bytes: usize, stream: Handle);
        copy_to_host = "cuMemcpyDtoHAsync_v2" (to: *mut c_void, from: Address, bytes: usize, stream: Handle);
        copy_plane = "cuMemcpy2DAsync_v2" (copy: *const PlaneCopy, stream: Handle);
        copy_on_device = "cuMemcpyDtoDAsync_v2" (to: Address, from: Address, bytes: usize, stream: Handle);
        stream_synchronize = "cuStreamSynchronize" (stream: Handle);
        stream_wait_event = "cuStreamWaitEvent" (stream: Handle, event: Handle, flags: c_uint);
        launch = "cuLaunchKernel" (
            function: Handle,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: Handle,
            arguments: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
        event_record = "cuEventRecord" (event: Handle, stream: Handle);
        event_query = "cuEventQuery" (event: Handle);
        event_synchronize = "cuEventSynchronize" (event: Handle);
        event_elapsed = "cuEventElapsedTime" (milliseconds: *mut f32, start: Handle, end: Handle);
        event_destroy = "cuEventDestroy_v2" (event: Handle);
    }
    // The first two since CUDA 4.0, but of no use with one device; the others since CUDA 11.4, the next since
    // 12.0.
    optional {
        enable_peer_access = "cuCtxEnablePeerAccess" (context: Handle, flags: c_uint);
        copy_between = "cuMemcpyPeerAsync" (
            to: Address,
            to_context: Handle,
            from: Address,
            from_context: Handle,
            bytes: usize,
            stream: Handle,
        );
        context_id = "cuCtxGetId" (context: Handle, id: *mut c_ulonglong);
        memory_set = "cuMemsetD32Async" (to: Address, value: c_uint, words: usize, stream: Handle);
        host_register = "cuMemHostRegister_v2" (memory: *mut c_void, bytes: usize, flags: c_uint);
        host_unregister = "cuMemHostUnregister" (memory: *mut c_void);
        graph_create = "cuGraphCreate" (graph: *mut Handle, flags: c_uint);
        graph_add_kernel = "cuGraphAddKernelNode_v2" or "cuGraphAddKernelNode" (
            node: *mut Handle,
            graph: Handle,
            dependences: *const Handle,
            n_dependences: usize,
            kernel: *const KernelNode,
        );
        graph_instantiate = "cuGraphInstantiateWithFlags" (executable: *mut Handle, graph: Handle, flags: c_ulonglong);
        graph_set_kernel = "cuGraphExecKernelNodeSetParams_v2" or "cuGraphExecKernelNodeSetParams" (
            executable: Handle,
            node: Handle,
            kernel: *const KernelNode,
        );
        graph_launch = "cuGraphLaunch" (executable: Handle, stream: Handle);
        graph_destroy = "cuGraphDestroy" (graph: Handle);
    }
}

fn missing(call: &'static str) -> Error {
    Error::Driver {
        call,
        code: ERROR_NOT_SUPPORTED,
        name: "not in this driver".into(),
        detail: String::new(),
    }
}

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub const MAX_DYNAMIC_SHARED_BYTES: c_int = 8;

impl Api {
    /// Loads `path`, or the system's driver.
    pub fn load(path: Option<&Path>) -> Result<Api> {
        let candidates: Vec<OsString> = match path {
            Some(path) => vec![path.into()],
            // The last one is where the Windows Subsystem for Linux keeps it.
            None => {
                ["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"].map(OsString::from).to_vec()
            }
        };
        let mut first = None;
        for candidate in candidates {
            // SAFETY: loading the driver runs its initialisers, which is what the user installed it for.
            match unsafe { Library::new(&candidate) } {
                Ok(library) => {
                    return Api::bind(library).map_err(|error| {
                        Error::NoCuda(format!("the driver is too old or not a driver: {error}").into())
                    });
                }
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
        }
        let cause = first.map(|error| error.to_string()).unwrap_or_default();
        Err(Error::NoCuda(format!("no driver: {cause}").into()))
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let words = |function: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int| {
            let mut text = std::ptr::null();
            // SAFETY: the driver's function; it sets `text` to NULL or to a constant of the driver.
            unsafe {
                if function(code, &mut text) != 0 || text.is_null() {
                    return String::new();
                }
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        let mut name = words(self.error_name);
        if name.is_empty() {
            name = "unknown to the driver".into();
        }
        let text = words(self.error_string);
        let detail = if text.is_empty() { text } else { format!(": {text}") };
        Err(Error::Driver { call, code, name, detail })
    }
}
