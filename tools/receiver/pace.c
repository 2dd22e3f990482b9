/* SPDX-License-Identifier: MIT */
#include "pace.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
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

static void note(struct latency *latency, int64_t nanoseconds)
{
    latency->nanoseconds[latency->n++] = nanoseconds;
}

/* The first slots make the pages, the caches and the device's clocks those of a receiver that has been running. */
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
            note(&pace->service, end - start);
            note(&pace->response, end - arrival);
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
    return result != NULL;
}
