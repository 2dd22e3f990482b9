/* SPDX-License-Identifier: MIT */
/* The arithmetic rounds to nearest even, keeps subnormals and raises no signal, whatever the caller's own
 * floating-point environment says: it is set aside while the library computes. */
#ifndef SOFTQAM_FLOAT_ENVIRONMENT_H
#define SOFTQAM_FLOAT_ENVIRONMENT_H

#if defined(__x86_64__)
#include <xmmintrin.h>

typedef unsigned softqam_float_environment;

/* All exceptions masked, no flag raised; round to nearest even, no FTZ, no DAZ. */
#define SOFTQAM_FLOAT_DEFAULT 0x1f80u
/* MXCSR's six lowest bits are flags; they do not matter to the results. */
#define SOFTQAM_FLOAT_FLAGS 0x3fu

static inline softqam_float_environment softqam_float_enter(void)
{
    const unsigned before = _mm_getcsr();
    /* Writing the register costs more than reading it. */
    if ((before & ~SOFTQAM_FLOAT_FLAGS) != SOFTQAM_FLOAT_DEFAULT)
        _mm_setcsr(SOFTQAM_FLOAT_DEFAULT);
    return before;
}

static inline void softqam_float_leave(softqam_float_environment before)
{
    if ((before & ~SOFTQAM_FLOAT_FLAGS) != SOFTQAM_FLOAT_DEFAULT)
        _mm_setcsr(before);
}
#else
#include <fenv.h>

typedef fenv_t softqam_float_environment;

static inline softqam_float_environment softqam_float_enter(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void softqam_float_leave(softqam_float_environment before)
{
    fesetenv(&before);
}
#endif

#endif
