/* SPDX-License-Identifier: MIT */
/* Many threads on one demodulator: whether they wait for each other. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "create.h"
#include "machine.h"
#include "objects.h"
#include "sections.h"

enum { MAX_CALLERS = 16, CALL_SYMBOLS = 1000, FEWEST_CALLS = 100, MOST_CALLS = 1000000 };

/* What a sample takes at least, in seconds, so that the start of threads does not count. */
static const double sample_seconds = 0.02;

/* What one thread reads and writes; no two are in one cache line. */
struct buffers {
    float symbols[2 * CALL_SYMBOLS];
    unsigned char out[8 * CALL_SYMBOLS];
} __attribute__((aligned(128)));

/* Where threads wait until all of them are there. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool is_open;
    bool is_off; /* one could not be started */
};

struct caller {
    pthread_t thread;
    struct gate *gate;
    softqam_demodulator *demodulator;
    struct buffers *buffers;
    size_t n_calls;
    bool failed;
};

/* One of the ways to do the same. */
struct team {
    unsigned n_callers;
    struct caller callers[MAX_CALLERS];
};

static bool wait_at_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    while (!gate->is_open)
        pthread_cond_wait(&gate->opened, &gate->mutex);
    const bool is_off = gate->is_off;
    pthread_mutex_unlock(&gate->mutex);
    return !is_off;
}

static void open_gate(struct gate *gate, bool is_off)
{
    pthread_mutex_lock(&gate->mutex);
    gate->is_open = true;
    gate->is_off = is_off;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->mutex);
}

static void *run_caller(void *argument)
{
    struct caller *caller = argument;
    struct buffers *buffers = caller->buffers;
    softqam_status status = SOFTQAM_OK;
    if (wait_at_gate(caller->gate))
        for (size_t k = 0; k < caller->n_calls && status == SOFTQAM_OK; k++)
            status = softqam_demodulate(caller->demodulator, buffers->symbols, NULL, CALL_SYMBOLS, buffers->out);
    caller->failed = status != SOFTQAM_OK;
    return NULL;
}

static double run_team(void *context)
{
    struct team *team = context;
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};
    unsigned n_started = 0;
    for (; n_started < team->n_callers; n_started++) {
        struct caller *caller = &team->callers[n_started];
        caller->gate = &gate;
        if (pthread_create(&caller->thread, NULL, run_caller, caller) != 0)
            break;
    }
    bool all = n_started == team->n_callers;
    const double start = clock_seconds();
    open_gate(&gate, !all);
    for (unsigned k = 0; k < n_started; k++) {
        pthread_join(team->callers[k].thread, NULL);
        all = all && !team->callers[k].failed;
    }
    return all ? clock_seconds() - start : -1;
}

enum { ONE_DEMODULATOR, ONE_CONTEXT, A_CONTEXT_EACH, N_TEAMS };

/* The demodulators of all teams: of a context of one thread. */
struct sharing {
    unsigned n_callers;
    struct buffers *buffers;
    softqam_demodulator *demodulators[N_TEAMS][MAX_CALLERS];
    struct team teams[N_TEAMS];
};

static bool make_demodulator(struct sharing *sharing, int kind, unsigned k)
{
    const softqam_context_config context_config = bench_context_config(SOFTQAM_BACKEND_CPU, 1);
    softqam_demodulator **own = sharing->demodulators[kind];
    softqam_config config;
    softqam_config_init(&config);
    softqam_status status = SOFTQAM_OK;
    if (k == 0 || kind == A_CONTEXT_EACH) {
        status = bench_create(&own[k], &context_config, &config);
    } else if (kind == ONE_CONTEXT) {
        config.context = softqam_demodulator_context(own[0]);
        status = softqam_create(&own[k], &config);
    }
    if (status != SOFTQAM_OK)
        message_print("cpu", "%s", softqam_error_message());
    return status == SOFTQAM_OK;
}

static bool make_teams(struct sharing *sharing)
{
    bool all = true;
    for (int kind = 0; kind < N_TEAMS; kind++) {
        struct team *team = &sharing->teams[kind];
        team->n_callers = sharing->n_callers;
        for (unsigned k = 0; k < sharing->n_callers && all; k++) {
            all = make_demodulator(sharing, kind, k);
            team->callers[k].demodulator = sharing->demodulators[kind][kind == ONE_DEMODULATOR ? 0 : k];
            team->callers[k].buffers = &sharing->buffers[k];
        }
    }
    return all;
}

static void set_calls(struct sharing *sharing, size_t n_calls)
{
    for (int kind = 0; kind < N_TEAMS; kind++)
        for (unsigned k = 0; k < sharing->n_callers; k++)
            sharing->teams[kind].callers[k].n_calls = n_calls;
}

/* As many as make a sample, found by trying more and more. */
static bool choose_calls(struct sharing *sharing, size_t *n_calls)
{
    double seconds = 0;
    for (*n_calls = FEWEST_CALLS; *n_calls <= MOST_CALLS; *n_calls *= 4) {
        set_calls(sharing, *n_calls);
        seconds = run_team(&sharing->teams[A_CONTEXT_EACH]);
        if (seconds < 0 || seconds >= sample_seconds)
            break;
    }
    return seconds >= 0;
}

static bool measure(struct report *report, struct sharing *sharing)
{
    static const char *const names[N_TEAMS] = {"1 demodulator", "a demodulator each", "a context each"};
    char what[N_TEAMS][WHAT_NBYTES];
    struct contender contenders[N_TEAMS];
    size_t n_calls;
    if (!make_teams(sharing) || !choose_calls(sharing, &n_calls))
        return false;
    const size_t n_symbols = sharing->n_callers * n_calls * CALL_SYMBOLS;
    for (int kind = 0; kind < N_TEAMS; kind++) {
        snprintf(what[kind], sizeof what[kind], "cpu: %u caller%s, %s", sharing->n_callers,
                 sharing->n_callers == 1 ? "" : "s", names[kind]);
        contenders[kind] = (struct contender){what[kind], run_team, &sharing->teams[kind], n_symbols, 16 * n_symbols};
    }
    const int first = report_measure_in_turns(report, contenders, N_TEAMS);
    for (int kind = 0; kind < A_CONTEXT_EACH && first >= 0; kind++)
        report_set_limit(report, first + kind, first + A_CONTEXT_EACH);
    return first >= 0;
}

void bench_sharing(struct report *report)
{
    struct sharing sharing = {.n_callers = bench_count_cpus()};
    if (sharing.n_callers > MAX_CALLERS)
        sharing.n_callers = MAX_CALLERS;
    sharing.buffers = aligned_alloc(_Alignof(struct buffers), sharing.n_callers * sizeof *sharing.buffers);
    if (sharing.buffers)
        for (unsigned k = 0; k < sharing.n_callers; k++)
            bench_fill(SOFTQAM_MODULATION_256QAM, sharing.buffers[k].symbols, CALL_SYMBOLS, 28.0, SOFTQAM_INPUT_CF32,
                       1.0f);
    else
        message_print("cpu", "out of memory");
    if (!sharing.buffers || !measure(report, &sharing))
        report->failed = true;
    for (int kind = 0; kind < N_TEAMS; kind++)
        for (unsigned k = 0; k < MAX_CALLERS; k++)
            softqam_destroy(sharing.demodulators[kind][k]);
    free(sharing.buffers);
}
