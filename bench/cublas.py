#!/usr/bin/env python3
"""Measures cuBLAS's matrix products through ctypes, for ratios to those of bench/sets/dense.json: run it on the same machine, next to the
bundle. Needs libcublas and libcudart somewhere Python's packages or the CUDA toolkit put them.

  cublas.py [--bundle DIR] [N...]       default: 1024 2000 2048 4096 8192

With a bundle of the dense set, its `gemm` runs in between, and the output is the table of bench/results/01-matrix-products.json.
"""

import ctypes
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import sysconfig
import tempfile


def load(name):
    """The library in the linker's path, the CUDA toolkit or a Python package."""
    roots = {sysconfig.get_paths()[key] for key in ("purelib", "platlib")}
    places = [f"lib{name}.so", *glob.glob(f"/usr/local/cuda*/lib64/lib{name}.so*")]
    for root in roots:
        places += sorted(glob.glob(f"{root}/nvidia/**/lib{name}.so*", recursive=True), reverse=True)
    for place in places:
        try:
            return ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    sys.exit(f"no lib{name}")


class Cuda:
    """The few calls that are needed, checked."""

    def __init__(self):
        self.runtime, self.blas = load("cudart"), load("cublas")
        self.handle = ctypes.c_void_p()
        self.call(self.blas, "cublasCreate_v2", ctypes.byref(self.handle))

    @staticmethod
    def call(library, name, *arguments):
        """Calls a function and ends the program if it fails."""
        code = getattr(library, name)(*arguments)
        if code:
            sys.exit(f"{name}: error {code}")

    def allocate(self, data):
        """Device memory with these bytes."""
        address = ctypes.c_void_p()
        self.call(self.runtime, "cudaMalloc", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.call(self.runtime, "cudaMemcpy", address, data, ctypes.c_size_t(len(data)), 1)
        return address

    def event(self):
        """A new event."""
        event = ctypes.c_void_p()
        self.call(self.runtime, "cudaEventCreate", ctypes.byref(event))
        return event

    def product(self, n, double):
        """The median of five products' milliseconds after a warm-up, on pseudo-random data."""
        import array
        import random

        kind, real = ("d", ctypes.c_double) if double else ("f", ctypes.c_float)
        random.seed(n)
        row = array.array(kind, (random.uniform(-1, 1) for _ in range(4 * n))).tobytes()
        data = row * (n // 4) + row[: len(row) // 4 * (n % 4)]
        a, b, c = (self.allocate(data) for _ in range(3))
        one = real(1)
        start, end = self.event(), self.event()
        times = []
        for _ in range(6):
            self.call(self.runtime, "cudaEventRecord", start, None)
            self.call(self.blas, "cublasDgemm_v2" if double else "cublasSgemm_v2", self.handle, 0, 0, n, n, n, ctypes.byref(one), a, n,
                      b, n, ctypes.byref(one), c, n)
            self.call(self.runtime, "cudaEventRecord", end, None)
            self.call(self.runtime, "cudaEventSynchronize", end)
            elapsed = ctypes.c_float()
            self.call(self.runtime, "cudaEventElapsedTime", ctypes.byref(elapsed), start, end)
            times.append(elapsed.value)
        for memory in (a, b, c):
            self.call(self.runtime, "cudaFree", memory)
        return statistics.median(times[1:])


def offloaded(folder, double, n):
    """The median of five executions' milliseconds in kernels after a warm-up, of the bundle's program."""
    programs = json.loads((folder / "set.json").read_text(encoding="utf-8"))["programs"]
    element = "double" if double else "float"
    program = next(p for p in programs if p["name"] == "gemm" and p["type"] == element)
    with tempfile.TemporaryDirectory(prefix="pollyrs-") as place:
        profile = pathlib.Path(place) / "profile.jsonl"
        env = {**os.environ, "POLLYRS_RT_OFFLOAD": "always", "POLLYRS_RT_PROFILE": str(profile), "EXAMPLE_REPEAT": "6"}
        subprocess.run([folder / program["pollyrs"], *[str(n)] * 3], env=env, stdout=subprocess.DEVNULL, check=True)
        lines = [json.loads(line) for line in profile.read_text(encoding="utf-8").splitlines()]
        # Arrays that go back at the end have lines of their own.
        lines = [line for line in lines if line["kernels"]]
    if len(lines) != 6 or any(line["device"] != "cuda" for line in lines):
        sys.exit(f"gemm {element} {n}: not six executions on the GPU")
    return statistics.median(line["kernel_ms"] for line in lines[1:])


def main():
    """One line for each size and type, or a table."""
    words = sys.argv[1:]
    folder = None
    if words[:1] == ["--bundle"]:
        folder, words = pathlib.Path(words[1]).resolve(), words[2:]
    sizes = [int(word) for word in words] or [1024, 2000, 2048, 4096, 8192]
    cuda = Cuda()
    if folder:
        print("| size | float | cuBLAS SGEMM | ratio | double | cuBLAS DGEMM | ratio |\n|---|---|---|---|---|---|---|")
        for n in sizes:
            cells = []
            for double in (False, True):
                ours, theirs = offloaded(folder, double, n), cuda.product(n, double)
                cells += [f"{2 * n**3 / ours / 1e9:.1f}", f"{2 * n**3 / theirs / 1e9:.1f}", f"{theirs / ours:.2f}"]
            print(f"| {n} | {' | '.join(cells)} |", flush=True)
        return
    for double in (False, True):
        for n in sizes:
            ms = cuda.product(n, double)
            print(f"cuBLAS {'double' if double else 'float'} {n}: {ms:.3f} ms, {2 * n**3 / ms / 1e9:.1f} TFLOP/s", flush=True)


if __name__ == "__main__":
    main()
