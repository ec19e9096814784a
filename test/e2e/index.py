#!/usr/bin/env python3
"""The index of test/programs, from the first comment of each program.

  index.py            writes test/programs/README.md
  index.py --check    says whether it is what would be written
"""

import pathlib
import re
import sys

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
INDEX = PROGRAMS / "README.md"
SUBJECTS = {
    "shapes": "What arrays look like: layouts, sizes, strides, parts of other arrays",
    "loops": "Control flow: loops of all forms, conditions, branches on data, checks",
    "values": "Values that pass between iterations: sums, recurrences, cells, local arrays",
    "stencils": "Time steps, neighbours, borders",
    "nests": "Parallel loops around sequential ones around parallel ones: small systems, lattices, lines",
    "tiles": "Products, convolutions and sums large enough for tiles",
    "numbers": "Arithmetic bit for bit, and the mathematical library with errno",
    "memory": "What may and may not be touched: aliases, missing pages, threads, calls",
    "residency": "Arrays that stay on the device between executions",
    "cxx": "C++: containers, views, classes, exceptions",
    "fortran": "Fortran: shapes of arguments, array expressions, reductions",
    "rust": "Rust: slices, vectors, iterators, checked indices",
}
HEADER = re.compile(r"(?://|!) (?:ARGS|OFFLOAD|FLAGS|FALLBACK|KERNELS|STRATEGY|MOVED|INSPECTED|TURNS|DEVICES):")


def about(source):
    """The first sentence of the first comment."""
    words = []
    for line in source.read_text(encoding="utf-8").splitlines():
        comment = re.match(r"(?://|!) ?(.*)", line)
        if not comment or HEADER.match(line):
            break
        words.append(comment[1])
    sentence = re.match(r".*?[.](?= [A-Z]|$)|.*", " ".join(words))[0]
    return sentence.rstrip(".:")


def text():
    """The index."""
    lines = ["# Programs", "", "Each is compiled plain and with pollyrs, run on the emulated device, and compared bit for bit (`test/e2e/run.py`). Its first lines say",
             "what it is about, with which arguments it is run, and what is to happen. This page is written by `test/e2e/index.py`."]
    found = {path.name for path in PROGRAMS.iterdir() if path.is_dir()}
    for folder in [*SUBJECTS, *sorted(found - set(SUBJECTS))]:
        sources = sorted(path for path in (PROGRAMS / folder).glob("*") if path.suffix in {".c", ".cpp", ".f90", ".rs"})
        if sources:
            lines += ["", f"## {folder}", "", f"{SUBJECTS.get(folder, folder)}.", "", "| program | about |", "|---|---|"]
            lines += [f"| `{path.name}` | {about(path).replace('|', chr(92) + '|')} |" for path in sources]
    return "\n".join(lines) + "\n"


def main():
    """Writes or checks."""
    if sys.argv[1:] == ["--check"]:
        if INDEX.read_text(encoding="utf-8") != text():
            print(f"{INDEX} is not up to date: run test/e2e/index.py")
            return 1
        loose = [path.name for path in PROGRAMS.iterdir() if path.is_file() and path != INDEX]
        if loose:
            print(f"not in a folder: {', '.join(sorted(loose))}")
        return int(bool(loose))
    INDEX.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
