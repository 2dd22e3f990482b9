/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/message.h"

static const double seconds_between_lines = 0.25;

void progress_start(struct progress *progress, bool shown, int64_t n_total)
{
    progress->shown = shown;
    progress->n_total = n_total;
    progress->started = clock_seconds();
    progress->next = progress->started;
}

void progress_update(struct progress *progress, uint64_t n_done)
{
    if (!progress->shown)
        return;
    const double now = clock_seconds();
    const bool complete = progress->n_total >= 0 && n_done >= (uint64_t)progress->n_total;
    if (now < progress->next && !complete)
        return;
    progress->next = now + seconds_between_lines;
    const double rate = (double)n_done / (now - progress->started + 1e-9);
    if (progress->n_total <= 0 || n_done > (uint64_t)progress->n_total)
        message_print_transient("%" PRIu64 " symbols done, %.1f Msym/s", n_done, rate / 1e6);
    else
        message_print_transient("%.1f %% of %" PRId64 " symbols done, %.1f Msym/s, %.0f s left",
                                100 * (double)n_done / (double)progress->n_total, progress->n_total, rate / 1e6,
                                complete ? 0 : ((double)progress->n_total - (double)n_done) / (rate + 1e-9));
}
