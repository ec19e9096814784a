//! The tests are linked with what repairs isl (`isl/build.rs`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in std::env::var("DEP_POLLYRS_ISL_WRAP_REPAIR").unwrap_or_default().split_whitespace() {
        println!("cargo:rustc-link-arg={argument}");
    }
}
