#!/usr/bin/env python3
"""The book, README.md and the other pages of the project: links lead somewhere, SUMMARY.md lists all pages, README.md is short, fences say what they are."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCES = ("sh", "text", "c", "cpp", "cmake", "make", "meson", "json", "dockerfile", "fortran", "rust")
# Words of README.md.
MOST = 900


def main():
    wrong = []
    pages = sorted(DOCS.rglob("*.md")) + sorted(ROOT.glob("*.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        where = page.relative_to(ROOT)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        for link in LINK.findall(prose):
            if not link.startswith(("http://", "https://")) and not (page.parent / link).exists():
                wrong.append(f"{where}: {link} is not there")
        inside = False
        for line in text.splitlines():
            if line.startswith("```"):
                inside = not inside
                if inside and line[3:] not in FENCES:
                    wrong.append(f"{where}: a fence is marked '{line[3:]}'")
        if inside:
            wrong.append(f"{where}: a fence does not end")
    listed = {(DOCS / link).resolve() for link in LINK.findall((DOCS / "SUMMARY.md").read_text(encoding="utf-8"))}
    wrong += [f"{p.relative_to(ROOT)} is not in SUMMARY.md" for p in DOCS.rglob("*.md") if p.name != "SUMMARY.md" and p.resolve() not in listed]
    words = len((ROOT / "README.md").read_text(encoding="utf-8").split())
    if words > MOST:
        wrong.append(f"README.md has {words} words, {MOST} are enough")
    print("\n".join(wrong) or f"{len(pages)} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
