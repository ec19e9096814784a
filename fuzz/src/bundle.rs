//! The same programs for a machine with a GPU: compiled here, with what they have to print, and a script that runs and compares them.
//!
//! ```text
//! DIR/run.sh        needs a shell, cmp and a CUDA driver; with SANITIZER=memcheck (or racecheck) under compute-sanitizer
//! DIR/7             file 7 of the seed
//! DIR/7.expected    what the plain program prints
//! DIR/libpollyrs_rt.so
//! ```

use crate::ast::Program;
use crate::check::{self, COMMON, Tools};
use crate::error::{Error, Result, at};
use crate::process;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const COMPILE_LIMIT: Duration = Duration::from_secs(120);

const RUNNER: &str = r#"#!/bin/sh
# Runs the programs on the GPU and compares what they print with what the plain programs print.
#   run.sh [FIRST [LAST]]      SANITIZER=memcheck|racecheck: under compute-sanitizer
cd "$(dirname "$0")" || exit 2
export LD_LIBRARY_PATH="$PWD" POLLYRS_RT_DEVICE=cuda POLLYRS_RT_OFFLOAD=always
same=0 different=0 device=0
for expected in $(ls *.expected | sort -n); do
  name=${expected%.expected}
  [ "$name" -ge "${1:-0}" ] && [ "$name" -le "${2:-999999999}" ] || continue
  rm -f profile
  log=$(mktemp)
  POLLYRS_RT_PROFILE=profile timeout 120 \
    ${SANITIZER:+compute-sanitizer --tool $SANITIZER --log-file "$log" --error-exitcode 97} "./$name" >out 2>err
  status=$?
  [ -e profile ] && device=$((device + $(grep -c '"device":"cuda"' profile)))
  if [ $status = 0 ] && cmp -s out "$expected"; then
    same=$((same + 1))
  else
    different=$((different + 1))
    echo "file $name: exit status $status"
    diff out "$expected" | head -4
    tail -3 err
    [ -s "$log" ] && head -20 "$log"
  fi
  rm -f "$log"
done
echo "$same files the same, $different different, $device executions on the GPU"
[ "$different" = 0 ] && [ "$device" -gt 0 ]
"#;

/// Starts a bundle in `dir`.
pub fn begin(tools: &Tools, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(at(dir))?;
    let runner = dir.join("run.sh");
    std::fs::write(&runner, RUNNER).map_err(at(&runner))?;
    std::fs::set_permissions(&runner, std::fs::Permissions::from_mode(0o755)).map_err(at(&runner))?;
    let library = tools.runtime_dir.join("libpollyrs_rt.so");
    std::fs::copy(&library, dir.join("libpollyrs_rt.so")).map_err(at(&library))?;
    Ok(())
}

/// Adds a file of programs; `false` if even the plain compiler has trouble with it.
pub fn add(
    tools: &Tools,
    programs: &[&Program],
    file: u64,
    strategy: &str,
    dir: &Path,
    scratch: &Path,
) -> Result<bool> {
    let Ok(_) = check::plain(tools, programs, scratch)? else { return Ok(false) };
    let ran = process::run(&mut Command::new(scratch.join("plain")), &scratch.join("plain"), COMPILE_LIMIT)?;
    let expected = dir.join(format!("{file}.expected"));
    let mut command = Command::new(&tools.clang);
    command
        .args(["-O2", "-mllvm", "-pollyrs-targets=cuda", "-mllvm"])
        .arg(format!("-pollyrs-strategy={strategy}"))
        .arg(format!("-fpass-plugin={}", tools.plugin.display()))
        .args(COMMON)
        .arg(scratch.join("batch.c"))
        .arg(&tools.harness)
        .arg(format!("-L{}", tools.runtime_dir.display()))
        .args(["-l:libpollyrs_rt.so", "-lm", "-o"])
        .arg(dir.join(file.to_string()));
    let compiled = process::run(&mut command, &scratch.join("bundled"), COMPILE_LIMIT)?;
    if !compiled.ok() {
        return Err(Error::Bundle { file, why: compiled.why() });
    }
    std::fs::write(&expected, ran.stdout).map_err(at(&expected))?;
    Ok(true)
}
