#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings whose files or metadata are wrong, as tables. Called as bad_input_harness.py says."""
import os
import subprocess

import bad_input_harness
from bad_input_harness import DEMOD, BadInputTest
from test_bad_input import HOSTILE


class BadRecordings(BadInputTest):
    def test_recordings_that_would_be_lost(self):
        self.put_recording()
        plain = ["-i", "cf32", "--no-sigmf"]
        for name in ("x", "x.sigmf-meta", "x.sigmf-data"):
            for output in ("x.sigmf-meta", "./x.sigmf-data"):
                data = output.replace("meta", "data")
                self.row(DEMOD, [name, output], 2, f"{data}: is INPUT's; give OUTPUT another name")
                self.row(DEMOD, ["--no-sigmf", name, output], 2, f"{output}: is INPUT's; give OUTPUT another name")
        self.row(DEMOD, ["x.sigmf-meta", "x"], 2, "x.sigmf-data: is INPUT's; give OUTPUT another name")
        self.row(DEMOD, [*plain, "x.sigmf-data", "x.sigmf-meta"], 2, "x.sigmf-meta: is INPUT's; give OUTPUT another name")
        cause = "x.sigmf-data: is INPUT as well; give OUTPUT another name"
        self.row(DEMOD, [*plain, "x.sigmf-data", "x.sigmf-data"], 2, cause)
        self.row(DEMOD, ["-i", "cf32", "--sigmf", "x.sigmf-data", "x"], 2, cause)
        for link in (os.symlink, os.link):
            link(self.path("x.sigmf-meta"), self.path("y.sigmf-meta"))
            link(self.path("x.cf32"), self.path("z.sigmf-data"))
            self.row(DEMOD, ["x", "y"], 2, "y.sigmf-meta: is INPUT's; give OUTPUT another name")
            self.row(DEMOD, ["x.cf32", "z.sigmf-meta"], 2, "z.sigmf-data: is INPUT as well; give OUTPUT another name")
            os.remove(self.path("y.sigmf-meta"))
            os.remove(self.path("z.sigmf-data"))
        self.put("n.sigmf-meta", bytes(40))
        noise = ["-o", "s8", "--noise-file", "n.sigmf-meta"]
        self.row(DEMOD, [*noise, "x", "n"], 2, "n.sigmf-meta: is --noise-file as well; give OUTPUT another name")
        self.put_recording(core__dataset="samples")
        os.rename(self.path("x.sigmf-data"), self.path("samples"))
        self.row(DEMOD, ["--no-sigmf", "x", "samples"], 2, "samples: is INPUT's; give OUTPUT another name")

    def test_what_is_no_samples(self):
        """SigMF's files but the data, whatever format is named."""
        self.put_recording()
        cause = "metadata of SigMF, not samples; give the .sigmf-data, or drop --input-format"
        for format_ in ("cs16", "cf32", "sc8"):
            for name in ("x.sigmf-meta", "./x.sigmf-meta", "none.sigmf-meta"):
                for output in ("x.u8", "y", "x.sigmf-data", "-"):
                    self.row(DEMOD, ["-i", format_, name, output], 2, f"{name}: {cause}")
                self.row(DEMOD, ["--input-format", format_, "--no-sigmf", name, "y"], 2, f"{name}: {cause}")
        for name, cause in (
            ("x.sigmf", "an archive of SigMF; unpack it with tar; give the .sigmf-meta of a recording"),
            ("x.sigmf-collection", "a collection of SigMF, not a recording; give the .sigmf-meta of a recording"),
            ("x.sigmf.gz", "a compressed archive of SigMF; unpack it; give the .sigmf-meta of a recording"),
        ):
            self.put(name, bytes(80))
            self.row(DEMOD, ["-i", "cs16", name, "y"], 2, f"{name}: {cause}")

    def recording_row(self, code, message):
        for name in ("x.sigmf-meta", "x.sigmf-data"):
            self.row(DEMOD, [name, "x.u8"], code, message)

    def test_hostile_metadata(self):
        names = "cf32_le, cf32_be, cf64_le, cf64_be, ci32_le, ci32_be, ci16_le, ci16_be, ci8, cu8"
        for value, shown in HOSTILE[:10]:
            self.put_recording(core__datatype=value)
            if value.startswith("\udcff"):
                self.recording_row(1, "x.sigmf-meta: line 1: not UTF-8")
                continue
            self.recording_row(1, f"x.sigmf-meta: core:datatype: '{shown}' is not one of {names}")
            self.put_recording(core__dataset=value)
            cause = f"{shown}: No such file or directory"
            elsewhere = "x.sigmf-meta: core:dataset: not the name of a file beside it"
            self.recording_row(1, elsewhere if "/" in value else cause)
            self.put_recording(core__sha512=value)
            self.recording_row(1, "x.sigmf-meta: core:sha512: not a string of 128 digits")
        for value in ("", ".", "..", "-"):
            self.put_recording(core__dataset=value)
            message = ": Is a directory" if value.startswith(".") else "x.sigmf-meta: core:dataset: not the name of a file beside it"
            self.recording_row(1, value * value.startswith(".") + message)
        self.put_recording(core__dataset=5000 * "y")
        self.recording_row(1, "x.sigmf-meta: core:dataset: not the name of a file beside it")
        self.assertFalse(os.path.exists(self.path("pwned")))

    def test_metadata_with_counts_at_the_ends(self):
        """What no file holds, and what no count is; sums and products of them have no room to overflow."""
        top = 1 << 53
        for n in (-1, 0.5, top + 2, 1 << 63, 1 << 64, 10**400, "1", None, True, [], {}):
            for name in ("core__trailing_bytes", "core__num_channels"):
                self.put_recording(**{name: n})
                self.recording_row(1, f"x.sigmf-meta: {name.replace('__', ':')}: not a whole number")
            self.put_recording([{"core:header_bytes": n}])
            self.recording_row(1, "x.sigmf-meta: core:header_bytes: not a whole number")
        for captures in ({}, {"0": {"core:header_bytes": 8}}, "x", 1, None, True):
            self.put_recording(captures)
            self.recording_row(1, "x.sigmf-meta: captures: not an array")
        for header, trailer in ((81, 0), (0, 81), (41, 40), (top, 0), (0, top), (top, top)):
            self.put_recording([{"core:header_bytes": header}], core__trailing_bytes=trailer)
            cause = f"shorter than the {header + trailer} bytes around the samples that x.sigmf-meta tells of"
            self.recording_row(1, f"x.sigmf-data: {cause}")
        for scale in (0, -1, 10**400, 1e39, 1e-39, "1", None, True):
            self.put_recording(softqam__input_scale=scale)
            self.recording_row(1, "x.sigmf-meta: softqam:input_scale: not a positive number")

    def test_metadata_that_are_none(self):
        self.put_recording()
        for text, cause in (
            (b"", "line 1: not JSON"), (b"\n\n{", "line 3: not JSON"), (b"\0", "line 1: not JSON"),
            (b'{"global":{}}x', "line 1: not JSON"), (b'{"global":{"a":"\xff\\x"}}', "line 1: not JSON"),
            (5000 * b"[", "line 1: not JSON"), (500 * b"[" + 500 * b"]", "not SigMF: there is no object 'global'"),
            (b"7", "not SigMF: there is no object 'global'"), (b'"global"', "not SigMF: there is no object 'global'"),
            (b'{"Global":{"core:datatype":"ci8"}}', "not SigMF: there is no object 'global'"),
            (b'{"global":{"CORE:datatype":"ci8"}}', "core:datatype: missing"),
            (os.urandom(5000) + b"\n]", None),
        ):  # fmt: skip
            self.put("x.sigmf-meta", text)
            if cause:
                self.recording_row(1, f"x.sigmf-meta: {cause}")
            else:
                result = subprocess.run([DEMOD, "x", "x.u8"], cwd=self.directory, capture_output=True, check=False)
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr, rb"\Asoftqam-demod: x.sigmf-meta: [^\n]+\n\Z")
        with open(self.path("x.sigmf-meta"), "wb") as file:
            file.truncate((1 << 30) + 1)
        message = "softqam-demod: x.sigmf-meta: not a file of metadata: over 1 GiB\n"
        result = subprocess.run([DEMOD, "x", "x.u8"], cwd=self.directory, capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stderr.decode()), (1, message))

    def test_metadata_that_say_two_things(self):
        """A name that comes twice, and what ends a string before its end; in versions, too."""
        self.put_recording()
        start = b'{"global":{"core:datatype":"cf32_le"'
        for text, cause in (
            (start + b',"core:datatype":"ci8"}}', "core:datatype: twice in one object"),
            (b'{"global":{"core:datatype":"cf32_le"},"global":{}}', "global: twice in one object"),
            (start + b'},"captures":[{"a":[{"b":1,"c":2,"b":1}]}]}', "b: twice in one object"),
            (start + b',"a":1,"\\u0061":2}}', "a: twice in one object"),
            (b'{"global":\n{"core:datatype":"cf32_le\\u0000x"}}', "line 2: a string with a zero character"),
            (start + b',"own:\\u0000":1}}', "line 1: a string with a zero character"),
            (start + b',"a":"\0"}}', "line 1: a zero byte"),
            (start + b',\n"a":"J\xfcrgen"}}', "line 2: not UTF-8"),
        ):
            self.put("x.sigmf-meta", text)
            self.recording_row(1, f"x.sigmf-meta: {cause}")
        for version in ("x", "", "1", "2", "1.0", "v1.0.0", "1.0.0 ", "1.0.0.0", "+1.0.0", "1..0", "1.0.0x", 1, None, [], True, {}):
            self.put_recording(core__version=version)
            self.recording_row(1, 'x.sigmf-meta: core:version: not a version such as "1.2.0"')
        for modulation in ("8psk", "", "qpsk ", 4, None, ["qpsk"]):
            self.put_recording(softqam__modulation=modulation)
            shown = modulation if isinstance(modulation, str) else ""
            self.recording_row(1, f"x.sigmf-meta: softqam:modulation: '{shown}' is no modulation of 5G NR")
        for c_init in (-1, 0.5, "1", None, True):
            self.put_recording(softqam__c_init=c_init)
            self.recording_row(1, "x.sigmf-meta: softqam:c_init: not a whole number")
        self.put_recording(softqam__c_init=1 << 31)
        self.recording_row(1, "x.sigmf-meta: softqam:c_init: not a whole number from 0 to 2147483647")
        self.put_recording(own__a="\\u0000", own__b={"a": 1, "b": {"a": 1}}, core__version="1.2.0")
        self.assertEqual(subprocess.run([DEMOD, "x", "y.u8"], cwd=self.directory, check=False).returncode, 0)

    def test_recordings_of_what_is_no_file(self):
        self.put_recording()
        os.remove(self.path("x.sigmf-meta"))
        os.mkdir(self.path("x.sigmf-meta"))
        self.recording_row(1, "x.sigmf-meta: not a file of metadata: no regular file")
        os.rmdir(self.path("x.sigmf-meta"))
        self.put_recording()
        os.remove(self.path("x.sigmf-data"))
        self.recording_row(1, "x.sigmf-data: No such file or directory")
        os.mkdir(self.path("x.sigmf-data"))
        self.recording_row(1, "x.sigmf-data: Is a directory")
        os.rmdir(self.path("x.sigmf-data"))
        self.put_recording()
        os.mkdir(self.path("y.sigmf-meta"))
        self.row(DEMOD, ["x", "y"], 1, "y.sigmf-meta: Is a directory")
        os.mkdir(self.path("z.sigmf-data"))
        self.row(DEMOD, ["x", "z"], 1, "z.sigmf-data: Is a directory")


if __name__ == "__main__":
    bad_input_harness.main()
