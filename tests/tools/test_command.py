#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options, help and messages."""
import json
import os
import re
import sys

from mpi_environment import MPI_ENVIRONMENT
from output_formats import LLR_FORMATS, LLR_STEPS, LLR_TYPECODE, OUTPUT_FORMATS
from tools_harness import (
    ARGUMENTS, BACKEND, BOTH_DEMODS, DEMOD, DEMOD_MPI, GEN, PLOT, TIMEOUT, ToolTest, main, open_terminal, rest_of_terminal,
)  # fmt: skip


ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
INPUT_FORMATS = "cf32, cs16, cs8, cf16, cu8, cs32, cf64"
OUT_OF_RANGE = "is outside the range of a 32-bit float, 1.175494e-38 to 3.402823e+38"


class CommandLine(ToolTest):
    """Options, help and messages."""

    WRONG_DEMOD = [
        (["--threads", "0"], "--threads: '0' is not a whole number from 1 to 1024"),
        (["--threads", "-1"], "--threads: '-1' is not a whole number from 1 to 1024"),
        (["--threads", "+1"], "--threads: '+1' is not a whole number from 1 to 1024"),
        (["--threads=2x"], "--threads: '2x' is not a whole number from 1 to 1024"),
        (["--threads="], "--threads: '' is not a whole number from 1 to 1024"),
        (["--threads", " 1"], "--threads: ' 1' is not a whole number from 1 to 1024"),
        (["--threads", "1.0"], "--threads: '1.0' is not a whole number from 1 to 1024"),
        (["--threads", "1025"], "--threads: '1025' is not a whole number from 1 to 1024"),
        (["--threads", "4294967297"], "--threads: '4294967297' is not a whole number from 1 to 1024"),
        (["--threads", 30 * "9"], f"--threads: '{30 * '9'}' is not a whole number from 1 to 1024"),
        (["--streams", "0"], "--streams: '0' is not a whole number from 1 to 64"),
        (["--streams", "65"], "--streams: '65' is not a whole number from 1 to 64"),
        (["--chunk", "0"], "--chunk: '0' is not a whole number from 1 to 268435456"),
        (["--chunk", "268435457"], "--chunk: '268435457' is not a whole number from 1 to 268435456"),
        (["--chunk", "1X"], "--chunk: '1X' is not a whole number from 1 to 268435456"),
        (["--device", "x"], "--device: 'x' is not a whole number from 0 to 2147483647"),
        (["--device", "-1"], "--device: '-1' is not a whole number from 0 to 2147483647"),
        (["--device", "2147483648"], "--device: '2147483648' is not a whole number from 0 to 2147483647"),
        (["--device", "1,0,1"], "--device: '1,0,1' names device 1 twice"),
        (["--device", "0,"], "--device: '' is not a whole number from 0 to 2147483647"),
        (["--device", ",0"], "--device: '' is not a whole number from 0 to 2147483647"),
        (["--device", "0,all"], "--device: 'all' is not a whole number from 0 to 2147483647"),
        (["--device", ",".join(str(k) for k in range(65))], "--device: more than 64 devices"),
        (["--backend", "gpu"], "--backend: 'gpu' is not one of cpu, cuda, auto"),
        (["--backend", ""], "--backend: '' is not one of cpu, cuda, auto"),
        (["--progress", "sometimes"], "--progress: 'sometimes' is not one of auto, always, never"),
        (["-i", "cs64"], f"--input-format: 'cs64' is not one of {INPUT_FORMATS}"),
        (["-o", "u16"], "--output-format: 'u16' is not one of " + ", ".join(OUTPUT_FORMATS)),
        (["--sign", "2"], "--sign: '2' is not one of 0, 1"),
        (["--sign", "+"], "--sign: '+' is not one of 0, 1"),
        *[(["-m", text], f"--modulation: '{text}' is not one of bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam")
          for text in ("", "8psk", "pi/2-bpsk", "256qam ", "6")],
        *[(["-m", name], f"--modulation: {name} has no soft bits u8; choose LLRs, hard or bits with --output-format")
          for name in ("bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "1024qam")],
        *[(["--c-init", text], f"--c-init: '{text}' is not a whole number from 0 to 2147483647, decimal or 0x..")
          for text in ("", "-1", "0x", "0x-1", "0X1", "x1", "1.5", "2147483648", "0x80000000", "4294967296", " 1", "1 ",
                       "18446744073709551616", "0x10000000000000000", "1e3", "abc")],
        (["--c-init", "1"],
         "--c-init: what is descrambled has no soft bits u8; choose LLRs, hard or bits with --output-format"),
        (["-o", "u8", "-m", "256qam", "--c-init", "0"],
         "--c-init: what is descrambled has no soft bits u8; choose LLRs, hard or bits with --output-format"),
        *[(["--planes", text], f"--planes: '{text}' is not a whole number from 1 to 4194304")
          for text in ("0", "-1", "", "4194305", "1e3x", "5M", "18446744073709551617")],
        (["--planes", "8"],
         "--planes: what comes out as bit planes has no soft bits u8; choose LLRs, hard or bits with --output-format"),
        (["-o", "hard", "--planes", "8", "--skip", "12"],
         "--planes: --skip 12 is not a multiple of the 8 symbols of a code block"),
        (["--frobnicate"], "--frobnicate: no such option; --help lists them"),
        (["--frobnicate=3"], "--frobnicate=3: no such option; --help lists them"),
        (["-x"], "-x: no such option; --help lists them"),
        (["-qx"], "-x: no such option; --help lists them"),
        (["--verify=3"], "--verify: takes no value, but '--verify=3' gives it one"),
        (["--stats=j"], "--stats: 'j' is not one of json, json:FILE"),
        (["-o", "hard", "--sign", "1"], "--sign: only for soft bits and LLRs; hard is bits"),
        (["-o", "bits", "--snr-db", "3"],
         "--snr-db: only for LLRs; bits takes no noise variance"),
        (["-o", "bits", "--llr-scale", "3"], "--llr-scale: only for output formats s8 and s16"),
        (["--partial", "keep"], "--partial: 'keep' is not one of error, ignore"),
        (["--skip", "-1"], "--skip: '-1' is not a whole number from 0 to 576460752303423487"),
        (["--count", "1e3k"], "--count: '1e3k' is not a whole number from 0 to 576460752303423487"),
        (["--count", "576460752303423488"],
         "--count: '576460752303423488' is not a whole number from 0 to 576460752303423487"),
        (["--st"], "--st: could be more than one option; --help lists them"),
    ] + [
        (arguments, arguments[0] + ": only for LLRs; u8 takes no noise variance")
        for arguments in (["--noise-var", "1"], ["--noise-var", "auto"], ["--snr-db", "30"], ["--noise-file", "x.cf32"])
    ] + [
        ([*arguments], f"{arguments[0]}: only for output formats s8 and s16")
        for arguments in (["--llr-scale", "6"], ["--llr-limit", "127"])
    ]  # fmt: skip

    ONE_OF = "output format {} needs a noise variance: --noise-var, --snr-db or --noise-file"
    WRONG_LLR = [
        ([], ONE_OF.format("s8")),
        (["-o", "s16"], ONE_OF.format("s16")),
        (["-o", "f16"], ONE_OF.format("f16")),
        (["-o", "f32", "--sign", "1"], ONE_OF.format("f32")),
        (["--llr-scale", "6"], ONE_OF.format("s8")),
        (["--snr-db", "200.1"], "--snr-db: '200.1' is not a number from -200 to 200"),
        (["--snr-db", "30dB"], "--snr-db: '30dB' is not a number from -200 to 200"),
        (["--snr-db", "nan"], "--snr-db: 'nan' is not a number from -200 to 200"),
        (["--snr-db", "auto"], "--snr-db: 'auto' is not a number from -200 to 200"),
        (["--snr-db", "10", "--llr-limit", "0"], "--llr-limit: '0' is not a whole number from 1 to 127"),
        (["--snr-db", "10", "--llr-limit", "128"], "--llr-limit: '128' is not a whole number from 1 to 127"),
        (["--snr-db", "10", "--llr-limit", "1.5"], "--llr-limit: '1.5' is not a whole number from 1 to 127"),
        (["--snr-db", "10", "-o", "s16", "--llr-limit", "0"], "--llr-limit: '0' is not a whole number from 1 to 32767"),
        (["--snr-db", "10", "-o", "s16", "--llr-limit", "32768"],
         "--llr-limit: '32768' is not a whole number from 1 to 32767"),
        (["-o", "s16", "--llr-limit", "-5"], "--llr-limit: '-5' is not a whole number from 1 to 32767"),
        (["--llr-limit", "300", "-o", "s8"], "--llr-limit: '300' is not a whole number from 1 to 127"),
        (["--snr-db", "10", "-o", "f16", "--llr-scale", "1"], "--llr-scale: only for output formats s8 and s16"),
        (["--snr-db", "10", "-o", "f32", "--llr-limit", "127"], "--llr-limit: only for output formats s8 and s16"),
        (["-ou8", "--snr-db", "10"], "--snr-db: only for LLRs; u8 takes no noise variance"),
    ] + [
        (arguments, f"{arguments[-2]}: contradicts {arguments[-4]}: noise variances come from one of the two")
        for arguments in (
            ["--noise-var", "0.1", "--snr-db", "10"], ["--snr-db", "10", "--noise-var", "0.1"],
            ["--snr-db", "10", "--noise-var", "auto"], ["--noise-var", "auto", "--noise-file", "x.cf32"],
            ["--noise-file", "x.cf32", "--noise-file", "x.cf32", "--snr-db", "3"],
        )
    ] + [
        (["--noise-var", text], f"--noise-var: '{text}' is not a positive number or fraction (such as 0.25 or 1/32768) "
                                "nor 'auto'")
        for text in ("0", "-1", "nan", "inf", "Auto", "", "1/0", "30dB")
    ] + [
        ([option, text], f"{option}: '{text}' {OUT_OF_RANGE}")
        for option in ("--noise-var", "--input-scale")
        for text in ("1e-40", "1e-45", "1e-60", "1e60", "1e400", "1e39", "1/1e39")
    ] + [
        (["--snr-db", "10", "--llr-scale", text],
         f"--llr-scale: '{text}' is not a number or fraction from 0.0009765625 to 1048576")
        for text in ("0.0009", "1048577", "-6", "0", "x", "1/1025", "2097153/2", "1/", "/2", "1/0", "1/-1", "1/2/3")
    ] + [
        (["-o", "s16", "--snr-db", "10", "--llr-scale", text],
         f"--llr-scale: '{text}' is not a number or fraction from 0.0009765625 to 16384")
        for text in ("0.0009", "16385", "1048576", "1/1025", "0")
    ]  # fmt: skip

    WRONG_RATIOS = ["0", "-1", "nan", "inf", "1/0", "0/1", "1/", "/2", "/", "1/2/3", "0x1p-3",
                    "1 ", " 1", "", "1/nan", "-1/-2", "1,5", "1e", "."]  # fmt: skip

    WRONG_GEN = [
        (["-m", "qam"], "--modulation: 'qam' is not one of bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam"),
        (["--c-init", "0x8000_0000"],
         "--c-init: '0x8000_0000' is not a whole number from 0 to 2147483647, decimal or 0x.."),
        (["--symbols", "-1"], "--symbols: '-1' is not a whole number from 0 to 922337203685477580"),
        (["--symbols", "1.5e0"], "--symbols: '1.5e0' is not a whole number from 0 to 922337203685477580"),
        (
            ["--symbols", "922337203685477581"],
            "--symbols: '922337203685477581' is not a whole number from 0 to 922337203685477580",
        ),
        (["--seed", "x"], "--seed: 'x' is not a whole number from 0 to 18446744073709551615"),
        (
            ["--seed", "18446744073709551616"],
            "--seed: '18446744073709551616' is not a whole number from 0 to 18446744073709551615",
        ),
        (["--snr-db", "nan"], "--snr-db: 'nan' is not a number from -200 to 200"),
        (["--snr-db", "inf"], "--snr-db: 'inf' is not a number from -200 to 200"),
        (["--snr-db", "200.1"], "--snr-db: '200.1' is not a number from -200 to 200"),
        (["--snr-db", "30dB"], "--snr-db: '30dB' is not a number from -200 to 200"),
        (["--snr-db", ""], "--snr-db: '' is not a number from -200 to 200"),
        (["--threads", "0"], "--threads: '0' is not a whole number from 1 to 1024"),
        (["-o", "u8"], "--output-format: 'u8' is not one of cf32, cs16, cs8, cf16"),
        (["--s"], "--s: could be more than one option; --help lists them"),
        (["--verify"], "--verify: no such option; --help lists them"),
    ]

    def rejects(self, program, arguments, message):
        with self.subTest(arguments=arguments):
            result = self.run_tool(program, *arguments)
            self.fails(result, 2, message, os.path.basename(program))
            self.assertEqual(result.out, b"")
            self.assertEqual(self.files(), ["x.cf32"])

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "10")

    def test_wrong_values(self):
        for arguments, message in self.WRONG_DEMOD:
            self.rejects(DEMOD, arguments + ["x.cf32", "x.u8"], message)
        for arguments, message in self.WRONG_LLR:
            self.rejects(DEMOD, arguments + ["x.cf32", "x.s8"], message)
        for arguments, message in self.WRONG_GEN:
            self.rejects(GEN, arguments + ["y.cf32"], message)

    def test_wrong_ratios(self):
        for text in self.WRONG_RATIOS:
            message = f"'{text}' is not a positive number or fraction (such as"
            arguments = ["--input-scale", text, "x.cf32", "x.u8"]
            self.rejects(DEMOD, arguments, f"--input-scale: {message} 0.25 or 1/32768) nor 'auto'")
            self.rejects(GEN, ["--output-scale", text, "y.cf32"], f"--output-scale: {message} 0.25 or 1/32768)")
        for text in ("1e-40", "1e60", "1e400"):
            self.rejects(GEN, ["--output-scale", text, "y.cf32"], f"--output-scale: '{text}' {OUT_OF_RANGE}")

    def test_both_from_standard_input(self):
        self.rejects(DEMOD, ["--noise-file", "-", "-", "x.s8"], "--noise-file: '-' is INPUT as well")
        self.rejects(DEMOD, ["--compare", "-", "-", "x.u8"], "--compare: '-' is INPUT as well")
        both = ["--compare", "-", "--noise-file", "-", "x.cf32", "x.s8"]
        self.rejects(DEMOD, both, "--compare: '-' is --noise-file as well")

    def test_missing_values(self):
        for option in ("--threads", "--input-scale", "--device", "--chunk", "--noise-var", "--snr-db", "--noise-file",
                       "--llr-scale", "--llr-limit", "--sign", "--skip", "--count", "--partial", "--compare"):  # fmt: skip
            self.rejects(DEMOD, ["x.cf32", "x.u8", option], option + ": needs a value")
        self.rejects(DEMOD, ["x.cf32", "x.u8", "-i"], "--input-format: needs a value")
        self.rejects(GEN, ["x.cf32", "--bits"], "--bits: needs a value")

    def test_operands(self):
        for n, operands in enumerate(([], ["x.cf32"])):
            self.rejects(DEMOD, operands, f"needs 2 operands (INPUT and OUTPUT), but got {n}; --help explains")
        self.rejects(DEMOD, ["x.cf32", "y", "z"], "needs 2 operands (INPUT and OUTPUT), but got 3; --help explains")
        self.rejects(GEN, [], "needs 1 operand (OUTPUT), but got 0; --help explains")
        self.rejects(GEN, ["y", "z"], "needs 1 operand (OUTPUT), but got 2; --help explains")

    def test_right_values(self):
        """The ends of the ranges, options after operands, the last of two wins, -- ends them."""
        for arguments in (
            ["--threads", "1024"], ["--streams", "64", "--chunk", "268435456"], ["--chunk", "1", "--streams", "1"], ["--backend", "auto"], ["--backend=cuda", "--backend", "cpu"],
            ["--input-scale", "1e-37"], ["--input-scale", ".5"], ["--input-scale", "3e1/4.5"], ["-q"],
            ["--progress=never"], ["--prog", "never"], ["-iu8", "-icf32"], ["-qou8"], ["--sign", "0"], ["--sign=1"],
            ["-os8", "--snr-db=-200"], ["-os8", "--snr-db", "200"], ["-of16", "--noise-var", "1/1000"],
            ["-of32", "--noise-var", "1e-37"], ["-of32", "--noise-var", "3e38"],
            ["-os8", "--snr-db", "10", "--llr-scale", "0.0009765625", "--llr-limit", "1"],
            ["-os8", "--snr-db", "10", "--llr-scale", "1048576", "--llr-limit", "127"],
            ["-os16", "--snr-db", "10", "--llr-scale", "1/1024", "--llr-limit", "1"],
            ["--llr-scale", "16384", "--llr-limit", "32767", "-os16", "--snr-db", "10"],
            ["-os8", "--snr-db", "10", "--llr-scale", "1/1024"], ["-os8", "--snr-db", "10", "--llr-scale", "4194304/4"],
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.ok(self.run_tool(DEMOD, "--backend", "cpu", "x.cf32", "x.u8", *arguments))
                self.ok(self.run_tool(DEMOD, "--backend", "cpu", *arguments, "--", "x.cf32", "x.u8"))
        for snr_db in ("-200", "200", "+3.5", "1e1"):
            self.ok(self.gen("--snr-db", snr_db, "--symbols", "10", "y.cf32"))

    def test_help(self):
        for program in filter(os.path.exists, (DEMOD, GEN, DEMOD_MPI)):
            name = os.path.basename(program)
            for option in ("-h", "--help"):
                result = self.ok(self.run_tool(program, option))
                text = result.out.decode()
                self.assertEqual(result.err, "")
                self.assertTrue(text.startswith(f"Usage: {name} "))
                self.assertLessEqual(max(map(len, text.splitlines())), 80)
                self.assertNotIn("\t", text)
            self.assertEqual(self.ok(self.run_tool(program, "--threads", "2", "-h", "--frob")).out.decode(), text)
        help_ = " ".join(self.run_tool(DEMOD, "--help").out.decode().split())
        for word in ("--input-format", "--output-format", "--input-scale", "--backend", "--device", "--threads",
                     "--streams", "--chunk", "--verify", "--stats", "--progress", "-q", "-h", "-V", "1/32768", ".cfile",
                     "--noise-var", "--snr-db", "--noise-file", "--llr-scale", "--llr-limit", "--sign", ".cf16",
                     *("." + name for name in OUTPUT_FORMATS), "a byte above the midpoint, means bit 0", "38.211", "exact max-log",
                     "complex noise", "E|n|^2", "262144", "5 %",
                     "any other suffix", "-i sc16", "must be there", "--compare, --stats", "file or BITS",
                     ):  # fmt: skip
            self.assertIn(word, help_)
        help_ = self.run_tool(GEN, "--help").out.decode()
        for word in ("--symbols", "--snr-db", "--seed", "--output-format", "--output-scale", "--bits", "--threads"):
            self.assertIn(word, help_)

    def test_examples(self):
        """They stand at the head of --help, and work as they are."""
        self.make("capture.cf32", "--symbols", "500", "--bits", "sent.hard")
        self.make("capture.cs16", "-m", "qpsk", "--symbols", "500", "--output-scale", "1/32768")
        self.make("recording.sigmf-meta", "--symbols", "500", "--snr-db", "30")
        for program in (DEMOD, GEN):
            name = os.path.basename(program)
            examples = self.run_tool(program, "--help").out.decode().split("Examples:\n")[1].split("\n\n")[0].splitlines()
            self.assertGreaterEqual(len(examples), 3)
            for example in examples:
                prompt, line = example.split("$ ")
                self.assertEqual(prompt, "  ")
                line = line.replace("receiver", "cat capture.cs16").replace(name, program)
                self.ok(self.run_tool("sh", "-c", line))

    def test_counts(self):
        for text, n in (("3", 3), ("1k", 1000), ("1K", 1000), ("2Ki", 2048), ("0.5Ki", 512), ("1.25k", 1250), ("1e3", 1000),
                        ("12E2", 1200), ("1.5e1", 15), ("0M", 0), ("0e99", 0), ("007", 7), ("1.500k", 1500),
                        ("0.0015M", 1500)):  # fmt: skip
            self.make("y.cs8", "--symbols", text)
            self.assertEqual(len(self.read("y.cs8")), 2 * n, text)
        top = "is not a whole number from 0 to 18446744073709551615"
        for text in ("", ".", "1.", ".5k", "1.5", "1.0", "0.5", "1.23k1", "k", "1kk", "1k ", " 1k", "1m", "1g", "1P", "1e", "1e+3", "1e-3",
                     "1e1000", "1e20", "20000000T", "16777216Ti", "18446744073709551616", "0.0001k", "1.0001k", "1Kib", "1MB", "1_000", "1,000",
                     "0x10", "1e3k", "-1k", "+1k", "1.2.3k", "1e3.5", "\u0661k"):  # fmt: skip
            self.fails(self.gen("--seed", text, "z.cf32"), 2, f"--seed: '{text}' {top}", "softqam-gen")
        for text in ("18446744073709551615", "18446744073709.551k", "17179869183Gi"):
            self.ok(self.gen("--seed", text, "--symbols", "1", "y.cs8"))

    def test_no_clobber(self):
        """Nothing that is there is replaced, not even what comes while the tool runs."""
        self.write("y.u8", b"old")
        for option in ("-n", "--no-clobber"):
            for program, *arguments in ((DEMOD, "x.cf32", "y.u8"), (GEN, "-o", "cf32", "y.u8"), (GEN, "--bits", "y.u8", "z.cf32"),
                                        (DEMOD, "--stats=json:y.u8", "x.cf32", "z.u8"), (BOTH_DEMODS[-1], "x.cf32", "y.u8")):  # fmt: skip
                result = self.run_tool(program, option, *arguments, env={**os.environ, **MPI_ENVIRONMENT})
                self.fails(result, 1, "y.u8: is there already, and --no-clobber keeps it", os.path.basename(program))
                self.assertEqual((self.files(), self.read("y.u8")), (["x.cf32", "y.u8"], b"old"))
        process = self.start(DEMOD, "-n", "-", "z.u8")
        process.stdin.write(self.read("x.cf32"))
        process.stdin.flush()
        self.wait_for_temporary(1, process)
        self.write("z.u8", b"other")
        process.stdin.close()
        self.assertEqual((process.wait(TIMEOUT), self.read("z.u8")), (1, b"other"))
        self.assertEqual(process.stderr.read(), b"softqam-demod: z.u8: File exists\n")
        self.assertEqual(self.files(), ["x.cf32", "y.u8", "z.u8"])
        for output in ("new.u8", "/dev/null"):
            self.ok(self.demod("-n", "x.cf32", output))
        self.assertEqual(len(self.read("new.u8")), 80)

    def test_terminal(self):
        """Binary data are not written to one, by whatever name."""
        master, slave = open_terminal()
        message = "a terminal, which binary data may upset; redirect it, or name a file"
        for program, arguments in ((DEMOD, ["x.cf32"]), (GEN, ["--symbols", "1"]), (GEN, ["--symbols", "1", "y.cf32", "--bits"])):
            for name, shown in (("-", "standard output"), ("/dev/stdout", "/dev/stdout"), (os.ttyname(slave),) * 2):
                result = self.run_tool(program, *arguments, name, stdout=slave)
                self.fails(result, 2, f"{shown}: {message}", os.path.basename(program))
                self.assertEqual(self.files(), ["x.cf32"])
        os.close(slave)
        self.assertEqual(rest_of_terminal(master), b"")

    def test_statistics_as_json(self):
        """Complete, on standard error or in a file, which is there complete or not at all."""
        self.make("x.cs16", "-m", "16qam", "--c-init", "5", "--symbols", "3000", "--snr-db", "20", "--bits", "sent")
        command = ["-q", "-m", "16qam", "--c-init", "5", "--snr-db", "20", "--input-scale", "1/8192", "--compare", "sent", "x.cs16"]
        for program in BOTH_DEMODS:
            environment = {**os.environ, **MPI_ENVIRONMENT}
            result = self.ok(self.run_tool(program, "--stats=json:j", *command, "y.s8", env=environment))
            self.assertEqual(result.err.count("\n"), 1)
            text = self.read("j").decode()
            self.assertEqual(text.count("\n"), 1)
            found = json.loads(text)
            version = self.run_tool(DEMOD, "-V").out.decode().split()[1]
            expected = {"version": version, "input": "x.cs16", "output": "y.s8", "input_format": "cs16", "output_format": "s8",
                        "modulation": "16qam", "c_init": 5, "symbols": 3000, "snr_db": 20, "bits_compared": 12000}  # fmt: skip
            self.assertEqual({key: found[key] for key in expected}, expected)
            self.assertEqual(found["bit_error_rate"], found["bits_wrong"] / 12000)
            self.assertLess(abs(found["estimated_snr_db"] - 20), 0.3)
            self.assertEqual(set(json.loads(self.run_tool(program, "--stats=json", *command, "y.s8", env=environment).err.splitlines()[-1])),
                             set(found))  # fmt: skip
        files = self.files()
        for name, code, message in (("x.cs16", 2, "x.cs16: is INPUT as well; give OUTPUT another name"),
                                    ("sent", 2, "sent: is --compare's as well; give OUTPUT another name"),
                                    ("./y.s8", 2, "--stats: './y.s8' is OUTPUT as well"),
                                    ("none/j", 1, "none/j: No such file or directory")):  # fmt: skip
            self.fails(self.demod(f"--stats=json:{name}", *command, "y.s8"), code, message)
            self.assertEqual(self.files(), files)
        result = self.demod("--stats=json:/dev/full", *command, "y.s8")
        self.assertEqual((result.code, result.err.splitlines()[-1]), (1, "softqam-demod: /dev/full: No space left on device"))
        self.write(os.fsdecode(b"a\"\xff.cf32"), self.read("x.cf32"))
        result = self.ok(self.demod("--stats=json:-", os.fsdecode(b"a\"\xff.cf32"), "y.u8"))
        self.assertEqual(json.loads(result.out)["input"], 'a"?.cf32')

    def test_version(self):
        for program in (DEMOD, GEN):
            for option in ("-V", "--version"):
                text = self.ok(self.run_tool(program, option)).out.decode()
                self.assertRegex(text, rf"^{os.path.basename(program)} \d+\.\d+\.\d+\n$")

    def test_help_that_cannot_be_written(self):
        for option in ("--help", "--version"):
            with open("/dev/full", "wb") as full:
                result = self.run_tool(GEN, option, stdout=full)
            self.fails(result, 1, "standard output: No space left on device", "softqam-gen")
        result = self.run_tool(DEMOD, "--help", stdout=None, preexec_fn=lambda: os.close(1))
        self.fails(result, 1, "standard output: Bad file descriptor")

    def test_silence(self):
        result = self.ok(self.demod("x.cf32", "x.u8"))
        self.assertEqual((result.out, result.err), (b"", ""))

    def test_progress_always(self):
        self.make("x.cf32", "--symbols", "600000")
        result = self.ok(self.demod("-q", "--progress", "always", "x.cf32", "x.u8"))
        lines = result.err.splitlines()
        for line in lines:
            self.assertRegex(
                line, r"^softqam-demod: \d+\.\d % of 600000 symbols done, \d+\.\d Msym/s, \d+ s left$"
            )
        self.assertIn("100.0 % of 600000 symbols done", lines[-1])
        result = self.ok(self.demod("--progress", "always", "-", "x.u8", data=self.read("x.cf32")))
        self.assertRegex(result.err.splitlines()[0], r"^softqam-demod: \d+ symbols done, \d+\.\d Msym/s$")

    def on_terminal(self, *arguments):
        """What standard error shows when it is a terminal."""
        master, slave = open_terminal()
        process = self.start(DEMOD, "--backend", BACKEND, *arguments, "x.cf32", "x.u8", stderr=slave)
        os.close(slave)
        shown = rest_of_terminal(master)
        self.assertEqual(process.wait(TIMEOUT), 0)
        return shown.decode()

    def test_progress_on_a_terminal(self):
        shown = self.on_terminal("--verify")
        self.assertTrue(shown.startswith("\rsoftqam-demod: "), repr(shown))
        self.assertRegex(shown, r"\r\x1b\[Ksoftqam-demod: verify: all 10 symbols .*\r\n$")
        self.assertEqual(shown.count("\n"), 1)
        for arguments in (["--progress", "never"], ["-q"]):
            self.assertEqual(self.on_terminal(*arguments), "")

    def test_backend_that_is_not_there(self):
        """Without a device --backend cuda fails and auto does not."""
        hidden = dict(os.environ, CUDA_VISIBLE_DEVICES="-1")
        result = self.run_tool(DEMOD, "--backend", "cuda", "x.cf32", "x.u8", env=hidden)
        self.assertEqual(result.code, 1)
        self.assertRegex(result.err, r"^softqam-demod: .*CUDA.*\n$")
        self.assertEqual(self.files(), ["x.cf32"])
        self.ok(self.run_tool(DEMOD, "--backend", "auto", "x.cf32", "x.u8", env=hidden))

    def test_device_that_is_not_there(self):
        """One that is named is asked for, whatever the backend and the number of symbols; all may be none."""
        hidden = dict(os.environ, CUDA_VISIBLE_DEVICES="-1")
        self.make("long.cf32", "--symbols", "100000")
        files = self.files()
        expected = self.run_tool(DEMOD, "--backend", "cuda", "--device", "7", "x.cf32", "x.u8", env=hidden)
        self.assertRegex(expected.err, r"^softqam-demod: .*CUDA.*\n$")
        for options in (["--device", "7"], ["--backend", "auto", "--device", "7"], ["--device", "0,7"]):
            for name in ("x.cf32", "long.cf32"):
                with self.subTest(options=options, name=name):
                    result = self.run_tool(DEMOD, *options, name, "x.u8", env=hidden)
                    self.assertEqual((result.code, result.err), (1, expected.err))
                    self.assertEqual(self.files(), files)
        for options in (["--device", "all"], ["--backend", "cpu"]):
            self.ok(self.run_tool(DEMOD, *options, "long.cf32", "x.u8", env=hidden))

    def test_formats_of_the_library(self):
        """softqam.h and softqam-demod have the output formats that these tests have, softqam-plot the soft ones."""
        with open(os.path.join(ROOT, "include/softqam/softqam.h"), encoding="utf-8") as file:
            named = re.findall(r"^    SOFTQAM_OUTPUT_(\w+) = \d+", file.read(), re.MULTILINE)
        self.assertEqual([name.lower() for name in named], [*LLR_FORMATS, "u8"])
        self.assertEqual(list(LLR_STEPS), [name for name, code in LLR_TYPECODE.items() if code not in "ef"])
        self.rejects(DEMOD, ["-o", "?", "x.cf32", "y"], "--output-format: '?' is not one of " + ", ".join(OUTPUT_FORMATS))
        self.rejects(PLOT, ["-s", "?", "-o", "y.png", "x.cf32", "y"],
                     "--soft-format: '?' is not one of " + ", ".join(["u8", *LLR_FORMATS]))  # fmt: skip
        for name in LLR_FORMATS:
            with self.subTest(format=name):
                taken = self.demod("-o", name, "--snr-db", "9", "--llr-scale", "6", "--llr-limit", "9", "x.cf32", "y")
                self.assertEqual(taken.code, 0 if name in LLR_STEPS else 2, taken.err)

    def test_scale_as_a_fraction(self):
        options = ["-o", "s8", "--snr-db", "10", "--llr-scale"]
        for fraction, number in (("1/1024", "0.0009765625"), ("1/2", "0.5"), ("9/1.5", "6"), ("3e1/4.5", "6.6666667")):
            outputs = [self.ok(self.demod(*options, text, "x.cf32", "-")).out for text in (fraction, number)]
            self.assertEqual(*outputs, fraction)

    def test_unknown_test_name(self):
        command = [sys.executable, __file__, "--tools", ARGUMENTS.tools, "CommandLine.test_nothing"]
        self.assertEqual(self.run_tool(*command).code, 1)


if __name__ == "__main__":
    sys.exit(main())
