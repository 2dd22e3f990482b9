/* SPDX-License-Identifier: MIT */
/* libdemapper_softqam.so, loaded as OAI loads it: exact max-log of its inputs, by brute force in double; lengths and
 * alignments; what it leaves to OAI; and its mutual information beside that of OAI's recursion, written here anew. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/normal.h"
#include "harness.h"
#include "receivers/oai/demapper.h"

enum { STREAM_VALUES = 1, STREAM_LENGTHS, STREAM_QUALITY };

typedef int32_t init_function(void);
typedef int compute_function(int32_t *, oai_c16 *, oai_c16 *, oai_c16 *, int16_t *, uint32_t, uint8_t, uint8_t);

static compute_function *compute;

static void *symbol_of(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fail_msg("%s: %s", name, dlerror());
    return found;
}

static int load(void **state)
{
    (void)state;
    void *library = dlopen(SOFTQAM_OAI_DEMAPPER, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    init_function *init, *init_thread;
    *(void **)&init = symbol_of(library, "demapper_init");
    *(void **)&init_thread = symbol_of(library, "demapper_init_thread");
    *(void **)&compute = symbol_of(library, "demapper_compute_llr");
    symbol_of(library, "demapper_shutdown");
    assert_null(dlsym(library, "softqam_demodulate")); /* two copies in a process do not meet */
    assert_int_equal(init(), 0);
    assert_int_equal(init(), 0);
    return init_thread();
}

/* A modulation as OAI has it. */
typedef struct order {
    int n_bits;
    double energy;
    double first_level; /* the threshold ch_mag is g times this, over sqrt(energy) */
    double slope;       /* of OAI's first bit */
} order;

static const order orders[] = {{2, 2, 0, 1.0 / 16}, {4, 10, 2, 1.0 / 16}, {6, 42, 4, 1.0 / 16}, {8, 170, 8, 1}};

/* The level of an axis whose bits, b0 highest, are the number's. */
static double level_of(int bits, int n)
{
    double level = 0;
    for (int k = 0; k < n; k++)
        level = (bits >> k & 1 ? -1.0 : 1.0) * ((1 << k) - level);
    return level;
}

/* Max-log of an axis times what OAI's first bit has next to 0. */
static void exact_llrs(const order *o, double z, double gain, double llrs[])
{
    const int n = o->n_bits / 2;
    for (int k = 0; k < n; k++) {
        double nearest[2] = {INFINITY, INFINITY};
        for (int bits = 0; bits < 1 << n; bits++) {
            const double distance = z / gain - level_of(bits, n) / sqrt(o->energy);
            double *best = &nearest[bits >> (n - 1 - k) & 1];
            *best = fmin(*best, distance * distance);
        }
        llrs[k] = (nearest[1] - nearest[0]) * gain * o->slope * sqrt(o->energy) / 4;
    }
}

static double limited(double llr) { return fmin(fmax(llr, -32767), 32767); }

/* Elements of one OFDM symbol and layer, aligned as OAI's are. */
typedef struct elements {
    size_t n;
    oai_c16 *z, *thresholds;
    int16_t *llrs;
} elements;

static elements make_elements(size_t n)
{
    elements e = {n, harness_alloc(n * sizeof(oai_c16)), harness_alloc(n * sizeof(oai_c16)), harness_alloc(16 * n)};
    return e;
}

static void free_elements(elements *e)
{
    free(e->z);
    free(e->thresholds);
    free(e->llrs);
}

static int demap(const elements *e, const order *o)
{
    return compute((int32_t *)(void *)e->z, e->thresholds, NULL, NULL, e->llrs, (uint32_t)e->n, 3, (uint8_t)o->n_bits);
}

static void check_element(const elements *e, const order *o, size_t i)
{
    const double gain = o->n_bits == 2 ? 1 : e->thresholds[i].r * sqrt(o->energy) / o->first_level;
    double llrs[2][4];
    exact_llrs(o, e->z[i].r, gain, llrs[0]);
    exact_llrs(o, e->z[i].i, gain, llrs[1]);
    for (int k = 0; k < o->n_bits; k++) {
        const double exact = gain > 0 ? limited(llrs[k % 2][k / 2]) : 0;
        const int got = e->llrs[i * (size_t)o->n_bits + (size_t)k];
        /* Half a step, and what binary32 loses of distances that are far larger than the LLR. */
        const double far = abs(k % 2 ? e->z[i].i : e->z[i].r) / gain + 2;
        const double slack = gain > 0 ? 0x1p-22 * far * far * gain * o->slope * sqrt(o->energy) / 4 : 0;
        if (fabs(got - exact) > 0.5 + slack)
            fail_msg("%d bits, element %zu, z %d %d, threshold %d, b%d: %d, not %f", o->n_bits, i, e->z[i].r, e->z[i].i,
                     e->thresholds[i].r, k, got, exact);
    }
}

/* Gains of a fading channel, and symbols about its points and anywhere. */
static void fill(harness_random *random, const order *o, elements *e)
{
    for (size_t i = 0; i < e->n; i++) {
        const int threshold = 1 + (int)harness_random_below(random, i % 3 ? 2000 : 32767);
        e->thresholds[i].r = e->thresholds[i].i = (int16_t)threshold;
        int16_t z[2];
        harness_random_fill(random, z, sizeof(z));
        const int span = (int)fmin(32767, 4.0 * threshold);
        const bool is_anywhere = i % 5 == 0;
        e->z[i].r = (int16_t)(is_anywhere ? z[0] : z[0] % span);
        e->z[i].i = (int16_t)(is_anywhere ? z[1] : z[1] % span);
    }
    (void)o;
}

static void test_values(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_VALUES);
    const size_t n = harness_symbol_count(1000000);
    elements e = make_elements(n);
    for (size_t m = 0; m < HARNESS_COUNT(orders); m++) {
        fill(&random, &orders[m], &e);
        e.thresholds[7].r = e.thresholds[7].i = 0; /* no channel: an erasure */
        e.thresholds[8].r = -5;
        e.z[9].r = -32768;
        assert_int_equal(demap(&e, &orders[m]), 1);
        for (size_t i = 0; i < n; i++)
            check_element(&e, &orders[m], i);
    }
    free_elements(&e);
}

/* Every length that OAI's own test has, at every alignment, with nothing written beyond. */
static void test_lengths(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_LENGTHS);
    elements all = make_elements(3300);
    int16_t *out = harness_alloc(3300 * 16 + 256);
    for (size_t m = 0; m < HARNESS_COUNT(orders); m++) {
        fill(&random, &orders[m], &all);
        demap(&all, &orders[m]);
        for (size_t n = 0; n <= 3300; n += n < 1000 ? 1 : 575) {
            const size_t gap = n % 17, n_llrs = n * (size_t)orders[m].n_bits;
            memset(out, 0x55, (n_llrs + 40) * sizeof(*out));
            const elements some = {n, all.z, all.thresholds, out + gap};
            assert_int_equal(demap(&some, &orders[m]), 1);
            assert_memory_equal(some.llrs, all.llrs, n_llrs * sizeof(*out));
            for (size_t i = 0; i < 40; i++)
                assert_int_equal(i < gap ? out[i] : out[n_llrs + i], 0x5555);
        }
    }
    free(out);
    free_elements(&all);
}

static void test_what_is_left_to_oai(void **state)
{
    (void)state;
    elements e = make_elements(16);
    memset(e.llrs, 0x55, 256);
    for (int n_bits = 0; n_bits < 256; n_bits++) {
        const order o = {n_bits, 1, 1, 1};
        if (n_bits != 2 && n_bits != 4 && n_bits != 6 && n_bits != 8)
            assert_int_equal(demap(&e, &o), 0);
    }
    for (size_t i = 0; i < 128; i++)
        assert_int_equal(e.llrs[i], 0x5555);
    free_elements(&e);
}

/* OAI's recursion on an axis: the value, then threshold less magnitude, again and again, in 16 bits. */
static void recursion(const order *o, int z, int threshold, int16_t llrs[])
{
    int value = z;
    for (int k = 0; k < o->n_bits / 2; k++) {
        llrs[2 * k] = (int16_t)(o->slope < 1 ? value >> 4 : value);
        value = (int)limited((threshold >> k) - abs(value));
    }
}

static double uniform(harness_random *random)
{
    const uint64_t high = harness_random_u32(random);
    return normal_uniform(high << 32 | harness_random_u32(random));
}

/* Random symbols through a Rayleigh channel, as OAI's compensation leaves them, with their bits. */
static void send(harness_random *random, const order *o, double snr_db, elements *e, uint8_t *bits)
{
    const int n_axis = o->n_bits / 2;
    const double deviation = sqrt(normal_power_ratio(-snr_db) / 2), amplitude = 2000;
    for (size_t i = 0; i < e->n; i++) {
        const double gain = -normal_log(uniform(random)); /* |h|^2 */
        double z[2];
        for (int axis = 0; axis < 2; axis++) {
            const int label = (int)harness_random_below(random, (size_t)1 << n_axis);
            for (int k = 0; k < n_axis; k++)
                bits[i * (size_t)o->n_bits + (size_t)(2 * k + axis)] = label >> (n_axis - 1 - k) & 1;
            const double noise = normal_quantile(uniform(random)) * deviation * sqrt(gain);
            z[axis] = amplitude * (gain * level_of(label, n_axis) / sqrt(o->energy) + noise);
        }
        e->z[i] = (oai_c16){(int16_t)lrint(limited(z[0])), (int16_t)lrint(limited(z[1]))};
        const double threshold = limited(amplitude * gain * o->first_level / sqrt(o->energy));
        e->thresholds[i].r = e->thresholds[i].i = (int16_t)lrint(threshold);
    }
}

/* Bits that LLRs with this factor tell about their bits, for each of them. */
static double information_at(double factor, const int16_t *llrs, const uint8_t *bits, size_t n)
{
    double lost = 0;
    for (size_t i = 0; i < n; i++) {
        const double against = (bits[i] ? 1 : -1) * factor * llrs[i];
        lost += against > 30 ? against / log(2) : log2(1 + exp(against));
    }
    return 1 - lost / (double)n;
}

/* The most that any factor gives. */
static double information(const int16_t *llrs, const uint8_t *bits, size_t n)
{
    double low = -14, high = 2; /* powers of e */
    for (int step = 0; step < 24; step++) {
        const double left = low + 0.382 * (high - low), right = low + 0.618 * (high - low);
        if (information_at(exp(left), llrs, bits, n) < information_at(exp(right), llrs, bits, n))
            low = left;
        else
            high = right;
    }
    return information_at(exp(low), llrs, bits, n);
}

static void test_quality(void **state)
{
    (void)state;
    static const double snr_db[][2] = {{0, 5}, {6, 12}, {12, 18}, {18, 24}};
    const size_t n = 10000;
    harness_random random = harness_random_stream(STREAM_QUALITY);
    elements e = make_elements(n);
    int16_t *simple = harness_alloc(16 * n);
    uint8_t *bits = harness_alloc(8 * n);
    for (size_t m = 0; m < HARNESS_COUNT(orders); m++) {
        for (int point = 0; point < 2; point++) {
            const order *o = &orders[m];
            const size_t n_llrs = n * (size_t)o->n_bits;
            send(&random, o, snr_db[m][point], &e, bits);
            assert_int_equal(demap(&e, o), 1);
            for (size_t i = 0; i < n; i++) {
                recursion(o, e.z[i].r, e.thresholds[i].r, simple + i * (size_t)o->n_bits);
                recursion(o, e.z[i].i, e.thresholds[i].i, simple + i * (size_t)o->n_bits + 1);
            }
            const double ours = o->n_bits * information(e.llrs, bits, n_llrs);
            const double theirs = o->n_bits * information(simple, bits, n_llrs);
            printf("%d bits a symbol at %4.1f dB, Rayleigh: softqam %.4f bits, OAI's recursion %.4f\n", o->n_bits,
                   snr_db[m][point], ours, theirs);
            /* Of QPSK both are z; OAI's is rounded down. */
            assert_true(ours > theirs - 1e-3);
            assert_true(o->n_bits < 4 || ours > theirs);
        }
    }
    free(simple);
    free(bits);
    free_elements(&e);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_values, load),
        cmocka_unit_test_setup(test_lengths, load),
        cmocka_unit_test_setup(test_what_is_left_to_oai, load),
        cmocka_unit_test_setup(test_quality, load),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
