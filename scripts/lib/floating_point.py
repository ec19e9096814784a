"""What a program's flags allow floating-point operations to be, and how two outputs compare under that.

The rule is: what the flags permit, and no more. A device fuses each product and sum that may be fused, since there it is one
instruction. So the original, to which it is compared bit for bit, has to be compiled for a host that has such instructions, too, and
both sides have to fuse the same pairs. Which these are is read from the IR that the front end makes of the source with the user's flags:

- `llvm.fmuladd` (clang's `-ffp-contract=on`, the default): the front end has chosen;
- the flag `contract` (`-ffp-contract=fast`, flang's default): a back end chooses. clang is asked for `on`, of which there is less; in
  Fortran the plugin's `contract=early` chooses, on both sides;
- flags that allow other results (`-ffast-math`): values are compared with a tolerance;
- none of these: nothing is fused.
"""

import dataclasses
import pathlib
import re

import toolchain

# Largest difference that passes where the flags allow others, as a part of the largest number in its line:
# single precision's rounding errors over some hundred operations.
TOLERANCE = 1e-5

CONTRACTED = re.compile(r"= (?:tail )?(?:call .*@llvm\.fmuladd|f(?:add|sub|mul) (?:\w+ )*contract )")
BY_FRONT_END = re.compile(r"call .*@llvm\.fmuladd")
APPROXIMATE = re.compile(r"= (?:f\w+|tail call|call|phi|select) (?:\w+ )*(?:fast|reassoc|afn|arcp|nsz) ")


@dataclasses.dataclass(frozen=True)
class Rule:
    """How both sides are compiled, and how they compare."""

    # For the person in front of it.
    text: str
    # For both sides, behind the user's.
    flags: tuple = ()
    # For the original alone, and for pollyrs alone.
    original: tuple = ()
    offloaded: tuple = ()
    exact: bool = True


def host_fuses():
    """Whether this machine's processor has fused instructions."""
    try:
        return re.search(r"^flags\s*:.* fma ", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M) is not None
    except OSError:
        return False


def rule(source, flags, work):
    """The rule for a file and the user's flags. Raises ValueError with the command and the compiler's message if it does not compile."""
    language = toolchain.language(source)
    if language == "rust":
        return Rule("nothing is contracted: rustc allows no contraction")
    ir = work / "flags.ll"
    front_end = ["-O0"] if language == "fortran" else ["-O1", "-Xclang", "-disable-llvm-passes"]
    # Warnings come with the compilations that count.
    command = toolchain.plain_command(source, ir, "-O1", flags=[*flags, *front_end, "-w", "-S", "-emit-llvm"], link=False)
    done = toolchain.run(command, env=toolchain.environment(), timeout=3600)
    if done.why():
        raise ValueError(f"{done.stderr.decode(errors='replace')}scripts/run: {done.why()}: {toolchain.shell(command)}")
    text = ir.read_text(encoding="utf-8", errors="replace")
    if APPROXIMATE.search(text):
        return Rule(f"the flags allow other results: compared with a tolerance of {TOLERANCE:g}, relative to the largest value of a line",
                    exact=False)
    if not CONTRACTED.search(text):
        return Rule("nothing is contracted, on either side: the flags, or the program, leave nothing to fuse")
    if not host_fuses():
        return Rule("nothing is contracted, on either side (-ffp-contract=off): the flags allow it, but this processor has no fused "
                    "instructions to compare with", ("-ffp-contract=off",))
    allowed = "products and sums are fused where the flags allow it within an expression"
    if language == "fortran":
        early = "-pollyrs-contract="
        return Rule(f"{allowed}, on both sides, by the plugin before all else", ("-Xflang", "-target-feature", "-Xflang", "+fma"),
                    (f"-fpass-plugin={toolchain.PLUGIN}", "-mllvm", early + "only"), ("--pollyrs-option=contract=early",))
    by_back_end = not BY_FRONT_END.search(text)
    on = ("-ffp-contract=on",) if by_back_end else ()
    return Rule(f"{allowed}, on both sides (host: {' '.join((*on, '-mfma'))})", (*on, "-mfma"))


NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?|[-+]?\b(?:nan|inf|NaN|Infinity)\b)")


def largest_difference(want, got):
    """Of two outputs that differ in numbers alone: the largest difference of two numbers, relative to the largest magnitude in their
    line. None if something else differs."""
    want, got = want.decode(errors="replace").splitlines(), got.decode(errors="replace").splitlines()
    if len(want) != len(got):
        return None
    largest = 0.0
    for line, other in zip(want, got):
        if line == other:
            continue
        # Numbers are at odd places.
        parts, others = NUMBER.split(line), NUMBER.split(other)
        if parts[::2] != others[::2] or len(parts) != len(others):
            return None
        numbers = [float(n.replace("D", "e").replace("d", "e")) for n in parts[1::2]]
        values = [float(n.replace("D", "e").replace("d", "e")) for n in others[1::2]]
        scale = max((abs(n) for n in numbers if abs(n) < float("inf")), default=0.0)
        for n, v in zip(numbers, values):
            if n == v or (n != n and v != v):
                continue
            difference = abs(n - v) / scale if scale else float("inf")
            if difference != difference:
                return None
            largest = max(largest, difference)
    return largest
