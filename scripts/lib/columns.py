#!/usr/bin/env python3
"""How many lines of comments are longer than 110 columns, by crate: fails where there are more than there may be.

  columns.py           checks what git knows, and prints the numbers
  columns.py --list C  prints the places in a crate"""

import collections
import subprocess
import sys

from layers import ROOT

COLUMNS = 110
# Lines at most, in crates whose comments are still to be wrapped; none in the others.
MOST = {"codegen-ptx": 110, "llvm-shim": 260, "plugin": 70, "runtime": 70, "schedule": 260, "scop-detect": 160,
        "cli": 5, "fuzz": 5, "scop": 5, "tuning": 5}
COMMENT = ("//", "*", "///", "//!")
EXEMPT = ("examples/", "test/", "bench/", "docs/")


def places():
    """Crate, file and number of each line."""
    names = subprocess.run(["git", "ls-files", "*.rs", "*.cpp", "*.h"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    for name in names:
        if name.startswith(EXEMPT):
            continue
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > COLUMNS and line.lstrip().startswith(COMMENT):
                yield name.split("/")[0], name, number


def main():
    """Checks, or prints."""
    found = list(places())
    if sys.argv[1:2] == ["--list"]:
        print("\n".join(f"{name}:{number}" for crate, name, number in found if crate == sys.argv[2]))
        return
    counts = collections.Counter(crate for crate, *_ in found)
    print("\n".join(f"{crate:12} {count:5}" for crate, count in sorted(counts.items())))
    too_many = [f"{crate} has {count} lines of comments over {COLUMNS} columns; at most {MOST.get(crate, 0)}"
                for crate, count in sorted(counts.items()) if count > MOST.get(crate, 0)]
    if too_many:
        sys.exit("\n".join(too_many))


if __name__ == "__main__":
    main()
