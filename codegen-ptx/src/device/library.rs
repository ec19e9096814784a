//! What code is generated for, the mathematical library, and which calls the back end has code for.

use crate::ir::error::{Result, unsupported};
use crate::ir::llvm::*;
use crate::ir::math::{Callee, classify, library_intrinsic};
use std::path::{Path, PathBuf};

/// What to generate PTX for.
#[derive(Clone, Debug)]
pub struct PtxOptions {
    /// 70 for `sm_70`.
    pub arch: u32,
    /// PTX version, 60 for 6.0; `None`: the lowest that has the architecture.
    pub ptx_version: Option<u32>,
    /// Bitcode of the mathematical functions; `None`: looked up with [`find_math_library`] when a kernel
    /// needs one.
    pub math_library: Option<MathLibrary>,
    /// The `ptxas` in use: the library of its toolkit is looked for beside it.
    pub ptxas: Option<PathBuf>,
}

impl Default for PtxOptions {
    fn default() -> Self {
        PtxOptions { arch: 70, ptx_version: None, math_library: None, ptxas: None }
    }
}

/// Bitcode with the mathematical functions of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MathLibrary {
    /// NVIDIA's `libdevice.10.bc` (`__nv_expf`).
    Libdevice(PathBuf),
    /// LLVM's `nvptx64--.bc` (`_Z3expf`).
    Libclc(PathBuf),
}

/// The mathematical library of this machine: libdevice of `cuda_home`, of the toolkit of this `ptxas`, or of
/// the usual place, else libclc of the usual place.
pub fn find_math_library(cuda_home: Option<&Path>, ptxas: Option<&Path>) -> Option<MathLibrary> {
    let of_home = |home: &Path| home.join("nvvm/libdevice/libdevice.10.bc");
    // In `bin` of the toolkit, or beside a folder with the library alone.
    let toolkit = ptxas.and_then(Path::parent).and_then(Path::parent);
    let beside = toolkit.iter().flat_map(|t| [of_home(t), t.join("libdevice/libdevice.10.bc")]);
    let usual = of_home(Path::new("/usr/local/cuda"));
    let found = cuda_home.map(of_home).into_iter().chain(beside).chain([usual]).find(|p| p.is_file());
    if let Some(path) = found {
        return Some(MathLibrary::Libdevice(path));
    }
    let places =
        ["/usr/lib/clc/nvptx64--.bc", "/usr/share/clc/nvptx64--.bc", "/usr/lib/llvm-22/lib/clc/nvptx64--.bc"];
    places.iter().map(PathBuf::from).find(|p| p.is_file()).map(MathLibrary::Libclc)
}

/// Refuses modules with calls that the back end has no code for.
pub(crate) fn check_calls(module: Module) -> Result<()> {
    for f in module.functions() {
        let used_declaration = f.is_declaration() && f.is_used();
        let name = f.name();
        if !used_declaration || name.starts_with("llvm.nvvm.") || name == "__nvvm_reflect" {
            continue;
        }
        let known = match classify(&name) {
            Callee::Ignored => true,
            Callee::Intrinsic => library_intrinsic(&name).is_none(),
            Callee::Math | Callee::Unknown => is_selectable(&name),
        };
        if !known {
            return unsupported(format!("a call of {name}"));
        }
    }
    Ok(())
}

/// Intrinsics that the optimizer introduces, all of which the back end expands.
pub(crate) fn is_selectable(name: &str) -> bool {
    const MADE: &[&str] = &[
        "llvm.memcpy.",
        "llvm.memmove.",
        "llvm.memset.",
        "llvm.umul.",
        "llvm.frexp.",
        "llvm.vector.reduce.",
    ];
    MADE.iter().any(|m| name.starts_with(m))
        || name.split('.').next_back().is_some_and(|t| t.starts_with('v'))
        || name.starts_with("llvm.experimental.")
}
