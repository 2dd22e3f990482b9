#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast softqam-demod is from file to file, beside the two limits of the same run: the rate of the library's calls in
it, from host memory to host memory, and what cp makes of as many bytes in the same folder. By hand; the test `measure`
only sees that it runs.

    measure_demod.py --tools DIRECTORY [--backend cpu|cuda] [--folder FOLDER] [--symbols N] [--runs N] [--mpi RANKS]

The input is cf32 and the output u8, 8 bytes a symbol both, so cp of the input moves as many bytes. The input is in the
page cache: it has just been written, and is read once before. cp does not wait for the disk, softqam-demod does unless
it is told --no-sync; on a file system in memory that is no wait. The output is compared with a first one that --verify has
checked. Programs take turns; rates are medians, with the least and the largest behind them.
"""

import argparse
import filecmp
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SYMBOL_NBYTES = 8


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tools", required=True, type=os.path.abspath)
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--folder", help="on the file system to measure; default: where temporary files are")
    parser.add_argument("--symbols", type=int, default=1 << 27)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--mpi", type=int, default=0, metavar="RANKS", help="softqam-demod-mpi too")
    return parser.parse_args()


def library_rate(command):
    """Of the library's calls in a run whose output is not kept, in symbols a second, and its backend."""
    done = subprocess.run([*command, "--stats=json", "-o", "u8", "/dev/null"], check=True, stderr=subprocess.PIPE, text=True)
    stats = json.loads(done.stderr)
    return stats["symbols"] / stats["library_s"], f"{stats['backend']}, {stats['backend_detail']}"


ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def timed(command, output):
    """Seconds, from start to end; the output's pages are not there before."""
    if os.path.exists(output):
        os.unlink(output)
    started = time.perf_counter()
    subprocess.run(command, check=True, env=ENVIRONMENT)
    return time.perf_counter() - started


def row(name, seconds, n_symbols, limit=None):
    rates = sorted(n_symbols / s / 1e6 for s in seconds)
    median = statistics.median(rates)
    share = f"{median * 1e6 / limit:.2f}" if limit else ""
    print(f"{name:50} {median:8.1f} Msym/s  {rates[0]:8.1f} .. {rates[-1]:8.1f}  {share}")
    return median * 1e6


def measure(arguments, folder):
    path = lambda name: os.path.join(folder, name)
    demod, gen = (os.path.join(arguments.tools, name) for name in ("softqam-demod", "softqam-gen"))
    backend, n = ["--backend", arguments.backend], arguments.symbols
    subprocess.run([gen, "--symbols", str(n), "--snr-db", "30", path("x.cf32")], check=True)
    subprocess.run([demod, *backend, "--verify", path("x.cf32"), path("first.u8")], check=True)
    commands = {
        "cp": (["cp", "--reflink=never", path("x.cf32"), path("y")], path("y")),
        "softqam-demod": ([demod, *backend, path("x.cf32"), path("y.u8")], path("y.u8")),
        "softqam-demod --no-sync": ([demod, *backend, "--no-sync", path("x.cf32"), path("y.u8")], path("y.u8")),
        "softqam-demod, from a pipe": (
            ["sh", "-c", f"cat {path('x.cf32')} | {demod} --backend {arguments.backend} - {path('y.u8')}"],
            path("y.u8"),
        ),
    }
    with open(path("x.cf32"), "rb") as whole, open(path("one.cf32"), "wb") as one:
        one.write(whole.read(SYMBOL_NBYTES))
    start_up = [timed([demod, *backend, path("one.cf32"), path("one.u8")], path("one.u8")) for _ in range(arguments.runs)]
    if arguments.mpi:
        program = os.path.join(arguments.tools, "softqam-demod-mpi")
        launch = ["mpirun", "-n", str(arguments.mpi), "--oversubscribe"]
        commands[f"softqam-demod-mpi, {arguments.mpi} ranks"] = (
            launch + [program, *backend, path("x.cf32"), path("y.u8")], path("y.u8"),
        )  # fmt: skip
    seconds = {name: [] for name in commands}
    for _ in range(arguments.runs):
        for name, (command, output) in commands.items():
            seconds[name].append(timed(command, output))
            if output.endswith(".u8") and not filecmp.cmp(output, path("first.u8"), shallow=False):
                sys.exit(f"{name}: another output than the first")
            os.unlink(output)
    library, what = library_rate([demod, *backend, "-q", path("x.cf32")])
    print(f"{n} symbols, {SYMBOL_NBYTES * n / 2**30:.2f} GiB in and as many out, in {folder}")
    print(f"{'library: ' + what:50} {library / 1e6:8.1f} Msym/s")
    limit = min(library, row("cp", seconds["cp"], n))
    print("the lower limit is", "the library's" if limit == library else "cp's", "rate; shares of it at the right")
    for name in list(commands)[1:]:
        row(name, seconds[name], n, limit)
    print(f"{'softqam-demod, one symbol':50} {statistics.median(start_up) * 1e3:8.1f} ms")


def main():
    arguments = parse_arguments()
    folder = tempfile.mkdtemp(prefix="softqam-measure-", dir=arguments.folder)
    try:
        measure(arguments, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
