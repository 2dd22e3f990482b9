#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast softqam-demod is from file to file, beside the two limits of the same run: the rate of the library's calls in
it, from host memory to host memory, and what cp makes of as many bytes in the same folder. By hand; the test `measure`
only sees that it runs.

The input is cf32 and the output u8, 8 bytes a symbol both, so cp of the input moves as many bytes. The input is in the
page cache: it has just been written, and is read once before. cp does not wait for the disk, softqam-demod does unless
it is told --no-sync; on a file system in memory that is no wait. The output is compared with a first one that --verify has
checked. Programs take turns; rates are medians, with the least and the largest behind them.
"""

import argparse
import filecmp
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SYMBOL_NBYTES = 8
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=os.path.abspath, metavar="FOLDER")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--folder", help="on the file system to measure; default: where temporary files are")
    parser.add_argument("--symbols", type=int, default=1 << 27)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--mpi", type=int, default=0, metavar="RANKS", help="softqam-demod-mpi too")
    return parser.parse_args()


def timed(command):
    """Seconds, from start to end; the output's pages are not there before."""
    if os.path.exists("y.u8"):
        os.unlink("y.u8")
    started = time.perf_counter()
    subprocess.run(command, check=True, env=ENVIRONMENT)
    return time.perf_counter() - started


def row(name, seconds, n_symbols, limit=None):
    """Prints and returns the median rate, in symbols a second."""
    rates = sorted(n_symbols / s / 1e6 for s in seconds)
    median = statistics.median(rates)
    share = f"{median * 1e6 / limit:.2f}" if limit else ""
    print(f"{name:50} {median:8.1f} Msym/s  {rates[0]:8.1f} .. {rates[-1]:8.1f}  {share}")
    return median * 1e6


def measure(arguments):
    """In the current folder."""
    n = arguments.symbols
    gen, demod_mpi, program = (os.path.join(arguments.tools, "softqam-" + name) for name in ("gen", "demod-mpi", "demod"))
    demod = [program, "--backend", arguments.backend]
    subprocess.run([gen, "--symbols", str(n), "--snr-db", "30", "x.cf32"], check=True)
    subprocess.run([*demod, "--verify", "x.cf32", "first.u8"], check=True)
    commands = {
        "cp": ["cp", "--reflink=never", "x.cf32", "y.u8"],
        "softqam-demod": [*demod, "x.cf32", "y.u8"],
        "softqam-demod --no-sync": [*demod, "--no-sync", "x.cf32", "y.u8"],
        "softqam-demod, from a pipe": ["sh", "-c", 'cat x.cf32 | "$@"', "sh", *demod, "-", "y.u8"],
    }
    if arguments.mpi:
        ranks = ["mpirun", "-n", str(arguments.mpi), "--oversubscribe", demod_mpi]
        commands[f"softqam-demod-mpi, {arguments.mpi} ranks"] = [*ranks, "--backend", arguments.backend, "x.cf32", "y.u8"]
    start_up = [timed([*demod, "--count", "1", "x.cf32", "y.u8"]) for _ in range(arguments.runs)]
    seconds = {name: [] for name in commands}
    for _ in range(arguments.runs):
        for name, command in commands.items():
            seconds[name].append(timed(command))
            if not filecmp.cmp("y.u8", "x.cf32" if name == "cp" else "first.u8", shallow=False):
                sys.exit(f"{name}: another output than the first")
    # Of the library's calls in a run whose output is not kept.
    done = subprocess.run([*demod, "-q", "--stats=json", "x.cf32", "/dev/null"], check=True, stderr=subprocess.PIPE, text=True)
    stats = json.loads(done.stderr)
    library = stats["symbols"] / stats["library_s"]
    print(f"{n} symbols, {SYMBOL_NBYTES * n / 2**30:.2f} GiB in and as many out, in {os.getcwd()}")
    print(f"{'library: ' + stats['backend'] + ', ' + stats['backend_detail']:50} {library / 1e6:8.1f} Msym/s")
    limit = min(library, row("cp", seconds.pop("cp"), n))
    print("the lower limit is", "the library's" if limit == library else "cp's", "rate; shares of it at the right")
    for name in seconds:
        row(name, seconds[name], n, limit)
    print(f"{'softqam-demod, one symbol':50} {statistics.median(start_up) * 1e3:8.1f} ms")


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="softqam-measure-", dir=arguments.folder) as folder:
        os.chdir(folder)
        measure(arguments)


if __name__ == "__main__":
    main()
