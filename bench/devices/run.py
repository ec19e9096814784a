#!/usr/bin/env python3
"""Programs on 1, 2, 4 ... devices of one machine: times, what moved between the devices, and whether the results are the same bits.

  run.py --build FOLDER             compiles the programs (needs the plugin: POLLYRS_BUILD)
  run.py FOLDER [--devices 1,2,4] [--small] [--repeat N] [--filter REGEX] [--emulated]

The second needs Python and the executables only. Kernel time is the longest of the devices', of all executions; the whole call is what the program measured
around its function, transfers included.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Name, source, definitions, sizes, small sizes.
PROGRAMS = [
    ("laplacian2d", "laplacian2d", [], ["32768", "200"], ["500", "20"]),
    ("heat2d", "heat2d", [], ["32768", "200"], ["500", "20"]),
    ("laplacian3d", "laplacian3d", [], ["1024", "100"], ["60", "10"]),
    ("fdtd2d", "fdtd2d", [], ["16384", "200"], ["300", "10"]),
    ("gemm float", "gemm", [], ["32768"], ["300"]),
    ("gemm double", "gemm", ["-DREAL=double"], ["16384"], ["200"]),
    ("triad", "triad", [], ["1073741824"], ["100000"]),
    ("nbody", "nbody", [], ["524288", "2"], ["500", "3"]),
    ("black_scholes", "black_scholes", [], ["268435456", "20"], ["20000", "3"]),
]


def executable(folder, name):
    """The file of a program."""
    return folder / name.replace(" ", "_")


def build(folder):
    """Compiles all programs for CUDA and for the emulated device."""
    sys.path.insert(0, str(HERE.parents[1] / "scripts" / "lib"))
    import toolchain
    folder.mkdir(parents=True, exist_ok=True)
    for name, source, flags, _, _ in PROGRAMS:
        command = toolchain.plugin_command(HERE / f"{source}.c", executable(folder, name), flags=("-ffp-contract=off", *flags),
                                           extra=["--pollyrs-remarks", "--pollyrs-option=divide=true"])
        done = subprocess.run(command, env=toolchain.environment(), capture_output=True, text=True, check=False)
        remarks = [line.split("remark: ")[1] for line in done.stderr.splitlines() if "remark: offloaded compute" in line or "fuses" in line]
        print(f"{name}: " + (done.stderr if done.returncode else "; ".join(remarks)), flush=True)


def measure(program, words, settings):
    """Checksum, seconds of the call, and of the profile kernel time, devices and bytes between them; or what went wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        profile = pathlib.Path(scratch) / "profile"
        env = {**os.environ, **settings, "POLLYRS_RT_PROFILE": str(profile), "POLLYRS_RT_OFFLOAD": "always"}
        done = subprocess.run([program, *words], env=env, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in profile.read_text().splitlines()] if profile.exists() else []
    found = re.search(r"seconds (\S+)\nsum (\w+)", done.stdout)
    if not found:
        return None, f"exit status {done.returncode}: {done.stderr[-500:]}"
    on_host = [line["reason"] for line in lines if line["device"] == "host"]
    figures = {
        "sum": found[2], "call": float(found[1]), "kernels": sum(line["kernel_ms"] for line in lines) / 1e3,
        "devices": max((line.get("devices", 1) for line in lines), default=0),
        "between": sum(line.get("bytes_between_devices", 0) for line in lines),
        "launches": sum(line["kernels"] for line in lines),
    }
    return figures, "; ".join(sorted(set(on_host)))


def main():
    """Builds, or measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--devices", default="1,2")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--filter", default="")
    parser.add_argument("--emulated", action="store_true")
    options = parser.parse_args()
    if options.build:
        return build(options.folder)
    wrong = 0
    print(f"{'program':<14} {'devices':>7} {'kernels s':>10} {'x':>5} {'call s':>8} {'x':>5} {'launches':>8} {'MB between':>10}  results")
    for name, _, _, full, small in PROGRAMS:
        if not re.search(options.filter, name):
            continue
        first = None
        for n in options.devices.split(","):
            settings = {"POLLYRS_RT_DEVICES": n}
            settings |= {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_EMULATED_DEVICES": n} if options.emulated else {"POLLYRS_RT_DEVICE": "cuda"}
            runs = [measure(executable(options.folder, name), small if options.small else full, settings) for _ in range(options.repeat)]
            good = [figures for figures, _ in runs if figures]
            notes = "; ".join({note for _, note in runs if note})
            if not good:
                print(f"{name:<14} {n:>7}  {notes}", flush=True)
                wrong += 1
                continue
            best = min(good, key=lambda figures: figures["call"])
            first = first or best
            same = all(figures["sum"] == first["sum"] for figures in good)
            wrong += not same
            ratio = lambda key: first[key] / best[key] if best[key] else 0
            print(f"{name:<14} {best['devices']:>7} {best['kernels']:>10.4f} {ratio('kernels'):>5.2f} {best['call']:>8.3f} {ratio('call'):>5.2f} "
                  f"{best['launches']:>8} {best['between'] / 1e6:>10.1f}  {'same' if same else 'DIFFERENT'} {notes}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
