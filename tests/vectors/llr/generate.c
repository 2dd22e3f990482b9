/* SPDX-License-Identifier: MIT */
/* Writes the vectors of this folder from reference/ alone: LLRs, then soft buffers; README.md beside it says what each
 * is. The output is the same on every machine: nothing but IEEE-754 basic operations, nextafterf and square roots is
 * used. */
#define _GNU_SOURCE /* chdir() */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <Random123/philox.h>

#include "half.h"
#include "max_log.h"
#include "rate_recovery.h"

__attribute__((noreturn)) static void fail(const char *what, const char *cause)
{
    fprintf(stderr, "%s: %s\n", what, cause);
    exit(1);
}

static FILE *create(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (!file)
        fail(name, strerror(errno));
    return file;
}

/* Writes the file STEM.SUFFIX. */
static void put(const char *stem, const char *suffix, const void *bytes, size_t nbytes)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", stem, suffix);
    FILE *file = create(name);
    if (fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file))
        fail(name, strerror(errno));
}

/* Random123's Philox under this key, four words for each k from `first_k` on. */
static void random_words(uint32_t seed, uint32_t stream, uint32_t n, uint32_t first_k, uint32_t words[16])
{
    const philox4x32_key_t key = {{seed, stream}};
    for (uint32_t k = 0; k < 4; k++) {
        const philox4x32_ctr_t counter = {{n, first_k + k, 0, 0}};
        const philox4x32_ctr_t random = philox4x32(counter, key);
        memcpy(words + 4 * k, random.v, sizeof random.v);
    }
}

/* A point with noise: of each axis twelve 16-bit uniforms, their mean taken off (Irwin and Hall), which is roughly
 * Gaussian with variance 1 and exact in double. */
static void noisy_symbol(const double point[2], float noise_var, const uint32_t words[12], float symbol[2])
{
    const double deviation = sqrt((double)noise_var / 2);
    for (int axis = 0; axis < 2; axis++) {
        int32_t sum = -6 * 65535;
        for (int k = 0; k < 12; k++)
            sum += (int32_t)(axis ? words[k] >> 16 : words[k] & 0xffff);
        symbol[axis] = (float)(point[axis] + deviation * (sum / 65536.0));
    }
}

/* The nearest float that is not above, or not below. */
static float float_below(double x)
{
    const float near = (float)x;
    return (double)near > x ? nextafterf(near, -INFINITY) : near;
}

static float float_above(double x) { return -float_below(-x); }

/* What any way to compute max-log in binary32 may make of an LLR: README.md derives it. */
static double tolerance(const float symbol[2], float noise_var, double llr)
{
    const double reach = sqrt((double)symbol[0] * (double)symbol[0] + (double)symbol[1] * (double)symbol[1]) + 1.75;
    return 0x1p-20 * reach * reach / (double)noise_var + 0x1p-22 * fabs(llr);
}

enum { MAX_SYMBOLS = 4096, N_NOISY = 96 };

/* Which noise variance the symbols of a section have, and the stream of its random numbers. */
enum noise { LOW, MIDDLE, HIGH, EACH_ITS_OWN };

/* In the order of nr_constellations. */
enum { PI2_BPSK, BPSK, QPSK, QAM16, QAM64, QAM256, QAM1024 };

/* The name of the files, and N0 where 0.3, about 0.6 and 0.95 of the bits arrive. */
static const struct modulation {
    const char *name;
    float noise_var[3];
} modulations[NR_CONSTELLATIONS] = {
    {"pi2-bpsk", {3.85F, 1.4F, 0.4F}},
    {"bpsk", {3.85F, 1.4F, 0.4F}},
    {"qpsk", {1.92F, 0.7F, 0.2F}},
    {"16qam", {0.65F, 0.2F, 0.0447F}},
    {"64qam", {0.288F, 0.069F, 0.0118F}},
    {"256qam", {0.147F, 0.0263F, 0.00323F}},
    {"1024qam", {0.0804F, 0.0105F, 8.85e-4F}},
};

/* One modulation's vectors so far. */
static struct vectors {
    const nr_constellation *constellation;
    const char *name;
    uint32_t seed;
    /* The section that is being made. */
    bool is_special;
    enum noise noise;
    float section_noise_var;
    size_t n_symbols;
    float symbols[MAX_SYMBOLS][2];
    float noise_var[MAX_SYMBOLS];
    float low[MAX_SYMBOLS * NR_MAX_BITS];
    float high[MAX_SYMBOLS * NR_MAX_BITS];
} vectors;

/* Where N0 * LLR passes what binary32 holds, so does softqam's LLR, and the exact one may be smaller. */
static void admit_exact(const float symbol[2], float noise_var, double metric, max_log_llr *llr)
{
    if (isfinite(symbol[0]) && isfinite(symbol[1]) && fmax(-llr->low, llr->high) >= (double)FLT_MAX) {
        const double exact = metric / fmin(fmax((double)noise_var, 0x1p-100), 0x1p40);
        const double limited = fmin(fmax(exact, -(double)FLT_MAX), (double)FLT_MAX);
        llr->low = fmin(llr->low, limited);
        llr->high = fmax(llr->high, limited);
    }
}

static void add(float i, float q, float noise_var)
{
    const size_t n = vectors.n_symbols++;
    if (n == MAX_SYMBOLS)
        fail(vectors.name, "too many symbols");
    const size_t n_bits = (size_t)vectors.constellation->n_bits;
    float *symbol = vectors.symbols[n];
    symbol[0] = i;
    symbol[1] = q;
    vectors.noise_var[n] = noise_var;
    max_log_llr llrs[NR_MAX_BITS];
    max_log_llrs(vectors.constellation, symbol, nr_noise_var(noise_var), 1, n, llrs);
    double metrics[NR_MAX_BITS];
    max_log_metrics(vectors.constellation, symbol, n, metrics);
    for (size_t b = 0; b < n_bits; b++) {
        if (vectors.is_special) {
            admit_exact(symbol, noise_var, metrics[b], &llrs[b]);
        } else {
            const double room = tolerance(symbol, noise_var, llrs[b].value);
            llrs[b].low = llrs[b].value - room;
            llrs[b].high = llrs[b].value + room;
        }
        vectors.low[n * n_bits + b] = float_below(llrs[b].low);
        vectors.high[n * n_bits + b] = float_above(llrs[b].high);
    }
}

/* All points in the order of their bits read as a number; of pi/2-BPSK each at an even and at an odd position. */
static void make_points(void)
{
    const int repeats = vectors.constellation->rotates ? 2 : 1;
    for (int n = 0; n < repeats << vectors.constellation->n_bits; n++) {
        double point[2];
        nr_point(vectors.constellation, n / repeats, vectors.n_symbols, point);
        add((float)point[0], (float)point[1], vectors.section_noise_var);
    }
}

/* A random point with noise of this variance. */
static void add_noisy(uint32_t n, float noise_var)
{
    uint32_t random[16];
    random_words(vectors.seed, vectors.noise, n, 0, random);
    double point[2];
    float symbol[2];
    nr_point(vectors.constellation, (int)(random[12] >> (32 - vectors.constellation->n_bits)), vectors.n_symbols,
             point);
    noisy_symbol(point, noise_var, random, symbol);
    add(symbol[0], symbol[1], noise_var);
}

static void make_noisy(void)
{
    for (uint32_t n = 0; n < N_NOISY; n++)
        add_noisy(n, vectors.section_noise_var);
}

/* Steps of a half of an octave, 2^-20 to about 2^10. */
static void make_noise_range(void)
{
    for (uint32_t n = 0; n < 62; n++)
        add_noisy(n, ldexpf(n % 2 ? 1.4142135F : 1, (int)(n / 2) - 20));
}

/* One axis within an ulp of every multiple of half the distance of neighbouring levels: even ones are decision
 * boundaries, odd ones levels. The other axis is elsewhere; of BPSK, where the sum or the difference decides, it is as
 * large. */
static void make_boundaries(void)
{
    const int n_levels = 1 << vectors.constellation->axis_bits;
    const float alpha = (float)(1 / sqrt(vectors.constellation->energy)), noise_var = vectors.section_noise_var;
    for (int m = -n_levels; m <= n_levels; m++) {
        const float middle = (float)m * alpha;
        const float values[3] = {nextafterf(middle, -FLT_MAX), middle, nextafterf(middle, FLT_MAX)};
        for (int k = 0; k < 3; k++) {
            const float other =
                nr_is_bpsk(vectors.constellation) ? middle : (float)((5 * m + k) % n_levels) * 0.9F * alpha;
            add(values[k], other, noise_var);
            add(-other, values[k], noise_var);
        }
    }
    static const float zeros[2] = {0.0F, -0.0F};
    for (int n = 0; n < 4; n++)
        add(zeros[n % 2], zeros[n / 2], noise_var);
}

static void make_outliers(void)
{
    static const float values[] = {1.3F, 2, 5, 30, -1.3F, -2, -5, -30};
    for (int i = 0; i < 8; i++)
        for (int q = 0; q < 8; q++)
            add(values[i], values[q], vectors.section_noise_var);
}

/* Erasures, noise and components at the ends of binary32. */
static void make_special(void)
{
    static const float not_finite[] = {NAN, INFINITY, -INFINITY};
    static const float no_noise[] = {0.0F, -0.0F, -1, NAN, INFINITY, -INFINITY};
    static const float end_noise[] = {0x1p-149F, 0x1p-126F, 0x1p-101F, 0x1p-100F, 0x1p40F, 0x1p41F, FLT_MAX};
    static const float components[] = {FLT_MAX, 1e38F, 1e19F, 0x1p-62F, 0x1p-63F, 0x1p-64F, 0x1p-126F, 0x1p-149F};
    static const float noise_of_components[] = {0.01F, 0x1p-100F, 0x1p40F};
    const float usual = 0.3F;
    for (int k = 0; k < 3; k++) {
        add(not_finite[k], usual, 0.01F);
        add(-usual, not_finite[k], 0.01F);
        add(not_finite[k], not_finite[2 - k], 0.01F);
    }
    for (int k = 0; k < 6; k++)
        add(usual, -usual, no_noise[k]);
    for (int k = 0; k < 7; k++)
        add(usual, 2 * usual, end_noise[k]);
    for (int k = 0; k < 8; k++) {
        for (int n = 0; n < 3; n++) {
            add(components[k], usual, noise_of_components[n]);
            add(usual, -components[k], noise_of_components[n]);
        }
    }
}

static const struct section {
    const char *name;
    enum noise noise;
    void (*make)(void);
} sections[] = {
    {"points", HIGH, make_points},
    {"noisy_low", LOW, make_noisy},
    {"noisy_middle", MIDDLE, make_noisy},
    {"noisy_high", HIGH, make_noisy},
    {"noise_range", EACH_ITS_OWN, make_noise_range},
    {"boundaries", MIDDLE, make_boundaries},
    {"outliers", LOW, make_outliers},
    {"special", EACH_ITS_OWN, make_special},
};

static void make_section(const struct modulation *modulation, const struct section *section, FILE *list)
{
    const size_t first = vectors.n_symbols;
    char noise_var[32] = "each";
    vectors.is_special = section->make == make_special;
    vectors.noise = section->noise;
    if (section->noise != EACH_ITS_OWN) {
        vectors.section_noise_var = modulation->noise_var[section->noise];
        snprintf(noise_var, sizeof noise_var, "%.9g", (double)vectors.section_noise_var);
    }
    section->make();
    fprintf(list, "%-8s %-12s %5zu %5zu %s\n", modulation->name, section->name, first, vectors.n_symbols - first,
            noise_var);
}

static void write_llrs(void)
{
    FILE *list = create("sections.txt");
    fprintf(list, "# modulation, section, its first symbol, number of symbols, noise variance N0\n");
    for (uint32_t m = 0; m < NR_CONSTELLATIONS; m++) {
        const char *name = modulations[m].name;
        vectors.constellation = nr_constellations[m];
        vectors.name = name;
        vectors.seed = m + 1;
        vectors.n_symbols = 0;
        for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
            make_section(&modulations[m], &sections[k], list);
        const size_t nbytes = vectors.n_symbols * sizeof(float), n_bits = (size_t)vectors.constellation->n_bits;
        put(name, "cf32", vectors.symbols, 2 * nbytes);
        put(name, "noise_var.f32", vectors.noise_var, nbytes);
        put(name, "low.f32", vectors.low, nbytes * n_bits);
        put(name, "high.f32", vectors.high, nbytes * n_bits);
    }
    if (fclose(list))
        fail("sections.txt", strerror(errno));
}

/* Soft buffers. A transport block's bits are random, those of a code block without regard to LDPC. Symbols carry them
 * as TS 38.212 and 38.211 say: bit selection, interleaving, scrambling, modulation. A symbol is drawn again where its
 * LLRs would not be the same integers or half floats wherever in their intervals they lie, so that everybody's soft
 * buffers are. */

enum { MAX_BITS = 1 << 13, MAX_BLOCKS = 2, MAX_N_CB = 4096, MAX_TRIES = 10000 };

static const char *const formats[] = {[SOFT_S8] = "s8", [SOFT_S16] = "s16", [SOFT_F16] = "f16", [SOFT_F32] = "f32"};

/* A transmission as a grant and a receiver's conventions have it. */
static const struct transmission {
    const char *name;
    int number;     /* 2: a retransmission, into the soft buffers of 1 */
    int modulation; /* its index */
    size_t N_L;
    uint32_t c_init;
    size_t G, A;
    int base_graph;
    unsigned rv_id;
    size_t N_ref;           /* 0: the buffer is not limited */
    size_t C, Z_c, K_prime; /* what 38.212 clause 5.2.2 makes of it, as the test of the library finds */
    soft_values values;     /* their format and limit */
    double scale, filler;
    unsigned positive; /* the bit that a positive LLR means */
    float noise_var;   /* about */
} transmissions[] = {
    {"srsran", 1, QAM256, 2, 0x2301004D, 1408, 1032, 1, 0, 0, 1, 48, 1048, {SOFT_S8, 120}, 6, 127, 0, 0.006F},
    {"srsran", 2, QAM64, 2, 0x2301004D, 1440, 1032, 1, 2, 0, 1, 48, 1048, {SOFT_S8, 120}, 6, 127, 0, 0.03F},
    {"srsran-limited", 1, QPSK, 1, 0x1F4C8005, 1200, 1032, 1, 2, 1500, 1, 48, 1048, {SOFT_S8, 120}, 5, 127, 0, 0.4F},
    {"srsran-repeated", 1, QPSK, 2, 12345, 1440, 40, 2, 0, 0, 1, 10, 56, {SOFT_S8, 120}, 5, 127, 0, 4.0F},
    {"oai", 1, QAM16, 1, 0x7FFFFFFF, 5204, 3904, 2, 0, 4000, 2, 208, 1988, {SOFT_S16, 2047}, 6, 0, 0, 0.1F},
    {"cuphy", 1, QAM64, 1, 0, 720, 504, 1, 0, 0, 1, 24, 520, {SOFT_F16, 10000}, 1, 10000, 0, 0.03F},
    {"cuphy", 2, QAM16, 2, 99, 800, 504, 1, 3, 0, 1, 24, 520, {SOFT_F16, 10000}, 1, 10000, 0, 0.1F},
    {"sionna", 1, QAM1024, 2, 0x0B5A8001, 600, 112, 2, 0, 0, 1, 22, 128, {SOFT_F32, FLT_MAX}, 1, -20, 1, 0.002F},
    {"sionna", 2, QAM256, 1, 0x0B5A8001, 480, 112, 2, 2, 0, 1, 22, 128, {SOFT_F32, FLT_MAX}, 1, -20, 1, 0.006F},
};

static struct state {
    const struct transmission *sent;
    uint32_t stream; /* of random numbers */
    const nr_constellation *constellation;
    circular_buffer buffer;
    size_t E[MAX_BLOCKS];
    uint8_t bits[MAX_BLOCKS][MAX_N_CB]; /* of the code blocks, by their position in the circular buffer */
    /* For each bit of the codeword: its position in its code block, c(n), and what is sent. */
    size_t position[MAX_BITS];
    uint32_t scrambling[MAX_BITS];
    uint32_t sent_bits[MAX_BITS];
    float symbols[MAX_BITS][2];
    float noise_var[MAX_BITS];
    float llrs[2][MAX_BITS]; /* the ends of each interval in the output's unit, descrambled, with its sign */
    uint8_t soft[2][MAX_BLOCKS * MAX_N_CB * sizeof(float)];
} now;

/* Clause 5.4.2.1. */
static void make_buffer(void)
{
    const struct transmission *sent = now.sent;
    const bool is_1 = sent->base_graph == 1, all[MAX_BLOCKS] = {true, true};
    const size_t N = (is_1 ? 66 : 50) * sent->Z_c, K = (is_1 ? 22 : 10) * sent->Z_c;
    circular_buffer *buffer = &now.buffer;
    buffer->N_cb = sent->N_ref && sent->N_ref < N ? sent->N_ref : N;
    buffer->k0 = rate_recovery_k0(sent->base_graph, sent->rv_id, buffer->N_cb, sent->Z_c);
    buffer->first_filler = sent->K_prime - 2 * sent->Z_c;
    buffer->n_fillers = K - sent->K_prime;
    if (buffer->first_filler + buffer->n_fillers > buffer->N_cb || buffer->N_cb > MAX_N_CB || sent->C > MAX_BLOCKS)
        fail(sent->name, "too large, or fillers beyond the limited buffer");
    rate_recovery_lengths(sent->G, sent->N_L, (size_t)now.constellation->n_bits, sent->C, all, now.E);
}

static void make_bits(void)
{
    nr_scrambling sequence;
    size_t n = 0;
    nr_scrambling_start(&sequence, now.sent->c_init);
    for (size_t r = 0; r < now.sent->C; r++) {
        rate_recovery_positions(&now.buffer, now.E[r], (size_t)now.constellation->n_bits, now.position + n);
        for (const size_t end = n + now.E[r]; n < end; n++) {
            now.scrambling[n] = nr_scrambling_bits(&sequence, n, 1);
            now.sent_bits[n] = now.bits[r][now.position[n]] ^ now.scrambling[n];
        }
    }
}

static double quantised(double llr)
{
    const double limit = now.sent->values.limit, scaled = fmin(fmax(now.sent->scale * llr, -limit), limit);
    switch (now.sent->values.format) {
    case SOFT_F16:
        return half_to_double(half_from_double(scaled));
    case SOFT_F32:
        return scaled;
    default:
        return nearbyint(scaled);
    }
}

/* The intervals of a symbol's LLRs, descrambled and in the output's unit. False where they are not one value. */
static bool make_llrs(size_t n)
{
    const size_t n_bits = (size_t)now.constellation->n_bits;
    max_log_llr llrs[NR_MAX_BITS];
    max_log_llrs(now.constellation, now.symbols[n], nr_noise_var(now.noise_var[n]), 1, n, llrs);
    for (size_t b = 0, i = n * n_bits; b < n_bits; b++, i++) {
        const double value = now.scrambling[i] == now.sent->positive ? llrs[b].value : -llrs[b].value;
        const double room = tolerance(now.symbols[n], now.noise_var[n], value);
        const double low = quantised(value - room), high = quantised(value + room);
        now.llrs[0][i] = float_below(low);
        now.llrs[1][i] = float_above(high);
        if (now.sent->values.format != SOFT_F32 && low < high)
            return false;
    }
    return true;
}

/* A point with noise, as often as it takes. */
static void make_symbol(size_t n)
{
    const int n_bits = now.constellation->n_bits;
    int label = 0;
    for (int b = 0; b < n_bits; b++)
        label = label << 1 | (int)now.sent_bits[n * (size_t)n_bits + (size_t)b];
    double point[2];
    nr_point(now.constellation, label, n, point);
    for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
        uint32_t random[16];
        random_words(now.stream, 1, (uint32_t)n, 4 * tries, random);
        /* Half to twice of what it is about, each its own. */
        now.noise_var[n] = now.sent->noise_var * (0.5F + 1.5F * (float)(random[12] >> 8) * 0x1p-24F);
        noisy_symbol(point, now.noise_var[n], random, now.symbols[n]);
        if (make_llrs(n))
            return;
    }
    fail(now.sent->name, "no symbol has LLRs of one value");
}

/* Adds the LLRs at one end of their intervals. Soft buffers lie one behind the other. */
static void update(size_t end)
{
    static uint8_t packed[MAX_BITS * sizeof(float)];
    const soft_values *values = &now.sent->values;
    const size_t nbytes = soft_values_nbytes(values->format);
    size_t first = 0;
    for (size_t r = 0; r < now.sent->C; first += now.E[r], r++) {
        for (size_t k = 0; k < now.E[r]; k++)
            soft_values_write(values->format, (double)now.llrs[end][first + k], packed + k * nbytes);
        soft_buffer_update(values, &now.buffer, now.E[r], (size_t)now.constellation->n_bits, packed,
                           now.sent->number == 1, now.sent->filler, now.soft[end] + r * now.buffer.N_cb * nbytes);
    }
}

static void put_all(size_t n_symbols)
{
    const soft_format format = now.sent->values.format;
    const size_t nbytes = now.sent->C * now.buffer.N_cb * soft_values_nbytes(format);
    char stem[64];
    snprintf(stem, sizeof stem, "soft_buffers/%s.%d", now.sent->name, now.sent->number);
    put(stem, "cf32", now.symbols, n_symbols * sizeof now.symbols[0]);
    put(stem, "noise_var.f32", now.noise_var, n_symbols * sizeof(float));
    if (format == SOFT_F32) {
        put(stem, "low.f32", now.soft[0], nbytes);
        put(stem, "high.f32", now.soft[1], nbytes);
    } else {
        if (memcmp(now.soft[0], now.soft[1], nbytes) != 0)
            fail(now.sent->name, "soft buffers of more than one value");
        put(stem, formats[format], now.soft[0], nbytes);
    }
}

static void list_line(FILE *list)
{
    const struct transmission *sent = now.sent;
    const circular_buffer *buffer = &now.buffer;
    fprintf(list, "%s.%d %s %zu %u %zu %zu %d %u %zu %zu %zu %zu %zu %zu %zu %zu %s %.9g %.9g %.9g %u\n", sent->name,
            sent->number, modulations[sent->modulation].name, sent->N_L, (unsigned)sent->c_init, sent->G, sent->A,
            sent->base_graph, sent->rv_id, sent->N_ref, sent->C, sent->Z_c, sent->K_prime, buffer->N_cb, buffer->k0,
            buffer->first_filler, buffer->n_fillers, formats[sent->values.format], sent->scale, sent->values.limit,
            sent->filler, sent->positive);
}

static void make_transmission(uint32_t number)
{
    const struct transmission *sent = now.sent = &transmissions[number];
    now.stream = 1000 + number;
    now.constellation = nr_constellations[sent->modulation];
    make_buffer();
    for (size_t n = 0; n < sizeof now.bits && sent->number == 1; n++) {
        uint32_t random[16];
        random_words(now.stream, 0, (uint32_t)n, 0, random);
        now.bits[n / MAX_N_CB][n % MAX_N_CB] = (uint8_t)(random[0] >> 31);
    }
    make_bits();
    const size_t n_symbols = sent->G / (size_t)now.constellation->n_bits;
    for (size_t n = 0; n < n_symbols; n++)
        make_symbol(n);
    for (size_t end = 0; end < 2; end++)
        update(end);
    put_all(n_symbols);
}

static void write_soft_buffers(void)
{
    FILE *list = create("soft_buffers/codewords.txt");
    fprintf(list, "# name modulation N_L c_init G A base_graph rv_id N_ref C Z_c K' N_cb k0 first_filler "
                  "n_fillers format scale limit filler positive\n");
    for (uint32_t k = 0; k < sizeof transmissions / sizeof *transmissions; k++) {
        make_transmission(k);
        list_line(list);
    }
    if (fclose(list))
        fail("soft_buffers/codewords.txt", strerror(errno));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n  writes the vectors\n", argv[0]);
        exit(2);
    }
    if (chdir(argv[1]))
        fail(argv[1], strerror(errno));
    write_llrs();
    write_soft_buffers();
    return EXIT_SUCCESS;
}
