"""The body of scripts/same-ptx: LLVM IR of the sets' programs, whose constants hold the PTX, by two plugins."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys

import toolchain

SETS = ["algorithms", "stencils", "dense", "examples"]
KEPT = toolchain.ROOT / "build" / "same-ptx"


def modules(sets):
    """Name, source, element type and flags of each program, once."""
    found = {}
    for name in sets:
        table = json.loads((toolchain.ROOT / "bench" / "sets" / f"{name}.json").read_text(encoding="utf-8"))
        for entry in table["programs"]:
            for element in entry["types"]:
                flags = ("-ffp-contract=off", *table.get("flags", []), *entry.get("flags", []))
                source = toolchain.ROOT / table["source_dir"] / entry["source"]
                found.setdefault((source, None if element == "-" else element, flags), f"{name}-{entry['name']}-{element}-{len(found)}")
    return [(name, *key) for key, name in found.items()]


def compile_module(plugin, folder, name, source, element, flags):
    """The module's text; None if it is there already, or the compiler's message if it does not compile."""
    out = folder / f"{name}.ll"
    if out.exists():
        return None
    compiler = {"c": "clang", "c++": "clang++", "fortran": "flang"}[toolchain.language(source)]
    options = ["-mllvm", "-pollyrs-targets=cuda,emulated", "-mllvm", "-pollyrs-cubin=off"]
    common = [] if compiler == "flang" else ["-I", toolchain.EXAMPLES, *([f"-DTYPE={element}"] if element else [])]
    if compiler == "flang":
        flags = [flag for flag in flags if not flag.startswith(("-D", "-fno-math"))]
    partial = out.with_suffix(".part")
    command = [toolchain.llvm_tool(compiler), "-O3", *flags, f"-fpass-plugin={plugin}", *options, *common, "-S", "-emit-llvm", source, "-o", partial]
    done = toolchain.run(command, env=toolchain.environment(), timeout=900)
    if done.why():
        return f"{done.why()}: {toolchain.shell(command)}\n{done.stderr.decode(errors='replace')}"
    partial.rename(out)
    return None


def code_of(build, work):
    """The folder with the modules of a build."""
    build = pathlib.Path(build).resolve()
    plugin = build / "libpollyrs.so"
    if not plugin.exists():
        if any(build.glob("*.ll")):
            return build
        sys.exit(f"{build} has neither libpollyrs.so nor kept code")
    folder = KEPT / hashlib.sha256(plugin.read_bytes()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        failures = [why for why in pool.map(lambda w: compile_module(plugin, folder, *w), work) if why]
    if failures:
        sys.exit("\n".join(failures))
    return folder


def places(one, other):
    """Where two texts differ: the names of constants and functions."""
    names = []
    for a, b in zip(one.splitlines(), other.splitlines()):
        if found := re.search(r"^(define .*?)?(@[\w.]+)", a):
            name = found[2]
            names += [name] if found[1] or a != b else []
        if a != b:
            break
    return names[-1] if names else "the beginning"


def main():
    """Compares, or keeps."""
    words = sys.argv[1:]
    if len(words) < 2:
        sys.exit("usage: scripts/same-ptx BUILD1 BUILD2 [SET...]")
    if words[0] == "--keep":
        shutil.copytree(code_of(words[2], modules(SETS)), words[1])
        return
    work = modules(words[2:] or SETS)
    one, other = (code_of(build, work) for build in words[:2])
    different = []
    for name, *_ in work:
        a, b = ((folder / f"{name}.ll").read_text(encoding="utf-8") for folder in (one, other))
        if a != b:
            different.append(f"{name}: first at {places(a, b)}")
    if different:
        sys.exit("\n".join(different) + f"\n{len(different)} of {len(work)} modules differ")
    print(f"{len(work)} modules, the same")


if __name__ == "__main__":
    main()
