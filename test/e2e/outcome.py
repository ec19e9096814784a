"""What came of the checks of one unit, and texts for those that failed."""

import dataclasses
import shutil

import toolchain

WORK = toolchain.BUILD / "e2e"


def folder(name):
    """An empty folder for a unit."""
    work = WORK / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    return work


@dataclasses.dataclass
class Result:
    """How many checks of a unit were passed, and a text for each that was not."""

    name: str
    passed: int = 0
    failures: list = dataclasses.field(default_factory=list)
    note: str = ""
    # Processor time in all, in seconds.
    processor: float = 0.0
    # Of the compilations, the plain compiler's first.
    seconds: list = dataclasses.field(default_factory=list)

    def check(self, ok, text):
        """Counts one check; `text` is a function, or the message."""
        if ok:
            self.passed += 1
        else:
            self.failures.append(text() if callable(text) else text)
        return ok


def report(trouble, done, reproduce):
    """A failure's text: what, the end of stderr, and how to see it again."""
    tail = done.stderr.decode(errors="replace").strip().splitlines()[-8:]
    return "\n".join([trouble, *("  | " + line for line in tail), f"  reproduce: {reproduce}"])


def difference(expected, got):
    """The first line that differs."""
    want, have = expected.decode(errors="replace").splitlines(), got.decode(errors="replace").splitlines()
    for number, (a, b) in enumerate(zip(want, have), 1):
        if a != b:
            return f"stdout differs in line {number}: expected '{a}', got '{b}'"
    return f"stdout has {len(have)} lines instead of {len(want)}"
