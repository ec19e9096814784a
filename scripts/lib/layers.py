#!/usr/bin/env python3
"""The order of folders inside the crates: reads the imports, and fails on one against the order, on a folder without a place, and on a circle of modules.

  layers.py           checks the crates of ORDER, and the circles of all others, after a trial on a crate with one mistake of each kind
  layers.py CRATE     prints who uses whom

`a < b c < d`: b and c may use a, but not each other; d may use all three. A file beside lib.rs is a folder of its own name. lib.rs, which only says what is
public, and tests may use everything. A call of a method uses the module that has it, where a type's methods stand in several modules: such calls need no import.
Inside a folder, modules may need each other, but folders inside of it may not."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

ORDER = {
    "codegen-ptx": "ir < affine < kernel < ops host < statement device < staged tiled stencil < kernels",
    "runtime": "base < memory driver hosts < device residency < group < gpu emulated < cost < process < activation < execution < interface",
    "schedule": "base planted names < task < tree apart sharing < mapped dependences < appends domains print reordered strategy < rewrite stencil time_tiling estimate < mapping legality",
    "scop-detect": "base < affine < memory < control < values < outcome < attempts",
    "plugin": "base ir < switches prepare residency device < compiled run < details < remarks pipeline < search commit < driver selftest < outcome < entry",
}

# Crates whose modules are one folder.
FLAT = ["scop", "isl", "delinearize", "llvm-shim", "cli", "fuzz", "tuning", "cache", "abi"]

# What proves takes types and constants alone of the folders that make what it proves, and of what both know.
MAKE_STENCILS = {f"stencil/{module}" for module in "alone cases cost lattice member model plan reach recognise unfold".split()}
PROOFS = {
    "schedule": {
        "legality": {"estimate", "mapping", "strategy", "stencil", "time_tiling", "rewrite", "task"},
        "stencil/check": MAKE_STENCILS,
        "stencil/readings": MAKE_STENCILS,
    }
}

# Modules of one folder that need each other, at most.
LARGEST_CIRCLE = 6


def blank(text):
    """The text without comments and what is quoted, of the same length."""
    pattern = r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.|[^\'\\])\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def closing(text, at):
    """Where the brace at `at` is closed."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    return len(text)


def without_tests(text):
    """The text without its modules for tests."""
    while found := re.search(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*\{", text):
        text = text[: found.start()] + text[closing(text, found.end() - 1) + 1 :]
    return text


def paths(tree):
    """The paths of a `use` tree, as lists of names; `{...}` may hold others."""
    tree = tree.strip()
    at = tree.find("{")
    if at < 0:
        return [[part.strip() for part in re.sub(r"\s+as\s+\w+", "", tree).split("::") if part.strip()]]
    front = [part.strip() for part in tree[:at].split("::") if part.strip()]
    parts, depth, part = [], 0, ""
    for c in tree[at + 1 : closing(tree, at)] + ",":
        depth += (c == "{") - (c == "}")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [front + [name for name in path if name != "self"] for part in parts if part.strip() for path in paths(part)]


def crate_files(crate):
    """The sources of a crate, by module: a tuple of names."""
    source = ROOT / crate / "src"
    files = {}
    for path in sorted(source.rglob("*.rs")):
        parts = list(path.relative_to(source).with_suffix("").parts)
        if parts[-1] in ("tests", "testing", "unit") or parts[-1].endswith("_tests") or "tests" in parts[:-1]:
            continue
        if parts[-1] == "mod" or parts in (["lib"], ["main"]):
            parts.pop()
        files[tuple(parts)] = path.read_text(encoding="utf-8")
    for module in list(files):
        for test in re.finditer(r"#\[cfg\(test\)\]\s*(?:pub\s+)?mod\s+(\w+)\s*;", files.get(module, "")):
            files = {v: text for v, text in files.items() if v[: len(module) + 1] != (*module, test[1])}
    return files


# Methods of types of std and isl: a call of one of these says nothing.
COMMON = set("""add all and any at chain clamp clone constant contains copy count dim drain end extend fill find finish first fold get index insert is_empty iter join last
    len load lock loops map max min name next not or parent pop position push read remove replace set size sort split start store sum swap take then union
    value values with write""".split())


def methods(texts):
    """By type, the modules of its methods that take self: {type: {method: {module, ...}}}."""
    found = {}
    for module, text in texts.items():
        for impl in re.finditer(r"^impl\b(?:<[^{]*?>)?\s+(?:\w+::)*(\w+)[^{;]*\{", text, re.M):
            if re.search(r"\bfor\b", impl[0]):
                continue
            for method in re.finditer(r"\bfn\s+(\w+)\s*(?:<[^(]*>)?\s*\(\s*(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self\b", text[impl.start() : closing(text, impl.end() - 1)]):
                found.setdefault(impl[1], {}).setdefault(method[1], set()).add(module)
    return found


def fields(texts):
    """By type, the words of its fields."""
    found = {}
    for text in texts.values():
        for item in re.finditer(r"\bstruct\s+(\w+)[^;{(]*\{", text):
            found.setdefault(item[1], set()).update(re.findall(r"\b[A-Z]\w*", text[item.end() : closing(text, item.end() - 1)]))
    return found


def calls(texts, foreign):
    """By module, the modules of the methods that it calls, of types whose methods stand in several modules; those of other crates have `foreign` names."""
    of_types, inside = methods(texts), fields(texts)
    homes = {}
    for of_type in of_types.values():
        for method, modules in of_type.items():
            homes.setdefault(method, []).extend(modules)
    graph = {module: set() for module in texts}
    spread = {name: {m: homes[m][0] for m in of_type if len(homes[m]) == 1 and m not in COMMON | foreign}
              for name, of_type in of_types.items() if len(set().union(*of_type.values())) > 1}
    for module, text in texts.items():
        # The types that it names, and those of their fields.
        known, more = set(), set(re.findall(r"\b[A-Z]\w*", text))
        while more:
            known |= more
            more = set().union(*(inside.get(name, set()) for name in more)) - known
        called = set(re.findall(r"\.\s*(\w+)\s*(?:::<[^(]*>)?\(", text))
        for name in known & set(spread):
            graph[module] |= {home for method, home in spread[name].items() if method in called and home != module}
    return graph


def uses(files, foreign=frozenset()):
    """By module, the modules whose names it takes, and those of the methods that it calls."""
    return names(files, foreign)[0]


def names(files, foreign=frozenset()):
    """By module, the modules whose names it takes, and these names with their modules."""
    texts = {module: without_tests(blank(text)) for module, text in files.items()}
    raw, public = {}, {}
    for module, text in texts.items():
        found = []
        for use in re.finditer(r"\buse\s+([^;]+);", text):
            found += paths(use[1])
        for use in re.finditer(r"\b((?:crate|self|super)(?:::\w+)+)", re.sub(r"\buse\s+[^;]+;", "", text)):
            found.append(use[1].split("::"))
        # What a module calls in the modules below it: `child::name`.
        inside = {m[-1] for m in texts if m and m[:-1] == module}
        for use in re.finditer(r"(?<![\w:])(\w+)::(\w+)", re.sub(r"\buse\s+[^;]+;", "", text)):
            if use[1] in inside:
                found.append(["self", use[1], use[2]])
        raw[module] = [path for path in (absolute(module, texts, path) for path in found) if path]
        for use in re.finditer(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);", text):
            for path in paths(use[1]):
                target = absolute(module, texts, path)
                if target and target[-1] == "*":
                    for name in re.findall(r"^pub (?:struct|enum|fn|const|type|trait) (\w+)", texts.get(target[:-1], ""), re.M):
                        public[module + (name,)] = target[:-1] + (name,)
                elif target:
                    public[module + (target[-1],)] = tuple(target)
    graph, taken = {}, {}
    for module, found in raw.items():
        targets = {(resolve(path, texts, public), path[-1]) for path in found}
        taken[module] = {(t, name) for t, name in targets if t is not None and t != module}
        graph[module] = {t for t, _ in taken[module]}
    for module, targets in calls(texts, foreign).items():
        graph[module] |= targets
    return graph, taken


def absolute(module, texts, path):
    """A path from the crate's root; None for one of another crate."""
    if path[0] == "crate":
        return tuple(path[1:])
    if path[0] == "self":
        return module + tuple(path[1:])
    up = 0
    while up < len(path) and path[up] == "super":
        up += 1
    if up:
        return module[: len(module) - up] + tuple(path[up:])
    return module + tuple(path) if module + (path[0],) in texts else None


def resolve(path, texts, public, depth=0):
    """The module that a path's name is of, behind what others pass on."""
    for n in range(len(path), 0, -1):
        if path[:n] in texts:
            passed = public.get(path[: n + 1])
            return resolve(passed, texts, public, depth + 1) if passed and depth < 8 else path[:n]
    passed = public.get(path[:1])
    return resolve(passed, texts, public, depth + 1) if passed and depth < 8 else () if path else None


def circles(graph):
    """Sets of modules that need each other, by Tarjan's algorithm."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                out.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return out


def mistakes(name, files, order, foreign=frozenset()):
    """What is wrong in a crate, a line each."""
    proofs = PROOFS.get(name, {})
    rank = {folder: n for n, group in enumerate(order.split("<")) for folder in group.split()}
    graph, taken = names(files, foreign)
    found = []
    inner = {v for v in graph if v != ()}
    for folder in sorted({v[0] for v in inner} - set(rank)):
        found.append(f"{name}: {folder} has no place in the order")
    for folder in sorted(set(rank) - {v[0] for v in inner}):
        found.append(f"{name}: there is no {folder}")
    for v in sorted(inner):
        for w in sorted(graph[v]):
            a, b = v[0], (w or ("lib.rs",))[0]
            if w == ():
                found.append(f"{name}: {'/'.join(v)} takes a name of lib.rs that is of no folder")
            elif a != b and a in rank and b in rank and rank[b] >= rank[a]:
                found.append(f"{name}: {'/'.join(v)} uses {'/'.join(w)}, against {order}")
        for w, what in sorted(taken[v]):
            makers = [m for proof, makers in proofs.items() if is_of(v, proof) for m in makers]
            if w and any(is_of(w, m) for m in makers) and what[0].islower() and w[-1] != what:
                found.append(f"{name}: {'/'.join(v)} proves, and takes {what} of {'/'.join(w)}")
    # Circles between folders of the crate are against any order.
    found += folded(name, graph, [v[:-1] for v in inner if len(v) > 1])
    return found + too_large(name, {v: {w for w in graph[v] if w and w[0] == v[0]} for v in inner})


def is_of(module, path):
    """Whether a module is the one of this path, or beneath it."""
    return module[: path.count("/") + 1] == tuple(path.split("/"))


def folded(name, graph, parents):
    """Circles of what stands in these folders, with a folder among them, a line each."""
    found = []
    for parent in sorted(set(parents)):
        depth = len(parent)
        inside = [v for v in graph if v[:depth] == parent and len(v) > depth]
        folders = {v[depth] for v in inside if len(v) > depth + 1}
        targets = {v[depth]: set() for v in inside}
        for v in inside:
            targets[v[depth]] |= {w[depth] for w in graph[v] if w[:depth] == parent and len(w) > depth} - {v[depth]}
        found += [f"{name}: folders need each other: {' '.join('/'.join((*parent, v)) for v in circle)}" for circle in circles(targets) if folders & set(circle)]
    return found


def too_large(name, graph):
    """Circles of too many modules, a line each."""
    return [f"{name}: {len(circle)} modules need each other: {' '.join('/'.join(v) for v in circle)}"
            for circle in circles(graph) if len(circle) > LARGEST_CIRCLE]


def flat(name, files, foreign=frozenset()):
    """The same of a crate without an order."""
    graph = uses(files, foreign)
    return folded(name, graph, [v[:-1] for v in graph if v]) + too_large(name, {v: {w for w in graph[v] if w} for v in graph if v})


def trial():
    """Whether each kind of mistake is found, and nothing where there is none."""
    good = {(): "pub use a::A; pub use d::*;", ("a",): "pub struct A; // use crate::b::B\nconst T: &str = \"crate::b::B\";", ("b",): "use crate::{A, a};",
            ("b", "c"): "use super::B; use crate::a::A;\n#[cfg(test)]\nmod tests { use crate::d::D; }", ("d",): "pub struct E;\nfn f() { crate::b::c::C; }"}
    many = {("d", f"m{i}"): f"use super::m{(i + 1) % 7}::M;" for i in range(7)}
    below = {("d", "u"): "mod m0; fn f() { m0::g() }", ("d", "u", "m0"): "use super::m1::M;"}
    below |= {("d", "u", f"m{i}"): f"use super::m{i + 1}::M;" for i in range(1, 5)} | {("d", "u", "m5"): "use super::f;"}
    spread = {("a",): "pub struct A;", ("b",): "impl A {\nfn g(&self) {} }", ("d",): "impl A {\nfn h(&self) { self.g() } }"}
    apart = {("d", "p"): "", ("d", "p", "x"): "use crate::d::q::Q;", ("d", "q"): "", ("d", "q", "y"): "use crate::d::p::P;", ("d", "r"): "use super::p::P;"}
    cases = [
        (spread, "a < b < d", ""),
        (spread, "a < d < b", "d uses b"),
        (spread | {("a",): "pub struct A;\nfn f(a: &A) { a.g() }"}, "a < b < d", "a uses b"),
        (spread | {("a",): "pub struct A; pub struct E { a: A }\nfn f() {}", ("b", "c"): "fn f(e: &E) { e.a.h() }"}, "a < b < d", "b/c uses d"),
        (spread | {("b", "c"): "fn f(e: &Other) { e.h() }"}, "a < b < d", ""),
        (apart, "a < b < d", "folders need each other: d/p d/q"),
        (apart | {("d", "p", "x"): ""}, "a < b < d", ""),
        ({}, "a < b < d", ""),
        (below | {("d", "u", "m5"): ""}, "a < b < d", ""),
        (below, "a < b < d", "7 modules need each other"),
        ({("a",): "use crate::b::B;"}, "a < b < d", "a uses b"),
        ({("a",): "use crate::{x, b::{self, B}};"}, "a < b < d", "a uses b"),
        ({("b",): "fn f() { crate::d::g() }"}, "a < b d", "b uses d"),
        ({("b", "c"): "use super::super::d::D;"}, "a < b < d", "b/c uses d"),
        ({("e",): ""}, "a < b < d", "e has no place"),
        ({("b",): "use crate::E;"}, "a < b < d", "b uses d"),
        ({}, "a < b < d < e", "there is no e"),
        (many, "a < b < d", "7 modules need each other"),
        ({("b",): "use crate::a::{A, f};"}, "a < b < d", "b proves, and takes f of a"),
        ({("d", "c"): "use super::e::{A, f};", ("d", "e"): ""}, "a < b < d", "d/c proves, and takes f of d/e"),
        ({("d", "g"): "use super::e::f;", ("d", "e"): ""}, "a < b < d", ""),
        ({("b",): "use crate::a::A;"}, "a < b < d", ""),
    ]
    PROOFS["trial"] = {"b": {"a"}, "d/c": {"d/e"}}
    if not flat("trial", {v[1:]: text for v, text in many.items()}):
        sys.exit("the trial of a crate without an order found no circle")
    for change, order, expected in cases:
        found = mistakes("trial", {**good, **change}, order)
        if (expected not in "\n".join(found)) if expected else found:
            sys.exit(f"the trial of {order} with {change} found {found}, not {expected!r}")


def foreign_methods(crates):
    """By crate, the methods of all others."""
    own = {}
    for crate, files in crates.items():
        found = methods({module: without_tests(blank(text)) for module, text in files.items()})
        own[crate] = {method for of_type in found.values() for method in of_type}
    return {crate: frozenset().union(*(own[other] for other in crates if other != crate)) for crate in crates}


def main():
    """Checks, or prints."""
    crates = {crate: crate_files(crate) for crate in [*ORDER, *FLAT]}
    foreign = foreign_methods(crates)
    if sys.argv[1:]:
        for module, targets in uses(crates[sys.argv[1]], foreign[sys.argv[1]]).items():
            print("/".join(module) or "lib.rs", "uses", " ".join("/".join(t) or "lib.rs" for t in sorted(targets)))
        return
    trial()
    found = [line for crate, order in ORDER.items() for line in mistakes(crate, crates[crate], order, foreign[crate])]
    found += [line for crate in FLAT for line in flat(crate, crates[crate], foreign[crate])]
    if found:
        sys.exit("\n".join(found))
    print(f"the imports of {', '.join(ORDER)} follow the order; no circle of more than {LARGEST_CIRCLE} modules there or in {', '.join(FLAT)}")


if __name__ == "__main__":
    main()
