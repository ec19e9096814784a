#!/usr/bin/env python3
"""Every script answers --help and -h: its usage on standard output, status 0, and nothing else happens."""

import os
import pathlib
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"


def main():
    wrong = []
    scripts = sorted(path for path in SCRIPTS.iterdir() if path.is_file() and os.access(path, os.X_OK))
    for script in scripts:
        for word in ("--help", "-h"):
            done = subprocess.run([script, word], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
            if done.returncode or done.stderr or script.name not in done.stdout:
                wrong.append(f"{script.name} {word}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    print("\n".join(wrong) or f"{len(scripts)} scripts answer --help")
    return 1 if wrong or not scripts else 0


if __name__ == "__main__":
    sys.exit(main())
