/* SPDX-License-Identifier: MIT */
/* Code blocks hold, to the last bit, what the reference makes of a codeword's LLRs in symbol order: as they are,
 * de-interleaved, or in LDPC soft buffers; random codewords with fillers, limited buffers, repetition, code block
 * groups, dropped code blocks and retransmissions, cut into segments and calls anywhere. No other byte changes. Through
 * the public API, on the backend that SOFTQAM_TEST_BACKEND names; on the CPU by every variant of the loops that runs
 * here. api/bad_codewords.c has the refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft_buffer_fixture.h"
/* Streams of random numbers, one a test. */
enum { STREAM_RANDOM = 1, STREAM_CHUNKS, STREAM_TINY, STREAM_THREADS, STREAM_SLOTS, STREAM_POSITIONS };

enum { MAX_SENT = 4, MAX_CODEWORDS = 3 };
#define NOWHERE SIZE_MAX

/* How large things are. */
typedef struct bounds {
    size_t max_n_cb, max_blocks, max_bits;
} bounds;

/* Lifting sizes, 38.212 table 5.3.2-1. */
static const size_t lifting_sizes[] = {2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,
                                       15,  16,  18,  20,  22,  24,  26,  28,  30,  32,  36,  40,  44,
                                       48,  52,  56,  60,  64,  72,  80,  88,  96,  104, 112, 120, 128,
                                       144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384};

typedef enum placement { BY_STRIDE, SIDE_BY_SIDE, BY_POINTERS, N_PLACEMENTS } placement;

/* Soft buffers, and the codewords that are sent to them one after the other; or, with n_cb 0, one codeword. */
typedef struct trial {
    softqam_demodulator_config config;
    softqam_codeword buffers; /* what all of them have in common */
    size_t Z_c;               /* 0: the buffer is no LDPC code's, or none */
    int base_graph;
    placement placement;
    size_t value_nbytes, nbytes;
    size_t pointer_at[SOFT_MAX_BLOCKS];
    size_t n_sent;
    soft_codeword sent[MAX_SENT];
    size_t at[MAX_SENT][SOFT_MAX_BLOCKS]; /* NOWHERE: dropped */
    uint8_t *before;
    uint8_t *after[MAX_SENT];
} trial;

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* All of an LDPC code's bits, a part of them, or any number. */
static void choose_length(harness_random *random, const bounds *most, trial *self)
{
    const size_t kind = harness_random_below(random, 8);
    size_t n_lifting = HARNESS_COUNT(lifting_sizes), n_cb;
    self->base_graph = 1 + (int)harness_random_below(random, 2);
    const size_t n_columns = self->base_graph == 1 ? 66 : 50;
    while (n_lifting > 1 && lifting_sizes[n_lifting - 1] * n_columns > most->max_n_cb)
        n_lifting--;
    if (kind < 2 || most->max_n_cb < 66 * 2) {
        n_cb = 1 + harness_random_below(random, smaller(kind ? 400 : 8, most->max_n_cb));
    } else {
        self->Z_c = lifting_sizes[harness_random_below(random, n_lifting)];
        n_cb = n_columns * self->Z_c;
        if (kind == 2)
            n_cb -= harness_random_below(random, n_cb / 3);
    }
    self->buffers.n_cb = (uint32_t)n_cb;
}

/* K' - 2 Zc and F, as far as they are in a limited buffer; or any positions, the first and last ones among them. */
static void choose_fillers(harness_random *random, trial *self)
{
    softqam_codeword *buffers = &self->buffers;
    const size_t n_cb = buffers->n_cb, kind = harness_random_below(random, 5);
    if (self->Z_c > 0 && kind < 3) {
        const size_t end = smaller((self->base_graph == 1 ? 20 : 8) * self->Z_c, n_cb);
        buffers->n_fillers = (uint32_t)harness_random_below(random, smaller(end, 6 * self->Z_c));
        buffers->first_filler = (uint32_t)(end - buffers->n_fillers);
    } else {
        buffers->n_fillers = kind == 3 ? 0 : (uint32_t)harness_random_below(random, n_cb);
        const size_t most = n_cb - buffers->n_fillers;
        buffers->first_filler = (uint32_t[]){
            0, (uint32_t)most, (uint32_t)harness_random_below(random, most + 1)}[harness_random_below(random, 3)];
    }
}

static uint32_t choose_k0(harness_random *random, const trial *self)
{
    const softqam_codeword *buffers = &self->buffers;
    if (buffers->n_cb == 0)
        return 0;
    const uint32_t n_cb = buffers->n_cb, behind = buffers->first_filler + buffers->n_fillers;
    switch (harness_random_below(random, 8)) {
    case 0:
        return (uint32_t)harness_random_below(random, n_cb);
    case 1:
        return n_cb - 1;
    case 2: /* among the fillers */
        return (buffers->first_filler + (uint32_t)harness_random_below(random, buffers->n_fillers + 1)) % n_cb;
    case 3:
        return behind % n_cb;
    default:
        if (self->Z_c == 0)
            return 0;
        return (uint32_t)rate_recovery_k0(self->base_graph, (unsigned)harness_random_below(random, 4), n_cb, self->Z_c);
    }
}

static softqam_demodulator_config choose_config(harness_random *random, softqam_output_format format)
{
    static const int limits[HARNESS_N_OUTPUT_FORMATS][6] = {
        [SOFTQAM_OUTPUT_S8] = {0, 127, 120, 31, 1, 100},
        [SOFTQAM_OUTPUT_S16] = {0, 32767, 1000, 127, 1, 500},
        [SOFTQAM_OUTPUT_F16] = {0, 0, 10000, 32, 1, 2047}, /* each a binary16 */
        [SOFTQAM_OUTPUT_F32] = {0},
    };
    _Static_assert(HARNESS_N_OUTPUT_FORMATS == 5, "limits has a row for each but u8");
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = format;
    config.input_format = harness_random_below(random, 2)
                              ? SOFTQAM_INPUT_CF32
                              : (softqam_input_format)harness_random_below(random, HARNESS_N_INPUT_FORMATS);
    config.modulation = (softqam_modulation)harness_random_below(random, HARNESS_N_MODULATIONS + 1);
    config.sign = (softqam_sign)harness_random_below(random, 2);
    config.llr_limit = limits[format][harness_random_below(random, 6)];
    return config;
}

static float choose_filler_value(harness_random *random, softqam_output_format format)
{
    static const float values[] = {0, -0.0F, 20, -20, 127, 10000, 65504, 65519, 0.1F, -1e-6F, 1e-9F, 2049};
    static const float floats[] = {0, -0.0F, 1e30F, -3.4028235e38F, 1e-42F, 0.1F};
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return (float)(int)harness_random_below(random, 256) - 128;
    case SOFTQAM_OUTPUT_S16:
        return (float)(int)harness_random_below(random, 65536) - 32768;
    case SOFTQAM_OUTPUT_F16:
        return values[harness_random_below(random, HARNESS_COUNT(values))];
    case SOFTQAM_OUTPUT_F32:
    case SOFTQAM_OUTPUT_U8: /* has none */
        break;
    }
    return floats[harness_random_below(random, HARNESS_COUNT(floats))];
}

/* Bits of a code block, roughly: any part of the buffer, just all of it, some times that, or very often that. */
static size_t choose_length_of_block(harness_random *random, const trial *self, size_t most)
{
    const size_t n = self->buffers.n_cb ? self->buffers.n_cb - self->buffers.n_fillers : most;
    switch (harness_random_below(random, 8)) {
    case 0:
        return smaller(n, most);
    case 1:
        return smaller(harness_random_below(random, 4 * n + 1), most);
    case 2:
        return harness_random_below(random, smaller(100 * n, most) + 1);
    default:
        return harness_random_below(random, smaller(n, most) + 1);
    }
}

/* Modulation, layers, groups, lengths and k0 of codeword number k. */
static void choose_codeword(harness_random *random, const bounds *most, const trial *of, size_t k, soft_codeword *self)
{
    static const float scales[] = {0, 0, 1, 0x1p-6F};
    softqam_codeword *codeword = &self->whole.codeword;
    self->config = of->config;
    *codeword = of->buffers;
    codeword->k0 = choose_k0(random, of);
    codeword->combine = codeword->n_cb > 0 && (k > 0 || harness_random_below(random, 4) == 0);
    self->has_gains = harness_random_below(random, 4) == 0;
    self->whole.modulation = (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
    self->whole.n_layers = (unsigned)harness_random_below(random, SOFTQAM_MAX_LAYERS + 1);
    if (self->whole.modulation == SOFTQAM_MODULATION_PI2_BPSK)
        self->whole.n_layers = 1;
    const size_t n_layers = self->whole.n_layers ? self->whole.n_layers : 1, C = codeword->n_code_blocks;
    const size_t step = n_layers * softqam_bits_per_symbol(self->whole.modulation);
    if (harness_random_below(random, 3) == 0)
        soft_choose_groups(random, codeword);
    const size_t length = choose_length_of_block(random, of, most->max_bits / C);
    codeword->n_bits = (length * C / step + harness_random_below(random, C)) * step;
    self->whole.llr_scale =
        harness_llr_defaults_of[of->config.output_format].limit ? scales[harness_random_below(random, 4)] : 0;
    self->whole.noise_form = (softqam_noise_form)harness_random_below(random, 3);
    self->whole.scrambling_offset = soft_choose_position(random, self->whole.modulation, (unsigned)n_layers);
    self->whole.descramble = (unsigned)harness_random_below(random, 2);
    self->whole.c_init = self->whole.descramble ? harness_random_u32(random) >> 1 : 0;
}

/* Values of code block r's buffer. */
static size_t room_of(const trial *self, size_t r)
{
    return self->buffers.n_cb ? self->buffers.n_cb : self->sent[0].lengths[r];
}

static void choose_placement(harness_random *random, trial *self)
{
    const size_t C = self->buffers.n_code_blocks;
    size_t order[SOFT_MAX_BLOCKS], longest = 0, sum = 0;
    for (size_t r = 0; r < C; r++) {
        longest = room_of(self, r) > longest ? room_of(self, r) : longest;
        sum += room_of(self, r);
    }
    self->placement = (placement)harness_random_below(random, N_PLACEMENTS);
    if (self->placement == BY_STRIDE && longest > 0)
        self->buffers.block_stride = longest + (harness_random_below(random, 3) ? harness_random_below(random, 40) : 0);
    self->nbytes =
        (self->placement == BY_STRIDE ? (C - 1) * self->buffers.block_stride + longest : sum) * self->value_nbytes;
    if (self->placement != BY_POINTERS)
        return;
    self->nbytes = 0;
    for (size_t k = 0; k < C; k++) {
        const size_t other = harness_random_below(random, k + 1);
        order[k] = order[other];
        order[other] = k;
    }
    for (size_t k = 0; k < C; k++) {
        self->nbytes += harness_random_below(random, 20) * (llr_calls.is_aligned ? self->value_nbytes : 1);
        self->pointer_at[order[k]] = self->nbytes;
        self->nbytes += room_of(self, order[k]) * self->value_nbytes;
    }
}

/* Where codeword k's code blocks have their buffers. */
static void place_blocks(harness_random *random, trial *self, size_t k)
{
    size_t end = 0;
    self->sent[k].whole.codeword.block_stride = self->buffers.block_stride;
    for (size_t r = 0; r < self->buffers.n_code_blocks; r++) {
        self->at[k][r] = (self->placement == BY_STRIDE ? r * self->buffers.block_stride : end) * self->value_nbytes;
        if (self->placement == BY_POINTERS)
            self->at[k][r] = harness_random_below(random, 5) ? self->pointer_at[r] : NOWHERE;
        end += self->sent[k].transmitted[r] ? room_of(self, r) : 0;
    }
}

/* The ends of the range, beyond the limit too, and zeros. */
static void write_special(harness_random *random, const soft_values *values, uint8_t *value)
{
    static const uint16_t halves[] = {0x7c00, 0xfc00, 0x7bff, 0xfbff, 0x8000, 0x7e01};
    const double limit = values->limit;
    const double numbers[] = {limit, -limit, 0, -0.0, values->format == SOFT_F32 ? INFINITY : 1 - limit, limit - 1};
    const size_t k = harness_random_below(random, 6);
    if (values->format == SOFT_F16 && harness_random_below(random, 2))
        memcpy(value, &halves[k], sizeof halves[k]);
    else
        soft_values_write(values->format, numbers[k], value);
}

/* What the buffers hold before: mostly LLRs, but also any bits. */
static void fill_before(harness_random *random, trial *self)
{
    const soft_codeword *first = &self->sent[0];
    const soft_values values = soft_values_of(&self->config);
    const size_t n_llrs = first->whole.codeword.n_bits, nbytes = self->value_nbytes;
    self->before = harness_alloc(self->nbytes);
    harness_random_fill(random, self->before, self->nbytes);
    for (size_t at = 0; at + nbytes <= self->nbytes; at += nbytes) {
        const size_t kind = harness_random_below(random, 8);
        if (kind == 0)
            write_special(random, &values, self->before + at);
        else if (kind < 6 && n_llrs > 0)
            memcpy(self->before + at, first->llrs + harness_random_below(random, n_llrs) * nbytes, nbytes);
    }
}

/* What must come of it. */
static void expect(trial *self)
{
    const uint8_t *before = self->before;
    for (size_t k = 0; k < self->n_sent; k++) {
        self->after[k] = harness_alloc(self->nbytes);
        memcpy(self->after[k], before, self->nbytes);
        for (size_t r = 0; r < self->buffers.n_code_blocks; r++)
            if (self->sent[k].transmitted[r] && self->at[k][r] != NOWHERE)
                soft_codeword_expect(&self->sent[k], r, self->after[k] + self->at[k][r]);
        before = self->after[k];
    }
}

/* softqam_codeword_block() gives each code block's place in the codeword. */
static void check_blocks(const soft_codeword *self)
{
    const softqam_segment *whole = &self->whole;
    for (size_t r = 0; r < whole->codeword.n_code_blocks; r++) {
        uint64_t first = UINT64_MAX, length = UINT64_MAX;
        assert_int_equal(softqam_codeword_block(&whole->codeword, self->Q_m, whole->n_layers ? whole->n_layers : 1, r,
                                                &first, &length),
                         SOFTQAM_OK);
        assert_true(first == self->first_values[r] && length == self->lengths[r]);
    }
}

static trial *open_trial(const soft_contexts *on, harness_random *random, const bounds *most,
                         const softqam_demodulator_config *config, size_t n_sent)
{
    trial *self = harness_alloc(sizeof *self);
    *self = (trial){.config = *config, .n_sent = n_sent};
    self->value_nbytes = soft_values_nbytes(soft_values_of(config).format);
    size_t most_blocks = harness_random_below(random, 3) ? most->max_blocks : SOFT_MAX_BLOCKS;
    if (harness_random_below(random, 6)) {
        choose_length(random, most, self);
        choose_fillers(random, self);
        self->buffers.filler_value = choose_filler_value(random, config->output_format);
        self->buffers.deinterleave = 1;
        most_blocks = smaller(most->max_blocks, 1 + 2 * most->max_n_cb / self->buffers.n_cb);
    } else {
        self->n_sent = 1;
        self->buffers.deinterleave = (uint32_t)harness_random_below(random, 2);
    }
    self->buffers.n_code_blocks = 1 + (uint32_t)harness_random_below(random, most_blocks);
    for (size_t k = 0; k < self->n_sent; k++) {
        soft_codeword *sent = &self->sent[k];
        choose_codeword(random, most, self, k, sent);
        soft_codeword_open(sent, on, random);
        check_blocks(sent);
        if (k == 0)
            choose_placement(random, self);
        place_blocks(random, self, k);
        if (sent->whole.modulation == config->modulation)
            sent->whole.modulation = SOFTQAM_MODULATION_DEFAULT;
    }
    fill_before(random, self);
    expect(self);
    return self;
}

static void close_trial(trial *self)
{
    for (size_t k = 0; k < self->n_sent; k++) {
        soft_codeword_close(&self->sent[k]);
        free(self->after[k]);
    }
    free(self->before);
    free(self);
}

/* The library. */

/* The buffers of codeword k, in memory that begins at `base`. `pointers` has room for those of all code blocks. */
static void set_buffers(const trial *self, size_t k, uint8_t *base, void **pointers, softqam_codeword *codeword)
{
    if (self->placement != BY_POINTERS) {
        codeword->buffers = base;
        return;
    }
    for (size_t r = 0; r < self->buffers.n_code_blocks; r++) {
        pointers[r] = self->at[k][r] == NOWHERE ? NULL : base + self->at[k][r];
        if (!self->sent[k].transmitted[r] && r % 2)
            pointers[r] = (void *)(uintptr_t)16; /* not followed */
    }
    codeword->block_buffers = pointers;
}

static void compare(const trial *self, size_t k, const uint8_t *got, size_t n_parts, const char *detail)
{
    const softqam_codeword *codeword = &self->sent[k].whole.codeword;
    if (memcmp(got, self->after[k], self->nbytes) == 0)
        return;
    size_t i = 0;
    while (got[i] == self->after[k][i])
        i++;
    const size_t nbytes = self->value_nbytes;
    fail_msg(
        "%s%s, %s to %s, limit %d, modulation %d, %u layers, transmission %zu of %zu: %llu bits, %u code blocks in "
        "%u groups (0x%x), n_cb %u, k0 %u, %u fillers of %g from %u on, combine %u, stride %llu%s%s, in %zu parts: "
        "byte %zu of %zu (value %zu) is %d, was %d, should be %d",
        detail, llr_calls.way, harness_input_names[self->config.input_format],
        harness_output_names[self->config.output_format], self->config.llr_limit, (int)self->sent[k].whole.modulation,
        self->sent[k].whole.n_layers, k, self->n_sent, (unsigned long long)codeword->n_bits, codeword->n_code_blocks,
        codeword->n_cbg, codeword->cbgti, codeword->n_cb, codeword->k0, codeword->n_fillers,
        (double)codeword->filler_value, codeword->first_filler, codeword->combine,
        (unsigned long long)codeword->block_stride, self->placement == BY_POINTERS ? ", pointers" : "",
        self->sent[k].whole.descramble ? ", descrambled" : "", n_parts, i, self->nbytes, i / nbytes, got[i],
        (k > 0 ? self->after[k - 1] : self->before)[i], self->after[k][i]);
}

/* Memory for the soft buffers of a trial, between guard pages. */
static void open_memory(harness_random *random, const trial *self, harness_buffer *memory)
{
    llr_open_buffer(memory, self->nbytes);
    llr_place_buffer(memory, random, self->nbytes, self->value_nbytes);
    memcpy(memory->data, self->before, self->nbytes);
}

/* Codeword k in one call or several. */
static size_t demodulate(harness_random *random, const trial *self, size_t k, const softqam_demodulator *demodulator,
                         uint8_t *base)
{
    void **pointers = llr_calls.alloc(SOFT_MAX_BLOCKS * sizeof *pointers);
    softqam_segment parts[SOFT_MAX_PARTS];
    const size_t n_parts = 1 + harness_random_below(random, harness_random_below(random, 3) ? SOFT_MAX_PARTS : 1);
    soft_codeword_cut(&self->sent[k], random, soft_codeword_repeats(&self->sent[k]), n_parts, parts);
    for (size_t i = 0; i < n_parts; i++)
        set_buffers(self, k, base, pointers, &parts[i].codeword);
    const bool is_one_call = harness_random_below(random, 2);
    for (size_t first = 0, n; first < n_parts; first += n) {
        n = is_one_call ? n_parts : 1 + harness_random_below(random, n_parts - first);
        llr_calls.demodulate(demodulator, parts + first, n);
    }
    llr_calls.release(pointers);
    return n_parts;
}

/* On every context. */
static void check_trial(const soft_contexts *on, harness_random *random, const trial *self)
{
    for (size_t c = 0; c < on->all.n; c++) {
        SCOPED(llr_close_buffer) harness_buffer memory;
        scoped_demodulator *demodulator = soft_create(&self->config, on->all.items[c]);
        open_memory(random, self, &memory);
        for (size_t k = 0; k < self->n_sent; k++) {
            const size_t n_parts = demodulate(random, self, k, demodulator, memory.data);
            compare(self, k, memory.data, n_parts, on->all.names[c]);
        }
        harness_buffer_check(&memory);
    }
}

static void check_trials(uint32_t stream, const bounds *most, unsigned n_threads, size_t chunk_symbols,
                         size_t n_codewords)
{
    harness_random random = harness_random_stream(stream);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(n_threads, chunk_symbols);
    size_t n = 0;
    for (size_t k = 0; n < n_codewords; k++) {
        const softqam_demodulator_config config =
            choose_config(&random, harness_llr_formats[k % HARNESS_N_LLR_FORMATS]);
        trial *self = open_trial(&on, &random, most, &config, 1 + harness_random_below(&random, MAX_SENT));
        check_trial(&on, &random, self);
        n += self->n_sent;
        close_trial(self);
    }
    print_message("%zu codewords\n", n);
}

static const bounds usual = {.max_n_cb = 2000, .max_blocks = 12, .max_bits = 6000};

HARNESS_TEST(test_random) { check_trials(STREAM_RANDOM, &usual, 1, 0, harness_symbol_count(50000)); }

HARNESS_TEST(test_chunks) { check_trials(STREAM_CHUNKS, &usual, 3, 97, harness_symbol_count(5000)); }

/* Buffers of some values, each of which is sent many times. */
HARNESS_TEST(test_tiny)
{
    check_trials(STREAM_TINY, &(bounds){.max_n_cb = 8, .max_blocks = 40, .max_bits = 2000}, 1, 0,
                 harness_symbol_count(60000));
}

/* One code block with this buffer; `format` goes round. */
static void check_position(const soft_contexts *on, harness_random *random, softqam_output_format format,
                           const softqam_codeword *codeword)
{
    trial *self = harness_alloc(sizeof *self);
    *self = (trial){.config = choose_config(random, format), .buffers = *codeword, .placement = BY_STRIDE, .n_sent = 1};
    self->value_nbytes = soft_values_nbytes(soft_values_of(&self->config).format);
    self->nbytes = codeword->n_cb * self->value_nbytes;
    self->sent[0] = (soft_codeword){.config = self->config, .whole.codeword = *codeword};
    self->sent[0].whole.modulation = codeword->n_bits % 4 ? SOFTQAM_MODULATION_QPSK : SOFTQAM_MODULATION_16QAM;
    soft_codeword_open(&self->sent[0], on, random);
    fill_before(random, self);
    expect(self);
    check_trial(on, random, self);
    close_trial(self);
}

/* Every k0, every run of fillers and every number of bits to three times the buffer, of small buffers. */
HARNESS_TEST(test_every_position)
{
    enum { MAX_N_CB = HARNESS_SANITIZED ? 4 : 7 };
    harness_random random = harness_random_stream(STREAM_POSITIONS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1, 0);
    softqam_codeword codeword = {.n_code_blocks = 1, .deinterleave = 1};
    size_t n = 0;
    for (codeword.n_cb = 1; codeword.n_cb <= MAX_N_CB; codeword.n_cb++)
        for (codeword.k0 = 0; codeword.k0 < codeword.n_cb; codeword.k0++)
            for (codeword.n_fillers = 0; codeword.n_fillers < codeword.n_cb; codeword.n_fillers++)
                for (codeword.first_filler = 0; codeword.first_filler + codeword.n_fillers <= codeword.n_cb;
                     codeword.first_filler++)
                    for (codeword.n_bits = 0; codeword.n_bits <= 3 * codeword.n_cb; codeword.n_bits += 2) {
                        const softqam_output_format format = harness_llr_formats[n++ % HARNESS_N_LLR_FORMATS];
                        codeword.combine = (uint32_t)harness_random_below(&random, 2);
                        codeword.filler_value = choose_filler_value(&random, format);
                        check_position(&on, &random, format, &codeword);
                    }
    print_message("%zu buffers\n", n);
}

/* Enough symbols for several threads, whose parts begin in any code block. */
HARNESS_TEST(test_threads)
{
    check_trials(STREAM_THREADS, &(bounds){.max_n_cb = 66 * 384, .max_blocks = 20, .max_bits = 400000}, 3, 0,
                 HARNESS_SANITIZED || harness_is_under_compute_sanitizer() ? 20 : 200);
}

/* Several codewords of one call, the parts of each between those of the others. */
static void check_slot(const soft_contexts *on, harness_random *random, trial *const trials[])
{
    for (size_t c = 0; c < on->all.n; c++) {
        harness_buffer memory[MAX_CODEWORDS];
        void **pointers = llr_calls.alloc(MAX_CODEWORDS * SOFT_MAX_BLOCKS * sizeof *pointers);
        softqam_segment parts[SOFT_MAX_PARTS], segments[MAX_CODEWORDS * SOFT_MAX_PARTS];
        scoped_demodulator *demodulator = soft_create(&trials[0]->config, on->all.items[c]);
        for (size_t i = 0; i < MAX_CODEWORDS; i++) {
            open_memory(random, trials[i], &memory[i]);
            soft_codeword_cut(&trials[i]->sent[0], random, true, SOFT_MAX_PARTS, parts);
            for (size_t k = 0; k < SOFT_MAX_PARTS; k++) {
                set_buffers(trials[i], 0, memory[i].data, pointers + i * SOFT_MAX_BLOCKS, &parts[k].codeword);
                segments[k * MAX_CODEWORDS + i] = parts[k];
            }
        }
        llr_calls.demodulate(demodulator, segments, HARNESS_COUNT(segments));
        llr_calls.release(pointers);
        for (size_t i = 0; i < MAX_CODEWORDS; i++) {
            compare(trials[i], 0, memory[i].data, SOFT_MAX_PARTS, on->all.names[c]);
            harness_buffer_check(&memory[i]);
            llr_close_buffer(&memory[i]);
        }
    }
}

HARNESS_TEST(test_slots)
{
    harness_random random = harness_random_stream(STREAM_SLOTS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(2, 0);
    const size_t n = harness_symbol_count(2000) / 2;
    for (size_t k = 0; k < n; k++) {
        trial *trials[MAX_CODEWORDS];
        const softqam_demodulator_config config =
            choose_config(&random, harness_llr_formats[k % HARNESS_N_LLR_FORMATS]);
        for (size_t i = 0; i < MAX_CODEWORDS; i++)
            trials[i] = open_trial(&on, &random, &usual, &config, 1);
        check_slot(&on, &random, trials);
        for (size_t i = 0; i < MAX_CODEWORDS; i++)
            close_trial(trials[i]);
    }
}
