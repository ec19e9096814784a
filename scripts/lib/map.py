#!/usr/bin/env python3
"""Whether the files and folders that ARCHITECTURE.md names exist: what stands in backticks and has a slash."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def missing(text):
    """The paths in a text that do not exist."""
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/[\w.-]*)`", text)
    return sorted({path for path in named if not (ROOT / path).exists()})


def main():
    """Checks the map, after a trial."""
    if missing("`scripts/lib/map.py` `scripts/` `nowhere/at.all`") != ["nowhere/at.all"]:
        sys.exit("a path that does not exist is not found")
    if wrong := missing((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")):
        sys.exit("ARCHITECTURE.md names what does not exist: " + ", ".join(wrong))
    print("the paths in ARCHITECTURE.md exist")


if __name__ == "__main__":
    main()
