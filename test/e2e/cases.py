"""The cases of the end-to-end tests: the examples with the sizes of bench/sets/examples.json, loops of bench, and test/programs with the sizes
and the expectation in their first lines."""

import dataclasses
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts" / "lib"))
import toolchain  # noqa: E402

EXPECTATIONS = {
    "yes": "at least one SCoP runs on the device",
    "no": "nothing is versioned",
    "fallback": "something is versioned, and always falls back to the original loop",
    "partial": "some executions are on the device, some fall back",
    "any": "only the output counts",
}


@dataclasses.dataclass(frozen=True)
class Program:
    """A source file, an element type, the argument lists to run it with, and what should happen to its loops."""

    name: str
    source: pathlib.Path
    element: str | None
    arguments: tuple
    expectation: str
    # Argument lists that must each execute something on the device.
    must_offload: frozenset
    # For both compilers, behind -ffp-contract=off.
    flags: tuple = ()
    # Texts each of which is in the reason of some execution that falls back.
    reasons: tuple = ()
    # Functions of which something must run on the device, and nothing fall back, with the first arguments.
    kernels: tuple = ()
    # Bytes that go to the device and come back with the first arguments, counted by hand.
    moved: tuple = ()
    # Executions with the first arguments for which integers are looked at.
    inspected: int | None = None
    # A strategy of time tiles, which all loop nests get, and its sizes; or `streaming` and the shape of its
    # blocks, or `graph`: graphs of tiles.
    strategy: tuple = ()
    # It runs every so many days, unless all is run.
    turns: int = 1
    # Emulated devices that share its launches, of which some must be shared; 1: it is compiled for one.
    devices: int = 1
    # Nests that are called offloaded and never run on the device with these arguments, each with the reason
    # why that is right.
    stays: dict = dataclasses.field(default_factory=dict, hash=False, compare=False)


def examples(full):
    """The examples; with `full`, larger sizes too."""
    table = json.loads((toolchain.ROOT / "bench" / "sets" / "examples.json").read_text(encoding="utf-8"))
    for entry in table["programs"]:
        lists = [tuple(a) for a in entry["check"] + (entry["check_full"] if full else [])]
        for element in entry["types"]:
            yield Program(
                name=f"examples/{entry['name']} {element}",
                source=toolchain.ROOT / table["source_dir"] / entry["source"],
                element=element,
                arguments=tuple(lists),
                expectation="yes",
                must_offload=frozenset(a for a in lists if min(a) > 2),
            )


def everyday():
    """The loops that nobody tuned for, at their small size."""
    for name in ("everyday", "forms", "unseen"):
        source = toolchain.ROOT / "bench" / f"{name}.c"
        lists = (("0",),)
        kernels = tuple(re.findall(r"^  RUN\((\w+)", source.read_text(encoding="utf-8"), re.MULTILINE))
        yield Program(name=f"bench/{name}.c", source=source, element=None, arguments=lists, expectation="yes",
                      must_offload=frozenset(lists), kernels=kernels, turns=3)


def program(name):
    """The file of one of test/programs."""
    return next((HERE.parent / "programs").rglob(name))


def programs():
    """The programs of test/programs, by name; no two have the same."""
    for source in sorted((HERE.parent / "programs").rglob("*"), key=lambda path: path.name):
        if source.suffix not in {".c", ".cpp", ".f90", ".rs"}:
            continue
        if source.suffix == ".rs" and not toolchain.rustc_with_plugins():
            continue
        lists, expectation, flags, reasons, kernels, strategies, moved, turns, devices = [], None, (), [], (), [], (), 1, 1
        stays, inspected = {}, None
        for line in source.read_text(encoding="utf-8").splitlines():
            found = re.match(r"(?://|!) (ARGS|OFFLOAD|FLAGS|FALLBACK|KERNELS|STRATEGY|MOVED|INSPECTED|TURNS|DEVICES|STAYS):(.*)", line)
            if not found:
                continue
            if found[1] == "ARGS":
                lists.append(tuple(found[2].split()))
            elif found[1] == "FLAGS":
                flags = tuple(found[2].split())
            elif found[1] == "FALLBACK":
                reasons.append(found[2].strip())
            elif found[1] == "STRATEGY":
                strategies.append(tuple(found[2].split()))
            elif found[1] == "MOVED":
                moved = tuple(int(word) for word in found[2].split())
            elif found[1] == "INSPECTED":
                inspected = int(found[2])
            elif found[1] == "TURNS":
                turns = int(found[2])
            elif found[1] == "DEVICES":
                devices = int(found[2])
            elif found[1] == "STAYS":
                names, _, reason = found[2].strip().partition(": ")
                stays.update(dict.fromkeys(names.split(), reason))
            elif found[1] == "KERNELS":
                kernels += tuple(found[2].split())
            else:
                expectation = found[2].strip()
        if not lists or expectation not in EXPECTATIONS:
            raise ValueError(f"{source}: needs ARGS lines and an OFFLOAD line with one of {', '.join(EXPECTATIONS)}")
        for strategy in [(), *strategies]:
            name = " ".join([f"programs/{source.name}", *strategy])
            yield Program(name, source, None, tuple(lists), expectation, frozenset(), flags, tuple(reasons), kernels, moved, inspected, strategy,
                          turns, devices, stays)
