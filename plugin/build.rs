//! The plugin is linked with what stands in front of some of isl's functions: see `isl/build.rs`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in std::env::var("DEP_POLLYRS_ISL_WRAP_ARGUMENTS").unwrap_or_default().split_whitespace() {
        println!("cargo:rustc-link-arg-cdylib={argument}");
    }
}
