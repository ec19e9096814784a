#!/usr/bin/env python3
"""Chains of dependences, as one launch, against many launches, and the choice between both: many at once (bench/chains.c), in blocks that run their loops; single systems
(bench/graphs.c), in blocks that wait for each other.

  chains.py --build DIR [graphs]
                             fills a folder for a machine with a GPU, which needs neither compilers nor more than Python's standard library
  chains.py --run [REGEX]    there (DIR/run.sh): each kernel with 'nest' (or 'graph') always, never and auto, in floats and doubles: the median of kernel times of five
                             executions after the first, and whether all outputs are the plain program's. Status 1 if one differs, if a loop ran on the
                             host, or if the choice takes longer than a tenth more than the better form
  chains.py --check          there, if it has compute-sanitizer: small sizes under memcheck, racecheck and synccheck
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FORMS = ("always", "never", "auto")
TYPES = ("float", "double")
# Many small, some in between, few large.
# By set, the option that chooses the form, sizes that all kernels run besides, and others by kernel.
SETS = {}
SETS["chains"] = ("nest", [(20, 9), (3, 40)], {
    "lu": [(10000, 8), (10000, 16), (10000, 32), (1000, 64), (100, 256), (4, 1024)],
    "lu32": [(10000, 32), (100, 32)],
    "cholesky": [(10000, 16), (10000, 32), (1000, 64)],
    "solve": [(10000, 32), (1000, 128), (10, 2000)],
    "binomial": [(1024, 2048), (64, 2048)],
    "binomial2": [(1024, 2048), (64, 2048)],
    "knapsack": [(200, 100)],
    "align": [(200, 300), (8, 2000)],
    "heat": [(2000, 500)],
    "paths": [(1000, 64), (10, 512)],
})
FACTOR = [(1, 512), (1, 1024), (1, 2048), (1, 4000)]
SETS["graphs"] = ("graph", [(1, 1), (1, 65), (1, 200)], {
    "cholesky": FACTOR,
    "lu": FACTOR,
    "doolittle": FACTOR,
    "ldl": FACTOR,
    "solve": [(1, 1024), (1, 4000), (1, 8192)],
    "columns": [(1, 1024), (1, 4000), (1, 8192)],
    "sides": [(1, 512), (1, 1024), (1, 4000)],
})


def build(folder, which):
    """Executables of all forms and types."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts" / "lib"))
    import toolchain

    source = toolchain.ROOT / "bench" / f"{which}.c"
    folder.mkdir(parents=True, exist_ok=True)
    for element in TYPES:
        commands = {"host": toolchain.plain_command(source, folder / f"host-{element}", "-O2", element=element)}
        for form in FORMS:
            extra = [f"--pollyrs-option={SETS[which][0]}={form}", "--pollyrs-option=cubin=sm_90"]
            commands[form] = toolchain.plugin_command(source, folder / f"{form}-{element}", targets="cuda", element=element, extra=extra)
        for name, command in commands.items():
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
    shutil.copy2(__file__, folder / "chains.py")
    (folder / "set").write_text(which, encoding="utf-8")
    script = folder / "run.sh"
    script.write_text('#!/bin/sh\nexec python3 "$(dirname "$0")/chains.py" --run "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    print(f"{folder}: run.sh")


def execute(command, repeat=1):
    """Standard output, and the profile's lines."""
    with tempfile.TemporaryDirectory(prefix="pollyrs-") as place:
        profile = pathlib.Path(place) / "profile.jsonl"
        env = {"POLLYRS_RT_OFFLOAD": "always", **os.environ, "POLLYRS_RT_PROFILE": str(profile), "EXAMPLE_REPEAT": str(repeat)}
        done = subprocess.run([str(word) for word in command], env=env, stdout=subprocess.PIPE, check=True)
        lines = profile.read_text(encoding="utf-8").splitlines() if profile.exists() else []
    return done.stdout, [json.loads(line) for line in lines]


def measure(folder, wanted):
    """A table."""
    bad = 0
    _, small, all_sizes = SETS[(folder / "set").read_text(encoding="utf-8")]
    print(f"| kernel | {' ms | '.join(FORMS)} ms | outputs |\n|---|{'---|' * (len(FORMS) + 1)}")
    for name, sizes in all_sizes.items():
        for element in TYPES if re.search(wanted, name) else ():
            for size in [*small, *sizes]:
                want = execute([folder / f"host-{element}", name, *size])[0]
                times, wrong = {}, []
                for form in FORMS:
                    output, lines = execute([folder / f"{form}-{element}", name, *size], repeat=6)
                    # Preparation on the device is no part of it.
                    own = [line for line in lines if line.get("scop", "").split(".")[0] == name]
                    if output != want or not own or any(line["device"] == "host" for line in own):
                        wrong.append(form)
                    if len(own) > 1:
                        times[form] = statistics.median(line["kernel_ms"] for line in own[1:])
                slow = times.get("auto", 0) > 1.1 * min(times.values(), default=0) + 0.005
                bad += bool(wrong) + slow
                cells = " | ".join(f"{times[form]:.4g}" if form in times else "-" for form in FORMS)
                notes = ("different or on the host: " + ", ".join(wrong) if wrong else "equal") + (", the worse form" if slow else "")
                print(f"| {name} {size[0]} x {size[1]} {element} | {cells} | {notes} |", flush=True)
    return min(bad, 1)


def check(folder):
    """Reports of compute-sanitizer."""
    bad = 0
    _, small, all_sizes = SETS[(folder / "set").read_text(encoding="utf-8")]
    for name in all_sizes:
        for tool in ("memcheck", "racecheck", "synccheck"):
            for size in small:
                command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", folder / "always-float", name, *size]
                env = {**os.environ, "POLLYRS_RT_OFFLOAD": "always"}
                done = subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True)
                if done.returncode:
                    bad += 1
                    print(f"{tool} {name} {size}: {done.stdout[-2000:]}", flush=True)
    print("sanitizer:", f"{bad} reports" if bad else "clean")
    return min(bad, 1)


if __name__ == "__main__":
    here, words = pathlib.Path(__file__).resolve().parent, sys.argv[1:]
    if words[:1] == ["--build"] and len(words) in (2, 3) and {*words[2:]} <= {*SETS}:
        build(pathlib.Path(words[1]).resolve(), *(words[2:] or ["chains"]))
    elif words[:1] == ["--run"]:
        sys.exit(measure(here, words[1] if len(words) > 1 else ""))
    elif words == ["--check"]:
        sys.exit(check(here))
    else:
        sys.exit(__doc__)
