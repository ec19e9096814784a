#!/usr/bin/env python3
"""Hot loops of many kinds of programs (bench/hot), written as their users would: which of them run on the device.

  hot.py [REGEX] [--programs LIST] [--jobs N] [--record]

Compiles each program plainly and with kernels, runs both, the latter on the emulated device with offloading forced, and compares the loops' lines of output. A loop is a function of a
program. It is on the device if every innermost `for`, `while` or `do` of it (or, without any, each of its nests) ran there in all executions; in part if some did. The table says
of each: nests called offloaded, executions on the device and on the host, whether the output is equal, and why the rest stays. "Says so, but never ran" are nests that are called offloaded and
ran on the host alone, for other reasons than the data that the remark names ("where no two elements of ... are equal"). HOST names loops that are serial by what they compute. --record writes bench/results/21-hot-loops.json.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH.parent / "scripts" / "lib"))
import toolchain  # noqa: E402

FOLDER = BENCH / "hot"
PROGRAMS = ("layers.c", "fields.c", "tables.c", "pictures.c", "idioms.cpp", "classes.cpp", "science.f90", "hot.rs")
RESULTS = BENCH / "results" / "21-hot-loops.json"
# Sums of floating-point numbers into elements that data names, in the order of the loop.
HOST = {"assemble", "deposit"}
# Loops that are in a function of another name.
ALSO = {"expression": r"Array &operator=\(const Expr"}
HEAD = {
    "c": r"^LOOP\b.*\b{}\(",
    "c++": r"^\s*LOOP\b.*\b{}\(",
    "fortran": r"^\s*(?:subroutine|.*\bfunction)\s+{}\(",
    "rust": r"^\s*fn {}\b",
}
ALOOP = {"fortran": re.compile(r"^\s*do\b"), None: re.compile(r"\b(?:for|while)\b\s*(?:\(|\w+.* in |[({&]|\()|^\s*for\b|\bwhile \(")}
CODE_LINE = re.compile(r"\(loop at ([^()]*?):(\d+)\)")


def commands(program, folder):
    """The command lines that compile a program plainly and with kernels."""
    source = FOLDER / program
    language = toolchain.language(source)
    flags = ["-ffp-contract=off", "-gline-tables-only"]
    if language == "rust":
        flags = ["-Cdebuginfo=line-tables-only"]
        return [toolchain.rust_command(source, folder / f"{program}.{k}", plugin=k == "device", flags=flags) for k in ("plain", "device")]
    if language == "c++":
        flags.append("-std=c++20")
    plain = toolchain.plain_command(source, folder / f"{program}.plain", level="-O3", flags=flags)
    device = toolchain.plugin_command(source, folder / f"{program}.device", flags=flags, extra=["--pollyrs-option=cubin=off"])
    if language == "fortran":
        for command in (plain, device):
            command.insert(command.index(str(source)), str(FOLDER / "data.f90"))
    return [plain, device]


def extent(lines, start):
    """The last line (from 1) of what begins at line `start`: by indentation."""
    margin = len(lines[start - 1]) - len(lines[start - 1].lstrip())
    for n in range(start, len(lines)):
        text = lines[n]
        if text.strip() and len(text) - len(text.lstrip()) <= margin:
            return n + 1 if re.match(r"\s*(?:\}|end\b)", text) else n
    return len(lines)


def loops_of(program, names):
    """For each name: its first and last line, and the innermost loops in between as such ranges."""
    language = toolchain.language(program)
    lines = (FOLDER / program).read_text(encoding="utf-8").splitlines()
    found = {}
    for name in names:
        head = re.compile(ALSO.get(name) or HEAD[language].format(name))
        start = next(n for n, line in enumerate(lines, 1) if head.search(line))
        end = extent(lines, start)
        pattern = ALOOP.get(language, ALOOP[None])
        ranges = [(n, extent(lines, n)) for n in range(start + 1, end + 1) if pattern.search(lines[n - 1])]
        inner = [r for r in ranges if not any(r[0] < o[0] <= r[1] for o in ranges)]
        found[name] = ((start, end), inner)
    return found


def run(program, folder):
    """Output of both programs, remarks, executions; or what went wrong."""
    plain, device = commands(program, folder)
    remarks, profile = folder / f"{program}.remarks", folder / f"{program}.profile"
    seconds = []
    for command in (plain, device):
        environment = toolchain.environment(POLLYRS_REMARK_FILE=remarks, RUSTC_BOOTSTRAP=1, POLLYRS_TARGETS="cuda,emulated", POLLYRS_CUBIN="off")
        done = toolchain.run(command, env=environment, timeout=300)
        seconds.append(done.processor)
        if done.code:
            return f"{program}: {done.why()}: {done.stderr.decode()[-500:]}"
    outputs = []
    for kind in ("plain", "device"):
        environment = toolchain.environment(POLLYRS_RT_DEVICE="emulated", POLLYRS_RT_OFFLOAD="always", POLLYRS_RT_PROFILE=profile)
        done = toolchain.run([folder / f"{program}.{kind}"], env=environment, timeout=60)
        if done.code:
            return f"{program}, {kind}: {done.why()}: {done.stderr.decode()[-500:]}"
        outputs.append(dict(line.split(maxsplit=1) for line in done.stdout.decode().splitlines()))
    return outputs, toolchain.read_profile(remarks), [e for e in toolchain.read_profile(profile) if not e.get("release")], seconds


def within(place, line):
    return place[0] <= line <= place[1]


def line_of(remark, program):
    """The line of the loop that a remark is about: the one that it names, if that is of the program."""
    named = [int(line) for file, line in CODE_LINE.findall(remark["text"]) if pathlib.Path(file).name == program]
    return (named or [remark["line"]])[0]


def judge(name, place, inner, program, outputs, remarks, executions):
    """One row of the table."""
    lines = (FOLDER / program).read_text(encoding="utf-8").splitlines()
    # A function of a library that has a closure of this one in its name was made for it, and is at a line of the library.
    own = re.compile(rf"{len(name)}{name}(?![a-z_])")
    mine = [r for r in remarks if pathlib.Path(r.get("file") or "").name == program and within(place, r.get("line", 0)) or own.search(r.get("function") or "")]
    offloaded = {r["text"].split(":")[0].removeprefix("offloaded "): r["text"] for r in mine if r["code"] == "PRS001"}
    # (Code of a library's template runs at a line of the library.)
    here = lambda e: pathlib.Path(e["at"].rpartition(":")[0]).name == program and within(place, int(e["at"].rpartition(":")[2] or 0))  # noqa: E731
    ran = [e for e in executions if here(e) or own.search(e["scop"]) or e["scop"].removesuffix(" (other version)") in offloaded]
    device, host = collections.Counter(), collections.Counter()
    reasons = collections.Counter()
    covered = []
    for e in ran:
        if e["device"] == "host":
            host[e["scop"]] += 1
            reasons[e.get("reason", "?")] += 1
        else:
            device[e["scop"]] += 1
            if here(e):
                start = int(e["at"].rpartition(":")[2])
                covered.append((start, extent(lines, start)))
    # What is inlined of a library ran at a line of its own, and is reported where it was called.
    called = [r for r in mine if r["code"] == "PRS001" and r["text"].split(":")[0].removeprefix("offloaded ") in device and within(place, r.get("line", 0))]
    covered += [(r["line"], extent(lines, r["line"])) for r in called if pathlib.Path(r.get("file") or "").name == program]
    missed = [r for r in mine if r["kind"] == "missed"]
    said = [line_of(m, program) for m in missed]
    # What a nest begins with may be one of several loops that are one nest: of those nothing is said.
    first = place[0] if any(own.search(scop) for scop in device) else min((c[0] for c in covered), default=place[1])
    left = [r for r in inner if not any(c[0] <= r[0] <= c[1] or r[0] <= c[0] <= r[1] for c in covered)]
    left = [r for r in left if r[0] < first or any(r[0] <= n <= r[1] or n <= r[0] <= extent(lines, n) for n in said)]
    if not inner:
        left = [m for m in missed if not any(within(c, line_of(m, program)) for c in covered)]
    verdict = "host" if not device else "part" if left or host else "device"
    why = ""
    if verdict != "device":
        why = "; ".join(text for text, _ in reasons.most_common(2)) or "; ".join(dict.fromkeys(re.sub(r" \(loop at .*?\)", "", m["text"]) for m in missed[:2])) or "no remark"
    never = sorted({scop.removesuffix(" (other version)") for scop in host} - {scop for scop in device})
    # What data decides is said of these.
    decided = [n for n in never if re.search(r", where no (?:two|iteration)", offloaded.get(n, ""))]
    return {"loop": name, "program": program, "nests": len(offloaded), "device": sum(device.values()), "host": sum(host.values()),
            "equal": outputs[0].get(name) == outputs[1].get(name), "verdict": verdict, "why": why,
            "never": [n for n in never if n in offloaded and n not in decided], "decided": decided}


def record(rows, summary):
    """The table as a file of results."""
    command = ["git", "-C", str(BENCH), "rev-parse", "--short", "HEAD"]
    commit = toolchain.run(command).stdout.decode().strip()
    result = {
        "title": f"Hot loops of many kinds of programs: {summary}", "card": "emulated device", "measured_at_commit": commit, "recorded_in_commits": [], "command": "bench/hot.py --record",
        "note": "bench/notes/033-hot-loops.md", "unit": "", "columns": ["loop", "program", "nests offloaded", "executions on the device", "on the host", "output equal", "runs on", "why not"],
        "show": "^$",
        "rows": [[r["loop"], r["program"], str(r["nests"]), str(r["device"]), str(r["host"]), "yes" if r["equal"] else "NO", r["verdict"], r["why"]] for r in rows],
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loops", nargs="?", default="", metavar="REGEX")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    programs = arguments.programs.split(",")
    rows, failed = [], []
    with tempfile.TemporaryDirectory(prefix="hot-") as place, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for program, done in zip(programs, pool.map(lambda p: run(p, pathlib.Path(place)), programs)):
            if isinstance(done, str):
                failed.append(done)
                continue
            outputs, remarks, executions, seconds = done
            print(f"{program}: {len(outputs[0])} loops, compiled in {seconds[0]:.1f} s plainly, {seconds[1]:.1f} s with kernels", flush=True)
            for name, (extents, inner) in loops_of(program, outputs[0]).items():
                if re.search(arguments.loops, name):
                    rows.append(judge(name, extents, inner, program, outputs, remarks, executions))
    print(f"{'loop':22} {'program':12} {'nests':>5} {'device':>6} {'host':>5} equal runs on")
    for r in rows:
        print(f"{r['loop']:22} {r['program']:12} {r['nests']:5} {r['device']:6} {r['host']:5} {'yes' if r['equal'] else 'NO':5} {r['verdict']:7} {r['why'][:170]}")
    verdicts = collections.Counter(r["verdict"] for r in rows)
    never, decided = ([n for r in rows for n in r[kind]] for kind in ("never", "decided"))
    wanted = [r for r in rows if r["loop"] not in HOST]
    good = sum(r["verdict"] == "device" for r in wanted)
    summary = f"{good} of {len(wanted)} on the device, {verdicts['part']} in part"
    print(f"{summary} ({100 * good / max(1, len(wanted)):.0f}%); {sum(not r['equal'] for r in rows)} outputs differ; says so, but never ran: {', '.join(never) or 'none'}; "
          f"says on which data it depends, and data was otherwise: {', '.join(decided) or 'none'}")
    for text in failed:
        print(text)
    if arguments.record and not failed:
        record(rows, summary)
    return 1 if failed or any(not r["equal"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
