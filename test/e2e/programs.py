"""One program, compiled plainly and with pollyrs: what it prints in all ways to run it, and where its loops ran."""

import functools
import re
import shutil
import threading
import zlib

import cases
import toolchain
from outcome import WORK, Result, difference, folder, report

# Architectures that the examples' PTX is assembled for; the other programs' is for the newest only.
ARCHITECTURES = (70, 80, 90)
# PTX texts of one program that are assembled: the large file has hundreds, evenly picked.
MAX_TEXTS = 30

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


# A program with more lists than this runs half of them.
MANY = 5


# What a compiler prints when something is wrong; a remark is no such thing, unless it reports an error inside
# the plugin.
TROUBLE = re.compile(r"(?<!remark: )\b(warning|error|panicked|LLVM ERROR)\b|internal error", re.I)


LARGE = "a large file"


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
    place = WORK / "plain" / re.sub(r"\W+", "_", f"{program.source.name} {program.element or ''} {' '.join(program.flags)}")
    out = place / "plain"

    def compile_it():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
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


def run_program(program, options):
    """All checks of one program."""
    result = Result(program.name)
    work = folder(re.sub(r"\W+", "_", program.name))
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
