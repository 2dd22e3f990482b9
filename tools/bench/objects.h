/* SPDX-License-Identifier: MIT */
/* What contexts and demodulators cost: time, threads and memory, with one demodulator on a context and with six of six
 * formats. */
#ifndef SOFTQAM_TOOLS_BENCH_OBJECTS_H
#define SOFTQAM_TOOLS_BENCH_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "report.h"
#include "samples.h"

/* How the objects are used. */
struct objects_use {
    const char *name; /* such as "cpu" */
    softqam_backend backend;
    unsigned prepare; /* for softqam_context_prepare() */
    /* A call, finished when this returns. NULL: on host memory. */
    softqam_status (*call)(void *context, softqam_demodulator *demodulator, softqam_output_format format);
    /* Bytes of device memory that are in use; NULL: not looked at. */
    size_t (*device_nbytes)(void *context);
    void *context; /* of these */
};

/* Measures, and adds a table of the costs to the report. What is made and freed again before the first sample does not
 * count: the driver, and the kernels' code on the device. */
void bench_objects(struct report *report, const struct objects_use *use);

/* One demodulator of a context of one thread, called by many threads at once, beside a demodulator and beside a context
 * for each of them, which is the limit. In sharing.c. */
void bench_sharing(struct report *report, struct bench_pool *pool);

#endif
