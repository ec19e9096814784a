//! Machine code ahead of time: `ptxas` runs beside the work on the next loop nests, as many at once as there are processors.
//!
//! # Invariants
//! - The result does not depend on what runs at the same time.
//! - No thread outlives the [`Assembling`] that stands for it: the plugin may be unloaded afterwards.

use pollyrs_codegen_ptx as codegen;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Starts `ptxas`, and waits where too many run.
pub struct Assembler {
    free: Arc<(Mutex<usize>, Condvar)>,
}

/// One run of `ptxas`.
pub struct Assembling {
    arch: u32,
    thread: Option<JoinHandle<Option<Vec<u8>>>>,
}

impl Assembler {
    pub fn new() -> Assembler {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Assembler { free: Arc::new((Mutex::new(processors), Condvar::new())) }
    }

    /// `arch`: 90 for `sm_90`.
    pub fn start(&self, ptx: String, ptxas: PathBuf, arch: u32) -> Assembling {
        let (count, changed) = &*self.free;
        let mut free = count.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = changed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let shared = self.free.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            let cubin = codegen::assemble(&ptx, &ptxas, arch).ok();
            release(&shared);
            cubin
        });
        if thread.is_err() {
            release(&self.free);
        }
        Assembling { arch, thread: thread.ok() }
    }
}

fn release(free: &(Mutex<usize>, Condvar)) {
    *free.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    free.1.notify_one();
}

impl Assembling {
    /// The cubin. `None`: the tool failed, which is no reason to give up: the driver compiles the PTX.
    pub fn wait(mut self) -> Option<codegen::Image> {
        let data = self.thread.take()?.join().ok()??;
        Some(codegen::Image { kind: codegen::ImageKind::Cubin, arch: self.arch, data })
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
