#!/usr/bin/env python3
"""The pages of remarks, docs/reference/remarks/PRSnnn.md: each example gets the remark that its page says, and offloads once the advice is applied.

    test/docs/remarks.py PLUGIN

In a page, a block under a heading that begins with "Example" is a program, and the `text` block behind it lines that its remarks hold; a block under "What to change" is the
same program as it should be: it is offloaded, and has no remark with the page's code. A comment `<!-- options: ... -->` before a block has options of the compiler.
All blocks of a language with the same options are compiled together, in an order of their own: nothing in them may depend on others.
"""

import collections
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "docs" / "reference" / "remarks"
BLOCK = re.compile(r"(?:^<!-- options: (?P<options>.*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
REMARK = re.compile(r"^(?P<file>PRS\d+-\d+):(?P<line>\d+):\d+: remark: (?P<text>.*) \[(?P<code>PRS\d+)\] \[-Rpass(?:-\w+)?=pollyrs\]$", re.M)
COMPILERS = {"c": ("clang", "c"), "cpp": ("clang++", "c++")}


@dataclasses.dataclass
class Program:
    """A block of a page."""

    code: str
    name: str
    changed: bool
    text: str
    # Lines that its remarks hold.
    expected: list = dataclasses.field(default_factory=list)


def read(page):
    """The programs of a page, by language and options."""
    code, groups, last = page.stem, [], None
    for section in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)[1:]:
        changed = section.startswith("What to change")
        for block in BLOCK.finditer(section):
            if block["language"] == "text":
                last.expected += block["text"].splitlines()
            elif block["language"] in COMPILERS:
                last = Program(code, f"{code}-{len(groups)}", changed, block["text"])
                groups.append(((block["language"], block["options"] or ""), last))
    return groups


def compile_all(plugin, language, options, programs, folder):
    """The remarks of each program: name -> [(code, text)]."""
    compiler, kind = COMPILERS[language]
    # Each program has lines of a file of its own.
    source = folder / f"all.{language}"
    source.write_text("".join(f'#line 1 "{p.name}"\n{p.text}' for p in programs), encoding="utf-8")
    tool = shutil.which(compiler + "-22") or f"/usr/lib/llvm-22/bin/{compiler}"
    passes = [f"-Rpass{kind}=pollyrs" for kind in ("", "-missed", "-analysis")]
    command = [tool, f"-fpass-plugin={plugin}", "-O2", "-g", "-x", kind, *passes, "-mllvm", "-pollyrs-cubin=off", *options.split(), "-c", source,
               "-o", os.devnull]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POLLYRS_")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    remarks = collections.defaultdict(list)
    for found in REMARK.finditer(done.stderr):
        remarks[found["file"]].append((found["code"], found["text"]))
    return remarks


def check(program, remarks):
    """What is wrong with the remarks of a program."""
    codes = [code for code, _ in remarks]
    said = "\n".join(f"    {text} [{code}]" for code, text in remarks)
    if program.changed:
        if program.code in codes or "PRS001" not in codes:
            yield f"{program.name}: the advice does not offload it:\n{said}"
        return
    for line in program.expected:
        if not any(code == program.code and line in text for code, text in remarks):
            yield f"{program.name}: no remark '{line} [{program.code}]':\n{said}"
    if not program.expected:
        yield f"{program.name}: no text block says what its remark is"


def main():
    plugin = sys.argv[1]
    groups = collections.defaultdict(list)
    for page in sorted(PAGES.glob("PRS*.md")):
        for group, program in read(page):
            groups[group].append(program)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for (language, options), programs in sorted(groups.items()):
            remarks = compile_all(plugin, language, options, programs, pathlib.Path(folder))
            for program in programs:
                wrong += check(program, remarks[program.name])
    count = sum(len(programs) for programs in groups.values())
    print("\n".join(wrong) or f"{count} programs have the remarks of their pages")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
