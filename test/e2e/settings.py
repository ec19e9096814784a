"""Settings of a run answer: what is wrong is said in one line, and `require` ends a program that would fall back; switches in the source."""

import toolchain

# The second loop falls back where `p` points into `a`.
SOURCE = """#include <pollyrs.h>
#include <stdio.h>
static double a[4000];
__attribute__((noinline)) static void add(int n, double *x, const double *y) {
  for (int i = 0; i < n; i++)
    x[i] += 2 * y[i];
}
POLLYRS_OFF_FUNCTION __attribute__((noinline)) static void off(int n, double *x) {
  for (int i = 0; i < n; i++)
    x[i] += 1;
}
__attribute__((noinline)) static void some(int n, double *x, double *y) {
  POLLYRS_OFF
  for (int i = 0; i < n; i++)
    x[i] *= 3;
  for (int i = 0; i < n; i++)
    y[i] *= 5;
}
POLLYRS_ON_FUNCTION __attribute__((noinline)) static void small(double *x) {
  for (int i = 0; i < 16; i++)
    x[i] *= 3;
}
int main(int argc, char **argv) {
  (void)argv;
  add(1000, a, a + 2000);
  off(1000, a);
  some(1000, a, a + 2000);
  small(a);
  if (argc > 1)
    add(1000, a + 1, a);
  for (int i = 2; i < argc; i++)
    add(1000, a, a + 2000);
  printf("%g %g\\n", a[1], a[2000]);
}
"""
EMULATED = {"POLLYRS_RT_DEVICE": "emulated"}
REQUIRE = {**EMULATED, "POLLYRS_RT_OFFLOAD": "require"}
FIRST = {**EMULATED, "POLLYRS_RT_OFFLOAD": "always:2"}

# Settings, arguments, whether the program ends as usual, and parts of what it says.
RUNS = [
    (EMULATED, ["1"], True, []),
    ({**EMULATED, "POLLYRS_RT_OFFLOAD": "yes"}, ["1"], True, ["POLLYRS_RT_OFFLOAD=yes is not one of auto, always, always:N, never, require: ignored (meant: always?)"]),
    ({"POLLYRS_RT_DEVICE": "gpu"}, [], True, ["POLLYRS_RT_DEVICE=gpu is not one of auto, cuda, emulated, off: ignored (meant: cuda?)"]),
    ({**EMULATED, "POLLYRS_RT_OFLOAD": "always"}, [], True, ["there is no setting POLLYRS_RT_OFLOAD: ignored (meant: POLLYRS_RT_OFFLOAD?)"]),
    ({**EMULATED, "POLLYRS_OFFLOAD": "always"}, [], True, ["there is no setting POLLYRS_OFFLOAD: ignored (meant: POLLYRS_RT_OFFLOAD?)"]),
    ({**EMULATED, "POLLYRS_RT_OFFLOAD": "always:"}, [], True, ["POLLYRS_RT_OFFLOAD=always: is not one of auto, always, always:N, never, require: ignored"]),
    (FIRST, ["1", "2", "3", "4"], True, []),
    (REQUIRE, [], True, []),
    (REQUIRE, ["1"], False, ["pollyrs: fatal: add", "settings.c:5", "does not run on a device, as POLLYRS_RT_OFFLOAD=require demands", "overlap"]),
    ({"POLLYRS_RT_DEVICE": "off", "POLLYRS_RT_OFFLOAD": "require"}, [], False, ["settings.c:5", "offloading is switched off (POLLYRS_RT_DEVICE=off)"]),
]


def check(result, work, report):
    """In an empty folder; `report` makes the text of a failure."""
    source, plain, program, profile = (work / name for name in ("settings.c", "plain", "program", "profile.jsonl"))
    source.write_text(SOURCE, encoding="utf-8")
    include = ["-I", str(toolchain.ROOT / "runtime" / "include"), "-ffp-contract=off", "-g"]
    for command in (toolchain.plain_command(source, plain, flags=[*include, "-Wall", "-Werror"]),
                    toolchain.plugin_command(source, program, targets="emulated", flags=include)):
        done = toolchain.run(command, env=toolchain.environment())
        if not result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command))):
            return
    for settings, words, well, said in RUNS:
        expected = toolchain.run([plain, *words], env=toolchain.environment())
        profile.unlink(missing_ok=True)
        got = toolchain.run([program, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        text = got.stderr.decode(errors="replace")
        again = toolchain.shell([program, *words], **settings)
        result.check(((got.code, got.stdout) == (0, expected.stdout)) if well else got.code not in (0, None),
                     lambda: report(f"{got.why() or 'it goes on, or another output'}", got, again))
        result.check(all(part in text for part in said) and len(text.splitlines()) == (1 if said else 0),
                     lambda: report(f"not one line with {said}: {text}", got, again))
        if settings == EMULATED:
            ran = {line["scop"].split("#")[0].split(".")[0] for line in toolchain.read_profile(profile) if line["device"] == "emulated"}
            result.check(ran == {"add", "some", "small"}, lambda: report(f"{ran} ran on the device", got, again))
        if settings == FIRST:
            # Of five executions one has arrays that overlap, and the last one does not even ask.
            added = [line for line in toolchain.read_profile(profile) if line["scop"].startswith("add") and not line.get("release")]
            ran, later = ([line for line in added if which(line)] for which in (lambda line: line["device"] == "emulated", lambda line: "always:2" in (line.get("reason") or "")))
            result.check((len(ran), len(later)) == (2, 1), lambda: report(f"{added}", got, again))
