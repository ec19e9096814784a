//! What this machine can do: measured a few times, kept in a file, used by the estimates of [`crate::cost`].
//!
//! Problem: whether a loop is worth the device depends on how long the driver takes to start, on the link,
//! and on the speed of both sides. A process that has to decide knows none of it before it has started the
//! driver, which is what it has to decide about. Approach: the first processes that start the driver on a
//! machine measure, in some 10 ms, and write the figures to `POLLYRS_RT_CACHE`; later ones read them at their
//! first decision. Until then the figures are those of the machine that the constants of the cost model come
//! from. Whatever else the machine does makes a measurement slower, never faster: of each figure the best one
//! counts.
//!
//! Invariants:
//!
//! * the file only changes where loops run, never what they compute, and no failure around it is an error:
//!   without a place to write nothing is measured, and a file that does not make sense is as good as none;
//! * a file appears as a whole (it is renamed into its place), and is small; there is one for each host,
//!   driver and choice of device, since home folders are shared by machines;
//! * a process decides by one set of figures from its beginning to its end.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::base::config::Config;
use crate::base::error::Result;
use crate::driver::{Api, Handle};
use crate::gpu::cuda::Device;

/// Figures of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Seconds from nothing to a context.
    pub startup: f64,
    /// Seconds for a launch, back to back.
    pub launch: f64,
    /// Bytes a second to the device from pinned memory.
    pub link: f64,
    /// Bytes a second that one thread of the host copies.
    pub thread: f64,
    /// Bytes a second of a copy on the device, read and written.
    pub device: f64,
    /// Bytes a second that one core reads and writes in `y += a x` on arrays of its caches' size.
    pub host: f64,
}

/// The machine that the constants of the cost model were measured on, one H200 with 16 cores of a Xeon, by
/// [`measure`].
pub const REFERENCE: Machine =
    Machine { startup: 0.2, launch: 3.6e-6, link: 52e9, thread: 12e9, device: 3650e9, host: 36e9 };
/// Two measurements on one machine differ by as much: such figures count as the reference's.
const NOISE: f64 = 1.5;

/// A figure that is further than this from the reference is no figure.
const PLAUSIBLE: f64 = 1e5;

/// What the file holds. (One that does not say how often it was measured was written by hand.)
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    machine: Machine,
    #[serde(default = "enough")]
    measurements: u32,
}

/// Processes that measure.
const MEASUREMENTS: u32 = 8;

fn enough() -> u32 {
    MEASUREMENTS
}

impl Machine {
    /// The better one of each figure.
    fn best(self, other: Machine) -> Machine {
        Machine {
            startup: self.startup.min(other.startup),
            launch: self.launch.min(other.launch),
            link: self.link.max(other.link),
            thread: self.thread.max(other.thread),
            device: self.device.max(other.device),
            host: self.host.max(other.host),
        }
    }

    fn is_plausible(&self) -> bool {
        let figures = |m: &Machine| [m.startup, m.launch, m.link, m.thread, m.device, m.host];
        let near = |(own, other): (f64, f64)| own > other / PLAUSIBLE && own < other * PLAUSIBLE;
        figures(self).into_iter().zip(figures(&REFERENCE)).all(near)
    }
}

/// The file with this machine's figures, whether it is there or not; None: the settings want none, or no
/// place is known.
pub fn file(config: &Config) -> Option<PathBuf> {
    let folder = config.cache.as_ref()?;
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    // Of the machine, of the driver, of what the driver shows.
    read("/proc/sys/kernel/hostname").hash(&mut hasher);
    read("/proc/driver/nvidia/version").hash(&mut hasher);
    std::env::var_os("CUDA_VISIBLE_DEVICES").hash(&mut hasher);
    (&config.cuda_library, config.cuda_device).hash(&mut hasher);
    Some(folder.join(format!("machine-{:016x}.json", hasher.finish())))
}

/// The figures in a file.
pub fn read(path: &Path) -> Option<Machine> {
    kept(path).map(|kept| kept.machine)
}

fn kept(path: &Path) -> Option<Kept> {
    let kept: Kept = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    kept.machine.is_plausible().then_some(kept)
}

/// The figures to decide by.
pub fn of_this_machine(config: &Config) -> Machine {
    let Some(kept) = file(config).and_then(|path| read(&path)) else { return REFERENCE };
    let near = |own: f64, other: f64| if own < other * NOISE && own > other / NOISE { other } else { own };
    Machine {
        startup: near(kept.startup, REFERENCE.startup),
        launch: near(kept.launch, REFERENCE.launch),
        link: near(kept.link, REFERENCE.link),
        thread: near(kept.thread, REFERENCE.thread),
        device: near(kept.device, REFERENCE.device),
        host: near(kept.host, REFERENCE.host),
    }
}

/// Seconds that a start is later than another one, if that matters.
const LATE: f64 = 0.1;

/// Measures and writes, if that was not done often enough before. `startup`: what this process took. The
/// device's context is not current.
pub fn calibrate(config: &Config, device: &Device, startup: f64) {
    let Some(path) = file(config) else { return };
    let before = kept(&path);
    // The start is measured anyway. One that took far less than any before: those were of a machine under
    // load.
    let faster =
        |kept: &Kept| startup * NOISE < kept.machine.startup && kept.machine.startup - startup > LATE;
    if before.as_ref().is_some_and(|kept| kept.measurements >= MEASUREMENTS && !faster(kept)) {
        return;
    }
    let Some(folder) = path.parent() else { return };
    let temporary = path.with_extension(std::process::id().to_string());
    // Before anything is measured in vain.
    let Ok(mut written) = fs::create_dir_all(folder).and_then(|()| File::create(&temporary)) else { return };
    let machine = measure(device, startup).ok().filter(Machine::is_plausible);
    let both = machine.map(|machine| match before {
        Some(kept) => Kept { machine: machine.best(kept.machine), measurements: kept.measurements + 1 },
        None => Kept { machine, measurements: 1 },
    });
    let text = both.and_then(|kept| serde_json::to_vec_pretty(&kept).ok());
    let renamed =
        text.is_some_and(|text| written.write_all(&text).is_ok() && fs::rename(&temporary, &path).is_ok());
    if !renamed {
        let _ = fs::remove_file(&temporary);
    }
}

/// Bytes of the copies that are measured: over the link, and on the device, where they have to be more than
/// its caches hold.
const LINK_BYTES: usize = 8 << 20;
const DEVICE_BYTES: usize = 128 << 20;
/// Numbers of the arrays on the host, and launches.
const NUMBERS: usize = 1 << 18;
const LAUNCHES: usize = 128;
/// A kernel that does nothing.
const KERNEL: &str = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n\0";

/// What is taken from the driver, given back when it goes.
struct Taken<'a> {
    api: &'a Api,
    stream: Handle,
    pinned: *mut std::ffi::c_void,
    buffers: [u64; 2],
    module: Handle,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // SAFETY: what the driver gave, after the last work.
        unsafe {
            let _ = self.api.stream_synchronize(self.stream);
            if !self.pinned.is_null() {
                let _ = self.api.host_free(self.pinned);
            }
            for buffer in self.buffers.into_iter().filter(|&buffer| buffer != 0) {
                let _ = self.api.memory_free(buffer);
            }
            if self.module != Handle::NULL {
                let _ = self.api.module_unload(self.module);
            }
        }
    }
}

/// The least of some times, the first one not counted.
fn least(mut body: impl FnMut() -> Result<()>) -> Result<f64> {
    body()?;
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        body()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn measure(device: &Device, startup: f64) -> Result<Machine> {
    let _current = device.current()?;
    let api = device.api();
    let stream = device.stream()?;
    let mut taken =
        Taken { api, stream, pinned: std::ptr::null_mut(), buffers: [0; 2], module: Handle::NULL };
    // SAFETY: out-pointers to local variables; copies inside of what was allocated; a kernel without
    // arguments.
    let (link, on_device, launch) = unsafe {
        api.host_allocate(&mut taken.pinned, LINK_BYTES, 0)?;
        for buffer in &mut taken.buffers {
            api.memory_allocate(buffer, DEVICE_BYTES)?;
        }
        let wait = || api.stream_synchronize(stream);
        let [to, from] = taken.buffers;
        let link = least(|| {
            api.copy_to_device(to, taken.pinned, LINK_BYTES, stream)?;
            wait()
        })?;
        let on_device = least(|| {
            api.copy_on_device(to, from, DEVICE_BYTES, stream)?;
            wait()
        })?;
        let mut function = Handle::NULL;
        let (none, no_values) = (std::ptr::null_mut(), std::ptr::null_mut());
        api.module_load(&mut taken.module, KERNEL.as_ptr().cast(), 0, none, no_values)?;
        api.module_function(&mut function, taken.module, c"nothing".as_ptr())?;
        let (no_arguments, no_extra) = (std::ptr::null_mut(), std::ptr::null_mut());
        let launch = least(|| {
            for _ in 0..LAUNCHES {
                api.launch(function, 1, 1, 1, 32, 1, 1, 0, stream, no_arguments, no_extra)?;
            }
            wait()
        })?;
        (link, on_device, launch)
    };
    drop(taken);
    device.give_stream(stream);
    let (host, thread) = measure_host()?;
    Ok(Machine {
        startup,
        launch: launch / LAUNCHES as f64,
        link: LINK_BYTES as f64 / link,
        thread,
        device: 2.0 * DEVICE_BYTES as f64 / on_device,
        host,
    })
}

/// Bytes a second of a loop and of a copy.
fn measure_host() -> Result<(f64, f64)> {
    let (x, mut y) = (vec![1.0; NUMBERS], vec![1.0; NUMBERS]);
    let bytes = (NUMBERS * size_of::<f64>()) as f64;
    let host = least(|| {
        let a = std::hint::black_box(1e-3);
        y.iter_mut().zip(&x).for_each(|(y, x)| *y += a * x);
        std::hint::black_box(&mut y);
        Ok(())
    })?;
    let (from, mut to) = (vec![1u8; LINK_BYTES], vec![0u8; LINK_BYTES]);
    let thread = least(|| {
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
        Ok(())
    })?;
    Ok((3.0 * bytes / host, LINK_BYTES as f64 / thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_kept_and_others_are_not() {
        let folder = std::env::temp_dir().join(format!("pollyrs-machine-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("figures.json");
        assert_eq!(read(&path), None);
        let machine = Machine { link: 12e9, ..REFERENCE };
        fs::write(&path, serde_json::to_vec(&machine).unwrap()).unwrap();
        assert_eq!(read(&path), Some(machine));
        let others = [
            serde_json::to_string(&Machine { startup: 0.0, ..REFERENCE }).unwrap(),
            serde_json::to_string(&Machine { host: 1e300, ..REFERENCE }).unwrap(),
            serde_json::to_string(&Machine { launch: f64::NAN, ..REFERENCE }).unwrap(),
            "{\"startup\": 1".to_string(),
            String::new(),
        ];
        for text in others {
            fs::write(&path, &text).unwrap();
            assert_eq!(read(&path), None, "{text}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_best_figures_count() {
        let disturbed =
            Machine { startup: 0.4, launch: 9e-6, link: 20e9, thread: 5e9, device: 1e12, host: 9e9 };
        let quiet = Machine { device: 0.5e12, ..REFERENCE };
        assert_eq!(disturbed.best(quiet), Machine { device: 1e12, ..REFERENCE });
        // What is written is read again; a file by hand is final.
        let text = serde_json::to_string(&Kept { machine: quiet, measurements: 3 }).unwrap();
        let kept: Kept = serde_json::from_str(&text).unwrap();
        assert_eq!((kept.machine, kept.measurements), (quiet, 3));
        let kept: Kept = serde_json::from_str(&serde_json::to_string(&quiet).unwrap()).unwrap();
        assert_eq!(kept.measurements, MEASUREMENTS);
    }

    #[test]
    fn a_file_for_each_choice_of_device() {
        let config = |device: &str| {
            let get = |name: &str| match name {
                "POLLYRS_RT_CUDA_DEVICE" => Some(device.to_string()),
                "POLLYRS_RT_CACHE" => Some("/tmp/x".to_string()),
                _ => None,
            };
            Config::new(get, [])
        };
        let (first, second) = (file(&config("0")).unwrap(), file(&config("1")).unwrap());
        assert!(first != second && first.starts_with("/tmp/x") && file(&config("0")) == Some(first));
    }

    #[test]
    fn the_host_can_be_measured() {
        let (host, thread) = measure_host().unwrap();
        assert!(Machine { host, thread, ..REFERENCE }.is_plausible(), "{host} {thread}");
    }
}
