/* SPDX-License-Identifier: MIT */
/* The library computes in a floating-point environment of its own, which rounds to nearest even and raises no signal.
 * softqam_float_enter() sets the caller's aside; softqam_float_leave() restores it: ENDED_BY() calls it. */
#ifndef SOFTQAM_FLOAT_ENVIRONMENT_H
#define SOFTQAM_FLOAT_ENVIRONMENT_H

#include <stdbool.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

typedef struct softqam_float_environment {
    unsigned caller; /* the caller's MXCSR */
    unsigned now;
} softqam_float_environment;

/* All exceptions masked, no flag raised; round to nearest even. */
#define SOFTQAM_FLOAT_DEFAULT 0x1f80u
/* Subnormal operands count as zero (DAZ), and subnormal results become zero (FTZ). */
#define SOFTQAM_FLOAT_FLUSH 0x8040u
/* MXCSR's six lowest bits are flags, which stay raised until their owner clears them; results do not depend on them. */
#define SOFTQAM_FLOAT_FLAGS 0x3fu

/* Flushes subnormal numbers to zero from here on, or stops doing so. They slow loops down; zeros do not. */
static inline void softqam_float_flush(softqam_float_environment *self, bool flush)
{
    const unsigned wanted = flush ? SOFTQAM_FLOAT_DEFAULT | SOFTQAM_FLOAT_FLUSH : SOFTQAM_FLOAT_DEFAULT;
    /* Writing or reading the register takes a few nanoseconds. */
    if ((self->now & ~SOFTQAM_FLOAT_FLAGS) != wanted)
        _mm_setcsr(wanted | (self->caller & SOFTQAM_FLOAT_FLAGS));
    self->now = wanted;
}

static inline softqam_float_environment softqam_float_enter(void)
{
    const unsigned caller = _mm_getcsr();
    softqam_float_environment self = {caller, caller};
    softqam_float_flush(&self, false);
    return self;
}

static inline void softqam_float_leave(const softqam_float_environment *self)
{
    if (((self->caller ^ self->now) & ~SOFTQAM_FLOAT_FLAGS) != 0)
        _mm_setcsr(self->caller);
}
#elif defined(__aarch64__)
#include <stdint.h>

typedef struct softqam_float_environment {
    uint64_t control; /* FPCR; fesetenv() would keep some of its bits, such as that of another binary16 */
    uint64_t status;  /* FPSR: the flags */
} softqam_float_environment;

static inline void softqam_float_set(softqam_float_environment to)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(to.control), "r"(to.status) : "memory");
}

static inline softqam_float_environment softqam_float_enter(void)
{
    softqam_float_environment caller;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(caller.control), "=r"(caller.status)::"memory");
    softqam_float_set((softqam_float_environment){0, 0});
    return caller;
}

static inline void softqam_float_leave(const softqam_float_environment *caller) { softqam_float_set(*caller); }
#else
#include <fenv.h>

typedef fenv_t softqam_float_environment;

static inline softqam_float_environment softqam_float_enter(void)
{
    fenv_t caller;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    return caller;
}

static inline void softqam_float_leave(const softqam_float_environment *caller) { fesetenv(caller); }
#endif

#ifndef SOFTQAM_FLOAT_FLUSH /* other processors than x86 flush nothing */
static inline void softqam_float_flush(softqam_float_environment *self, bool flush) { (void)self, (void)flush; }
#endif

#endif
