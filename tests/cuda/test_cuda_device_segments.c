/* SPDX-License-Identifier: MIT */
/* Segments in device memory, of any modulation, layers, strides, planes, codewords, scrambling, noise, gains and
 * alignment together, give the CPU's bytes and write nothing else: as arguments, as descriptors in device memory, and
 * by graphs that are captured once, with the arguments, or with descriptors that change. */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"
#include "late_copy.h"

enum { STREAM_ARGUMENTS = 60, STREAM_DESCRIPTORS, STREAM_GRAPH, STREAM_CAPTURE, STREAM_LATE };

enum { MAX_CODE_BLOCKS = 40 };

enum { MAX_SEGMENTS = 400, MAX_SYMBOLS = 1500, N_COMPONENTS = 1 << 17, N_NOISE = 1 << 15, OUT_NBYTES = 1 << 26 };

static void open_slot(device_slot *self, softqam_input_format in, softqam_output_format out)
{
    const device_slot sizes = {
        .n_components = N_COMPONENTS, .n_floats = N_NOISE, .out_nbytes = OUT_NBYTES, .max_segments = MAX_SEGMENTS};
    harness_setup setup = harness_default_setup();
    setup.demodulator.input_format = in;
    setup.demodulator.output_format = out;
    setup.demodulator.input_scale = in == SOFTQAM_INPUT_CF32 ? 1.0f : 0.0f;
    if (out != SOFTQAM_OUTPUT_U8)
        setup.demodulator.noise = (softqam_noise)(in % 2);
    device_slot_open(self, setup, &sizes, (size_t)MAX_SEGMENTS * MAX_CODE_BLOCKS);
}

/* A layer anywhere in what there is to read; most symbols of a layer are four of MAX_SYMBOLS' strides apart. */
static void lay_out_layer(device_slot *self, harness_random *random, bool has_gains, softqam_layer *layer)
{
    const size_t nbytes = softqam_input_symbol_nbytes(self->in) / 2;
    const bool planes = harness_random_below(random, 3) == 0;
    const size_t first = harness_random_below(random, (N_COMPONENTS - 10 * MAX_SYMBOLS) / 2) * (planes ? 1 : 2);
    const size_t first_q = harness_random_below(random, N_COMPONENTS - 10 * MAX_SYMBOLS);
    const size_t first_noise = harness_random_below(random, N_NOISE - 4 * MAX_SYMBOLS);
    layer->symbols = self->symbols + first * nbytes;
    layer->symbols_q = planes ? self->symbols + first_q * nbytes : NULL;
    layer->noise_var = self->out == SOFTQAM_OUTPUT_U8 ? NULL : self->noise + first_noise;
    const size_t first_gain = harness_random_below(random, N_NOISE - 4 * MAX_SYMBOLS);
    layer->gain = has_gains ? self->gains + first_gain : NULL;
}

/* The layers as an equaliser writes them, a symbol from one to the next, or those that it has for one codeword of
 * several: of up to eight. */
static void interleave_layers(device_slot *self, harness_random *random, softqam_segment *segment, size_t n_layers)
{
    const size_t nbytes = softqam_input_symbol_nbytes(self->in);
    const size_t widest = n_layers > 1 ? 8 : 4; /* as far as lay_out_layer() has room */
    segment->symbol_stride = n_layers;
    if (harness_random_below(random, 2))
        segment->symbol_stride += harness_random_below(random, widest - n_layers + 1);
    segment->noise_stride = segment->symbol_stride;
    for (size_t k = 1; k < n_layers; k++) {
        segment->layers[k] = segment->layers[0];
        segment->layers[k].symbols = (const uint8_t *)segment->layers[0].symbols + k * nbytes;
        segment->layers[k].noise_var = segment->layers[0].noise_var + k;
        segment->layers[k].gain = segment->layers[0].gain ? segment->layers[0].gain + k : NULL;
    }
}

static void choose_llr_fields(device_slot *self, harness_random *random, softqam_segment *segment)
{
    static const softqam_noise_form forms[] = {SOFTQAM_NOISE_FORM_DEFAULT, SOFTQAM_NOISE_FORM_N0,
                                               SOFTQAM_NOISE_FORM_INVERSE};
    segment->modulation = (softqam_modulation)harness_random_below(random, HARNESS_N_MODULATIONS + 1);
    segment->noise_form = forms[harness_random_below(random, 3)];
    if (segment->modulation != SOFTQAM_MODULATION_PI2_BPSK)
        segment->n_layers = (unsigned)harness_random_below(random, SOFTQAM_MAX_LAYERS + 1);
    if (harness_random_below(random, 2) == 0) {
        segment->descramble = 1;
        segment->c_init = harness_random_below(random, 8) ? harness_random_u32(random) >> 1 : 0;
    }
    if (self->out == SOFTQAM_OUTPUT_S8 && harness_random_below(random, 4) == 0)
        segment->llr_scale = 2.5f;
}

/* Pointers to the code blocks instead of their distance, some of them NULL. */
static void lay_out_block_buffers(device_slot *self, harness_random *random, size_t k, softqam_segment *segment)
{
    const size_t nbytes = segment->codeword.block_stride * softqam_output_nbytes(self->out, SOFTQAM_MODULATION_BPSK, 1);
    void **pointers = self->pointers + k * MAX_CODE_BLOCKS;
    for (size_t r = 0; r < segment->codeword.n_code_blocks; r++) {
        const bool is_dropped = harness_random_below(random, 4) == 0;
        pointers[r] = is_dropped ? NULL : (uint8_t *)segment->codeword.buffers + r * nbytes;
    }
    segment->codeword.block_buffers = pointers;
    segment->codeword.buffers = NULL;
    segment->codeword.block_stride = 0;
    device_mirror_copy_pointers(&self->mirrors, pointers, segment->codeword.n_code_blocks);
}

/* Makes the segment part of a codeword that begins where its output would; the values that there is room for. */
static size_t lay_out_codeword(device_slot *self, harness_random *random, size_t k, softqam_segment *segment)
{
    const size_t n_layers = segment->n_layers ? segment->n_layers : 1;
    const size_t n_bits = softqam_bits_per_symbol(segment->modulation) * n_layers;
    const size_t before = harness_random_below(random, 200), after = harness_random_below(random, 200);
    const size_t n_elements = before + segment->n_symbols / n_layers + after;
    softqam_codeword codeword = {
        .n_bits = n_elements * n_bits,
        .n_code_blocks = 1 + (uint32_t)harness_random_below(random, MAX_CODE_BLOCKS - 1),
        .deinterleave = (uint32_t)harness_random_below(random, 2),
    };
    if (harness_random_below(random, 3) == 0) {
        codeword.n_cbg = 1 + (uint32_t)harness_random_below(random, 32);
        const uint32_t n_groups = codeword.n_cbg < codeword.n_code_blocks ? codeword.n_cbg : codeword.n_code_blocks;
        const uint32_t all = n_groups < 32 ? (1u << n_groups) - 1 : 0xffffffffu;
        codeword.cbgti = harness_random_u32(random) & all;
        codeword.cbgti |= 1u << harness_random_below(random, n_groups);
    }
    /* As much as all bits in one code block take. */
    const bool has_stride = harness_random_below(random, 3) > 0;
    codeword.block_stride = has_stride ? codeword.n_bits + harness_random_below(random, 20) : 0;
    segment->first_symbol = before * n_layers;
    segment->scrambling_offset = harness_random_below(random, 2) ? n_layers * (uint64_t)harness_random_u32(random) : 0;
    segment->plane_stride = 0;
    segment->codeword = codeword;
    segment->codeword.buffers = segment->out;
    segment->out = NULL;
    if (has_stride && harness_random_below(random, 2))
        lay_out_block_buffers(self, random, k, segment);
    return has_stride ? codeword.n_code_blocks * codeword.block_stride : codeword.n_bits;
}

static void lay_out_segment(device_slot *self, harness_random *random, size_t k, size_t *end)
{
    const size_t value_nbytes = softqam_output_nbytes(self->out, SOFTQAM_MODULATION_BPSK, 1);
    softqam_segment segment = {.symbol_stride = harness_random_below(random, 5),
                               .noise_stride = harness_random_below(random, 4)};
    if (self->out != SOFTQAM_OUTPUT_U8)
        choose_llr_fields(self, random, &segment);
    if (harness_random_below(random, 4) == 0)
        segment.input_scale = 0.75f;
    const size_t n_layers = segment.n_layers ? segment.n_layers : 1;
    const size_t longest = k % 5 ? 300 : MAX_SYMBOLS;
    segment.n_symbols = k % 7 == 3 ? 0 : harness_random_below(random, longest / n_layers) * n_layers;
    segment.first_symbol = n_layers * ((uint64_t)harness_random_u32(random) >> harness_random_below(random, 32));
    if (harness_random_below(random, 16) == 0)
        segment.first_symbol += n_layers * ((uint64_t)1 << 55);
    else if (harness_random_below(random, 16) == 0)
        segment.first_symbol = device_far_symbol(segment.modulation, (unsigned)n_layers);
    if (self->out != SOFTQAM_OUTPUT_U8 && segment.n_symbols > 0 && harness_random_below(random, 2))
        segment.plane_stride = segment.n_symbols + harness_random_below(random, 40);
    const bool has_gains = self->out != SOFTQAM_OUTPUT_U8 && harness_random_below(random, 3) == 0;
    for (size_t layer = 0; layer < n_layers; layer++)
        lay_out_layer(self, random, has_gains, &segment.layers[layer]);
    if (self->out != SOFTQAM_OUTPUT_U8 && !segment.layers[0].symbols_q && harness_random_below(random, 2))
        interleave_layers(self, random, &segment, n_layers);
    const softqam_modulation modulation = segment.modulation ? segment.modulation : SOFTQAM_MODULATION_256QAM;
    size_t n_values =
        softqam_bits_per_symbol(modulation) * (segment.plane_stride ? segment.plane_stride : segment.n_symbols);
    *end += value_nbytes * (harness_random_below(random, 3) ? harness_random_below(random, 40) : 0);
    if (harness_random_below(random, 3) == 0)
        *end = (*end + 15) / 16 * 16;
    segment.out = self->expected + *end;
    if (self->out != SOFTQAM_OUTPUT_U8 && harness_random_below(random, 2))
        n_values = lay_out_codeword(self, random, k, &segment);
    *end += n_values * value_nbytes;
    assert_true(*end <= OUT_NBYTES);
    self->segments[k] = segment;
}

/* New symbols, noise and outputs on both sides for the segments that there are, and what must come of them. */
static void fill_contents(device_slot *self, harness_random *random)
{
    device_slot_fill(self, random);
    device_slot_expect(self, OUT_NBYTES);
}

/* New segments too. */
static void fill_slot(device_slot *self, harness_random *random, size_t n)
{
    size_t end = 64;
    self->n = n;
    for (size_t k = 0; k < n; k++)
        lay_out_segment(self, random, k, &end);
    device_slot_copy_segments(self);
    fill_contents(self, random);
}

static void check_slot(device_slot *self, const char *what)
{
    const size_t at = device_slot_compare(self);
    if (at == OUT_NBYTES)
        return;
    size_t k = self->n;
    while (k > 0 && (self->segments[k - 1].codeword.n_code_blocks || /* several begins */
                     (uint8_t *)self->segments[k - 1].out > self->expected + at))
        k--;
    const softqam_segment *segment = &self->segments[k > 0 ? k - 1 : 0];
    fail_msg(
        "%s, input %d, output %d: byte %zu is %d, not %d; segment %zu of %zu: modulation %d, %zu symbols from %llu "
        "on, %u layers, planes %zu, descramble %u, %s, byte %zu of its output",
        what, (int)self->in, (int)self->out, at, self->got[at], self->expected[at], k, self->n,
        (int)segment->modulation, segment->n_symbols, (unsigned long long)segment->first_symbol, segment->n_layers,
        segment->plane_stride, segment->descramble, segment->layers[0].gain ? "gains" : "no gains",
        (size_t)(self->expected + at - (uint8_t *)segment->out));
}

static void for_all_formats(uint32_t stream, void (*check)(device_slot *self, harness_random *random))
{
    harness_random random = harness_random_stream(stream << 8);
    for (int in = SOFTQAM_INPUT_CF32; in < HARNESS_N_INPUT_FORMATS; in++)
        for (int out = 0; out < HARNESS_N_OUTPUT_FORMATS; out++) {
            device_slot self;
            open_slot(&self, (softqam_input_format)in, (softqam_output_format)out);
            check(&self, &random);
            device_slot_close(&self);
        }
}

/* One segment, few, many, and more than a launch takes. */
static void check_arguments(device_slot *self, harness_random *random)
{
    static const size_t counts[] = {1, 1, 1, 2, 11, 12, 13, 150, MAX_SEGMENTS};
    for (size_t k = 0; k < HARNESS_COUNT(counts); k++) {
        fill_slot(self, random, counts[k]);
        device_slot_by_arguments(self, 0);
        check_slot(self, "arguments");
    }
}

HARNESS_TEST(test_arguments) { for_all_formats(STREAM_ARGUMENTS, check_arguments); }

/* As large as they are, larger, and with fewer segments than there are descriptors. */
static void check_descriptors(device_slot *self, harness_random *random)
{
    static const size_t counts[] = {1, 2, 127, 128, 129, MAX_SEGMENTS};
    for (size_t k = 0; k < HARNESS_COUNT(counts); k++) {
        fill_slot(self, random, counts[k]);
        device_slot_by_descriptors(self, (unsigned)self->n, self->n_symbols ? self->n_symbols : 1, 0);
        check_slot(self, "descriptors");
        fill_slot(self, random, counts[k]);
        device_slot_by_descriptors(self, 2 * MAX_SEGMENTS, 1000 * MAX_SYMBOLS, 0);
        check_slot(self, "descriptors of a larger kernel");
    }
    fill_slot(self, random, 20);
    const unsigned more = 30;
    CUDA(cudaMemcpy(self->d_n_segments, &more, sizeof more, cudaMemcpyHostToDevice));
    device_slot_by_descriptors(self, 20, 100 * MAX_SYMBOLS, 0);
    check_slot(self, "no more than max_segments");
    CUDA(cudaMemset(self->d_n_segments, 0, sizeof more));
    device_slot_by_descriptors(self, 20, 100 * MAX_SYMBOLS, 0);
    check_slot(self, "none");
}

HARNESS_TEST(test_descriptors) { for_all_formats(STREAM_DESCRIPTORS, check_descriptors); }

static void check_graph(device_slot *self, harness_random *random)
{
    const cudaStream_t stream = device_open_stream();
    size_t n_nodes = 0;
    device_begin_capture(self->cuda, stream);
    device_slot_by_descriptors(self, MAX_SEGMENTS, (size_t)MAX_SEGMENTS * MAX_SYMBOLS, stream);
    const cudaGraphExec_t executable = device_end_capture(stream, &n_nodes);
    for (int replay = 0; replay < 4; replay++) {
        fill_slot(self, random, 1 + harness_random_below(random, MAX_SEGMENTS - 1));
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        check_slot(self, "a graph");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaStreamDestroy(stream));
}

HARNESS_TEST(test_graph) { for_all_formats(STREAM_GRAPH, check_graph); }

/* With a list of segments and a demodulator that are gone by the time of the replays. */
static void check_capture(device_slot *self, harness_random *random)
{
    enum { FEWEST_A_LAUNCH = 12 };
    const cudaStream_t stream = device_open_stream();
    size_t n_nodes = 0;
    fill_slot(self, random, MAX_SEGMENTS);
    device_begin_capture(self->cuda, stream);
    device_slot_by_arguments(self, stream);
    const cudaGraphExec_t executable = device_end_capture(stream, &n_nodes);
    memset(self->copies, 0xff, MAX_SEGMENTS * sizeof *self->copies);
    softqam_demodulator_destroy(self->cuda);
    self->cuda = NULL;
    assert_in_range(n_nodes, 1, MAX_SEGMENTS / FEWEST_A_LAUNCH + 1);
    for (int replay = 0; replay < 3; replay++) {
        fill_contents(self, random);
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        check_slot(self, "replayed segments");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaStreamDestroy(stream));
}

HARNESS_TEST(test_capture) { for_all_formats(STREAM_CAPTURE, check_capture); }

/* Descriptors that the kernel before writes, after this one has begun: over others, over the same but for one field,
 * over what are none, and over the same. */
static void check_late_descriptors(device_slot *self, harness_random *random)
{
    enum { OTHERS, NEARLY_THE_SAME, NONE, THE_SAME, BEFORE, N = 300 };
    const size_t nbytes = N * sizeof self->copies[0];
    unsigned *d_late;
    CUDA(cudaMalloc((void **)&d_late, nbytes));
    for (int before = OTHERS; before < BEFORE; before++) {
        softqam_segment *others = harness_alloc(nbytes);
        fill_slot(self, random, N);
        memcpy(others, self->copies, nbytes);
        if (before == OTHERS)
            fill_slot(self, random, N);
        else if (before == NEARLY_THE_SAME)
            others[harness_random_below(random, N)].n_symbols += 12;
        else if (before == NONE)
            memset(others, 0xff, nbytes);
        CUDA(cudaMemcpy(d_late, self->copies, nbytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(self->d_segments, others, nbytes, cudaMemcpyHostToDevice));
        CUDA(late_copy((unsigned *)(void *)self->d_segments, d_late, nbytes / sizeof *d_late, 0));
        device_slot_by_descriptors(self, N, self->n_symbols, 0);
        check_slot(self, "descriptors that the kernel before writes");
        free(others);
    }
    CUDA(cudaFree(d_late));
}

HARNESS_TEST(test_late_descriptors) { for_all_formats(STREAM_LATE, check_late_descriptors); }

/* Kernels that follow each other in a stream begin before the one before them has ended, but see what it wrote: here
 * the output of one is the input of the next. */
HARNESS_TEST(test_chain)
{
    enum { N = 20000, ROUNDS = 40 };
    device_slot slot, *self = &slot;
    open_slot(self, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F32);
    float *memory[2] = {device_mirror_open(&self->mirrors, 2 * N * sizeof(float)),
                        device_mirror_open(&self->mirrors, 2 * N * sizeof(float))};
    harness_random random = harness_random_stream(STREAM_GRAPH);
    harness_fill_mixture(&random, N, memory[0]);
    self->noise[0] = 0.5f;
    device_mirror_copy(&self->mirrors, memory[0], 2 * N * sizeof(float));
    device_mirror_copy(&self->mirrors, self->noise, sizeof(float));
    for (int k = 0; k < ROUNDS; k++) {
        /* QPSK has as many LLRs as components; every other round by the kernel of segments. */
        softqam_segment segment = {.n_symbols = N,
                                   .modulation = SOFTQAM_MODULATION_QPSK,
                                   .descramble = (unsigned)k % 2,
                                   .c_init = (uint32_t)(k % 2 * k),
                                   .input_scale = 0.25f,
                                   .layers = {{.symbols = memory[k % 2], .noise_var = self->noise}},
                                   .out = memory[(k + 1) % 2]};
        const softqam_segment copy = device_mirror_segment(&self->mirrors, &segment);
        if (softqam_cuda_demodulate_segments(self->cuda, &copy, 1, 0) != SOFTQAM_OK)
            fail_msg("%s", softqam_error_message());
        harness_demodulate_segments(self->cpu, &segment, 1);
    }
    const size_t nbytes = 2 * N * sizeof(float);
    assert_int_equal(device_mirror_read(&self->mirrors, memory[ROUNDS % 2], nbytes, self->got), nbytes);
    device_slot_close(self);
}

HARNESS_TEST(test_misuse)
{
    device_slot slot, *self = &slot;
    open_slot(self, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8);
    const softqam_segment *segments = self->d_segments;
    const softqam_segment *odd = (const softqam_segment *)(const void *)((const uint8_t *)segments + 4);
    const struct {
        const softqam_segment *segments;
        const unsigned *n_segments;
    } wrong[] = {{NULL, self->d_n_segments}, {segments, NULL}, {odd, self->d_n_segments}};
    for (size_t k = 0; k < HARNESS_COUNT(wrong); k++) {
        assert_int_equal(
            softqam_cuda_demodulate_device_segments(self->cuda, wrong[k].segments, wrong[k].n_segments, 1, 1, 0),
            SOFTQAM_ERROR_INVALID_ARGUMENT);
        assert_true(strlen(softqam_error_message()) > 0);
    }
    assert_int_equal(softqam_cuda_demodulate_device_segments(NULL, segments, self->d_n_segments, 1, 1, 0),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_device_segments(self->cpu, segments, self->d_n_segments, 1, 1, 0),
                     SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_int_equal(softqam_cuda_demodulate_device_segments(self->cuda, segments, self->d_n_segments, 0, 1, 0),
                     SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_device_segments(self->cuda, segments, self->d_n_segments, 1, 0, 0),
                     SOFTQAM_OK);
    CUDA(cudaDeviceSynchronize());
    device_slot_close(self);
}
