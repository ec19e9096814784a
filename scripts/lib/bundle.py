"""The body of scripts/bundle: compiles the programs of the sets, plain and with kernels inside, and writes the table for the runner."""

import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import shutil
import sys

import toolchain

sys.path.insert(0, str(toolchain.ROOT / "test" / "e2e"))
import cases  # noqa: E402

LIMIT_BYTES = 50_000_000


def entries(set_name):
    """The programs of a set, one a type, as the runner wants them, with their source files."""
    table = json.loads((toolchain.ROOT / "bench" / "sets" / f"{set_name}.json").read_text(encoding="utf-8"))
    if table["programs"] == "by header lines":
        for program in cases.programs():
            yield program.source, {
                "name": program.source.name, "set": set_name, "type": "-", "expectation": program.expectation,
                "check": [list(a) for a in program.arguments], "must_offload": [], "flags": list(program.flags),
            }
        return
    variants = table.get("variants", {"": []})
    for entry, (variant, options) in itertools.product(table["programs"], variants.items()):
        for element in entry["types"]:
            check = entry["check"] + entry.get("check_full", []) + ([entry["large"]] if "large" in entry else [])
            yield toolchain.ROOT / table["source_dir"] / entry["source"], {
                "name": "-".join(filter(None, [entry["name"], variant])), "set": set_name, "type": element, "expectation": "yes",
                "check": check, "must_offload": [a for a in check if min(a, default=0) > 2],
                **{key: entry[key] for key in ("timing", "flops", "bytes") if key in entry},
                **{key: table[key] for key in ("limit_s",) if key in table},
                "flags": table.get("flags", []) + entry.get("flags", []), "options": options,
                **({"ppcg": entry["ppcg"].get(element)} if "ppcg" in entry else {}),
            }


def fingerprint(source):
    """A name for the program's text, under which a reference output stays valid."""
    headers = sorted([*source.parent.glob("*.h"), *toolchain.EXAMPLES.glob("*.h")])
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in [source, *headers])).hexdigest()[:16]


def compile_entry(source, entry, folder):
    """The executables of one entry, a third one, by -O3, for the reference at the timed size; returns the entry with their names, or raises SystemExit with the compiler's message."""
    stem = f"{entry['set']}-{entry['name']}-{entry['type']}".replace(".", "_").rstrip("-")
    element = None if entry["type"] == "-" else entry["type"]
    strip = ["-Wl,-s,--gc-sections"]
    if toolchain.language(source) == "c++":
        strip.append("-static-libstdc++")
    # Many small programs share one library; those that are timed carry it inside.
    timed = "timing" in entry
    extra = [f"--pollyrs-option={option}" for option in entry.pop("options", [])]
    if not timed:
        extra += ["--pollyrs-shared-rt", "-Wl,-rpath,$ORIGIN/../lib"]
    plain, fast, offloaded = (folder / "bin" / f"{stem}.{kind}" for kind in ("plain", "fast", "pollyrs"))
    flags = ["-ffp-contract=off", *strip, *entry.pop("flags", [])]
    commands = [toolchain.plain_command(source, plain, element=element, flags=flags),
                toolchain.plugin_command(source, offloaded, targets="cuda" if timed else "cuda,emulated", element=element,
                                         flags=flags, extra=extra)]
    if timed:
        commands.append(toolchain.plain_command(source, fast, "-O3", element=element, flags=flags))
    for command in commands:
        done = toolchain.run(command, env=toolchain.environment(), timeout=1200)
        if done.why():
            sys.exit(f"{done.why()}: {toolchain.shell(command)}\n{done.stderr.decode(errors='replace')}")
    names = {"plain": f"bin/{plain.name}", "pollyrs": f"bin/{offloaded.name}", **({"fast": f"bin/{fast.name}"} if timed else {})}
    return {**entry, **names, "fingerprint": fingerprint(source)}


def commit():
    """The state that the bundle is of; a tree with changes says so."""
    done = toolchain.run(["git", "-C", toolchain.ROOT, "describe", "--always", "--dirty", "--exclude=*"])
    return "not recorded" if done.why() else done.stdout.decode().strip()


def main():
    """Compiles in parallel, copies the runner, checks the size."""
    folder, sets = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or ["examples", "programs"]
    marker = folder / "set.json"
    if folder.exists() and any(folder.iterdir()) and not marker.exists():
        sys.exit(f"{folder} is not empty and not a bundle")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    work = [(source, entry) for name in sets for source, entry in entries(name)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        table = list(pool.map(lambda w: compile_entry(*w, folder), work))
    for modules in (folder / "bin").glob("*.modules"):
        shutil.rmtree(modules)
    if any("timing" not in entry for entry in table):
        library = folder / "lib" / toolchain.SONAME
        shutil.copy2(toolchain.SHARED_RUNTIME, library)
        toolchain.run([toolchain.llvm_tool("llvm-strip"), library])
    marker.write_text(json.dumps({"commit": commit(), "programs": table}, indent=1), encoding="utf-8")
    for script in ("runner.py", "origin.py"):
        shutil.copy2(toolchain.ROOT / "bench" / script, folder / script)
    # Outputs at timed sizes that an earlier run of a runner has computed, if they were kept.
    references = toolchain.ROOT / "bench" / "references.json"
    if references.exists():
        shutil.copy2(references, folder / "references.json")
    script = folder / "run.sh"
    script.write_text('#!/bin/sh\nexec python3 "$(dirname "$0")/runner.py" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {len(table)} programs, {size / 1e6:.1f} MB")
    if size > LIMIT_BYTES:
        sys.exit(f"the bundle is larger than {LIMIT_BYTES / 1e6:.0f} MB: name fewer sets")


if __name__ == "__main__":
    main()
