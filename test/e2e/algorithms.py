#!/usr/bin/env python3
"""The algorithms of bench/algorithms: every form and element type at small, awkward sizes on the emulated device, compared bit for
bit with the plain compiler's -O1 without contraction.

run.py runs one form and type of each algorithm, a different one from day to day. By itself:

  algorithms.py [--only REGEX] [--forms vla,linear] [--types double] [--inline] [--rotation N] [--jobs N]     default: all forms
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lib"))
import toolchain  # noqa: E402

FORMS = ("constant", "vla", "linear", "linear_unsigned")
WORK = toolchain.BUILD / "e2e" / "algorithms"
# Seconds for a compilation, and for a run.
LIMIT_S = 60
SETTINGS = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
# The same with blocks and threads in another order, and all bytes outside of what a kernel says it writes
# compared.
REVERSE = {**SETTINGS, "POLLYRS_RT_EMU_ORDER": "reverse", "POLLYRS_RT_CHECK": "1"}


def table():
    """The set's programs, with an element type each."""
    programs = json.loads((toolchain.ROOT / "bench" / "sets" / "algorithms.json").read_text(encoding="utf-8"))["programs"]
    return [(entry, element) for entry in programs for element in entry["types"]]


def rotation():
    """The day, so that each form's turn comes."""
    return int(os.environ.get("POLLYRS_TEST_TURN") or time.time() // 86400)


def rotated(turn):
    """For each algorithm one of its forms and types, so that one turn has all forms among its algorithms."""
    programs = json.loads((toolchain.ROOT / "bench" / "sets" / "algorithms.json").read_text(encoding="utf-8"))["programs"]
    for number, entry in enumerate(programs):
        kinds = [(element, form) for element in entry["types"] for form in FORMS]
        element, form = kinds[(number + turn) % len(kinds)]
        yield entry, element, form


def sizes(entry, form):
    """Argument lists: the smallest and the two largest of the small ones; one for constants, which cost a compilation each."""
    lists = entry["check"]
    return [lists[-2]] if form == "constant" else [lists[0], lists[-2], lists[-1]]


def check(entry, element, form, inline=False, level="-O3"):
    """All checks of one program: (number passed, failures, note)."""
    passed, failures, devices, seconds = 0, [], {}, 0
    source = toolchain.ROOT / "bench" / "algorithms" / entry["source"]
    work = WORK / f"{entry['name']}-{element}-{form}{level}{'-inlined' if inline else ''}"
    work.mkdir(parents=True, exist_ok=True)
    plain, offloaded, profile = work / "plain", work / "offloaded", work / "profile.jsonl"
    for arguments in sizes(entry, form):
        if form == "constant" or not seconds:
            # Calls of sqrt stay on the host where they may set errno.
            flags = ["-ffp-contract=off", "-fno-math-errno", f"-DFORM={form}"] + (["-DINLINE"] if inline else [])
            if form == "constant":
                flags += [f"-DSIZE{k}={size}" for k, size in enumerate(arguments, 1)]
            commands = [toolchain.plain_command(source, plain, element=element, flags=flags),
                        toolchain.plugin_command(source, offloaded, "emulated", level, element=element, flags=flags)]
            for command in commands:
                done = toolchain.run(command, env=toolchain.environment(), timeout=LIMIT_S)
                seconds = done.seconds
                if done.why():
                    tail = done.stderr.decode(errors="replace").strip()[-400:]
                    failures.append(f"{done.why()}\n  | {tail}\n  reproduce: {toolchain.shell(command)}")
                    return passed, failures, "does not compile"
        words = [str(a) for a in arguments]
        expected = toolchain.run([plain, *words], env=toolchain.environment(), timeout=LIMIT_S)
        for settings in (SETTINGS, REVERSE):
            profile.unlink(missing_ok=True)
            got = toolchain.run([offloaded, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile), timeout=LIMIT_S)
            for line in toolchain.read_profile(profile):
                devices[line["device"]] = devices.get(line["device"], 0) + 1
            want = expected.stdout.decode(errors="replace")
            if expected.code == 0 and "nan" not in want and (got.code, got.stdout) == (0, expected.stdout):
                passed += 1
                continue
            why = expected.why() or got.why() or ("not a number" if "nan" in want else "other output")
            lines = [f"{why}, at {' '.join(words)}", *(f"  | expected {line}" for line in want.splitlines()),
                     *(f"  | got      {line}" for line in got.stdout.decode(errors="replace").splitlines()),
                     f"  | {got.stderr.decode(errors='replace').strip()[-300:]}",
                     f"  reproduce: {toolchain.shell(commands[-1])} && {toolchain.shell([offloaded, *words], **settings)}"]
            failures.append("\n".join(lines))
    note = f"{devices.get('emulated', 0)} executions on the device, {devices.get('host', 0)} fell back, compiled in {seconds:.1f} s"
    return passed, failures, note


def main():
    """All programs, on a few threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="algorithms whose name matches")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--types", default="float,double,int")
    parser.add_argument("--inline", action="store_true")
    parser.add_argument("--rotation", type=int, help="one form and type of each algorithm: the N-th choice")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    if options.rotation is not None:
        work = list(rotated(options.rotation))
    else:
        work = [(entry, element, form) for entry, element in table() for form in options.forms.split(",")
                if element in options.types.split(",")]
    work = [w for w in work if re.search(options.only, w[0]["name"])]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda w: check(*w, inline=options.inline), work)
        for (entry, element, form), (good, failures, note) in zip(work, results):
            passed, failed = passed + good, failed + len(failures)
            print(f"{'FAIL' if failures else 'ok  '} {entry['name']} {element} {form} ({good} passed; {note})", flush=True)
            for failure in failures:
                print("     " + failure.replace("\n", "\n     "), flush=True)
    print(f"algorithms: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
