//! The library leaves LLVM's symbols to the program that loads the plugin; its tests are programs of their
//! own: they link LLVM, and what stands in front of some of isl's functions (see `isl/build.rs`).

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    for key in ["DEP_POLLYRS_ISL_WRAP_METER", "DEP_POLLYRS_ISL_WRAP_REPAIR"] {
        for argument in std::env::var(key).unwrap_or_default().split_whitespace() {
            println!("cargo:rustc-link-arg={argument}");
        }
    }
    let prefix = std::env::var("LLVM_SYS_221_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let config = Command::new(format!("{prefix}/bin/llvm-config")).arg("--libdir").output();
    let dir = match config {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).trim().to_string(),
        _ => format!("{prefix}/lib"),
    };
    println!("cargo:rustc-link-arg=-L{dir}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{dir}");
    println!("cargo:rustc-link-arg=-lLLVM-22");
}
