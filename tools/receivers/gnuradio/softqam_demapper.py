# SPDX-License-Identifier: MIT
"""A block of GNU Radio: equalised symbols of a 5G NR modulation in, LLRs or soft bits out, by softqam."""
import numpy as np
import pmt
from gnuradio import gr

import softqam

TYPES = {"f32": np.float32, "s8": np.int8, "u8": np.uint8}


class softqam_demapper(gr.interp_block):
    """Complex symbols of unit mean energy in; for each, its bits' LLRs out, b0 first.

    modulation  "bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam" (3GPP TS 38.211)
    output      "f32": nats as float; "s8": steps of 1/llr_scale nat as signed bytes; "u8": soft bits of 256QAM as bytes,
                without noise variance, above 127 for bit 0
    noise_var   the variance N0 of the complex noise, until a tag changes it; not for "u8"
    sign        the bit that a positive LLR means: 1 as elsewhere in GNU Radio, 0 as in softqam-demod
    noise_port  a second input, float: N0 of each symbol, instead of noise_var
    llr_scale, llr_limit   of "s8", None for softqam's own

    Tags of the first input, by key:

    noise_var   a number: N0 from this symbol on
    c_init      a codeword begins with this symbol; an integer descrambles it with the Gold sequence of this c_init, nil does
                not. Positions in the codeword, of which pi/2-BPSK needs the parity, are counted from here
    length_tag  the key of the lengths of a tagged stream, which are multiplied by the bits of a symbol

    All tags come out at the first bit of their symbol.
    """

    def __init__(self, modulation="qpsk", output="f32", noise_var=1.0, sign=1, noise_port=False, llr_scale=None, llr_limit=None,
                 length_tag="packet_len"):  # fmt: skip
        if output not in TYPES:
            raise ValueError(f"output is {output!r}: it takes one of {', '.join(TYPES)}")
        settings = {"llr_scale": llr_scale, "llr_limit": llr_limit} if output == "s8" else {}
        settings["sign"] = 0 if output == "u8" else sign
        self.demodulator = softqam.Demodulator(modulation, output=output, threads=1, **settings)
        self.bits = self.demodulator.bits_per_symbol
        inputs = [np.complex64, np.float32] if noise_port else [np.complex64]
        gr.interp_block.__init__(self, name="softqam demapper", in_sig=inputs, out_sig=[TYPES[output]], interp=self.bits)
        self.noise_port = noise_port
        self.set_noise_var(noise_var)
        self.length_tag = pmt.intern(length_tag)
        self.c_init = None
        self.first_of_codeword = 0  # the item that the codeword began with
        self.set_tag_propagation_policy(gr.TPP_CUSTOM)

    def set_noise_var(self, noise_var):
        """Sets N0 from the next call of work() on: a callback for flowgraphs."""
        self.noise_var = float(noise_var)

    def _heed(self, tag):
        """Applies a tag, and returns the tag to send on."""
        key, value = tag.key, tag.value
        name = pmt.symbol_to_string(key) if pmt.is_symbol(key) else ""
        if name == "noise_var":
            if not pmt.is_real(value) and not pmt.is_integer(value):
                raise TypeError(f"tag noise_var at symbol {tag.offset} is {value}, not a number")
            self.noise_var = pmt.to_double(value)
        elif name == "c_init":
            if not pmt.is_null(value) and not pmt.is_integer(value):
                raise TypeError(f"tag c_init at symbol {tag.offset} is {value}, neither an integer nor nil")
            self.c_init = None if pmt.is_null(value) else pmt.to_long(value)
            self.first_of_codeword = tag.offset
        elif pmt.eq(key, self.length_tag) and pmt.is_integer(value):
            value = pmt.from_long(pmt.to_long(value) * self.bits)
        self.add_item_tag(0, tag.offset * self.bits, key, value, tag.srcid)

    def _demodulate(self, inputs, first, end, first_item, out):
        """Demodulates symbols `first` to `end` of this call, whose first is item `first_item` of the stream."""
        if first == end:
            return
        noise_var = inputs[1][first:end] if self.noise_port else self.noise_var
        if self.demodulator.output == "u8":
            options = {"noise_var": None}
        else:
            options = {"noise_var": noise_var, "c_init": self.c_init, "first_symbol": first_item + first - self.first_of_codeword}
        self.demodulator(inputs[0][first:end], out=out[first * self.bits : end * self.bits], **options)

    def work(self, input_items, output_items):
        out = output_items[0]
        n = len(out) // self.bits
        first_item, done = self.nitems_read(0), 0
        for tag in sorted(self.get_tags_in_window(0, 0, n), key=lambda tag: tag.offset):
            position = tag.offset - first_item
            self._demodulate(input_items, done, position, first_item, out)
            done = position
            self._heed(tag)
        self._demodulate(input_items, done, n, first_item, out)
        return n * self.bits
