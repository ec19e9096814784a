//! MPI by its standard ABI, loaded at run time.
//!
//! Names, argument types, handles and numbers are those of `mpi_abi.h` (MPI: A Message-Passing Interface
//! Standard, version 5.0, chapter 20): one library in place of another without a compilation.

use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;

use super::Transport;

/// `MPI_Comm`, `MPI_Datatype`, `MPI_Op`, `MPI_Request`: pointers, of which the predefined ones are small
/// numbers.
type Handle = *mut c_void;
/// `MPI_Count`.
type Count = i64;

const COMM_WORLD: usize = 0x101;
const REQUEST_NULL: usize = 0x180;
const TYPE_BYTE: usize = 0x247;
const TYPE_UINT64: usize = 0x259;
const OP_MAX: usize = 0x23;
/// The thread that starts MPI makes all calls.
const THREAD_FUNNELED: c_int = 1024;
const TAG: c_int = 7;
const MAX_ERROR_STRING: usize = 512;

fn handle(number: usize) -> Handle {
    std::ptr::without_provenance_mut(number)
}

type Flag = unsafe extern "C" fn(*mut c_int) -> c_int;

/// The functions that are used.
struct Api {
    initialized: Flag,
    finalized: Flag,
    abi_version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    init_thread: unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int,
    rank: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    size: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    isend: unsafe extern "C" fn(*const c_void, Count, Handle, c_int, c_int, Handle, *mut Handle) -> c_int,
    irecv: unsafe extern "C" fn(*mut c_void, Count, Handle, c_int, c_int, Handle, *mut Handle) -> c_int,
    wait: unsafe extern "C" fn(*mut Handle, *mut c_void) -> c_int,
    broadcast: unsafe extern "C" fn(*mut c_void, Count, Handle, c_int, Handle) -> c_int,
    reduce: unsafe extern "C" fn(*const c_void, *mut c_void, c_int, Handle, Handle, Handle) -> c_int,
    error_string: unsafe extern "C" fn(c_int, *mut c_char, *mut c_int) -> c_int,
    abort: unsafe extern "C" fn(Handle, c_int) -> c_int,
    finalize: unsafe extern "C" fn() -> c_int,
    /// Never unloaded: it has threads and handlers of its own.
    _library: std::mem::ManuallyDrop<Library>,
}

impl Api {
    fn load(path: Option<&Path>) -> Result<Api, String> {
        let name = path.map_or(OsString::from("libmpi_abi.so.1"), |path| path.as_os_str().to_owned());
        // SAFETY: the initialisers of an MPI library.
        let library = unsafe { Library::new(&name) }.map_err(|error| error.to_string())?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the standard's function of this name has this type.
                *unsafe { library.get(concat!($name, "\0").as_bytes()) }.map_err(|error| error.to_string())?
            };
        }
        Ok(Api {
            initialized: function!("MPI_Initialized"),
            finalized: function!("MPI_Finalized"),
            abi_version: function!("MPI_Abi_get_version"),
            init_thread: function!("MPI_Init_thread"),
            rank: function!("MPI_Comm_rank"),
            size: function!("MPI_Comm_size"),
            isend: function!("MPI_Isend_c"),
            irecv: function!("MPI_Irecv_c"),
            wait: function!("MPI_Wait"),
            broadcast: function!("MPI_Bcast_c"),
            reduce: function!("MPI_Allreduce"),
            error_string: function!("MPI_Error_string"),
            abort: function!("MPI_Abort"),
            finalize: function!("MPI_Finalize"),
            _library: std::mem::ManuallyDrop::new(library),
        })
    }

    fn check(&self, call: &str, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        let (mut text, mut length) = ([0 as c_char; MAX_ERROR_STRING], 0);
        // SAFETY: a buffer of the size that the standard asks for.
        let failed = unsafe { (self.error_string)(code, text.as_mut_ptr(), &mut length) };
        text[MAX_ERROR_STRING - 1] = 0;
        let text = match failed {
            // SAFETY: ends with a zero byte.
            0 => unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned(),
            _ => format!("error {code}"),
        };
        Err(format!("{call}: {text}"))
    }
}

/// All ranks of `MPI_COMM_WORLD`.
pub struct Mpi {
    api: Api,
    rank: usize,
    ranks: usize,
}

impl Mpi {
    /// Loads and starts MPI. `None`: somebody else has, who is left alone.
    pub fn start(path: Option<&Path>) -> Result<Option<Mpi>, String> {
        let api = Api::load(path)?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: out-pointers to local variables; may be called at any time.
        api.check("MPI_Abi_get_version", unsafe { (api.abi_version)(&mut major, &mut minor) })?;
        if major != 1 {
            return Err("the library does not have MPI's standard ABI (libmpi_abi.so.1)".into());
        }
        let (mut begun, mut over) = (0, 0);
        // SAFETY: as above.
        let asked = unsafe { (api.initialized)(&mut begun) | (api.finalized)(&mut over) };
        api.check("MPI_Initialized", asked)?;
        if begun != 0 || over != 0 {
            return Ok(None);
        }
        let (mut provided, mut rank, mut ranks) = (0, 0, 0);
        let (none, no_words) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the arguments may be left out; MPI was not started yet.
        let started = unsafe { (api.init_thread)(none, no_words, THREAD_FUNNELED, &mut provided) };
        api.check("MPI_Init_thread", started)?;
        // SAFETY: out-pointers to local variables.
        let asked = unsafe { (api.rank)(handle(COMM_WORLD), &mut rank) };
        api.check("MPI_Comm_rank", asked)?;
        // SAFETY: as above.
        let asked = unsafe { (api.size)(handle(COMM_WORLD), &mut ranks) };
        api.check("MPI_Comm_size", asked)?;
        let (rank, ranks) = (usize::try_from(rank), usize::try_from(ranks));
        match (rank, ranks) {
            (Ok(rank), Ok(ranks)) if rank < ranks => Ok(Some(Mpi { api, rank, ranks })),
            _ => Err("ranks that make no sense".into()),
        }
    }

    fn wait(&self, requests: &mut [Handle]) -> Result<(), String> {
        requests.iter_mut().try_for_each(|request| {
            // SAFETY: a request of this library; no status is asked for.
            self.api.check("MPI_Wait", unsafe { (self.api.wait)(request, std::ptr::null_mut()) })
        })
    }
}

// SAFETY: one thread uses it (`super::active`), which is the one that started MPI; the handles are numbers.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn largest(&self, values: &mut [u64]) -> Result<(), String> {
        let own = values.to_vec();
        let count = c_int::try_from(own.len()).map_err(|error| error.to_string())?;
        let (kind, op) = (handle(TYPE_UINT64), handle(OP_MAX));
        let (from, to) = (own.as_ptr().cast(), values.as_mut_ptr().cast());
        // SAFETY: two buffers of so many words.
        let done = unsafe { (self.api.reduce)(from, to, count, kind, op, handle(COMM_WORLD)) };
        self.api.check("MPI_Allreduce", done)
    }

    fn exchange(&self, sent: &[(usize, &[u8])], received: &mut [(usize, &mut [u8])]) -> Result<(), String> {
        let (kind, world) = (handle(TYPE_BYTE), handle(COMM_WORLD));
        // An early return leaves requests on memory of the caller: it is the end of the job.
        let mut requests = Vec::with_capacity(sent.len() + received.len());
        for (from, bytes) in received {
            let mut request = handle(REQUEST_NULL);
            let (to, count) = (bytes.as_mut_ptr().cast(), bytes.len() as Count);
            // SAFETY: a buffer of so many bytes, which is left alone until the wait.
            let done = unsafe { (self.api.irecv)(to, count, kind, *from as c_int, TAG, world, &mut request) };
            self.api.check("MPI_Irecv", done)?;
            requests.push(request);
        }
        for (to, bytes) in sent {
            let mut request = handle(REQUEST_NULL);
            let (from, count) = (bytes.as_ptr().cast(), bytes.len() as Count);
            // SAFETY: as above.
            let done = unsafe { (self.api.isend)(from, count, kind, *to as c_int, TAG, world, &mut request) };
            self.api.check("MPI_Isend", done)?;
            requests.push(request);
        }
        self.wait(&mut requests)
    }

    fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), String> {
        let (start, count) = (bytes.as_mut_ptr().cast(), bytes.len() as Count);
        let world = handle(COMM_WORLD);
        // SAFETY: a buffer of so many bytes.
        let done = unsafe { (self.api.broadcast)(start, count, handle(TYPE_BYTE), from as c_int, world) };
        self.api.check("MPI_Bcast", done)
    }

    fn leave(&self) {
        // SAFETY: started here, and ended once.
        unsafe { (self.api.finalize)() };
    }

    fn end(&self, _text: &str) -> ! {
        // SAFETY: MPI was started.
        unsafe { (self.api.abort)(handle(COMM_WORLD), 1) };
        std::process::abort()
    }
}
