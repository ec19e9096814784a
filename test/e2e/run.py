#!/usr/bin/env python3
"""End-to-end tests: what a program prints must not depend on the plugin, on the device or on its absence.

Each program is compiled by the plain compiler (-O1, no contraction) and through the plugin (-O3, for CUDA and for the emulated
device). Every list of arguments is run with both; stdout and the exit status have to be equal, and the profile has to show that
loops ran on the emulated device (or fell back, as the program's OFFLOAD line says), most of them on the checked one, which ends the
program at a race or an access that can't be right: blocks and threads in order, or in reverse order with launches in slices. The last
list is also run unchecked, without a device, and for CUDA where there may be no driver. The PTX inside the programs has to assemble
without a warning.

  run.py [--quick | --all] [--filter REGEX] [--turn N] [--jobs N] [--devices N]

Without an option what takes long comes in turns, which change every day (or are given by --turn, or POLLYRS_TEST_TURN): of a program
with many lists of arguments, the first and the last one and half of the others; of its strategies, half; of programs that take long (TURNS lines), some;
of a third of bench/algorithms, a form and type. With --all everything runs, in both orders, at larger sizes too. With --devices the programs are compiled for several devices, and run on so many emulated ones. With --quick the first and last lists
only, and doubles only. What a --filter names runs whatever its turn, unless there is a --turn.
"""

import argparse
import concurrent.futures
import functools
import os
import pathlib
import re
import sys

import algorithms
import cases
import toolchain
import units
from programs import LARGE, has_turn, run_program
from tuned import tune

# An algorithm comes every so many days.
ALGORITHMS = 3


def main():
    """Runs the units on a few threads, each of which waits for its processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all sizes, strategies and orders, larger sizes")
    parser.add_argument("--quick", action="store_true", help="double precision and the first and last arguments only")
    parser.add_argument("--filter", default="", help="only units whose name matches")
    parser.add_argument("--devices", type=int, default=0, help="emulated devices that share the launches of all programs")
    parser.add_argument("--turn", type=int, help="what comes in turns (default: the day)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    options.every = options.all or bool(options.filter) and options.turn is None
    options.turn = algorithms.rotation() if options.turn is None else options.turn

    programs = [*cases.examples(options.all), *cases.everyday(), *cases.programs()]
    if options.quick:
        programs = [p for p in programs if p.element != "float"]
    programs = [p for p in programs if has_turn(p, options)]
    todo = [(p.name, functools.partial(run_program, p)) for p in programs]
    others = [("plain clang and flang", units.by_hand), ("driver", units.driver), ("the same object twice", units.deterministic),
              ("installed", units.installed), ("projects", units.sample_projects), ("tools", units.tools), ("valid IR", units.valid_ir),
              ("scripts/run", units.scripts_run), ("driver phases", units.driver_phases), ("settings", units.run_settings), ("documented commands", units.documented),
              ("shared libraries", units.shared_libraries),
              ("OpenMP", units.openmp_threads), ("LLVM's delinearizer", units.oracle)]
    # Searches with many compilations come every few days.
    others += [("tune", tune)] if options.every or options.turn % 3 == 0 else []
    todo += others
    if not options.quick:
        # First, since it takes longest.
        todo.insert(0, (LARGE, units.large_file))
        todo += [(f"algorithms/{entry['name']}", lambda _options, e=entry, t=element, f=form: units.algorithm(e, t, f))
                  for n, (entry, element, form) in enumerate(algorithms.rotated(options.turn))
                  if options.every or (n + options.turn) % ALGORITHMS == 0]
    todo = [u for u in todo if re.search(options.filter, u[0])]
    for needed in (toolchain.PLUGIN, toolchain.RUNTIME, toolchain.DRIVER):
        if not pathlib.Path(needed).exists():
            sys.exit(f"{needed} is not built: run scripts/setup")
    if not toolchain.ptxas():
        print("no ptxas: PTX is not assembled (scripts/setup fetches it)")

    if not options.all:
        print(f"turn {options.turn} (--turn {options.turn} does the same again)")
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def timed(unit):
            before = toolchain.mine()
            result = unit[1](options)
            result.processor = toolchain.mine() - before
            return result

        for result in pool.map(timed, todo):
            passed += result.passed
            failed += len(result.failures)
            print(f"{'FAIL' if result.failures else 'ok  '} {result.name} ({result.passed} checks; {result.processor:.1f} s; {result.note})",
                  flush=True)
            for failure in result.failures:
                print("     " + failure.replace("\n", "\n     "), flush=True)
    print("processor time:\n" + toolchain.used(), end="")
    print(f"e2e: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
