#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SigMF as others write it: what later versions and extensions require, names that are not UTF-8; and recordings of the Python package sigmf.
"""
import json
import os
import sys
import unittest

from test_sigmf import VALIDATOR, SigmfTest
from tools_harness import main, thorough


class CarriedOver(SigmfTest):
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


class Required(SigmfTest):
    def test_versions(self):
        for version, good in (("0.0.1", True), ("1.0.0", True), ("1.99.0", True), ("2.0.0", False), ("10.0.0", False)):
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


# Writes recordings, and beside each the samples as a plain file.
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
            self.ok(self.demod(f"r{k}", f"out{k}"))
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
