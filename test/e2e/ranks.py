#!/usr/bin/env python3
"""Programs whose ranks share the work of loop nests, started by MPICH's mpiexec on the emulated device: the same output as alone, on checked
kernels; what ranks that go different ways are told; programs that use MPI themselves. Where there is no MPICH (scripts/setup fetches it), nothing
is tried.

  ranks.py [--only REGEX] [--ranks N]
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lib"))
import toolchain  # noqa: E402

ROOT = toolchain.ROOT
WORK = toolchain.BUILD / "e2e" / "ranks"
DIVIDED = ["--pollyrs-option=divide=true", "--pollyrs-option=cubin=off"]
# Ranks wait for each other: few threads each.
SETTINGS = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always", "POLLYRS_RT_EMU_THREADS": "1", "POLLYRS_RT_CHECK": "1"}
# Program, arguments, and devices of each rank.
SAME = [("test/ranks/steps.c", ["70", "37", "5"], 1), ("test/ranks/steps.c", ["70", "37", "2"], 2), ("test/ranks/steps.c", ["3", "3", "2"], 1),
        ("test/ranks/steps.c", ["1", "1", "1"], 1), ("test/programs/memory/several_devices.c", ["70", "37", "5"], 1),
        ("test/programs/memory/several_devices.c", ["130", "18", "4"], 2), ("examples/gemm.c", ["33"], 1), ("examples/jacobi-2d.c", ["40", "3"], 1),
        ("examples/floyd-warshall.c", ["30"], 1), ("examples/covariance.c", ["30"], 1), ("examples/heat-3d.c", ["14", "3"], 1)]
# How ranks of test/ranks/different.c go different ways, the mode, and what is said; "": they go on by themselves. MPICH 5.0.2's launcher sometimes fails
# an assertion of its own where several ranks end at once, and says nothing else then.
DIFFERENT = [("value", "strict", r"ranks 0, 2 at .*; rank 1 at|with different values"), ("size", "strict", r"instances; rank 1 at the beginning of scale"),
             ("end", "strict", r"rank 1 at the end of the program"), ("more", "strict", r"rank 1 at the beginning of again"),
             ("death", "strict", r"KILLED BY SIGNAL|EXIT CODE: 9|Killed|assert \(!closed\) failed"), ("size", "local", ""), ("more", "local", ""), ("", "strict", "")]


class Tests:
    """Counts, and says what fails."""

    def __init__(self, folder, ranks):
        self.folder, self.ranks, self.passed, self.failed = folder, ranks, 0, 0

    def check(self, holds, what, done=None):
        """One test."""
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            tail = done.stderr.decode(errors="replace").strip().splitlines()[-6:] if done else []
            print("\n".join([f"FAILED: {what}", *("  | " + line[:300] for line in tail)]), flush=True)

    def run(self, program, arguments, **settings):
        """A job. What its ranks say goes past the launcher, which may lose it where they end by a signal."""
        library = self.folder / "lib" / "libmpi_abi.so.1"
        settings = {**SETTINGS, "POLLYRS_RT_MPI": "strict", "POLLYRS_RT_MPI_LIBRARY": library, **settings}
        said = WORK / "said"
        said.write_bytes(b"")
        rank = ["sh", "-c", 'said=$0; exec "$@" 2>>"$said"', said, program, *arguments]
        done = toolchain.run([self.folder / "bin" / "mpiexec", "-n", str(self.ranks), *rank], env=toolchain.environment(**settings), timeout=100)
        done.stderr += said.read_bytes()
        return done


def compiled(source, *flags, hold=True):
    """Plain and offloaded, or None."""
    WORK.mkdir(parents=True, exist_ok=True)
    source = ROOT / source
    plain, offloaded = WORK / f"{source.stem}.plain", WORK / f"{source.stem}.offloaded"
    commands = [toolchain.plain_command(source, plain, flags=["-ffp-contract=off", *flags]),
                [*toolchain.plugin_command(source, offloaded, targets="emulated-checked", extra=[*DIVIDED, *([] if hold else ["--pollyrs-option=hold=false"])], flags=["-ffp-contract=off", *flags])]]
    env = toolchain.environment()
    return (plain, offloaded) if all(toolchain.run(command, env=env).code == 0 for command in commands) else None


def same(tests, only):
    """Programs that print what they print alone; of some that several ranks took part."""
    for source, arguments, devices in SAME:
        name = f"{source} {' '.join(arguments)}, {devices} each"
        if not re.search(only, name):
            continue
        both = compiled(source)
        tests.check(both, f"{name}: does not compile")
        if not both:
            continue
        alone = toolchain.run([both[0], *arguments], env=toolchain.environment())
        profile = WORK / "profile.jsonl"
        profile.unlink(missing_ok=True)
        done = tests.run(both[1], arguments, POLLYRS_RT_EMULATED_DEVICES=devices, POLLYRS_RT_PROFILE=profile)
        tests.check(done.code == 0 and done.stdout == alone.stdout, f"{name}: {done.why() or 'another output'}", done)
        lines = toolchain.read_profile(profile)
        ran = {line.get("rank") for line in lines if line["device"] == "emulated"}
        tests.check(ran == set(range(tests.ranks)), f"{name}: only ranks {sorted(map(str, ran))} ran it on devices")
        if "steps" in source and arguments[0] == "70":
            shared = {line.get("devices") for line in lines if "steps" in line["scop"] and line["device"] == "emulated" and not line.get("release")}
            tests.check(shared == {tests.ranks * devices}, f"{name}: {shared} devices shared it")


def different(tests, only):
    """Ranks that go different ways."""
    # Nothing stays on the devices of all ranks, so that they may part.
    both = compiled("test/ranks/different.c", hold=False)
    tests.check(both, "different.c: does not compile")
    if not both:
        return
    alone = toolchain.run([both[0]], env=toolchain.environment())
    for how, mode, said in DIFFERENT:
        name = f"different.c {how}, {mode}"
        if not re.search(only, name):
            continue
        done = tests.run(both[1], [how], POLLYRS_RT_MPI=mode)
        text = (done.stdout + done.stderr).decode(errors="replace")
        if said:
            tests.check(done.code != 0 and re.search(said, text), f"{name}: {done.why() or 'no complaint'}", done)
        else:
            # What the first rank alone would have written; of sizes that differ, its own.
            tests.check(done.code == 0 and done.stdout == alone.stdout, f"{name}: {done.why() or 'another output'}", done)
    done = tests.run(both[1], ["data"], POLLYRS_RT_MPI_COMPARE="1")
    tests.check(done.code != 0 and b"with different values" in done.stderr, "different.c data: no complaint", done)
    done = tests.run(both[1], [], POLLYRS_RT_MPI_LIBRARY="/nowhere.so")
    tests.check(done.code != 0 and b"MPI can't be started" in done.stderr, "no library: no complaint", done)
    done = tests.run(both[1], [], POLLYRS_RT_MPI_LIBRARY=tests.folder / "lib" / "libmpi.so.12")
    tests.check(done.code != 0 and b"standard ABI" in done.stderr, "another ABI: no complaint", done)
    done = tests.run(both[1], [], POLLYRS_RT_MPI="local", POLLYRS_RT_MPI_LIBRARY="/nowhere.so")
    tests.check(done.code == 0 and done.stdout == alone.stdout, "no library, local: not as alone", done)
    done = tests.run(both[1], [], POLLYRS_RT_MPI="off")
    tests.check(done.code == 0 and done.stdout.count(b"b ") == tests.ranks * alone.stdout.count(b"b "), "off: not each by itself", done)
    done = tests.run(both[1], [], POLLYRS_RT_MPI_OUTPUT="all")
    tests.check(done.code == 0 and len(done.stdout) == tests.ranks * len(alone.stdout), "all outputs: not of all", done)


def own(tests, only):
    """A program that uses MPI itself."""
    if not re.search(only, "own.c"):
        return
    include, lib = tests.folder / "include", tests.folder / "lib"
    both = compiled("test/ranks/own.c", "-I", str(include), "-Wno-unused-command-line-argument", "-L", str(lib), f"-Wl,-rpath,{lib}",
                    str(lib / "libmpi_abi.so.1"), "-DMPI_ABI")
    tests.check(both, "own.c: does not compile")
    if both:
        alone, done = tests.run(both[0], []), tests.run(both[1], [])
        right = done.code == 0 and sorted(done.stdout.splitlines()) == sorted(alone.stdout.splitlines()) and b"rank 2" in done.stdout
        tests.check(right, f"own.c: {done.why() or 'another output'}", done)


def main():
    """Runs them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--ranks", type=int, default=3)
    options = parser.parse_args()
    folder = toolchain.mpich()
    if folder is None:
        print("ranks: 0 passed, 0 failed (no MPICH)")
        return 0
    tests = Tests(folder, options.ranks)
    same(tests, options.only)
    different(tests, options.only)
    own(tests, options.only)
    print(f"ranks: {tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
