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

/* What segments read and write, on the host and at the same places on the device. */
typedef struct segment_set {
    softqam_input_format in;
    softqam_output_format out;
    size_t n;
    size_t n_symbols;                       /* of all together */
    softqam_segment segments[MAX_SEGMENTS]; /* to host memory */
    softqam_segment copies[MAX_SEGMENTS];   /* to device memory */
    uint8_t *symbols, *d_symbols;
    float *noise, *d_noise;
    float *gains, *d_gains; /* as many */
    uint8_t *expected, *got, *d_out;
    softqam_segment *d_segments;
    unsigned *d_n_segments;
    /* block_buffers of each segment: to host memory, to device memory, and the latter's copy there. */
    void *buffers[MAX_SEGMENTS][MAX_CODE_BLOCKS];
    void *copied_buffers[MAX_SEGMENTS][MAX_CODE_BLOCKS];
    void *(*d_buffers)[MAX_CODE_BLOCKS];
    softqam_demodulator *cpu, *cuda;
} segment_set;

static softqam_demodulator *open_demodulator(softqam_backend backend, const segment_set *self)
{
    harness_setup setup = harness_default_setup();
    setup.context.backend = backend;
    setup.demodulator.input_format = self->in;
    setup.demodulator.output_format = self->out;
    setup.demodulator.input_scale = self->in == SOFTQAM_INPUT_CF32 ? 1.0f : 0.0f;
    if (self->out != SOFTQAM_OUTPUT_U8)
        setup.demodulator.noise = (softqam_noise)(self->in % 2);
    return harness_create(&setup);
}

static void open_set(segment_set *self, softqam_input_format in, softqam_output_format out)
{
    *self = (segment_set){.in = in, .out = out};
    const size_t in_nbytes = N_COMPONENTS * softqam_input_symbol_nbytes(in) / 2;
    self->symbols = harness_alloc(in_nbytes);
    self->noise = harness_alloc(N_NOISE * sizeof(float));
    self->gains = harness_alloc(N_NOISE * sizeof(float));
    self->expected = harness_alloc(OUT_NBYTES);
    self->got = harness_alloc(OUT_NBYTES);
    CUDA(cudaMalloc((void **)&self->d_symbols, in_nbytes));
    CUDA(cudaMalloc((void **)&self->d_noise, N_NOISE * sizeof(float)));
    CUDA(cudaMalloc((void **)&self->d_gains, N_NOISE * sizeof(float)));
    CUDA(cudaMalloc((void **)&self->d_out, OUT_NBYTES));
    CUDA(cudaMalloc((void **)&self->d_segments, sizeof self->copies * 2)); /* room for more than there are */
    CUDA(cudaMemset(self->d_segments, DEVICE_CANARY, sizeof self->copies * 2));
    CUDA(cudaMalloc((void **)&self->d_n_segments, sizeof(unsigned)));
    CUDA(cudaMalloc((void **)&self->d_buffers, sizeof self->copied_buffers));
    self->cpu = open_demodulator(SOFTQAM_BACKEND_CPU, self);
    self->cuda = open_demodulator(SOFTQAM_BACKEND_CUDA, self);
}

static void close_set(segment_set *self)
{
    softqam_demodulator_destroy(self->cpu);
    softqam_demodulator_destroy(self->cuda);
    CUDA(cudaFree(self->d_symbols));
    CUDA(cudaFree(self->d_noise));
    CUDA(cudaFree(self->d_gains));
    CUDA(cudaFree(self->d_out));
    CUDA(cudaFree(self->d_segments));
    CUDA(cudaFree(self->d_n_segments));
    CUDA(cudaFree(self->d_buffers));
    free(self->symbols);
    free(self->noise);
    free(self->gains);
    free(self->expected);
    free(self->got);
}

/* A layer anywhere in what there is to read; most symbols of a layer are four of MAX_SYMBOLS' strides apart. */
static void lay_out_layer(segment_set *self, harness_random *random, bool has_gains, softqam_layer *layer,
                          softqam_layer *copy)
{
    const size_t nbytes = softqam_input_symbol_nbytes(self->in) / 2;
    const bool planes = harness_random_below(random, 3) == 0;
    const size_t first = harness_random_below(random, (N_COMPONENTS - 10 * MAX_SYMBOLS) / 2) * (planes ? 1 : 2);
    const size_t first_q = harness_random_below(random, N_COMPONENTS - 10 * MAX_SYMBOLS);
    const size_t first_noise = harness_random_below(random, N_NOISE - 4 * MAX_SYMBOLS);
    layer->symbols = self->symbols + first * nbytes;
    copy->symbols = self->d_symbols + first * nbytes;
    layer->symbols_q = planes ? self->symbols + first_q * nbytes : NULL;
    copy->symbols_q = planes ? self->d_symbols + first_q * nbytes : NULL;
    layer->noise_var = self->out == SOFTQAM_OUTPUT_U8 ? NULL : self->noise + first_noise;
    copy->noise_var = self->out == SOFTQAM_OUTPUT_U8 ? NULL : self->d_noise + first_noise;
    const size_t first_gain = harness_random_below(random, N_NOISE - 4 * MAX_SYMBOLS);
    layer->gain = has_gains ? self->gains + first_gain : NULL;
    copy->gain = has_gains ? self->d_gains + first_gain : NULL;
}

/* The layers as an equaliser writes them, a symbol from one to the next, or those that it has for one codeword of
 * several: of up to eight. */
static void interleave_layers(segment_set *self, harness_random *random, softqam_segment *segment, size_t n_layers)
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

static void choose_llr_fields(segment_set *self, harness_random *random, softqam_segment *segment)
{
    static const softqam_noise_form forms[] = {SOFTQAM_NOISE_FORM_DEFAULT, SOFTQAM_NOISE_FORM_N0,
                                               SOFTQAM_NOISE_FORM_INVERSE};
    segment->modulation = (softqam_modulation)harness_random_below(random, SOFTQAM_MODULATION_1024QAM + 1);
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
static void lay_out_block_buffers(segment_set *self, harness_random *random, size_t k, softqam_segment *segment,
                                  softqam_segment *copy)
{
    const size_t nbytes = segment->codeword.block_stride * softqam_output_nbytes(self->out, SOFTQAM_MODULATION_BPSK, 1);
    for (size_t r = 0; r < segment->codeword.n_code_blocks; r++) {
        const bool is_dropped = harness_random_below(random, 4) == 0;
        self->buffers[k][r] = is_dropped ? NULL : (uint8_t *)segment->codeword.buffers + r * nbytes;
        self->copied_buffers[k][r] = is_dropped ? NULL : (uint8_t *)copy->codeword.buffers + r * nbytes;
    }
    segment->codeword.block_buffers = self->buffers[k];
    copy->codeword.block_buffers = self->d_buffers[k];
    segment->codeword.buffers = copy->codeword.buffers = NULL;
    segment->codeword.block_stride = copy->codeword.block_stride = 0;
}

/* Makes the segment part of a codeword that begins where its output would; the values that there is room for. */
static size_t lay_out_codeword(segment_set *self, harness_random *random, size_t k, softqam_segment *segment,
                               softqam_segment *copy)
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
    segment->first_symbol = copy->first_symbol = before * n_layers;
    segment->scrambling_offset = copy->scrambling_offset =
        harness_random_below(random, 2) ? n_layers * (uint64_t)harness_random_u32(random) : 0;
    segment->plane_stride = copy->plane_stride = 0;
    segment->codeword = copy->codeword = codeword;
    segment->codeword.buffers = segment->out;
    copy->codeword.buffers = copy->out;
    segment->out = copy->out = NULL;
    if (has_stride && harness_random_below(random, 2))
        lay_out_block_buffers(self, random, k, segment, copy);
    return has_stride ? codeword.n_code_blocks * codeword.block_stride : codeword.n_bits;
}

static void lay_out_segment(segment_set *self, harness_random *random, size_t k, size_t *end)
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
    softqam_segment copy = segment;
    const bool has_gains = self->out != SOFTQAM_OUTPUT_U8 && harness_random_below(random, 3) == 0;
    for (size_t layer = 0; layer < n_layers; layer++)
        lay_out_layer(self, random, has_gains, &segment.layers[layer], &copy.layers[layer]);
    if (self->out != SOFTQAM_OUTPUT_U8 && !segment.layers[0].symbols_q && harness_random_below(random, 2)) {
        harness_random same = *random;
        interleave_layers(self, random, &segment, n_layers);
        interleave_layers(self, &same, &copy, n_layers);
    }
    const softqam_modulation modulation = segment.modulation ? segment.modulation : SOFTQAM_MODULATION_256QAM;
    size_t n_values =
        softqam_bits_per_symbol(modulation) * (segment.plane_stride ? segment.plane_stride : segment.n_symbols);
    *end += value_nbytes * (harness_random_below(random, 3) ? harness_random_below(random, 40) : 0);
    if (harness_random_below(random, 3) == 0)
        *end = (*end + 15) / 16 * 16;
    segment.out = self->expected + *end;
    copy.out = self->d_out + *end;
    if (self->out != SOFTQAM_OUTPUT_U8 && harness_random_below(random, 2))
        n_values = lay_out_codeword(self, random, k, &segment, &copy);
    *end += n_values * value_nbytes;
    assert_true(*end <= OUT_NBYTES);
    self->n_symbols += segment.n_symbols;
    self->segments[k] = segment;
    self->copies[k] = copy;
}

/* New symbols, noise and outputs on both sides for the segments that there are, and what must come of them. */
static void fill_contents(segment_set *self, harness_random *random)
{
    const size_t in_nbytes = N_COMPONENTS * softqam_input_symbol_nbytes(self->in) / 2;
    if (self->in == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(random, N_COMPONENTS / 2, (float *)(void *)self->symbols);
    else
        harness_random_fill(random, self->symbols, in_nbytes);
    harness_fill_noise(random, HARNESS_NOISE_ANY, N_NOISE, self->noise);
    device_fill_gains(random, N_NOISE, self->gains);
    memset(self->expected, DEVICE_CANARY, OUT_NBYTES);
    harness_demodulate_segments(self->cpu, self->segments, self->n);
    CUDA(cudaMemcpy(self->d_symbols, self->symbols, in_nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_noise, self->noise, N_NOISE * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_gains, self->gains, N_NOISE * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemset(self->d_out, DEVICE_CANARY, OUT_NBYTES));
    CUDA(cudaDeviceSynchronize());
}

/* New segments too. */
static void fill_set(segment_set *self, harness_random *random, size_t n)
{
    const unsigned count = (unsigned)n;
    size_t end = 64;
    self->n = n;
    self->n_symbols = 0;
    for (size_t k = 0; k < n; k++)
        lay_out_segment(self, random, k, &end);
    CUDA(cudaMemcpy(self->d_segments, self->copies, n * sizeof self->copies[0], cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_buffers, self->copied_buffers, sizeof self->copied_buffers, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_n_segments, &count, sizeof count, cudaMemcpyHostToDevice));
    fill_contents(self, random);
}

static void check_set(segment_set *self, const char *what)
{
    CUDA(cudaMemcpy(self->got, self->d_out, OUT_NBYTES, cudaMemcpyDeviceToHost));
    if (memcmp(self->got, self->expected, OUT_NBYTES) == 0)
        return;
    size_t at = 0;
    while (self->got[at] == self->expected[at])
        at++;
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

static void demodulate_descriptors(segment_set *self, unsigned max_segments, size_t max_symbols, cudaStream_t stream)
{
    if (softqam_cuda_demodulate_device_segments(self->cuda, self->d_segments, self->d_n_segments, max_segments,
                                                max_symbols, stream) != SOFTQAM_OK)
        fail_msg("descriptors: %s", softqam_error_message());
}

static void for_all_formats(uint32_t stream, void (*check)(segment_set *self, harness_random *random))
{
    harness_random random = harness_random_stream(stream << 8);
    for (int in = SOFTQAM_INPUT_CF32; in < HARNESS_N_INPUT_FORMATS; in++)
        for (int out = 0; out < HARNESS_N_OUTPUT_FORMATS; out++) {
            segment_set *self = harness_alloc(sizeof *self);
            open_set(self, (softqam_input_format)in, (softqam_output_format)out);
            check(self, &random);
            close_set(self);
            free(self);
        }
}

/* One segment, few, many, and more than a launch takes. */
static void check_arguments(segment_set *self, harness_random *random)
{
    static const size_t counts[] = {1, 1, 1, 2, 11, 12, 13, 150, MAX_SEGMENTS};
    for (size_t k = 0; k < HARNESS_COUNT(counts); k++) {
        fill_set(self, random, counts[k]);
        if (softqam_cuda_demodulate_segments(self->cuda, self->copies, self->n, 0) != SOFTQAM_OK)
            fail_msg("arguments: %s", softqam_error_message());
        CUDA(cudaDeviceSynchronize());
        check_set(self, "arguments");
    }
}

HARNESS_TEST(test_arguments) { for_all_formats(STREAM_ARGUMENTS, check_arguments); }

/* As large as they are, larger, and with fewer segments than there are descriptors. */
static void check_descriptors(segment_set *self, harness_random *random)
{
    static const size_t counts[] = {1, 2, 127, 128, 129, MAX_SEGMENTS};
    for (size_t k = 0; k < HARNESS_COUNT(counts); k++) {
        fill_set(self, random, counts[k]);
        demodulate_descriptors(self, (unsigned)self->n, self->n_symbols ? self->n_symbols : 1, 0);
        CUDA(cudaDeviceSynchronize());
        check_set(self, "descriptors");
        fill_set(self, random, counts[k]);
        demodulate_descriptors(self, 2 * MAX_SEGMENTS, 1000 * MAX_SYMBOLS, 0);
        CUDA(cudaDeviceSynchronize());
        check_set(self, "descriptors of a larger kernel");
    }
    fill_set(self, random, 20);
    const unsigned more = 30;
    CUDA(cudaMemcpy(self->d_n_segments, &more, sizeof more, cudaMemcpyHostToDevice));
    demodulate_descriptors(self, 20, 100 * MAX_SYMBOLS, 0);
    CUDA(cudaDeviceSynchronize());
    check_set(self, "no more than max_segments");
    CUDA(cudaMemset(self->d_n_segments, 0, sizeof more));
    demodulate_descriptors(self, 20, 100 * MAX_SYMBOLS, 0);
    CUDA(cudaDeviceSynchronize());
    check_set(self, "none");
}

HARNESS_TEST(test_descriptors) { for_all_formats(STREAM_DESCRIPTORS, check_descriptors); }

static void check_graph(segment_set *self, harness_random *random)
{
    const cudaStream_t stream = device_open_stream();
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    device_prepare_kernels(self->cuda);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    demodulate_descriptors(self, MAX_SEGMENTS, (size_t)MAX_SEGMENTS * MAX_SYMBOLS, stream);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int replay = 0; replay < 4; replay++) {
        fill_set(self, random, 1 + harness_random_below(random, MAX_SEGMENTS - 1));
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        check_set(self, "a graph");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
}

HARNESS_TEST(test_graph) { for_all_formats(STREAM_GRAPH, check_graph); }

/* With a list of segments and a demodulator that are gone by the time of the replays. */
static void check_capture(segment_set *self, harness_random *random)
{
    enum { FEWEST_A_LAUNCH = 12 };
    const cudaStream_t stream = device_open_stream();
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    size_t n_nodes = 0;
    fill_set(self, random, MAX_SEGMENTS);
    device_prepare_kernels(self->cuda);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(softqam_cuda_demodulate_segments(self->cuda, self->copies, self->n, stream), SOFTQAM_OK);
    CUDA(cudaStreamEndCapture(stream, &graph));
    memset(self->copies, 0xff, sizeof self->copies);
    softqam_demodulator_destroy(self->cuda);
    self->cuda = NULL;
    CUDA(cudaGraphGetNodes(graph, NULL, &n_nodes));
    assert_in_range(n_nodes, 1, MAX_SEGMENTS / FEWEST_A_LAUNCH + 1);
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int replay = 0; replay < 3; replay++) {
        fill_contents(self, random);
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        check_set(self, "replayed segments");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
}

HARNESS_TEST(test_capture) { for_all_formats(STREAM_CAPTURE, check_capture); }

/* Descriptors that the kernel before writes, after this one has begun: over others, over the same but for one field,
 * over what are none, and over the same. */
static void check_late_descriptors(segment_set *self, harness_random *random)
{
    enum { OTHERS, NEARLY_THE_SAME, NONE, THE_SAME, BEFORE, N = 300 };
    const size_t nbytes = N * sizeof self->copies[0];
    unsigned *d_late;
    CUDA(cudaMalloc((void **)&d_late, nbytes));
    for (int before = OTHERS; before < BEFORE; before++) {
        softqam_segment *others = harness_alloc(nbytes);
        fill_set(self, random, N);
        memcpy(others, self->copies, nbytes);
        if (before == OTHERS)
            fill_set(self, random, N);
        else if (before == NEARLY_THE_SAME)
            others[harness_random_below(random, N)].n_symbols += 12;
        else if (before == NONE)
            memset(others, 0xff, nbytes);
        CUDA(cudaMemcpy(d_late, self->copies, nbytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(self->d_segments, others, nbytes, cudaMemcpyHostToDevice));
        CUDA(late_copy((unsigned *)(void *)self->d_segments, d_late, nbytes / sizeof *d_late, 0));
        demodulate_descriptors(self, N, self->n_symbols, 0);
        CUDA(cudaDeviceSynchronize());
        check_set(self, "descriptors that the kernel before writes");
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
    segment_set *self = harness_alloc(sizeof *self);
    open_set(self, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F32);
    float *host[2] = {harness_alloc(4 * N * sizeof(float)), harness_alloc(4 * N * sizeof(float))};
    uint8_t *device[2];
    harness_random random = harness_random_stream(STREAM_GRAPH);
    harness_fill_mixture(&random, N, host[0]);
    for (int k = 0; k < 2; k++)
        CUDA(cudaMalloc((void **)&device[k], 4 * N * sizeof(float)));
    CUDA(cudaMemcpy(device[0], host[0], 2 * N * sizeof(float), cudaMemcpyHostToDevice));
    const float noise = 0.5f;
    CUDA(cudaMemcpy(self->d_noise, &noise, sizeof noise, cudaMemcpyHostToDevice));
    for (int k = 0; k < ROUNDS; k++) {
        /* QPSK has as many LLRs as components; every other round by the kernel of segments. */
        softqam_segment segment = {.n_symbols = N,
                                   .modulation = SOFTQAM_MODULATION_QPSK,
                                   .descramble = (unsigned)k % 2,
                                   .c_init = (uint32_t)(k % 2 * k),
                                   .input_scale = 0.25f};
        segment.layers[0] = (softqam_layer){.symbols = device[k % 2], .noise_var = self->d_noise};
        segment.out = device[(k + 1) % 2];
        if (softqam_cuda_demodulate_segments(self->cuda, &segment, 1, 0) != SOFTQAM_OK)
            fail_msg("%s", softqam_error_message());
        segment.layers[0] = (softqam_layer){.symbols = host[k % 2], .noise_var = &noise};
        segment.out = host[(k + 1) % 2];
        harness_demodulate_segments(self->cpu, &segment, 1);
    }
    CUDA(cudaMemcpy(self->got, device[ROUNDS % 2], 2 * N * sizeof(float), cudaMemcpyDeviceToHost));
    assert_memory_equal(self->got, host[ROUNDS % 2], 2 * N * sizeof(float));
    for (int k = 0; k < 2; k++) {
        CUDA(cudaFree(device[k]));
        free(host[k]);
    }
    close_set(self);
    free(self);
}

HARNESS_TEST(test_misuse)
{
    segment_set *self = harness_alloc(sizeof *self);
    open_set(self, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8);
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
    close_set(self);
    free(self);
}
