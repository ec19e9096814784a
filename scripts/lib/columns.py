#!/usr/bin/env python3
"""Lines of comments that are longer than 110 columns: fails if there is one. Tables, and what stands between ```, are no prose.

  columns.py           checks what git knows, and prints the places"""

import subprocess
import sys

from layers import ROOT

COLUMNS = 110
MARKS = ("//", "*")
EXEMPT = ("examples/", "test/", "bench/", "docs/")


def long_lines(text):
    """The numbers of lines of prose that are too long."""
    fence, found = False, []
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.lstrip()
        prose = comment.lstrip("/!* ")
        if not comment.startswith(MARKS):
            fence = False
        elif prose.startswith("```"):
            fence = not fence
        elif len(line) > COLUMNS and not fence and not prose.startswith("|"):
            found.append(number)
    return found


def trial():
    """Whether prose is found, and nothing else."""
    long = "x" * COLUMNS
    cases = [(f"// {long}", [1]), (f"/*\n * {long}\n */", [2]), (f"//! | {long} |", []), (f"//! ```\n//! {long}\n//! ```\n//! {long}", [4]),
             (f"//! ```\nfn f() {{}}\n/// {long}", [3]), (f"let x = {long};", []), (f"// {long[3:]}", [])]
    for text, expected in cases:
        if long_lines(text) != expected:
            sys.exit(f"the trial of {text!r} found {long_lines(text)}, not {expected}")


def main():
    """Checks, and prints."""
    trial()
    names = subprocess.run(["git", "ls-files", "*.rs", "*.cpp", "*.h"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    names = [name for name in names if not name.startswith(EXEMPT) and (ROOT / name).is_file()]
    found = [f"{name}:{number}" for name in names for number in long_lines((ROOT / name).read_text(encoding="utf-8"))]
    if found:
        sys.exit("\n".join([*found, f"{len(found)} lines of comments over {COLUMNS} columns"]))
    print(f"no line of a comment over {COLUMNS} columns")


if __name__ == "__main__":
    main()
