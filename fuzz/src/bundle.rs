//! The same programs for a machine with a GPU: compiled here, with what they have to print, and a script that
//! runs and compares them.
//!
//! ```text
//! DIR/run.sh        a line for each program and a total; needs a shell, cmp and a CUDA driver; with SANITIZER=memcheck (or racecheck) under
//!                   compute-sanitizer of the CUDA toolkit; several files at once
//! DIR/7             file 7 of the seed
//! DIR/7.expected    what the plain program prints
//! DIR/libpollyrs_rt.so.N
//! ```

use crate::check::{self, Tools, common};
use crate::error::{Error, Result, at};
use crate::grammar::Sources;
use crate::process;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const COMPILE_LIMIT: Duration = Duration::from_secs(120);

const RUNNER: &str = r#"#!/bin/sh
# Runs the programs on the GPU and compares what they print with what the plain programs print: a line for each program, then a total.
#   run.sh [FIRST [LAST]]      the programs of these files only
# SANITIZER=memcheck|racecheck|synccheck|initcheck: under compute-sanitizer. JOBS: processes at once (default: one for each core).
# LIMIT: seconds for a file (default 120). UNTIL: no file is started after this time (seconds since 1970).
cd "$(dirname "$0")" || exit 2
if [ "$1" = --one ]; then
  name=$2
  if [ -n "$UNTIL" ] && [ "$(date +%s)" -ge "$UNTIL" ]; then
    echo "program $name.all: not started"
    exit 0
  fi
  # All programs of the file, or one: its exit status, and what it prints is added to what there is.
  run() {
    POLLYRS_RT_PROFILE=$name.profile timeout "$LIMIT" \
      ${SANITIZER:+env POLLYRS_RT_POOL=0 compute-sanitizer --tool $SANITIZER --log-file "$name.log" --error-exitcode 97 --print-limit 10} \
      "./$name" "$@" >>"$name.out" 2>>"$name.err"
    status=$?
    # A program of which nothing reaches the device has nothing to watch, and the sanitizers call that an error.
    if grep -q "before first instrumented API call" "$name.log" 2>/dev/null; then status=0; fi
  }
  # What became of a program.
  result() {
    for file in out expected; do
      if [ "$1" = all ]; then cat "$name.$file"; else grep "^p$1 " "$name.$file"; fi >"$name.lines.$file"
    done
    function=p$1[^0-9]
    [ "$1" = all ] && function=
    device=$(grep '"device":"cuda"' "$name.profile" 2>/dev/null | grep -c "\"scop\":\"[^\"]*$function")
    if [ "$status" = 0 ] && cmp -s "$name.lines.out" "$name.lines.expected"; then
      echo "program $name.$1: same, $device executions on the GPU"
    else
      echo "program $name.$1: different, $device executions on the GPU, exit status $status"
      diff "$name.lines.out" "$name.lines.expected" | head -4 >&2
      tail -3 "$name.err" >&2
      [ -s "$name.log" ] && head -30 "$name.log" >&2
    fi
    rm -f "$name.lines.out" "$name.lines.expected"
  }
  rm -f "$name.profile" "$name.log" "$name.out" "$name.err"
  run
  programs=$(sed -n 's/^p\([0-9]*\) 0 .*/\1/p' "$name.expected")
  # Of a generator whose programs are files.
  [ -n "$programs" ] || result all
  if [ "$status" = 0 ]; then
    for program in $programs; do result "$program"; done
  else
    # Which one it was: each by itself.
    for program in $programs; do
      rm -f "$name.profile" "$name.log" "$name.out" "$name.err"
      run "$program"
      result "$program"
    done
  fi
  exit 0
fi
export LD_LIBRARY_PATH="$PWD" POLLYRS_RT_DEVICE=cuda POLLYRS_RT_OFFLOAD=always SANITIZER UNTIL LIMIT="${LIMIT:-120}"
for expected in $(ls *.expected | sort -n); do
  name=${expected%.expected}
  [ "$name" -ge "${1:-0}" ] && [ "$name" -le "${2:-999999999}" ] && echo "$name"
done | xargs -P "${JOBS:-$(nproc)}" -n 1 ./run.sh --one | awk -v tool="${SANITIZER:-no sanitizer}" '
  { print; n[$3]++; device += $4; on += $4 > 0 }
  END {
    printf "%d programs the same, %d different, %d files not started; %d with %d executions on the GPU (%s)\n", \
      n["same,"], n["different,"], n["not"], on, device, tool
    exit n["different,"] > 0 || device == 0
  }'
"#;

/// Starts a bundle in `dir`.
pub fn begin(tools: &Tools, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(at(dir))?;
    let runner = dir.join("run.sh");
    std::fs::write(&runner, RUNNER).map_err(at(&runner))?;
    std::fs::set_permissions(&runner, std::fs::Permissions::from_mode(0o755)).map_err(at(&runner))?;
    // Programs look for it by its name with a version, which is a link in the build.
    for entry in std::fs::read_dir(&tools.runtime_dir).map_err(at(&tools.runtime_dir))? {
        let library = entry.map_err(at(&tools.runtime_dir))?.path();
        if let Some(name) = library.file_name()
            && name.as_encoded_bytes().starts_with(b"libpollyrs_rt.so.")
        {
            std::fs::copy(&library, dir.join(name)).map_err(at(&library))?;
        }
    }
    Ok(())
}

/// Adds a file of programs; `false` if even the plain compiler has trouble with it.
pub fn add(
    tools: &Tools,
    sources: &Sources,
    file: u64,
    strategy: &str,
    dir: &Path,
    scratch: &Path,
) -> Result<bool> {
    let check::Plain::Ran(_) = check::plain(tools, sources, "-O1", scratch)? else { return Ok(false) };
    let ran = process::run(&mut Command::new(scratch.join("plain")), &scratch.join("plain"), COMPILE_LIMIT)?;
    let expected = dir.join(format!("{file}.expected"));
    let mut command = Command::new(tools.compiler(sources.language));
    command
        .args(["-O2", "-mllvm", "-pollyrs-targets=cuda", "-mllvm"])
        // Assembled by the driver: half of the files in the PTX that every GPU takes.
        .args([
            "-pollyrs-cubin=off",
            "-mllvm",
            if file % 8 < 4 { "-pollyrs-arch=sm_70" } else { "-pollyrs-arch=sm_90" },
        ])
        .arg("-mllvm")
        .arg(format!("-pollyrs-strategy={strategy}"))
        .arg(format!("-fpass-plugin={}", tools.plugin.display()))
        .args(common(sources.language))
        .args(check::write(sources, scratch)?)
        .arg(&tools.harness)
        .arg(format!("-L{}", tools.runtime_dir.display()))
        .args(["-l:libpollyrs_rt.so", "-lm", "-lpthread", "-o"])
        .arg(dir.join(file.to_string()));
    let compiled = process::run(&mut command, &scratch.join("bundled"), COMPILE_LIMIT)?;
    if !compiled.ok() {
        return Err(Error::Bundle { file, why: compiled.why() });
    }
    std::fs::write(&expected, ran.stdout).map_err(at(&expected))?;
    Ok(true)
}
