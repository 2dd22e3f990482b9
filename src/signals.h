/* SPDX-License-Identifier: MIT */
/* Threads that are started inherit the signal mask: with all signals blocked, ours and the CUDA driver's leave a
 * process's signals to the caller's threads, which know what to do with them. */
#ifndef SOFTQAM_SIGNALS_H
#define SOFTQAM_SIGNALS_H

#include <pthread.h>
#include <signal.h>

static inline sigset_t softqam_signals_block(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

static inline void softqam_signals_restore(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

#endif
