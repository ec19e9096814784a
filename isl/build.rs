//! Builds the meter of isl's arithmetic (`c/meter.c`), and has the linker put it in front of isl's functions: in this crate's tests, and
//! in the executables of those packages that pass on `DEP_POLLYRS_ISL_METER_WRAP`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let source = Path::new("c/meter.c");
    println!("cargo:rerun-if-changed={}", source.display());
    // 16 bytes of thread-local storage: room that the loader keeps for libraries that are loaded late, and without a call at each access.
    cc::Build::new().file(source).opt_level(2).flag("-ftls-model=initial-exec").compile("pollyrs_isl_meter");
    // METERED(result, name, ...
    let text = std::fs::read_to_string(source)?;
    let metered = text.lines().filter_map(|l| l.strip_prefix("METERED(")?.split(", ").nth(1));
    let wrap: Vec<String> = metered.map(|name| format!("-Wl,--wrap={name}")).collect();
    for argument in &wrap {
        println!("cargo:rustc-link-arg-tests={argument}");
    }
    println!("cargo:wrap={}", wrap.join(" "));
    Ok(())
}
