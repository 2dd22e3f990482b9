/* SPDX-License-Identifier: MIT */
/* Threads whose stack is large enough whatever `ulimit -s` says. */
#ifndef SOFTQAM_TOOLS_COMMON_THREAD_H
#define SOFTQAM_TOOLS_COMMON_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Whether the system had a thread, which is then to be joined. */
bool thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
