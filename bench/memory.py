#!/usr/bin/env python3
"""Loops that memory bounds, at what share of the device's own copy rate: run it on a machine with a GPU, beside what was built here.

    pollyrs cc -O3 bench/memory.c -o DIR/memory -lm
    memory.py DIR/memory [NAME...]        the loops of that name (default: all)

    --json FILE                           the rows as bench/results/ has them

The copy rate is that of a copy of 256 MB from the device to itself, by the CUDA runtime library, twice its bytes a second; the best of ten. A loop's time is the
median of its executions but the first, its bytes are those that have to move: each array once.
"""

import argparse
import collections
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from cublas import Cuda

N, B, M, Q, CUBE = 1 << 26, 1 << 28, 8192 * 8192, 1024 * 1024 * 64, 320**3

# Bytes that each loop has to move at size 1.
BYTES = {
    "copy": 8 * N, "copy_2d": 8 * M, "copy_part": 8 * M, "copy_bytes": 2 * B, "scale": 16 * M, "axpy": 24 * M, "triad": 12 * N,
    "transpose": 8 * M, "transpose_double": 16 * M, "transpose_bytes": 2 * M, "permute": 8 * Q, "permute_rows": 8 * Q,
    # (Of every second element all lines are read.)
    "every_second": 6 * N, "interleave": 8 * N, "reverse": 8 * N, "brighten": 2 * B, "threshold": 2 * M, "widen": 5 * N, "narrow": 5 * N,
    "add_rows": 8 * M, "add_columns": 8 * M, "five": 8 * M, "seven": 16 * CUBE, "radius_7": 16 * N, "along_rows": 8 * M, "along_columns": 8 * M,
    "shrink": 5 * M, "enlarge": 5 * M, "pixels": 2 * B, "grey": 4 * (B // 3), "complex_products": 12 * N, "lowest": 4 * 200 * 500000, "adam": 28 * N,
}


def copy_rate(cuda, size=1 << 28):
    """Bytes a second, read and written, of a copy within the device."""
    source, target = cuda.allocate(bytes(size)), cuda.allocate(bytes(size))
    best = 0.0
    for _ in range(10):
        begin, end = cuda.event(), cuda.event()
        cuda.call(cuda.runtime, "cudaEventRecord", begin, None)
        cuda.call(cuda.runtime, "cudaMemcpyAsync", target, source, ctypes.c_size_t(size), 3, None)
        cuda.call(cuda.runtime, "cudaEventRecord", end, None)
        cuda.call(cuda.runtime, "cudaDeviceSynchronize")
        ms = ctypes.c_float()
        cuda.call(cuda.runtime, "cudaEventElapsedTime", ctypes.byref(ms), begin, end)
        best = max(best, 2 * size / ms.value * 1e3)
    return best


def profile(program, names):
    """The lines of the profile of the loops of these names (all, if there are none)."""
    lines = []
    for name in names or [None]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "profile"
            environment = dict(os.environ, POLLYRS_RT_OFFLOAD="always", POLLYRS_RT_PROFILE=str(path))
            subprocess.run([program, "1", *([name] if name else [])], env=environment, stdout=subprocess.DEVNULL, check=True)
            lines += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return lines


def times(lines, name):
    """Milliseconds of the kernels of a loop, its launches, and why it stayed on the host, if it did."""
    mine = [line for line in lines if line["scop"] == name]
    if any(line["device"] == "host" for line in mine) or len(mine) < 2:
        return None, 0, collections.Counter(str(line.get("reason")) for line in mine).most_common(1)
    return statistics.median(line["kernel_ms"] for line in mine[1:]), mine[0]["kernels"], None


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    rate = copy_rate(Cuda())
    print(f"copy within the device: {rate / 1e9:.0f} GB/s")
    lines, rows = profile(arguments.program.resolve(), arguments.names), []
    for name in arguments.names or BYTES:
        ms, launches, reason = times(lines, name)
        if ms is None:
            print(f"{name:18} on the host: {reason}", flush=True)
            continue
        share = BYTES[name] / (ms / 1e3) / rate
        rows.append({"loop": name, "kernel ms": ms, "launches": launches, "GB/s": BYTES[name] / ms / 1e6, "of the copy rate": share})
        print(f"{name:18} {ms:8.3f} ms  {launches:4} launches  {BYTES[name] / ms / 1e6:6.0f} GB/s  {share:6.1%}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
