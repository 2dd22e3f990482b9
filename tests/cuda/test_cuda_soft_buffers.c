/* SPDX-License-Identifier: MIT */
/* Codewords that go to soft buffers, in device memory: every modulation, layers, formats, redundancy versions, fillers,
 * repetition, groups and buffers of any distance or none, cut into segments anywhere, several codewords in turns, first
 * transmissions and retransmissions. What must come is the CPU's, which llr/test_soft_buffers.c holds to the reference.
 */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

enum { STREAM_ARGUMENTS = 80, STREAM_DESCRIPTORS, STREAM_GRAPH };

enum {
    MAX_SEGMENTS = 200,
    MAX_BLOCKS = 12,
    MAX_CODEWORDS = 3,
    MOST_BITS = 1 << 16, /* of a codeword */
    N_SYMBOLS = 1 << 19,
    OUT_NBYTES = 1 << 23,
    ROUNDS = 12
};

/* A codeword, and where its soft buffers lie. */
typedef struct test_codeword {
    softqam_segment segment;      /* all of it, but for the layers' places: to host memory */
    size_t n[MAX_BLOCKS];         /* bits */
    uint8_t *buffers[MAX_BLOCKS]; /* host memory; NULL: dropped */
    void **pointers;              /* the same, as block_buffers */
} test_codeword;

typedef struct fixture {
    device_slot slot;
    harness_random random;
    size_t end; /* of the outputs */
    size_t n_codewords;
    test_codeword codewords[MAX_CODEWORDS];
} fixture;

static size_t below(fixture *self, size_t n) { return harness_random_below(&self->random, n); }

/* Codewords. */

static void choose_filler_value(fixture *self, softqam_codeword *codeword)
{
    _Static_assert(HARNESS_N_LLR_FORMATS == 4, "values of each");
    static const float values[HARNESS_N_OUTPUT_FORMATS][3] = {[SOFTQAM_OUTPUT_S8] = {0, 127, -128},
                                                              [SOFTQAM_OUTPUT_S16] = {0, 32767, -5},
                                                              [SOFTQAM_OUTPUT_F16] = {0, 10000, 0.1f},
                                                              [SOFTQAM_OUTPUT_F32] = {0, 1e30f, -0.0f}};
    codeword->filler_value = values[self->slot.out][below(self, 3)];
}

/* Of the usual size, just full, or so small that LLRs are repeated, up to hundreds of times. */
static void choose_buffer(fixture *self, softqam_codeword *codeword, size_t longest)
{
    size_t n_data = longest;
    switch (below(self, 6)) {
    case 0:
    case 1:
        n_data += below(self, 2 * longest);
        break;
    case 2:
        break;
    case 3:
        n_data = 1 + below(self, 3);
        break;
    default:
        n_data = 1 + longest / (1 + below(self, 4)) + below(self, 20);
    }
    codeword->n_fillers = below(self, 3) ? (uint32_t)below(self, n_data / 2 + 2) : 0;
    codeword->n_cb = (uint32_t)n_data + codeword->n_fillers;
    codeword->first_filler = (uint32_t)below(self, n_data + 1);
    codeword->k0 = (uint32_t)below(self, codeword->n_cb);
    if (codeword->n_fillers && below(self, 4) == 0)
        codeword->k0 = codeword->first_filler + (uint32_t)below(self, codeword->n_fillers);
    choose_filler_value(self, codeword);
}

static void choose_groups(fixture *self, softqam_codeword *codeword)
{
    if (below(self, 3))
        return;
    codeword->n_cbg = 1 + (uint32_t)below(self, 32);
    const uint32_t n_groups = codeword->n_cbg < codeword->n_code_blocks ? codeword->n_cbg : codeword->n_code_blocks;
    codeword->cbgti = harness_random_u32(&self->random) & ((1u << n_groups) - 1);
    codeword->cbgti |= 1u << below(self, n_groups);
}

static void lay_out_buffers(fixture *self, test_codeword *c)
{
    softqam_codeword *codeword = &c->segment.codeword;
    const size_t way = below(self, 3);
    const size_t distance = codeword->n_cb + (way ? below(self, 40) : 0);
    self->end += self->slot.value_nbytes * below(self, 40);
    for (uint32_t r = 0, j = 0; r < codeword->n_code_blocks; r++) {
        c->buffers[r] = self->slot.expected + self->end + (way ? r : j) * distance * self->slot.value_nbytes;
        j += c->n[r] > 0 || codeword->n_cbg == 0; /* transmitted, or of no symbols and behind no other */
        if (way == 2 && below(self, 4) == 0)
            c->buffers[r] = NULL;
        c->pointers[r] = c->buffers[r];
    }
    codeword->buffers = way == 2 ? NULL : self->slot.expected + self->end;
    codeword->block_stride = way == 1 ? distance : 0;
    codeword->block_buffers = way == 2 ? c->pointers : NULL;
    device_mirror_copy_pointers(&self->slot.mirrors, c->pointers, codeword->n_code_blocks);
    self->end += codeword->n_code_blocks * distance * self->slot.value_nbytes;
    assert_true(self->end < OUT_NBYTES);
}

/* Modulation, layers and code blocks of a codeword; for a retransmission the soft buffers are those that there are. */
static size_t choose_bits(fixture *self, test_codeword *c)
{
    softqam_segment *segment = &c->segment;
    softqam_codeword *codeword = &segment->codeword;
    segment->modulation = (softqam_modulation)(1 + below(self, HARNESS_N_MODULATIONS));
    segment->n_layers =
        segment->modulation == SOFTQAM_MODULATION_PI2_BPSK ? 1 : 1 + (unsigned)below(self, SOFTQAM_MAX_LAYERS);
    const size_t n_bits = softqam_bits_per_symbol(segment->modulation) * segment->n_layers;
    const size_t most = MOST_BITS / n_bits / codeword->n_code_blocks >> below(self, 10);
    codeword->n_bits = (codeword->n_code_blocks * (1 + below(self, most + 1)) + below(self, 3)) * n_bits;
    segment->descramble = (unsigned)below(self, 2);
    segment->c_init = segment->descramble ? harness_random_u32(&self->random) >> 1 : 0;
    segment->scrambling_offset = below(self, 2) ? segment->n_layers * (uint64_t)below(self, 1 << 20) : 0;
    segment->noise_form = below(self, 2) ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    size_t longest = 0;
    for (uint32_t r = 0; r < codeword->n_code_blocks; r++) {
        uint64_t first, n;
        softqam_codeword whole = *codeword; /* n_cb is not chosen yet */
        whole.n_cb = whole.n_fillers = whole.first_filler = whole.k0 = whole.combine = 0;
        whole.block_stride = 0;
        whole.filler_value = 0;
        assert_int_equal(softqam_codeword_block(&whole, (unsigned)softqam_bits_per_symbol(segment->modulation),
                                                segment->n_layers, r, &first, &n),
                         SOFTQAM_OK);
        c->n[r] = n;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static void choose_codeword(fixture *self, test_codeword *c)
{
    softqam_codeword *codeword = &c->segment.codeword;
    *c = (test_codeword){.pointers = c->pointers};
    codeword->deinterleave = 1;
    codeword->n_code_blocks = 1 + (uint32_t)below(self, MAX_BLOCKS);
    choose_groups(self, codeword);
    choose_buffer(self, codeword, choose_bits(self, c));
    lay_out_buffers(self, c);
}

/* Segments. */

static void lay_out_layers(fixture *self, softqam_segment *segment)
{
    const size_t nbytes = softqam_input_symbol_nbytes(self->slot.in);
    const bool is_interleaved = below(self, 2) != 0, is_apart = !is_interleaved && below(self, 3) == 0;
    segment->symbol_stride = is_interleaved ? segment->n_layers + below(self, 2) : 1;
    segment->noise_stride = is_interleaved ? segment->symbol_stride : below(self, 3) ? 1 : 0;
    const size_t room = N_SYMBOLS / 2 - (segment->n_symbols + 1) * 2;
    const size_t first = below(self, room);
    const bool has_gains = below(self, 3) == 0;
    for (unsigned k = 0; k < segment->n_layers; k++) {
        const size_t at = is_interleaved ? first + k : below(self, room);
        const size_t at_q = below(self, room);
        segment->layers[k] = (softqam_layer){.symbols = self->slot.symbols + at * nbytes / (is_apart ? 2 : 1),
                                             .symbols_q = is_apart ? self->slot.symbols + at_q * nbytes / 2 : NULL,
                                             .noise_var = self->slot.noise + at,
                                             .gain = has_gains ? self->slot.gains + at : NULL};
    }
}

/* n symbols of a codeword from symbol `first` on. */
static softqam_segment *add_segment(fixture *self, const test_codeword *c, size_t first, size_t n)
{
    softqam_segment *segment = &self->slot.segments[self->slot.n++];
    assert_true(self->slot.n <= MAX_SEGMENTS);
    *segment = c->segment;
    segment->first_symbol = first;
    segment->n_symbols = n;
    lay_out_layers(self, segment);
    return segment;
}

/* One that does not belong to any. */
static void add_plain_segment(fixture *self)
{
    const test_codeword *c = &self->codewords[0];
    softqam_segment *segment = add_segment(self, c, 0, (1 + below(self, 300)) * c->segment.n_layers);
    segment->codeword = (softqam_codeword){0};
    segment->out = self->slot.expected + self->end;
    self->end += segment->n_symbols * softqam_bits_per_symbol(segment->modulation) * self->slot.value_nbytes;
}

/* The codewords' segments in turns, each cut at random places: all of it at once, or down to a resource element. */
static void cut(fixture *self)
{
    size_t done[MAX_CODEWORDS] = {0};
    const size_t parts = 1 + below(self, 12);
    bool is_done = false;
    self->slot.n = 0;
    while (!is_done) {
        is_done = true;
        for (size_t k = 0; k < self->n_codewords; k++) {
            const test_codeword *c = &self->codewords[k];
            const size_t n_layers = c->segment.n_layers;
            const size_t n_all = c->segment.codeword.n_bits / softqam_bits_per_symbol(c->segment.modulation);
            if (done[k] == n_all)
                continue;
            const size_t left = (n_all - done[k]) / n_layers, part = n_all / n_layers / parts + 1;
            size_t n = parts == 1 || self->slot.n > MAX_SEGMENTS - 40 ? left : 1 + below(self, 2 * part);
            n = n < left ? n : left;
            add_segment(self, c, done[k], n * n_layers);
            done[k] += n * n_layers;
            is_done = false;
            if (below(self, 8) == 0 && self->slot.n < MAX_SEGMENTS - 40)
                add_plain_segment(self);
        }
    }
}

/* A retransmission of other size, modulation and redundancy version to the same buffers. */
static void retransmit(fixture *self, test_codeword *c)
{
    softqam_codeword *codeword = &c->segment.codeword;
    (void)choose_bits(self, c);
    codeword->combine = 1;
    codeword->k0 = (uint32_t)below(self, codeword->n_cb);
}

static fixture *open_fixture(softqam_input_format in, softqam_output_format out, uint32_t stream)
{
    _Static_assert(HARNESS_N_LLR_FORMATS == 4, "limits of each");
    static const int limits[HARNESS_N_OUTPUT_FORMATS][2] = {
        [SOFTQAM_OUTPUT_S8] = {0, 120}, [SOFTQAM_OUTPUT_S16] = {0, 500}, [SOFTQAM_OUTPUT_F16] = {0, 10000}};
    static const device_slot sizes = {
        .n_components = 2 * N_SYMBOLS, .n_floats = N_SYMBOLS, .out_nbytes = OUT_NBYTES, .max_segments = MAX_SEGMENTS};
    fixture *self = harness_alloc(sizeof *self);
    *self = (fixture){.random = harness_random_stream(stream << 8 | in << 4 | out)};
    harness_setup setup = harness_default_setup();
    setup.demodulator.input_format = in;
    setup.demodulator.output_format = out;
    setup.demodulator.llr_limit = limits[out][below(self, 2)];
    device_slot_open(&self->slot, setup, &sizes, MAX_CODEWORDS * MAX_BLOCKS);
    for (size_t k = 0; k < MAX_CODEWORDS; k++)
        self->codewords[k].pointers = self->slot.pointers + k * MAX_BLOCKS;
    device_slot_fill(&self->slot, &self->random);
    return self;
}

static void close_fixture(fixture *self)
{
    device_slot_close(&self->slot);
    free(self);
}

/* New codewords whose soft buffers have had any bits before, or retransmissions of those that there are. */
static void choose(fixture *self, bool is_retransmission)
{
    if (is_retransmission) {
        for (size_t k = 0; k < self->n_codewords; k++)
            retransmit(self, &self->codewords[k]);
    } else {
        self->end = 64;
        self->n_codewords = 1 + below(self, MAX_CODEWORDS);
        for (size_t k = 0; k < self->n_codewords; k++) {
            choose_codeword(self, &self->codewords[k]);
            /* Half of them are added to those bits, of which some are values beyond the limit. */
            self->codewords[k].segment.codeword.combine = (unsigned)below(self, 2);
        }
        harness_random_fill(&self->random, self->slot.expected, OUT_NBYTES);
        device_mirror_copy(&self->slot.mirrors, self->slot.expected, OUT_NBYTES);
    }
    cut(self);
    assert_true(self->end < OUT_NBYTES);
    device_slot_copy_segments(&self->slot);
}

static void check(fixture *self, const char *what)
{
    device_slot *slot = &self->slot;
    harness_demodulate_segments(slot->cpu, slot->segments, slot->n);
    const size_t at = device_slot_compare(slot);
    if (at == OUT_NBYTES)
        return;
    for (size_t k = 0; k < self->n_codewords; k++) {
        const test_codeword *c = &self->codewords[k];
        const softqam_codeword *codeword = &c->segment.codeword;
        for (size_t r = 0; r < codeword->n_code_blocks; r++) {
            const ptrdiff_t behind = slot->expected + at - c->buffers[r];
            if (!c->buffers[r] || behind < 0 || behind >= (ptrdiff_t)(codeword->n_cb * slot->value_nbytes))
                continue;
            fail_msg("%s, %s to %s, %zu segments, codeword %zu of %zu, modulation %d, %u layers, block %zu of %u: byte "
                     "%td is %d, not %d; n_cb %u, k0 %u, fillers %u from %u on, %zu bits, combine %u",
                     what, harness_input_names[slot->in], harness_output_names[slot->out], slot->n, k,
                     self->n_codewords, (int)c->segment.modulation, c->segment.n_layers, r,
                     (unsigned)codeword->n_code_blocks, behind, slot->got[at], slot->expected[at],
                     (unsigned)codeword->n_cb, (unsigned)codeword->k0, (unsigned)codeword->n_fillers,
                     (unsigned)codeword->first_filler, c->n[r], (unsigned)codeword->combine);
        }
    }
    fail_msg("%s, %s to %s: byte %zu of %zu, outside of soft buffers, is %d, not %d", what,
             harness_input_names[slot->in], harness_output_names[slot->out], at, self->end, slot->got[at],
             slot->expected[at]);
}

typedef void way(device_slot *slot);

static void by_arguments(device_slot *slot) { device_slot_by_arguments(slot, 0); }

static void by_descriptors(device_slot *slot)
{
    device_slot_by_descriptors(slot, (unsigned)slot->n, slot->n_symbols, 0);
}

/* Each codeword once, and then again. */
static void check_way(fixture *self, const char *what, way *demodulate)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int transmission = 0; transmission < 2; transmission++) {
            choose(self, transmission > 0);
            demodulate(&self->slot);
            check(self, what);
        }
}

static void for_all_formats(uint32_t stream, const char *what, way *demodulate)
{
    for (int in = 0; in < HARNESS_N_INPUT_FORMATS; in++)
        for (int k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
            fixture *self = open_fixture((softqam_input_format)in, harness_llr_formats[k], stream);
            check_way(self, what, demodulate);
            close_fixture(self);
        }
}

HARNESS_TEST(test_arguments) { for_all_formats(STREAM_ARGUMENTS, "arguments", by_arguments); }

HARNESS_TEST(test_descriptors) { for_all_formats(STREAM_DESCRIPTORS, "descriptors", by_descriptors); }

/* One graph for changing descriptors. */
HARNESS_TEST(test_graph)
{
    const cudaStream_t stream = device_open_stream();
    for (int k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
        fixture *self = open_fixture(SOFTQAM_INPUT_CF16, harness_llr_formats[k], STREAM_GRAPH);
        size_t n_nodes = 0;
        device_begin_capture(self->slot.cuda, stream);
        device_slot_by_descriptors(&self->slot, MAX_SEGMENTS, MAX_CODEWORDS * MOST_BITS, stream);
        const cudaGraphExec_t executable = device_end_capture(stream, &n_nodes);
        for (int round = 0; round < ROUNDS; round++)
            for (int transmission = 0; transmission < 2; transmission++) {
                choose(self, transmission > 0);
                CUDA(cudaDeviceSynchronize());
                CUDA(cudaGraphLaunch(executable, stream));
                CUDA(cudaStreamSynchronize(stream));
                check(self, "a graph");
            }
        CUDA(cudaGraphExecDestroy(executable));
        close_fixture(self);
    }
    CUDA(cudaStreamDestroy(stream));
}
