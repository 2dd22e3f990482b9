# SPDX-License-Identifier: MIT
"""Arrays on a GPU: the bytes of host memory, whatever the layout, what is refused, and that nothing is kept. With whatever array
library there is; with SOFTQAM_FAKE_CUDA, which says that the package is linked with the fake CUDA runtime, with arrays of that."""
import contextlib
import gc
import itertools
import os
import re
import sys

import numpy as np
import pytest
import reference
from symbols import assert_bytes, make_gain, make_noise, make_symbols

import softqam
from softqam import _gpu

if "SOFTQAM_FAKE_CUDA" in os.environ:
    from fake_gpu import gpu  # noqa: F401
else:
    from real_gpu import gpu  # noqa: F401


@pytest.fixture
def only_in_c(gpu, monkeypatch):
    """Fails where a call of described arrays goes another way."""
    if gpu.Array in _gpu.in_c:
        monkeypatch.delattr(_gpu, "demodulate")


@pytest.mark.parametrize("dtype", ["complex64", "float32", "float16", "int16", "int8"])
@pytest.mark.parametrize("output", reference.DTYPES)
def test_bytes_are_those_of_host_memory(rng, gpu, only_in_c, dtype, output):
    symbols = make_symbols(rng, 600, dtype)
    symbols = symbols.reshape(3, 200, *symbols.shape[1:])
    arrays, numbers = [make_noise(rng, 600).reshape(3, 200), np.full((3, 1), 0.1, np.float32)], [0.1, 1e-300, 1e300, 3, -1.0, np.inf]
    for noise in [None] if output == "u8" else [*arrays, *numbers, np.float64(0.1)]:
        expected = softqam.demodulate(symbols, noise_var=noise, output=output)
        on_gpu = gpu.to_gpu(noise) if isinstance(noise, np.ndarray) else noise
        got = softqam.demodulate(gpu.to_gpu(symbols), noise_var=on_gpu, output=output)
        assert type(got) is gpu.Array and got.shape == expected.shape
        assert_bytes(gpu.result_of(got), expected)


# Of symbols, and of noise.
VIEWS = [
    (lambda a: a[::3, 1::2], lambda a: a[::3, 0::2]),
    (lambda a: a[5:9], lambda a: a[5:9, 0:1]),
    *((view, view) for view in (
        lambda a: a[::3, 1::2], lambda a: a[:, 7], lambda a: a[3, 4:5], lambda a: a[0:0], lambda a: a[:, 0:0], lambda a: a.T,
        lambda a: a[2].reshape(5, 6)[:, None],
    )),
]  # fmt: skip


def test_views_and_broadcast_noise(rng, gpu, only_in_c):
    symbols, noise = make_symbols(rng, 600).reshape(20, 30), make_noise(rng, 600).reshape(20, 30)
    on_gpu, noise_on_gpu = gpu.to_gpu(symbols), gpu.to_gpu(noise)
    reversed_rows = [(lambda a: a[19::-4], lambda a: a[0:1])] if gpu.has_negative_strides else []
    for view, noise_view in VIEWS + reversed_rows:
        got = softqam.demodulate(gpu.view(on_gpu, view), noise_var=gpu.view(noise_on_gpu, noise_view))
        assert_bytes(gpu.result_of(got), softqam.demodulate(view(symbols), noise_var=noise_view(noise)))
    one = gpu.view(noise_on_gpu, lambda a: a[0, 0:1].reshape(()))
    for n0 in (one, gpu.expand(one, (20, 30))):
        got = softqam.demodulate(on_gpu, noise_var=n0)
        assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=float(noise[0, 0])))
    apart = gpu.view(gpu.to_gpu(np.stack([symbols.real, symbols.imag])), lambda a: a.swapaxes(0, 1).swapaxes(1, 2))
    got = softqam.demodulate(apart, noise_var=noise_on_gpu)
    assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=noise))


def test_gains(rng, gpu):
    """One stride for them and the noise: any that both have; a number becomes as many."""
    symbols, noise, gains = (make(rng, 600).reshape(20, 30) for make in (make_symbols, make_noise, make_gain))
    arrays = [gpu.to_gpu(array) for array in (symbols, noise, gains)]
    for view in (*(view for view, _ in VIEWS), lambda a: a[0:1, 3:4]):
        got = softqam.demodulate(gpu.view(arrays[0], view), noise_var=gpu.view(arrays[1], view), gain=gpu.view(arrays[2], view))
        assert_bytes(gpu.result_of(got), softqam.demodulate(view(symbols), noise_var=view(noise), gain=view(gains)))
    numbers = [(noise, 0.5), (0.1, gains), (0.1, 0.5), (0.1, gains[0]), (0.1, np.float64(2))]
    if not gpu.makes_capsules:
        numbers.clear()  # C does not take them
    for n0, gain in (*numbers, (noise[:, :1], gains[:, :1])):
        on_gpu = (gpu.to_gpu(floats) if isinstance(floats, np.ndarray) else floats for floats in (n0, gain))
        got = softqam.demodulate(arrays[0], noise_var=next(on_gpu), gain=next(on_gpu))
        assert_bytes(gpu.result_of(got), softqam.demodulate(symbols, noise_var=n0, gain=gain))
    for of_layers in (lambda a: a.swapaxes(0, 1)[None, :3], lambda a: a[:3], lambda a: a.reshape(200, 3).swapaxes(0, 1)):
        views = [gpu.view(array, of_layers) for array in arrays]
        got = softqam.demodulate(views[0], noise_var=views[1], gain=views[2], layers=3)
        expected = softqam.demodulate(of_layers(symbols), noise_var=of_layers(noise), gain=of_layers(gains), layers=3)
        assert_bytes(gpu.result_of(got), expected)
    got = softqam.demodulate(views[0], noise_var=gpu.to_gpu(noise[1, :1]), gain=gpu.to_gpu(gains[:3, :1]), layers=3)
    assert_bytes(gpu.result_of(got), softqam.demodulate(of_layers(symbols), noise_var=noise[1, :1], gain=gains[:3, :1], layers=3))
    for n0, gain in ((arrays[1], gpu.view(arrays[2], lambda a: a[:1, :1])), (gpu.to_gpu(noise[0]), gpu.to_gpu(gains[:, :1]))):
        with pytest.raises(ValueError, match="^gain is float32 of shape .*strides of noise_var"):
            softqam.demodulate(arrays[0], noise_var=n0, gain=gain)


@pytest.mark.parametrize("options", [{}, {"c_init": 9, "first_symbol": 6}, {"c_init": [1, 2, 3]}, {"planes": 24}])
def test_layers_and_rows(rng, gpu, only_in_c, options):
    """Interleaved, some of more, in planes; rows that are one run of symbols and rows with gaps."""
    codewords, noise = make_symbols(rng, 720).reshape(3, 80, 3), make_noise(rng, 720).reshape(3, 80, 3)

    def arrangements(array):
        wide, long = (np.concatenate([array, array], axis=axis) for axis in (2, 1))
        yield gpu.view(gpu.to_gpu(array), lambda a: a.swapaxes(1, 2))
        yield gpu.to_gpu(np.ascontiguousarray(array.swapaxes(1, 2)))
        yield gpu.view(gpu.to_gpu(wide), lambda a: a.swapaxes(1, 2)[:, :3])
        yield gpu.view(gpu.to_gpu(long), lambda a: a.swapaxes(1, 2)[..., :80])

    in_layers, noise_in_layers = codewords.swapaxes(1, 2), noise.swapaxes(1, 2)
    of_layers = noise_in_layers[..., :1]
    expected, with_noise_of_layers = (softqam.demodulate(in_layers, noise_var=n0, layers=3, **options) for n0 in (noise_in_layers, of_layers))
    for s in arrangements(codewords):
        for n0 in arrangements(noise):
            assert_bytes(gpu.result_of(softqam.demodulate(s, noise_var=n0, layers=3, **options)), expected)
        got = softqam.demodulate(s, noise_var=gpu.to_gpu(of_layers), layers=3, **options)
        assert_bytes(gpu.result_of(got), with_noise_of_layers)


def test_out_with_an_offset(rng, gpu, only_in_c):
    symbols, whole = make_symbols(rng, 20), gpu.to_gpu(np.full(400, 99, np.int8))
    out = gpu.view(whole, lambda a: a[80:240])
    assert softqam.demodulate(gpu.to_gpu(symbols), noise_var=0.1, out=out) is out
    got = gpu.result_of(whole)
    assert_bytes(got[80:240], softqam.demodulate(symbols, noise_var=0.1))
    assert (got[:80] == 99).all() and (got[240:] == 99).all()


@pytest.mark.parametrize("output", reference.LLRS)
def test_soft_buffers(rng, gpu, output):
    """New ones, and a retransmission in the caller's; rows with gaps."""
    if not gpu.makes_capsules:
        pytest.skip("C takes no soft buffers")
    codeword = softqam.Codeword(720, "64qam", 3, 4, 200, 30, 100, 40)
    symbols, noise = make_symbols(rng, 120).reshape(3, 40), make_noise(rng, 120).reshape(3, 40)
    options = {"output": output, "c_init": 5, "codeword": codeword}
    expected = softqam.demodulate(symbols, "64qam", noise, **options)
    on_gpu = gpu.to_gpu(symbols), "64qam", gpu.to_gpu(noise)
    got = softqam.demodulate(*on_gpu, **options)
    assert type(got) is gpu.Array
    assert_bytes(gpu.result_of(got), expected)
    room = np.zeros((4, 256), expected.dtype)
    room[:, 16:216] = expected
    room = gpu.to_gpu(room)
    again = gpu.view(room, lambda a: a[:, 16:216])
    softqam.demodulate(symbols, "64qam", noise, soft_buffers=expected, combine=True, **options)
    assert softqam.demodulate(*on_gpu, soft_buffers=again, combine=True, **options) is again
    got = gpu.result_of(room)
    assert_bytes(got[:, 16:216], expected)
    assert not got[:, :16].any() and not got[:, 216:].any()


def wrong_calls(rng, gpu):
    """Arguments, and what the message has."""
    good, noise, memory = gpu.to_gpu(make_symbols(rng, 12).reshape(4, 3)), gpu.empty((4, 3), "f4"), gpu.empty((8, 24), "i1")
    for dtype in ("c16", "f8", "i4", "u1", "i8"):
        yield {"symbols": gpu.empty((3, 2), dtype)}, r"symbols is .* of shape \(3, 2\)"
    for dtype, shape in (("f4", (3,)), ("i1", (4, 3)), ("i2", ()), ("c8", ())):
        yield {"symbols": gpu.empty(shape, dtype)}, "symbols is"
    yield {"symbols": gpu.expand(gpu.view(good, lambda a: a[:, :1]), (4, 3))}, "symbols is complex64 .*contiguous"
    floats = ("noise_var", "gain")
    for name, shape in itertools.product(floats, ((3, 3), (2, 4, 3), (5,))):
        yield {name: gpu.empty(shape, "f4")}, f"{name} is float32.*broadcast"
    for name, dtype in itertools.product(floats, ("f8", "f2", "i4", "c8")):
        yield {name: gpu.empty((4, 3), dtype)}, f"{name} is"
    for thing in (np.ones((4, 3), np.float32), [1, 2], "x", object(), "0.1", b"0.1", True, np.True_, 10**400, np.ma.masked,
                  np.ma.masked_array(np.ones(3), mask=True)):  # fmt: skip
        yield from (({name: thing}, f"{name} is") for name in floats)
    for thing in (np.zeros((4, 24), np.int8), "x", object(), np.zeros(3)):
        yield {"out": thing}, "out is"
    for shape, dtype in (((4, 24), "u1"), ((4, 23), "i1"), ((96,), "i1"), ((), "i1")):
        yield {"out": gpu.empty(shape, dtype)}, "out is u?int8 of shape"
    for output, dtype in itertools.permutations(reference.LLRS, 2):
        yield {"output": output, "out": gpu.empty((4, 24), reference.DTYPES[dtype])}, "out is .*: this output is"
    yield {"out": gpu.view(memory, lambda a: a[::2])}, "out is int8 .*contiguous"
    yield {"symbols": good, "out": gpu.view(good, lambda a: a.view(gpu.int8))}, "out overlaps symbols"
    rows = gpu.empty((8, 3), "f4")
    for name in floats:
        yield {name: gpu.view(rows, lambda a: a[4:]), "out": gpu.view(rows, lambda a: a.view(gpu.int8).reshape(4, 24))}, f"out overlaps {name}"
    for name in ("layers", "planes", "first_symbol", "c_init"):
        for value in ("x", -1, 1.5, 2**70):
            yield {name: value}, name
    yield {"layers": 2}, "symbols is complex64"
    codeword = softqam.Codeword(24, "qpsk", 1, 2, 200)
    for wrong, words in [
        ([gpu.empty(200, "i1")] * 2, "soft_buffers is a list: on a GPU it takes one array"),
        (gpu.empty((2, 201), "i1"), r"soft_buffers is .*\(2, 200\)"),
        (gpu.empty((2, 200), "i2"), "this output is int8"),
    ]:
        if gpu.makes_capsules:
            yield {"symbols": gpu.empty(12, "c8"), "noise_var": 0.1, "modulation": "qpsk", "codeword": codeword, "soft_buffers": wrong}, words
    yield {"noise_var": None}, "noise_var is missing"
    yield {"output": "u8"}, "noise_var"
    if gpu.has_negative_strides:
        backwards = gpu.view(noise, lambda a: a[:, ::-1])
        yield {"symbols": gpu.view(good, lambda a: a[:, ::-1])}, "contiguous"
        yield {"noise_var": backwards}, "noise_var is.*contiguous"
        yield {"gain": backwards}, "gain is.*strides"
    if hasattr(gpu, "torch"):
        yield {"noise_var": gpu.torch.ones(3)}, "noise_var is .*host memory"
        yield {"out": gpu.torch.zeros((4, 24), dtype=gpu.int8)}, "out is"


def test_wrong_calls(rng, gpu):
    good, noise = gpu.to_gpu(make_symbols(rng, 12).reshape(4, 3)), gpu.to_gpu(np.ones((4, 3), np.float32))
    for wrong, words in wrong_calls(rng, gpu):
        arguments = {"symbols": good, "noise_var": noise, **wrong}
        try:
            softqam.demodulate(arguments.pop("symbols"), **arguments)
        except (TypeError, ValueError) as error:
            assert re.search(words, str(error)), error
        else:
            raise AssertionError(f"accepted: {wrong}")


def test_no_reference_is_kept(rng, gpu):
    symbols, noise, out = gpu.to_gpu(make_symbols(rng, 1)), gpu.to_gpu(np.ones(1, np.float32)), gpu.empty((8,), np.int8)
    shared = (symbols, noise, out, gpu.Array, None, np.int8)
    for arguments in ({"out": out}, {}, {"out": gpu.empty((9,), np.int8)}, {"out": symbols}):
        for n in (10, 1000):
            before = [sys.getrefcount(thing) for thing in shared]
            for _ in range(n):
                with contextlib.suppress(TypeError, ValueError):
                    softqam.demodulate(symbols, noise_var=noise, **arguments)
            gpu.result_of(out)
            gc.collect()
            after = [sys.getrefcount(thing) for thing in shared]
        assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)


def test_what_dlpack_cannot_say(rng, gpu):
    """C does not take it: a call goes the other way, where PyTorch refuses it in its own words."""
    library = _gpu.in_c.get(gpu.Array)
    if not hasattr(gpu, "torch") or library is None:
        pytest.skip("not PyTorch's exchange API")
    same = lambda array: gpu.view(array, lambda a: a)
    values, n0 = make_symbols(rng, 4), np.ones(4, np.float32)
    symbols, noise, out = map(gpu.to_gpu, (values, n0, np.zeros(32, np.float32)))
    negative = same(same(gpu.to_gpu(np.zeros(32, np.complex64)).conj()).imag)
    assert negative.is_neg()
    demodulator = softqam.Demodulator(output="f32")

    def in_c(symbols=symbols, noise_var=noise, gain=None, out=out):
        return demodulator._core.device_of_library(library, symbols, noise_var, gain, (None, 0, None, None, None, False), out)

    assert in_c() is out
    for wrong, words, without_capsules in [
        ({"symbols": same(symbols.conj())}, "conjugate", True),
        ({"symbols": same(symbols.clone().requires_grad_())}, "gradient", True),
        ({"noise_var": same(noise.clone().requires_grad_())}, "gradient", True),
        ({"noise_var": same(negative[:4])}, "negative", True),
        ({"out": same(out.clone().requires_grad_())}, "gradient", False),
        ({"out": negative}, "negative", False),
        ({"symbols": symbols.to_sparse()}, "layout|sparse", False),
        ({"noise_var": noise.to_sparse()}, "layout|sparse", False),
        ({"gain": same(noise.clone().requires_grad_())}, "gradient", True),
        ({"gain": 0.5}, None, False),
        ({"noise_var": gpu.torch.nn.Parameter(noise.as_subclass(gpu.torch.Tensor), requires_grad=False)}, None, False),
    ]:
        assert in_c(**wrong) is None
        if words and (without_capsules or gpu.makes_capsules):
            with pytest.raises((BufferError, TypeError, ValueError), match=words):
                demodulator(**{"symbols": symbols, "noise_var": noise, "out": out, **wrong})
    assert in_c(gpu.to_gpu(gpu.result_of(symbols.conj().resolve_conj()))) is out
    assert_bytes(gpu.result_of(out), softqam.demodulate(values.conj(), noise_var=n0, output="f32"))
