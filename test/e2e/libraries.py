"""Shared libraries with offloaded loops that come and go: dlopen, calls from two threads, dlclose, again and again, with the run-time
library inside of them or beside them, and two of them at once: of the same kind, and one of each."""

import shutil

import toolchain

LIBRARY = """
void scale(int n, double *A) {
  for (int i = 0; i < n; ++i)
    A[i] = A[i] * 0.5 + i;
}
void twice(int n, double *A, double *B) {
  scale(n, A);
  for (int i = 0; i < n; ++i)
    B[i] += A[i];
  scale(n, B);
}
"""

PROGRAM = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void (*twice)(int, double *, double *);
static double A[2][1000], B[2][1000];
static void *work(void *part) {
  twice(1000, A[*(int *)part], B[*(int *)part]);
  return NULL;
}
int main(int argc, char **argv) {
  int parts[2] = {0, 1};
  for (int r = 0; r < 10; ++r) {
    void *libraries[2];
    for (int l = 0; l < 2; ++l) {
      libraries[l] = dlopen(argv[1 + l], RTLD_NOW | RTLD_LOCAL);
      if (!libraries[l])
        return puts(dlerror()), 1;
      twice = (void (*)(int, double *, double *))dlsym(libraries[l], "twice");
      pthread_t thread;
      pthread_create(&thread, NULL, work, &parts[1]);
      work(&parts[0]);
      pthread_join(thread, NULL);
    }
    dlclose(libraries[r % 2]);
    dlclose(libraries[1 - r % 2]);
  }
  double sum = 0;
  for (int i = 0; i < 2000; ++i)
    sum = sum * 0.5 + A[i / 1000][i % 1000] + B[i / 1000][i % 1000];
  printf("%.17g\\n", sum);
  return 0;
}
"""


def check(result, work, report):
    """The program with plain libraries, and with offloaded ones of both kinds."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "library.c").write_text(LIBRARY, encoding="utf-8")
    (work / "program.c").write_text(PROGRAM, encoding="utf-8")
    flags = ("-ffp-contract=off", "-shared", "-fPIC")
    commands = [["clang-22", "-O1", work / "program.c", "-o", work / "program", "-ldl", "-lpthread"]]
    kinds = {"plain": None, "static": [], "shared": ["--pollyrs-shared-rt"]}
    for kind, extra in kinds.items():
        for copy in "12":
            out = work / f"{kind}{copy}.so"
            commands.append(toolchain.plain_command(work / "library.c", out, flags=flags) if extra is None else
                            toolchain.plugin_command(work / "library.c", out, targets="emulated", flags=flags, extra=extra))
    for command in commands:
        done = toolchain.run(command, env=toolchain.environment(), timeout=300)
        if not result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command))):
            return
    expected = toolchain.run([work / "program", work / "plain1.so", work / "plain2.so"], env=toolchain.environment())
    result.check(expected.code == 0, lambda: report("the plain libraries", expected, ""))
    for kind, (first, second) in {"static": ("static1", "static2"), "shared": ("shared1", "shared2"), "both": ("static1", "shared2")}.items():
        profile = work / "profile.jsonl"
        profile.unlink(missing_ok=True)
        settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
        words = [work / "program", work / f"{first}.so", work / f"{second}.so"]
        got = toolchain.run(words, env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        again = toolchain.shell(words, **settings)
        result.check(got.code == 0 and got.stdout == expected.stdout, lambda: report(f"{kind}: another output", got, again))
        ran = sum(line["device"] == "emulated" and not line.get("release") for line in toolchain.read_profile(profile))
        # Two rounds of two threads with three loop nests each, ten times.
        result.check(ran == 120, lambda: report(f"{kind}: {ran} executions on the device, not 120", got, again))
