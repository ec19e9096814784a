"""Configuration of the FileCheck tests, one folder a stage. Run by scripts/test, or by hand: lit test/lit

POLLYRS_BUILD names the folder with libpollyrs.so (default: target/release of this checkout).
"""

import os
import shutil

import lit.formats

LLVM_BIN = "/usr/lib/llvm-22/bin"


def tool(name):
    """LLVM's tool by its versioned name in PATH, else in Debian's folder."""
    return shutil.which(name + "-22") or os.path.join(LLVM_BIN, name)


config.name = "pollyrs"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".c", ".cpp", ".f90", ".test"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

root = os.path.dirname(os.path.dirname(config.test_source_root))
build = os.path.abspath(os.environ.get("POLLYRS_BUILD") or os.path.join(root, "target", "release"))
config.test_exec_root = os.path.join(build, "lit")
os.makedirs(config.test_exec_root, exist_ok=True)

plugin = os.path.join(build, "libpollyrs.so")
if not os.path.exists(plugin):
    lit_config.fatal(f"{plugin} is not built: run scripts/setup, or set POLLYRS_BUILD")

# Longer names first where one is the beginning of another.
config.substitutions += [
    ("%opt", f"{tool('opt')} -load-pass-plugin={plugin}"),
    ("%clangxx", f"{tool('clang++')} -fpass-plugin={plugin}"),
    ("%clang", f"{tool('clang')} -fpass-plugin={plugin}"),
    ("%flang", f"{tool('flang')} -fpass-plugin={plugin}"),
    ("%llvm-as", tool("llvm-as")),
    ("%llc", tool("llc")),
    ("%plugin", plugin),
    ("%rt", os.path.join(build, "libpollyrs_rt.a")),
    ("%rtlibs", "-lgcc_s -lutil -lrt -lpthread -lm -ldl"),
    ("%pollyrs", os.path.join(build, "pollyrs")),
    ("%examples", os.path.join(root, "examples")),
]
config.substitutions.sort(key=lambda pair: -len(pair[0]))

config.environment["PATH"] = os.pathsep.join([LLVM_BIN, os.environ.get("PATH", "")])
# Settings of the caller's shell must not change what a test sees.
for name in list(config.environment):
    if name.startswith("POLLYRS_"):
        del config.environment[name]
# Nor what other builds have left.
config.environment["POLLYRS_CACHE"] = "off"

ptxas = os.environ.get("POLLYRS_PTXAS") or os.path.join(root, "build", "tools", "bin", "ptxas")
if os.access(ptxas, os.X_OK):
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# Code of CUDA's functions, which are found beside ptxas; without it, those of libclc are taken.
tools = os.path.join(root, "build", "tools", "bin")
if os.access(os.path.join(tools, "ptxas"), os.X_OK) and os.access(os.path.join(root, "build", "tools", "libdevice", "libdevice.10.bc"), os.R_OK):
    config.available_features.add("libdevice")
    config.substitutions.append(("%tools", tools))
