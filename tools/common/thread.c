/* SPDX-License-Identifier: MIT */
#include "thread.h"

/* Calls of the library need 64 KiB. */
enum { STACK_NBYTES = 1 << 20 };

bool thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes))
        return false;
    const bool is_started =
        !pthread_attr_setstacksize(&attributes, STACK_NBYTES) && !pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return is_started;
}
