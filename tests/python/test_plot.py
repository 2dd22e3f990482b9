# SPDX-License-Identifier: MIT
"""softqam.plot: what its pictures show, and softqam-plot: which files it reads, what it refuses, the file that it leaves."""
import json
import os
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from symbols import MODULATIONS, points

import softqam

matplotlib = pytest.importorskip("matplotlib")
import softqam.plot as plot  # noqa: E402

README = Path(__file__).parents[2] / "README.md"


def panels(figure):
    """Returns the panels of the constellation and of soft bits."""
    return figure.subfigs[0].subfigs


def lanes(figure):
    """Positions and soft bits of each bit."""
    return [lane.lines[0].get_data() for lane in panels(figure)[1].axes]


def facts(figure, line=-1):
    return figure.get_suptitle().splitlines()[line].split(" \u00b7 ")


def sent(rng, modulation, n, snr_db):
    """Symbols with noise, complex64, and the variance of that."""
    noise_var = 10 ** (-snr_db / 10)
    symbols = rng.choice(points(modulation)[1], n) * (1j ** (np.arange(n) % 2) if modulation == "pi2-bpsk" else 1)
    return (symbols + rng.normal(0, np.sqrt(noise_var / 2), (n, 2)) @ [1, 1j]).astype(np.complex64), noise_var


@pytest.mark.parametrize("modulation", MODULATIONS)
def test_figure(rng, modulation):
    """EVM and SNR are those of the noise; the soft bits are drawn as they are, over the component that they depend on."""
    symbols, noise_var = sent(rng, modulation, 2001, 38)
    soft = softqam.demodulate(symbols, modulation, noise_var, output="f32" if modulation == "64qam" else "s8")
    symbols[7] = complex(np.nan, np.nan)
    figure = plot.figure(symbols, soft, modulation.upper(), title="$a$\n\x1b")
    name, n, erased, energy, evm, snr, *limited = facts(figure)
    assert len(limited) == (modulation != "64qam") and float(energy[7:]) == pytest.approx(1, abs=0.05)
    assert (name, n, erased) == (modulation.upper().replace("PI2", "\u03c0/2"), "2,001 symbols", "1 erased")
    assert float(evm[4:-2]) == pytest.approx(100 * np.sqrt(noise_var), rel=0.05) and float(snr[4:-3]) == pytest.approx(38, abs=0.4)
    assert figure.get_suptitle().startswith("$a$\\n\\x1b\n")
    straight = symbols * (-1j) ** (np.arange(2001) % 2) if modulation == "pi2-bpsk" else symbols
    n_bits = MODULATIONS[modulation]
    components = [straight.real, straight.imag] if n_bits > 1 else 2 * [(straight.real + straight.imag) / 2]
    drawn = lanes(figure)
    assert len(drawn) == n_bits
    for k, (position, values) in enumerate(drawn):
        assert np.array_equal(values, soft[k::n_bits])
        assert np.allclose(position, components[k % 2] * np.sqrt(plot._energy(modulation)), atol=1e-4, equal_nan=True)
    # Few symbols are dots; the density has every symbol; the points are the reference's.
    dots, ideal = (line.get_data() for line in panels(figure)[0].axes[0].lines)
    assert len(dots[0]) == 2000
    many = plot.figure(np.tile(symbols, 5), None, modulation).axes[0]
    assert many.collections[0].get_array().sum() == 10_000
    expected = points(modulation)[1]
    expected = np.concatenate([expected, 1j * expected]) if modulation == "pi2-bpsk" else expected
    assert np.allclose(np.sort_complex(np.round([1, 1j] @ np.array(ideal) / np.sqrt(plot._energy(modulation)), 5)),
                       np.sort_complex(np.round(expected, 5)))  # fmt: skip


def test_hints(rng):
    """Another scale and rotation, other signs, wrong bits; nothing of noise, fading and outliers, which do not widen the axes."""
    symbols, noise_var = sent(rng, "16qam", 6000, 18)
    soft = softqam.demodulate(symbols, "16qam", noise_var)
    bits = (soft < 0).astype(np.uint8)
    bits[:5] ^= 1
    title = facts(plot.figure(symbols, soft, "16qam", sent=bits, details=True))
    assert title[-1] == "5 of 24,000 bits wrong" and title[-2].endswith("% limited")
    drawn = plot.figure(symbols * 0.3 * np.exp(0.2j), soft, "16qam")
    found = re.search(r"best with ([\d.]+) times the scale, turned by ([-\d.]+)", drawn.get_suptitle())
    assert float(found[1]) == pytest.approx(1 / 0.3, rel=0.03) and float(found[2]) == pytest.approx(-11.5, abs=1)
    assert max(map(len, plot.figure(symbols * 0.3, None, "16qam", title="16qam " * 20).get_suptitle().splitlines())) <= 85
    for other in (soft.reshape(-1, 4).T.reshape(-1), -soft):
        assert "other signs than the symbols" in facts(plot.figure(symbols, other, "16qam"))[0]
    for modulation, snr_db in (("qpsk", 3), ("bpsk", 0), ("1024qam", 25), ("16qam", 60)):
        symbols, noise_var = sent(rng, modulation, 6000, snr_db)
        symbols[:3] = 1e9
        drawn = plot.figure(symbols, softqam.demodulate(symbols, modulation, noise_var), modulation)
        assert drawn.get_suptitle().count("\n") == 0 and "outside" in drawn.subfigs[0].subfigs[0].axes[0].get_title()
    symbols = np.full(99, 1e308j)  # not finite in binary32, as which they are demodulated
    assert facts(plot.figure(symbols, softqam.demodulate(symbols, "qpsk", 1), "qpsk"))[2] == "99 erased"
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert plot.figure(symbols, modulation="pi/2-BPSK", ax=axes) is axes.figure and axes.lines


@pytest.mark.parametrize("change, error, message", [
    ({"modulation": "8psk"}, ValueError, "modulation is '8psk'"), ({"sign": 2}, ValueError, "sign is 2"),
    ({"soft": np.zeros(6)}, TypeError, "soft is float64"), ({"soft": np.zeros(5, np.int8)}, ValueError, "3 symbols of qpsk have 6 values"),
    ({"sent": np.full(6, 7)}, ValueError, "sent is int64 of shape.*not bits"), ({"symbols": ["a"] * 3}, TypeError, "symbols is <U1"), ({"symbols": np.zeros((3, 1))}, TypeError, "symbols is float64 of shape"),
])  # fmt: skip
def test_wrong_calls(change, error, message):
    with pytest.raises(error, match=message):
        plot.figure(**{"symbols": np.zeros(3), "soft": np.zeros(6, np.int8), "modulation": "qpsk", **change})


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """softqam-plot in tmp_path: exit status, and standard error."""
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["softqam-plot", *arguments])
        try:
            plot.main()
        except SystemExit as end:
            return end.code, capsys.readouterr().err
        return 0, capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    return call


@pytest.fixture
def pair(tmp_path, rng):
    """x.cf32 and x.s8, of 500 symbols of QPSK, in tmp_path."""
    symbols, noise_var = sent(rng, "qpsk", 500, 20)
    symbols.tofile(tmp_path / "x.cf32")
    softqam.demodulate(symbols, "qpsk", noise_var).tofile(tmp_path / "x.s8")
    return ["-m", "qpsk", "x.cf32", "x.s8"]


def drawn_of(*arguments):
    """The figure of a command."""
    return plot._figure_of_files(plot._parser().parse_intermixed_args([*arguments, "-o", "out.png"]))[0]


@pytest.mark.parametrize("name, dtype, unit, zero", [
    ("cf32", "f4", 1, 0), ("cs16", "i2", 8192, 0), ("cs8", "i1", 64, 0), ("cf16", "f2", 1, 0), ("cu8", "u1", 64, 128), ("cs32", "i4", 2**29, 0),
    ("cf64", "f8", 1, 0), ("cu8h", "u1", 64, 127.5), ("cs16be", ">i2", 8192, 0), ("cf32be", ">f4", 1, 0),
])  # fmt: skip
def test_formats(tmp_path, run, rng, name, dtype, unit, zero):
    """The symbols of every format, as a file of that suffix and as a recording of either byte order."""
    symbols, scale = rng.uniform(-0.9, 0.9, (300, 2)), 1 / unit
    components = symbols if unit == 1 else np.rint(symbols * unit + zero)
    softqam.demodulate(symbols @ [1, 1j], "qpsk", 0.1, output="f16").tofile(tmp_path / "x.f16")
    components.astype(dtype).tofile(tmp_path / f"x.{name}")
    figures = [drawn_of("-m", "qpsk", f"x.{name}", "x.f16")]
    for order, options in (("<", []), (">", ["--input-scale", f"1/{unit}"])) if name in ("cf32", "cs16", "cs8", "cu8", "cs32", "cf64") else ():
        end = {"<": "_le", ">": "_be"}[order] if dtype[1] != "1" else ""
        components.astype(order + dtype).tofile(tmp_path / "r.sigmf-data")
        whole = {"core:datatype": name.replace("cs", "ci") + end, "softqam:modulation": "qpsk", "softqam:input_scale": scale / 2}
        (tmp_path / "r.sigmf-meta").write_text(json.dumps({"global": whole}))
        figures.append(drawn_of("r.sigmf-data", "x.f16", *options))
    for figure, factor in zip(figures, (1, 0.5, 1)):  # one if there is no recording of it
        assert np.allclose(lanes(figure)[0][0], factor * np.sqrt(2) * symbols[:, 0], atol=0.02)


@pytest.mark.parametrize("arguments, status, message", [
    ([], 2, "it takes IQ and SOFT"), (["--example", "x.cf32"], 2, "it takes IQ and SOFT"), (["--sent", "x.s8", "x.cf32"], 2, "--sent: it takes SOFT"),
    (["--details", "x.cf32"], 2, "--details: it takes SOFT"), (["-m", "qpsk", "--sent", "x.s8", "x.cf32", "x.s8"], 1, "x.s8: not bits: a byte is neither 0"),
    *(([name, "x.s8"], 1, f"{name}: begins with a header, not with samples") for name in ("wav.cf32", "npy.cf32")),
    (["-m", "qpsk", "--sent", "x.cf32", "x.cf32", "x.s8"], 1, "x.cf32: the bits of 2,000 symbols"), (["-m", "8psk"], 2, "invalid choice"),
    (["--snr-db", "3", "x.cf32", "x.s8"], 2, "--snr-db: it takes --example"), (["--example", "--snr-db", "nan"], 2, "--snr-db"),
    *((["--input-scale", wrong, "x.cf32", "x.s8"], 2, f"--input-scale: '{wrong}' is not") for wrong in ("0", "1/0", "x", "1/", "1/2/3", "nan", "inf")),
    (["--example", "-m", "qpsk", "-s", "u8"], 2, "u8 is for 256qam, not qpsk"),
    (["-o", "x.jpg", "x.cf32", "x.s8"], 2, "'x.jpg' ends in neither"), (["--sign", "2", "x.cf32", "x.s8"], 2, "--sign"),
    (["x.cf32", "none.s8"], 1, "none.s8: No such file or directory"), ([".", "x.s8"], 1, ".: not a regular file"),
    (["/dev/null", "x.s8"], 1, "/dev/null: not a regular file"), (["x.161", "x.s8"], 1, "x.161: suffix .161"),
    (["x.cf32", "x.cf32"], 1, "-soft-format"), (["-m", "64qam", "x.cf32", "x.s8"], 1, "not a whole number of symbols"),
    (["-i", "cs16", "x.cf32", "x.s8"], 1, "x.s8: the bits of 125 symbols, but x.cf32 has 1,000"),
    (["-o", "none/x.png", "-m", "qpsk", "x.cf32", "x.s8"], 1, "none/x.png: No such file"), (["empty", "x.s8"], 1, "empty: 0 bytes"),
    (["none.sigmf-meta", "x.s8"], 1, "none.sigmf-meta: No such file"),
])  # fmt: skip
def test_wrong_commands(tmp_path, pair, run, arguments, status, message):
    """One line, and no file."""
    (tmp_path / "empty").touch()
    (tmp_path / "wav.cf32").write_bytes(b"RIFF" + bytes(60))
    np.save(tmp_path / "npy", np.zeros(16, np.complex64))
    (tmp_path / "npy.npy").rename(tmp_path / "npy.cf32")
    before = sorted(os.listdir(tmp_path))
    code, text = run(*([] if "-o" in arguments else ["-o", "out.png"]), *arguments)
    assert (code, text.count("\n"), sorted(os.listdir(tmp_path))) == (status, 1, before) and text.startswith("softqam-plot: ")
    assert message in text


@pytest.mark.parametrize("metadata", [
    b"{", b"[]", b"\xff", {"core:datatype": "ru8"}, {"core:datatype": 5},
    *({"core:datatype": "ci8", **wrong} for wrong in (
        {"core:num_channels": 2}, {"core:trailing_bytes": 3}, {"core:dataset": "x"}, {"core:version": "2.0.0"},
        {"core:extensions": [{"name": "b", "optional": False}]}, {"softqam:modulation": "8psk"}, {"softqam:input_scale": 0})),
])  # fmt: skip
def test_wrong_metadata(tmp_path, run, metadata):
    (tmp_path / "r.sigmf-meta").write_bytes(metadata if isinstance(metadata, bytes) else json.dumps({"global": metadata}).encode())
    code, text = run("r.sigmf-meta", "x.s8", "-o", "x.png")
    assert (code, text.count("\n")) == (1, 1) and text.startswith("softqam-plot: r.sigmf-meta: not SigMF")


def test_output(tmp_path, pair, run):
    """Failures are said; a file keeps its mode, a link its target; and it is never an input."""
    out = tmp_path / "x.png"
    out.write_bytes(b"old")
    out.chmod(0o640)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    code, text = run(*pair, "-o", "x.png")
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, text) == (1, "softqam-plot: x.png: File too large\n")
    (tmp_path / "link.png").symlink_to("x.png")
    assert run(*pair, "-o", "link.png") == (0, "")
    assert out.read_bytes().startswith(b"\x89PNG") and out.stat().st_mode & 0o777 == 0o640 and (tmp_path / "link.png").is_symlink()
    for name in ("x.cf32", "x.s8"):
        before = (tmp_path / name).read_bytes()
        os.link(tmp_path / name, tmp_path / "other.png")
        code, text = run(*pair, "-o", "other.png")
        assert (code, (tmp_path / name).read_bytes()) == (2, before) and "other.png: is an input as well" in text
        (tmp_path / "other.png").unlink()
    assert sorted(os.listdir(tmp_path)) == ["link.png", "x.cf32", "x.png", "x.s8"]


@pytest.mark.parametrize("modulation", ["pi2-bpsk", "256qam"])
def test_example(tmp_path, run, modulation):
    assert run("--example", "-m", modulation, "--sign", "1", "-o", "x.pdf") == (0, "")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


def test_commands_of_the_readme(tmp_path):
    """From symbols to a picture, as they stand there; matplotlib is not loaded before there is one."""
    commands = re.findall(r"^    (softqam-(?:gen|demod|plot) .*capture\.cf32.*)", README.read_text(encoding="utf-8"), re.M)
    assert [command.split()[0] for command in commands] == ["softqam-gen", "softqam-demod", "softqam-demod", "softqam-plot"]
    path = os.pathsep.join([os.environ["SOFTQAM_TOOLS"], os.environ["PATH"]])
    for command in commands:
        command = command.replace("softqam-plot", f"{shlex.quote(sys.executable)} -m softqam.plot")
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD" or "softqam.plot" in command}
        subprocess.run(command, shell=True, cwd=tmp_path, check=True, env={**environment, "PATH": path})
    assert (tmp_path / "capture.png").read_bytes().startswith(b"\x89PNG")
    program = "import sys, softqam.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("call", ["figure([1j])", "main()"])
def test_without_matplotlib(call):
    """The message says what adds it."""
    program = f"import sys; sys.modules['matplotlib'] = None; import softqam.plot; softqam.plot.{call}"
    result = subprocess.run([sys.executable, "-c", program, "--example", "-o", "x.png"], check=False, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.endswith(": matplotlib is not there; pip install 'softqam[plot]', or matplotlib, adds it\n")
