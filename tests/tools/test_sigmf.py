#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SigMF recordings: softqam-demod reads them, softqam-gen writes them. What is refused is in test_bad_input.py.

The Python package sigmf validates the written ones. This Python may have it, or .cache/python, where
tools/setup.sh puts it; without it, that test is skipped.
"""

import json
import os
import sys

from tools_harness import ROOT, ToolTest, main, pack, thorough

# By --input-format: the datatype without its byte order, and bytes of a component.
DATATYPES = {"cf32": ("cf32", 4), "cs16": ("ci16", 2), "cs8": ("ci8", 1), "cf64": ("cf64", 8), "cs32": ("ci32", 4), "cu8": ("cu8", 1)}

# Reads a recording with the package, which validates it, any warning being an error.
VALIDATE = """
import sys, warnings
warnings.simplefilter("error")
import sigmf, sigmf.sigmffile
recording = sigmf.sigmffile.fromfile(sys.argv[1], autoscale=False)
recording.validate()
print(recording.sample_count, recording[:].tobytes().hex())
"""


class Inputs(ToolTest):
    def record(self, name, data, datatype="cf32_le"):
        """A recording of the samples, as the package writes it."""
        self.write(name + ".sigmf-data", data)
        global_ = {"core:datatype": datatype, "core:version": "1.2.0", "core:sample_rate": 30.72e6, "core:author": "a@b.example"}
        captures = [{"core:sample_start": 0, "core:frequency": 3.5e9, "core:datetime": "2025-01-01T00:00:00.000Z"}]
        annotations = [{"core:sample_start": start, "core:sample_count": 1, "core:comment": "five"} for start in (0, 5)]
        meta = {"global": global_, "captures": captures, "annotations": annotations}
        self.write(name + ".sigmf-meta", json.dumps(meta, indent=2).encode())

    def samples(self, format_="cf32", n=500):
        return self.read(self.make("plain." + format_, "--symbols", str(n), "--snr-db", "20"))

    def test_datatypes(self):
        """Recordings give the bytes of plain files, whole and in shards."""
        words = [(k * 2654435761 & 0xFFFFFFFF) - 2**31 for k in range(1000)]
        plain = {name: self.samples(name) for name in ("cf32", "cs16", "cs8")}
        plain |= {"cf64": pack("d", [w / 2**31 for w in words]), "cs32": pack("i", words), "cu8": bytes(w & 255 for w in words)}
        noise = ["-q", "-o", "s8", "--noise-var", "auto"]
        for format_, (datatype, width) in DATATYPES.items():
            self.write("plain." + format_, plain[format_])
            soft_bits, llrs = self.soft_bits("plain." + format_), self.soft_bits(*noise, "plain." + format_)
            self.record("r", plain[format_], datatype + "_le" * (width > 1))
            self.assertEqual(self.soft_bits("r.sigmf-meta"), soft_bits, datatype)
            self.ok(self.demod(*noise, "--verify", "--stats", "r", "out.s8"))
            self.assertEqual(self.read("out.s8"), llrs)
            shards = [self.soft_bits(*noise, "--shard", f"{k}/3", "r") for k in (1, 2, 3)]
            self.assertEqual(b"".join(shards), llrs)

    def test_names(self):
        data = self.samples()
        expected = self.soft_bits("plain.cf32")
        os.mkdir(self.path("d"))
        for name in ("r", "d/r", "d/r.1.2", "./d/../r", "r.u8"):
            self.record(name, data)
            for suffix in ("", ".sigmf-meta", ".sigmf-data"):
                self.assertEqual(self.soft_bits(name + suffix), expected, name + suffix)
        # A file with the very name is that file.
        self.write("r", data[:80])
        self.assertEqual(self.soft_bits("r"), expected[:80])
        # A format that is named makes the data plain.
        self.record("s", data, "rf64_le")
        self.assertEqual(self.soft_bits("-i", "cf32", "s.sigmf-data"), expected)


class Generated(ToolTest):
    def meta(self, name):
        return json.loads(self.read(name + ".sigmf-meta").decode("utf-8"))

    def test_recordings(self):
        """softqam-gen's: the samples of a plain file, with their scale."""
        for arguments, datatype, scale in (([], "cf32_le", 1), (["-o", "cs16"], "ci16_le", 1 / 8192),
                                           (["-o", "cs8", "--output-scale", "1/50"], "ci8", 1 / 50)):  # fmt: skip
            options = ["--symbols", "500", "--snr-db", "30", "--seed", "7", *arguments]
            self.ok(self.gen("-q", *options, *([] if arguments else ["-o", "cf32"]), "plain"))
            for name in ("r.sigmf-meta", "r.sigmf-data"):
                self.assertEqual(self.ok(self.gen(*options, "--bits", "sent", name)).err, "")
                meta = self.meta("r")
                self.assertEqual((meta["global"]["core:datatype"], meta["global"]["softqam:input_scale"]), (datatype, scale))
                self.assertEqual(meta["global"]["core:description"], "500 random 256QAM symbols with noise at an Es/N0 of 30 dB, seed 7")
                self.assertEqual((meta["captures"], meta["annotations"]), ([{"core:sample_start": 0}], []))
                self.assertEqual(self.read("r.sigmf-data"), self.read("plain"))
            result = self.ok(self.demod("-q", "--compare", "sent", "r", "out"))
            self.assertRegex(result.err, r"^softqam-demod: sent: \d of 4000 bits are wrong, bit error rate \S+\n$")

    @thorough
    def test_validated(self):
        """By others: the package reads the recording, and its samples are ours."""
        pythons = filter(os.path.exists, (sys.executable, os.path.join(ROOT, ".cache", "python", "bin", "python")))
        validator = next((python for python in pythons if self.run_tool(python, "-c", "import sigmf").code == 0), None)
        if not validator:
            self.skipTest("the Python package sigmf is not installed; tools/setup.sh tests installs it")
        for format_ in ("cf32", "cs16", "cs8"):
            self.ok(self.gen("--symbols", "10", "--snr-db", "20", "-o", format_, "g.sigmf-meta"))
            n, samples = self.ok(self.run_tool(validator, "-c", VALIDATE, "g.sigmf-meta")).out.decode().split()
            self.assertEqual(n, "10")
            if format_ == "cf32":
                self.assertEqual(bytes.fromhex(samples), self.read("g.sigmf-data"))
        # The validator looks.
        self.write("g.sigmf-meta", self.read("g.sigmf-meta").replace(b"core:sample_start", b"core:sample_begin"))
        self.assertNotEqual(self.run_tool(validator, "-c", VALIDATE, "g.sigmf-meta").code, 0)


main()
