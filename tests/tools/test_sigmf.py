#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-demod on SigMF recordings, in and out; what is written is validated by the Python package sigmf.

The package is looked for in this Python and in .cache/python, where tools/setup.sh puts it; without it, those tests are
skipped.
"""

import hashlib
import json
import os
import subprocess
import sys
import unittest

from signal_environment import SIGNAL_ENVIRONMENT
from output_formats import LLR_TYPECODE
from tools_harness import DEADLY_SIGNALS, DEMOD, TIMEOUT, ToolTest, default_signals, main, pack, thorough, unpack

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PYTHONS = [sys.executable, os.path.join(ROOT, ".cache", "python", "bin", "python")]
DATATYPES = {"cf32": ("cf32_le", "cf32_be"), "cs16": ("ci16_le", "ci16_be"), "cs8": ("ci8", "ci8")}
INPUT_DATATYPES = "cf32_le, cf32_be, cf64_le, cf64_be, ci32_le, ci32_be, ci16_le, ci16_be, ci8, cu8"
OUTPUT_DATATYPES = {"u8": "ru8", "s8": "ri8", "s16": "ri16_le", "f32": "rf32_le"}
WIDTH = {"cf32": 4, "cs16": 2, "cs8": 1}

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


def find_validator():
    for python in PYTHONS:
        if os.path.exists(python) and not subprocess.call([python, "-c", "import sigmf"], stderr=subprocess.DEVNULL):
            return python
    return None


VALIDATOR = find_validator()


def swapped(data, width):
    return b"".join(data[i : i + width][::-1] for i in range(0, len(data), width)) if width > 1 else data


class SigmfTest(ToolTest):
    def write_meta(self, name, **members):
        self.write(name + ".sigmf-meta", json.dumps(members, indent=2).encode())

    def record(self, name, data, datatype="cf32_le", captures=({"core:sample_start": 0},), annotations=(), **extra):
        """A recording of the samples. The extra members of the global object have __ for a colon in their names."""
        self.write(name + ".sigmf-data", data)
        global_ = {"core:datatype": datatype, "core:version": "1.2.0"}
        global_.update({key.replace("__", ":"): value for key, value in extra.items()})
        self.write_meta(name, **{"global": global_, "captures": list(captures), "annotations": list(annotations)})

    def samples(self, format_="cf32", n=500):
        return self.read(self.make("plain." + format_, "--symbols", str(n), "--snr-db", "20"))

    def meta(self, name):
        return json.loads(self.read(name + ".sigmf-meta"))


class Inputs(SigmfTest):
    def test_datatypes(self):
        for format_, datatypes in DATATYPES.items():
            data = self.samples(format_)
            expected = self.soft_bits("plain." + format_)
            for datatype in datatypes:
                big = datatype.endswith("_be")
                self.record("r", swapped(data, WIDTH[format_]) if big else data, datatype)
                self.ok(self.demod("r.sigmf-meta", "out.u8"))
                self.assertEqual(self.read("out.u8"), expected, datatype)
                result = self.ok(self.demod("--verify", "--stats", "--snr-db", "20", "-o", "s8", "r", "-"))
                self.assertEqual(result.out, self.soft_bits("-o", "s8", "--snr-db", "20", "plain." + format_))
        self.record("r", swapped(data, 1), "ci8")
        arguments = ["--input-scale", "1/64", "--noise-var", "auto", "-q", "-o", "s8"]
        self.assertEqual(self.soft_bits(*arguments, "r"), self.soft_bits(*arguments, "plain.cs8"))

    def test_names(self):
        data = self.samples()
        expected = self.soft_bits("plain.cf32")
        os.mkdir(self.path("d"))
        for name in ("r", "d/r", "d/r.1.2", "./d/../r"):
            self.record(name, data)
            for suffix in ("", ".sigmf-meta", ".sigmf-data"):
                self.assertEqual(self.soft_bits(name + suffix), expected, name + suffix)
        # A file with the very name is that file.
        self.write("r", data[:80])
        self.assertEqual(self.soft_bits("r"), expected[:80])
        # A format that is named makes the data plain.
        self.record("s", data, "rf64_le")
        self.assertEqual(self.soft_bits("-i", "cf32", "s.sigmf-data"), expected)

    def test_shards(self):
        self.record("r", swapped(self.samples("cs16"), 2), "ci16_be")
        arguments = ["-o", "s8", "--noise-var", "auto", "-q"]
        for k in range(3):
            self.ok(self.demod(*arguments, "--shard", f"{k + 1}/3", "r", f"part{k}"))
        parts = b"".join(self.read(f"part{k}") for k in range(3))
        self.assertEqual(parts, self.soft_bits(*arguments, "plain.cs16"))

    def test_bytes_around_the_samples(self):
        """Of a dataset that does not conform: its own name, a header, something at the end."""
        data = self.samples()
        expected = self.soft_bits("plain.cf32")
        captures = [{"core:sample_start": 0, "core:header_bytes": 13}]
        self.record("r", b"h" * 13 + data + b"trailer", captures=captures, core__trailing_bytes=7)
        self.assertEqual(self.soft_bits("r"), expected)
        self.assertEqual(self.soft_bits("--shard", "2/2", "r"), expected[8 * 250 :])
        os.rename(self.path("r.sigmf-data"), self.path("other.bin"))
        self.record("r", b"", captures=captures, core__trailing_bytes=7, core__dataset="other.bin")
        self.ok(self.demod("r", "out"))
        self.assertEqual(self.read("out.sigmf-data"), expected)
        meta = self.meta("out")
        self.assertEqual(meta["captures"], [{"core:sample_start": 0}])
        self.assertFalse({"core:dataset", "core:trailing_bytes"} & set(meta["global"]))

    def test_scale_in_the_metadata(self):
        self.record("r", self.samples("cs16"), "ci16_le", softqam__input_scale=1 / 8192)
        self.assertEqual(self.soft_bits("r"), self.soft_bits("--input-scale", "1/8192", "plain.cs16"))
        scaled = ["--input-scale", "1/9000"]
        self.assertEqual(self.soft_bits(*scaled, "r"), self.soft_bits(*scaled, "plain.cs16"))

    def test_formats_that_are_converted(self):
        """As the plain files, in both byte orders."""
        words = [(k * 2654435761 & 0xFFFFFFFF) - 2**31 for k in range(200)]
        for datatype, suffix, data, width in (
            ("cf64_le", ".cf64", pack("d", [w / 2**31 for w in words]), 8), ("ci32_le", ".cs32", pack("i", words), 4),
            ("cu8", ".cu8", bytes(w & 255 for w in words), 1),
        ):  # fmt: skip
            expected = self.soft_bits(self.write("x" + suffix, data))
            self.record("r", data, datatype)
            self.assertEqual(self.soft_bits("r"), expected)
            self.ok(self.demod("r", "out"))
            self.assertEqual(self.read("out.sigmf-data"), expected)
            self.assertEqual(self.meta("out")["global"]["softqam:input_sha512"], hashlib.sha512(data).hexdigest())
            if width > 1:
                self.record("r", swapped(data, width), datatype.replace("_le", "_be"))
                self.assertEqual(self.soft_bits("r"), expected)

    def test_bad_metadata(self):
        self.write("r.sigmf-data", self.samples())
        good = {"core:datatype": "cf32_le", "core:version": "1.0.0"}
        no_type = "core:datatype: '{}' is not one of " + INPUT_DATATYPES
        for global_, message in (
            ({}, "core:datatype: missing"),
            ({"core:datatype": 8}, "core:datatype: not a string"),
            *(({"core:datatype": t}, no_type.format(t)) for t in ("rf32_le", "cf32", "cf64", "cu16_le", "ci16", "")),
            ({"core:num_channels": 2}, "core:num_channels: has 2 channels, but only one can be demodulated"),
            ({"core:num_channels": 0}, "core:num_channels: has 0 channels, but only one can be demodulated"),
            ({"core:num_channels": 1.5}, "core:num_channels: not a whole number"),
            ({"core:trailing_bytes": -1}, "core:trailing_bytes: not a whole number"),
            ({"core:metadata_only": True}, "core:metadata_only: has no samples"),
            ({"core:dataset": "../x"}, "core:dataset: not the name of a file beside it"),
            ({"core:dataset": "r.sigmf-meta"}, "core:dataset: names metadata, not samples"),
            ({"core:sha512": "1234"}, "core:sha512: not a string of 128 digits"),
            ({"softqam:input_scale": 0}, "softqam:input_scale: not a positive number"),
        ):
            members = global_ if not global_ or "core:datatype" in global_ else {**good, **global_}
            self.write_meta("r", **{"global": members, "captures": [], "annotations": []})
            self.fails(self.demod("r", "out"), 1, "r.sigmf-meta: " + message)
        for text, message in (
            ("{", "line 1: not JSON"), ("", "line 1: not JSON"), ('{\n"global": {},\n}', "line 3: not JSON"),
            ("{} x", "line 1: not JSON"), ("[]", "not SigMF: there is no object 'global'"),
            ('{"global": 3}', "not SigMF: there is no object 'global'"),
        ):  # fmt: skip
            self.write("r.sigmf-meta", text.encode())
            self.fails(self.demod("r", "out"), 1, "r.sigmf-meta: " + message)
        headers = [{"core:sample_start": 0}, {"core:sample_start": 5, "core:header_bytes": 4}]
        self.write_meta("r", **{"global": good, "captures": headers})
        message = "core:header_bytes: in a capture after the first, which is not supported"
        self.fails(self.demod("r", "out"), 1, "r.sigmf-meta: " + message)
        self.write_meta("r", **{"global": {**good, "core:trailing_bytes": 10000}})
        message = "shorter than the 10000 bytes around the samples that r.sigmf-meta tells of"
        self.fails(self.demod("r", "out"), 1, "r.sigmf-data: " + message)
        for member, value, message in (
            ("captures", {}, "captures: not an array"), ("annotations", 7, "annotations: not an array"),
        ):  # fmt: skip
            self.write_meta("r", **{"global": good, member: value})
            self.fails(self.demod("r", "out"), 1, "r.sigmf-meta: " + message)
        self.assertEqual(self.files(), ["plain.cf32", "r.sigmf-data", "r.sigmf-meta"])

    def test_files_that_are_not_there(self):
        self.fails(self.demod("none.sigmf-meta", "out"), 1, "none.sigmf-meta: No such file or directory")
        self.fails(self.demod("none.sigmf-data", "out"), 1, "none.sigmf-meta: No such file or directory")
        self.fails(self.demod("none", "out"), 1, "none: No such file or directory")
        self.record("r", b"")
        os.unlink(self.path("r.sigmf-data"))
        self.fails(self.demod("r", "out"), 1, "r.sigmf-data: No such file or directory")
        message = "x.sigmf-collection: a collection of SigMF, not a recording; give the .sigmf-meta of a recording"
        self.fails(self.demod(self.write("x.sigmf-collection", b""), "out"), 2, message)

    def test_truncated_data(self):
        self.record("r", self.samples()[:-3])
        message = "r.sigmf-data: not a whole number of symbols: 5 bytes left over (a symbol has 8)"
        self.fails(self.demod("r", "out"), 1, message)
        self.assertEqual(self.files(), ["plain.cf32", "r.sigmf-data", "r.sigmf-meta"])


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
        self.assertEqual(sorted(meta), ["annotations", "captures", "global"])
        self.assertEqual(meta["captures"], self.CAPTURES)
        self.assertEqual(meta["annotations"], self.ANNOTATIONS)
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

    def test_metadata_of_llrs(self):
        self.write("n.f32", pack("f", 500 * [0.01]))
        for arguments, format_, expected in (
            (["--snr-db", "20", "--sign", "1"], "s8",
             {"llr_scale": 6, "llr_limit": 127, "noise_var_origin": "given", "positive_means": 1}),
            (["--noise-file", "n.f32", "--llr-scale", "2", "--llr-limit", "31"], "s8",
             {"llr_scale": 2, "llr_limit": 31, "noise_var_origin": "given for each symbol", "positive_means": 0}),
            (["--snr-db", "20"], "s16",
             {"llr_scale": 64, "llr_limit": 32767, "noise_var_origin": "given", "positive_means": 0}),
            (["--snr-db", "20", "--llr-scale", "16384", "--llr-limit", "300"], "s16",
             {"llr_scale": 16384, "llr_limit": 300, "noise_var_origin": "given", "positive_means": 0}),
            (["-q", "--noise-var", "auto"], "f32",
             {"llr_scale": 1, "noise_var_origin": "estimated from the first symbols", "positive_means": 0}),
        ):  # fmt: skip
            self.ok(self.demod(*arguments, "-o", format_, "r", "out"))
            self.assertEqual(self.read("out.sigmf-data"), self.soft_bits(*arguments, "-o", format_, "plain.cs16"))
            global_ = self.meta("out")["global"]
            self.assertEqual(global_["core:datatype"], OUTPUT_DATATYPES[format_])
            self.assertEqual(global_["softqam:algorithm"], "exact max-log LLRs")
            self.assertEqual(global_["softqam:neutral_value"], 0)
            for key, value in expected.items():
                self.assertEqual(global_["softqam:" + key], value)
            self.assertEqual("softqam:llr_limit" in global_, "llr_limit" in expected)
            self.assertEqual("softqam:noise_var" in global_, "n.f32" not in arguments)
            if "--snr-db" in arguments:
                self.assertAlmostEqual(global_["softqam:noise_var"], 0.01, delta=1e-9)

    def test_names(self):
        os.mkdir(self.path("d"))
        for name, base in (
            ("out", "out"),
            ("out.sigmf-meta", "out"),
            ("d/o.1.sigmf-data", "d/o.1"),
            ("d/x", "d/x"),
        ):
            self.ok(self.demod("r", name))
            self.assertEqual(self.read(base + ".sigmf-data"), self.expected)
            self.assertEqual(self.meta(base)["global"]["core:datatype"], "ru8")
            self.assertFalse(os.path.exists(self.path("out")))

    def test_what_stays_plain(self):
        before = set(self.files())
        for arguments in (["out.u8"], ["out.s8", "--snr-db", "20"], ["out.s16", "--snr-db", "20"],
                          ["out.f32", "--snr-db", "20"], ["out.hard"], ["out.bits"], ["--no-sigmf", "out"],
                          ["--sigmf", "--no-sigmf", "out"], ["--shard", "1/2", "out"], ["/dev/null"], ["-"],
                          ["out.u8", "--no-hash"]):  # fmt: skip
            self.ok(self.demod("r", *arguments))
            for name in set(self.files()) - before:
                self.assertNotIn("sigmf", name)
                os.unlink(self.path(name))

    def test_plain_input(self):
        for arguments, base in (
            (["--sigmf", "out"], "out"),
            (["--sigmf", "out.u8"], "out.u8"),
            (["o.sigmf-meta"], "o"),
        ):
            self.ok(self.demod("--input-scale", "1/8192", "plain.cs16", *arguments))
            meta = self.meta(base)
            self.assertEqual((meta["captures"], meta["annotations"]), ([{"core:sample_start": 0}], []))
            self.assertEqual(meta["global"]["softqam:input"], "plain.cs16")
            self.assertEqual(meta["global"]["softqam:input_scale"], 1 / 8192)
            self.assertEqual(meta["global"]["core:version"], "1.2.0")
            self.assertEqual(meta["global"]["softqam:input_sha512"], hashlib.sha512(self.data).hexdigest())
            expected = self.soft_bits("--input-scale", "1/8192", "plain.cs16")
            self.assertEqual(self.read(base + ".sigmf-data"), expected)
        self.ok(self.demod("--sigmf", "-i", "cs16", "-", "out", data=self.data))
        self.assertEqual(self.meta("out")["global"]["softqam:input"], "standard input")

    def test_hashes(self):
        self.ok(self.demod("--no-hash", "r", "out"))
        self.assertFalse({"core:sha512", "softqam:input_sha512"} & set(self.meta("out")["global"]))
        sha512 = hashlib.sha512(self.data).hexdigest()
        for given in (sha512, sha512.upper()):
            self.record("r", self.data, "ci16_le", core__sha512=given)
            self.ok(self.demod("r", "out"))
        wrong = "0" + sha512[1:] if sha512[0] != "0" else "1" + sha512[1:]
        self.record("r", self.data, "ci16_le", core__sha512=wrong)
        before = self.files()
        message = "r.sigmf-data: SHA-512 is not the core:sha512 in r.sigmf-meta; --no-hash leaves that out"
        self.fails(self.demod("r", "new"), 1, message)
        self.assertEqual(self.files(), before)
        self.ok(self.demod("--no-hash", "r", "new"))
        self.record("b", swapped(self.data, 2), "ci16_be")
        self.ok(self.demod("b", "new"))
        expected = hashlib.sha512(self.read("b.sigmf-data")).hexdigest()
        self.assertEqual(self.meta("new")["global"]["softqam:input_sha512"], expected)

    def test_hash_of_what_is_around_the_samples(self):
        """The hash is that of the file, whatever of it are samples."""
        captures = [{"core:sample_start": 0, "core:header_bytes": 20001}]
        for data in (self.data, b""):
            around = b"h" * 20001 + data + b"t" * 40003
            sha512 = hashlib.sha512(around).hexdigest()
            extra = {"core__trailing_bytes": 40003, "core__sha512": sha512}
            self.record("r", around, "ci16_le", captures, **extra)
            self.ok(self.demod("r", "out"))
            self.assertEqual(self.meta("out")["global"]["softqam:input_sha512"], sha512)
            for at in (5, 20000 + len(data), len(around) - 1):
                self.record("r", around[:at] + b"x" + around[at + 1 :], "ci16_le", captures, **extra)
                message = "r.sigmf-data: SHA-512 is not the core:sha512 in r.sigmf-meta; --no-hash leaves that out"
                self.fails(self.demod("r", "new"), 1, message)

    def test_version_0(self):
        """Had extensions in another form."""
        extensions = {"own": "v0.0.1"}
        self.record("r", self.data, "ci16_le", core__version="0.0.1", core__extensions=extensions)
        self.ok(self.demod("r", "out"))
        global_ = self.meta("out")["global"]
        self.assertEqual(global_["core:version"], "1.2.0")
        self.assertEqual([e["name"] for e in global_["core:extensions"]], ["own", "softqam"])

    def test_result_as_input(self):
        self.ok(self.demod("r", "out"))
        self.fails(
            self.demod("out", "again"), 1,
            "out.sigmf-meta: core:datatype: 'ru8' is not one of " + INPUT_DATATYPES,
        )  # fmt: skip

    def test_not_over_the_input(self):
        for arguments in (["r", "r"], ["r.sigmf-data", "./r.sigmf-meta"], ["r", "--no-sigmf", "r.sigmf-data"]):
            result = self.demod(*arguments)
            self.assertRegex(
                result.err, r"^softqam-demod: (\./)?r\.sigmf-data: is INPUT's; give OUTPUT another name\n$"
            )
            self.assertEqual(result.code, 2)
        self.assertEqual(self.read("r.sigmf-data"), self.data)

    def test_suffix_of_soft_bits(self):
        """The metadata say what a recording is, whatever its name ends in."""
        for part in ("meta", "data"):
            os.rename(self.path("r.sigmf-" + part), self.path("r.u8.sigmf-" + part))
        expected = self.soft_bits("r.u8.sigmf-meta")
        self.assertEqual(self.soft_bits("r.u8"), expected)
        self.ok(self.demod("--sigmf", "-o", "u8", "r.u8", "out.cf32"))
        self.assertEqual(self.read("out.cf32.sigmf-data"), expected)

    def test_wrong_commands(self):
        for arguments, message in (
            (["-o", "f16", "--snr-db", "3", "r", "out"],
             "--output-format: f16 has no datatype in SigMF; choose another, or --no-sigmf"),
            (["--sigmf", "r", "-"], "--sigmf: a recording is two files, and OUTPUT is '-'"),
            (["--sigmf", "r", "/dev/stdout"], "--sigmf: a recording is two files, and OUTPUT is '/dev/stdout'"),
            (["--sigmf", "--shard", "1/2", "r", "out"],
             "--sigmf: a shard is no recording; join plain shards, or use softqam-demod-mpi"),
        ):  # fmt: skip
            self.fails(self.demod(*arguments), 2, message)
        self.fails(self.demod("r", "none/out"), 1, "none/out.sigmf-data: No such file or directory")
        self.fails(self.demod("r", 300 * "x"), 1, 300 * "x" + ".sigmf-data: File name too long")

    def test_both_or_none(self):
        self.write("out.sigmf-data", b"old")
        os.mkdir(self.path("out.sigmf-meta"))
        before = self.files()
        self.fails(self.demod("r", "out"), 1, "out.sigmf-meta: Is a directory")
        self.assertEqual((self.files(), self.read("out.sigmf-data")), (before, b"old"))

    def test_signals(self):
        for number in DEADLY_SIGNALS:
            process = self.start(
                DEMOD, "--sigmf", "-", "out", bufsize=0, preexec_fn=default_signals, env=SIGNAL_ENVIRONMENT
            )
            process.stdin.write(bytes(8 * 1000))
            self.wait_for_temporary(2, process)
            process.send_signal(number)
            self.assertEqual(process.wait(TIMEOUT), -number)
            self.assertEqual(self.files(), ["plain.cs16", "r.sigmf-data", "r.sigmf-meta"])


@unittest.skipUnless(VALIDATOR, "the Python package sigmf is not installed; tools/setup.sh tests installs it")
@thorough
class Validated(SigmfTest):
    """By others: the package reads the recording, and its samples are ours."""

    def validate(self, name, format_, n):
        result = self.ok(self.run_tool(VALIDATOR, "-c", VALIDATE, name + ".sigmf-meta"))
        first, samples = result.out.split(b"\n", 1)
        count, channels, shape = first.decode().split(" ", 2)
        self.assertEqual((int(count), int(channels)), (n, 8))
        self.assertTrue(shape.startswith(f"({n}, 8)"), shape)
        typecode = {"u8": "B", **LLR_TYPECODE}[format_]
        got = unpack("f" if len(samples) == 32 * n else typecode, samples)
        self.assertEqual(list(got), list(unpack(typecode, self.read(name + ".sigmf-data"))))

    def test_formats(self):
        for format_, datatypes in DATATYPES.items():
            for datatype in datatypes:
                self.record("r", self.samples(format_, 300), datatype, Outputs.CAPTURES[:0])
                for output in OUTPUT_DATATYPES:
                    noise = [] if output == "u8" else ["--snr-db", "20"]
                    self.ok(self.demod(*noise, "-o", output, "r", "out"))
                    self.validate("out", output, 300)

    def test_all_that_is_carried_over(self):
        extra = {"core__version": "1.2.6", "core__author": "x", "core__data_doi": "10.1/2", "core__sample_rate": 1e6}
        extensions = [{"name": "own", "version": "0.1.0", "optional": True}]
        annotations = sorted(({**a, "core:sample_count": 3} for a in Outputs.ANNOTATIONS),
                             key=lambda a: a["core:sample_start"])
        data = self.samples("cs16")
        self.record("r", data, "ci16_le", Outputs.CAPTURES, annotations, core__extensions=extensions, **extra)
        self.ok(self.demod("--noise-var", "auto", "-q", "-o", "s8", "r", "out"))
        self.validate("out", "s8", 500)

    def test_plain_and_version_0(self):
        data = self.samples()
        self.ok(self.demod("--sigmf", "plain.cf32", "out"))
        self.validate("out", "u8", 500)
        self.record("r", data, core__version="0.0.1", core__extensions={"own": "0.0.1"})
        self.ok(self.demod("--no-hash", "r", "out"))
        self.validate("out", "u8", 500)

    def test_a_wrong_hash_is_found(self):
        """That the validator looks."""
        self.ok(self.demod("--sigmf", self.make("x.cf32", "--symbols", "10"), "out"))
        self.write("out.sigmf-data", bytes(80))
        self.assertNotEqual(self.run_tool(VALIDATOR, "-c", VALIDATE, "out.sigmf-meta").code, 0)


if __name__ == "__main__":
    sys.exit(main())
