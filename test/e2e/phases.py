"""The driver in what builds do besides compiling one C file: assembler files, intermediate files that are kept, static programs, links to the
executable, pipes that are closed; and what it says of mistakes."""

import json
import os
import signal
import subprocess

import toolchain

C = """#include <stdio.h>
int from_s(void), from_S(void);
static double a[1000];
int main(void) {
  for (int i = 0; i < 1000; i++)
    a[i] = i * 2.0;
  printf("%d %d %g\\n", from_s(), from_S(), a[999]);
}
"""
FORTRAN = """program p
  real(8) :: a(1000)
  integer :: i
  do i = 1, 1000
    a(i) = i * 2d0
  end do
  print '(f8.1)', a(1000)
end program
"""
PLAIN_ASSEMBLER = '\t.globl from_s\nfrom_s: movl $7, %eax\n\tret\n\t.section .note.GNU-stack,"",@progbits\n'
WITH_MACROS = '#define N 8\n\t.globl from_S\nfrom_S: movl $N, %eax\n\tret\n\t.section .note.GNU-stack,"",@progbits\n'
OPTIONS = ["--pollyrs-targets=emulated", "--pollyrs-option=tile=64", "-O2"]
ASSEMBLED = ["b.s", "c.S"]

# Name, commands in the folder with the files, the program and what it prints (or None: no program is made).
WAYS = {
    "assembler files beside C": ([["cc", *OPTIONS, "a.c", *ASSEMBLED, "-o", "x"]], b"7 8 1998\n"),
    "-save-temps": ([["cc", *OPTIONS, "-save-temps", "a.c", *ASSEMBLED, "-o", "x"]], b"7 8 1998\n"),
    "-save-temps=obj": ([["cc", *OPTIONS, "-save-temps=obj", "a.c", *ASSEMBLED, "-o", "x"]], b"7 8 1998\n"),
    "-static-pie": ([["cc", *OPTIONS, "-static-pie", "a.c", *ASSEMBLED, "-o", "x"]], b"7 8 1998\n"),
    "-static": ([["cc", *OPTIONS, "-static", "a.c", *ASSEMBLED, "-o", "x"]], b"7 8 1998\n"),
    "-c of several files": ([["cc", *OPTIONS, "-c", "a.c", *ASSEMBLED], ["cc", "a.o", "b.o", "c.o", "-o", "x"]], b"7 8 1998\n"),
    "-x assembler": ([["cc", *OPTIONS, "-c", "a.c", "-x", "assembler", "b.t", "-x", "assembler-with-cpp", "c.t"],
                      ["cc", "a.o", "b.o", "c.o", "-o", "x"]], b"7 8 1998\n"),
    "-E": ([["cc", *OPTIONS, "-E", "a.c", "-o", "a.i"], ["cc", *OPTIONS, "a.i", *ASSEMBLED, "-o", "x"]], b"7 8 1998\n"),
    "-S -emit-llvm": ([["cc", *OPTIONS, "-S", "-emit-llvm", "a.c", "-o", "a.ll"], ["cc", "-O2", "a.ll", *ASSEMBLED, "-o", "x"]],
                      b"7 8 1998\n"),
    "a response file": ([["cc", "@words.rsp"]], b"7 8 1998\n"),
    "Fortran, -save-temps": ([["fc", *OPTIONS, "-save-temps", "d.f90", "-o", "x"]], b"  2000.0\n"),
    "Fortran beside assembler": ([["fc", *OPTIONS, "-c", "d.f90", "b.s"], ["fc", "d.o", "b.o", "-o", "x"]], b"  2000.0\n"),
}

# Words for the driver, its exit status, and what it says on standard error.
SAID = [
    (["cc", "-c", "a.c", "-o", "y.o"], 0, "pollyrs: warning: nothing is offloaded at -O0"),
    (["cc", "-O2", "-O0", "-c", "a.c", "-o", "y.o"], 0, "nothing is offloaded at -O0"),
    (["cc", "-O1", "-c", "a.c", "-o", "y.o"], 0, ""),
    (["cc", "-c", "b.s", "-o", "y.o"], 0, ""),
    (["cc", "--pollyrs-option=disable", "-c", "a.c", "-o", "y.o"], 0, ""),
    (["cc", "-E", "a.c", "-o", "y.i"], 0, ""),
    (["cc", "--pollyrs-arch=hopper", "-O2", "-c", "a.c"], 1, "option '--pollyrs-arch' needs an architecture"),
    (["cc", "--pollyrs-arch=sm_71", "-O2", "-c", "a.c"], 1, "option '--pollyrs-arch' needs an architecture"),
    (["cc", "--pollyrs-option=taget=cuda", "-O2", "-c", "a.c"], 1, "pollyrs-taget"),
    (["profile", "--read", "missing.json"], 1, "missing.json"),
    (["cc", "--tuned", "missing.tune", "-O2", "-c", "a.c", "-o", "y.o"], 1, "missing.tune"),
    (["report", "-O0", "a.c"], 0, "nothing is offloaded at -O0"),
]


def check(result, work, report):
    """In an empty folder; `report` makes the text of a failure."""
    for name, text in {"a.c": C, "b.s": PLAIN_ASSEMBLER, "c.S": WITH_MACROS, "b.t": PLAIN_ASSEMBLER, "c.t": WITH_MACROS, "d.f90": FORTRAN,
                       "words.rsp": " ".join([*OPTIONS, "a.c", *ASSEMBLED, "-o 'x'"])}.items():
        (work / name).write_text(text, encoding="utf-8")
    settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "require"}
    for name, (commands, expected) in WAYS.items():
        (work / "x").unlink(missing_ok=True)
        for command in ([toolchain.DRIVER, *c] for c in commands):
            done = toolchain.run(command, env=toolchain.environment(), cwd=work)
            if not result.check(done.code == 0, lambda: report(f"{name}: {done.why()}", done, toolchain.shell(command))):
                break
        else:
            profile = work / "profile.jsonl"
            profile.unlink(missing_ok=True)
            got = toolchain.run([work / "x"], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
            ran = any(line["device"] == "emulated" for line in toolchain.read_profile(profile))
            result.check(got.code == 0 and got.stdout == expected and ran,
                         lambda: report(f"{name}: {got.why() or 'nothing on the device, or another output'}", got, toolchain.shell([work / "x"], **settings)))
    for words, code, text in SAID:
        done = toolchain.run([toolchain.DRIVER, *words], env=toolchain.environment(), cwd=work)
        said = done.stderr.decode(errors="replace")
        result.check(done.code == code and (text in said if text else not said), lambda: report(f"not status {code} and '{text}': {said}", done, f"pollyrs {words}"))
    done = toolchain.run([toolchain.DRIVER, "report", "-O0", "a.c"], env=toolchain.environment(), cwd=work)
    result.check(b"compiled at -O0" in done.stdout, lambda: report(done.stdout.decode(), done, "pollyrs report -O0 a.c"))
    done = toolchain.run([toolchain.DRIVER, "doctor"], env=toolchain.environment(POLLYRS_RT_DEVICE="gpu"))
    result.check(b"POLLYRS_RT_DEVICE=gpu is not one of" in done.stdout, lambda: report(done.stdout.decode(), done, "pollyrs doctor"))
    compares(result, work, report)
    interrupted(result, work)
    links(result, work, report)
    closed_pipes(result, work, report)


SUMS = """#include <stdio.h>
static double a[5000], b[4000];
int main(int argc, char **argv) {
  double s = 0;
  for (int i = 0; i < 5000; i++)
    a[i] = (i * 7919 % 1000) / 7.0;
  for (int i = 0; i < 4000; i++)
    b[i] = a[i + argc] * 1.5;
  for (int i = 0; i < 4000; i++)
    s += b[i];
  printf("%.12g\\n", s);
}
"""


def compares(result, work, report):
    """Both sides of a program are the same, but for a sum that is regrouped."""
    (work / "sums.c").write_text(SUMS, encoding="utf-8")
    environment = toolchain.environment(POLLYRS_RT_DEVICE="emulated")
    build = [toolchain.DRIVER, "cc", "-O2", "-g", "--pollyrs-targets=emulated", "--pollyrs-option=min-work=0", "sums.c", "-o", "x"]
    for flags, words, code, said in (([], [], 0, "all results are the same"), (["-ffast-math"], [], 1, ": s, element 0: "),
                                     (["-ffast-math"], ["--tolerance", "1e-9"], 0, "all results are the same")):
        done = toolchain.run([*build, *flags], env=environment, cwd=work)
        result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell([*build, *flags])))
        command = [toolchain.DRIVER, "compare", *words, "./x"]
        done = toolchain.run(command, env=environment, cwd=work)
        text = done.stderr.decode(errors="replace")
        result.check(done.code == code and said in text and "sums.c:5" in text and b"\n" in done.stdout, lambda: report(f"status {done.code}: {text}", done, toolchain.shell(command)))
    done = toolchain.run([toolchain.DRIVER, "compare", "/bin/true"], env=environment)
    result.check(done.code == 0 and b"nothing was compared" in done.stderr, lambda: report(done.stderr.decode(), done, "pollyrs compare /bin/true"))
    done = toolchain.run([toolchain.DRIVER, "doctor", "--json"], env=environment)
    found = json.loads(done.stdout)
    fails = any(f["verdict"] == "fail" for f in found)
    result.check(found and done.code == int(fails), lambda: report(f"status {done.code}", done, "pollyrs doctor --json"))


WAITS = """#include <stdio.h>
#include <unistd.h>
static double a[5000];
int main(void) {
  for (int i = 0; i < 5000; i++)
    a[i] = i * 2.0;
  printf("%g\\n", a[4999]);
  fflush(stdout);
  pause();
}
"""


def interrupted(result, work):
    """A profile of a program that is interrupted has what ran before."""
    (work / "waits.c").write_text(WAITS, encoding="utf-8")
    environment = toolchain.environment(POLLYRS_RT_DEVICE="emulated", POLLYRS_RT_OFFLOAD="always")
    toolchain.run([toolchain.DRIVER, "cc", *OPTIONS, "waits.c", "-o", "x"], env=environment, cwd=work)
    with subprocess.Popen([toolchain.DRIVER, "profile", "-o", "waits.html", "./x"], env=environment, cwd=work, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        first = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode(errors="replace")
    page = (work / "waits.html").read_text(encoding="utf-8") if (work / "waits.html").exists() else ""
    result.check(first and process.returncode == 130 and "main " in said and "\"name\":\"main\"" in page, f"status {process.returncode}: {said}")
    done = toolchain.run([toolchain.DRIVER, "tune", "--output", "no/folder/x.tune", "waits.c"], env=environment, cwd=work)
    result.check(done.code == 1 and b"no/folder/x.tune: cannot be written" in done.stderr, done.stderr.decode(errors="replace"))


def links(result, work, report):
    """The driver under other names."""
    for name, words in {"pollyrs-cc": ["a.c"], "pollyrs-c++": ["-x", "c", "a.c"], "pollyrs-fc": ["d.f90"]}.items():
        link = work / name
        link.unlink(missing_ok=True)
        link.symlink_to(toolchain.DRIVER)
        done = toolchain.run([link, "-O2", "-S", *words, "-o", "y.s"], env=toolchain.environment(), cwd=work)
        text = (work / "y.s").read_text(encoding="utf-8", errors="replace") if done.code == 0 else ""
        result.check("pollyrs_rt_begin" in text, lambda: report(f"{name}: {done.why() or 'nothing offloaded'}", done, toolchain.shell([link, *words])))


def closed_pipes(result, work, report):
    """A reader that has gone away ends nothing with a panic."""
    del report
    for words in (["report", "a.c"], ["doctor"], ["cc", "--pollyrs-help"], ["--help"]):
        with subprocess.Popen([toolchain.DRIVER, *words], env=toolchain.environment(), cwd=work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            said = process.stderr.read().decode(errors="replace")
        result.check("panicked" not in said, f"{words}: {said}")
