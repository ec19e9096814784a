"""The body of scripts/coverage: the remarks of the algorithms in all forms, as a table.

A kernel counts as whole if all its loops are in one SCoP. Loops are counted in the source: a `for` between the kernel's head and
main. What the plugin modelled is read from its remarks at those lines, in the function that runs: the kernel, or main where the kernel is
inlined into it before SCoPs are found; it may also be offloaded first and inlined then.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import sys
import tempfile

import toolchain

ALGORITHMS = toolchain.ROOT / "bench" / "algorithms"
FORMS = {
    "constant": "(a) constant sizes",
    "vla": "(b) variable-length arrays",
    "linear": "(c) linearised, int",
    "linear_unsigned": "(c) linearised, unsigned",
}
# The last is the one whose details are printed.
LEVELS = ["-O1", "-O2", "-O3", "-O3 -fno-math-errno"]
# The project's goal: whole kernels of 30.
GOAL = {"constant": 30, "vla": 30, "linear": 28, "linear_unsigned": 28}

# Seconds for one compilation.
LIMIT_S = 60

REMARK = re.compile(r"^(?P<file>[^:]*):(?P<line>\d+):\d+: remark: (?P<text>.*?)(?: \[PRS\d+\])? \[-Rpass(?P<kind>|-missed|-analysis)=pollyrs\]$")
# Several SCoPs of a function are numbered: kernel.1, kernel.2.
OFFLOADED = re.compile(r"offloaded (?P<function>\w+)(?:\.\d+)?: (?P<loops>\d+) loops?, .*?(?P<kernels>\d+) kernels?\b")
# How the time loop of an offloaded nest is tiled.
TILING = ("fuses steps: ", "time tiles: ")
IN_HEADER = re.compile(r"\(loop at (?P<file>[^)]*?):(?P<line>\d+)\)")


@dataclasses.dataclass
class Source:
    """An algorithm: the lines of its kernel, its loops, and the sizes for constants, which are those it is timed with."""

    path: pathlib.Path
    lines: range
    loops: int
    sizes: list

    @staticmethod
    def read(path, sizes):
        text = path.read_text(encoding="utf-8").splitlines()
        head = next(k for k, line in enumerate(text) if line.startswith("KERNEL("))
        end = next(k for k, line in enumerate(text) if k > head and line == "}")
        return Source(path, range(head + 1, end + 2), sum(line.count("for (") for line in text[head:end]), sizes)


@dataclasses.dataclass
class Outcome:
    """What happened to one kernel in one configuration."""

    scops: list = dataclasses.field(default_factory=list)
    refusals: list = dataclasses.field(default_factory=list)
    assumptions: list = dataclasses.field(default_factory=list)
    # LLVM instructions from the kernel's entry to the call that starts an execution; None if it was not
    # looked for.
    instructions: int | None = None
    trouble: str = ""
    seconds: float = 0

    def loops(self):
        return sum(loops for loops, _ in self.scops)

    def kernels(self):
        return sum(kernels for _, kernels in self.scops)

    def whole(self, source):
        return len(self.scops) == 1 and self.loops() == source.loops and not self.trouble

    def text(self, source):
        if self.trouble:
            return f"**{self.trouble}**"
        if not self.scops:
            return f"**0/{source.loops}**"
        mark = "" if self.whole(source) else "**"
        scops = "" if len(self.scops) == 1 else f", {len(self.scops)} SCoPs"
        return f"{mark}{self.loops()}/{source.loops}{scops}{mark}, {self.kernels()}"


def outcome(source, form, level, inline, work):
    """Compiles one configuration."""
    extra = ["--pollyrs-remarks", "-c", f"-DFORM={form}"] + (["-DINLINE"] if inline else [])
    if form == "constant":
        extra += [f"-DSIZE{k}={size}" for k, size in enumerate(source.sizes, 1)]
    out = work / f"{source.path.stem}-{form}{level}-{inline}.o".replace(" ", "")
    words = [*level.split(), *extra, "-DTYPE=double", source.path, "-o", out]
    command = [toolchain.DRIVER, "cc", "--pollyrs-targets=emulated", "--pollyrs-option=hold=false", *words]
    done = toolchain.run(command, env=toolchain.environment(), timeout=LIMIT_S)
    out.unlink(missing_ok=True)
    result = Outcome(seconds=done.seconds)
    if done.why():
        result.trouble = done.why()
        sys.stderr.write(f"{toolchain.shell(command)}\n{done.stderr.decode(errors='replace')}")
        return result
    found_in = {"main": [], "kernel": []}
    assumed_in = {"main": [], "kernel": []}
    function = None
    for line in done.stderr.decode(errors="replace").splitlines():
        found = REMARK.match(line)
        if not found:
            continue
        loop = IN_HEADER.search(found["text"])
        name, number = (loop["file"], loop["line"]) if loop else (found["file"], found["line"])
        if pathlib.Path(name).name != source.path.name or int(number) not in source.lines:
            continue
        if found["kind"] == "":
            if found["text"].startswith(TILING):
                continue
            match = OFFLOADED.match(found["text"])
            if not match or match["function"] not in found_in:
                result.trouble = f"remark not understood: {found['text']}"
                continue
            function = match["function"]
            found_in[function].append((int(match["loops"]), int(match["kernels"])))
        elif found["kind"] == "-analysis" and function and found["text"].startswith(("assumes ", "checks ")):
            assumed_in[function].append(found["text"])
        elif found["kind"] == "-missed":
            result.refusals.append(f"line {number}: {found['text']}")
    running = "main" if inline and found_in["main"] else "kernel"
    result.scops, result.assumptions = found_in[running], assumed_in[running]
    return result


def instructions_before_launch(source, form, level, work):
    """LLVM instructions that a call of the kernel executes up to its first `pollyrs_rt_begin`: the checks, and what describes the arrays.
    None if there is no such call. (Without holds, which callers lend to a second version of the kernel.)"""
    out = work / f"{source.path.stem}-{form}{level}.ll".replace(" ", "")
    extra = [f"-DSIZE{k}={size}" for k, size in enumerate(source.sizes, 1)] if form == "constant" else []
    words = [*level.split(), "-S", "-emit-llvm", f"-DFORM={form}", *extra, "-DTYPE=double", source.path, "-o", out]
    done = toolchain.run([toolchain.DRIVER, "cc", "--pollyrs-targets=emulated", "--pollyrs-option=hold=false", *words], env=toolchain.environment(), timeout=LIMIT_S)
    if done.why():
        return None
    text = out.read_text(encoding="utf-8")
    out.unlink()
    body = re.search(r"^define [^\n]*@kernel\(.*?^}", text, re.M | re.S)
    return count_to_call(body[0], "@pollyrs_rt_begin") if body else None


def count_to_call(function, callee):
    """Instructions on a shortest path of blocks from the entry to the first call of `callee`, PHIs not counted."""
    blocks, order = {}, []
    name = "entry"
    for line in function.splitlines()[1:-1]:
        label = re.match(r"([\w.$-]+):", line)
        if label:
            name = label[1]
        elif line.startswith("  ") and not line.lstrip().startswith(("#dbg", "]", "i32 ", "i64 ")):
            blocks.setdefault(name, []).append(line.strip())
            order.append(name)
    start = order[0]
    seen, queue = {start: 0}, collections.deque([start])
    while queue:
        block = queue.popleft()
        count = seen[block]
        for line in blocks.get(block, []):
            if callee in line:
                return count
            count += "= phi " not in line
            for target in re.findall(r"label %([\w.$-]+)", line):
                if target not in seen:
                    seen[target] = count
                    queue.append(target)
    return None


def places(where, forms, levels):
    """Configurations in few words."""
    words = []
    for form in forms:
        mine = {(level, inline) for f, level, inline in where if f == form}
        every = {(level, inline) for level in levels for inline in (False, True)}
        with_errno = {(level, inline) for level, inline in every if "-fno-math-errno" not in level}
        if mine == every:
            words.append(form)
        elif mine == with_errno:
            words.append(f"{form} without -fno-math-errno")
        else:
            words += [f"{form} {level}{' inlined' if inline else ''}" for level, inline in sorted(mine)]
    return ", ".join(words)


def report(sources, forms, levels, outcomes):
    """The page's lines."""
    yield "# Coverage of the algorithms"
    yield ""
    yield f"How much of each of the {len(sources)} kernels in `bench/algorithms` is modelled and compiled for the device. Written by " \
          "`scripts/coverage`; do not edit."
    yield ""
    yield "A kernel is whole if all its loops are in one SCoP."
    yield ""
    yield "| form | " + " | ".join(f"{level}, {how}" for level in levels for how in ("called", "inlined")) + " | goal |"
    yield "|---" * (2 * len(levels) + 2) + "|"
    for form in forms:
        cells = [str(sum(outcomes[s.path.stem, form, level, inline].whole(s) for s in sources))
                 for level in levels for inline in (False, True)]
        yield f"| {FORMS[form]} | " + " | ".join(cells) + f" | {GOAL[form] * len(sources) // 30} |"
    yield ""
    level = levels[-1]
    yield f"Loops modelled / loops of the kernel, and kernels on the device, at {level}, called; double precision. Bold: not whole."
    yield ""
    yield "| algorithm | " + " | ".join(FORMS[form] for form in forms) + " |"
    yield "|---" * (len(forms) + 1) + "|"
    for s in sources:
        yield f"| {s.path.stem} | " + " | ".join(outcomes[s.path.stem, form, level, False].text(s) for form in forms) + " |"
    yield ""
    yield "## What is refused"
    yield ""
    grouped = collections.OrderedDict()
    for (name, form, lev, inline), result in outcomes.items():
        for refusal in dict.fromkeys(result.refusals):
            grouped.setdefault((name, refusal), []).append((form, lev, inline))
    if not grouped:
        yield "Nothing."
    for (name, refusal), where in grouped.items():
        yield f"- {name}, {refusal} ({places(where, forms, levels)})"
    yield ""
    differing = [f"{s.path.stem} {form} {lev}{' inlined' if inline else ''}: {outcomes[s.path.stem, form, lev, inline].text(s)}"
                 for s in sources for form in forms for lev in levels for inline in (False, True)
                 if outcomes[s.path.stem, form, lev, inline].whole(s) != outcomes[s.path.stem, form, level, False].whole(s)]
    if differing:
        yield f"Whole or not, unlike at {level}, called:"
        yield ""
        yield from (f"- {line}" for line in differing)
        yield ""
    yield "## What is checked before a launch"
    yield ""
    yield from conditions(sources, forms, level, outcomes)


def conditions(sources, forms, level, outcomes):
    """The table of what is checked at run time."""
    yield f"Conditions checked at run time at {level}, called (overlap: pairs of arrays compared; other: ranges and signs of values), and the " \
          "LLVM instructions from the kernel's entry to the start of the first execution on the device: the checks, the ranges that are " \
          "touched, and their description. The original loop runs if one does not hold."
    yield ""
    yield "| algorithm | " + " | ".join(FORMS[form] for form in forms) + " |"
    yield "|---" * (len(forms) + 1) + "|"
    for s in sources:
        cells = []
        for form in forms:
            texts = outcomes[s.path.stem, form, level, False].assumptions
            overlap = sum("overlap" in text for text in texts)
            count = outcomes[s.path.stem, form, level, False].instructions
            cells.append(f"{overlap} overlap, {len(texts) - overlap} other; {'–' if count is None else count}")
        yield f"| {s.path.stem} | " + " | ".join(cells) + " |"


def main():
    """Compiles on all cores and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="algorithms whose name matches")
    parser.add_argument("--levels", default=",".join(LEVELS), help="comma-separated")
    parser.add_argument("--forms", default=",".join(FORMS), help="comma-separated")
    parser.add_argument("--conditions", metavar="FILE", help="only what is checked before a launch, at the last level")
    parser.add_argument("--out", default=str(toolchain.ROOT / "bench" / "COVERAGE.md"))
    # A value like -O3 looks like an option.
    options = parser.parse_args(re.sub("--levels\0", "--levels=", "\0".join(sys.argv[1:])).split("\0") if sys.argv[1:] else [])
    levels, forms = options.levels.split(","), options.forms.split(",")
    programs = json.loads((toolchain.ROOT / "bench" / "sets" / "algorithms.json").read_text(encoding="utf-8"))["programs"]
    sources = [Source.read(ALGORITHMS / p["source"], p["timing"]) for p in programs if re.search(options.only, p["name"])]
    keys = [(s, form, level, inline) for s in sources for form in forms for level in levels for inline in (False, True)]
    if options.conditions:
        keys = [key for key in keys if key[2] == levels[-1] and not key[3]]
    with tempfile.TemporaryDirectory(prefix="pollyrs-coverage-") as name, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = pool.map(lambda key: outcome(*key, pathlib.Path(name)), keys)
        outcomes = {(s.path.stem, form, level, inline): r for (s, form, level, inline), r in zip(keys, results)}
        last = [(s, form) for s in sources for form in forms]
        counts = pool.map(lambda key: instructions_before_launch(*key, levels[-1], pathlib.Path(name)), last)
        for (s, form), count in zip(last, counts):
            outcomes[s.path.stem, form, levels[-1], False].instructions = count
    if options.conditions:
        options.out = options.conditions
        head = ["# What is checked before a launch", "", "Written by `scripts/coverage --conditions bench/CONDITIONS.md`; do not edit.", ""]
        text = "\n".join([*head, *conditions(sources, forms, levels[-1], outcomes)]) + "\n"
    else:
        text = "\n".join(report(sources, forms, levels, outcomes)) + "\n"
    if options.out == "-":
        print(text)
    else:
        pathlib.Path(options.out).write_text(text, encoding="utf-8")
        print(options.out)
    seconds = sorted(((r.seconds, " ".join(map(str, key))) for key, r in outcomes.items()), reverse=True)
    print(f"{len(keys)} compilations; the slowest: " + ", ".join(f"{key} {t:.1f} s" for t, key in seconds[:5]))
    return 1 if any(r.trouble for r in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
