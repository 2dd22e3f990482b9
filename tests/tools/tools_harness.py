# SPDX-License-Identifier: MIT
"""Shared by the tests of the command-line tools: where the programs are, running them as processes, and numbers.

    test_NAME.py --tools DIRECTORY [--backend cpu|cuda] [--quick] [TEST...]

DIRECTORY holds the programs, TEST is a class or a class.method of the file. With the cuda backend
only the tests whose outcome depends on the backend run, and without a usable device the exit status is 77, or 1 when
SOFTQAM_REQUIRE_GPU=1. --quick is for sanitizers: one row of a kind, and no tests of numbers of many symbols.
"""

import argparse
import contextlib
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest

from environments import MPI_ENVIRONMENT
from output_formats import LLR_TYPECODE

sys.dont_write_bytecode = True
TIMEOUT = 300
SKIPPED = 77
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--tools", required=True, type=os.path.abspath)
parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
parser.add_argument("--quick", action="store_true")
parser.add_argument("tests", nargs="*")
ARGUMENTS = parser.parse_args()
BACKEND, QUICK = ARGUMENTS.backend, ARGUMENTS.quick
thorough = unittest.skipIf(QUICK, "--quick")  # of a test: what only its numbers or outside programs would find


def tool(name):
    return os.path.join(ARGUMENTS.tools, name)


DEMOD, GEN, DEMOD_MPI = map(tool, ("softqam-demod", "softqam-gen", "softqam-demod-mpi"))
# Both, if there are two; with sanitizers, to which Open MPI's code makes no sense, one.
BOTH_DEMODS = [DEMOD] + [DEMOD_MPI] * (os.path.exists(DEMOD_MPI) and not QUICK)
ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT}

# The number of symbols that softqam-demod takes at once, if --chunk is no larger; and that --noise-var auto looks at.
BLOCK_SYMBOLS = 1 << 20 if BACKEND == "cuda" else 262144
NOISE_AUTO_SYMBOLS = 262144

SUFFIXES = {
    "cf32": [".cf32", ".fc32", ".cfile"], "cs16": [".cs16", ".sc16", ".ci16"], "cs8": [".cs8", ".sc8", ".ci8"], "cf16": [".cf16"]
}  # fmt: skip
INPUT_FORMATS = "cf32, cs16, cs8, cf16, cu8, cs32, cf64, cu8h, cf32be, cs16be, cs32be, cf64be"
TYPECODE = {"cf32": "f", "cs16": "h", "cs8": "b", "cf16": "e"}  # of struct
# Bits of a symbol, and what the squared magnitudes of I and Q are divided by.
MODULATIONS = {"bpsk": (1, 2), "pi2-bpsk": (1, 2), "qpsk": (2, 2), "16qam": (4, 10), "64qam": (6, 42),
               "256qam": (8, 170), "1024qam": (10, 682)}  # fmt: skip
# Signals that end a process that does nothing about them, and can be caught; SIGXFSZ is an error of write(). The first and the last
# of the real-time signals stand for all.
DEADLY_SIGNALS = sorted(signal.valid_signals() - set(range(signal.SIGRTMIN + 1, signal.SIGRTMAX)) - {
    signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT, signal.SIGCHLD, signal.SIGURG,
    signal.SIGWINCH, signal.SIGXFSZ,
})  # fmt: skip

# Text that would do harm if it was taken for something else than text, and how a message shows it.
HOSTILE = {text: text for text in ("%s%n%d%999999999c", "$(touch pwned)", "'\"\\", "\u202e\u00e4\U0001f4a5", "\udcff\udcfe\udc80")}
HOSTILE["a\nb\rc\t\x07\x1b[2J\x7f"] = "a\\nb\\x0dc\\x09\\x07\\x1b[2J\\x7f"


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def pack(typecode, values):
    return struct.pack(f"={len(values)}{typecode}", *values)


def unpack(typecode, data):
    return struct.unpack(f"={len(data) // struct.calcsize(typecode)}{typecode}", data)


def hard_bits(format_, data):
    """One byte, 0 or 1, a bit. The decision of a soft bit (u8) is 0 from 127 on."""
    if format_ == "u8":
        return data.translate(bytes(127 * [1] + 129 * [0]))
    return bytes(llr < 0 for llr in unpack(LLR_TYPECODE[format_], data))


class ToolTest(unittest.TestCase):
    """Each test has a directory of its own as its working directory."""

    uses_backend = False
    maxDiff = None

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="softqam-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, data):
        pathlib.Path(self.path(name)).write_bytes(data)
        return name

    def read(self, name):
        return pathlib.Path(self.path(name)).read_bytes()

    def files(self):
        return sorted(os.listdir(self.directory))

    def snapshot(self):
        """Every name below the directory, with the content of regular files that are not huge."""
        paths = pathlib.Path(self.directory).rglob("*")
        return {path: os.access(path, os.R_OK) and path.is_file() and path.stat().st_size < 1 << 28 and path.read_bytes() for path in paths}

    def start(self, *command, **options):
        for stream in ("stdin", "stdout", "stderr"):
            options.setdefault(stream, subprocess.PIPE)
        process = subprocess.Popen([os.fsencode(word) for word in command], cwd=self.directory, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            with contextlib.suppress(OSError):
                stream.close()

    def run_tool(self, *command, data=b"", **options):
        process = self.start(*command, **options)
        out, err = process.communicate(data if process.stdin else None, timeout=TIMEOUT)
        err = (err or b"").decode("utf-8", "surrogateescape")
        return types.SimpleNamespace(code=process.returncode, out=out, err=err)

    def demod(self, *arguments, **options):
        return self.run_tool(DEMOD, "--backend", BACKEND, *arguments, **options)

    def start_demod(self, *arguments, **options):
        return self.start(DEMOD, "--backend", BACKEND, *arguments, bufsize=0, **options)

    def gen(self, *arguments, **options):
        return self.run_tool(GEN, *arguments, **options)

    def ok(self, result):
        self.assertEqual(result.code, 0, result.err)
        return result

    def make(self, name, *arguments):
        self.ok(self.gen("-q", *arguments, name))
        return name

    def soft_bits(self, *arguments, **options):
        """Returns what softqam-demod writes to standard output, which must be all that it says, but for warnings of symbols."""
        result = self.ok(self.demod(*arguments, "-", **options))
        self.assertEqual(self.without_warnings(result.err), "")
        return result.out

    @staticmethod
    def without_warnings(err):
        """Removes what is said of symbols, which tests make up."""
        known = re.compile(r"softqam-demod: .*: (warning: |fewer than 1000 symbols)")
        return "".join(line for line in err.splitlines(keepends=True) if not known.match(line))

    def fails(self, result, code, message, program="softqam-demod"):
        """Exit status, and one line on standard error, complete."""
        self.assertEqual((result.err, result.code), (f"{program}: {message}\n", code))

    def refuses(self, program, arguments, code, message, **options):
        """One line, nothing on standard output, and no file that appears, changes or goes."""
        before = self.snapshot()
        with self.subTest(program=os.path.basename(program), arguments=[argument[:60] for argument in arguments]):
            result = self.run_tool(program, *arguments, **options)
            self.fails(result, code, message, os.path.basename(program))
            self.assertFalse(result.out)
            self.assertEqual(self.snapshot(), before)

    def as_nobody(self):
        """Options of a process for whom permissions count."""
        if os.geteuid() != 0:
            return {}
        os.chmod(self.directory, 0o755)
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            self.assertEqual(self.run_tool(DEMOD, "-V", **options).code, 0)
        except (PermissionError, AssertionError):
            self.skipTest("permissions do not bind root, and nobody else can run the tools")
        return options

    # Processes that are still running.

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it does not come")
            time.sleep(0.002)

    def wait_for_temporary(self, n):
        """Until there are n files that will take the name of an output."""
        self.wait_for(lambda: sum(f.startswith(".softqam-") for f in self.files()) >= n)


class CaptureTest(ToolTest):
    """With x.cf32 there, 3000 symbols, and what softqam-demod makes of it."""

    def setUp(self):
        super().setUp()
        self.data = self.read(self.make("x.cf32", "--symbols", "3000", "--snr-db", "20"))
        self.expected = self.soft_bits("x.cf32")


def open_terminal():
    """Both ends of a new terminal; a skip if the system has none to give."""
    try:
        return pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"this machine gives no pseudoterminals (/dev/pts): {error.strerror}")


def rest_of_terminal(master):
    """Returns what a terminal shows until all who have it open have closed it."""
    shown = b""
    try:
        while data := os.read(master, 4096):
            shown += data
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return shown


def default_signals():
    """For a process that is to be ended by a signal, whatever our parent ignores."""
    for number in DEADLY_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_file_size(nbytes):
    """Limits files as `ulimit -f` does: the system's answer would be SIGXFSZ."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, nbytes))

    return {"preexec_fn": limit}


def main():
    """Runs the tests of the file that was started, and ends with its exit status."""
    tests = ARGUMENTS.tests
    if BACKEND == "cuda" and subprocess.call([DEMOD, "--backend", "cuda", "/dev/null", "/dev/null"], timeout=TIMEOUT):
        required = os.environ.get("SOFTQAM_REQUIRE_GPU") == "1"
        print("FAILED: a GPU is required, and" if required else "skipped:", "softqam-demod finds no usable CUDA device")
        sys.exit(1 if required else SKIPPED)
    if BACKEND == "cuda" and not tests:
        module = sys.modules["__main__"]
        tests = [name for name, value in vars(module).items() if getattr(value, "uses_backend", False)]
        print("with cuda only what depends on the backend:", *tests, flush=True)
    unittest.main(argv=[sys.argv[0], *tests], verbosity=2)
