# SPDX-License-Identifier: MIT
"""Running gnuplot."""

import os
import shutil
import subprocess

from failure import Failure, cause_of

FONT = "sans-serif"


def draw(script, kind):
    """The picture that gnuplot makes of the script."""
    program = shutil.which("gnuplot")
    if not program:
        raise Failure("gnuplot", "not found (Debian has it in the package gnuplot-nox)")
    try:
        # -d: without the user's and the system's settings.
        environment = dict(os.environ, LC_ALL="C")
        done = subprocess.run([program, "-d", "-"], input=script.encode(), capture_output=True, env=environment)
    except OSError as error:
        raise Failure(program, cause_of(error)) from None
    whole = {
        "png": done.stdout.startswith(b"\x89PNG\r\n") and done.stdout[-8:-4] == b"IEND",
        "svg": done.stdout.startswith(b"<?xml") and done.stdout.rstrip().endswith(b"</svg>"),
    }[kind]
    if done.returncode or not whole:
        said = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip(" ^")]
        raise Failure("gnuplot", said[-1] if said else f"made no {kind} (exit status {done.returncode})")
    # gnuplot's svg has no bold but in enhanced text, and passes the font's name on as it is.
    return done.stdout.replace(f'"{FONT}:Bold"'.encode(), f'"{FONT}" font-weight="bold"'.encode())
