/* SPDX-License-Identifier: MIT */
/* Writes the vectors of soft buffers, from reference/ alone; README.md beside it says what each is. As generate.c, the
 * same on every machine.
 *
 * A transport block's bits are random, those of a code block without regard to LDPC. Symbols carry them as TS 38.212
 * and 38.211 say: bit selection, interleaving, scrambling, modulation. A symbol is drawn again where its LLRs would not
 * be the same integers or half floats wherever in their intervals they lie, so that everybody's soft buffers are. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "half.h"
#include "max_log.h"
#include "nr_symbol.h"
#include "rate_recovery.h"

enum { MAX_BITS = 1 << 13, MAX_BLOCKS = 2, MAX_N_CB = 4096, MAX_TRIES = 10000 };

/* A transmission as a grant and a receiver's conventions have it. */
static const struct transmission {
    const char *name;
    int number; /* 2: a retransmission, into the soft buffers of 1 */
    const char *modulation;
    size_t N_L;
    uint32_t c_init;
    size_t G, A;
    int base_graph;
    unsigned rv_id;
    size_t N_ref;           /* 0: the buffer is not limited */
    size_t C, Z_c, K_prime; /* what 38.212 clause 5.2.2 makes of it, as the test of the library finds */
    const char *format;
    double scale, limit, filler;
    bool is_positive_1;
    float noise_var; /* about */
} transmissions[] = {
    {"srsran", 1, "256qam", 2, 0x2301004D, 1408, 1032, 1, 0, 0, 1, 48, 1048, "s8", 6, 120, 127, false, 0.006F},
    {"srsran", 2, "64qam", 2, 0x2301004D, 1440, 1032, 1, 2, 0, 1, 48, 1048, "s8", 6, 120, 127, false, 0.03F},
    {"srsran-limited", 1, "qpsk", 1, 0x1F4C8005, 1200, 1032, 1, 2, 1500, 1, 48, 1048, "s8", 5, 120, 127, false, 0.4F},
    {"srsran-repeated", 1, "qpsk", 2, 12345, 1440, 40, 2, 0, 0, 1, 10, 56, "s8", 5, 120, 127, false, 4.0F},
    {"oai", 1, "16qam", 1, 0x7FFFFFFF, 5204, 3904, 2, 0, 4000, 2, 208, 1988, "s16", 6, 2047, 0, false, 0.1F},
    {"cuphy", 1, "64qam", 1, 0, 720, 504, 1, 0, 0, 1, 24, 520, "f16", 1, 10000, 10000, false, 0.03F},
    {"cuphy", 2, "16qam", 2, 99, 800, 504, 1, 3, 0, 1, 24, 520, "f16", 1, 10000, 10000, false, 0.1F},
    {"sionna", 1, "1024qam", 2, 0x0B5A8001, 600, 112, 2, 0, 0, 1, 22, 128, "f32", 1, (double)FLT_MAX, -20, true,
     0.002F},
    {"sionna", 2, "256qam", 1, 0x0B5A8001, 480, 112, 2, 2, 0, 1, 22, 128, "f32", 1, (double)FLT_MAX, -20, true, 0.006F},
};

static struct state {
    const struct transmission *sent;
    uint32_t stream; /* of random numbers */
    const nr_constellation *constellation;
    soft_values values;
    circular_buffer buffer;
    uint8_t bits[MAX_BLOCKS][MAX_N_CB]; /* of the code blocks, by their position in the circular buffer */
    uint8_t scrambled[MAX_BITS];        /* as sent */
    float symbols[MAX_BITS][2];
    float noise_var[MAX_BITS];
    float llrs[2][MAX_BITS]; /* the ends of each interval in the output's unit, descrambled, with its sign */
    uint8_t soft[2][MAX_BLOCKS * MAX_N_CB * sizeof(float)];
} now;

static FILE *list;

/* Clause 5.4.2.1. */
static circular_buffer make_buffer(const struct transmission *sent)
{
    const bool is_1 = sent->base_graph == 1;
    const size_t N = (is_1 ? 66 : 50) * sent->Z_c, K = (is_1 ? 22 : 10) * sent->Z_c;
    circular_buffer buffer = {.N_cb = sent->N_ref && sent->N_ref < N ? sent->N_ref : N,
                              .first_filler = sent->K_prime - 2 * sent->Z_c,
                              .n_fillers = K - sent->K_prime};
    buffer.k0 = rate_recovery_k0(sent->base_graph, sent->rv_id, buffer.N_cb, sent->Z_c);
    if (buffer.first_filler + buffer.n_fillers > buffer.N_cb || buffer.N_cb > MAX_N_CB || sent->C > MAX_BLOCKS)
        writer_fail(sent->name, "too large, or fillers beyond the limited buffer");
    return buffer;
}

static void make_lengths(size_t E[])
{
    const bool all[MAX_BLOCKS] = {true, true};
    rate_recovery_lengths(now.sent->G, now.sent->N_L, (size_t)now.constellation->n_bits, now.sent->C, all, E);
}

/* c(n) of bit n. */
static unsigned scrambling_bit(nr_scrambling *scrambling, size_t n) { return nr_scrambling_bits(scrambling, n, 1) & 1; }

/* The bits of the codeword as they are sent. */
static void make_bits(void)
{
    static size_t position[MAX_BITS];
    size_t E[MAX_BLOCKS], n = 0;
    nr_scrambling scrambling;
    nr_scrambling_start(&scrambling, now.sent->c_init);
    make_lengths(E);
    for (size_t r = 0; r < now.sent->C; r++) {
        rate_recovery_positions(&now.buffer, E[r], (size_t)now.constellation->n_bits, position);
        for (size_t k = 0; k < E[r]; k++, n++)
            now.scrambled[n] = (uint8_t)(now.bits[r][position[k]] ^ scrambling_bit(&scrambling, n));
    }
}

static double quantised(double llr)
{
    const double scaled = fmin(fmax(now.sent->scale * llr, -now.sent->limit), now.sent->limit);
    if (now.values.format == SOFT_S8 || now.values.format == SOFT_S16)
        return nearbyint(scaled);
    return now.values.format == SOFT_F16 ? half_to_double(half_from_double(scaled)) : scaled;
}

/* The intervals of a symbol's LLRs, descrambled and in the output's unit. False where they are not one value. */
static bool make_llrs(size_t n, const unsigned scrambling[])
{
    const size_t n_bits = (size_t)now.constellation->n_bits;
    max_log_llr llrs[NR_MAX_BITS];
    max_log_llrs(now.constellation, now.symbols[n], nr_noise_var(now.noise_var[n]), 1, n, llrs);
    for (size_t b = 0; b < n_bits; b++) {
        const double sign = (scrambling[b] != 0) == now.sent->is_positive_1 ? 1 : -1;
        const double value = sign * llrs[b].value;
        const double room = writer_tolerance(now.symbols[n], (double)now.noise_var[n], value);
        const double low = quantised(value - room), high = quantised(value + room);
        now.llrs[0][n * n_bits + b] = writer_float_below(low);
        now.llrs[1][n * n_bits + b] = writer_float_above(high);
        if (now.values.format != SOFT_F32 && low < high)
            return false;
    }
    return true;
}

/* A point with noise, as often as it takes. */
static void make_symbol(size_t n, nr_scrambling *sequence)
{
    const size_t n_bits = (size_t)now.constellation->n_bits;
    unsigned scrambling[NR_MAX_BITS];
    int label = 0;
    for (size_t b = 0; b < n_bits; b++) {
        scrambling[b] = scrambling_bit(sequence, n * n_bits + b);
        label = label << 1 | now.scrambled[n * n_bits + b];
    }
    double point[2];
    nr_point(now.constellation, label, n, point);
    for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
        uint32_t random[16];
        for (uint32_t k = 0; k < 4; k++)
            writer_random(now.stream, 1, (uint32_t)n, 4 * tries + k, random + 4 * k);
        /* Half to twice of what it is about, each its own. */
        now.noise_var[n] = now.sent->noise_var * (0.5F + 1.5F * (float)(random[12] >> 8) * 0x1p-24F);
        const double deviation = sqrt((double)now.noise_var[n] / 2);
        for (unsigned axis = 0; axis < 2; axis++)
            now.symbols[n][axis] = (float)(point[axis] + deviation * writer_noise(random, axis));
        if (make_llrs(n, scrambling))
            return;
    }
    writer_fail(now.sent->name, "no symbol has LLRs of one value");
}

/* Where sums reach the limit on the way, they depend on their order. */
static void check_sums(const size_t E[])
{
    static size_t position[MAX_BITS];
    const float *llr = now.llrs[0];
    for (size_t r = 0; r < now.sent->C; r++) {
        static double sums[MAX_N_CB];
        memset(sums, 0, sizeof sums);
        rate_recovery_positions(&now.buffer, E[r], (size_t)now.constellation->n_bits, position);
        for (size_t k = 0; k < E[r]; k++)
            sums[position[k]] += fabs((double)*llr++);
        for (size_t n = 0; n < now.buffer.N_cb && circular_buffer_repeats(&now.buffer, E[r]); n++)
            if (sums[n] > now.sent->limit)
                writer_fail(now.sent->name, "a sum that depends on its order");
    }
}

/* Adds the LLRs at one end of their intervals. Soft buffers lie one behind the other. */
static void update(const size_t E[], size_t end)
{
    static uint8_t packed[MAX_BITS * sizeof(float)];
    const size_t nbytes = soft_values_nbytes(now.values.format);
    size_t first = 0;
    for (size_t r = 0; r < now.sent->C; first += E[r], r++) {
        for (size_t k = 0; k < E[r]; k++)
            soft_values_write(now.values.format, (double)now.llrs[end][first + k], packed + k * nbytes);
        soft_buffer_update(&now.values, &now.buffer, E[r], (size_t)now.constellation->n_bits, packed,
                           now.sent->number == 1, now.sent->filler, now.soft[end] + r * now.buffer.N_cb * nbytes);
    }
}

static void put(const char *suffix, const void *bytes, size_t nbytes)
{
    char name[64];
    snprintf(name, sizeof name, "soft_buffers/%s.%d.%s", now.sent->name, now.sent->number, suffix);
    writer_put(name, bytes, nbytes);
}

static void put_all(void)
{
    const size_t n_symbols = now.sent->G / (size_t)now.constellation->n_bits;
    const size_t nbytes = now.sent->C * now.buffer.N_cb * soft_values_nbytes(now.values.format);
    put("cf32", now.symbols, n_symbols * sizeof now.symbols[0]);
    put("noise_var.f32", now.noise_var, n_symbols * sizeof(float));
    if (now.values.format == SOFT_F32) {
        put("low.f32", now.soft[0], nbytes);
        put("high.f32", now.soft[1], nbytes);
    } else {
        if (memcmp(now.soft[0], now.soft[1], nbytes) != 0)
            writer_fail(now.sent->name, "soft buffers of more than one value");
        put(now.sent->format, now.soft[0], nbytes);
    }
}

static void list_line(void)
{
    const struct transmission *sent = now.sent;
    const circular_buffer *buffer = &now.buffer;
    fprintf(list, "%s.%d %s %zu %u %zu %zu %d %u %zu %zu %zu %zu %zu %zu %zu %zu %s %.9g %.9g %.9g %d\n", sent->name,
            sent->number, sent->modulation, sent->N_L, (unsigned)sent->c_init, sent->G, sent->A, sent->base_graph,
            sent->rv_id, sent->N_ref, now.sent->C, sent->Z_c, sent->K_prime, buffer->N_cb, buffer->k0,
            buffer->first_filler, buffer->n_fillers, sent->format, sent->scale, sent->limit, sent->filler,
            sent->is_positive_1);
}

static void set_up(const struct transmission *sent)
{
    static const char *const formats[] = {"s8", "s16", "f16", "f32"};
    static const char *const names[NR_CONSTELLATIONS] = {"pi2-bpsk", "bpsk",   "qpsk",   "16qam",
                                                         "64qam",    "256qam", "1024qam"};
    now.sent = sent;
    now.stream = 1000 + (uint32_t)(sent - transmissions);
    now.buffer = make_buffer(sent);
    now.values.limit = sent->limit;
    for (int f = 0; f < 4; f++)
        if (strcmp(sent->format, formats[f]) == 0)
            now.values.format = (soft_format)f;
    for (int m = 0; m < NR_CONSTELLATIONS; m++)
        if (strcmp(sent->modulation, names[m]) == 0)
            now.constellation = nr_constellations[m];
}

static void make_transmission(const struct transmission *sent)
{
    size_t E[MAX_BLOCKS];
    set_up(sent);
    for (size_t n = 0; n < sizeof now.bits && sent->number == 1; n++) {
        uint32_t random[4];
        writer_random(now.stream, 0, (uint32_t)n, 0, random);
        now.bits[n / MAX_N_CB][n % MAX_N_CB] = (uint8_t)(random[0] >> 31);
    }
    make_bits();
    nr_scrambling sequence;
    nr_scrambling_start(&sequence, sent->c_init);
    for (size_t n = 0; n < sent->G / (size_t)now.constellation->n_bits; n++)
        make_symbol(n, &sequence);
    make_lengths(E);
    check_sums(E);
    for (size_t end = 0; end < 2; end++)
        update(E, end);
    put_all();
    list_line();
}

void write_soft_buffers(void)
{
    list = writer_create("soft_buffers/codewords.txt");
    fprintf(list, "# name modulation N_L c_init G A base_graph rv_id N_ref C Z_c K' N_cb k0 first_filler "
                  "n_fillers format scale limit filler positive\n");
    for (size_t k = 0; k < sizeof transmissions / sizeof *transmissions; k++)
        make_transmission(&transmissions[k]);
    if (fclose(list))
        writer_fail("soft_buffers/codewords.txt", "cannot be written");
}
