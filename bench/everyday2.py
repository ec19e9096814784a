#!/usr/bin/env python3
"""Ordinary kernels (bench/everyday2) beside hand-written CUDA (bench/peers) and PyTorch's library functions, on one machine in one run.

  everyday2.py --build DIR           fills a folder for a machine with a GPU: programs with kernels inside, as they are by default and with -ffast-math, and the peers' sources
                                     (and libraries, if there is an nvcc here: NVCC names it)
  everyday2.py --run [REGEX]         there (DIR/run.sh; python3, the driver, and nvcc or libraries made before; PyTorch if it is there): a table, and DIR/results.json
      --forms default,fast           which of both builds (default: both)
      --programs LIST                which programs (default: all)
      --again                        no comparison of small sizes, no library functions: those of DIR/results.json stay

For each kernel: the median of the kernel times of five executions after the first, by the device's clock; the peer's, by events, the median of seven; the library function's. The
ratio is the better of both by ours: above 1, ours is faster. A call is with all copies to and from the device; the peer's is without allocation. Both compute from the same
memory, and what they computed is compared: `apart` is the share of elements that differ by more than a thousandth of the largest. At size 0 outputs are compared with those of the
original loops, bit for bit.
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

import origin

PROGRAMS = ("rows", "images", "products", "arrays", "formulas")
FORMS = {"default": ([], []), "fast": (["-ffast-math"], ["--use_fast_math"])}
REPEATS = 6


def peer_command(nvcc, source, out, flags):
    """nvcc's command for a library of peers, for this generation of GPUs."""
    return [nvcc, "-O3", "-arch=sm_90", *flags, "-shared", "-Xcompiler", "-fPIC", str(source), "-o", str(out)]


def build(folder):
    """The bundle."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts" / "lib"))
    import toolchain

    bench = toolchain.ROOT / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    # Both sides have the functions of libdevice: CUDA's own, or the ones that scripts/setup fetches.
    environment = dict(os.environ)
    if "CUDA_HOME" not in environment:
        shutil.copytree(toolchain.ROOT / "build" / "tools" / "libdevice", folder / "cuda" / "nvvm" / "libdevice", dirs_exist_ok=True)
        environment["CUDA_HOME"] = str(folder / "cuda")
    for program in PROGRAMS:
        for form, (flags, _) in FORMS.items():
            command = [toolchain.DRIVER, "cc", "--pollyrs-arch=sm_90", "--pollyrs-option=cubin=sm_90", "-O3", *flags, bench / "everyday2" / f"{program}.c", "-o",
                       folder / f"{program}-{form}", "-lm", "-ldl", "-s"]
            subprocess.run(list(map(str, command)), env=environment, check=True)
    shutil.copytree(bench / "peers", folder / "peers", dirs_exist_ok=True)
    shutil.copy2(__file__, folder / "everyday2.py")
    origin.mark(folder)
    script = folder / "run.sh"
    script.write_text('#!/bin/sh\nexec python3 "$(dirname "$0")/everyday2.py" --run "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    make_peers(folder, os.environ.get("NVCC") or shutil.which("nvcc"))


def make_peers(folder, nvcc):
    """The libraries of peers that are not there yet: all at once."""
    running = []
    for program in PROGRAMS:
        for form, (_, flags) in FORMS.items():
            out = folder / f"{program}-{form}-peers.so"
            if nvcc and not out.exists():
                running.append(subprocess.Popen(peer_command(nvcc, folder / "peers" / f"{program}.cu", out, flags)))
    if any(process.wait() for process in running):
        print("some peers could not be built", file=sys.stderr)


def run(folder, program, size, name=None, peers=None, device="cuda", timeout=280):
    """Lines that the program printed, and those of its profile."""
    with tempfile.TemporaryDirectory(prefix="everyday2-") as place:
        profile = pathlib.Path(place) / "profile"
        environment = dict(os.environ, POLLYRS_RT_DEVICE=device, POLLYRS_RT_OFFLOAD=os.environ.get("POLLYRS_RT_OFFLOAD", "always"), POLLYRS_RT_PROFILE=str(profile))
        if peers and peers.exists():
            environment["PEERS"] = str(peers)
        with subprocess.Popen([folder / program, str(size), *([name] if name else [])], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                text, error = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                text, error = process.communicate()
                error += "took too long"
        if process.returncode:
            print(f"{program} {size} {name or ''}: status {process.returncode} {error.strip()[-300:]}", flush=True)
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        executions = [json.loads(line) for line in profile.read_text(encoding="utf-8").splitlines() if line.endswith("}")] if profile.exists() else []
        return lines, executions


def kernels_of(folder, program):
    """Names of a program's kernels: it prints them."""
    return [line["kernel"] for line in run(folder, program, 0, device="off")[0]]


def measured(name, executions):
    """Kernel milliseconds and launches of one call (the median), and why loops stayed on the host."""
    mine = [line for line in executions if re.match(rf"{name}(\W|$)", line["scop"]) and not line.get("release")]
    reasons = collections.Counter(str(line.get("reason")) for line in mine if line["device"] == "host")
    if not mine or len(mine) % REPEATS:
        return {"problem": f"{len(mine)} executions in {REPEATS} calls"}
    each = len(mine) // REPEATS
    groups = [mine[k * each:(k + 1) * each] for k in range(1, REPEATS)]
    row = {"ms": statistics.median(sum(line["kernel_ms"] for line in group) for group in groups), "launches": sum(line["kernels"] for line in groups[0])}
    if reasons:
        row["problem"] = f"on the host: {reasons.most_common(1)[0][0]}"
    return row


def small(folder, program, pattern):
    """Names of kernels whose outputs at size 0 are not those of the original loops."""
    plain = {line["kernel"]: line["hash"] for line in run(folder, program, 0, device="off")[0]}
    device = {line["kernel"]: line["hash"] for line in run(folder, program, 0)[0]}
    return [name for name, value in plain.items() if device.get(name) != value and re.search(pattern, name)]


def ratios(rows, form):
    """Of all rows of a form with both sides: kernel and call ratios."""
    kernel, call = [], []
    for row in rows.values():
        mine = row.get(form, {})
        best = min((ms for ms in (mine.get("peer kernel ms"), row.get("library ms")) if ms), default=None)
        if best and mine.get("ms") and not mine.get("problem"):
            mine["ratio"] = best / mine["ms"]
            kernel.append(mine["ratio"])
            if mine.get("call ms") and mine.get("peer call ms"):
                mine["call ratio"] = mine["peer call ms"] / mine["call ms"]
                call.append(mine["call ratio"])
    return kernel, call


def table(rows, forms):
    """Prints all rows, the worst ratio of the first form first, and the means."""
    means = {form: ratios(rows, form) for form in forms}
    print(f"{'kernel':16}" + "".join(f" | {form:>9} ms launch   peer ms library  ratio  call  apart" for form in forms))
    number = lambda value, width, digits: f"{value:{width}.{digits}f}" if value is not None else " " * (width - 1) + "-"  # noqa: E731
    for name, row in sorted(rows.items(), key=lambda item: item[1].get(forms[0], {}).get("ratio", 0)):
        line = f"{name:16}"
        for form in forms:
            mine = row.get(form, {})
            line += (f" | {number(mine.get('ms'), 12, 4)} {mine.get('launches', '-'):>6} {number(mine.get('peer kernel ms'), 9, 4)} {number(row.get('library ms'), 7, 3)} "
                     f"{number(mine.get('ratio'), 6, 2)} {number(mine.get('call ratio'), 5, 2)} {mine.get('apart', '-'):>6}")
        problems = {row.get(form, {}).get("problem") for form in forms} - {None}
        print(line + ("  " + "; ".join(problems) if problems else ""))
    for form, (kernel, call) in means.items():
        if kernel:
            mean = lambda values: math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")  # noqa: E731
            print(f"{form}: {len(kernel)} kernels, geometric mean {mean(kernel):.2f}, least {min(kernel):.2f}, {sum(r < 0.6 for r in kernel)} below 0.6, "
                  f"{sum(r >= 1 for r in kernel)} at least 1; whole calls {mean(call):.2f}")


def measure(folder, arguments):
    """All that was asked for, into results.json and the table."""
    results = folder / "results.json"
    of = origin.of(folder)
    rows = json.loads(results.read_text(encoding="utf-8"))["rows"] if arguments.again and results.exists() else {}
    make_peers(folder, shutil.which("nvcc") or next(iter(map(str, pathlib.Path("/usr/local").glob("cuda*/bin/nvcc"))), None))
    pattern, forms = arguments.run or "", arguments.forms.split(",")
    if not arguments.again:
        done = subprocess.run([sys.executable, folder / "peers" / "library.py", pattern], capture_output=True, text=True)
        for line in map(json.loads, done.stdout.splitlines()):
            rows.setdefault(line.pop("kernel"), {}).update(line)
        if done.returncode:
            print(f"no library functions: {done.stderr.strip()[-200:]}")
    for program in arguments.programs.split(","):
        if not arguments.again:
            different = small(folder, f"{program}-default", pattern)
            print(f"{program}: at size 0 all outputs are the original loops'" + (f" but {', '.join(different)}" if different else ""), flush=True)
        names = [name for name in kernels_of(folder, f"{program}-default") if re.search(pattern, name)]
        for form in forms:
            peers = folder / f"{program}-{form}-peers.so"
            lines, executions = run(folder, f"{program}-{form}", 1, peers=peers) if not pattern else ([], [])
            for name in names:
                if not any(line["kernel"] == name for line in lines):
                    more = run(folder, f"{program}-{form}", 1, name, peers, timeout=60)
                    lines, executions = lines + more[0], executions + more[1]
                line = next((line for line in lines if line["kernel"] == name), {"problem": "no result"})
                rows.setdefault(name, {})[form] = {**line, **measured(name, executions)}
            results.write_text(json.dumps({**of, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    table(rows, forms)
    results.write_text(json.dumps({**of, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--run", nargs="?", const="", metavar="REGEX")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    if arguments.build:
        build(arguments.build.resolve())
    elif arguments.run is not None:
        measure(pathlib.Path(__file__).resolve().parent, arguments)
    else:
        parser.error("--build or --run")


if __name__ == "__main__":
    sys.exit(main())
