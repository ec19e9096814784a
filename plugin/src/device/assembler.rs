//! Device code beside the search: LLVM's back end and `ptxas` work at the kernels of one SCoP while the next
//! ones are looked for, as many at once as there are processors.
//!
//! # Invariants
//! - The result does not depend on what runs at the same time.
//! - `ptxas` gets a limited amount of code of a module: the kernels of a file with hundreds of loop nests
//!   would take it minutes. What comes later is left to the driver, which compiles what runs, and keeps it.
//! - What was made before is taken from the cache, if there is one. The result does not depend on that.
//! - Kernels that differ in their names only (of templates, of a function that is inlined in several places)
//!   are made once in a module.
//! - No thread outlives the [`Assembling`] that stands for it: the plugin may be unloaded afterwards.

use crate::base::timing::Phase;
use crate::base::trace;
use crate::device::tools;
use pollyrs_cache::{Cache, Key};
use pollyrs_codegen_ptx as codegen;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use tracing::{debug, dispatcher};

/// LLVM's passes recurse; a compiler's main thread has 8 MiB.
const STACK: usize = 64 << 20;

/// Bytes of bitcode of a module that `ptxas` gets: about 20 seconds. A product of matrices has 160 KB.
const AHEAD: usize = 3 << 20;

/// Bytes of bitcode of expensive variants of a module that `ptxas` gets where they may as well be late: about
/// three seconds. The nest that goes beyond it is the last one. Late ones cost a program as much as it takes
/// to compile them, once it runs (`bench/notes/023-driver-compiled-code.md`).
const EXPENSIVE: usize = 512 << 10;

/// Starts jobs, and waits where too many run.
pub struct Assembler {
    free: Arc<(Mutex<usize>, Condvar)>,
    /// What is left of [`AHEAD`].
    ahead: Cell<usize>,
    /// What is left of [`EXPENSIVE`].
    expensive: Cell<usize>,
    /// What is made or under way, by all that it depends on but the names of kernels, with these.
    known: RefCell<BTreeMap<Vec<u8>, Named>>,
    store: Option<Arc<Store>>,
    /// `ptxas` ended with an error.
    failed: Arc<AtomicBool>,
}

/// A job, and the names of its kernels.
type Named = (Assembling, Vec<String>);

/// What was made before.
struct Store {
    cache: Cache,
    /// With all that PTX depends on beside the kernels.
    ptx: Key,
}

impl Store {
    fn new(cache: Cache) -> Option<Store> {
        let [plugin, llvm] = tools::makers()?;
        let ptx = Key::new("ptx").with(env!("CARGO_PKG_VERSION").as_bytes());
        let ptx = tools::back_end_options().fold(ptx, |key, option| key.with(option.as_encoded_bytes()));
        Some(Store { cache, ptx: ptx.with_file(&plugin).with_file(&llvm) })
    }
}

/// What is to be made of the kernels of a SCoP.
pub struct Job {
    /// PTX for each generation that has code of its own, by ascending architecture.
    pub texts: Vec<Text>,
    /// Or why there is none.
    pub cubin: Result<CubinJob, String>,
    /// The kernels that are not late, where others are.
    pub early: Option<Early>,
}

/// Machine code of some of the kernels.
pub struct Early {
    pub module: codegen::DeviceModule,
    pub ptxas: PathBuf,
    pub arch: u32,
}

/// Kernels for devices from an architecture on.
pub struct Text {
    /// 70 for `sm_70`.
    pub arch: u32,
    pub module: codegen::DeviceModule,
}

/// A cubin, for those who need not wait for the driver's compiler.
pub struct CubinJob {
    pub ptxas: PathBuf,
    pub arch: u32,
    /// Which of the job's texts it is made of.
    pub text: usize,
}

/// Device code of a SCoP.
#[derive(Clone)]
pub struct Code {
    /// The one that is loaded first in front.
    pub images: Vec<codegen::Image>,
    /// Why no cubin is among them.
    pub missing: Option<String>,
}

/// A job under way.
#[derive(Clone)]
pub struct Assembling(Arc<Shared>);

/// What those who wait for a job share.
struct Shared {
    thread: Mutex<Option<JoinHandle<Result<Code, codegen::CodegenError>>>>,
    done: OnceLock<Result<Code, codegen::CodegenError>>,
}

impl Assembler {
    pub fn new(cache: Option<Cache>) -> Assembler {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let free = Arc::new((Mutex::new(processors), Condvar::new()));
        Assembler {
            free,
            ahead: Cell::new(AHEAD),
            expensive: Cell::new(EXPENSIVE),
            known: RefCell::default(),
            store: cache.and_then(Store::new).map(Arc::new),
            failed: Arc::default(),
        }
    }

    /// Whether `ptxas` failed, which it need not do again, in a job that was waited for.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether these kernels, which are counted then, may be assembled ahead of time.
    pub fn admits(&self, module: &codegen::DeviceModule) -> bool {
        let left = self.ahead.get().checked_sub(module.size());
        self.ahead.set(left.unwrap_or(self.ahead.get()));
        left.is_some()
    }

    /// Whether `ptxas` may get more expensive variants.
    pub fn has_time(&self) -> bool {
        self.expensive.get() > 0
    }

    /// Counts bytes of kernels that it gets.
    pub fn spend(&self, bytes: usize) {
        self.expensive.set(self.expensive.get().saturating_sub(bytes));
    }

    /// What is made or under way of kernels that differ from these in their names only, and the names that
    /// they have.
    pub fn known(&self, texts: &[Text], early: Option<&Early>) -> Option<Named> {
        self.known.borrow().get(&alike(texts, early)).cloned()
    }

    /// Waits for a free processor. `names`: of the kernels.
    pub fn start(&self, job: Job, names: Vec<String>) -> Assembling {
        let key = alike(&job.texts, job.early.as_ref());
        let assembling = self.start_thread(job);
        self.known.borrow_mut().insert(key, (assembling.clone(), names));
        assembling
    }

    fn start_thread(&self, job: Job) -> Assembling {
        let (count, changed) = &*self.free;
        let mut free = count.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = changed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let place = Place(self.free.clone());
        let (store, failed) = (self.store.clone(), self.failed.clone());
        let (listener, function) = (trace::listener(), tracing::Span::current());
        let work = move || {
            let _place = place;
            dispatcher::with_default(&listener, || function.in_scope(|| run(&job, store.as_deref(), &failed)))
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).ok();
        Assembling(Arc::new(Shared { thread: Mutex::new(thread), done: OnceLock::new() }))
    }
}

/// A processor, until dropped.
struct Place(Arc<(Mutex<usize>, Condvar)>);

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.1.notify_one();
    }
}

fn run(job: &Job, store: Option<&Store>, failed: &AtomicBool) -> Result<Code, codegen::CodegenError> {
    let texts =
        Phase::Ptx.time(|| job.texts.iter().map(|t| ptx(&t.module, store)).collect::<Result<Vec<_>, _>>())?;
    let mut images = Vec::new();
    let assemble = |ptxas: &PathBuf, arch: u32, text: &[u8]| {
        let job = CubinJob { ptxas: ptxas.clone(), arch, text: 0 };
        let deep = deep(text).filter(|_| tools::release(ptxas) >= DEEP_PRODUCTS);
        let text = deep.as_deref().unwrap_or(text);
        let made = Phase::Ptxas.time(|| job.assemble(text, store));
        failed.fetch_or(made.is_err(), Ordering::Relaxed);
        made
    };
    if let Some(Early { module, ptxas, arch }) = &job.early {
        let text = Phase::Ptx.time(|| ptx(module, store))?;
        // Without it the driver compiles all kernels.
        if let Ok(data) = assemble(ptxas, *arch, &text) {
            images.push(codegen::Image { kind: codegen::ImageKind::EarlyCubin, arch: *arch, data });
        }
    }
    let missing = match &job.cubin {
        Ok(cubin) => {
            // A tool that fails is no reason to give up: the driver compiles the PTX.
            let kind = codegen::ImageKind::Cubin;
            assemble(&cubin.ptxas, cubin.arch, &texts[cubin.text])
                .map(|data| images.push(codegen::Image { kind, arch: cubin.arch, data }))
                .map_err(|e| e.to_string())
                .err()
        }
        Err(why) => Some(why.clone()),
    };
    for (text, data) in job.texts.iter().zip(texts).rev() {
        let data = deep(&data).unwrap_or(data);
        images.push(codegen::Image { kind: codegen::ImageKind::Ptx, arch: text.arch, data });
    }
    Ok(Code { images, missing })
}

/// The release of ptxas from which on products of doubles go deeper ([`codegen::with_deep_products`]); the
/// compilers of drivers are taken for such ones.
const DEEP_PRODUCTS: u32 = 13;

fn deep(text: &[u8]) -> Option<Vec<u8>> {
    codegen::with_deep_products(std::str::from_utf8(text).ok()?).map(String::into_bytes)
}

/// The text of kernels.
fn ptx(module: &codegen::DeviceModule, store: Option<&Store>) -> Result<Vec<u8>, codegen::CodegenError> {
    let key = |store: &Store| {
        let (kernels, how) = module.identity();
        store.ptx.clone().with(how.as_bytes()).with(kernels)
    };
    found_or_made("ptx", store, key, || module.ptx().map(String::into_bytes))
}

impl CubinJob {
    fn assemble(&self, ptx: &[u8], store: Option<&Store>) -> Result<Vec<u8>, codegen::CodegenError> {
        let key =
            |_: &Store| Key::new("cubin").with_file(&self.ptxas).with(&self.arch.to_le_bytes()).with(ptx);
        found_or_made("cubin", store, key, || codegen::assemble(ptx, &self.ptxas, self.arch))
    }
}

/// What was kept under a key, else what is made and kept.
fn found_or_made(
    what: &str,
    store: Option<&Store>,
    key: impl FnOnce(&Store) -> Key,
    make: impl FnOnce() -> Result<Vec<u8>, codegen::CodegenError>,
) -> Result<Vec<u8>, codegen::CodegenError> {
    let kept = store.map(|store| (&store.cache, key(store)));
    if let Some(found) = kept.as_ref().and_then(|(cache, key)| cache.get(key)) {
        debug!(what, bytes = found.len(), "found in the cache");
        return Ok(found);
    }
    let made = make()?;
    debug!(what, bytes = made.len(), "made");
    if let Some((cache, key)) = kept {
        cache.put(&key, &made);
    }
    Ok(made)
}

impl Assembling {
    /// The code, once it is done.
    ///
    /// # Errors
    /// Those of [`codegen::DeviceModule::ptx`]; [`codegen::CodegenError::Internal`] where there was no
    /// thread, or it panicked.
    pub fn wait(&self) -> Result<Code, codegen::CodegenError> {
        let failed = |what: &str| codegen::CodegenError::Internal(what.into());
        let done = self.0.done.get_or_init(|| {
            let thread = self.0.take().ok_or_else(|| failed("no thread for the device's code"))?;
            thread.join().map_err(|_| failed("the thread of the device's code panicked"))?
        });
        match done {
            Ok(code) => Ok(code.clone()),
            Err(codegen::CodegenError::Unsupported(what)) => {
                Err(codegen::CodegenError::Unsupported(what.clone()))
            }
            Err(e) => Err(codegen::CodegenError::Llvm(e.to_string())),
        }
    }
}

impl Shared {
    fn take(&self) -> Option<JoinHandle<Result<Code, codegen::CodegenError>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(thread) = self.take() {
            // What became of it matters to nobody any more.
            let _ = thread.join();
        }
    }
}

/// All that the code depends on but the names of kernels.
fn alike(texts: &[Text], early: Option<&Early>) -> Vec<u8> {
    let early = early.map(|e| (0, &e.module));
    let mut all = Vec::new();
    for (arch, module) in texts.iter().map(|t| (t.arch, &t.module)).chain(early) {
        all.extend(arch.to_le_bytes());
        all.extend(module.alike().len().to_le_bytes());
        all.extend(module.alike());
    }
    all
}
