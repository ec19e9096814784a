"""The body of scripts/run: one program, three executables, one comparison."""

import collections
import ctypes
import os
import pathlib
import re
import shlex
import sys
import tempfile

import floating_point
import toolchain

REMARK = re.compile(r"^(?P<at>.*?): remark: (?P<text>.*?)(?: \[PRS\d+\])? \[-Rpass(?P<kind>|-missed|-analysis)=pollyrs\]$")
# As rustc prints them.
NOTE = re.compile(r"^note: (?P<at>.*?) pollyrs \((?P<kind>success|missed|analysis)\): (?P<text>.*)$")
# A file whose loops all move to the device may print hundreds of remarks.
MAX_REMARKS = 40


def gpu_is_usable():
    """Whether the CUDA driver loads and shows a device."""
    try:
        cuda = ctypes.CDLL(os.environ.get("POLLYRS_RT_CUDA_LIBRARY") or "libcuda.so.1")
        count = ctypes.c_int(0)
        return cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except (OSError, AttributeError):
        return False


def compile_or_exit(command, **settings):
    """Compiles; on failure the compiler's message and the end of the script."""
    done = toolchain.run(command, env=toolchain.environment(**settings), timeout=3600)
    if done.why():
        sys.stderr.write(done.stderr.decode(errors="replace"))
        sys.exit(f"scripts/run: {done.why()}: {toolchain.shell(command, **settings)}")
    return done


def user_flags(language):
    """Options for the compiler from the caller's environment."""
    names = {"c": ["CFLAGS"], "c++": ["CFLAGS", "CXXFLAGS"], "fortran": ["CFLAGS", "FFLAGS"], "rust": ["RUSTFLAGS"]}[language]
    return [word for name in names for word in shlex.split(os.environ.get(name, ""))]


def compile_all(source, flags, rule, targets, names):
    """The original at -O1 and at -O3, and with pollyrs; returns the last one's messages."""
    plain, fast, offloaded = names
    if toolchain.language(source) == "rust":
        if not toolchain.rustc_with_plugins():
            sys.exit("scripts/run: there is no rustc whose LLVM is 22, as the plugin's")
        compile_or_exit(toolchain.rust_command(source, plain, plugin=False, level="1", flags=flags))
        compile_or_exit(toolchain.rust_command(source, fast, plugin=False, flags=flags))
        remarks = ["-Cremark=pollyrs", "-Cdebuginfo=1"]
        # The option that loads plugins is unstable.
        return compile_or_exit(toolchain.rust_command(source, offloaded, flags=[*flags, *remarks]), RUSTC_BOOTSTRAP=1, POLLYRS_TARGETS=targets)
    flags = [*flags, *rule.flags]
    compile_or_exit(toolchain.plain_command(source, plain, "-O1", flags=[*flags, *rule.original]))
    compile_or_exit(toolchain.plain_command(source, fast, "-O3", flags=[*flags, *rule.original]))
    extra = ["--pollyrs-remarks", *rule.offloaded]
    return compile_or_exit(toolchain.plugin_command(source, offloaded, targets=targets, flags=flags, extra=extra))


def print_remarks(stderr):
    """What was offloaded and what was not, with the reasons, in the compiler's order."""
    groups = {"": ("offloaded", []), "-missed": ("not offloaded", []), "-analysis": ("notes", [])}
    other = []
    for line in stderr.decode(errors="replace").splitlines():
        found = REMARK.match(line) or NOTE.match(line)
        if found:
            kind = {"success": "", "missed": "-missed", "analysis": "-analysis"}.get(found["kind"], found["kind"])
            groups[kind][1].append(f"{found['at']}: {found['text']}")
        elif "warning:" in line or "error:" in line:
            other.append(line)
    for title, lines in groups.values():
        print(f"{title}: {len(lines)}")
        for line in lines[:MAX_REMARKS]:
            print(f"  {line}")
        if len(lines) > MAX_REMARKS:
            print(f"  ... and {len(lines) - MAX_REMARKS} more")
    for line in other:
        print(line)


def print_profile(lines):
    """One row a SCoP, device and reason: sums over its executions."""
    rows = collections.OrderedDict()
    for line in lines:
        key = (line["scop"], line["at"], line["device"], line.get("reason", ""))
        row = rows.setdefault(key, collections.Counter())
        row["runs"] += 1
        for name in ("kernels", "kernel_ms", "total_ms", "bytes_to_device", "bytes_to_host"):
            row[name] += line.get(name, 0)
    if not rows:
        print("executions: none; no offloaded loop was reached")
        return
    print("executions:")
    print(f"  {'loop nest':36} {'device':9} {'runs':>5} {'launches':>8} {'kernel ms':>10} {'total ms':>10} {'MB in':>8} {'MB out':>8}")
    for (scop, at, device, reason), row in rows.items():
        name = f"{scop} {pathlib.PurePath(at).name}".strip()
        print(f"  {name:36} {device:9} {row['runs']:5} {row['kernels']:8} {row['kernel_ms']:10.3f} {row['total_ms']:10.3f} "
              f"{row['bytes_to_device'] / 1e6:8.2f} {row['bytes_to_host'] / 1e6:8.2f}")
        if reason:
            print(f"    because: {reason}")


def shortened(line):
    """A line as it fits on a screen."""
    return line if len(line) <= 160 else line[:157] + "..."


def verdict(rule, reference, got):
    """Whether the outputs agree under the rule, and the words for it."""
    if (got.code, got.stdout) == (reference.code, reference.stdout):
        return True, "the same output as the original's, bit for bit"
    of_original = f"(the original: {reference.why() or 'exit status 0'})"
    if got.code != reference.code or rule.exact:
        return False, f"DIFFERENT from the original's: {got.why() or 'stdout differs'} {of_original}"
    difference = floating_point.largest_difference(reference.stdout, got.stdout)
    if difference is None:
        return False, f"DIFFERENT from the original's: stdout differs in more than numbers {of_original}"
    same = difference <= floating_point.TOLERANCE
    word = "the same output as the original's but for rounding" if same else "DIFFERENT from the original's"
    return same, f"{word}: the largest difference is {difference:.2g}, relative (tolerance: {floating_point.TOLERANCE:g})"


def main():
    """Compiles, runs, prints, compares."""
    source, arguments = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if not source.is_file():
        sys.exit(f"scripts/run: no such file: {source}")
    flags = user_flags(toolchain.language(source))
    device = os.environ.get("POLLYRS_RT_DEVICE") or ("auto" if gpu_is_usable() else "emulated")
    user = {k: v for k, v in os.environ.items() if k.startswith("POLLYRS_RT_") and k != "POLLYRS_RT_PROFILE"}
    user["POLLYRS_RT_DEVICE"] = device

    with tempfile.TemporaryDirectory(prefix="pollyrs-run-") as name:
        work = pathlib.Path(name)
        plain, fast, offloaded, profile = (work / n for n in ("plain", "fast", "offloaded", "profile.jsonl"))
        try:
            rule = floating_point.rule(source, flags, work)
        except ValueError as error:
            sys.exit(str(error))
        done = compile_all(source, flags, rule, "emulated" if device == "emulated" else "cuda,emulated", (plain, fast, offloaded))
        print_remarks(done.stderr)
        print(f"floating point: {rule.text}")

        # With a tolerance a checksum is of no use.
        values = {} if rule.exact else {"EXAMPLE_VALUES": 1}
        reference = toolchain.run([plain, *arguments], env=toolchain.environment(**values), timeout=3600)
        original = toolchain.run([fast, *arguments], env=toolchain.environment(**values), timeout=3600)
        environment = toolchain.environment(**user, **values, POLLYRS_RT_PROFILE=profile)
        got = toolchain.run([offloaded, *arguments], env=environment, timeout=3600)
        print_profile(toolchain.read_profile(profile))

    print("output:")
    for line in got.stdout.decode(errors="replace").splitlines()[:20]:
        print(f"  {shortened(line)}")
    if got.stderr:
        print("stderr:\n  " + got.stderr.decode(errors="replace").strip().replace("\n", "\n  "))
    shown = "the GPU if it pays off" if device == "auto" else device
    print(f"time of the whole program: plain -O1 {reference.seconds:.3f} s, plain -O3 {original.seconds:.3f} s, "
          f"pollyrs {got.seconds:.3f} s (device: {shown})")
    same, words = verdict(rule, reference, got)
    print(f"result: {words}")
    if rule.exact and (original.code, original.stdout) != (reference.code, reference.stdout):
        print("note: the original itself prints different output at -O1 and -O3")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
