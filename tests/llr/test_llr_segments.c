/* SPDX-License-Identifier: MIT */
/* A call for segments gives the specified LLRs, reference/contract.h, each at its place, and writes nothing else:
 * layers, strides, I and Q apart, gains, descrambling, bit planes and settings of each segment's own, in any
 * combination; codewords cut between any resource elements, several in one call; soft bits, of one layer. On the
 * backend that SOFTQAM_TEST_BACKEND names, in chunks of all sizes; on the CPU by every variant of the loops that runs
 * here. */
#include <stdlib.h>
#include <string.h>

#include "soft_buffer_fixture.h"
#include "specified_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_COMBINATIONS = 1,
    STREAM_ANY_LENGTH,
    STREAM_CUTS,
    STREAM_CALLS,
    STREAM_SOFT_BITS,
    STREAM_THREADS,
    STREAM_SHORT_SEGMENTS,
    STREAM_LONGEST_VALUES
};

enum { BETWEEN = 0x5A, MAX_CODEWORDS = 24, MAX_SEGMENTS = 500, MANY_SYMBOLS = 20000 };

typedef struct combination {
    softqam_modulation modulation;
    softqam_output_format format;
    softqam_input_format input;
    unsigned n_layers;
    bool has_planes;
    bool is_descrambled;
} combination;

/* The codewords of a call, and where the output of each begins in its memory. */
typedef struct call {
    softqam_demodulator_config config;
    size_t value_nbytes;
    size_t n;
    soft_codeword codewords[MAX_CODEWORDS];
    size_t at[MAX_CODEWORDS];
    size_t nbytes;
} call;

static call *open_call(harness_random *random, softqam_output_format format, softqam_input_format input)
{
    call *self = harness_alloc(sizeof *self);
    *self = (call){.value_nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_BPSK, 1)};
    softqam_demodulator_config_init(&self->config);
    self->config.output_format = format;
    self->config.input_format = input;
    self->config.sign = (softqam_sign)harness_random_below(random, 2);
    self->config.llr_limit = harness_llr_defaults_of[format].limit && harness_random_below(random, 3) == 0 ? 120 : 0;
    self->config.input_scale = harness_random_below(random, 5) ? 0 : 0.3F;
    return self;
}

static void close_call(call *self)
{
    for (size_t k = 0; k < self->n; k++)
        soft_codeword_close(&self->codewords[k]);
    free(self);
}

/* The LLRs of the plain segment that the others are held to. */
static void check_llrs(const soft_codeword *self)
{
    const softqam_demodulator_config *config = &self->config;
    const softqam_segment *whole = &self->whole;
    const harness_llr_defaults *defaults = &harness_llr_defaults_of[config->output_format];
    const specified_settings of = {.modulation = whole->modulation,
                                   .format = config->output_format,
                                   .form = whole->noise_form ? whole->noise_form : SOFTQAM_NOISE_FORM_N0,
                                   .sign = config->sign,
                                   .scale = whole->llr_scale > 0 ? whole->llr_scale : defaults->scale,
                                   .limit = config->llr_limit ? config->llr_limit : defaults->limit,
                                   .is_descrambled = whole->descramble,
                                   .c_init = whole->c_init};
    const float scale = whole->input_scale > 0 ? whole->input_scale : config->input_scale;
    const size_t nbytes = softqam_output_nbytes(config->output_format, whole->modulation, 1);
    for (size_t i = 0; i < whole->n_symbols; i++) {
        uint8_t sample[2 * sizeof(float)], llrs[HARNESS_MAX_SYMBOL_BITS * sizeof(float)];
        float symbol[2], noise, gain;
        soft_codeword_symbol(self, i, sample, &noise, &gain);
        harness_widen(config->input_format, scale, sample, 1, symbol);
        specify_symbol(&of, symbol, noise, self->has_gains ? &gain : NULL,
                       whole->first_symbol + whole->scrambling_offset + i, llrs);
        if (memcmp(llrs, self->llrs + i * nbytes, nbytes) != 0)
            fail_msg("%s to %s, plain: modulation %d, symbol %zu (%a, %a), noise %a of form %d, gain %a, scale %a, "
                     "limit %d%s",
                     harness_input_names[config->input_format], harness_output_names[config->output_format],
                     (int)of.modulation, i, (double)symbol[0], (double)symbol[1], (double)noise, (int)of.form,
                     (double)gain, (double)of.scale, of.limit, of.is_descrambled ? ", descrambled" : "");
    }
}

static void add_codeword(call *self, const soft_contexts *on, harness_random *random, const combination *of,
                         size_t n_elements)
{
    static const float input_scales[] = {0, 0, 1, 0.7F, 1.3F / 32768, 1e-42F, 0x1p62F, 0x1p63F, 1e36F};
    static const float llr_scales[] = {0, 20, 1, 0x1p-10F, 0x1p14F};
    const bool has_steps = harness_llr_defaults_of[of->format].limit, is_soft_bits = of->format == SOFTQAM_OUTPUT_U8;
    const size_t n_symbols = n_elements * of->n_layers, n_bits = softqam_bits_per_symbol(of->modulation);
    soft_codeword *codeword = &self->codewords[self->n];
    *codeword = (soft_codeword){.config = self->config};
    codeword->has_gains = !is_soft_bits && harness_random_below(random, 3) == 0;
    codeword->whole = (softqam_segment){
        .first_symbol = soft_choose_position(random, of->modulation, of->n_layers),
        .scrambling_offset = harness_random_below(random, 2) ? harness_random_below(random, 999) * of->n_layers : 0,
        .n_layers = of->n_layers > 1 ? of->n_layers : (unsigned)harness_random_below(random, 2),
        .modulation = of->modulation,
        .noise_form = (softqam_noise_form)harness_random_below(random, 3),
        .input_scale = input_scales[harness_random_below(random, HARNESS_COUNT(input_scales))],
        .llr_scale = has_steps ? llr_scales[harness_random_below(random, HARNESS_COUNT(llr_scales))] : 0,
        .descramble = of->is_descrambled,
        .c_init = of->is_descrambled ? harness_random_u32(random) >> 1 : 0,
        .codeword = {.n_bits = n_symbols * n_bits, .n_code_blocks = 1},
    };
    soft_codeword_open(codeword, on, random);
    if (harness_backend() == SOFTQAM_BACKEND_CPU && !is_soft_bits && n_symbols < MANY_SYMBOLS) /* more are no others */
        check_llrs(codeword);
    codeword->whole.codeword = (softqam_codeword){0};
    if (of->has_planes) /* of BPSK, which has one plane, too */
        codeword->whole.plane_stride =
            n_symbols + (harness_random_below(random, 2) ? harness_random_below(random, 100) : 0);
    const size_t stride = codeword->whole.plane_stride;
    const size_t unit = llr_calls.is_aligned ? self->value_nbytes : 1;
    self->at[self->n++] = harness_random_below(random, 3) ? self->nbytes + harness_random_below(random, 12) * unit
                                                          : (self->nbytes + 15) / 16 * 16;
    self->nbytes = self->at[self->n - 1] + (n_symbols == 0 ? 0
                                            : stride       ? (n_bits - 1) * stride + n_symbols
                                                           : n_symbols * n_bits) *
                                               self->value_nbytes;
}

/* Puts the values where they must be, or their complements, into memory of the output's size. */
static void write_values(const call *self, bool complement, uint8_t *memory)
{
    const size_t nbytes = self->value_nbytes;
    memset(memory, BETWEEN, self->nbytes);
    for (size_t c = 0; c < self->n; c++) {
        const soft_codeword *codeword = &self->codewords[c];
        const size_t n_bits = codeword->Q_m, stride = codeword->whole.plane_stride;
        for (size_t i = 0; i < codeword->whole.n_symbols * n_bits * nbytes; i++) {
            const size_t symbol = i / nbytes / n_bits, bit = i / nbytes % n_bits;
            memory[self->at[c] + (stride ? (bit * stride + symbol) * nbytes + i % nbytes : i)] =
                codeword->llrs[i] ^ (complement ? 0xff : 0);
        }
    }
}

/* So many segments of each codeword, in any order, to this memory. */
static void make_segments(const call *self, harness_random *random, size_t n_parts, uint8_t *memory,
                          softqam_segment segments[])
{
    for (size_t c = 0; c < self->n; c++) {
        const soft_codeword *codeword = &self->codewords[c];
        const size_t step = (codeword->whole.plane_stride ? 1 : codeword->Q_m) * self->value_nbytes;
        soft_codeword_cut(codeword, random, false, n_parts, segments + c * n_parts);
        for (size_t k = c * n_parts; k < (c + 1) * n_parts; k++) {
            segments[k].out = memory + self->at[c] + (segments[k].first_symbol - codeword->whole.first_symbol) * step;
            if (segments[k].n_symbols == 0 && harness_random_below(random, 2))
                segments[k] = (softqam_segment){0}; /* NULL pointers, of which nothing is read */
            const size_t other = harness_random_below(random, k + 1);
            const softqam_segment segment = segments[k];
            segments[k] = segments[other];
            segments[other] = segment;
        }
    }
}

static void compare(const call *self, const uint8_t *expected, const uint8_t *got, size_t n_parts, const char *what)
{
    size_t i = 0, c = self->n - 1;
    if (memcmp(expected, got, self->nbytes) == 0)
        return;
    while (got[i] == expected[i])
        i++;
    while (c > 0 && self->at[c] > i)
        c--;
    const softqam_segment *whole = &self->codewords[c].whole;
    fail_msg("%s%s, %s to %s, codeword %zu of %zu: modulation %d, %u layers, %zu symbols from %llu on in %zu segments, "
             "strides %zu and %zu, plane stride %zu, noise form %d, scales %a and %a%s%s: byte %zd is %d, not %d",
             what, llr_calls.way, harness_input_names[self->config.input_format],
             harness_output_names[self->config.output_format], c, self->n, (int)whole->modulation, whole->n_layers,
             whole->n_symbols, (unsigned long long)whole->first_symbol, n_parts, whole->symbol_stride,
             whole->noise_stride, whole->plane_stride, (int)whole->noise_form, (double)whole->input_scale,
             (double)whole->llr_scale, whole->descramble ? ", descrambled" : "",
             self->codewords[c].has_gains ? ", gains" : "", (ssize_t)(i - self->at[c]), got[i], expected[i]);
}

/* On every context, between guard pages. */
static void check(const soft_contexts *on, harness_random *random, const call *self, size_t n_parts)
{
    const size_t n_segments = self->n * n_parts;
    scoped_memory uint8_t *expected = harness_alloc(self->nbytes);
    scoped_memory softqam_segment *segments = harness_alloc(n_segments * sizeof *segments),
                                  *before = harness_alloc(n_segments * sizeof *segments);
    SCOPED(llr_close_buffer) harness_buffer out;
    llr_open_buffer(&out, self->nbytes);
    llr_place_buffer(&out, random, self->nbytes, self->value_nbytes);
    write_values(self, false, expected);
    make_segments(self, random, n_parts, out.data, segments);
    memcpy(before, segments, n_segments * sizeof *segments);
    for (size_t c = 0; c < on->all.n; c++) {
        scoped_demodulator *demodulator = soft_create(&self->config, on->all.items[c]);
        write_values(self, true, out.data);
        llr_calls.demodulate(demodulator, segments, n_segments);
        harness_buffer_check(&out);
        compare(self, expected, out.data, n_parts, on->all.names[c]);
        assert_memory_equal(segments, before, n_segments * sizeof *segments);
    }
}

static void check_combination(const soft_contexts *on, harness_random *random, const combination *of, size_t n_elements,
                              size_t n_parts)
{
    if (of->n_layers > 1 && of->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        return;
    call *self = open_call(random, of->format, of->input);
    add_codeword(self, on, random, of, n_elements);
    check(on, random, self, n_parts);
    close_call(self);
}

/* Number k of all combinations but those of input formats, which go round. */
enum { N_COMBINATIONS = HARNESS_N_MODULATIONS * HARNESS_N_LLR_FORMATS * SOFTQAM_MAX_LAYERS * 4 };

static combination combination_at(size_t k, size_t input)
{
    const size_t rest = k / HARNESS_N_MODULATIONS / HARNESS_N_LLR_FORMATS;
    return (combination){
        .modulation = (softqam_modulation)(SOFTQAM_MODULATION_BPSK + k % HARNESS_N_MODULATIONS),
        .format = harness_llr_formats[k / HARNESS_N_MODULATIONS % HARNESS_N_LLR_FORMATS],
        .input = (softqam_input_format)input,
        .n_layers = 1 + (unsigned)(rest % SOFTQAM_MAX_LAYERS),
        .has_planes = rest / SOFTQAM_MAX_LAYERS % 2,
        .is_descrambled = rest / SOFTQAM_MAX_LAYERS / 2 % 2,
    };
}

/* Each with each input format: one of any length to 200 resource elements, and one of some thousands. */
HARNESS_TEST(test_combinations)
{
    harness_random random = harness_random_stream(STREAM_COMBINATIONS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1, 0);
    for (size_t k = 0; k < (size_t)4 * N_COMBINATIONS; k++) {
        const combination of = combination_at(k / 4, k % 4);
        const size_t max_elements = k % 4 == k / 4 % 4 ? 3000 : 200;
        check_combination(&on, &random, &of, harness_random_below(&random, max_elements + 1), 1);
    }
}

/* Every length to 200 resource elements, each with some combinations. */
HARNESS_TEST(test_lengths)
{
    harness_random random = harness_random_stream(STREAM_ANY_LENGTH);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1, 0);
    for (size_t k = 0; k <= 200 * 12; k++) {
        const combination of =
            combination_at(harness_random_below(&random, N_COMBINATIONS), harness_random_below(&random, 4));
        check_combination(&on, &random, &of, k / 12, 1);
    }
}

/* A codeword cut into segments between any resource elements. */
HARNESS_TEST(test_cuts)
{
    static const size_t full[] = {12, 13, 120, 121, 128, 129}; /* what kernels take, or a warp looks at, and one more */
    harness_random random = harness_random_stream(STREAM_CUTS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1, 0);
    for (size_t k = 0; k < N_COMBINATIONS; k++) {
        const combination of = combination_at(k, harness_random_below(&random, 4));
        const size_t n_parts = k % 16 ? 2 + harness_random_below(&random, k % 8 ? 14 : MAX_SEGMENTS - 2)
                                      : full[k / 16 % HARNESS_COUNT(full)];
        check_combination(&on, &random, &of, harness_random_below(&random, k % 8 ? 300 : 4000), n_parts);
    }
}

/* Calls of several codewords, each with settings of its own: in chunks of one symbol, of some, and of many. */
static void check_calls(uint32_t stream, bool is_soft_bits, size_t n_calls)
{
    static const struct {
        unsigned n_threads;
        size_t chunk_symbols, max_elements;
    } sizes[] = {{1, 1, 3}, {2, 1000, 300}, {3, 20000, 3000}};
    harness_random random = harness_random_stream(stream);
    for (size_t s = 0; s < HARNESS_COUNT(sizes); s++) {
        SCOPED(soft_close_contexts)
        soft_contexts on = soft_open_contexts(sizes[s].n_threads, sizes[s].chunk_symbols);
        for (size_t k = 0; k < n_calls; k++) {
            const softqam_output_format format =
                is_soft_bits ? SOFTQAM_OUTPUT_U8 : harness_llr_formats[k % HARNESS_N_LLR_FORMATS];
            const softqam_input_format input = (softqam_input_format)(k / 4 % HARNESS_N_INPUT_FORMATS);
            call *self = open_call(&random, format, input);
            for (size_t n = 1 + harness_random_below(&random, MAX_CODEWORDS); n > 0; n--) {
                combination of = combination_at(harness_random_below(&random, N_COMBINATIONS), input);
                of.format = format;
                if (is_soft_bits)
                    of = (combination){SOFTQAM_MODULATION_256QAM, format, input, 1, false, false};
                if (of.modulation == SOFTQAM_MODULATION_PI2_BPSK)
                    of.n_layers = 1;
                const size_t max_elements = harness_random_below(&random, 8) ? 100 : sizes[s].max_elements;
                add_codeword(self, &on, &random, &of, harness_random_below(&random, max_elements + 1));
            }
            check(&on, &random, self, 1 + harness_random_below(&random, MAX_SEGMENTS / MAX_CODEWORDS));
            close_call(self);
        }
    }
}

HARNESS_TEST(test_calls) { check_calls(STREAM_CALLS, false, 64); }

HARNESS_TEST(test_soft_bits) { check_calls(STREAM_SOFT_BITS, true, 32); }

/* Enough symbols for several threads, whose parts begin in any layer. */
HARNESS_TEST(test_threads)
{
    enum { N_SYMBOLS = 150000 };
    harness_random random = harness_random_stream(STREAM_THREADS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(3, 0);
    for (size_t k = 0; k < 16; k++) {
        const combination of = {
            .modulation = (softqam_modulation)(SOFTQAM_MODULATION_QPSK + k % (HARNESS_N_MODULATIONS - 2)),
            .format = harness_llr_formats[k % HARNESS_N_LLR_FORMATS],
            .input = (softqam_input_format)(k / 2 % HARNESS_N_INPUT_FORMATS),
            .n_layers = 1 + (unsigned)(k + 2) % SOFTQAM_MAX_LAYERS,
            .has_planes = k / 4 % 2,
            .is_descrambled = k / 8 % 2,
        };
        check_combination(&on, &random, &of, N_SYMBOLS / of.n_layers, 1 + k % 3);
    }
}

/* The same in many short segments of one layer, which the CPU demodulates at once where they lie side by side. */
HARNESS_TEST(test_threads_in_short_segments)
{
    enum { MAX_ELEMENTS = 12000 };
    harness_random random = harness_random_stream(STREAM_SHORT_SEGMENTS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(3, 0);
    for (size_t k = 0; k < 10; k++) {
        call *self = open_call(&random, harness_llr_formats[k % HARNESS_N_LLR_FORMATS], SOFTQAM_INPUT_CF32);
        while (self->n < MAX_CODEWORDS) {
            combination of = combination_at(harness_random_below(&random, N_COMBINATIONS), SOFTQAM_INPUT_CF32);
            of.format = self->config.output_format;
            of.n_layers = 1;
            add_codeword(self, &on, &random, &of, harness_random_below(&random, MAX_ELEMENTS));
        }
        check(&on, &random, self, 1 + harness_random_below(&random, MAX_SEGMENTS / MAX_CODEWORDS));
        close_call(self);
    }
}

/* Some symbols of BPSK before many of 1024QAM: a chunk takes no more symbols than it has room for of the latter. */
HARNESS_TEST(test_longest_values)
{
    enum { N_SYMBOLS = 600000 };
    if (harness_backend() == SOFTQAM_BACKEND_CPU) /* has no chunks */
        return;
    harness_random random = harness_random_stream(STREAM_LONGEST_VALUES);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(2, N_SYMBOLS / 2);
    combination of = {SOFTQAM_MODULATION_BPSK, SOFTQAM_OUTPUT_F32, SOFTQAM_INPUT_CF32, 1, false, false};
    call *self = open_call(&random, of.format, of.input);
    add_codeword(self, &on, &random, &of, 10);
    of.modulation = SOFTQAM_MODULATION_1024QAM;
    add_codeword(self, &on, &random, &of, N_SYMBOLS);
    for (size_t k = 0; k < 3; k++)
        check(&on, &random, self, 1); /* in either order */
    close_call(self);
}
