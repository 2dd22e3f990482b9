#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-plot's command: hostile names and titles, failures, and the file that it leaves."""
import os
import shutil
import signal
import sys
import xml.etree.ElementTree

import plot_harness
from plot_harness import PlotTest
from tools_harness import DEMOD, INPUT_FORMATS, MODULATIONS, PLOT, default_signals

HOSTILE = [
    "a'b\"c\\d", "`touch pwned`", "$(touch pwned)", "'; system \"touch pwned\"; '", '"; system "touch pwned"; "',
    "line\nsystem 'touch pwned'\nend", "{/Symbol a}_b^2@x~a{b}&{c}", "%d %s %%", "<svg>&amp;</text>", "|touch pwned",
    "-", "--output", "@PROJECT_VERSION@", "\u00fc\u221a\u4e2d\u6587", "x.161", "\\", "'", '"', " ", "EOD", "#",
    "font-family=", "$x^2$", "$\\frac{1}{", "a$b", "\\input{pwned}", "\r\t",
]  # fmt: skip
MISSING = "No such file or directory"


class Hostile(PlotTest):
    """No name and no title is taken for anything but text."""

    def setUp(self):
        super().setUp()
        self.pair = self.make_pair(n=100)

    def test_titles(self):
        """The words of an SVG are those of the title; \u03b1 has a glyph, others not."""
        for title in HOSTILE:
            with self.subTest(title=title):
                shown = title.replace("\n", "\\n").replace("\r\t", "\\r\\t")
                drawn = self.draw(*self.pair, "--panels", "evm", "--title=" + title, "--size", "2000x600")
                self.assertEqual(drawn.header[0], shown)
                svg = xml.etree.ElementTree.fromstring(self.encoded(drawn, "svg"))
                texts = ["".join(text.itertext()).strip() for text in svg.iter("{http://www.w3.org/2000/svg}text")]
                self.assertIn(shown.strip(), texts)
                self.assertEqual(self.files(), [*self.pair])
        for title, shown in (("\udcff", "\\xff"), ("\x1b[1m\x7f\x85", "\\x1b[1m\\x7f\\x85"), ("\u202e\u2028", "\\u202e\\u2028")):
            self.assertEqual(self.draw(*self.pair, "--panels", "evm", "--title", title).header[0], shown)
        title = self.draw(*self.pair, "--panels", "evm", "--title", "begin" + 5000 * "x" + "end").header[0]
        self.assertTrue(title.startswith("beginxxx") and title.endswith("xxxend") and len(title) == 36, title)

    def test_names(self):
        for kind, names in (("png", HOSTILE[::5]), ("svg", HOSTILE[1::5]), ("pdf", HOSTILE[2::5])):
            for name in names:
                name = name.replace("/", "\u2215")
                iq, soft, output = name + "i", name + "s", "-" + name + "." + kind
                for old, new in zip(self.pair, (iq, soft)):
                    shutil.copy(self.path(old), self.path(new))
                with self.subTest(name=name):
                    self.ok(self.plot("--panels", "evm", "-icf32", "-su8", "-o" + output, "--", iq, soft))
                    self.assertEqual(self.files(), sorted([iq, soft, output, *self.pair]))
                for new in (iq, soft, output):
                    os.unlink(self.path(new))
        iq, soft = self.pair
        os.rename(self.path(iq), self.path("x\udcff\udcc3.cf32"))
        self.assertEqual(self.draw("--panels", "evm", "x\udcff\udcc3.cf32", soft).header[0], "x\\xff\\xc3.cf32")
        self.ok(self.plot("--panels", "evm", "x\udcff\udcc3.cf32", soft, "-o", "out.png"))
        self.refuses(PLOT, ["\udcff", soft, "-o", "o.png"], 1, f"\udcff: {MISSING}")

    def test_settings_of_the_user_are_not_read(self):
        self.ok(self.plot(*self.pair, "-o", "out.png"))
        expected = self.read("out.png")
        self.write("matplotlibrc", b"text.usetex: True\nfont.size: 30\nno.such: setting\naxes.titlesize: nonsense\n")
        environment = dict(os.environ, HOME=self.directory, MPLBACKEND="nonsense", LC_ALL="C", MPLCONFIGDIR=self.path("config"))
        self.ok(self.plot(*self.pair, "-o", "out.png", env=environment))
        self.assertEqual(self.files(), ["config", "matplotlibrc", "out.png", *self.pair])
        self.assertEqual(self.read("out.png"), expected)


class Failures(PlotTest):
    """One line that says why, and no output."""

    def setUp(self):
        super().setUp()
        self.pair = self.make_pair(n=100)
        self.write("out.png", b"old")

    def test_commands(self):
        count, one_of = "is not a whole number from 1 to 10000000", "is not one of constellation, bits, histograms, evm"
        ratio, decibels = "is not a positive number or fraction (such as 0.25 or 1/32768)", "is not a number of decibels from -50 to 100"
        rows = [(["-o", "out.png", *self.pair, *arguments], message) for arguments, message in (
            *((["--sample", text], f"--sample: '{text}' {count}")
              for text in ("0", "1e8", "1.5", "1Kb", "10000001", 5000 * "9", "\u0663")),
            (["-i", "cs64"], f"--input-format: 'cs64' is not one of {INPUT_FORMATS}"), (["-s", "u16"], "--soft-format: 'u16' is not one of u8, s8, s16, f16, f32"),
            (["-m", "8psk"], "--modulation: '8psk' is not one of " + ", ".join(MODULATIONS)),
            *((["--panels", text], f"--panels: '{text.rpartition(',')[2]}' {one_of}") for text in ("eye", "", "evm,")),
            (["--panels", "evm,bits,evm"], "--panels: 'evm,bits,evm' names a panel twice"),
            *((["-o", text], f"--output: '{text}' ends in neither .png, .svg nor .pdf") for text in ("out.jpg", "", "-")),
            (["--axis", "x"], "--axis: 'x' is not one of i, q"), (["--sign", "2"], "--sign: '2' is not one of 0, 1"),
            (["--example"], "--example: needs no files, but got x.cf32"), (["--snr-db", "3"], "--snr-db: is of no use without --example"),
            *((["--input-scale", text], f"--input-scale: '{text}' {ratio}") for text in (
                "0", "-1", "nan", "inf", "1/0", "0/1", "1/", "/2", "1/2/3", "1e-60", "1e60", "0x1", " 1", "", "1,5", "1e", "1_0", "\u0663")),
            *((["--size", text], f"--size: '{text}' is not a size from 840x822 to 10000x10000, which so many panels need")
              for text in ("100x100", "1200", "x", "1200x", "99999x1000", "1200x10001", "1200X1000")),
            *(([text], f"unrecognized arguments: {shown}; --help explains")
              for text, shown in (("--frobnicate=3",) * 2, ("-x", "-x"), ("--a\nb", "--a\\nb"))),
            (["--size", "-1200x1000"], "argument --size: expected one argument; --help explains"),
            (["-s"], "argument -s/--soft-format: expected one argument; --help explains"), (["third"], "needs 2 operands (IQ and SOFT), but got 3; --help explains"),
        )]  # fmt: skip
        rows += [(["-o", "out.png", "--example", *arguments], message) for arguments, message in (
            (["-i", "cf32"], "--input-format: is of no use with --example"), (["--input-scale", "2"], "--input-scale: is of no use with --example"),
            (["--sample", "9"], "--sample: is of no use with --example"),
            *(([f"--snr-db={text}"], f"--snr-db: '{text}' {decibels}") for text in ("", "x", "nan", "101", "-51", "1e1", "1_0", "\u0663")),
        )]  # fmt: skip
        rows += [(["-o", "out.png", "x.cf32"], "needs 2 operands (IQ and SOFT), but got 1; --help explains"),
                 ([*self.pair], "--output: is needed; --help explains")]  # fmt: skip
        for arguments, message in rows:
            self.refuses(PLOT, arguments, 2, message)

    def test_files(self):
        """That are not there, are no files, or do not fit."""
        for name in ("d", "d.png", "d.wav"):
            os.mkdir(self.path(name))
        os.mkfifo(self.path("fifo"))
        os.symlink("loop.png", self.path("loop.png"))
        for name, n in (("empty", 0), ("odd.cf32", 801), ("odd.u8", 807), ("longer.u8", 808), ("a\nb\x1b.u8", 80)):
            self.write(name, bytes(n))
        not_regular = "not a regular file, which is needed to read a sample of it"
        for iq, soft, message in (
            ("none", "x.u8", f"none: {MISSING}"), ("x.cf32", "none", f"none: {MISSING}"), ("", "x.u8", f"'': {MISSING}"), ("-", "x.u8", f"-: {MISSING}"),
            ("d", "x.u8", "d: Is a directory"), ("fifo", "x.u8", "fifo: " + not_regular), ("x.cf32", "/dev/zero", "/dev/zero: " + not_regular),
            ("empty", "empty", "empty: has no symbols"),
            ("odd.cf32", "x.u8", "odd.cf32: not a whole number of symbols: 1 byte left over (a symbol has 8)"),
            ("x.cf32", "odd.u8", "odd.u8: not a whole number of symbols: 7 bytes left over (a symbol has 8)"),
            ("x.cf32", "longer.u8", "longer.u8: the soft bits of 101 symbols (u8), but x.cf32 has 100 (cf32)"),
            ("x.cf32", "a\nb\x1b.u8", "a\\nb\\x1b.u8: the soft bits of 10 symbols (u8), but x.cf32 has 100 (cf32)"),
            *((iq, soft, f"{name}: {MISSING}") for name in ("y", "y.", ".wav", "..u8", "d.wav/y") for iq, soft in ((name, "x.u8"), ("x.cf32", name))),
        ):  # fmt: skip
            self.refuses(PLOT, ["-o", "out.png", iq, soft], 1, message)
        for name, n_bits in (("qpsk", 2), ("64qam", 6), ("bpsk or pi2-bpsk", 1)):
            self.write("y.s8", bytes(100 * n_bits))
            self.assertRegex(self.plot("-o", "out.png", "x.cf32", "y.s8").err,
                             rf"\Asoftqam-plot: y.s8: [^\n]*; --modulation {name} would fit\n\Z")  # fmt: skip
        for output, cause in (("none/o.png", MISSING), ("empty/o.png", "Not a directory"), ("d.png", "Is a directory"),
                              ("loop.png", "Too many levels of symbolic links"), (300 * "y" + ".png", "File name too long")):  # fmt: skip
            self.refuses(PLOT, ["--panels", "evm", *self.pair, "-o", output], 1, f"{output}: {cause}")
        os.symlink("/dev/full", self.path("full.svg"))
        self.refuses(PLOT, ["--panels", "evm", *self.pair, "-o", "full.svg"], 1, "full.svg: No space left on device")

    def test_suffixes(self):
        """No file is taken for what its name says it is not; with the format named it is a name like any other."""
        soft_bits = "u8, s8, s16, f16, f32"
        for iq, soft, message in (
            ("y.wav", "x.u8", f"y.wav: suffix .wav is unknown; --input-format names the format: {INPUT_FORMATS}"),
            ("r.sigmf", "x.u8", f"r.sigmf: suffix .sigmf is unknown; --input-format names the format: {INPUT_FORMATS}"),
            ("x.u8", "x.cf32", "x.u8: suffix .u8 means soft bits or LLRs, not symbols; --input-format overrides it"),
            ("x.cf32", "y.CS16", "y.CS16: suffix .cs16 means symbols, not soft bits or LLRs; --soft-format overrides it"),
            ("x.cf32", "y.hard", f"y.hard: suffix .hard is unknown; --soft-format names the format: {soft_bits}"),
        ):
            self.refuses(PLOT, ["-o", "out.png", iq, soft], 2, message)
        for options in (["-i", "cf32", "y.wav", "x.u8"], ["-s", "u8", "x.cf32", "y.wav"]):
            self.refuses(PLOT, ["-o", "out.png", *options], 1, f"y.wav: {MISSING}")

    def test_output_that_is_read(self):
        """By its name, a link, or as the metadata of a recording."""
        iq, soft = self.pair
        self.write("r.sigmf-meta", b'{"global": {"core:datatype": "cf32_le"}, "captures": [], "annotations": []}')
        os.rename(self.path(iq), self.path("r.sigmf-data"))
        for read, role in (("r.sigmf-data", "IQ"), ("r.sigmf-meta", "IQ"), (soft, "SOFT")):
            os.symlink(read, self.path("symlink.png"))
            os.link(self.path(read), self.path("hard.svg"))
            for output in ("symlink.png", "./hard.svg"):
                self.refuses(PLOT, ["r", soft, "-o", output], 2, f"{output}: is {role} as well; give OUT another name")
            os.unlink(self.path("symlink.png"))
            os.unlink(self.path("hard.svg"))
        self.refuses(PLOT, ["-i", "cf32", "out.png", soft, "-o", "out.png"], 2, "out.png: is IQ as well; give OUT another name")

    def fake_matplotlib(self, program):
        """An environment in which matplotlib is another module."""
        os.makedirs(self.path("modules"), exist_ok=True)
        self.write("modules/matplotlib.py", program)
        return {"env": dict(os.environ, PYTHONPATH=self.path("modules"), PYTHONDONTWRITEBYTECODE="1")}

    def test_what_is_not_installed(self):
        no_matplotlib = self.fake_matplotlib(b"raise ModuleNotFoundError('none', name='matplotlib')")
        message = "matplotlib: not found; pip install matplotlib, or Debian's package python3-matplotlib, brings it"
        self.refuses(PLOT, [*self.pair, "-o", "out.png"], 1, message, **no_matplotlib)
        self.assertIn(b"Usage", self.ok(self.plot("--help", **no_matplotlib)).out)
        no_package = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.refuses(PLOT, ["--example", "-o", "out.png"], 1, "--example: needs the Python package softqam (No module named 'softqam')", env=no_package)

    def test_signals(self):
        waiting = self.fake_matplotlib(b"import time\nopen('started', 'w').close()\ntime.sleep(100)\n")
        before = self.snapshot()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            process = self.start(sys.executable, PLOT, *self.pair, "-o", "out.png", preexec_fn=default_signals, **waiting)
            self.wait_for(lambda: os.path.exists(self.path("started")))
            process.send_signal(number)
            self.assertEqual((process.wait(60), process.stderr.read()), (-number, b""))
            os.unlink(self.path("started"))
            self.assertEqual(self.snapshot(), before)


class Output(PlotTest):
    def setUp(self):
        super().setUp()
        self.pair = [*self.make_pair(n=100), "--panels", "evm"]

    def test_file(self):
        """Its mode; it is a new file that takes the name, of what a link points to; the same command makes the same bytes."""
        self.ok(self.plot(*self.pair, "-o", "y.png", umask=0o027))
        self.assertEqual(os.stat(self.path("y.png")).st_mode & 0o7777, 0o640)
        self.write("y.png", b"old")
        os.chmod(self.path("y.png"), 0o604)
        with open(self.path("y.png"), "rb") as old:
            self.ok(self.plot(*self.pair, "-o", "y.png", umask=0o077))
            self.assertEqual(old.read(), b"old")
        self.assertEqual(os.stat(self.path("y.png")).st_mode & 0o7777, 0o604)
        os.mkdir(self.path("d"))
        os.symlink("d/target", self.path("y.svg"))
        os.symlink("/dev/null", self.path("null.png"))
        for name in ("y.svg", "y.svg", "null.png"):
            self.ok(self.plot(*self.pair, "-o", name))
            self.assertTrue(os.path.islink(self.path(name)))
        self.assertEqual(os.listdir(self.path("d")), ["target"])
        for kind in ("png", "svg", "pdf"):
            for name in "ab":
                self.ok(self.plot(*self.pair, "-o", f"{name}.{kind}"))
            self.assertEqual(self.read("a." + kind), self.read("b." + kind))

    def test_help_and_version(self):
        self.assertTrue(os.access(PLOT, os.X_OK))
        text = self.ok(self.plot("-h")).out.decode()
        self.assertTrue(text.startswith("Usage: softqam-plot "))
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn("the bit that a value above the midpoint means; default: 0", " ".join(text.split()))
        version = self.ok(self.run_tool(DEMOD, "-V")).out.decode().replace("demod", "plot")
        self.assertEqual(self.ok(self.plot("--version")).out.decode(), version)

    def test_what_nobody_reads(self):
        """A warning that is lost is a failure, though the picture is there; a reader that leaves is a signal, and no news."""
        with open("/dev/full", "wb") as full:
            self.fails(self.plot("--help", stdout=full), 1, "standard output: No space left on device", "softqam-plot")
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as pipe:
            result = self.plot("--help", stdout=pipe)
        self.assertEqual((result.code, result.err), (-signal.SIGPIPE, ""))
        self.make("x.cf32", "-m", "qpsk", "--symbols", "2000")
        self.ok(self.demod("-q", "-o", "s8", "--snr-db", "30", "x.cf32", "x.s8"))
        arguments = ["--panels", "evm", "x.cf32", "x.s8", "-o", "z.png"]
        self.assertEqual(self.plot(*arguments).err, "softqam-plot: x.cf32: warning: the symbols look like QPSK without noise, not 256QAM; "
                                                    "use --modulation qpsk\n")  # fmt: skip
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.plot(*arguments, stderr=full).code, 1)
        self.assertEqual(self.plot(*arguments, stderr=None, preexec_fn=lambda: os.close(2)).code, 1)


if __name__ == "__main__":
    sys.exit(plot_harness.main())
