#!/usr/bin/env python3
"""Where the loops of programs run: nests that remarks call offloaded and that never ran on the device, and the share of a program's time in loops that did.

  ran.py SOURCE... [--arguments WORDS] [--flags WORDS]                  programs of one file each
  ran.py --folder DIR --build COMMAND --run COMMAND                     a project: {cc}, {cxx}, {fc} stand for the compilers
  ... [--share] [--checked] [--limit SECONDS] [--keep FOLDER]

A program is compiled plainly and with kernels for the emulated device, and run both ways, the latter with offloading forced; what they print is compared (a project's --noise: lines that may differ). Of each nest the
profile says how often it ran on the device and how often on the host, with the reason. A nest "never runs" if it was reached, and each time its original loop ran; where the remark names the data on which that
depends ("where no two elements of ... are equal"), it is counted by itself. A nest of a copy for other cases ("other version") never runs if nothing of its function does. The exit status is 1 if a nest never runs, or if outputs differ.

--share: the plain program runs under `perf`; a sample is "on the device" if its line, or that of a call into which it was inlined, lies in a nest that ran there (in part: by its executions). Nests end where their indentation does; a line
between nests belongs to the one in front of it, which may be several loops.
"""

import argparse
import collections
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "lib"))
import toolchain  # noqa: E402

OTHER = " (other version)"
DATA = re.compile(r", where no two")
FLAGS = ["-O3", "-ffp-contract=off", "-gline-tables-only"]
# The first executions of each loop nest; programs have some that run millions of times.
FIRST = "always:2000"
DEVICE = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": FIRST}


def compilers(kernels, checked):
    """The command lines that stand for {cc}, {cxx} and {fc}."""
    modes = {"cc": ("cc", "clang"), "cxx": ("c++", "clang++"), "fc": ("fc", "flang")}
    target = "emulated-checked" if checked else "emulated"
    words = {}
    for name, (mode, plain) in modes.items():
        command = [str(toolchain.DRIVER), mode, f"--pollyrs-targets={target}"] if kernels else [toolchain.llvm_tool(plain)]
        words[name] = shlex.join([*command, *FLAGS, *([] if kernels else ["-no-pie"])])
    return words


def one_file(source, flags):
    """The build command of a program of one file; it makes ./program."""
    language = toolchain.language(source)
    if language == "rust":
        return "{rust} " + shlex.quote(str(source.resolve())) + " -o program"
    name = {"c": "cc", "c++": "cxx", "fortran": "fc"}[language]
    return f"{{{name}}} {flags} -I{ROOT / 'examples'} {shlex.quote(str(source.resolve()))} -o program {'' if language == 'fortran' else '-lm -pthread'}"


def shell(command, folder, limit, **settings):
    """Runs a command line in a folder: its exit status (None: out of time) and what it printed."""
    done = toolchain.run(["bash", "-c", command], env=toolchain.environment(**settings), timeout=limit, cwd=folder)
    return done.code, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def build(case, folder, kernels, options):
    """Builds a program in a fresh copy of its folder; the error, or ''."""
    if case["folder"]:
        shutil.copytree(case["folder"], folder, symlinks=True)
    else:
        folder.mkdir(parents=True)
    words = compilers(kernels, options.checked)
    rust = toolchain.rust_command("SOURCE", "OUT", plugin=kernels, flags=["-Cdebuginfo=line-tables-only"])
    words["rust"] = shlex.join([w for w in rust if w not in ("SOURCE", "-o", "OUT")])
    command = re.sub(r"\{(cc|cxx|fc|rust)\}", lambda m: words[m[1]], case["build"])
    target = "emulated-checked" if options.checked else "emulated"
    code, _, said = shell(command, folder, 3000, POLLYRS_REMARK_FILE=folder / "remarks.jsonl", RUSTC_BOOTSTRAP=1, POLLYRS_TARGETS=target, POLLYRS_CUBIN="off")
    wrong = "internal error" in said or "panicked" in said
    return "" if code == 0 and not wrong else f"does not build{'' if kernels else ' plainly'}: {said.strip()[-400:]}"


def nests_of(remarks, executions):
    """For each nest that was offloaded, or ran: what is said of it, where it is, executions on the device and on the host, reasons."""
    nests = {}
    def nest(name):
        return nests.setdefault(name, {"text": "", "at": None, "device": 0, "host": 0, "why": collections.Counter()})
    for r in remarks:
        if r["code"] == "PRS001":
            nest(r["text"].split(":")[0].removeprefix("offloaded ")).update(text=r["text"], at=(r.get("file"), r.get("line", 0)))
    for e in executions:
        if e.get("release") or not e.get("scop") or f"POLLYRS_RT_OFFLOAD={FIRST}" in e.get("reason", ""):
            continue
        n = nest(e["scop"])
        file, _, line = e["at"].rpartition(":")
        n["at"] = (file, int(line or 0)) if file else n["at"]
        n["host" if e["device"] == "host" else "device"] += 1
        if e["device"] == "host":
            n["why"][e.get("reason", "?")] += 1
    return nests


def never(nests):
    """Names of nests that were reached and never ran on the device, and of those of which the remark says on what data that depends."""
    lost, data = [], []
    for name, n in sorted(nests.items()):
        if not n["host"] or n["device"]:
            continue
        plain = name.removesuffix(OTHER)
        if plain != name and any(o["device"] and (k == plain or k.startswith(plain + ".") or plain.startswith(k + ".")) for k, o in nests.items()):
            continue
        (data if DATA.search(n["text"] or nests.get(plain, n)["text"]) else lost).append(name)
    return lost, data


def extent(lines, start):
    """The last line (from 1) of what begins at line `start`, by indentation."""
    margin = len(lines[start - 1]) - len(lines[start - 1].lstrip())
    for n in range(start, len(lines)):
        text = lines[n]
        if text.strip() and not re.match(r"\s*(?:[#!]|//|/\*)", text) and len(text) - len(text.lstrip()) <= margin and not re.match(r"\s*\{", text):
            return n + 1 if re.match(r"\s*(?:\}|end\b|\d+\s+continue)", text, re.I) else n
    return len(lines)


class Places:
    """Where the lines of sources are, and where loops of them end."""

    def __init__(self, folder):
        self.files = {}
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix.lower() in {".c", ".h", ".hpp", ".cc", ".cpp", ".cxx", ".rs", ".inc"} | toolchain.FORTRAN:
                self.files.setdefault(path.name, path)

    def extent(self, file, line):
        """First and last line of what begins there."""
        path = self.files.get(pathlib.Path(file).name)
        path = pathlib.Path(file) if path is None and pathlib.Path(file).is_file() else path
        if path is None or not line:
            return (line, line)
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        return (line, extent(lines, line)) if line <= len(lines) else (line, line)


def samples(folder, command, limit):
    """Samples of the plain program: how many there are with each stack of inlined places, innermost first."""
    data = folder / "perf.data"
    shell(f"perf record -q -F 1500 -e cpu-clock:u -o {data} -- bash -c {shlex.quote(command)}", folder, limit)
    _, text, _ = shell(f"perf script -i {data} -F ip,dso 2>/dev/null", folder, limit)
    count = collections.Counter()
    for line in text.splitlines():
        if m := re.match(r"\s*([0-9a-f]+)\s+\((.*)\)", line):
            count[(m[2], m[1])] += 1
    stacks = collections.Counter()
    for dso in {d for d, _ in count}:
        mine = [(a, n) for (d, a), n in count.items() if d == dso]
        if not dso.startswith(str(folder)):
            stacks[(("library", 0),)] += sum(n for _, n in mine)
            continue
        tool = [toolchain.llvm_tool("llvm-symbolizer"), f"--obj={dso}", "--inlines", "--no-demangle"]
        done = subprocess.run(tool, input="\n".join("0x" + a for a, _ in mine), capture_output=True, text=True, check=False)
        for (_, n), block in zip(mine, done.stdout.split("\n\n")):
            frames = [m for m in re.findall(r"^(.*):(\d+):\d+$", block, re.M)]
            stacks[tuple((f, int(line)) for f, line in frames)] += n
    return stacks


# A loop of a nest of several begins at most so many lines behind the first.
NEAR = 60


def before(frames, tables):
    """The first line of the nearest nest in front of the innermost place that has one: a nest may be several loops, and is known by the first of them."""
    for file, line in frames:
        starts = [first for of in tables for first, *_ in of.get(pathlib.Path(file).name, ()) if line - NEAR < first <= line]
        if starts:
            return ((file, max(starts)),)
    return frames


def shares(stacks, nests, remarks, places):
    """Samples on the device, in loops that stayed, and elsewhere; and for lines of the host, the samples and what is said of them."""
    def table(items):
        found = collections.defaultdict(list)
        for (file, line), weight, text in items:
            first, last = places.extent(file, line)
            found[pathlib.Path(file).name].append((first, last, weight, text))
        return found
    ran = table([(n["at"], n["device"] / (n["device"] + n["host"]), next(iter(n["why"]), "")) for n in nests.values() if n["at"] and n["at"][0] and n["device"] + n["host"]])
    named = re.compile(r"\(loop at ([^()]*?):(\d+)\)")
    def place(r):
        m = named.search(r["text"])
        return (m[1], int(m[2])) if m else (r.get("file") or "", r.get("line", 0))
    missed = table([(place(r), 0, re.sub(r" \(loop at .*?\)", "", r["text"])) for r in remarks if r["kind"] == "missed"])
    total = {"device": 0.0, "host": 0.0, "elsewhere": 0.0}
    host = collections.defaultdict(lambda: [0.0, ""])
    for frames, n in stacks.items():
        def inside(of):
            return [(last - first, w, text, file, first) for file, line in frames for first, last, w, text in of.get(pathlib.Path(file).name, ()) if first <= line <= last]
        if not inside(ran) and not inside(missed):
            frames = before(frames, (ran, missed))
        weight = max((w for _, w, *_ in inside(ran)), default=0.0)
        total["device"] += n * weight
        if weight < 1:
            loops = sorted(inside(missed) + [i for i in inside(ran) if i[1] < 1])
            total["host" if loops else "elsewhere"] += n * (1 - weight)
            key = (pathlib.Path(loops[0][3]).name, loops[0][4]) if loops else (pathlib.Path(frames[0][0]).name, frames[0][1]) if frames else ("?", 0)
            entry = host[key]
            entry[0] += n * (1 - weight)
            entry[1] = entry[1] or (loops[0][2] if loops else "in no loop that is reported")
    return total, host


def judge(case, place, options):
    """Builds and runs one case; its line, what never runs, whether something is wrong."""
    plain, device = place / "plain", place / "device"
    for folder, kernels in ((plain, False), (device, True)):
        if wrong := build(case, folder, kernels, options):
            return f"{case['name']}: {wrong}", [], kernels
    profile = device / "profile.jsonl"
    runs = [shell(case["run"], plain, options.limit), shell(case["run"], device, 20 * options.limit, **DEVICE, POLLYRS_RT_PROFILE=profile, POLLYRS_RT_CHECK=int(options.checked))]
    text = [[line for line in out.splitlines() if not (options.noise and re.search(options.noise, line))] for _, out, _ in runs]
    equal = text[0] == text[1] and runs[0][0] == runs[1][0]
    remarks = toolchain.read_profile(device / "remarks.jsonl")
    nests = nests_of(remarks, toolchain.read_profile(profile))
    lost, data = never(nests)
    count = [sum(n[k] for n in nests.values()) for k in ("device", "host")]
    reached = [n for n in nests.values() if n["device"] + n["host"]]
    partly = [n for n in reached if n["device"] and n["host"]]
    lines = [f"{case['name']}: {len(nests)} nests offloaded, {len(reached)} reached, {len(partly)} in part, {len(lost)} never, {len(data)} by data; executions {count[0]} on the device, {count[1]} on the host; "
             f"{'equal' if equal else f'DIFFERENT (exit status {runs[0][0]} and {runs[1][0]}) ' + runs[1][2].strip()[-300:]}"]
    lines += [f"  never: {n} at {':'.join(map(str, nests[n]['at'] or ()))}: {next(iter(nests[n]['why']))[:300]}" for n in lost]
    lines += [f"  by data: {n}: {next(iter(nests[n]['why']))[:200]}" for n in data]
    if options.partly:
        lines += [f"  partly: {k}: {n['device']} on the device, {n['host']} not: {n['why'].most_common(1)[0][0][:300]}" for k, n in sorted(nests.items()) if n["device"] and n["host"]]
    if options.share:
        total, host = shares(samples(plain, options.timed or case["run"], options.limit), nests, remarks, Places(device))
        every = max(1.0, sum(total.values()))
        lines.append("  share of samples: " + ", ".join(f"{k} {100 * v / every:.1f}%" for k, v in total.items()) + f" of {every:.0f}")
        lines += [f"    {100 * v / every:5.1f}%  {file}:{line}: {text[:200]}" for (file, line), (v, text) in sorted(host.items(), key=lambda h: -h[1][0])[:options.top] if v > every / 200]
    return "\n".join(lines), lost, not equal


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", type=pathlib.Path)
    parser.add_argument("--arguments", default="")
    parser.add_argument("--flags", default="")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--build")
    parser.add_argument("--run")
    parser.add_argument("--noise", help="lines of output that may differ")
    parser.add_argument("--share", action="store_true", help="the share of the plain program's time")
    parser.add_argument("--timed", metavar="COMMAND", help="what --share runs, where --run is too short")
    parser.add_argument("--top", type=int, default=12, help="lines of the host that --share prints")
    parser.add_argument("--partly", action="store_true", help="print nests that ran on both")
    parser.add_argument("--checked", action="store_true", help="the checked emulated device")
    parser.add_argument("--limit", type=int, default=60, help="seconds of the plain program")
    parser.add_argument("--keep", type=pathlib.Path, help="where programs and profiles stay")
    options = parser.parse_args()
    if options.folder:
        cases = [{"name": options.folder.name, "folder": options.folder, "build": options.build, "run": options.run}]
    else:
        cases = [{"name": s.name, "folder": None, "build": one_file(s, options.flags), "run": f"./program {options.arguments or arguments_of(s)}"} for s in options.sources]
    bad, lost = 0, 0
    with tempfile.TemporaryDirectory(prefix="ran-") as place:
        for case in cases:
            folder = (options.keep or pathlib.Path(place)) / case["name"]
            shutil.rmtree(folder, ignore_errors=True)
            text, names, wrong = judge(case, folder.resolve(), options)
            print(text, flush=True)
            lost, bad = lost + len(names), bad + bool(wrong)
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(cases)} programs: {lost} nests are called offloaded and never ran; {bad} programs are wrong")
    return 1 if lost or bad else 0


def arguments_of(source):
    """What a program's first lines give it: `ARGS: WORDS`, the last one of several."""
    found = re.findall(r"(?m)^\W+ARGS: (.*)$", source.read_text(encoding="utf-8", errors="replace"))
    return found[-1] if found else ""


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
