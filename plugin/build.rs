//! The plugin is linked with the meter of isl's arithmetic: see `isl/build.rs`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in std::env::var("DEP_POLLYRS_ISL_METER_WRAP").unwrap_or_default().split_whitespace() {
        println!("cargo:rustc-link-arg-cdylib={argument}");
    }
}
