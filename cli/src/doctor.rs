//! `pollyrs doctor`: whether this machine can compile and run offloaded programs, and what to do where it
//! can't.
//!
//! Each check is a line: `ok`, `note` (works, but something is lost) or `fail`, and what to do. Nothing is
//! changed, and nothing runs on the device but the driver's start.

use crate::driver::install::{Install, compiler_path};
use crate::driver::{Compiler, DriverError};
use pollyrs_rt::config::Config;
use pollyrs_rt::driver::{self, Api};
use pollyrs_rt::machine::{self, Machine};
use serde::Serialize;
use std::ffi::CStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// PTX versions of the drivers since CUDA 11.0 (PTX ISA, "Release notes"): CUDA's version and PTX's, times
/// ten.
const PTX_VERSIONS: [(i32, u32); 8] =
    [(130, 90), (129, 88), (128, 87), (126, 85), (124, 84), (120, 80), (118, 78), (110, 70)];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Note,
    Fail,
}

/// One line of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    verdict: Verdict,
    what: &'static str,
    found: String,
    /// What to do; empty where nothing is to be done.
    remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok  ",
            Verdict::Note => "note",
            Verdict::Fail => "fail",
        };
        write!(f, "{verdict}  {:14} {}", self.what, self.found)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "\n                     → {}", self.remedy) }
    }
}

fn finding(
    verdict: Verdict,
    what: &'static str,
    found: impl Into<String>,
    remedy: impl Into<String>,
) -> Finding {
    Finding { verdict, what, found: found.into(), remedy: remedy.into() }
}

fn ok(what: &'static str, found: impl Into<String>) -> Finding {
    finding(Verdict::Ok, what, found, "")
}

/// How the findings are printed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The exit status is 1 if something fails: a program could not be compiled, or not run on a device. Notes leave it 0."
)]
pub struct DoctorArgs {
    /// Print a JSON array of findings, each with verdict (ok, note, fail), what, found and remedy
    #[arg(long)]
    json: bool,
}

/// Prints the findings; 1 if a program could not be compiled or not run on a device.
pub fn run(args: &DoctorArgs) -> u8 {
    let findings: Vec<Finding> = [
        compilers(),
        vec![installation(), ptxas(), math_library()],
        device(),
        vec![machine(), page_lock(), residency()],
        settings(),
    ]
    .concat();
    let text = match args.json {
        true => serde_json::to_string_pretty(&findings).unwrap_or_default() + "\n",
        false => findings.iter().map(|finding| format!("{finding}\n")).collect(),
    };
    // The status says the same.
    let _ = crate::output::print(&text);
    u8::from(findings.iter().any(|f| f.verdict == Verdict::Fail))
}

/// The first line that a program prints about itself.
fn first_line(program: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

fn compilers() -> Vec<Finding> {
    [
        (Compiler::Clang, "C", Verdict::Fail),
        (Compiler::ClangXx, "C++", Verdict::Note),
        (Compiler::Flang, "Fortran", Verdict::Note),
    ]
    .map(|(compiler, language, missing)| {
        let path = compiler_path(compiler);
        match first_line(&path, &["--version"]) {
            Some(version) if version.contains("version 22.") => ok(language, version),
            Some(version) => finding(
                Verdict::Fail,
                language,
                version,
                "the plugin is for LLVM 22: put clang-22 in PATH (Debian: apt-get install clang-22)",
            ),
            None => {
                let package = compiler.versioned_name().replace("clang++", "clang");
                let remedy =
                    format!("apt-get install {package} (apt.llvm.org has it for older distributions)");
                finding(missing, language, format!("no {}", compiler.versioned_name()), remedy)
            }
        }
    })
    .to_vec()
}

fn installation() -> Finding {
    match Install::locate() {
        Ok(install) => ok("installation", install.plugin.display().to_string()),
        Err(DriverError::NotInstalled { name, dir }) => finding(
            Verdict::Fail,
            "installation",
            format!("{name} is neither in {dir} nor in ../lib"),
            "run scripts/setup (builds target/release), or scripts/install PREFIX",
        ),
        Err(error) => finding(Verdict::Fail, "installation", error.to_string(), ""),
    }
}

/// As the plugin looks for it.
fn find_ptxas() -> Option<PathBuf> {
    let named = std::env::var_os("POLLYRS_PTXAS").map(PathBuf::from);
    let plugin = Install::locate().ok().and_then(|i| i.plugin.parent().map(Path::to_path_buf));
    let beside = plugin.iter().flat_map(|p| p.ancestors().take(4)).flat_map(|dir| {
        [dir.join("tools/ptxas"), dir.join("build/tools/ptxas"), dir.join("build/tools/bin/ptxas")]
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path: Vec<PathBuf> = std::env::split_paths(&path).map(|dir| dir.join("ptxas")).collect();
    let installed = [PathBuf::from("/usr/local/cuda/bin/ptxas")];
    match named {
        Some(named) => Some(named).filter(|p| p.is_file()),
        None => beside.chain(in_path).chain(installed).find(|p| p.is_file()),
    }
}

fn ptxas() -> Finding {
    match find_ptxas() {
        Some(path) => {
            let output = Command::new(&path).arg("--version").output().map(|o| o.stdout).unwrap_or_default();
            let text = String::from_utf8_lossy(&output).into_owned();
            let version = text
                .lines()
                .find(|line| line.contains("release"))
                .unwrap_or("version unknown")
                .trim()
                .to_owned();
            ok("ptxas", format!("{} ({version})", path.display()))
        }
        None => finding(
            Verdict::Note,
            "ptxas",
            "none",
            "the driver compiles kernels when they first run (up to a second each; it caches them); they are as fast then, programs have code for \
             each generation of GPUs; scripts/setup fetches ptxas, or set POLLYRS_PTXAS, or install the CUDA toolkit",
        ),
    }
}

fn math_library() -> Finding {
    let home = std::env::var_os("CUDA_HOME").map(PathBuf::from);
    let of_home = |home: &Path| home.join("nvvm/libdevice/libdevice.10.bc");
    let toolkit = find_ptxas().and_then(|p| Some(p.parent()?.parent()?.to_path_buf()));
    let beside = toolkit.iter().flat_map(|t| [of_home(t), t.join("libdevice/libdevice.10.bc")]);
    let usual = of_home(Path::new("/usr/local/cuda"));
    let libdevice =
        home.as_deref().map(of_home).into_iter().chain(beside).chain([usual]).find(|p| p.is_file());
    if let Some(path) = libdevice {
        return ok("maths library", path.display().to_string());
    }
    let libclc =
        ["/usr/lib/clc/nvptx64--.bc", "/usr/share/clc/nvptx64--.bc", "/usr/lib/llvm-22/lib/clc/nvptx64--.bc"];
    match libclc.iter().find(|path| Path::new(path).is_file()) {
        Some(path) => finding(Verdict::Ok, "maths library", *path, ""),
        None => finding(
            Verdict::Note,
            "maths library",
            "neither libdevice nor libclc",
            "loops with exp, sin, pow, ... stay on the CPU: apt-get install libclc-22, or set CUDA_HOME",
        ),
    }
}

fn device() -> Vec<Finding> {
    let library = std::env::var_os("POLLYRS_RT_CUDA_LIBRARY").map(PathBuf::from);
    let api = match Api::load(library.as_deref()) {
        Ok(api) => api,
        Err(error) => {
            let remedy = if Path::new("/dev/nvidiactl").exists()
                || Path::new("/proc/driver/nvidia/version").exists()
            {
                "the kernel module is loaded, but libcuda.so.1 is not found: install the driver's user part (Debian: libcuda1), or, in a \
                 container, start it with the GPU (docker run --gpus all)"
            } else {
                "programs run their original loops here; to use a GPU install NVIDIA's driver"
            };
            return vec![finding(Verdict::Fail, "driver", error.to_string(), remedy)];
        }
    };
    let (mut version, mut count) = (0, 0);
    let started = api
        .init(0)
        .and_then(|()| api.driver_version(&mut version))
        .and_then(|()| api.device_count(&mut count));
    if let Err(error) = started {
        let remedy = "nvidia-smi tells more; after an update of the driver reboot; in a container the device files and the library have to \
                      be of the same version; CUDA_VISIBLE_DEVICES may hide the device";
        return vec![finding(Verdict::Fail, "driver", error.to_string(), remedy)];
    }
    let mut findings = vec![driver_version(version)];
    if count == 0 {
        findings.push(finding(
            Verdict::Fail,
            "device",
            "the driver shows none",
            "look at CUDA_VISIBLE_DEVICES and nvidia-smi",
        ));
    }
    findings.extend((0..count).map(|ordinal| one_device(&api, ordinal)));
    findings
}

/// `version`: 13000 for CUDA 13.0.
fn driver_version(version: i32) -> Finding {
    let (major, minor) = (version / 1000, version % 1000 / 10);
    let ptx = PTX_VERSIONS.iter().find(|(cuda, _)| *cuda <= major * 10 + minor);
    match ptx {
        Some((_, ptx)) => {
            ok("driver", format!("CUDA {major}.{minor}, PTX up to {}.{} at least", ptx / 10, ptx % 10))
        }
        None => finding(
            Verdict::Fail,
            "driver",
            format!("CUDA {major}.{minor}"),
            "update the driver: CUDA 11 is the oldest that serves",
        ),
    }
}

fn one_device(api: &Api, ordinal: i32) -> Finding {
    let (mut device, mut major, mut minor, mut memory) = (0, 0, 0, 0usize);
    let mut name = [0; 128];
    // SAFETY: out-pointers to local variables; the name's length is passed, less the NUL that stays.
    let asked = unsafe {
        api.device_get(&mut device, ordinal)
            .and_then(|()| api.device_name(name.as_mut_ptr(), name.len() as i32 - 1, device))
            .and_then(|()| api.device_attribute(&mut major, driver::ATTRIBUTE_MAJOR, device))
            .and_then(|()| api.device_attribute(&mut minor, driver::ATTRIBUTE_MINOR, device))
            .and_then(|()| api.device_memory(&mut memory, device))
    };
    if let Err(error) = asked {
        return finding(Verdict::Fail, "device", format!("{ordinal}: {error}"), "nvidia-smi tells more");
    }
    // SAFETY: the array ends in a NUL that the driver was not told about.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    let mut shared = 0;
    let told = api.device_attribute(&mut shared, driver::ATTRIBUTE_SHARED_BYTES, device);
    one_generation(ordinal, &name, (major, minor), memory, told.ok().map(|()| shared))
}

/// `shared`: bytes of shared memory that a block may have.
fn one_generation(
    ordinal: i32,
    name: &str,
    (major, minor): (i32, i32),
    memory: usize,
    shared: Option<i32>,
) -> Finding {
    let gib = memory as f64 / f64::from(1 << 30);
    let mut found = format!("{ordinal}: {name}, sm_{major}{minor}, {gib:.1} GiB");
    if let Some(bytes) = shared {
        found.push_str(&format!(", {} KiB of shared memory a block", bytes / 1024));
    }
    let remedy = match major {
        8.. => return ok("device", found),
        7 => {
            "no tensor cores for doubles and no asynchronous copies before sm_80: products of doubles are computed point by point; those \
             whose tiles need more shared memory stay on the CPU"
        }
        _ => "kernels are for sm_70 and later unless compiled with --pollyrs-arch=sm_60",
    };
    finding(Verdict::Note, "device", found, remedy)
}

/// What programs would complain about.
fn settings() -> Vec<Finding> {
    let complaints = Config::from_environment().complaints;
    complaints.into_iter().map(|text| finding(Verdict::Note, "settings", text, "")).collect()
}

/// The figures that programs decide by.
fn machine() -> Finding {
    let config = Config::from_environment();
    let Some(file) = machine::file(&config) else {
        return ok("speed", "not kept (POLLYRS_RT_CACHE=off, or there is no home folder)");
    };
    match machine::read(&file) {
        Some(found) => ok("speed", speeds(&found, &file)),
        None => ok("speed", "not measured yet: the first program that uses the GPU does"),
    }
}

fn speeds(found: &Machine, file: &Path) -> String {
    format!(
        "driver {:.0} ms, launch {:.1} µs, link {:.1} GB/s, GPU {:.0} GB/s, CPU {:.1} GB/s a core ({})",
        found.startup * 1e3,
        found.launch * 1e6,
        found.link / 1e9,
        found.device / 1e9,
        found.host / 1e9,
        file.display()
    )
}

/// The limit of `ulimit -l`, from the process's own table.
fn page_lock() -> Finding {
    let table = fs_err::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = table.lines().find_map(|line| line.strip_prefix("Max locked memory")).unwrap_or_default();
    let soft = limit.split_whitespace().next().unwrap_or_default();
    page_lock_of(soft)
}

fn page_lock_of(soft: &str) -> Finding {
    const NEEDED: u64 = 64 << 20;
    match soft.parse::<u64>() {
        // The driver pins through its own module, which asks no limit; some containers and older kernels
        // count it.
        Ok(bytes) if bytes < NEEDED => finding(
            Verdict::Note,
            "locked memory",
            format!("limit {} KiB", bytes >> 10),
            "if large transfers are slow here: ulimit -l unlimited (in a container: --ulimit memlock=-1)",
        ),
        Ok(bytes) => ok("locked memory", format!("limit {} MiB", bytes >> 20)),
        Err(_) => ok("locked memory", "unlimited"),
    }
}

fn residency() -> Finding {
    let release = fs_err::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    residency_of(release.trim())
}

fn residency_of(release: &str) -> Finding {
    let mut numbers = release.split(['.', '-']).map(|part| part.parse().unwrap_or(0u32));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (6, 11) {
        return ok("kernel", format!("Linux {release}: POLLYRS_RT_RESIDENT=on can be used"));
    }
    finding(
        Verdict::Note,
        "kernel",
        format!("Linux {release}"),
        "POLLYRS_RT_RESIDENT=on needs Linux 6.11; what the compiler keeps on the device needs nothing",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        assert_eq!(driver_version(13000).found, "CUDA 13.0, PTX up to 9.0 at least");
        assert_eq!(driver_version(12010).found, "CUDA 12.1, PTX up to 8.0 at least");
        assert_eq!(driver_version(10020).verdict, Verdict::Fail);
        assert_eq!(page_lock_of("65536").verdict, Verdict::Note);
        assert_eq!(page_lock_of("unlimited").verdict, Verdict::Ok);
        assert_eq!(residency_of("6.11.2-amd64").verdict, Verdict::Ok);
        assert_eq!(residency_of("6.1.0-41-amd64").verdict, Verdict::Note);
        assert_eq!(residency_of("7.0").verdict, Verdict::Ok);
    }

    #[test]
    fn generations_that_lose_something() {
        let of = |version, shared| one_generation(0, "GPU", version, 16 << 30, shared);
        assert_eq!(of((9, 0), None).to_string(), "ok    device         0: GPU, sm_90, 16.0 GiB");
        let volta = of((7, 0), Some(98304));
        assert_eq!(volta.found, "0: GPU, sm_70, 16.0 GiB, 96 KiB of shared memory a block");
        assert!(volta.verdict == Verdict::Note && volta.remedy.contains("tensor cores"), "{volta}");
        assert!(of((6, 1), None).remedy.contains("--pollyrs-arch=sm_60"));
    }

    #[test]
    fn speeds_have_units() {
        let text = speeds(&machine::REFERENCE, Path::new("/x.json"));
        assert_eq!(
            text,
            "driver 200 ms, launch 3.6 µs, link 52.0 GB/s, GPU 3650 GB/s, CPU 36.0 GB/s a core (/x.json)"
        );
    }

    #[test]
    fn every_failure_says_what_to_do() {
        for f in [driver_version(9000), page_lock_of("1"), residency_of("5.0")] {
            assert!(f.remedy.len() > 10 && f.to_string().contains("→"), "{f}");
        }
    }
}
