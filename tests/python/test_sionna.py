# SPDX-License-Identifier: MIT
"""softqam.sionna.Demapper beside Sionna's own: values, gradients, what is left to Sionna, torch.compile."""
import inspect
from unittest import mock

import pytest
from symbols import assert_bytes

import softqam

torch = pytest.importorskip("torch")
mapping = pytest.importorskip("sionna.phy.mapping")
from sionna.phy import config  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap  # noqa: E402

from softqam.sionna import Demapper  # noqa: E402

MODULATIONS = {2: "qpsk", 4: "16qam", 6: "64qam", 8: "256qam", 10: "1024qam"}
each_modulation = pytest.mark.parametrize("bits", MODULATIONS)
NOISE_SHAPES = [(), (1,), (40,), (3, 40), (3, 1), (2, 1, 1), (2, 3, 40)]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(20240)
    config.seed = 20241
    torch._dynamo.reset()


def make_symbols(*shape):
    return torch.view_as_complex(torch.randn(*shape, 2) * 0.8)


def make_noise(*shape):
    return 10 ** (-2 * torch.rand(shape))


def pair(bits):
    return mapping.Demapper("maxlog", "qam", bits), Demapper("maxlog", "qam", bits)


def gradients(demapper, y, no, weights=1):
    """Derivatives of the weighted LLRs' sum by I and Q of each symbol, and by each noise variance."""
    y, no = y.clone().requires_grad_(), no.clone().requires_grad_()
    (demapper(y, no) * weights).sum().backward()
    return torch.view_as_real(y.grad), no.grad


def assert_near(got, expected):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    torch.testing.assert_close(got, expected, rtol=2e-5, atol=2e-5 * float(expected.abs().max()))


@each_modulation
@pytest.mark.parametrize("shape", NOISE_SHAPES)
def test_values(bits, shape):
    theirs, ours = pair(bits)
    symbols, noise = make_symbols(2, 3, 40), make_noise(*shape)
    llrs = ours(symbols, noise)
    assert_near(llrs, theirs(symbols, noise))
    expected = softqam.demodulate(symbols.numpy(), MODULATIONS[bits], noise.numpy(), output="f32", sign=1)
    assert_bytes(llrs.numpy(), expected)
    assert isinstance(ours, mapping.Demapper)


def test_types_and_strides():
    theirs, ours = pair(6)
    symbols, noise = make_symbols(20, 30), make_noise(20, 30)
    views = (lambda a: a.T, lambda a: a[::3, 1::2], lambda a: a[:, :1], lambda a: a.conj())
    for y, no in [(symbols, 0.1), (symbols.numpy(), 0.1), (symbols.to(torch.complex128), noise.double()),
                  *((view(symbols), view(noise)) for view in views)]:  # fmt: skip
        assert_near(ours(y, no), theirs(y, no))
        assert_near(ours(y=y, no=no), theirs(y, no))
    for real in (symbols.real, torch.view_as_real(symbols)):
        assert torch.equal(ours(real.contiguous(), 0.1), theirs(real.contiguous(), 0.1))
    with mock.patch.object(mapping.Demapper, "__call__", side_effect=AssertionError("slow")):
        assert torch.equal(ours(symbols, 0.1), ours(symbols, torch.tensor(0.1)))
    assert ours(symbols[:0], noise[:0]).shape == (0, 180) and ours(symbols[:, :0], 0.1).shape == (20, 0)


@pytest.mark.parametrize("settings", [
    {"demapping_method": "app", "constellation_type": "qam", "num_bits_per_symbol": 4},
    {"demapping_method": "maxlog", "constellation_type": "qam", "num_bits_per_symbol": 4, "hard_out": True},
    {"demapping_method": "maxlog", "constellation_type": "qam", "num_bits_per_symbol": 4, "precision": "double"},
    {"demapping_method": "maxlog", "constellation_type": "qam", "num_bits_per_symbol": 12},
    {"demapping_method": "maxlog", "constellation_type": "pam", "num_bits_per_symbol": 2},
    {"demapping_method": "maxlog", "constellation": "custom"},
])  # fmt: skip
def test_what_is_left_to_sionna(settings):
    if settings.get("constellation") == "custom":
        points = torch.polar(torch.ones(8), torch.arange(8) * torch.pi / 4).numpy()
        settings = {**settings, "constellation": mapping.Constellation("custom", 3, points=points)}
    symbols, noise = make_symbols(2, 10), make_noise(10)
    for no in (noise, 0.1):
        expected, got = (kind(**settings)(symbols, no) for kind in (mapping.Demapper, Demapper))
        assert got.dtype == expected.dtype and torch.equal(got, expected)


def test_without_noise():
    """Signs and gradients as Sionna's; no infinity, no NaN."""
    theirs, ours = pair(8)
    symbols = make_symbols(100)
    for noise in (0.0, -1.0, 1e-44):
        llrs = ours(symbols, noise)
        assert torch.isfinite(llrs).all() and torch.equal(llrs > 0, theirs(symbols, noise) > 0)
    expected, got = (gradients(demapper, torch.full((3,), 0.4 + 0.1j), torch.tensor([0.0, 0.1, -1.0]))[1] for demapper in (theirs, ours))
    assert_near(got, expected)
    assert expected[0] == expected[2] == 0


def test_what_is_not_finite():
    _, ours = pair(4)
    symbols = make_symbols(4)
    symbols[1], symbols[2] = complex(float("nan"), 1), complex(1, float("inf"))
    llrs = ours(symbols, torch.tensor([float("nan"), 1, 1, float("inf")]))
    assert torch.equal(llrs, torch.zeros(16)) and torch.equal(ours(symbols, float("nan")), torch.zeros(16))
    of_symbols, _ = gradients(ours, symbols, torch.tensor(0.1), torch.randn(16))
    assert torch.equal(of_symbols[1:3], torch.zeros(2, 2)) and torch.isfinite(of_symbols).all()


@each_modulation
@pytest.mark.parametrize("shape", NOISE_SHAPES)
def test_gradient(bits, shape):
    symbols, noise, weights = make_symbols(2, 3, 40), make_noise(*shape), torch.randn(2, 3, 40 * bits)
    theirs, ours = (gradients(demapper, symbols, noise, weights) for demapper in pair(bits))
    changed = gradients(lambda y, no: pair(bits)[1](y, no).mul_(2), symbols, noise, weights / 2)  # LLRs that are changed in place
    for got, again, expected in zip(ours, changed, theirs):
        assert_near(got, expected)
        assert_near(again, expected)


def tangent(function, y, no):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(y, y + 1), no)).tangent


def scalar(demapper, y):
    return lambda no: demapper(y, no).square().sum()


MODES = {
    "jvp": lambda d, y, no: jvp(lambda y, no: d(2 * y, no), (y, no), (y + 1j, no / 3))[1],
    "forward_ad": lambda d, y, no: tangent(d, y, no),
    "jacfwd": lambda d, y, no: jacfwd(lambda x: d(torch.view_as_complex(x), no))(torch.view_as_real(y)),
    "jacfwd, jacfwd": lambda d, y, no: jacfwd(jacfwd(scalar(d, y)))(no),
    "jacrev, jacrev": lambda d, y, no: jacrev(jacrev(scalar(d, y)))(no),
    "hessian": lambda d, y, no: hessian(lambda x: d(torch.view_as_complex(x), no).square().sum())(torch.view_as_real(y)),
    "vmap": lambda d, y, no: vmap(d, in_dims=(0, None))(y, no),
    "vmap(grad)": lambda d, y, no: vmap(lambda y: grad(scalar(d, y))(no))(y),
    "compile(jvp)": lambda d, y, no: torch.compile(lambda y, no: jvp(d, (y, no), (y + 1j, no / 3))[1])(y, no),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bits", [2, 6])
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_other_modes(bits, mode):
    expected, got = (MODES[mode](demapper, make_symbols(3, 5), make_noise(5)) for demapper in pair(bits) if torch.manual_seed(bits))
    assert expected.abs().max() > 1
    assert_near(got, expected)


def test_signature():
    """The signature is Sionna's, and so are the arguments by position, here for hard decisions."""
    assert inspect.signature(Demapper) == inspect.signature(mapping.Demapper)
    symbols = make_symbols(10)
    expected, got = (kind("maxlog", "qam", 4, None, True)(symbols, 0.1) for kind in (mapping.Demapper, Demapper))
    assert torch.equal(got, expected)


@each_modulation
def test_operator(bits):
    """Schema, fake kernel and dynamic shapes, as PyTorch checks them."""
    torch.library.opcheck(torch.ops.softqam.demap_qam.default, (make_symbols(3, 20), make_noise(20), bits))


@pytest.mark.filterwarnings("ignore")
def test_compile():
    _, ours = pair(8)

    def chain(y, no):
        return torch.tanh(ours(2 * y, no) / 2)

    compiled = torch.compile(chain, fullgraph=True)
    for n in (30, 40, 70):
        symbols, noise = make_symbols(2, n), make_noise(n)
        assert_near(compiled(symbols, noise), chain(symbols, noise))
    y, z = symbols.clone().requires_grad_(), symbols.clone().requires_grad_()
    compiled(y, noise).sum().backward()
    chain(z, noise).sum().backward()
    assert_near(torch.view_as_real(y.grad), torch.view_as_real(z.grad))
