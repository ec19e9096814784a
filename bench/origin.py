"""What results are of: the card, and the commit that the measured programs were made at. Goes into a bundle with the script that measures."""

import ctypes
import pathlib
import shutil
import subprocess

# The commit, in a bundle.
MARK = "commit.txt"


def card(device="cuda"):
    """The first device by the driver's name."""
    if device != "cuda":
        return f"{device} device"
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "none: no driver"
    handle, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(handle), 0) or driver.cuDeviceGetName(name, len(name), handle):
        return "none: no device"
    return name.value.decode(errors="replace")


def commit():
    """The state of the checkout that this file is of; a tree with changes says so."""
    command = ["git", "-C", str(pathlib.Path(__file__).resolve().parent), "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "not recorded"


def mark(folder):
    """Puts the commit, and this file, into a bundle."""
    (folder / MARK).write_text(commit() + "\n", encoding="utf-8")
    shutil.copy2(__file__, folder / "origin.py")


def of(folder, device="cuda"):
    """Card and commit of results that are measured in a bundle."""
    path = folder / MARK
    return {"card": card(device), "measured_at_commit": path.read_text(encoding="utf-8").strip() if path.exists() else "not recorded"}
