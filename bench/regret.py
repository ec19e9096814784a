#!/usr/bin/env python3
"""How well the run-time library chooses between device and host.

  regret.py PROGRAM [all]    PROGRAM is bench/mixed.c compiled with 'pollyrs cc -O3': on each side, and with the choice left to the library; on a
                             machine with a GPU. With all the first 40 executions count, not only those after the choice.
  regret.py --build DIR      fills a folder for that machine, which needs neither compilers nor more than Python's standard library: bench/whole.c
                             plain and with kernels, by -O3 each, and this script
  regret.py --whole DIR [--rounds N] [--only REGEX]
                             there: whole processes, plain against the choice left to the library, the driver's start and first
                             executions included; also DIR/run.sh

Each mode runs some times, in turns, and the least time counts: other programs on the machine disturb single runs by half. Prints a table,
and the worst: of the first form the regret (how much slower the choice was than the better side) and the loss against the original loops, differences
below 5 microseconds being noise; of whole processes the loss against the plain program, in which 10 ms are none. Status 1 if one of them loses more than a
twentieth, or prints something else."""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

NOISE_MS = 5e-3
MODES = ("always", "never", "auto")
ROUNDS = 4

# Programs with functions that no standard defines exactly: their last bits are those of the library that computes them
# (docs/explanation/floating-point.md).
ANOTHER_LIBRARY = ("softmax",)

# Arguments of bench/whole.c: some milliseconds to some seconds on the host, a single long execution and many
# short ones.
WHOLE = {
    "row_minimum": ((200, 5000, 1), (200, 500000, 1), (2000, 5000, 40), (20000, 2000, 20)),
    "tridiagonal": ((256, 64, 10), (4096, 128, 20), (4096, 128, 200), (16384, 512, 20)),
    "softmax": ((64, 1000, 4), (4096, 1024, 20), (1024, 1024, 100), (8192, 2048, 20)),
    "axpy": ((100, 100, 50), (1000, 1000, 50), (4000, 4000, 10), (1000, 1000, 1000)),
    "matrix_vector": ((200, 200, 50), (2000, 2000, 20), (4000, 4000, 100), (8000, 4000, 10)),
    "product": ((64, 64, 10), (400, 400, 4), (1000, 1000, 1), (1000, 1000, 8)),
    "smooth_2d": ((100, 100, 5), (500, 500, 10), (2000, 2000, 2), (2000, 2000, 20)),
    "smooth_3d": ((20, 20, 20), (100, 100, 20), (200, 200, 5), (200, 200, 60)),
    "covariance": ((50, 50, 5), (300, 300, 2), (800, 400, 1), (1000, 800, 3)),
    "convolution": ((100, 100, 5), (500, 500, 20), (2000, 2000, 5), (3000, 3000, 20)),
    "transposition": ((100, 100, 50), (1000, 1000, 20), (3000, 3000, 5), (3000, 3000, 30)),
    "running_sums": ((100, 100, 50), (1000, 1000, 50), (5000, 2000, 10), (5000, 4000, 40)),
    "normalized": ((100, 100, 50), (1000, 1000, 20), (4000, 2000, 10), (5000, 4000, 20)),
    "bodies": ((300, 300, 5), (3000, 3000, 5), (20000, 20000, 1), (20000, 20000, 5)),
    "shortest_paths": ((60, 60, 2), (300, 300, 2), (800, 800, 1), (1200, 1200, 1)),
    "colours": ((100, 300, 20), (1000, 3000, 10), (3000, 6000, 4), (3000, 6000, 40)),
}
# What a process may lose: a part, and what differs between two runs of the same.
LOSS, SAME_S = 0.05, 0.01


def times(command, mode):
    """Milliseconds by kernel and size."""
    environment = {**os.environ, "POLLYRS_RT_OFFLOAD": mode}
    lines = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    return {(name, int(n)): float(ms) for name, n, ms in map(str.split, lines)}


def kernels(command):
    """Runs the modes in turns."""
    rounds = [[times(command, mode) for mode in MODES] for _ in range(ROUNDS)]
    device, host, auto = ({key: min(r[mode][key] for r in rounds) for key in rounds[0][mode]} for mode in range(len(MODES)))
    print(f"{'kernel':12} {'n':>6} {'device ms':>11} {'host ms':>11} {'auto ms':>11} {'regret':>8}")
    regrets, losses = [], []

    def slower(mine, best):
        return mine / best - 1 if mine - best > NOISE_MS else 0

    for key in device:
        regret = slower(auto[key], min(device[key], host[key]))
        regrets.append(regret)
        losses.append(slower(auto[key], host[key]))
        print(f"{key[0]:12} {key[1]:6} {device[key]:11.4f} {host[key]:11.4f} {auto[key]:11.4f} {100 * regret:7.1f}%")
    print(f"worst regret {100 * max(regrets):.1f}%, mean {100 * sum(regrets) / len(regrets):.1f}%; "
          f"slower than the original by {100 * max(losses):.1f}% at most")
    return 0


def build(folder):
    """Compiles bench/whole.c both ways."""
    root = pathlib.Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(root / "scripts" / "lib"))
    import toolchain

    folder.mkdir(parents=True, exist_ok=True)
    source, strip = root / "bench" / "whole.c", ("-ffp-contract=off", "-Wl,-s,--gc-sections")
    for command in (toolchain.plain_command(source, folder / "plain", "-O3", flags=strip),
                    toolchain.plugin_command(source, folder / "pollyrs", targets="cuda", flags=strip)):
        done = toolchain.run(command, env=toolchain.environment(), timeout=1200)
        if done.why():
            sys.exit(f"{done.why()}: {toolchain.shell(command)}\n{done.stderr.decode(errors='replace')}")
    shutil.copy2(__file__, folder / "regret.py")
    script = folder / "run.sh"
    script.write_text('#!/bin/sh\nexec python3 "$(dirname "$0")/regret.py" --whole "$(dirname "$0")" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    print(f"{folder}: {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.1f} MB; there, {folder.name}/run.sh")
    return 0


def process(command, profile=None):
    """Seconds, output, and how many executions were on a device of how many that are in the profile."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("POLLYRS_RT_") or key == "POLLYRS_RT_CUDA_LIBRARY"}
    if profile:
        environment["POLLYRS_RT_PROFILE"] = str(profile)
    start = time.monotonic()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    seconds = time.monotonic() - start
    lines = []
    if profile and profile.exists():
        lines = [json.loads(line) for line in profile.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        profile.unlink()
    return seconds, done.stdout, (sum(line["device"] == "cuda" for line in lines), len(lines))


def whole(folder, rounds, only):
    """Whole processes, plain and with the library, in turns."""
    plain, offloaded = folder.resolve() / "plain", folder.resolve() / "pollyrs"
    # What the machine can do is measured by the first processes that start the driver.
    for _ in range(8):
        subprocess.run([offloaded, "product", "64", "64", "1"], env={**os.environ, "POLLYRS_RT_OFFLOAD": "always"},
                       stdin=subprocess.DEVNULL, capture_output=True, check=True)
    print(f"{'process':32} {'plain ms':>10} {'auto ms':>10} {'gain':>8} {'loss':>7}  on the device")
    bad, worst, logs = [], (0.0, "none"), []
    for name, sizes in WHOLE.items():
        for words in sizes:
            label = " ".join(map(str, (name, *words)))
            if not re.search(only, label):
                continue
            command = [name, *map(str, words)]
            mine, theirs = math.inf, math.inf
            for _ in range(rounds):
                seconds, expected, _ = process([plain, *command])
                theirs = min(theirs, seconds)
                seconds, output, _ = process([offloaded, *command])
                mine = min(mine, seconds)
                if output != expected and name not in ANOTHER_LIBRARY:
                    bad.append(f"{label}: another output")
            counts = process([offloaded, *command], folder.resolve() / "profile.jsonl")[2]
            loss = max(0.0, mine / theirs - 1) if mine - theirs > SAME_S else 0.0
            worst = max(worst, (loss, label))
            logs.append(math.log(theirs / mine))
            if loss > LOSS:
                bad.append(f"{label}: {100 * loss:.1f}% slower")
            print(f"{label:32} {theirs * 1e3:10.1f} {mine * 1e3:10.1f} {theirs / mine:7.2f}x {100 * loss:6.1f}%  {counts[0]} of {counts[1]}", flush=True)
    print(f"{len(logs)} processes: worst loss {100 * worst[0]:.1f}% ({worst[1]}); {math.exp(sum(logs) / max(len(logs), 1)):.2f} times as fast in the mean")
    for text in sorted(set(bad)):
        print(f"FAILED {text}")
    return 1 if bad or not logs else 0


def main():
    """One of the forms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--whole", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.build:
        return build(options.build)
    if options.whole:
        return whole(options.whole, options.rounds, options.only)
    if len(options.program) not in (1, 2):
        parser.error("a program, --build or --whole")
    return kernels(options.program)


if __name__ == "__main__":
    sys.exit(main())
