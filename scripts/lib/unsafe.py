#!/usr/bin/env python3
"""How many unsafe blocks and functions each crate has, without its tests: fails on a crate with more blocks than it may have.

  unsafe.py          checks what git knows, and prints the numbers
  unsafe.py --at C   prints the numbers of a commit"""

import collections
import re
import subprocess
import sys

from layers import ROOT, blank, without_tests

# Blocks at most: calls of C functions of LLVM, isl and the driver, and memory of the program that is being run. Fewer is better.
MOST = {"cli": 5, "codegen-ptx": 68, "isl": 34, "llvm-shim": 114, "plugin": 14, "runtime": 380, "scop-detect": 4}

# What the compiler knows: a block, a function whose caller promises something, an implementation of a trait.
KINDS = {"blocks": r"\bunsafe\s*\{", "functions": r"\bunsafe\s+(?:extern\s+\"C\"\s+)?fn\s+\w", "implementations": r"\bunsafe\s+impl\b"}
TESTS = re.compile(r"(^|/)tests?/|_tests?\.rs$|/(testing|tests|unit)\.rs$|^(examples|test|fuzz)/")


def git(*words):
    """What git says."""
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def numbers(commit):
    """By crate: how many of each kind."""
    found = collections.defaultdict(collections.Counter)
    names = git("ls-tree", "-r", "--name-only", commit) if commit else git("ls-files")
    for name in names.splitlines():
        if not name.endswith(".rs") or TESTS.search(name):
            continue
        text = git("show", f"{commit}:{name}") if commit else (ROOT / name).read_text(encoding="utf-8")
        text = without_tests(blank(text))
        for kind, pattern in KINDS.items():
            found[name.split("/")[0]][kind] += len(re.findall(pattern, text))
    return {crate: counts for crate, counts in sorted(found.items()) if sum(counts.values())}


def main():
    """Checks, or prints."""
    commit = sys.argv[2] if sys.argv[1:2] == ["--at"] else None
    found = numbers(commit)
    for crate, counts in found.items():
        print(f"{crate:12}" + "".join(f"  {counts[kind]:4} {kind}" for kind in KINDS))
    if commit:
        return
    too_many = [f"{crate} has {counts['blocks']} unsafe blocks; at most {MOST.get(crate, 0)}"
                for crate, counts in found.items() if counts["blocks"] > MOST.get(crate, 0)]
    if too_many:
        sys.exit("\n".join(too_many))


if __name__ == "__main__":
    main()
