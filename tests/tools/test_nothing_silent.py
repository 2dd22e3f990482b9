#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That nothing goes wrong quietly: reports that nobody gets, symbols that are not what the command takes them for,
metadata that say two things at once, files that are replaced.
"""
import os
import resource
import struct
import sys
import tarfile

from mpi_environment import MPI_ENVIRONMENT
from tools_harness import ARGUMENTS, BOTH_DEMODS, DEMOD, DEMOD_MPI, GEN, MODULATIONS, ToolTest, main, pack, tool

NO_ID = 0xFFFFFFFF
ENVIRONMENT = {**os.environ, **MPI_ENVIRONMENT}


class Reports(ToolTest):
    """C1: a report that could not be written is a failure, and OUTPUT is there all the same."""

    def lost(self, program, *arguments):
        """The exit status with standard error on a full disk, and closed."""
        with open("/dev/full", "wb") as full:
            on_full = self.run_tool(program, *arguments, stderr=full, env=ENVIRONMENT).code
        closed = self.run_tool(program, *arguments, stderr=None, preexec_fn=lambda: os.close(2), env=ENVIRONMENT).code
        return on_full, closed

    def test_lost(self):
        self.make("x.cf32", "--symbols", "2000", "--bits", "sent")
        for program in BOTH_DEMODS:
            for report in (["--stats"], ["--stats=json"], ["--compare", "sent"], ["--verify"], ["--input-scale", "1/2"]):
                with self.subTest(program=program, report=report):
                    self.assertEqual(self.lost(program, *report, "x.cf32", "y.u8"), (1, 1))
                    self.assertEqual(len(self.read("y.u8")), 16000)
        self.assertEqual(self.lost(GEN, "--symbols", "9", "z.cs8"), (1, 1))

    def test_nothing_to_say(self):
        self.make("x.cf32", "--symbols", "2000")
        for arguments in (["x.cf32", "y.u8"], ["-q", "--input-scale", "1/2", "x.cf32", "y.u8"],
                          ["--progress", "always", "x.cf32", "y.u8"]):  # fmt: skip
            self.assertEqual(self.lost(DEMOD, *arguments), (0, 0), arguments)


class Stacks(ToolTest):
    """C6: threads have stacks of a size of their own, whatever `ulimit -s` is; the first has what is left of the limit."""

    def test_small(self):
        if ARGUMENTS.quick:
            self.skipTest("sanitizers need more")
        self.make("x.cf32", "--symbols", "600000", "--snr-db", "30", "--bits", "sent")
        expected = self.ok(self.demod("x.cf32", "-")).out
        for kib in (64, 128):
            limit = {"preexec_fn": lambda size=1024 * kib: resource.setrlimit(resource.RLIMIT_STACK, (size, size))}
            self.ok(self.gen("-q", "--threads", "4", "--symbols", "600000", "--snr-db", "30", "y.cf32", **limit))
            self.assertEqual(self.read("y.cf32"), self.read("x.cf32"))
            self.assertEqual(self.ok(self.demod("y.cf32", "-", **limit)).out, expected)
            options = ["--input-scale", "auto", "--noise-var", "auto", "--stats", "--verify", "--compare", "sent", "-o", "s8"]
            self.ok(self.demod(*options, "y.cf32", "z.s8", **limit))


class Constellation(ToolTest):
    """C2: a recording's own modulation and c_init count; a warning says what else symbols look like, and what mends it."""

    LOOKS = r"x\.{}: warning: its first \d+ symbols look like {} (at {}\.\d dB|without noise)(?: of another scale)?, not {}; use {}"

    def says(self, *arguments):
        return self.ok(self.demod(*arguments)).err.replace("softqam-demod: ", "").splitlines()

    def test_recording(self):
        for name in MODULATIONS:
            with self.subTest(modulation=name):
                self.make("x.sigmf-meta", "-m", name, "--c-init", "77", "--symbols", "5000", "--bits", "sent")
                self.assertEqual(self.says("--compare", "sent", "x.sigmf-meta", "y.hard"),
                                 [f"sent: 0 of {5000 * MODULATIONS[name][0]} bits are wrong, bit error rate 0"])  # fmt: skip
        (error,) = self.demod("x", "y.u8").err.splitlines()
        self.assertIn("x.sigmf-meta: 1024qam has no soft bits u8", error)

    def test_recording_that_is_contradicted(self):
        self.make("x.sigmf-meta", "-m", "qpsk", "--c-init", "77", "--symbols", "5000")
        self.assertEqual(self.says("-m", "QPSK", "--c-init", "77", "x", "y.hard"), [])
        first, second = self.says("-m", "16qam", "--c-init", "none", "x", "y.hard")[:2]
        self.assertEqual(first, "x.sigmf-meta: warning: says QPSK, but --modulation 16qam")
        self.assertEqual(second, "x.sigmf-meta: warning: says c_init 77, but --c-init none")
        warnings = self.says("--c-init", "78", "x", "y.hard")
        self.assertEqual(warnings, ["x.sigmf-meta: warning: says c_init 77, but --c-init 78"])
        self.make("x.sigmf-meta", "--c-init", "77", "--symbols", "5000")
        self.fails(self.demod("x", "z.u8"), 2, "x.sigmf-meta: what is descrambled has no soft bits u8; choose LLRs, hard "
                                               "or bits with --output-format")  # fmt: skip

    def test_plain(self):
        """Each of 256QAM read as QPSK, QPSK as 256QAM and so on, at the right scale and at others."""
        for name, snr_db in (("bpsk", 12), ("pi2-bpsk", 12), ("qpsk", 9), ("16qam", 18), ("64qam", 24), ("256qam", 30),
                             ("1024qam", 36)):  # fmt: skip
            self.make("x.cs16", "-m", name, "--symbols", "9000", "--snr-db", str(snr_db))
            for other in MODULATIONS:
                for scale, mends in (("1/8192", ""), ("1/3000", " --input-scale auto")):
                    with self.subTest(modulation=name, other=other, scale=scale):
                        warnings = self.says("-m", other, "--input-scale", scale, "x.cs16", "y.hard")
                        if name == other:
                            self.assertEqual(len(warnings), bool(mends))
                            continue
                        (warning,) = warnings
                        shown = {n: n.upper().replace("PI2", "pi/2") for n in MODULATIONS}
                        self.assertRegex(warning, "^" + self.LOOKS.format("cs16", shown[name], f"({snr_db - 1}|{snr_db})",
                                                                          shown[other], f"--modulation {name}{mends}") + "$")  # fmt: skip
        self.make("x.cf32", "--symbols", "9000", "--snr-db", "16")
        self.assertEqual(self.says("-m", "qpsk", "x.cf32", "y.hard"),
                         ["x.cf32: warning: its first 8192 symbols do not look like QPSK, but have more points; "
                          "--modulation tells which"])  # fmt: skip
        self.assertEqual(self.says("x.cf32", "y.hard"), [])

    def mix(self, name, snrs_db):
        """Symbols whose noise variances vary: x.cf32 and n0."""
        parts = []
        for snr_db in snrs_db:
            self.make("part.cf32", "-m", name, "--symbols", "2000", f"--snr-db={snr_db}", "--seed", str(50 + snr_db))
            parts.append(self.read("part.cf32"))
        self.write("x.cf32", b"".join(part[16 * k : 16 * k + 16] for k in range(1000) for part in parts))
        self.write("n0", pack("f", 1000 * [10 ** (-snr_db / 10) for snr_db in snrs_db for _ in range(2)]))

    def test_noise_of_a_slot(self):
        """Noise variances that vary by 20 dB are no other modulation, nor are symbols that fade."""
        for name in MODULATIONS:
            self.mix(name, (20, 25, 30, 35, 40))
            self.assertEqual(self.says("-m", name, "--noise-file", "n0", "x.cf32", "y.s8"), [], name)
            self.assertEqual(self.says("-m", name, "x.cf32", "y.hard"), [], name)
        for name in ("bpsk", "pi2-bpsk", "qpsk"):
            self.mix(name, (-15, -10, -5, 0, 5))
            self.assertNotIn("look", " ".join(self.says("-m", name, "x.cf32", "y.hard")), name)

    def test_strict(self):
        self.make("x.cf32", "--symbols", "9000", "--snr-db", "30")
        self.write("y.s8", b"old")
        for program in BOTH_DEMODS:
            for arguments in (["-m", "qpsk"], ["--input-scale", "1/2"], ["--snr-db", "20"], ["--count", "9001"], ["-q", "-m", "qpsk"]):
                with self.subTest(program=program, arguments=arguments):
                    noise = [] if "--snr-db" in arguments else ["--snr-db", "30"]
                    command = [program, *noise, *arguments, "x.cf32", "y.s8", "--strict"]
                    result = self.run_tool(*command, env=ENVIRONMENT)
                    self.assertEqual((result.code, self.files(), self.read("y.s8")), (1, ["x.cf32", "y.s8"], b"old"))
                    self.assertRegex(result.err, r"\A[^\n]*: warning: [^\n]*\n\Z")
            self.ok(self.run_tool(program, "--strict", "--snr-db", "30", "x.cf32", "z.s8", env=ENVIRONMENT))
            os.remove(self.path("z.s8"))

    def test_count_beyond_the_end(self):
        self.make("x.cf32", "--symbols", "100")
        for where in ("x.cf32", "-"):
            name = "standard input" if where == "-" else where
            result = self.ok(self.demod("--skip", "60", "--count", "41", where, "y.u8", data=self.read("x.cf32")))
            self.assertEqual(result.err, f"softqam-demod: {name}: warning: only 40 symbols after --skip, fewer than --count 41\n")
            self.assertEqual(self.ok(self.demod("--count", "100", where, "y.u8", data=self.read("x.cf32"))).err, "")


class Replaced(ToolTest):
    """C5: what replaces a file has its mode, owner, access control list and attributes; nobody gains access by it."""

    # user rw, user 1234 rw, group nothing, mask rw, others nothing
    ACL = struct.pack("<I" + 5 * "HHI", 2, 1, 6, NO_ID, 2, 6, 1234, 4, 0, NO_ID, 16, 6, NO_ID, 32, 0, NO_ID)

    def commands(self):
        return [*((program, "x.cf32", "old") for program in BOTH_DEMODS), (GEN, "-q", "--symbols", "9", "old")]

    def replaced(self, command, mode, owner=None, acl=None, **options):
        self.write("old", b"old")
        path = self.path("old")
        os.chmod(path, mode)
        if owner:
            os.chown(path, *owner)
        if acl:
            os.setxattr(path, "system.posix_acl_access", acl)
        os.setxattr(path, "user.note", b"mine")
        self.ok(self.run_tool(*command, env=ENVIRONMENT, **options))
        self.assertNotEqual(self.read("old"), b"old")
        return os.stat(path)

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "100")
        try:
            os.setxattr(self.path("x.cf32"), "system.posix_acl_access", self.ACL)
            os.setxattr(self.path("x.cf32"), "user.note", b"mine")
        except OSError:
            self.skipTest("no attributes on this file system")

    def test_all_is_kept(self):
        for command in self.commands():
            with self.subTest(command=command):
                status = self.replaced(command, 0o640, acl=self.ACL)
                self.assertEqual(os.getxattr(self.path("old"), "system.posix_acl_access"), self.ACL)
                self.assertEqual(os.getxattr(self.path("old"), "user.note"), b"mine")
                os.remove(self.path("old"))
                owner = (1234, 4321) if os.geteuid() == 0 else None
                status = self.replaced(command, 0o604, owner)
                self.assertEqual(status.st_mode & 0o777, 0o604)
                if owner:
                    self.assertEqual((status.st_uid, status.st_gid), owner)
                self.assertEqual(os.listxattr(self.path("old")), ["user.note"])
                os.remove(self.path("old"))

    def test_a_group_that_cannot_be_kept(self):
        """Another one gets what others have, a list is as narrow."""
        if os.geteuid() != 0:
            self.skipTest("needs root")
        os.chmod(self.directory, 0o777)
        os.chmod(self.path("x.cf32"), 0o644)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        for mode, expected in ((0o662, 0o622), (0o676, 0o666), (0o602, 0o622)):
            status = self.replaced(self.commands()[0], mode, (0, 0), **nobody)
            self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o777), (65534, 65534, expected))
            os.remove(self.path("old"))

    def test_list_of_the_folder(self):
        """A default one is for files that are new."""
        os.setxattr(self.directory, "system.posix_acl_default", self.ACL)
        self.write("old", b"old")
        os.removexattr(self.path("old"), "system.posix_acl_access")
        os.chmod(self.path("old"), 0o644)
        self.ok(self.demod("x.cf32", "old"))
        self.assertEqual((os.listxattr(self.path("old")), os.stat(self.path("old")).st_mode & 0o777), ([], 0o644))


class Texts(ToolTest):
    """C7 and C8: each says what is the case, and what mends it."""

    def row(self, arguments, code, message, program="softqam-demod", **options):
        before = self.files()
        with self.subTest(arguments=arguments):
            result = self.run_tool(tool(program), *arguments, **options)
            self.assertEqual((result.err, result.code), (f"{program}: {message}\n", code))
            self.assertEqual(self.files(), before)

    def test_names(self):
        self.make("x.cf32", "--symbols", "100")
        self.make("r.sigmf-meta", "--symbols", "100")
        for name in ("r.sigmf", "r.sigmf.gz", "r.sigmf-collection"):
            self.row(["x.cf32", name], 2, f"{name}: not the name of a recording; OUTPUT.sigmf-meta is")
            self.row([name], 2, f"{name}: not the name of a recording; OUTPUT.sigmf-meta is", "softqam-gen")
        for name in ("foo.wav", "take.2"):
            self.row(["r", name], 2, f"{name}: suffix {os.path.splitext(name)[1]} is unknown; --sigmf makes a recording of that "
                                     "name, and --output-format names the format of a plain file")  # fmt: skip
        self.ok(self.demod("--sigmf", "r", "take.2"))
        self.ok(self.demod("-o", "u8", "r", "foo.wav"))
        self.assertEqual(self.files(), ["foo.wav", "r.sigmf-data", "r.sigmf-meta", "take.2.sigmf-data", "take.2.sigmf-meta", "x.cf32"])
        self.row(["--backend", "cpu", "--device", "0", "x.cf32", "y.u8"], 2, "--device: contradicts --backend cpu")
        self.row(["--device", "all", "--backend", "cpu", "x.cf32", "y.u8"], 2, "--device: contradicts --backend cpu")

    def test_any_case(self):
        self.make("x.cf32", "-m", "QPSK", "--symbols", "2000")
        expected = self.ok(self.demod("-m", "qpsk", "-i", "cf32", "-o", "hard", "x.cf32", "-")).out
        self.assertEqual(self.ok(self.demod("-m", "QPSK", "-i", "CF32", "-o", "Hard", "--progress", "NEVER", "x.cf32", "-")).out, expected)

    def test_foreign_files(self):
        header = b"\x07\x07\x02\x00\x07rx_rate\x04" + 100 * b"\x41"
        with tarfile.open(self.path("t.tar"), "w") as tar:
            tar.add(self.path(self.make("x.cf32", "--symbols", "100")), "x.cf32")
        for data, what in ((header, "a header of GNU Radio's; a detached one leaves plain samples"),
                           (b"\x09" + header[1:], "a header of GNU Radio's; a detached one leaves plain samples"),
                           (self.read("t.tar"), "a tar archive; unpack it"), (b"RIFF\x00\x00\x00\x00WAVE" + bytes(84), "a WAV file; convert it"),
                           (b"\x93NUMPY\x01\x00" + bytes(80), "a NumPy array; its tofile() writes plain samples"),
                           (b"MATLAB 5.0 MAT-file" + bytes(85), "a MATLAB file; its fwrite() writes plain samples"),
                           (b"\x89HDF\r\n\x1a\n" + bytes(96), "an HDF5 file; convert it")):  # fmt: skip
            self.write("f", data + bytes(-len(data) % 8))
            for where in ("f", "-"):
                name = "standard input" if where == "-" else where
                result = self.ok(self.demod(where, "y.hard", data=self.read("f")))  # fmt: skip
                self.assertEqual(result.err.splitlines()[0], f"softqam-demod: {name}: warning: begins like {what}")
        self.assertNotIn("begins", self.demod("--skip", "1", "f", "y.hard").err)

    def test_what_help_says(self):
        text = " ".join(self.ok(self.demod("--help")).out.decode().split())
        self.assertIn("A recording is two files: between their names there is an instant in which kill -9 leaves new data beside old "
                      "metadata, whose core:sha512 then differs, or a name .softqam-*.tmp.", text)  # fmt: skip
        self.assertIn("keeps its mode, access control list and user attributes, and its owner and group where that is allowed", text)

    def test_mpi_says_why(self):
        """As MPI does not, of a disk that is full or a limit."""
        if DEMOD_MPI not in BOTH_DEMODS:
            self.skipTest("built without MPI, or with a sanitizer")
        self.make("x.cf32", "--symbols", "30000")
        self.row(["x.cf32", "y.u8"], 1, "y.u8: File too large", "softqam-demod-mpi", env=ENVIRONMENT,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
