"""scripts/run, and what the caller's shell says: each example ends with the same output under the flags that people use, and a program that
prints something else each time does not."""

import os
import re
import shutil
import sys

import toolchain

sys.path.insert(0, str(toolchain.ROOT / "scripts" / "lib"))
import floating_point  # noqa: E402

# Small sizes, by example.
ARGUMENTS = {
    "2mm.c": (30, 40, 50, 20), "blur.cpp": (3, 40, 50), "conv2d.c": (2, 3, 4, 20, 18, 3), "covariance.c": (40, 50), "floyd-warshall.c": (40,),
    "gemm.c": (40, 50, 60), "gemver.c": (60,), "heat-3d.c": (3, 20, 18, 16), "heat.f90": (5, 40, 50), "heat.rs": (5, 40, 50),
    "jacobi-2d.c": (5, 40, 50),
}
EXACT, ROUNDED = "bit for bit", "the largest difference is"
# One for each language: the other examples are compared at these flags with all sizes.
UNCONTRACTED = {"gemm.c", "blur.cpp", "heat.f90", "heat.rs"}

CHANGING = """#include <stdio.h>
#include <time.h>
int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%.17g\\n", now.tv_nsec * 1.5 + now.tv_sec);
}
"""

# (what the original prints, what the other side prints, the largest difference or None)
DIFFERENCES = [
    ("a 1.0 2.0\n", "a 1.0 2.0\n", 0.0),
    ("a 1.0 200\n", "a 1.0 201\n", 0.005),
    ("x=1e3,y=-2D0", "x=1e3,y=-2.0", 0.0),
    ("a 1.0\n", "b 1.0\n", None),
    ("a 1.0\n", "a 1.0 2.0\n", None),
    ("a 1.0\n", "a 1.0\nb\n", None),
    ("hash 0a1b\n", "hash 0c1b\n", None),
    ("nan 1\n", "nan 1\n", 0.0),
    ("v nan\n", "v nan\n", 0.0),
    ("v 0 0\n", "v 0 1\n", float("inf")),
]

# What a caller may have, each of which would break a build that sees it.
HOSTILE = {"CC": "/missing/cc", "CXX": "/missing/cxx", "CFLAGS": "-fno-such-flag", "CXXFLAGS": "-fno-such-flag", "CPPFLAGS": "-fno-such-flag",
           "LDFLAGS": "-fno-such-flag", "RUSTFLAGS": "--no-such-flag", "CARGO_TARGET_DIR": "/missing/target", "LD_LIBRARY_PATH": "/missing",
           "CARGO_ENCODED_RUSTFLAGS": "--no-such-flag", "CFLAGS_x86_64_unknown_linux_gnu": "-fno-such-flag", "MAKEFLAGS": "CC=/missing/cc"}


def run_script(source, *arguments, **settings):
    """scripts/run on the emulated device, with the build under test."""
    env = toolchain.environment(POLLYRS_BUILD=toolchain.BUILD, POLLYRS_RT_DEVICE="emulated", **settings)
    return toolchain.run([toolchain.ROOT / "scripts" / "run", source, *arguments], env=env, timeout=600)


def examples():
    """The examples' files."""
    files = [path for path in sorted(toolchain.EXAMPLES.iterdir()) if path.suffix in {".c", ".cpp", ".f90", ".rs"}]
    return [path for path in files if path.suffix != ".rs" or toolchain.rustc_with_plugins()]


def check(result, work, report, turn=None):
    """In an empty folder; `report` makes the text of a failure. `turn`: a third of the examples is compiled with other flags than the default;
    None: all are."""
    for want, got, expected in DIFFERENCES:
        difference = floating_point.largest_difference(want.encode(), got.encode())
        same = difference is None if expected is None else difference is not None and abs(difference - expected) < 1e-9 or difference == expected
        result.check(same, f"the difference of {want!r} and {got!r} is {difference}, not {expected}")
    for number, source in enumerate(examples()):
        others = ["-ffast-math", *(["-ffp-contract=off"] if source.name in UNCONTRACTED else [])]
        for flags in ["", *(others if turn is None or (number + turn) % 3 == 0 else [])]:
            done = run_script(source, *ARGUMENTS.get(source.name, ()), CFLAGS=flags)
            text = done.stdout.decode(errors="replace")
            verdict = re.search(r"^result: the same output .*$", text, re.M)
            accepted = verdict and (EXACT in verdict[0] or flags == "-ffast-math" and ROUNDED in verdict[0])
            result.check(done.code == 0 and accepted and " emulated " in text,
                         lambda: report(f"{source.name} with '{flags}':\n{text}", done, f"CFLAGS={flags} scripts/run {source}"))
    changing = work / "changing.c"
    changing.write_text(CHANGING, encoding="utf-8")
    for flags in ("", "-ffast-math"):
        done = run_script(changing, CFLAGS=flags)
        result.check(done.code == 1 and b"result: DIFFERENT" in done.stdout, lambda: report("an output that changes passes", done, f"scripts/run {changing}"))
    hostile(result, report)


def hostile(result, report):
    """The caller's variables do not reach cargo and the compilers of pollyrs's own build."""
    script = "set -euo pipefail; source scripts/lib/environment; env"
    done = toolchain.run(["bash", "-c", script], env={**toolchain.environment(), **HOSTILE}, cwd=toolchain.ROOT)
    left = [name for name in HOSTILE if re.search(rf"^{name}=", done.stdout.decode(errors="replace"), re.M)]
    result.check(done.code == 0 and not left, lambda: report(f"{left} are still there", done, script))
    for name in ("setup", "test", "fuzz"):
        text = (toolchain.ROOT / "scripts" / name).read_text(encoding="utf-8")
        result.check("source scripts/lib/environment" in text, f"scripts/{name} lets the caller's environment reach its build")
    # A build that is there already takes no time, unless a variable that matters has changed.
    release = toolchain.ROOT / "target" / "release"
    if toolchain.BUILD == release and shutil.which("cargo"):
        env = {**toolchain.environment(), **HOSTILE, "PATH": os.environ["PATH"]}
        done = toolchain.run([toolchain.ROOT / "scripts" / "setup"], env=env, timeout=600)
        result.check(done.code == 0, lambda: report("scripts/setup", done, "scripts/setup"))
