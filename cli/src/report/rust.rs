//! rustc with the plugin, for Rust files and for what cargo builds.

use super::ReportError;
use crate::driver::install::Install;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// What loads plugins is an unstable option.
const UNSTABLE: &str = "RUSTC_BOOTSTRAP";

/// Flags of rustc's: one unit holds what iterators become, names come from debug information, and small
/// public functions of a library are compiled where they are, not in the crates that call them.
const FLAGS: [&str; 3] = ["-g", "-Ccodegen-units=1", "-Zcross-crate-inline-threshold=never"];

pub fn is_rust(source: &OsStr) -> bool {
    Path::new(source).extension().is_some_and(|e| e == "rs")
}

/// `rustc` for one file, whose output goes nowhere; of clang's options levels are understood.
pub fn compile(words: &[OsString], output: &Path) -> Result<Command, ReportError> {
    let install = Install::locate().map_err(|e| ReportError::Install(e.to_string()))?;
    let mut command = Command::new("rustc");
    let level = words.iter().filter_map(|w| w.to_str()?.strip_prefix("-O")).next_back();
    let level = level.filter(|l| !l.is_empty()).unwrap_or("2");
    command.args(FLAGS).arg(format!("-Copt-level={level}")).arg(plugin(&install)).env(UNSTABLE, "1");
    command.args(words.iter().filter(|w| !w.as_encoded_bytes().starts_with(b"-O")));
    command.arg("--emit=obj").arg("-o").arg(output);
    Ok(command)
}

fn plugin(install: &Install) -> OsString {
    let mut flag = OsString::from("-Zllvm-plugins=");
    flag.push(&install.plugin);
    flag
}

/// A script for `RUSTC_WORKSPACE_WRAPPER`, which cargo calls in place of rustc for the packages of a
/// workspace: `wrapper rustc ARGUMENTS`. Questions to rustc, build scripts and procedural macros go through
/// as they are.
pub fn wrapper() -> Result<String, ReportError> {
    let install = Install::locate().map_err(|e| ReportError::Install(e.to_string()))?;
    let quoted = |s: &OsStr| format!("'{}'", s.to_string_lossy().replace('\'', r"'\''"));
    let library = install.shared_runtime.parent().unwrap_or(Path::new("/"));
    Ok(format!(
        "#!/bin/sh\n\
         case \" $* \" in\n\
         *' --print'*|*' -vV '*|*' --crate-type proc-macro '*|*' build_script_'*) exec \"$@\" ;;\n\
         esac\n\
         {UNSTABLE}=1 exec \"$@\" {} {} -Clink-arg={} -Clink-arg=-Wl,-rpath,{}\n",
        FLAGS.join(" "),
        quoted(&plugin(&install)),
        quoted(install.shared_runtime.as_os_str()),
        quoted(library.as_os_str()),
    ))
}
