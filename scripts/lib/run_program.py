"""The body of scripts/run: one program, three executables, one comparison."""

import collections
import ctypes
import os
import pathlib
import re
import shlex
import sys
import tempfile

import toolchain

REMARK = re.compile(r"^(?P<at>.*?): remark: (?P<text>.*?)(?: \[PRS\d+\])? \[-Rpass(?P<kind>|-missed|-analysis)=pollyrs\]$")
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


def compile_or_exit(command):
    """Compiles; on failure the compiler's message and the end of the script."""
    done = toolchain.run(command, env=toolchain.environment(), timeout=3600)
    if done.why():
        sys.stderr.write(done.stderr.decode(errors="replace"))
        sys.exit(f"scripts/run: {done.why()}: {toolchain.shell(command)}")
    return done


def print_remarks(stderr):
    """What was offloaded and what was not, with the reasons, in the compiler's order."""
    groups = {"": ("offloaded", []), "-missed": ("not offloaded", []), "-analysis": ("notes", [])}
    other = []
    for line in stderr.decode(errors="replace").splitlines():
        found = REMARK.match(line)
        if found:
            groups[found["kind"]][1].append(f"{found['at']}: {found['text']}")
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


def main():
    """Compiles, runs, prints, compares."""
    source, arguments = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if not source.is_file():
        sys.exit(f"scripts/run: no such file: {source}")
    flags = shlex.split(os.environ.get("CFLAGS", ""))
    device = os.environ.get("POLLYRS_RT_DEVICE") or ("auto" if gpu_is_usable() else "emulated")
    user = {k: v for k, v in os.environ.items() if k.startswith("POLLYRS_RT_") and k != "POLLYRS_RT_PROFILE"}
    user["POLLYRS_RT_DEVICE"] = device

    with tempfile.TemporaryDirectory(prefix="pollyrs-run-") as name:
        work = pathlib.Path(name)
        plain, fast, offloaded, profile = (work / n for n in ("plain", "fast", "offloaded", "profile.jsonl"))
        compile_or_exit(toolchain.plain_command(source, plain, "-O1", flags=["-ffp-contract=off", *flags]))
        compile_or_exit(toolchain.plain_command(source, fast, "-O3", flags=flags))
        done = compile_or_exit(toolchain.plugin_command(source, offloaded, flags=flags, extra=["--pollyrs-remarks"]))
        print_remarks(done.stderr)

        reference = toolchain.run([plain, *arguments], env=toolchain.environment(), timeout=3600)
        original = toolchain.run([fast, *arguments], env=toolchain.environment(), timeout=3600)
        got = toolchain.run([offloaded, *arguments], env=toolchain.environment(**user, POLLYRS_RT_PROFILE=profile), timeout=3600)
        print_profile(toolchain.read_profile(profile))

    print("output:")
    for line in got.stdout.decode(errors="replace").splitlines()[:20]:
        print(f"  {line}")
    if got.stderr:
        print("stderr:\n  " + got.stderr.decode(errors="replace").strip().replace("\n", "\n  "))
    shown = "the GPU if it pays off" if device == "auto" else device
    print(f"time of the whole program: plain -O1 {reference.seconds:.3f} s, plain -O3 {original.seconds:.3f} s, "
          f"pollyrs {got.seconds:.3f} s (device: {shown})")
    same = (got.code, got.stdout) == (reference.code, reference.stdout)
    print("result: " + ("the same output as the original's, bit for bit" if same else
                        f"DIFFERENT from the original's: {got.why() or 'stdout differs'} (the original: "
                        f"{reference.why() or 'exit status 0'})"))
    if (original.code, original.stdout) != (reference.code, reference.stdout):
        print("note: the original itself prints different output at -O1 and -O3")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
