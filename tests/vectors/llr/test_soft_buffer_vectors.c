/* SPDX-License-Identifier: MIT */
/* The soft buffers of this folder through the public API: a grant's codeword, whole, an OFDM symbol at a time and
 * element by element, gives the bytes of the files, in f32 values in their intervals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* A line of codewords.txt, and its files. */
typedef struct vector {
    char name[64];
    softqam_demodulator_config config;
    softqam_segment segment;   /* without its symbols */
    softqam_codeword codeword; /* without its buffers */
    size_t n_symbols, n_values, value_nbytes;
    float *symbols, *noise_var;
    uint8_t *low, *high; /* the ends of each value's interval; equal but for f32 */
} vector;

static void *read_file(const char *name, const char *suffix, size_t nbytes)
{
    char path[FILENAME_MAX];
    snprintf(path, sizeof path, "%s/%s.%s", SOFTQAM_SOFT_BUFFERS_DIR, name, suffix);
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = harness_alloc(nbytes + 1);
    if (!file || fread(bytes, 1, nbytes + 1, file) != nbytes)
        fail_msg("%s: not a file of %zu bytes", path, nbytes);
    fclose(file);
    return bytes;
}

static int number_of(const char *name, const char *const names[], int n)
{
    int k = 0;
    while (k < n && strcmp(name, names[k]) != 0)
        k++;
    assert_true(k < n);
    return k;
}

/* The library makes of the grant what the line says. */
static void open_vector(const char *line, vector *self)
{
    static const char *const modulations[] = {"", "bpsk", "pi2-bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"};
    char modulation[16], format[8];
    softqam_ldpc_grant grant = {0};
    softqam_ldpc ldpc;
    unsigned C, Z_c, K_prime, N_cb, k0, first_filler, n_fillers, c_init, sign;
    unsigned long long G;
    float scale, limit, filler;
    assert_int_equal(sscanf(line, "%63s %15s %u %u %llu %u %u %u %u %u %u %u %u %u %u %u %7s %f %f %f %u", self->name,
                            modulation, &grant.n_layers, &c_init, &G, &grant.tb_size, &grant.base_graph, &grant.rv,
                            &grant.n_ref, &C, &Z_c, &K_prime, &N_cb, &k0, &first_filler, &n_fillers, format, &scale,
                            &limit, &filler, &sign),
                     21);
    const softqam_output_format output = number_of(format, harness_output_names, HARNESS_N_OUTPUT_FORMATS);
    self->config = (softqam_demodulator_config){
        .modulation = number_of(modulation, modulations, HARNESS_COUNT(modulations)),
        .output_format = output,
        .sign = (softqam_sign)sign,
        .llr_scale = harness_llr_defaults_of[output].limit ? scale : 0,
        .llr_limit = output == SOFTQAM_OUTPUT_F32 ? 0 : (int)limit,
    };
    grant.n_bits = G;
    grant.bits_per_symbol = softqam_bits_per_symbol(self->config.modulation);
    assert_int_equal(softqam_codeword_init_ldpc(&self->codeword, &ldpc, &grant), SOFTQAM_OK);
    const softqam_codeword *codeword = &self->codeword;
    assert_true(codeword->n_code_blocks == C && codeword->n_cb == N_cb && codeword->k0 == k0);
    assert_true(codeword->first_filler == first_filler && codeword->n_fillers == n_fillers);
    assert_true(ldpc.lifting_size == Z_c && ldpc.k_prime == K_prime);
    self->codeword.filler_value = filler;
    self->codeword.combine = strcmp(strrchr(self->name, '.'), ".1") != 0;
    self->segment = (softqam_segment){.symbol_stride = grant.n_layers,
                                      .noise_stride = grant.n_layers,
                                      .n_layers = grant.n_layers,
                                      .descramble = 1,
                                      .c_init = c_init};
    self->n_symbols = G / grant.bits_per_symbol;
    self->n_values = (size_t)C * N_cb;
    self->value_nbytes = softqam_output_nbytes(output, SOFTQAM_MODULATION_BPSK, 1);
    const bool is_f32 = output == SOFTQAM_OUTPUT_F32;
    const size_t nbytes = self->n_values * self->value_nbytes;
    self->symbols = read_file(self->name, "cf32", 2 * self->n_symbols * sizeof(float));
    self->noise_var = read_file(self->name, "noise_var.f32", self->n_symbols * sizeof(float));
    self->low = read_file(self->name, is_f32 ? "low.f32" : format, nbytes);
    self->high = read_file(self->name, is_f32 ? "high.f32" : format, nbytes);
}

static void close_vector(vector *self)
{
    free(self->symbols);
    free(self->noise_var);
    free(self->low);
    free(self->high);
}

/* Adds a transmission to soft buffers, so many resource elements a call. */
static void receive(const vector *self, size_t n_elements, uint8_t *soft)
{
    harness_setup setup = harness_default_setup();
    setup.demodulator = self->config;
    scoped_demodulator *demodulator = harness_create(&setup);
    const size_t step = n_elements * self->segment.n_layers;
    for (size_t first = 0; first < self->n_symbols; first += step) {
        softqam_segment segment = self->segment;
        segment.n_symbols = self->n_symbols - first < step ? self->n_symbols - first : step;
        segment.first_symbol = first;
        segment.codeword = self->codeword;
        segment.codeword.buffers = soft;
        segment.codeword.block_stride = self->codeword.n_cb;
        for (size_t k = 0; k < segment.n_layers; k++) {
            segment.layers[k].symbols = self->symbols + 2 * (first + k);
            segment.layers[k].noise_var = self->noise_var + first + k;
        }
        harness_demodulate_segments(demodulator, &segment, 1);
    }
    for (size_t at = 0; at < self->n_values * self->value_nbytes; at += self->value_nbytes) {
        float values[3] = {0};
        const uint8_t *const all[] = {self->low, soft, self->high};
        bool is_right = memcmp(soft + at, self->low + at, self->value_nbytes) == 0;
        for (size_t k = 0; k < 3 && self->config.output_format == SOFTQAM_OUTPUT_F32; k++)
            memcpy(&values[k], all[k] + at, sizeof values[k]);
        if (self->config.output_format == SOFTQAM_OUTPUT_F32)
            is_right = values[0] <= values[1] && values[1] <= values[2];
        if (!is_right)
            fail_msg("%s, %zu elements a call: value %zu is wrong", self->name, n_elements, at / self->value_nbytes);
    }
}

HARNESS_TEST(test_library_meets_all)
{
    static const size_t steps[] = {1 << 20, 97, 1};
    static uint8_t soft[HARNESS_COUNT(steps)][1 << 16]; /* after the transmissions so far */
    char line[512];
    size_t n_vectors = 0;
    FILE *file = fopen(SOFTQAM_SOFT_BUFFERS_DIR "/codewords.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        SCOPED(close_vector) vector self;
        open_vector(line, &self);
        assert_true(self.n_values * self.value_nbytes <= sizeof soft[0]);
        if (!self.codeword.combine)
            memset(soft, 0x55, sizeof soft);
        for (size_t k = 0; k < HARNESS_COUNT(steps); k++)
            receive(&self, steps[k], soft[k]);
        n_vectors++;
    }
    fclose(file);
    assert_true(n_vectors > 0);
}
