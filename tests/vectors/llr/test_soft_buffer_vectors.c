/* SPDX-License-Identifier: MIT */
/* The soft buffers of this folder through the public API: a grant's codeword, whole, an OFDM symbol at a time and
 * element by element, gives the bytes of the files, in f32 values in their intervals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MAX_NAME = 64, MAX_LINES = 32 };

/* A line of codewords.txt. */
typedef struct vector {
    char name[MAX_NAME], modulation[16], format[8];
    softqam_ldpc_grant grant;
    uint32_t c_init;
    unsigned C, Z_c, K_prime, n_cb, k0, first_filler, n_fillers;
    float scale, limit, filler;
    unsigned is_positive_1;
    /* What the names mean. */
    softqam_modulation modulation_number;
    softqam_output_format format_number;
    size_t value_nbytes, n_symbols, nbytes;
    float *symbols, *noise_var;
    uint8_t *expected, *high; /* `high`: f32 only */
} vector;

static const struct {
    const char *name;
    softqam_modulation number;
} modulations[] = {{"qpsk", SOFTQAM_MODULATION_QPSK},
                   {"16qam", SOFTQAM_MODULATION_16QAM},
                   {"64qam", SOFTQAM_MODULATION_64QAM},
                   {"256qam", SOFTQAM_MODULATION_256QAM},
                   {"1024qam", SOFTQAM_MODULATION_1024QAM}};

static void *read_file(const char *name, const char *suffix, size_t nbytes)
{
    char path[FILENAME_MAX];
    snprintf(path, sizeof path, "%s/%s.%s", SOFTQAM_SOFT_BUFFERS_DIR, name, suffix);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot be opened", path);
    uint8_t *bytes = harness_alloc(nbytes + 1);
    if (fread(bytes, 1, nbytes + 1, file) != nbytes)
        fail_msg("%s: not %zu bytes", path, nbytes);
    fclose(file);
    return bytes;
}

static bool parse(const char *line, vector *self)
{
    unsigned long long G;
    memset(self, 0, sizeof *self);
    softqam_ldpc_grant *grant = &self->grant;
    if (sscanf(line, "%63s %15s %u %u %llu %u %u %u %u %u %u %u %u %u %u %u %7s %f %f %f %u", self->name,
               self->modulation, &grant->n_layers, &self->c_init, &G, &grant->tb_size, &grant->base_graph, &grant->rv,
               &grant->n_ref, &self->C, &self->Z_c, &self->K_prime, &self->n_cb, &self->k0, &self->first_filler,
               &self->n_fillers, self->format, &self->scale, &self->limit, &self->filler, &self->is_positive_1) != 21)
        return false;
    grant->n_bits = G;
    return true;
}

static void look_up(vector *self)
{
    for (size_t k = 0; k < HARNESS_COUNT(modulations); k++)
        if (strcmp(self->modulation, modulations[k].name) == 0)
            self->modulation_number = modulations[k].number;
    assert_int_not_equal(self->modulation_number, SOFTQAM_MODULATION_DEFAULT);
    size_t n_found = 0;
    for (size_t f = 0; f < HARNESS_N_LLR_FORMATS; f++)
        if (strcmp(self->format, harness_output_names[harness_llr_formats[f]]) == 0) {
            self->format_number = harness_llr_formats[f];
            n_found++;
        }
    assert_int_equal(n_found, 1);
    self->grant.bits_per_symbol = softqam_bits_per_symbol(self->modulation_number);
    self->n_symbols = self->grant.n_bits / self->grant.bits_per_symbol;
    self->value_nbytes = softqam_output_nbytes(self->format_number, SOFTQAM_MODULATION_BPSK, 1);
    self->nbytes = self->value_nbytes * self->C * self->n_cb;
}

static void open_vector(vector *self)
{
    look_up(self);
    self->symbols = read_file(self->name, "cf32", 2 * self->n_symbols * sizeof(float));
    self->noise_var = read_file(self->name, "noise_var.f32", self->n_symbols * sizeof(float));
    const bool is_f32 = self->format_number == SOFTQAM_OUTPUT_F32;
    self->expected = read_file(self->name, is_f32 ? "low.f32" : self->format, self->nbytes);
    self->high = is_f32 ? read_file(self->name, "high.f32", self->nbytes) : NULL;
}

static void close_vector(vector *self)
{
    free(self->symbols);
    free(self->noise_var);
    free(self->expected);
    free(self->high);
}

static size_t open_all(vector vectors[MAX_LINES])
{
    char path[FILENAME_MAX], line[512];
    snprintf(path, sizeof path, "%s/codewords.txt", SOFTQAM_SOFT_BUFFERS_DIR);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot be opened", path);
    size_t n = 0;
    while (fgets(line, sizeof line, file))
        if (line[0] != '#') {
            assert_true(n < MAX_LINES && parse(line, &vectors[n]));
            open_vector(&vectors[n++]);
        }
    fclose(file);
    assert_true(n > 0);
    return n;
}

/* The first value that is not as the files have it; n where all are. */
static size_t first_wrong(const vector *self, const uint8_t *soft, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t at = i * self->value_nbytes;
        if (self->high) {
            float value, low, high;
            memcpy(&value, soft + at, sizeof value);
            memcpy(&low, self->expected + at, sizeof low);
            memcpy(&high, self->high + at, sizeof high);
            if (!(low <= value && value <= high))
                return i;
        } else if (memcmp(soft + at, self->expected + at, self->value_nbytes) != 0) {
            return i;
        }
    }
    return n;
}

static softqam_codeword make_codeword(const vector *self, void *soft)
{
    softqam_codeword codeword;
    softqam_ldpc ldpc;
    assert_int_equal(softqam_codeword_init_ldpc(&codeword, &ldpc, &self->grant), SOFTQAM_OK);
    assert_int_equal(codeword.n_code_blocks, self->C);
    assert_int_equal(ldpc.lifting_size, self->Z_c);
    assert_int_equal(ldpc.k_prime, self->K_prime);
    assert_int_equal(codeword.n_cb, self->n_cb);
    assert_int_equal(codeword.k0, self->k0);
    assert_int_equal(codeword.first_filler, self->first_filler);
    assert_int_equal(codeword.n_fillers, self->n_fillers);
    codeword.buffers = soft;
    codeword.block_stride = self->n_cb;
    codeword.filler_value = self->filler;
    codeword.combine = strcmp(strrchr(self->name, '.'), ".1") != 0;
    return codeword;
}

static softqam_demodulator *create(const vector *self)
{
    harness_setup setup = harness_format_setup(self->format_number, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.modulation = self->modulation_number;
    setup.demodulator.sign = self->is_positive_1 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
    if (self->format_number == SOFTQAM_OUTPUT_S8 || self->format_number == SOFTQAM_OUTPUT_S16)
        setup.demodulator.llr_scale = self->scale;
    if (self->format_number != SOFTQAM_OUTPUT_F32)
        setup.demodulator.llr_limit = (int)self->limit;
    return harness_create(&setup);
}

/* Adds a transmission to soft buffers, so many resource elements a call. */
static void receive(const vector *self, size_t n_elements, uint8_t *soft)
{
    scoped_demodulator *demodulator = create(self);
    const size_t n_layers = self->grant.n_layers, step = n_elements * n_layers;
    for (size_t first = 0; first < self->n_symbols; first += step) {
        const size_t rest = self->n_symbols - first;
        softqam_segment segment = {.n_symbols = rest < step ? rest : step,
                                   .first_symbol = first,
                                   .symbol_stride = n_layers,
                                   .noise_stride = n_layers,
                                   .n_layers = self->grant.n_layers,
                                   .descramble = 1,
                                   .c_init = self->c_init};
        for (size_t layer = 0; layer < n_layers; layer++) {
            segment.layers[layer].symbols = self->symbols + 2 * (first + layer);
            segment.layers[layer].noise_var = self->noise_var + first + layer;
        }
        segment.codeword = make_codeword(self, soft);
        harness_demodulate_segments(demodulator, &segment, 1);
    }
}

HARNESS_TEST(test_library_meets_all)
{
    static vector vectors[MAX_LINES];
    static const size_t steps[] = {1 << 20, 97, 1};
    const size_t n = open_all(vectors);
    bool good = true;
    for (size_t s = 0; s < HARNESS_COUNT(steps); s++) {
        uint8_t *soft = NULL;
        for (size_t k = 0; k < n; k++) {
            if (strcmp(strrchr(vectors[k].name, '.'), ".1") == 0) {
                free(soft);
                soft = harness_alloc(vectors[k].nbytes);
                memset(soft, 0x55, vectors[k].nbytes);
            }
            receive(&vectors[k], steps[s], soft);
            const size_t n_values = vectors[k].nbytes / vectors[k].value_nbytes;
            const size_t wrong = first_wrong(&vectors[k], soft, n_values);
            if (wrong < n_values)
                print_message("%s, %zu elements a call: value %zu is wrong\n", vectors[k].name, steps[s], wrong);
            good &= wrong == n_values;
        }
        free(soft);
    }
    for (size_t k = 0; k < n; k++)
        close_vector(&vectors[k]);
    assert_true(good);
}
