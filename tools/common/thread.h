/* SPDX-License-Identifier: MIT */
/* Threads whose stack is large enough whatever `ulimit -s` says; and how many may be of use. */
#ifndef SOFTQAM_TOOLS_COMMON_THREAD_H
#define SOFTQAM_TOOLS_COMMON_THREAD_H

#include <pthread.h>
#include <sched.h>
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

/* CPUs that this process may run on, of the first 1024. */
static inline unsigned thread_count_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

#endif
