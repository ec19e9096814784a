#!/usr/bin/env python3
"""Loops with subscripts that are data (bench/sparse): which of them run on the device, and how fast beside hand-written CUDA (bench/sparse/peers), cuSPARSE and CUB.

  sparse.py [REGEX] [--programs LIST]   compiles all, runs them plainly and on the checked emulated device with small data, and prints of each loop: nests that are called
                                        offloaded, executions on the device and on the host, whether the output is equal, and why something stays. (With -ffast-math by --fast.)
  sparse.py --build DIR                 fills a folder for a machine with a GPU: programs with kernels inside, by default and with -ffast-math, and the peers' sources
  sparse.py --run [REGEX]               there (DIR/run.sh; python3, the driver, nvcc): a table, and DIR/results.json
      --forms default,fast              which of both builds (default: both)
      --programs LIST                   which programs (default: all)

Of each loop: the median of the kernel times of five calls after the first, by the device's clock; the milliseconds that its inspections took in the first call and in later ones (from the profile);
the peer's by events, the median of seven, and the library's. All compute from the same memory, and what ours and the peer's computed is compared: `apart` is the share of elements that
differ by more than a thousandth of the largest. GB/s: the bytes that the loop has to move at least, which the peer says, by our time; the share is of a copy of 1 GiB, measured first.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import everyday2  # noqa: E402
import origin  # noqa: E402

PROGRAMS = ("tables", "particles", "graphs", "meshes", "matrices")
# Both sides of the first keep products and sums apart, so that results can be compared bit for bit.
FORMS = {"default": (["-ffp-contract=off"], ["--fmad=false"]), "fast": (["-ffast-math"], ["--use_fast_math"])}
# Nests inside of a loop of the host, one launch for a row: where they run is left to the run-time library's
# choice.
BY_ROWS = {"csc", "sampled"}
# Seconds for one loop.
LIMIT = 15


def toolchain():
    """The scripts' module of paths and commands; not there on a machine that only runs a bundle."""
    sys.path.insert(0, str(HERE.parent / "scripts" / "lib"))
    import toolchain as module

    return module


def functions(source):
    """Of each kernel of a program: the lines from its head to its end. (Kernels that a macro makes have one line.)"""
    lines = source.read_text(encoding="utf-8").splitlines()
    found = {}
    for n, line in enumerate(lines, 1):
        if head := re.match(r"KERNEL (\w+)\(", line):
            end = next(m for m in range(n, len(lines) + 1) if lines[m - 1] == "}")
            found[head[1]] = (n, end)
        elif macro := re.match(r"[A-Z]+\((\w+),.*\)$", line):
            found[macro[1]] = (n, n)
    return found


def check(program, folder, fast):
    """Compiles a program both ways and runs both with small data: names with hashes of both, remarks, executions."""
    tools = toolchain()
    source = HERE / "sparse" / f"{program}.c"
    flags = ["-ffp-contract=off", "-gline-tables-only", "-w", *(["-ffast-math"] if fast else [])]
    remarks, profile = folder / f"{program}.remarks", folder / f"{program}.profile"
    plain = tools.plain_command(source, folder / f"{program}.plain", level="-O3", flags=flags)
    device = tools.plugin_command(source, folder / f"{program}.device", flags=flags, extra=["--pollyrs-option=cubin=off"])
    for command in (plain, device):
        done = tools.run(command, env=tools.environment(POLLYRS_REMARK_FILE=remarks), timeout=500)
        if done.code:
            sys.exit(f"{program}: {done.why()}: {done.stderr.decode()[-500:]}")
        print(f"{program}: compiled in {done.processor:.1f} s of processor time", flush=True)
    outputs = []
    for kind in ("plain", "device"):
        environment = tools.environment(POLLYRS_RT_DEVICE="emulated", POLLYRS_RT_OFFLOAD="always", POLLYRS_RT_CHECK="1", POLLYRS_RT_PROFILE=profile)
        done = tools.run([folder / f"{program}.{kind}", "0"], env=environment, timeout=300)
        if done.code:
            sys.exit(f"{program}, {kind}: {done.why()}: {done.stdout.decode()[-200:]} {done.stderr.decode()[-500:]}")
        outputs.append({line["kernel"]: line["hash"] for line in map(json.loads, done.stdout.decode().splitlines())})
    return outputs, tools.read_profile(remarks), [e for e in tools.read_profile(profile) if not e.get("release")]


def show(arguments):
    """The table of what runs where."""
    totals = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="sparse-") as place:
        for program in arguments.programs.split(","):
            (plain, device), remarks, executions = check(program, pathlib.Path(place), arguments.fast)
            for name, (first, last) in functions(HERE / "sparse" / f"{program}.c").items():
                if not re.search(arguments.loops, name):
                    continue
                own = lambda text: re.match(rf"(offloaded )?{name}(\W|$)", text)  # noqa: E731
                nests = sum(r["code"] == "PRS001" and bool(own(r["text"])) for r in remarks)
                sides = collections.Counter(e["device"] != "host" for e in executions if own(e["scop"]))
                reasons = collections.Counter(str(e.get("reason")) for e in executions if own(e["scop"]) and e["device"] == "host")
                missed = {r["text"] for r in remarks if r["kind"] == "missed" and first <= r.get("line", 0) <= last and r["file"].endswith(f"{program}.c")}
                why = "; ".join([f"{count} times: {text}" for text, count in reasons.items()] + sorted(missed))
                verdict = "host" if not sides[True] else "part" if sides[False] or missed else "device"
                equal = plain[name] == device[name]
                totals[verdict] += 1
                totals["different"] += not equal
                print(f"{name:20} {nests:3} nests, {sides[True]:4} on the device {sides[False]:4} on the host, {'equal' if equal else 'DIFFERENT'}, {verdict:6} {why[:230]}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in totals.items()))
    return 1 if totals["different"] and not arguments.fast else 0


def build(folder):
    """The bundle."""
    tools = toolchain()
    folder.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    if "CUDA_HOME" not in environment:
        shutil.copytree(tools.ROOT / "build" / "tools" / "libdevice", folder / "cuda" / "nvvm" / "libdevice", dirs_exist_ok=True)
        environment["CUDA_HOME"] = str(folder / "cuda")
    for program in PROGRAMS:
        for form, (flags, _) in FORMS.items():
            command = [tools.DRIVER, "cc", "--pollyrs-arch=sm_90", "--pollyrs-option=cubin=sm_90", "-O3", "-w", *flags, HERE / "sparse" / f"{program}.c", "-o",
                       folder / f"{program}-{form}", "-lm", "-ldl", "-s"]
            subprocess.run(list(map(str, command)), env=environment, check=True)
    shutil.copytree(HERE / "sparse" / "peers", folder / "peers", dirs_exist_ok=True)
    for source in (HERE / "peers" / "peer.h", __file__, everyday2.__file__):
        shutil.copy2(source, folder / "peers" if str(source).endswith(".h") else folder)
    origin.mark(folder)
    script = folder / "run.sh"
    script.write_text('#!/bin/sh\nexec python3 "$(dirname "$0")/sparse.py" --run "$@"\n', encoding="utf-8")
    script.chmod(0o755)


def peer_commands(nvcc, source, out, flags):
    """nvcc's commands for a library of peers: with cuSPARSE of the toolkit, with that of Python's packages, without."""
    plain = everyday2.peer_command(nvcc, source, out, [*flags, "-std=c++17"])
    packages = [path for place in map(pathlib.Path, sys.path) for path in place.glob("nvidia/*/lib/libcusparse.so.12")]
    for path in [None, *packages]:
        there = ["-lcusparse"] if path is None else [f"-I{path.parent.parent}/include", str(path), "-Xlinker", f"-rpath={path.parent}"]
        yield [*plain, "-DWITH_CUSPARSE", *there]
    yield plain


def make_peers(folder, programs, forms):
    """Builds the libraries of peers that are not there yet, all at once."""
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or next(iter(map(str, pathlib.Path("/usr/local").glob("cuda*/bin/nvcc"))), None)
    if not nvcc:
        print("no nvcc: no peers", flush=True)
        return
    left = {}
    for program in programs:
        for form in forms:
            out = folder / f"{program}-{form}-peers.so"
            if not out.exists():
                left[out] = peer_commands(nvcc, folder / "peers" / f"{program}.cu", out, FORMS[form][1])
    while left:
        running = {out: subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for out, commands in left.items() if (command := next(commands, None))}
        done = {out: (process.communicate()[1], process.returncode) for out, process in running.items()}
        for out, (error, code) in done.items():
            if code:
                print(f"{out.name}: {error.strip()[:600]}", flush=True)
        left = {out: left[out] for out, (_, code) in done.items() if code}


def inspections(executions, name):
    """Milliseconds of a call's inspections in the first call, and the median of later ones."""
    mine = [e for e in executions if re.match(rf"{name}(\W|$)", e["scop"]) and not e.get("release")]
    each = max(1, len(mine) // everyday2.REPEATS)
    calls = [sum(e.get("inspect_ms", 0) for e in mine[k:k + each]) for k in range(0, len(mine), each)]
    return {"first inspection ms": calls[0], "later inspection ms": statistics.median(calls[1:])} if len(calls) > 1 else {}


def table(rows, forms, copy, head):
    """Prints rows, with the head of the table if that is wanted; fills in ratios and rates."""
    number = lambda value, width, digits: f"{value:{width}.{digits}f}" if value is not None else " " * (width - 1) + "-"  # noqa: E731
    if head:
        print(f"{'loop':18}" + "".join(f" | {form:>8} ms  n    peer library ratio  GB/s copy inspect  again call  peer apart" for form in forms), flush=True)
    for name, row in rows.items():
        line = f"{name:18}"
        for form in forms:
            mine = row.get(form, {})
            best = min((ms for ms in (mine.get("peer kernel ms"), mine.get("library ms")) if ms), default=None)
            if best and mine.get("ms") and not mine.get("problem"):
                mine["ratio"] = best / mine["ms"]
            if mine.get("bytes") and mine.get("ms"):
                mine["GB/s"] = mine["bytes"] / mine["ms"] / 1e6
            rate = mine.get("GB/s")
            line += (f" | {number(mine.get('ms'), 11, 4)} {mine.get('launches', '-'):>2} {number(mine.get('peer kernel ms'), 7, 3)} {number(mine.get('library ms'), 7, 3)} "
                     f"{number(mine.get('ratio'), 5, 2)} {number(rate, 5, 0)} {number(rate / copy if rate and copy else None, 4, 2)} {number(mine.get('first inspection ms'), 7, 2)} "
                     f"{number(mine.get('later inspection ms'), 6, 2)} {number(mine.get('call ms'), 5, 1)} {number(mine.get('peer call ms'), 5, 1)} {mine.get('apart', '-'):>5}")
        problems = {row.get(form, {}).get("problem") for form in forms} - {None}
        print(line + ("  " + "; ".join(problems) if problems else ""), flush=True)


def means(rows, forms):
    """Prints the mean of the ratios of each form."""
    for form in forms:
        values = [row[form]["ratio"] for row in rows.values() if row.get(form, {}).get("ratio")]
        if values:
            print(f"{form}: {len(values)} on the device, geometric mean {math.exp(statistics.fmean(map(math.log, values))):.2f}, {sum(v < 0.6 for v in values)} below 0.6, "
                  f"{sum(v >= 0.8 for v in values)} at least 0.8")


def measure(folder, arguments):
    """All that was asked for, into results.json and the table."""
    programs, forms = arguments.programs.split(","), arguments.forms.split(",")
    make_peers(folder, programs, forms)
    rows, copy, of = {}, None, origin.of(folder)
    for program in programs:
        os.environ["POLLYRS_RT_OFFLOAD"] = "always"
        different = everyday2.small(folder, f"{program}-default", arguments.run)
        print(f"{program}: at size 0 all outputs are the original loops'" + (f" but {', '.join(different)}" if different else ""), flush=True)
        for name in everyday2.kernels_of(folder, f"{program}-default"):
            if not re.search(arguments.run, name):
                continue
            for form in forms:
                os.environ["POLLYRS_RT_OFFLOAD"] = "auto" if name in BY_ROWS else "always"
                lines, executions = everyday2.run(folder, f"{program}-{form}", 1, name, folder / f"{program}-{form}-peers.so", timeout=LIMIT)
                line = lines[0] if lines else {"problem": "no result"}
                rows.setdefault(name, {})[form] = {**line, **everyday2.measured(name, executions), **inspections(executions, name)}
                copy = copy or line.get("copy rate")
            table({name: rows[name]}, forms, copy, head=len(rows) == 1)
            (folder / "results.json").write_text(json.dumps({**of, "copy": copy, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    print(f"the device's copy: {copy or 0:.0f} GB/s read and written")
    means(rows, forms)


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loops", nargs="?", default="", metavar="REGEX")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--run", nargs="?", const="", metavar="REGEX")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    arguments = parser.parse_args()
    if arguments.build:
        return build(arguments.build.resolve())
    if arguments.run is not None:
        return measure(HERE, arguments)
    return show(arguments)


if __name__ == "__main__":
    sys.exit(main())
