//! What the environment asks of the run-time library. Read once, at the first use of the library in a
//! process.
//!
//! | variable | values | meaning |
//! |---|---|---|
//! | `POLLYRS_RT_DEVICE` | `auto` (default), `cuda`, `emulated`, `off` | Where SCoPs run. `auto`: on a CUDA device if there is one that the program has code for. `cuda`, `emulated`: there. `off`: nowhere. Wherever that is impossible, the original loop runs. |
//! | `POLLYRS_RT_OFFLOAD` | `auto` (default), `always`, `never`, `require` | When. `auto`: if the estimate of [`crate::cost`] favours the device; on the emulated device, which is for tests, the same as `always`. `always`: whenever it is possible. `require`: as `always`, and the first execution that can't run on a device ends the program, with the reason and its place. |
//! | `POLLYRS_RT_PROFILE` | a file | Appends one JSON line for each execution of a versioned SCoP (see [`crate::process::profile`]). A relative path is taken from the directory of the first use. |
//! | `POLLYRS_RT_COMPARE` | a file | Runs each execution on both sides, and appends a JSON line about the differences (see [`crate::process::compare`]); nothing stays on the device. |
//! | `POLLYRS_RT_VERBOSE` | `0` (default), `1` | One line of text on stderr for each execution, and a summary at exit. |
//! | `POLLYRS_RT_CUDA_LIBRARY` | a path | The CUDA driver library to load instead of the system's `libcuda.so.1`. |
//! | `POLLYRS_RT_CUDA_DEVICE` | a number; by default that of the context that is current where the driver is first needed, or 0 | Which of the CUDA devices that the driver shows. |
//! | `POLLYRS_RT_DEVICES` | `1` .. `64`, `all`, or a list of numbers with commas (`2,` is device 2 alone); by default 1, and `all` on emulated devices | Which devices share launches of programs that were compiled with the option `divide`: so many, the device of `POLLYRS_RT_CUDA_DEVICE` first, all that there are, or these, as the driver numbers them (see [`crate::group`]). |
//! | `POLLYRS_RT_SHARE` | `0` (default), `1` | For tests: devices share launches however short these are, as emulated ones always do. |
//! | `POLLYRS_RT_EMULATED_DEVICES` | `1` (default) .. `64` | How many emulated devices there are, each with memory of its own. |
//! | `POLLYRS_RT_MPI` | `off` (default), `strict`, `local` | Ranks that a launcher of MPI starts run one program, and share the launches of programs that were compiled with the option `divide` (see [`crate::hosts`]). Where ranks go different ways the job ends with a message, or each goes on by itself as long as nothing is spread over them. |
//! | `POLLYRS_RT_MPI_LIBRARY` | a path, by default `libmpi_abi.so.1` | The library with MPI's standard ABI. |
//! | `POLLYRS_RT_MPI_COMPARE` | `0` (default), `1` | Ranks compare what they copy to their devices, byte for byte: different data end the job, addresses among them. |
//! | `POLLYRS_RT_MPI_OUTPUT` | `first` (default), `all` | Which ranks' standard output is kept. |
//! | `POLLYRS_RT_POOL` | MiB, by default a quarter of the device's memory | How much freed device memory is kept for the next execution; 0 keeps none, and arrays get exactly their size, for compute-sanitizer. |
//! | `POLLYRS_RT_STAGING` | MiB, 4 by default | Results up to this size reach the program's memory only after all of them came from the device, so that even a failing copy leaves the original loop possible. |
//! | `POLLYRS_RT_COPY_THREADS` | a number, by default 8 or the number of cores | How many threads take part in large copies from and to the device (see [`crate::gpu::ring`]); 0 leaves them to the driver. |
//! | `POLLYRS_RT_OVERLAP` | `auto` (default), `off`, or a number | Whether large copies run beside kernels, and launches that can be cut go in slices (see [`crate::execution`]); a number, for tests: in so many, however small, on every device. |
//! | `POLLYRS_RT_LATE` | `auto` (default), `now`, `soon`, `never` | When kernels are compiled whose machine code the program does not have (see [`crate::execution::late`]). |
//! | `POLLYRS_RT_GRAPHS` | `1` (default), `0` | Whether launches of an execution that has many of them go to the driver as graphs (see [`crate::gpu::chain`]). |
//! | `POLLYRS_RT_CACHE` | a folder, `off`; by default `pollyrs` in `XDG_CACHE_HOME` or `~/.cache` | Where the figures of the machine are kept (see [`crate::cost::machine`]); `off`: nothing is read, written or measured. |
//! | `POLLYRS_RT_RESIDENT` | `off` (default), `on` | Keeps large arrays on the device between executions, and copies only what the program wrote meanwhile (see [`crate::gpu::resident`]); needs Linux 6.11. Wrong for programs that let other devices write to pinned memory of their own behind the kernel's back (see [`crate::memory::written`]). |
//! | `POLLYRS_RT_FAULT` | `alloc:3,launch:1,copy:2,module:1,sync:1` | For tests: the k-th operation of each named kind in the process fails, on every device. Copies of both directions count. `end-copy` counts copies to the host only, `graph` the calls that make, change and launch graphs; launches go one by one after one that failed. |
//! | `POLLYRS_RT_EMU_ORDER` | a number, or `reverse` | Emulated device: runs blocks, and the threads of a block, in an order drawn from this seed; without it in ascending order. |
//! | `POLLYRS_RT_EMU_THREADS` | a number | Emulated device: how many blocks run at once; by default one on each core. |
//! | `POLLYRS_RT_EMU_STACK` | KiB, 64 by default, 1024 with checks | Emulated device: the stack of a thread of a kernel that has barriers. |
//! | `POLLYRS_RT_CHECK` | `0` (default), `1` for all, or a list of `race`, `bounds`, `init`, `copies` | For tests: ends the program with a message at the first mistake of a kernel. Most of it needs kernels compiled for the checked emulated device (see [`crate::emulated::check`]); `copies` also finds, on every device, that a kernel changed a byte of a copied-in array outside of the range that the program said it writes, and fills the program's memory with ones where results stay on the device. Other threads must leave the arrays alone meanwhile. |
//! | `POLLYRS_RT_CHECK_SEED` | a number, 1 by default | The seed of the orders in which blocks and threads run while `race` is checked, unless `POLLYRS_RT_EMU_ORDER` is set. |
//!
//! A value that makes no sense counts as not set, and a name that doesn't exist as nothing; both are told on
//! stderr, in a line each, once a process (see [`crate::base::settings`]).

use std::path::PathBuf;
use std::str::FromStr;

use crate::base::checks::Checks;
use crate::base::faults::Faults;
use crate::base::job::Job;
use crate::base::settings::Reader;

/// `POLLYRS_RT_DEVICE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    #[default]
    Auto,
    Cuda,
    Emulated,
    Off,
}

impl DeviceChoice {
    fn parse(value: &str) -> Option<DeviceChoice> {
        match value {
            "auto" => Some(DeviceChoice::Auto),
            "cuda" => Some(DeviceChoice::Cuda),
            "emulated" => Some(DeviceChoice::Emulated),
            "off" => Some(DeviceChoice::Off),
            _ => None,
        }
    }
}

/// `POLLYRS_RT_OFFLOAD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    #[default]
    Auto,
    Always,
    /// As `Always`, for so many executions of each loop nest.
    First(u64),
    Never,
    /// As `Always`, and what can't run on a device ends the program.
    Require,
}

impl Offload {
    fn parse(value: &str) -> Option<Offload> {
        match value {
            "auto" => Some(Offload::Auto),
            "always" => Some(Offload::Always),
            "never" => Some(Offload::Never),
            "require" => Some(Offload::Require),
            _ => value.strip_prefix("always:").and_then(|most| most.parse().ok()).map(Offload::First),
        }
    }
}

/// `POLLYRS_RT_OVERLAP`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    #[default]
    Auto,
    Off,
    /// Of launches that can be cut.
    Slices(u64),
}

impl Overlap {
    fn parse(value: &str) -> Option<Overlap> {
        match value {
            "auto" => Some(Overlap::Auto),
            "off" => Some(Overlap::Off),
            number => number.parse().ok().filter(|&n| n > 0).map(Overlap::Slices),
        }
    }
}

/// `POLLYRS_RT_LATE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateKernels {
    /// In the background, once executions without them have taken some time.
    #[default]
    Auto,
    /// Before the first execution.
    Now,
    /// In the background, from the first execution on.
    Soon,
    Never,
}

impl LateKernels {
    fn parse(value: &str) -> Option<LateKernels> {
        match value {
            "auto" => Some(LateKernels::Auto),
            "now" => Some(LateKernels::Now),
            "soon" => Some(LateKernels::Soon),
            "never" => Some(LateKernels::Never),
            _ => None,
        }
    }
}

/// `POLLYRS_RT_DEVICES`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Devices {
    /// All emulated devices; of others one.
    #[default]
    Auto,
    /// So many, the first ones.
    Number(usize),
    All,
    /// These.
    List(Vec<i32>),
}

/// Devices that one execution may have at most.
pub const MAX_DEVICES: usize = 64;

impl Devices {
    fn parse(value: &str) -> Option<Devices> {
        if value == "all" {
            return Some(Devices::All);
        }
        if let Some(list) = value.strip_suffix(',').or(value.contains(',').then_some(value)) {
            let numbers: Option<Vec<i32>> = list.split(',').map(|n| n.parse().ok()).collect();
            let apart =
                |list: &Vec<i32>| list.iter().enumerate().all(|(at, n)| *n >= 0 && !list[..at].contains(n));
            return numbers.filter(apart).map(Devices::List);
        }
        value.parse().ok().filter(|n| (1..=MAX_DEVICES).contains(n)).map(Devices::Number)
    }

    /// How many of so many others.
    pub fn of_cuda(&self, there: usize) -> usize {
        match self {
            Devices::Auto => 1,
            _ => self.of(there),
        }
    }

    /// How many of so many emulated ones.
    pub fn of(&self, there: usize) -> usize {
        let wanted = match self {
            Devices::Auto | Devices::All => there,
            Devices::Number(n) => *n,
            Devices::List(list) => list.len(),
        };
        wanted.clamp(1, there.max(1))
    }
}

/// `POLLYRS_RT_EMU_ORDER`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Forward,
    Reverse,
    Seeded(u64),
}

impl Order {
    fn parse(value: &str) -> Option<Order> {
        match value {
            "reverse" => Some(Order::Reverse),
            seed => seed.parse().ok().map(Order::Seeded),
        }
    }
}

/// All settings of a process.
#[derive(Debug)]
pub struct Config {
    pub device: DeviceChoice,
    pub offload: Offload,
    pub profile: Option<PathBuf>,
    pub compare: Option<PathBuf>,
    pub verbose: bool,
    pub cuda_library: Option<PathBuf>,
    /// None: the program's, or the first.
    pub cuda_device: Option<i32>,
    pub devices: Devices,
    pub emulated_devices: usize,
    /// Devices share launches whether it pays or not.
    pub shares_always: bool,
    pub job: Job,
    /// Bytes; None: a quarter of the device's memory.
    pub pool_bytes: Option<u64>,
    pub staging_bytes: u64,
    /// 0: no copies of our own.
    pub copy_threads: usize,
    pub overlap: Overlap,
    pub late: LateKernels,
    /// Launches may go as graphs.
    pub graphs: bool,
    pub resident: bool,
    /// The folder for what is kept between processes.
    pub cache: Option<PathBuf>,
    pub faults: Faults,
    pub emu_order: Order,
    pub emu_threads: usize,
    pub emu_stack: usize,
    pub check: Checks,
    /// About values that aren't understood, and names that don't exist: a line each.
    pub complaints: Vec<String>,
}

const MIB: u64 = 1 << 20;
/// Threads that copy, where there are as many cores.
const COPY_THREADS: usize = 8;

impl Config {
    /// The settings of this process.
    pub fn from_environment() -> Config {
        // A value that is not Unicode can only be a path; the lossy text then names a file that does not
        // exist.
        let get = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Config::new(get, std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()))
    }

    /// The settings that `get` gives, in an environment of variables with these names.
    pub fn new(get: impl Fn(&str) -> Option<String>, names: impl IntoIterator<Item = String>) -> Config {
        let mut reader = Reader::new(get);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let check = reader.read(
            "POLLYRS_RT_CHECK",
            Checks::default(),
            Checks::parse,
            "0, 1, or a list of race, bounds, init, copies",
        );
        let seed = reader.read("POLLYRS_RT_CHECK_SEED", 1, |value| value.parse().ok(), "a number");
        let order = if check.race { Order::Seeded(seed) } else { Order::Forward };
        let mut config = Config {
            device: reader.read(
                "POLLYRS_RT_DEVICE",
                DeviceChoice::Auto,
                DeviceChoice::parse,
                "auto, cuda, emulated, off",
            ),
            offload: reader.read(
                "POLLYRS_RT_OFFLOAD",
                Offload::Auto,
                Offload::parse,
                "auto, always, always:N, never, require",
            ),
            profile: reader.path("POLLYRS_RT_PROFILE"),
            compare: reader.path("POLLYRS_RT_COMPARE"),
            verbose: reader.flag("POLLYRS_RT_VERBOSE", false),
            // Not made absolute: a bare name is searched as the loader does.
            cuda_library: reader.text("POLLYRS_RT_CUDA_LIBRARY").map(PathBuf::from),
            cuda_device: reader.read(
                "POLLYRS_RT_CUDA_DEVICE",
                None,
                |value| number(value, 0).map(Some),
                "0, 1, ...",
            ),
            devices: reader.read(
                "POLLYRS_RT_DEVICES",
                Devices::Auto,
                Devices::parse,
                "1, 2, ... 64, all, or a list of numbers with commas",
            ),
            shares_always: reader.flag("POLLYRS_RT_SHARE", false),
            emulated_devices: reader.read(
                "POLLYRS_RT_EMULATED_DEVICES",
                1,
                |value| value.parse().ok().filter(|n| (1..=MAX_DEVICES).contains(n)),
                "1, 2, ... 64",
            ),
            job: Job::read(&mut reader),
            pool_bytes: reader.read(
                "POLLYRS_RT_POOL",
                None,
                |value| mebibytes(value).map(Some),
                "0, 1, ... (MiB)",
            ),
            staging_bytes: reader.read("POLLYRS_RT_STAGING", 4 * MIB, mebibytes, "0, 1, ... (MiB)"),
            copy_threads: reader.read(
                "POLLYRS_RT_COPY_THREADS",
                cores.min(COPY_THREADS),
                |value| value.parse().ok().filter(|&n| n <= 64),
                "0, 1, ... 64",
            ),
            overlap: reader.read("POLLYRS_RT_OVERLAP", Overlap::Auto, Overlap::parse, "auto, off, 1, 2, ..."),
            late: reader.read(
                "POLLYRS_RT_LATE",
                LateKernels::Auto,
                LateKernels::parse,
                "auto, now, soon, never",
            ),
            graphs: reader.flag("POLLYRS_RT_GRAPHS", true),
            resident: reader.read("POLLYRS_RT_RESIDENT", false, on_or_off, "off, on"),
            cache: cache_folder(&mut reader),
            faults: reader.read(
                "POLLYRS_RT_FAULT",
                Faults::default(),
                Faults::parse,
                "module:k, alloc:k, copy:k, end-copy:k, launch:k, graph:k, sync:k, with commas",
            ),
            emu_order: reader.read("POLLYRS_RT_EMU_ORDER", order, Order::parse, "a number, reverse"),
            emu_threads: reader.read("POLLYRS_RT_EMU_THREADS", cores, |value| number(value, 1), "1, 2, ..."),
            emu_stack: 1024
                * reader.read(
                    "POLLYRS_RT_EMU_STACK",
                    // Large kernels are not optimized and have large frames. Only pages that are touched cost
                    // memory.
                    1024,
                    |value| value.parse().ok().filter(|kib| (16..=1 << 20).contains(kib)),
                    "16, 17, ... (KiB)",
                ),
            check,
            complaints: Vec::new(),
        };
        if config.compare.is_some() {
            // No result may reach the program's memory.
            config.overlap = Overlap::Off;
        }
        config.job.adjust(&mut config.overlap, &mut config.late, &mut config.resident);
        config.complaints = reader.complaints(names);
        config
    }

    /// Whether executions are to be timed and reported at all.
    pub fn reports(&self) -> bool {
        self.verbose || self.profile.is_some()
    }
}

fn on_or_off(value: &str) -> Option<bool> {
    match value {
        "off" => Some(false),
        "on" => Some(true),
        _ => None,
    }
}

/// A number that is not less than `least`.
fn number<T: FromStr + PartialOrd>(value: &str, least: T) -> Option<T> {
    value.parse().ok().filter(|number| *number >= least)
}

/// Bytes, of a number of MiB.
fn mebibytes(value: &str) -> Option<u64> {
    value.parse::<u64>().ok()?.checked_mul(MIB)
}

/// `POLLYRS_RT_CACHE`.
fn cache_folder<F: Fn(&str) -> Option<String>>(reader: &mut Reader<F>) -> Option<PathBuf> {
    let value = reader.text("POLLYRS_RT_CACHE");
    let folder = |name: &str| reader.foreign(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match value {
        Some(value) if value == "off" => None,
        Some(value) => std::path::absolute(value).ok(),
        None => {
            let home = || folder("HOME").map(|home| home.join(".cache"));
            folder("XDG_CACHE_HOME").or_else(home).map(|cache| cache.join("pollyrs"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use crate::base::faults::Operation;

    fn config(variables: &[(&str, &str)]) -> Config {
        let get = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        Config::new(get, variables.iter().map(|(name, _)| name.to_string()))
    }

    #[test]
    fn defaults() {
        let config = config(&[]);
        assert_eq!((config.device, config.offload), (DeviceChoice::Auto, Offload::Auto));
        assert_eq!((config.emu_order, config.emu_stack), (Order::Forward, 1 << 20));
        assert!(
            config.graphs && !config.reports() && config.complaints.is_empty() && config.pool_bytes.is_none()
        );
    }

    #[test]
    fn values() {
        let config = config(&[
            ("POLLYRS_RT_DEVICE", "emulated"),
            ("POLLYRS_RT_OFFLOAD", "always"),
            ("POLLYRS_RT_PROFILE", "x.json"),
            ("POLLYRS_RT_EMU_ORDER", "7"),
            ("POLLYRS_RT_POOL", "2"),
            ("POLLYRS_RT_GRAPHS", "0"),
        ]);
        assert_eq!((config.device, config.offload), (DeviceChoice::Emulated, Offload::Always));
        assert!(config.profile.as_ref().is_some_and(|path| path.is_absolute()));
        assert_eq!((config.emu_order, config.pool_bytes), (Order::Seeded(7), Some(2 * MIB)));
        assert!(!config.graphs && config.complaints.is_empty());
    }

    #[test]
    fn offload() {
        let cases = [
            ("always:0", Some(0)),
            ("always:17", Some(17)),
            ("always:", None),
            ("always:-1", None),
            ("always:x", None),
        ];
        for (value, most) in cases {
            let read = config(&[("POLLYRS_RT_OFFLOAD", value)]);
            assert_eq!(read.offload, most.map_or(Offload::Auto, Offload::First), "{value}");
            assert_eq!(read.complaints.is_empty(), most.is_some(), "{value}");
        }
    }

    #[test]
    fn devices() {
        let list = |numbers: &[i32]| Devices::List(numbers.to_vec());
        for (value, expected, of_four) in [
            ("1", Some(Devices::Number(1)), 1),
            ("3", Some(Devices::Number(3)), 3),
            ("64", Some(Devices::Number(64)), 4),
            ("all", Some(Devices::All), 4),
            ("2,", Some(list(&[2])), 1),
            ("3,0,1", Some(list(&[3, 0, 1])), 3),
            ("0", None, 0),
            ("65", None, 0),
            ("1,1", None, 0),
            ("1,-1", None, 0),
            (",", None, 0),
            ("many", None, 0),
        ] {
            let found = Devices::parse(value);
            assert_eq!(found, expected, "{value}");
            found.into_iter().for_each(|devices| assert_eq!(devices.of(4), of_four, "{value}"));
        }
        assert_eq!(Devices::default().of(3), 3);
    }

    #[test]
    fn the_cache_has_a_place() {
        let home = ("HOME", "/home/somebody");
        // (variables, folder)
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let table: [(Variables, Option<&str>); 6] = [
            (&[], None),
            (&[home], Some("/home/somebody/.cache/pollyrs")),
            (&[home, ("XDG_CACHE_HOME", "/cache")], Some("/cache/pollyrs")),
            (&[home, ("XDG_CACHE_HOME", "relative")], Some("/home/somebody/.cache/pollyrs")),
            (&[home, ("POLLYRS_RT_CACHE", "/elsewhere")], Some("/elsewhere")),
            (&[home, ("POLLYRS_RT_CACHE", "off")], None),
        ];
        for (variables, folder) in table {
            assert_eq!(config(variables).cache, folder.map(PathBuf::from), "{variables:?}");
        }
    }

    #[test]
    fn complaints() {
        for (name, value) in [
            ("POLLYRS_RT_DEVICE", "gpu"),
            ("POLLYRS_RT_OFFLOAD", "yes"),
            ("POLLYRS_RT_VERBOSE", "2"),
            ("POLLYRS_RT_LATE", "yes"),
            ("POLLYRS_RT_GRAPHS", "off"),
            ("POLLYRS_RT_FAULT", "alloc"),
            ("POLLYRS_RT_FAULT", "disk:1"),
            ("POLLYRS_RT_EMU_STACK", "1"),
            ("POLLYRS_RT_CUDA_DEVICE", "-1"),
            ("POLLYRS_RT_EMU_THREADS", "0"),
        ] {
            let complaints = config(&[(name, value)]).complaints;
            assert_eq!(complaints.len(), 1, "{complaints:?}");
            assert!(complaints[0].starts_with(&format!("{name}={value} is not one of")), "{complaints:?}");
        }
        let complaints = config(&[("POLLYRS_RT_DEVCIE", "cuda"), ("POLLYRS_TILE", "8")]).complaints;
        assert_eq!(
            complaints,
            ["there is no setting POLLYRS_RT_DEVCIE: ignored (meant: POLLYRS_RT_DEVICE?)"]
        );
    }

    #[test]
    fn the_planned_operation_fails() {
        let config = config(&[("POLLYRS_RT_FAULT", "alloc:2,copy:1")]);
        let alloc: Vec<bool> = (0..4).map(|_| config.faults.check(Operation::Alloc).is_err()).collect();
        assert_eq!(alloc, [false, true, false, false]);
        assert_eq!(
            config.faults.check(Operation::Copy),
            Err(Error::Injected { operation: Operation::Copy, count: 1 })
        );
        assert_eq!(config.faults.check(Operation::Launch), Ok(()));
    }
}
