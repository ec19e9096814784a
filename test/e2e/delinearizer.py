#!/usr/bin/env python3
"""LLVM's own delinearizer as an oracle: where it finds an array of several dimensions, the model has one of as many, or the loop is
refused with a reason. Sizes that are one symbol have to be the same, but for what LLVM's analysis leaves out: it drops constant factors
and addends of the strides it divides by, so that `2*w` or `w + 4` elements a row are `w` to it, it may find only some of the dimensions, and where an outer
loop stays on the host the model has one row at a time.

  delinearizer.py [--only REGEX] [--verbose]         default: the algorithms on variable-length arrays and the C programs of test/programs
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lib"))
import toolchain  # noqa: E402

# What detection sees, without the plugin.
PASSES = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,tailcallelim,simplifycfg,reassociate," \
    "loop-mssa(loop-rotate),instcombine<no-verify-fixpoint>,loop(indvars),simplifycfg,loop-simplify,lcssa,print<delinearization>)"
LIMIT_S = 120


def sources(only):
    """Pairs of a name and the words that compile it."""
    table = json.loads((toolchain.ROOT / "bench" / "sets" / "algorithms.json").read_text(encoding="utf-8"))["programs"]
    for entry in table:
        yield f"algorithms/{entry['name']}", [toolchain.ROOT / "bench" / "algorithms" / entry["source"], "-DFORM=vla", "-DTYPE=double"]
    for path in sorted((toolchain.ROOT / "test" / "programs").rglob("*.c")):
        yield f"programs/{path.name}", [path, "-I", toolchain.EXAMPLES]


def theirs(text):
    """By function and array: the sizes of the inner dimensions that LLVM finds, in its words; only if there are any."""
    found = collections.defaultdict(set)
    function = base = sizes = None
    for line in text.splitlines():
        # Functions without an access have their heads on one line with the next.
        if heads := re.findall(r"Printing analysis 'Delinearization' for function '([^']*)'", line):
            function = heads[-1]
        elif head := re.match(r"Base offset: %(.*)", line):
            base = head[1]
        elif head := re.match(r"ArrayDecl\[UnknownSize\](\[.*\]) with", line):
            sizes = tuple(head[1][1:-1].split("]["))
        elif head := re.match(r"ArrayRef\[(.*)\]$", line):
            # One subscript everywhere: a step of `size + 1` elements, which LLVM takes for a diagonal.
            if len(set(head[1].split("]["))) > 1:
                found[function, base].add(sizes)
    return found


def ours(text):
    """By function and array: the inner sizes in the models."""
    found = collections.defaultdict(set)
    function, one_row = None, False
    for line in text.splitlines():
        if head := re.match(r"scop (\S+?)(?:\.\d+)?(?: at |$)", line):
            function, one_row = head[1], False
        elif re.match(r"  param \w*loop_counter", line):
            one_row = True
        elif head := re.match(r"  array \S+ (\w+)\[\*\](.*) \(memory(| at .*)\)$", line):
            sizes = re.findall(r"\[(?:\[[^]]*\] -> )?\{ (?:\[\] -> )?\[\((.*?)\)\][^}]*\}\]", head[2])
            # Of several arrays in one allocation all but the first have numbers.
            name = re.sub(r"_\d+$", "", head[1]) if head[3] else head[1]
            found[function, name].add(ROW if one_row and not sizes else tuple(sizes))
    return found


# A model of one row: the outer loop, whose counter is a parameter, is on the host.
ROW = ("one row",)


def symbol(size):
    """The name or number, if a size is nothing else and the source has the name."""
    match = re.fullmatch(r"(?:\([sz]ext i\d+ %([\w.]+) to i\d+\)|%([\w.]+)|(\d+))", size.replace("<nuw>", "").replace("<nsw>", ""))
    name = match and re.sub(r"\W", "_", match[1] or match[2] or match[3])
    # Of values without a name of their own, LLVM's is made from the instruction.
    own = match and not match[3] and re.fullmatch(r"\d+|(add|conv|div|mul|rem|shl|sub)\d*", name)
    return None if own else name


def covers(model, expected):
    """Whether the sizes that LLVM finds are among the model's, in that order, but for constant factors and addends."""
    # (A value of an outer loop is one that is handed to a preheader.)
    rest = iter([re.sub(r"^(\d+ \+ )?\d*(?=[a-z_])|_ph$", "", size.strip("()"), flags=re.I) for size in model])
    return all(any(a is None or a == b for b in rest) for a in map(symbol, expected))


def compare(name, words, verbose):
    """Counts, and texts for what disagrees."""
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="pollyrs-delinearizer-") as folder:
        ir = pathlib.Path(folder) / "a.ll"
        command = [toolchain.llvm_tool("clang"), "-O1", "-fno-math-errno", "-fno-discard-value-names", "-Xclang", "-disable-llvm-passes", "-S",
                   "-emit-llvm", *words, "-o", ir]
        done = toolchain.run(command, env=toolchain.environment(), timeout=LIMIT_S)
        if done.why():
            return counts, [f"{name}: {done.why()}"]
        opt = toolchain.llvm_tool("opt")
        oracle = toolchain.run([opt, f"-passes={PASSES}", "-disable-output", ir], env=toolchain.environment(), timeout=LIMIT_S)
        mine = toolchain.run([opt, f"-load-pass-plugin={toolchain.PLUGIN}", "-passes=print<pollyrs-scop>", "-disable-output", ir],
                             env=toolchain.environment(), timeout=LIMIT_S)
        if oracle.why() or mine.why():
            return counts, [f"{name}: {oracle.why() or mine.why()}"]
    expected = theirs((oracle.stdout + oracle.stderr).decode(errors="replace"))
    found = ours((mine.stdout + mine.stderr).decode(errors="replace"))
    for (function, array), shapes in expected.items():
        models = found.get((function, re.sub(r"\W", "_", array)))
        if models is None:
            counts["not modelled"] += 1
            if verbose:
                print(f"{name}: {function}, {array}: {max(shapes, key=len)} | not modelled")
            continue
        best = max(shapes, key=len)
        if any(m == ROW or covers(m, best) for m in models):
            counts["agree"] += 1
        else:
            wrong.append(f"{name}: {function}, {array}: LLVM finds {best}, the model has {sorted(models)}")
        if verbose:
            print(f"{name}: {function}, {array}: {best} | {sorted(models)}")
    counts["ours alone"] += sum(1 for key, models in found.items() if any(models) and key not in expected)
    return counts, wrong


def check(only=".*", verbose=False):
    """All programs: (counts, texts of disagreements)."""
    total, failures = collections.Counter(), []
    for name, words in sources(only):
        if re.search(only, name):
            counts, wrong = compare(name, words, verbose)
            total += counts
            failures += wrong
    return total, failures


def main():
    """Prints a line a disagreement and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="programs whose name matches")
    parser.add_argument("--verbose", action="store_true", help="print each array")
    options = parser.parse_args()
    total, failures = check(options.only, options.verbose)
    print("\n".join(failures))
    print(", ".join(f"{count} {what}" for what, count in sorted(total.items())) + f", {len(failures)} disagree")
    return 1 if failures or not total["agree"] else 0


if __name__ == "__main__":
    sys.exit(main())
