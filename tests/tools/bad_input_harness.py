# SPDX-License-Identifier: MIT
"""What the tests of bad input share: rows, each with the exit status and the one line that must come. Whatever the row,
standard output stays empty, and no file appears or changes.

    test_bad_NAME.py --demod PATH --gen PATH [--quick] [TEST...]

With --quick fewer rows of a kind.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TIMEOUT = 60
OLD = b"what was there before"


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--demod", required=True, type=os.path.abspath)
    parser.add_argument("--gen", required=True, type=os.path.abspath)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("tests", nargs="*")
    return parser.parse_args()


ARGUMENTS = parse_arguments()
DEMOD, GEN, QUICK = ARGUMENTS.demod, ARGUMENTS.gen, ARGUMENTS.quick


class BadInputTest(unittest.TestCase):
    n_rows = 0

    @classmethod
    def tearDownClass(cls):
        print(f"{BadInputTest.n_rows} rows so far", flush=True)

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.directory = os.path.join(self.temporary.name, "work")
        os.mkdir(self.directory)
        self.put("x.cf32", bytes(80))
        self.put("x.u8", OLD)

    def path(self, name):
        return os.path.join(self.directory, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def snapshot(self):
        """Every name below the directory, with what is behind it."""
        found = {}
        for directory, directories, files in os.walk(self.directory):
            for name in directories + files:
                path = os.path.join(directory, name)
                content = None
                if os.path.isfile(path) and os.access(path, os.R_OK):
                    with open(path, "rb") as file:
                        content = file.read()
                found[path] = content
        return found

    def row(self, program, arguments, code, message, data=b"", **options):
        """One row: the message without the program's name before it."""
        BadInputTest.n_rows += 1
        before = self.snapshot()
        with self.subTest(program=os.path.basename(program), arguments=[a[:60] for a in arguments]):
            result = subprocess.run(
                [os.fsencode(argument) for argument in [program, *arguments]],
                cwd=self.directory,
                input=data,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
                **options,
            )
            expected = os.fsencode(f"{os.path.basename(program)}: {message}\n")
            self.assertEqual((result.stderr, result.returncode, result.stdout), (expected, code, b""))
            self.assertEqual(self.snapshot(), before)

    def commands(self, name):
        """A name in each place where a file is read, then in each where one is written."""
        readers = [
            (DEMOD, [name, "x.u8"]),
            (DEMOD, ["--noise-file", name, "x.cf32", "x.s8"]),
        ]
        writers = [
            (DEMOD, ["x.cf32", name]),
            (GEN, ["-q", "--symbols", "1", name]),
            (GEN, ["-q", "--symbols", "1", "--bits", name, "y.cf32"]),
        ]
        return readers, writers

    def put_recording(self, captures=(), **members):
        """The members have __ for a colon in their names."""
        members = {"core__datatype": "cf32_le", **members}
        document = {"global": {k.replace("__", ":"): v for k, v in members.items()}, "captures": list(captures) if captures == () else captures}
        text = json.dumps(document, ensure_ascii=False)
        self.put("x.sigmf-meta", text.encode("utf-8", "surrogateescape"))
        self.put("x.sigmf-data", bytes(80))


def main():
    """Runs the tests of the file that was started."""
    unittest.main(argv=[sys.argv[0], *ARGUMENTS.tests], verbosity=2)
