/* SPDX-License-Identifier: MIT */
#include "pass_times.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/message.h"
#include "latency.h"

/* The passes up to one of them, and the call that does the work of all. */
enum { ONE_CALL = N_PASSES, N_WAYS };

static bool take_turn(struct engine *engine, size_t slot, int way, struct latency *latency)
{
    const int64_t start = clock_nanoseconds();
    if (way == ONE_CALL ? !engine->demodulate(engine, slot)
                        : !engine->demodulate_in_passes(engine, slot, (enum pass)way))
        return false;
    latency->nanoseconds[latency->n++] = clock_nanoseconds() - start;
    return true;
}

static void print(struct latency latencies[N_WAYS])
{
    double us[N_WAYS];
    for (int way = 0; way < N_WAYS; way++) {
        latency_sort(&latencies[way]);
        us[way] = 1e-3 * (double)latency_percentile(&latencies[way], 0.5);
    }
    printf("us, medians of %zu in turns\n", latencies[ONE_CALL].n);
    printf("%-28s %9.1f\n", "one call, codeword order", us[ONE_CALL]);
    printf("%-28s %9.1f\n", "symbol order, scrambled", us[PASS_DEMODULATE]);
    printf("%-28s %9.1f\n", "+ a pass that descrambles", us[PASS_DESCRAMBLE]);
    printf("%-28s %9.1f, %.2f times the one call\n", "+ one that de-interleaves", us[PASS_DEINTERLEAVE],
           us[PASS_DEINTERLEAVE] / us[ONE_CALL]);
}

bool pass_times_print(struct engine *engine, size_t n)
{
    struct latency latencies[N_WAYS] = {0};
    bool good = true;
    for (int way = 0; way < N_WAYS; way++) {
        latencies[way].nanoseconds = malloc(n * sizeof(int64_t));
        good = good && latencies[way].nanoseconds;
    }
    if (!good)
        message_print(NULL, "no memory for %zu times", n);
    for (size_t k = 0; good && k < n; k++)
        for (int way = 0; good && way < N_WAYS; way++)
            good = take_turn(engine, k % engine->n_slots, way, &latencies[way]);
    if (good)
        print(latencies);
    for (int way = 0; way < N_WAYS; way++)
        free(latencies[way].nanoseconds);
    return good;
}
