/* SPDX-License-Identifier: MIT */
/* Calls that fail. Programs linked with this have their calls of the functions that fault.c names wrapped (the linker's
 * --wrap): those of their own objects and of static libraries, not those of shared ones. While armed, calls are
 * counted, and the one with the chosen number fails as the system would make it fail. Arm it with 1, 2, 3 ... until
 * nothing struck, and every call has failed once.
 *
 * A program that cannot call this is steered by the environment: SOFTQAM_FAULT_AT is the number, SOFTQAM_FAULT_KIND one
 * of error, lasting, interrupt and short, and SOFTQAM_FAULT_REPORT names a file that gets a line at exit. */
#ifndef SOFTQAM_TESTS_FAULT_H
#define SOFTQAM_TESTS_FAULT_H

#include <stdbool.h>

typedef enum fault_kind {
    FAULT_ERROR,     /* the call fails */
    FAULT_LASTING,   /* so do all CUDA calls after it: the device is lost */
    FAULT_INTERRUPT, /* reads and writes only: EINTR, which is no failure */
    FAULT_SHORT      /* reads and writes only: one byte, which is none either */
} fault_kind;

/* Call number `at`, from 1 on, fails; 0 only counts. The counts start again. */
void fault_arm(unsigned long number, fault_kind kind);

/* Back to normal. */
void fault_disarm(void);

/* The function that failed since it was armed; NULL when none has. */
const char *fault_struck(void);

/* Blocks allocated and not freed, and threads started and not joined, by wrapped calls of this program so far. */
long fault_live_blocks(void);
long fault_live_threads(void);

/* The fake CUDA defines it: all work that the current device was given and has not done is lost. */
void fault_lose_device(void);

/* For the fake CUDA: true if this call of CUDA must fail. Nothing is counted between enter and leave: the runtime's own
 * calls do not matter. */
bool fault_is_due_in_cuda(const char *function);
/* True if the device is lost. */
bool fault_device_is_lost(void);
void fault_enter_cuda(void);
void fault_leave_cuda(void);

#endif
