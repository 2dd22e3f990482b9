/* SPDX-License-Identifier: MIT */
/* Calls of one large segment in device memory give the CPU's bytes and write nothing else: every combination of layers,
 * scrambling and bit planes, of all of it or of its code blocks, of formats and of modulations. Large ones of floats
 * and halves have kernels of their own, smaller ones and all others the kernel of segments; both sides of where they
 * change are looked at. */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"
#include "llr_fixture.h"

enum { STREAM_CODEWORDS = 70, MOST_PLACES = 4, GAP = 2 };

enum { DESCRAMBLED = 1, PLANES = 2, BLOCKS = 4, HOWS = 6 };

/* Memory of the largest call. */
typedef struct codeword_memory {
    device_slot slot;
    size_t n_most;
    harness_random random;
} codeword_memory;

typedef struct codeword_call {
    softqam_modulation modulation;
    unsigned n_layers;
    unsigned how;
    size_t n_symbols;
} codeword_call;

/* 32 symbols for each thread that the device can hold: so many that a block takes more tiles than a thread has groups
 * on their way, and all its warps write the scrambling sequence. */
static void open_memory(codeword_memory *self, softqam_input_format in, softqam_output_format out)
{
    int multiprocessors = 0, threads = 0;
    CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    self->n_most = (size_t)multiprocessors * (size_t)threads * 32 + 4 * 997;
    self->random = harness_random_stream(STREAM_CODEWORDS);
    harness_setup setup = harness_default_setup();
    setup.demodulator.input_format = in;
    setup.demodulator.output_format = out;
    const size_t n_values = HARNESS_MAX_SYMBOL_BITS * (self->n_most + GAP);
    device_slot_open(&self->slot, setup, self->n_most + 16 * MOST_PLACES,
                     n_values * softqam_output_nbytes(out, SOFTQAM_MODULATION_BPSK, 1) + DEVICE_MARGIN, &self->random);
}

/* All of a codeword, its code blocks one behind the other or further apart. */
static softqam_codeword codeword_of(codeword_memory *self, const codeword_call *call)
{
    const size_t bits = softqam_bits_per_symbol(call->modulation), elements = call->n_symbols / call->n_layers;
    softqam_codeword codeword = {
        .n_bits = call->n_symbols * bits,
        .n_code_blocks = 1 + (uint32_t)(elements / 300),
        .deinterleave = 1,
        .buffers = self->slot.expected.host,
    };
    if (harness_random_below(&self->random, 2) && call->n_symbols < self->n_most / 8)
        codeword.block_stride = (elements / codeword.n_code_blocks + 1) * call->n_layers * bits + 6;
    return codeword;
}

/* The values that a segment may write among. */
static size_t n_values_of(const codeword_call *call, const softqam_segment *segment)
{
    const softqam_codeword *codeword = &segment->codeword;
    if (codeword->n_code_blocks)
        return codeword->block_stride ? codeword->block_stride * codeword->n_code_blocks : codeword->n_bits;
    return softqam_bits_per_symbol(call->modulation) *
           (segment->plane_stride ? segment->plane_stride : segment->n_symbols);
}

/* Layer k: of one layer at 16 bytes; of several at a symbol each, apart or interleaved. */
static void lay_out_layer(codeword_memory *self, const codeword_call *call, unsigned k, softqam_segment *segment)
{
    const size_t nbytes = softqam_input_symbol_nbytes(self->slot.in);
    const size_t n_layer = call->n_symbols / call->n_layers;
    const size_t apart = call->n_layers > 1 ? harness_random_below(&self->random, 16) : 16;
    const bool is_interleaved = segment->symbol_stride > 1;
    const size_t first = is_interleaved ? k : k * (n_layer + 16) + apart;
    const size_t first_noise = is_interleaved ? k : k * (n_layer + 16) + apart / 2;
    segment->layers[k] = (softqam_layer){.symbols = self->slot.symbols.host + first * nbytes,
                                         .noise_var = (float *)(void *)self->slot.noise.host + first_noise};
}

/* One noise value, or one a symbol. */
static void lay_out(codeword_memory *self, const codeword_call *call, softqam_segment *segment)
{
    harness_random *random = &self->random;
    *segment = (softqam_segment){
        .n_symbols = call->n_symbols,
        .first_symbol = harness_random_below(random, 4) ? call->n_layers * (uint64_t)harness_random_u32(random)
                                                        : soft_far_position(call->modulation, call->n_layers),
        .out = self->slot.expected.host,
        .noise_stride = harness_random_below(random, 4) ? 1 : 0,
        .n_layers = call->n_layers,
        .modulation = call->modulation,
        .noise_form = harness_random_below(random, 2) ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0,
    };
    if (call->how & DESCRAMBLED) {
        segment->descramble = 1;
        segment->c_init = harness_random_u32(random) >> 1;
    }
    if (call->how & PLANES)
        segment->plane_stride = call->n_symbols + call->n_symbols % 2 + harness_random_below(random, GAP);
    if (call->n_layers > 1 && harness_random_below(random, 2))
        segment->symbol_stride = segment->noise_stride = call->n_layers;
    if (call->how & BLOCKS) {
        segment->scrambling_offset = segment->first_symbol;
        segment->first_symbol = 0;
        segment->out = NULL;
        segment->codeword = codeword_of(self, call);
    }
    for (unsigned k = 0; k < call->n_layers; k++)
        lay_out_layer(self, call, k, segment);
}

static void check_call(codeword_memory *self, const codeword_call *call)
{
    device_slot *slot = &self->slot;
    softqam_segment segment;
    lay_out(self, call, &segment);
    const size_t looked_at = n_values_of(call, &segment) * slot->value_nbytes + DEVICE_MARGIN;
    const softqam_segment copy = device_slot_expect(slot, &segment, looked_at);
    if (softqam_cuda_demodulate_segments(slot->cuda, &copy, 1, 0) != SOFTQAM_OK)
        fail_msg("softqam_cuda_demodulate_segments: %s", softqam_error_message());
    const size_t at = device_slot_compare(slot);
    if (at == looked_at)
        return;
    fail_msg("%s to %s, modulation %d, %zu symbols, %u layers, stride %zu, planes %zu, %u code blocks, descramble %u: "
             "byte %zu is %d, not %d",
             harness_input_names[slot->in], harness_output_names[slot->out], (int)call->modulation, call->n_symbols,
             call->n_layers, segment.symbol_stride, segment.plane_stride, (unsigned)segment.codeword.n_code_blocks,
             segment.descramble, at, slot->got[at], slot->expected.host[at]);
}

/* Calls of each number of layers, on either side of where the kernel changes, a quarter of a symbol for each thread
 * that the device holds at once; and of one number of layers the largest. */
static void check_modulation(codeword_memory *self, codeword_call call)
{
    const unsigned most_layers = call.modulation == SOFTQAM_MODULATION_PI2_BPSK ? 1 : SOFTQAM_MAX_LAYERS;
    for (call.n_layers = 1; call.n_layers <= most_layers; call.n_layers++)
        for (call.how = 0; call.how < HOWS; call.how++) {
            const size_t large = self->n_most / 48;
            const size_t small = large / (8 + harness_random_below(&self->random, 8));
            const bool is_largest = (call.how & DESCRAMBLED) && call.n_layers == 1u << call.modulation % 3;
            const size_t counts[] = {small, large, is_largest ? self->n_most : 0};
            for (size_t k = 0; k < HARNESS_COUNT(counts); k++) {
                call.n_symbols = counts[k] / call.n_layers * call.n_layers;
                if (call.n_symbols > 0)
                    check_call(self, &call);
            }
        }
}

_Static_assert(HARNESS_N_LLR_FORMATS == 4, "all but f32, for which open_memory() has no room");
static void check_input(softqam_input_format in)
{
    for (int out = SOFTQAM_OUTPUT_S8; out <= SOFTQAM_OUTPUT_F16; out++) {
        codeword_memory self;
        open_memory(&self, in, (softqam_output_format)out);
        for (int m = SOFTQAM_MODULATION_BPSK; m <= HARNESS_N_MODULATIONS; m++)
            check_modulation(&self, (codeword_call){.modulation = (softqam_modulation)m});
        device_slot_close(&self.slot);
    }
}

HARNESS_TEST(test_floats) { check_input(SOFTQAM_INPUT_CF32); }

HARNESS_TEST(test_halves) { check_input(SOFTQAM_INPUT_CF16); }
