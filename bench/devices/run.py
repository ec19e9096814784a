#!/usr/bin/env python3
"""Programs on 1, 2, 4 ... devices of one machine: times, what moved between the devices, and whether the results are the same bits.

  run.py --build FOLDER             compiles the programs (needs the plugin: POLLYRS_BUILD)
  run.py FOLDER [--devices 1,2,4] [--small | --medium | --large] [--calls N] [--filter REGEX] [--emulated]
  run.py FOLDER --ranks 1,2,4 --mpich FOLDER [...]      one program on so many processes with a device each, started by MPICH's mpiexec

The second needs Python and the executables only. A program calls its function N times. The first call is what a program that calls it once has: starts of devices,
memory and copies included, by the program's clock around it. Kernel time is the longest of the devices', with all that they wait for between launches: the median
of the calls after the first.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Name, source, definitions, sizes, small sizes, and the large ones of some.
PROGRAMS = [
    ("laplacian2d", "laplacian2d", [], ["32768", "200"], ["500", "20"], ["65536", "100"]),
    ("heat2d", "heat2d", [], ["32768", "200"], ["500", "20"]),
    ("laplacian3d", "laplacian3d", [], ["1024", "100"], ["60", "10"]),
    ("fdtd2d", "fdtd2d", [], ["16384", "200"], ["300", "10"]),
    ("gemm float", "gemm", [], ["32768"], ["300"]),
    ("gemm double", "gemm", ["-DREAL=double"], ["16384"], ["200"]),
    ("triad", "triad", [], ["1073741824"], ["100000"], ["4294967296"]),
    ("nbody", "nbody", [], ["524288", "2"], ["500", "3"]),
    ("black_scholes", "black_scholes", [], ["268435456", "20"], ["20000", "3"]),
]


# What several processes of one machine have room for, each with all of the program's memory.
MEDIUM = {"laplacian2d": ["16384", "200"], "heat2d": ["16384", "200"], "laplacian3d": ["512", "100"], "fdtd2d": ["8192", "200"], "gemm float": ["16384"],
          "gemm double": ["8192"], "triad": ["134217728"], "nbody": ["262144", "2"], "black_scholes": ["67108864", "20"]}


def launcher(options, ranks):
    """What stands before a program, and the settings of its run."""
    if not options.ranks or ranks == 1:
        return [], {"POLLYRS_RT_DEVICES": "1"}
    mpiexec = [str(options.mpich / "bin" / "mpiexec")]
    words = [f"-n 1 -env CUDA_VISIBLE_DEVICES {rank}".split() + ["{program}"] for rank in range(ranks)]
    for rank, part in enumerate(words):
        mpiexec += ([":"] if rank else []) + part
    return mpiexec, {"POLLYRS_RT_MPI": "strict", "POLLYRS_RT_MPI_LIBRARY": str(options.mpich / "lib" / "libmpi_abi.so.1")}


def executable(folder, name):
    """The file of a program."""
    return folder / name.replace(" ", "_")


def build(folder):
    """Compiles all programs for CUDA and for the emulated device."""
    sys.path.insert(0, str(HERE.parents[1] / "scripts" / "lib"))
    import toolchain
    folder.mkdir(parents=True, exist_ok=True)
    for name, source, flags, *_ in PROGRAMS:
        command = toolchain.plugin_command(HERE / f"{source}.c", executable(folder, name), flags=("-ffp-contract=off", *flags),
                                           extra=["--pollyrs-remarks", "--pollyrs-option=divide=true"])
        done = subprocess.run(command, env=toolchain.environment(), capture_output=True, text=True, check=False)
        remarks = [line.split("remark: ")[1] for line in done.stderr.splitlines() if "remark: offloaded compute" in line or "fuses" in line]
        print(f"{name}: " + (done.stderr if done.returncode else "; ".join(remarks)), flush=True)


def measure(program, words, settings, start=()):
    """Checksum, seconds of the first call, and of the profile of the later ones kernel time, devices and bytes between them; or what went wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        profile = pathlib.Path(scratch) / "profile"
        env = {**os.environ, **settings, "POLLYRS_RT_PROFILE": str(profile), "POLLYRS_RT_OFFLOAD": "always"}
        command = []
        for word in start or ["{program}"]:
            command += [str(program), *words] if word == "{program}" else [word]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in profile.read_text().splitlines()] if profile.exists() else []
        lines = [line for line in lines if line.get("rank", 0) == 0]
    seconds, found = re.findall(r"seconds (\S+)", done.stdout), re.search(r"sum (\w+)", done.stdout)
    if not found:
        return None, f"exit status {done.returncode}: {done.stderr[-500:]}"
    on_host = [line["reason"] for line in lines if line["device"] == "host"]
    # Each call has as many executions.
    each = max(len(lines) // len(seconds), 1)
    by_call = [lines[at:at + each] for at in range(0, len(lines), each)]
    later = by_call[1:] or by_call
    of = lambda key: statistics.median(sum(line.get(key, 0) for line in call) for call in later) if later else 0
    figures = {
        "sum": found[1], "call": float(seconds[0]), "later": statistics.median(map(float, seconds[1:] or seconds)), "kernels": of("kernel_ms") / 1e3,
        "devices": max((line.get("devices", 1) for line in lines), default=0), "between": of("bytes_between_devices"), "launches": of("kernels"),
    }
    return figures, "; ".join(sorted(set(on_host)))


def main():
    """Builds, or measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--devices", default="1,2")
    parser.add_argument("--ranks", default="")
    parser.add_argument("--mpich", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--medium", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--calls", type=int, default=6)
    parser.add_argument("--filter", default="")
    parser.add_argument("--emulated", action="store_true")
    options = parser.parse_args()
    if options.build:
        return build(options.folder)
    wrong = 0
    print(f"{'program':<14} {'size':<16} {'devices':>7} {'kernels s':>10} {'x':>5} {'first call s':>12} {'x':>5} {'later s':>8} {'x':>5} {'launches':>8} {'MB between':>10}  results")
    for name, _, _, full, small, *large in PROGRAMS:
        if not re.search(options.filter, name) or (options.large and not large):
            continue
        words = small if options.small else MEDIUM[name] if options.medium else large[0] if options.large else full
        first = None
        for n in (options.ranks or options.devices).split(","):
            start, of_ranks = launcher(options, int(n))
            settings = {"POLLYRS_RT_DEVICES": n, "CALLS": str(options.calls)} | (of_ranks if options.ranks else {})
            settings |= {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_EMULATED_DEVICES": "1" if options.ranks else n} if options.emulated else {"POLLYRS_RT_DEVICE": "cuda"}
            figures, notes = measure(executable(options.folder, name).resolve(), words, settings, start)
            if not figures:
                print(f"{name:<14} {n:>7}  {notes}", flush=True)
                wrong += 1
                continue
            first = first or figures
            same = figures["sum"] == first["sum"]
            wrong += not same
            ratio = lambda key: first[key] / figures[key] if figures[key] else 0
            print(f"{name:<14} {'x'.join(words):<16} {figures['devices']:>7} {figures['kernels']:>10.5f} {ratio('kernels'):>5.2f} {figures['call']:>12.3f} {ratio('call'):>5.2f} "
                  f"{figures['later']:>8.3f} {ratio('later'):>5.2f} {figures['launches']:>8} {figures['between'] / 1e6:>10.1f}  {'same' if same else 'DIFFERENT'} {notes}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
