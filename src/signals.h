/* SPDX-License-Identifier: MIT */
/* A thread inherits the signal mask of the one that starts it. The library blocks all signals while it starts its
 * threads and the CUDA driver's, which thus leave the process's signals to the caller's threads. */
#ifndef SOFTQAM_SIGNALS_H
#define SOFTQAM_SIGNALS_H

#include <pthread.h>
#include <signal.h>

static inline sigset_t softqam_signals_block(void)
{
    sigset_t all, caller_mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &caller_mask);
    return caller_mask;
}

static inline void softqam_signals_restore(const sigset_t *caller_mask)
{
    pthread_sigmask(SIG_SETMASK, caller_mask, NULL);
}

#endif
