"""The IR stays valid: every optimisation level with and without debug information, sanitizers on the host's part, link-time optimisation.

LLVM's verifier runs after every pass of the compiler; the program has to compile without a warning, to link, to print what it prints
without the plugin (and the same settings), and to run its loops on the checked emulated device.
"""

import shutil

import toolchain

# And what all settings get for it: each level runs with and without debug information.
SOURCES = {"covariance.c": [], "jacobi-2d.c": ["-g"]}
WORDS = ("24", "30", "7")
# Sanitizers make calls out of what can go wrong, which is left on the host.
SETTINGS = {
    "-O1": (["-O1"], True),
    "-O2": (["-O2"], True),
    "-O3": (["-O3"], True),
    "-Os": (["-Os"], True),
    "-Oz": (["-Oz"], True),
    "-g": (["-O3", "-g"], True),
    "sanitizers": (["-O1", "-g", "-fsanitize=address,undefined"], False),
    "lto": (["-O2", "-flto"], True),
    "thin lto": (["-O2", "-flto=thin"], True),
}


def _commands(source, out, flags, plugin):
    """Compile, verifying after each pass, and link."""
    obj = out.with_suffix(".o")
    common = ["-ffp-contract=off", *flags]
    include = [f"-I{toolchain.EXAMPLES}"]
    targets = ["-mllvm", "-pollyrs-targets=cuda,emulated-checked"]
    with_plugin = [f"-fpass-plugin={toolchain.PLUGIN}", *targets, "-Xclang", "-llvm-verify-each"]
    compile_it = ["clang-22", *common, *include, *(with_plugin if plugin else []), "-c", source, "-o", obj]
    libraries = ["-lgcc", toolchain.RUNTIME, "-lgcc_s", "-lutil", "-lrt", "-lpthread", "-ldl"] if plugin else []
    return [compile_it, ["clang-22", *common, obj, *libraries, "-lm", "-o", out]]


def check(result, work, report, turn=None):
    """All settings, for each source; with a turn, every other setting, the odd ones of the one source and the even ones of the other."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for which, (name, more) in enumerate(SOURCES.items()):
        source = toolchain.EXAMPLES / name
        for number, (setting, (flags, must_offload)) in enumerate(SETTINGS.items()):
            if turn is not None and (which + number + turn) % len(SOURCES):
                continue
            outs, good = {}, True
            for plugin in (False, True):
                out = work / ("offloaded" if plugin else "plain")
                for command in _commands(source, out, [*flags, *more], plugin):
                    done = toolchain.run(command, env=toolchain.environment(), timeout=300)
                    good &= result.check(done.code == 0 and not done.stderr,
                                         lambda: report(f"{name} {setting}: {done.why() or 'a warning'}", done, toolchain.shell(command)))
                if not good:
                    break
                profile = work / "profile.jsonl"
                profile.unlink(missing_ok=True)
                settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always", "POLLYRS_RT_CHECK": "1",
                            "POLLYRS_RT_PROFILE": profile}
                outs[plugin] = toolchain.run([out, *WORDS], env=toolchain.environment(**settings))
            if not good:
                continue
            again = toolchain.shell([work / "offloaded", *WORDS], **settings)
            result.check(outs[True].code == outs[False].code == 0 and outs[True].stdout == outs[False].stdout,
                         lambda: report(f"{name} {setting}: another output", outs[True], again))
            ran = any(line["device"] == "emulated" for line in toolchain.read_profile(work / "profile.jsonl"))
            result.check(ran or not must_offload, lambda: report(f"{name} {setting}: nothing ran on the device", outs[True], again))
