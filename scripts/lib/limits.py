#!/usr/bin/env python3
"""How long functions are, how many parameters they have and how many elements tuples among their types have: fails on one over a limit, in Rust and
C++, after a trial on a text with one of each kind.

  limits.py            checks what git knows
  limits.py --list N   prints functions of at least N lines"""

import pathlib
import re
import subprocess
import sys

from layers import ROOT, blank, closing, without_tests

LINES, PARAMETERS, TUPLE = 100, 6, 4

# Tables that are longer: a case a line, and nothing that decides.
TABLES = {"scop/src/reject.rs": "fmt", "scop/src/print.rs": "fmt", "runtime/src/residency/explore/events.rs": "all"}
# Functions that a header gives their parameters: those of the C interfaces of the run-time library and of the shim.
GIVEN = {
    "runtime/src/interface/inspections.rs": ("pollyrs_rt_inspect_held", "pollyrs_rt_rows_leave", "pollyrs_rt_grouped", "pollyrs_rt_places"),
    "llvm-shim/cpp/kept.cpp": ("prs_record_kept",),
    "llvm-shim/cpp/source.cpp": ("prs_remark",),
    "llvm-shim/cpp/version.cpp": ("prs_version_region",),
}

# A test that is one story, its steps in order.
TESTS = re.compile(r"(^|/)tests?/|_tests?\.rs$|/testing\.rs$|/tests\.rs$")


def blank_of_cpp(text):
    """The text without comments and what is quoted, of the same length."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def commas(text):
    """Parts between commas that are in no brackets."""
    depth, parts = 0, [""]
    for at, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}" or c == ">" and text[at - 1 : at] not in ("-", "="))
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part for part in parts if part.strip()]


def matching(text, at):
    """Where the parenthesis or angle bracket at `at` is closed."""
    opening, end, depth = text[at], {"(": ")", "<": ">"}[text[at]], 0
    for i in range(at, len(text)):
        if text[i] == opening:
            depth += 1
        elif text[i] == end and not (end == ">" and text[i - 1] in "-="):
            depth -= 1
            if depth == 0:
                return i
    return len(text)


def largest_tuple(text):
    """The number of elements of the largest tuple among types."""
    tuples = re.finditer(r"(?<![\w)])\(", text)
    return max((len(commas(text[found.end() : matching(text, found.start())])) for found in tuples), default=0)


def of_rust(text):
    """Name, first line, lines, parameters (without self) and elements of the largest tuple of each function."""
    text = without_tests(blank(text))
    for found in re.finditer(r"\bfn\s+(\w+)\s*(?=[<(])", text):
        at = found.end()
        if text[at] == "<":
            at = text.index("(", matching(text, at))
        end = matching(text, at)
        body = re.compile(r"[{;]").search(text, end)
        if not body or body[0] == ";":
            continue
        parameters = [p for p in commas(text[at + 1 : end]) if not re.fullmatch(r"\s*(&\s*('\w+\s+)?)?(mut\s+)?self(\s*:.*)?\s*", p, re.S)]
        lines = text.count("\n", found.start(), closing(text, body.start())) + 1
        tuples = max([largest_tuple(p) for p in parameters] + [largest_tuple(text[end + 1 : body.start()])])
        yield found[1], text.count("\n", 0, found.start()) + 1, lines, len(parameters), tuples


def of_cpp(text):
    """The same of each function that is not inside of another one."""
    text = blank_of_cpp(text)
    head = re.compile(r"^(?!\s*(?:if|for|while|switch|return|else|do|namespace)\b)[\w:&*<>,~\" \t]*?\b(~?\w+)\s*\(", re.M)
    at = 0
    while found := head.search(text, at):
        end = matching(text, found.end() - 1)
        body = re.compile(r"\)\s*(?:const|noexcept|override|\s)*(?::[^;{]*)?\{").match(text, end)
        at = found.end()
        if not body:
            continue
        close = closing(text, body.end() - 1)
        lines = text.count("\n", found.start(), close) + 1
        yield found[1], text.count("\n", 0, found.start(1)) + 1, lines, len(commas(text[found.end() : end])), 0
        at = close


def mistakes(name, text):
    """What is too much, a line each."""
    functions = of_rust(text) if name.endswith(".rs") else of_cpp(text)
    for function, line, lines, parameters, tuples in functions:
        if lines > LINES and TABLES.get(name) != function:
            yield f"{name}:{line}: {function} has {lines} lines; at most {LINES}"
        if parameters > PARAMETERS and function not in GIVEN.get(name, ()):
            yield f"{name}:{line}: {function} has {parameters} parameters; at most {PARAMETERS}"
        if tuples > TUPLE:
            yield f"{name}:{line}: {function} has a tuple of {tuples} elements; at most {TUPLE}: a struct says what they are"


def trial():
    """Whether each kind is found, and nothing where there is none."""
    many = ", ".join(f"p{i}: T<A, B>" for i in range(7))
    cases = [
        ("a.rs", "fn f<T: Fn(A) -> B>(&self, a: (A, B), b: &[C]) {\n" + "x;\n" * 98 + "}", ""),
        ("a.rs", "fn f() {\n" + "x; // }\n" * 99 + "}", "f has 101 lines"),
        ("a.rs", f"fn f({many}) {{}}", "f has 7 parameters"),
        ("a.rs", "fn f((a, b, c, d): (A, B<C, D>, E, F), g: impl Fn(A, B, C, D, E)) -> (A, B) {}", ""),
        ("a.rs", "fn f((a, b, c, d, e): (A, B, C, D, E)) {}", "f has a tuple of 5 elements"),
        ("a.rs", "fn f(a: Vec<(A, B)>) -> Option<(A, B, C, D, E)> {}", "f has a tuple of 5 elements"),
        ("a.rs", f"#[cfg(test)]\nmod tests {{\nfn f({many}) {{}}\n}}", ""),
        ("a.cpp", "static bool f(Loop &L,\n  int N) {\n" + "  if (x) {\n  }\n" * 50 + "}\n", "f has 103 lines"),
        ("a.cpp", "static int f(int A, std::pair<int, int> B, C &D, int E, int F, int G, int H) {\n}\n", "f has 7 parameters"),
        ("a.cpp", "bool f(int N) {\n" + "  g();\n" * 98 + "}\nvoid h() {\n" + "  x;\n" * 98 + "}\n", ""),
    ]
    for name, text, expected in cases:
        found = "\n".join(mistakes(name, text))
        if (expected not in found) if expected else found:
            sys.exit(f"the trial of {text[:60]!r} found {found!r}, not {expected!r}")


def main():
    """Checks, or prints."""
    trial()
    names = subprocess.run(["git", "ls-files", "*.rs", "*.cpp"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    texts = {name: (pathlib.Path(ROOT) / name).read_text(encoding="utf-8") for name in names if not TESTS.search(name) and not name.startswith("examples/")}
    if sys.argv[1:2] == ["--list"]:
        found = [(lines, f"{name}:{line} {function}") for name, text in texts.items()
                 for function, line, lines, *_ in (of_rust(text) if name.endswith(".rs") else of_cpp(text))]
        print("\n".join(f"{lines:4} {what}" for lines, what in sorted(found, reverse=True) if lines >= int(sys.argv[2])))
        return
    found = [line for name, text in texts.items() for line in mistakes(name, text)]
    if found:
        sys.exit("\n".join(found))
    print(f"no function of {len(texts)} files has more than {LINES} lines, but {len(TABLES)} tables; none has more than {PARAMETERS} parameters, or a tuple of more than {TUPLE} elements")


if __name__ == "__main__":
    main()
