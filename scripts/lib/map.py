#!/usr/bin/env python3
"""Whether what ARCHITECTURE.md and the crates' DESIGN.md name exists: of what stands in backticks, paths with a slash, and names without one: of files, of folders, and of items of the
sources (`Stage`, `schedule::check`)."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = (".rs", ".py", ".cpp", ".h", ".c", ".toml", ".f90", ".test", ".ll")


def known():
    """Names of files and folders, and the words of the sources."""
    paths = [pathlib.PurePath(name) for name in subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
    places = {part for path in paths for part in (*path.parts, path.stem)}
    words = set()
    for path in paths:
        if (path.suffix in SOURCES or not path.suffix) and path.name != "map.py" and (ROOT / path).is_file():
            words.update(re.findall(r"\w+", (ROOT / path).read_text(encoding="utf-8", errors="ignore")))
    return places, words


def missing(text, places, words):
    """The paths and names in a text that do not exist."""
    paths = {path for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)*/[\w.-]*)`", text) if not (ROOT / path).exists()}
    files = {name for name in re.findall(r"`([\w-]+\.(?:rs|py|cpp|h|c|md|sh|json|toml))`", text) if name not in places}
    items = {name for name in re.findall(r"`(\w+(?:::\w+)*)(?:\(\))?`", text) if name not in places and not set(name.split("::")) <= words}
    return sorted(paths | files | items)


def main():
    """Checks the map, after a trial."""
    places, words = known()
    trial = "`scripts/lib/map.py` `scripts/` `nowhere/at.all` `map.py` `nowhere_at.rs` `runtime` `MappedKernel::nowhere_of` `MappedKernel::mode`"
    if (found := missing(trial, places, words)) != ["MappedKernel::nowhere_of", "nowhere/at.all", "nowhere_at.rs"]:
        sys.exit(f"the trial found {found}")
    # A profile or output that a command has left behind is committed easily. Files of the root have endings, but for a few that are written large.
    listed = subprocess.run(["git", "ls-files", ":(top,glob)*"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if stray := [name for name in listed if "." not in name and not name.isupper()]:
        sys.exit("stray files: " + ", ".join(stray))
    pages = [ROOT / "ARCHITECTURE.md", *sorted(ROOT.glob("*/DESIGN.md"))]
    for page in pages:
        if wrong := missing(page.read_text(encoding="utf-8"), places, words):
            sys.exit(f"{page.relative_to(ROOT)} names what does not exist: " + ", ".join(wrong))
    print(f"what ARCHITECTURE.md and {len(pages) - 1} pages of crates name exists")


if __name__ == "__main__":
    main()
