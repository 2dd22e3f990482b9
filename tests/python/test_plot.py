# SPDX-License-Identifier: MIT
"""softqam.plot in the package: figure() of arrays, and softqam-plot's own example, by the data of its figure."""
import os
import subprocess
import sys

import numpy as np
import pytest
import reference

import softqam

pytest.importorskip("matplotlib")
import softqam.plot  # noqa: E402
from softqam.plot import command, files, measure, sample  # noqa: E402


def run(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


def lanes(figure):
    """Positions and soft bits of each bit that is drawn."""
    (cell,) = [cell for cell in figure.subfigs[0].subfigs if cell.axes and cell.axes[0].get_title().startswith("Soft")]
    return [lane.lines[0].get_data() for lane in cell.axes]


@pytest.mark.parametrize("name", reference.MODULATIONS)
def test_points(name):
    """They are the reference's, pi/2-BPSK's turned."""
    known = files.MODULATIONS[name]
    expected = reference.points(name)
    if known.rotates:
        expected = np.concatenate([expected, 1j * expected])
    points = measure.points_of(known) / np.sqrt(known.energy)
    assert sorted(np.round([points.real, points.imag], 5).T.tolist()) == sorted(np.round([expected.real, expected.imag], 5).T.tolist())


@pytest.mark.parametrize("name", reference.MODULATIONS)
@pytest.mark.parametrize("soft_format", ["s8", "f32"])
def test_example(name, soft_format):
    """The LLRs are those of its symbols, a curve over the projection that is drawn; the bit error rate is theirs."""
    arguments = ["--example", "-m", name, "-s", soft_format, "-o", "x.png"]
    options = command.parse(command.read([*arguments, "--snr-db", "45"]))
    drawn_sample, title = sample.sample_of_example(options)
    assert title.endswith("at 45 dB, bit error rate 0")
    symbols = drawn_sample.symbols / np.sqrt(options.modulation.energy)
    llrs = softqam.demodulate(symbols.astype(np.complex64), name, 10**-4.5, output=soft_format)
    assert np.mean(np.abs(llrs.reshape(-1).astype(float) - drawn_sample.soft.reshape(-1)) > 1e-3 * np.abs(llrs) + 1) < 1e-3
    figure = softqam.plot.figure(symbols, drawn_sample.soft, name)
    assert "SNR 45" in figure.subfigs[0].texts[0].get_text()
    drawn = lanes(figure)
    assert len(drawn) == max(1, reference.MODULATIONS[name] // 2)
    for position, soft in drawn:
        order = np.argsort(position)
        assert np.all(np.abs(np.diff(soft[order])) <= 2e5 * np.diff(position[order]) + 1)
    rates = []
    for snr_db in ("6", "3"):
        _, title = sample.sample_of_example(command.parse(command.read([*arguments, "--snr-db", snr_db])))
        rates.append(float(title.split()[-1]))
    assert 0 < rates[0] < rates[1] < 0.5


def test_sign():
    for sign in ("0", "1"):
        for soft_format in ("u8", "s16"):
            arguments = ["--example", "-s", soft_format, "--sign", sign, "--snr-db", "40", "-o", "x.png"]
            assert sample.sample_of_example(command.parse(command.read(arguments)))[1].endswith("rate 0")


def test_figure():
    rng = np.random.default_rng(3)
    symbols = rng.normal(0, 0.7, (40, 2)) @ [1, 1j]
    llrs = softqam.demodulate(symbols, "qpsk", 0.1, output="f32")
    figure = softqam.plot.figure(symbols, llrs, "QPSK", panels=["bits"], axis="q", sign=1, title="$a$", size=(500, 500))
    ((position, soft),) = lanes(figure)
    assert np.allclose(position, np.sqrt(2) * symbols.imag) and np.array_equal(soft, llrs[1::2])
    assert figure.texts[0].get_text() == "$a$"
    turned = symbols * 1j ** (np.arange(40) % 2)
    straight = softqam.plot.figure(symbols, llrs[:40], "bpsk")
    assert np.allclose(lanes(softqam.plot.figure(turned, llrs[:40], "pi2-bpsk"))[0][0], lanes(straight)[0][0])
    shifted = softqam.plot.figure(turned[1:], llrs[:39], "pi2-bpsk", positions=np.arange(1, 40))
    assert np.allclose(lanes(shifted)[0][0], lanes(straight)[0][0][1:])


@pytest.mark.parametrize("change, error, message", [
    ({"modulation": "8psk"}, ValueError, "modulation: '8psk' is not one of bpsk"),
    ({"panels": ["eye"]}, ValueError, "panels: 'eye' is not one of constellation"),
    ({"axis": "x"}, ValueError, "axis: 'x' is not one of i, q"),
    ({"sign": 2}, ValueError, "sign: '2' is not one of 0, 1"),
    ({"soft": np.zeros(6)}, TypeError, "soft has dtype float64"),
    ({"soft": np.zeros(5, np.int8)}, ValueError, "soft has 5 values: 3 symbols of qpsk have 6"),
    ({"modulation": None}, TypeError, "modulation is None: it takes a string"),
    ({"axis": 0}, TypeError, "axis is 0: it takes a string"),
    ({"title": 3}, TypeError, "title is 3: it takes a string"),
    ({"panels": None}, TypeError, "panels is None: it takes a list of constellation"),
    ({"panels": "evm"}, TypeError, "panels is 'evm': it takes a list"),
    ({"panels": []}, TypeError, "panels is .*: it takes a list"),
    ({"panels": ["evm", "evm"]}, ValueError, "panels: 'evm,evm' names a panel twice"),
    ({"size": 3}, TypeError, "size is 3: it takes a width and a height in pixels"),
    ({"size": (0, 0)}, ValueError, "size: '0x0' is not a size from"),
    ({"size": (10**9, 10**9)}, ValueError, "is not a size from"),
    ({"input_scale": 0}, ValueError, "input_scale is 0: it takes a positive number"),
    ({"input_scale": float("nan")}, ValueError, "input_scale is nan"),
    ({"input_scale": "auto"}, ValueError, "input_scale is 'auto'"),
    ({"input_scale": 10**400}, ValueError, "input_scale is 1000"),
    ({"input_scale": np.float32(1), "soft": np.zeros(5, np.int8)}, ValueError, "soft has 5 values"),
    ({"positions": 1.5}, TypeError, "positions has dtype float64"),
    ({"positions": [1, 2]}, ValueError, "positions has 2 values: there are 3 symbols"),
    ({"symbols": ["a"] * 3}, TypeError, "symbols has dtype <U1"),
    ({"symbols": np.ma.masked_array(np.zeros(3), True)}, TypeError, "symbols is a masked array"),
    ({"symbols": np.zeros(0), "soft": np.zeros(0, np.int8)}, ValueError, "soft has 0 values"),
])  # fmt: skip
def test_wrong_calls(change, error, message):
    arguments = {"symbols": np.zeros(3), "soft": np.zeros(6, np.int8), "modulation": "qpsk", **change}
    with pytest.raises(error, match=message):
        softqam.plot.figure(**arguments)


def test_command(tmp_path):
    done = run("-m", "softqam.plot", "--example", "-m", "qpsk", "-o", "llrs.png", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr, os.listdir(tmp_path)) == (0, "", "", ["llrs.png"])
    assert (tmp_path / "llrs.png").read_bytes().startswith(b"\x89PNG")
    done = run("-m", "softqam.plot", "--example", "-m", "qpsk", "-s", "u8", "-o", "y.png", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "softqam-plot: --soft-format: u8 is for 256qam, not qpsk\n")
    assert run("-m", "softqam.plot", "-V").stdout == f"softqam-plot {softqam.__version__}\n"


def test_nothing_is_loaded_early():
    """matplotlib takes a while, which only a picture is worth."""
    program = "import sys, softqam, softqam.plot; sys.exit('matplotlib' in sys.modules)"
    assert run("-c", program).returncode == 0
