/* SPDX-License-Identifier: MIT */
/* The arguments of a call, on host or on device memory. */
#ifndef SOFTQAM_CALL_H
#define SOFTQAM_CALL_H

#include <stddef.h>

#include <softqam/softqam.h>

#include "plan.h"

/* SOFTQAM_OK, or SOFTQAM_ERROR_INVALID_ARGUMENT and why. */
softqam_status softqam_call_check(const softqam_plan *plan, const softqam_block *blocks, size_t n_blocks);

#endif
