/* SPDX-License-Identifier: MIT */
/* Each modulation beside the reference's: its points, how noisy symbols seem, and that --verify knows a codeword's bits
 * and positions. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs setjmp.h, stdarg.h, stddef.h and stdint.h */

#include "check.h"
#include "common/modulation.h"
#include "common/statistics.h"
#include "common/transmitter.h"
#include "common/verify.h"
#include "nr_symbol.h"

/* In the order of softqam_modulation. */
static const nr_constellation *const constellations[] = {NULL,      &nr_bpsk,  &nr_pi_2_bpsk, &nr_qpsk,
                                                         &nr_16qam, &nr_64qam, &nr_256qam,    &nr_1024qam};
_Static_assert(sizeof constellations / sizeof constellations[0] == MODULATION_COUNT + 1, "each");

#define FOR_EACH(modulation)                                                                                           \
    for (softqam_modulation modulation = SOFTQAM_MODULATION_BPSK; modulation <= (softqam_modulation)MODULATION_COUNT;  \
         modulation++)

/* The integral over a component of its squared distance to the nearest level, weighed with the density for each sent
 * level: midpoints of steps that no decision boundary falls into. */
static double integrate_axis_error(int n_levels, double a, double deviation)
{
    const long reach = (long)ceil((n_levels * a + 9 * deviation) / a);
    const int n_steps = (int)fmin(fmax(ceil(200 * a / deviation), 20), 200000);
    double sum = 0;
    for (long i = -reach * n_steps; i < reach * n_steps; i++) {
        const double v = ((double)i + 0.5) * a / n_steps;
        const double level = fmin(fmax(floor(v / (2 * a)), -n_levels / 2), n_levels / 2 - 1);
        const double distance = v - (2 * level + 1) * a;
        double density = 0;
        for (int sent = 1 - n_levels; sent < n_levels; sent += 2)
            density += exp(-0.5 * pow((v - sent * a) / deviation, 2));
        sum += distance * distance * density * a / n_steps;
    }
    return sum / n_levels / (deviation * sqrt(2 * acos(-1)));
}

static double integrate_expected_error(const nr_constellation *constellation, double noise_var)
{
    const double deviation = sqrt(noise_var / 2);
    if (nr_is_bpsk(constellation)) /* 1 from the middle on a diagonal, and nothing to decide across it */
        return integrate_axis_error(2, 1, deviation) + noise_var / 2;
    return 2 * integrate_axis_error(1 << constellation->axis_bits, 1 / sqrt(constellation->energy), deviation);
}

void test_expected_error(void **state)
{
    (void)state;
    FOR_EACH(modulation)
    {
        double worst = 0;
        for (double db = -10; db <= 40; db += 3.5) {
            const double noise_var = pow(10, -db / 10);
            const double integral = integrate_expected_error(constellations[modulation], noise_var);
            worst = fmax(worst, fabs(noise_expected_error(modulation, noise_var) - integral) / integral);
        }
        print_message("    %s, expected error: largest relative difference to an integral %.2g\n",
                      modulation_get(modulation)->name, worst);
        assert_true(worst < 1e-4);
    }
}

/* The expected error gives the noise variance back, over more than all of the range that a float has a use for; it
 * grows with it and stays inside the bracket of the search. */
void test_noise_estimate(void **state)
{
    (void)state;
    FOR_EACH(modulation)
    {
        double previous = 0;
        for (double db = 300; db >= -60; db -= 0.1) {
            const double noise_var = pow(10, -db / 10), error = noise_expected_error(modulation, noise_var);
            const struct noise_estimate estimate = {1000, 1000, 1000 * error};
            assert_true(error > previous && error <= noise_var * (1 + 1e-12) && error > noise_var / 15);
            assert_true(fabs(noise_estimate_variance(&estimate, modulation) - noise_var) < 1e-9 * noise_var);
            previous = error;
        }
        const struct noise_estimate none = {10, 10, 0}, zeros = {10, 0, 1};
        assert_true(noise_estimate_variance(&none, modulation) == 0);
        assert_true(isnan(noise_estimate_variance(&zeros, modulation)) && isnan(noise_estimate_evm(&zeros)));
        assert_true(noise_estimate_energy(&zeros) == 0 && noise_estimate_energy(&none) == 1);
    }
}

/* The transmitter's points are the reference's for their bits, with and without scrambling, at even and odd positions;
 * no other point is as near to them; and a shift by a tenth of a point is what the EVM says. */
void test_points(void **state)
{
    (void)state;
    enum { N = 3000, FIRST = 12345 };
    static float symbols[2 * N];
    static uint8_t bits[N * MODULATION_MAX_BITS], sequence[N * MODULATION_MAX_BITS / 8 + 1];
    FOR_EACH(modulation)
    {
        for (int scrambles = 0; scrambles < 2; scrambles++) {
            const unsigned n_bits = softqam_bits_per_symbol(modulation);
            struct transmitter transmitter;
            transmitter_init(&transmitter, modulation, 7, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
            memset(sequence, 0, sizeof sequence);
            if (scrambles) {
                transmitter.scrambles = true;
                transmitter.c_init = 0x1234567;
                softqam_gold_sequence(0x1234567, (uint64_t)FIRST * n_bits, N * (size_t)n_bits, sequence);
            }
            assert_int_equal(transmitter_generate(&transmitter, FIRST, N, symbols, bits), 0);
            for (size_t i = 0; i < N; i++) {
                int label = 0;
                double point[2];
                for (size_t k = i * n_bits; k < (i + 1) * n_bits; k++)
                    label = 2 * label + (bits[k] ^ (sequence[k / 8] >> k % 8 & 1));
                nr_point(constellations[modulation], label, FIRST + i, point);
                assert_true(fabs((double)symbols[2 * i] - point[0]) < 1e-7);
                assert_true(fabs((double)symbols[2 * i + 1] - point[1]) < 1e-7);
            }
            const softqam_demodulator_config config = {.modulation = modulation, .input_scale = 1};
            struct noise_estimate estimate = {0};
            noise_estimate_add(&estimate, &config, FIRST, symbols, N);
            assert_true(estimate.n_symbols == N && noise_estimate_evm(&estimate) < 1e-6);
        }
    }
}

/* A codeword whose symbols 1000 and on are demodulated, and what --verify says of it, told the position and c_init. */
static bool verify_codeword(softqam_modulation modulation, uint64_t position, const uint32_t *c_init)
{
    enum { N = 500, FIRST = 1000 };
    static float symbols[2 * N], llrs[N * MODULATION_MAX_BITS];
    const float noise_var = 0.01f;
    struct transmitter transmitter;
    softqam_demodulator_config config;
    softqam_demodulator *demodulator;
    struct verifier verifier;
    struct verify_difference difference;
    transmitter_init(&transmitter, modulation, 1, 20, SOFTQAM_INPUT_CF32, 1);
    transmitter_generate(&transmitter, FIRST, N, symbols, NULL);
    softqam_demodulator_config_init(&config);
    config.modulation = modulation;
    config.output_format = SOFTQAM_OUTPUT_F32;
    config.noise = SOFTQAM_NOISE_PER_CALL;
    config.input_scale = 1;
    const softqam_segment segment = {.n_symbols = N,
                                     .first_symbol = FIRST,
                                     .out = llrs,
                                     .layers = {{.symbols = symbols, .noise_var = &noise_var}},
                                     .descramble = 1,
                                     .c_init = 99};
    assert_int_equal(softqam_demodulator_create(&demodulator, &config), SOFTQAM_OK);
    assert_int_equal(softqam_demodulate_segments(demodulator, &segment, 1), SOFTQAM_OK);
    softqam_demodulator_destroy(demodulator);
    assert_true(verify_start(&verifier, &config, c_init));
    verifier.n_seen = 10;
    verifier.position = position - 10;
    const bool right = verify_next(&verifier, symbols, &noise_var, llrs, 200, &difference) &&
                       verify_next(&verifier, symbols + 400, &noise_var,
                                   llrs + 200 * softqam_bits_per_symbol(modulation), N - 200, &difference);
    verify_end(&verifier);
    return right;
}

void test_verify_modulations(void **state)
{
    (void)state;
    static const uint32_t right = 99, wrong = 98;
    FOR_EACH(modulation)
    {
        assert_true(verify_codeword(modulation, 1000, &right));
        assert_false(verify_codeword(modulation, 1001, &right));
        assert_false(verify_codeword(modulation, 1000, &wrong));
        assert_false(verify_codeword(modulation, 1000, NULL));
    }
}
