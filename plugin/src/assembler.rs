//! Device code beside the search: LLVM's back end and `ptxas` work at the kernels of one SCoP while the next ones are looked for, as
//! many at once as there are processors.
//!
//! # Invariants
//! - The result does not depend on what runs at the same time.
//! - `ptxas` gets a limited amount of code of a module: the kernels of a file with hundreds of loop nests would take it minutes. What comes
//!   later is left to the driver, which compiles what runs, and keeps it.
//! - No thread outlives the [`Assembling`] that stands for it: the plugin may be unloaded afterwards.

use crate::timing::{self, Phase, Timer};
use pollyrs_codegen_ptx as codegen;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// LLVM's passes recurse; a compiler's main thread has 8 MiB.
const STACK: usize = 64 << 20;

/// Bytes of bitcode of a module that `ptxas` gets: about 20 seconds. A product of matrices has 160 KB.
const AHEAD: usize = 3 << 20;

/// Starts jobs, and waits where too many run.
pub struct Assembler {
    free: Arc<(Mutex<usize>, Condvar)>,
    /// What is left of [`AHEAD`].
    ahead: Cell<usize>,
}

/// What is to be made of the kernels of a SCoP.
pub struct Job {
    /// For the PTX that goes along, and its architecture: 70 for `sm_70`.
    pub module: codegen::DeviceModule,
    pub arch: u32,
    pub cubin: Option<CubinJob>,
}

/// A cubin, for those who need not wait for the driver's compiler.
pub struct CubinJob {
    pub ptxas: PathBuf,
    pub arch: u32,
    /// Where this architecture's kernels are others than those of the PTX.
    pub module: Option<codegen::DeviceModule>,
}

/// A job under way.
pub struct Assembling {
    thread: Option<JoinHandle<Done>>,
}

struct Done {
    images: Result<Vec<codegen::Image>, codegen::CodegenError>,
    /// Of this thread's processor.
    lowering: Duration,
    /// On the clock on the wall: it is another program.
    assembling: Duration,
}

impl Assembler {
    pub fn new() -> Assembler {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Assembler { free: Arc::new((Mutex::new(processors), Condvar::new())), ahead: Cell::new(AHEAD) }
    }

    /// Whether these kernels, which are counted then, may be assembled ahead of time.
    pub fn admits(&self, module: &codegen::DeviceModule) -> bool {
        let left = self.ahead.get().checked_sub(module.size());
        self.ahead.set(left.unwrap_or(self.ahead.get()));
        left.is_some()
    }

    /// Waits for a free processor.
    pub fn start(&self, job: Job) -> Assembling {
        let (count, changed) = &*self.free;
        let mut free = count.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = changed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let place = Place(self.free.clone());
        let work = move || {
            let _place = place;
            run(&job)
        };
        Assembling { thread: std::thread::Builder::new().stack_size(STACK).spawn(work).ok() }
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

fn run(job: &Job) -> Done {
    let start = timing::now();
    let mut assembling = Duration::ZERO;
    let mut make = || {
        let ptx = job.module.ptx()?;
        let mut images = Vec::new();
        if let Some(cubin) = &job.cubin {
            let own = cubin.module.as_ref().map(codegen::DeviceModule::ptx).transpose()?;
            let wall = Instant::now();
            // A tool that fails is no reason to give up: the driver compiles the PTX.
            if let Ok(data) = codegen::assemble(own.as_ref().unwrap_or(&ptx), &cubin.ptxas, cubin.arch) {
                images.push(codegen::Image { kind: codegen::ImageKind::Cubin, arch: cubin.arch, data });
            }
            assembling = wall.elapsed();
        }
        images.push(codegen::Image { kind: codegen::ImageKind::Ptx, arch: job.arch, data: ptx.into_bytes() });
        Ok(images)
    };
    let images = make();
    Done { images, lowering: timing::now().saturating_sub(start), assembling }
}

impl Assembling {
    /// The images, the one that is loaded first in front.
    ///
    /// # Errors
    /// Those of [`codegen::DeviceModule::ptx`]; [`codegen::CodegenError::Internal`] where there was no thread, or it panicked.
    pub fn wait(mut self, timer: &Timer) -> Result<Vec<codegen::Image>, codegen::CodegenError> {
        let failed = |what: &str| codegen::CodegenError::Internal(what.into());
        let thread = self.thread.take().ok_or_else(|| failed("no thread for the device's code"))?;
        let done = thread.join().map_err(|_| failed("the thread of the device's code panicked"))?;
        timer.add(Phase::Ptx, done.lowering);
        if !done.assembling.is_zero() {
            timer.add(Phase::Ptxas, done.assembling);
        }
        done.images
    }
}

impl Drop for Assembling {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // What became of it matters to nobody any more.
            let _ = thread.join();
        }
    }
}
