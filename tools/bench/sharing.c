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
#include "rows.h"

enum { MAX_CALLERS = 16, CALL_SYMBOLS = 1000, FEWEST_CALLS = 100, MOST_CALLS = 1000000 };

/* What a sample takes at least, in seconds, so that the start of threads does not count. */
static const double sample_seconds = 0.02;

/* What one thread reads and writes; no two are in one cache line. */
struct buffers {
    float symbols[2 * CALL_SYMBOLS];
    unsigned char out[8 * CALL_SYMBOLS];
} __attribute__((aligned(128)));

struct team;

struct caller {
    pthread_t thread;
    struct team *team;
    softqam_demodulator *demodulator;
    struct buffers *buffers;
    bool failed;
};

/* One of the ways to do the same. */
struct team {
    pthread_rwlock_t gate; /* locked until all threads are there */
    bool is_off;           /* one could not be started */
    unsigned n_callers;
    size_t n_calls; /* of each */
    struct caller callers[MAX_CALLERS];
};

enum { ONE_DEMODULATOR, ONE_CONTEXT, A_CONTEXT_EACH, N_TEAMS };

static void *run_caller(void *argument)
{
    struct caller *caller = argument;
    struct team *team = caller->team;
    struct buffers *buffers = caller->buffers;
    softqam_status status = SOFTQAM_OK;
    pthread_rwlock_rdlock(&team->gate);
    const size_t n_calls = team->is_off ? 0 : team->n_calls;
    pthread_rwlock_unlock(&team->gate);
    for (size_t k = 0; k < n_calls && status == SOFTQAM_OK; k++)
        status = softqam_demodulate(caller->demodulator, buffers->symbols, NULL, CALL_SYMBOLS, buffers->out);
    caller->failed = status != SOFTQAM_OK;
    return NULL;
}

static double run_team(void *context)
{
    struct team *team = context;
    unsigned n_started = 0;
    pthread_rwlock_wrlock(&team->gate);
    while (n_started < team->n_callers &&
           pthread_create(&team->callers[n_started].thread, NULL, run_caller, &team->callers[n_started]) == 0)
        n_started++;
    bool all = n_started == team->n_callers;
    team->is_off = !all;
    const double start = clock_seconds();
    pthread_rwlock_unlock(&team->gate);
    for (unsigned k = 0; k < n_started; k++) {
        pthread_join(team->callers[k].thread, NULL);
        all = all && !team->callers[k].failed;
    }
    return all ? clock_seconds() - start : -1;
}

/* The demodulator of a team's k-th caller; contexts have one thread. */
static bool make_demodulator(struct team *team, int kind, unsigned k)
{
    softqam_demodulator *first = team->callers[0].demodulator;
    softqam_demodulator **made = &team->callers[k].demodulator;
    softqam_status status = SOFTQAM_OK;
    if (k == 0 || kind == A_CONTEXT_EACH) {
        status = bench_create(made, bench_context_config(SOFTQAM_BACKEND_CPU, 1), NULL);
    } else if (kind == ONE_CONTEXT) {
        softqam_demodulator_config config =
            bench_config(SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL);
        config.context = softqam_demodulator_context(first);
        status = softqam_demodulator_create(made, &config);
    } else {
        *made = first;
    }
    if (status != SOFTQAM_OK)
        message_print("cpu", "%s", softqam_error_message());
    return status == SOFTQAM_OK;
}

static bool make_teams(struct team teams[N_TEAMS], struct buffers *buffers, unsigned n_callers)
{
    bool all = true;
    for (int kind = 0; kind < N_TEAMS; kind++) {
        struct team *team = &teams[kind];
        *team = (struct team){.gate = PTHREAD_RWLOCK_INITIALIZER, .n_callers = n_callers};
        for (unsigned k = 0; k < n_callers && all; k++) {
            team->callers[k].team = team;
            team->callers[k].buffers = &buffers[k];
            all = make_demodulator(team, kind, k);
        }
    }
    return all;
}

/* As many calls as make a sample, found by trying more and more; 0 after a failure. */
static size_t choose_calls(struct team *team)
{
    for (team->n_calls = FEWEST_CALLS;; team->n_calls *= 4) {
        const double seconds = run_team(team);
        if (seconds < 0)
            return 0;
        if (seconds >= sample_seconds || team->n_calls > MOST_CALLS / 4)
            return team->n_calls;
    }
}

static bool measure(struct report *report, struct team teams[N_TEAMS])
{
    static const char *const columns[] = {"Msym/s", "of a context each", "spread", NULL};
    static const char *const names[N_TEAMS] = {"1 demodulator", "a demodulator each", "a context each"};
    const unsigned n_callers = teams[0].n_callers;
    const size_t n_calls = choose_calls(&teams[A_CONTEXT_EACH]), n_symbols = n_callers * n_calls * CALL_SYMBOLS;
    struct turns turns = {.report = report, .n = N_TEAMS, .failed = n_calls == 0};
    char what[N_TEAMS][WHAT_NBYTES];
    for (int kind = 0; kind < N_TEAMS; kind++) {
        teams[kind].n_calls = n_calls;
        snprintf(what[kind], sizeof what[kind], "cpu: %u caller%s, %s", n_callers, PLURAL(n_callers), names[kind]);
        turns.contenders[kind] =
            (struct contender){what[kind], run_team, &teams[kind], NULL, n_symbols, 16 * n_symbols, false};
    }
    const int first = report_measure_in_turns(&turns);
    if (first < 0)
        return false;
    report_table(report, columns, "cpu: %u thread%s with calls of %d symbols, a context each or shared", n_callers,
                 PLURAL(n_callers), CALL_SYMBOLS);
    for (int kind = 0; kind < N_TEAMS; kind++) {
        if (kind < A_CONTEXT_EACH)
            report_set_limit(report, first + kind, first + A_CONTEXT_EACH);
        const double seconds = report_median(report, first + kind);
        const double values[] = {1e-6 * (double)n_symbols / seconds, report_share(report, first + kind),
                                 report_spread(report, first)};
        report_row(report, names[kind], values);
    }
    return true;
}

void bench_sharing(struct report *report, struct bench_pool *pool)
{
    const struct bench_input input = rows_fading(SOFTQAM_MODULATION_256QAM);
    const struct bench_samples *samples =
        bench_samples_get(pool, &input, SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, CALL_SYMBOLS);
    const unsigned n_cpus = bench_count_cpus(), n_callers = n_cpus < MAX_CALLERS ? n_cpus : MAX_CALLERS;
    struct buffers *buffers = aligned_alloc(_Alignof(struct buffers), n_callers * sizeof *buffers);
    struct team teams[N_TEAMS];
    if (!buffers || !samples) {
        free(buffers);
        message_print("cpu", "out of memory");
        report->failed = true;
        return;
    }
    for (unsigned k = 0; k < n_callers; k++)
        memcpy(buffers[k].symbols, samples->symbols, sizeof buffers[k].symbols);
    if (!make_teams(teams, buffers, n_callers) || !measure(report, teams))
        report->failed = true;
    for (int kind = 0; kind < N_TEAMS; kind++)
        for (unsigned k = 0; k < (kind == ONE_DEMODULATOR ? 1 : n_callers); k++)
            softqam_demodulator_destroy(teams[kind].callers[k].demodulator);
    free(buffers);
}
