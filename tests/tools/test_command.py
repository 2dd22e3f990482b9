#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line: every wrong value and combination, help, messages, progress, reports, terminals."""
import json
import os
import shlex

from output_formats import LLR_FORMATS, LLR_STEPS, OUTPUT_FORMATS
from tools_harness import (
    BOTH_DEMODS, DEMOD, DEMOD_MPI, ENVIRONMENT, GEN, INPUT_FORMATS, MODULATIONS, TIMEOUT, ToolTest, main, open_terminal,
    rest_of_terminal,
)  # fmt: skip

OLD = b"what was there before"

NO_RATIO = "is not a number or fraction (such as 0.25 or 1/8192) from "
NO_FLOAT = NO_RATIO + "1.175494e-38 to 3.402823e+38"
WRONG_RATIOS = ["", "-1", "nan", "1/0", "1/", "/2", "1/2/3", "0x1p-3", "1 ", "1/nan", "-1/-2", "1,5", "Auto"]
WRONG_FLOATS = [*WRONG_RATIOS, "0", "1e-40", "1e39", "1e400", "1/1e39"]
# Options, after which the output's format may follow; what is said of a wrong value; such values.
CHOICES = [(DEMOD, option, f"is not one of {names}", ["", "--", "a\nb"]) for option, names in (
    ("--backend", "cpu, cuda, auto"), ("--progress", "auto, always, never"), ("--input-format", INPUT_FORMATS), ("--sign", "0, 1"),
    ("--output-format", ", ".join(OUTPUT_FORMATS)), ("--modulation", ", ".join(MODULATIONS)))]  # fmt: skip
COUNTS = [(program, option, f"is not a whole number from {low} to {high}",
           ["", "0x10", 30 * "9", "-1", "2x", " 1", "k", "1kk", "1m", "1e", "1e-3", "1e3k", "1e20", "1e1000", "16777216Ti", "1,000", "\u0661k", *(["0"] * low), str(high + 1), str((1 << 64) + low)])
          for program, option, low, high in (
              (DEMOD, "--threads", 1, 1024), (DEMOD, "--streams", 1, 64), (DEMOD, "--chunk", 1, 1 << 28), (DEMOD, "--device", 0, (1 << 31) - 1),
              (DEMOD, "--planes", 1, 1 << 22), (DEMOD, "--skip", 0, (1 << 59) - 1), (DEMOD, "--count", 0, (1 << 59) - 1),
              (DEMOD, "--llr-limit s8", 1, 127), (DEMOD, "--llr-limit s16", 1, 32767), (GEN, "--symbols", 0, ((1 << 63) - 1) // 10),
              (GEN, "--seed", 0, (1 << 64) - 1))]  # fmt: skip
WRONG_VALUES = [
    *CHOICES, (GEN, "--output-format", "is not one of cf32, cs16, cs8, cf16", ["", "u8"]), *COUNTS,
    (DEMOD, "--input-scale", NO_FLOAT + ", nor auto", WRONG_FLOATS), (DEMOD, "--noise-var s8", NO_FLOAT + ", nor auto", WRONG_FLOATS),
    (GEN, "--output-scale", NO_FLOAT, WRONG_FLOATS),
    *((DEMOD, f"--llr-scale {name}", NO_RATIO + f"0.0009765625 to {top}", [*WRONG_RATIOS, "0.0009", f"{top + 1}", "1/1025"])
      for name, (_, top, _) in LLR_STEPS.items()),
    *((program, "--snr-db", "is not a number from -200 to 200", ["nan", "auto", "200.1", "-201", "30dB", "1e999", "%s%n"]) for program in (DEMOD, GEN)),
    *((program, "--c-init", "is not a whole number from 0 to 2147483647, decimal or 0x..",
       ["", "-1", "0x", "0X1", "1.5", "2147483648", "0x80000000", "1 ", "18446744073709551616"]) for program in (DEMOD, GEN)),
    (DEMOD, "--shard", "is not K/N with whole numbers K from 1 to N and N up to 1000000",
     ["0/2", "3/2", "1", "1/", "/2", "1/2/3", "-1/2", "a/b", " 1/2", "1/1000001", "4294967297/3", "1/4294967299"]),
]  # fmt: skip
NEEDS_NOISE = "output format {} needs a noise variance: --noise-var, --snr-db or --noise-file"
TAKES_NO_NOISE = NEEDS_NOISE.replace("needs a", "takes no")
NO_U8 = "{} has no soft bits u8; choose LLRs, hard or bits with --output-format"
TERMINAL = "a terminal, which binary data may upset; redirect it, or name a file"


class Wrong(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("x.cf32", bytes(80))
        self.write("x.u8", OLD)

    def test_values(self):
        for program, key, cause, texts in WRONG_VALUES:
            option, _, format_ = key.partition(" ")
            for text in texts:
                operands = ["x.cf32", "x." + (format_ or "u8")] if program == DEMOD else ["x.u8"]
                self.refuses(program, [option, text, *operands], 2, f"{option}: '{text}' {cause}".replace("\n", "\\n"))

    def test_options(self):
        for program, operands, message in (
            (DEMOD, [], "needs 2 operands (INPUT and OUTPUT), but got 0; --help explains"),
            (GEN, ["x", "y", "z"], "needs 1 operand (OUTPUT), but got 3, of which 'x' is the first; --help explains"),
            (DEMOD, ["--stats", "json", "x", "y"], "needs 2 operands (INPUT and OUTPUT), but got 3, of which 'json' is the first; --help explains"),
            (GEN, ["--verify"], "--verify: no such option; --help lists them"), (DEMOD, ["-\x1b", "x"], "-\\x1b: no such option; --help lists them"),
            (DEMOD, ["--verify=3", "x", "y"], "--verify: takes no value, but '--verify=3' gives it one"),
            (GEN, ["--s"], "--s: could be more than one option; --help lists them"),
            (DEMOD, ["--frob=3"], "--frob=3: no such option; --help lists them"), (DEMOD, ["x.cf32", "x", "-i"], "--input-format: needs a value"),
        ):  # fmt: skip
            self.refuses(program, operands, 2, message)

    def test_combinations(self):
        noise = ["--snr-db", "10"]
        for arguments, message in (
            *(([*o, "x.cf32", "x.u8"], TAKES_NO_NOISE.format("u8"))
              for o in (["--noise-var", "1"], ["--noise-var", "auto"], noise, ["--noise-file", "x.cf32"])),
            (["-o", "bits", *noise, "x.cf32", "x"], TAKES_NO_NOISE.format("bits")),
            *((["-o", name, "x.cf32", "x"], NEEDS_NOISE.format(name)) for name in LLR_FORMATS),
            *((["-m", name, "x.cf32", "x.u8"], "--modulation: " + NO_U8.format(name)) for name in MODULATIONS if name != "256qam"),
            (["--c-init", "0", "x.cf32", "x.u8"], "--c-init: " + NO_U8.format("what is descrambled")),
            (["--planes", "8", "x.cf32", "x.u8"], "--planes: " + NO_U8.format("what comes out as bit planes")),
            *((["-o", name, *(noise * (name[0] == "f")), option, "3", "x.cf32", "x"], f"{option}: only for output formats s8 and s16")
              for name in ("f16", "f32", "u8", "bits", "hard") for option in ("--llr-scale", "--llr-limit")),
            (["--stats=j", "x.cf32", "x"], "--stats: 'j' is not json"),
            (["-ohard", "--planes", "8", "--skip", "12", "x.cf32", "x"], "--planes: --skip 12 is not a multiple of the 8 symbols of a code block"),
            (["-o", "hard", "--sign", "1", "x.cf32", "x"], "--sign: only for soft bits and LLRs; hard is bits"),
            (["--backend", "cpu", "--device", "0", "x.cf32", "x"], "--device: contradicts --backend cpu"),
            (["--noise-file", "-", "-", "x.s8"], "--noise-file: '-' is INPUT as well"),
            (["--noise-file", "/dev/stdin", "-", "x.s8"], "--noise-file: '/dev/stdin' is INPUT as well"),
            (["--noise-floor", "1e-5", "--snr-db", "20", "x.cf32", "x.s8"], "--noise-floor: only for the values of --noise-file"),
            (["--compare", "-", "-", "x.u8"], "--compare: '-' is INPUT as well"),
            (["--compare", "-", "--noise-file", "-", "x.cf32", "x.s8"], "--compare: '-' is --noise-file as well"),
        ):  # fmt: skip
            self.refuses(DEMOD, arguments, 2, message)
        message = "--fading: needs --snr-db: without noise a channel that is divided out changes nothing"
        self.refuses(GEN, ["--fading", "n0", "y.cf32"], 2, message)


class Right(ToolTest):
    def test_values(self):
        """The ends of the ranges, options after operands, the last of two wins, -- ends them, names in any case."""
        self.make("x.cf32", "--symbols", "10")
        for arguments in (
            ["--threads", "1024", "--streams", "64", "--chunk", "268435456", "--input-scale", "1e-37", "--prog", "NEVER"],
            ["-qoU8", "-m", "256QAM", "--sign=1", "--backend=cuda", "--backend", "cpu"], ["-iu8", "-iCF32", "-of32", "--noise-var", "3e38"],
            ["-os8", "--snr-db", "+1e1", "--llr-scale", "0.0009765625", "--llr-limit", "1"],
        ):  # fmt: skip
            self.ok(self.run_tool(DEMOD, "--backend", "cpu", "x.cf32", "x.u8", *arguments))
            self.ok(self.run_tool(DEMOD, "--backend", "cpu", *arguments, "--", "x.cf32", "x.u8"))

    def test_counts(self):
        for text, n in (("3", 3), ("1k", 1000), ("1K", 1000), ("2Ki", 2048), ("0M", 0), ("007", 7), ("1M", 1000000), ("2e3", 2000), ("12e0", 12)):
            self.make("y.cs8", "--symbols", text)
            self.assertEqual(len(self.read("y.cs8")), 2 * n, text)
        for text in ("18446744073709551615", "18446744073709551k", "17179869183Gi"):
            self.ok(self.gen("--seed", text, "--symbols", "1", "y.cs8"))


class Help(ToolTest):
    def test_help(self):
        """--help is printed; test_documents.py holds its list against the man page."""
        for program in filter(os.path.exists, (DEMOD, GEN, DEMOD_MPI)):
            name = os.path.basename(program)
            text = self.ok(self.run_tool(program, "--help")).out.decode()
            self.assertTrue(text.startswith(f"Usage: {name} ") and max(map(len, text.splitlines())) <= 80)
            self.assertEqual(self.ok(self.run_tool(program, "--no-clobber", "-h", "--frob")).out.decode(), text)
            self.assertRegex(self.ok(self.run_tool(program, "-V")).out.decode(), rf"^{name} \d+\.\d+\.\d+\n$")

    def test_examples(self):
        """They stand at the head of --help, and work as they are."""
        self.make("capture.cf32", "--symbols", "500", "--bits", "sent.hard")
        self.make("capture.cs16", "-m", "qpsk", "--symbols", "500")
        self.make("recording.sigmf-meta", "--symbols", "500", "--snr-db", "30")
        for program in (DEMOD, GEN):
            examples = self.run_tool(program, "--help").out.decode().split("Examples:\n")[1].split("\n\n")[0].splitlines()
            self.assertGreaterEqual(len(examples), 3)
            for example in examples:
                line = example.removeprefix("  $ ").replace("receiver", "cat capture.cs16").replace(os.path.basename(program), shlex.quote(program))
                self.ok(self.run_tool("sh", "-c", line))


class Reports(ToolTest):
    """Reports beside the output: all of them, or the exit status is a failure."""

    def setUp(self):
        super().setUp()
        self.make("x.cf32", "--symbols", "2000", "--bits", "sent")

    def test_lost(self):
        """OUTPUT is there all the same."""
        for program in BOTH_DEMODS:
            for code, report in *((1, r) for r in (["--stats"], ["--stats=json"], ["--compare", "sent"], ["--verify"], ["--input-scale", "1/2"])), (0, []):
                with self.subTest(program=program, report=report), open("/dev/full", "wb") as full:
                    on_full = self.run_tool(program, *report, "x.cf32", "y.u8", stderr=full, env=ENVIRONMENT)
                    closed = self.run_tool(program, *report, "x.cf32", "y.u8", stderr=None, preexec_fn=lambda: os.close(2), env=ENVIRONMENT)
                    self.assertEqual((on_full.code, closed.code, len(self.read("y.u8"))), (code, code, 16000))
        with open("/dev/full", "wb") as full:
            self.fails(self.run_tool(GEN, "--help", stdout=full), 1, "standard output: No space left on device", "softqam-gen")

    def test_json(self):
        """One line, the last, with what its names say."""
        self.make("x.cs16", "-m", "16qam", "--c-init", "5", "--symbols", "3000", "--snr-db", "20", "--bits", "sent")
        command = ["-q", "-m", "16qam", "--c-init", "5", "--snr-db", "20", "--compare", "sent", "x.cs16"]
        version = self.run_tool(DEMOD, "-V").out.decode().split()[1]
        expected = {"version": version, "input_format": "cs16", "output_format": "s8",
                    "modulation": "16qam", "c_init": 5, "symbols": 3000, "snr_db": 20, "bits_compared": 12000, "erased": 0}  # fmt: skip
        for program in BOTH_DEMODS:
            lines = self.ok(self.run_tool(program, "--stats=json", *command, "y.s8", env=ENVIRONMENT)).err.splitlines()
            self.assertEqual(len(lines), 2)
            found = json.loads(lines[1])
            self.assertEqual({key: found[key] for key in expected}, expected)
            self.assertEqual(found["bit_error_rate"], found["bits_wrong"] / 12000)
            self.assertLess(abs(found["estimated_snr_db"] - 20), 0.3)
        stats = json.loads(self.ok(self.demod("--stats=json", "-o", "s8", "--snr-db", "20", "/dev/null", "y")).err.splitlines()[-1])
        self.assertEqual([round(stats[key], 9) if stats[key] else stats[key] for key in ("symbols", "energy", "evm", "n0")], [0, None, None, 0.01])

    def test_progress(self):
        """Lines in a file; on a terminal one, which the next message replaces."""
        self.make("x.cf32", "--symbols", "600000")
        lines = self.ok(self.demod("-q", "--progress", "always", "x.cf32", "x.u8")).err.splitlines()
        for line in lines:
            self.assertRegex(line, r"^softqam-demod: \d+\.\d % of 600000 symbols done, \d+\.\d Msym/s, \d+ s left$")
        self.assertIn("100.0 % of 600000 symbols done", lines[-1])
        master, slave = open_terminal()
        process = self.start_demod("--verify", "x.cf32", "x.u8", stderr=slave)
        os.close(slave)
        shown = rest_of_terminal(master).decode()
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertRegex(shown, r"\A\rsoftqam-demod: .*\r\x1b\[Ksoftqam-demod: verify: 600000 of 600000 symbols .*\r\n\Z")

    def test_binary_to_a_terminal(self):
        """Is refused, by whatever name."""
        master, slave = open_terminal()
        for program, arguments in ((DEMOD, ["x.cf32"]), (GEN, ["--symbols", "1"]), (GEN, ["--symbols", "1", "y.cf32", "--bits"])):
            for name, shown in (("-", "standard output"), ("/dev/stdout", "/dev/stdout"), (os.ttyname(slave),) * 2):
                self.refuses(program, [*arguments, name], 2, f"{shown}: {TERMINAL}", stdout=slave)
        os.close(slave)
        self.assertEqual(rest_of_terminal(master), b"")

    def test_strict(self):
        """A warning is a failure, before OUTPUT appears."""
        self.make("x.cf32", "--symbols", "9000", "--snr-db", "30")
        self.write("y.s8", OLD)
        for program in BOTH_DEMODS:
            for arguments in (["--input-scale", "1/2"], ["--snr-db", "20"], ["-q", "--snr-db", "20"]):
                with self.subTest(program=program, arguments=arguments):
                    noise = [] if "--snr-db" in arguments else ["--snr-db", "30"]
                    before = self.snapshot()
                    result = self.run_tool(program, *noise, *arguments, "x.cf32", "y.s8", "--strict", env=ENVIRONMENT)
                    self.assertEqual((result.code, self.snapshot()), (1, before))
                    self.assertRegex(result.err, r"\A[^\n]*: warning: [^\n]*\n\Z")
            self.ok(self.run_tool(program, "--strict", "--snr-db", "30", "x.cf32", "z.s8", env=ENVIRONMENT))


class Devices(ToolTest):
    def test_that_are_not_there(self):
        """--backend cuda fails, and so does a device that is named; auto takes the CPU."""
        hidden = {"env": {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}}
        self.make("x.cf32", "--symbols", "100000")
        causes = {self.run_tool(DEMOD, *options, "x.cf32", "x.u8", **hidden).err for options in (["--backend", "cuda"], ["--device", "7"])}
        self.assertRegex("".join(causes), r"\Asoftqam-demod: .*CUDA.*\n\Z")
        self.assertEqual(self.files(), ["x.cf32"])
        self.assertRegex(self.ok(self.run_tool(DEMOD, "--stats", "x.cf32", "x.u8", **hidden)).err, r"\n  backend +cpu\n")


main()
