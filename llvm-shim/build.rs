//! Compiles the C++ side against LLVM 22's headers. LLVM itself is not linked here: inside the plugin its
//! symbols come from the host (opt, clang, flang, rustc), in test executables from inkwell's linking feature.
//!
//! All sources are one translation unit: parsing LLVM's headers takes ten times as long as compiling what is
//! ours. Names in their unnamed namespaces must therefore differ.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &[&str] = &[
    "session.cpp",
    "assign.cpp",
    "clone.cpp",
    "complex.cpp",
    "move.cpp",
    "optimize.cpp",
    "ranges.cpp",
    "row_marks.cpp",
    "rows.cpp",
    "steps.cpp",
    "tiles.cpp",
    "grouped.cpp",
    "grouped_back.cpp",
    "columns.cpp",
    "lend.cpp",
    "locals.cpp",
    "initialize.cpp",
    "places.cpp",
    "positions.cpp",
    "differences.cpp",
    "loops.cpp",
    "inline.cpp",
    "kept.cpp",
    "lasting.cpp",
    "last.cpp",
    "latest.cpp",
    "masked.cpp",
    "memory.cpp",
    "module.cpp",
    "load_hoisting.cpp",
    "prepare.cpp",
    "switches.cpp",
    "conditions.cpp",
    "selected_accesses.cpp",
    "counters.cpp",
    "counts.cpp",
    "edges.cpp",
    "ends.cpp",
    "errors.cpp",
    "errno.cpp",
    "fields.cpp",
    "intervals.cpp",
    "promote.cpp",
    "quotients.cpp",
    "rotate.cpp",
    "sides.cpp",
    "sines.cpp",
    "recurrences.cpp",
    "regions.cpp",
    "rejoin.cpp",
    "aliases.cpp",
    "analyses.cpp",
    "scev.cpp",
    "effects.cpp",
    "source.cpp",
    "unroll.cpp",
    "updates.cpp",
    "unswitch.cpp",
    "invariant_loads.cpp",
    "vectors.cpp",
    "version.cpp",
    "words.cpp",
    "plugin.cpp",
];

fn main() {
    let include = include_dir();
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .include(&include)
        .include("cpp")
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag("-fvisibility=hidden")
        .flag("-fvisibility-inlines-hidden")
        // LLVM's own build has assertions off; its headers must agree on class layouts.
        .define("NDEBUG", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .flag_if_supported("-Wno-unused-parameter")
        .opt_level(2);
    if std::env::var_os("CXX").is_none() && runs("clang++-22") {
        build.compiler("clang++-22");
    }
    build.file(unit()).compile("pollyrs_shim");
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    println!("cargo::rerun-if-env-changed=CXX");
}

/// A file that includes all sources.
fn unit() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).expect("cargo sets it");
    let (sources, unit) = (set("CARGO_MANIFEST_DIR").join("cpp"), set("OUT_DIR").join("shim.cpp"));
    let mut text = String::new();
    for source in SOURCES {
        writeln!(text, "#include \"{}\"", sources.join(source).display()).expect("a string takes all text");
    }
    std::fs::write(&unit, text).expect("cargo's folder can be written");
    unit
}

/// `$LLVM_SYS_221_PREFIX/include`, else what llvm-config says, else Debian's place.
fn include_dir() -> PathBuf {
    if let Some(prefix) = std::env::var_os("LLVM_SYS_221_PREFIX") {
        let dir = Path::new(&prefix).join("include");
        if dir.join("llvm/Plugins/PassPlugin.h").exists() {
            return dir;
        }
    }
    let output = Command::new("llvm-config-22").arg("--includedir").output();
    match output.ok().and_then(|o| String::from_utf8(o.stdout).ok()) {
        Some(text) if !text.trim().is_empty() => PathBuf::from(text.trim()),
        _ => PathBuf::from("/usr/lib/llvm-22/include"),
    }
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}
