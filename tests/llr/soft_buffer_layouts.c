/* SPDX-License-Identifier: MIT */
/* Soft buffers as decoders lay them out. Each layout has a first transmission and a retransmission, one call an OFDM
 * symbol, and what that decoder's own rate recovery leaves in memory: here by a list of the positions that carry bits,
 * turned until it begins at k0, as its users would write it, and not by the reference. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soft_buffer_fixture.h"
enum { STREAM_LAYOUTS = 100 };

/* Base graph 1 with C code blocks of Zc = 24 and F fillers: N = 66 Zc values without the 2 Zc punctured bits. */
enum { C = 5, Z_C = 24, F = 40, N = 66 * Z_C, K_PRIME = 22 * Z_C - F, FIRST_FILLER = K_PRIME - 2 * Z_C, N_OFDM = 12 };

typedef struct layout {
    const char *name;
    softqam_output_format format;
    softqam_sign sign;
    float llr_scale;
    int llr_limit;
    size_t n_front;      /* values before each soft buffer that are the caller's */
    size_t multiple;     /* of values, from buffer to buffer */
    bool has_no_fillers; /* they have no room in the buffer */
    float filler_value;
    double sum_limit;
    bool has_pointers;
} layout;

static size_t n_cb_of(const layout *self) { return self->has_no_fillers ? N - F : N; }

static size_t stride_of(const layout *self)
{
    return (self->n_front + n_cb_of(self) + self->multiple - 1) / self->multiple * self->multiple;
}

/* k0 where fillers have no room. */
static uint32_t k0_of(const layout *self, size_t k0)
{
    if (!self->has_no_fillers || k0 < FIRST_FILLER)
        return (uint32_t)k0;
    return (uint32_t)(k0 < FIRST_FILLER + F ? FIRST_FILLER : k0 - F);
}

static void open_transmission(const layout *of, const soft_contexts *on, harness_random *random, bool is_first,
                              soft_codeword *self)
{
    *self = (soft_codeword){0};
    softqam_demodulator_config_init(&self->config);
    self->config.output_format = of->format;
    self->config.sign = of->sign;
    self->config.llr_scale = of->llr_scale;
    self->config.llr_limit = of->llr_limit;
    const unsigned n_layers = is_first ? 2 : 1;
    self->whole.modulation = is_first ? SOFTQAM_MODULATION_64QAM : SOFTQAM_MODULATION_QPSK;
    self->whole.n_layers = n_layers;
    self->whole.descramble = 1;
    self->whole.c_init = harness_random_u32(random) >> 1;
    self->whole.codeword = (softqam_codeword){
        .n_bits = is_first ? C * 700 / 12 * 12 : 3 * 900,
        .n_code_blocks = C,
        .n_cbg = is_first ? 0 : C,
        .cbgti = is_first ? 0 : 0x15,
        .deinterleave = 1,
        .n_cb = (uint32_t)n_cb_of(of),
        .k0 = k0_of(of, (is_first ? 0 : 33) * Z_C), /* rv 0, then 2 */
        .first_filler = of->has_no_fillers ? 0 : FIRST_FILLER,
        .n_fillers = of->has_no_fillers ? 0 : F,
        .filler_value = of->filler_value,
        .combine = !is_first,
    };
    soft_codeword_open(self, on, random);
}

/* Positions that carry bits, from k0 on. */
static size_t list_positions(size_t k0, size_t positions[])
{
    size_t n = 0;
    for (size_t k = 0; k < N; k++) {
        const size_t position = (k0 + k) % N;
        if (position < FIRST_FILLER || position >= FIRST_FILLER + F)
            positions[n++] = position;
    }
    return n;
}

/* Where position p of the circular buffer lies. */
static size_t place_of(const layout *self, size_t r, size_t p)
{
    return r * stride_of(self) + self->n_front + (self->has_no_fillers && p >= FIRST_FILLER ? p - F : p);
}

static void expect(const layout *of, const soft_codeword *sent, bool is_first, uint8_t *image)
{
    const soft_format format = soft_values_of(&sent->config).format;
    const size_t nbytes = soft_values_nbytes(format);
    size_t positions[N];
    list_positions((is_first ? 0 : 33) * Z_C, positions);
    for (size_t r = 0; r < C; r++) {
        const size_t E = sent->lengths[r], Q_m = sent->Q_m;
        for (size_t p = 0; p < N && is_first; p++) {
            const bool is_filler = p >= FIRST_FILLER && p < FIRST_FILLER + F;
            if (!is_filler || !of->has_no_fillers)
                soft_values_write(format, is_filler ? of->filler_value : 0, image + place_of(of, r, p) * nbytes);
        }
        for (size_t n = 0; n < E; n++) {
            const size_t row = n / (E / Q_m), column = n % (E / Q_m);
            const uint8_t *llr = sent->llrs + (sent->first_values[r] + column * Q_m + row) * nbytes;
            uint8_t *value = image + place_of(of, r, positions[n]) * nbytes;
            if (is_first) {
                memcpy(value, llr, nbytes);
                continue;
            }
            const double before = soft_values_read(format, value), sum = before + soft_values_read(format, llr);
            if (fabs(before) <= of->sum_limit)
                soft_values_write(format, fmax(-of->sum_limit, fmin(sum, of->sum_limit)), value);
        }
    }
}

static void receive(const layout *of, const soft_codeword *sent, const softqam_demodulator *demodulator,
                    uint8_t *memory)
{
    void *pointers[C];
    const size_t nbytes = soft_values_nbytes(soft_values_of(&sent->config).format);
    const size_t n_elements = sent->whole.n_symbols / sent->whole.n_layers;
    for (size_t r = 0; r < C; r++)
        pointers[r] = memory + place_of(of, r, 0) * nbytes;
    for (size_t t = 0; t < N_OFDM; t++) {
        const size_t first = t * n_elements / N_OFDM, end = (t + 1) * n_elements / N_OFDM;
        softqam_segment part = soft_codeword_part(sent, first, end - first);
        part.codeword.buffers = of->has_pointers ? NULL : memory + of->n_front * nbytes;
        part.codeword.block_stride = of->has_pointers ? 0 : stride_of(of);
        part.codeword.block_buffers = of->has_pointers ? pointers : NULL;
        harness_demodulate_segments(demodulator, &part, 1);
    }
}

static void compare(const char *name, const layout *of, const uint8_t *got, const uint8_t *image, size_t nbytes)
{
    for (size_t i = 0; i < C * stride_of(of) * nbytes; i++)
        if (got[i] != image[i])
            fail_msg("%s, %s: value %zu of code block %zu, byte %zu is %d, not %d", of->name, name,
                     i / nbytes % stride_of(of), i / nbytes / stride_of(of), i % nbytes, got[i], image[i]);
}

static void check(const layout *of)
{
    harness_random random = harness_random_stream(STREAM_LAYOUTS);
    SCOPED(soft_close_contexts) soft_contexts on = soft_open_contexts(1);
    soft_codeword sent[2];
    uint8_t *images[3];
    for (size_t k = 0; k < 2; k++)
        open_transmission(of, &on, &random, k == 0, &sent[k]);
    const size_t nbytes = soft_values_nbytes(soft_values_of(&sent[0].config).format);
    const size_t size = C * stride_of(of) * nbytes;
    for (size_t k = 0; k < 3; k++)
        images[k] = harness_alloc(size);
    harness_random_fill(&random, images[0], size);
    for (size_t r = 0; r < C; r++) /* the caller's, once */
        memset(images[0] + r * stride_of(of) * nbytes, 0, of->n_front * nbytes);
    for (size_t k = 0; k < 2; k++) {
        memcpy(images[k + 1], images[k], size);
        expect(of, &sent[k], k == 0, images[k + 1]);
    }
    for (size_t c = 0; c < on.all.n; c++) {
        SCOPED(harness_buffer_close) harness_buffer memory;
        scoped_demodulator *demodulator = soft_create(&sent[0].config, on.all.items[c]);
        harness_buffer_open(&memory, size);
        harness_buffer_place_at_end(&memory, size, 0);
        memcpy(memory.data, images[0], size);
        for (size_t k = 0; k < 2; k++) {
            receive(of, &sent[k], demodulator, memory.data);
            compare(on.all.names[c], of, memory.data, images[k + 1], nbytes);
        }
        harness_buffer_check(&memory);
    }
    for (size_t k = 0; k < 3; k++)
        free(images[k]);
    soft_codeword_close(&sent[0]);
    soft_codeword_close(&sent[1]);
}

HARNESS_TEST(test_layouts)
{
    static const layout layouts[] = {
        /* OCUDU, srsRAN Project: its LLRs end at 120, fillers are its infinity, 127, which stays. Code blocks' buffers
         * come from a pool. */
        {"OCUDU", .format = SOFTQAM_OUTPUT_S8, .llr_limit = 120, .multiple = 1, .filler_value = 127, .sum_limit = 120,
         .has_pointers = true},
        /* OAI: a circular buffer of int16 for each code block. OAI writes fillers itself and saturates to 8 bits when
         * it decodes, so that sums may be larger before. */
        {"OAI", .format = SOFTQAM_OUTPUT_S16, .llr_scale = 6, .llr_limit = 2047, .multiple = 16, .sum_limit = 2047},
        /* cuPHY: halves, 2 Zc zeros in front, the distance a multiple of 8, fillers and limit 10000. */
        {"cuPHY", .format = SOFTQAM_OUTPUT_F16, .llr_limit = 10000, .n_front = (size_t)2 * Z_C, .multiple = 8,
         .filler_value = 10000, .sum_limit = 10000},
        /* DPDK bbdev where the host combines. The device's input is then all that rv 0 sends: the buffer without its
         * fillers, which a codeword gives whose n_cb and k0 do not count them. LLRs have llr_size 6, llr_decimals 2. */
        {"bbdev", .format = SOFTQAM_OUTPUT_S8, .llr_scale = 4, .llr_limit = 31, .multiple = 1, .has_no_fillers = true,
         .sum_limit = 31, .has_pointers = true},
        /* With fillers, as harq_combined_input has them for a device with
         * RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_FILLERS. */
        {"bbdev with fillers", .format = SOFTQAM_OUTPUT_S8, .llr_scale = 4, .llr_limit = 31, .multiple = 1,
         .filler_value = 31, .sum_limit = 31, .has_pointers = true},
        /* Sionna: LLRs of the opposite sign, 2 Zc zeros in front; a filler, which is 0, is -llr_max. */
        {"Sionna", .format = SOFTQAM_OUTPUT_F32, .sign = SOFTQAM_SIGN_POSITIVE_IS_1, .n_front = (size_t)2 * Z_C,
         .multiple = 1, .filler_value = -20, .sum_limit = (double)FLT_MAX},
        /* py3gpp, MATLAB: N values a code block. Their own fillers are infinite. */
        {"py3gpp", .format = SOFTQAM_OUTPUT_F32, .multiple = 1, .filler_value = 1000, .sum_limit = (double)FLT_MAX},
    };
    for (size_t k = 0; k < HARNESS_COUNT(layouts); k++)
        check(&layouts[k]);
}
