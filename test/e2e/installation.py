"""An installed tree, moved: the driver, Make with pkg-config, CMake and Cargo where there are such; DESTDIR, and removed again; the packages."""

import pathlib
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
    staged(result, work, report)
    packages(result, work, report, expected, words)


def staged(result, work, report):
    """To a folder for packages, and away: what was there before stays."""
    own = work / "stage" / "opt" / "pollyrs" / "lib" / "own"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    environment = toolchain.environment(POLLYRS_BUILD=toolchain.BUILD, DESTDIR=work / "stage")
    for option in ([], ["--uninstall"]):
        command = [toolchain.ROOT / "scripts" / "install", *option, "/opt/pollyrs"]
        done = toolchain.run(command, env=environment)
        result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command)))
        there = sorted(str(path.relative_to(work / "stage")) for path in (work / "stage").rglob("*") if not path.is_dir())
        wanted = there == ["opt/pollyrs/lib/own"] if option else "opt/pollyrs/bin/pollyrs" in there and "opt/pollyrs/share/pollyrs/manifest" in there
        result.check(wanted, f"{option}: {there[:20]}")
    result.check(not pathlib.Path("/opt/pollyrs").exists() or "pollyrs" not in str(done.stdout), "DESTDIR is not kept to")


def packages(result, work, report, expected, words):
    """The tarball and the package run where they are unpacked; nothing in them is NVIDIA's."""
    command = [toolchain.ROOT / "scripts" / "package", work / "packages"]
    done = toolchain.run(command, env=toolchain.environment(POLLYRS_BUILD=toolchain.BUILD), timeout=600)
    if not result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command))):
        return
    [tarball], [package] = (list((work / "packages").glob(pattern)) for pattern in ("*.tar.gz", "*.deb"))
    for name, unpack, driver in (("tarball", ["tar", "-C", work / "tarball", "--strip-components=1", "-xf", tarball], "bin/pollyrs-cc"),
                                 ("package", ["dpkg-deb", "-x", package, work / "package"], "usr/bin/pollyrs-cc")):
        (work / name).mkdir()
        done = toolchain.run(unpack)
        result.check(done.code == 0 and not list((work / name).rglob("*ptxas*")), lambda: report(f"{name}: {done.why() or 'ptxas'}", done, toolchain.shell(unpack)))
        build = [work / name / driver, "-O3", "--pollyrs-targets=emulated", work / "gemver.c", "-o", work / "packed"]
        done = toolchain.run(build, env={"PATH": "/usr/bin:/bin"})
        got = toolchain.run([work / "packed", *words], env={"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "require"})
        result.check((done.code, got.code, got.stdout) == (0, 0, expected.stdout), lambda: report(f"{name}: {done.why() or got.why() or 'another output'}", done, toolchain.shell(build)))
