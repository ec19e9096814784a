"""A program whose threads are OpenMP's: bodies of parallel loops that are SCoPs themselves, and functions with SCoPs that all threads call.
Where there is an OpenMP library to link; the compiler needs none to compile."""

import pathlib
import shutil

import toolchain

# Debian's package libomp5-N, also of an older compiler: what loops with a static schedule call is there since
# many years.
PATTERNS = ("usr/lib/llvm-*/lib/libomp.so*", "usr/lib/*-linux-gnu/libomp.so*", "usr/lib64/libomp.so*")

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
enum { PARTS = 8, ROUNDS = 5 };
__attribute__((noinline)) static void step(int n, double *restrict a, const double *restrict b) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i * n + j] = (b[i * n + j - 1] + b[i * n + j + 1]) * 0.25 + b[(i - 1) * n + j] * 0.5;
}
__attribute__((noinline)) static void share(int n, double *a, const double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] += b[i * n + j] * 2;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 40;
  double *a[PARTS], *b[PARTS];
  for (int k = 0; k < PARTS; k++) {
    a[k] = calloc(n * n, sizeof(double)), b[k] = malloc(n * n * sizeof(double));
    for (int i = 0; i < n * n; i++)
      b[k][i] = (double)((i * 7 + k) % 113) / 113;
  }
  for (int r = 0; r < ROUNDS; r++) {
#pragma omp parallel for
    for (int k = 0; k < PARTS; k++)
      step(n, a[k], b[k]);
    share(n, b[r], a[r + 1]);
#pragma omp parallel for
    for (int k = 0; k < PARTS; k++) {
      step(n, b[k], a[k]);
      step(n, a[k], b[k]);
    }
  }
  for (int k = 0; k < PARTS; k++) {
    double sum = 0;
    for (int i = 0; i < n * n; i++)
      sum = sum * 0.5 + a[k][i] + b[k][i];
    printf("%.17g\\n", sum);
  }
  return 0;
}
"""


def library():
    """The OpenMP library, or None."""
    found = (path for pattern in PATTERNS for path in sorted(pathlib.Path("/").glob(pattern)))
    return next(found, None)


def check(result, work, report):
    """The program without OpenMP and without pollyrs, against the one with both."""
    openmp = library()
    if not openmp:
        result.note = "no libomp here"
        result.passed += 1
        return
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source, words = work / "program.c", ["40"]
    source.write_text(PROGRAM, encoding="utf-8")
    commands = [toolchain.plain_command(source, work / "plain"),
                toolchain.plugin_command(source, work / "program.o", targets="emulated", flags=("-ffp-contract=off", "-fopenmp", "-c")),
                [toolchain.DRIVER, "cc", work / "program.o", openmp, f"-Wl,-rpath,{openmp.parent}", "-lm", "-o", work / "program"]]
    for command in commands:
        done = toolchain.run(command, env=toolchain.environment(), timeout=300)
        if not result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command))):
            return
    expected = toolchain.run([work / "plain", *words], env=toolchain.environment())
    result.check(expected.code == 0 and len(set(expected.stdout.split())) == 8, lambda: report("the plain program", expected, ""))
    for threads in ("1", "3", "8"):
        profile = work / f"profile{threads}.jsonl"
        settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always", "OMP_NUM_THREADS": threads}
        got = toolchain.run([work / "program", *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        again = toolchain.shell([work / "program", *words], **settings)
        result.check((got.code, got.stdout) == (expected.code, expected.stdout), lambda: report(f"{threads} threads: another output", got, again))
        lines = [line for line in toolchain.read_profile(profile) if line["device"] == "emulated" and not line.get("release")]
        # Five rounds of 24 steps and one shared loop, of which each thread has a part, all on the device.
        parts = [line for line in lines if line["scop"].startswith("share")]
        result.check(len(lines) >= 5 * (24 + int(threads)) and len(parts) == 5 * int(threads),
                     lambda: report(f"{threads} threads: {len(parts)} parts of {len(lines)} executions on the device", got, again))
        result.check(len({line["thread"] for line in lines}) == int(threads), lambda: report(f"not in {threads} threads", got, again))
