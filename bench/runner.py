#!/usr/bin/env python3
"""Checks and times the programs of a bundle (see scripts/bundle). Needs Python's standard library and the CUDA driver only.

Checks: for every list of arguments the program with kernels inside must print, byte for byte, what the plain program prints, and
the profile must show that the device was used where it has to be. Timing: one process repeats the whole computation, the first
repetition is a warm-up, and the median of the others counts; kernel ms is the kernels alone, total ms everything from the first
check of a loop nest to the last byte copied back. The output at the timed size is checked too, against the original compiled with
-O3, unless that takes longer than --reference-limit; references.json keeps such outputs: copied to bench/ before the next bundle is
made, they need not be computed again. A program that does not finish once within its limit is marked so and counts with the limit.

  run.sh [--only REGEX] [--no-checks] [--no-timing] [--device cuda|emulated] [--out results.json] [--repeat 5]
         [--offload always|auto] [--reference-limit 60] [--limit SECONDS] [--shrink]
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import origin

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


def run_offloaded(entry, arguments, options, repeat=1, timeout=None):
    """Runs with kernels; returns run's result and the profile."""
    with tempfile.TemporaryDirectory(prefix="pollyrs-") as folder:
        profile = pathlib.Path(folder) / "profile.jsonl"
        env = environment(POLLYRS_RT_DEVICE=options.device, POLLYRS_RT_OFFLOAD=options.offload, POLLYRS_RT_PROFILE=profile,
                          EXAMPLE_REPEAT=repeat)
        result = run([HERE / entry["pollyrs"], *map(str, arguments)], env, timeout or options.timeout)
        lines = []
        if profile.exists():
            # The last line of a process that was ended may be cut.
            text = profile.read_text(encoding="utf-8").splitlines()
            lines = [json.loads(line) for line in text if line.endswith("}")]
        return result, lines


def label(entry, arguments):
    """A case's name."""
    kind = "" if entry["type"] == "-" else f" {entry['type']}"
    return f"{entry['name']}{kind} {'x'.join(map(str, arguments))}"


def reasons(lines):
    """Why executions stayed on the host."""
    return "; ".join(sorted({line["reason"] for line in lines if line.get("reason")})) or "no loop nest was reached"


def compare(reference, result, only_status=False):
    """'' or what differs. A repeated run ends with what a single one prints."""
    code, stdout, stderr, _ = result
    if reference[0] is None:
        return "the original took too long"
    if code is None:
        return "took too long"
    if code != reference[0]:
        return f"exit status {code}, expected {reference[0]}: {stderr.decode(errors='replace').strip()[-300:]}"
    if only_status:
        return ""
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
    required = options.offload == "always" and arguments in entry["must_offload"]
    if not problem and required and not devices.get(options.device):
        problem = f"nothing ran on the device: {reasons(lines)}"
    return {"case": label(entry, arguments), "problem": problem, "devices": devices,
            "reasons": sorted({line["reason"] for line in lines if line.get("reason")})}


def measure(entry, reference, options):
    """Times one program: a row of the table. `reference` is None where the original takes too long at this size."""
    arguments = timed_size(entry, options)
    limit = options.limit or entry.get("limit_s", options.timeout)
    row = {"case": label(entry, arguments), "name": entry["name"], "type": entry["type"], "arguments": arguments,
           "command": shlex.join([entry["pollyrs"], *map(str, arguments)]), "problem": "", "reasons": [],
           "checked": reference is not None,
           # The peer's figures are of the GPU and of the timed size.
           "ppcg": entry.get("ppcg") if options.device == "cuda" and not options.shrink else None}
    if reference is not None:
        row["original_s"] = reference[3]
    # Once, to see how long it takes and that it is right.
    result, lines = run_offloaded(entry, arguments, options, 1, limit)
    if result[0] is None:
        row["over_s"] = limit
        return row
    row["once_s"] = result[3]
    row["problem"] = compare(reference if reference is not None else (0, b"", b"", 0), result, reference is None)
    if row["problem"]:
        return row
    # A warm-up and the repetitions, as many as the time allows; the single run counts if there is time for no
    # more.
    repeats = min(options.repeat + 1, int(options.budget / max(result[3], 1e-3)))
    if repeats >= 2:
        result, lines = run_offloaded(entry, arguments, options, repeats, 4 * options.budget)
        row["problem"] = compare(reference if reference is not None else (0, b"", b"", 0), result, reference is None)
    repeats = max(repeats, 1)
    row["repeats"] = max(repeats - 1, 1)
    # Arrays that go back when the program ends have lines of their own.
    lines = [line for line in lines if line["kernels"] or line["device"] != options.device]
    if not lines or len(lines) % repeats:
        row["problem"] = row["problem"] or f"{len(lines)} executions in {repeats} repetitions"
        return row
    each = len(lines) // repeats
    groups = [lines[k * each:(k + 1) * each] for k in range(min(1, repeats - 1), repeats)]
    row["device"] = "+".join(sorted({line["device"] for line in lines}))
    row["reasons"] = sorted({line["reason"] for line in lines if line.get("reason")})
    for name in ("kernel_ms", "total_ms", "kernels", "bytes_to_device", "bytes_to_host"):
        row[name] = statistics.median(sum(line.get(name, 0) for line in group) for group in groups)
    values = {f"a{k}": value for k, value in enumerate(arguments, 1)}
    seconds = row["kernel_ms"] / 1e3
    for name, formula, rate in (("flops", entry.get("flops"), "gflops"), ("bytes", entry.get("bytes"), "gbytes")):
        if formula and seconds > 0:
            formula = formula.replace("{b}", str(ELEMENT_BYTES[entry["type"]]))
            # The formulas come with the bundle and are arithmetic.
            row[name] = eval(formula, {"__builtins__": {}}, values)  # noqa: S307
            row[rate] = row[name] / seconds / 1e9
    return row


def timed_size(entry, options):
    """The arguments to time with; with --shrink, for trying out the runner, the largest that is checked."""
    return max(entry["check"], key=math.prod) if options.shrink else entry["timing"]


def ratios(row):
    """PPCG's kernel and total time over ours, and whether a limit stands for our times; None without PPCG's figures."""
    if not row.get("ppcg") or row["problem"]:
        return None
    if "over_s" in row:
        return row["ppcg"][0] / row["over_s"] / 1e3, row["ppcg"][1] / row["over_s"] / 1e3, True
    if row.get("total_ms", 0) <= 0 or row["kernel_ms"] <= 0:
        return None
    return row["ppcg"][0] / row["kernel_ms"], row["ppcg"][1] / row["total_ms"], False


def print_table(rows):
    """The timings; beside PPCG's, where those are known."""
    peer = any(row.get("ppcg") for row in rows)
    width = max([30, *(len(row["case"]) for row in rows)])
    head = f"{'kernel':{width}} {'device':10} {'kernel ms':>11} {'total ms':>11} {'launches':>8} {'GFLOP/s':>9} {'GB/s':>8}"
    if peer:
        head += f" {'PPCG kernel':>11} {'ratio':>7} {'PPCG total':>11} {'ratio':>7}"
    print(f"{head} {'CPU s':>7}  output")
    for row in rows:
        cpu = f"{row['original_s']:.1f}" if "original_s" in row else "-"
        ratio = ratios(row)
        beside = ""
        if peer and row.get("ppcg"):
            less = "<" if ratio and ratio[2] else ""
            kernel, total = (f"{less}{r:.2f}" for r in ratio[:2]) if ratio else ("-", "-")
            beside = f" {row['ppcg'][0]:11.3f} {kernel:>7} {row['ppcg'][1]:11.3f} {total:>7}"
        elif peer:
            beside = f" {'-':>11} {'-':>7} {'-':>11} {'-':>7}"
        output = row["problem"] or ("same" if row["checked"] else "not compared at this size")
        if "kernel_ms" not in row:
            late = f"> {row['over_s']:g} s" if "over_s" in row else ""
            output = row["problem"] or "unknown"
            print(f"{row['case']:{width}} {'-':10} {late:>11} {'':>11} {'':>8} {'':>9} {'':>8}{beside} {cpu:>7}  {output}")
            continue
        number = lambda key: f"{row[key]:.0f}" if key in row else "-"  # noqa: E731
        print(f"{row['case']:{width}} {row['device']:10} {row['kernel_ms']:11.3f} {row['total_ms']:11.3f} {row['kernels']:8.0f} "
              f"{number('gflops'):>9} {number('gbytes'):>8}{beside} {cpu:>7}  {output}")
        for reason in row["reasons"]:
            print(f"    on the host: {reason}")
    if peer:
        print_means(rows)


def print_means(rows):
    """Geometric means of the ratios, with and without the programs over their limit."""
    known = [r for r in map(ratios, rows) if r]
    within = [r for r in known if not r[2]]
    for text, some in (("finished", within), ("with the limit for those that did not finish", known)):
        if some:
            kernel, total = (statistics.geometric_mean(r[k] for r in some) for k in (0, 1))
            worse = sum(1 for r in some if r[0] < 1)
            print(f"PPCG's time over ours, geometric mean of {len(some)} ({text}): kernel {kernel:.2f}, total {total:.2f}; "
                  f"{worse} slower than PPCG by kernel time")


def write(path, of, checks, rows):
    """The results as JSON, with the card and the commit that they are `of`."""
    pathlib.Path(path).write_text(json.dumps({**of, "checks": checks, "timings": rows}, indent=1), encoding="utf-8")


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
    parser.add_argument("--offload", default="always", choices=["always", "auto"], help="auto: where it pays")
    parser.add_argument("--limit", type=float, help="seconds for one computation that is timed; default: as the set says")
    parser.add_argument("--budget", type=float, default=30, help="seconds for the repetitions of one program")
    parser.add_argument("--reference-limit", type=float, default=60, help="seconds for the original at the timed size")
    parser.add_argument("--shrink", action="store_true", help="time small sizes: a trial of the runner")
    options = parser.parse_args()

    bundle = json.loads((HERE / "set.json").read_text(encoding="utf-8"))
    of = {**origin.of(HERE, options.device), "measured_at_commit": bundle.get("commit", "not recorded")}
    table = bundle["programs"]
    table = [e for e in table if re.search(options.only, f"{e['set']} {e['name']} {e['type']}")]
    timed = [] if options.no_timing else [e for e in table if "timing" in e]
    checked = [] if options.no_checks else [(e, a) for e in table for a in e["check"]]
    cores = os.cpu_count() or 2

    kept_path = HERE / "references.json"
    kept = json.loads(kept_path.read_text(encoding="utf-8")) if kept_path.exists() else {}

    def reference(entry, arguments):
        return run([HERE / entry["plain"], *map(str, arguments)], environment(), options.timeout)

    def timed_reference(entry):
        """At the timed size: kept, or computed; None if it takes too long."""
        arguments = timed_size(entry, options)
        key = f"{label(entry, arguments)} {entry.get('fingerprint', '')}"
        if key not in kept:
            result = run([HERE / entry.get("fast", entry["plain"]), *map(str, arguments)], environment(), options.reference_limit)
            if result[0] is None:
                return None
            if result[0] != 0:
                return result
            kept[key] = {"stdout": result[1].decode(errors="replace"), "seconds": round(result[3], 3)}
        return 0, kept[key]["stdout"].encode(), b"", kept[key]["seconds"]

    checks, rows = [], []
    with concurrent.futures.ThreadPoolExecutor(max(cores - 1, 1)) as cpu, \
            concurrent.futures.ThreadPoolExecutor(min(DEVICE_PROCESSES, cores)) as device:
        # The references of the timed sizes take longest: first.
        large = [cpu.submit(timed_reference, e) for e in timed]
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
    if timed and not options.shrink:
        late = [e for e, r in zip(timed, references) if r is None]
        print(f"originals at the timed sizes: {len(timed) - len(late)} outputs to compare with, {len(late)} took over "
              f"{options.reference_limit:g} s", flush=True)
        beside = pathlib.Path(options.out).resolve().parent / "references.json"
        beside.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for entry, expected in zip(timed, references):
        rows.append(measure(entry, expected, options))
        late = f": over {rows[-1]['over_s']:g} s" if "over_s" in rows[-1] else ""
        print(f"timed {rows[-1]['case']}{late}", file=sys.stderr, flush=True)
        # After each, for a machine whose time may end.
        write(options.out, of, checks, rows)
    if rows:
        print_table(rows)
    write(options.out, of, checks, rows)
    return 1 if any(x["problem"] for x in checks + rows) else 0


if __name__ == "__main__":
    sys.exit(main())
