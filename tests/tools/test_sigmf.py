#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SigMF recordings, in and out, of softqam-demod and softqam-gen; what is written is validated by the Python package sigmf,
whose own recordings are read. What is refused is in test_bad_input.py.

The package is looked for in this Python and in .cache/python, where tools/setup.sh puts it; without it, those tests are
skipped.
"""

import hashlib
import json
import os
import subprocess
import sys
import unittest

from output_formats import LLR_TYPECODE
from tools_harness import DEMOD, MODULATIONS, ROOT, ToolTest, main, pack, thorough, unpack

PYTHONS = [sys.executable, os.path.join(ROOT, ".cache", "python", "bin", "python")]
# By --input-format: the datatype without its byte order, and bytes of a component.
DATATYPES = {"cf32": ("cf32", 4), "cs16": ("ci16", 2), "cs8": ("ci8", 1), "cf64": ("cf64", 8), "cs32": ("ci32", 4), "cu8": ("cu8", 1)}
OUTPUT_DATATYPES = {"u8": "ru8", "s8": "ri8", "s16": "ri16_le", "f32": "rf32_le", "hard": "ru8"}

# Reads a recording with the package, which validates it and its hash, any warning being an error, and prints samples.
VALIDATE = """
import sys, warnings
warnings.simplefilter("error")
import sigmf, sigmf.sigmffile
recording = sigmf.sigmffile.fromfile(sys.argv[1], skip_checksum=False, autoscale=False)
recording.validate()
samples = recording[:]
print(recording.sample_count, recording.num_channels, samples.shape, sigmf.__version__)
sys.stdout.flush()
sys.stdout.buffer.write(samples.tobytes())
"""

# Writes recordings, and beside each the samples as a plain file.
WRITE = """
import numpy, sigmf
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
WRITTEN = {"cf32_le": "cf32", "cf32_be": "cf32", "cf64_le": "cf64", "ci32_le": "cs32", "ci16_le": "cs16", "ci16_be": "cs16",
           "ci8": "cs8", "cu8": "cu8"}  # fmt: skip


def find_validator():
    for python in PYTHONS:
        if os.path.exists(python) and not subprocess.call([python, "-c", "import sigmf"], stderr=subprocess.DEVNULL):
            return python
    return None


VALIDATOR = find_validator()


def swapped(data, width):
    return b"".join(data[i : i + width][::-1] for i in range(0, len(data), width)) if width > 1 else data


class SigmfTest(ToolTest):
    def record(self, name, data, datatype="cf32_le", captures=({"core:sample_start": 0},), annotations=(), **extra):
        """A recording of the samples. The extra members of the global object have __ for a colon in their names."""
        self.write(name + ".sigmf-data", data)
        global_ = {"core:datatype": datatype, "core:version": "1.2.0"}
        global_.update({key.replace("__", ":"): value for key, value in extra.items()})
        meta = {"global": global_, "captures": list(captures), "annotations": list(annotations)}
        self.write(name + ".sigmf-meta", json.dumps(meta, indent=2).encode())

    def samples(self, format_="cf32", n=500):
        return self.read(self.make("plain." + format_, "--symbols", str(n), "--snr-db", "20"))

    def meta(self, name):
        return json.loads(self.read(name + ".sigmf-meta").decode("utf-8"))


class Inputs(SigmfTest):
    def test_datatypes(self):
        """As the plain files, in both byte orders, whole and in shards; the hash is that of the file."""
        words = [(k * 2654435761 & 0xFFFFFFFF) - 2**31 for k in range(1000)]
        plain = {name: self.samples(name) for name in ("cf32", "cs16", "cs8")}
        plain |= {"cf64": pack("d", [w / 2**31 for w in words]), "cs32": pack("i", words), "cu8": bytes(w & 255 for w in words)}
        noise = ["-q", "-o", "s8", "--noise-var", "auto"]
        for format_, (datatype, width) in DATATYPES.items():
            self.write("plain." + format_, plain[format_])
            soft_bits, llrs = self.soft_bits("plain." + format_), self.soft_bits(*noise, "plain." + format_)
            for order in ("_le", "_be") if width > 1 else ("",):
                data = swapped(plain[format_], width) if order == "_be" else plain[format_]
                self.record("r", data, datatype + order)
                self.ok(self.demod("r.sigmf-meta", "out"))
                self.assertEqual(self.read("out.sigmf-data"), soft_bits, datatype + order)
                self.assertEqual(self.meta("out")["global"]["softqam:input_sha512"], hashlib.sha512(data).hexdigest())
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

    def test_scale(self):
        self.record("r", self.samples("cs16"), "ci16_le", softqam__input_scale=1 / 8192)
        self.assertEqual(self.soft_bits("r"), self.soft_bits("--input-scale", "1/8192", "plain.cs16"))
        scaled = ["--input-scale", "1/9000"]
        self.assertEqual(self.soft_bits(*scaled, "r"), self.soft_bits(*scaled, "plain.cs16"))

    def test_bytes_around_the_samples(self):
        """Of a dataset that does not conform: its own name, a header, something at the end. The hash is that of the file."""
        captures = [{"core:sample_start": 0, "core:header_bytes": 20001}]
        for data in (self.samples(), b""):
            around = b"h" * 20001 + data + b"t" * 40003
            sha512, expected = hashlib.sha512(around).hexdigest(), self.soft_bits("-", data=data)
            extra = {"core__trailing_bytes": 40003, "core__sha512": sha512, "core__dataset": "other.bin"}
            self.record("r", b"", captures=captures, **extra)
            self.write("other.bin", around)
            self.assertEqual(self.soft_bits("--shard", "2/2", "r"), expected[len(expected) // 2 :])
            self.ok(self.demod("r", "out"))
            meta = self.meta("out")
            self.assertEqual(self.read("out.sigmf-data"), expected)
            self.assertEqual((meta["captures"], meta["global"]["softqam:input_sha512"]), ([{"core:sample_start": 0}], sha512))
            self.assertFalse({"core:dataset", "core:trailing_bytes"} & set(meta["global"]))
            for at in (5, 20000 + len(data), len(around) - 1):
                self.write("other.bin", around[:at] + b"x" + around[at + 1 :])
                message = "other.bin: SHA-512 is not the core:sha512 in r.sigmf-meta; --no-hash leaves that out"
                self.refuses(DEMOD, ["r", "new"], 1, message)
            self.ok(self.demod("--no-hash", "r", "out"))
            self.assertFalse({"core:sha512", "softqam:input_sha512"} & set(self.meta("out")["global"]))

    def test_versions_and_extensions(self):
        """Those that are read; version 0 had extensions in another form."""
        for version, extensions, names in (
            ("0.0.1", {"own": "v0.0.1"}, ["own", "softqam"]), ("1.0.0", [], ["softqam"]),
            ("1.99.0", [{"name": "a", "version": "1.0.0", "optional": True}, {"name": "b", "version": "1.0.0"}], ["a", "b", "softqam"]),
            ("1.2.0", [{"name": "softqam", "version": "1.0.0", "optional": False}], ["softqam"]),
        ):  # fmt: skip
            self.record("r", self.samples(), core__version=version, core__extensions=extensions)
            self.ok(self.demod("r", "out"))
            global_ = self.meta("out")["global"]
            self.assertEqual(global_["core:version"], "1.2.0" if version[0] == "0" else version)
            self.assertEqual([extension["name"] for extension in global_["core:extensions"]], names)


class Outputs(SigmfTest):
    CAPTURES = [
        {"core:sample_start": 100, "core:frequency": 3.5e9, "core:datetime": "2026-01-02T03:04:05.678Z"},
        {"core:sample_start": 300, "core:frequency": 3500000000.25, "own:deep": {"a": [1, {"b": None}]}},
    ]
    ANNOTATIONS = [
        {"core:sample_start": 200, "core:sample_count": 17, "core:label": 'slot \u00fc"\\', "core:comment": "second"},
        {"core:sample_start": 100, "core:sample_count": 1099511627776, "core:label": "first"},
        {"core:sample_start": 100, "core:sample_count": 3, "core:label": "also first"},
    ]

    def setUp(self):
        super().setUp()
        self.data = self.samples("cs16")
        self.expected = self.soft_bits("plain.cs16")
        self.extra = {
            "core__author": "A. Author <a@example.com>", "core__sample_rate": 122.88e6, "core__recorder": "rec 1",
            "core__description": "what the antenna heard", "core__license": "CC0", "core__data_doi": "10.1/2",
            "core__offset": 100, "core__collection": "c", "core__geolocation": {"type": "Point", "coordinates": [1, 2]},
            "core__extensions": [{"name": "own", "version": "0.1.0", "optional": True}], "own__key": [1.5, "x"],
        }  # fmt: skip
        self.record("r", self.data, "ci16_le", self.CAPTURES, self.ANNOTATIONS, **self.extra)

    def test_metadata(self):
        self.assertEqual(self.ok(self.demod("r", "out")).err, "")
        self.assertEqual(self.read("out.sigmf-data"), self.expected)
        meta = self.meta("out")
        self.assertEqual((sorted(meta), meta["captures"], meta["annotations"]), (["annotations", "captures", "global"], self.CAPTURES, self.ANNOTATIONS))
        version = self.run_tool(DEMOD, "-V").out.decode().split()[1]
        self.assertEqual(
            meta["global"],
            {
                "core:datatype": "ru8", "core:num_channels": 8, "core:version": "1.2.0",
                "core:author": "A. Author <a@example.com>", "core:sample_rate": 122880000,
                "core:recorder": "softqam-demod " + version, "core:license": "CC0", "core:offset": 100,
                "core:description": "Soft bits of the 256QAM symbols in r.sigmf-data, 8 a symbol: what the antenna heard",
                "core:geolocation": {"type": "Point", "coordinates": [1, 2]}, "own:key": [1.5, "x"],
                "core:sha512": hashlib.sha512(self.expected).hexdigest(),
                "core:extensions": [
                    {"name": "own", "version": "0.1.0", "optional": True},
                    {"name": "softqam", "version": "1.0.0", "optional": True},
                ],
                "softqam:input": "r.sigmf-data", "softqam:input_datatype": "ci16_le",
                "softqam:input_sha512": hashlib.sha512(self.data).hexdigest(), "softqam:input_scale": 1 / 32768,
                "softqam:input_recorder": "rec 1",
                "softqam:modulation": "256qam", "softqam:constellation": "256QAM, 3GPP TS 38.211 clause 5.1.6",
                "softqam:algorithm": "liquid-dsp soft bits: hard decision and nearest neighbours",
                "softqam:positive_means": 0, "softqam:neutral_value": 127,
            },
        )  # fmt: skip

    def test_formats(self):
        """What the metadata say of each output format and its settings."""
        self.write("n.f32", pack("f", 500 * [0.01]))
        for arguments, format_, expected in (
            (["--snr-db", "20", "--sign", "1"], "s8", {"llr_scale": 6, "llr_limit": 127, "noise_var_origin": "given", "positive_means": 1}),
            (["--noise-file", "n.f32", "--llr-scale", "2", "--llr-limit", "31"], "s8",
             {"llr_scale": 2, "llr_limit": 31, "noise_var_origin": "given for each symbol", "positive_means": 0}),
            (["--snr-db", "20"], "s16", {"llr_scale": 64, "llr_limit": 32767, "noise_var_origin": "given", "positive_means": 0}),
            (["-q", "--noise-var", "auto"], "f32",
             {"llr_scale": 1, "noise_var_origin": "estimated from the first symbols", "positive_means": 0}),
            ([], "hard", {"algorithm": "hard decisions: the signs of exact max-log LLRs"}),
        ):  # fmt: skip
            self.ok(self.demod(*arguments, "-o", format_, "r", "out"))
            self.assertEqual(self.read("out.sigmf-data"), self.soft_bits(*arguments, "-o", format_, "plain.cs16"))
            global_ = self.meta("out")["global"]
            if format_ == "hard":
                self.assertTrue(global_["core:description"].startswith("Hard decisions of"))
            else:
                expected |= {"algorithm": "exact max-log LLRs", "neutral_value": 0}
            self.assertEqual((global_["core:datatype"], global_["core:num_channels"]), (OUTPUT_DATATYPES[format_], 8))
            found = {key.removeprefix("softqam:"): value for key, value in global_.items() if any(w in key for w in ("noise", "llr", "means", "neutral"))}
            noise_var = found.pop("noise_var", None)
            self.assertEqual({"algorithm": global_["softqam:algorithm"], **found}, expected)
            self.assertEqual(noise_var is None, format_ == "hard" or "n.f32" in arguments)
            if "--snr-db" in arguments:
                self.assertAlmostEqual(noise_var, 0.01, delta=1e-9)

    def test_modulations(self):
        """Of softqam-gen's recordings and of what is made of them."""
        for clause, name in enumerate(("pi2-bpsk", "bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"), 1):
            n_bits, shown = MODULATIONS[name][0], name.replace("pi2-", "pi/2-").upper().replace("PI", "pi")
            constellation = f"{shown}, 3GPP TS 38.211 clause 5.1.{clause}"
            self.ok(self.gen("-m", name, "--c-init", "9", "--symbols", "10", "g.sigmf-meta"))
            global_ = self.meta("g")["global"]
            keys = [global_["softqam:" + key] for key in ("modulation", "constellation", "c_init")]
            self.assertEqual(keys, [name, constellation, 9])
            self.assertEqual(global_["core:description"], f"10 random {shown} symbols without noise, seed 1")
            for options, c_init in (([], 9), (["--c-init", "none"], None), (["--c-init", "0x9"], 9)):
                self.ok(self.demod(*options, "-o", "s8", "--snr-db", "30", "g", "out"))
                global_ = self.meta("out")["global"]
                keys = [global_.get("softqam:" + key) for key in ("modulation", "constellation", "c_init", "input_c_init")]
                self.assertEqual((keys, global_["core:num_channels"]), ([name, constellation, c_init, 9], n_bits))
                description = f"LLRs of the {shown} symbols in g.sigmf-data, {n_bits} a symbol: 10 random"
                self.assertTrue(global_["core:description"].startswith(description), global_["core:description"])

    def test_names(self):
        """Of recordings, and of what stays plain."""
        os.mkdir(self.path("d"))
        for arguments, base in ((["out"], "out"), (["o.sigmf-meta"], "o"), (["d/o.1.sigmf-data"], "d/o.1"), (["d/x"], "d/x"),
                                (["--sigmf", "take.2"], "take.2"), (["--sigmf", "-o", "u8", "x.cf32"], "x.cf32")):  # fmt: skip
            self.ok(self.demod("r", *arguments))
            self.assertEqual(self.read(base + ".sigmf-data"), self.expected)
            self.assertEqual(self.meta(base)["global"]["core:datatype"], "ru8")
        before = set(self.files())
        for arguments in (["p.u8"], ["p.s8", "--snr-db", "20"], ["p.hard"], ["-o", "u8", "p.wav"], ["--no-sigmf", "p"], ["--sigmf", "--no-sigmf", "p"],
                          ["--shard", "1/2", "p"], ["--skip", "1", "--count", "2", "p"], ["/dev/null"], ["-"], ["p.u8", "--no-hash"]):  # fmt: skip
            self.ok(self.demod("r", *arguments))
            for name in set(self.files()) - before:
                self.assertEqual(name.partition(".")[0::2], ("p", name[2:]))
                os.unlink(self.path(name))

    def test_plain_input(self):
        """Also one whose name is not UTF-8, which metadata are."""
        sources = {"plain.cs16": "plain.cs16", "-": "standard input"}
        for raw, shown in ((b"a\xff", "a?"), (b"\xc3\xa4\xc3", "\u00e4?"), (b"\xed\xa0\x80", "???"),
                           (b"\xf4\x90\x80\x80\xf0\x9f\x92\xa5", "????\U0001f4a5"), (b"\xc0\xaf", "??")):  # fmt: skip
            sources[self.write(os.fsdecode(raw), self.data)] = shown
        scale = ["-i", "cs16", "--input-scale", "1/8192"]
        for name, shown in sources.items():
            self.ok(self.demod(*scale, "--sigmf", name, "out.u8", data=self.data))
            meta = self.meta("out.u8")
            self.assertEqual((meta["captures"], meta["annotations"]), ([{"core:sample_start": 0}], []))
            found = [meta["global"][key] for key in ("softqam:input", "softqam:input_scale", "core:version", "softqam:input_sha512")]
            self.assertEqual(found, [shown, 1 / 8192, "1.2.0", hashlib.sha512(self.data).hexdigest()])
            self.assertIn(shown, meta["global"]["core:description"])
            self.assertEqual(self.read("out.u8.sigmf-data"), self.soft_bits(*scale, "plain.cs16"))


class Generated(SigmfTest):
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
            result = self.ok(self.demod("--compare", "sent", "r", "out"))
            self.assertRegex(result.err, r"^softqam-demod: sent: \d of 4000 bits are wrong, bit error rate \S+\n$")


@unittest.skipUnless(VALIDATOR, "the Python package sigmf is not installed; tools/setup.sh tests installs it")
@thorough
class Validated(SigmfTest):
    """By others: the package reads the recording, and its samples are ours."""

    def validate(self, name, format_, n):
        result = self.ok(self.run_tool(VALIDATOR, "-c", VALIDATE, name + ".sigmf-meta"))
        first, samples = result.out.split(b"\n", 1)
        self.assertTrue(first.startswith(f"{n} 8 ({n}, 8) ".encode()), first)
        typecode = {"u8": "B", **LLR_TYPECODE}[format_]
        got = unpack("f" if len(samples) == 32 * n else typecode, samples)
        self.assertEqual(list(got), list(unpack(typecode, self.read(name + ".sigmf-data"))))

    def test_outputs(self):
        """Every format; all that is carried over; of a plain file, of metadata of version 0, and softqam-gen's."""
        annotations = sorted(({**a, "core:sample_count": 3} for a in Outputs.ANNOTATIONS), key=lambda a: a["core:sample_start"])
        extra = {"core__version": "1.2.6", "core__author": "x", "core__data_doi": "10.1/2", "core__sample_rate": 1e6,
                 "core__extensions": [{"name": "own", "version": "0.1.0", "optional": True}]}  # fmt: skip
        self.record("r", self.samples("cs16"), "ci16_le", Outputs.CAPTURES, annotations, **extra)
        for output in ("u8", "s8", "s16", "f32"):
            noise = [] if output == "u8" else ["--snr-db", "20"]
            self.ok(self.demod(*noise, "-o", output, "r", "out"))
            self.validate("out", output, 500)
        data = self.samples()
        self.ok(self.demod("--sigmf", "plain.cf32", "out"))
        self.validate("out", "u8", 500)
        self.record("r", data, core__version="0.0.1", core__extensions={"own": "0.0.1"})
        self.ok(self.demod("--no-hash", "r", "out"))
        self.validate("out", "u8", 500)
        check = "import sigmf.sigmffile as s, sys\ns.fromfile(sys.argv[1], skip_checksum=False).validate()"
        self.ok(self.gen("--symbols", "10", "g.sigmf-meta"))
        self.ok(self.run_tool(VALIDATOR, "-c", check, "g.sigmf-meta"))
        # That the validator looks.
        self.ok(self.demod("g", "out"))
        self.write("out.sigmf-data", bytes(80))
        self.assertNotEqual(self.run_tool(VALIDATOR, "-c", VALIDATE, "out.sigmf-meta").code, 0)

    def test_fifty_recordings(self):
        """Are read, with their hash, and what is written of them validates: all in one process."""
        print("sigmf", self.ok(self.run_tool(VALIDATOR, "-c", WRITE)).out.decode().strip())
        for k in range(50):
            datatype = list(WRITTEN)[k % len(WRITTEN)]
            expected = self.soft_bits("-i", WRITTEN[datatype], f"plain{k}")
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
