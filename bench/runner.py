#!/usr/bin/env python3
"""Checks and times the programs of a bundle (see scripts/bundle). Needs Python's standard library and the CUDA driver only.

Checks: for every list of arguments the program with kernels inside must print, byte for byte, what the plain program prints, and
the profile must show that the device was used where it has to be. Timing: one process repeats the whole computation, the first
repetition is a warm-up, and the median of the others counts; kernel ms is the kernels alone, total ms everything from the first
check of a loop nest to the last byte copied back. The output at the timed size is checked too.

  run.sh [--only REGEX] [--no-checks] [--no-timing] [--device cuda|emulated] [--out results.json] [--repeat 5]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ELEMENT_BYTES = {"double": 8, "float": 4, "int": 4}
# Processes that use the device at once during the checks; each has a context of its own, some 500 MB.
DEVICE_PROCESSES = 8


def environment(**settings):
    """The caller's environment, without what would change the programs, plus the settings."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("POLLYRS_RT_") and k != "EXAMPLE_REPEAT"}
    env.update({k: str(v) for k, v in settings.items()})
    return env


def run(command, env, timeout):
    """(exit status or None after a time-out, stdout, stderr, seconds)."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, env=env, timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout, done.stderr, time.monotonic() - start
    except subprocess.TimeoutExpired:
        return None, b"", b"", time.monotonic() - start


def run_offloaded(entry, arguments, options, repeat=1):
    """Runs with kernels; returns run's result and the profile."""
    with tempfile.TemporaryDirectory(prefix="pollyrs-") as folder:
        profile = pathlib.Path(folder) / "profile.jsonl"
        env = environment(POLLYRS_RT_DEVICE=options.device, POLLYRS_RT_OFFLOAD="always", POLLYRS_RT_PROFILE=profile,
                          EXAMPLE_REPEAT=repeat)
        result = run([HERE / entry["pollyrs"], *map(str, arguments)], env, options.timeout)
        lines = []
        if profile.exists():
            lines = [json.loads(line) for line in profile.read_text(encoding="utf-8").splitlines() if line]
        return result, lines


def label(entry, arguments):
    """A case's name."""
    kind = "" if entry["type"] == "-" else f" {entry['type']}"
    return f"{entry['name']}{kind} {'x'.join(map(str, arguments))}"


def reasons(lines):
    """Why executions stayed on the host."""
    return "; ".join(sorted({line["reason"] for line in lines if line.get("reason")})) or "no loop nest was reached"


def compare(reference, result):
    """'' or what differs. A repeated run ends with what a single one prints."""
    code, stdout, stderr, _ = result
    if reference[0] is None:
        return "the original took too long"
    if code is None:
        return "took too long"
    if code != reference[0]:
        return f"exit status {code}, expected {reference[0]}: {stderr.decode(errors='replace').strip()[-300:]}"
    want, have = reference[1].splitlines(), stdout.splitlines()
    if have[-len(want):] != want if want else have:
        return f"other output: {stdout.decode(errors='replace')[:200]!r}, expected {reference[1].decode(errors='replace')[:200]!r}"
    return ""


def check(entry, arguments, reference, options):
    """One check: a dictionary with a 'problem', '' if all is well, and counts of executions by device."""
    result, lines = run_offloaded(entry, arguments, options)
    devices = {}
    for line in lines:
        devices[line["device"]] = devices.get(line["device"], 0) + 1
    problem = compare(reference, result)
    if not problem and arguments in entry["must_offload"] and not devices.get(options.device):
        problem = f"nothing ran on the device: {reasons(lines)}"
    return {"case": label(entry, arguments), "problem": problem, "devices": devices,
            "reasons": sorted({line["reason"] for line in lines if line.get("reason")})}


def measure(entry, reference, options):
    """Times one program: a row of the table."""
    arguments = entry["timing"]
    result, lines = run_offloaded(entry, arguments, options, options.repeat + 1)
    row = {"case": label(entry, arguments), "name": entry["name"], "type": entry["type"], "arguments": arguments,
           "command": shlex.join([entry["pollyrs"], *map(str, arguments)]), "problem": compare(reference, result)}
    repeats = options.repeat + 1
    if not lines or len(lines) % repeats:
        row["problem"] = row["problem"] or f"{len(lines)} executions in {repeats} repetitions"
        return row
    each = len(lines) // repeats
    groups = [lines[k * each:(k + 1) * each] for k in range(1, repeats)]
    row["device"] = "+".join(sorted({line["device"] for line in lines}))
    row["reasons"] = sorted({line["reason"] for line in lines if line.get("reason")})
    for name in ("kernel_ms", "total_ms", "kernels", "bytes_to_device", "bytes_to_host"):
        row[name] = statistics.median(sum(line[name] for line in group) for group in groups)
    values = {f"a{k}": value for k, value in enumerate(arguments, 1)}
    seconds = row["kernel_ms"] / 1e3
    for name, formula, rate in (("flops", entry.get("flops"), "gflops"), ("bytes", entry.get("bytes"), "gbytes")):
        if formula and seconds > 0:
            formula = formula.replace("{b}", str(ELEMENT_BYTES[entry["type"]]))
            # The formulas come with the bundle and are arithmetic.
            row[name] = eval(formula, {"__builtins__": {}}, values)  # noqa: S307
            row[rate] = row[name] / seconds / 1e9
    return row


def print_table(rows):
    """The timings."""
    print(f"{'kernel':34} {'device':10} {'kernel ms':>11} {'total ms':>11} {'launches':>8} {'GFLOP/s':>9} {'GB/s':>8}  output")
    for row in rows:
        if "kernel_ms" not in row:
            print(f"{row['case']:34} {'-':10} {'':50}  {row['problem']}")
            continue
        number = lambda key: f"{row[key]:.0f}" if key in row else "-"  # noqa: E731
        print(f"{row['case']:34} {row['device']:10} {row['kernel_ms']:11.3f} {row['total_ms']:11.3f} {row['kernels']:8.0f} "
              f"{number('gflops'):>9} {number('gbytes'):>8}  {row['problem'] or 'same'}")
        for reason in row["reasons"]:
            print(f"    on the host: {reason}")


def main():
    """References on all cores, checks on the device meanwhile, then the timings alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose name and type match")
    parser.add_argument("--no-checks", action="store_true")
    parser.add_argument("--no-timing", action="store_true")
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--out", default=str(HERE / "results.json"))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=240, help="seconds for one process")
    options = parser.parse_args()

    table = json.loads((HERE / "set.json").read_text(encoding="utf-8"))["programs"]
    table = [e for e in table if re.search(options.only, f"{e['set']} {e['name']} {e['type']}")]
    timed = [] if options.no_timing else [e for e in table if "timing" in e]
    checked = [] if options.no_checks else [(e, a) for e in table for a in e["check"]]
    cores = os.cpu_count() or 2

    def reference(entry, arguments):
        return run([HERE / entry["plain"], *map(str, arguments)], environment(), options.timeout)

    checks, rows = [], []
    with concurrent.futures.ThreadPoolExecutor(max(cores - 1, 1)) as cpu, \
            concurrent.futures.ThreadPoolExecutor(min(DEVICE_PROCESSES, cores)) as device:
        # The references of the timed sizes take longest: first.
        large = [cpu.submit(reference, e, e["timing"]) for e in timed]
        small = [cpu.submit(reference, e, a) for e, a in checked]
        futures = [device.submit(lambda e=e, a=a, r=r: check(e, a, r.result(), options)) for (e, a), r in zip(checked, small)]
        for future in futures:
            checks.append(future.result())
            if checks[-1]["problem"]:
                print(f"FAIL {checks[-1]['case']}: {checks[-1]['problem']}", flush=True)
        if checks:
            bad = sum(1 for c in checks if c["problem"])
            on_device = sum(c["devices"].get(options.device, 0) for c in checks)
            on_host = sum(c["devices"].get("host", 0) for c in checks)
            print(f"checks: {len(checks) - bad} passed, {bad} failed; {on_device} executions on the device, {on_host} fell back",
                  flush=True)
        references = [future.result() for future in large]
    for entry, expected in zip(timed, references):
        rows.append(measure(entry, expected, options))
        print(f"timed {rows[-1]['case']}", file=sys.stderr, flush=True)
    if rows:
        print_table(rows)
    pathlib.Path(options.out).write_text(json.dumps({"checks": checks, "timings": rows}, indent=1), encoding="utf-8")
    return 1 if any(x["problem"] for x in checks + rows) else 0


if __name__ == "__main__":
    sys.exit(main())
