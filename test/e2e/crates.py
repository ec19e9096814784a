"""The lines for Cargo in docs/how-to/cargo.md: a package with a library and a build script, compiled with and without the plugin, where there is a rustc with
the plugin's LLVM."""

import shutil

import toolchain

TARGET = "x86_64-unknown-linux-gnu"
MANIFEST = """[package]
name = "smooth"
version = "0.1.0"
edition = "2021"
[workspace]
"""
# Has loops of its own: flags that reach it would need the run-time library there.
SCRIPT = """fn main() {
    let squares: Vec<u64> = (0..1000).map(|i| i * i).collect();
    println!("cargo::rustc-env=SQUARES={}", squares.iter().sum::<u64>());
}
"""
LIBRARY = """#[inline(never)]
pub fn smooth(steps: usize, n: usize, a: &mut [f64], b: &mut [f64]) {
    for _ in 0..steps {
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
            }
        }
        a.copy_from_slice(b);
    }
}
"""
PROGRAM = """fn main() {
    let number = |i: usize| std::env::args().nth(i).unwrap().parse::<usize>().unwrap();
    let (n, short) = (number(1), number(2));
    let mut a: Vec<f64> = (0..n * n).map(|i| ((i * 7919) % 1013) as f64 / 1013.0).collect();
    let mut b = vec![0.0; n * n - short];
    a.truncate(n * n - short);
    smooth::smooth(3, n, &mut a, &mut b);
    println!("{} {:?}", env!("SQUARES"), a);
}
"""


def check(result, work, prefix, report):
    """`prefix` is an installed tree. Runs that are two and more elements short end in a failed bounds check, as they do without the plugin."""
    if not shutil.which("cargo") or not toolchain.rustc_with_plugins():
        result.note = "; ".join(filter(None, [result.note, "no cargo with LLVM 22 here"]))
        return
    for path, text in {"Cargo.toml": MANIFEST, "build.rs": SCRIPT, "src/lib.rs": LIBRARY, "src/main.rs": PROGRAM}.items():
        (work / "crate" / path).parent.mkdir(parents=True, exist_ok=True)
        (work / "crate" / path).write_text(text, encoding="utf-8")
    library = prefix / "lib"
    with_plugin = {"RUSTC_BOOTSTRAP": "1", "POLLYRS_TARGETS": "emulated",
                   "RUSTFLAGS": f"-Ccodegen-units=1 -Zllvm-plugins={library}/libpollyrs.so -Clink-arg={library}/libpollyrs_rt.so -Clink-arg=-Wl,-rpath,{library}"}
    programs = {}
    for name, settings in {"plain": {}, "offloaded": with_plugin}.items():
        command = ["cargo", "build", "--release", "--offline", "--quiet", "--target", TARGET, "--manifest-path", work / "crate" / "Cargo.toml",
                   "--target-dir", work / "cargo" / name]
        done = toolchain.run(command, env=toolchain.environment(**settings), timeout=600)
        if not result.check(done.code == 0, lambda: report(f"cargo: {done.why()}", done, toolchain.shell(command, **settings))):
            return
        programs[name] = work / "cargo" / name / TARGET / "release" / "smooth"
    for words, code in ((["40", "0"], 0), (["40", "1"], 0), (["40", "2"], 101), (["40", "100"], 101)):
        expected = toolchain.run([programs["plain"], *words], env=toolchain.environment())
        profile = work / "cargo.jsonl"
        profile.unlink(missing_ok=True)
        settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always", "POLLYRS_RT_PROFILE": profile}
        got = toolchain.run([programs["offloaded"], *words], env=toolchain.environment(**settings))
        again = toolchain.shell([programs["offloaded"], *words], **settings)
        result.check((expected.code, got.code, got.stdout) == (code, code, expected.stdout),
                     lambda: report(f"cargo: exit status {got.code}, not {expected.code}, or another output", got, again))
        on_device = any(line["device"] == "emulated" for line in toolchain.read_profile(profile))
        result.check(on_device or code != 0, lambda: report("cargo: nothing ran on the device", got, again))
