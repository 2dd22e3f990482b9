/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#include <stdio.h>

/* Writes a text such as "avx512, 16 threads"; characters of an ignored name that are not printable become '?'. */
static void describe(softqam_cpu *cpu, const char *ignored)
{
    const unsigned n = cpu->n_threads;
    const int length =
        snprintf(cpu->detail, sizeof cpu->detail, "%s, %u thread%s", cpu->variant->name, n, n == 1 ? "" : "s");
    if (ignored)
        snprintf(cpu->detail + length, sizeof cpu->detail - (size_t)length,
                 " (SOFTQAM_CPU_VARIANT ignored: no variant \"%.64s\" runs here)", ignored);
    for (char *c = cpu->detail; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

softqam_status softqam_cpu_create(softqam_cpu *cpu, const char *variant, softqam_pool *pool)
{
    const char *ignored;
    const softqam_status status = softqam_cpu_variant_choose(&cpu->variant, variant, &ignored);
    if (status != SOFTQAM_OK)
        return status;
    cpu->pool = pool;
    cpu->n_threads = softqam_pool_n_threads(pool);
    describe(cpu, ignored);
    return SOFTQAM_OK;
}

/* A call is cut into parts for the threads. Each thread gets several, so that threads of unequal speed end together. A
 * part is short_symbols at least, or a thread would wake up too late for it, and MAX_PART_SYMBOLS at most, so that the
 * others do not wait long for the last one: AVX-512 takes 16 us for one of 256QAM. A thread first walks over all
 * segments before its part, and over MANY_SEGMENTS in as much time: with more segments parts have no upper limit. Parts
 * are whole cache lines of an aligned output, so that no two threads write to one line. A woken thread runs after 10 to
 * 100 us (thread_pool.c); a call of WORTH_THREADS_PARTS times short_symbols takes one thread about as long. */
enum {
    MAX_PART_SYMBOLS = 16384,
    MANY_SEGMENTS = 4096,
    PARTS_PER_THREAD = 4,
    PART_MULTIPLE = 64,
    WORTH_THREADS_PARTS = 6
};

/* A call that threads work on. */
typedef struct threaded_call {
    softqam_cpu_call call;
    size_t part_symbols;
} threaded_call;

/* If layers are demapped jointly there, moves a cursor back to the first symbol of its resource element. Returns by
 * how many symbols. */
static size_t go_back_to_element(softqam_cursor *cursor)
{
    if (cursor->segment == cursor->list->n_segments)
        return 0;
    const softqam_segment *segment = &cursor->list->segments[cursor->segment];
    const size_t n = softqam_segment_is_joint(segment) ? cursor->offset % softqam_segment_layers(segment) : 0;
    cursor->offset -= n;
    return n;
}

/* Demodulates a part, on any thread. */
static void demodulate_numbered_part(void *context, size_t number)
{
    const threaded_call *threaded = context;
    const softqam_segment_list *list = threaded->call.list;
    const size_t first = number * threaded->part_symbols, left = list->n_symbols - first;
    size_t n = left < threaded->part_symbols ? left : threaded->part_symbols;
    softqam_cursor cursor = softqam_cursor_at(list, 0);
    softqam_cursor_skip(&cursor, first);
    if (list->is_joint) {
        softqam_cursor end = cursor;
        softqam_cursor_skip(&end, n);
        n += go_back_to_element(&cursor);
        n -= go_back_to_element(&end);
    }
    softqam_cpu_demodulate_part(&threaded->call, &cursor, n);
}

static __attribute__((noinline)) void demodulate_by_threads(softqam_pool *pool, const softqam_cpu_call *call,
                                                            size_t short_symbols)
{
    const size_t n = call->list->n_symbols,
                 part = n / (PARTS_PER_THREAD * softqam_pool_n_threads(pool)) / PART_MULTIPLE * PART_MULTIPLE;
    const bool is_cut = part > MAX_PART_SYMBOLS && call->list->n_segments <= MANY_SEGMENTS;
    threaded_call threaded = {*call, is_cut ? MAX_PART_SYMBOLS : part};
    if (threaded.part_symbols < short_symbols)
        threaded.part_symbols = short_symbols;
    softqam_pool_run(pool, demodulate_numbered_part, &threaded, (n - 1) / threaded.part_symbols + 1);
}

void softqam_cpu_demodulate(const softqam_cpu *cpu, const softqam_cpu_loops *loops, const softqam_segment_list *list)
{
    /* Changing the processor's mode twice costs as much as a few symbols; a subnormal number stalls a loop for half a
     * microsecond. */
    enum { WORTH_FLUSHING_SYMBOLS = 32, JOINT_WORK = 8 /* symbols that cost as much as one of a 16QAM pair */ };
    const size_t n = list->n_symbols, short_symbols = cpu->variant->short_symbols / (list->is_joint ? JOINT_WORK : 1);
    const softqam_cpu_call call = {loops, list, n >= WORTH_FLUSHING_SYMBOLS};
    softqam_pool *pool = NULL;
    if (cpu->n_threads > 1 && !list->repeats && n >= WORTH_THREADS_PARTS * short_symbols)
        pool = softqam_pool_for_call(cpu->pool);
    if (pool) {
        demodulate_by_threads(pool, &call, short_symbols);
        return;
    }
    if (list->n_segments == 1 && list->params->input_format != SOFTQAM_INPUT_CF32 &&
        softqam_cpu_demodulate_converted(&call, list->segments))
        return;
    softqam_cursor cursor = softqam_cursor_at(list, 0);
    softqam_cpu_demodulate_part(&call, &cursor, n);
}
