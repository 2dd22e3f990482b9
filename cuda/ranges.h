/* SPDX-License-Identifier: MIT */
/* Named ranges on a profiler's timeline, through NVTX; nothing where its headers are not installed. They cost a test of
 * a pointer where no profiler runs. */
#ifndef SOFTQAM_RANGES_H
#define SOFTQAM_RANGES_H

#include <stdint.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <pthread.h>

#include <nvtx3/nvToolsExt.h>

static inline void softqam_ranges_look_for_profiler(void) { nvtxInitialize(NULL); }

/* Before the first range. NVTX's own first call in a process writes pointers that other threads may be reading. */
static inline void softqam_ranges_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, softqam_ranges_look_for_profiler);
}

/* `name` with a number as its payload, on this thread until the matching end. */
static inline void softqam_range_begin(const char *name, uint64_t number)
{
    const nvtxEventAttributes_t range = {.version = NVTX_VERSION,
                                         .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                         .payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64,
                                         .payload.ullValue = number,
                                         .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                         .message.ascii = name};
    (void)nvtxRangePushEx(&range);
}

static inline void softqam_range_end(void) { (void)nvtxRangePop(); }
#else
#define softqam_ranges_prepare()          ((void)0)
#define softqam_range_begin(name, number) ((void)0)
#define softqam_range_end()               ((void)0)
#endif

#endif
