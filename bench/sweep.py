#!/usr/bin/env python3
"""How far the model's choice for a fused stencil is from the best of a sweep over shapes and depths.

    bench/sweep.py DIR KERNEL[:TYPE] [--shapes TYxTXxCYxCXxL,...] [--fuse N,...] [--add NAME=VALUE ...]

compiles bench/stencils/KERNEL.c once with the model's choice (`auto`) and once for each shape and depth (docs/reference/plugin-options.md has both) into DIR, which may
hold other sweeps already. On the machine with the GPU, `DIR/run.py [STEPS N]` runs all that is there, compares what they print at the timed size, and
prints a table: kernel time, GStencil/s, and of the chosen one how far it is from the best.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "lib"))
import toolchain  # noqa: E402


def timing(kernel):
    """Steps and size at which the kernel is timed, its dimensions and the points at each end of one that no step computes."""
    table = json.loads((ROOT / "bench" / "sets" / "stencils.json").read_text(encoding="utf-8"))
    entry = next(e for e in table["programs"] if e["name"] == kernel)
    return entry["timing"], entry["flops"].rsplit("**", 1)[1], entry["flops"].split("a2-")[1].split(")")[0]


def compile_one(work):
    """One variant; the result is what the plugin says about the choice, or the compiler's message."""
    source, to, element, options, contract = work
    extra = [f"--pollyrs-option={o}" for o in options + ["verbose"]]
    command = toolchain.plugin_command(source, to, targets="cuda", element=element,
                                       flags=[f"-ffp-contract={contract}", "-fno-math-errno", "-Wl,-s,--gc-sections"], extra=extra)
    done = subprocess.run(command, env=toolchain.environment(), capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if "time iterations a launch" in line]
    return to.name, said[0].split(": ", 2)[2] if said else "", "" if done.returncode == 0 else done.stderr


RUNNER = r'''#!/usr/bin/env python3
"""See bench/sweep.py of the sources."""
import json, os, pathlib, statistics, subprocess, sys, tempfile
here = pathlib.Path(__file__).resolve().parent
best, outputs, rows = {}, {}, []
for path in sorted(here.glob("*.json")):
    v = json.loads(path.read_text())
    size = sys.argv[1:] or list(map(str, v["timing"]))
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "p"
        env = dict(os.environ, POLLYRS_RT_PROFILE=str(profile), POLLYRS_RT_OFFLOAD="always", EXAMPLE_REPEAT="6")
        done = subprocess.run([str(path.with_suffix("")), *size], env=env, capture_output=True, text=True)
        lines = [json.loads(l) for l in profile.read_text().splitlines()] if profile.exists() else []
    lines = [l for l in lines if l["scop"] == "kernel" and l.get("kernels", 0) > 1]
    times = [l["kernel_ms"] for l in lines][1:]
    if not times or done.returncode:
        print(path.stem, "failed", done.returncode, done.stderr[-300:])
        continue
    ms = statistics.median(times)
    group = (v["kernel"], v["type"], {"on": "contracted", "off": ""}[v["contract"]])
    rate = int(size[0]) * (int(size[1]) - int(v["rim"])) ** int(v["dims"]) / ms / 1e6
    same = outputs.setdefault(group, done.stdout) == done.stdout
    best[group] = max(best.get(group, 0), rate)
    rows.append((group, rate, ms, lines[-1]["kernels"], v["variant"], v["said"], same))
for group, rate, ms, launches, variant, said, same in sorted(rows, key=lambda r: (r[0], -r[1])):
    chosen = f" {rate / best[group]:.2f} of the best" if variant.startswith("auto") else ""
    print(f"{' '.join(group):32} {rate:7.0f} GStencil/s {ms:9.3f} ms {launches:4} launches  {variant:28} {'' if same else 'OTHER OUTPUT '}{said}{chosen}")
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kernel")
    parser.add_argument("--shapes", default="")
    parser.add_argument("--fuse", default="")
    parser.add_argument("--add", action="append", default=[], help="another option of the plugin for all variants")
    parser.add_argument("--label", default="", help="appended to the names of the variants")
    parser.add_argument("--contract", choices=["on", "off"], default="off", help="clang's -ffp-contract, whose default is on")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    kernel, _, element = args.kernel.partition(":")
    element = element or "float"
    if args.contract == "on":
        args.label += "_contract"
    (size, dims, rim) = timing(kernel)
    args.folder.mkdir(parents=True, exist_ok=True)
    variants = [("auto" + args.label, [])]
    for shape in filter(None, args.shapes.split(",")):
        for fuse in filter(None, (args.fuse or "").split(",")):
            variants.append((f"{shape}_F{fuse}{args.label}", [f"stencil-shape={shape}", f"fuse-steps={fuse}"]))
    work = [(ROOT / "bench" / "stencils" / f"{kernel}.c", args.folder / f"{kernel}-{element}-{name}", element, options + args.add, args.contract)
            for name, options in variants]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (name, said, error), (variant, _) in zip(pool.map(compile_one, work), variants):
            if error:
                print(f"{name}: {error[-400:]}")
                (args.folder / name).unlink(missing_ok=True)
                continue
            about = {"kernel": kernel, "type": element, "contract": args.contract, "variant": variant, "said": said, "timing": size, "dims": dims, "rim": rim}
            (args.folder / f"{name}.json").write_text(json.dumps(about), encoding="utf-8")
            print(name, said)
    for folder in args.folder.glob("*.modules"):
        shutil.rmtree(folder)
    (args.folder / "run.py").write_text(RUNNER, encoding="utf-8")
    (args.folder / "run.py").chmod(0o755)


if __name__ == "__main__":
    main()
