//! Builds what stands in front of some of isl's functions, and has the linker put it there (`--wrap`): the
//! meter of isl's arithmetic (`c/meter.c`) and what repairs its lexicographic optimisation (`c/sorted.c`). It
//! does so in this crate's tests, and in the executables of those packages that pass on
//! `DEP_POLLYRS_ISL_WRAP_METER` and `DEP_POLLYRS_ISL_WRAP_REPAIR`.

fn main() -> std::io::Result<()> {
    // 16 bytes of thread-local storage: room that the loader keeps for libraries that are loaded late, and
    // without a call at each access.
    let mut build = cc::Build::new();
    println!("cargo:rerun-if-changed=c/small.h");
    build.opt_level(3).flag("-ftls-model=initial-exec");
    for (key, source) in [("meter", "c/meter.c"), ("repair", "c/sorted.c")] {
        println!("cargo:rerun-if-changed={source}");
        build.file(source);
        // WRAPPED(result, name, ...
        let text = std::fs::read_to_string(source)?;
        let wrapped = |l: &str| l.starts_with("WRAPPED(") || l.starts_with("QUICKER(");
        let names = text.lines().filter(|l| wrapped(l)).filter_map(|l| l.split(", ").nth(1));
        let arguments: Vec<String> = names.map(|name| format!("-Wl,--wrap={name}")).collect();
        for argument in &arguments {
            println!("cargo:rustc-link-arg-tests={argument}");
        }
        println!("cargo:{key}={}", arguments.join(" "));
    }
    build.compile("pollyrs_isl_wrap");
    Ok(())
}
