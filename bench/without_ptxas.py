#!/usr/bin/env python3
"""Products of doubles with machine code from ptxas, and as the driver compiles them from the PTX of each generation.

  bench/without_ptxas.py DIR      fills DIR, on a machine with LLVM and ptxas (POLLYRS_BUILD names the build)
  DIR/run.sh [N...]               there, on a machine with a GPU: sizes, 4096 by default

Each executable's output at small sizes is that of the host's chain of fused operations, bit for bit; the time is the median of five executions' kernels
after a warm-up, which compiles. In the executables for earlier generations the numbers of the later texts are out of reach, so that a later GPU takes the
earlier ones as well."""

import json
import os
import pathlib
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

SMALL = [(1, 1, 1), (513, 517, 9), (600, 640, 33), (300, 260, 100)]
PTX, NEVER = 1, 999


def build(folder):
    """The executables, and this file beside them."""
    root = pathlib.Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(root / "scripts" / "lib"))
    import toolchain

    source, flags = root / "bench" / "dense" / "gemm.c", ["-ffp-contract=on", "-mfma", "-Wl,-s"]
    folder.mkdir(parents=True, exist_ok=True)

    def compiled(name, command):
        done = toolchain.run([*map(str, command), "-o", folder / name], env=toolchain.environment(), timeout=600)
        if done.why():
            sys.exit(f"{done.why()}: {toolchain.shell(command)}\n{done.stderr.decode(errors='replace')}")
        return folder / name

    compiled("host", toolchain.plain_command(source, folder / "host", "-O3", element="double", flags=flags))
    # An architecture that is named has its cubin, or the table would show the same twice.
    for name, cubin in (("ptxas", "sm_90"), ("sm_90", "off")):
        extra = [f"--pollyrs-option=cubin={cubin}"]
        compiled(name, toolchain.plugin_command(source, folder / name, targets="cuda", element="double", flags=flags, extra=extra))
    texts = toolchain.ptx_in(folder / "sm_90")
    for name, hidden in (("sm_80", ["90"]), ("sm_70", ["90", "80"])):
        data = (folder / "sm_90").read_bytes()
        for arch in hidden:
            # `PollyrsImage`: kind, architecture, an address, the length.
            lengths = [len(text) for text in texts if f".target sm_{arch}".encode() in text]
            image = b"|".join(re.escape(struct.pack("<II", PTX, int(arch))) + b".{8}" + re.escape(struct.pack("<Q", n)) for n in lengths)
            data, count = re.subn(image, lambda found: struct.pack("<II", PTX, NEVER) + found[0][8:], data, flags=re.S)
            if not lengths or count != len(lengths):
                sys.exit(f"{len(lengths)} texts for sm_{arch}, {count} descriptions")
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o755)
    shutil.copy2(__file__, folder / "measure.py")
    script = folder / "run.sh"
    script.write_text('#!/bin/sh\nexec python3 "$(dirname "$0")/measure.py" --run "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    print(f"{folder}: run.sh")


def execute(program, sizes, repeat=1):
    """Standard output, and the executions of the profile that had kernels."""
    with tempfile.TemporaryDirectory(prefix="pollyrs-") as place:
        profile = pathlib.Path(place) / "profile.jsonl"
        env = {**os.environ, "POLLYRS_RT_OFFLOAD": "always", "POLLYRS_RT_PROFILE": str(profile), "EXAMPLE_REPEAT": str(repeat)}
        done = subprocess.run([program, *map(str, sizes)], env=env, stdout=subprocess.PIPE, check=True)
        lines = profile.read_text(encoding="utf-8").splitlines() if profile.exists() else []
    return done.stdout, [line for line in map(json.loads, lines) if line["kernels"] or line["device"] == "host"]


def measure(folder, sizes):
    """A table; the exit status is 1 if an output differs or a loop ran on the host."""
    bad = 0
    print("| code | " + " | ".join(f"TFLOP/s at {n}" for n in sizes) + " | outputs |\n|---|" + "---|" * (len(sizes) + 1))
    for name in ("ptxas", "sm_90", "sm_80", "sm_70"):
        wrong = []
        for small in SMALL:
            output, lines = execute(folder / name, small)
            if output != execute(folder / "host", small)[0] or any(line["device"] != "cuda" for line in lines):
                wrong.append("x".join(map(str, small)))
        cells = []
        for n in sizes:
            _, lines = execute(folder / name, [n] * 3, repeat=6)
            on_gpu = [line["kernel_ms"] for line in lines if line["device"] == "cuda"]
            reasons = {line.get("reason", "") for line in lines if line["device"] != "cuda"}
            cells.append(f"{2 * n**3 / statistics.median(on_gpu[1:]) / 1e9:.1f}" if len(on_gpu) == 6 else f"host: {'; '.join(reasons)}")
            bad += len(on_gpu) != 6
        bad += len(wrong)
        print(f"| {name} | {' | '.join(cells)} | {'different: ' + ', '.join(wrong) if wrong else 'equal'} |", flush=True)
    return min(bad, 1)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["--run"]:
        sys.exit(measure(pathlib.Path(__file__).resolve().parent, [int(word) for word in words[1:]] or [4096]))
    if len(words) != 1:
        sys.exit(__doc__)
    build(pathlib.Path(words[0]).resolve())
