# SPDX-License-Identifier: MIT
"""softqam's block in a flowgraph of GNU Radio: the Python package's bytes, tags, noise of each symbol. Runs under the Python
that GNU Radio belongs to.

    test_gnuradio.py FOLDER_OF_THE_BLOCK
"""
import sys
import unittest

try:
    import numpy as np
    import pmt
    from gnuradio import blocks, gr

    import softqam
except ImportError as error:
    print(f"skipped, {error}")
    sys.exit(77)

sys.path.insert(0, sys.argv[1])
from softqam_demapper import softqam_demapper  # noqa: E402

N_SYMBOLS = 20_000
MODULATIONS = ("bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam")
SINKS = {"f32": blocks.vector_sink_f, "s8": blocks.vector_sink_b, "u8": blocks.vector_sink_b}
DTYPES = {"f32": np.float32, "s8": np.int8, "u8": np.uint8}
random = np.random.default_rng(20240)
SYMBOLS = (random.normal(0, 0.7, (N_SYMBOLS, 2)) @ [1, 1j]).astype(np.complex64)
NOISE = (10 ** random.uniform(-3, 0, N_SYMBOLS)).astype(np.float32)


def tag(offset, key, value):
    result = gr.tag_t()
    result.offset, result.key, result.value = offset, pmt.intern(key), value
    return result


def run(demapper, output, tags=(), noise=None):
    """Returns what comes out, and its tags."""
    flowgraph = gr.top_block()
    source = blocks.vector_source_c(SYMBOLS.tolist(), False, 1, tags)
    sink = SINKS[output]()
    flowgraph.connect(source, demapper, sink)
    if noise is not None:
        flowgraph.connect(blocks.vector_source_f(noise.tolist()), (demapper, 1))
    flowgraph.run()
    return np.array(sink.data(), np.float32 if output == "f32" else np.int32).astype(DTYPES[output]), sink.tags()


class Block(unittest.TestCase):
    def assert_bytes(self, got, expected):
        self.assertEqual(got.dtype, expected.dtype)
        self.assertTrue(np.array_equal(got.view(np.uint8), expected.view(np.uint8)))

    def test_bytes(self):
        for modulation in MODULATIONS:
            for output in ["f32", "s8"] + ["u8"] * (modulation == "256qam"):
                noise = None if output == "u8" else 0.02
                got, _ = run(softqam_demapper(modulation, output, 0.02, sign=0), output)
                with self.subTest(modulation=modulation, output=output):
                    self.assert_bytes(got, softqam.demodulate(SYMBOLS, modulation, noise, output=output))

    def test_sign_and_settings(self):
        got, _ = run(softqam_demapper("64qam", "s8", 0.01, llr_scale=4, llr_limit=100), "s8")
        self.assert_bytes(got, softqam.demodulate(SYMBOLS, "64qam", 0.01, sign=1, llr_scale=4, llr_limit=100))

    def test_noise_of_each_symbol(self):
        tags = [tag(position, "note", pmt.PMT_T) for position in (1, 500, 501, 13000)]
        got, _ = run(softqam_demapper("256qam", "f32", noise_port=True), "f32", tags, NOISE)
        self.assert_bytes(got, softqam.demodulate(SYMBOLS, "256qam", NOISE, output="f32", sign=1))

    def test_noise_tags(self):
        positions = sorted(random.choice(N_SYMBOLS, 30, replace=False).tolist()) + [N_SYMBOLS - 1]
        expected_noise = np.full(N_SYMBOLS, 0.5, np.float32)
        tags = []
        for n, position in enumerate(positions):
            expected_noise[position:] = np.float32(0.01 * (n + 1))
            tags.append(tag(position, "noise_var", pmt.from_double(0.01 * (n + 1))))
        got, _ = run(softqam_demapper("16qam", "f32", 0.5), "f32", tags)
        self.assert_bytes(got, softqam.demodulate(SYMBOLS, "16qam", expected_noise, output="f32", sign=1))

    def test_codewords(self):
        cuts = {0: 1234, 4001: None, 4002: 5, 12345: 2**31 - 1}
        tags = [tag(at, "c_init", pmt.PMT_NIL if c_init is None else pmt.from_long(c_init)) for at, c_init in cuts.items()]
        for modulation in ("pi2-bpsk", "qpsk", "256qam"):
            got, _ = run(softqam_demapper(modulation, "s8", 0.1), "s8", tags)
            ends = [*list(cuts)[1:], N_SYMBOLS]
            expected = [softqam.demodulate(SYMBOLS[at:end], modulation, 0.1, sign=1, c_init=c_init)
                        for (at, c_init), end in zip(cuts.items(), ends)]  # fmt: skip
            with self.subTest(modulation=modulation):
                self.assert_bytes(got, np.concatenate(expected))

    def test_tags_come_out(self):
        tags = [tag(0, "packet_len", pmt.from_long(100)), tag(7777, "note", pmt.intern("here")), tag(9000, "noise_var", pmt.from_double(1))]
        _, out = run(softqam_demapper("64qam", "f32", 0.1), "f32", tags)
        found = {(t.offset, pmt.symbol_to_string(t.key), str(t.value)) for t in out}
        self.assertEqual(found, {(0, "packet_len", "600"), (7777 * 6, "note", "here"), (9000 * 6, "noise_var", "1")})

    def test_what_is_refused(self):
        for settings in ({"modulation": "8psk"}, {"output": "f64"}, {"modulation": "qpsk", "output": "u8"}, {"sign": 2}):
            with self.assertRaises(ValueError):
                softqam_demapper(**settings)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
