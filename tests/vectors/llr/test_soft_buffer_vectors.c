/* SPDX-License-Identifier: MIT */
/* The soft buffers of this folder through the public API: a grant's codeword, whole, an OFDM symbol at a time and
 * element by element, gives the bytes of the files, in f32 values in their intervals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* A line of codewords.txt, and its files. */
typedef struct vector {
    char name[64], modulation_name[16], format_name[8];
    softqam_ldpc_grant grant;
    uint32_t c_init;
    unsigned C, Z_c, K_prime, n_cb, k0, first_filler, n_fillers;
    float scale, limit, filler;
    unsigned is_positive_1;
    softqam_modulation modulation;
    softqam_output_format format;
    bool is_first; /* transmission */
    size_t n_values, value_nbytes, n_symbols;
    float *symbols, *noise_var;
    uint8_t *expected, *high; /* `high`: f32 only */
} vector;

static FILE *open_file(const char *name, const char *suffix)
{
    char path[FILENAME_MAX];
    snprintf(path, sizeof path, "%s/%s.%s", SOFTQAM_SOFT_BUFFERS_DIR, name, suffix);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot be opened", path);
    return file;
}

static void *read_file(const char *name, const char *suffix, size_t nbytes)
{
    FILE *file = open_file(name, suffix);
    uint8_t *bytes = harness_alloc(nbytes + 1);
    if (fread(bytes, 1, nbytes + 1, file) != nbytes)
        fail_msg("%s.%s: not %zu bytes", name, suffix, nbytes);
    fclose(file);
    return bytes;
}

static void open_vector(const char *line, vector *self)
{
    static const char *const modulations[] = {[SOFTQAM_MODULATION_QPSK] = "qpsk",
                                              [SOFTQAM_MODULATION_16QAM] = "16qam",
                                              [SOFTQAM_MODULATION_64QAM] = "64qam",
                                              [SOFTQAM_MODULATION_256QAM] = "256qam",
                                              [SOFTQAM_MODULATION_1024QAM] = "1024qam"};
    unsigned long long G;
    *self = (vector){.modulation = SOFTQAM_MODULATION_QPSK};
    softqam_ldpc_grant *grant = &self->grant;
    const int n_fields = sscanf(line, "%63s %15s %u %u %llu %u %u %u %u %u %u %u %u %u %u %u %7s %f %f %f %u",
                                self->name, self->modulation_name, &grant->n_layers, &self->c_init, &G, &grant->tb_size,
                                &grant->base_graph, &grant->rv, &grant->n_ref, &self->C, &self->Z_c, &self->K_prime,
                                &self->n_cb, &self->k0, &self->first_filler, &self->n_fillers, self->format_name,
                                &self->scale, &self->limit, &self->filler, &self->is_positive_1);
    assert_int_equal(n_fields, 21);
    while (self->modulation < SOFTQAM_MODULATION_1024QAM &&
           strcmp(self->modulation_name, modulations[self->modulation]) != 0)
        self->modulation++;
    while (self->format < SOFTQAM_OUTPUT_U8 && strcmp(self->format_name, harness_output_names[self->format]) != 0)
        self->format++;
    assert_string_equal(self->modulation_name, modulations[self->modulation]);
    assert_string_equal(self->format_name, harness_output_names[self->format]);
    grant->n_bits = G;
    grant->bits_per_symbol = softqam_bits_per_symbol(self->modulation);
    self->is_first = strcmp(strrchr(self->name, '.'), ".1") == 0;
    self->n_symbols = grant->n_bits / grant->bits_per_symbol;
    self->n_values = (size_t)self->C * self->n_cb;
    self->value_nbytes = softqam_output_nbytes(self->format, SOFTQAM_MODULATION_BPSK, 1);
    const bool is_f32 = self->format == SOFTQAM_OUTPUT_F32;
    const size_t nbytes = self->n_values * self->value_nbytes;
    self->symbols = read_file(self->name, "cf32", 2 * self->n_symbols * sizeof(float));
    self->noise_var = read_file(self->name, "noise_var.f32", self->n_symbols * sizeof(float));
    self->expected = read_file(self->name, is_f32 ? "low.f32" : self->format_name, nbytes);
    self->high = is_f32 ? read_file(self->name, "high.f32", nbytes) : NULL;
}

static void close_vector(vector *self)
{
    free(self->symbols);
    free(self->noise_var);
    free(self->expected);
    free(self->high);
}

/* The first value that is not as the files have it; n_values where all are. */
static size_t first_wrong(const vector *self, const uint8_t *soft)
{
    for (size_t i = 0; i < self->n_values; i++) {
        const size_t at = i * self->value_nbytes;
        float value, low, high;
        if (!self->high && memcmp(soft + at, self->expected + at, self->value_nbytes) != 0)
            return i;
        if (!self->high)
            continue;
        memcpy(&value, soft + at, sizeof value);
        memcpy(&low, self->expected + at, sizeof low);
        memcpy(&high, self->high + at, sizeof high);
        if (!(low <= value && value <= high))
            return i;
    }
    return self->n_values;
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
    codeword.combine = !self->is_first;
    return codeword;
}

static softqam_demodulator *create(const vector *self)
{
    harness_setup setup = harness_format_setup(self->format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.modulation = self->modulation;
    setup.demodulator.sign = self->is_positive_1 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
    if (self->format == SOFTQAM_OUTPUT_S8 || self->format == SOFTQAM_OUTPUT_S16)
        setup.demodulator.llr_scale = self->scale;
    if (self->format != SOFTQAM_OUTPUT_F32)
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
    static const size_t steps[] = {1 << 20, 97, 1};
    char line[512];
    uint8_t *soft[HARNESS_COUNT(steps)] = {NULL}; /* after the transmissions so far */
    size_t n_vectors = 0, n_wrong = 0;
    FILE *file = open_file("codewords", "txt");
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        SCOPED(close_vector) vector self;
        open_vector(line, &self);
        n_vectors++;
        for (size_t s = 0; s < HARNESS_COUNT(steps); s++) {
            if (self.is_first) {
                free(soft[s]);
                soft[s] = harness_alloc(self.n_values * self.value_nbytes);
                memset(soft[s], 0x55, self.n_values * self.value_nbytes);
            }
            receive(&self, steps[s], soft[s]);
            const size_t wrong = first_wrong(&self, soft[s]);
            if (wrong < self.n_values)
                print_message("%s, %zu elements a call: value %zu is wrong\n", self.name, steps[s], wrong);
            n_wrong += wrong < self.n_values;
        }
    }
    fclose(file);
    for (size_t s = 0; s < HARNESS_COUNT(steps); s++)
        free(soft[s]);
    assert_true(n_vectors > 0 && n_wrong == 0);
}
