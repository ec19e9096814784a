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
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import sys
import threading
import zlib

import algorithms
import cases
import delinearizer
import generate_large
import installation
import libraries
import openmp
import projects
import phases
import readme
import run_script
import settings
import toolchain
import validity

WORK = toolchain.BUILD / "e2e"
# Architectures that the examples' PTX is assembled for; the other programs' is for the newest only.
ARCHITECTURES = (70, 80, 90)
# PTX texts of one program that are assembled: the large file has hundreds, evenly picked.
MAX_TEXTS = 30


@dataclasses.dataclass
class Result:
    """How many checks of a unit were passed, and a text for each that was not."""

    name: str
    passed: int = 0
    failures: list = dataclasses.field(default_factory=list)
    note: str = ""
    # Processor time in all, in seconds.
    processor: float = 0.0
    # Of the compilations, the plain compiler's first.
    seconds: list = dataclasses.field(default_factory=list)

    def check(self, ok, text):
        """Counts one check; `text` is a function, or the message."""
        if ok:
            self.passed += 1
        else:
            self.failures.append(text() if callable(text) else text)
        return ok


CHECKED = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always", "POLLYRS_RT_CHECK": "1"}
WAYS = {
    "emulated": CHECKED,
    "emulated, reverse order, in slices": {**CHECKED, "POLLYRS_RT_EMU_ORDER": "reverse", "POLLYRS_RT_OVERLAP": "3"},
    "emulated, unchecked": {**CHECKED, "POLLYRS_RT_CHECK": "0"},
    "off": {"POLLYRS_RT_DEVICE": "off"},
    "cuda": {"POLLYRS_RT_DEVICE": "cuda", "POLLYRS_RT_OFFLOAD": "always"},
}


def ways_of(options, number, count):
    """Names of the ways to run list `number` of `count`: one of both orders, the first list in order; all ways for the last one."""
    in_order, reverse, *_ = WAYS
    if options.all or number == count - 1 and not options.quick:
        return list(WAYS)
    if number == count - 1:
        return [in_order, "off", "cuda"]
    return [in_order if number == 0 or options.quick or (number + options.turn) % 2 == 0 else reverse]


def lists_of(program, options):
    """The lists of arguments that are run. Where each of them may be what a fallback comes from, all."""
    lists = program.arguments
    if options.all or program.expectation == "partial" or program.reasons:
        return lists
    if options.quick:
        return tuple(dict.fromkeys([lists[0], lists[-1]]))
    last = len(lists) - 1
    return tuple(words for number, words in enumerate(lists) if number in (0, last) or last < MANY or (number + options.turn) % 2 == 0)


# An algorithm comes every so many days.
ALGORITHMS = 3
# A program with more lists than this runs half of them.
MANY = 5


# What a compiler prints when something is wrong; a remark is no such thing, unless it reports an error inside
# the plugin.
TROUBLE = re.compile(r"(?<!remark: )\b(warning|error|panicked|LLVM ERROR)\b|internal error", re.I)


LARGE, LARGE_LINES = "a large file", 10_000


def is_plain(program):
    """A quarter of the programs is compiled as users do: for the emulated device without checks, with instructions selected at -O3, and
    assembled by the plugin. Not those that take long."""
    return program.turns == 1 and zlib.crc32(program.name.encode()) % 4 == 0


def has_turn(program, options):
    """Whether it is run today: those that take long come every few days, and of strategies a half."""
    days = program.turns * (2 if program.strategy else 1)
    return options.every or (zlib.crc32(program.name.encode()) // 4 + options.turn) % days == 0


def targets_of(program):
    """Kernels for the checked emulated device, which finds races and the like. Those of the large file take a minute longer to compile with a
    call at each access."""
    return "cuda,emulated" if program.name == LARGE or is_plain(program) else "cuda,emulated-checked"


class Originals:
    """What the plain compiler makes of each source, and what that prints: once for all strategies."""

    def __init__(self):
        self.lock, self.locks, self.known = threading.Lock(), {}, {}

    def get(self, key, make):
        """`make()`, called once for each key."""
        with self.lock:
            own = self.locks.setdefault(key, threading.Lock())
        with own:
            if key not in self.known:
                self.known[key] = make()
            return self.known[key]


ORIGINALS = Originals()


def original_of(program):
    """The plain executable, and how its compilation went."""
    folder = WORK / "plain" / re.sub(r"\W+", "_", f"{program.source.name} {program.element or ''} {' '.join(program.flags)}")
    out = folder / "plain"

    def compile_it():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if toolchain.language(program.source) == "rust":
            command = toolchain.rust_command(program.source, out, plugin=False, level="1")
            return toolchain.run(command, env={**toolchain.environment(), "RUSTC_BOOTSTRAP": "1"}, timeout=600)
        command = toolchain.plain_command(program.source, out, element=program.element, flags=("-ffp-contract=off", *program.flags))
        return toolchain.run(command, env=toolchain.environment(), timeout=600)

    return out, ORIGINALS.get(out, compile_it)


def expected_of(plain, words):
    """What the original prints."""
    return ORIGINALS.get((plain, *words), lambda: toolchain.run([plain, *words], env=toolchain.environment()))


def devices_of(program, options):
    """How many emulated devices share its launches; 1: it is compiled for one."""
    return options.devices or program.devices


def steps_of(program, options, work, offloaded):
    """The commands that compile with the plugin, and the environment. All of LLVM's passes run at -O3; but for a quarter of the programs,
    instructions are then selected without optimization: a checked kernel is a call at each access, long and slow to allocate registers for."""
    environment, targets = toolchain.environment(), targets_of(program)
    if toolchain.language(program.source) == "rust":
        environment |= {"RUSTC_BOOTSTRAP": "1", "POLLYRS_TARGETS": targets, "POLLYRS_CUBIN": "auto" if is_plain(program) else "off",
                        "POLLYRS_DIVIDE": "true" if devices_of(program, options) > 1 else "false"}
        return [toolchain.rust_command(program.source, offloaded)], environment
    flags, extra = ("-ffp-contract=off", *program.flags), ["--pollyrs-remarks", *strategy_options(program)]
    if devices_of(program, options) > 1:
        extra.append("--pollyrs-option=divide=true")
    command = functools.partial(toolchain.plugin_command, program.source, targets=targets, element=program.element)
    if is_plain(program) or program.flags or program.name == LARGE:
        return [command(offloaded, flags=flags, extra=extra)], environment
    # What check_ptx assembles need not be assembled before.
    extra.append("--pollyrs-option=cubin=off")
    code, object_file = work / "code.bc", work / "code.o"
    return [command(code, flags=(*flags, "-emit-llvm", "-c"), extra=extra, libraries=False),
            [toolchain.llvm_tool("clang"), "-O0", "-w", "-x", "ir", code, "-c", "-o", object_file],
            toolchain.link_command(program.source, object_file, offloaded)], environment


def compile_both(result, program, options, work):
    """The two executables and the refusals' remarks, or None if one does not compile."""
    offloaded, refusals = work / "offloaded", []
    plain, done = original_of(program)
    commands, environment = steps_of(program, options, work, offloaded)

    def is_right(done, again):
        lines = done.stderr.decode(errors="replace").splitlines()
        wrong = [line for line in lines if TROUBLE.search(line) and ("remark:" not in line or "internal error" in line)]
        trouble = done.why() or "; ".join(wrong[:5])
        result.check(not trouble, lambda: report(trouble, done, again))
        return done.code == 0

    result.seconds = [done.processor, 0.0]
    if not is_right(done, toolchain.shell(done.command)):
        return None
    settings = {k: v for k, v in environment.items() if k == "RUSTC_BOOTSTRAP" or k.startswith("POLLYRS_")}
    again = " && ".join(toolchain.shell(command, **settings) for command in commands)
    for number, command in enumerate(commands):
        done = toolchain.run(command, env=environment, timeout=600)
        result.seconds[1] += done.processor
        if not is_right(done, again):
            return None
        if number > 0:
            continue
        lines = done.stderr.decode(errors="replace").splitlines()
        if program.strategy and program.strategy[0] not in ("isl", "graph", "late") and not is_streaming(program):
            result.check(any("time tiles" in line for line in lines) and not any("steps are not fused" in line for line in lines),
                         lambda: report("not all loop nests have time tiles", done, again))
        refusals += [line for line in lines if "[-Rpass-missed=pollyrs]" in line and "example.h" not in line.split(" remark:")[0]]
    return plain, offloaded, refusals


def is_streaming(program):
    """Whether steps are to be fused in blocks of a shape."""
    return program.strategy[:1] == ("streaming",)


def strategy_options(program):
    """The driver's words for the strategy and the tile sizes of a program, and a budget for all its functions."""
    if program.strategy[:1] == ("graph",):
        return ["--pollyrs-option=graph=always"]
    if program.strategy[:1] == ("late",):
        return ["--pollyrs-option=tiles=late"]
    names = ("strategy", "stencil-shape") if is_streaming(program) else ("strategy", "tile", "techniques")
    words = [f"--pollyrs-option={name}={value}" for name, value in zip(names, program.strategy)]
    return [*words, "--pollyrs-option=budget=50000000"] if words else []


def report(trouble, done, reproduce):
    """A failure's text: what, the end of stderr, and how to see it again."""
    tail = done.stderr.decode(errors="replace").strip().splitlines()[-8:]
    return "\n".join([trouble, *("  | " + line for line in tail), f"  reproduce: {reproduce}"])


def run_program(program, options):
    """All checks of one program."""
    result = Result(program.name)
    work = WORK / re.sub(r"\W+", "_", program.name)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    executables = compile_both(result, program, options, work)
    if executables is None:
        return result
    plain, offloaded, refusals = executables
    why = "".join(f"\n  {line}" for line in refusals[:8])
    devices = {"emulated": 0, "host": 0}
    fallbacks, places = set(), {}
    several, shared = devices_of(program, options), False
    lists = lists_of(program, options)
    for number, arguments in enumerate(lists):
        words = [str(a) for a in arguments]
        expected = expected_of(plain, words)
        if not result.check(not expected.why(), lambda: report("the original " + expected.why(), expected,
                                                              toolchain.shell([plain, *words]))):
            continue
        for name in ways_of(options, number, len(lists)):
            settings = WAYS[name]
            if several > 1:
                settings = {**settings, "POLLYRS_RT_EMULATED_DEVICES": str(several)}
            if settings.get("POLLYRS_RT_CHECK") == "1" and "pthread" in program.source.read_text(encoding="utf-8"):
                # What other threads write meanwhile looks like a wrong copy.
                settings = {**settings, "POLLYRS_RT_CHECK": "race,bounds,init"}
            profile = work / "profile.jsonl"
            profile.unlink(missing_ok=True)
            got = toolchain.run([offloaded, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
            again = toolchain.shell([offloaded, *words], **settings)
            lines = toolchain.read_profile(profile)
            result.check(got.code == expected.code and got.stdout == expected.stdout,
                         lambda: report(f"{name}: {got.why() or difference(expected.stdout, got.stdout)}", got, again))
            if settings.get("POLLYRS_RT_CHECK", "0") == "0":
                continue
            shared |= any(line.get("devices", 1) > 1 for line in lines)
            for line in lines:
                devices[line["device"]] = devices.get(line["device"], 0) + 1
                if line["device"] == "host":
                    fallbacks.add(line.get("reason", ""))
                places.setdefault(line["scop"], {})[line["device"]] = line.get("reason", "")
            if number == 0 and name == "emulated":
                for kernel in program.kernels:
                    ran = [line for line in lines if OTHER not in line["scop"] and re.search(rf"(?<![a-z]){kernel}(?![a-z0-9_])", line["scop"])]
                    fell = sorted({line.get("reason", "?") for line in ran if line["device"] != "emulated"})
                    result.check(ran and not fell, lambda: report(
                        f"KERNELS: {kernel} " + (f"fell back: {'; '.join(fell)}" if ran else f"is not offloaded{why}"), got, again))
            if number == 0 and name == "emulated" and program.inspected is not None:
                inspected = sum("inspect_ms" in line for line in lines)
                result.check(inspected == program.inspected, lambda: report(
                    f"INSPECTED: before {inspected} executions, not {program.inspected}", got, again))
            if number == 0 and name == "emulated" and program.moved:
                moved = tuple(sum(line.get(way, 0) for line in lines) for way in ("bytes_to_device", "bytes_to_host"))
                result.check(moved == program.moved, lambda: report(
                    f"MOVED: {moved[0]} bytes to the device and {moved[1]} back, not {program.moved[0]} and {program.moved[1]}", got, again))
            if arguments in program.must_offload:
                result.check(any(line["device"] == "emulated" for line in lines),
                             lambda: report(f"nothing ran on the device: {reasons(lines)}{why}", got, again))
    holds, text = expectation(program, devices)
    result.check(holds, text + why)
    if program.devices > 1:
        result.check(shared, f"DEVICES: {program.devices}, but no launch was divided")
    if program.expectation != "fallback" and lists == program.arguments:
        check_stays(result, program, places)
    for reason in program.reasons:
        result.check(any(reason in f for f in fallbacks),
                     lambda: f"no execution fell back because of '{reason}', but: {'; '.join(sorted(fallbacks)) or 'none did'}{why}")
    check_ptx(result, offloaded, work, ARCHITECTURES if program.must_offload else ARCHITECTURES[-1:])
    on = f" ({several} of them{'' if shared else ', none divided'})" if several > 1 else ""
    result.note = f"{len(lists)} of {len(program.arguments)} sizes, {devices['emulated']} executions on the device{on}, {devices['host']} fell back, " \
        f"compiled in {result.seconds[1]:.1f} s ({result.seconds[0]:.1f} s plain)"
    return result


# At the end of a nest's name: a copy of it that is for the host only.
OTHER = " (other version)"


def check_stays(result, program, places):
    """What is called offloaded runs on the device with some arguments, but for what the program's STAYS lines name: `// STAYS: NEST ...: REASON`."""
    def runs(nest):
        """Whether it does; of a copy for the host, whether anything of its function does."""
        if not nest.endswith(OTHER):
            return set(places[nest]) != {"host"}
        function = nest.removesuffix(OTHER)
        return any("emulated" in devices and (other == function or other.startswith(function + ".")) for other, devices in places.items())
    for nest, reason in sorted((nest.removesuffix(OTHER), devices["host"]) for nest, devices in places.items() if not runs(nest)):
        result.check(program.stays.get(nest), lambda: f"{nest} is called offloaded and never runs on the device: {reason}")


def expectation(program, devices):
    """Whether the OFFLOAD line holds, and a text if not."""
    emulated, host = devices["emulated"] > 0, devices["host"] > 0
    holds = {
        "yes": emulated,
        "no": not emulated and not host,
        "fallback": host and not emulated,
        "partial": host and emulated,
        "any": True,
    }[program.expectation]
    counts = f"{devices['emulated']} executions on the device, {devices['host']} fell back"
    return holds, f"OFFLOAD: {program.expectation} ({cases.EXPECTATIONS[program.expectation]}), but {counts}"


def reasons(lines):
    """Why the profile's executions stayed on the host."""
    return "; ".join(sorted({line.get("reason", "?") for line in lines})) or "no SCoP was reached"


def difference(expected, got):
    """The first line that differs."""
    want, have = expected.decode(errors="replace").splitlines(), got.decode(errors="replace").splitlines()
    for number, (a, b) in enumerate(zip(want, have), 1):
        if a != b:
            return f"stdout differs in line {number}: expected '{a}', got '{b}'"
    return f"stdout has {len(have)} lines instead of {len(want)}"


def check_ptx(result, executable, work, architectures):
    """Assembles the PTX inside a program."""
    ptxas = toolchain.ptxas()
    texts = toolchain.ptx_in(executable)
    texts = texts[::len(texts) // MAX_TEXTS + 1]
    for number, text in enumerate(texts):
        path = work / f"{number}.ptx"
        path.write_bytes(text)
        oldest = int(re.search(rb"^\.target sm_(\d+)", text, re.M)[1])
        if not ptxas:
            continue
        for arch in architectures:
            if arch < oldest:
                continue
            command = [ptxas, f"-arch=sm_{arch}", path, "-o", work / f"{number}.cubin"]
            done = toolchain.run(command, timeout=300)
            result.check(done.code == 0 and not done.stderr and not done.stdout,
                         lambda: report(f"ptxas for sm_{arch}: {done.stdout.decode(errors='replace')}", done,
                                        toolchain.shell(command)))


def by_hand(_options):
    """The plugin without the driver, for a C and a Fortran file."""
    result = Result("plain clang and flang")
    work = WORK / "by_hand"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for source in (toolchain.EXAMPLES / "gemm.c", toolchain.EXAMPLES / "heat.f90"):
        words = ["20", "30", "25"]
        plain, offloaded, profile = work / "plain", work / "offloaded", work / "profile.jsonl"
        profile.unlink(missing_ok=True)
        compiled = True
        for command in (toolchain.plain_command(source, plain), toolchain.by_hand_command(source, offloaded)):
            done = toolchain.run(command, env=toolchain.environment())
            compiled &= result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command)))
        if not compiled:
            continue
        expected = toolchain.run([plain, *words], env=toolchain.environment())
        settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
        got = toolchain.run([offloaded, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        again = toolchain.shell([offloaded, *words], **settings)
        result.check(got.code == expected.code and got.stdout == expected.stdout,
                     lambda: report(got.why() or difference(expected.stdout, got.stdout), got, again))
        result.check(any(line["device"] == "emulated" for line in toolchain.read_profile(profile)),
                     lambda: report("nothing ran on the device", got, again))
    return result


def driver(_options):
    """The driver: objects, assembly and IR in a second step, the shared run-time library, a response file."""
    result = Result("driver")
    work = WORK / "driver"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source, plain, words = toolchain.EXAMPLES / "gemver.c", work / "plain", ["50"]
    toolchain.run(toolchain.plain_command(source, plain), env=toolchain.environment())
    expected = toolchain.run([plain, *words], env=toolchain.environment())
    result.check(expected.code == 0 and bool(expected.stdout), "the original does not run")
    both = ["--pollyrs-targets=cuda,emulated", "--pollyrs-option=cubin=off", "-O3"]
    (work / "words.rsp").write_text(f'-O3 --pollyrs-targets=emulated "{source}"\n-o {work / "response"}', encoding="utf-8")
    steps = {
        "objects": [["cc", *both, "-c", source, "-o", work / "a.o"], ["cc", work / "a.o", "-o", work / "objects"]],
        "shared": [["cc", *both, "--pollyrs-shared-rt", source, "-o", work / "shared"]],
        "response": [["cc", f"@{work / 'words.rsp'}"]],
        "assembly": [["cc", *both, "-S", source, "-o", work / "a.s"], ["cc", work / "a.s", "-o", work / "assembly"]],
        "ir": [["cc", *both, "-S", "-emit-llvm", source, "-o", work / "a.ll"], ["cc", "-O1", work / "a.ll", "-o", work / "ir"]],
        "by_language": [["c++", *both, "-x", "c", "-c", source, "-o", work / "b.o"],
                        ["c++", work / "b.o", "-o", work / "by_language"]],
    }
    settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
    for name, commands in steps.items():
        failed = False
        for command in ([toolchain.DRIVER, *c] for c in commands):
            done = toolchain.run(command, env=toolchain.environment())
            failed |= not result.check(done.code == 0, lambda: report(f"{name}: {done.why()}", done, toolchain.shell(command)))
        if failed:
            continue
        profile = work / f"{name}.jsonl"
        got = toolchain.run([work / name, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        again = toolchain.shell([work / name, *words], **settings)
        result.check((got.code, got.stdout) == (expected.code, expected.stdout),
                     lambda: report(f"{name}: {got.why() or difference(expected.stdout, got.stdout)}", got, again))
        result.check(any(line["device"] == "emulated" for line in toolchain.read_profile(profile)),
                     lambda: report(f"{name}: nothing ran on the device", got, again))
    return result


def installed(_options):
    """What is built with an installed tree."""
    result = Result("installed")
    work = WORK / "installed"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    installation.check(result, work, report)
    return result


def sample_projects(_options):
    """The projects of test/projects, each with its build system."""
    result = Result("projects")
    work = WORK / "projects"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    projects.check(result, work, report)
    return result


def of_builds(result, work):
    """pollyrs report for what make compiles and for a compile_commands.json: text, JSON and a page; remarks of inlined library code are in the file."""
    (work / "b.cpp").write_text("#include <vector>\nstruct grid { std::vector<double> a, b; void scale(); };\nvoid grid::scale() {\n"
                                "  for (unsigned long i = 0; i < a.size(); i++)\n    a[i] = 2 * b[i];\n}\n", encoding="utf-8")
    (work / "Makefile").write_text("CFLAGS = -O2\nCXXFLAGS = -O2\nall: a.o b.o\n", encoding="utf-8")
    entries = [{"directory": str(work), "file": "a.c", "command": "cc -O2 -c a.c -o a.o"},
               {"directory": str(work), "file": "b.cpp", "arguments": ["c++", "-O2", "-c", "b.cpp", "-o", "b.o"]}]
    (work / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    both = ["a.c: 2 loop nests, 1 offloaded", "b.cpp: 1 loop nest, 1 offloaded", "grid::scale", "2 files: 3 loop nests, 2 offloaded"]
    for words, texts in {
        ("--build", "make"): both,
        ("-p", "."): both,
        ("--level", "everything", "b.cpp"): ["this->b and this->a do not overlap", "[PRS040]"],
        ("--level", "summary", "a.c", "b.cpp"): ["1 x PRS106 a subscript"],
        ("--json", "--html", "report.html", "a.c"): ['"code": "PRS106"', '"line": 3', '"advice"'],
    }.items():
        command = [toolchain.DRIVER, "report", *words]
        done = toolchain.run(command, env=toolchain.environment(), cwd=work)
        text = done.stdout.decode(errors="replace")
        missing = [t for t in texts if t not in text]
        result.check(done.code == 0 and not missing, lambda: report(f"missing {missing} in:\n{text}", done, toolchain.shell(command)))
    html = (work / "report.html").read_text(encoding="utf-8")
    result.check("1 of 2 loop nests offloaded" in html and html.count("<details>") == 2, "no page of a report")


def tools(_options):
    """pollyrs report for three languages, profile of a program, doctor."""
    result = Result("report, profile, doctor")
    work = WORK / "tools"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "a.c").write_text("void f(int n, double *a, const int *p) {\n  for (int i = 0; i < n; i++)\n\ta[p[i] * p[i]] = 0;\n"
                              "  for (int i = 0; i < n; i++)\n    a[i] *= 2;\n}\n", encoding="utf-8")
    for source, texts in {
        work / "a.c": ["2 loop nests, 1 offloaded", "not offloaded", "[PRS106]", "    3 | \ta[p[i] * p[i]] = 0;", "| \t               ^", "= help: "],
        cases.program("templates.cpp"): ["offloaded"],
        toolchain.EXAMPLES / "heat.f90": ["heat.f90: ", "  10  ", "offloaded"],
    }.items():
        command = [toolchain.DRIVER, "report", source, "-I", toolchain.EXAMPLES]
        done = toolchain.run(command, env=toolchain.environment())
        text = done.stdout.decode(errors="replace")
        missing = [t for t in texts if t not in text]
        result.check(done.code == 0 and not missing, lambda: report(f"missing {missing} in:\n{text}", done, toolchain.shell(command)))
    of_builds(result, work)
    program, page = work / "program", work / "page.html"
    command = toolchain.plugin_command(toolchain.EXAMPLES / "gemver.c", program)
    toolchain.run(command, env=toolchain.environment())
    command = [toolchain.DRIVER, "profile", "-o", page, program, "50"]
    done = toolchain.run(command, env=toolchain.environment(POLLYRS_RT_DEVICE="emulated", POLLYRS_RT_OFFLOAD="always"))
    text = done.stderr.decode(errors="replace")
    result.check(done.code == 0 and "emulated" in text and "gemver" in text, lambda: report(text, done, toolchain.shell(command)))
    drawn = page.read_text(encoding="utf-8") if page.exists() else ""
    result.check('id="timeline"' in drawn and re.search(r"const data = .*gemver", drawn), "no timeline")
    done = toolchain.run([toolchain.DRIVER, "doctor"], env=toolchain.environment())
    text = done.stdout.decode(errors="replace")
    result.check(all(word in text for word in ("ptxas", "driver", "installation", "kernel")), lambda: report(text, done, "doctor"))
    return result


TUNED = """#include <stdio.h>
#include <stdlib.h>
static float A[2][99][99];
__attribute__((noinline)) static void smooth(int steps, int n, float a[2][99][99]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = 0.4f * a[t % 2][i][j] + 0.3f * a[t % 2][i - 1][j] + 0.3f * a[t % 2][i][j + 1];
}
int main(int argc, char **argv) {
  int steps = atoi(argv[1]), n = argc > 2 ? atoi(argv[2]) : 50;
  unsigned state = 7;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[0][i][j] = A[1][i][j] = (float)((state = state * 1664525u + 1013904223u) >> 8) / 65536;
  smooth(steps, n, A);
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum = sum * 0.7 + A[steps % 2][i][j];
  printf("%.17g\\n", sum);
}
"""


def tune(_options):
    """pollyrs tune: a choice that is slow on purpose is left for one with fewer launches, by a file that later compilations take."""
    result = Result("tune")
    work = WORK / "tune"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source, file = work / "smooth.c", work / "smooth.tune"
    source.write_text(TUNED, encoding="utf-8")
    settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
    # One step a launch, where the model would have several.
    words = ["-O2", "-ffp-contract=off", "--pollyrs-targets=emulated", "--pollyrs-option=strategy=isl",
             "--pollyrs-option=only-function=smooth", "--pollyrs-option=budget=500000", source]

    def run(*command):
        done = toolchain.run([toolchain.DRIVER, *command], env=toolchain.environment(**settings), timeout=600)
        text = done.stderr.decode(errors="replace")
        return done, text, lambda what: report(f"{what}:\n{text}", done, toolchain.shell([toolchain.DRIVER, *command], **settings))

    def launches(*options):
        program, profile = work / "program", work / "profile.jsonl"
        profile.unlink(missing_ok=True)
        done, text, why = run("cc", *words, *options, "--pollyrs-remarks", "-o", program)
        if not result.check(done.code == 0, lambda: why("it does not compile")):
            return 0, "", text
        got = toolchain.run([program, "24"], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        return sum(line["kernels"] for line in toolchain.read_profile(profile)), got.stdout, text

    one_step, expected, _ = launches()
    result.check(one_step == 24, f"the planted choice has {one_step} launches, not 24")
    options = ["--jobs", "1", "--runs", "1", "--rounds", "2", "--output", file]
    done, text, why = run("tune", *options, "--try", "strategy=streaming,fuse-steps=6", *words, "--", "24")
    if not result.check(done.code == 0 and "smooth" in text, lambda: why("it fails")):
        return result
    tuned, output, remarks = launches("--tuned", file)
    result.check(0 < tuned <= 6 and output == expected and "takes the tuned choice" in remarks,
                 f"{tuned} launches with the tuned choice: {file.read_text(encoding='utf-8')}\n{remarks}")
    # The same search on two machines: what compiles here is measured there.
    folder = work / "folder"
    done, _, why = run("tune", *options, "--build", folder, *words)
    result.check(done.code == 0, lambda: why("--build fails"))
    file.unlink()
    done, _, why = run("tune", "--runs", "1", "--measure", folder, "--", "24")
    if result.check(done.code == 0 and file.exists(), lambda: why("--measure fails")):
        tuned, output, remarks = launches("--tuned", file)
        result.check(0 < tuned < 24 and output == expected, f"{tuned} launches with the choice of the folder\n{remarks}")
    # A program that changed: its entry is for other loops.
    source.write_text(TUNED.replace("j < n - 1", "j < n - 2"), encoding="utf-8")
    stale, _, remarks = launches("--tuned", file)
    result.check(stale == 24 and "fits no loop nest" in remarks, f"{stale} launches with a stale entry\n{remarks}")
    source.write_text(TUNED.replace("sum);", "sum + getpid());").replace("#include", "#include <unistd.h>\n#include", 1), encoding="utf-8")
    done, text, why = run("tune", *options, *words, "--", "24")
    result.check(done.code != 0 and "--ignore-output" in text, lambda: why("an output that is never the same"))
    for text, want in {"{": "no file of 'pollyrs tune'", '{"format": 9}': "has format 9"}.items():
        file.write_text(text, encoding="utf-8")
        done, said, why = run("cc", *words, "--tuned", file, "-c", "-o", work / "a.o")
        result.check(done.code != 0 and want in said, lambda: why("a malformed file"))
    return result


def deterministic(_options):
    """The same input gives the same object file, byte for byte."""
    result = Result("the same object twice")
    work = WORK / "deterministic"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for example in ("covariance.c", "gemver.c", "jacobi-2d.c"):
        contents = []
        for number in range(2):
            out = work / f"{number}.o"
            command = [toolchain.DRIVER, "cc", "--pollyrs-targets=cuda,emulated", "-O3", "-c", toolchain.EXAMPLES / example, "-o",
                       out]
            done = toolchain.run(command, env=toolchain.environment())
            if not result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command))):
                return result
            contents.append(out.read_bytes())
        result.check(contents[0] == contents[1], f"two compilations of {example} differ")
    return result


def valid_ir(options):
    """Levels, debug information, sanitizers, link-time optimisation."""
    result = Result("valid IR")
    validity.check(result, WORK / "valid_ir", report, None if options.every else options.turn)
    return result


def driver_phases(_options):
    """The driver in all phases of a build, and its mistakes."""
    result, work = Result("driver phases"), WORK / "phases"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    phases.check(result, work, report)
    return result


def run_settings(_options):
    """Settings of a run, and switches in the source."""
    result, work = Result("settings"), WORK / "settings"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    settings.check(result, work, report)
    return result


def documented(_options):
    """The commands of README.md and docs/."""
    result, work = Result("documented commands"), WORK / "documented"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    readme.check(result, work, report)
    return result


def scripts_run(options):
    """scripts/run for each example, at the flags that people use."""
    result, work = Result("scripts/run"), WORK / "scripts_run"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run_script.check(result, work, report, None if options.every else options.turn)
    return result


def shared_libraries(_options):
    """Libraries with offloaded loops that a program loads and unloads."""
    result = Result("shared libraries")
    libraries.check(result, WORK / "shared_libraries", report)
    return result


def openmp_threads(_options):
    """Offloaded loops in the threads of OpenMP."""
    result = Result("OpenMP")
    openmp.check(result, WORK / "openmp", report)
    return result


def oracle(options):
    """The shapes that LLVM's delinearizer finds are the model's, for the algorithms; with --all, for the programs too."""
    result = Result("LLVM's delinearizer")
    counts, wrong = delinearizer.check(".*" if options.all else "^algorithms/|/delinearize_")
    result.passed, result.failures = counts["agree"], wrong
    result.check(counts["agree"] >= 50, f"only {counts['agree']} arrays to compare")
    return result


def large_file(options):
    """A generated file of 10,000 lines compiles and prints the same; without --all, of an eighth of that."""
    work = WORK / "large"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    source = work / "large.c"
    source.write_text(generate_large.generate(lines=LARGE_LINES if options.all else LARGE_LINES // 8, seed=1), encoding="utf-8")
    program = cases.Program(LARGE, source, None, (("7",), ("20",)), "yes", frozenset())
    return run_program(program, options)


def algorithm(entry, element, form):
    """One form and type of one algorithm."""
    passed, failures, note = algorithms.check(entry, element, form)
    return Result(f"algorithms/{entry['name']} {element} {form}", passed, failures, note)


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
    units = [(p.name, functools.partial(run_program, p)) for p in programs]
    others = [("plain clang and flang", by_hand), ("driver", driver), ("the same object twice", deterministic),
              ("installed", installed), ("projects", sample_projects), ("tools", tools), ("valid IR", valid_ir),
              ("scripts/run", scripts_run), ("driver phases", driver_phases), ("settings", run_settings), ("documented commands", documented),
              ("shared libraries", shared_libraries),
              ("OpenMP", openmp_threads), ("LLVM's delinearizer", oracle)]
    # Searches with many compilations come every few days.
    others += [("tune", tune)] if options.every or options.turn % 3 == 0 else []
    units += others
    if not options.quick:
        # First, since it takes longest.
        units.insert(0, (LARGE, large_file))
        units += [(f"algorithms/{entry['name']}", lambda _options, e=entry, t=element, f=form: algorithm(e, t, f))
                  for n, (entry, element, form) in enumerate(algorithms.rotated(options.turn))
                  if options.every or (n + options.turn) % ALGORITHMS == 0]
    units = [u for u in units if re.search(options.filter, u[0])]
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

        for result in pool.map(timed, units):
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
