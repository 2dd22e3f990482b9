/* SPDX-License-Identifier: MIT */
/* No values and no layout of a receiver's symbols make a call take much longer than an ordinary one of as many symbols.
 * Each case once took 5 to 50 times as long. The bounds leave room for other processors. */
#include <float.h>
#include <stdlib.h>

#include "harness.h"

enum { N = 4096, STRIDE = 8, N_VALUES = N * STRIDE };

static float symbols[2 * N_VALUES], noise[N_VALUES], gains[N_VALUES];
static int8_t llrs[8 * N], buffer[8 * N];

/* Symbols and N0 near those of a gain of 1, in each of which `every` one has another component, noise value or gain. */
static void fill(harness_random *random, float component, float noise_var, float gain, size_t every)
{
    harness_fill_uniform(random, 1, N_VALUES, symbols);
    harness_fill_noise(random, HARNESS_NOISE_USUAL, N_VALUES, noise);
    for (size_t k = 0; k < N_VALUES; k++) {
        const bool is_other = k % every == 0;
        gains[k] = is_other && gain > 0 ? gain : 1;
        noise[k] = is_other && noise_var > 0 ? noise_var : noise[k];
        symbols[2 * k] = is_other && component > 0 ? component : symbols[2 * k];
    }
}

static double seconds_of(const softqam_demodulator *demodulator, const softqam_segment *segments, size_t n)
{
    const double begin = harness_seconds();
    harness_demodulate_segments(demodulator, segments, n);
    return harness_seconds() - begin;
}

/* Fails if segments take more than `bound` times as long as an ordinary call of N symbols. The fastest calls count,
 * because other programs slow some. */
static void check(const char *name, const softqam_demodulator *demodulator, const softqam_segment *segments, size_t n,
                  double bound)
{
    static float usual[2 * N], usual_noise[N];
    double fastest = DBL_MAX, ordinary = DBL_MAX;
    harness_random random = harness_random_named(__func__);
    harness_fill_uniform(&random, 1, N, usual);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, N, usual_noise);
    const softqam_segment plain = harness_segment(usual, usual_noise, 1, N, llrs);
    for (int k = 0; k < 300 && (k < 30 || fastest > bound * ordinary); k++) {
        const double seconds = seconds_of(demodulator, segments, n);
        fastest = seconds < fastest ? seconds : fastest;
        for (int j = 0; j < 3; j++) {
            const double of_plain = seconds_of(demodulator, &plain, 1);
            ordinary = of_plain < ordinary ? of_plain : ordinary;
        }
    }
    print_message("%s, %s: %.1f times\n", softqam_backend_detail(demodulator), name, fastest / ordinary);
    if (fastest > bound * ordinary)
        fail_msg("%s takes %.1f times as long as an ordinary call, more than %g", name, fastest / ordinary, bound);
}

static softqam_demodulator *create(softqam_modulation modulation)
{
    harness_setup setup = harness_default_setup();
    setup.context.n_threads = 1;
    setup.demodulator.modulation = modulation;
    return harness_create(&setup);
}

HARNESS_TEST(test_values)
{
    static const struct {
        const char *name;
        float component, noise_var, gain;
        size_t every;
        double bound;
    } rows[] = {{"subnormal symbols", 1e-40F, 0, 0, 1, 2.2},
                {"a subnormal symbol in 16", 1e-40F, 0, 0, 16, 2.2},
                {"subnormal N0", 0, 1e-45F, 0, 1, 6},
                {"the largest N0", 0, FLT_MAX, 0, 1, 4},
                {"a gain of 1e-12 in 100", 0, 0, 1e-12F, 100, 6}};
    harness_random random = harness_random_named(__func__);
    scoped_demodulator *demodulator = create(SOFTQAM_MODULATION_256QAM);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        fill(&random, rows[k].component, rows[k].noise_var, rows[k].gain, rows[k].every);
        softqam_segment segment = harness_segment(symbols, noise, 1, N, llrs);
        segment.layers[0].gain = gains;
        check(rows[k].name, demodulator, &segment, 1, rows[k].bound);
    }
}

HARNESS_TEST(test_layouts)
{
    harness_random random = harness_random_named(__func__);
    scoped_demodulator *qpsk = create(SOFTQAM_MODULATION_QPSK), *qam = create(SOFTQAM_MODULATION_256QAM);
    fill(&random, 0, 0, 0, 1);
    softqam_segment apart = harness_segment(symbols, noise, 1, N, llrs);
    apart.n_layers = 4;
    for (size_t k = 0; k < 4; k++)
        apart.layers[k] = (softqam_layer){
            .symbols = symbols + 2 * k * N, .symbols_q = symbols + (2 * k + 1) * N, .noise_var = noise + k * N};
    check("I and Q of 4 layers apart", qpsk, &apart, 1, 6);
    softqam_segment repeated = harness_segment(symbols, noise, 1, N, NULL);
    repeated.codeword = (softqam_codeword){.n_bits = 8 * N,
                                           .buffers = buffer,
                                           .n_code_blocks = 1,
                                           .deinterleave = 1,
                                           .n_cb = 3200,
                                           .filler_value = 127,
                                           .first_filler = 400,
                                           .n_fillers = 40};
    check("repetition", qam, &repeated, 1, 6);
}
