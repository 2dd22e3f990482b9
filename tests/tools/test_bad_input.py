#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong files, names and recordings, as tables: each row with its exit status and one line, and without
a file that appears or changes. Nothing of the input is taken for a format, a command or a line end.
"""
import json
import os

from output_formats import OUTPUT_FORMATS
from tools_harness import DEMOD, GEN, HOSTILE, INPUT_FORMATS, SUFFIXES, ToolTest, main, pack

OLD = b"what was there before"
SYMBOL_NBYTES = {"cf32": 8, "cs16": 4, "cs8": 2, "cf16": 4, "cu8": 2, "cs32": 8, "cf64": 16}
INPUT_SUFFIXES = [*sum(SUFFIXES.values(), []), ".cu8", ".cs32", ".ci32", ".cf64"]
# Formats of others, and what only looks like one of ours.
UNKNOWN_SUFFIXES = [".wav", ".sc16q11", ".u80", ".cf32~", ".u8 ", ".cf32\n", ".%s", ".SIGMF-DATA", ".\u00e4"]
DATATYPES = "cf32, cf64, ci32, ci16 with _le or _be, ci8, cu8"
NPY_HEADER = b"\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (200,), }".ljust(127) + b"\n"
ABSENT = object()  # of a member of metadata
MISSING, ANOTHER = "No such file or directory", "give OUTPUT another name"
NOISE = ["-o", "s8", "--noise-file"]
NOT_WHOLE = "not a whole number of {}s: {} left over (a {} has {})"


class BadInput(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("x.cf32", bytes(80))
        self.write("x.u8", OLD)

    @staticmethod
    def commands(name):
        """A name in each position where a file is read, then in each where one is written."""
        readers = [(DEMOD, [name, "x.u8"]), (DEMOD, [*NOISE, name, "x.cf32", "x.s8"]), (DEMOD, ["--compare", name, "x.cf32", "x.u8"])]
        writers = [(DEMOD, ["x.cf32", name]), (GEN, ["-q", "--symbols", "1", name]), (GEN, ["-q", "--symbols", "1", "--bits", name, "y.cf32"])]
        return readers, writers


class Contents(BadInput):
    """Files that are not what they should be."""

    def test_symbols_that_are_not_whole(self):
        for name, size in SYMBOL_NBYTES.items():
            for left in {1, size - 1}:
                cause, data = NOT_WHOLE.format("symbol", "1 byte" if left == 1 else f"{left} bytes", "symbol", size), bytes(7 * size + left)
                self.write("y." + name, data)
                self.refuses(DEMOD, ["y." + name, "-"], 1, f"y.{name}: {cause}")
                self.refuses(DEMOD, ["-i", name, "-", "x.u8"], 1, f"standard input: {cause}", data=data)

    def test_values_that_do_not_fit(self):
        """Numbers of values of a noise file and of --compare's, for 10 symbols: too few, too many, from a file and from a pipe."""
        noise, bits = [*NOISE, "{}", "x.cf32", "x.s8"], ["--compare", "{}", "x.cf32", "x.u8"]
        few, many, of = "too few", "too many", " for the symbols of x.cf32"
        for arguments, n, from_file, from_pipe in (
            *((noise, n, *2 * [f"{few if n < 40 else many} noise variances" + of]) for n in (0, 36, 44, 4000)),
            (noise, 43, NOT_WHOLE.format("noise variance", "3 bytes", "noise variance", 4), None),
            (noise, 37, None, NOT_WHOLE.format("noise variance", "1 byte", "noise variance", 4)),
            *((bits, n, *2 * [f"{few if n < 80 else many} bits" + of]) for n in (1, 79, 81)),
        ):
            self.write("values", bytes(n))
            if from_file:
                self.refuses(DEMOD, [word.format("values") for word in arguments], 1, f"values: {from_file}")
            if from_pipe:
                self.refuses(DEMOD, [word.format("-") for word in arguments], 1, f"standard input: {from_pipe}", data=bytes(n))
        self.write("values", bytes(79) + b"2")
        self.refuses(DEMOD, ["--compare", "values", "x.cf32", "x.u8"], 1, "values: not bits: a byte is neither 0 nor 1")
        self.refuses(DEMOD, [*NOISE, "x.cf32", "-", "x.s8"], 1, "x.cf32: too many noise variances for the symbols of standard input")

    def test_noise_files_of_another_kind(self):
        """With --count no length of symbols from a pipe shows that a noise file has a header, or is text."""
        for name, data, cause in (
            ("n0.npy", NPY_HEADER + bytes(800), "a NumPy array, which has a header; write its values by tofile()"),
            ("n0.txt", b"0.001\n" * 100, "text, not 32-bit floats"),
        ):  # fmt: skip
            self.write(name, data)
            for arguments in ([name, "x.cf32", "x.s8"], [name, "--count", "5", "-", "x.s8"]):
                self.refuses(DEMOD, [*NOISE, *arguments], 1, f"{name}: {cause}", data=bytes(80))

    def test_what_has_no_parts(self):
        message = "standard input: not a regular file, so no part of it can be chosen"
        for arguments in (["-", "x.u8"], [*NOISE, "-", "x.cf32", "x.s8"], ["--compare", "-", "x.cf32", "x.u8"]):
            self.refuses(DEMOD, ["--shard", "1/2", *arguments], 1, message)
        for name, shown in (("x.cf32", "x.cf32"), ("-", "standard input")):
            self.refuses(DEMOD, ["--skip", "11", name, "x.u8"], 1, f"{shown}: has only 10 symbols, so --skip 11 leaves nothing", data=bytes(80))

    def test_nothing_to_estimate_from(self):
        nothing, none = "no finite symbol {}among the first {} to estimate {} from", pack("f", [float("nan"), 1, 1, float("inf")])
        for data, zeros in ((bytes(800), "but zeros "), (none, "")):
            message = "standard input: " + nothing.format(zeros, 262144, "the noise variance")
            self.refuses(DEMOD, ["--noise-var", "auto", "-", "x.s8"], 1, message, data=data)
        self.refuses(DEMOD, ["--input-scale", "auto", "x.cf32", "x.u8"], 1, "x.cf32: " + nothing.format("but zeros ", 10, "--input-scale"))

    def test_no_scale_for_them(self):
        for size, adjective in ((1e-45, "small"), (1e-39, "small"), (3e38, "large")):
            for n in (10, 5000):
                self.write("odd.cf32", pack("f", n * [size, -size]))
                self.refuses(DEMOD, ["--input-scale", "auto", "odd.cf32", "x.u8"], 1, f"odd.cf32: the symbols are too {adjective} for --input-scale auto")


class Names(BadInput):
    def test_what_is_no_file(self):
        os.mkdir(self.path("d"))
        os.symlink("loop", self.path("loop"))
        os.symlink("nowhere", self.path("dangling"))
        for name, read, written in (
            ("none/x", MISSING, MISSING), ("", MISSING, MISSING), ("x.", MISSING, None), ("d", "Is a directory", "Is a directory"),
            ("/dev/fd/", "Is a directory", "Is a directory"), ("x.cf32/y", *2 * ["Not a directory"]), ("loop", *2 * ["Too many levels of symbolic links"]),
            ("dangling", MISSING, MISSING), (256 * "y", *2 * ["File name too long"]), (5000 * "y/", *2 * ["File name too long"]),
            ("/dev/full", None, "No space left on device"), ("none/", None, MISSING),
        ):  # fmt: skip
            for cause, commands in zip((read, written), self.commands(name)):
                for program, arguments in commands if cause else []:
                    self.refuses(program, arguments, 1, f"{name[:4096] or chr(39) * 2}: {cause}")
        self.refuses(DEMOD, ["/dev/fd/77", "y.u8"], 1, "/dev/fd/77: Bad file descriptor")

    def test_hostile_names(self):
        """Names like any other: read, written, and shown in one line."""
        for name, shown in HOSTILE.items():
            readers, writers = self.commands(name)[0], self.commands(f"none/{name}/y")[1]
            for program, arguments in readers:
                self.refuses(program, arguments, 1, f"{shown}: {MISSING}")
            for program, arguments in writers:
                self.refuses(program, arguments, 1, f"none/{shown}/y: {MISSING}")
            self.write(name, bytes(80))
            result = self.ok(self.demod("--verify", "./" + name, f"./{name}.u8"))
            self.assertEqual((result.err.count("\n"), len(self.read(name + ".u8"))), (2, 80))
        self.assertFalse(os.path.exists(self.path("pwned")))

    def test_suffixes(self):
        """Suffixes of the other operand, as swapped ones have them, and unknown ones: the format would be a guess. The name alone is wrong."""
        soft_bits, generated = ", ".join(OUTPUT_FORMATS), "cf32, cs16, cs8, cf16"
        rows = [(program, [*before, name, *after], f"{name}: suffix {name[1:].lower()} means {what}; --{option}-format overrides it")
                for names, what, commands in ((INPUT_SUFFIXES, "symbols, not soft bits or LLRs", [(DEMOD, ["x.cf32"], [], "output"), (DEMOD, ["-"], [], "output")]),
                                              ([f".{name}" for name in OUTPUT_FORMATS], "soft bits or LLRs, not symbols",
                                               [(DEMOD, [], ["y"], "input"), (GEN, [], [], "output")]))
                for suffix in names for name in ("y" + suffix, "y" + suffix.upper()) for program, before, after, option in commands]  # fmt: skip
        rows += [(program, [*before, "y" + suffix, *after], f"y{suffix}: suffix {suffix} is unknown; --{option}-format names the format: {known}")
                 for suffix in UNKNOWN_SUFFIXES
                 for program, before, after, option, known in ((DEMOD, [], ["x.u8"], "input", INPUT_FORMATS), (DEMOD, ["-"], [], "output", soft_bits),
                                                               (GEN, ["--symbols", "1"], [], "output", generated))]  # fmt: skip
        for program, arguments, message in rows:
            self.refuses(program, arguments, 2, message.replace("\n", "\\n"))

    def test_permissions(self):
        """A file that may not be written is not to be replaced either, though its folder would allow that."""
        nobody = self.as_nobody()
        os.chmod(self.path("x.u8"), 0o444)
        os.chmod(self.directory, 0o777)
        self.refuses(DEMOD, ["x.cf32", "x.u8"], 1, "x.u8: Permission denied", **nobody)
        os.chmod(self.path("x.cf32"), 0)
        self.refuses(DEMOD, ["x.cf32", "y.u8"], 1, "x.cf32: Permission denied", **nobody)


class Lost(BadInput):
    """Files that are read, or written twice, and would be lost."""

    def other_names(self, name):
        """Gives a file of the directory other names, and returns them."""
        os.makedirs(self.path("d"), exist_ok=True)
        for link in ("symlink", "hard"):
            if os.path.lexists(self.path(link)):
                os.remove(self.path(link))
        os.symlink("d/../" + name, self.path("symlink"))
        os.link(self.path(name), self.path("hard"))
        return [name, "./" + name, self.path(name), "symlink", "hard", f"/proc/self/cwd/{name}"]

    def test_outputs_that_are_read(self):
        """Whatever the options, and however many symbols and noise variances there are."""
        self.write("cap.cf32", bytes(range(80)))
        self.write("n0", bytes(41))
        for name in self.other_names("cap.cf32"):
            self.refuses(DEMOD, ["-i", "cf32", "-o", "u8", "cap.cf32", name], 2, f"{name}: is INPUT as well; {ANOTHER}")
            self.refuses(DEMOD, ["-i", "cf32", "-o", "u8", "-n", "--verify", name, "cap.cf32"], 2, f"cap.cf32: is INPUT as well; {ANOTHER}")
        for name in self.other_names("n0"):
            self.refuses(DEMOD, [*NOISE, "n0", "x.cf32", name], 2, f"{name}: is --noise-file as well; {ANOTHER}")
            self.refuses(DEMOD, ["-o", "hard", "--compare", "n0", "x.cf32", name], 2, f"{name}: is --compare's as well; {ANOTHER}")

    def test_two_outputs_that_are_one(self):
        self.write("y", OLD)
        pairs = [(name, "y") for name in self.other_names("y")] + [("d/../new", "./new"), ("-", "/dev/stdout"), ("y.sigmf-data", "y.sigmf-meta")]
        for bits, output in pairs:
            self.refuses(GEN, ["--bits", bits, output], 2, f"--bits: '{bits}' is OUTPUT as well")
        os.symlink("o.sigmf-data", self.path("o.sigmf-meta"))
        os.symlink("y", self.path("o.sigmf-data"))
        self.refuses(GEN, ["o.sigmf-meta"], 2, f"o.sigmf-meta: is o.sigmf-data as well; {ANOTHER}")


class Recordings(BadInput):
    def record(self, captures=(), **members):
        """The members of the global object have __ for a colon in their names."""
        members = {"core__datatype": "cf32_le", **members}
        document = {"global": {k.replace("__", ":"): v for k, v in members.items() if v is not ABSENT}, "captures": captures}
        self.write("x.sigmf-meta", json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogateescape"))
        self.write("x.sigmf-data", bytes(80))

    def recording_refused(self, message, meta="x.sigmf-meta: "):
        for name in ("x.sigmf-meta", "x.sigmf-data"):
            self.refuses(DEMOD, [name, "x.u8"], 1, meta + message)

    def test_recordings_that_would_be_lost(self):
        self.record()
        for output in ("x.sigmf-meta", "./x.sigmf-data"):
            for name in ("x", "x.sigmf-meta", "x.sigmf-data"):
                self.refuses(DEMOD, ["-o", "u8", name, output], 2, f"{output}: is INPUT's; {ANOTHER}")
        plain = ["-o", "u8", "-i", "cf32", "x.sigmf-data"]
        self.refuses(DEMOD, [*plain, "x.sigmf-meta"], 2, f"x.sigmf-meta: is INPUT's; {ANOTHER}")
        self.refuses(DEMOD, [*plain, "x.sigmf-data"], 2, f"x.sigmf-data: is INPUT as well; {ANOTHER}")
        for link in (os.symlink, os.link):
            link(self.path("x.sigmf-meta"), self.path("y"))
            self.refuses(DEMOD, ["x", "y"], 2, f"y: is INPUT's; {ANOTHER}")
            os.remove(self.path("y"))

    def test_commands(self):
        """SigMF's files that are no samples, and names that are none of a recording's."""
        self.record()
        metadata = "metadata of SigMF, not samples; give the .sigmf-data, or drop --input-format"
        for name in ("x.sigmf-meta", "none.sigmf-meta"):
            self.refuses(DEMOD, ["-i", "cf32", name, "y"], 2, f"{name}: {metadata}")
        self.refuses(DEMOD, ["x.sigmf", "y"], 2, "x.sigmf: an archive of SigMF; unpack it with tar, and give its .sigmf-meta")
        for suffix in (".sigmf", ".sigmf-meta", ".sigmf-data"):
            known = "--output-format names the format: " + ", ".join(OUTPUT_FORMATS)
            self.refuses(DEMOD, ["x", "z" + suffix], 2, f"z{suffix}: suffix {suffix} is unknown; {known}")
        self.refuses(GEN, ["-o", "cf16", "y.sigmf-meta"], 2, "--output-format: cf16 has no datatype in SigMF; choose another")
        for member, what in (({"softqam__modulation": "qpsk"}, "qpsk"), ({"softqam__c_init": 0}, "what is descrambled")):
            self.record(**member)
            self.refuses(DEMOD, ["x", "y"], 2, f"x.sigmf-meta: {what} has no soft bits u8; choose LLRs, hard or bits with --output-format")

    def test_members(self):
        """Values that no member can have: hostile texts, wrong types, counts that no file holds, of which sums must not overflow."""
        huge = 10**400
        elsewhere = "its samples are not in the file beside it; copy them to one"
        rows = [
            (f"core:datatype: '' is not one of {DATATYPES}", "core__datatype", [ABSENT, 8]),
            *((f"core:datatype: '{t}' is not one of {DATATYPES}", "core__datatype", [t]) for t in ("rf32_le", "cf32", "cf16_le", "ru8", "")),
            ("core:num_channels: not a number from 1 to 1024", "core__num_channels", [0, -1, 0.5, 1025, huge, "1", None, True, []]),
            ("core:num_channels: 2; --channel K/2 chooses one", "core__num_channels", [2]),
            ("core:trailing_bytes: not a number of bytes", "core__trailing_bytes", [-1, 0.5, 1 << 53, huge, "1", None, True, []]),
            (elsewhere, "core__metadata_only", [True]),
            (elsewhere, "core__dataset", ["../x", 7, None]),
            ("softqam:input_scale: not a positive number", "softqam__input_scale", [0, -1, huge, 1e39, 1e-39, "1", None, True]),
            ("core:version: '' is not supported, only versions 0 and 1", "core__version", [1, None, {}]),
            *((f"core:version: '{v}' is not supported, only versions 0 and 1", "core__version", [v]) for v in ("2.0.0", "10.0.0")),
            *((f"core:extensions: '{name}' is required to read it, and not supported", "core__extensions", [extensions])
              for name, extensions in (("", [{"optional": False}]), ("b\\n", [{"name": "a", "optional": True}, {"name": "b\n", "optional": False}]),
                                       ("softqam", [{"name": "softqam", "version": "2.0.0", "optional": False}]))),
            *((f"softqam:modulation: '{m if isinstance(m, str) else ''}' is no modulation of 5G NR", "softqam__modulation", [m])
              for m in ("8psk", "", "qpsk ", 4, None)),
            ("softqam:c_init: not a whole number from 0 to 2147483647", "softqam__c_init", [-1, 0.5, "1", None, True, 1 << 31]),
        ]  # fmt: skip
        for message, member, values in rows:
            for value in values:
                self.record(**{member: value})
                self.recording_refused(message)
        for captures, message in (([{}, {"core:header_bytes": 4}], "among the samples too; copy the samples of one capture out of them"),
                                  ([{"core:header_bytes": "x"}], "not a number of bytes"), ([{"core:header_bytes": -1}], "not a number of bytes")):  # fmt: skip
            self.record(captures)
            self.recording_refused("core:header_bytes: " + message)
        self.record(core__trailing_bytes=81)
        self.recording_refused("core:trailing_bytes is 81, and only 80 bytes are there", "x.sigmf-data: ")
        self.assertFalse(os.path.exists(self.path("pwned")))

    def test_metadata_that_are_none(self):
        """No JSON, or no SigMF."""
        self.record()
        for text, cause in (
            *((text, "not JSON") for text in (b"", b"\0", b'{"global":\n{},\n}', b'{"global":{}}x', b'{"global":{}}\0', 5000 * b"[")),
            (b'{"global":{"core:datatype":"cf32_le","core:datatype":"cf32_be"}}', "core:datatype: twice in 'global'"),
            *((text, "a string has the character U+0000")
              for text in (rb'{"global":{"core:datatype":"cf32_le\u0000"}}', rb'{"global":{"core:datatype\u0000":"cf32_le"}}', rb'{"global":{},"x":"\\\u0000"}')),
            *((text, "not SigMF: there is no object 'global'") for text in (b"7", b'{"global":3}', b'{"Global":{"core:datatype":"ci8"}}')),
        ):  # fmt: skip
            self.write("x.sigmf-meta", text)
            self.recording_refused(cause)
        self.record(core__description="a backslash, then: \\u0000")
        self.ok(self.demod("-q", "x", "x.u8"))


main()
