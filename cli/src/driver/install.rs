//! Where the parts of an installation are: the plugin and the run-time library beside the executable (a build
//! folder) or in `../lib` (an installed tree), the compilers in PATH or in Debian's LLVM folder.

use super::DriverError;
use super::command::Compiler;
use std::path::{Path, PathBuf};

const PLUGIN: &str = "libpollyrs.so";
const STATIC_RUNTIME: &str = "libpollyrs_rt.a";
const SHARED_RUNTIME: &str = "libpollyrs_rt.so";
const LLVM_BIN: &str = "/usr/lib/llvm-22/bin";

/// The files the driver puts on command lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// `libpollyrs.so`.
    pub plugin: PathBuf,
    /// `libpollyrs_rt.a`.
    pub static_runtime: PathBuf,
    /// `libpollyrs_rt.so`.
    pub shared_runtime: PathBuf,
}

impl Install {
    /// Looks from the running executable, its links resolved.
    pub fn locate() -> Result<Install, DriverError> {
        let executable = std::env::current_exe()?.canonicalize()?;
        Install::locate_from(executable.parent().unwrap_or(Path::new("/")))
    }

    fn locate_from(dir: &Path) -> Result<Install, DriverError> {
        let find = |name: &'static str| {
            let beside = dir.join(name);
            if beside.is_file() {
                return Ok(beside);
            }
            let lib = dir.parent().map(|d| d.join("lib").join(name));
            lib.filter(|p| p.is_file())
                .ok_or_else(|| DriverError::NotInstalled { name, dir: dir.display().to_string() })
        };
        Ok(Install {
            plugin: find(PLUGIN)?,
            static_runtime: find(STATIC_RUNTIME)?,
            shared_runtime: find(SHARED_RUNTIME)?,
        })
    }
}

/// The compiler's path: by its versioned name in PATH, else in Debian's folder, else the bare name (for the
/// error message).
pub fn compiler_path(compiler: Compiler) -> PathBuf {
    let name = compiler.versioned_name();
    let in_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| p.is_file()));
    let debian = || Some(Path::new(LLVM_BIN).join(compiler.plain_name())).filter(|p| p.is_file());
    in_path.or_else(debian).unwrap_or_else(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_folder_and_installed_tree() {
        let root = tempfile::tempdir().unwrap();
        let (bin, lib) = (root.path().join("bin"), root.path().join("lib"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        assert!(matches!(Install::locate_from(&bin), Err(DriverError::NotInstalled { name: PLUGIN, .. })));
        for name in [PLUGIN, STATIC_RUNTIME, SHARED_RUNTIME] {
            std::fs::write(lib.join(name), "").unwrap();
        }
        assert_eq!(Install::locate_from(&bin).unwrap().plugin, lib.join(PLUGIN));
        std::fs::write(bin.join(PLUGIN), "").unwrap();
        assert_eq!(Install::locate_from(&bin).unwrap().plugin, bin.join(PLUGIN));
    }
}
