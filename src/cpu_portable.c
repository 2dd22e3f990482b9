/* SPDX-License-Identifier: MIT */
/* The definition of correct: one symbol after the other, in portable C. */
#include <stdint.h>
#include <string.h>

#include "cpu_variant.h"
#include "lane_scalar.h"

#include "arithmetic.h"

/* Bytes 0 1 2 3 to places 0 2 4 6. */
static inline uint64_t spread_bytes(uint32_t bytes)
{
    uint64_t word = bytes;
    word = (word | word << 16) & 0x0000ffff0000ffffu;
    return (word | word << 8) & 0x00ff00ff00ff00ffu;
}

static inline void demodulate_symbol(const softqam_plan *plan, float i, float q, unsigned char *out)
{
    const soft_bits bits = demodulate_soft_bits(&plan->table, i * plan->input_scale, q * plan->input_scale);
    const uint64_t word = spread_bytes(bits.i) | spread_bytes(bits.q) << 8;
    memcpy(out, &word, sizeof word);
}

/* A loop over symbols whose components are of one type; memcpy because the caller's memory may lie anyhow. */
#define DEFINE_LOOP(name, component)                                                                                   \
    static void name(const softqam_plan *plan, const unsigned char *symbols, size_t n_symbols, unsigned char *out)     \
    {                                                                                                                  \
        for (size_t k = 0; k < n_symbols; k++) {                                                                       \
            component sample[2];                                                                                       \
            memcpy(sample, symbols + k * sizeof sample, sizeof sample);                                                \
            demodulate_symbol(plan, (float)sample[0], (float)sample[1], out + 8 * k);                                  \
        }                                                                                                              \
    }

DEFINE_LOOP(loop_cf32, float)
DEFINE_LOOP(loop_cs16, int16_t)
DEFINE_LOOP(loop_cs8, int8_t)

void softqam_cpu_loop_portable(const softqam_plan *plan, const void *symbols, size_t n_symbols, void *out)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CF32:
        loop_cf32(plan, symbols, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CS16:
        loop_cs16(plan, symbols, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CS8:
        loop_cs8(plan, symbols, n_symbols, out);
        break;
    }
}
