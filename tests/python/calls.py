# SPDX-License-Identifier: MIT
"""Random calls of demodulate(), and the same values in other memory."""
import numpy as np
from symbols import LLRS, MODULATIONS, make_gain, make_noise, make_symbols

import softqam

DTYPES = ["complex64", "float32", "float16", "int16", "int8"]


class Call:
    """A call's arrays, contiguous, with its other arguments; what it must give is made codeword by codeword."""

    def __init__(self, rng):
        self.modulation = str(rng.choice(list(MODULATIONS)))
        self.output = str(rng.choice(LLRS))
        self.layers = None if self.modulation == "pi2-bpsk" or rng.random() < 0.3 else int(rng.integers(1, 5))
        layers, dtype = self.layers or 1, str(rng.choice(DTYPES))
        self.batch = tuple(rng.integers(1, 4, rng.integers(0, 3)).tolist())
        n = int(rng.choice([2, 7, 60, 300, 3000]))
        self.shape = (*self.batch, *([layers] if self.layers else []), n)
        n_all = int(np.prod(self.shape))
        symbols = make_symbols(rng, n_all, dtype)
        self.symbols = symbols.reshape(*self.shape, *symbols.shape[1:])
        self.noise = self.part(rng, make_noise(rng, n_all))
        self.gain = self.part(rng, make_gain(rng, n_all)) if rng.random() < 0.5 else None
        first_symbol = layers * int(rng.integers(0, 50))
        self.options = {"first_symbol": first_symbol}
        if rng.random() < 0.5:
            many = self.batch and rng.random() < 0.5
            self.options["c_init"] = rng.integers(0, 2**31, self.batch) if many else int(rng.integers(2**31))
        if (kind := rng.random()) < 0.3:
            self.options["planes"] = layers * int(rng.integers(1, 2 * n + 1))
        elif kind < 0.6:
            n_bits = (first_symbol + n * layers + 7 * layers) * MODULATIONS[self.modulation]
            self.options["codeword"] = softqam.Codeword(n_bits, self.modulation, layers, int(rng.integers(1, 4)), 100, int(rng.integers(100)), 60, 20)

    def part(self, rng, values):
        """Values along some of the axes."""
        kept = tuple(slice(None if rng.random() < 0.7 else 1) for _ in self.shape)
        return np.ascontiguousarray(values.reshape(self.shape)[kept])

    def __call__(self, symbols, noise, gain, **more):
        return softqam.demodulate(symbols, self.modulation, noise, gain=gain, layers=self.layers, output=self.output, **self.options, **more)

    def expected(self):
        """Codeword by codeword, in the codeword's order unless soft buffers need the layers."""
        noise, gain = (np.broadcast_to(1 if array is None else array, self.shape).astype(np.float32) for array in (self.noise, self.gain))
        rows = []
        for at in np.ndindex(self.batch):
            options = dict(self.options)
            if np.ndim(options.get("c_init", 0)):
                options["c_init"] = int(options["c_init"][at])
            arrays, layers = [self.symbols[at], noise[at], gain[at]], self.layers
            if self.layers and "codeword" not in options:
                arrays, layers = [np.swapaxes(array, 0, 1).reshape(-1, *array.shape[2:]) for array in arrays], None
            s, n0, g = map(np.ascontiguousarray, arrays)
            rows.append(softqam.demodulate(s, self.modulation, n0, gain=None if self.gain is None else g, layers=layers,
                                           output=self.output, **options))  # fmt: skip
        return np.array(rows).reshape(*self.batch, *rows[0].shape)


def arrangement(rng, array, backwards=True, last=0):
    """Memory whose axes, but for the `last` ones, have any order, gaps and direction; and the view of it with these values."""
    order = [*rng.permutation(array.ndim - last), *range(array.ndim - last, array.ndim)] if rng.random() < 0.7 else range(array.ndim)
    steps = [int(rng.choice([1, 1, 1, 2, 3])) for _ in range(array.ndim - last)] + [1] * last
    signs = [int(rng.choice([1, 1, -1])) if backwards else 1 for _ in steps]
    memory = np.zeros([n * step for n, step in zip(array.transpose(order).shape, steps)], array.dtype)

    def view(memory):
        """Returns a view, of NumPy or PyTorch."""
        result = memory[tuple(slice(None, None, step) for step in steps)]
        result = result[tuple(slice(None, None, sign) for sign in signs)] if backwards else result
        return getattr(result, "permute", result.transpose)(*map(int, np.argsort(order)))

    view(memory)[...] = array
    return memory, view


def arrange(rng, array):
    memory, view = arrangement(rng, array)
    return view(memory)


def disguise(rng, array):
    """The same numbers in what NumPy converts: wider, of the other byte order, unaligned, among other fields."""
    kind = rng.integers(6)
    if kind == 0 and array.dtype in (np.complex64, np.float32) and array.shape[-1:] != (2,):
        with np.errstate(all="ignore"):
            return array.astype(complex if array.dtype.kind == "c" else float)
    if kind == 1:
        return array.astype(array.dtype.newbyteorder(">"))
    if kind == 2:
        return np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    if kind == 3:
        records = np.zeros(array.shape, [("before", "i1"), ("value", array.dtype), ("after", "i2")])
        records["value"] = array
        return records["value"]
    return array
