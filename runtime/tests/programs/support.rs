//! Builds the C programs once and runs them with settings of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

pub fn scratch() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
        // What earlier runs of this test left, if they are over.
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(process) = name.strip_prefix("programs-")
                && !Path::new("/proc").join(process).exists()
            {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let folder = parent.join(format!("programs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// The folder with `libpollyrs_rt.a` and `libpollyrs_rt.so` of this build.
pub fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    assert!(folder.join("libpollyrs_rt.a").exists(), "no library in {}", folder.display());
    folder.to_path_buf()
}

/// Compiles a file of this folder.
pub fn compile(output: &str, file: &str, arguments: &[&str]) -> PathBuf {
    let output = scratch().join(output);
    let has_clang = Command::new("clang-22").arg("--version").output().is_ok();
    let mut command = Command::new(if has_clang { "clang-22" } else { "cc" });
    command.args([
        "-O2",
        "-Wall",
        "-Wextra",
        "-Wno-missing-field-initializers",
        "-Werror",
        "-ffp-contract=off",
        "-I",
    ]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"));
    command.arg(source(file)).args(arguments).arg("-o").arg(&output);
    let result = command.output().unwrap();
    assert!(result.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&result.stderr));
    output
}

pub const SYSTEM: [&str; 4] = ["-rdynamic", "-lpthread", "-ldl", "-lm"];

/// The program, linked to the static library.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let library = libraries().join("libpollyrs_rt.a");
        compile("program", "program.c", &[&[library.to_str().unwrap()], &SYSTEM[..]].concat())
    })
}

/// The program with code for a real device.
pub fn device_program() -> PathBuf {
    let library = libraries().join("libpollyrs_rt.a");
    let kernels = format!("-DKERNELS_PTX=\"{}\"", source("kernels.ptx").display());
    compile("program-device", "program.c", &[&[library.to_str().unwrap(), &kernels], &SYSTEM[..]].concat())
}

/// The program, linked to the shared library.
pub fn shared_program() -> PathBuf {
    let folder = libraries();
    let (search, path) = (format!("-L{}", folder.display()), format!("-Wl,-rpath,{}", folder.display()));
    // By file name: the folder holds the static library as well.
    let arguments = [search.as_str(), "-l:libpollyrs_rt.so", path.as_str()];
    compile("program-shared", "program.c", &[&arguments[..], &SYSTEM[..]].concat())
}

pub fn shared_library() -> PathBuf {
    libraries().join("libpollyrs_rt.so")
}

/// The driver of `fake_cuda.c`.
pub fn fake_cuda() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| compile("libfake_cuda.so", "fake_cuda.c", &["-shared", "-fPIC", "-ldl"]))
}

/// A file name that no other test uses.
pub fn fresh(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    scratch().join(format!("{}-{name}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// What a run of the program gave.
pub struct Outcome {
    pub output: Output,
    /// The words on stdout.
    pub words: Vec<String>,
    pub stderr: String,
    pub profile: Vec<Value>,
    /// The driver's log.
    pub log: String,
}

impl Outcome {
    /// Only `device` words and then `right`.
    #[track_caller]
    pub fn expect(&self, words: &[&str]) {
        assert!(self.output.status.success() && self.words == words, "{self}");
    }

    /// The program ended itself, with this on stderr.
    #[track_caller]
    pub fn expect_fatal(&self, text: &str) {
        use std::os::unix::process::ExitStatusExt;
        const SIGABRT: i32 = 6;
        assert_eq!(self.output.status.signal(), Some(SIGABRT), "{self}");
        assert!(self.stderr.contains("pollyrs: fatal: ") && self.stderr.contains(text), "{self}");
    }

    /// One execution, on the host, for a reason with this text.
    #[track_caller]
    pub fn expect_host(&self, text: &str) {
        self.expect(&["host", "right"]);
        assert_eq!(self.profile.len(), 1, "{self}");
        assert_eq!(self.profile[0]["device"], "host", "{self}");
        assert!(self.profile[0]["reason"].as_str().unwrap().contains(text), "not {text:?}: {self}");
    }

    /// Calls of a driver function.
    pub fn calls(&self, name: &str) -> usize {
        self.log.lines().filter(|line| line.split(' ').next() == Some(name)).count()
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}: {:?}\n{}", self.output.status, self.words, self.stderr)?;
        writeln!(f, "{:#?}\n{}", self.profile, self.log)
    }
}

/// Runs a program with these variables and no other of the library's.
pub fn run_program(program: &Path, scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let (profile, log) = (fresh("profile.jsonl"), fresh("log"));
    let mut command = Command::new(program);
    command.args(scenario);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        if text.starts_with("POLLYRS_") || text.starts_with("FAKE_CUDA_") {
            command.env_remove(name);
        }
    }
    // Cargo's points to libraries of other builds.
    command.env_remove("LD_LIBRARY_PATH").env_remove("CUDA_VISIBLE_DEVICES");
    command.env("POLLYRS_RT_PROFILE", &profile).env("FAKE_CUDA_LOG", &log).env("POLLYRS_RT_CACHE", "off");
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    Outcome {
        words: String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_string).collect(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        profile: text(&profile).lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        log: text(&log),
        output,
    }
}

pub fn run(scenario: &[&str], variables: &[(&str, &str)]) -> Outcome {
    run_program(program(), scenario, variables)
}

/// For `POLLYRS_RT_CACHE`: a folder with the figures of a machine whose driver is started in `startup`
/// seconds, and whose host goes through so many bytes a second.
pub fn machine(startup: f64, host: f64) -> PathBuf {
    let folder = fresh("cache");
    let library = fake_cuda().to_str().unwrap();
    let variables = [
        ("POLLYRS_RT_CUDA_LIBRARY", library),
        ("POLLYRS_RT_CACHE", folder.to_str().unwrap()),
        ("POLLYRS_RT_OFFLOAD", "always"),
    ];
    // The first process measures; where it writes the others look.
    run(&["plain"], &variables).expect(&["device", "right"]);
    let path = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = format!(
        "{{\"startup\": {startup}, \"launch\": 3e-6, \"link\": 5e10, \"thread\": 1e10, \"device\": 4e12, \"host\": {host}}}"
    );
    std::fs::write(path, text).unwrap();
    folder
}
