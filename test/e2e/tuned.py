"""pollyrs tune: a search, its file, and the compilations that take it."""

import toolchain
from outcome import Result, folder, report

TUNED = """#include <stdio.h>
#include <stdlib.h>
static float A[2][99][99];
__attribute__((noinline)) static void smooth(int steps, int n, float a[2][99][99]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = 0.4f * a[t % 2][i][j] + 0.3f * a[t % 2][i - 1][j] + 0.3f * a[t % 2][i][j + 1];
}
int main(int argc, char **argv) {
  int steps = atoi(argv[1]), n = argc > 2 ? atoi(argv[2]) : 50;
  unsigned state = 7;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[0][i][j] = A[1][i][j] = (float)((state = state * 1664525u + 1013904223u) >> 8) / 65536;
  smooth(steps, n, A);
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum = sum * 0.7 + A[steps % 2][i][j];
  printf("%.17g\\n", sum);
}
"""


def tune(_options):
    """pollyrs tune: a choice that is slow on purpose is left for one with fewer launches, by a file that later compilations take."""
    result, work = Result("tune"), folder("tune")
    source, file = work / "smooth.c", work / "smooth.tune"
    source.write_text(TUNED, encoding="utf-8")
    settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
    # One step a launch, where the model would have several.
    words = ["-O2", "-ffp-contract=off", "--pollyrs-targets=emulated", "--pollyrs-option=strategy=isl",
             "--pollyrs-option=only-function=smooth", "--pollyrs-option=budget=500000", source]

    def run(*command):
        done = toolchain.run([toolchain.DRIVER, *command], env=toolchain.environment(**settings), timeout=600)
        text = done.stderr.decode(errors="replace")
        return done, text, lambda what: report(f"{what}:\n{text}", done, toolchain.shell([toolchain.DRIVER, *command], **settings))

    def launches(*options):
        program, profile = work / "program", work / "profile.jsonl"
        profile.unlink(missing_ok=True)
        done, text, why = run("cc", *words, *options, "--pollyrs-remarks", "-o", program)
        if not result.check(done.code == 0, lambda: why("it does not compile")):
            return 0, "", text
        got = toolchain.run([program, "24"], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        return sum(line["kernels"] for line in toolchain.read_profile(profile)), got.stdout, text

    one_step, expected, _ = launches()
    result.check(one_step == 24, f"the planted choice has {one_step} launches, not 24")
    options = ["--jobs", "1", "--runs", "1", "--rounds", "2", "--output", file]
    done, text, why = run("tune", *options, "--try", "strategy=streaming,fuse-steps=6", *words, "--", "24")
    if not result.check(done.code == 0 and "smooth" in text, lambda: why("it fails")):
        return result
    tuned, output, remarks = launches("--tuned", file)
    result.check(0 < tuned <= 6 and output == expected and "takes the tuned choice" in remarks,
                 f"{tuned} launches with the tuned choice: {file.read_text(encoding='utf-8')}\n{remarks}")
    # The same search on two machines: what compiles here is measured there.
    elsewhere = work / "folder"
    done, _, why = run("tune", *options, "--build", elsewhere, *words)
    result.check(done.code == 0, lambda: why("--build fails"))
    file.unlink()
    done, _, why = run("tune", "--runs", "1", "--measure", elsewhere, "--", "24")
    if result.check(done.code == 0 and file.exists(), lambda: why("--measure fails")):
        tuned, output, remarks = launches("--tuned", file)
        result.check(0 < tuned < 24 and output == expected, f"{tuned} launches with the choice of the folder\n{remarks}")
    # A program that changed: its entry is for other loops.
    source.write_text(TUNED.replace("j < n - 1", "j < n - 2"), encoding="utf-8")
    stale, _, remarks = launches("--tuned", file)
    result.check(stale == 24 and "fits no loop nest" in remarks, f"{stale} launches with a stale entry\n{remarks}")
    source.write_text(TUNED.replace("sum);", "sum + getpid());").replace("#include", "#include <unistd.h>\n#include", 1), encoding="utf-8")
    done, text, why = run("tune", *options, *words, "--", "24")
    result.check(done.code != 0 and "--ignore-output" in text, lambda: why("an output that is never the same"))
    for text, want in {"{": "no file of 'pollyrs tune'", '{"format": 9}': "has format 9"}.items():
        file.write_text(text, encoding="utf-8")
        done, said, why = run("cc", *words, "--tuned", file, "-c", "-o", work / "a.o")
        result.check(done.code != 0 and want in said, lambda: why("a malformed file"))
    return result
