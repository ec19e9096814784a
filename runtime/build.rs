//! Gives the shared library a name of its own, so that programs refer to it by name and not by the path it was linked from.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpollyrs_rt.so");
}
