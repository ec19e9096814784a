#!/usr/bin/env python3
"""Whether the files and folders that ARCHITECTURE.md and the crates' DESIGN.md name exist: what stands in backticks and has a slash."""

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
    pages = [ROOT / "ARCHITECTURE.md", *sorted(ROOT.glob("*/DESIGN.md"))]
    for page in pages:
        if wrong := missing(page.read_text(encoding="utf-8")):
            sys.exit(f"{page.relative_to(ROOT)} names what does not exist: " + ", ".join(wrong))
    print(f"the paths in ARCHITECTURE.md and {len(pages) - 1} pages of crates exist")


if __name__ == "__main__":
    main()
