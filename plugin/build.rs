//! The plugin is linked with what stands in front of some of isl's functions: see `isl/build.rs`. It leaves
//! LLVM's symbols to the program that loads it; its unit tests are a program of their own and link LLVM.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    for key in ["DEP_POLLYRS_ISL_WRAP_METER", "DEP_POLLYRS_ISL_WRAP_REPAIR"] {
        for argument in std::env::var(key).unwrap_or_default().split_whitespace() {
            println!("cargo:rustc-link-arg-cdylib={argument}");
            println!("cargo:rustc-link-arg-tests={argument}");
        }
    }
    let prefix = std::env::var("LLVM_SYS_221_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let config = Command::new(format!("{prefix}/bin/llvm-config")).arg("--libdir").output();
    let dir = match config {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).trim().to_string(),
        _ => format!("{prefix}/lib"),
    };
    for argument in [format!("-L{dir}"), format!("-Wl,-rpath,{dir}"), "-lLLVM-22".into()] {
        println!("cargo:rustc-link-arg-tests={argument}");
    }
}
