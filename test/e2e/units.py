"""Units that are no single program: the driver and its commands, builds, settings, documents, libraries, generated files."""

import json
import re

import algorithms
import cases
import delinearizer
import generate_large
import installation
import libraries
import openmp
import phases
import projects
import readme
import run_script
import settings
import toolchain
import validity
from outcome import WORK, Result, difference, folder, report
from programs import LARGE, run_program

LARGE_LINES = 10_000


def by_hand(_options):
    """The plugin without the driver, for a C and a Fortran file."""
    result, work = Result("plain clang and flang"), folder("by_hand")
    for source in (toolchain.EXAMPLES / "gemm.c", toolchain.EXAMPLES / "heat.f90"):
        words = ["20", "30", "25"]
        plain, offloaded, profile = work / "plain", work / "offloaded", work / "profile.jsonl"
        profile.unlink(missing_ok=True)
        compiled = True
        for command in (toolchain.plain_command(source, plain), toolchain.by_hand_command(source, offloaded)):
            done = toolchain.run(command, env=toolchain.environment())
            compiled &= result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command)))
        if not compiled:
            continue
        expected = toolchain.run([plain, *words], env=toolchain.environment())
        settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
        got = toolchain.run([offloaded, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        again = toolchain.shell([offloaded, *words], **settings)
        result.check(got.code == expected.code and got.stdout == expected.stdout,
                     lambda: report(got.why() or difference(expected.stdout, got.stdout), got, again))
        result.check(any(line["device"] == "emulated" for line in toolchain.read_profile(profile)),
                     lambda: report("nothing ran on the device", got, again))
    return result


def driver(_options):
    """The driver: objects, assembly and IR in a second step, the shared run-time library, a response file."""
    result, work = Result("driver"), folder("driver")
    source, plain, words = toolchain.EXAMPLES / "gemver.c", work / "plain", ["50"]
    toolchain.run(toolchain.plain_command(source, plain), env=toolchain.environment())
    expected = toolchain.run([plain, *words], env=toolchain.environment())
    result.check(expected.code == 0 and bool(expected.stdout), "the original does not run")
    both = ["--pollyrs-targets=cuda,emulated", "--pollyrs-option=cubin=off", "-O3"]
    (work / "words.rsp").write_text(f'-O3 --pollyrs-targets=emulated "{source}"\n-o {work / "response"}', encoding="utf-8")
    steps = {
        "objects": [["cc", *both, "-c", source, "-o", work / "a.o"], ["cc", work / "a.o", "-o", work / "objects"]],
        "shared": [["cc", *both, "--pollyrs-shared-rt", source, "-o", work / "shared"]],
        "response": [["cc", f"@{work / 'words.rsp'}"]],
        "assembly": [["cc", *both, "-S", source, "-o", work / "a.s"], ["cc", work / "a.s", "-o", work / "assembly"]],
        "ir": [["cc", *both, "-S", "-emit-llvm", source, "-o", work / "a.ll"], ["cc", "-O1", work / "a.ll", "-o", work / "ir"]],
        "by_language": [["c++", *both, "-x", "c", "-c", source, "-o", work / "b.o"],
                        ["c++", work / "b.o", "-o", work / "by_language"]],
    }
    settings = {"POLLYRS_RT_DEVICE": "emulated", "POLLYRS_RT_OFFLOAD": "always"}
    for name, commands in steps.items():
        failed = False
        for command in ([toolchain.DRIVER, *c] for c in commands):
            done = toolchain.run(command, env=toolchain.environment())
            failed |= not result.check(done.code == 0, lambda: report(f"{name}: {done.why()}", done, toolchain.shell(command)))
        if failed:
            continue
        profile = work / f"{name}.jsonl"
        got = toolchain.run([work / name, *words], env=toolchain.environment(**settings, POLLYRS_RT_PROFILE=profile))
        again = toolchain.shell([work / name, *words], **settings)
        result.check((got.code, got.stdout) == (expected.code, expected.stdout),
                     lambda: report(f"{name}: {got.why() or difference(expected.stdout, got.stdout)}", got, again))
        result.check(any(line["device"] == "emulated" for line in toolchain.read_profile(profile)),
                     lambda: report(f"{name}: nothing ran on the device", got, again))
    return result


def installed(_options):
    """What is built with an installed tree."""
    result, work = Result("installed"), folder("installed")
    installation.check(result, work, report)
    return result


def sample_projects(_options):
    """The projects of test/projects, each with its build system."""
    result, work = Result("projects"), folder("projects")
    projects.check(result, work, report)
    return result


def of_builds(result, work):
    """pollyrs report for what make compiles and for a compile_commands.json: text, JSON and a page; remarks of inlined library code are in the file."""
    (work / "b.cpp").write_text("#include <vector>\nstruct grid { std::vector<double> a, b; void scale(); };\nvoid grid::scale() {\n"
                                "  for (unsigned long i = 0; i < a.size(); i++)\n    a[i] = 2 * b[i];\n}\n", encoding="utf-8")
    (work / "Makefile").write_text("CFLAGS = -O2\nCXXFLAGS = -O2\nall: a.o b.o\n", encoding="utf-8")
    entries = [{"directory": str(work), "file": "a.c", "command": "ccache pollyrs cc -O2 -c a.c -o a.o"},
               {"directory": str(work), "file": "b.cpp", "arguments": ["c++", "-O2", "-c", "b.cpp", "-o", "b.o"]}]
    (work / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    both = ["a.c: 2 loop nests, 1 offloaded", "b.cpp: 1 loop nest, 1 offloaded", "grid::scale", "2 files: 3 loop nests, 2 offloaded"]
    for words, texts in {
        ("--build", "make"): both,
        ("-p", "."): both,
        ("--level", "everything", "b.cpp"): ["this->b and this->a do not overlap", "[PRS040]"],
        ("--level", "summary", "a.c", "b.cpp"): ["1 x PRS106 a subscript"],
        ("--json", "--html", "report.html", "a.c"): ['"code": "PRS106"', '"line": 3', '"advice"'],
    }.items():
        command = [toolchain.DRIVER, "report", *words]
        done = toolchain.run(command, env=toolchain.environment(), cwd=work)
        text = done.stdout.decode(errors="replace")
        missing = [t for t in texts if t not in text]
        result.check(done.code == 0 and not missing, lambda: report(f"missing {missing} in:\n{text}", done, toolchain.shell(command)))
    html = (work / "report.html").read_text(encoding="utf-8")
    result.check("1 of 2 loop nests offloaded" in html and html.count("<details>") == 2, "no page of a report")


def tools(_options):
    """pollyrs report for three languages, profile of a program, doctor."""
    result, work = Result("report, profile, doctor"), folder("tools")
    (work / "a.c").write_text("void f(int n, double *a, const int *p) {\n  for (int i = 0; i < n; i++)\n\ta[p[i] * p[i]] = 0;\n"
                              "  for (int i = 0; i < n; i++)\n    a[i] *= 2;\n}\n", encoding="utf-8")
    for source, texts in {
        work / "a.c": ["2 loop nests, 1 offloaded", "not offloaded", "[PRS106]", "    3 | \ta[p[i] * p[i]] = 0;", "| \t               ^", "= help: "],
        cases.program("templates.cpp"): ["offloaded"],
        toolchain.EXAMPLES / "heat.f90": ["heat.f90: ", "  10  ", "offloaded"],
    }.items():
        command = [toolchain.DRIVER, "report", source, "-I", toolchain.EXAMPLES]
        done = toolchain.run(command, env=toolchain.environment())
        text = done.stdout.decode(errors="replace")
        missing = [t for t in texts if t not in text]
        result.check(done.code == 0 and not missing, lambda: report(f"missing {missing} in:\n{text}", done, toolchain.shell(command)))
    of_builds(result, work)
    program, page = work / "program", work / "page.html"
    command = toolchain.plugin_command(toolchain.EXAMPLES / "gemver.c", program)
    toolchain.run(command, env=toolchain.environment())
    command = [toolchain.DRIVER, "profile", "-o", page, program, "50"]
    done = toolchain.run(command, env=toolchain.environment(POLLYRS_RT_DEVICE="emulated", POLLYRS_RT_OFFLOAD="always"))
    text = done.stderr.decode(errors="replace")
    result.check(done.code == 0 and "emulated" in text and "gemver" in text, lambda: report(text, done, toolchain.shell(command)))
    drawn = page.read_text(encoding="utf-8") if page.exists() else ""
    result.check('id="timeline"' in drawn and re.search(r"const data = .*gemver", drawn), "no timeline")
    done = toolchain.run([toolchain.DRIVER, "doctor"], env=toolchain.environment())
    text = done.stdout.decode(errors="replace")
    result.check(all(word in text for word in ("ptxas", "driver", "installation", "kernel")), lambda: report(text, done, "doctor"))
    return result


def deterministic(_options):
    """The same input gives the same object file, byte for byte."""
    result, work = Result("the same object twice"), folder("deterministic")
    for example in ("covariance.c", "gemver.c", "jacobi-2d.c"):
        contents = []
        for number in range(2):
            out = work / f"{number}.o"
            command = [toolchain.DRIVER, "cc", "--pollyrs-targets=cuda,emulated", "-O3", "-c", toolchain.EXAMPLES / example, "-o",
                       out]
            done = toolchain.run(command, env=toolchain.environment())
            if not result.check(done.code == 0, lambda: report(done.why(), done, toolchain.shell(command))):
                return result
            contents.append(out.read_bytes())
        result.check(contents[0] == contents[1], f"two compilations of {example} differ")
    return result


def valid_ir(options):
    """Levels, debug information, sanitizers, link-time optimisation."""
    result = Result("valid IR")
    validity.check(result, WORK / "valid_ir", report, None if options.every else options.turn)
    return result


def driver_phases(_options):
    """The driver in all phases of a build, and its mistakes."""
    result, work = Result("driver phases"), folder("phases")
    phases.check(result, work, report)
    return result


def run_settings(_options):
    """Settings of a run, and switches in the source."""
    result, work = Result("settings"), folder("settings")
    settings.check(result, work, report)
    return result


def documented(_options):
    """The commands of README.md and docs/."""
    result, work = Result("documented commands"), folder("documented")
    readme.check(result, work, report)
    return result


def scripts_run(options):
    """scripts/run for each example, at the flags that people use."""
    result, work = Result("scripts/run"), folder("scripts_run")
    run_script.check(result, work, report, None if options.every else options.turn)
    return result


def shared_libraries(_options):
    """Libraries with offloaded loops that a program loads and unloads."""
    result = Result("shared libraries")
    libraries.check(result, WORK / "shared_libraries", report)
    return result


def openmp_threads(_options):
    """Offloaded loops in the threads of OpenMP."""
    result = Result("OpenMP")
    openmp.check(result, WORK / "openmp", report)
    return result


def oracle(options):
    """The shapes that LLVM's delinearizer finds are the model's, for the algorithms; with --all, for the programs too."""
    result = Result("LLVM's delinearizer")
    counts, wrong = delinearizer.check(".*" if options.all else "^algorithms/|/delinearize_")
    result.passed, result.failures = counts["agree"], wrong
    result.check(counts["agree"] >= 50, f"only {counts['agree']} arrays to compare")
    return result


def large_file(options):
    """A generated file of 10,000 lines compiles and prints the same; without --all, of an eighth of that."""
    work = folder("large")
    source = work / "large.c"
    source.write_text(generate_large.generate(lines=LARGE_LINES if options.all else LARGE_LINES // 8, seed=1), encoding="utf-8")
    program = cases.Program(LARGE, source, None, (("7",), ("20",)), "yes", frozenset())
    return run_program(program, options)


def algorithm(entry, element, form):
    """One form and type of one algorithm."""
    passed, failures, note = algorithms.check(entry, element, form)
    return Result(f"algorithms/{entry['name']} {element} {form}", passed, failures, note)
