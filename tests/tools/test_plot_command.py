#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""softqam-plot's command: hostile names and titles, failures, and the file that it leaves."""
import os
import shutil
import signal
import sys
import time
import xml.etree.ElementTree

import plot_harness
import tools_harness
from plot_harness import PlotTest
from tools_harness import PLOT


HOSTILE = [
    "a'b\"c\\d", "`touch pwned`", "$(touch pwned)", "'; system \"touch pwned\"; '", '"; system "touch pwned"; "',
    "line\nsystem 'touch pwned'\nend", "{/Symbol a}_b^2@x~a{b}&{c}", "%d %s %%", "<svg>&amp;</text>", "|touch pwned",
    "-", "--output", "@PROJECT_VERSION@", "\u00fc\u221a\u4e2d\u6587", "x.161", "\\", "'", '"', " ", "EOD", "#",
    "font-family=", "$x^2$", "$\\frac{1}{", "a$b", "\\input{pwned}", "\r\t",
]  # fmt: skip


class Hostile(PlotTest):
    """No name and no title is taken for anything but text."""

    def as_shown(self, text):
        return text.replace("\n", "\\n").replace("\r\t", "\\x0d\\x09")

    def test_titles(self):
        """The words of an SVG are those of the title; \u03b1 has a glyph, others not."""
        pair = self.make_pair(n=100)
        for title in HOSTILE:
            with self.subTest(title=title):
                drawn = self.draw(*pair, "--panels", "evm", "--title=" + title, "--size", "2000x600")
                self.assertEqual(drawn.header[0], self.as_shown(title))
                svg = xml.etree.ElementTree.fromstring(plot_harness.load("program").encoded(drawn.figure, "svg"))
                texts = ["".join(text.itertext()).strip() for text in svg.iter("{http://www.w3.org/2000/svg}text")]
                self.assertIn(self.as_shown(title).strip(), texts)
                self.assertEqual(self.files(), [*pair])

    def test_long_title(self):
        pair = self.make_pair(n=100)
        title = self.draw(*pair, "--panels", "evm", "--title", "begin" + 5000 * "x" + "end").header[0]
        self.assertTrue(title.startswith("beginxxx") and title.endswith("xxxend") and len(title) < 60, title)

    def test_names(self):
        pair = self.make_pair(n=100)
        for kind, names in (("png", HOSTILE[::5]), ("svg", HOSTILE[1::5]), ("pdf", HOSTILE[2::5])):
            for name in names:
                name = name.replace("/", "\u2215")
                iq, soft, output = name + "i", name + "s", "-" + name + "." + kind
                for old, new in zip(pair, (iq, soft)):
                    shutil.copy(self.path(old), self.path(new))
                with self.subTest(name=name):
                    self.ok(self.plot("--panels", "evm", "-icf32", "-su8", "-o" + output, "--", iq, soft))
                    self.assertEqual(self.files(), sorted([iq, soft, output, *pair]))
                for new in (iq, soft, output):
                    os.unlink(self.path(new))

    def test_bytes_that_are_not_utf8(self):
        iq, soft = self.make_pair(n=100)
        name = b"x\xff\xc3.cf32"
        os.rename(self.path(iq), os.path.join(os.fsencode(self.directory), name))
        self.assertEqual(self.draw("--panels", "evm", os.fsdecode(name), soft).header[0], "x\\xff\\xc3.cf32")
        self.ok(self.plot("--panels", "evm", name, soft, "-o", "out.png"))
        self.fails(self.plot(b"\xff", soft, "-o", "o.png"), 1, "\\xff: No such file or directory")

    def test_settings_of_the_user_are_not_read(self):
        pair = self.make_pair(n=100)
        self.ok(self.plot(*pair, "-o", "out.png"))
        expected = self.read("out.png")
        self.write("matplotlibrc", b"text.usetex: True\nfont.size: 30\nno.such: setting\naxes.titlesize: nonsense\n")
        environment = dict(os.environ, HOME=self.directory, MPLBACKEND="nonsense", LC_ALL="C", MPLCONFIGDIR=self.path("config"))
        self.ok(self.plot(*pair, "-o", "out.png", env=environment))
        self.assertEqual(self.files(), ["config", "matplotlibrc", "out.png", *pair])
        self.assertEqual(self.read("out.png"), expected)


class Failures(PlotTest):
    """One line that says why, and no output."""

    def setUp(self):
        super().setUp()
        self.pair = self.make_pair(n=100)
        self.write("out.png", b"old")

    def rejects(self, arguments, code, message, **options):
        with self.subTest(arguments=arguments):
            before = self.files()
            result = self.plot(*arguments, **options)
            self.fails(result, code, message)
            self.assertEqual(result.out, b"")
            self.assertEqual(self.files(), before)
            self.assertEqual(self.read("out.png"), b"old")

    WRONG = [
        (["--sample", "0"], "--sample: '0' is not a whole number from 1 to 10000000"),
        (["--sample", "1e8"], "--sample: '1e8' is not a whole number from 1 to 10000000"),
        (["--sample", "1.5"], "--sample: '1.5' is not a whole number from 1 to 10000000"),
        (["--sample", "1Kb"], "--sample: '1Kb' is not a whole number from 1 to 10000000"),
        (["--sample", "10000001"], "--sample: '10000001' is not a whole number from 1 to 10000000"),
        (["--sample", 5000 * "9"], f"--sample: '{5000 * '9'}' is not a whole number from 1 to 10000000"),
        (["--sample", "\u0663"], "--sample: '\u0663' is not a whole number from 1 to 10000000"),
        (["-i", "cs64"], "--input-format: 'cs64' is not one of cf32, cs16, cs8, cf16, cu8, cs32, cf64"),
        (["--input-format="], "--input-format: '' is not one of cf32, cs16, cs8, cf16, cu8, cs32, cf64"),
        (["-m", "8psk"], "--modulation: '8psk' is not one of bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam"),
        (["-s", "u16"], "--soft-format: 'u16' is not one of u8, s8, s16, f16, f32"),
        (["--panels", "eye"], "--panels: 'eye' is not one of constellation, bits, histograms, evm"),
        (["--panels", ""], "--panels: '' is not one of constellation, bits, histograms, evm"),
        (["--panels", "evm,"], "--panels: '' is not one of constellation, bits, histograms, evm"),
        (["--panels", "evm,bits,evm"], "--panels: 'evm,bits,evm' names a panel twice"),
        (["-o", "out.jpg"], "--output: 'out.jpg' ends in neither .png, .svg nor .pdf"),
        (["-o", ""], "--output: '' ends in neither .png, .svg nor .pdf"),
        (["-o", "-"], "--output: '-' ends in neither .png, .svg nor .pdf"),
        (["--axis", "x"], "--axis: 'x' is not one of i, q"),
        (["--sign", "2"], "--sign: '2' is not one of 0, 1"),
        (["--example"], "--example: needs no files, but got x.cf32"),
        (["--snr-db", "3"], "--snr-db: is of no use without --example"),
        (["--frobnicate"], "--frobnicate: no such option; --help lists them"),
        (["--frobnicate=3"], "--frobnicate: no such option; --help lists them"),
        (["-x"], "-x: no such option; --help lists them"),
        (["--help=3"], "--help: takes no value"),
        (["--s"], "--s: could be more than one option; --help lists them"),
        (["--example=3"], "--example: takes no value"),
        (["-s"], "--soft-format: needs a value"),
        (["--title"], "--title: needs a value"),
        (["third"], "needs 2 operands (IQ and SOFT), but got 3; --help explains"),
    ]

    def test_wrong_commands(self):
        for arguments, message in self.WRONG:
            self.rejects(["-o", "out.png", *self.pair, *arguments], 2, message)
        self.rejects(["-o", "out.png", "x.cf32"], 2, "needs 2 operands (IQ and SOFT), but got 1; --help explains")
        self.rejects([*self.pair], 2, "--output: is needed; --help explains")
        for option, value in (("-i", "cf32"), ("--input-scale", "2"), ("--sample", "9")):
            name = {"-i": "--input-format"}.get(option, option)
            self.rejects(["-o", "out.png", "--example", option, value], 2, f"{name}: is of no use with --example")
        for text in ("", "x", "nan", "101", "-51", "1e1", "1_0", "\u0663"):
            self.rejects(["-o", "out.png", "--example", f"--snr-db={text}"], 2,
                         f"--snr-db: '{text}' is not a number of decibels from -50 to 100")  # fmt: skip
        for text in ("100x100", "1200", "x", "1200x", "-1200x1000", "99999x1000", "1200x10001", "1200X1000"):
            message = f"--size: '{text}' is not a size from 840x822 to 10000x10000, which so many panels need"
            self.rejects(["-o", "out.png", *self.pair, "--size", text], 2, message)
        for text in ("0", "-1", "nan", "inf", "1/0", "0/1", "1/", "/2", "1/2/3", "1e-60", "1e60", "1e400", "0x1", " 1",
                     "", "1,5", "1e", "1_0", "\u0663"):  # fmt: skip
            message = f"--input-scale: '{text}' is not a positive number or fraction (such as 0.25 or 1/32768)"
            self.rejects(["-o", "out.png", *self.pair, "--input-scale", text], 2, message)

    def test_files(self):
        os.mkdir(self.path("d"))
        os.mkfifo(self.path("fifo"))
        self.write("empty", b"")
        self.write("odd.cf32", bytes(801))
        self.write("odd.u8", bytes(807))
        self.write("longer.u8", bytes(808))
        self.write("a\nb\x1b.u8", bytes(80))
        to = ["-o", "out.png"]
        not_regular = "not a regular file, which is needed to read a sample of it"
        for iq, soft, message in (
            ("none", "x.u8", "none: No such file or directory"),
            ("x.cf32", "none", "none: No such file or directory"),
            ("", "x.u8", "'': No such file or directory"),
            ("d", "x.u8", "d: Is a directory"),
            ("fifo", "x.u8", "fifo: " + not_regular),
            ("x.cf32", "/dev/zero", "/dev/zero: " + not_regular),
            ("-", "x.u8", "-: No such file or directory"),
            ("empty", "empty", "empty: has no symbols"),
            ("odd.cf32", "x.u8", "odd.cf32: not a whole number of symbols: 1 byte left over (a symbol has 8)"),
            ("x.cf32", "odd.u8", "odd.u8: not a whole number of symbols: 7 bytes left over (a symbol has 8)"),
            ("x.cf32", "longer.u8", "longer.u8: the soft bits of 101 symbols (u8), but x.cf32 has 100 (cf32)"),
            ("x.cf32", "a\nb\x1b.u8", "a\\nb\\x1b.u8: the soft bits of 10 symbols (u8), but x.cf32 has 100 (cf32)"),
        ):
            self.rejects(to + [iq, soft], 1, message)
        for name, n_bits in (("qpsk", 2), ("64qam", 6), ("bpsk or pi2-bpsk", 1)):
            self.write("y.s8", bytes(100 * n_bits))
            self.assertRegex(self.plot(*to, "x.cf32", "y.s8").err, rf"\Asoftqam-plot: y.s8: [^\n]*; --modulation {name} would fit\n\Z")
        mismatch = "x.u8: the soft bits of 25 symbols (f32), but x.cf32 has 100 (cf32); --modulation qpsk would fit"
        self.rejects(to + ["-s", "f32", *self.pair], 1, mismatch)

    def test_output_that_cannot_be(self):
        os.mkdir(self.path("d.png"))
        self.write("file", b"")
        os.symlink("loop.png", self.path("loop.png"))
        for output, message in (
            ("none/o.png", "none/o.png: No such file or directory"),
            ("file/o.png", "file/o.png: Not a directory"),
            ("d.png", "d.png: Is a directory"),
            ("loop.png", "loop.png: Too many levels of symbolic links"),
            (300 * "y" + ".png", 300 * "y" + ".png: File name too long"),
        ):
            self.rejects(["--panels", "evm", *self.pair, "-o", output], 1, message)
        os.symlink("/dev/full", self.path("full.svg"))
        self.rejects(["--panels", "evm", *self.pair, "-o", "full.svg"], 1, "full.svg: No space left on device")

    def test_output_that_is_read(self):
        """By its name, a link, or as the metadata of a recording."""
        iq, soft = self.pair
        metadata = b'{"global": {"core:datatype": "cf32_le"}, "captures": [], "annotations": []}'
        self.write("r.sigmf-meta", metadata)
        os.rename(self.path(iq), self.path("r.sigmf-data"))
        for read, role in (("r.sigmf-data", "IQ"), ("r.sigmf-meta", "IQ"), (soft, "SOFT")):
            os.symlink(read, self.path("symlink.png"))
            os.link(self.path(read), self.path("hard.svg"))
            before = self.read(read)
            for output in ("symlink.png", "./hard.svg"):
                self.rejects(["r", soft, "-o", output], 2, f"{output}: is {role} as well; give OUT another name")
                self.assertEqual(self.read(read), before)
            os.unlink(self.path("symlink.png"))
            os.unlink(self.path("hard.svg"))
        self.rejects(["-i", "cf32", "out.png", soft, "-o", "out.png"], 2, "out.png: is IQ as well; give OUT another name")

    def test_suffixes(self):
        """No file is taken for what its name says it is not; with the format named it is a name like any other."""
        symbols, soft_bits = "cf32, cs16, cs8, cf16, cu8, cs32, cf64", "u8, s8, s16, f16, f32"
        for iq, soft, message in (
            ("y.wav", "x.u8", f"y.wav: suffix .wav is unknown; --input-format names the format: {symbols}"),
            ("r.sigmf", "x.u8", f"r.sigmf: suffix .sigmf is unknown; --input-format names the format: {symbols}"),
            ("x.u8", "x.cf32", "x.u8: suffix .u8 means soft bits or LLRs, not symbols; --input-format overrides it"),
            ("x.cf32", "y.CS16", "y.CS16: suffix .cs16 means symbols, not soft bits or LLRs; --soft-format overrides it"),
            ("x.cf32", "y.hard", f"y.hard: suffix .hard is unknown; --soft-format names the format: {soft_bits}"),
        ):
            self.rejects(["-o", "out.png", iq, soft], 2, message)
        os.mkdir(self.path("d.wav"))
        for name in ("y", "y.", ".wav", "..u8", "d.wav/y"):
            for iq, soft in ((name, "x.u8"), ("x.cf32", name)):
                missing = f"{name}: No such file or directory"
                self.rejects(["-o", "out.png", iq, soft], 1, missing)
        for options in (["-i", "cf32", "y.wav", "x.u8"], ["-s", "u8", "x.cf32", "y.wav"]):
            self.rejects(["-o", "out.png", *options], 1, "y.wav: No such file or directory")

    def fake_matplotlib(self, program):
        """An environment in which matplotlib is another module."""
        os.makedirs(self.path("modules"), exist_ok=True)
        self.write("modules/matplotlib.py", program)
        return dict(os.environ, PYTHONPATH=self.path("modules"), PYTHONDONTWRITEBYTECODE="1")

    def test_no_matplotlib(self):
        environment = self.fake_matplotlib(b"raise ModuleNotFoundError('none', name='matplotlib')")
        self.rejects([*self.pair, "-o", "out.png"], 1, "matplotlib: not found; pip install matplotlib, or Debian's package "
                                                       "python3-matplotlib, brings it", env=environment)  # fmt: skip
        self.assertIn(b"Usage", self.ok(self.plot("--help", env=environment)).out)

    def test_no_package(self):
        """The example, by a program that stands alone."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.rejects(["--example", "-o", "out.png"], 1, "--example: needs the Python package softqam (No module named 'softqam')",
                     env=environment)  # fmt: skip

    def test_signals(self):
        environment = self.fake_matplotlib(b"import time\nopen('started', 'w').close()\ntime.sleep(100)\n")
        before = self.files()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            process = self.start(
                sys.executable, PLOT, *self.pair, "-o", "out.png", env=environment,
                preexec_fn=tools_harness.default_signals,
            )  # fmt: skip
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path("started")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            process.send_signal(number)
            self.assertEqual(process.wait(60), -number)
            self.assertEqual(process.stderr.read(), b"")
            os.unlink(self.path("started"))
            self.assertEqual(self.files(), before)
            self.assertEqual(self.read("out.png"), b"old")


class Warnings(PlotTest):
    def test_lost(self):
        """A warning that nobody gets is a failure, though the picture is there."""
        self.make("x.cf32", "-m", "qpsk", "--symbols", "2000")
        self.ok(self.demod("-q", "-o", "s8", "--snr-db", "30", "x.cf32", "x.s8"))
        arguments = ["--panels", "evm", "x.cf32", "x.s8", "-o", "y.png"]
        self.assertEqual(self.plot(*arguments).err, "softqam-plot: x.cf32: warning: the symbols look like QPSK without noise, not 256QAM; "
                                                    "use --modulation qpsk\n")  # fmt: skip
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.plot(*arguments, stderr=full).code, 1)
        self.assertEqual(self.plot(*arguments, stderr=None, preexec_fn=lambda: os.close(2)).code, 1)


class Output(PlotTest):
    def setUp(self):
        super().setUp()
        self.pair = [*self.make_pair(n=100), "--panels", "evm"]

    def test_mode(self):
        self.ok(self.plot(*self.pair, "-o", "y.png", umask=0o027))
        self.assertEqual(os.stat(self.path("y.png")).st_mode & 0o7777, 0o640)
        os.chmod(self.path("y.png"), 0o604)
        self.ok(self.plot(*self.pair, "-o", "y.png", umask=0o077))
        self.assertEqual(os.stat(self.path("y.png")).st_mode & 0o7777, 0o604)

    def test_replaced_at_once(self):
        self.write("y.png", b"old")
        with open(self.path("y.png"), "rb") as old:
            self.ok(self.plot(*self.pair, "-o", "y.png"))
            self.assertEqual(old.read(), b"old")
        self.assertTrue(self.read("y.png").startswith(b"\x89PNG"))

    def test_links_and_devices(self):
        os.mkdir(self.path("d"))
        os.symlink("d/target", self.path("y.svg"))
        os.symlink("/dev/null", self.path("null.png"))
        for name in ("y.svg", "y.svg", "null.png"):
            self.ok(self.plot(*self.pair, "-o", name))
            self.assertTrue(os.path.islink(self.path(name)))
        self.assertEqual(os.listdir(self.path("d")), ["target"])

    def test_same_picture_again(self):
        for kind in ("png", "svg", "pdf"):
            self.ok(self.plot(*self.pair, "-o", "a." + kind))
            self.ok(self.plot(*self.pair, "-o", "b." + kind))
            self.assertEqual(self.read("a." + kind), self.read("b." + kind))

    def test_help_and_version(self):
        self.assertTrue(os.access(PLOT, os.X_OK))
        for option in ("-h", "--help"):
            text = self.ok(self.plot(option)).out.decode()
            self.assertTrue(text.startswith("Usage: softqam-plot "))
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for option in plot_harness.load("command").LONG_OPTIONS:
            self.assertIn("--" + option.rstrip("="), text)
        self.assertIn("the bit that a value above the midpoint means; default: 0", " ".join(text.split()))
        version = self.ok(self.run_tool(tools_harness.DEMOD, "-V")).out.decode().replace("demod", "plot")
        for option in ("-V", "--version"):
            self.assertEqual(self.ok(self.plot(option)).out.decode(), version)
        with open("/dev/full", "wb") as full:
            result = self.plot("--help", stdout=full)
        self.fails(result, 1, "standard output: No space left on device")

    def test_reader_that_leaves(self):
        """It is the signal that ends the program, as any filter, and nothing is said."""
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as pipe:
            result = self.plot("--help", stdout=pipe)
        self.assertEqual((result.code, result.err), (-signal.SIGPIPE, ""))


if __name__ == "__main__":
    sys.exit(plot_harness.main())
