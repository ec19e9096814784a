#!/usr/bin/env python3
"""Stencils as their authors' users write them (bench/literature): which of them are fused, what compiling costs, and what they reach on a GPU.

  literature.py --report [REGEX]     for each stencil: the time steps of one launch or why there are none, and per file the seconds of compiling, with and without the plugin
      --programs LIST                which programs (default: all)
  literature.py --build DIR          fills a folder for a machine with a GPU, which needs neither compilers nor more than Python's standard library
      --functions PATTERNS           kernels for these only (as for the option only-function): the others run on the host
  literature.py --run [REGEX]        there (DIR/run.sh): a table, and DIR/results.json
      --programs LIST                which programs (default: all)

Each stencil is there as the compiler chooses it (auto), with one step a launch (single, fuse-steps=1), and without the plugin (plain). Times are of kernels, by the profile: the
median of the executions after the first. The rate is points times steps by that time; the copy bound is the time for reading and writing each array once in every step at the rate
of the device's own copy (--copy). Outputs of auto and single are compared with the plain
program's, bit for bit, at both sizes; status 1 if one differs.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

import origin

# By program: its source files.
PROGRAMS = {"neighbours": ["neighbours.c"], "waves": ["waves.c"], "fields": ["fields.c"], "flows": ["flows.c"], "grids": ["grids.cpp"], "fortran": ["grids.f90", "fortran.c"]}
FORMS = {"auto": [], "single": ["--pollyrs-option=fuse-steps=1"]}
REPEATS = 4


def toolchain():
    """Paths and compilers: of a checkout only."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts" / "lib"))
    import toolchain as module

    return module


def compile_command(tools, source, out, extra=None):
    """To an object file; `extra`: with the plugin and these options."""
    language = tools.language(source)
    # Where the device fuses products and sums the host has to do the same.
    fused = ["-ffp-contract=off"] if language == "fortran" else ["-mfma"]
    flags = ["-O3", *fused, "-c", str(source), "-o", str(out)]
    if extra is None:
        return [tools.llvm_tool({"c": "clang", "c++": "clang++", "fortran": "flang"}[language]), *flags]
    return [str(tools.DRIVER), {"c": "cc", "c++": "c++", "fortran": "fc"}[language], "--pollyrs-targets=cuda", "--pollyrs-arch=sm_90", *extra, *flags]


def seconds(command):
    """Processor seconds, and what was written to standard error."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def stencils_of(tools, objects, place):
    """Names of the stencils of plain objects, by running them."""
    subprocess.run([str(tools.DRIVER), "c++", *map(str, objects), "-o", f"{place}/plain", "-lm"], check=True)
    return list(run(pathlib.Path(f"{place}/plain"), 0, device="off")[0])


def told(text):
    """What remarks say of the steps of each nest that is offloaded."""
    found = []
    for line in text.splitlines():
        if nest := re.search(r"remark: offloaded (.+?): \d+ loop", line):
            found.append([nest[1], "a nest without a time loop"])
        elif steps := re.search(r"remark: (?:fuses steps: |steps are not fused: )(.*) \[PRS", line):
            found[-1][1] = steps[1]
    return found


def report(arguments):
    """Prints what happens to each."""
    tools = toolchain()
    counts = {"fused": 0, "single": 0, "host": 0}
    with tempfile.TemporaryDirectory(prefix="literature-") as place:
        for program in arguments.programs.split(","):
            objects, lines = [], []
            for source in PROGRAMS[program]:
                path = tools.ROOT / "bench" / "literature" / source
                objects.append(f"{place}/{source}.o")
                plain, _ = seconds(compile_command(tools, path, objects[-1]))
                own, text = seconds(compile_command(tools, path, f"{place}/own.o", ["--pollyrs-remarks"]))
                print(f"{source}: {own:.1f} s of processor time, plain {plain:.2f} s: {own / plain:.1f} times")
                lines += told(text)
            for name in stencils_of(tools, objects, place):
                if not re.search(arguments.report, name):
                    continue
                mine = [what for nest, what in lines if re.fullmatch(rf"({name}|_Z{len(name)}{name}.*?)(\.\d+)?", nest)]
                fused = [what for what in mine if "time iterations a launch" in what]
                what = "fused" if fused else "single" if mine else "host"
                counts[what] += 1
                print(f"  {name:18} {what:7} {(fused or sorted(mine, reverse=True) or ['no loop nest of it is offloaded'])[0]}")
    print(", ".join(f"{what} {n}" for what, n in counts.items()))


def build(folder, programs, functions):
    """Programs of all forms."""
    tools = toolchain()
    folder.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, PATH=f"{tools.ROOT / 'build' / 'tools' / 'bin'}:{os.environ['PATH']}")
    if "CUDA_HOME" not in environment:
        shutil.copytree(tools.ROOT / "build" / "tools" / "libdevice", folder / "cuda" / "nvvm" / "libdevice", dirs_exist_ok=True)
        environment["CUDA_HOME"] = str(folder / "cuda")
    for program in programs.split(","):
        sources = [tools.ROOT / "bench" / "literature" / source for source in PROGRAMS[program]]
        for form, extra in {**FORMS, "plain": None}.items():
            objects = []
            for source in sources:
                objects.append(folder / f"{source.name}-{form}.o")
                chosen = [f"--pollyrs-option=only-function={functions}"] if functions else []
                options = extra if extra is None else [*extra, *chosen, "--pollyrs-option=cubin=sm_90"]
                subprocess.run(compile_command(tools, source, objects[-1], options), env=environment, check=True, stderr=subprocess.DEVNULL if functions else None)
            mode = "c++" if program == "grids" else "cc"
            subprocess.run([str(tools.DRIVER), mode, *map(str, objects), "-o", str(folder / f"{program}-{form}"), "-lm", "-s"], env=environment, check=True)
            for file in objects:
                file.unlink()
    shutil.rmtree(folder / "cuda", ignore_errors=True)
    shutil.copy2(__file__, folder / "literature.py")
    origin.mark(folder)
    script = folder / "run.sh"
    script.write_text('#!/bin/sh\nexec python3 "$(dirname "$0")/literature.py" --run "$@"\n', encoding="utf-8")
    script.chmod(0o755)


def run(program, size, name="", repeats=1, device="cuda", limit=120):
    """Lines that a program printed by stencil, and those of its profile."""
    with tempfile.TemporaryDirectory(prefix="literature-") as place:
        profile = pathlib.Path(place) / "profile"
        environment = dict(os.environ, POLLYRS_RT_DEVICE=device, POLLYRS_RT_OFFLOAD="always", POLLYRS_RT_PROFILE=str(profile), REPEATS=str(repeats))
        try:
            done = subprocess.run([program, str(size), *([name] if name else [])], env=environment, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {}, []
        if done.returncode:
            print(f"{program.name} {size} {name}: status {done.returncode} {done.stderr.strip()[-300:]}", flush=True)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]
        text = profile.read_text(encoding="utf-8").splitlines() if profile.exists() else []
        return {line["stencil"]: line for line in lines}, [json.loads(line) for line in text if line.endswith("}")]


def kernel_ms(executions):
    """The median of the repetitions' kernel times but the first, launches of one, and why loops ran on the host."""
    mine = [line for line in executions if not line.get("release")]
    reasons = sorted({str(line.get("reason")) for line in mine if line["device"] == "host"})
    if not mine or len(mine) % REPEATS:
        return None, 0, reasons or [f"{len(mine)} executions in {REPEATS} calls"]
    each = len(mine) // REPEATS
    groups = [mine[k * each:(k + 1) * each] for k in range(1, REPEATS)]
    return statistics.median(sum(line.get("kernel_ms", 0) for line in group) for group in groups), sum(line.get("kernels", 0) for line in groups[0]), reasons


def measure(folder, arguments):
    """The table; status 1 if an output differs."""
    names = {}
    for program in arguments.programs.split(","):
        small, _ = run(folder / f"{program}-plain", 0)
        for name in small:
            if re.search(arguments.run, name):
                names[name] = program
        for form in FORMS:
            device, _ = run(folder / f"{program}-{form}", 0)
            wrong = [name for name in small if device.get(name, {}).get("hash") != small[name]["hash"]]
            print(f"{program} {form}: small outputs are the plain program's" + (f" but {', '.join(wrong)}" if wrong else ""), flush=True)
    bad, rows, of = 0, {}, origin.of(folder)
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 4)) as pool:
        plain = {name: pool.submit(run, folder / f"{program}-plain", 1, name, 1, "off", arguments.plain_limit) for name, program in names.items()}
        print(f"| stencil | auto ms | launches | single ms | auto/single | GStencil/s | of the copy bound | outputs |\n|---|{'---|' * 7}", flush=True)
        for name, program in names.items():
            row, hashes, notes = {"program": program}, {}, []
            for form in FORMS:
                lines, executions = run(folder / f"{program}-{form}", 1, name, REPEATS)
                row[f"{form} ms"], row[f"{form} launches"], reasons = kernel_ms(executions)
                notes += [f"{form}: {reason}" for reason in reasons]
                if name in lines:
                    row.update({key: lines[name][key] for key in ("points", "steps", "bytes")})
                    hashes[form] = lines[name]["hash"]
            want = plain[name].result()[0].get(name, {}).get("hash") if not arguments.late else None
            row["hashes"], rows[name] = hashes, row
            if want is None and not arguments.late:
                notes.append("the plain program took too long")
            if len({*hashes.values(), *([want] if want else [])}) != 1 or len(hashes) != len(FORMS):
                bad, notes = 1, [*notes, "different"]
            row["notes"] = notes
            auto, single = row["auto ms"], row["single ms"]
            work = row.get("points", 0) * row.get("steps", 0)
            cells = [f"{auto:.3f}" if auto else "-", str(row["auto launches"]), f"{single:.3f}" if single else "-", f"{single / auto:.2f}" if auto and single else "-",
                     f"{work / auto / 1e6:.1f}" if auto else "-", f"{work * row['bytes'] / (arguments.copy * 1e9) * 1e3 / auto:.2f}" if auto else "-"]
            print(f"| {name} | " + " | ".join(cells) + f" | {'; '.join(notes) or 'equal'} |", flush=True)
            (folder / "results.json").write_text(json.dumps({**of, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    both = [(row["single ms"] / row["auto ms"], name) for name, row in rows.items() if row["auto ms"] and row["single ms"]]
    if both:
        slower = [f"{name} {ratio:.2f}" for ratio, name in both if ratio < 0.97]
        print(f"{len(both)} stencils, one step a launch over auto: geometric mean {statistics.geometric_mean(r for r, _ in both):.2f}; slower than one step a launch: "
              f"{', '.join(slower) or 'none'}")
    return bad


def main():
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", nargs="?", const="", metavar="REGEX")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--run", nargs="?", const="", metavar="REGEX")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--functions", default="", metavar="PATTERNS")
    parser.add_argument("--copy", type=float, default=2900, help="GB/s of the device's own copy, read and written bytes (default: an H100's)")
    parser.add_argument("--plain-limit", type=float, default=150, help="seconds for the plain program at the large size")
    parser.add_argument("--late", action="store_true", help="no plain program at the large size: both forms are compared")
    arguments = parser.parse_args()
    if arguments.build:
        build(arguments.build.resolve(), arguments.programs, arguments.functions)
    elif arguments.report is not None:
        report(arguments)
    elif arguments.run is not None:
        return measure(pathlib.Path(__file__).resolve().parent, arguments)
    else:
        parser.error("--report, --build or --run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
