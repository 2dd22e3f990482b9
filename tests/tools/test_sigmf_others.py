#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SigMF as others write it: archives, what later versions and extensions require, numbers and names that are carried
over; and recordings of the Python package sigmf.
"""
import hashlib
import io
import json
import os
import sys
import tarfile
import unittest

from test_sigmf import VALIDATOR, SigmfTest
from tools_harness import main, thorough


class CarriedOver(SigmfTest):
    NUMBERS = ["9007199254740993", "18446744073709551615", "-9223372036854775809", "1e400", "0.1000000000000000055511", "1E+2",
               "-0", "-0.0", "3.14159265358979323846264338327950288", "100000000000000000000000000000001",
               "2e-999", "1.50"]  # fmt: skip

    def write_text(self, members):
        self.write("r.sigmf-data", self.samples())
        self.write("r.sigmf-meta", members.encode())

    def test_numbers(self):
        """Digit by digit, wherever they are; not within strings, which look like numbers."""
        listed = ", ".join(self.NUMBERS)
        keys = ", ".join(f'"own:{i}": {number}' for i, number in enumerate(self.NUMBERS))
        self.write_text(
            f'{{"global": {{"core:datatype": "cf32_le", "own:s": "-1.5 \\"2\\\\", {keys}, '
            f'"own:l": [{listed}, {{"a": [{listed}]}}]}},'
            f'"captures": [{{"core:sample_start": 0, "core:global_index": 9007199254740993}}],'
            f'"annotations": [{{"core:sample_start": 7, "n": {self.NUMBERS[0]}}}, '
            f'{{"core:sample_start": 3, "n": 12345678901234567890}}]}}'
        )
        self.ok(self.demod("r", "out"))
        as_text = json.loads(self.read("out.sigmf-meta"), parse_int=str, parse_float=str)
        for i, number in enumerate(self.NUMBERS):
            self.assertEqual(as_text["global"][f"own:{i}"], number)
        self.assertEqual(as_text["global"]["own:l"], [*self.NUMBERS, {"a": self.NUMBERS}])
        self.assertEqual(as_text["global"]["own:s"], '-1.5 "2\\')
        self.assertEqual(as_text["captures"][0]["core:global_index"], "9007199254740993")
        self.assertEqual([(a["core:sample_start"], a["n"]) for a in as_text["annotations"]],
                         [("3", "12345678901234567890"), ("7", "9007199254740993")])  # fmt: skip

    def test_numbers_that_are_not_json(self):
        """cJSON takes some of them; what is written is JSON all the same."""
        for number in ("01", "1.", "-.5", "007.5"):
            self.write_text(f'{{"global": {{"core:datatype": "cf32_le", "own:n": {number}, "own:m": 9007199254740993}}}}')
            if self.demod("r", "out").code == 0:
                out = json.loads(self.read("out.sigmf-meta"), parse_int=str)["global"]
                self.assertEqual((float(out["own:n"]), out["own:m"]), (float(number), "9007199254740993"))

    def test_names_that_are_not_utf_8(self):
        data = self.samples()
        for raw, shown in ((b"a\xff.cf32", "a?.cf32"), (b"\xc3\xa4\xc3.cf32", "\u00e4?.cf32"), (b"\xed\xa0\x80.cf32", "???.cf32"),
                           (b"\xf4\x90\x80\x80\xf0\x9f\x92\xa5.cf32", "????\U0001f4a5.cf32"),
                           (b"\xc0\xaf.cf32", "??.cf32")):  # fmt: skip
            self.write(os.fsdecode(raw), data)
            self.ok(self.demod("--sigmf", os.fsdecode(raw), "out"))
            meta = json.loads(self.read("out.sigmf-meta").decode("utf-8"))["global"]
            self.assertEqual(meta["softqam:input"], shown)
            self.assertIn(shown, meta["core:description"])

    def test_texts_that_are_not_utf_8(self):
        self.write("r.sigmf-data", self.samples())
        self.write("r.sigmf-meta", b'{"global": {"core:datatype": "cf32_le", "core:author": "J\xfcrgen", "k\xff": 1}}')
        self.ok(self.demod("r", "out"))
        meta = json.loads(self.read("out.sigmf-meta").decode("utf-8"))["global"]
        self.assertEqual((meta["core:author"], meta["k?"]), ("J?rgen", 1))


class Required(SigmfTest):
    def test_versions(self):
        for version, good in (("0.0.1", True), ("1.0.0", True), ("1.99.0", True), ("2.0.0", False), ("10.0.0", False),
                              ("2", False),                              ("v2", True), ("", True)):  # fmt: skip
            self.record("r", self.samples(), core__version=version)
            result = self.demod("r", "x.u8")
            if good:
                self.ok(result)
            else:
                self.fails(result, 1, f"r.sigmf-meta: core:version: '{version}' is not supported, only versions 0 and 1")

    def test_extensions(self):
        cause = "r.sigmf-meta: core:extensions: '{}' is required to read it, and not supported"
        for extensions, missing in (
            ([], None), ([{"name": "a", "version": "1.0.0", "optional": True}], None),
            ([{"name": "a", "version": "1.0.0", "optional": False}], "a"), ([{"name": "a", "version": "1.0.0"}], None),
            ([{"name": "softqam", "version": "1.0.0", "optional": False}], None), ([{"optional": False}], ""),
            ([{"name": "a", "optional": True}, {"name": "b\n", "optional": False}], "b\\n"), ({"a": "0.0.1"}, None),
        ):  # fmt: skip
            self.record("r", self.samples(), core__extensions=extensions)
            result = self.demod("r", "x.u8")
            if missing is None:
                self.ok(result)
            else:
                self.fails(result, 1, cause.format(missing))

    def test_sample_start(self):
        for start in (-5, 0.5, "1", None, 1e300, [1]):
            for name in ("captures", "annotations"):
                self.record("r", self.samples(), **{name: [{"core:sample_start": start}]})
                result = self.demod("r", "out")
                self.fails(result, 1, f"r.sigmf-meta: {name}: core:sample_start: not a whole number")
        self.record("r", self.samples(), annotations=[{"core:comment": "x"}])
        self.fails(self.demod("r", "out"), 1, "r.sigmf-meta: annotations: one of them has no core:sample_start")


class Archives(SigmfTest):
    """NAME.sigmf: tar files, as tarfile and others write them."""

    def setUp(self):
        super().setUp()
        self.data = self.samples("cs16")
        self.expected = self.soft_bits(self.write("plain.cs16", self.data))
        self.meta_text = json.dumps(
            {"global": {"core:datatype": "ci16_le", "core:version": "1.0.0"}, "captures": [{"core:sample_start": 0}],
             "annotations": []}
        ).encode()

    def pack_archive(self, members, format_=tarfile.PAX_FORMAT, name="a.sigmf"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=format_) as tar:
            for path, content in members:
                info = tarfile.TarInfo(path)
                if content is None:
                    info.type = tarfile.DIRTYPE
                else:
                    info.size = len(content)
                tar.addfile(info, io.BytesIO(content or b""))
        self.write(name, buffer.getvalue())
        return buffer.getvalue()

    def test_formats(self):
        long = 30 * "deep/" + 120 * "n"
        for format_ in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            for stem in ("a/a", "a", "./x/y.z", long):
                if format_ == tarfile.USTAR_FORMAT and stem == long:
                    continue
                self.pack_archive(
                    [("d", None), ("d/README", b"text"), (stem + ".sigmf-data", self.data), ("other.sigmf-data", b"no"),
                     (stem + ".sigmf-meta", self.meta_text)], format_,
                )  # fmt: skip
                self.assertEqual(self.soft_bits("a.sigmf"), self.expected)
                self.ok(self.demod("a.sigmf", "out"))
                self.assertEqual(self.read("out.sigmf-data"), self.expected)
                global_ = self.meta("out")["global"]
                self.assertEqual(global_["softqam:input"], "a.sigmf")
                self.assertEqual(global_["softqam:input_sha512"], hashlib.sha512(self.data).hexdigest())

    def test_what_is_around_the_samples(self):
        document = json.loads(self.meta_text)
        around = b"head" + self.data + b"tail!"
        document["captures"][0]["core:header_bytes"] = 4
        document["global"].update({"core:trailing_bytes": 5, "core:dataset": "b.bin",
                                   "core:sha512": hashlib.sha512(around).hexdigest()})  # fmt: skip
        self.pack_archive([("a/b.bin", around), ("a/a.sigmf-meta", json.dumps(document).encode())])
        self.assertEqual(self.soft_bits("a.sigmf"), self.expected)
        self.ok(self.demod("a.sigmf", "out"))
        self.assertEqual(self.soft_bits("--skip", "10", "--count", "5", "a.sigmf"), self.expected[80:120])
        document["global"]["core:trailing_bytes"] = len(around)
        self.pack_archive([("a/b.bin", around), ("a/a.sigmf-meta", json.dumps(document).encode())])
        cause = f"a.sigmf: shorter than the {len(around) + 4} bytes around the samples that a.sigmf tells of"
        self.fails(self.demod("a.sigmf", "out"), 1, cause)

    def test_bad_archives(self):
        good = self.pack_archive([("a.sigmf-data", self.data), ("a.sigmf-meta", self.meta_text)])
        none = "a.sigmf: not an archive that can be read: {}"
        header = none.format("no tar header at byte {}")
        for content, cause in (
            (b"", header.format(0)), (b"x" * 511, header.format(0)), (b"x" * 5000, header.format(0)),
            (bytes(1024), header.format(0)),
            (b"\x1f\x8b" + good, header.format(0)), (good[:1000], none.format("it ends within the file at byte 0")),
            (good[:20] + b"x" + good[21:], header.format(0)), (good[:2800], header.format(2560)),
        ):  # fmt: skip
            self.write("a.sigmf", content)
            self.fails(self.demod("a.sigmf", "out"), 1, cause)
        for members, cause in (
            ([("a.sigmf-data", self.data)], "an archive with 0 recordings; unpack it and give a .sigmf-meta"),
            ([("a.sigmf-meta", self.meta_text), ("b.sigmf-meta", self.meta_text), ("a.sigmf-data", b"")],
             "an archive with 2 recordings; unpack it and give a .sigmf-meta"),
            ([("a/a.sigmf-meta", self.meta_text), ("a.sigmf-data", self.data)], "an archive without a/a.sigmf-data"),
            ([("a.sigmf-meta", b"{}")], "not SigMF: there is no object 'global'"),
            ([("a.sigmf-meta", b"\n{")], "line 2: not JSON"),
            ([("a.sigmf-data", self.data + b"x"), ("a.sigmf-meta", self.meta_text)],
             "not a whole number of symbols: 1 byte left over (a symbol has 4)"),
        ):  # fmt: skip
            self.pack_archive(members)
            self.fails(self.demod("a.sigmf", "out"), 1, f"a.sigmf: {cause}")
        os.remove(self.path("a.sigmf"))
        self.fails(self.demod("a.sigmf", "out"), 1, "a.sigmf: No such file or directory")
        os.mkfifo(self.path("a.sigmf"))
        fifo = os.open(self.path("a.sigmf"), os.O_RDWR)
        self.addCleanup(os.close, fifo)
        self.fails(self.demod("a.sigmf", "out"), 1, "a.sigmf: not a regular file, as an archive must be")
        self.assertFalse([name for name in self.files() if name.startswith("out")])

    def test_damaged_archives(self):
        """Whatever byte is wrong: one line, or the bytes; never the data of something else."""
        good = self.pack_archive(
            [("a/" + 150 * "n" + ".sigmf-data", self.data[:40]), ("a/" + 150 * "n" + ".sigmf-meta", self.meta_text)]
        )
        for at in range(0, len(good), 61):
            damaged = bytearray(good)
            damaged[at] ^= 0xFF
            self.write("a.sigmf", damaged)
            result = self.demod("a.sigmf", "-")
            self.assertIn(result.code, (0, 1))
            self.assertEqual(result.err.count("\n"), result.code, result.err)

    def test_not_over_the_input(self):
        self.pack_archive([("a.sigmf-data", self.data), ("a.sigmf-meta", self.meta_text)])
        cause = "a.sigmf: is INPUT's; give OUTPUT another name"
        self.fails(self.demod("-o", "u8", "--no-sigmf", "a.sigmf", "a.sigmf"), 2, cause)
        cause = "a.sigmf: an archive of SigMF, not samples; drop --input-format"
        self.fails(self.demod("-i", "cs16", "a.sigmf", "x.u8"), 2, cause)
        for name, what in (("a.sigmf-collection", "a collection of SigMF, not a recording"),
                           ("a.sigmf.gz", "a compressed archive of SigMF; unpack it")):  # fmt: skip
            self.fails(self.demod(name, "x.u8"), 2, f"{name}: {what}; give the .sigmf-meta of a recording")


class Generated(SigmfTest):
    """softqam-gen's recordings."""

    def test_recordings(self):
        for arguments, datatype, scale in (([], "cf32_le", 1), (["-o", "cs16"], "ci16_le", 1 / 8192),
                                           (["-o", "cs8", "--output-scale", "1/50"], "ci8", 1 / 50)):  # fmt: skip
            options = ["--symbols", "500", "--snr-db", "30", "--seed", "7", *arguments]
            for name in ("r.sigmf-meta", "r.sigmf-data"):
                self.assertEqual(self.ok(self.gen(*options, "--bits", "sent", name)).err, "")
                meta = self.meta("r")
                global_ = meta["global"]
                self.assertEqual((global_["core:datatype"], global_["softqam:input_scale"]), (datatype, scale))
                self.assertEqual(global_["core:description"], "500 random 256QAM symbols with noise at an Es/N0 of 30 dB, seed 7")
                self.assertEqual((meta["captures"], meta["annotations"]), ([{"core:sample_start": 0}], []))
                self.ok(self.gen("-q", *options[:6], "-o", datatype[:4].rstrip("_"), *arguments[2:], "plain"))
                self.assertEqual(self.read("r.sigmf-data"), self.read("plain"))
            result = self.ok(self.demod("--compare", "sent", "r", "out"))
            self.assertRegex(result.err, r"^softqam-demod: sent: \d of 4000 bits are wrong, bit error rate \S+\n$")
            if VALIDATOR:
                check = "import sigmf.sigmffile as s, sys\ns.fromfile(sys.argv[1], skip_checksum=False).validate()"
                self.ok(self.run_tool(VALIDATOR, "-c", check, "r.sigmf-meta"))

    def test_all_files_or_none(self):
        os.mkdir(self.path("x.sigmf-meta"))
        before = self.files()
        for arguments in ([], ["--bits", "sent"]):
            result = self.gen("--symbols", "10", *arguments, "x.sigmf-data")
            self.fails(result, 1, "x.sigmf-meta: Is a directory", "softqam-gen")
            self.assertEqual(self.files(), before)


# Writes recordings, half of them archives, and beside each the samples as a plain file.
WRITE = """
import os, sys, numpy, sigmf
from sigmf import SigMFFile
generator = numpy.random.default_rng(1)
DATATYPES = {"cf32_le": "<f4", "cf32_be": ">f4", "cf64_le": "<f8", "ci32_le": "<i4", "ci16_le": "<i2", "ci16_be": ">i2",
             "ci8": "i1", "cu8": "u1"}
for k in range(50):
    name = list(DATATYPES)[k % len(DATATYPES)]
    dtype = numpy.dtype(DATATYPES[name])
    components = generator.normal(size=2 * (k + 1)) / 3
    if dtype.kind != "f":
        components = components * numpy.iinfo(dtype).max / 2 + (128 if dtype.kind == "u" else 0)
        components = numpy.clip(components, numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    samples = components.astype(dtype)
    samples.tofile(f"r{k}.sigmf-data")
    samples.astype(dtype.newbyteorder("<")).tofile(f"plain{k}")
    meta = SigMFFile(data_file=f"r{k}.sigmf-data", global_info={
        SigMFFile.DATATYPE_KEY: name, SigMFFile.SAMPLE_RATE_KEY: 30.72e6, SigMFFile.AUTHOR_KEY: "a@b.example",
        SigMFFile.DESCRIPTION_KEY: f"number {k}", SigMFFile.HW_KEY: "none"})
    meta.add_capture(0, metadata={SigMFFile.FREQUENCY_KEY: 3.5e9, SigMFFile.DATETIME_KEY: "2025-01-01T00:00:00.000Z"})
    for start in range(0, k, 5):
        meta.add_annotation(start, 1, metadata={SigMFFile.COMMENT_KEY: "five"})
    meta.tofile(f"r{k}.sigmf-meta")
    if k % 2:
        meta.archive(f"r{k}.sigmf")
        os.remove(f"r{k}.sigmf-meta")
        os.remove(f"r{k}.sigmf-data")
print(sigmf.__version__)
"""
FORMATS = {"cf32_le": "cf32", "cf32_be": "cf32", "cf64_le": "cf64", "ci32_le": "cs32", "ci16_le": "cs16", "ci16_be": "cs16",
           "ci8": "cs8", "cu8": "cu8"}  # fmt: skip


@unittest.skipUnless(VALIDATOR, "the Python package sigmf is not installed; tools/setup.sh tests installs it")
@thorough
class OfThePackage(SigmfTest):
    def test_fifty_recordings(self):
        """Are read, with their hash, and what is written of them validates: all in one process."""
        print("sigmf", self.ok(self.run_tool(VALIDATOR, "-c", WRITE)).out.decode().strip())
        for k in range(50):
            datatype = list(FORMATS)[k % len(FORMATS)]
            expected = self.soft_bits("-i", FORMATS[datatype], f"plain{k}")
            self.ok(self.demod(f"r{k}.sigmf" if k % 2 else f"r{k}", f"out{k}"))
            self.assertEqual(self.read(f"out{k}.sigmf-data"), expected)
            meta = self.meta(f"out{k}")
            self.assertEqual(meta["global"]["softqam:input_datatype"], datatype)
            self.assertEqual(len(meta["annotations"]), (k + 4) // 5)
        validate = "import sys, warnings, sigmf.sigmffile\nwarnings.simplefilter('error')\n" \
                   "for k in range(50):\n" \
                   "    sigmf.sigmffile.fromfile(f'out{k}.sigmf-meta', skip_checksum=False).validate()"  # fmt: skip
        self.ok(self.run_tool(VALIDATOR, "-c", validate))


if __name__ == "__main__":
    sys.exit(main())
