//! Gives the shared library a name of its own with a version, so that programs refer to it by that name and
//! not by the path it was linked from, and puts a link of that name beside it. (Cargo has no other place for
//! what follows a library.)

use std::path::Path;

/// Another number when programs that were linked to the library can not run with it any more.
const VERSION: u32 = 1;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let name = format!("libpollyrs_rt.so.{VERSION}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
    println!("cargo::rustc-env=POLLYRS_SONAME={name}");
    // PROFILE/build/PACKAGE/out; the library is linked in PROFILE/deps.
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let Some(profile) = Path::new(&out).ancestors().nth(3) else { return };
    for folder in [profile.to_path_buf(), profile.join("deps")] {
        let link = folder.join(&name);
        // One that is there already may be in use.
        if link.is_symlink() || !folder.is_dir() {
            continue;
        }
        if let Err(error) = std::os::unix::fs::symlink("libpollyrs_rt.so", &link) {
            println!("cargo::warning={} can't be made: {error}", link.display());
        }
    }
}
