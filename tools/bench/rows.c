/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <stdio.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "create.h"

enum { STEP_DB = 10, USUAL_DB = 28 };

/* The mean SNRs where a modulation works, in steps of 10 dB. */
static const struct {
    softqam_modulation modulation;
    int lowest_db;
    int highest_db;
    int usual_db;
} means[] = {
    {SOFTQAM_MODULATION_BPSK, -5, 15, 5},     {SOFTQAM_MODULATION_PI2_BPSK, -5, 15, 5},
    {SOFTQAM_MODULATION_QPSK, -5, 25, 10},    {SOFTQAM_MODULATION_16QAM, 5, 35, 15},
    {SOFTQAM_MODULATION_64QAM, 15, 45, 20},   {SOFTQAM_MODULATION_256QAM, 15, 45, 30},
    {SOFTQAM_MODULATION_1024QAM, 25, 45, 35},
};

_Static_assert(sizeof means / sizeof means[0] == MODULATION_COUNT, "each");

struct bench_input rows_fading(softqam_modulation modulation)
{
    size_t k = 0;
    while (k + 1 < MODULATION_COUNT && means[k].modulation != modulation)
        k++;
    return (struct bench_input){.fades = true, .snr_db = (float)means[k].usual_db};
}

bool rows_of_fading(size_t k, struct bench_case *c)
{
    size_t m = 0, n = 0; /* the modulation, and its rows */
    for (; m < MODULATION_COUNT; k -= n, m++) {
        n = (size_t)(means[m].highest_db - means[m].lowest_db) / STEP_DB + 2;
        if (k < n)
            break;
    }
    if (m == MODULATION_COUNT)
        return false;
    c->modulation = means[m].modulation;
    c->n_symbols = SLOT_SYMBOLS;
    if (k + 1 < n)
        c->data = (struct bench_input){.fades = true, .snr_db = (float)(means[m].lowest_db + STEP_DB * (int)k)};
    else
        c->data = (struct bench_input){.snr_db = USUAL_DB};
    snprintf(c->name, sizeof c->name, "%s, %s %.0f dB", modulation_get(c->modulation)->name,
             c->data.fades ? "fading, mean" : "one N0,", (double)c->data.snr_db);
    return true;
}

bool rows_of_layers(size_t k, struct bench_case *c)
{
    enum { ELEMENTS = 273 * 12 };
    static const struct {
        unsigned n_layers;
        unsigned stride;
    } layouts[] = {{2, 2}, {3, 3}, {4, 4}, {1, 2}, {1, 4}, {1, 8}, {2, 4}, {2, 8}, {4, 6}, {4, 8}, {2, 11}, {4, 0}};
    if (k >= sizeof layouts / sizeof layouts[0])
        return false;
    c->n_layers = layouts[k].n_layers;
    c->stride = layouts[k].stride;
    c->n_symbols = (size_t)ELEMENTS * c->n_layers;
    c->data = rows_fading(c->modulation);
    if (c->stride == c->n_layers)
        snprintf(c->name, sizeof c->name, "%u layers interleaved", c->n_layers);
    else if (c->stride > 0)
        snprintf(c->name, sizeof c->name, "%u of %u layers interleaved", c->n_layers, c->stride);
    else
        snprintf(c->name, sizeof c->name, "%u layers apart", c->n_layers);
    return true;
}

bool rows_of_modulations(size_t k, struct bench_case *c)
{
    if (k >= MODULATION_COUNT)
        return false;
    c->modulation = means[k].modulation;
    c->n_symbols = SLOT_SYMBOLS;
    c->data = rows_fading(c->modulation);
    snprintf(c->name, sizeof c->name, "%s", modulation_get(c->modulation)->name);
    return true;
}

bool rows_of_erasures(size_t k, struct bench_case *c)
{
    static const char *const names[] = {"one of 61 with infinite N0", "one of 61 NaN", "all NaN"};
    enum { N_NAMES = sizeof names / sizeof names[0] };
    if (k >= (size_t)MODULATION_COUNT * N_NAMES)
        return false;
    c->modulation = means[k / N_NAMES].modulation;
    c->n_symbols = SLOT_SYMBOLS;
    c->data = rows_fading(c->modulation);
    c->data.erasures = (enum bench_erasures)(BENCH_ERASED_61 + k % N_NAMES);
    snprintf(c->name, sizeof c->name, "%s, %s", modulation_get(c->modulation)->name, names[k % N_NAMES]);
    return true;
}

bool rows_of_buffers(size_t k, struct bench_case *c)
{
    static const softqam_modulation modulations[] = {SOFTQAM_MODULATION_256QAM, SOFTQAM_MODULATION_64QAM,
                                                     SOFTQAM_MODULATION_QPSK, SOFTQAM_MODULATION_256QAM};
    enum { N_ROWS = 2 * sizeof modulations / sizeof modulations[0] };
    if (k >= N_ROWS)
        return false;
    c->modulation = modulations[k / 2];
    c->output = k < N_ROWS - 2 ? SOFTQAM_OUTPUT_S8 : SOFTQAM_OUTPUT_F16;
    c->n_layers = k % 2 ? 4 : 1;
    c->stride = c->n_layers > 1 ? c->n_layers : 0;
    c->n_symbols = (size_t)SLOT_SYMBOLS * c->n_layers;
    c->data = rows_fading(c->modulation);
    c->how = BENCH_DESCRAMBLE;
    c->has_soft_buffers = true;
    snprintf(c->name, sizeof c->name, "%s to %s, %u layer%s", modulation_get(c->modulation)->name,
             sample_format_output_name(c->output), c->n_layers, PLURAL(c->n_layers));
    return true;
}

void rows_one_n0(struct bench_case *c) { c->noise = BENCH_ONE_N0; }

void rows_not_erased(struct bench_case *c) { c->data.erasures = BENCH_NOT_ERASED; }

void rows_one_layer(struct bench_case *c) { c->n_layers = c->stride = 0; }
