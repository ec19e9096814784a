//! Child processes with a limit on their time, their processor time and their output.

use crate::error::{Error, Result, at};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub struct Done {
    pub status: ExitStatus,
    pub timed_out: bool,
    /// Processor time, its children's included.
    pub cpu: Duration,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    pub fn ok(&self) -> bool {
        self.status.success() && !self.timed_out
    }

    /// What went wrong, with the last line of stderr that says something.
    pub fn why(&self) -> String {
        let what = match (self.timed_out, self.status.code(), self.status.signal()) {
            (true, ..) => "timed out".to_owned(),
            (_, Some(code), _) => format!("exit status {code}"),
            (_, _, Some(signal)) => format!("signal {signal}"),
            _ => "unknown end".to_owned(),
        };
        let telling = ["error:", "panicked", "Assertion", "pollyrs", "LLVM ERROR"];
        let said = self.stderr.lines().find(|l| telling.iter().any(|t| l.contains(t)));
        format!("{what}: {}", said.or(self.stderr.lines().last()).unwrap_or(""))
    }
}

/// Ticks of `/proc/PID/stat`; 100 a second on every Linux this runs on (`getconf CLK_TCK`).
const TICKS: u64 = 100;

/// A process may wait so many times as long as it may compute: other programs run beside it.
const PATIENCE: u32 = 20;

/// Runs a command to its end, for at most `limit` of processor time; `scratch` names two files for its
/// output.
pub fn run(command: &mut Command, scratch: &Path, limit: Duration) -> Result<Done> {
    let (out, err) = (scratch.with_extension("stdout"), scratch.with_extension("stderr"));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out).map_err(at(&out))?)
        .stderr(File::create(&err).map_err(at(&err))?)
        .spawn()
        .map_err(|source| Error::Start { program: command.get_program().display().to_string(), source })?;
    let started = Instant::now();
    let mut timed_out = false;
    let mut pause = Duration::from_millis(1);
    let cpu = loop {
        match state(child.id()) {
            Some((true, cpu)) => break cpu,
            Some((false, cpu)) if !timed_out && (cpu > limit || started.elapsed() > limit * PATIENCE) => {
                timed_out = true;
                // Ignored: it may have ended just now.
                let _ = child.kill();
            }
            _ => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(8));
    };
    let status = child.wait().map_err(at(&out))?;
    let read =
        |path: &Path| std::fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned()).map_err(at(path));
    Ok(Done { status, timed_out, cpu, stdout: read(&out)?, stderr: read(&err)? })
}

/// Processor time of this process and of all children that ended.
pub fn spent() -> Duration {
    state("self").map_or(Duration::ZERO, |(_, cpu)| cpu)
}

/// Whether a child that was not waited for has ended, and its processor time. A zombie still has its entry in
/// /proc.
fn state(pid: impl std::fmt::Display) -> Option<(bool, Duration)> {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return Some((true, Duration::ZERO));
    };
    // The name in parentheses may hold anything; the state is the first field behind it, the four times
    // fields 12 to 15.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().filter_map(|f| f.parse::<u64>().ok()).sum();
    Some((matches!(*fields.first()?, "Z" | "X"), Duration::from_millis(ticks * 1000 / TICKS)))
}
