#!/usr/bin/env python3
"""What several devices of one host, and several ranks with a device each, bring, by a model: strong and weak scaling of fused stencils and of products of matrices.

  scaling.py            the tables of bench/notes/038-several-hosts.md and 031-several-devices.md
  scaling.py --check    the model against what was measured on two ranks, and on two and four devices: fails where it is off by more than a quarter

A step of a job is a launch on each rank, behind an agreement and the messages that the launch needs. What a rank computes is its share of what one device
computes alone; what it waits for is

    agreement: a reduction of 48 bytes, ceil(log2(ranks)) latencies of the network each way
    messages:  to the host, through the network, to the device, one behind the other, and two waits for the device

Of one host's devices there is no agreement, and messages are copies between neighbours, one behind the other; where they go on beside the middle third of a launch, what
is left of them behind it counts.

The tiles of a device are taken to fill it evenly, which small shares do not: the model is an upper bound there. It knows no contention in the network."""

import argparse
import math
import sys

# bench/notes/031-several-devices.md and 038-several-hosts.md: the link of one device and a step in lock step were measured; what
# messages through one host's memory take was not, and is estimated.
LINK = 53.9e9
WAIT = 15e-6
HOST = {"name": "one host's memory", "latency": 1e-6, "rate": 8e9}
# Assumed: one NDR200 InfiniBand adapter a rank.
NETWORK = {"name": "InfiniBand NDR200", "latency": 2.5e-6, "rate": 23e9}


def exchange(bytes_each, ranks, net, neighbours):
    """Seconds before a launch that gets so many bytes from each neighbour."""
    if ranks == 1:
        return 0.0
    agreement = 2 * math.ceil(math.log2(ranks)) * net["latency"]
    inner = min(neighbours, ranks - 1)
    moved = inner * bytes_each
    return agreement + 2 * WAIT + inner * net["latency"] + moved * (2 / LINK + 1 / net["rate"])


def stencil(ranks, net, alone, launches, halo, weak=False):
    """Seconds of a fused stencil that takes `alone` seconds on one device in so many launches, with halos of so many bytes."""
    share = alone if weak else alone / ranks
    return share + launches * exchange(halo, ranks, net, 2)


def product(ranks, net, alone, operand, first):
    """Seconds of a product by blocks of rows, whose second operand is with all ranks behind the first call."""
    if ranks == 1:
        return alone
    moved = operand * (ranks - 1) / ranks if first else 0
    return alone / ranks + exchange(0, ranks, net, 0) + moved * (2 / LINK + 1 / net["rate"])


# Copies between two of four H200 of one host, NVLink (NV18): 1.4 MB took 16.0 us, 17.8 MB 62.2, 64 MB 171.4; two of 17.8 MB from two neighbours 112.4, one behind the other.
PEER = {"latency": 13e-6, "rate": 410e9}


def one_host(devices, program, beside):
    """Seconds of a fused stencil on devices of one host, whose exchanges are in front of each launch or beside its middle part."""
    _, alone, launches, halo = program
    share = alone / devices / launches
    if devices == 1:
        return alone
    waits = WAIT + min(2, devices - 1) * (PEER["latency"] + halo / PEER["rate"])
    return launches * (share + max(0.0, waits - share / 3) if beside else share + waits)


# Name, seconds on one device (of two H200), launches, bytes of a halo each way.
LAPLACIAN = ("laplacian2d 16384^2 float, 200 steps", 0.0225, 16, 28.3e6 / 16 / 2)
FDTD = ("fdtd2d 8192^2 float, 200 steps", 0.0174, 32, 39.3e6 / 32 / 2)
GEMM = ("product 16384^3 float", 0.3336, 16384 * 16384 * 4)
# The same of one host's devices (H200).
ONE_HOST = [
    ("laplacian2d 32768^2 float, 200 steps", 0.08541, 29, 1.0e6),
    ("heat2d 32768^2 float, 200 steps", 0.15052, 67, 0.4e6),
    ("laplacian3d 1024^3 float, 100 steps", 0.13391, 25, 17.8e6),
    ("fdtd2d 16384^2 float, 200 steps", 0.06887, 32, 1.2e6),
]


def tables():
    """Prints strong and weak scaling."""
    ranks = [1, 2, 4, 8, 16, 64, 256, 1024]
    name, alone, launches, halo = LAPLACIAN
    print(f"{'ranks':>6} | {'stencil, ms':>11} {'x':>7} | {'stencil 16 x as large, ms':>25} {'x':>7} | {'weak':>5} | {'product, ms':>11} {'x':>7}")
    large = (alone * 16, launches, halo * 4)
    for n in ranks:
        strong, big = stencil(n, NETWORK, alone, launches, halo), stencil(n, NETWORK, *large)
        weak = stencil(n, NETWORK, alone, launches, halo, weak=True)
        times = product(n, NETWORK, GEMM[1], GEMM[2], first=False)
        print(f"{n:>6} | {strong * 1e3:>11.2f} {alone / strong:>7.1f} | {big * 1e3:>25.2f} {large[0] / big:>7.1f} | {alone / weak:>5.2f} | "
              f"{times * 1e3:>11.2f} {GEMM[1] / times:>7.1f}")
    print(f"({name}; {GEMM[0]}, later calls; {NETWORK['name']}; one device a rank)")


def host_table():
    """Prints what two, four and eight devices of one host are to bring."""
    print(f"{'times as fast as on one device':<38} | exchanges first: 2, 4, 8 | beside the middle part: 2, 4, 8")
    for program in ONE_HOST:
        ratios = [[program[1] / one_host(n, program, beside) for n in (2, 4, 8)] for beside in (False, True)]
        first, beside = (", ".join(f"{ratio:.2f}" for ratio in some) for some in ratios)
        print(f"{program[0]:<38} | {first:<24} | {beside}")


# Seconds in kernels, with the waits between them, on two ranks of one host.
MEASURED = {"laplacian2d": 0.0154, "fdtd2d": 0.0145, "gemm": 0.1681}
# Times as fast on two and four devices of one host, exchanges first, as in ONE_HOST.
MEASURED_ON_ONE_HOST = [(1.95, 3.70), (1.95, 3.68), (1.94, 3.45), (1.95, 3.49)]


def check():
    """Whether the model has what was measured."""
    model = {"laplacian2d": stencil(2, HOST, *LAPLACIAN[1:]), "fdtd2d": stencil(2, HOST, *FDTD[1:]), "gemm": product(2, HOST, GEMM[1], GEMM[2], first=False)}
    for name, seconds in model.items():
        print(f"{name}: {seconds * 1e3:.1f} ms by the model, {MEASURED[name] * 1e3:.1f} measured")
    good = all(abs(model[name] / seconds - 1) < 0.25 for name, seconds in MEASURED.items())
    for program, (two, four) in zip(ONE_HOST, MEASURED_ON_ONE_HOST):
        for devices, measured in ((2, two), (4, four)):
            ratio = program[1] / one_host(devices, program, False)
            print(f"{program[0]} on {devices} devices: {ratio:.2f} by the model, {measured} measured")
            good &= abs(ratio / measured - 1) < 0.25
    return good


def main():
    """Prints the tables, or checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        return 0 if check() else 1
    tables()
    host_table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
