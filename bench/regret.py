#!/usr/bin/env python3
"""How well the run-time library chooses between device and host: bench/mixed.c on each side and with the choice left to the library.

  regret.py PROGRAM [all]  PROGRAM is bench/mixed.c compiled with 'pollyrs cc -O3'; on a machine with a GPU. With all the first 40 executions
                           count, not only those after the choice.

Each mode runs four times, in turns, and the least time counts: other programs on the machine disturb single runs by half. Prints a table,
the worst and mean regret (how much slower the choice was than the better side), and the worst loss against the original loops. Differences
below 5 microseconds are noise and count as none."""

import os
import subprocess
import sys

NOISE_MS = 5e-3
MODES = ("always", "never", "auto")
ROUNDS = 4


def times(command, mode):
    """Milliseconds by kernel and size."""
    environment = {**os.environ, "POLLYRS_RT_OFFLOAD": mode}
    lines = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    return {(name, int(n)): float(ms) for name, n, ms in map(str.split, lines)}


def main():
    """Runs the modes in turns."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rounds = [[times(sys.argv[1:], mode) for mode in MODES] for _ in range(ROUNDS)]
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


if __name__ == "__main__":
    main()
