//! Builds what stands in front of some of isl's functions, and has the linker put it there: the meter of isl's arithmetic (`c/meter.c`) and
//! what repairs its lexicographic optimisation (`c/sorted.c`). It does so in this crate's tests, and in the executables of those packages that
//! pass on `DEP_POLLYRS_ISL_WRAP_ARGUMENTS`.

fn main() -> std::io::Result<()> {
    // 16 bytes of thread-local storage: room that the loader keeps for libraries that are loaded late, and without a call at each access.
    let mut build = cc::Build::new();
    build.opt_level(2).flag("-ftls-model=initial-exec");
    let mut wrap = Vec::new();
    for source in ["c/meter.c", "c/sorted.c"] {
        println!("cargo:rerun-if-changed={source}");
        build.file(source);
        // METERED(result, name, ..., WRAPPED(result, name, ...
        let text = std::fs::read_to_string(source)?;
        let calls = text.lines().filter_map(|l| l.strip_prefix("METERED(").or(l.strip_prefix("WRAPPED(")));
        wrap.extend(
            calls.filter_map(|l| l.split(", ").nth(1)).map(|name| format!("-Wl,--wrap={}", name.trim_end_matches(','))),
        );
    }
    build.compile("pollyrs_isl_wrap");
    for argument in &wrap {
        println!("cargo:rustc-link-arg-tests={argument}");
    }
    println!("cargo:arguments={}", wrap.join(" "));
    Ok(())
}
