/* SPDX-License-Identifier: MIT */
#include "pace.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/message.h"

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

static void *run_thread(void *argument)
{
    struct pace *pace = argument;
    if (pace->real_time) {
        const struct sched_param priority = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
        const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
        if (error) {
            message_print("--real-time", "%s", strerror(error));
            return NULL;
        }
    }
    return take_slots(pace) ? pace : NULL;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool pace_run(struct pace *pace)
{
    pthread_t thread;
    void *result;
    const int error = pthread_create(&thread, NULL, run_thread, pace);
    if (error) {
        message_print("thread", "%s", strerror(error));
        return false;
    }
    pthread_join(thread, &result);
    qsort(pace->service.nanoseconds, pace->service.n, sizeof(int64_t), compare);
    qsort(pace->response.nanoseconds, pace->response.n, sizeof(int64_t), compare);
    return result != NULL;
}

size_t times_count_within(const struct times *times, int64_t nanoseconds)
{
    size_t low = 0, high = times->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (times->nanoseconds[middle] <= nanoseconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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

static void print_bar(const struct times *times, size_t n)
{
    static const char bar[] = "##################################################";
    const int width = sizeof bar - 1, length = (int)ceil((double)n / (double)times->n * width);
    printf(" %-*.*s %zu\n", width, length, bar, n);
}

void times_print_histogram(const struct times *times, int64_t budget_nanoseconds)
{
    enum { BINS = 20 };
    size_t before = 0;
    for (int64_t bin = 0; bin < BINS && before < times->n; bin++) {
        const int64_t from = bin * budget_nanoseconds / BINS, to = (bin + 1) * budget_nanoseconds / BINS;
        const size_t within = times_count_within(times, to);
        if (within > 0) {
            printf("%5.0f to %3.0f us", 1e-3 * (double)from, 1e-3 * (double)to);
            print_bar(times, within - before);
        }
        before = within;
    }
    if (before < times->n) {
        printf(" more than it ");
        print_bar(times, times->n - before);
    }
}
