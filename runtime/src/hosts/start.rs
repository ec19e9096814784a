//! Who is a rank, and what it writes.
//!
//! Problem: output that a program writes before its first SCoP would come from all ranks, and a child process
//! inherits the settings of a rank. Approach: a function that runs before `main` looks at the settings alone.
//! MPI itself is started where the first SCoP begins: before `main` libraries are still being loaded.

use std::ffi::c_int;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use libloading::os::unix::Library;

use super::World;
use super::mpi;
use crate::base::caller::fatal;
use crate::base::config::Config;
use crate::base::job::Mpi;

/// A child that inherits it is no rank.
const MARK: &str = "_POLLYRS_RANK_PROCESS";
/// What launchers tell the processes that they start: Hydra and Slurm, PRRTE and Open MPI, Slurm alone.
const RANKS: [&str; 4] = ["PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"];

/// The process that is a rank; 0: none.
static PROCESS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn gettid() -> c_int;
}

/// Runs before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static PREPARE: extern "C" fn() = prepare;

extern "C" fn prepare() {
    let set = |name: &str| std::env::var_os(name).and_then(|value| value.into_string().ok());
    if !set("POLLYRS_RT_MPI").is_some_and(|value| Mpi::parse(&value).is_some_and(|mpi| mpi != Mpi::Off)) {
        return;
    }
    let own = std::process::id();
    if set(MARK).is_some_and(|mark| mark != own.to_string()) || uses_mpi() {
        return;
    }
    PROCESS.store(own, Ordering::Relaxed);
    // With other threads nobody may change the environment; a library that is loaded later may have some.
    if std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1) {
        // SAFETY: there is no other thread.
        unsafe { std::env::set_var(MARK, own.to_string()) };
    }
    let rank = RANKS.iter().find_map(|name| set(name)?.parse::<u64>().ok());
    let all = set("POLLYRS_RT_MPI_OUTPUT").is_some_and(|value| value == "all");
    if rank.is_some_and(|rank| rank > 0) && !all {
        silence();
    }
}

/// The program's standard output goes nowhere.
fn silence() {
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        // SAFETY: two descriptors.
        unsafe { dup2(nowhere.as_raw_fd(), 1) };
    }
}

/// Whether the program has functions of MPI: it divides its work itself.
fn uses_mpi() -> bool {
    let program = Library::this();
    // SAFETY: only asked for, never called.
    ["MPI_Init", "MPI_Init_thread", "mpi_init_", "mpi_init_thread_"]
        .iter()
        .any(|name| unsafe { program.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_ok())
}

/// Whether this process is one that the launcher started with the settings for it.
pub fn is_job() -> bool {
    PROCESS.load(Ordering::Relaxed) == std::process::id()
}

/// Whether this is the thread that the process began with.
pub fn is_first_thread() -> bool {
    // SAFETY: no arguments, no effects.
    let thread = unsafe { gettid() };
    u32::try_from(thread).is_ok_and(|thread| thread == std::process::id())
}

/// Starts MPI. `None`: there is no other rank, or somebody else uses MPI.
pub fn world(config: &Config) -> Option<World> {
    let started = match mpi::Mpi::start(config.job.library.as_deref()) {
        Ok(started) => started?,
        Err(text) if config.job.mpi == Mpi::Strict => {
            fatal(&format!("POLLYRS_RT_MPI=strict, but MPI can't be started: {text}"))
        }
        Err(text) => {
            // A program without a standard error goes on.
            let text = format!("pollyrs: MPI can't be started, so that this process works alone: {text}");
            let _ = writeln!(std::io::stderr(), "{text}");
            return None;
        }
    };
    let mut world = World::new(Box::new(started), config.job.mpi == Mpi::Local);
    world.compares_data = config.job.compares;
    if world.rank() > 0 && !config.job.all_output {
        // A launcher that did not say who is who.
        silence();
    }
    Some(world)
}
