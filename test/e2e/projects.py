"""The projects of test/projects, built as docs/how-to says with an installed pollyrs: Make, CMake (C, C++, Fortran; Fortran alone), Meson, autotools, Cargo. What is not on a
machine is left out."""

import shutil

import toolchain

TARGET = "x86_64-unknown-linux-gnu"
# Each program prints one number.
EXPECTED = 5.5312540531467675


def ways(prefix, work):
    """For each build system that is there: commands, in the project's folder, and the programs that they make."""
    driver = prefix / "bin" / "pollyrs"
    found = {"make": ([["make", f"CC={driver} cc", f"CXX={driver} c++"]], ["program"])}
    if shutil.which("cmake"):
        fortran = ["-DFORTRAN=ON", "-DCMAKE_Fortran_COMPILER=flang-22"] if shutil.which("flang-22") else []
        found["cmake"] = ([["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_COMPILER=clang-22",
                            "-DCMAKE_CXX_COMPILER=clang++-22", "-DCMAKE_BUILD_TYPE=Release", *fortran], ["cmake", "--build", "build"]],
                          ["build/program", "build/program_cxx"] + (["build/program_fortran"] if fortran else []))
        if fortran:
            found["cmake-fortran"] = ([["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", *fortran[1:], "-DCMAKE_BUILD_TYPE=Release"],
                                       ["cmake", "--build", "build"]], ["build/program_fortran"])
    if shutil.which("meson"):
        found["meson"] = ([["meson", "setup", "build"], ["meson", "compile", "-C", "build"]], ["build/program"])
    if shutil.which("automake") and shutil.which("autoconf"):
        found["autotools"] = ([["autoreconf", "-i"], ["./configure", f"CC={driver} cc", "CFLAGS=-O3"], ["make"]], ["program"])
    if toolchain.rustc_with_plugins():
        found["cargo"] = ([["cargo", "build", "--release", "--quiet", "--target", TARGET]], [f"target/{TARGET}/release/scaling"])
    return found


def settings(prefix):
    """The environment of all builds: kernels for the emulated device."""
    lib = prefix / "lib"
    flags = f"-Ccodegen-units=1 -Zllvm-plugins={lib}/libpollyrs.so -Clink-arg={lib}/libpollyrs_rt.so -Clink-arg=-Wl,-rpath,{lib}"
    return toolchain.environment(PKG_CONFIG_PATH=lib / "pkgconfig", CC="clang-22", POLLYRS_TARGETS="emulated", RUSTC_BOOTSTRAP="1",
                                 RUSTFLAGS=flags)


def check(result, work, report):
    """In an empty folder; `report` makes the text of a failure."""
    prefix = work / "prefix"
    install = toolchain.run([toolchain.ROOT / "scripts" / "install", prefix], env=toolchain.environment(POLLYRS_BUILD=toolchain.BUILD))
    if not result.check(install.code == 0, lambda: report("scripts/install fails", install, "scripts/install")):
        return
    for page in ("man/man1/pollyrs-report.1", "bash-completion/completions/pollyrs", "doc/pollyrs/NOTICE"):
        result.check((prefix / "share" / page).exists(), f"{page} is not installed")
    for name, (commands, programs) in ways(prefix, work).items():
        folder = work / name
        shutil.copytree(toolchain.ROOT / "test" / "projects" / name, folder)
        for command in commands:
            done = toolchain.run(command, env=settings(prefix), cwd=folder, timeout=600)
            if not result.check(done.code == 0, lambda: report(f"{name}: {done.why()}\n{done.stdout.decode()}", done, toolchain.shell(command))):
                break
        else:
            for program in programs:
                profile = work / f"{name}.jsonl"
                profile.unlink(missing_ok=True)
                run = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always", "POLLYRS_RT_PROFILE": profile}
                got = toolchain.run([folder / program], env=toolchain.environment(**run))
                lines = toolchain.read_profile(profile)
                result.check(got.code == 0 and abs(float(got.stdout) - EXPECTED) < 1e-12, lambda: report(f"{name}: {program}", got, program))
                # In C++ and Fortran the call is a part of the program's main.
                nest = {"program_cxx": "main.2", "program_fortran": "_QQmain"}.get(program.split("/")[-1], "scale")
                result.check(any(line["device"] == "emulated" and nest in line["scop"] for line in lines), f"{name}: {program}: {lines}")
