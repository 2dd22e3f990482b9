/* SPDX-License-Identifier: MIT */
#include "pace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"

static void wait_until(int64_t nanoseconds, bool spin)
{
    if (spin) {
        while (clock_nanoseconds() < nanoseconds)
            ;
        return;
    }
    const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

/* The first slots warm pages, caches and the device's clocks. */
static bool take_slots(struct pace *pace)
{
    int64_t arrival = clock_nanoseconds() + SLOT_NANOSECONDS;
    for (size_t k = 0; k < pace->n_warm_up + pace->n_slots; k++, arrival += SLOT_NANOSECONDS) {
        const bool counts = k >= pace->n_warm_up;
        wait_until(arrival, pace->spin);
        const int64_t start = clock_nanoseconds();
        if (start > arrival + SLOT_NANOSECONDS) {
            pace->n_dropped += counts;
            continue;
        }
        if (!engine_demodulate(pace->engine, k % pace->engine->n_slots))
            return false;
        const int64_t end = clock_nanoseconds();
        if (counts) {
            pace->service.nanoseconds[pace->service.n++] = end - start;
            pace->response.nanoseconds[pace->response.n++] = end - arrival;
        }
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool pace_run(struct pace *pace)
{
    if (!take_slots(pace))
        return false;
    qsort(pace->service.nanoseconds, pace->service.n, sizeof(int64_t), compare);
    qsort(pace->response.nanoseconds, pace->response.n, sizeof(int64_t), compare);
    return true;
}

size_t times_count_within(const struct times *times, int64_t nanoseconds)
{
    size_t n = 0;
    while (n < times->n && times->nanoseconds[n] <= nanoseconds)
        n++;
    return n;
}

void times_print(const struct times *times, const char *what)
{
    static const double fractions[] = {0.5, 0.99, 0.999, 1};
    printf("%-28s", what);
    for (size_t k = 0; k < sizeof fractions / sizeof *fractions; k++) {
        const size_t rank = (size_t)ceil(fractions[k] * (double)times->n);
        printf(" %9.1f", rank > 0 ? 1e-3 * (double)times->nanoseconds[rank - 1] : 0);
    }
    putchar('\n');
}
