"""What the scripts and the end-to-end tests share: paths, command lines, settings of a run, and the profile it writes."""

import collections
import contextlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("POLLYRS_BUILD") or ROOT / "target" / "release").resolve()
EXAMPLES = ROOT / "examples"
LLVM_BIN = pathlib.Path("/usr/lib/llvm-22/bin")

PLUGIN = BUILD / "libpollyrs.so"
RUNTIME = BUILD / "libpollyrs_rt.a"
SHARED_RUNTIME = BUILD / "libpollyrs_rt.so"
# The name under which programs look for it.
SONAME = "libpollyrs_rt.so." + re.search(r"^const VERSION: u32 = (\d+);", (ROOT / "runtime" / "build.rs").read_text(encoding="utf-8"), re.M)[1]
DRIVER = BUILD / "pollyrs"
RUNTIME_LIBRARIES = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"]

FORTRAN = {".f", ".f90", ".f95", ".f03", ".f08", ".for"}
CXX = {".cpp", ".cc", ".cxx", ".C"}


def llvm_tool(name):
    """An LLVM tool by its versioned name in PATH, else in Debian's folder."""
    return shutil.which(f"{name}-22") or str(LLVM_BIN / name)


def ptxas():
    """The path of ptxas, or None."""
    named = os.environ.get("POLLYRS_PTXAS")
    for path in [named, ROOT / "build" / "tools" / "bin" / "ptxas", shutil.which("ptxas")]:
        if path and os.access(path, os.X_OK):
            return str(path)
    return None


def mpich():
    """The folder of MPICH, with mpiexec and the library, or None."""
    folder = ROOT / "build" / "tools" / "venv"
    return folder if os.access(folder / "bin" / "mpiexec", os.X_OK) else None


def language(source):
    """'c', 'c++', 'fortran' or 'rust', by the file's name."""
    suffix = pathlib.Path(source).suffix
    if suffix == ".rs":
        return "rust"
    if suffix.lower() in FORTRAN:
        return "fortran"
    return "c++" if suffix in CXX else "c"


def _common(source, element):
    if language(source) == "fortran":
        return ["-module-dir", "{dir}"]
    # A crash is reported at once: clang would preprocess all inputs, the run-time library too, for minutes.
    flags = ["-fno-crash-diagnostics", "-I", str(EXAMPLES)]
    if element in ("float", "double"):
        flags.append(f"-DTYPE={element}")
    return flags


def _libraries(source):
    return [] if language(source) == "fortran" else ["-lm", "-pthread"]


def _finish(command, out):
    """flang writes module files: next to the output, so that parallel runs don't meet."""
    directory = pathlib.Path(out).parent / (pathlib.Path(out).name + ".modules")
    if "{dir}" in command:
        directory.mkdir(parents=True, exist_ok=True)
    return [str(directory) if word == "{dir}" else str(word) for word in command]


def plain_command(source, out, level="-O1", element=None, flags=("-ffp-contract=off",), link=True):
    """The compiler without the plugin."""
    compiler = {"c": "clang", "c++": "clang++", "fortran": "flang"}[language(source)]
    libraries = _libraries(source) if link else []
    command = [llvm_tool(compiler), level, *flags, *_common(source, element), source, "-o", out, *libraries]
    return _finish(command, out)


def plugin_command(source, out, targets="cuda,emulated", level="-O3", element=None, flags=("-ffp-contract=off",), extra=(), libraries=True):
    """The driver, which adds the plugin and the run-time library."""
    command = [DRIVER, _mode(source), f"--pollyrs-targets={targets}", *extra, level, *flags, *_common(source, element)]
    return _finish([*command, source, "-o", out, *(_libraries(source) if libraries else [])], out)


def link_command(source, object_file, out):
    """The driver, for an object file made of `source`."""
    return [str(word) for word in [DRIVER, _mode(source), object_file, "-o", out, *_libraries(source)]]


def _mode(source):
    return {"c": "cc", "c++": "c++", "fortran": "fc"}[language(source)]


def rust_command(source, out, plugin=True, level="3", flags=()):
    """rustc, with the plugin or without. Its own debug checks of overflow are off at any level but 0."""
    command = ["rustc", "--edition=2024", f"-Copt-level={level}", "-Ccodegen-units=1", *flags, source, "-o", out]
    if not plugin:
        return [str(word) for word in command]
    link = [f"-Clink-arg={SHARED_RUNTIME}", f"-Clink-arg=-Wl,-rpath,{BUILD}"]
    return [str(word) for word in [*command, f"-Zllvm-plugins={PLUGIN}", *link]]


def rustc_with_plugins():
    """Whether there is a rustc whose LLVM is the plugin's."""
    rustc = shutil.which("rustc")
    done = run([rustc, "--version", "--verbose"]) if rustc else None
    return bool(done and re.search(rb"LLVM version: 22\.", done.stdout))


def by_hand_command(source, out, targets="cuda,emulated", level="-O3", flags=("-ffp-contract=off",)):
    """The plugin without the driver: what a user of plain clang writes."""
    compiler = {"c": "clang", "c++": "clang++", "fortran": "flang"}[language(source)]
    plugin = [f"-fpass-plugin={PLUGIN}", "-mllvm", f"-pollyrs-targets={targets}"]
    command = [llvm_tool(compiler), level, *flags, *plugin, *_common(source, None), source, "-o", out]
    return _finish([*command, "-lgcc", RUNTIME, *RUNTIME_LIBRARIES], out)


def environment(**settings):
    """The caller's environment without settings of pollyrs, and with the given ones (None: left out). Device code of other builds is not taken, and no
    kernel is compiled later than the program, unless that is what is tried."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("POLLYRS_", "EXAMPLE_"))}
    settings = {"POLLYRS_CACHE": "off", "POLLYRS_TILES": "now", **settings}
    env.update({k: str(v) for k, v in settings.items() if v is not None})
    return env


class Finished:
    """A process that has ended. `code` is negative for a signal, None for a time-out; `seconds` by the clock, and `processor` seconds of its own and
    of its children."""

    def __init__(self, command, code, stdout, stderr, seconds, processor):
        self.command, self.code, self.stdout, self.stderr, self.seconds, self.processor = command, code, stdout, stderr, seconds, processor

    def why(self):
        """In words, what went wrong; '' if nothing did."""
        if self.code is None:
            return f"not done after {self.processor:.0f} s of processor time"
        if self.code < 0:
            return f"killed by signal {-self.code}"
        return f"exit status {self.code}" if self.code else ""


# Processor seconds of what was run, by kind of work, and in this thread.
USED = collections.Counter()
_MINE = threading.local()


def mine():
    """Processor seconds of what this thread has run."""
    return getattr(_MINE, "seconds", 0.0)


def _kind(command, env):
    """What a command does, for the table of what takes the time."""
    name = pathlib.Path(str(command[0])).name
    if name == DRIVER.name:
        return "compiling with the plugin"
    if name.startswith(("clang", "flang", "opt", "llvm")):
        return "LLVM's tools without the driver"
    if name in ("rustc", "ptxas", "valgrind"):
        return name
    device = (env or {}).get("POLLYRS_RT_DEVICE")
    if device is None:
        return "running plain programs"
    return f"running on device {device}" + (", checked" if (env or {}).get("POLLYRS_RT_CHECK", "0") != "0" else "")


def used():
    """The table, as text."""
    return "".join(f"{seconds:9.1f} s  {kind}\n" for kind, seconds in USED.most_common())


# A process may wait so many times as long as it may compute: other programs run beside it.
PATIENCE = 20


def _limit(process, seconds):
    """Limits a process's processor time. A limit that this process has itself, by `ulimit -t` or a script around this one, can't be raised."""
    _, most = resource.prlimit(process, resource.RLIMIT_CPU)
    hard = seconds + 5 if most == resource.RLIM_INFINITY else min(seconds + 5, most)
    resource.prlimit(process, resource.RLIMIT_CPU, (min(seconds, hard), hard))


def run(command, env=None, timeout=120, cwd=None):
    """Runs a command with closed stdin, for at most `timeout` seconds of processor time, so that other work on the machine changes nothing.
    After a time-out its children are ended too: the driver's compiler, say."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        start = time.monotonic()
        process = subprocess.Popen([str(c) for c in command], env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                   start_new_session=True)
        _limit(process.pid, timeout)
        late = threading.Event()

        def end():
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(PATIENCE * timeout, end)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        processor = usage.ru_utime + usage.ru_stime
        USED[_kind(command, env)] += processor
        _MINE.seconds = mine() + processor
        stopped = late.is_set() or process.returncode == -signal.SIGXCPU
        if stopped:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        stdout.seek(0)
        stderr.seek(0)
        return Finished(command, None if stopped else process.returncode, stdout.read(), stderr.read(), time.monotonic() - start, processor)


def read_profile(path):
    """The executions in a profile: one dictionary each. No file: none."""
    try:
        with open(path, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except FileNotFoundError:
        return []


def shell(command, **settings):
    """A command to paste into a shell."""
    words = [f"{k}={shlex.quote(str(v))}" for k, v in settings.items() if v is not None]
    return " ".join(words + [shlex.quote(str(c)) for c in command])


def ptx_in(path):
    """The PTX texts inside a compiled program, without their closing NUL."""
    data = pathlib.Path(path).read_bytes()
    texts, at = [], 0
    while (at := data.find(b".version ", at)) >= 0:
        before, end = data.rfind(b"\0", 0, at) + 1, data.find(b"\0", at)
        # What stands before it in the program, a number say, or a text of Rust, need not end with a NUL.
        head = data.rfind(b"//\n// Generated by", before, at)
        start = at if head < 0 else head
        text = data[start:end]
        # Text that merely mentions PTX, say in an error message, has no target directive.
        if re.search(rb"^\.version \d+\.\d+$", text, re.M) and re.search(rb"^\.target sm_", text, re.M):
            texts.append(text)
        at = max(end, at + 1)
    return texts
