//! The plugin is linked with what stands in front of some of isl's functions: see `isl/build.rs`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for key in ["DEP_POLLYRS_ISL_WRAP_METER", "DEP_POLLYRS_ISL_WRAP_REPAIR"] {
        for argument in std::env::var(key).unwrap_or_default().split_whitespace() {
            println!("cargo:rustc-link-arg-cdylib={argument}");
        }
    }
}
