//! The CUDA device: context, loaded modules, memory pool, pinned memory. [`crate::gpu::queue`] is the work of
//! one execution.
//!
//! Invariants:
//!
//! * the program's own use of CUDA is not disturbed: the primary context of the device that it uses is
//!   shared, pushed for the length of a call and popped again; work goes to streams of our own that don't
//!   synchronise with the default stream;
//! * memory and streams go back to their pools only when no work refers to them: a queue synchronises before
//!   it gives back; after a fatal error nothing goes back, and the device is never used again in this
//!   process;
//! * modules stay loaded until the process ends, one for each SCoP; a refusal of the code is remembered, so
//!   that it costs one compilation a process, while failures that may pass (memory) are tried again.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::abi::{IMAGE_CUBIN, IMAGE_EARLY_CUBIN, IMAGE_PTX, Image, Scop};
use crate::base::config::{Config, Devices};
use crate::base::error::{Error, Result};
use crate::base::faults::Operation;
use crate::device::code::{Function, Module, ModuleSlot};
use crate::driver::{self, Api, Handle};
use crate::gpu::chain::Chains;
use crate::gpu::context::{Context, Current};
use crate::gpu::pool::{Block, Pool};
use crate::gpu::resident::Residents;
use crate::gpu::ring::{self, Ring};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the locks protect is consistent between statements; a panic elsewhere doesn't change that.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device with its primary context.
pub struct Device {
    /// 0 for the first one of the process.
    number: usize,
    /// As the driver shows it.
    ordinal: driver::DeviceOrdinal,
    context: Context,
    name: String,
    /// 90 for sm_90.
    arch: u32,
    /// Shared memory that a block may have, in bytes; `None`: the driver does not tell.
    shared_bytes: Option<u32>,
    /// Bytes.
    memory: u64,
    pool: Mutex<Pool>,
    streams: Mutex<Vec<Handle>>,
    /// None: not wanted. One copy at a time: they share the link anyway.
    ring: Mutex<Option<Ring>>,
    /// Times that memory was pinned.
    setups: AtomicU64,
    /// Bytes of large copies before the ring was used.
    large_bytes: AtomicU64,
    /// Pinned memory that no queue uses.
    landings: Mutex<Vec<Landing>>,
    /// Launches go in graphs, until the driver refuses one.
    graphs: AtomicBool,
    made_graphs: AtomicBool,
    /// Graphs that no queue uses: at most as many as there were queues at once.
    chains: Mutex<Vec<Chains>>,
    /// Arrays that stay between executions, if that is wanted.
    residents: Option<Mutex<Residents>>,
    /// How much device memory they may take.
    resident_bytes: u64,
}

/// Pinned memory for results on their way.
pub struct Landing {
    pub start: *mut u8,
    pub bytes: u64,
}

// SAFETY: memory that it alone refers to.
unsafe impl Send for Landing {}

/// Landings that are kept; more are in use only while as many threads end executions at once.
const KEPT_LANDINGS: usize = 4;
/// Bytes of landings that are kept: pinned memory is taken from the whole machine.
const KEPT_LANDING_BYTES: u64 = 1 << 30;

impl Device {
    /// Starts the driver and takes the device that the settings name: of several the first.
    pub fn open(config: &Config) -> Result<Device> {
        let api = Api::load(config.cuda_library.as_deref())?;
        let no_cuda = |error: Error| Error::NoCuda(error.to_string().into());
        let mut count = 0;
        api.init(0).map_err(no_cuda)?;
        api.device_count(&mut count).map_err(no_cuda)?;
        let chosen = match &config.devices {
            Devices::List(list) => list.first().copied(),
            _ => config.cuda_device,
        };
        let wanted = chosen.unwrap_or(0);
        if wanted >= count {
            let text = format!("device {wanted} was asked for, the driver shows {count}");
            return Err(Error::NoCuda(text.into()));
        }
        let ordinal = match chosen {
            None => device_of_program(&api),
            Some(_) => None,
        };
        let ordinal = match ordinal {
            Some(ordinal) => ordinal,
            None => {
                let mut ordinal = 0;
                api.device_get(&mut ordinal, wanted).map_err(no_cuda)?;
                ordinal
            }
        };
        Device::take(config, api, 0, ordinal)
    }

    /// The other devices that the settings name, with access to each other's memory where the hardware has a
    /// way. Those that can't be used are left out.
    pub fn open_others(&self, config: &Config) -> Vec<Device> {
        let mut count = 0;
        if self.api().device_count(&mut count).is_err() {
            return Vec::new();
        }
        let wanted: Vec<c_int> = match &config.devices {
            Devices::List(list) => list.iter().skip(1).copied().filter(|&number| number < count).collect(),
            _ => (0..count).collect(),
        };
        let most = config.devices.of_cuda(count as usize);
        let mut others: Vec<Device> = Vec::new();
        for number in wanted {
            let mut ordinal = 0;
            if others.len() + 1 >= most || self.api().device_get(&mut ordinal, number).is_err() {
                continue;
            }
            if ordinal == self.ordinal {
                continue;
            }
            let api = Api::load(config.cuda_library.as_deref());
            let opened = api.and_then(|api| Device::take(config, api, others.len() + 1, ordinal));
            others.extend(opened.ok());
        }
        let all = || std::iter::once(self).chain(&others);
        for one in all() {
            for other in all().filter(|other| other.ordinal != one.ordinal) {
                if let Ok(_current) = one.current() {
                    // Without access, or where the program has enabled it already, the driver refuses; it
                    // copies all the same. SAFETY: a retained context.
                    let _ = unsafe { one.api().enable_peer_access(other.context.handle(), 0) };
                }
            }
        }
        others
    }

    fn take(config: &Config, api: Api, number: usize, ordinal: driver::DeviceOrdinal) -> Result<Device> {
        let no_cuda = |error: Error| Error::NoCuda(error.to_string().into());
        let mut name = [0 as c_char; 128];
        let (mut major, mut minor, mut shared) = (0, 0, 0);
        let mut memory = 0usize;
        let mut context = Handle::NULL;
        // SAFETY: as above; `name` has the length that is passed.
        unsafe {
            api.device_name(name.as_mut_ptr(), name.len() as c_int - 1, ordinal).map_err(no_cuda)?;
            api.device_attribute(&mut major, driver::ATTRIBUTE_MAJOR, ordinal).map_err(no_cuda)?;
            api.device_attribute(&mut minor, driver::ATTRIBUTE_MINOR, ordinal).map_err(no_cuda)?;
            api.device_memory(&mut memory, ordinal).map_err(no_cuda)?;
            api.primary_context_retain(&mut context, ordinal).map_err(no_cuda)?;
        }
        let told = api.device_attribute(&mut shared, driver::ATTRIBUTE_SHARED_BYTES, ordinal);
        // SAFETY: the array ends in a NUL that the driver was not told about.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let limit = config.pool_bytes.unwrap_or(memory as u64 / 4);
        Ok(Device {
            number,
            ordinal,
            context: Context::new(api, context),
            name,
            arch: (major * 10 + minor).max(0) as u32,
            shared_bytes: told.ok().and(u32::try_from(shared).ok()).filter(|bytes| *bytes > 0),
            memory: memory as u64,
            pool: Mutex::new(Pool::new(limit)),
            streams: Mutex::default(),
            ring: Mutex::new((config.copy_threads > 0).then(|| Ring::new(config.copy_threads))),
            residents: config.resident.then(Mutex::default),
            resident_bytes: memory as u64 / 2,
            setups: AtomicU64::new(0),
            large_bytes: AtomicU64::new(0),
            landings: Mutex::default(),
            graphs: AtomicBool::new(config.graphs),
            made_graphs: AtomicBool::new(false),
            chains: Mutex::default(),
        })
    }

    /// Bytes of the device's memory, those that others use among them.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The driver's functions; most want the context to be current.
    pub fn api(&self) -> &Api {
        self.context.api()
    }

    /// What copies and launches need.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// See [`Context::current`].
    pub fn current(&self) -> Result<Current<'_>> {
        self.context.current()
    }

    /// See [`Context::note`].
    pub fn note<T>(&self, result: Result<T>) -> Result<T> {
        self.context.note(result)
    }

    /// Whether the device is never used again.
    pub fn is_lost(&self) -> bool {
        self.context.is_lost()
    }

    pub fn uses_graphs(&self) -> bool {
        self.graphs.load(Ordering::Relaxed)
    }

    /// Whether some queue got graphs.
    pub fn made_graphs(&self) -> bool {
        self.made_graphs.load(Ordering::Relaxed)
    }

    /// From now on launches go one by one.
    pub fn stop_graphs(&self) {
        self.graphs.store(false, Ordering::Relaxed);
    }

    /// Graphs for a queue.
    pub fn chains(&self) -> Chains {
        self.made_graphs.store(true, Ordering::Relaxed);
        lock(&self.chains).pop().unwrap_or_default()
    }

    /// Takes back what [`Device::chains`] gave; what runs of it runs on.
    pub fn give_chains(&self, chains: Chains) {
        lock(&self.chains).push(chains);
    }

    /// Whether the SCoP's code was loaded or refused already.
    pub fn knows(slot: &ModuleSlot) -> bool {
        !slot.modules().is_empty()
    }

    /// Whether it was loaded.
    pub fn has(slot: &ModuleSlot) -> bool {
        slot.modules().values().any(Result::is_ok)
    }

    /// Whether the kernels that may be late are there.
    pub fn is_complete(&self, slot: &ModuleSlot) -> bool {
        slot.modules().get(&self.number).is_some_and(|known| known.as_ref().is_ok_and(|m| m.complete))
    }

    /// Loads all kernels, without a look at whether some are there. What has the others meanwhile stays
    /// valid.
    pub fn complete(&self, scop: &Scop, slot: &ModuleSlot, config: &Config) -> Result<()> {
        config.faults.check(Operation::Module)?;
        let module = self.load(scop)?;
        slot.modules().insert(self.number, Ok(module));
        Ok(())
    }

    /// The SCoP's module, loaded at the first call: without kernels that may be late where it has such.
    pub fn module(&self, scop: &Scop, slot: &ModuleSlot, config: &Config) -> Result<&'static Module> {
        let mut slot = slot.modules();
        if let Some(known) = slot.get(&self.number) {
            return known.clone();
        }
        config.faults.check(Operation::Module)?;
        let result = match self.preload(scop) {
            Some(early) => Ok(early),
            None => self.load(scop),
        };
        let keep = match &result {
            Ok(_) | Err(Error::NoImage { .. } | Error::SharedMemory { .. }) => true,
            Err(Error::Refused { cause, .. }) => {
                matches!(**cause, Error::Driver { code, .. } if driver::is_refusal(code))
            }
            Err(_) => false,
        };
        if keep {
            slot.insert(self.number, result.clone());
        }
        result
    }

    /// The kernels that are not late. `None`: there is no image with these alone that the device takes.
    fn preload(&self, scop: &Scop) -> Option<&'static Module> {
        let limit = self.shared_bytes.unwrap_or(u32::MAX);
        let mut images =
            scop.images().iter().filter(|image| runs_as_cubin(image, IMAGE_EARLY_CUBIN, self.arch));
        let image = images.find(|image| {
            let early = scop.kernels().iter().filter(|k| !k.is_late());
            early.map(|k| k.dynamic_shared_bytes(image.arch)).all(|bytes| bytes <= limit)
        })?;
        let _current = self.current().ok()?;
        let module = self.note(self.load_image(scop, image)).ok()?;
        Some(Box::leak(Box::new(module)))
    }

    fn load(&self, scop: &Scop) -> Result<&'static Module> {
        let _current = self.current()?;
        let mut candidates = usable_images(scop.images(), self.arch);
        let mut first = None;
        if let Some(limit) = self.shared_bytes {
            // The driver would compile them first and refuse then.
            let needed =
                |image: &Image| scop.kernels().iter().map(|k| k.dynamic_shared_bytes(image.arch)).max();
            let least = candidates.iter().filter_map(|image| needed(image)).min();
            candidates.retain(|image| needed(image).is_none_or(|bytes| bytes <= limit));
            if let Some(bytes) = least.filter(|bytes| *bytes > limit) {
                first = Some(Error::SharedMemory { bytes, device: self.name.clone(), limit });
            }
        }
        for image in candidates {
            match self.note(self.load_image(scop, image)) {
                Ok(module) => return Ok(Box::leak(Box::new(module))),
                Err(cause) => {
                    first.get_or_insert(Error::Refused { arch: image.arch, cause: Box::new(cause) });
                }
            }
        }
        Err(first.unwrap_or_else(|| Error::NoImage { device: self.name.clone(), arch: self.arch }))
    }

    fn load_image(&self, scop: &Scop, image: &Image) -> Result<Module> {
        let mut log = vec![0u8; 8192];
        let mut options: [c_uint; 2] = [driver::JIT_ERROR_LOG, driver::JIT_ERROR_LOG_BYTES];
        // The driver takes an integer option in the pointer itself.
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len() - 1)];
        let mut module = Handle::NULL;
        // SAFETY: two options with their values; the image is the descriptor's, a PTX text ends in NUL.
        let loaded = unsafe {
            self.api().module_load(&mut module, image.data, 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        if let Err(Error::Driver { call, code, name, detail }) = loaded {
            let text: Vec<u8> = log.into_iter().take_while(|&byte| byte != 0).collect();
            let text = String::from_utf8_lossy(&text);
            let detail = if text.trim().is_empty() { detail } else { format!(": {}", text.trim()) };
            return Err(Error::Driver { call, code, name, detail });
        }
        loaded?;
        let mut functions = Vec::with_capacity(scop.kernels().len());
        let complete = image.kind != IMAGE_EARLY_CUBIN;
        for kernel in scop.kernels() {
            if kernel.is_late() && !complete {
                functions.push(Function { handle: Handle::NULL, shared_bytes: 0 });
                continue;
            }
            let mut function = Handle::NULL;
            // SAFETY: a loaded module and a NUL-terminated name.
            let found =
                unsafe { self.api().module_function(&mut function, module, kernel.c_name().as_ptr()) };
            let shared_bytes = kernel.dynamic_shared_bytes(image.arch);
            let found = found.and_then(|()| match shared_bytes {
                0 => Ok(()),
                // SAFETY: a function of the module; a device without so much memory refuses.
                bytes => unsafe {
                    self.api().function_attribute(function, driver::MAX_DYNAMIC_SHARED_BYTES, bytes as c_int)
                },
            });
            if let Err(error) = found {
                // SAFETY: nothing refers to the module.
                let _ = unsafe { self.api().module_unload(module) };
                return Err(error);
            }
            functions.push(Function { handle: function, shared_bytes });
        }
        Ok(Module { functions, complete })
    }

    pub fn stream(&self) -> Result<Handle> {
        if let Some(stream) = lock(&self.streams).pop() {
            return Ok(stream);
        }
        let mut stream = Handle::NULL;
        self.note(self.api().stream_create(&mut stream, driver::STREAM_NON_BLOCKING))?;
        Ok(stream)
    }

    /// Whether memory is of exactly the size that is asked for.
    pub fn allocates_exactly(&self) -> bool {
        lock(&self.pool).is_off()
    }

    /// Memory from the pool or the driver; if there is none left, the pool is emptied first.
    pub fn allocate(&self, bytes: u64) -> Result<Block> {
        let size = lock(&self.pool).size(bytes).ok_or(Error::OutOfMemory { bytes })?;
        if let Some(block) = lock(&self.pool).take(size) {
            return Ok(block);
        }
        let mut address = 0;
        let mut allocated = self.api().memory_allocate(&mut address, size as usize);
        if is_out_of_memory(&allocated) {
            let blocks = lock(&self.pool).clear();
            blocks.into_iter().for_each(|block| self.free(block));
            let unused = self.with_residents(|residents| residents.shrink(0));
            unused.into_iter().flatten().for_each(|block| self.free(block));
            allocated = self.api().memory_allocate(&mut address, size as usize);
        }
        if is_out_of_memory(&allocated) {
            return Err(Error::OutOfMemory { bytes });
        }
        self.note(allocated)?;
        Ok(Block { address, size })
    }

    /// What `body`, a copy of `bytes`, does with the ring; None where there is none. The context is current.
    pub fn with_ring<T>(&self, bytes: u64, body: impl FnOnce(&mut Ring) -> T) -> Option<T> {
        if bytes < ring::MIN_BYTES {
            return None;
        }
        let mut ring = lock(&self.ring);
        let ring = ring.as_mut()?;
        let used = self.large_bytes.load(Ordering::Relaxed) >= ring::WORTH_BYTES;
        if !used && self.large_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes < ring::WORTH_BYTES {
            return None;
        }
        let count = || {
            self.setups.fetch_add(1, Ordering::Relaxed);
        };
        ring.has_buffers(self.api(), count).then(|| body(ring))
    }

    /// Pinned memory of `bytes` or more; None if the driver has none to give. The context is current.
    pub fn landing(&self, bytes: u64) -> Option<Landing> {
        let bytes = bytes.max(64 << 10);
        let round = if bytes <= 4 << 20 { bytes.next_power_of_two() } else { 4 << 20 };
        let bytes = bytes.checked_next_multiple_of(round)?;
        let mut kept = lock(&self.landings);
        if let Some(index) = kept.iter().position(|landing| landing.bytes >= bytes) {
            return Some(kept.swap_remove(index));
        }
        drop(kept);
        self.setups.fetch_add(1, Ordering::Relaxed);
        let mut memory = std::ptr::null_mut();
        self.note(self.api().host_allocate(&mut memory, bytes as usize, 0)).ok()?;
        Some(Landing { start: memory.cast(), bytes })
    }

    /// Keeps the largest landings that fit the bounds.
    pub fn give_landing(&self, landing: Landing) {
        let mut kept = lock(&self.landings);
        kept.push(landing);
        kept.sort_by_key(|landing| landing.bytes);
        let total: u64 = kept.iter().map(|landing| landing.bytes).sum();
        let excess = if total > KEPT_LANDING_BYTES {
            kept.pop()
        } else if kept.len() > KEPT_LANDINGS {
            Some(kept.remove(0))
        } else {
            None
        };
        drop(kept);
        if let Some(landing) = excess {
            // SAFETY: the driver gave this memory, and nothing refers to it.
            let _ = self.note(unsafe { self.api().host_free(landing.start.cast()) });
        }
    }

    /// What `body` does with the table of residents, where there is one. The table is locked: no allocation
    /// inside.
    pub fn with_residents<T>(&self, body: impl FnOnce(&mut Residents) -> T) -> Option<T> {
        self.residents.as_ref().map(|residents| body(&mut lock(residents)))
    }

    /// Ends an execution's use of the residents; its work is done.
    pub fn release_residents(&self) {
        let mut dropped = Vec::new();
        self.with_residents(|residents| {
            residents.release(&mut dropped);
            dropped.append(&mut residents.shrink(self.resident_bytes));
        });
        dropped.into_iter().for_each(|block| self.give_memory(block));
    }

    /// Takes back what [`Device::allocate`] gave; no work refers to it.
    pub fn give_memory(&self, block: Block) {
        let rejected = lock(&self.pool).give(block);
        if let Some(block) = rejected {
            self.free(block);
        }
    }

    /// Takes back a stream without work.
    pub fn give_stream(&self, stream: Handle) {
        lock(&self.streams).push(stream);
    }

    /// How often memory was pinned so far.
    pub fn setups(&self) -> u64 {
        self.setups.load(Ordering::Relaxed)
    }

    fn free(&self, block: Block) {
        // SAFETY: the driver gave this address, and no work refers to it.
        let _ = self.note(unsafe { self.api().memory_free(block.address) });
    }
}

/// The device that the program itself uses on this thread: what it has there should not have to share the
/// link with another one.
fn device_of_program(api: &Api) -> Option<driver::DeviceOrdinal> {
    let (mut context, mut ordinal) = (Handle::NULL, 0);
    api.context_current(&mut context).ok()?;
    if context == Handle::NULL {
        return None;
    }
    api.context_device(&mut ordinal).ok()?;
    Some(ordinal)
}

fn is_out_of_memory<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Driver { code: driver::ERROR_OUT_OF_MEMORY, .. }))
}

fn runs_as_cubin(image: &Image, kind: u32, arch: u32) -> bool {
    image.kind == kind && !image.data.is_null() && image.arch / 10 == arch / 10 && image.arch <= arch
}

/// The images that run on `arch`, best first: cubins of the same major version, then PTX, each from the
/// latest to the earliest architecture.
fn usable_images(images: &[Image], arch: u32) -> Vec<&Image> {
    let usable = |image: &&Image| match image.kind {
        _ if image.data.is_null() => false,
        IMAGE_CUBIN => runs_as_cubin(image, IMAGE_CUBIN, arch),
        IMAGE_PTX => image.arch <= arch,
        _ => false,
    };
    let mut usable: Vec<&Image> = images.iter().filter(usable).collect();
    usable.sort_by_key(|image| (image.kind != IMAGE_CUBIN, u32::MAX - image.arch));
    usable
}

#[cfg(test)]
mod tests;
