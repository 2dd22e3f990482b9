/* SPDX-License-Identifier: MIT */
/* Threads whose stack is large enough whatever `ulimit -s` says. */
#ifndef SOFTQAM_TOOLS_COMMON_THREAD_H
#define SOFTQAM_TOOLS_COMMON_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Calls of the library need 64 KiB. */
enum { THREAD_STACK_NBYTES = 1 << 20 };

/* Whether the system had a thread, which is then to be joined. */
static inline bool thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes))
        return false;
    const bool is_started = !pthread_attr_setstacksize(&attributes, THREAD_STACK_NBYTES) &&
                            !pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return is_started;
}

#endif
