//! Runs a variant of the program and reads what the run-time library wrote about it.
//!
//! # Invariants
//! - Every run of a variant counts only if the program ended, printed and wrote the same as the reference,
//!   byte for byte.
//! - On the emulated device, whose times say nothing about a GPU, the number of launches is what counts.

use fs_err::File;
use pollyrs_rt::lines::ExecutionLine;
use pollyrs_tuning::content_hash;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Settings {
    pub args: Vec<OsString>,
    pub runs: usize,
    /// Files that the program writes and that are compared, too.
    pub files: Vec<PathBuf>,
    pub ignore_output: bool,
}

/// What a run leaves behind, of the files a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub status: Option<i32>,
    pub printed: Vec<u8>,
    pub files: Vec<Option<String>>,
}

/// One loop nest in some runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Kernel times of a run, the median.
    pub ms: f64,
    pub launches: u64,
    /// Executions on a device in a run.
    pub executions: u64,
    pub emulated: bool,
}

impl Measured {
    /// What is compared: less is better.
    pub fn score(&self) -> f64 {
        if self.emulated { self.launches as f64 } else { self.ms }
    }
}

/// Why a variant does not count.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("cannot run {0}: {1}")]
    Start(PathBuf, std::io::Error),
    #[error("takes longer than {0:.0} s")]
    Slow(f64),
    #[error("has another result than the plain program{0}")]
    Output(String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Runs once; what it says about its loop nests goes to `profile`.
pub fn run_once(
    program: &Path,
    settings: &Settings,
    profile: &Path,
    limit: Duration,
) -> Result<(Output, Duration), RunError> {
    for file in &settings.files {
        // Not there yet, or left by the run before.
        let _ = fs_err::remove_file(file);
    }
    let printed = tempfile::NamedTempFile::new()?;
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(&settings.args)
        .env("POLLYRS_RT_OFFLOAD", "always")
        .env("POLLYRS_RT_PROFILE", profile)
        .stdin(Stdio::null())
        .stdout(File::create(printed.path())?.into_parts().0)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| RunError::Start(program.to_owned(), e))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(RunError::Slow(limit.as_secs_f64()));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let took = began.elapsed();
    let content =
        |file: &PathBuf| fs_err::read(file).ok().map(|b| format!("{} {}", b.len(), content_hash(&b)));
    let files = settings.files.iter().map(content).collect();
    let printed = if settings.ignore_output { Vec::new() } else { fs_err::read(printed.path())? };
    Ok((Output { status: status.code(), printed, files }, took))
}

/// All runs of a variant: by the names of SCoPs.
pub fn measure(
    program: &Path,
    settings: &Settings,
    reference: Option<&Output>,
    limit: Duration,
) -> Result<(BTreeMap<String, Measured>, Output), RunError> {
    let mut runs: Vec<BTreeMap<String, Measured>> = Vec::new();
    let mut first: Option<Output> = None;
    for _ in 0..settings.runs.max(1) {
        let profile = tempfile::NamedTempFile::new()?;
        let (output, _) = run_once(program, settings, profile.path(), limit)?;
        let expected = reference.or(first.as_ref());
        if let Some(expected) = expected.filter(|e| **e != output) {
            return Err(RunError::Output(difference(expected, &output)));
        }
        first.get_or_insert(output);
        runs.push(sums(&fs_err::read_to_string(profile.path())?));
    }
    let output = first.unwrap_or(Output { status: None, printed: Vec::new(), files: Vec::new() });
    Ok((medians(&runs), output))
}

/// Where two outputs begin to differ.
fn difference(a: &Output, b: &Output) -> String {
    if a.status != b.status {
        let text = |s: Option<i32>| s.map_or("a signal".to_owned(), |s| s.to_string());
        return format!(": exit status {} and not {}", text(b.status), text(a.status));
    }
    if a.files != b.files {
        return " in a file".to_owned();
    }
    let at = a.printed.iter().zip(&b.printed).take_while(|(x, y)| x == y).count();
    format!(" from byte {at} on")
}

/// Sums over the executions of a run.
fn sums(profile: &str) -> BTreeMap<String, Measured> {
    let mut sums: BTreeMap<String, Measured> = BTreeMap::new();
    for line in profile.lines().filter_map(|l| serde_json::from_str::<ExecutionLine>(l).ok()) {
        if line.on_host() || line.release {
            continue;
        }
        let sum = sums.entry(line.scop).or_default();
        sum.ms += line.kernel_ms;
        sum.launches += line.kernels;
        sum.executions += 1;
        sum.emulated |= line.device == "emulated";
    }
    sums
}

/// Of each nest that was on the device in all runs, as often in each.
fn medians(runs: &[BTreeMap<String, Measured>]) -> BTreeMap<String, Measured> {
    let Some(first) = runs.first() else { return BTreeMap::new() };
    let mut out = BTreeMap::new();
    for (scop, sum) in first {
        let all: Option<Vec<&Measured>> = runs.iter().map(|r| r.get(scop)).collect();
        let Some(all) = all.filter(|all| all.iter().all(|m| m.executions == sum.executions)) else {
            continue;
        };
        let mut times: Vec<f64> = all.iter().map(|m| m.ms).collect();
        times.sort_by(f64::total_cmp);
        let half = times.len() / 2;
        let ms = if times.len() % 2 == 1 { times[half] } else { (times[half - 1] + times[half]) / 2.0 };
        out.insert(scop.clone(), Measured { ms, ..sum.clone() });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(ms: [f64; 2]) -> String {
        let line = |ms: f64, rest: &str| {
            format!("{{\"scop\":\"f\",\"device\":\"cuda\",\"kernels\":2,\"kernel_ms\":{ms}{rest}}}\n")
        };
        line(ms[0], "")
            + &line(ms[1], ",\"at\":\"x.c:3\"")
            + &line(100.0, ",\"release\":true")
            + "{\"scop\":\"g\",\"device\":\"host\",\"kernel_ms\":0}\n{\"scop\":\"f\",\"dev"
    }

    #[test]
    fn executions_of_a_run_are_summed_and_runs_have_a_median() {
        let runs = [[1.0, 2.0], [5.0, 5.0], [2.0, 2.0]].map(|ms| sums(&profile(ms)));
        let all = medians(&runs);
        assert_eq!(all.len(), 1, "what ran on the host is not there");
        assert_eq!(all["f"], Measured { ms: 4.0, launches: 4, executions: 2, emulated: false });
        assert_eq!(medians(&runs[..2])["f"].ms, 6.5);
        assert!(medians(&[]).is_empty());
    }

    #[test]
    fn a_nest_that_fell_back_once_has_no_time() {
        let fallen = "{\"scop\":\"f\",\"device\":\"cuda\",\"kernels\":2,\"kernel_ms\":1}\n";
        assert!(medians(&[sums(&profile([1.0, 1.0])), sums(fallen)]).is_empty());
        assert!(medians(&[sums(&profile([1.0, 1.0])), sums("")]).is_empty());
    }

    #[test]
    fn launches_count_on_the_emulated_device() {
        let line = "{\"scop\":\"f\",\"device\":\"emulated\",\"kernels\":7,\"kernel_ms\":0.5}";
        assert_eq!(sums(line)["f"].score(), 7.0);
        assert_eq!(sums(&line.replace("emulated", "cuda"))["f"].score(), 0.5);
    }

    fn script(text: &str) -> (tempfile::TempDir, PathBuf, Settings) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let args = ["-c", text, "sh"].map(OsString::from).into_iter().chain([out.clone().into()]).collect();
        (folder, PathBuf::from("/bin/sh"), Settings { args, runs: 3, files: vec![out], ignore_output: false })
    }

    #[test]
    fn outputs_are_compared_byte_for_byte() {
        let limit = Duration::from_secs(20);
        let (_folder, sh, settings) = script("echo a; printf b > \"$1\"; exit 3");
        let (_, output) = measure(&sh, &settings, None, limit).unwrap();
        assert_eq!((output.status, output.printed.as_slice()), (Some(3), b"a\n".as_slice()));
        for (other, want) in [
            ("echo b; printf b > \"$1\"; exit 3", "from byte 0 on"),
            ("echo a; printf c > \"$1\"; exit 3", "in a file"),
            ("echo a; printf b > \"$1\"; exit 4", "exit status 4 and not 3"),
            ("echo a; kill -9 $$", "exit status a signal and not 3"),
        ] {
            let (_folder, sh, settings) = script(other);
            let error = measure(&sh, &settings, Some(&output), limit).unwrap_err().to_string();
            assert!(error.contains(want), "{other}: {error}");
        }
        let (_folder, sh, mut settings) = script("echo $$; printf b > \"$1\"");
        assert!(measure(&sh, &settings, None, limit).is_err(), "another output each time");
        settings.ignore_output = true;
        assert!(measure(&sh, &settings, None, limit).is_ok());
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let (_folder, sh, settings) = script("sleep 60");
        let error = measure(&sh, &settings, None, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, RunError::Slow(_)), "{error}");
    }
}
