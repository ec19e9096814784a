"""An installed tree, moved: the driver, Make with pkg-config, CMake and Cargo where there are such."""

import shutil

import crates
import toolchain

MAKEFILE = """CC = clang-22
CFLAGS = -O3 -mllvm -pollyrs-targets=emulated $(shell pkg-config --cflags pollyrs)
LDLIBS = $(shell pkg-config --libs pollyrs)
"""
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(example C CXX)
find_package(pollyrs 0.1 REQUIRED)
add_executable(gemver gemver.c)
target_compile_options(gemver PRIVATE "SHELL:-mllvm -pollyrs-targets=emulated")
target_link_libraries(gemver PRIVATE pollyrs::pollyrs)
"""


def check(result, work, report):
    """In an empty folder; `report` makes the text of a failure."""
    prefix, words = work / "prefix", ["40"]
    source, plain = toolchain.EXAMPLES / "gemver.c", work / "plain"
    shutil.copy(source, work / "gemver.c")
    shutil.copy(toolchain.EXAMPLES / "example.h", work / "example.h")
    (work / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    (work / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    toolchain.run(toolchain.plain_command(source, plain), env=toolchain.environment())
    expected = toolchain.run([plain, *words], env=toolchain.environment())
    install = toolchain.run([toolchain.ROOT / "scripts" / "install", work / "first"],
                            env=toolchain.environment(POLLYRS_BUILD=toolchain.BUILD))
    if not result.check(install.code == 0 and expected.code == 0, lambda: report("scripts/install fails", install, "scripts/install")):
        return
    (work / "first").rename(prefix)
    ways = {
        "driver": [[prefix / "bin" / "pollyrs", "cc", "-O3", "--pollyrs-targets=emulated", work / "gemver.c", "-o", work / "driver"]],
        "shared": [[prefix / "bin" / "pollyrs", "cc", "-O3", "--pollyrs-targets=emulated", "--pollyrs-shared-rt", work / "gemver.c", "-o", work / "shared"]],
        "make": [["make", "-C", work, "gemver"], ["mv", work / "gemver", work / "make"]],
    }
    if shutil.which("cmake"):
        ways["cmake"] = [["cmake", "-S", work, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_COMPILER=clang-22",
                          "-DCMAKE_CXX_COMPILER=clang++-22", "-DCMAKE_BUILD_TYPE=Release"],
                         ["cmake", "--build", work / "build"], ["mv", work / "build" / "gemver", work / "cmake"]]
    else:
        result.note = "no cmake here"
    settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
    for name, commands in ways.items():
        failed = False
        for command in commands:
            done = toolchain.run(command, env=toolchain.environment(PKG_CONFIG_PATH=prefix / "lib" / "pkgconfig"), timeout=600)
            failed |= not result.check(done.code == 0, lambda: report(f"{name}: {done.why()}", done, toolchain.shell(command)))
        if failed:
            continue
        profile = work / f"{name}.jsonl"
        got = toolchain.run([work / name, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        needed = toolchain.run([toolchain.llvm_tool("llvm-readelf"), "-d", work / name]).stdout.decode()
        result.check((toolchain.SONAME in needed) == (name == "shared"), f"{name}: {needed}")
        result.check((got.code, got.stdout) == (expected.code, expected.stdout), f"{name}: another output")
        result.check(any(line["device"] == "emulated" for line in toolchain.read_profile(profile)), f"{name}: nothing on the device")
    crates.check(result, work, prefix, report)
