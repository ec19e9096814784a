"""The commands of README.md and docs/: every block marked `sh` runs in a fresh clone, those of a page in one shell, and exits with 0; the `text` block behind a
`pollyrs report` has lines that it prints. What is for a
GPU runs on the emulated device.

A block of another language behind `<!-- file: NAME -->` is the content of that file. What else stands for something of the reader's is provided: `PREFIX` is a folder with an installed pollyrs (whose `bin` is in PATH), a source file that
does not exist is a small program, `cargo` runs in a small crate, `make` finds a makefile. A block that can't run has an HTML comment on the line
before its fence, `<!-- not run: REASON -->`.
"""

import dataclasses
import os
import re

import toolchain

PROGRAM = {
    ".c": """#include <stdio.h>
static double a[300][300], b[300][300];
int main(void) {
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < 300; j++)
      a[i][j] = i * 0.5 + j;
  for (int i = 1; i < 299; i++)
    for (int j = 1; j < 299; j++)
      b[i][j] = a[i][j] + 0.25 * (a[i - 1][j] + a[i + 1][j]);
  printf("%g\\n", b[150][150]);
}
""",
    ".f90": """program p
  real(8) :: a(1000)
  integer :: i
  do i = 1, 1000
    a(i) = i * 2d0
  end do
  print *, a(1000)
end program
""",
    ".ll": "define void @f(ptr %a) {\n  store i32 1, ptr %a\n  ret void\n}\n",
    ".rs": "fn main() {\n    let a: Vec<f64> = (0..1000).map(|i| i as f64 * 2.0).collect();\n    println!(\"{}\", a[999]);\n}\n",
}
PROGRAM[".cpp"] = PROGRAM[".c"]
MAKEFILE = "program: program.c\n"
CRATE = '[package]\nname = "example"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n'
# Commands whose output is the same everywhere: it is compared with the block behind them.
REPORT = re.compile(r"pollyrs report [^|>]*$", re.M)
FILE = re.compile(r"^\s*<!-- file: (\S+) *-->\s*$")
SKIPPED = re.compile(r"^\s*<!-- not run: (.*?) *-->\s*$")


@dataclasses.dataclass(frozen=True)
class Block:
    """The text of a block, where it is, why it is not run ('': it is), the file whose content it is ('': it is commands), and what follows it as output of a
    report."""

    text: str
    line: int
    skipped: str
    file: str = ""
    output: str = ""


def blocks(page):
    """The blocks of a page that are marked `sh`, and those that are files."""
    found, lines, number, last = [], page.splitlines(), 0, 0
    while number < len(lines):
        fence = re.match(r"^( *)```(\w*)\s*$", lines[number])
        if not fence:
            number += 1
            continue
        end = next((n for n in range(number + 1, len(lines)) if lines[n].strip() == "```"), len(lines))
        before = lines[number - 1] if number else ""
        skipped, file = SKIPPED.match(before), FILE.match(before)
        text = "\n".join(line[len(fence[1]):] for line in lines[number + 1:end])
        if fence[2] == "text" and found and not found[-1].file and REPORT.search(found[-1].text) and number - last < 4:
            found[-1] = dataclasses.replace(found[-1], output=text)
        if fence[2] == "sh" or file:
            last = end
            found.append(Block(text, number + 1, skipped[1] if skipped else "", file[1] if file else ""))
        number = end + 1
    return found


def provide(text, folder):
    """Files of the reader's that a block names."""
    for name in re.findall(r"(?<![\w./-])([\w-]+(?:\.c|\.cpp|\.f90|\.ll|\.rs))\b", text):
        path = folder / name
        if not path.exists():
            path.write_text(PROGRAM[path.suffix], encoding="utf-8")
    if re.search(r"^ *make\b", text, re.M) and not (folder / "Makefile").exists():
        (folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")
        provide("program.c", folder)


def missing(page, said):
    """The lines of reports in a page that its commands do not print."""
    def plain(line):
        return " ".join(line.split())

    printed = {plain(line) for line in said.splitlines()}
    wanted = [line for block in page if not block.skipped for line in block.output.splitlines()]
    return [line for line in wanted if line.strip() not in ("", "...", "…") and plain(line) not in printed]


def run_page(page, folders):
    """Runs the blocks of a page in one shell, as a reader would; the finished shell, how many there are, and the line of the last that began."""
    clone, prefix, crate = folders
    wanted = [block for block in page if not block.skipped]
    commands = [block for block in wanted if not block.file]
    for block in wanted:
        if block.file:
            (clone / block.file).parent.mkdir(parents=True, exist_ok=True)
            (clone / block.file).write_text(block.text + "\n", encoding="utf-8")
    progress = prefix.parent / "progress"
    progress.write_text("0", encoding="utf-8")
    script = "".join(f"echo {block.line} >{progress}\n{block.text}\n" for block in commands)
    script = re.sub(r"\bPREFIX\b", str(prefix), script)
    folder = crate if re.search(r"^ *cargo\b", script, re.M) else clone
    provide(script, folder)
    env = toolchain.environment(POLLYRS_BUILD=toolchain.BUILD, POLLYRS_TARGETS="cuda,emulated", POLLYRS_RT_DEVICE="emulated",
                                PATH=f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}")
    done = toolchain.run(["bash", "-eu", "-c", script], env=env, cwd=folder, timeout=900)
    return done, len(commands), progress.read_text(encoding="utf-8").strip()


def check(result, work, report):
    """In an empty folder; `report` makes the text of a failure."""
    clone, prefix, crate = work / "clone", work / "prefix", work / "crate"
    done = toolchain.run(["git", "clone", "--quiet", toolchain.ROOT, clone], timeout=300)
    if not result.check(done.code == 0, lambda: report("no clone", done, f"git clone {toolchain.ROOT}")):
        return
    # What scripts/setup makes.
    (clone / "target").mkdir()
    (clone / "target" / "release").symlink_to(toolchain.BUILD)
    (clone / "build").mkdir()
    for name in ("tools", "setup.stamp"):
        if (toolchain.ROOT / "build" / name).exists():
            (clone / "build" / name).symlink_to(toolchain.ROOT / "build" / name)
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text(CRATE, encoding="utf-8")
    (crate / "src" / "main.rs").write_text(PROGRAM[".rs"], encoding="utf-8")
    done = toolchain.run([clone / "scripts" / "install", prefix], env=toolchain.environment(POLLYRS_BUILD=toolchain.BUILD), timeout=300)
    result.check(done.code == 0, lambda: report("scripts/install", done, f"scripts/install {prefix}"))
    ran, folders = 0, (clone, prefix, crate)
    for path in [clone / "README.md", *sorted((clone / "docs").rglob("*.md"))]:
        page = blocks(path.read_text(encoding="utf-8"))
        if "cargo" in path.name and not toolchain.rustc_with_plugins():
            continue
        done, count, line = run_page(page, folders)
        ran += count
        result.check(done.code == 0, lambda: report(f"{path.relative_to(clone)}:{line}: {done.why()}\n{done.stdout.decode(errors='replace')[-1000:]}", done, "the commands there"))
        lines = missing(page, done.stdout.decode(errors="replace")) if done.code == 0 else []
        result.check(not lines, lambda: f"{path.relative_to(clone)}: no command prints: " + "\n  ".join(lines))
    result.note = f"{ran} blocks"
    result.check(ran >= 3, f"only {ran} blocks were run")
    # What the above can't show as long as all is well.
    for text, expected in {"```sh\ntrue\n```": 0, "```sh\nfalse\ntrue\n```": 1, "```sh\ncat missing.c\n```": 0, "```sh\ncat missing.txt\n```": 1,
                           "```sh\ncd docs\n```\n```sh\ntest -f SUMMARY.md\n```": 0, "<!-- file: a.txt -->\n```text\nx\n```\n```sh\ncat a.txt\n```": 0,
                           "```sh\ntest -x PREFIX/bin/pollyrs\n```": 0}.items():
        code = run_page(blocks(text), folders)[0].code
        result.check(code == expected, f"{text} ends with {code}, not {expected}")
    skipped = [b.skipped for b in blocks("<!-- not run: no GPU -->\n```sh\nfalse\n```\n\n```sh\ntrue\n```\n```text\nx\n```\n<!-- not run: -->\n```sh\n```\n")]
    result.check(skipped == ["no GPU", "", ""], f"{skipped} are the reasons")
