# SPDX-License-Identifier: MIT
"""examples/picture.py: what it draws is right, by the data of its figure."""
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reference

pytest.importorskip("matplotlib")
EXAMPLE = Path(__file__).parents[2] / "tools/python/examples/picture.py"


@pytest.fixture(scope="module")
def picture():
    spec = importlib.util.spec_from_file_location("picture", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("modulation", reference.MODULATIONS)
def test_figure(picture, modulation):
    points, bits_of_points = picture.constellation(modulation)
    expected = {tuple(np.round([p.real, p.imag], 5)): tuple(word) for p, word in zip(*reference.points(modulation))}
    assert {tuple(np.round([p.real, p.imag], 5)): tuple(b) for p, b in zip(points, bits_of_points)} == expected

    bits, received, llrs = picture.receive(modulation, 40)
    assert np.array_equal(llrs < 0, bits)
    figure = picture.draw(modulation, 40, bits, received, llrs)
    cloud, soft = figure.axes
    assert np.array_equal(cloud.lines[0].get_xdata() + 1j * cloud.lines[0].get_ydata(), received)
    assert "EVM 1.0 %, bit error rate 0" in figure.get_suptitle()
    drawn = [line for line in soft.lines if len(line.get_xdata()) == len(received)]
    assert len(drawn) == max(1, reference.MODULATIONS[modulation] // 2)
    for k, line in enumerate(drawn):
        # A curve, of what the LLR depends on.
        position, llr = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert np.array_equal(llr, llrs[:, 2 * k])
        order = np.argsort(position)
        assert np.all(np.abs(np.diff(llr[order])) <= 1e5 * np.diff(position[order]) + 0.1)


def test_command(tmp_path):
    done = subprocess.run([sys.executable, EXAMPLE, "--modulation", "qpsk"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "llrs.png written\n"), done.stderr
    assert (tmp_path / "llrs.png").read_bytes().startswith(b"\x89PNG")
